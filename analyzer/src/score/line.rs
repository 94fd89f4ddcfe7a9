//! What both witnesses tell of a channel, in one form: lines that are equal or not.

use super::truth::Frame;
use crate::event::Event;
use crate::packet::{EndedBy, PacketSeen};
use codec::tick::Tick;

/// Something on a channel, at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    /// The place; of a packet that the end of the capture closes, beyond all.
    pub(super) at: u64,
    pub(super) kind: Kind,
    /// All that there is to say of it.
    pub(super) more: String,
    /// Where it begins and ends: a packet with its first and its last byte.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// What a line is about, in the words of `docs/output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
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
pub(super) enum Class {
    /// What the channel's own characters say.
    Own,
    /// The end of a reset.
    ResetEnd,
    /// A packet that the end of the capture closes.
    OpenPacket,
    /// What the channel's sender does.
    Sender,
}

impl Kind {
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

    pub(super) const fn class(self) -> Class {
        match self {
            Self::OpenPacket => Class::OpenPacket,
            Self::ResetEnded => Class::ResetEnd,
            Self::SenderStopped | Self::SenderResumed => Class::Sender,
            Self::Packet
            | Self::OpenLink
            | Self::LinkRestored
            | Self::ForwardReset
            | Self::BackwardReset
            | Self::OverrunAlarm
            | Self::Probe
            | Self::Reply
            | Self::InvalidCode
            | Self::CorrectedCode => Class::Own,
        }
    }
}

impl Line {
    pub(super) const fn new(at: u64, kind: Kind, more: String) -> Self {
        Self { at, kind, more, start: at, end: at }
    }

    /// An event that the analyzer found. Holes are of the capture, not of the network.
    pub(super) fn found(at: Tick, event: &Event) -> Option<Self> {
        let (kind, more) = match event {
            Event::OpenLink => (Kind::OpenLink, String::new()),
            Event::LinkRestored => (Kind::LinkRestored, String::new()),
            Event::ForwardReset => (Kind::ForwardReset, String::new()),
            Event::ResetEnded => (Kind::ResetEnded, String::new()),
            Event::BackwardReset => (Kind::BackwardReset, String::new()),
            Event::OverrunAlarm => (Kind::OverrunAlarm, String::new()),
            Event::Probe(number) => (Kind::Probe, number.value().to_string()),
            Event::Reply(status) => (Kind::Reply, status.value().to_string()),
            Event::InvalidCode(code) => (Kind::InvalidCode, code.to_string()),
            Event::CorrectedCode { code, symbol } => {
                (Kind::CorrectedCode, format!("{code} to {}", symbol.family()))
            }
            Event::Hole { .. } => return None,
            Event::SenderStopped => (Kind::SenderStopped, String::new()),
            Event::SenderResumed(by) => (Kind::SenderResumed, format!("by {}", by.name())),
        };
        Some(Self::new(at.0, kind, more))
    }

    /// A packet that the analyzer found, closed at a place.
    pub(super) fn packet(at: Tick, packet: &PacketSeen) -> Self {
        let row = packet.row("");
        Self::of_frame(
            at.0,
            &Frame {
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
    pub(super) fn of_frame(at: u64, frame: &Frame) -> Self {
        let Frame { start, end, length, route, tag, payload, crc, syndrome, ended_by } = frame;
        let (at, kind) = if ended_by == EndedBy::CaptureEnd.name() {
            (u64::MAX, Kind::OpenPacket)
        } else {
            (at, Kind::Packet)
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
