//! What happened as a line of JSON: the contract of `docs/truth.md`.

use std::fmt;

use codec::character::Symbol;
use codec::packet::{Check, Tag};
use serde::{Serialize, Serializer};

use super::message::{MessageRow, kind_of_told, kind_of_transmission};
use super::{Command, Escape, Frame, FrameEnd, Handling, Happened, Release, What};
use crate::topology::NodeId;

/// A row of the truth. Fields that its kind of event has not are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TruthRow<'a> {
    /// Periods of the full rate since time zero.
    pub at: u64,
    /// The port.
    pub place: Named<'a>,
    /// The packet, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<Named<'a>>,
    /// [`What::kind`].
    pub event: &'static str,
    /// Further fields.
    #[serde(flatten)]
    pub more: More<'a>,
    /// The frame that was sent or received.
    #[serde(flatten)]
    pub frame: Option<FrameRow<'a>>,
    /// What it says of messages.
    #[serde(flatten)]
    pub message: Option<MessageRow<'a>>,
}

/// The fields that only some kinds of events have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct More<'a> {
    /// Port at which a packet came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u8>,
    /// Bytes, CRC byte included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// `good`, `bad` or `runt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crc: Option<&'static str>,
    /// Computed ⊕ received CRC; of a runt null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syndrome: Option<Option<u8>>,
    /// [`Handling::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handling: Option<&'static str>,
    /// Id of a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Of a probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u8>,
    /// Of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u8>,
    /// From a probe to its reply, in periods of the full rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<u64>,
    /// A control code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u8>,
    /// Kind of a symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<&'static str>,
    /// [`Command::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<&'static str>,
    /// Full cells of a slack buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<u32>,
    /// By how many cells that goes on in each period of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<i32>,
    /// [`Release::name`] or [`Escape::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// Characters in notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characters: Option<&'a str>,
    /// What was broken or mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<&'a str>,
}

/// A frame, with the fields that `myriscope packets` gives it (`docs/output.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameRow<'a> {
    /// Place of the first byte: periods of the channel.
    pub start: u64,
    /// Place of the last.
    pub end: u64,
    /// Bytes, CRC byte included.
    pub length: u64,
    /// The leading bytes with MSB 1.
    pub route: &'a [u8],
    /// The byte after them.
    pub tag: Option<u8>,
    /// Bytes between tag and CRC.
    pub payload: u64,
    /// `good`, `bad` or `runt`.
    pub crc: &'static str,
    /// Computed ⊕ received CRC; none for a runt.
    pub syndrome: Option<u8>,
    /// [`FrameEnd::name`].
    pub ended_by: &'static str,
    /// Bytes of the route beyond those kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub route_left_out: u64,
}

/// Something that is numbered within a node: `s0:3`, `h3#17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Name of the node.
    pub node: &'a str,
    /// `:` before a port, `#` before a packet.
    pub mark: char,
    /// Number of the port or packet.
    pub number: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.node, self.mark, self.number)
    }
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Happened {
    /// The row of `docs/truth.md`, given the names of nodes.
    #[must_use]
    pub fn row<'a>(&'a self, name: impl Fn(NodeId) -> &'a str) -> TruthRow<'a> {
        let named = |node, mark, number| Named { node: name(node), mark, number };
        TruthRow {
            at: self.at,
            place: named(self.place.node, ':', self.place.port.0.into()),
            packet: self.packet.map(|packet| named(packet.host, '#', packet.number)),
            event: self.what.kind(),
            more: self.what.more(),
            frame: self.what.frame().map(Frame::row),
            message: self.what.message(self.place.node, &name),
        }
    }
}

