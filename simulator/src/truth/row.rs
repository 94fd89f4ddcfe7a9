//! Events as lines of JSON: the contract of `docs/truth.md`.

use std::fmt;

use codec::character::{Character, Symbol};
use codec::wires::WireTransition;
use serde::ser::{Impossible, Serialize, SerializeMap, Serializer};

use super::{
    MemoryMark, PacketHandling, RelayNotice, RouterNotice, RuleId, TruthEvent, TruthEventKind,
};
use crate::node::{NodeId, PortLabel};

/// Names of all kinds of events, in the order of `docs/truth.md`.
#[rustfmt::skip]
pub const TRUTH_KINDS: [&str; 68] = [
    "injected", "forwarded", "consumed", "dropped", "truncated", "merged", "received", "sent",
    "open-link", "link-restored", "forward-reset", "reset-ended", "backward-reset",
    "overrun-alarm", "probe", "reply", "wire-error", "invalid-code", "corrected-code", "threshold", "overflow",
    "fill", "commanded", "symbol-sent", "reset-closed", "fell-silent", "silence-ended",
    "power-lost", "raw", "sender-stopped", "sender-resumed", "blocked", "memory-filled", "interrupt", "multicast", "routed", "ip-transmitted",
    "message-transmitted",
    "ack-transmitted", "nack-transmitted", "message-accepted", "message-written",
    "message-refused", "message-dropped", "message-acknowledged", "message-returned",
    "message-given-up", "message-lost", "message-damaged", "transport-retransmitted",
    "transport-refused", "transport-duplicate", "transport-stale", "transport-late",
    "transport-unknown", "transport-malformed", "transport-overrun", "endpoint-loaded",
    "host-memory-mapped", "endpoint-leaving", "endpoint-unloaded", "endpoint-credits",
    "mapping-transmitted", "mapper-elected", "mapper-resigned", "map-version", "routes-installed",
    "fault",
];

/// A row of the truth, in which nodes have names.
#[derive(Clone, Copy)]
pub struct TruthRow<'a, F> {
    event: &'a TruthEvent,
    name: F,
}

impl<F> fmt::Debug for TruthRow<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.event.fmt(f)
    }
}

impl TruthEvent {
    /// The row of `docs/truth.md`, given the names of nodes.
    pub const fn row<'n, F: Fn(NodeId) -> &'n str>(&self, name: F) -> TruthRow<'_, F> {
        TruthRow { event: self, name }
    }
}

impl<'a, F: Fn(NodeId) -> &'a str> Serialize for TruthRow<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TruthEvent { at, time_ps, place, packet, kind } = self.event;
        let name = &self.name;
        let mut row = serializer.serialize_map(None)?;
        row.serialize_entry("at", at)?;
        time_ps.iter().try_for_each(|time| row.serialize_entry("time_ps", time))?;
        row.serialize_entry(
            "place",
            &format_args!("{}:{}", name(place.node), PortLabel(place.port)),
        )?;
        if let Some(packet) = packet {
            let text = format_args!("{}#{}", name(packet.host), packet.number);
            row.serialize_entry("packet", &text)?;
        }
        let mut out = RowWriter { row: Some((&mut row, &|node| name(node))), ..RowWriter::new() };
        kind.write(place.node, &mut out);
        out.result?;
        row.end()
    }
}

/// Writer of an event's name and fields; without a row only the name is kept.
pub(super) struct RowWriter<'a, M: SerializeMap> {
    row: Option<(&'a mut M, &'a dyn Fn(NodeId) -> &'a str)>,
    name: &'static str,
    result: Result<(), M::Error>,
}

impl<'a, M: SerializeMap> RowWriter<'a, M> {
    const fn new() -> Self {
        Self { row: None, name: "", result: Ok(()) }
    }

    pub(super) fn event(&mut self, name: &'static str) -> &mut Self {
        self.name = name;
        self.field("event", name)
    }

    pub(super) fn field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> &mut Self {
        if let (Some((row, _)), Ok(())) = (&mut self.row, &self.result) {
            self.result = row.serialize_entry(key, value);
        }
        self
    }

    /// Writes a field that is left out if it has no value.
    pub(super) fn optional<T: Serialize>(
        &mut self,
        key: &'static str,
        value: Option<T>,
    ) -> &mut Self {
        match value {
            Some(value) => self.field(key, &value),
            None => self,
        }
    }

