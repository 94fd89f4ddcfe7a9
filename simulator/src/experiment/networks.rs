//! Many virtual networks into one host, up to and beyond its number of frames.

use super::calibration;
use super::clients::hosts;
use super::measure::{EndpointActivity, ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotCurve, PlotMark, PlotSpec};
use super::result_table::{
    CalibratedSetting, MilliValue, PERIODS_PER_US, PublishedFigure, ResultTable, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};
use crate::messaging::{EndpointParameters, MessageCosts, ProtocolLayers};

/// Networks: 1 to 7.
pub(super) const SMALL: Experiment = Experiment {
    name: "networks-small",
    title: "1 to 7 virtual networks into one host: as many endpoints as frames",
    text: "\
n clients, each with an endpoint of its own on the server, all of them in the server's seven frames.
One thread polls them in turn. Each client has as many requests under way as its credits allow.",
    points: small_points,
    conclude: small,
};

/// Networks: 1 to 32.
pub(super) const LARGE: Experiment = Experiment {
    name: "networks-large",
    title: "1 to 32 virtual networks into one host with seven frames: overcommitted",
    text: "\
As networks-small, with more endpoints than frames: they are loaded when a message comes for them or
the server writes to them. The one server polls all endpoints in one thread, and is suspended while
an endpoint that it writes to is loaded; the other has a thread for each that waits for its event.",
    points: large_points,
    conclude: large,
};

const WAKES: [(&str, &str); 2] =
    [("poll", "one thread, polling"), ("event", "a thread each, events")];
const SERVER: [(&str, &str); 1] = [("poll", "server")];

fn few(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[1, 2, 3, 4, 5, 6, 7], &[1, 4, 7])
}

fn many(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[1, 2, 4, 6, 7, 8, 10, 12, 16, 24, 32], &[4, 7, 9])
}

fn small_points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    points(&SERVER, few(effort), effort.choose(120_000, 30_000))
}

fn large_points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    points(&WAKES, many(effort), effort.choose(120_000, 60_000))
}

fn points(wakes: &[(&str, &str)], counts: &[u64], us: u64) -> Vec<ExperimentPoint> {
    series::points(wakes, counts, |(wake, _), networks| {
        // The server is at the first of two switches.
        let scenario = format!(
            "[switch_defaults]\nports = 32\n\
             [topology]\nkind = \"line\"\nswitches = 2\nhosts_per_switch = {}\n\
             [[endpoint]]\nname = \"server\"\nhost = \"h0\"\ncount = {networks}\nwake = \"{wake}\"\n\
             [[endpoint]]\nname = \"client\"\nhost = [{}]\n\
             [[messages]]\nfrom = \"client\"\nto = \"server\"\nwords = 4\nsaturate = true\n",
            networks / 2 + 1,
            hosts(1, *networks)
        );
        ExperimentPoint::messages(format!("{networks} networks, {wake}"), scenario, [us / 6, us])
    })
}

const COLUMNS: [TableColumn; 8] = [
    TableColumn::word("server", "server"),
    TableColumn::count("networks", "networks"),
    TableColumn::of("rate_per_s", "rate", "messages/s", 0),
    TableColumn::of("client_least_per_s", "least", "client/s", 0),
    TableColumn::of("client_mean_per_s", "mean", "client/s", 0),
    TableColumn::of("client_most_per_s", "most", "client/s", 0),
    TableColumn::of("loads_per_s", "loads", "1/s", 0),
    TableColumn::of("sent_again_share", "sent again", "%", 1),
];

/// Minimum, mean and maximum rate of the clients.
fn clients(reading: &PointMeasurement) -> [MilliValue; 3] {
    let rate = |flow: &EndpointActivity| MilliValue::per_second(flow.completed, reading.periods);
    let rates: Vec<MilliValue> = reading.clients().map(rate).collect();
    let sum: i64 = rates.iter().map(|rate| rate.0).sum();
    let mean = i64::try_from(rates.len()).ok().and_then(|count| sum.checked_div(count));
    let [least, most] = [rates.iter().min(), rates.iter().max()];
    [least.copied(), mean.map(MilliValue), most.copied()].map(Option::unwrap_or_default)
}

/// Table of the servers, and the curve of each.
fn servers(
    wakes: &[(&str, &str)],
    counts: &[u64],
    readings: &[PointMeasurement],
) -> (ResultTable, Vec<PlotCurve>) {
    let name = |(_, title): &(&str, &str)| (*title).to_owned();
    let (rows, curves) = series::curves(wakes, counts, readings, name, |(wake, _), n, reading| {
        let [least, mean, most] = clients(reading);
        let loads = reading.servers().next().map_or(0, |host| host.loads);
        let loads = MilliValue::per_second(loads, reading.periods);
        let (rate, again) = (reading.rate(), reading.sent_again());
        (cells![*wake, *n, rate, least, mean, most, loads, again], Some(((*n).into(), rate)))
    });
    (ResultTable::new("rates", "Rates", &COLUMNS, rows), curves)
}

/// Peak message rate of the firmware: 1/g.
fn peak() -> MilliValue {
    MilliValue::per_second(1, MessageCosts::AM_II.gap(ProtocolLayers::Protection))
}

