//! The fields of all rows, a line each, in the order of their JSON.

mod conversations;
mod findings;
mod journeys;
mod links;
mod slack;
mod transport;

use super::field::Field;
use super::field::Shape::{Bytes, Flag, List, Number, Place, Text, Words};
use crate::blocking::{Broken, Ended, Root};
use crate::event::By;
use crate::event::Event;
use crate::packet::{EndedBy, crc_name};
use codec::packet::Check;

pub(super) use self::conversations::{CONVERSATIONS, REMARKS};
pub(super) use self::findings::FINDINGS;
pub(super) use self::journeys::JOURNEYS;
pub(super) use self::links::{INTERVALS, LINKS};
pub(super) use self::slack::{BUFFERS, FILLS};

const U64: u64 = u64::MAX;
const U32: u64 = u32::MAX as u64;
const BYTE: u64 = 255;

/// The last field of every row: see [`crate::captured`].
const CAPTURE: Field =
    Field::new("capture", Number(U32), "", "", "number of the capture in the file");

const CHANNEL: Field = Field::new("channel", Text, "", "", "name of the channel");

/// Verdicts on a CRC.
const CRC: &[&str] = &[crc_name(Check::Good), "bad", crc_name(Check::Runt)];

const ENDED_BY: &[&str] = &[
    EndedBy::Gap.name(),
    EndedBy::OpenLink.name(),
    EndedBy::Reset.name(),
    EndedBy::Hole.name(),
    EndedBy::CaptureEnd.name(),
];

const EVENT: &[&str] = &[
    Event::OpenLink.kind(),
    Event::LinkRestored.kind(),
    Event::ForwardReset.kind(),
    Event::ResetEnded.kind(),
    Event::BackwardReset.kind(),
    Event::OverrunAlarm.kind(),
    "probe",
    "reply",
    Event::InvalidCode(0).kind(),
    "corrected-code",
    Event::Hole { missing: 0 }.kind(),
    Event::SenderStopped.kind(),
    Event::SenderResumed(By::Go).kind(),
];

const BY: &[&str] = &[By::Go.name(), By::OpenLink.name(), By::Reset.name()];

/// Symbols that single errors are corrected to. C-4
const CORRECTED: &[&str] = &["GAP", "GO", "STOP", "FRES", "ORUN", "BRES"];

/// Members of `control`.
#[rustfmt::skip]
const CONTROL: [Field; 9] = [
    Field::new("control.IDLE", Number(U64), "characters", "C-6", "how many of these"),
    Field::new("control.GAP", Number(U64), "characters", "P-1", "how many of these"),
    Field::new("control.GO", Number(U64), "characters", "F-1", "how many of these"),
    Field::new("control.STOP", Number(U64), "characters", "F-1", "how many of these"),
    Field::new("control.ORUN", Number(U64), "characters", "F-9", "how many of these"),
    Field::new("control.FRES", Number(U64), "characters", "R-2", "how many of these"),
    Field::new("control.BRES", Number(U64), "characters", "R-5", "how many of these"),
    Field::new("control.PRBn", Number(U64), "characters", "R-6", "how many of these"),
    Field::new("control.REPLx", Number(U64), "characters", "R-6", "how many of these"),
];

#[rustfmt::skip]
pub(super) const CHANNELS: &[Field] = &[
    Field::new("index", Number(U32), "", "", "number of the channel's interface in the file"),
    Field::new("name", Text, "", "", "name of the channel"),
    Field::new("peer", Number(U32), "", "", "index of the opposite channel"),
    Field::new("period_ps", Number(U64), "ps", "", "character period"),
    Field::new("characters", Number(U64), "characters", "", "characters recorded"),
    Field::new("data", Number(U64), "bytes", "C-1", "data bytes"),
    Field::new("control", List, "kinds", "C-2", "control symbols, by kind"),
    CONTROL[0], CONTROL[1], CONTROL[2], CONTROL[3], CONTROL[4],
    CONTROL[5], CONTROL[6], CONTROL[7], CONTROL[8],
    Field::new("corrected", Number(U64), "characters", "C-4", "symbols that had to be corrected"),
    Field::new("invalid", Number(U64), "characters", "C-5", "control codes that are no symbol"),
    Field::new("holes", Number(U64), "holes", "", "stretches that were not recorded"),
    Field::new("first", Place, "characters", "", "place of the first character"),
    Field::new("last", Place, "characters", "", "place of the last character"),
    CAPTURE,
];

