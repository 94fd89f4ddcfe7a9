//! Results of a sweep: a table and a plot.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use simulator::experiment::plot::{AxisScale, PlotAxis, PlotCurve, PlotMark, PlotSpec};
use simulator::experiment::result_table::{MilliValue, ResultTable, TableCell, TableColumn};
use simulator::statistics::OfferedLoad;
use simulator::statistics::RunStatistics;

use crate::args::KeySetting;

const QUANTITIES: [TableColumn; 6] = [
    TableColumn::of("packets", "packets", "", 1),
    TableColumn::of("offered_mbit_s", "offered", "Mb/s", 2),
    TableColumn::of("accepted_mbit_s", "accepted", "Mb/s", 2),
    TableColumn::of("latency_mean_us", "latency", "µs", 2),
    TableColumn::of("latency_p50_us", "50 %", "µs", 2),
    TableColumn::of("latency_p99_us", "99 %", "µs", 2),
];
/// Index of the mean latency in [`QUANTITIES`].
const MEAN: usize = 3;

/// A network is saturated that accepts less than this share of what is offered, in per cent. *Chosen*
pub(super) const ACCEPTED: u64 = 95;

/// Two-sided 95 % quantiles of Student's t distribution, by degrees of freedom from 1.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Numbers of a run, exact in a file too. Latencies are in periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunNumbers {
    /// Periods that were measured.
    periods: u64,
    /// Measured packets that arrived.
    packets: u64,
    /// Bytes of payload; none where it depends on the network.
    offered: Option<u64>,
    /// Delivered load, counted as the offered one.
    accepted: u64,
    /// Sum of the packets' latencies.
    latency: u64,
    p50: Option<u64>,
    p99: Option<u64>,
    /// Measured packets that were lost.
    lost: u64,
    /// Measured packets that had not arrived at the limit.
    unfinished: u64,
    /// Packets that stood still to the end.
    standing: u64,
}

#[derive(Clone, Copy)]
pub(super) struct RunEnding {
    pub(super) offered: Option<OfferedLoad>,
    pub(super) unfinished: u64,
    pub(super) standing: u64,
}

/// All results: of each point, in order, those of each seed.
pub(super) struct SweepReport<'a> {
    pub(super) points: &'a [Vec<KeySetting>],
    pub(super) seeds: u64,
    pub(super) runs: &'a [RunNumbers],
}

/// Mean over the seeds, and half the width of its 95 % confidence interval.
pub(super) type MeanWithInterval = [Option<MilliValue>; 2];

impl RunNumbers {
    /// Numbers of a run of which this span was measured.
    pub(super) fn of(seen: &RunStatistics, span: Range<u64>, ending: RunEnding) -> Self {
        let latency = &seen.latencies.packet;
        let [p50, p99] = [500_000, 990_000].map(|share| latency.quantile(share));
        Self {
            periods: span.end.saturating_sub(span.start),
            packets: latency.count(),
            offered: ending.offered.map(|load| load.payload),
            accepted: seen.payload,
            latency: u64::try_from(latency.sum()).unwrap_or(u64::MAX),
            p50,
            p99,
            lost: seen.lost,
            unfinished: ending.unfinished,
            standing: ending.standing,
        }
    }

    /// The quantities of the table. There are no latencies while a measured packet has none.
    fn quantities(&self) -> [Option<f64>; 6] {
        let us = |periods: u64| periods as f64 / 80.0;
        // A byte takes a period of 12.5 ns at 640 Mb/s.
        let rate = |bytes: u64| bytes as f64 * 640.0 / self.periods.max(1) as f64;
        let count = self.packets as f64;
        let is_whole = self.packets > 0 && self.unfinished == 0;
        let mean = self.latency as f64 / count / 80.0;
        let latencies = [Some(mean), self.p50.map(us), self.p99.map(us)];
        let [mean, p50, p99] = latencies.map(|latency| latency.filter(|_| is_whole));
        [Some(count), self.offered.map(rate), Some(rate(self.accepted)), mean, p50, p99]
    }

    /// Mean latency in microseconds.
    pub(super) fn latency(&self) -> Option<f64> {
        self.quantities().get(MEAN).copied().flatten()
    }

    /// Delivered load in Mb/s.
    pub(super) fn accepted(&self) -> Option<f64> {
        self.quantities().get(MEAN - 1).copied().flatten()
    }

    fn is_deadlocked(&self) -> bool {
        self.standing > 0
    }

    fn is_saturated(&self) -> bool {
        Self::are_saturated(std::slice::from_ref(self))
    }

