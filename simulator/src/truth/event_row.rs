//! What happened as a line of JSON: the contract of `docs/truth.md`.

use std::fmt;

use codec::character::Symbol;
use codec::packet::{CrcCheck, PacketTag};
use serde::{Serialize, Serializer};

use super::message_fields::{MessageFields, kind_of_told, kind_of_transmission};
use super::{
    BlockedEscape, FrameEnding, FrameRecord, PacketHandling, ReleaseCause, StopGo, TruthEvent,
    TruthEventKind,
};
use crate::topology::NodeId;

/// A row of the truth. Fields that its kind of event has not are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TruthRow<'a> {
    /// Periods of the full rate since time zero.
    pub at: u64,
    /// The port.
    pub place: NumberedName<'a>,
    /// The packet, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<NumberedName<'a>>,
    /// [`TruthEventKind::kind`].
    pub event: &'static str,
    /// Further fields.
    #[serde(flatten)]
    pub more: EventFields<'a>,
    /// The frame that was sent or received.
    #[serde(flatten)]
    pub frame: Option<FrameFields<'a>>,
    /// What it says of messages.
    #[serde(flatten)]
    pub message: Option<MessageFields<'a>>,
}

/// The fields that only some kinds of events have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventFields<'a> {
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
    /// [`PacketHandling::name`].
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
    /// [`StopGo::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<&'static str>,
    /// Full cells of a slack buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<u32>,
    /// By how many cells that goes on in each period of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<i32>,
    /// [`ReleaseCause::name`] or [`BlockedEscape::name`].
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
pub struct FrameFields<'a> {
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
    /// [`FrameEnding::name`].
    pub ended_by: &'static str,
    /// Bytes of the route beyond those kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub route_left_out: u64,
}

/// Something that is numbered within a node: `s0:3`, `h3#17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedName<'a> {
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

impl fmt::Display for NumberedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.node, self.mark, self.number)
    }
}

impl Serialize for NumberedName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl TruthEvent {
    /// The row of `docs/truth.md`, given the names of nodes.
    #[must_use]
    pub fn row<'a>(&'a self, name: impl Fn(NodeId) -> &'a str) -> TruthRow<'a> {
        let named = |node, mark, number| NumberedName { node: name(node), mark, number };
        TruthRow {
            at: self.at,
            place: named(self.place.node, ':', self.place.port.0.into()),
            packet: self.packet.map(|packet| named(packet.host, '#', packet.number)),
            event: self.kind.kind(),
            more: self.kind.more(),
            frame: self.kind.frame().map(FrameRecord::row),
            message: self.kind.message(self.place.node, &name),
        }
    }
}

impl TruthEventKind {
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
            Self::Messaging(told) => kind_of_told(told),
            Self::Fault(_) => "fault",
        }
    }

    const fn frame(&self) -> Option<&FrameRecord> {
        if let Self::Received(frame) | Self::Sent(frame) = self { Some(frame) } else { None }
    }

    fn message<'a>(
        &self,
        here: NodeId,
        name: &impl Fn(NodeId) -> &'a str,
    ) -> Option<MessageFields<'a>> {
        if let Self::Messaging(told) = self {
            Some(MessageFields::of_told(told, here, name))
        } else if let Self::Transmitted(transmission) = self {
            Some(MessageFields::of_transmission(transmission, name))
        } else {
            None
        }
    }

    fn more(&self) -> EventFields<'_> {
        let none = EventFields::default();
        match self {
            Self::Injected { length } => EventFields { length: Some(*length), ..none },
            Self::Forwarded { input } => EventFields { input: Some(input.0), ..none },
            Self::Consumed { length, check, handling } => EventFields {
                length: Some(*length),
                crc: Some(crc_name(*check)),
                syndrome: Some(check.syndrome()),
                handling: Some(handling.name()),
                ..none
            },
            Self::Dropped(rule) | Self::Truncated(rule) => {
                EventFields { rule: Some(rule.0), ..none }
            }
            Self::ProbeReceived(number) => EventFields { number: Some(number.value()), ..none },
            Self::ReplyReceived { status, round_trip } => {
                EventFields { status: Some(status.value()), round_trip: *round_trip, ..none }
            }
            Self::InvalidCode(code) => EventFields { code: Some(*code), ..none },
            Self::CorrectedCode { code, symbol } => {
                EventFields { code: Some(*code), symbol: Some(symbol.family()), ..none }
            }
            Self::Threshold { command, fill } => {
                EventFields { command: Some(command.name()), fill: Some(*fill), ..none }
            }
            Self::Fill { fill, slope } => {
                EventFields { fill: Some(*fill), slope: Some(*slope), ..none }
            }
            Self::Commanded(command) => EventFields { command: Some(command.name()), ..none },
            Self::SymbolSent(symbol) => symbol_sent(*symbol),
            Self::SenderResumed(by) => EventFields { by: Some(by.name()), ..none },
            Self::Blocked(by) => EventFields { by: Some(by.name()), ..none },
            Self::Raw(characters) => EventFields { characters: Some(characters), ..none },
            Self::Fault(fault) => EventFields { fault: Some(fault), ..none },
            Self::Transmitted(_)
            | Self::Messaging(_)
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
fn symbol_sent(symbol: Symbol) -> EventFields<'static> {
    let more = EventFields { symbol: Some(symbol.family()), ..EventFields::default() };
    if let Symbol::Probe(number) = symbol {
        EventFields { number: Some(number.value()), ..more }
    } else if let Symbol::Reply(status) = symbol {
        EventFields { status: Some(status.value()), ..more }
    } else {
        more
    }
}

