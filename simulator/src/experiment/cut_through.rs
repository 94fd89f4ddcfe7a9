//! Latency over the number of switches: packets that are stored in each, and packets that cut through.
//! S-3, B-2

use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotSpec};
use super::result_table::{MilliValue, PublishedFigure, ResultTable, TableColumn, cells};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};

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

/// Forwarding of the switches, and bytes of payload.
const CURVES: [(&str, u64); 4] = [
    ("cut-through", 64),
    ("cut-through", 1024),
    ("store-and-forward", 64),
    ("store-and-forward", 1024),
];

fn hops(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[1, 2, 4, 8, 16], &[1, 2, 4])
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let times = [20_000, effort.choose(80_000, 60_000)];
    series::points(&CURVES, hops(effort), |(mode, payload), hops| {
        let scenario = format!(
            "[switch_defaults]\nforwarding = \"{mode}\"\n\
             [topology]\nkind = \"line\"\nswitches = {hops}\nhosts_per_switch = 2\n\
             [[traffic]]\nfrom = \"h0\"\nto = \"h{}\"\npayload = {payload}\nevery_us = 50\n",
            2 * hops - 1
        );
        let label = format!("{mode}, {payload} bytes, {hops} switches");
        ExperimentPoint::packets(label, scenario, times)
    })
}

const COLUMNS: [TableColumn; 4] = [
    TableColumn::word("forwarding", "forwarding"),
    TableColumn::of("payload_bytes", "payload", "bytes", 0),
    TableColumn::count("switches", "switches"),
    TableColumn::of("latency_us", "latency", "µs", 3),
];

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let name = |(mode, payload): &(&str, u64)| format!("{mode}, {payload} bytes");
    let (rows, curves) =
        series::curves(&CURVES, hops(effort), readings, name, |(mode, payload), hops, reading| {
            let latency = reading.latency.mean();
            let place = latency.map(|latency| ((*hops).into(), latency));
            (cells![*mode, *payload, *hops, latency], place)
        });
    let mut figures = Vec::new();
    for ((mode, _), curve) in CURVES.iter().zip(&curves) {
        let [.., (fewer, short), (more, long)] = curve.points.as_slice() else { continue };
        let switches = u128::from(more.0.abs_diff(fewer.0)) / 1000;
        let each = MilliValue::ratio(long.0.abs_diff(short.0).into(), switches * 1000);
        let source = match *mode {
            "cut-through" => "at most 0.55 µs in an 8-port switch",
            _ => "the packet's own time in each switch, and more",
        };
        let what = format!("{}: each further switch", curve.name);
        figures.push(PublishedFigure::measured(what, "µs", source, Some(each)));
    }
    let axes = [PlotAxis::linear("switches"), PlotAxis::linear("latency (µs)")];
    ExperimentResult {
        figures,
        tables: vec![ResultTable::new("latency", "Latency", &COLUMNS, rows)],
        plots: vec![PlotSpec::new("latency", "Latency over switches", axes, curves)],
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
