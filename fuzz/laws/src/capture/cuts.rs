//! A capture against the same characters in other chunks: rows must not differ.

use analyzer::event::TimedEvent;
use std::collections::BTreeSet;

use analyzer::packet::ByteRetention;
use analyzer::timeline::EventFilter;
use codec::capture::{ByteOrder, Channel, ChannelId, Chunk, WriteError, split_into_chunks};
use codec::time::{Tick, Ticks};

use super::counts::ReplayLength;
use super::rows::{AnalyzedRows, in_sequence, row_event, rows};
use super::{CaptureContents, SectionContents};
use crate::capture_input::{self, OwnedChunk};
use crate::chars::pieces;
use crate::repair::SeededRng;

/// A capture has the rows of the same characters cut into other chunks.
pub fn law(file: &[u8]) {
    check(file, rows);
}

fn check(file: &[u8], rows: impl Fn(&[u8], EventFilter, ByteRetention) -> AnalyzedRows) {
    let read = CaptureContents::to_end(file);
    let endless = read.sections.iter().any(SectionContents::is_endless);
    let is_virtual = read.has_virtual_channels();
    if endless || is_virtual || !read.sections.iter().all(SectionContents::is_in_order) {
        return;
    }
    let length = ReplayLength::of(&read);
    let mut dice = SeededRng::new(file);
    let wants = [EventFilter::Packets, EventFilter::Events];
    let want = if dice.below(2) == 0 { wants[0] } else { wants[1] };
    let (got, _) = rows(file, want, length.bytes());
    in_sequence(&got);
    let mut got = got.as_slice();
    for section in &read.sections {
        let of_section = |row: &TimedEvent| section.channels.contains_key(&row.channel);
        let len = got.iter().take_while(|row| of_section(row)).count();
        let (own, later) = got.split_at(len);
        got = later;
        let other = match length {
            ReplayLength::Short => section.written_anew(&mut dice),
            ReplayLength::Long => section.split(&mut dice),
        };
        let (Some(other), Some(base)) = (other, section.channels.keys().next()) else { continue };
        let (other, error) = rows(&other, want, length.bytes());
        assert_eq!(error, None, "what is written anew is whole");
        agree(own, *base, &other, length);
    }
    let channels = got.iter().map(|row| row.channel).collect::<BTreeSet<_>>();
    assert!(channels.is_empty(), "rows are of the sections' channels: {channels:?}");
}

/// Rows of a section, and those of it in a file of its own.
fn agree(got: &[TimedEvent], base: ChannelId, other: &[TimedEvent], length: ReplayLength) {
    let own = |channel: ChannelId| ChannelId(channel.0 + base.0);
    let places = |row: &TimedEvent, channel| (channel, row.at);
    for (n, (one, two)) in got.iter().zip(other).enumerate() {
        assert_eq!(
            places(one, one.channel),
            places(two, own(two.channel)),
            "row {n} has its place"
        );
        let same = match length {
            ReplayLength::Short => row_event(&one.body) == row_event(&two.body),
            ReplayLength::Long => one.body == two.body,
        };
        assert!(same, "cutting changes nothing: row {n}: {:?} {:?}", one.body, two.body);
    }
    assert_eq!(got.len(), other.len(), "cutting changes nothing: rows are as many");
}

impl SectionContents {
    /// A file with the same characters in other chunks. None where the format has no room: a time
    /// beyond 584 years, or interfaces of other kinds between the channels.
    pub(crate) fn written_anew(&self, dice: &mut SeededRng) -> Option<Vec<u8>> {
        self.written(dice, |id, dice| match dice.below(2) {
            0 => self.as_written(id),
            _ => self.cut(id, dice),
        })
    }

    /// Writes every chunk in two parts: repeats too long for the reference.
    fn split(&self, dice: &mut SeededRng) -> Option<Vec<u8>> {
        self.written(dice, |id, dice| {
            self.of(id).flat_map(|it| halves(it.chunk(), dice)).map(OwnedChunk::from).collect()
        })
    }

    fn written(
        &self,
        dice: &mut SeededRng,
        again: impl Fn(ChannelId, &mut SeededRng) -> Vec<OwnedChunk>,
    ) -> Option<Vec<u8>> {
        let base = self.channels.keys().next()?.0;
        if self.channels.keys().zip(base..).any(|(id, n)| id.0 != n) {
            return None;
        }
        let channels: Vec<Channel> = self.channels.values().cloned().collect();
        let mut chunks = Vec::new();
        for id in self.channels.keys() {
            let renamed = ChannelId(id.0 - base);
            chunks.extend(again(*id, dice).into_iter().map(|chunk| (renamed, chunk)));
        }
        capture_input::in_order(&channels, &mut chunks);
        let order = if dice.below(2) == 0 { ByteOrder::Big } else { ByteOrder::Little };
        match capture_input::write(order, &channels, &chunks) {
            Ok(file) => Some(file),
            Err(error) => {
                let no_room = matches!(error, WriteError::Form(_));
                assert!(no_room, "what was read can be written: {error}");
                None
            }
        }
    }

    /// A channel's characters as a writer cuts them.
    fn as_written(&self, id: ChannelId) -> Vec<OwnedChunk> {
        let joined = capture_input::joined(&self.characters(id));
        let chunks = joined.iter().flat_map(|it| split_into_chunks(it.first, it.chars.chars()));
        chunks.map(OwnedChunk::from).collect()
    }

    /// A channel's chunks in small pieces.
    fn cut(&self, id: ChannelId, dice: &mut SeededRng) -> Vec<OwnedChunk> {
        self.of(id).flat_map(|it| pieces(it.chunk(), dice)).map(OwnedChunk::from).collect()
    }
}

/// A chunk in pieces: what stands before a place in it, and what from it on.
fn halves<'a>(chunk: Chunk<'a>, dice: &mut SeededRng) -> Vec<Chunk<'a>> {
    let place = chunk.first.after(Ticks(dice.below(chunk.periods())));
    chunk.between(chunk.first, place).chain(chunk.between(place, Tick(u64::MAX))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::capture::tests::seed;

    pub(crate) fn rows_that_depend_on_the_cut_are_caught() {
        let file = seed("whole-flow-control");
        let tidy = |other: &[u8], want, bytes| {
            let (mut all, error) = rows(other, want, bytes);
            if other != file {
                all.pop();
            }
            (all, error)
        };
        check(&file, tidy);
    }
}
