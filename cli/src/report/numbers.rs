//! Latencies as a histogram, and the bounds of slack buffers over time.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use analyzer::distribution::LatencyDistribution;
use analyzer::event::Picoseconds;
use analyzer::finding::{CaptureArgument, ShellCommand};
use analyzer::journey::Journey;
use analyzer::link::slack::{FillBounds, SlackRow, SlackTracker};
use codec::capture::ChannelId;

use super::decimate::{StretchList, StretchValue};
use super::lanes::PictureTime;
use super::text::{BoundedList, duration};

/// Bars of a histogram, about. *Chosen*: wide enough to point at.
const BARS: u128 = 30;
/// Size of the histogram, in pixels.
const HISTOGRAM: (u128, u128) = (900, 150);
/// Buffers in pictures, and rectangles of all of them.
const BUFFERS_MAX: usize = 12;
const RECTANGLES_MAX: usize = 7200;
/// Rows of the table of buffers.
const ROWS_MAX: usize = 100;
/// Parts of an interval in which the bounds change.
const RAMP_PARTS: u64 = 8;

#[derive(Default)]
pub(super) struct FateTotals {
    pub(super) count: u64,
    fates: BTreeMap<&'static str, u64>,
    latencies: LatencyDistribution,
}

pub(super) struct LatencyPicture<'a> {
    pub(super) summary: String,
    pub(super) fates: &'a BTreeMap<&'static str, u64>,
    pub(super) bars: Vec<HistogramBar>,
    /// Coordinates and times below the bars.
    pub(super) labels: Vec<(u128, String)>,
}

pub(super) struct HistogramBar {
    pub(super) x: u128,
    pub(super) width: u128,
    pub(super) height: u128,
    pub(super) range: String,
    pub(super) count: u64,
}

/// Least lower and greatest upper bound of a fill.
pub(super) type FillRange = (u32, u32);

impl StretchValue for FillRange {
    fn merge(&mut self, later: &Self) {
        *self = (self.0.min(later.0), self.1.max(later.1));
    }
}

/// Bounds of a slack buffer over time.
pub(super) struct BufferPicture<'a> {
    pub(super) slack: &'a SlackTracker,
    pub(super) row: SlackRow<'a>,
    pub(super) d: String,
}

impl FateTotals {
    pub(super) fn add(&mut self, journey: &Journey) {
        self.count += 1;
        *self.fates.entry(journey.fate.name()).or_default() += 1;
        if let [first, .., last] = journey.hops.as_slice() {
            self.latencies.add(last.time.saturating_sub(first.time));
        }
    }

    /// Draws the latencies; none without journeys.
    pub(super) fn picture(&self) -> Option<LatencyPicture<'_>> {
        let at = |percent| self.latencies.percentile(percent);
        let fates = &self.fates;
        let (Some(least), Some(median), Some(most), Some(mean)) =
            (at(0), at(50), at(100), self.latencies.mean())
        else {
            let summary = "No packet was captured on two links or more.".to_owned();
            let (bars, labels) = (Vec::new(), Vec::new());
            return (self.count > 0).then_some(LatencyPicture { summary, fates, bars, labels });
        };
        let (high, highest) = (at(90).unwrap_or(most), at(99).unwrap_or(most));
        let times = [least, median, mean, high, highest, most].map(duration);
        let names = ["least", "median", "mean", "90 %", "99 %", "most"];
        let words = names.iter().zip(&times).map(|(name, time)| format!("{name} {time}"));
        let (bars, labels) = self.bars(least, highest);
        Some(LatencyPicture { summary: words.collect::<Vec<_>>().join(", "), fates, bars, labels })
    }

    /// Bars of equal classes up to a latency; longer ones are in the last.
    fn bars(
        &self,
        least: Picoseconds,
        highest: Picoseconds,
    ) -> (Vec<HistogramBar>, Vec<(u128, String)>) {
        let step = round_step((highest - least) / BARS + 1);
        let start = least / step * step;
        let classes = (highest - start) / step + 1;
        let mut counts: BTreeMap<u128, u64> = BTreeMap::new();
        for (latency, count) in self.latencies.counts() {
            let class = (latency.saturating_sub(start) / step).min(classes);
            *counts.entry(class).or_default() += count;
        }
        let (width, height) = HISTOGRAM;
        let most = u128::from(counts.values().copied().max().unwrap_or(1).max(1));
        let x = |class: u128| class * width / (classes + 1);
        let time = |class: u128| duration(start + class * step);
        let bars = counts.into_iter().map(|(class, count)| {
            let to =
                if class == classes { "or more".into() } else { format!("to {}", time(class + 1)) };
            HistogramBar {
                x: x(class),
                width: (x(class + 1) - x(class)).saturating_sub(2).max(1),
                height: (u128::from(count) * height).div_ceil(most),
                range: format!("{} {to}", time(class)),
                count,
            }
        });
        let every = (classes / 6).max(1);
        let labels = (0..=classes).filter(|class| class % every == 0);
        (bars.collect(), labels.map(|class| (x(class), time(class))).collect())
    }
}

/// The next of 1, 2, 5, 10, 20 … nanoseconds.
fn round_step(least: Picoseconds) -> Picoseconds {
    let decades = std::iter::successors(Some(1000), |decade: &Picoseconds| decade.checked_mul(10));
    let mut steps = decades.flat_map(|decade| [1, 2, 5].map(|digit| decade.saturating_mul(digit)));
    steps.find(|step| *step >= least).unwrap_or(Picoseconds::MAX)
}

