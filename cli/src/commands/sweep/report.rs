//! Results of a sweep: a table, CSV, JSON and a plot.

use analyzer::render::{StyledLine, TextStyle};
use serde::Serialize;
use serde_json::{Map, Value, json};
use simulator::experiment::plot::{AxisScale, PlotAxis, PlotCurve, PlotSpec};
use simulator::experiment::result_table::MilliValue;
use simulator::statistics::{RunStatistics, picoseconds};

use super::vary::SweepPoint;
use crate::output::StandardOutput;
use crate::plot;

/// Version of the JSON object.
const VERSION: u32 = 1;

/// Quantities of a run, with their names in CSV and JSON.
const QUANTITIES: [&str; 5] =
    ["packets", "throughput_mbit_s", "latency_mean_us", "latency_p50_us", "latency_p99_us"];
/// Headings of the text.
const HEADS: [&str; 5] = ["packets", "Mb/s", "latency µs", "50 %", "99 %"];
/// Index of the mean latency in [`QUANTITIES`].
const MEAN: usize = 2;

/// Two-sided 95 % quantiles of Student's t distribution, by degrees of freedom from 1.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Quantities of a run; none without a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunNumbers([Option<f64>; 5]);

/// Mean over the seeds, and half the width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct MeanWithInterval {
    mean: f64,
    ci95: Option<f64>,
}

/// All results: of each point, in order, those of each seed.
pub(super) struct SweepReport<'a> {
    pub(super) points: &'a [SweepPoint],
    pub(super) seeds: &'a [u64],
    /// Periods of the full rate.
    pub(super) warm_up: u64,
    pub(super) runs: &'a [RunNumbers],
}

impl RunNumbers {
    /// Numbers of a run that was observed for so many periods.
    pub(super) fn of(seen: &RunStatistics, periods: u64) -> Self {
        let latency = &seen.latencies.packet;
        let us = |periods: u64| picoseconds(periods) as f64 / 1e6;
        let count = latency.count();
        let mean = (count > 0).then(|| latency.sum() as f64 / count as f64 * 0.0125);
        // A byte takes a period of 12.5 ns at 640 Mb/s.
        let rate = seen.payload as f64 * 640.0 / periods.max(1) as f64;
        let [half, nearly] = [500_000, 990_000].map(|share| latency.quantile(share).map(us));
        Self([Some(count as f64), Some(rate), mean, half, nearly])
    }
}

impl MeanWithInterval {
    /// Mean and interval of the values of independent runs. The interval is that of Student's t distribution; of fewer degrees
    /// of freedom than there are above 30, so rather too wide.
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let (last, freedom) = (STUDENT.len(), values.len().checked_sub(1)?);
        let quantile = STUDENT.get(freedom.min(last).wrapping_sub(1));
        let ci95 = quantile.map(|quantile| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            quantile * (squares / freedom as f64 / count).sqrt()
        });
        Some(Self { mean, ci95 })
    }
}

