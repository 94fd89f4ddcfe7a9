//! Journeys as rows of `docs/output.md`.

use codec::capture::{Channel, ChannelId};
use codec::packet::{CrcCheck, PacketTag};

use super::{
    BitPlace, ChangedByte, Corruption, CorruptionSite, FlipParity, Journey, JourneyFate,
    JourneyHop, LocatedHarm, MatchCertainty, WaitReason,
};
use crate::packet::FrameEnd;
use crate::packet::transport::TransportRow;
use crate::row::FieldShape::{Number, Words};
use crate::row::{FieldType, row};

/// Maximum of listed positions of a flipped bit. *Chosen*: they are 127 bits apart, so they cover
/// about the first hundred bytes.
pub const PLACES_MAX: usize = 8;

row! {
    /// Row of `myriscope journeys`, as specified in `docs/output.md`.
    pub struct JourneyRow<'a> {
        journey: u64, "", "", "counts from 0";
        time_ps: u128, "ps", "", "when its first byte was seen first";
        latency_ps: u128, "ps", "", "from there to its first byte on the last channel";
        waited_ps: u128, "ps", "S-3", "what it waited in switches, as far as is known";
        tag: Option<u8> as Number(127), "", "P-2", "the byte behind the route";
        payload: u64, "bytes", "P-2", "bytes between tag and CRC byte";
        fate: &'static str as Words(JourneyFate::NAMES), "", "", "what became of it";
        rule: Option<&'static str> ["Option::is_none"], "", "", "the rule by which it was dropped, if that can be told";
        certainty: &'static str as MatchCertainty::SHAPE, "", "", "whether other packets were like it";
        hops: Vec<HopRow<'a>>, "hops", "P-3", "the captured channels that it passed" => HopRow::FIELDS;
        injuries: Vec<CorruptionRow<'a>>, "injuries", "P-5", "what was done to it" => CorruptionRow::FIELDS;
        relayed_from: Option<u64> ["Option::is_none"], "", "N-6", "journey of which it is a copy, from its host";
        relay_ps: Option<u128> ["Option::is_none"], "ps", "N-6", "from the end of that one to its first byte";
        branch_of: Option<u64> ["Option::is_none"], "", "S-9", "journey of the first copy that its switch made";
        transport: Option<Box<TransportRow>> ["Option::is_none"], "members", "", "what a packet of the reliability protocol says" => TransportRow::FIELDS;
    }
}

row! {
    /// Passage of a packet over a captured channel.
    pub struct HopRow<'a> {
        channel: &'a str, "", "", "name of the channel";
        packet: u64, "", "", "the packet's number on it";
        start: u64, "characters", "P-1", "place of its first byte there";
        end: u64, "characters", "P-1", "place of its last byte there";
        time_ps: u128, "ps", "", "when its first byte was seen there";
        length: u64, "bytes", "P-1", "bytes, CRC byte included";
        route: Option<u8>, "", "P-3", "its first byte, if that is a route byte";
        port: Option<u8>, "", "S-1", "port by which it leaves the next switch";
        switches: u64, "switches", "", "up to the next captured channel";
        latency_ps: Option<u128>, "ps", "S-6", "up to its first byte there, less the cables";
        waited_ps: Option<u128>, "ps", "S-3", "how much of that it waited for others";
        waited_for: Option<&'static str> as Words(&["output", "input", "stop"]), "", "S-3", "what was last to make way";
        behind: Option<u64> ["Option::is_none"], "", "S-3", "number of the packet that it waited for";
        crc: &'static str as Words(CrcCheck::NAMES), "", "P-4", "what the CRC byte says there";
        syndrome: Option<u8>, "", "P-5", "computed XOR received CRC";
        ended_by: &'static str as Words(FrameEnd::NAMES), "", "P-1", "what ended it there";
    }
}

