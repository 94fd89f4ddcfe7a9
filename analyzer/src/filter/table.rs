//! Fields of all rows, one per line, in the order of their JSON.

mod conversations;
mod findings;
mod journeys;
mod links;
mod slack;
mod transport;

use super::field::FieldShape::{Bytes, Flag, List, Number, Place, Text, Words};
use super::field::RowField;
use crate::blocking::{DeadlockRelease, StopEnd, WaitRoot};
use crate::event::LinkEvent;
use crate::event::ResumeCause;
use crate::packet::FrameEnd;
use codec::packet::CrcCheck;

pub(super) use self::conversations::{CONVERSATIONS, REMARKS};
pub(super) use self::findings::FINDINGS;
pub(super) use self::journeys::JOURNEYS;
pub(super) use self::links::{INTERVALS, LINKS};
pub(super) use self::slack::{BUFFERS, FILLS};

const U64: u64 = u64::MAX;
const U32: u64 = u32::MAX as u64;
const BYTE: u64 = 255;

/// Last field of every row: see [`crate::captured`].
const CAPTURE: RowField =
    RowField::new("capture", Number(U32), "", "", "number of the capture in the file");

const CHANNEL: RowField = RowField::new("channel", Text, "", "", "name of the channel");

/// Results of the CRC check.
const CRC: &[&str] = &[CrcCheck::Good.name(), "bad", CrcCheck::Runt.name()];

const ENDED_BY: &[&str] = &[
    FrameEnd::Gap.name(),
    FrameEnd::OpenLink.name(),
    FrameEnd::Reset.name(),
    FrameEnd::Hole.name(),
    FrameEnd::CaptureEnd.name(),
];

const EVENT: &[&str] = &[
    LinkEvent::OpenLink.kind(),
    LinkEvent::LinkRestored.kind(),
    LinkEvent::ForwardReset.kind(),
    LinkEvent::ResetEnded.kind(),
    LinkEvent::BackwardReset.kind(),
    LinkEvent::OverrunAlarm.kind(),
    "probe",
    "reply",
    LinkEvent::InvalidCode(0).kind(),
    "corrected-code",
    LinkEvent::Hole { missing: 0 }.kind(),
    LinkEvent::SenderStopped.kind(),
    LinkEvent::SenderResumed(ResumeCause::Go).kind(),
];

const BY: &[&str] =
    &[ResumeCause::Go.name(), ResumeCause::OpenLink.name(), ResumeCause::Reset.name()];

/// Symbols that single errors are corrected to. C-4
const CORRECTED: &[&str] = &["GAP", "GO", "STOP", "FRES", "ORUN", "BRES"];

/// Members of `control`.
#[rustfmt::skip]
const CONTROL: [RowField; 9] = [
    RowField::new("control.IDLE", Number(U64), "characters", "C-6", "how many of these"),
    RowField::new("control.GAP", Number(U64), "characters", "P-1", "how many of these"),
    RowField::new("control.GO", Number(U64), "characters", "F-1", "how many of these"),
    RowField::new("control.STOP", Number(U64), "characters", "F-1", "how many of these"),
    RowField::new("control.ORUN", Number(U64), "characters", "F-9", "how many of these"),
    RowField::new("control.FRES", Number(U64), "characters", "R-2", "how many of these"),
    RowField::new("control.BRES", Number(U64), "characters", "R-5", "how many of these"),
    RowField::new("control.PRBn", Number(U64), "characters", "R-6", "how many of these"),
    RowField::new("control.REPLx", Number(U64), "characters", "R-6", "how many of these"),
];

#[rustfmt::skip]
pub(super) const CHANNELS: &[RowField] = &[
    RowField::new("index", Number(U32), "", "", "number of the channel's interface in the file"),
    RowField::new("name", Text, "", "", "name of the channel"),
    RowField::new("peer", Number(U32), "", "", "index of the opposite channel"),
    RowField::new("period_ps", Number(U64), "ps", "", "character period"),
    RowField::new("characters", Number(U64), "characters", "", "characters recorded"),
    RowField::new("data", Number(U64), "bytes", "C-1", "data bytes"),
    RowField::new("control", List, "kinds", "C-2", "control symbols, by kind"),
    CONTROL[0], CONTROL[1], CONTROL[2], CONTROL[3], CONTROL[4],
    CONTROL[5], CONTROL[6], CONTROL[7], CONTROL[8],
    RowField::new("corrected", Number(U64), "characters", "C-4", "symbols that had to be corrected"),
    RowField::new("invalid", Number(U64), "characters", "C-5", "control codes that are no symbol"),
    RowField::new("holes", Number(U64), "holes", "", "stretches that were not recorded"),
    RowField::new("first", Place, "characters", "", "place of the first character"),
    RowField::new("last", Place, "characters", "", "place of the last character"),
    CAPTURE,
];

