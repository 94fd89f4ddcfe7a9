//! Bounds as rows: stretches as long as lines are straight, however they were found.

use codec::capture::ChannelId;
use codec::time::Tick;
use serde::Serialize;

use super::linear::LinearRamp;
use super::segment::{FillSegment, LastCommand};
use super::slack_totals::SlackTotals;
use super::{FillBounds, SlackEvent};

/// A row of `links --fill`; fields as in `docs/output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FillRow<'a> {
    /// Name of the channel whose far receiver it is about.
    pub channel: &'a str,
    /// The first period.
    pub start: u64,
    /// The last.
    pub end: u64,
    /// How many there are.
    pub periods: u64,
    /// At least so many cells are full in the first period,
    pub lo: u32,
    /// and at most so many.
    pub hi: u32,
    /// At least so many are in the last; between them both bounds run straight.
    pub lo_end: u32,
    /// At most so many are in the last.
    pub hi_end: u32,
}

impl FillBounds {
    /// The row of `docs/output.md`.
    #[must_use]
    pub fn row<'a>(&self, channel: &'a str) -> FillRow<'a> {
        let last = Tick(self.end.0.saturating_sub(1));
        let (lo_end, hi_end) = self.at(last).unwrap_or((self.lo, self.hi));
        FillRow {
            channel,
            start: self.start.0,
            end: last.0,
            periods: self.periods(),
            lo: self.lo,
            hi: self.hi,
            lo_end,
            hi_end,
        }
    }
}

/// A stretch that may go on.
#[derive(Clone, Copy, Debug)]
struct OpenFill {
    start: u64,
    end: u64,
    lo: LinearRamp,
    hi: LinearRamp,
}

/// Rows on their way out. Where they are cut depends on the bounds of the single periods alone.
#[derive(Clone, Debug)]
pub(super) struct FillMerger {
    channel: ChannelId,
    /// The steepest slope down, of cells taken out.
    drain: i64,
    cells: u32,
    open: Option<OpenFill>,
}

impl FillMerger {
    pub(super) fn new(channel: ChannelId, drain: u64, cells: u32) -> Self {
        let drain = i64::try_from(drain).unwrap_or(i64::MAX);
        Self { channel, drain, cells, open: None }
    }

    /// Takes the next stretch.
    pub(super) fn add(
        &mut self,
        piece: FillSegment,
        marks: &mut SlackTotals,
        out: &mut impl FnMut(SlackEvent),
    ) {
        let FillSegment { start, end, lo, hi, commanded, .. } = piece;
        if commanded != LastCommand::Unknown {
            let last = end - start - 1;
            marks.add_extremes(
                [lo.at.min(lo.after(last)), lo.at.max(lo.after(last))],
                [hi.at.min(hi.after(last)), hi.at.max(hi.after(last))],
            );
            marks.known += end - start;
        }
        let mut rest = OpenFill { start, end, lo, hi };
        if let Some(open) = &mut self.open
            && open.start + 1 == open.end
        {
            // Through two periods there is always a line, but not always one that says something.
            let (lo, hi) = (rest.lo.at - open.lo.at, rest.hi.at - open.hi.at);
            let gentle = -self.drain..=1;
            if gentle.contains(&lo) && gentle.contains(&hi) {
                (open.lo.slope, open.hi.slope, open.end) = (lo, hi, open.end + 1);
                if rest.start + 1 == rest.end {
                    return;
                }
                rest = rest.from(1);
            }
        }
        if let Some(open) = &mut self.open {
            let len = open.end - open.start;
            let goes_on = |one: LinearRamp, other: LinearRamp| {
                one.after(len) == other.at
                    && (rest.end == rest.start + 1 || one.slope == other.slope)
            };
            if len > 1 && goes_on(open.lo, rest.lo) && goes_on(open.hi, rest.hi) {
                open.end = rest.end;
                return;
            }
            // The first period may still belong to it.
            if len > 1
                && open.lo.after(len) == rest.lo.at
                && open.hi.after(len) == rest.hi.at
                && rest.end > rest.start + 1
            {
                open.end += 1;
                rest = rest.from(1);
            }
        }
        let before = self.open.replace(rest);
        before.into_iter().for_each(|open| self.emit(open, marks, out));
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, marks: &mut SlackTotals, out: &mut impl FnMut(SlackEvent)) {
        let open = self.open.take();
        open.into_iter().for_each(|open| self.emit(open, marks, out));
    }

    fn emit(&self, open: OpenFill, marks: &mut SlackTotals, out: &mut impl FnMut(SlackEvent)) {
        let OpenFill { start, end, lo, hi } = open;
        let cells = |value: i64| u32::try_from(value).unwrap_or(0).min(self.cells);
        let slope = |ramp: LinearRamp| {
            if start + 1 == end { 0 } else { i32::try_from(ramp.slope).unwrap_or(0) }
        };
        marks.measure(end - start, [lo, hi].map(|ramp| (ramp.at, ramp.after(end - start - 1))));
        out(SlackEvent::Fill(FillBounds {
            channel: self.channel,
            start: Tick(start),
            end: Tick(end),
            lo: cells(lo.at),
            lo_slope: slope(lo),
            hi: cells(hi.at),
            hi_slope: slope(hi),
        }));
    }
}

impl OpenFill {
    /// What is left of it from so many periods on.
    fn from(self, periods: u64) -> Self {
        let Self { start, end, lo, hi } = self;
        Self { start: start + periods, end, lo: lo.from(periods), hi: hi.from(periods) }
    }
}
