//! Characters of both directions of a link side by side, as on a logic analyser: each row is an
//! interval of time, each column contains the characters of one direction.

mod column;
mod notes;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use codec::capture::{CaptureItem, Channel, ChannelId, Chunk};

use self::column::ChannelColumn;
pub use self::notes::LinkNote;
use self::notes::NoteQueue;
use crate::channel_selector::ChannelSelector;
use crate::event::Picoseconds;
use crate::render::TimeUnit;
use crate::render::line::{StyledLine, TextStyle, wrapped};
use crate::row::FieldShape::Place;
use crate::row::row;
use crate::window::TimeWindow;

/// Width of the position: enough for an hour of characters.
const INDEX: usize = 12;
/// Width of the position and the separators.
const MARGIN: usize = INDEX + 4;
/// Range of the width of a column. *Chosen*: some characters, and a line that is still readable.
const COLUMN: RangeInclusive<usize> = 16..=256;
/// Minimum length of repeats on both sides that are processed at once, in periods. *Chosen*.
const BULK_MIN: u128 = 64;

/// Layout of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLayout {
    /// Width of the characters of each direction.
    pub column: usize,
    /// Unit of the positions.
    pub unit: TimeUnit,
    /// Lines below the characters.
    pub notes: NoteDisplay,
}

/// Lines about packets and events below the characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoteDisplay {
    /// One for each packet and event, below the row in which it ended.
    Shown,
    /// None.
    #[default]
    Omitted,
}

impl Default for LinkLayout {
    /// Layout of lines of 80 columns.
    fn default() -> Self {
        Self::of_width(80)
    }
}

impl LinkLayout {
    /// Layout of lines of this width.
    #[must_use]
    pub fn of_width(width: usize) -> Self {
        let column = (width.saturating_sub(MARGIN) / 2).clamp(*COLUMN.start(), *COLUMN.end());
        Self { column, unit: TimeUnit::default(), notes: NoteDisplay::default() }
    }
}

/// View of one link: the first selected channel of each section on the left, its opposite on the right.
#[derive(Debug)]
pub struct LinkView<'a> {
    selector: ChannelSelector<'a>,
    layout: LinkLayout,
    notes: NoteQueue,
    columns: [ChannelColumn; 2],
    newest: Picoseconds,
    row: Option<RowStretch>,
    /// End of the last row.
    covered: Picoseconds,
    headed: bool,
    /// All channels so far.
    channels: BTreeMap<ChannelId, Channel>,
    /// Those shown, in all sections.
    shown: BTreeSet<ChannelId>,
}