#[rustfmt::skip]
pub(super) const PACKETS: &[RowField] = &[
    CHANNEL,
    RowField::new("packet", Number(U64), "", "", "counts from 0 on the channel"),
    RowField::new("start", Place, "characters", "P-1", "place of the first data character"),
    RowField::new("end", Place, "characters", "P-1", "place of the last data character"),
    RowField::new("length", Number(U64), "bytes", "P-1", "data bytes, CRC byte included"),
    RowField::new("route", Bytes, "", "P-2", "the leading bytes with MSB 1"),
    RowField::new("tag", Number(127), "", "P-2", "the byte after the route"),
    RowField::new("payload", Number(U64), "bytes", "P-2", "bytes between tag and CRC byte"),
    RowField::new("crc", Words(CRC), "", "P-4", "what the CRC byte says; runt: fewer than two bytes"),
    RowField::new("syndrome", Number(BYTE), "", "P-5", "computed XOR received CRC; not of a runt"),
    RowField::new("ended_by", Words(ENDED_BY), "", "P-1", "what ended the packet"),
    RowField::new("bytes", Bytes, "", "P-1", "all its bytes, the first MiB at most"),
    RowField::new("route_left_out", Number(U64), "bytes", "", "bytes that route does not have"),
    RowField::new("bytes_left_out", Number(U64), "bytes", "", "bytes that bytes does not have"),
    CAPTURE,
];

#[rustfmt::skip]
pub(super) const EVENTS: &[RowField] = &[
    CHANNEL,
    RowField::new("at", Place, "characters", "", "where it was noticed"),
    RowField::new("event", Words(EVENT), "", "", "what was noticed"),
    RowField::new("number", Number(7), "", "R-6", "of a probe"),
    RowField::new("status", Number(15), "", "R-6", "of a reply"),
    RowField::new("code", Number(BYTE), "", "C-5", "of an invalid or corrected code"),
    RowField::new("symbol", Words(CORRECTED), "", "C-4", "what a corrected code was corrected to"),
    RowField::new("missing", Number(U64), "characters", "", "of a hole: how many were not recorded"),
    RowField::new("by", Words(BY), "", "F-2", "what released a stopped sender"),
    CAPTURE,
];

#[rustfmt::skip]
pub(super) const CHARACTERS: &[RowField] = &[
    RowField::new("at", Place, "characters", "", "first period, on the left channel"),
    RowField::new("left", Text, "", "", "what the left channel carried, in notation"),
    RowField::new("right", Text, "", "", "what the right channel carried, in notation"),
    CAPTURE,
];

const WAIT: &[&str] = &["stop", "deadlock"];

const STOP_ENDED_BY: &[&str] = &[
    ResumeCause::Go.name(),
    ResumeCause::OpenLink.name(),
    ResumeCause::Reset.name(),
    StopEnd::Hole.name(),
    StopEnd::CaptureEnd.name(),
];

const ROOT: &[&str] = &[
    WaitRoot::Host.name(),
    WaitRoot::Busy.name(),
    WaitRoot::Switch.name(),
    WaitRoot::Cycle.name(),
    WaitRoot::OpenLink.name(),
    WaitRoot::OutOfSight.name(),
];

const BROKEN_BY: &[&str] = &[
    ResumeCause::Go.name(),
    ResumeCause::OpenLink.name(),
    ResumeCause::Reset.name(),
    DeadlockRelease::Dropped.name(),
    DeadlockRelease::Hole.name(),
];

#[rustfmt::skip]
pub(super) const WAITS: &[RowField] = &[
    RowField::new("kind", Words(WAIT), "", "", "what waited: one sender, or several in a circle"),
    RowField::new("number", Number(U64), "", "", "of a stop: counts from 0 in order of beginning"),
    CHANNEL,
    RowField::new("start", Place, "characters", "F-1", "where it began"),
    RowField::new("end", Place, "characters", "F-2", "where it ended"),
    RowField::new("periods", Place, "characters", "R-4", "how long it took"),
    RowField::new("ended_by", Words(STOP_ENDED_BY), "", "F-2", "what ended a stop"),
    RowField::new("timeout", Flag, "", "R-4", "whether the blocked-packet timeout ended it"),
    RowField::new("packet", Number(U64), "", "S-3", "the packet at the head of the input behind it"),
    RowField::new("chain", Text, "", "S-3", "channels waited for, one for the other"),
    RowField::new("behind", Number(U64), "", "", "number of the stop of the first of the chain"),
    RowField::new("root", Words(ROOT), "", "", "what the last of the chain was held up by"),
    RowField::new("node", Text, "", "", "the node at which the chain ends"),
    RowField::new("holders", List, "inputs", "S-3", "inputs whose packets had the output"),
    RowField::new("holders.channel", Text, "", "", "the channel to that input"),
    RowField::new("holders.packets", Number(U64), "packets", "", "how many of its packets"),
    RowField::new("channels", Text, "", "R-4", "of a deadlock: each waits for the next"),
    RowField::new("broken_by", Words(BROKEN_BY), "", "R-4", "what broke a deadlock"),
    RowField::new("broken_at", Text, "", "R-4", "the channel that went on then"),
    CAPTURE,
];
