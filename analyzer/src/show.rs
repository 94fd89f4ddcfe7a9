//! Characters of both directions of a link side by side, as on a logic analyser: each row is an
//! interval of time, each column contains the characters of one direction.

mod column;
mod notes;
pub mod waveform;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use codec::capture::{CaptureItem, Channel, ChannelId, Chunk};
use codec::time::CharacterPeriod;

use self::column::ChannelColumn;
use self::notes::{LinkNote, NoteQueue};
use self::words::styled;
use crate::channel_name::link_name;
use crate::channel_selector::ChannelSelector;
use crate::event::Picoseconds;
use crate::render::TimeUnit;
use crate::render::line::{StyledLine, TextStyle, count, wrapped};
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
const BULK_MIN: u64 = 64;

/// Layout of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLayout {
    /// Width of the characters of each direction.
    pub column: usize,
    /// Unit of the positions.
    pub unit: TimeUnit,
    /// True for lines about packets, events and findings below the row in which they end.
    pub has_notes: bool,
}

impl Default for LinkLayout {
    /// Layout of lines of 80 columns.
    fn default() -> Self {
        Self::of_width(80)
    }
}

impl LinkLayout {
    /// Layout of lines of this width.
    pub fn of_width(width: usize) -> Self {
        let column = (width.saturating_sub(MARGIN) / 2).clamp(*COLUMN.start(), *COLUMN.end());
        Self { column, unit: TimeUnit::default(), has_notes: false }
    }
}

/// View of one link: the first selected channel of each section on the left, its opposite on the right.
#[derive(Debug, Default)]
pub struct LinkView<'a> {
    selector: ChannelSelector<'a>,
    /// Name of the channel on the left, if given.
    left: Option<String>,
    layout: LinkLayout,
    notes: NoteQueue,
    columns: [ChannelColumn; 2],
    newest: Picoseconds,
    row: Option<RowStretch>,
    /// End of the last row.
    covered: Picoseconds,
    /// Periods before the row in which neither direction was recorded.
    unrecorded: u64,
    headed: bool,
    channels: BTreeMap<ChannelId, Channel>,
    /// Those shown, in all sections.
    shown: BTreeSet<ChannelId>,
}

/// Properties that are equal within a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowStretch {
    at: Picoseconds,
    /// True for repeats on both sides, in one row as long as they last.
    is_bulk: bool,
    is_recorded: [bool; 2],
}

impl<'a> LinkView<'a> {
    /// Creates a view before the first item of its capture.
    pub fn new(selector: ChannelSelector<'a>, layout: LinkLayout) -> Self {
        let columns = [ChannelColumn::new(layout.column), ChannelColumn::new(layout.column)];
        Self { selector, layout, columns, ..Self::default() }
    }

    /// The view, of the link of a channel, which is on the left. The name of a link with virtual channels is
    /// that of the first of them. C-7
    pub fn of_channel(self, name: String) -> Self {
        Self { left: Some(name), ..self }
    }

