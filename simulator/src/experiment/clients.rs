//! Many clients and one server endpoint: contention within one virtual network.

use std::fmt::Write as _;

use super::calibration;
use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotCurve, PlotMark, PlotSpec};
use super::result_table::{
    FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableCell, TableColumn, cells, slope,
};
use super::{Experiment, ExperimentEffort, ExperimentResult};
use crate::messaging::{MessageCosts, ProtocolLayers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "clients",
    title: "n clients and one server endpoint: rate, bandwidth and round trip",
    text: "\
The Berkeley NOW: 100 hosts, 40 switches. n of them ask one endpoint of another, each one request
at a time: 4 words each way for rate and round trip, 8 KB one way for bandwidth.
As long as the server is never idle, each client more costs each of them the server's gap g.",
    points,
    conclude,
};

const BLOCK: u64 = 8192;

/// Number of clients whose requests fit in the server's queue and its NIC's memory.
const CALM: u64 = 32;

/// Interval between the starts of clients, in microseconds. *Chosen*: somewhat more than g.
const APART: u64 = 20;

fn short(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 96], &[1, 4, 8])
}

fn medium(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[1, 2, 3, 4, 6, 8, 16, 32], &[1, 4])
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let [short, medium] = [short(effort), medium(effort)];
    // Beyond 32 the queue overflows, and a round trip may take as long as the timer. T-10
    let time = |n: u64| effort.choose(if n > CALM { 33_000 } else { 9_000 }, 4_500);
    let words = short.iter().map(|n| point(*n, "words = 4", time(*n)));
    let bytes = medium
        .iter()
        .map(|n| point(*n, "kind = \"medium\"\nbytes = 8192", effort.choose(21_000, 4_500)));
    words.chain(bytes).collect()
}

fn point(clients: u64, body: &str, microseconds: u64) -> ExperimentPoint {
    let scenario = format!(
        "[topology]\nkind = \"now-cluster\"\n\
         [[endpoint]]\nname = \"server\"\nhost = \"h0\"\n\
         [[endpoint]]\nname = \"client\"\nhost = [{}]\n{}",
        hosts(1, clients),
        streams(clients, body)
    );
    let times = [microseconds / 3, microseconds];
    ExperimentPoint::messages(format!("{clients} clients, {body}"), scenario, times)
}

/// Message streams of the clients. Their starts are staggered: starting together they would overrun
/// the server's queue, and retransmissions would stay in step with the timer. T-6
fn streams(clients: u64, body: &str) -> String {
    let mut text = String::new();
    for client in 0..clients {
        // One alone has no number.
        let number = if clients > 1 { client.to_string() } else { String::new() };
        let _ = writeln!(
            text,
            "[[messages]]\nfrom = \"client{number}\"\nto = \"server\"\n{body}\nwindow = 1\n\
             start_us = {}",
            client * APART
        );
    }
    text
}

pub(super) fn hosts(first: u64, count: u64) -> String {
    let mut names = String::new();
    for host in first..first.saturating_add(count) {
        // Text can always be added to.
        let _ = write!(names, "\"h{host}\", ");
    }
    names
}

const COLUMNS: [TableColumn; 7] = [
    TableColumn::count("clients", "clients"),
    TableColumn::of("rate_per_s", "rate", "messages/s", 0),
    TableColumn::of("rate_per_client_per_s", "per client", "messages/s", 0),
    TableColumn::of("round_trip_us", "round trip", "µs", 1),
    TableColumn::of("model_us", "n · g", "µs", 1),
    TableColumn::count("nacks", "NACKs"),
    TableColumn::count("sent_again", "sent again"),
];

const WIDE: [TableColumn; 6] = [
    TableColumn::count("clients", "clients"),
    TableColumn::of("bandwidth_mb_per_s", "bandwidth", "MB/s", 2),
    TableColumn::of("bandwidth_per_client_mb_per_s", "per client", "MB/s", 3),
    TableColumn::of("round_trip_us", "round trip", "µs", 1),
    TableColumn::count("nacks", "NACKs"),
    TableColumn::count("sent_again", "sent again"),
];

fn gap() -> MilliValue {
    MilliValue::microseconds(MessageCosts::AM_II.gap(ProtocolLayers::Protection))
}

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let [short, medium] = [short(effort), medium(effort)];
    let words: Vec<(u64, &PointMeasurement)> = short.iter().copied().zip(readings).collect();
    let bytes: Vec<(u64, &PointMeasurement)> =
        medium.iter().copied().zip(readings.iter().skip(short.len())).collect();
    let curve = |name: &str,
                 readings: &[(u64, &PointMeasurement)],
                 of: &dyn Fn(&PointMeasurement) -> MilliValue| {
        PlotCurve::new(name, readings.iter().map(|(n, reading)| ((*n).into(), of(reading))))
    };
    let trips = curve("here", &words, &|reading| reading.flow().round_trip().unwrap_or_default());
    let rates = curve("server", &words, &PointMeasurement::rate);
    let bandwidths = curve("server", &bytes, &|reading| reading.bandwidth(BLOCK));
    let both = |curve: &PlotCurve| vec![curve.clone(), shares(curve)];
    let name = "published, one client".to_owned();
    let mark = PlotMark { name, x: None, y: MilliValue::whole(31) };
    let [trip, rate, bandwidth] = [
        ("round-trip", "Round trip against clients", "round trip (µs)", vec![trips.clone()]),
        ("rate", "Rate of messages against clients", "messages/s", both(&rates)),
        ("bandwidth", "Bandwidth against clients, 8 KB", "bandwidth (MB/s)", both(&bandwidths)),
    ]
    .map(|(name, title, label, curves)| plot(name, title, label, curves));
    let plots = vec![trip, rate, PlotSpec { marks: vec![mark], ..bandwidth }];
    let gaps = |n| Some(MilliValue(gap().0.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX))));
    let words_rows = rows(&words, PointMeasurement::rate, gaps);
    let bytes_rows = rows(&bytes, |reading| reading.bandwidth(BLOCK), |_| None);
    ExperimentResult {
        figures: figures(&trips, &rates, &bandwidths),
        settings: calibration::am_ii(),
        tables: vec![
            ResultTable::new("messages", "4 words each way", &COLUMNS, words_rows),
            ResultTable::new("bandwidth", "8 KB one way", &WIDE, bytes_rows),
        ],
        plots,
        notes: NOTES,
    }
}

