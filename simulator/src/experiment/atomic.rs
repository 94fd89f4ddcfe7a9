//! Myrinet against ATOMIC: length of links, a cut cable, and a host without power. B-1, F-1, S-1

use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotMark, PlotSpec};
use super::result_table::{
    CalibratedSetting, FigureOrigin, MilliValue, PERIODS_PER_US, PublishedFigure, ResultTable,
    TableCell, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "atomic",
    title: "Myrinet against ATOMIC: length of links, a cut cable, a host without power",
    text: "\
Two hosts on a cable of 1 to 25 m, with STOP and GO or with a handshake for each character. Then a
line of four switches with two hosts each, all of which send to all, with one cable cut. Then six
hosts, in a chain or on a switch, the third of which is without power.",
    points,
    conclude,
};

const KINDS: [&str; 2] = ["handshake", "myrinet"];
const LENGTHS: [u64; 5] = [1, 2, 5, 10, 25];
/// Mean interval of a host's packets in the networks with a failure.
const TRAFFIC: &str =
    "[[traffic]]\nto = \"uniform\"\npayload = 128\nevery_us = 20\nlaw = \"poisson\"\n";

/// A network with and without a failure, which happens at the start.
struct FailureCase {
    network: &'static str,
    kind: &'static str,
    failure: &'static str,
    layout: &'static str,
    fault: &'static str,
}

const LINE: &str = "[topology]\nkind = \"line\"\nswitches = 4\nhosts_per_switch = 2\n";
const CHAIN: &str = "[[chain]]\nhosts = [\"h0\", \"h1\", \"h2\", \"h3\", \"h4\", \"h5\"]\n";
const STAR: &str = "[topology]\nkind = \"switch\"\nports = 8\nhosts = 6\n";
const CUT: &str = "[[fault]]\nat_us = 0\ncut = \"s2:0\"\n";
const OFF: &str = "[[fault]]\nat_us = 0\npower_off = \"h2\"\n";

#[rustfmt::skip]
const CASES: [FailureCase; 5] = [
    FailureCase { network: "line of switches", kind: "handshake", failure: "a cable is cut", layout: LINE, fault: CUT },
    FailureCase { network: "line of switches", kind: "myrinet", failure: "a cable is cut", layout: LINE, fault: CUT },
    FailureCase { network: "chain of hosts", kind: "handshake", failure: "a host is off", layout: CHAIN, fault: OFF },
    FailureCase { network: "chain of hosts", kind: "myrinet", failure: "a host is off", layout: CHAIN, fault: OFF },
    FailureCase { network: "one switch", kind: "myrinet", failure: "a host is off", layout: STAR, fault: OFF },
];

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let time = effort.choose(4000, 1000) * PERIODS_PER_US;
    let mut points = series::points(&KINDS, &LENGTHS, |kind, metres| {
        let scenario = format!(
            "[link]\nkind = \"{kind}\"\nlength_m = {metres}\n\
             [[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n[[cable]]\nends = [\"a:0\", \"b:0\"]\n\
             [[traffic]]\nfrom = \"a\"\nto = \"b\"\npayload = 1024\nsaturate = true\n"
        );
        ExperimentPoint::packets(format!("{kind}, {metres} m"), scenario, [0, time])
    });
    let times = effort.choose([2000, 6000], [1000, 1500]).map(|us| us * PERIODS_PER_US);
    points.extend(CASES.iter().flat_map(|case| {
        let FailureCase { network, kind, layout, .. } = case;
        [("whole", ""), (case.failure, case.fault)].map(|(name, fault)| {
            let link = format!("[link]\nkind = \"{kind}\"\nlength_m = 1\n");
            let label = format!("{network}, {kind}, {name}");
            ExperimentPoint::packets(label, format!("{link}{layout}{TRAFFIC}{fault}"), times)
        })
    }));
    points
}

const RATES: [TableColumn; 3] = [
    TableColumn::word("link", "link"),
    TableColumn::of("length_m", "length", "m", 0),
    TableColumn::of("rate_mb_per_s", "rate", "Mb/s", 1),
];

const FAILURES: [TableColumn; 6] = [
    TableColumn::word("network", "network"),
    TableColumn::word("link", "links"),
    TableColumn::word("failure", "failure"),
    TableColumn::of("whole_per_ms", "whole", "packets/ms", 1),
    TableColumn::of("failed_per_ms", "then", "packets/ms", 1),
    TableColumn::count("pairs", "pairs left"),
];

