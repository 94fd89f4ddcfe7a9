//! Findings as comments on the affected characters, for programs that display both.

use crate::event::{ChannelEvent, TimedEvent};
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::packet::CrcCheck;
use codec::time::Tick;
use codec::virtual_channels::VIRTUAL_CHANNELS_MAX;

use crate::channel_name::escape_text;
use crate::event::LinkEvent;
use crate::finding::{self, FindingKind};
use crate::finding_row::FindingRow;
use crate::packet::{FrameEnd, ReceivedPacket};
use crate::render::fact_text::details;

/// Maximum number of comments per kind of finding and channel. *Chosen*: more than a person reads.
pub const ALIKE_MAX: u64 = 1 << 14;
/// Maximum number of comments in all. *Chosen*: about 64 MiB.
pub const COMMENTS_MAX: usize = 1 << 19;

/// Comments of a capture: one per occurrence of a finding that a single character or packet proves,
/// and one for the first occurrence of any other finding.
#[derive(Clone, Debug, Default)]
pub struct CommentSet {
    channels: BTreeMap<ChannelId, BTreeMap<(Tick, FindingKind), String>>,
    counts: BTreeMap<(ChannelId, FindingKind), u64>,
    len: usize,
    left_out: u64,
}

impl CommentSet {
    /// Adds comments on an event of a channel.
    pub fn row(&mut self, channel: &Channel, row: &TimedEvent) {
        match &row.body {
            ChannelEvent::Packet(packet) => {
                for (kind, at, what) in of_packet(packet) {
                    let text = comment(kind, &channel.name, Some(packet.number), at, &what);
                    self.add(row.channel, at, kind, text);
                }
            }
            ChannelEvent::Link(event) => {
                if let Some((kind, what)) = of_event(event) {
                    let text = comment(kind, &channel.name, None, row.at, &what);
                    self.add(row.channel, row.at, kind, text);
                }
            }
            ChannelEvent::Begins
            | ChannelEvent::Framed
            | ChannelEvent::Head(_)
            | ChannelEvent::Data(_)
            | ChannelEvent::Command(_)
            | ChannelEvent::Omitted { .. } => {}
        }
    }

    /// Adds a comment on a finding, unless an event has one. Must be called after all events.
    pub fn finding(&mut self, id: ChannelId, kind: FindingKind, finding: &FindingRow<'_>) {
        let at = Tick(finding.at);
        let comments = self.channels.entry(id).or_default();
        if kind == FindingKind::PartialAtStart {
            // The other faults of this packet follow from its missing start.
            for wrong in [FindingKind::CrcBad, FindingKind::Runt, FindingKind::NoTag] {
                self.len -= usize::from(comments.remove(&(at, wrong)).is_some());
            }
        }
        if comments.contains_key(&(at, kind)) {
            return;
        }
        let mut what = details(&finding.first);
        if what.is_empty() {
            finding.text.clone_into(&mut what);
        }
        if finding.count > 1 {
            what += &format!("; the first of {}", finding.count);
        }
        let text = comment(kind, finding.channel, None, at, &what);
        self.add(id, at, kind, text);
    }

    fn add(&mut self, id: ChannelId, at: Tick, kind: FindingKind, text: String) {
        let count = self.counts.entry((id, kind)).or_default();
        if *count >= ALIKE_MAX || self.len >= COMMENTS_MAX {
            self.left_out += 1;
            return;
        }
        *count += 1;
        self.len += 1;
        self.channels.entry(id).or_default().insert((at, kind), text);
    }

    /// Number of comments.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no comments.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of comments beyond [`ALIKE_MAX`] and [`COMMENTS_MAX`], which were discarded.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Removes and returns the comments on the characters of a chunk of a link, those of its virtual channels
    /// included. Chunks must be passed in order. C-7
    pub fn take_all(&mut self, id: ChannelId, chunk: &Chunk<'_>) -> Vec<String> {
        let numbers = 0..VIRTUAL_CHANNELS_MAX;
        numbers.flat_map(|number| self.take(id.of_virtual_channel(number), chunk)).collect()
    }