fn plot(name: &'static str, title: &str, label: &'static str, curves: Vec<PlotCurve>) -> PlotSpec {
    PlotSpec::new(name, title, [PlotAxis::linear("clients"), PlotAxis::linear(label)], curves)
}

fn shares(all: &PlotCurve) -> PlotCurve {
    let share = |(n, y): &(MilliValue, MilliValue)| (*n, part(*y, *n));
    PlotCurve::new("per client", all.points.iter().map(share))
}

fn part(whole: MilliValue, count: MilliValue) -> MilliValue {
    MilliValue(whole.0.saturating_mul(1000).checked_div(count.0).unwrap_or(0))
}

/// Rows of a table: the measured value, in all and of each client, and the model's round trip if
/// there is one.
fn rows(
    readings: &[(u64, &PointMeasurement)],
    value: impl Fn(&PointMeasurement) -> MilliValue,
    model: impl Fn(u64) -> Option<MilliValue>,
) -> Vec<Vec<TableCell>> {
    let row = |(n, reading): &(u64, &PointMeasurement)| {
        let value = value(reading);
        let nacks = reading.servers().next().map_or(0, |host| host.nacks);
        let again: u64 = reading.hosts.values().map(|host| host.again).sum();
        let mut row = cells![*n, value, part(value, (*n).into()), reading.flow().round_trip()];
        row.extend(model(*n).map(TableCell::from));
        row.extend(cells![nacks, again]);
        row
    };
    readings.iter().map(row).collect()
}

fn figures(trips: &PlotCurve, rates: &PlotCurve, bandwidths: &PlotCurve) -> Vec<PublishedFigure> {
    let measured = PublishedFigure::measured;
    let most = |curve: &PlotCurve| curve.points.iter().map(|(_, y)| *y).max();
    let last = |curve: &PlotCurve| curve.points.last().map(|(_, y)| *y);
    let lost = "g, its digits are lost";
    vec![
        measured("slope of the round trip, 4 to 32 clients", "µs", lost, busy(trips, CALM)),
        measured("slope of the round trip, 4 and more", "µs", "", busy(trips, u64::MAX)),
        PublishedFigure {
            origin: FigureOrigin::Computed,
            ..measured("g of the model", "µs", "its settings", Some(gap()))
        },
        measured("rate of the server, at most", "1/s", "1/g", most(rates)),
        measured("rate of the server, most clients", "1/s", "steady", last(rates)),
        measured("bandwidth of the server, at most", "MB/s", "", most(bandwidths)),
        measured("bandwidth of the server, most clients", "MB/s", "graceful", last(bandwidths)),
    ]
}

/// Slope up to `most` clients where the server is never idle: a round trip takes fewer than 4 gaps.
fn busy(trips: &PlotCurve, most: u64) -> Option<MilliValue> {
    let from = trips
        .points
        .iter()
        .filter(|(n, _)| (MilliValue::from(4)..=MilliValue::from(most)).contains(n));
    slope(&from.copied().collect::<Vec<_>>())
}

const NOTES: &[&str] = &[
    "The published slope is g, whatever g is: its digits are lost. The g of the model is the time of \
         the server's firmware for a request and its reply.",
    "NACKs: with more than 32 clients the server's firmware at times takes in more requests than \
         its host reads, and the queue of 16 overflows; who is refused waits for the timer. T-6, T-10",
    "8 KB: with 26 clients and more a request waits for longer than the 4 ms of the timer, is sent \
         again though nothing was lost, and costs time of the server. T-10",
];

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    /// In a closed loop, round trip times rate is the number of clients, which implies the slope.
    /// The firmware scans for 2 µs in each ms, 0.2 %; one request in the measured 3 ms is 0.4 %.
    #[test]
    fn the_round_trip_rises_by_a_gap_with_each_client() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let ours = findings.figures[0].ours.unwrap();
        assert!((ours.0 - gap().0).abs() * 100 <= gap().0, "{ours}, not {}", gap());
    }

    #[test]
    fn no_request_is_answered_twice_and_all_but_those_under_way_are_answered() {
        for point in points(ExperimentEffort::Quick) {
            let ledger = point.run(&|_| ControlFlow::Continue(())).unwrap().totals;
            assert!(ledger.is_conserved() && ledger.lost == 0, "{}: {ledger:?}", point.label);
            assert!(ledger.sent - ledger.completed <= 16, "{}: {ledger:?}", point.label);
        }
    }
}