    pub(super) fn node_name(&self, node: NodeId) -> &'a str {
        self.row.as_ref().map_or("", |(_, name)| name(node))
    }
}

impl TruthEventKind {
    /// Name of the kind of event in rows.
    pub fn name(&self) -> &'static str {
        let mut out = RowWriter::<Impossible<(), fmt::Error>>::new();
        self.write(NodeId(0), &mut out);
        out.name
    }

    /// Writes the name and the fields of an event at a node.
    fn write<M: SerializeMap>(&self, here: NodeId, out: &mut RowWriter<'_, M>) {
        match self {
            Self::Injected { length, queued } => {
                out.event("injected").field("length", length).field("queued", queued)
            }
            Self::Forwarded { input } => out.event("forwarded").field("input", &input.0),
            Self::Consumed { length, check, handling } => {
                out.event("consumed").field("length", length).field("crc", check.name());
                out.field("syndrome", &check.syndrome()).field("handling", handling.name())
            }
            Self::Dropped(RuleId(rule)) => out.event("dropped").field("rule", rule),
            Self::Truncated(RuleId(rule)) => out.event("truncated").field("rule", rule),
            Self::Merged => out.event("merged"),
            Self::Received(frame) => out.event("received").frame(frame),
            Self::LinkOpen => out.event("open-link"),
            Self::LinkRestored => out.event("link-restored"),
            Self::ResetReceived => out.event("forward-reset"),
            Self::ResetEnded => out.event("reset-ended"),
            Self::BackwardResetReceived => out.event("backward-reset"),
            Self::OverrunAlarmReceived => out.event("overrun-alarm"),
            Self::ProbeReceived(number) => out.event("probe").field("number", &number.value()),
            Self::ReplyReceived { status, round_trip } => {
                out.event("reply").field("status", &status.value());
                out.optional("round_trip", *round_trip)
            }
            Self::WireError { character, sent, received } => {
                out.event("wire-error").damage(*character, [*sent, *received])
            }
            Self::InvalidCode(code) => out.event("invalid-code").field("code", code),
            Self::CorrectedCode { code, symbol } => {
                out.event("corrected-code").field("code", code).field("symbol", symbol.family())
            }
            Self::Threshold { command, fill } => {
                out.event("threshold").field("command", command).field("fill", fill)
            }
            Self::Overflow => out.event("overflow"),
            Self::Fill { fill, slope } => {
                out.event("fill").field("fill", fill).field("slope", slope)
            }
            Self::Sent(frame) => out.event("sent").frame(frame),
            Self::Commanded(command) => out.event("commanded").field("command", command),
            Self::ResetClosed => out.event("reset-closed"),
            Self::FellSilent => out.event("fell-silent"),
            Self::SilenceEnded => out.event("silence-ended"),
            Self::PowerLost => out.event("power-lost"),
            Self::Raw(characters) => out.event("raw").field("characters", characters),
            Self::SymbolSent(symbol) => out.event("symbol-sent").symbol(*symbol),
            Self::SenderStopped => out.event("sender-stopped"),
            Self::SenderResumed(by) => out.event("sender-resumed").field("by", by),
            Self::Blocked(by) => out.event("blocked").field("by", by),
            Self::MemoryFilled(mark) => out.event("memory-filled").memory_mark(mark),
            Self::Interrupted(cause) => out.event("interrupt").field("cause", cause),
            Self::Multicast(notice) => out.event("multicast").relay_notice(notice),
            Self::Routed(notice) => out.event("routed").router_notice(notice),
            Self::IpTransmitted(label) => out.ip(label),
            Self::Transmitted(transmission) => out.transmission(transmission),
            Self::Messaging(event) => out.messaging(here, event),
            Self::MappingTransmitted(label) => out.mapping_packet(label),
            Self::Mapping(notice) => out.mapping(notice),
            Self::Fault(fault) => out.event("fault").field("fault", fault),
        };
    }
}

