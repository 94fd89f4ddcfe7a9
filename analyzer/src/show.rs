//! The characters of both directions of a link side by side, time down, as a logic analyser shows
//! them: every row is a stretch of time, and each side has just what it carried then.

mod column;

use std::collections::BTreeMap;

use codec::capture::{CaptureItem, Channel, ChannelId, Chunk};
use serde::Serialize;

use self::column::ChannelColumn;
use crate::render::{StyledLine, TextStyle, wrapped};
use crate::window::TimeWindow;

/// Columns of a side: two, the place and what parts them make 80.
const SIDE: usize = 32;
/// Columns of the place: enough for an hour of characters.
const PLACE: usize = 12;
/// Fewest periods of repeats on both sides that are taken at once. *Chosen*.
const BULK_MIN: u128 = 64;

/// Which link is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkChoice {
    /// The first channel, and its opposite.
    First,
    /// The channel of that name on the left, and its opposite.
    Of(String),
}

/// Picoseconds since the capture's time zero.
type Time = u128;

/// See the module's head.
#[derive(Debug)]
pub struct LinkView {
    pair: LinkChoice,
    sides: [ChannelColumn; 2],
    newest: Time,
    row: Option<RowStretch>,
    /// When the last row ended.
    covered: Time,
    headed: bool,
    found: LinkFound,
    /// All channels so far.
    channels: BTreeMap<ChannelId, Channel>,
}

/// What makes a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowStretch {
    at: Time,
    /// Whether it is repeats on both sides, and may go on as long as they do.
    pace: RowPace,
    recorded: [RecordedState; 2],
}

/// Whether there is something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFound {
    /// There is.
    Yes,
    /// Not so far.
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPace {
    Single,
    Bulk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordedState {
    Yes,
    No,
}

impl LinkView {
    /// A view of one link, before the first item of its capture.
    #[must_use]
    pub fn new(pair: LinkChoice) -> Self {
        Self {
            pair,
            sides: Default::default(),
            newest: 0,
            row: None,
            covered: 0,
            headed: false,
            found: LinkFound::No,
            channels: BTreeMap::new(),
        }
    }

    /// Whether the link to be shown has been found, in any section.
    #[must_use]
    pub const fn found(&self) -> LinkFound {
        self.found
    }

    /// The names of the channels so far, those of all sections.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.channels.values().map(|channel| channel.name.as_str())
    }

    fn shown(&self) -> [Option<&str>; 2] {
        self.sides.each_ref().map(|side| Some(side.channel.as_ref()?.1.name.as_str()))
    }

    /// Takes an item of the capture, and hands out the rows that are complete by it.
    pub fn feed(
        &mut self,
        item: &CaptureItem<'_>,
        window: &TimeWindow,
        out: &mut impl FnMut(LinkViewItem),
    ) {
        match item {
            CaptureItem::Section => {
                self.finish(out);
                let names = std::mem::take(&mut self.channels);
                let (pair, found) = (self.pair.clone(), self.found);
                *self = Self { channels: names, found, ..Self::new(pair) };
            }
            CaptureItem::Channel(id, channel) => self.declare(*id, channel),
            CaptureItem::Link(one, other) => self.link(*one, *other),
            CaptureItem::Chunk(id, chunk) => self.chunk(*id, chunk, window, out),
            CaptureItem::Fault(_) => {}
        }
    }

    fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let wanted = match &self.pair {
            LinkChoice::First => true,
            LinkChoice::Of(name) => *name == channel.name,
        };
        if wanted && self.sides[0].channel.is_none() {
            self.sides[0].channel = Some((id, channel.clone()));
            self.found = LinkFound::Yes;
        }
        self.channels.insert(id, channel.clone());
    }

    fn link(&mut self, one: ChannelId, other: ChannelId) {
        let left = self.sides[0].channel.as_ref().map(|(id, _)| *id);
        let right = if left == Some(one) { other } else { one };
        if left == Some(one) || left == Some(other) {
            self.sides[1].channel = self.channels.get(&right).map(|found| (right, found.clone()));
        }
    }

    fn chunk(
        &mut self,
        id: ChannelId,
        chunk: &Chunk<'_>,
        window: &TimeWindow,
        out: &mut impl FnMut(LinkViewItem),
    ) {
        let belongs =
            |side: &&mut ChannelColumn| side.channel.as_ref().is_some_and(|(own, _)| *own == id);
        let Some(side) = self.sides.iter_mut().find(belongs) else { return };
        let Some((_, channel)) = &side.channel else { return };
        let (from, to) = window.on(channel);
        chunk.between(from, to).for_each(|part| side.add(part));
        self.newest = self.newest.max(side.time(chunk.first));
        self.advance(self.newest, out);
    }

    /// The capture, or its section, ends: hands out the rest.
    pub fn finish(&mut self, out: &mut impl FnMut(LinkViewItem)) {
        self.advance(Time::MAX, out);
        self.end_row(out);
    }

    /// Takes all characters of before a time.
    fn advance(&mut self, until: Time, out: &mut impl FnMut(LinkViewItem)) {
        while let Some(now) = self.sides.iter().filter_map(ChannelColumn::next).min() {
            if now >= until {
                return;
            }
            let recorded = [self.sides[0].recorded(now), self.sides[1].recorded(now)];
            let bulk_end = self.bulk_end(now, until);
            let pace = if bulk_end.is_some() { RowPace::Bulk } else { RowPace::Single };
            let full = |side: &ChannelColumn| match pace {
                RowPace::Single => side.needs_row(now),
                RowPace::Bulk => side.is_full(),
            };
            let fits = self.row.is_some_and(|row| row.recorded == recorded && row.pace == pace)
                && !self.sides.iter().any(full);
            if !fits {
                self.end_row(out);
                self.start_row(RowStretch { at: now, pace, recorded }, out);
            }
            let end = bulk_end.unwrap_or(now + 1);
            self.sides.iter_mut().for_each(|side| side.take(end));
        }
    }

    /// Up to when both sides do nothing but repeat, if that is long enough to be taken at once.
    fn bulk_end(&self, now: Time, until: Time) -> Option<Time> {
        let ends = self.sides.iter().filter_map(|side| side.repeats_until(now));
        let end = ends.chain([until]).min()?;
        let periods =
            self.sides.iter().map(|side| (end.saturating_sub(now)) / side.period()).min()?;
        (periods >= BULK_MIN).then_some(end)
    }

    fn start_row(&mut self, row: RowStretch, out: &mut impl FnMut(LinkViewItem)) {
        if !self.headed {
            self.headed = true;
            let names = self.shown().map(|name| name.unwrap_or_default().to_owned());
            let shown = names.iter().filter(|name| !name.is_empty()).count();
            let others = self.channels.len() - shown;
            let left = self.sides[0].channel.as_ref();
            let period_ps = left.map_or(0, |(_, channel)| channel.period_ps.get());
            let capture = left.map_or(0, |(_, channel)| channel.capture);
            out(LinkViewItem::Head { names, others, period_ps, capture });
        } else if self.covered < row.at {
            let periods = (row.at - self.covered) / self.sides[0].period();
            out(LinkViewItem::Unrecorded { periods });
        }
        self.row = Some(row);
    }

    fn end_row(&mut self, out: &mut impl FnMut(LinkViewItem)) {
        let Some(row) = self.row.take() else { return };
        self.covered = self.sides.iter().map(|side| side.covered).max().unwrap_or(row.at);
        let at = row.at / self.sides[0].period();
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        let [left, right] = self.sides.each_mut().map(ChannelColumn::end_row);
        out(LinkViewItem::Row(LinkViewRow { at, left, right }));
    }
}