const fn crc_name(check: CrcCheck) -> &'static str {
    match check {
        CrcCheck::Good => "good",
        CrcCheck::Bad(_) => "bad",
        CrcCheck::Runt => "runt",
    }
}

impl FrameRecord {
    fn row(&self) -> FrameFields<'_> {
        FrameFields {
            start: self.start,
            end: self.end,
            length: self.length,
            route: &self.route,
            tag: self.tag.map(PacketTag::value),
            payload: self.payload(),
            crc: crc_name(self.check),
            syndrome: self.check.syndrome(),
            ended_by: self.ended_by.name(),
            route_left_out: self.route_left_out,
        }
    }
}

impl FrameEnding {
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

impl StopGo {
    /// The symbol's name. C-2
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Go => "GO",
            Self::Stop => "STOP",
        }
    }
}

impl ReleaseCause {
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

impl BlockedEscape {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Gap => "gap",
        }
    }
}

impl PacketHandling {
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
    use crate::link::tagged_char::PacketId;
    use crate::messaging::{
        MessageId, MessagingEvent, ReturnCause, TransmissionAttempt, TransmissionKind,
    };
    use crate::topology::NodePort;
    use crate::transport::TransportNotice;
    use crate::truth::RuleId;
    use codec::character::{ProbeNumber, ReplyStatus};
    use codec::error::DecodeError;
    use codec::route::PortId;
    use codec::transport::{
        ChannelIncarnation, EndpointId, LogicalChannel, NackReason, Nic, SequenceBit, SyncFlag,
        TransportHeader, TransportTimestamp,
    };

    const DOC: &str = include_str!("../../../docs/truth.md");
    const NAMES: [&str; 3] = ["h0", "h1", "s0"];

    fn frame(check: CrcCheck, tag: Option<PacketTag>, ended_by: FrameEnding) -> FrameRecord {
        let length = if check == CrcCheck::Runt { 1 } else { 67 };
        let (start, end, route) = (52, 51 + length, vec![0x83; usize::from(tag.is_some())]);
        FrameRecord { start, end, length, route, route_left_out: 0, tag, check, ended_by }
    }

    /// Each kind of event, in the order of the document; some twice.
    fn samples() -> Vec<TruthEventKind> {
        let status = ReplyStatus::new(11).unwrap();
        vec![
            TruthEventKind::Injected { length: 67 },
            TruthEventKind::Forwarded { input: PortId(3) },
            TruthEventKind::Consumed {
                length: 66,
                check: CrcCheck::Good,
                handling: PacketHandling::Delivered,
            },
            TruthEventKind::Consumed {
                length: 1,
                check: CrcCheck::Runt,
                handling: PacketHandling::Runt,
            },
            TruthEventKind::Dropped(RuleId("S-1")),
            TruthEventKind::Truncated(RuleId("R-4")),
            TruthEventKind::Merged,
            TruthEventKind::Received(frame(CrcCheck::Good, PacketTag::new(5), FrameEnding::Gap)),
            TruthEventKind::Sent(frame(CrcCheck::Bad(16), PacketTag::new(5), FrameEnding::Reset)),
            TruthEventKind::Sent(frame(CrcCheck::Runt, None, FrameEnding::RunEnd)),
            TruthEventKind::LinkOpen,
            TruthEventKind::LinkRestored,
            TruthEventKind::ResetReceived,
            TruthEventKind::ResetEnded,
            TruthEventKind::BackwardResetReceived,
            TruthEventKind::OverrunAlarmReceived,
            TruthEventKind::ProbeReceived(ProbeNumber::new(4).unwrap()),
            TruthEventKind::ReplyReceived { status, round_trip: Some(31) },
            TruthEventKind::ReplyReceived { status, round_trip: None },
            TruthEventKind::InvalidCode(141),
            TruthEventKind::CorrectedCode { code: 1, symbol: Symbol::Go },
            TruthEventKind::Threshold { command: StopGo::Stop, fill: 48 },
            TruthEventKind::Overflow,
            TruthEventKind::Fill { fill: 47, slope: -1 },
            TruthEventKind::Commanded(StopGo::Stop),
            TruthEventKind::SymbolSent(Symbol::ForwardReset),
            TruthEventKind::SymbolSent(Symbol::Probe(ProbeNumber::new(4).unwrap())),
            TruthEventKind::SymbolSent(Symbol::Reply(status)),
            TruthEventKind::ResetClosed,
            TruthEventKind::FellSilent,
            TruthEventKind::SilenceEnded,
            TruthEventKind::PowerLost,
            TruthEventKind::Raw("83 05 92 GAP".to_owned()),
            TruthEventKind::SenderStopped,
            TruthEventKind::SenderResumed(ReleaseCause::Power),
            TruthEventKind::Blocked(BlockedEscape::Gap),
        ]
        .into_iter()
        .chain(transport())
        .chain([TruthEventKind::Fault("cable cut".to_owned())])
        .collect()
    }