/// Ranges of the bounds of an interval; where they change, of its parts.
pub(super) fn fill_parts(bounds: &FillBounds) -> impl Iterator<Item = (u64, u64, FillRange)> {
    let is_level = bounds.lo_slope == 0 && bounds.hi_slope == 0;
    let periods = bounds.periods();
    let parts = if is_level { 1 } else { periods.clamp(1, RAMP_PARTS) };
    let (start, bounds) = (bounds.start.0, *bounds);
    let edge = move |part: u64| {
        let offset = u128::from(periods) * u128::from(part) / u128::from(parts);
        start.saturating_add(u64::try_from(offset).unwrap_or(u64::MAX))
    };
    (0..parts).map(move |part| {
        let (from, to) = (edge(part), edge(part + 1));
        let at = |at: u64| bounds.at(codec::time::Tick(at)).unwrap_or((bounds.lo, bounds.hi));
        let (one, other) = (at(from), at(to.saturating_sub(1)));
        (from, to, (one.0.min(other.0), one.1.max(other.1)))
    })
}

/// A slack buffer, with the channel that fills it.
pub(super) type KnownBuffer<'a> = (ChannelId, &'a SlackTracker);

/// Buffers about which something is known; those with trouble first.
pub(super) fn known_buffers<'a>(
    slacks: impl Iterator<Item = KnownBuffer<'a>>,
) -> Vec<KnownBuffer<'a>> {
    let mut known: Vec<_> = slacks.filter(|(_, it)| it.summary().periods > 0).collect();
    known.sort_by_cached_key(|(_, it)| {
        let row = it.summary();
        std::cmp::Reverse((row.late + row.overrun_risks, row.contradictions, row.stops))
    });
    known
}

/// Draws the bounds of the first buffers.
pub(super) fn buffers<'a>(
    known: &[KnownBuffer<'a>],
    fills: &BTreeMap<ChannelId, StretchList<FillRange>>,
    time: PictureTime,
    capture: CaptureArgument<'_>,
) -> BoundedList<BufferPicture<'a>> {
    let command = ShellCommand::of("links", capture).with("--fill");
    let shown = known.iter().filter(|(_, it)| it.summary().stops > 0);
    let most = RECTANGLES_MAX / shown.clone().count().clamp(1, BUFFERS_MAX);
    BoundedList::of(shown, BUFFERS_MAX, &command).map(|(id, slack)| {
        let mut list = fills.get(id).cloned().unwrap_or_default();
        list.reduce(most);
        let row = slack.summary();
        let d = list.iter().map(|it| {
            let (x, width) = time.place(slack.channel(), it.start, it.end);
            let (lo, hi) = (it.value.0.min(row.cells), it.value.1.min(row.cells));
            format!("M{x} {}h{width}v{}h-{width}z", row.cells - hi, hi.saturating_sub(lo))
        });
        let d = d.collect();
        BufferPicture { slack, row, d }
    })
}

/// Totals of the buffers.
pub(super) fn buffer_table<'a>(
    known: &[KnownBuffer<'a>],
    capture: CaptureArgument<'_>,
) -> BoundedList<(&'a SlackTracker, SlackRow<'a>)> {
    let command = ShellCommand::of("links", capture).with("--slack --format csv");
    BoundedList::of(known, ROWS_MAX, &command).map(|(_, slack)| (*slack, slack.summary()))
}

/// The fill at which a buffer sends STOP.
pub(super) const fn stop_at(row: &SlackRow<'_>) -> u32 {
    row.assumed.kg.saturating_add(row.assumed.h)
}

/// Distance of a fill from the top of a picture.
pub(super) fn below(row: &SlackRow<'_>, fill: impl Borrow<u32>) -> u32 {
    row.cells.saturating_sub(*fill.borrow())
}

/// The range of an extreme of a fill.
pub(super) fn range(lo: impl Borrow<Option<i64>>, hi: impl Borrow<Option<i64>>) -> String {
    match (*lo.borrow(), *hi.borrow()) {
        (Some(lo), Some(hi)) if lo == hi => lo.to_string(),
        (Some(lo), Some(hi)) => format!("{lo} to {hi}"),
        (Some(_) | None, _) => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use codec::time::Tick;

    use super::*;

    /// A part of a ramp reaches over all that may be in its periods.
    #[test]
    fn steps_are_round_and_parts_of_a_ramp_hold_their_ends() {
        let steps = [0, 1000, 1001, 9999, 10_000, 10_001, 123_456_789].map(round_step);
        assert_eq!(steps, [1000, 1000, 2000, 10_000, 10_000, 20_000, 200_000_000]);
        let bounds = FillBounds {
            channel: ChannelId(0),
            start: Tick(10),
            end: Tick(10 + 2 * RAMP_PARTS),
            lo: 100,
            lo_slope: -1,
            hi: 100,
            hi_slope: 1,
        };
        let parts: Vec<_> = fill_parts(&bounds).take(2).collect();
        assert_eq!(parts, [(10, 12, (99, 101)), (12, 14, (97, 103))]);
        let level = FillBounds { lo_slope: 0, hi_slope: 0, ..bounds };
        let all = vec![(10, 10 + 2 * RAMP_PARTS, (100, 100))];
        assert_eq!(fill_parts(&level).collect::<Vec<_>>(), all);
    }
}
