//! Fields of journeys, in the order of their JSON.

use super::transport::TRANSPORT;
use super::{BYTE, CAPTURE, CRC, ENDED_BY, U64};
use crate::filter::field::FieldShape::{List, Number, Signed, Text, Time, Words};
use crate::filter::field::RowField;
use crate::journey::{FlipParity, JourneyFate, MatchCertainty};

const FATE: &[&str] = &[
    JourneyFate::Arrived.name(),
    JourneyFate::Misrouted.name(),
    JourneyFate::OutOfSight.name(),
    JourneyFate::Dropped("").name(),
    JourneyFate::Merged.name(),
    JourneyFate::UnderWay.name(),
];

const CERTAINTY: &[&str] = &[MatchCertainty::Certain.name(), MatchCertainty::ByOrder.name()];

const FLIPS: &[&str] = &[FlipParity::Odd.name(), FlipParity::Even.name()];

/// Reasons for waiting.
const WAITED_FOR: &[&str] = &["output", "input", "stop"];

/// Kinds of corruption.
const HARM: &[&str] = &["flipped", "cut", "grown"];

#[rustfmt::skip]
pub(in crate::filter) const JOURNEYS: &[RowField] = &[
    RowField::new("journey", Number(U64), "", "", "counts from 0"),
    RowField::new("time_ps", Time, "ps", "", "when its first byte was seen first"),
    RowField::new("latency_ps", Time, "ps", "", "from there to its first byte on the last channel"),
    RowField::new("waited_ps", Time, "ps", "S-3", "what it waited in switches, as far as is known"),
    RowField::new("tag", Number(127), "", "P-2", "the byte behind the route"),
    RowField::new("payload", Number(U64), "bytes", "P-2", "bytes between tag and CRC byte"),
    RowField::new("fate", Words(FATE), "", "", "what became of it"),
    RowField::new("rule", Text, "", "", "the rule by which it was dropped"),
    RowField::new("certainty", Words(CERTAINTY), "", "", "whether other packets were like it"),
    RowField::new("hops", List, "hops", "P-3", "the captured channels that it passed"),
    RowField::new("hops.channel", Text, "", "", "name of the channel"),
    RowField::new("hops.packet", Number(U64), "", "", "the packet's number on it"),
    RowField::new("hops.start", Number(U64), "characters", "P-1", "place of its first byte there"),
    RowField::new("hops.end", Number(U64), "characters", "P-1", "place of its last byte there"),
    RowField::new("hops.time_ps", Time, "ps", "", "when its first byte was seen there"),
    RowField::new("hops.length", Number(U64), "bytes", "P-1", "bytes, CRC byte included"),
    RowField::new("hops.route", Number(BYTE), "", "P-3", "its first byte, if that is a route byte"),
    RowField::new("hops.port", Number(BYTE), "", "S-1", "port by which it leaves the next switch"),
    RowField::new("hops.switches", Number(U64), "switches", "", "up to the next captured channel"),
    RowField::new("hops.latency_ps", Time, "ps", "S-6", "up to its first byte there, less the cables"),
    RowField::new("hops.waited_ps", Time, "ps", "S-3", "how much of that it waited for others"),
    RowField::new("hops.waited_for", Words(WAITED_FOR), "", "S-3", "what was last to make way"),
    RowField::new("hops.behind", Number(U64), "", "S-3", "number of the packet that it waited for"),
    RowField::new("hops.crc", Words(CRC), "", "P-4", "what the CRC byte says there"),
    RowField::new("hops.syndrome", Number(BYTE), "", "P-5", "computed XOR received CRC"),
    RowField::new("hops.ended_by", Words(ENDED_BY), "", "P-1", "what ended it there"),
    RowField::new("injuries", List, "injuries", "P-5", "what was done to it"),
    RowField::new("injuries.after", Text, "", "", "last channel on which it was as before"),
    RowField::new("injuries.seen", Text, "", "", "first channel on which it is different"),
    RowField::new("injuries.switches", Number(U64), "switches", "", "between the two"),
    RowField::new("injuries.harm", Words(HARM), "", "", "what was done"),
    RowField::new("injuries.syndrome", Number(BYTE), "", "P-5", "what the syndrome changed by"),
    RowField::new("injuries.flips", Words(FLIPS), "", "P-4", "how many bits were flipped"),
    RowField::new("injuries.bit", Number(126), "bits", "P-4", "behind the flipped one, modulo 127"),
    RowField::new("injuries.places", List, "places", "P-4", "where the flipped bit may be"),
    RowField::new("injuries.places.byte", Signed, "", "", "byte of the packet on seen, from 0"),
    RowField::new("injuries.places.bit", Number(7), "", "", "bit of the byte, 7 is the highest"),
    RowField::new("injuries.missing", Number(U64), "bytes", "", "how many bytes were lost"),
    RowField::new("injuries.more", Number(U64), "bytes", "", "how many bytes there are more"),
    RowField::new("injuries.by", Words(ENDED_BY), "", "", "what ended a packet that was cut"),
    TRANSPORT[0], TRANSPORT[1], TRANSPORT[2], TRANSPORT[3], TRANSPORT[4],
    TRANSPORT[5], TRANSPORT[6], TRANSPORT[7], TRANSPORT[8], TRANSPORT[9],
    TRANSPORT[10], TRANSPORT[11], TRANSPORT[12], TRANSPORT[13], TRANSPORT[14],
    TRANSPORT[15], TRANSPORT[16], TRANSPORT[17], TRANSPORT[18], TRANSPORT[19],
    CAPTURE,
];