/// Properties that are equal within a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowStretch {
    at: Picoseconds,
    pace: RowPace,
    recorded: [RecordedState; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPace {
    /// Characters one by one.
    Single,
    /// Repeats on both sides, in one row as long as they last.
    Bulk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordedState {
    Yes,
    No,
}

impl<'a> LinkView<'a> {
    /// Creates a view before the first item of its capture.
    #[must_use]
    pub fn new(selector: ChannelSelector<'a>, layout: LinkLayout) -> Self {
        Self {
            selector,
            layout,
            notes: NoteQueue::default(),
            columns: [ChannelColumn::new(layout.column), ChannelColumn::new(layout.column)],
            newest: 0,
            row: None,
            covered: 0,
            headed: false,
            channels: BTreeMap::new(),
            shown: BTreeSet::new(),
        }
    }

    /// The channels so far, in all sections.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> + Clone {
        self.channels.values()
    }

    /// A channel.
    #[must_use]
    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(&id)
    }

    /// Selected channels that are not shown, as another link of their section is.
    pub fn not_shown(&self) -> impl Iterator<Item = &Channel> {
        let others = self.channels.iter().filter(|(id, _)| !self.shown.contains(id));
        others.map(|(_, channel)| channel).filter(|channel| self.selector.selects(channel))
    }

    fn shown(&self) -> [Option<&str>; 2] {
        self.columns.each_ref().map(|side| Some(side.channel.as_ref()?.1.name.as_str()))
    }

    /// Processes an item of the capture, and emits the rows that are complete.
    pub fn feed(
        &mut self,
        item: &CaptureItem<'_>,
        window: &TimeWindow,
        out: &mut impl FnMut(LinkViewItem),
    ) {
        match item {
            CaptureItem::Section => {
                self.finish(out);
                let channels = std::mem::take(&mut self.channels);
                let shown = std::mem::take(&mut self.shown);
                *self = Self { channels, shown, ..Self::new(self.selector, self.layout) };
            }
            CaptureItem::Channel(id, channel) => self.declare(*id, channel),
            CaptureItem::Link(one, other) => self.link(*one, *other),
            CaptureItem::Chunk(id, chunk) => self.chunk(*id, chunk, window, out),
            CaptureItem::Fault(_) => {}
        }
    }

    fn declare(&mut self, id: ChannelId, channel: &Channel) {
        if self.columns[0].channel.is_none() && self.selector.selects(channel) {
            self.columns[0].channel = Some((id, channel.clone()));
            self.shown.insert(id);
        }
        self.channels.insert(id, channel.clone());
    }

    fn link(&mut self, one: ChannelId, other: ChannelId) {
        let left = self.columns[0].channel.as_ref().map(|(id, _)| *id);
        let right = if left == Some(one) { other } else { one };
        if left == Some(one) || left == Some(other) {
            self.columns[1].channel = self.channels.get(&right).map(|found| (right, found.clone()));
            self.shown.insert(right);
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
        let Some(side) = self.columns.iter_mut().find(belongs) else { return };
        let Some((_, channel)) = &side.channel else { return };
        if self.layout.notes == NoteDisplay::Shown {
            self.notes.feed(id, channel, chunk);
        }
        let (from, to) = window.on(channel);
        chunk.between(from, to).for_each(|part| side.add(part));
        self.newest = self.newest.max(side.time(chunk.first));
        self.advance(self.newest, out);
    }

    /// Ends the capture or its section: emits the rest.
    pub fn finish(&mut self, out: &mut impl FnMut(LinkViewItem)) {
        self.notes.finish();
        self.advance(Picoseconds::MAX, out);
        self.end_row(out);
    }

    /// Processes all characters before a time.
    fn advance(&mut self, until: Picoseconds, out: &mut impl FnMut(LinkViewItem)) {
        while let Some(now) = self.columns.iter().filter_map(ChannelColumn::next).min() {
            if now >= until {
                return;
            }
            let recorded = [self.columns[0].recorded(now), self.columns[1].recorded(now)];
            let bulk_end = self.bulk_end(now, until);
            let pace = if bulk_end.is_some() { RowPace::Bulk } else { RowPace::Single };
            let full = |side: &ChannelColumn| match pace {
                RowPace::Single => side.needs_row(now),
                RowPace::Bulk => side.is_full(),
            };
            let fits = self.row.is_some_and(|row| row.recorded == recorded && row.pace == pace)
                && !self.columns.iter().any(full);
            if !fits {
                self.end_row(out);
                self.start_row(RowStretch { at: now, pace, recorded }, out);
            }
            let end = bulk_end.unwrap_or(now + 1);
            self.columns.iter_mut().for_each(|side| side.take(end));
        }
    }

    /// End of the repeats on both sides, if they are long enough to be processed at once.
    fn bulk_end(&self, now: Picoseconds, until: Picoseconds) -> Option<Picoseconds> {
        let ends = self.columns.iter().filter_map(|side| side.repeats_until(now));
        let end = ends.chain([until]).min()?;
        let periods =
            self.columns.iter().map(|side| (end.saturating_sub(now)) / side.period()).min()?;
        (periods >= BULK_MIN).then_some(end)
    }

    fn start_row(&mut self, row: RowStretch, out: &mut impl FnMut(LinkViewItem)) {
        if !self.headed {
            self.headed = true;
            let names = self.shown().map(|name| name.unwrap_or_default().to_owned());
            let shown = names.iter().filter(|name| !name.is_empty()).count();
            let left = self.columns[0].channel.as_ref();
            let left = left.map_or_else(|| Channel::named(""), |(_, channel)| channel.clone());
            let all = self.channels.values().filter(|channel| channel.capture == left.capture);
            let others = all.count().saturating_sub(shown);
            out(LinkViewItem::Head { names, others, left: Box::new(left) });
        } else if self.covered < row.at {
            let periods = (row.at - self.covered) / self.columns[0].period();
            out(LinkViewItem::Unrecorded { periods });
        }
        self.row = Some(row);
    }

    fn end_row(&mut self, out: &mut impl FnMut(LinkViewItem)) {
        let Some(row) = self.row.take() else { return };
        self.covered = self.columns.iter().map(|side| side.covered).max().unwrap_or(row.at);
        let period = self.columns[0].period();
        let tick = |time: Picoseconds| u64::try_from(time / period).unwrap_or(u64::MAX);
        let (at, end) = (tick(row.at), tick(self.covered.saturating_sub(1)));
        let [left, right] = self.columns.each_mut().map(ChannelColumn::end_row);
        let period_ps = u64::try_from(period).unwrap_or(u64::MAX);
        out(LinkViewItem::Row { row: LinkViewRow { at, end, left, right }, period_ps });
        self.notes.take(row.at, self.covered, &mut |note| out(LinkViewItem::Note(note)));
    }
}

/// Item of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkViewItem {
    /// Header above the first row.
    Head {
        /// Channels on the left and on the right.
        names: [String; 2],
        /// Number of other channels.
        others: usize,
        /// The channel on the left.
        left: Box<Channel>,
    },
    /// Interval of time.
    Row {
        /// Its characters.
        row: LinkViewRow,
        /// Character period of the channel on the left, in picoseconds.
        period_ps: u64,
    },
    /// Packet or event that ended in the row above.
    Note(LinkNote),
    /// Interval in which neither direction was recorded.
    Unrecorded {
        /// Length in character periods of the left channel.
        periods: u128,
    },
}