impl SweepReport<'_> {
    /// Each point with its quantities; none where a run had no packet.
    fn rows(&self) -> impl Iterator<Item = (&SweepPoint, [Option<MeanWithInterval>; 5])> {
        let runs = self.runs.chunks(self.seeds.len().max(1));
        self.points.iter().zip(runs).map(|(point, runs)| {
            let quantity = |at: usize| {
                let values = runs.iter().map(|run| run.0.get(at).copied().flatten());
                MeanWithInterval::of(&values.collect::<Option<Vec<f64>>>()?)
            };
            (point, [0, 1, 2, 3, 4].map(quantity))
        })
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        let first = self.points.first().map(SweepPoint::settings).unwrap_or_default();
        first.iter().map(|setting| &*setting.key)
    }

    /// A row for each point; an interval behind each mean.
    pub(super) fn csv(&self) -> String {
        let quantities =
            QUANTITIES.iter().flat_map(|name| [(*name).into(), format!("{name}_ci95")]);
        let keys = self.keys().map(quoted);
        let head: Vec<String> = keys.chain(["seeds".to_owned()]).chain(quantities).collect();
        let mut text = head.join(",") + "\n";
        for (point, quantities) in self.rows() {
            let number =
                |number: Option<f64>| number.map_or_else(String::new, |it| format!("{it:.4}"));
            let cells = quantities.iter().flat_map(|quantity| {
                [quantity.map(|it| it.mean), quantity.and_then(|it| it.ci95)].map(number)
            });
            let values = point.settings().iter().map(|setting| quoted(&setting.value));
            let row: Vec<String> =
                values.chain([self.seeds.len().to_string()]).chain(cells).collect();
            text += &(row.join(",") + "\n");
        }
        text
    }

    /// All results as one line of JSON.
    pub(super) fn json(&self) -> String {
        let rounded = |number: f64| (number * 1e4).round() / 1e4;
        let point = |(point, quantities): (&SweepPoint, [Option<MeanWithInterval>; 5])| {
            let settings = point.settings().iter();
            let set: Map<String, Value> =
                settings.map(|setting| (setting.key.clone(), json!(setting.value))).collect();
            let mut row = Map::from_iter([("set".to_owned(), Value::Object(set))]);
            row.extend(QUANTITIES.iter().zip(quantities).map(|(name, quantity)| {
                let quantity = quantity.map(|MeanWithInterval { mean, ci95 }| MeanWithInterval {
                    mean: rounded(mean),
                    ci95: ci95.map(rounded),
                });
                ((*name).to_owned(), json!(quantity))
            }));
            Value::Object(row)
        };
        let points: Vec<Value> = self.rows().map(point).collect();
        let warm_up = picoseconds(self.warm_up);
        json!({ "sweep": VERSION, "seeds": self.seeds, "warmup_ps": warm_up, "points": points })
            .to_string()
            + "\n"
    }

    /// Mean packet latency over the first key, a curve for each combination of the others.
    pub(super) fn plot(&self) -> String {
        let mut curves: Vec<PlotCurve> = Vec::new();
        let mut words: Vec<&str> = Vec::new();
        for (point, quantities) in self.rows() {
            let Some((first, others)) = point.settings().split_first() else { continue };
            let name: Vec<String> =
                others.iter().map(|one| format!("{} {}", one.key, one.value)).collect();
            let name = if name.is_empty() { "mean".to_owned() } else { name.join(", ") };
            let x = first.value.parse().ok().and_then(milli);
            // Words are numbered from 1.
            if !words.contains(&&*first.value) {
                words.push(&first.value);
            }
            let number = words.iter().position(|word| *word == first.value).map_or(0, |at| at + 1);
            let x = x.or_else(|| Some(MilliValue::whole(i64::try_from(number).ok()?)));
            let y = quantities.get(MEAN).copied().flatten().and_then(|it| milli(it.mean));
            let Some(place) = x.zip(y) else { continue };
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(place),
                None => curves.push(PlotCurve { name, points: vec![place] }),
            }
        }
        let key = self.keys().next().unwrap_or_default();
        plot::draw(&PlotSpec {
            name: "sweep",
            title: format!("packet latency over {key}"),
            x: PlotAxis { label: key.to_owned().into(), scale: AxisScale::Linear },
            y: PlotAxis::linear("packet latency (µs)"),
            curves,
            marks: Vec::new(),
        })
    }

    /// Prints a line for each point.
    pub(super) fn print(&self, output: &mut StandardOutput) {
        let heads = self.keys().map(str::to_owned).chain(HEADS.map(str::to_owned));
        let rows = self.rows().map(|(point, quantities)| {
            let values = point.settings().iter().map(|setting| setting.value.clone());
            values.chain(quantities.map(cell)).collect::<Vec<String>>()
        });
        let rows: Vec<Vec<String>> = [heads.collect()].into_iter().chain(rows).collect();
        let columns = rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (at, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            let style = if at == 0 { TextStyle::Head } else { TextStyle::Plain };
            output.line(&StyledLine::of(style, cells.collect::<Vec<_>>().join("  ")));
        }
    }
}

/// A mean with its interval.
fn cell(quantity: Option<MeanWithInterval>) -> String {
    match quantity {
        Some(MeanWithInterval { mean, ci95: Some(half) }) => format!("{mean:.2} ± {half:.2}"),
        Some(MeanWithInterval { mean, ci95: None }) => format!("{mean:.2}"),
        None => "-".to_owned(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "bounded")]
fn milli(number: f64) -> Option<MilliValue> {
    let thousandths = (number * 1e3).round();
    (thousandths.abs() < 9e15).then_some(MilliValue(thousandths as i64))
}

/// A text as a CSV field (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values, and mean and interval worked out by hand.
    #[test]
    fn intervals_are_those_of_student() {
        let of = |values: &[f64]| MeanWithInterval::of(values).map(|it| cell(Some(it)));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]).as_deref(), Some("3.00"));
        // s = √2, t(1) = 12.706, over √2.
        assert_eq!(of(&[1.0, 3.0]).as_deref(), Some("2.00 ± 12.71"));
        // s² = 2.5, t(4) = 2.776: 2.776 · √0.5.
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0]).as_deref(), Some("3.00 ± 1.96"));
        assert_eq!(of(&[7.0; 40]).as_deref(), Some("7.00 ± 0.00"));
    }
}
