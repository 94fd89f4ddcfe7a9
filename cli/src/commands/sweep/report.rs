//! Results of a sweep: a table and a plot.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use simulator::experiment::plot::{AxisScale, PlotAxis, PlotCurve, PlotSpec};
use simulator::experiment::result_table::{MilliValue, ResultTable, TableCell, TableColumn};
use simulator::statistics::RunStatistics;

use crate::args::KeySetting;

/// Quantities of a run.
const QUANTITIES: [TableColumn; 5] = [
    TableColumn::of("packets", "packets", "", 1),
    TableColumn::of("throughput_mbit_s", "payload", "Mb/s", 2),
    TableColumn::of("latency_mean_us", "latency", "µs", 2),
    TableColumn::of("latency_p50_us", "50 %", "µs", 2),
    TableColumn::of("latency_p99_us", "99 %", "µs", 2),
];
/// Index of the mean latency in [`QUANTITIES`].
const MEAN: usize = 2;

/// Two-sided 95 % quantiles of Student's t distribution, by degrees of freedom from 1.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Numbers of a run, exact in a file too. Latencies are in periods; none without a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunNumbers {
    /// Periods that were measured.
    periods: u64,
    packets: u64,
    /// Bytes of payload.
    accepted: u64,
    /// Sum of the packets' latencies.
    latency: u64,
    p50: Option<u64>,
    p99: Option<u64>,
}

/// All results: of each point, in order, those of each seed.
pub(super) struct SweepReport<'a> {
    pub(super) points: &'a [Vec<KeySetting>],
    pub(super) seeds: u64,
    pub(super) runs: &'a [RunNumbers],
}

/// Mean over the seeds, and half the width of its 95 % confidence interval.
type MeanWithInterval = [Option<MilliValue>; 2];

impl RunNumbers {
    /// Numbers of a run that was observed for so many periods.
    pub(super) fn of(seen: &RunStatistics, periods: u64) -> Self {
        let latency = &seen.latencies.packet;
        let [p50, p99] = [500_000, 990_000].map(|share| latency.quantile(share));
        let sum = u64::try_from(latency.sum()).unwrap_or(u64::MAX);
        Self { periods, packets: latency.count(), accepted: seen.payload, latency: sum, p50, p99 }
    }

    /// The quantities of the table.
    fn quantities(&self) -> [Option<f64>; 5] {
        let us = |periods: u64| periods as f64 / 80.0;
        let count = self.packets as f64;
        let mean = (self.packets > 0).then(|| self.latency as f64 / count / 80.0);
        // A byte takes a period of 12.5 ns at 640 Mb/s.
        let rate = self.accepted as f64 * 640.0 / self.periods.max(1) as f64;
        [Some(count), Some(rate), mean, self.p50.map(us), self.p99.map(us)]
    }
}

/// Mean of independent runs and its interval, that of Student's t distribution; of fewer degrees of
/// freedom than there are above 30, so rather too wide.
fn mean_with_interval(values: &[f64]) -> MeanWithInterval {
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
fn milli(number: f64) -> Option<MilliValue> {
    let thousandths = (number * 1e3).round();
    (thousandths.abs() < 9e15).then_some(MilliValue(thousandths as i64))
}

impl<'a> SweepReport<'a> {
    /// Each point with its quantities; none where a run had no packet.
    fn rows(&self) -> impl Iterator<Item = (&'a [KeySetting], [MeanWithInterval; 5])> {
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX).max(1);
        self.points.iter().zip(self.runs.chunks(seeds)).map(|(point, runs)| {
            let quantity = |at: usize| {
                let values = runs.iter().map(|run| run.quantities().get(at).copied().flatten());
                mean_with_interval(&values.collect::<Option<Vec<f64>>>().unwrap_or_default())
            };
            (point.as_slice(), [0, 1, 2, 3, 4].map(quantity))
        })
    }

    /// A row for each point; an interval behind each mean.
    pub(super) fn table(&self) -> ResultTable {
        let keys = self.points.first().into_iter().flatten();
        let keys = keys.map(|KeySetting { key, .. }| TableColumn {
            name: Cow::Owned(key.clone()),
            head: Cow::Owned(key.clone()),
            ..TableColumn::word("", "")
        });
        let quantities = QUANTITIES.into_iter().flat_map(|column| {
            let name = Cow::Owned(format!("{}_ci95", column.name));
            let interval = TableColumn { name, head: Cow::Borrowed("±"), ..column.clone() };
            [column, interval]
        });
        let columns = keys.chain([TableColumn::count("seeds", "seeds")]).chain(quantities);
        let row = |(point, quantities): (&[KeySetting], [MeanWithInterval; 5])| {
            let values = point.iter().map(|setting| TableCell::word(&setting.value));
            let numbers = quantities.into_iter().flatten().map(TableCell::maybe);
            values.chain([TableCell::count(self.seeds)]).chain(numbers).collect()
        };
        ResultTable {
            name: "sweep",
            title: String::new(),
            columns: columns.collect(),
            rows: self.rows().map(row).collect(),
        }
    }

    /// Mean packet latency over the first key, a curve for each combination of the others.
    pub(super) fn plot(&self) -> PlotSpec {
        let mut curves: Vec<PlotCurve> = Vec::new();
        for (at, (point, quantities)) in self.rows().enumerate() {
            let Some((first, others)) = point.split_first() else { continue };
            let name = others.iter().map(|one| format!("{} {}", one.key, one.value));
            let name = Some(name.collect::<Vec<_>>().join(", ")).filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| "mean".to_owned());
            // Words are numbered from 1; the first key varies slowest.
            let same = self.points.iter().filter(|other| other.first() == Some(first)).count();
            let number = MilliValue::from((at / same.max(1)) as u64 + 1);
            let x = first.value.parse().ok().and_then(milli).unwrap_or(number);
            let Some([Some(y), _]) = quantities.get(MEAN) else { continue };
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push((x, *y)),
                None => curves.push(PlotCurve { name, points: vec![(x, *y)] }),
            }
        }
        let key = self.points.first().and_then(|point| point.first());
        let key = key.map_or_else(String::new, |setting| setting.key.clone());
        PlotSpec {
            name: "sweep",
            title: format!("packet latency over {key}"),
            x: PlotAxis { label: key.into(), scale: AxisScale::Linear },
            y: PlotAxis::linear("packet latency (µs)"),
            curves,
            marks: Vec::new(),
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
        ] {
            assert_eq!(mean_with_interval(values), expected.map(|milli| milli.map(MilliValue)));
        }
    }
}
