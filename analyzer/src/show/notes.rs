//! Packets and events of the shown channels, printed below the row in which they end.

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId, Chunk, ChunkContent};
use codec::packet::CrcCheck;
use codec::time::Tick;

use crate::event::{ChannelEvent, FlowCommand, Picoseconds};
use crate::packet::{ByteRetention, FrameEnd, ReceivedPacket};
use crate::receiver::ChannelReceiver;
use crate::render::event_detail;
use crate::render::line::{StyledLine, TextStyle, wrapped};

/// Maximum number of iterations of a repeat that are noted one by one. *Chosen*: a screen.
const ROUNDS_MAX: u64 = 64;
/// Maximum number of route bytes in a note.
const ROUTE_SHOWN: usize = 8;

/// A packet or an event below the row in which it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkNote {
    /// Time of the character that ended it.
    pub time: Picoseconds,
    /// Name of its channel.
    pub channel: String,
    /// Description.
    pub text: String,
    style: TextStyle,
}

impl LinkNote {
    pub(super) fn lines(&self, indent: usize, width: usize, out: &mut impl FnMut(StyledLine)) {
        let words = self.text.split(' ');
        let mut start = format!("└ {} ", self.channel);
        for line in wrapped(words, " ", width.saturating_sub(start.chars().count()).max(20)) {
            out(StyledLine::of(TextStyle::Dim, format!("{:indent$}{start}", ""))
                .and(self.style, line));
            start = " ".repeat(start.chars().count());
        }
    }
}

/// Notes of a section, until their rows are complete.
#[derive(Debug, Default)]
pub(super) struct NoteQueue {
    receivers: BTreeMap<ChannelId, NotedChannel>,
    pending: Vec<LinkNote>,
}

#[derive(Debug)]
struct NotedChannel {
    channel: Channel,
    receiver: ChannelReceiver,
    command: FlowCommand,
}

impl NoteQueue {
    /// Adds the notes of a chunk.
    pub(super) fn feed(&mut self, id: ChannelId, channel: &Channel, chunk: &Chunk<'_>) {
        let noted = self.receivers.entry(id).or_insert_with(|| NotedChannel {
            channel: channel.clone(),
            receiver: ChannelReceiver::new(ByteRetention::Forget),
            command: FlowCommand::Go,
        });
        let NotedChannel { channel, receiver, command } = noted;
        let mut out = |at, event| self.pending.extend(note(channel, command, at, &event));
        receiver.seek(chunk.first, &mut out);
        match chunk.content {
            ChunkContent::Literal(chars) => receiver.feed(chars, &mut out),
            ChunkContent::Repeat { pattern, count } => {
                for number in 1..=count {
                    let round = receiver.round(pattern, &mut out);
                    if round.is_settled() || number == ROUNDS_MAX {
                        receiver.skip(pattern, count - number, round);
                        break;
                    }
                }
            }
        }
    }

    /// Ends the section, and the packets that are still arriving.
    pub(super) fn finish(&mut self) {
        for NotedChannel { channel, receiver, command } in self.receivers.values_mut() {
            receiver.finish(&mut |at, event| {
                self.pending.extend(note(channel, command, at, &event));
            });
        }
        self.receivers.clear();
    }

    /// Removes the notes before a time, in order of time; passes on those from a time on.
    pub(super) fn take(
        &mut self,
        from: Picoseconds,
        until: Picoseconds,
        out: &mut impl FnMut(LinkNote),
    ) {
        if self.pending.iter().all(|note| note.time >= until) {
            return;
        }
        self.pending.sort_by_key(|note| note.time);
        let count = self.pending.partition_point(|note| note.time < until);
        self.pending.drain(..count).filter(|note| note.time >= from).for_each(out);
    }
}

fn note(
    channel: &Channel,
    command: &mut FlowCommand,
    at: Tick,
    event: &ChannelEvent,
) -> Option<LinkNote> {
    let (at, text, style) = match event {
        ChannelEvent::Packet(packet) => {
            let is_good = packet.check == CrcCheck::Good && packet.ended_by == FrameEnd::Gap;
            let style = if is_good { TextStyle::Dim } else { TextStyle::Bad };
            (packet.end, packet_text(packet), style)
        }
        ChannelEvent::Link(event) => {
            let text = format!("{} {}", event.kind(), event_detail(event));
            (at, text.trim_end().to_owned(), TextStyle::Notice)
        }
        ChannelEvent::Command(given) if given != command => {
            *command = *given;
            let text = match given {
                FlowCommand::Stop => "STOP: the opposite sender must pause",
                FlowCommand::Go => "GO: the opposite sender may resume",
            };
            (at, text.to_owned(), TextStyle::Dim)
        }
        ChannelEvent::Command(_)
        | ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Omitted { .. } => return None,
    };
    let time = Picoseconds::from(at.0) * Picoseconds::from(channel.period_ps.get());
    Some(LinkNote { time, channel: channel.name.clone(), text, style })
}

/// `packet 1: route 81, 332 bytes, crc bad ^1a, ended by open-link`.
fn packet_text(packet: &ReceivedPacket) -> String {
    let route = packet.route.bytes().iter().take(ROUTE_SHOWN).map(|hop| format!(" {hop:02x}"));
    let mut route: String = route.collect();
    let more = packet.route.count().saturating_sub(ROUTE_SHOWN as u64);
    if more > 0 {
        route += &format!(" and {more} more");
    }
    let route = if route.is_empty() { String::new() } else { format!("route{route}, ") };
    let crc = match packet.check {
        CrcCheck::Bad(syndrome) => format!("bad ^{syndrome:02x}"),
        CrcCheck::Good | CrcCheck::Runt => packet.check.name().to_owned(),
    };
    let end = match packet.ended_by {
        FrameEnd::Gap => String::new(),
        FrameEnd::OpenLink | FrameEnd::Reset | FrameEnd::Hole | FrameEnd::CaptureEnd => {
            format!(", ended by {}", packet.ended_by.name())
        }
    };
    format!("packet {}: {route}{} bytes, crc {crc}{end}", packet.number, packet.length)
}