row! {
    /// Row of `myriscope show`: the characters of both directions until the next row, in notation;
    /// empty if a direction was not recorded.
    #[derive(Eq)]
    pub struct LinkViewRow at (at, end) {
        at: u64 as Place, "characters", "", "first period, on the left channel";
        end: u64 as Place, "characters", "", "last period, on the left channel";
        left: String, "", "", "what the left channel carried, in notation";
        right: String, "", "", "what the right channel carried, in notation";
    }
}

impl LinkViewItem {
    /// Renders the item as lines.
    pub fn lines(&self, layout: LinkLayout, out: &mut impl FnMut(StyledLine)) {
        let LinkLayout { column, unit, notes: _ } = layout;
        match self {
            Self::Head { names: [left, right], others, .. } => {
                let head = |name: &str| vec![(TextStyle::Head, name.to_owned())];
                if *others > 0 {
                    let text = format!("{:13}(other channels, not shown: {others})", "");
                    out(StyledLine::of(TextStyle::Dim, text));
                }
                out(line((unit.heading(), column), &head(left), &head(right)));
            }
            Self::Row { row: LinkViewRow { at, left, right, .. }, period_ps } => {
                let [left, right] =
                    [left, right].map(|side| wrapped(side.split_whitespace(), " ", column));
                let mut index = unit.text(*at, *period_ps);
                for at in 0..left.len().max(right.len()) {
                    let words = |side: &[String]| side.get(at).map_or(Vec::new(), |s| styled(s));
                    out(line((&index, column), &words(&left), &words(&right)));
                    index.clear();
                }
            }
            Self::Note(note) => note.lines(INDEX + 1, 2 * column + 3, out),
            Self::Unrecorded { periods } => {
                let text = format!("{periods} periods in which neither direction was recorded");
                out(StyledLine::of(TextStyle::Dim, format!("{:>INDEX$} ", "·"))
                    .and(TextStyle::Notice, text));
            }
        }
    }
}

/// One line of a row: position, left, right; each direction has `column` characters.
fn line(
    (index, column): (&str, usize),
    left: &[(TextStyle, String)],
    right: &[(TextStyle, String)],
) -> StyledLine {
    let width: usize = left.iter().map(|(_, text)| text.chars().count()).sum();
    let start = StyledLine::of(TextStyle::Dim, format!("{index:>INDEX$} "));
    let left = left.iter().fold(start, |line, (role, text)| line.and(*role, text));
    let bar = left.and(TextStyle::Dim, format!("{:1$} │ ", "", column.saturating_sub(width)));
    right.iter().fold(bar, |line, (role, text)| line.and(*role, text))
}

/// Words of a column with their styles.
fn styled(text: &str) -> Vec<(TextStyle, String)> {
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
