//! Events and packets of a channel as lines, in one form for truth and analysis that can be
//! compared for equality.

use std::ops::RangeInclusive;

use super::truth::TruthFrame;
use crate::event::LinkEvent;
use crate::named_enum::named_enum;
use crate::packet::{FrameEnd, ReceivedPacket};
use codec::packet::{CrcCheck, PacketTag};
use codec::time::Tick;

/// An event or a packet of a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChannelLine {
    /// Place of the line; `u64::MAX` for a packet that the end of the capture cuts.
    pub(super) at: u64,
    pub(super) kind: LineKind,
    /// All details, compared for equality.
    pub(super) more: String,
    /// Places of its first and last character; for a packet, of its first and last byte.
    pub(super) start: u64,
    pub(super) end: u64,
}

named_enum! {
    /// Kind of a line, named as in `docs/output.md`.
    pub(super) enum LineKind {
        Packet = "packet",
        OpenPacket = "open-packet",
        OpenLink = "open-link",
        LinkRestored = "link-restored",
        ForwardReset = "forward-reset",
        ResetEnded = "reset-ended",
        BackwardReset = "backward-reset",
        OverrunAlarm = "overrun-alarm",
        Probe = "probe",
        Reply = "reply",
        InvalidCode = "invalid-code",
        CorrectedCode = "corrected-code",
        SenderStopped = "sender-stopped",
        SenderResumed = "sender-resumed",
    }
}

/// Kinds of lines with a common limit, beyond which they are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineClass {
    /// Events of the channel's own characters.
    Own,
    ResetEnd,
    /// A packet that the end of the capture cuts.
    OpenPacket,
    /// Actions of the channel's sender.
    Sender,
}

impl LineKind {
    pub(super) const fn is_packet(self) -> bool {
        matches!(self, Self::Packet | Self::OpenPacket)
    }

    pub(super) const fn class(self) -> LineClass {
        match self {
            Self::OpenPacket => LineClass::OpenPacket,
            Self::ResetEnded => LineClass::ResetEnd,
            Self::SenderStopped | Self::SenderResumed => LineClass::Sender,
            Self::Packet | Self::OpenLink | Self::LinkRestored => LineClass::Own,
            Self::ForwardReset | Self::BackwardReset | Self::OverrunAlarm => LineClass::Own,
            Self::Probe | Self::Reply => LineClass::Own,
            Self::InvalidCode | Self::CorrectedCode => LineClass::Own,
        }
    }
}

impl ChannelLine {
    pub(super) const fn new(at: u64, kind: LineKind, more: String) -> Self {
        Self { at, kind, more, start: at, end: at }
    }

    pub(super) fn is_in(&self, class: LineClass, places: &RangeInclusive<u64>) -> bool {
        self.kind.class() == class && places.contains(&self.at)
    }

    /// The line of an event that the analyzer found; none for holes, which are not events of the
    /// network.
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

    /// The line of a packet that the analyzer found, closed at a place.
    pub(super) fn packet(at: Tick, packet: &ReceivedPacket) -> Self {
        let row = packet.row("");
        let check = packet.check_from_start();
        Self::of_frame(
            at.0,
            &TruthFrame {
                start: row.start,
                end: row.end,
                length: row.length,
                route: packet.route.bytes().to_vec(),
                tag: packet.tag.map(PacketTag::value),
                payload: row.payload,
                crc: check.name().to_owned(),
                syndrome: check.syndrome(),
                ended_by: row.ended_by.to_owned(),
            },
        )
    }

    /// The line of a frame of the truth, closed at a place.
    pub(super) fn of_frame(at: u64, frame: &TruthFrame) -> Self {
        let TruthFrame { start, end, length, route, tag, payload, crc, syndrome, ended_by } = frame;
        // The capture has a part of it, of which no CRC is to be expected. P-7
        let (at, kind, crc, syndrome) = if ended_by == FrameEnd::CaptureEnd.name() {
            (u64::MAX, LineKind::OpenPacket, CrcCheck::Partial.name(), &None)
        } else {
            (at, LineKind::Packet, crc.as_str(), syndrome)
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
