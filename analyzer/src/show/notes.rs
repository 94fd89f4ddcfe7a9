//! Packets, events and findings of the shown link, printed below the row in which they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use codec::capture::{Channel, ChannelId, Chunk};
use codec::time::CharacterPeriod;

use crate::event::Picoseconds;
use crate::link_analysis::LinkAnalysis;
use crate::options::AnalysisScope;
use crate::render::line::{StyledLine, TextStyle, wrapped};
use crate::render::{LogRow, log_text};

/// Maximum number of notes below a row. *Chosen*: a row of repeats may have thousands.
const NOTES_MAX: usize = 16;

/// A packet, an event or a finding below the row in which it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkNote {
    /// Time at which it was certain.
    time: Picoseconds,
    channel: String,
    text: String,
    style: TextStyle,
}

impl LinkNote {
    fn of(time: Picoseconds, row: &LogRow<'_>) -> Self {
        let (style, text) = log_text(row);
        let kind = if row.kind == "packet" { "packet " } else { "" };
        let text = format!("{kind}{text}{}", row.text);
        Self { time, channel: row.channel.to_owned(), text, style }
    }

    pub(super) fn lines(&self, indent: usize, width: usize, out: &mut impl FnMut(StyledLine)) {
        let words = self.text.split_whitespace();
        let mut start = format!("└ {} ", self.channel);
        for line in wrapped(words, " ", width.saturating_sub(start.chars().count()).max(20)) {
            out(StyledLine::of(TextStyle::Dim, format!("{:indent$}{start}", ""))
                .and(self.style, line));
            start = " ".repeat(start.chars().count());
        }
    }
}

/// Notes of a section, until their rows are complete.
#[derive(Debug)]
pub(super) struct NoteQueue {
    link: LinkAnalysis,
    channels: BTreeMap<ChannelId, Channel>,
    pending: Vec<LinkNote>,
    /// Time of the last character.
    last: Picoseconds,
}

impl Default for NoteQueue {
    fn default() -> Self {
        let link = LinkAnalysis::new(AnalysisScope::Log, Arc::default());
        Self { link, channels: BTreeMap::new(), pending: Vec::new(), last: 0 }
    }
}

impl NoteQueue {
    /// Adds a channel of the shown link.
    pub(super) fn declare(&mut self, id: ChannelId, channel: &Channel) {
        self.link.declare(id, &Arc::new(channel.clone()));
        self.channels.insert(id, channel.clone());
    }

    pub(super) fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.link.join(one, other);
    }

    /// Adds the notes before a time that no later chunk begins before.
    pub(super) fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>, until: Picoseconds) {
        let period =
            self.channels.get(&id).map_or(CharacterPeriod::PICOSECOND, |channel| channel.period);
        let end = period.time(chunk.end().0);
        self.last = self.last.max(end.saturating_sub(1));
        self.link.feed(id, chunk);
        self.link.pass(until);
        self.collect();
    }

    /// Ends the section.
    pub(super) fn finish(&mut self) {
        self.link.finish();
        self.collect();
        self.pending.iter_mut().for_each(|note| note.time = note.time.min(self.last));
    }

    fn collect(&mut self) {
        let Self { link, channels, pending, last: _ } = self;
        let output = link.take_output();
        let known = |id: ChannelId| channels.get(&id);
        pending.extend(output.events.iter().filter_map(|event| {
            let row = LogRow::of_event(known(event.channel)?, event)?;
            Some(LinkNote::of(event.time, &row))
        }));
        let cases = output.cases.iter();
        pending.extend(cases.map(|case| LinkNote::of(case.known, &LogRow::of_case(case, &known))));
        pending.sort_by_key(|note| note.time);
    }

    /// Removes the notes before a time, and returns those from a time on.
    pub(super) fn take(&mut self, from: Picoseconds, until: Picoseconds) -> Vec<LinkNote> {
        let count = self.pending.partition_point(|note| note.time < until);
        let notes = self.pending.drain(..count).filter(|note| note.time >= from);
        let mut notes: Vec<LinkNote> = notes.take(NOTES_MAX + 1).collect();
        if let Some(last) = notes.get_mut(NOTES_MAX) {
            "… and more: see `myriscope log`".clone_into(&mut last.text);
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_below_the_row_that_has_its_time() {
        let (channel, text, style) = (String::new(), String::new(), TextStyle::Plain);
        let note = LinkNote { time: 0, channel, text, style };
        let pending = [4, 5, 9, 10].map(|time| LinkNote { time, ..note.clone() }).into();
        let mut queue = NoteQueue { pending, ..NoteQueue::default() };
        let rows = [(5, 10), (10, 15)].map(|(from, until)| queue.take(from, until));
        let times = rows.map(|notes| notes.iter().map(|it| it.time).collect::<Vec<_>>());
        assert_eq!(times, [vec![5, 9], vec![10]]);
    }
}
