//! Rows of bounds: intervals in which both bounds are linear, however they were computed.

use codec::capture::ChannelId;
use codec::time::Tick;

use super::linear::LinearRamp;
use super::segment::{FillSegment, LastCommand};
use super::slack_totals::SlackTotals;
use super::{FillBounds, SlackEvent};
use crate::row::FieldShape::Place;
use crate::row::row;

row! {
    /// A row of `links --fill`; fields as in `docs/output.md`.
    pub struct FillRow<'a> at (start, end) {
        channel: &'a str, "", "", "name of the channel that fills the buffer";
        start: u64 as Place, "characters", "", "first period, as the far receiver counts";
        end: u64 as Place, "characters", "", "last period";
        periods: u64 as Place, "characters", "", "how many there are";
        lo: u32, "cells", "F-3", "full cells in the first period, at least";
        hi: u32, "cells", "F-3", "full cells in the first period, at most";
        lo_end: u32, "cells", "F-3", "full cells in the last period, at least";
        hi_end: u32, "cells", "F-3", "full cells in the last period, at most";
    }
}

impl FillBounds {
    /// The row of `links --fill`.
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

/// An interval that may be extended.
#[derive(Clone, Copy, Debug)]
struct OpenFill {
    start: u64,
    end: u64,
    lo: LinearRamp,
    hi: LinearRamp,
}

/// Merges segments into intervals. The cuts depend only on the bounds of the single periods.
#[derive(Clone, Debug, Default)]
pub(super) struct FillMerger {
    channel: ChannelId,
    /// Maximum of cells removed per period.
    drain: i64,
    cells: u32,
    open: Option<OpenFill>,
}

impl FillMerger {
    pub(super) fn new(channel: ChannelId, drain: u64, cells: u32) -> Self {
        let drain = i64::try_from(drain).unwrap_or(i64::MAX);
        Self { channel, drain, cells, open: None }
    }

    /// Adds the next segment.
    pub(super) fn add(
        &mut self,
        segment: FillSegment,
        totals: &mut SlackTotals,
        out: &mut Vec<SlackEvent>,
    ) {
        let FillSegment { start, end, lo, hi, commanded, .. } = segment;
        if commanded != LastCommand::Unknown {
            let last = end - start - 1;
            totals.add_extremes(
                [lo.at.min(lo.after(last)), lo.at.max(lo.after(last))],
                [hi.at.min(hi.after(last)), hi.at.max(hi.after(last))],
            );
            totals.known += end - start;
        }
        let mut rest = OpenFill { start, end, lo, hi };
        if let Some(open) = &mut self.open
            && open.start + 1 == open.end
        {
            // A line through two periods always exists, but may be steeper than a fill can change.
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
            let continues = |one: LinearRamp, other: LinearRamp| {
                one.after(len) == other.at
                    && (rest.end == rest.start + 1 || one.slope == other.slope)
            };
            if len > 1 && continues(open.lo, rest.lo) && continues(open.hi, rest.hi) {
                open.end = rest.end;
                return;
            }
            // The first period may still belong to the open interval.
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
        before.into_iter().for_each(|open| self.emit(open, totals, out));
    }

    /// Emits the last interval.
    pub(super) fn finish(&mut self, totals: &mut SlackTotals, out: &mut Vec<SlackEvent>) {
        let open = self.open.take();
        open.into_iter().for_each(|open| self.emit(open, totals, out));
    }

    fn emit(&self, open: OpenFill, totals: &mut SlackTotals, out: &mut Vec<SlackEvent>) {
        let OpenFill { start, end, lo, hi } = open;
        let cells = |value: i64| u32::try_from(value).unwrap_or(0).min(self.cells);
        let slope = |ramp: LinearRamp| {
            if start + 1 == end { 0 } else { i32::try_from(ramp.slope).unwrap_or(0) }
        };
        totals.measure(end - start, [lo, hi].map(|ramp| (ramp.at, ramp.after(end - start - 1))));
        out.push(SlackEvent::Fill(FillBounds {
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
    /// The rest from `periods` on.
    fn from(self, periods: u64) -> Self {
        let Self { start, end, lo, hi } = self;
        Self { start: start + periods, end, lo: lo.from(periods), hi: hi.from(periods) }
    }
}
