//! The fields of journeys, in the order of their JSON.

use super::transport::TRANSPORT;
use super::{BYTE, CAPTURE, CRC, ENDED_BY, U64};
use crate::filter::field::Field;
use crate::filter::field::Shape::{List, Number, Signed, Text, Time, Words};
use crate::path::{Certainty, Fate, Flips};

const FATE: &[&str] = &[
    Fate::Arrived.name(),
    Fate::Misrouted.name(),
    Fate::OutOfSight.name(),
    Fate::Dropped("").name(),
    Fate::Merged.name(),
    Fate::UnderWay.name(),
];

const CERTAINTY: &[&str] = &[Certainty::Certain.name(), Certainty::ByOrder.name()];

const FLIPS: &[&str] = &[Flips::Odd.name(), Flips::Even.name()];

/// What a packet may wait for.
const WAITED_FOR: &[&str] = &["output", "input", "stop"];

/// What may be done to a packet.
const HARM: &[&str] = &["flipped", "cut", "grown"];

#[rustfmt::skip]
pub(in crate::filter) const JOURNEYS: &[Field] = &[
    Field::new("journey", Number(U64), "", "", "counts from 0"),
    Field::new("time_ps", Time, "ps", "", "when its first byte was seen first"),
    Field::new("latency_ps", Time, "ps", "", "from there to its first byte on the last channel"),
    Field::new("waited_ps", Time, "ps", "S-3", "what it waited in switches, as far as is known"),
    Field::new("tag", Number(127), "", "P-2", "the byte behind the route"),
    Field::new("payload", Number(U64), "bytes", "P-2", "bytes between tag and CRC byte"),
    Field::new("fate", Words(FATE), "", "", "what became of it"),
    Field::new("rule", Text, "", "", "the rule by which it was dropped"),
    Field::new("certainty", Words(CERTAINTY), "", "", "whether other packets were like it"),
    Field::new("hops", List, "hops", "P-3", "the captured channels that it passed"),
    Field::new("hops.channel", Text, "", "", "name of the channel"),
    Field::new("hops.packet", Number(U64), "", "", "the packet's number on it"),
    Field::new("hops.start", Number(U64), "characters", "P-1", "place of its first byte there"),
    Field::new("hops.end", Number(U64), "characters", "P-1", "place of its last byte there"),
    Field::new("hops.time_ps", Time, "ps", "", "when its first byte was seen there"),
    Field::new("hops.length", Number(U64), "bytes", "P-1", "bytes, CRC byte included"),
    Field::new("hops.route", Number(BYTE), "", "P-3", "its first byte, if that is a route byte"),
    Field::new("hops.port", Number(BYTE), "", "S-1", "port by which it leaves the next switch"),
    Field::new("hops.switches", Number(U64), "switches", "", "up to the next captured channel"),
    Field::new("hops.latency_ps", Time, "ps", "S-6", "up to its first byte there, less the cables"),
    Field::new("hops.waited_ps", Time, "ps", "S-3", "how much of that it waited for others"),
    Field::new("hops.waited_for", Words(WAITED_FOR), "", "S-3", "what was last to make way"),
    Field::new("hops.behind", Number(U64), "", "S-3", "number of the packet that it waited for"),
    Field::new("hops.crc", Words(CRC), "", "P-4", "what the CRC byte says there"),
    Field::new("hops.syndrome", Number(BYTE), "", "P-5", "computed XOR received CRC"),
    Field::new("hops.ended_by", Words(ENDED_BY), "", "P-1", "what ended it there"),
    Field::new("injuries", List, "injuries", "P-5", "what was done to it"),
    Field::new("injuries.after", Text, "", "", "last channel on which it was as before"),
    Field::new("injuries.seen", Text, "", "", "first channel on which it is different"),
    Field::new("injuries.switches", Number(U64), "switches", "", "between the two"),
    Field::new("injuries.harm", Words(HARM), "", "", "what was done"),
    Field::new("injuries.syndrome", Number(BYTE), "", "P-5", "what the syndrome changed by"),
    Field::new("injuries.flips", Words(FLIPS), "", "P-4", "how many bits were flipped"),
    Field::new("injuries.bit", Number(126), "bits", "P-4", "behind the flipped one, modulo 127"),
    Field::new("injuries.places", List, "places", "P-4", "where the flipped bit may be"),
    Field::new("injuries.places.byte", Signed, "", "", "byte of the packet on seen, from 0"),
    Field::new("injuries.places.bit", Number(7), "", "", "bit of the byte, 7 is the highest"),
    Field::new("injuries.missing", Number(U64), "bytes", "", "how many bytes were lost"),
    Field::new("injuries.more", Number(U64), "bytes", "", "how many bytes there are more"),
    Field::new("injuries.by", Words(ENDED_BY), "", "", "what ended a packet that was cut"),
    TRANSPORT[0], TRANSPORT[1], TRANSPORT[2], TRANSPORT[3], TRANSPORT[4],
    TRANSPORT[5], TRANSPORT[6], TRANSPORT[7], TRANSPORT[8], TRANSPORT[9],
    TRANSPORT[10], TRANSPORT[11], TRANSPORT[12], TRANSPORT[13], TRANSPORT[14],
    TRANSPORT[15], TRANSPORT[16], TRANSPORT[17], TRANSPORT[18], TRANSPORT[19],
    CAPTURE,
];
