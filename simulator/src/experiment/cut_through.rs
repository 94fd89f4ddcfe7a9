//! Latency over the number of switches: packets that are stored in each, and packets that cut through.
//! S-3, B-2

use super::measure::{ExperimentPoint, MetricKind, PointMeasurement};
use super::plot::{PlotAxis, PlotCurve, PlotSpec};
use super::result_table::{MilliValue, PublishedFigure, ResultTable, TableCell, TableColumn};
use super::{Experiment, ExperimentEffort, ExperimentResult};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cut-through",
    title: "latency over the number of switches, cut-through against store-and-forward",
    text: "\
A line of switches, a host at either end, a packet in 50 µs. A switch that stores and forwards
takes a whole packet and checks its CRC before it requests an output (B-2); one that cuts through
does so with the first byte (S-3). Both decode and arbitrate in the same time.",
    points,
    conclude,
};

const MODES: [&str; 2] = ["cut-through", "store-and-forward"];
const PAYLOADS: [u64; 2] = [64, 1024];

fn hops(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[1, 2, 4, 8, 16], &[1, 2, 4])
}

/// The points of all curves, one after the other.
fn curves() -> impl Iterator<Item = (&'static str, u64)> {
    MODES.iter().flat_map(|mode| PAYLOADS.map(|payload| (*mode, payload)))
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let point = |(mode, payload), hops: &u64| ExperimentPoint {
        label: format!("{mode}, {payload} bytes, {hops} switches"),
        scenario: format!(
            "[switch_defaults]\nforwarding = \"{mode}\"\n\
             [topology]\nkind = \"line\"\nswitches = {hops}\nhosts_per_switch = 2\n\
             [[traffic]]\nfrom = \"h0\"\nto = \"h{}\"\npayload = {payload}\nevery_us = 50\n",
            2 * hops - 1
        ),
        metric: MetricKind::Packets,
        warm_up: 20_000,
        duration: effort.choose(80_000, 60_000),
    };
    let hops = hops(effort);
    curves().flat_map(|curve| hops.iter().map(move |hops| point(curve, hops))).collect()
}

const COLUMNS: [TableColumn; 4] = [
    TableColumn::word("forwarding", "forwarding"),
    TableColumn::of("payload_bytes", "payload", "bytes", 0),
    TableColumn::count("switches", "switches"),
    TableColumn::of("latency_us", "latency", "µs", 3),
];

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let hops = hops(effort);
    let axes = [PlotAxis::linear("switches"), PlotAxis::linear("latency (µs)")];
    let mut plot = PlotSpec::new("latency", "Latency over switches", axes, Vec::new());
    let mut table = ResultTable::new("latency", "Latency", &COLUMNS, Vec::new());
    let mut figures = Vec::new();
    for ((mode, payload), readings) in curves().zip(readings.chunks(hops.len())) {
        let mut curve = PlotCurve::new(&format!("{mode}, {payload} bytes"), []);
        for (hops, reading) in hops.iter().zip(readings) {
            let latency = reading.latency.mean();
            table.rows.push(vec![
                TableCell::word(mode),
                TableCell::count(payload),
                TableCell::count(*hops),
                TableCell::maybe(latency),
            ]);
            curve.points.extend(latency.map(|latency| (MilliValue::from(*hops), latency)));
        }
        if let [.., (fewer, short), (more, long)] = curve.points.as_slice() {
            let switches = u128::from(more.0.abs_diff(fewer.0)) / 1000;
            let each = MilliValue::ratio(long.0.abs_diff(short.0).into(), switches * 1000);
            let source = match mode {
                "cut-through" => "at most 0.55 µs in an 8-port switch",
                _ => "the packet's own time in each switch, and more",
            };
            figures.push(PublishedFigure::measured(
                format!("{mode}, {payload} bytes: each further switch"),
                "µs",
                source,
                Some(each),
            ));
        }
        plot.curves.push(curve);
    }
    ExperimentResult {
        figures,
        tables: vec![table],
        plots: vec![plot],
        notes: &["A further switch adds its cable of 25 m, 0.15 µs, too."],
        ..ExperimentResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_packet_waits_for_its_own_length_in_each_switch() {
        let found = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let each: Vec<i64> = found.figures.iter().map(|figure| figure.ours.unwrap().0).collect();
        // 28 periods, a round of the token from the input served last, 8 · 2, and 12 of the cable:
        // 0.7 µs for both lengths.
        assert_eq!(each[..2], [700, 700], "{each:?}");
        // 1024 − 64 bytes take 12 µs more, wherever they are stored.
        assert_eq!(each[3] - each[2], 12_000, "{each:?}");
        // Of 64 bytes it waits for all but the first: route bytes, tag, payload, CRC byte and mark.
        assert!((64..80).contains(&((each[2] - each[0]) * 80 / 1000)), "{each:?}");
    }
}
