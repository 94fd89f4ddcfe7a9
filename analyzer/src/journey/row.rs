//! A journey as the row of `docs/output.md`.

use codec::capture::{Channel, ChannelId};
use codec::packet::PacketTag;
use serde::Serialize;

use super::{
    BitPlace, Corruption, CorruptionSite, FlipParity, Journey, JourneyFate, JourneyHop, WaitReason,
};
use crate::packet::PacketEnd;
use crate::transport::TransportRow;

/// Places of a flipped bit that are listed. *Chosen*: they are 127 bits apart, so these are in the
/// first hundred bytes or so.
pub const PLACES_MAX: usize = 8;

/// A row of `myriscope journeys`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JourneyRow<'a> {
    /// Counts from 0.
    pub journey: u64,
    /// Time at which its first byte was seen on the first channel, in picoseconds.
    pub time_ps: u128,
    /// From there to its first byte on the last channel, cables included.
    pub latency_ps: u128,
    /// Time waited in switches, as far as known.
    pub waited_ps: u128,
    /// The byte behind the route.
    pub tag: Option<u8>,
    /// Bytes between tag and CRC byte.
    pub payload: u64,
    /// Its fate: [`JourneyFate::name`].
    pub fate: &'static str,
    /// The rule by which it was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Name of the certainty of the worst match.
    pub certainty: &'static str,
    /// The captured channels that it passed.
    pub hops: Vec<HopRow<'a>>,
    /// Its corruptions.
    pub injuries: Vec<CorruptionRow<'a>>,
    /// Header of the reliability protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Box<TransportRow>>,
}

/// A captured channel that a packet passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopRow<'a> {
    /// Name of the channel.
    pub channel: &'a str,
    /// The packet's number on it.
    pub packet: u64,
    /// Place of its first byte.
    pub start: u64,
    /// Place of its last byte.
    pub end: u64,
    /// Time at which its first byte was seen, in picoseconds.
    pub time_ps: u128,
    /// Bytes, CRC byte included.
    pub length: u64,
    /// Its first byte, if that is a route byte.
    pub route: Option<u8>,
    /// The port of the switch behind the channel by which it left, or for which it asked.
    pub port: Option<u8>,
    /// Switches up to the next captured channel.
    pub switches: u64,
    /// Up to its first byte there.
    pub latency_ps: Option<u128>,
    /// Part of the latency that it waited.
    pub waited_ps: Option<u128>,
    /// Reason: `output`, `input` or `stop`.
    pub waited_for: Option<&'static str>,
    /// The packet that it waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// `good`, `bad` or `runt`.
    pub crc: &'static str,
    /// Computed ⊕ received CRC.
    pub syndrome: Option<u8>,
    /// Its end here.
    pub ended_by: &'static str,
}

/// Corruption of a packet between two captured channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CorruptionRow<'a> {
    /// The last channel on which it was as before; null if it was hurt before the first.
    pub after: Option<&'a str>,
    /// The first channel on which it is different.
    pub seen: &'a str,
    /// Switches between the two.
    pub switches: u64,
    /// `flipped`, `cut` or `grown`.
    pub harm: &'static str,
    /// Change of the syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syndrome: Option<u8>,
    /// `odd` or `even`: how many bits were flipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips: Option<&'static str>,
    /// Single bit only: number of bits behind it, modulo 127.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit: Option<u8>,
    /// Its possible places in the packet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<BitPlaceRow>,
    /// Number of missing bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Number of additional bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<u64>,
    /// End of a truncated packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
}

/// Possible place of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BitPlaceRow {
    /// Byte of the packet on the channel `seen`, from 0; those below 0 had been stripped.
    pub byte: i64,
    /// Bit of the byte, 7 to 0.
    pub bit: u8,
}

impl Journey {
    /// The journey as a row; `known` looks up channels.
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
                row.by = Some(by).filter(|by| *by != PacketEnd::Gap).map(PacketEnd::name);
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
    /// The name in `docs/output.md`.
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
