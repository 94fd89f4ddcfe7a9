//! `LogP` costs of short messages: the protocol layer by layer, and the minimal layer of the
//! comparison.

use super::calibration;
use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{AxisScale, PlotAxis, PlotCurve, PlotSpec};
use super::result_table::{
    FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};
use crate::messaging::ProtocolLayers;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "logp",
    title: "LogP of short messages: AM-II layer by layer, and GAM",
    text: "\
Two hosts on one switch. One asks, the other answers: 4 words each way. Round trip, o_s and o_r
with one request at a time; g with eight at once, one for each logical channel. L is half a round
trip without o_s and o_r.
AM-II is built up in stages, as in the paper: the baseline sends and forgets, reliability adds
tables, ACKs and timers, protection adds the checks of endpoints and keys.",
    points,
    conclude,
};

#[derive(Clone, Copy, Debug)]
struct LogpSystem {
    name: &'static str,
    preset: &'static str,
    layers: ProtocolLayers,
}

const SYSTEMS: [LogpSystem; 4] = [
    LogpSystem { name: "AM-II baseline", preset: "am-ii", layers: ProtocolLayers::Baseline },
    LogpSystem { name: "+ reliability", preset: "am-ii", layers: ProtocolLayers::Reliability },
    LogpSystem { name: "+ protection", preset: "am-ii", layers: ProtocolLayers::Protection },
    LogpSystem { name: "GAM", preset: "gam", layers: ProtocolLayers::Baseline },
];

const LAWS: [RequestLaw; 2] = [
    RequestLaw { name: "one at a time", credits: 4, law: "window = 1" },
    // As many as there are logical channels: with the usual four it is the round trip that limits.
    RequestLaw { name: "eight at once", credits: 8, law: "saturate = true" },
];

struct RequestLaw {
    name: &'static str,
    credits: u8,
    law: &'static str,
}

/// Measured parameters of a system, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LogP {
    send: MilliValue,
    receive: MilliValue,
    gap: MilliValue,
    latency: MilliValue,
    round_trip: MilliValue,
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    series::points(&SYSTEMS, &LAWS, |system, law| point(system, law, effort))
}

fn point(system: &LogpSystem, law: &RequestLaw, effort: ExperimentEffort) -> ExperimentPoint {
    let layers = layers(system.layers);
    let RequestLaw { name, credits, law } = law;
    let scenario = format!(
        "[topology]\nkind = \"switch\"\nports = 8\nhosts = 2\n\
         [transport]\nlayers = \"{layers}\"\ncredits = {credits}\n[costs]\npreset = \"{}\"\n\
         [[endpoint]]\nname = \"client\"\nhost = \"h0\"\n\
         [[endpoint]]\nname = \"server\"\nhost = \"h1\"\n\
         [[messages]]\nfrom = \"client\"\nto = \"server\"\nwords = 4\n{law}\n",
        system.preset
    );
    let label = format!("{}, {name}", system.name);
    ExperimentPoint::messages(label, scenario, [2_000, effort.choose(52_000, 7_000)])
}

/// Spelling of the layers in scenario files.
pub(super) const fn layers(layers: ProtocolLayers) -> &'static str {
    match layers {
        ProtocolLayers::Baseline => "baseline",
        ProtocolLayers::Reliability => "reliability",
        ProtocolLayers::Protection => "protection",
    }
}

impl LogP {
    fn of(one: &PointMeasurement, many: &PointMeasurement) -> Self {
        let trips = one.flow();
        let client = one.hosts.values().next().cloned().unwrap_or_default();
        let mean = |time, count| MilliValue::mean_microseconds(time, count).unwrap_or_default();
        // The client sends requests only, and receives replies only.
        let send = mean(client.send, trips.sent);
        let receive = mean(client.receive, trips.completed);
        let round_trip = trips.round_trip().unwrap_or_default();
        let gap = mean(many.periods, many.flow().completed);
        let latency = MilliValue(round_trip.0 / 2 - send.0 - receive.0);
        Self { send, receive, gap, latency, round_trip }
    }

    /// All parameters in the order of [`NAMES`].
    const fn all(&self) -> [MilliValue; 5] {
        [self.send, self.receive, self.gap, self.latency, self.round_trip]
    }
}

const COLUMNS: [TableColumn; 6] = [
    TableColumn::word("system", "system"),
    TableColumn::of("send_overhead_us", "o_s", "µs", 2),
    TableColumn::of("receive_overhead_us", "o_r", "µs", 2),
    TableColumn::of("gap_us", "g", "µs", 2),
    TableColumn::of("latency_us", "L", "µs", 2),
    TableColumn::of("round_trip_us", "round trip", "µs", 2),
];
const NAMES: [&str; 5] = ["o_s", "o_r", "g", "L", "round trip"];