    /// What is told of messages.
    fn transport() -> Vec<TruthEventKind> {
        let message = MessageId { nic: Nic(1), endpoint: EndpointId(2), number: 17 };
        let header = TransportHeader {
            source: Nic(1),
            destination: Nic(0),
            channel: LogicalChannel(3),
            seq: SequenceBit::One,
            timestamp: TransportTimestamp(4000),
            incarnation: ChannelIncarnation(9),
        };
        let (sync, turn) = (SyncFlag::Set, TransmissionAttempt::First);
        let here = EndpointId(5);
        let transmitted = [
            TransmissionKind::Data { header, sync, message, turn },
            TransmissionKind::Ack(header),
            TransmissionKind::Nack(header, NackReason::QueueFull),
        ];
        let noticed = |note| MessagingEvent::Noticed(header, note);
        let told = [
            MessagingEvent::Accepted(message, (Nic(0), here)),
            MessagingEvent::Written(message, here),
            MessagingEvent::Refused(message, header, NackReason::QueueFull),
            MessagingEvent::Dropped(message, NackReason::QueueFull),
            MessagingEvent::Acknowledged(message),
            MessagingEvent::Returned(message, ReturnCause::Refused(NackReason::BadKey)),
            MessagingEvent::Returned(message, ReturnCause::Unreachable),
            MessagingEvent::GivenUp(message),
            MessagingEvent::Lost(message, here),
            MessagingEvent::Damaged(message, here),
            noticed(TransportNotice::Retransmitted),
            noticed(TransportNotice::Refused(NackReason::NotResident)),
            noticed(TransportNotice::Duplicate),
            noticed(TransportNotice::Stale),
            noticed(TransportNotice::Late),
            noticed(TransportNotice::Unknown),
            MessagingEvent::Malformed(DecodeError::CutShort { at: 14, field: "source endpoint" }),
            MessagingEvent::Overrun,
            MessagingEvent::Loaded(here),
            MessagingEvent::Mapped(here),
            MessagingEvent::Leaving(here),
            MessagingEvent::Unloaded(here),
            MessagingEvent::Credits(here, 4),
        ];
        transmitted
            .map(TruthEventKind::Transmitted)
            .into_iter()
            .chain(told.map(TruthEventKind::Messaging))
            .collect()
    }

    fn line(what: TruthEventKind) -> String {
        let about = match what.kind() {
            "injected" | "consumed" => Some(0),
            "message-transmitted" | "ack-transmitted" | "nack-transmitted" => Some(0),
            "forwarded" | "dropped" | "truncated" | "merged" => Some(2),
            "received" | "sent" | "overflow" | "blocked" => Some(2),
            _ => None,
        };
        let at_host = about == Some(0) || matches!(what, TruthEventKind::Messaging(_));
        let (node, port) = if at_host { (0, 0) } else { (2, 3) };
        let packet = about.map(|_| PacketId { host: NodeId(1), number: 17 });
        let place = NodePort { node: NodeId(node), port: PortId(port) };
        let happened = TruthEvent { at: 120, place, packet, kind: what };
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
        let mut kinds: Vec<_> = samples().iter().map(TruthEventKind::kind).collect();
        kinds.dedup();
        assert_eq!(kinds.len(), 57);
        let described: Vec<_> = named.into_iter().filter(|name| kinds.contains(name)).collect();
        assert_eq!(described, kinds);
    }
}