#[rustfmt::skip]
pub(super) const PACKETS: &[Field] = &[
    CHANNEL,
    Field::new("packet", Number(U64), "", "", "counts from 0 on the channel"),
    Field::new("start", Place, "characters", "P-1", "place of the first data character"),
    Field::new("end", Place, "characters", "P-1", "place of the last data character"),
    Field::new("length", Number(U64), "bytes", "P-1", "data bytes, CRC byte included"),
    Field::new("route", Bytes, "", "P-2", "the leading bytes with MSB 1"),
    Field::new("tag", Number(127), "", "P-2", "the byte after the route"),
    Field::new("payload", Number(U64), "bytes", "P-2", "bytes between tag and CRC byte"),
    Field::new("crc", Words(CRC), "", "P-4", "what the CRC byte says; runt: fewer than two bytes"),
    Field::new("syndrome", Number(BYTE), "", "P-5", "computed XOR received CRC; not of a runt"),
    Field::new("ended_by", Words(ENDED_BY), "", "P-1", "what ended the packet"),
    Field::new("bytes", Bytes, "", "P-1", "all its bytes, the first MiB at most"),
    Field::new("route_left_out", Number(U64), "bytes", "", "bytes that route does not have"),
    Field::new("bytes_left_out", Number(U64), "bytes", "", "bytes that bytes does not have"),
    CAPTURE,
];

#[rustfmt::skip]
pub(super) const EVENTS: &[Field] = &[
    CHANNEL,
    Field::new("at", Place, "characters", "", "where it was noticed"),
    Field::new("event", Words(EVENT), "", "", "what was noticed"),
    Field::new("number", Number(7), "", "R-6", "of a probe"),
    Field::new("status", Number(15), "", "R-6", "of a reply"),
    Field::new("code", Number(BYTE), "", "C-5", "of an invalid or corrected code"),
    Field::new("symbol", Words(CORRECTED), "", "C-4", "what a corrected code was corrected to"),
    Field::new("missing", Number(U64), "characters", "", "of a hole: how many were not recorded"),
    Field::new("by", Words(BY), "", "F-2", "what released a stopped sender"),
    CAPTURE,
];

#[rustfmt::skip]
pub(super) const CHARACTERS: &[Field] = &[
    Field::new("at", Place, "characters", "", "first period, on the left channel"),
    Field::new("left", Text, "", "", "what the left channel carried, in notation"),
    Field::new("right", Text, "", "", "what the right channel carried, in notation"),
    CAPTURE,
];

const WAIT: &[&str] = &["stop", "deadlock"];

const STOP_ENDED_BY: &[&str] = &[
    By::Go.name(),
    By::OpenLink.name(),
    By::Reset.name(),
    Ended::Hole.name(),
    Ended::CaptureEnd.name(),
];

const ROOT: &[&str] = &[
    Root::Host.name(),
    Root::Busy.name(),
    Root::Switch.name(),
    Root::Cycle.name(),
    Root::OpenLink.name(),
    Root::OutOfSight.name(),
];

const BROKEN_BY: &[&str] = &[
    By::Go.name(),
    By::OpenLink.name(),
    By::Reset.name(),
    Broken::Dropped.name(),
    Broken::Hole.name(),
];

#[rustfmt::skip]
pub(super) const WAITS: &[Field] = &[
    Field::new("kind", Words(WAIT), "", "", "what waited: one sender, or several in a circle"),
    Field::new("number", Number(U64), "", "", "of a stop: counts from 0 in order of beginning"),
    CHANNEL,
    Field::new("start", Place, "characters", "F-1", "where it began"),
    Field::new("end", Place, "characters", "F-2", "where it ended"),
    Field::new("periods", Place, "characters", "R-4", "how long it took"),
    Field::new("ended_by", Words(STOP_ENDED_BY), "", "F-2", "what ended a stop"),
    Field::new("timeout", Flag, "", "R-4", "whether the blocked-packet timeout ended it"),
    Field::new("packet", Number(U64), "", "S-3", "the packet at the head of the input behind it"),
    Field::new("chain", Text, "", "S-3", "channels waited for, one for the other"),
    Field::new("behind", Number(U64), "", "", "number of the stop of the first of the chain"),
    Field::new("root", Words(ROOT), "", "", "what the last of the chain was held up by"),
    Field::new("node", Text, "", "", "the node at which the chain ends"),
    Field::new("holders", List, "inputs", "S-3", "inputs whose packets had the output"),
    Field::new("holders.channel", Text, "", "", "the channel to that input"),
    Field::new("holders.packets", Number(U64), "packets", "", "how many of its packets"),
    Field::new("channels", Text, "", "R-4", "of a deadlock: each waits for the next"),
    Field::new("broken_by", Words(BROKEN_BY), "", "R-4", "what broke a deadlock"),
    Field::new("broken_at", Text, "", "R-4", "the channel that went on then"),
    CAPTURE,
];
