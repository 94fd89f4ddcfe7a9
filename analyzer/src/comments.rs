//! Findings as comments beside the characters that they are about, for tools that show those.

use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::packet::Check;
use codec::tick::Tick;

use crate::event::Event;
use crate::finding::{FindingRow, Kind};
use crate::packet::{EndedBy, PacketSeen};
use crate::text::check::details;
use crate::timeline::{Row, What};

/// Most comments about one kind on one channel. *Chosen*: more than anybody looks through.
pub const ALIKE_MAX: u64 = 1 << 14;
/// Most comments in all. *Chosen*: about 64 MiB of them.
pub const COMMENTS_MAX: usize = 1 << 19;

/// Comments of a capture: every occurrence of what a single character or packet shows, and the first
/// of whatever takes more than that to find.
#[derive(Clone, Debug, Default)]
pub struct Comments {
    channels: BTreeMap<ChannelId, BTreeMap<(Tick, Kind), String>>,
    counts: BTreeMap<(ChannelId, Kind), u64>,
    len: usize,
    left_out: u64,
}

impl Comments {
    /// Comments on a row of a channel.
    pub fn row(&mut self, channel: &Channel, row: &Row) {
        match &row.what {
            What::Packet(packet) => {
                for (kind, at, what) in of_packet(packet) {
                    let text = comment(kind, &channel.name, Some(packet.number), at, &what);
                    self.add(row.channel, at, kind, text);
                }
            }
            What::Event(event) => {
                if let Some((kind, what)) = of_event(event) {
                    let text = comment(kind, &channel.name, None, row.at, &what);
                    self.add(row.channel, row.at, kind, text);
                }
            }
            What::Detail(_) | What::Omitted { .. } => {}
        }
    }

    /// Comments on a finding, where rows have not: comes after all of them.
    pub fn finding(&mut self, id: ChannelId, kind: Kind, finding: &FindingRow<'_>) {
        let at = Tick(finding.at);
        let comments = self.channels.entry(id).or_default();
        if kind == Kind::BegunBefore {
            // What is wrong with that packet is that it is not whole.
            for wrong in [Kind::CrcBad, Kind::Runt, Kind::NoTag] {
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

    fn add(&mut self, id: ChannelId, at: Tick, kind: Kind, text: String) {
        let count = self.counts.entry((id, kind)).or_default();
        if *count >= ALIKE_MAX || self.len >= COMMENTS_MAX {
            self.left_out += 1;
            return;
        }
        *count += 1;
        self.len += 1;
        self.channels.entry(id).or_default().insert((at, kind), text);
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many there are no more of: see [`ALIKE_MAX`] and [`COMMENTS_MAX`].
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
fn comment(kind: Kind, channel: &str, packet: Option<u64>, at: Tick, what: &str) -> String {
    let about = kind.about();
    let rule = about.rule.map_or(String::new(), |rule| format!(" {rule}"));
    let packet = packet.map_or(String::new(), |number| format!("packet {number} of "));
    let (severity, name) = (about.severity.name(), about.name);
    let what = if what.is_empty() { about.text } else { what };
    format!("myriscope {severity} {name}{rule}: {packet}{channel} at character {at}: {what}")
}

/// What is wrong with a packet by itself, and where.
fn of_packet(packet: &PacketSeen) -> Vec<(Kind, Tick, String)> {
    let mut found = Vec::new();
    match packet.ended_by {
        EndedBy::OpenLink => found.push((Kind::CutBySilence, packet.end, String::new())),
        EndedBy::Reset => found.push((Kind::CutByReset, packet.end, String::new())),
        // The recording ends, not the packet.
        EndedBy::CaptureEnd | EndedBy::Hole => {}
        EndedBy::Gap => match packet.check {
            Check::Good => {}
            Check::Bad(syndrome) => {
                found.push((Kind::CrcBad, packet.start, format!("syndrome 0x{syndrome:02x}")));
            }
            Check::Runt => found.push((Kind::Runt, packet.start, String::new())),
        },
    }
    found
}

/// What is odd about an event by itself.
fn of_event(event: &Event) -> Option<(Kind, String)> {
    let nothing = String::new();
    Some(match event {
        Event::InvalidCode(code) => (Kind::InvalidCode, format!("0x{code:02x}")),
        Event::CorrectedCode { code, symbol } => {
            (Kind::CorrectedCode, format!("0x{code:02x} taken for {symbol}"))
        }
        Event::ForwardReset => (Kind::ForwardReset, nothing),
        Event::BackwardReset => (Kind::BackwardReset, nothing),
        Event::OverrunAlarm => (Kind::OverrunAlarm, nothing),
        Event::Hole { missing } => (Kind::Hole, format!("{missing} characters before it")),
        // Whether silence is one depends on what was before.
        Event::OpenLink | Event::LinkRestored | Event::ResetEnded => return None,
        Event::Probe(_) | Event::Reply(_) => return None,
        Event::SenderStopped | Event::SenderResumed(_) => return None,
    })
}