    /// Tests the sum of several runs.
    pub(super) fn are_saturated(runs: &[Self]) -> bool {
        let sum = |of: fn(&Self) -> u64| runs.iter().map(|run| u128::from(of(run))).sum::<u128>();
        let offered = sum(|run| run.offered.unwrap_or(0));
        sum(|run| run.accepted) * 100 < offered * u128::from(ACCEPTED)
    }
}

pub(super) fn key_column(key: String) -> TableColumn {
    let (name, head) = (Cow::Owned(key.clone()), Cow::Owned(key));
    TableColumn { name, head, ..TableColumn::plain("", "") }
}

/// Mean of independent runs and its interval, that of Student's t distribution; of fewer degrees of
/// freedom than there are above 30, so rather too wide.
pub(super) fn mean_with_interval(values: &[f64]) -> MeanWithInterval {
    let Some(freedom) = values.len().checked_sub(1) else { return [None; 2] };
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let quantile = STUDENT.get(freedom.min(STUDENT.len()).wrapping_sub(1));
    let interval = quantile.and_then(|quantile| {
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        milli(quantile * (squares / freedom as f64 / count).sqrt())
    });
    [milli(mean), interval]
}

#[expect(clippy::cast_possible_truncation, reason = "bounded")]
pub(super) fn milli(number: f64) -> Option<MilliValue> {
    let thousandths = (number * 1e3).round();
    (thousandths.abs() < 9e15).then_some(MilliValue(thousandths as i64))
}

/// A point with its runs, and the quantities of them.
type SweepRow<'a> = (&'a [KeySetting], &'a [RunNumbers], [MeanWithInterval; 6]);