impl<M: SerializeMap> RowWriter<'_, M> {
    fn damage(&mut self, character: u64, [sent, received]: [u16; 2]) -> &mut Self {
        let [before, after] = [sent, received].map(|bits| Character::from_bits(bits).to_string());
        let wires: Vec<_> = WireTransition { time_fs: 0, wires: sent ^ received }.each().collect();
        self.field("character", &character);
        self.field("sent", &before).field("received", &after).field("wires", &wires)
    }

    fn symbol(&mut self, symbol: Symbol) -> &mut Self {
        // The order of fields is that of `docs/truth.md`.
        if let Symbol::Probe(number) = symbol {
            self.field("number", &number.value());
        } else if let Symbol::Reply(status) = symbol {
            self.field("status", &status.value());
        }
        self.field("symbol", symbol.family())
    }

    fn memory_mark(&mut self, mark: &MemoryMark) -> &mut Self {
        self.field("buffer", mark.buffer).field("used", &mark.used).field("size", &mark.size)
    }

    fn relay_notice(&mut self, notice: &RelayNotice) -> &mut Self {
        let root = self.node_name(notice.root);
        self.field("root", root).field("number", &notice.number);
        self.field("copies", &notice.copies).field("lost", &notice.lost)
    }

    fn router_notice(&mut self, notice: &RouterNotice) -> &mut Self {
        let destination = format_args!("{}", notice.destination);
        self.field("destination", &destination).field("outcome", &notice.outcome)
    }
}

impl PacketHandling {
    /// The name in rows.
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
    use crate::node::{NodePort, PacketId};
    use crate::transport::TransportNotice;
    use crate::truth::{
        BlockedEscape, FrameRecord, FrameTracker, InterruptCause, IpLabel, MappingLabel,
        MappingNotice, MessageId, MessagingEvent, ReleaseCause, ReturnCause, RouterOutcome,
        SegmentLabel, StopGo, TransmissionAttempt, TransmissionKind,
    };
    use codec::character::{ProbeNumber, ReplyStatus};
    use codec::crc::crc8;
    use codec::error::DecodeError;
    use codec::framing::FrameEnd;
    use codec::mapping::{AnswerStatus, InterfaceAddress, MapVersion, ProbeTicket};
    use codec::packet::CrcCheck;
    use codec::route::PortId;
    use codec::transport::{
        ChannelIncarnation, EndpointId, LogicalChannel, NackReason, Nic, SequenceBit, SyncFlag,
        TransportHeader, TransportTimestamp,
    };
    use smoltcp::wire::Ipv4Address;

    const DOC: &str = include_str!("../../../docs/truth.md");
    const NAMES: [&str; 3] = ["h0", "h1", "s0"];

    /// A frame with this syndrome, or a runt.
    fn frame(syndrome: Option<u8>, ended_by: FrameEnd) -> FrameRecord {
        let mut bytes = vec![0x83];
        if let Some(syndrome) = syndrome {
            bytes.extend([&[5][..], &[0; 64]].concat());
            bytes.push(crc8(&bytes) ^ syndrome);
        }
        let mut tracker = FrameTracker::default();
        (52..).zip(bytes).for_each(|(at, byte)| tracker.data(at, byte));
        tracker.end(ended_by).unwrap()
    }

    /// Each kind of event, in the order of the document; some twice.
    fn mapping() -> [TruthEventKind; 6] {
        let mapper = InterfaceAddress::new(0x0060_dd01_0203).unwrap();
        let version = MapVersion(2);
        let (hosts, switches, links, probes, took) = (36, 13, 64, 4231, 3_900_000);
        [
            TruthEventKind::MappingTransmitted(Box::new(MappingLabel {
                kind: "map",
                source: mapper,
                ticket: Some(ProbeTicket(7)),
                version: Some(version),
                mapper: None,
                status: None,
                piece: Some((0, 3)),
            })),
            TruthEventKind::MappingTransmitted(Box::new(MappingLabel {
                kind: "answer",
                source: mapper,
                ticket: Some(ProbeTicket(7)),
                version: Some(MapVersion(0)),
                mapper: Some(mapper),
                status: Some(AnswerStatus::Received),
                piece: None,
            })),
            TruthEventKind::Mapping(MappingNotice::Elected),
            TruthEventKind::Mapping(MappingNotice::Resigned { winner: mapper }),
            TruthEventKind::Mapping(MappingNotice::Mapped {
                version,
                hosts,
                switches,
                links,
                probes,
                took,
            }),
            TruthEventKind::Mapping(MappingNotice::Installed { mapper, version, routes: 35 }),
        ]
    }