impl What {
    /// The name of the kind of event.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Injected { .. } => "injected",
            Self::Forwarded { .. } => "forwarded",
            Self::Consumed { .. } => "consumed",
            Self::Dropped(_) => "dropped",
            Self::Truncated(_) => "truncated",
            Self::Merged => "merged",
            Self::Received(_) => "received",
            Self::LinkOpen => "open-link",
            Self::LinkRestored => "link-restored",
            Self::ResetReceived => "forward-reset",
            Self::ResetEnded => "reset-ended",
            Self::BackwardResetReceived => "backward-reset",
            Self::OverrunAlarmReceived => "overrun-alarm",
            Self::ProbeReceived(_) => "probe",
            Self::ReplyReceived { .. } => "reply",
            Self::InvalidCode(_) => "invalid-code",
            Self::CorrectedCode { .. } => "corrected-code",
            Self::Threshold { .. } => "threshold",
            Self::Overflow => "overflow",
            Self::Fill { .. } => "fill",
            Self::Sent(_) => "sent",
            Self::Commanded(_) => "commanded",
            Self::ResetClosed => "reset-closed",
            Self::FellSilent => "fell-silent",
            Self::SilenceEnded => "silence-ended",
            Self::PowerLost => "power-lost",
            Self::Raw(_) => "raw",
            Self::SymbolSent(_) => "symbol-sent",
            Self::SenderStopped => "sender-stopped",
            Self::SenderResumed(_) => "sender-resumed",
            Self::Blocked(_) => "blocked",
            Self::Transmitted(transmission) => kind_of_transmission(transmission),
            Self::Told(told) => kind_of_told(told),
            Self::Fault(_) => "fault",
        }
    }

    const fn frame(&self) -> Option<&Frame> {
        if let Self::Received(frame) | Self::Sent(frame) = self { Some(frame) } else { None }
    }

    fn message<'a>(
        &self,
        here: NodeId,
        name: &impl Fn(NodeId) -> &'a str,
    ) -> Option<MessageRow<'a>> {
        if let Self::Told(told) = self {
            Some(MessageRow::of_told(told, here, name))
        } else if let Self::Transmitted(transmission) = self {
            Some(MessageRow::of_transmission(transmission, name))
        } else {
            None
        }
    }

    fn more(&self) -> More<'_> {
        let none = More::default();
        match self {
            Self::Injected { length } => More { length: Some(*length), ..none },
            Self::Forwarded { input } => More { input: Some(input.0), ..none },
            Self::Consumed { length, check, handling } => More {
                length: Some(*length),
                crc: Some(crc_name(*check)),
                syndrome: Some(check.syndrome()),
                handling: Some(handling.name()),
                ..none
            },
            Self::Dropped(rule) | Self::Truncated(rule) => More { rule: Some(rule.0), ..none },
            Self::ProbeReceived(number) => More { number: Some(number.value()), ..none },
            Self::ReplyReceived { status, round_trip } => {
                More { status: Some(status.value()), round_trip: *round_trip, ..none }
            }
            Self::InvalidCode(code) => More { code: Some(*code), ..none },
            Self::CorrectedCode { code, symbol } => {
                More { code: Some(*code), symbol: Some(symbol.family()), ..none }
            }
            Self::Threshold { command, fill } => {
                More { command: Some(command.name()), fill: Some(*fill), ..none }
            }
            Self::Fill { fill, slope } => More { fill: Some(*fill), slope: Some(*slope), ..none },
            Self::Commanded(command) => More { command: Some(command.name()), ..none },
            Self::SymbolSent(symbol) => symbol_sent(*symbol),
            Self::SenderResumed(by) => More { by: Some(by.name()), ..none },
            Self::Blocked(by) => More { by: Some(by.name()), ..none },
            Self::Raw(characters) => More { characters: Some(characters), ..none },
            Self::Fault(fault) => More { fault: Some(fault), ..none },
            Self::Transmitted(_)
            | Self::Told(_)
            | Self::Merged
            | Self::Received(_)
            | Self::LinkOpen
            | Self::LinkRestored
            | Self::ResetReceived
            | Self::ResetEnded
            | Self::BackwardResetReceived
            | Self::OverrunAlarmReceived
            | Self::Overflow
            | Self::Sent(_)
            | Self::ResetClosed
            | Self::FellSilent
            | Self::SilenceEnded
            | Self::PowerLost
            | Self::SenderStopped => none,
        }
    }
}