fn conclude(_: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let found: Vec<LogP> = readings
        .chunks_exact(LAWS.len())
        .map(|pair| match pair {
            [one, many] => LogP::of(one, many),
            _ => LogP::default(),
        })
        .collect();
    let row = |name: &str, [send, receive, gap, latency, trip]: [MilliValue; 5]| {
        cells![name, send, receive, gap, latency, trip]
    };
    let systems = || SYSTEMS.iter().zip(&found);
    let stages = || systems().filter(|(system, _)| system.preset == "am-ii");
    let stage = |name, title: &str, rows| ResultTable::new(name, title, &COLUMNS, rows);
    let steps = stages().zip(stages().skip(1));
    let added = steps.map(|((_, less), (system, more))| {
        let (mut added, less) = (more.all(), less.all());
        added.iter_mut().zip(less).for_each(|(time, less)| time.0 -= less.0);
        row(system.name, added)
    });
    let all = systems().map(|(system, logp)| row(system.name, logp.all()));
    let tables = vec![
        stage("systems", "Systems", all.collect()),
        stage("stages", "What each layer adds", added.collect()),
    ];
    let curve = |(system, logp): (&LogpSystem, &LogP)| {
        PlotCurve::new(system.name, (0..).map(MilliValue::whole).zip(logp.all()))
    };
    let x = PlotAxis { label: "".into(), scale: AxisScale::Names(&NAMES) };
    let axes = [x, PlotAxis::linear("time (µs)")];
    let curves = systems().map(curve).collect();
    let plot = PlotSpec::new("logp", "LogP of short messages", axes, curves);
    let [.., protection, gam] = found.as_slice() else { return ExperimentResult::default() };
    ExperimentResult {
        figures: figures(protection, gam),
        settings: calibration::all(),
        tables,
        plots: vec![plot],
        notes: NOTES,
    }
}

fn figures(am_ii: &LogP, gam: &LogP) -> Vec<PublishedFigure> {
    let measured = |what, ours| PublishedFigure::measured(what, "µs", "digits lost", Some(ours));
    let set = |what, published, source, ours| PublishedFigure {
        published: Some(MilliValue::whole(published)),
        source,
        origin: FigureOrigin::Set,
        ..measured(what, ours)
    };
    vec![
        set("AM-II round trip, 4 words", 42, ABSTRACT, am_ii.round_trip),
        set("GAM round trip, 4 words", 20, ELSEWHERE, gam.round_trip),
        measured("AM-II gap g", am_ii.gap),
        measured("AM-II latency L", am_ii.latency),
        measured("GAM gap g", gam.gap),
    ]
}

/// Sources of figures of the paper on virtual networks, whose text has come down without digits.
pub(super) const ABSTRACT: &str = "abstract of the paper, not in the documents";
pub(super) const ELSEWHERE: &str = "other papers on GAM, not in the documents";

const NOTES: &[&str] = &[
    "The division of a round trip among the stages is chosen: the paper's text has come down \
         without digits. What it says in words is kept: o_s and g of AM-II are larger than GAM's, \
         the firmware limits AM-II's rate and the hosts' overheads GAM's, reliability and protection \
         add some microseconds of gap and of latency each, and timers add nothing that can be measured.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messaging::MessageCosts;

    #[test]
    fn the_gap_is_what_the_slower_of_host_and_firmware_takes_for_a_request_and_its_reply() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let found = &findings.tables[0];
        for (row, system) in SYSTEMS.iter().enumerate() {
            let gap = MilliValue(found.number(row, 3));
            let costs =
                if system.preset == "gam" { MessageCosts::GAM } else { MessageCosts::AM_II };
            let host = costs.host_send + costs.host_receive;
            let slower = MilliValue::microseconds(costs.gap(system.layers).max(host));
            // A completed request more or less in 5 ms, of 12.8 µs at most: 0.3 %. And scans.
            let off = (gap.0 - slower.0).abs();
            assert!(off * 100 <= slower.0, "{}: {gap}, not {slower}", system.name);
        }
    }

    #[test]
    fn the_round_trips_are_those_published() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let off = |figure: &PublishedFigure| {
            let (ours, published) = (figure.ours.unwrap(), figure.published.unwrap());
            (ours.0 - published.0).abs() * 100 / published.0
        };
        let set: Vec<&PublishedFigure> =
            findings.figures.iter().filter(|figure| figure.origin == FigureOrigin::Set).collect();
        assert_eq!(set.len(), 2);
        for figure in set {
            assert!(off(figure) <= 2, "{figure:?}");
        }
    }
}
