//! Bandwidth between two hosts against the size of messages.

use super::calibration;
use super::logp::{ABSTRACT, ELSEWHERE};
use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotCurve, PlotMark, PlotSpec};
use super::result_table::{
    FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "bandwidth",
    title: "bandwidth from endpoint to endpoint against the size of messages",
    text: "\
Two hosts on one switch. One sends medium messages as fast as its credits allow, the other answers
each with a short one. AM-II moves a message whole into the NIC's memory before it goes on the wire
(store-and-forward); GAM pipelines. AM-II with pipelined transfers is what the paper has to come. AM-II's transfers over the host's bus are
streaming ones, which end with a flush of the bridge's buffers, or consistent ones, which do not.",
    points,
    conclude,
};

const BLOCK: u64 = 8192;

struct BandwidthSystem {
    name: &'static str,
    costs: &'static str,
    layers: &'static str,
    /// Published figure and its source.
    published: Option<(i64, &'static str)>,
}

#[rustfmt::skip]
const SYSTEMS: [BandwidthSystem; 4] = [
    BandwidthSystem { name: "AM-II, store-and-forward", costs: "preset = \"am-ii\"", layers: "protection", published: Some((31, ABSTRACT)) },
    BandwidthSystem { name: "AM-II, consistent DMA", costs: "preset = \"am-ii\"\nbus = \"consistent\"", layers: "protection", published: None },
    BandwidthSystem { name: "AM-II, pipelined", costs: "preset = \"am-ii\"\ntransfers = \"pipelined\"\nsend_buffers = 2", layers: "protection", published: None },
    BandwidthSystem { name: "GAM, pipelined", costs: "preset = \"gam\"", layers: "baseline", published: Some((38, ELSEWHERE)) },
];

fn sizes(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192], &[128, 1024, 8192])
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let times = [5_000, effort.choose(105_000, 25_000)];
    series::points(&SYSTEMS, sizes(effort), |BandwidthSystem { name, costs, layers, .. }, size| {
        let scenario = format!(
            "[topology]\nkind = \"switch\"\nports = 8\nhosts = 2\n\
             [transport]\nlayers = \"{layers}\"\n[costs]\n{costs}\n\
             [[endpoint]]\nname = \"client\"\nhost = \"h0\"\n\
             [[endpoint]]\nname = \"server\"\nhost = \"h1\"\n\
             [[messages]]\nfrom = \"client\"\nto = \"server\"\nkind = \"medium\"\n\
             bytes = {size}\nsaturate = true\n"
        );
        ExperimentPoint::messages(format!("{name}, {size} bytes"), scenario, times)
    })
}

const COLUMNS: [TableColumn; 5] = [
    TableColumn::word("system", "system"),
    TableColumn::of("message_bytes", "message", "bytes", 0),
    TableColumn::of("bandwidth_mb_per_s", "bandwidth", "MB/s", 2),
    TableColumn::of("message_us", "per message", "µs", 2),
    TableColumn::of("round_trip_us", "round trip", "µs", 1),
];

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let name = |system: &BandwidthSystem| system.name.to_owned();
    let (rows, curves) =
        series::curves(&SYSTEMS, sizes(effort), readings, name, |system, size, reading| {
            let (flow, rate) = (reading.flow(), reading.bandwidth(*size));
            let each = MilliValue::mean_microseconds(reading.periods, flow.completed);
            let each = each.unwrap_or_default();
            let row = cells![system.name, *size, rate, each, flow.round_trip()];
            (row, Some(((*size).into(), rate)))
        });
    let mut figures: Vec<_> =
        SYSTEMS.iter().zip(&curves).flat_map(|(system, curve)| figures(system, curve)).collect();
    if let [streaming, consistent, ..] = curves.as_slice() {
        figures.extend(crossing(streaming, consistent).map(|bytes| {
            let what = "streaming DMA is better than consistent from";
            PublishedFigure {
                origin: FigureOrigin::Set,
                ..PublishedFigure::measured(what, "bytes", "the curves cross", Some(bytes))
            }
        }));
    }
    let axes = [PlotAxis::doubling("message (bytes)"), PlotAxis::linear("bandwidth (MB/s)")];
    let mark = |(published, _)| PlotMark {
        name: "published".to_owned(),
        x: Some(BLOCK.into()),
        y: MilliValue::whole(published),
    };
    let plot = PlotSpec {
        marks: SYSTEMS.iter().filter_map(|system| system.published.map(mark)).collect(),
        ..PlotSpec::new("bandwidth", "Bandwidth from endpoint to endpoint", axes, curves)
    };
    ExperimentResult {
        figures,
        settings: calibration::all(),
        tables: vec![ResultTable::new("bandwidth", "Bandwidth", &COLUMNS, rows)],
        plots: vec![plot],
        notes: NOTES,
    }
}