/// What a view of a link consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkViewItem {
    /// Stands above the first row.
    Head {
        /// The channels on the left and on the right.
        names: [String; 2],
        /// Channels that are not shown.
        others: usize,
        /// Character period of the channel on the left, in picoseconds.
        period_ps: u64,
        /// Its capture.
        capture: u32,
    },
    /// A stretch of time.
    Row(LinkViewRow),
    /// A stretch in which neither direction was recorded.
    Unrecorded {
        /// Character periods of the left channel.
        periods: u128,
    },
}

/// A row of `myriscope show`: what both directions carried until the next row, in notation; nothing
/// where a direction was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkViewRow {
    /// The period of the left channel in which the row begins.
    pub at: u64,
    /// The left channel's characters.
    pub left: String,
    /// The right channel's characters.
    pub right: String,
}

impl LinkViewItem {
    /// The lines that show it, of 80 columns.
    pub fn lines(&self, out: &mut impl FnMut(StyledLine)) {
        match self {
            Self::Head { names: [left, right], others, .. } => {
                let head = |name: &str| vec![(TextStyle::Head, name.to_owned())];
                if *others > 0 {
                    let text = format!("{:13}(other channels, not shown: {others})", "");
                    out(StyledLine::of(TextStyle::Dim, text));
                }
                out(line("character", &head(left), &head(right)));
            }
            Self::Row(LinkViewRow { at, left, right }) => {
                let [left, right] =
                    [left, right].map(|side| wrapped(side.split_whitespace(), " ", SIDE));
                let mut place = at.to_string();
                for at in 0..left.len().max(right.len()) {
                    let words = |side: &[String]| side.get(at).map_or(Vec::new(), |s| coloured(s));
                    out(line(&place, &words(&left), &words(&right)));
                    place.clear();
                }
            }
            Self::Unrecorded { periods } => {
                let text = format!("{periods} periods in which neither direction was recorded");
                out(StyledLine::of(TextStyle::Dim, format!("{:>PLACE$} ", "·"))
                    .and(TextStyle::Notice, text));
            }
        }
    }
}

/// A row's line: place, left, right.
fn line(place: &str, left: &[(TextStyle, String)], right: &[(TextStyle, String)]) -> StyledLine {
    let width: usize = left.iter().map(|(_, text)| text.chars().count()).sum();
    let start = StyledLine::of(TextStyle::Dim, format!("{place:>PLACE$} "));
    let left = left.iter().fold(start, |line, (role, text)| line.and(*role, text));
    let bar = left.and(TextStyle::Dim, format!("{:1$} │ ", "", SIDE.saturating_sub(width)));
    right.iter().fold(bar, |line, (role, text)| line.and(*role, text))
}

/// The words of a side, each by its role.
fn coloured(text: &str) -> Vec<(TextStyle, String)> {
    text.split_inclusive(' ')
        .map(|word| {
            let symbol = word.trim_matches(['(', ' ']);
            let role = if word.contains('!') || symbol.starts_with("ORUN") {
                TextStyle::Bad
            } else if ["STOP", "FRES", "BRES", "PRB", "REPL"].iter().any(|s| symbol.starts_with(s))
            {
                TextStyle::Notice
            } else if ["GAP", "GO", "IDLE"].iter().any(|s| symbol.starts_with(s)) {
                TextStyle::Dim
            } else {
                TextStyle::Plain
            };
            (role, word.to_owned())
        })
        .collect()
}
