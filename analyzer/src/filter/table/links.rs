//! Fields of the activity of channels, in the order of their JSON.

use super::slack::SOURCE;
use super::{CAPTURE, CHANNEL, CONTROL, U32, U64};
use crate::filter::field::FieldShape::{List, Number, Place, Real, Text, Words};
use crate::filter::field::RowField;
use crate::link::interval::ChannelActivity;
use crate::link::report::PingMeasure;

/// States of a channel.
const STATE: &[&str] = &[
    ChannelActivity::Unknown.name(),
    ChannelActivity::Open.name(),
    ChannelActivity::Reset.name(),
    ChannelActivity::Stopped.name(),
    ChannelActivity::Sending.name(),
    ChannelActivity::Starved.name(),
    ChannelActivity::Idle.name(),
];

/// Meanings of a probe's reply time.
const MEASURES: &[&str] = &[PingMeasure::RoundTrip.name(), PingMeasure::Response.name()];

/// Link parameters.
const PARAMETER: &[&str] =
    &["kg", "h", "ks", "delay", "gen", "int", "path", "reset", "fill", "framing"];

#[rustfmt::skip]
pub(in crate::filter) const LINKS: &[RowField] = &[
    CHANNEL,
    RowField::new("index", Number(U32), "", "", "number of the channel's interface in the file"),
    RowField::new("peer", Number(U32), "", "", "index of the opposite channel"),
    RowField::new("period_ps", Number(U64), "ps", "", "character period"),
    RowField::new("tap", Text, "", "", "the end at which it was observed"),
    RowField::new("first", Place, "characters", "", "place of the first character"),
    RowField::new("last", Place, "characters", "", "place of the last character"),
    RowField::new("characters", Number(U64), "characters", "", "characters recorded"),
    RowField::new("data", Number(U64), "bytes", "C-1", "data bytes"),
    RowField::new("utilisation", Real, "", "C-1", "data bytes in a character"),
    RowField::new("control", List, "kinds", "C-2", "control symbols, by kind"),
    CONTROL[0], CONTROL[1], CONTROL[2], CONTROL[3], CONTROL[4],
    CONTROL[5], CONTROL[6], CONTROL[7], CONTROL[8],
    RowField::new("corrected", Number(U64), "characters", "C-4", "symbols that had to be corrected"),
    RowField::new("invalid", Number(U64), "characters", "C-5", "control codes that are no symbol"),
    RowField::new("holes", Number(U64), "holes", "", "stretches that were not recorded"),
    RowField::new("states", List, "kinds", "", "time in each state"),
    RowField::new("states.unknown.periods", Place, "characters", "", "time before it was understood"),
    RowField::new("states.unknown.share", Real, "", "", "the same, of all"),
    RowField::new("states.open.periods", Place, "characters", "F-7", "time in silence"),
    RowField::new("states.open.share", Real, "", "F-7", "the same, of all"),
    RowField::new("states.reset.periods", Place, "characters", "R-2", "time in a forward reset"),
    RowField::new("states.reset.share", Real, "", "R-2", "the same, of all"),
    RowField::new("states.stopped.periods", Place, "characters", "F-1", "time stopped"),
    RowField::new("states.stopped.share", Real, "", "F-1", "the same, of all"),
    RowField::new("states.sending.periods", Place, "characters", "P-1", "time sending a packet"),
    RowField::new("states.sending.share", Real, "", "P-1", "the same, of all"),
    RowField::new("states.starved.periods", Place, "characters", "F-8", "time waiting for a packet's bytes"),
    RowField::new("states.starved.share", Real, "", "F-8", "the same, of all"),
    RowField::new("states.idle.periods", Place, "characters", "P-7", "time between packets"),
    RowField::new("states.idle.share", Real, "", "P-7", "the same, of all"),
    RowField::new("lamp", List, "kinds", "L", "what the lamps of the receiving port showed"),
    RowField::new("lamp.unknown.periods", Place, "characters", "L", "not known"),
    RowField::new("lamp.unknown.share", Real, "", "L", "the same, of all"),
    RowField::new("lamp.red.periods", Place, "characters", "L", "open"),
    RowField::new("lamp.red.share", Real, "", "L", "the same, of all"),
    RowField::new("lamp.green.periods", Place, "characters", "L", "connected and idle"),
    RowField::new("lamp.green.share", Real, "", "L", "the same, of all"),
    RowField::new("lamp.yellow.periods", Place, "characters", "L", "a packet passes, in either direction"),
    RowField::new("lamp.yellow.share", Real, "", "L", "the same, of all"),
    RowField::new("stops", List, "kinds", "F-1", "stops of its sender"),
    RowField::new("stops.count", Number(U64), "", "F-1", "how often its sender was stopped"),
    RowField::new("stops.periods", Place, "characters", "F-1", "for how long, whatever else was the matter"),
    RowField::new("stops.share", Real, "", "F-1", "the same, of all"),
    RowField::new("stops.longest", Place, "characters", "F-1", "the longest stop"),
    RowField::new("flow_control", List, "kinds", "F-4", "STOP and GO on it"),
    RowField::new("flow_control.characters", Number(U64), "characters", "F-1", "STOP and GO"),
    RowField::new("flow_control.share", Real, "", "F-4", "the same, of all"),
    RowField::new("flow_control.commands", Number(U64), "characters", "F-3", "STOP and GO that were news"),
    RowField::new("flow_control.commands_share", Real, "", "F-4", "the same, of all"),
    RowField::new("packets", List, "kinds", "P-1", "its packets"),
    RowField::new("packets.count", Number(U64), "packets", "P-1", "packets"),
    RowField::new("packets.ended_by", List, "kinds", "P-1", "by what ended them"),
    RowField::new("packets.ended_by.gap", Number(U64), "packets", "P-1", "ended by GAP"),
    RowField::new("packets.ended_by.open_link", Number(U64), "packets", "F-7", "ended by silence"),
    RowField::new("packets.ended_by.reset", Number(U64), "packets", "R-2", "ended by FRES"),
    RowField::new("packets.ended_by.hole", Number(U64), "packets", "", "ended where nothing was recorded"),
    RowField::new("packets.ended_by.capture_end", Number(U64), "packets", "", "not ended"),
    RowField::new("packets.crc", List, "kinds", "P-4", "by their CRC byte"),
    RowField::new("packets.crc.good", Number(U64), "packets", "P-4", "with a right CRC byte"),
    RowField::new("packets.crc.bad", Number(U64), "packets", "P-5", "with a wrong CRC byte"),
    RowField::new("packets.crc.runt", Number(U64), "packets", "P-9", "too short for a CRC byte"),
    RowField::new("pings", List, "kinds", "R-6", "pings and their answers"),
    RowField::new("pings.sent", Number(U64), "", "R-6", "PRB0 on the channel"),
    RowField::new("pings.answered", Number(U64), "", "R-6", "REPLx to them on the opposite channel"),
    RowField::new("pings.measures", Words(MEASURES), "", "R-6", "what the time to an answer is"),
    RowField::new("pings.min", Place, "characters", "R-6", "shortest time to an answer"),
    RowField::new("pings.mean", Real, "characters", "R-6", "mean time to an answer"),
    RowField::new("pings.max", Place, "characters", "R-6", "longest time to an answer"),
    RowField::new("parameters", List, "parameters", "F-4", "what governs the channel"),
    RowField::new("parameters.name", Words(PARAMETER), "", "", "which parameter"),
    RowField::new("parameters.value", Number(U32), "", "F-4", "cells or periods"),
    RowField::new("parameters.variant", Text, "", "R-1", "which variant of reset, fill and framing"),
    RowField::new("parameters.source", Words(SOURCE), "", "", "on whose word"),
    RowField::new("parameters.range", List, "numbers", "F-4", "least and greatest of an estimate"),
    CAPTURE,
];

#[rustfmt::skip]
pub(in crate::filter) const INTERVALS: &[RowField] = &[
    CHANNEL,
    RowField::new("start", Place, "characters", "", "place of the first character"),
    RowField::new("end", Place, "characters", "", "place of the last character"),
    RowField::new("periods", Place, "characters", "", "how many characters it has"),
    RowField::new("state", Words(STATE), "", "", "what the channel was doing"),
    CAPTURE,
];