fn figures(system: &BandwidthSystem, curve: &PlotCurve) -> Vec<PublishedFigure> {
    let Some((_, most)) = curve.points.last() else { return Vec::new() };
    let mut figures = vec![PublishedFigure {
        what: format!("{}, 8 KB", system.name),
        unit: "MB/s",
        published: system.published.map(|(published, _)| MilliValue::whole(published)),
        source: system.published.map_or("no digits", |(_, source)| source),
        ours: Some(*most),
        origin: if system.published.is_some() { FigureOrigin::Set } else { FigureOrigin::Measured },
    }];
    figures.extend(half(curve).map(|bytes| {
        let what = format!("{}, half of that", system.name);
        PublishedFigure::measured(what, "bytes", "", Some(bytes))
    }));
    figures
}

/// Size at which a curve overtakes another, interpolated.
fn crossing(one: &PlotCurve, other: &PlotCurve) -> Option<MilliValue> {
    let points = one.points.iter().zip(&other.points);
    zero(&points.map(|((x, one), (_, other))| (x.0, one.0 - other.0)).collect::<Vec<_>>())
}

/// Size at which half of the bandwidth at 8 KB is reached, interpolated.
fn half(curve: &PlotCurve) -> Option<MilliValue> {
    let goal = curve.points.last()?.1.0 / 2;
    zero(&curve.points.iter().map(|(x, y)| (x.0, y.0 - goal)).collect::<Vec<_>>())
}

/// First rise of a line from below zero, in whole bytes.
fn zero(points: &[(i64, i64)]) -> Option<MilliValue> {
    let pair = points.windows(2).find_map(|pair| match pair {
        [before, after] if before.1 < 0 && after.1 >= 0 => Some((*before, *after)),
        _ => None,
    });
    let ((x, y), (x_after, y_after)) = pair?;
    let part = i128::from(x_after - x) * i128::from(-y);
    let bytes = i128::from(x) + part / i128::from((y_after - y).max(1));
    i64::try_from(bytes / 1000).ok().map(MilliValue::whole)
}

const NOTES: &[&str] = &[
    "A megabyte is 10⁶ bytes. Bandwidth is that of requests whose replies were read.",
    "The rest of the way from 31 MB/s to the 55 MB/s of the bus is the NIC's: with one buffer on \
         the way out, transfer, firmware and wire come one after the other.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messaging::BusMode;

    #[test]
    fn half_the_bandwidth_lies_between_two_sizes() {
        let points = [(128, 2), (256, 10), (512, 20)];
        let curve = PlotCurve {
            name: String::new(),
            points: points.map(|(x, y)| (MilliValue::whole(x), MilliValue::whole(y))).to_vec(),
            errors: Vec::new(),
        };
        assert_eq!(half(&curve), Some(MilliValue::whole(256)));
        let curve = PlotCurve { points: curve.points[..2].to_vec(), ..curve };
        // 5 of 2 to 10: three eighths of the way.
        assert_eq!(half(&curve), Some(MilliValue::whole(176)));
    }

    #[test]
    fn consistent_transfers_are_better_for_short_messages_and_streaming_ones_for_long() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let cross = findings.figures.iter().find(|figure| figure.what.contains("better"));
        // 11.7 bursts of 64 bytes, between two of the few sizes that are measured here.
        let bytes = cross.unwrap().ours.unwrap();
        assert!((MilliValue::whole(128)..MilliValue::whole(1024)).contains(&bytes), "{bytes}");
        let time = |mode: BusMode, bursts: u64| mode.costs()[0] + mode.costs()[1] * bursts;
        assert!(time(BusMode::Consistent, 11) < time(BusMode::Streaming, 11));
        assert!(time(BusMode::Consistent, 12) > time(BusMode::Streaming, 12));
    }

    #[test]
    fn the_bandwidths_at_8_kilobytes_are_those_published() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let set = findings.figures.iter().filter(|figure| figure.origin == FigureOrigin::Set);
        for figure in set.filter(|figure| figure.published.is_some()) {
            let (ours, published) = (figure.ours.unwrap(), figure.published.unwrap());
            // A message more or less in 20 ms, of 264 µs: 1.3 %.
            assert!((ours.0 - published.0).abs() * 100 <= 3 * published.0, "{figure:?}");
        }
    }
}