/// Its kind, and its number or status if it has one.
fn symbol_sent(symbol: Symbol) -> More<'static> {
    let more = More { symbol: Some(symbol.family()), ..More::default() };
    if let Symbol::Probe(number) = symbol {
        More { number: Some(number.value()), ..more }
    } else if let Symbol::Reply(status) = symbol {
        More { status: Some(status.value()), ..more }
    } else {
        more
    }
}

const fn crc_name(check: Check) -> &'static str {
    match check {
        Check::Good => "good",
        Check::Bad(_) => "bad",
        Check::Runt => "runt",
    }
}

impl Frame {
    fn row(&self) -> FrameRow<'_> {
        FrameRow {
            start: self.start,
            end: self.end,
            length: self.length,
            route: &self.route,
            tag: self.tag.map(Tag::value),
            payload: self.payload(),
            crc: crc_name(self.check),
            syndrome: self.check.syndrome(),
            ended_by: self.ended_by.name(),
            route_left_out: self.route_left_out,
        }
    }
}

impl FrameEnd {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::LinkOpen => "open-link",
            Self::Reset => "reset",
            Self::RunEnd => "capture-end",
        }
    }
}

impl Command {
    /// The symbol's name. C-2
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Go => "GO",
            Self::Stop => "STOP",
        }
    }
}

impl Release {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::LinkOpen => "open-link",
            Self::Reset => "reset",
            Self::Power => "power",
        }
    }
}

impl Escape {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Gap => "gap",
        }
    }
}

impl Handling {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Corrupt => "corrupt",
            Self::Runt => "runt",
            Self::Misrouted => "misrouted",
            Self::NoRoutine => "no-routine",
            Self::Ignored => "ignored",
            Self::TooLong => "too-long",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::PacketId;
    use crate::endpoint::{MessageId, Told, Transmission, Turn, Why};
    use crate::topology::Port;
    use crate::transport::Note;
    use crate::truth::Rule;
    use codec::character::{ProbeNumber, ReplyStatus};
    use codec::error::DecodeError;
    use codec::route::PortId;
    use codec::transport::{
        EndpointId, Header, Incarnation, LogicalChannel, Nic, Reason, Seq, Sync, Timestamp,
    };

    const DOC: &str = include_str!("../../../docs/truth.md");
    const NAMES: [&str; 3] = ["h0", "h1", "s0"];

    fn frame(check: Check, tag: Option<Tag>, ended_by: FrameEnd) -> Frame {
        let length = if check == Check::Runt { 1 } else { 67 };
        let (start, end, route) = (52, 51 + length, vec![0x83; usize::from(tag.is_some())]);
        Frame { start, end, length, route, route_left_out: 0, tag, check, ended_by }
    }

    /// Each kind of event, in the order of the document; some twice.
    fn samples() -> Vec<What> {
        let status = ReplyStatus::new(11).unwrap();
        vec![
            What::Injected { length: 67 },
            What::Forwarded { input: PortId(3) },
            What::Consumed { length: 66, check: Check::Good, handling: Handling::Delivered },
            What::Consumed { length: 1, check: Check::Runt, handling: Handling::Runt },
            What::Dropped(Rule("S-1")),
            What::Truncated(Rule("R-4")),
            What::Merged,
            What::Received(frame(Check::Good, Tag::new(5), FrameEnd::Gap)),
            What::Sent(frame(Check::Bad(16), Tag::new(5), FrameEnd::Reset)),
            What::Sent(frame(Check::Runt, None, FrameEnd::RunEnd)),
            What::LinkOpen,
            What::LinkRestored,
            What::ResetReceived,
            What::ResetEnded,
            What::BackwardResetReceived,
            What::OverrunAlarmReceived,
            What::ProbeReceived(ProbeNumber::new(4).unwrap()),
            What::ReplyReceived { status, round_trip: Some(31) },
            What::ReplyReceived { status, round_trip: None },
            What::InvalidCode(141),
            What::CorrectedCode { code: 1, symbol: Symbol::Go },
            What::Threshold { command: Command::Stop, fill: 48 },
            What::Overflow,
            What::Fill { fill: 47, slope: -1 },
            What::Commanded(Command::Stop),
            What::SymbolSent(Symbol::ForwardReset),
            What::SymbolSent(Symbol::Probe(ProbeNumber::new(4).unwrap())),
            What::SymbolSent(Symbol::Reply(status)),
            What::ResetClosed,
            What::FellSilent,
            What::SilenceEnded,
            What::PowerLost,
            What::Raw("83 05 92 GAP".to_owned()),
            What::SenderStopped,
            What::SenderResumed(Release::Power),
            What::Blocked(Escape::Gap),
        ]
        .into_iter()
        .chain(transport())
        .chain([What::Fault("cable cut".to_owned())])
        .collect()
    }