fn conclude(_: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let (rates, failures) = readings.split_at(readings.len().min(KINDS.len() * LENGTHS.len()));
    let name = |kind: &&str| (*kind).to_owned();
    let (rows, curves) = series::curves(&KINDS, &LENGTHS, rates, name, |kind, metres, reading| {
        let rate = reading.megabits();
        (cells![*kind, *metres, rate], Some(((*metres).into(), rate)))
    });
    let table = ResultTable::new("rates", "Rate over length", &RATES, rows);
    let axes = [PlotAxis::linear("length (m)"), PlotAxis::linear("rate (Mb/s)")];
    let atomic = MilliValue::whole(400);
    let mark = PlotMark { name: "ATOMIC".to_owned(), x: Some(MilliValue::whole(1)), y: atomic };
    let plot = PlotSpec {
        marks: vec![mark],
        ..PlotSpec::new("rates", "Rate of a link over its length", axes, curves)
    };
    let rate = |place: usize| rates.get(place).map(PointMeasurement::megabits);
    let measured = PublishedFigure::measured;
    let mut figures = vec![
        PublishedFigure {
            published: Some(atomic),
            origin: FigureOrigin::Set,
            ..measured("handshake, 1 m", "Mb/s", "HotI: burst rate of ATOMIC", rate(0))
        },
        measured("handshake, 25 m", "Mb/s", "slower with the time of flight", rate(4)),
        measured("Myrinet, 25 m", "Mb/s", "640 Mb/s up to 25 m", rate(9)),
    ];
    let (shares, rows) = failures_of(failures);
    figures.extend(shares);
    ExperimentResult {
        figures,
        settings: vec![CalibratedSetting::new(
            "handshake besides the flight of the signals",
            MilliValue::whole(9),
            "ns",
            "400 Mb/s at 1 m",
        )],
        tables: vec![table, ResultTable::new("failures", "Failures", &FAILURES, rows)],
        plots: vec![plot],
        notes: NOTES,
    }
}

/// Figures and rows of the networks with a failure.
fn failures_of(failures: &[PointMeasurement]) -> (Vec<PublishedFigure>, Vec<Vec<TableCell>>) {
    let mut figures = Vec::new();
    let mut rows = Vec::new();
    for (case, readings) in CASES.iter().zip(failures.chunks(2)) {
        let [whole, failed] = readings else { continue };
        let [before, after] = [whole, failed].map(rate_per_ms);
        let pairs = failed.pairs.len() as u64;
        let source = match (case.kind, case.network) {
            ("handshake", _) => "deadlock of the whole network",
            (_, "one switch") => "the others are not concerned",
            _ => "the network falls in two, and both parts go on",
        };
        let what = format!("{}, {}, {}: packets left", case.network, case.kind, case.failure);
        let share = MilliValue::ratio(
            u128::from(after.0.unsigned_abs()) * 100,
            before.0.unsigned_abs().into(),
        );
        figures.push(PublishedFigure::measured(what, "%", source, Some(share)));
        rows.push(cells![case.network, case.kind, case.failure, before, after, pairs]);
    }
    (figures, rows)
}

/// Packets received in a millisecond.
fn rate_per_ms(reading: &PointMeasurement) -> MilliValue {
    let packets = u128::from(reading.latency.packets) * u128::from(1000 * PERIODS_PER_US);
    MilliValue::ratio(packets, reading.periods.into())
}

const NOTES: &[&str] = &[
    "A character of a handshake cable takes 2·D + 9 ns, D being 5.6 ns a metre; 25 m of Myrinet are \
     covered by the slack (F-4).",
    "No acknowledge comes from a cable that is cut, or from a host without power: its packets wait, \
     the packets behind them wait, and in the end nothing moves. A Myrinet switch drops them (S-1).",
    "pairs left: senders and receivers that still exchange packets. A chain of hosts with Myrinet's \
     links falls in two parts, of two and of three hosts; a switch loses the one host only.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_slows_down_deadlocks_and_falls_apart() {
        let found = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let rate = |row: usize| found.tables[0].number(row, 2);
        // 1024 of 1027 characters are payload: tag, CRC byte, GAP. 8 bits in 20.2, 31.4, 65, 121, 289 ns.
        for (row, tenths) in [(0, 202), (1, 314), (2, 650), (3, 1210), (4, 2890)] {
            let expected = 8_000_000 * 10 / tenths * 1024 / 1027;
            assert!(
                (rate(row) - expected).abs() < expected / 500,
                "{row}: {} {expected}",
                rate(row)
            );
        }
        assert!((5..10).all(|row| rate(row) == rate(5) && rate(row) > 635_000));
        // Ordered pairs of hosts: none; 6 · 5 before the cut and 2 · 1 behind it; none; 2 · 1 and
        // 3 · 2 on either side; 5 · 4.
        let pairs: Vec<_> = found.tables[1].rows.iter().map(|row| row[5].clone()).collect();
        assert_eq!(pairs, cells![0, 32, 0, 8, 20]);
    }
}