    /// The channels so far, in all sections.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> + Clone {
        self.channels.values()
    }

    /// A channel.
    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(&id)
    }

    /// Selected channels that are not shown, as another link of their section is.
    pub fn not_shown(&self) -> impl Iterator<Item = &Channel> + Clone {
        let others = self.channels.iter().filter(|(id, _)| !self.shown.contains(id));
        others.map(|(_, channel)| channel).filter(|channel| self.selector.selects(channel))
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
                let left = self.left.take();
                *self = Self { left, channels, shown, ..Self::new(self.selector, self.layout) };
            }
            CaptureItem::Channel(id, channel) => self.declare(*id, channel),
            CaptureItem::Link(one, other) => self.link(*one, *other),
            CaptureItem::Chunk(id, chunk) => self.chunk(*id, chunk, window, out),
            CaptureItem::Fault(_) => {}
        }
    }

    fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let is_left = self.left.as_ref().map_or(self.selector.selects(channel), |it| {
            *it == channel.name || *it == link_name(&channel.name)
        });
        if self.columns[0].channel.is_none() && is_left {
            self.columns[0].declare(id, channel);
            self.shown.insert(id);
            self.notes.declare(id, channel);
        }
        self.channels.insert(id, channel.clone());
    }

    fn link(&mut self, one: ChannelId, other: ChannelId) {
        let left = self.columns[0].channel.as_ref().map(|(id, _)| *id);
        let right = if left == Some(one) { other } else { one };
        if left == Some(one) || left == Some(other) {
            if let Some(channel) = self.channels.get(&right) {
                self.columns[1].declare(right, channel);
            }
            self.shown.insert(right);
            if let Some((_, channel)) = &self.columns[1].channel {
                self.notes.declare(right, channel);
                self.notes.join(one, other);
            }
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
        let (from, to) = window.on(channel);
        chunk.between(from, to).for_each(|part| side.add(part));
        self.newest = self.newest.max(side.time(chunk.first));
        if self.layout.has_notes {
            self.notes.feed(id, chunk, self.newest);
        }
        self.advance(self.newest, out);
    }

    /// Ends the capture or its section: emits the rest.
    pub fn finish(&mut self, out: &mut impl FnMut(LinkViewItem)) {
        if self.layout.has_notes {
            self.notes.finish();
        }
        self.advance(Picoseconds::MAX, out);
        self.end_row(out);
    }

    /// Processes all characters before a time.
    fn advance(&mut self, until: Picoseconds, out: &mut impl FnMut(LinkViewItem)) {
        while let Some(now) = self.columns.iter().filter_map(ChannelColumn::next).min() {
            if now >= until {
                return;
            }
            let is_recorded = [self.columns[0].is_recorded(now), self.columns[1].is_recorded(now)];
            let bulk_end = self.bulk_end(now, until);
            let is_bulk = bulk_end.is_some();
            let full = |side: &ChannelColumn| {
                if is_bulk { side.is_full() } else { side.needs_row(now) }
            };
            let row = RowStretch { at: now, is_bulk, is_recorded };
            let fits = self.row.is_some_and(|before| RowStretch { at: now, ..before } == row)
                && !self.columns.iter().any(full);
            if !fits {
                self.end_row(out);
                self.start_row(row, out);
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
            self.columns.iter().map(|side| side.period().periods(end.saturating_sub(now))).min()?;
        (periods >= BULK_MIN).then_some(end)
    }

    fn start_row(&mut self, row: RowStretch, out: &mut impl FnMut(LinkViewItem)) {
        let [left, right] =
            self.columns.each_ref().map(|side| side.channel.as_ref().map(|(_, channel)| channel));
        if let Some(left) = left.filter(|_| !self.headed) {
            let all = self.channels.values().filter(|channel| channel.capture == left.capture);
            let others = all.count().saturating_sub(1 + usize::from(right.is_some()));
            let right = right.map_or_else(String::new, |channel| channel.name.clone());
            out(LinkViewItem::Head(ViewHead { left: left.clone(), right, others }));
            self.headed = true;
        } else {
            self.unrecorded = self.columns[0].period().periods(row.at.saturating_sub(self.covered));
        }
        self.row = Some(row);
    }

    fn end_row(&mut self, out: &mut impl FnMut(LinkViewItem)) {
        let Some(row) = self.row.take() else { return };
        self.covered = self.columns.iter().map(|side| side.covered).max().unwrap_or(row.at);
        let period = self.columns[0].period();
        let (at, end) = (period.periods(row.at), period.periods(self.covered.saturating_sub(1)));
        let [left, right] = self.columns.each_mut().map(ChannelColumn::end_row);
        out(LinkViewItem::Row(ViewedRow {
            unrecorded: std::mem::take(&mut self.unrecorded),
            row: LinkViewRow { at, end, left, right },
            period,
            notes: self.notes.take(row.at, self.covered),
        }));
    }
}

/// Item of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkViewItem {
    /// Header above the first row of a section.
    Head(ViewHead),
    /// Interval of time.
    Row(ViewedRow),
}

/// Channels of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewHead {
    /// The channel on the left.
    pub left: Channel,
    /// Name of the channel on the right, or nothing.
    right: String,
    /// Number of other channels.
    others: usize,
}

/// A row with its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewedRow {
    /// Character periods of the left channel before it in which neither direction was recorded.
    unrecorded: u64,
    /// Its characters.
    pub row: LinkViewRow,
    /// Character period of the channel on the left.
    period: CharacterPeriod,
    /// Packets, events and findings that ended in it.
    notes: Vec<LinkNote>,
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
        match self {
            Self::Head(head) => head.lines(layout, out),
            Self::Row(row) => row.lines(layout, out),
        }
    }
}

impl ViewHead {
    /// Renders the head as lines.
    pub fn lines(&self, layout: LinkLayout, out: &mut impl FnMut(StyledLine)) {
        if self.others > 0 {
            let text = format!("{:13}(other channels, not shown: {})", "", self.others);
            out(StyledLine::of(TextStyle::Dim, text));
        }
        let head = |name: &str| vec![(TextStyle::Head, name.to_owned())];
        let index = (layout.unit.heading(), layout.column);
        out(line(index, &head(&self.left.name), &head(&self.right)));
    }
}

impl ViewedRow {
    /// Renders the row as lines, with its surroundings.
    pub fn lines(&self, layout: LinkLayout, out: &mut impl FnMut(StyledLine)) {
        let LinkLayout { column, unit, .. } = layout;
        if self.unrecorded > 0 {
            let text = format!(
                "{} in which neither direction was recorded",
                count(self.unrecorded, "period")
            );
            out(StyledLine::of(TextStyle::Dim, format!("{:>INDEX$} ", "·"))
                .and(TextStyle::Notice, text));
        }
        let LinkViewRow { at, left, right, .. } = &self.row;
        let [left, right] = [left, right].map(|side| wrapped(side.split_whitespace(), " ", column));
        let mut index = unit.text(*at, self.period);
        for at in 0..left.len().max(right.len()) {
            let words = |side: &[String]| side.get(at).map_or(Vec::new(), |s| styled(s));
            out(line((&index, column), &words(&left), &words(&right)));
            index.clear();
        }
        self.notes.iter().for_each(|note| note.lines(INDEX + 1, 2 * column + 3, out));
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
