//! Journeys as rows of `docs/output.md`.

use codec::capture::{Channel, ChannelId};
use codec::packet::PacketTag;
use serde::Serialize;

use super::{
    BitPlace, Corruption, CorruptionSite, FlipParity, Journey, JourneyFate, JourneyHop, WaitReason,
};
use crate::packet::FrameEnd;
use crate::transport::TransportRow;

/// Maximum of listed positions of a flipped bit. *Chosen*: they are 127 bits apart, so they cover
/// about the first hundred bytes.
pub const PLACES_MAX: usize = 8;

/// Row of `myriscope journeys`, as specified in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JourneyRow<'a> {
    /// Number of the journey from 0.
    pub journey: u64,
    /// Time of its first byte at the first tap, in picoseconds.
    pub time_ps: u128,
    /// Time from there to its first byte on the last channel, including cables.
    pub latency_ps: u128,
    /// Total time waited in switches, as far as known.
    pub waited_ps: u128,
    /// Tag.
    pub tag: Option<u8>,
    /// Number of bytes between tag and CRC byte.
    pub payload: u64,
    /// Fate: [`JourneyFate::name`].
    pub fate: &'static str,
    /// Rule that requires the drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Lowest certainty of its matches.
    pub certainty: &'static str,
    /// Captured channels on its path.
    pub hops: Vec<HopRow<'a>>,
    /// Corruptions, in order.
    pub injuries: Vec<CorruptionRow<'a>>,
    /// Header of the reliability protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Box<TransportRow>>,
}

/// Passage of a packet over a captured channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopRow<'a> {
    /// Name of the channel.
    pub channel: &'a str,
    /// Number of the packet on the channel.
    pub packet: u64,
    /// Position of its first byte.
    pub start: u64,
    /// Position of its last byte.
    pub end: u64,
    /// Time of its first byte at the tap, in picoseconds.
    pub time_ps: u128,
    /// Length in bytes, including the CRC byte.
    pub length: u64,
    /// Its first byte, if that is a route byte.
    pub route: Option<u8>,
    /// Output port at the switch behind the channel, used or requested.
    pub port: Option<u8>,
    /// Number of switches before the next captured channel.
    pub switches: u64,
    /// Time to its first byte on the next captured channel.
    pub latency_ps: Option<u128>,
    /// Part of the latency spent waiting.
    pub waited_ps: Option<u128>,
    /// Reason for the wait: `output`, `input` or `stop`.
    pub waited_for: Option<&'static str>,
    /// Number of the packet that it waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// `good`, `bad` or `runt`.
    pub crc: &'static str,
    /// Computed ⊕ received CRC.
    pub syndrome: Option<u8>,
    /// Cause of its end on the channel.
    pub ended_by: &'static str,
}

/// Corruption of a packet between two captured channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CorruptionRow<'a> {
    /// Last captured channel before the change; null if it happened before the first.
    pub after: Option<&'a str>,
    /// First captured channel with the change.
    pub seen: &'a str,
    /// Number of switches between the two.
    pub switches: u64,
    /// `flipped`, `cut` or `grown`.
    pub harm: &'static str,
    /// Change of the syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syndrome: Option<u8>,
    /// Parity of the number of flipped bits: `odd` or `even`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips: Option<&'static str>,
    /// Single flipped bit only: number of bits after it, modulo 127.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit: Option<u8>,
    /// Possible positions in the packet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<BitPlaceRow>,
    /// Number of missing bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Number of additional bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<u64>,
    /// Cause of a truncation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
}

/// Possible position of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BitPlaceRow {
    /// Byte index on the channel `seen`, from 0; stripped route bytes have negative indices.
    pub byte: i64,
    /// Bit of the byte, 7 to 0.
    pub bit: u8,
}

impl Journey {
    /// Converts the journey to a row; `known` looks up channels.
    #[must_use]
    pub fn row<'a>(&self, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> JourneyRow<'a> {
        let (first, last) = (self.hops.first(), self.hops.last());
        let time = |hop: Option<&JourneyHop>| hop.map_or(0, |hop| hop.time);
        JourneyRow {
            journey: self.number,
            time_ps: time(first),
            latency_ps: time(last).saturating_sub(time(first)),
            waited_ps: self.hops.iter().filter_map(|hop| hop.waited).sum(),
            tag: self.tag.map(PacketTag::value),
            payload: self.payload,
            fate: self.fate.name(),
            rule: match self.fate {
                JourneyFate::Dropped(rule) => Some(rule),
                JourneyFate::Arrived
                | JourneyFate::Misrouted
                | JourneyFate::OutOfSight
                | JourneyFate::Merged
                | JourneyFate::UnderWay => None,
            },
            certainty: self.certainty.name(),
            hops: self.hops.iter().map(|hop| hop.row(known)).collect(),
            injuries: self.injuries.iter().map(|injury| injury.row(known)).collect(),
            transport: self.transport.as_ref().map(|seen| Box::new(seen.row())),
        }
    }
}

impl JourneyHop {
    fn row<'a>(&self, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> HopRow<'a> {
        let (waited_for, behind) = match self.waited_for {
            None => (None, None),
            Some(WaitReason::Output(packet)) => (Some("output"), Some(packet)),
            Some(WaitReason::Input(packet)) => (Some("input"), Some(packet)),
            Some(WaitReason::Stop) => (Some("stop"), None),
        };
        HopRow {
            channel: name(self.channel, known),
            packet: self.packet,
            start: self.start.0,
            end: self.end.0,
            time_ps: self.time,
            length: self.length,
            route: self.route,
            port: self.output.map(|port| port.0),
            switches: self.switches,
            latency_ps: self.latency,
            waited_ps: self.waited,
            waited_for,
            behind,
            crc: self.check.name(),
            syndrome: self.check.syndrome(),
            ended_by: self.ended_by.name(),
        }
    }
}

impl CorruptionSite {
    fn row<'a>(&self, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> CorruptionRow<'a> {
        let mut row = CorruptionRow {
            after: self.after.map(|after| name(after, known)),
            seen: name(self.seen, known),
            switches: self.switches,
            harm: "flipped",
            syndrome: None,
            flips: None,
            bit: self.bit,
            places: Vec::new(),
            missing: None,
            more: None,
            by: None,
        };
        match self.harm {
            Corruption::Flipped(flips) => {
                row.syndrome = Some(self.syndrome);
                row.flips = Some(flips.name());
                let place = |BitPlace { byte, bit }| BitPlaceRow { byte, bit };
                row.places = self.places().take(PLACES_MAX).map(place).collect();
            }
            Corruption::Cut(missing, by) => {
                row.harm = "cut";
                row.missing = missing;
                row.by = Some(by).filter(|by| *by != FrameEnd::Gap).map(FrameEnd::name);
            }
            Corruption::Grown(more) => {
                row.harm = "grown";
                row.more = Some(more);
            }
        }
        row
    }
}

impl FlipParity {
    /// Name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Odd => "odd",
            Self::Even => "even",
        }
    }
}

fn name<'a>(id: ChannelId, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> &'a str {
    known(id).map_or("", |channel| channel.name.as_str())
}