    /// What is told of messages.
    fn transport() -> Vec<What> {
        let message = MessageId { nic: Nic(1), endpoint: EndpointId(2), number: 17 };
        let header = Header {
            source: Nic(1),
            destination: Nic(0),
            channel: LogicalChannel(3),
            seq: Seq::One,
            timestamp: Timestamp(4000),
            incarnation: Incarnation(9),
        };
        let (sync, turn) = (Sync::Set, Turn::First);
        let here = EndpointId(5);
        let transmitted = [
            Transmission::Data { header, sync, message, turn },
            Transmission::Ack(header),
            Transmission::Nack(header, Reason::QueueFull),
        ];
        let noticed = |note| Told::Noticed(header, note);
        let told = [
            Told::Accepted(message, (Nic(0), here)),
            Told::Written(message, here),
            Told::Refused(message, header, Reason::QueueFull),
            Told::Dropped(message, Reason::QueueFull),
            Told::Acknowledged(message),
            Told::Returned(message, Why::Refused(Reason::BadKey)),
            Told::Returned(message, Why::Unreachable),
            Told::GivenUp(message),
            Told::Lost(message, here),
            Told::Damaged(message, here),
            noticed(Note::Retransmitted),
            noticed(Note::Refused(Reason::NotResident)),
            noticed(Note::Duplicate),
            noticed(Note::Stale),
            noticed(Note::Late),
            noticed(Note::Unknown),
            Told::Malformed(DecodeError::CutShort { at: 14, field: "source endpoint" }),
            Told::Overrun,
            Told::Loaded(here),
            Told::Mapped(here),
            Told::Leaving(here),
            Told::Unloaded(here),
            Told::Credits(here, 4),
        ];
        transmitted.map(What::Transmitted).into_iter().chain(told.map(What::Told)).collect()
    }

    fn line(what: What) -> String {
        let about = match what.kind() {
            "injected" | "consumed" => Some(0),
            "message-transmitted" | "ack-transmitted" | "nack-transmitted" => Some(0),
            "forwarded" | "dropped" | "truncated" | "merged" => Some(2),
            "received" | "sent" | "overflow" | "blocked" => Some(2),
            _ => None,
        };
        let at_host = about == Some(0) || matches!(what, What::Told(_));
        let (node, port) = if at_host { (0, 0) } else { (2, 3) };
        let packet = about.map(|_| PacketId { host: NodeId(1), number: 17 });
        let place = Port { node: NodeId(node), port: PortId(port) };
        let happened = Happened { at: 120, place, packet, what };
        serde_json::to_string(&happened.row(|node| NAMES[node.0 as usize])).unwrap()
    }

    #[test]
    fn rows_are_those_of_the_document() {
        let expected: String = samples().into_iter().map(|what| line(what) + "\n").collect();
        let shown = DOC.split("```text\n").last().and_then(|rest| rest.split("```").next());
        assert_eq!(shown.unwrap(), expected);
    }

    #[test]
    fn the_document_has_a_line_for_each_kind_of_event_and_no_other() {
        let named: Vec<_> =
            DOC.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let mut kinds: Vec<_> = samples().iter().map(What::kind).collect();
        kinds.dedup();
        assert_eq!(kinds.len(), 57);
        let described: Vec<_> = named.into_iter().filter(|name| kinds.contains(name)).collect();
        assert_eq!(described, kinds);
    }
}