fn plot(title: &str, curves: Vec<PlotCurve>) -> PlotSpec {
    PlotSpec {
        marks: vec![PlotMark { name: "1/g".to_owned(), x: None, y: peak() }],
        ..PlotSpec::new("rates", title, [X, Y], curves)
    }
}

const NEAR: &str = "near the peak";
const X: PlotAxis = PlotAxis::linear("virtual networks");
const Y: PlotAxis = PlotAxis::linear("messages/s");

fn percent(part: MilliValue, whole: MilliValue) -> MilliValue {
    MilliValue::ratio(u128::from(part.0.unsigned_abs()) * 100, whole.0.unsigned_abs().into())
}

fn small(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let counts = few(effort);
    let (table, mut curves) = servers(&SERVER, counts, readings);
    let rates = || curves.iter().flat_map(|curve| curve.points.iter().map(|(_, rate)| *rate));
    let share = |rate: Option<MilliValue>| rate.map(|rate| percent(rate, peak()));
    let measured = PublishedFigure::measured;
    let figures = vec![
        measured("rate of the server at worst, of 1/g", "%", NEAR, share(rates().min())),
        measured("rate of the server at best, of 1/g", "%", NEAR, share(rates().max())),
    ];
    let client = |(name, place): (&str, usize)| {
        let rate = |reading| clients(reading).get(place).copied().unwrap_or_default();
        let points = counts.iter().zip(readings);
        PlotCurve::new(name, points.map(|(n, reading)| ((*n).into(), rate(reading))))
    };
    curves.extend([("client with the most", 2), ("client with the least", 0)].map(client));
    ExperimentResult {
        figures,
        settings: [calibration::am_ii(), scheduling()].concat(),
        tables: vec![table],
        plots: vec![plot("Up to seven virtual networks into one host", curves)],
        notes: &[
            "The text: near the peak that g allows, steady up to seven, and each client near its \
             fair share.",
        ],
    }
}

fn large(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let (table, curves) = servers(&WAKES, many(effort), readings);
    ExperimentResult {
        figures: curves.iter().flat_map(kept).collect(),
        settings: [calibration::am_ii(), scheduling()].concat(),
        tables: vec![table],
        plots: vec![plot("Virtual networks over seven frames", curves)],
        notes: &[
            "The text: polling in one thread would drop significantly once frames are overcommitted; a \
             server with a thread for each endpoint goes on, its peak a little lower for its events and \
             threads.",
        ],
    }
}

/// Share of the rate with seven networks that remains with the largest number of them.
fn kept(curve: &PlotCurve) -> Vec<PublishedFigure> {
    let server = &curve.name;
    let at = |count: i64| {
        curve.points.iter().find(|(n, _)| *n == MilliValue::whole(count)).map(|(_, y)| *y)
    };
    let last = curve.points.last().map(|(_, y)| *y);
    let share = at(7).zip(last).map(|(seven, last)| percent(last, seven));
    let measured = PublishedFigure::measured;
    vec![
        measured(format!("{server}: rate with 7"), "1/s", "", at(7)),
        measured(format!("{server}: of that with the most"), "%", "graceful with events", share),
    ]
}

fn scheduling() -> Vec<CalibratedSetting> {
    let parameters = EndpointParameters::default();
    let setting =
        |name, value: u64, unit, why| CalibratedSetting::new(name, value.into(), unit, why);
    let load = parameters.load / PERIODS_PER_US;
    vec![
        setting("frames", parameters.frames.into(), "", "text: 7"),
        setting("credits K", parameters.credits.into(), "", "T-9"),
        setting("burst: attempts", 1 << parameters.burst_log2, "", "T-14, chosen"),
        setting("loading an endpoint", load, "µs", "T-15, chosen; transfers come on top"),
    ]
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn up_to_seven_networks_the_server_goes_on_at_its_rate() {
        let findings = SMALL.run(ExperimentEffort::Quick).unwrap();
        let worst = findings.figures[0].ours.unwrap();
        assert!(worst.0 >= 90_000, "{worst} %");
    }

    /// And the published shape: with more endpoints than frames, polling in one thread drops, while threads with events,
    /// a little slower at the peak, go on.
    #[test]
    fn no_request_is_lost_or_answered_twice_while_endpoints_come_and_go() {
        let mut readings = Vec::new();
        for point in large_points(ExperimentEffort::Quick) {
            let reading = point.run(&|_| ControlFlow::Continue(())).unwrap();
            let ledger = &reading.totals;
            assert!(ledger.is_conserved() && ledger.lost == 0, "{}: {ledger:?}", point.label);
            assert!(ledger.sent - ledger.completed <= 4 * 9, "{}: {ledger:?}", point.label);
            readings.push(reading);
        }
        let found = large(ExperimentEffort::Quick, &readings);
        let ours: Vec<i64> = found.figures.iter().map(|it| it.ours.unwrap().0).collect();
        let [polled, polled_kept, events, events_kept] = ours[..] else { panic!("{ours:?}") };
        assert!(polled_kept < 50_000 && events_kept > 90_000, "{ours:?}");
        assert!((polled * 8 / 10..polled).contains(&events), "{ours:?}");
    }
}