impl<'a> SweepReport<'a> {
    fn points(&self) -> impl Iterator<Item = (&'a [KeySetting], &'a [RunNumbers])> {
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX).max(1);
        self.points.iter().map(Vec::as_slice).zip(self.runs.chunks(seeds))
    }

    fn key_columns(&self) -> impl Iterator<Item = TableColumn> {
        let keys = self.points.first().into_iter().flatten();
        keys.map(|KeySetting { key, .. }| key_column(key.clone()))
    }

    /// Each point with its quantities; none where a run has none.
    fn rows(&self) -> impl Iterator<Item = SweepRow<'a>> {
        self.points().map(|(point, runs)| {
            let quantity = |at: usize| {
                let values = runs.iter().map(|run| run.quantities().get(at).copied().flatten());
                mean_with_interval(&values.collect::<Option<Vec<f64>>>().unwrap_or_default())
            };
            (point, runs, [0, 1, 2, 3, 4, 5].map(quantity))
        })
    }

    /// A row for each point; an interval behind each mean.
    pub(super) fn table(&self) -> ResultTable {
        let quantities = QUANTITIES.into_iter().flat_map(|column| {
            let name = Cow::Owned(format!("{}_ci95", column.name));
            let interval = TableColumn { name, head: Cow::Borrowed("±"), ..column.clone() };
            [column, interval]
        });
        let columns = self.key_columns().chain([TableColumn::plain("seeds", "seeds")]);
        let columns = columns.chain(quantities);
        let columns = columns.chain(["deadlock", "saturated"].map(|it| TableColumn::plain(it, it)));
        let rows = self.rows().map(|(point, runs, quantities)| {
            let values = point.iter().map(|setting| TableCell::from(&*setting.value));
            let numbers = quantities.into_iter().flatten().map(TableCell::from);
            let those = |is: fn(&RunNumbers) -> bool| {
                TableCell::from(runs.iter().filter(|run| is(run)).count() as u64)
            };
            let ends = [those(RunNumbers::is_deadlocked), those(RunNumbers::is_saturated)];
            values.chain([TableCell::from(self.seeds)]).chain(numbers).chain(ends).collect()
        });
        let rows = rows.collect();
        ResultTable { name: "sweep", title: String::new(), columns: columns.collect(), rows }
    }

    pub(super) fn seed_table(&self, first_seed: u64) -> ResultTable {
        let counts = ["lost", "unfinished", "standing", "deadlock", "saturated"];
        let columns = self.key_columns().chain([TableColumn::plain("seed", "seed")]);
        let columns = columns.chain(QUANTITIES).chain(counts.map(|it| TableColumn::plain(it, it)));
        let rows = self.points().flat_map(|(point, runs)| {
            runs.iter().zip(0..).map(move |(run, at)| {
                let values = point.iter().map(|setting| TableCell::from(&*setting.value));
                // A word, as a seed may have more digits than a number.
                let seed = TableCell::from(&*first_seed.wrapping_add(at).to_string());
                let numbers = run.quantities().map(|it| TableCell::from(it.and_then(milli)));
                let ends = [run.is_deadlocked(), run.is_saturated()].map(u64::from);
                let counts = [run.lost, run.unfinished, run.standing].into_iter().chain(ends);
                let numbers = numbers.into_iter().chain(counts.map(TableCell::from));
                values.chain([seed]).chain(numbers).collect()
            })
        });
        let rows = rows.collect();
        ResultTable { name: "sweep-seeds", title: String::new(), columns: columns.collect(), rows }
    }

    /// Mean packet latency over the first key, a curve for each combination of the others.
    pub(super) fn plot(&self) -> PlotSpec {
        let mut curves: Vec<PlotCurve> = Vec::new();
        let mut saturated = Vec::new();
        for (at, (point, runs, quantities)) in self.rows().enumerate() {
            let Some((first, others)) = point.split_first() else { continue };
            let name = others.iter().map(|one| format!("{} {}", one.key, one.value));
            let name = Some(name.collect::<Vec<_>>().join(", ")).filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| "mean".to_owned());
            // Words are numbered from 1; the first key varies slowest.
            let same = self.points.iter().filter(|other| other.first() == Some(first)).count();
            let number = MilliValue::from((at / same.max(1)) as u64 + 1);
            let x = first.value.parse().ok().and_then(milli).unwrap_or(number);
            let [latency, half] = quantities.get(MEAN).copied().unwrap_or_default();
            if runs.iter().any(|run| run.is_saturated() || run.is_deadlocked()) {
                saturated.push((x, latency));
                continue;
            }
            let Some(y) = latency else { continue };
            let at = curves.iter().position(|curve| curve.name == name).unwrap_or_else(|| {
                curves.push(PlotCurve { name, points: Vec::new(), errors: Vec::new() });
                curves.len() - 1
            });
            if let Some(curve) = curves.get_mut(at) {
                curve.points.push((x, y));
                curve.errors.push(half.unwrap_or_default());
            }
        }
        // Without a latency a mark is at the top.
        let valid = curves.iter().flat_map(|curve| curve.points.iter().map(|(_, y)| *y));
        let known = saturated.iter().filter_map(|(_, y)| *y);
        let top = valid.chain(known).max().unwrap_or_default();
        let mark = |(x, y): (MilliValue, Option<MilliValue>)| PlotMark {
            name: "saturated or deadlocked".to_owned(),
            x: Some(x),
            y: y.unwrap_or(top),
        };
        let key = self.points.first().and_then(|point| point.first());
        let key = key.map_or_else(String::new, |setting| setting.key.clone());
        PlotSpec {
            name: "sweep",
            title: format!("packet latency over {key}"),
            x: PlotAxis { label: key.into(), scale: AxisScale::Linear },
            y: PlotAxis::linear("packet latency (µs)"),
            curves,
            marks: saturated.into_iter().map(mark).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values, and mean and interval worked out by hand.
    #[test]
    fn intervals_are_those_of_student() {
        for (values, expected) in [
            (&[][..], [None, None]),
            (&[3.0], [Some(3_000), None]),
            // s = √2, t(1) = 12.706, over √2.
            (&[1.0, 3.0], [Some(2_000), Some(12_706)]),
            // s² = 2.5, t(4) = 2.776: 2.776 · √0.5.
            (&[1.0, 2.0, 3.0, 4.0, 5.0], [Some(3_000), Some(1_963)]),
            (&[7.0; 40], [Some(7_000), Some(0)]),
            // Fewer than fifteen digits and a half are exact.
            (&[8.999e12], [Some(8_999_000_000_000_000), None]),
            (&[9e12], [None, None]),
        ] {
            assert_eq!(mean_with_interval(values), expected.map(|milli| milli.map(MilliValue)));
        }
    }

    #[test]
    fn less_than_95_percent_of_what_is_offered_is_saturated() {
        for (accepted, is_saturated) in [(94, true), (95, false)] {
            assert_eq!(numbers(accepted, 0).is_saturated(), is_saturated, "{accepted} %");
        }
    }

    /// Some of 100 bytes arrive, in a packet that takes 5 µs.
    fn numbers(accepted: u64, unfinished: u64) -> RunNumbers {
        let numbers = format!(
            r#"{{"periods":1,"packets":1,"offered":100,"accepted":{accepted},"latency":400,
                "lost":0,"unfinished":{unfinished},"standing":0}}"#
        );
        serde_json::from_str(&numbers).unwrap()
    }

    #[test]
    fn a_saturated_point_without_a_latency_is_at_the_height_of_the_highest() {
        let points = ["1", "2"]
            .map(|value| vec![KeySetting { key: "load".to_owned(), value: value.to_owned() }]);
        let runs = [numbers(94, 0), numbers(94, 1)];
        let marks = SweepReport { points: &points, seeds: 1, runs: &runs }.plot().marks;
        assert_eq!(marks.iter().map(|it| it.y.0).collect::<Vec<_>>(), [5_000; 2]);
    }
}
