//! Findings as comments on the affected characters, for programs that display both.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use codec::capture::{ChannelId, Chunk};
use codec::time::Tick;
use codec::virtual_channels::VIRTUAL_CHANNELS_MAX;
use codec::words::escape_text;

use crate::finding::{self, FindingCase, FindingKind, FindingSet};
use crate::finding_row::CaseRow;
use crate::render::fact_text::details;

/// Maximum number of comments per kind of finding and channel. *Chosen*: more than a person reads.
pub const ALIKE_MAX: u64 = 1 << 14;
/// Maximum number of comments in all. *Chosen*: about 64 MiB.
pub const COMMENTS_MAX: usize = 1 << 19;

/// Comments of a capture: one per case of a finding.
#[derive(Clone, Debug, Default)]
pub struct CommentSet {
    channels: BTreeMap<ChannelId, BTreeMap<(Tick, FindingKind), String>>,
    /// Comments of each kind on each channel, and those that were discarded.
    counts: BTreeMap<(ChannelId, FindingKind), [u64; 2]>,
    len: usize,
}

impl CommentSet {
    /// Adds a comment on a case; `name` is that of a channel.
    pub fn add<'a>(&mut self, case: &'a FindingCase, name: &impl Fn(ChannelId) -> &'a str) {
        let (id, kind, at) = (case.channel, case.kind, case.place.at);
        let [count, left_out] = self.counts.entry((id, kind)).or_default();
        if *count >= ALIKE_MAX || self.len >= COMMENTS_MAX {
            *left_out += 1;
            return;
        }
        let comments = self.channels.entry(id).or_default();
        match comments.entry((at, kind)) {
            Entry::Vacant(entry) => {
                entry.insert(comment(kind, &case.row(name)));
                *count += 1;
                self.len += 1;
            }
            Entry::Occupied(_) => *left_out += 1,
        }
    }

    /// Removes the comments on findings that are not in a set: those that were explained later.
    pub fn keep(&mut self, findings: &FindingSet) {
        self.counts.retain(|(id, kind), _| findings.has(*kind, *id));
        for (id, comments) in &mut self.channels {
            let before = comments.len();
            comments.retain(|(_, kind), _| findings.has(*kind, *id));
            self.len -= before - comments.len();
        }
    }

    /// Number of comments that no chunk has taken.
    pub const fn remaining(&self) -> usize {
        self.len
    }

    /// Number of comments that were discarded: those beyond [`ALIKE_MAX`] and [`COMMENTS_MAX`], and others of a kind
    /// at one place.
    pub fn left_out(&self) -> u64 {
        self.counts.values().map(|[_, left_out]| left_out).sum()
    }

    /// Removes and returns the comments on the characters of a chunk of a link, those of its virtual channels
    /// included. Chunks must be passed in order. C-7
    pub fn take_all(&mut self, id: ChannelId, chunk: &Chunk<'_>) -> Vec<String> {
        let mut taken = Vec::new();
        for number in 0..VIRTUAL_CHANNELS_MAX {
            let comments = self.channels.get_mut(&id.of_virtual_channel(number));
            let Some(comments) = comments else { continue };
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
}

/// Text of a comment: `myriscope error crc-bad P-4: h0:0>s0:3 at character 812: packet 7, syndrome 40`.
fn comment(kind: FindingKind, case: &CaseRow<'_>) -> String {
    let rule = case.rule.map_or(String::new(), |rule| format!(" {rule}"));
    let mut what = details(&case.facts);
    if what.is_empty() {
        kind.about().text.clone_into(&mut what);
    }
    if case.count > 1 {
        what = format!("{} more times, the last here", case.count);
    }
    let CaseRow { severity, finding, channel, at, .. } = case;
    let severity = severity.name();
    // Programs print comments as they are.
    escape_text(format!(
        "myriscope {severity} {finding}{rule}: {channel} at character {at}: {what}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Occurrence, Severity};

    #[test]
    fn comments_on_findings_that_were_explained_are_removed() {
        let (channel, at) = (ChannelId(0), Tick(5));
        let (severity, kind) = (Severity::Error, FindingKind::CrcBad);
        let place = Occurrence { time: 0, at };
        let case =
            FindingCase { severity, kind, channel, place, known: 0, count: 1, facts: Vec::new() };
        let mut comments = CommentSet::default();
        comments.add(&case, &|_| "a>b");
        assert_eq!((comments.remaining(), comments.within(channel, at, at).count()), (1, 1));
        comments.keep(&FindingSet::default());
        assert_eq!((comments.remaining(), comments.within(channel, at, at).count()), (0, 0));
    }
}
