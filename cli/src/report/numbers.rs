//! Latencies as a histogram, and the bounds of slack buffers over time.

use std::collections::BTreeMap;
use std::path::Path;

use analyzer::distribution::LatencyDistribution;
use analyzer::event::Picoseconds;
use analyzer::finding::ShellCommand;
use analyzer::journey::Journey;
use analyzer::link::slack::{FillBounds, SlackTracker};
use codec::capture::ChannelId;

use super::decimate::{StretchList, StretchValue};
use super::lanes::PictureTime;
use super::text::{BoundedList, DataCell, DataTable, duration, name};

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

/// Totals of journeys.
#[derive(Default)]
pub(super) struct FateTotals {
    pub(super) count: u64,
    fates: BTreeMap<&'static str, u64>,
    latencies: LatencyDistribution,
}

pub(super) struct LatencyPicture {
    pub(super) summary: String,
    pub(super) fates: Vec<(&'static str, u64)>,
    pub(super) bars: Vec<HistogramBar>,
    pub(super) labels: Vec<HistogramLabel>,
}

pub(super) struct HistogramBar {
    pub(super) x: u128,
    pub(super) y: u128,
    pub(super) width: u128,
    pub(super) height: u128,
    pub(super) title: String,
}

pub(super) struct HistogramLabel {
    pub(super) x: u128,
    pub(super) text: String,
}

/// Least lower and greatest upper bound of a fill.
#[derive(Clone, Copy, Debug)]
pub(super) struct FillRange {
    pub(super) lo: u32,
    pub(super) hi: u32,
}

impl StretchValue for FillRange {
    fn merge(&mut self, later: &Self) {
        (self.lo, self.hi) = (self.lo.min(later.lo), self.hi.max(later.hi));
    }
}

/// Bounds of a slack buffer over time.
pub(super) struct BufferPicture {
    pub(super) name: String,
    pub(super) cells: u32,
    /// Heights of the thresholds, from above.
    pub(super) stop: u32,
    pub(super) go: u32,
    pub(super) d: String,
    pub(super) label: String,
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
    pub(super) fn picture(&self) -> Option<LatencyPicture> {
        let at = |percent| self.latencies.percentile(percent);
        let fates = self.fates.iter().map(|(fate, count)| (*fate, *count)).collect();
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
    ) -> (Vec<HistogramBar>, Vec<HistogramLabel>) {
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
        let bars = counts.iter().map(|(class, count)| {
            let tall = (u128::from(*count) * height).div_ceil(most);
            let from = duration(start + class * step);
            let to = duration(start + (class + 1) * step);
            let range = if *class == classes {
                format!("{from} or more")
            } else {
                format!("{from} to {to}")
            };
            HistogramBar {
                x: x(*class),
                y: height - tall,
                width: (x(class + 1) - x(*class)).saturating_sub(2).max(1),
                height: tall,
                title: format!("{range}: {count}"),
            }
        });
        let every = (classes / 6).max(1);
        let labels = (0..=classes)
            .filter(|class| class % every == 0)
            .map(|class| HistogramLabel { x: x(class), text: duration(start + class * step) });
        (bars.collect(), labels.collect())
    }
}

/// The next of 1, 2, 5, 10, 20 … nanoseconds.
fn round_step(least: Picoseconds) -> Picoseconds {
    let mut decade: Picoseconds = 1000;
    while decade.saturating_mul(10) < least {
        decade = decade.saturating_mul(10);
    }
    let steps = [1, 2, 5, 10].map(|factor| decade.saturating_mul(factor));
    steps.into_iter().find(|step| *step >= least).unwrap_or(Picoseconds::MAX)
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
        (from, to, FillRange { lo: one.0.min(other.0), hi: one.1.max(other.1) })
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
pub(super) fn buffers(
    known: &[KnownBuffer<'_>],
    fills: &BTreeMap<ChannelId, StretchList<FillRange>>,
    time: PictureTime,
    file: &Path,
) -> BoundedList<BufferPicture> {
    let command = ShellCommand::of("links", file).with("--fill");
    let shown = known.iter().copied().filter(|(_, it)| it.summary().stops > 0);
    let shown: Vec<KnownBuffer<'_>> = shown.collect();
    let most = RECTANGLES_MAX / shown.len().clamp(1, BUFFERS_MAX);
    BoundedList::of(&shown, BUFFERS_MAX, &command, |(id, slack)| {
        let (row, channel) = (slack.summary(), slack.channel());
        let mut list = fills.get(id).cloned().unwrap_or_default();
        list.reduce(most);
        let cells = row.cells.max(1);
        let d = list.iter().map(|it| {
            let (x, width) = time.place(channel, it.start, it.end);
            let FillRange { lo, hi } = it.value;
            let (hi, lo) = (hi.min(cells), lo.min(cells));
            format!("M{x} {}h{width}v{}h-{width}z", cells - hi, hi.saturating_sub(lo))
        });
        let below = |level: u32| cells.saturating_sub(level);
        let [least, most] = [row.high_water_lo, row.high_water_hi].map(|it| it.unwrap_or(0));
        BufferPicture {
            name: name(&channel.label()),
            cells,
            go: below(row.assumed.kg),
            stop: below(row.assumed.kg.saturating_add(row.assumed.h)),
            d: d.collect(),
            label: format!(
                "{}: rose to {least} to {most} of {cells} cells",
                name(&channel.label())
            ),
        }
    })
}

/// Totals of the buffers.
pub(super) fn buffer_table(known: &[KnownBuffer<'_>], file: &Path) -> DataTable {
    let command = ShellCommand::of("links", file).with("--slack --format csv");
    let range = |lo: Option<i64>, hi: Option<i64>| match (lo, hi) {
        (Some(lo), Some(hi)) if lo == hi => lo.to_string(),
        (Some(lo), Some(hi)) => format!("{lo} to {hi}"),
        (Some(_) | None, _) => "–".to_owned(),
    };
    let rows = BoundedList::of(known, ROWS_MAX, &command, |(_, slack)| {
        let row = slack.summary();
        let numeric = |text: String| DataCell { class: "n", ..DataCell::text(text) };
        vec![
            DataCell { class: "name", ..DataCell::text(name(&slack.channel().label())) },
            DataCell::number(row.cells.into()),
            DataCell::number(row.assumed.kg.into()),
            DataCell::number(row.assumed.kg.saturating_add(row.assumed.h).into()),
            numeric(range(row.low_water_lo, row.low_water_hi)),
            numeric(range(row.high_water_lo, row.high_water_hi)),
            DataCell::share(row.known, row.periods),
            DataCell::number(row.stops),
            DataCell::number(row.late).alarming(row.late),
            DataCell::number(row.overrun_risks).alarming(row.overrun_risks),
            DataCell::number(row.contradictions).alarming(row.contradictions),
        ]
    });
    let heads = &[
        "channel",
        "cells",
        "GO at",
        "STOP at",
        "fell to",
        "rose to",
        "known",
        "STOPs",
        "data too late",
        "overrun risks",
        "contradictions",
    ];
    DataTable { id: "buffer-table", heads, rows }
}