    fn samples() -> Vec<TruthEventKind> {
        let status = ReplyStatus::new(11).unwrap();
        vec![
            TruthEventKind::Injected { length: 67, queued: 4 },
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
            TruthEventKind::Received(frame(Some(0), FrameEnd::Gap)),
            TruthEventKind::Sent(frame(Some(16), FrameEnd::Reset)),
            TruthEventKind::Sent(frame(None, FrameEnd::CaptureEnd)),
            TruthEventKind::LinkOpen,
            TruthEventKind::LinkRestored,
            TruthEventKind::ResetReceived,
            TruthEventKind::ResetEnded,
            TruthEventKind::BackwardResetReceived,
            TruthEventKind::OverrunAlarmReceived,
            TruthEventKind::ProbeReceived(ProbeNumber::new(4).unwrap()),
            TruthEventKind::ReplyReceived { status, round_trip: Some(31) },
            TruthEventKind::ReplyReceived { status, round_trip: None },
            TruthEventKind::WireError { character: 118, sent: 0x183, received: 0x103 },
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
        .chain(interface())
        .chain(ip())
        .chain(transport())
        .chain(mapping())
        .chain([TruthEventKind::Fault("cable cut".to_owned())])
        .collect()
    }

    /// Events inside an interface.
    fn interface() -> [TruthEventKind; 4] {
        [
            TruthEventKind::MemoryFilled(MemoryMark {
                buffer: "receive",
                used: 14_003,
                size: 55_808,
            }),
            TruthEventKind::Interrupted(InterruptCause::Packet),
            TruthEventKind::Multicast(RelayNotice {
                root: NodeId(1),
                number: 17,
                copies: 2,
                lost: 1,
            }),
            TruthEventKind::Routed(RouterNotice {
                destination: InterfaceAddress::new(0x0060_dd01_0203).unwrap(),
                outcome: RouterOutcome::Unknown,
            }),
        ]
    }

    fn ip() -> [TruthEventKind; 2] {
        let ends = [2, 1].map(|host| (Ipv4Address::new(10, 0, 0, host), None));
        let later = IpLabel {
            ends,
            protocol: "udp",
            id: 7,
            offset: Some(1480),
            length: 540,
            data: 520,
            segment: None,
            checksum: None,
        };
        let [from, to] = ends.map(|(address, _)| address);
        let segment = SegmentLabel {
            sequence: 4000,
            acknowledgment: 17,
            flags: vec!["psh", "ack"],
            again: true,
        };
        let segment = IpLabel {
            ends: [(from, Some(32_768)), (to, Some(1024))],
            protocol: "tcp",
            offset: None,
            length: 140,
            data: 100,
            segment: Some(segment),
            checksum: Some("bad"),
            ..later.clone()
        };
        [segment, later].map(|label| TruthEventKind::IpTransmitted(Box::new(label)))
    }

    /// Events of messages.
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
        let noticed = |note| MessagingEvent::Observed(header, note);
        let events = [
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
            .chain(events.map(TruthEventKind::Messaging))
            .collect()
    }

    fn line(what: TruthEventKind) -> String {
        let about = match what.name() {
            "injected" | "consumed" | "ip-transmitted" => Some(0),
            "message-transmitted" | "ack-transmitted" | "nack-transmitted" => Some(0),
            "forwarded" | "dropped" | "truncated" | "merged" => Some(2),
            "received" | "sent" | "overflow" | "blocked" => Some(2),
            _ => None,
        };
        let at_host = about == Some(0) || matches!(what, TruthEventKind::Messaging(_));
        let (node, port) = if at_host { (0, 0) } else { (2, 3) };
        let packet = about.map(|_| PacketId { host: NodeId(1), number: 17 });
        let place = NodePort { node: NodeId(node), port: PortId(port) };
        let happened = TruthEvent { at: 120, time_ps: None, place, packet, kind: what };
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
            DOC.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()).collect();
        let mut kinds: Vec<_> = samples().iter().map(TruthEventKind::name).collect();
        kinds.dedup();
        assert_eq!(kinds, TRUTH_KINDS);
        let described: Vec<_> = named.into_iter().filter(|name| kinds.contains(name)).collect();
        assert_eq!(described, kinds);
    }
}