row! {
    /// Corruption of a packet between two captured channels.
    #[derive(Default)]
    pub struct CorruptionRow<'a> {
        after: Option<&'a str>, "", "", "last channel on which it was as before";
        seen: &'a str, "", "", "first channel on which it is different";
        switches: u64, "switches", "", "between the two";
        harm: &'static str as Words(&["flipped", "cut", "grown"]), "", "", "what was done";
        syndrome: Option<u8> ["Option::is_none"], "", "P-5", "what the syndrome changed by";
        flips: Option<&'static str> ["Option::is_none"] as FlipParity::SHAPE, "", "P-4", "how many bits were flipped";
        bit: Option<u8> ["Option::is_none"] as Number(126), "bits", "P-4", "behind the flipped one, modulo 127";
        apart: Option<u8> ["Option::is_none"] as Number(63), "characters", "W-8", "between two flipped on one wire, mod 127";
        places: Vec<BitPlaceRow> ["Vec::is_empty"], "places", "P-4", "where the flipped bit may be, or both are" => BitPlaceRow::FIELDS;
        missing: Option<u64> ["Option::is_none"], "bytes", "", "how many bytes were lost";
        more: Option<u64> ["Option::is_none"], "bytes", "", "how many bytes there are more";
        by: Option<&'static str> ["Option::is_none"] as Words(FrameEnd::NAMES), "", "", "what ended a packet that was cut";
        wire: Option<u8> ["Option::is_none"] as Number(7), "", "W-5", "the wire on which all flipped bits are";
        wires: Vec<WireRow> ["Vec::is_empty"], "wires", "W-5", "flipped bits by wire, if the bytes could be compared" => WireRow::FIELDS;
        changed: Vec<ChangedByteRow> ["Vec::is_empty"], "bytes", "P-5", "the first bytes that changed, at most 8" => ChangedByteRow::FIELDS;
    }
}

row! {
    /// Possible position of a bit; stripped route bytes have negative indices.
    pub struct BitPlaceRow {
        byte: i64, "", "", "byte of the packet on seen, from 0";
        bit: u8 as Number(7), "", "", "bit of the byte, 7 is the highest";
    }
}

row! {
    /// Flipped bits on a wire.
    pub struct WireRow {
        wire: u8 as Number(7), "", "W-1", "number of the wire";
        cleared: u64, "bits", "W-5", "ones that became zeros on it";
        set: u64, "bits", "W-8", "zeros that became ones on it";
    }
}

row! {
    /// A byte that is not as it was.
    pub struct ChangedByteRow {
        byte: i64, "", "", "byte of the packet on seen, from 0";
        before: u8, "", "P-5", "its value before, as it should be on seen";
        after: u8, "", "P-5", "its value after";
    }
}

impl Journey {
    /// Converts the journey to a row; `known` looks up channels.
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
            rule: if let JourneyFate::Dropped(rule) = self.fate { rule } else { None },
            certainty: self.certainty.name(),
            hops: self.hops.iter().map(|hop| hop.row(known)).collect(),
            injuries: self.injuries.iter().map(|injury| injury.row(known)).collect(),
            relayed_from: self.relayed.map(|from| from.journey),
            relay_ps: self.relayed.map(|from| from.after),
            branch_of: self.branch_of,
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
            bit: self.bit,
            wire: self.damage.as_ref().and_then(|damage| damage.tally.single()),
            ..CorruptionRow::default()
        };
        if let Some(damage) = &self.damage {
            let wires = damage.tally.wires();
            row.wires = wires.map(|(wire, cleared, set)| WireRow { wire, cleared, set }).collect();
            let changed = damage.changed.iter().map(|it| {
                let ChangedByte { byte, before, after } = *it;
                ChangedByteRow { byte, before, after }
            });
            row.changed = changed.collect();
        }
        match self.harm {
            Corruption::Flipped(flips) => {
                row.syndrome = Some(self.syndrome);
                row.flips = Some(flips.name());
                if let Some(LocatedHarm::Apart(apart)) = self.located {
                    row.apart = Some(apart);
                }
                let place = |BitPlace { byte, bit }| BitPlaceRow { byte, bit };
                row.places = match self.located {
                    Some(LocatedHarm::Pair(places)) => places.map(place).into(),
                    Some(LocatedHarm::Inserted(..) | LocatedHarm::Apart(_)) | None => {
                        self.places().take(PLACES_MAX).map(place).collect()
                    }
                };
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

fn name<'a>(id: ChannelId, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> &'a str {
    known(id).map_or("", |channel| channel.name.as_str())
}
