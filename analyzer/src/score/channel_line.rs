//! Lines of a channel in one form for truth and analysis, comparable for equality.

use super::truth::TruthFrame;
use crate::event::LinkEvent;
use crate::packet::{PacketEnd, ReceivedPacket};
use codec::time::Tick;

/// Something on a channel, at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChannelLine {
    /// The place; of a packet that the end of the capture closes, beyond all.
    pub(super) at: u64,
    pub(super) kind: LineKind,
    /// All that there is to say of it.
    pub(super) more: String,
    /// Place at which it begins and ends: a packet with its first and its last byte.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Kind of a line, in the words of `docs/output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineKind {
    Packet,
    OpenPacket,
    OpenLink,
    LinkRestored,
    ForwardReset,
    ResetEnded,
    BackwardReset,
    OverrunAlarm,
    Probe,
    Reply,
    InvalidCode,
    CorrectedCode,
    SenderStopped,
    SenderResumed,
}

/// Kinds of lines that stop being comparable together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineClass {
    /// Content of the channel's own characters.
    Own,
    /// The end of a reset.
    ResetEnd,
    /// A packet that the end of the capture closes.
    OpenPacket,
    /// Actions of the channel's sender.
    Sender,
}

impl LineKind {
    /// Every kind, in the order in which they are shown.
    pub(super) const ALL: [Self; 14] = [
        Self::Packet,
        Self::OpenPacket,
        Self::OpenLink,
        Self::LinkRestored,
        Self::ForwardReset,
        Self::ResetEnded,
        Self::BackwardReset,
        Self::OverrunAlarm,
        Self::Probe,
        Self::Reply,
        Self::InvalidCode,
        Self::CorrectedCode,
        Self::SenderStopped,
        Self::SenderResumed,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::OpenPacket => "open-packet",
            Self::OpenLink => "open-link",
            Self::LinkRestored => "link-restored",
            Self::ForwardReset => "forward-reset",
            Self::ResetEnded => "reset-ended",
            Self::BackwardReset => "backward-reset",
            Self::OverrunAlarm => "overrun-alarm",
            Self::Probe => "probe",
            Self::Reply => "reply",
            Self::InvalidCode => "invalid-code",
            Self::CorrectedCode => "corrected-code",
            Self::SenderStopped => "sender-stopped",
            Self::SenderResumed => "sender-resumed",
        }
    }

    pub(super) const fn class(self) -> LineClass {
        match self {
            Self::OpenPacket => LineClass::OpenPacket,
            Self::ResetEnded => LineClass::ResetEnd,
            Self::SenderStopped | Self::SenderResumed => LineClass::Sender,
            Self::Packet
            | Self::OpenLink
            | Self::LinkRestored
            | Self::ForwardReset
            | Self::BackwardReset
            | Self::OverrunAlarm
            | Self::Probe
            | Self::Reply
            | Self::InvalidCode
            | Self::CorrectedCode => LineClass::Own,
        }
    }
}

impl ChannelLine {
    pub(super) const fn new(at: u64, kind: LineKind, more: String) -> Self {
        Self { at, kind, more, start: at, end: at }
    }

    /// An event that the analyzer found. Holes are of the capture, not of the network.
    pub(super) fn found(at: Tick, event: &LinkEvent) -> Option<Self> {
        let (kind, more) = match event {
            LinkEvent::OpenLink => (LineKind::OpenLink, String::new()),
            LinkEvent::LinkRestored => (LineKind::LinkRestored, String::new()),
            LinkEvent::ForwardReset => (LineKind::ForwardReset, String::new()),
            LinkEvent::ResetEnded => (LineKind::ResetEnded, String::new()),
            LinkEvent::BackwardReset => (LineKind::BackwardReset, String::new()),
            LinkEvent::OverrunAlarm => (LineKind::OverrunAlarm, String::new()),
            LinkEvent::Probe(number) => (LineKind::Probe, number.value().to_string()),
            LinkEvent::Reply(status) => (LineKind::Reply, status.value().to_string()),
            LinkEvent::InvalidCode(code) => (LineKind::InvalidCode, code.to_string()),
            LinkEvent::CorrectedCode { code, symbol } => {
                (LineKind::CorrectedCode, format!("{code} to {}", symbol.family()))
            }
            LinkEvent::Hole { .. } => return None,
            LinkEvent::SenderStopped => (LineKind::SenderStopped, String::new()),
            LinkEvent::SenderResumed(by) => (LineKind::SenderResumed, format!("by {}", by.name())),
        };
        Some(Self::new(at.0, kind, more))
    }

    /// A packet that the analyzer found, closed at a place.
    pub(super) fn packet(at: Tick, packet: &ReceivedPacket) -> Self {
        let row = packet.row("");
        Self::of_frame(
            at.0,
            &TruthFrame {
                start: row.start,
                end: row.end,
                length: row.length,
                route: packet.route.bytes().to_vec(),
                tag: row.tag,
                payload: row.payload,
                crc: row.crc.to_owned(),
                syndrome: row.syndrome,
                ended_by: row.ended_by.to_owned(),
            },
        )
    }

    /// A frame of the truth, closed at a place.
    pub(super) fn of_frame(at: u64, frame: &TruthFrame) -> Self {
        let TruthFrame { start, end, length, route, tag, payload, crc, syndrome, ended_by } = frame;
        let (at, kind) = if ended_by == PacketEnd::CaptureEnd.name() {
            (u64::MAX, LineKind::OpenPacket)
        } else {
            (at, LineKind::Packet)
        };
        let route: Vec<String> = route.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = |number: &Option<u8>| number.map_or("-".to_owned(), |it| format!("{it:02x}"));
        let (tag, syndrome) = (shown(tag), shown(syndrome));
        let more = format!(
            "{start}..={end}: {length} bytes, route {}, tag {tag}, payload {payload}, {crc} \
             {syndrome}, {ended_by}",
            route.join(" ")
        );
        Self { at, kind, more, start: *start, end: *end }
    }
}
