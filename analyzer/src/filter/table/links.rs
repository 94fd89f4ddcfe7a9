//! The fields of what channels did, in the order of their JSON.

use super::slack::SOURCE;
use super::{CAPTURE, CHANNEL, CONTROL, U32, U64};
use crate::filter::field::Field;
use crate::filter::field::Shape::{List, Number, Place, Real, Text, Words};
use crate::link::report::Measures;
use crate::link::state::State;

/// States of a channel.
const STATE: &[&str] = &[
    State::Unknown.name(),
    State::Open.name(),
    State::Reset.name(),
    State::Stopped.name(),
    State::Sending.name(),
    State::Starved.name(),
    State::Idle.name(),
];

/// What the time to an answer measures.
const MEASURES: &[&str] = &[Measures::RoundTrip.name(), Measures::Response.name()];

/// Parameters.
const PARAMETER: &[&str] =
    &["kg", "h", "ks", "delay", "gen", "int", "path", "reset", "fill", "framing"];

#[rustfmt::skip]
pub(in crate::filter) const LINKS: &[Field] = &[
    CHANNEL,
    Field::new("index", Number(U32), "", "", "number of the channel's interface in the file"),
    Field::new("peer", Number(U32), "", "", "index of the opposite channel"),
    Field::new("period_ps", Number(U64), "ps", "", "character period"),
    Field::new("tap", Text, "", "", "the end at which it was observed"),
    Field::new("first", Place, "characters", "", "place of the first character"),
    Field::new("last", Place, "characters", "", "place of the last character"),
    Field::new("characters", Number(U64), "characters", "", "characters recorded"),
    Field::new("data", Number(U64), "bytes", "C-1", "data bytes"),
    Field::new("utilisation", Real, "", "C-1", "data bytes in a character"),
    Field::new("control", List, "kinds", "C-2", "control symbols, by kind"),
    CONTROL[0], CONTROL[1], CONTROL[2], CONTROL[3], CONTROL[4],
    CONTROL[5], CONTROL[6], CONTROL[7], CONTROL[8],
    Field::new("corrected", Number(U64), "characters", "C-4", "symbols that had to be corrected"),
    Field::new("invalid", Number(U64), "characters", "C-5", "control codes that are no symbol"),
    Field::new("holes", Number(U64), "holes", "", "stretches that were not recorded"),
    Field::new("states", List, "kinds", "", "time in each state"),
    Field::new("states.unknown.periods", Place, "characters", "", "time before it was understood"),
    Field::new("states.unknown.share", Real, "", "", "the same, of all"),
    Field::new("states.open.periods", Place, "characters", "F-7", "time in silence"),
    Field::new("states.open.share", Real, "", "F-7", "the same, of all"),
    Field::new("states.reset.periods", Place, "characters", "R-2", "time in a forward reset"),
    Field::new("states.reset.share", Real, "", "R-2", "the same, of all"),
    Field::new("states.stopped.periods", Place, "characters", "F-1", "time stopped"),
    Field::new("states.stopped.share", Real, "", "F-1", "the same, of all"),
    Field::new("states.sending.periods", Place, "characters", "P-1", "time sending a packet"),
    Field::new("states.sending.share", Real, "", "P-1", "the same, of all"),
    Field::new("states.starved.periods", Place, "characters", "F-8", "time waiting for a packet's bytes"),
    Field::new("states.starved.share", Real, "", "F-8", "the same, of all"),
    Field::new("states.idle.periods", Place, "characters", "P-7", "time between packets"),
    Field::new("states.idle.share", Real, "", "P-7", "the same, of all"),
    Field::new("lamp", List, "kinds", "L", "what the lamps of the receiving port showed"),
    Field::new("lamp.unknown.periods", Place, "characters", "L", "not known"),
    Field::new("lamp.unknown.share", Real, "", "L", "the same, of all"),
    Field::new("lamp.red.periods", Place, "characters", "L", "open"),
    Field::new("lamp.red.share", Real, "", "L", "the same, of all"),
    Field::new("lamp.green.periods", Place, "characters", "L", "connected and idle"),
    Field::new("lamp.green.share", Real, "", "L", "the same, of all"),
    Field::new("lamp.yellow.periods", Place, "characters", "L", "a packet passes, in either direction"),
    Field::new("lamp.yellow.share", Real, "", "L", "the same, of all"),
    Field::new("stops", List, "kinds", "F-1", "stops of its sender"),
    Field::new("stops.count", Number(U64), "", "F-1", "how often its sender was stopped"),
    Field::new("stops.periods", Place, "characters", "F-1", "for how long, whatever else was the matter"),
    Field::new("stops.share", Real, "", "F-1", "the same, of all"),
    Field::new("stops.longest", Place, "characters", "F-1", "the longest stop"),
    Field::new("flow_control", List, "kinds", "F-4", "STOP and GO on it"),
    Field::new("flow_control.characters", Number(U64), "characters", "F-1", "STOP and GO"),
    Field::new("flow_control.share", Real, "", "F-4", "the same, of all"),
    Field::new("flow_control.commands", Number(U64), "characters", "F-3", "STOP and GO that were news"),
    Field::new("flow_control.commands_share", Real, "", "F-4", "the same, of all"),
    Field::new("packets", List, "kinds", "P-1", "its packets"),
    Field::new("packets.count", Number(U64), "packets", "P-1", "packets"),
    Field::new("packets.ended_by", List, "kinds", "P-1", "by what ended them"),
    Field::new("packets.ended_by.gap", Number(U64), "packets", "P-1", "ended by GAP"),
    Field::new("packets.ended_by.open_link", Number(U64), "packets", "F-7", "ended by silence"),
    Field::new("packets.ended_by.reset", Number(U64), "packets", "R-2", "ended by FRES"),
    Field::new("packets.ended_by.hole", Number(U64), "packets", "", "ended where nothing was recorded"),
    Field::new("packets.ended_by.capture_end", Number(U64), "packets", "", "not ended"),
    Field::new("packets.crc", List, "kinds", "P-4", "by their CRC byte"),
    Field::new("packets.crc.good", Number(U64), "packets", "P-4", "with a right CRC byte"),
    Field::new("packets.crc.bad", Number(U64), "packets", "P-5", "with a wrong CRC byte"),
    Field::new("packets.crc.runt", Number(U64), "packets", "P-9", "too short for a CRC byte"),
    Field::new("pings", List, "kinds", "R-6", "pings and their answers"),
    Field::new("pings.sent", Number(U64), "", "R-6", "PRB0 on the channel"),
    Field::new("pings.answered", Number(U64), "", "R-6", "REPLx to them on the opposite channel"),
    Field::new("pings.measures", Words(MEASURES), "", "R-6", "what the time to an answer is"),
    Field::new("pings.min", Place, "characters", "R-6", "shortest time to an answer"),
    Field::new("pings.mean", Real, "characters", "R-6", "mean time to an answer"),
    Field::new("pings.max", Place, "characters", "R-6", "longest time to an answer"),
    Field::new("parameters", List, "parameters", "F-4", "what governs the channel"),
    Field::new("parameters.name", Words(PARAMETER), "", "", "which parameter"),
    Field::new("parameters.value", Number(U32), "", "F-4", "cells or periods"),
    Field::new("parameters.variant", Text, "", "R-1", "which variant of reset, fill and framing"),
    Field::new("parameters.source", Words(SOURCE), "", "", "on whose word"),
    Field::new("parameters.range", List, "numbers", "F-4", "least and greatest of an estimate"),
    CAPTURE,
];

#[rustfmt::skip]
pub(in crate::filter) const INTERVALS: &[Field] = &[
    CHANNEL,
    Field::new("start", Place, "characters", "", "place of the first character"),
    Field::new("end", Place, "characters", "", "place of the last character"),
    Field::new("periods", Place, "characters", "", "how many characters it has"),
    Field::new("state", Words(STATE), "", "", "what the channel was doing"),
    CAPTURE,
];