    /// Removes and returns the comments on the characters of a chunk. Chunks of a channel must be
    /// passed in order.
    pub fn take(&mut self, id: ChannelId, chunk: &Chunk<'_>) -> Vec<String> {
        let Some(comments) = self.channels.get_mut(&id) else { return Vec::new() };
        let mut taken = Vec::new();
        while let Some(entry) = comments.first_entry() {
            let (at, _) = *entry.key();
            if at >= chunk.end() {
                break;
            }
            let text = entry.remove();
            // A comment at a missing character belongs to no chunk.
            if at >= chunk.first {
                taken.push(text);
                self.len -= 1;
            }
        }
        taken
    }

    /// Comments on the characters from one to another of a channel.
    pub fn within(&self, id: ChannelId, from: Tick, to: Tick) -> impl Iterator<Item = &str> {
        let comments = self.channels.get(&id).into_iter();
        let [least, ..] = &finding::ALL;
        let within = comments.flat_map(move |comments| {
            comments.range((from, least.kind)..).take_while(move |((at, _), _)| *at <= to)
        });
        within.map(|(_, text)| text.as_str())
    }

    /// Channels that have comments.
    pub fn channels(&self) -> BTreeSet<ChannelId> {
        let any = self.channels.iter().filter(|(_, comments)| !comments.is_empty());
        any.map(|(id, _)| *id).collect()
    }
}

/// Text of a comment:
/// `myriscope error crc-bad P-4: packet 7 of h0:0>s0:3 at character 812: syndrome 40`.
fn comment(kind: FindingKind, channel: &str, packet: Option<u64>, at: Tick, what: &str) -> String {
    let about = kind.about();
    let rule = about.rule.map_or(String::new(), |rule| format!(" {rule}"));
    let packet = packet.map_or(String::new(), |number| format!("packet {number} of "));
    let (severity, name) = (about.severity.name(), about.name);
    let what = if what.is_empty() { about.text } else { what };
    let text =
        format!("myriscope {severity} {name}{rule}: {packet}{channel} at character {at}: {what}");
    // Programs print comments as they are.
    escape_text(text)
}

/// Findings that a packet proves by itself, with their positions.
fn of_packet(packet: &ReceivedPacket) -> Vec<(FindingKind, Tick, String)> {
    let mut found = Vec::new();
    match packet.ended_by {
        FrameEnd::OpenLink => {
            found.push((FindingKind::TruncatedByOpenLink, packet.end, String::new()));
        }
        FrameEnd::Reset => found.push((FindingKind::CutByReset, packet.end, String::new())),
        // The recording ended, not the packet.
        FrameEnd::CaptureEnd | FrameEnd::Hole => {}
        FrameEnd::Gap => match packet.check {
            CrcCheck::Good | CrcCheck::Partial => {}
            CrcCheck::Bad(syndrome) => {
                found.push((
                    FindingKind::CrcBad,
                    packet.start,
                    format!("syndrome 0x{syndrome:02x}"),
                ));
            }
            CrcCheck::Runt => found.push((FindingKind::Runt, packet.start, String::new())),
        },
    }
    found
}

/// Finding that an event proves by itself.
fn of_event(event: &LinkEvent) -> Option<(FindingKind, String)> {
    let nothing = String::new();
    Some(match event {
        LinkEvent::InvalidCode(code) => (FindingKind::InvalidCode, format!("0x{code:02x}")),
        LinkEvent::CorrectedCode { code, symbol } => {
            (FindingKind::CorrectedCode, format!("0x{code:02x} corrected to {symbol}"))
        }
        LinkEvent::ForwardReset => (FindingKind::ForwardReset, nothing),
        LinkEvent::BackwardReset => (FindingKind::BackwardReset, nothing),
        LinkEvent::OverrunAlarm => (FindingKind::OverrunAlarm, nothing),
        LinkEvent::Hole { missing } => {
            (FindingKind::Hole, format!("{missing} characters before it"))
        }
        // Silence is a finding only after other characters.
        LinkEvent::OpenLink | LinkEvent::LinkRestored | LinkEvent::ResetEnded => return None,
        LinkEvent::Probe(_) | LinkEvent::Reply(_) => return None,
        LinkEvent::SenderStopped | LinkEvent::SenderResumed(_) => return None,
    })
}
