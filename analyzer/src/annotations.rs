//! Findings as comments beside the characters that they are about, for tools that show those.

use crate::event::{ChannelEvent, TimedEvent};
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::packet::CrcCheck;
use codec::time::Tick;

use crate::event::LinkEvent;
use crate::finding::FindingKind;
use crate::finding_row::FindingRow;
use crate::packet::{PacketEnd, ReceivedPacket};
use crate::render::check::details;

/// Most comments about one kind on one channel. *Chosen*: more than anybody looks through.
pub const ALIKE_MAX: u64 = 1 << 14;
/// Most comments in all. *Chosen*: about 64 MiB of them.
pub const COMMENTS_MAX: usize = 1 << 19;

/// Comments of a capture: every occurrence of what a single character or packet shows, and the first
/// of whatever takes more than that to find.
#[derive(Clone, Debug, Default)]
pub struct CommentSet {
    channels: BTreeMap<ChannelId, BTreeMap<(Tick, FindingKind), String>>,
    counts: BTreeMap<(ChannelId, FindingKind), u64>,
    len: usize,
    left_out: u64,
}

impl CommentSet {
    /// Comments on a row of a channel.
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

    /// Comments on a finding, where rows have not: comes after all of them.
    pub fn finding(&mut self, id: ChannelId, kind: FindingKind, finding: &FindingRow<'_>) {
        let at = Tick(finding.at);
        let comments = self.channels.entry(id).or_default();
        if kind == FindingKind::PartialAtStart {
            // What is wrong with that packet is that it is not whole.
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

    /// The number.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number no more of: see [`ALIKE_MAX`] and [`COMMENTS_MAX`].
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Hands out those about the characters of a chunk, which comes behind those before it.
    pub fn take(&mut self, id: ChannelId, chunk: &Chunk<'_>) -> Vec<String> {
        let Some(comments) = self.channels.get_mut(&id) else { return Vec::new() };
        let mut taken = Vec::new();
        while let Some(entry) = comments.first_entry() {
            let (at, _) = *entry.key();
            if at >= chunk.end() {
                break;
            }
            let text = entry.remove();
            // What is dated to where nothing was recorded has no chunk.
            if at >= chunk.first {
                taken.push(text);
                self.len -= 1;
            }
        }
        taken
    }

    /// The channels that have any.
    #[must_use]
    pub fn channels(&self) -> BTreeSet<ChannelId> {
        let any = self.channels.iter().filter(|(_, comments)| !comments.is_empty());
        any.map(|(id, _)| *id).collect()
    }
}

/// `myriscope error crc-bad P-4: packet 7 of h0:0>s0:3 at character 812: syndrome 40`
fn comment(kind: FindingKind, channel: &str, packet: Option<u64>, at: Tick, what: &str) -> String {
    let about = kind.about();
    let rule = about.rule.map_or(String::new(), |rule| format!(" {rule}"));
    let packet = packet.map_or(String::new(), |number| format!("packet {number} of "));
    let (severity, name) = (about.severity.name(), about.name);
    let what = if what.is_empty() { about.text } else { what };
    format!("myriscope {severity} {name}{rule}: {packet}{channel} at character {at}: {what}")
}

/// Fault of a packet by itself, and where.
fn of_packet(packet: &ReceivedPacket) -> Vec<(FindingKind, Tick, String)> {
    let mut found = Vec::new();
    match packet.ended_by {
        PacketEnd::OpenLink => {
            found.push((FindingKind::TruncatedByOpenLink, packet.end, String::new()));
        }
        PacketEnd::Reset => found.push((FindingKind::CutByReset, packet.end, String::new())),
        // The recording ends, not the packet.
        PacketEnd::CaptureEnd | PacketEnd::Hole => {}
        PacketEnd::Gap => match packet.check {
            CrcCheck::Good => {}
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

/// Finding about an event by itself.
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
        // Whether silence is one depends on what was before.
        LinkEvent::OpenLink | LinkEvent::LinkRestored | LinkEvent::ResetEnded => return None,
        LinkEvent::Probe(_) | LinkEvent::Reply(_) => return None,
        LinkEvent::SenderStopped | LinkEvent::SenderResumed(_) => return None,
    })
}
