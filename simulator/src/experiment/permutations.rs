//! Permutations on the Berkeley NOW: all hosts send at once, each to one other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::calibration;
use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{AxisScale, PlotAxis, PlotCurve, PlotSpec};
use super::result_table::{MilliValue, PublishedFigure, ResultTable, TableColumn, cells};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};
use crate::routes::channels;
use crate::scenario::Scenario;
use crate::topology::{NodeId, NodePort, Topology};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "permutations",
    title: "permutations on 100 hosts: shift, neighbour exchange, bisection exchange",
    text: "\
The Berkeley NOW: 100 hosts, 40 switches. Hosts are counted from switch to switch. Each sends to one
other: the next (shift), its partner beside it (neighbour), its partner in the other half (bisect).
8 KB messages as fast as the credits allow for bandwidth; 4 words, one at a time, for round trips.",
    points,
    conclude,
};

const NETWORK: &str = "[topology]\nkind = \"now-cluster\"\n";
const BLOCK: u64 = 8192;
/// Bandwidth of a channel in MB/s. §4.2
const CHANNEL: u64 = 80;

/// Permutation of the hosts: receiver by sender and number of hosts.
struct PermutationPattern {
    name: &'static str,
    to: fn(usize, usize) -> Option<usize>,
}

const PATTERNS: [PermutationPattern; 4] = [
    // Beside it, to see what others cost.
    PermutationPattern { name: "one pair", to: |from, _| (from == 0).then_some(1) },
    PermutationPattern { name: "shift", to: |from, all| (from + 1).checked_rem(all) },
    PermutationPattern { name: "neighbour", to: |from, all| Some(from ^ 1).filter(|to| *to < all) },
    PermutationPattern {
        name: "bisect",
        to: |from, all| (from + all / 2).checked_rem(all / 2 * 2).filter(|_| from < all / 2 * 2),
    },
];
const NAMES: [&str; 4] = ["one pair", "shift", "neighbour", "bisect"];

const BODIES: [&str; 2] =
    ["kind = \"medium\"\nbytes = 8192\nsaturate = true", "words = 4\nwindow = 1"];

/// Network, and its hosts ordered by switch.
fn network() -> Option<(Scenario, Vec<NodeId>)> {
    let scenario = Scenario::read("NOW", &format!("duration_periods = 1\n{NETWORK}")).ok()?;
    let topology = &scenario.topology;
    let mut hosts: Vec<NodeId> = topology.hosts().collect();
    let switch = |host: &NodeId| topology.ports(*host).next().and_then(|port| topology.peer(port));
    hosts.sort_by_key(|host| switch(host).map(|port| (port.node, port.port)));
    Some((scenario, hosts))
}

fn pairs(pattern: &PermutationPattern, hosts: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let pair = |(place, from): (usize, &NodeId)| {
        let to = (pattern.to)(place, hosts.len())?;
        Some((*from, *hosts.get(to)?))
    };
    hosts.iter().enumerate().filter_map(pair).collect()
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let Some((scenario, hosts)) = network() else { return Vec::new() };
    let times = effort.choose([24_000, 8_000], [6_000, 2_500]);
    let bodies: Vec<(&str, u64)> = BODIES.into_iter().zip(times).collect();
    series::points(&PATTERNS, &bodies, |pattern, (body, time)| {
        let [mut from, mut to] = [String::new(), String::new()];
        for (sender, receiver) in pairs(pattern, &hosts) {
            // Text can always be added to.
            let _ = write!(from, "\"e{}\", ", place(&scenario.topology, sender));
            let _ = write!(to, "\"e{}\", ", place(&scenario.topology, receiver));
        }
        let scenario = format!(
            "{NETWORK}[[endpoint]]\nname = \"e\"\nhost = \"all\"\n\
             [[messages]]\nfrom = [{from}]\nto = [{to}]\n{body}\n"
        );
        ExperimentPoint::messages(format!("{}, {body}", pattern.name), scenario, [time / 4, *time])
    })
}

/// Index of a host among the hosts, and number of its endpoint.
fn place(topology: &Topology, host: NodeId) -> usize {
    topology.hosts().take_while(|other| *other != host).count()
}

/// Number of pairs on the most shared channel, and mean number of switches on a route.
fn ways(scenario: &Scenario, pairs: &[(NodeId, NodeId)]) -> (u64, MilliValue) {
    let mut used: BTreeMap<NodePort, u64> = BTreeMap::new();
    let mut hops: u128 = 0;
    for (from, to) in pairs {
        let route = scenario.routes.get(*from, *to).unwrap_or_default();
        hops += route.len() as u128;
        for port in channels(&scenario.topology, *from, route) {
            *used.entry(port).or_default() += 1;
        }
    }
    (used.values().copied().max().unwrap_or(0), MilliValue::ratio(hops, pairs.len() as u128))
}

const COLUMNS: [TableColumn; 8] = [
    TableColumn::word("permutation", "permutation"),
    TableColumn::of("switches_mean", "switches", "mean", 1),
    TableColumn::count("pairs_on_busiest_channel", "share it"),
    TableColumn::of("aggregate_mb_per_s", "aggregate", "MB/s", 0),
    TableColumn::of("host_mb_per_s", "per host", "MB/s", 2),
    TableColumn::of("channel_bound_mb_per_s", "80 MB/s shared", "MB/s", 2),
    TableColumn::of("round_trip_us", "round trip", "µs", 2),
    TableColumn::of("sent_again_share", "sent again", "%", 2),
];

fn conclude(_: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let Some((scenario, hosts)) = network() else { return ExperimentResult::default() };
    let mut rows = Vec::new();
    let (mut bandwidths, mut trips) = (Vec::new(), Vec::new());
    for (pattern, readings) in PATTERNS.iter().zip(readings.chunks_exact(BODIES.len())) {
        let [wide, short] = readings else { continue };
        let pairs = pairs(pattern, &hosts);
        let senders = pairs.len() as u64;
        let (shared, switches) = ways(&scenario, &pairs);
        let aggregate = wide.bandwidth(BLOCK);
        let each = MilliValue::ratio(aggregate.0.unsigned_abs().into(), u128::from(senders) * 1000);
        let trip = short.flow().round_trip();
        let bound = MilliValue::ratio(CHANNEL.into(), shared.into());
        let again = wide.sent_again();
        rows.push(cells![pattern.name, switches, shared, aggregate, each, bound, trip, again]);
        bandwidths.push(each);
        trips.push(trip.unwrap_or_default());
    }
    ExperimentResult {
        figures: figures(&bandwidths, &trips),
        settings: calibration::am_ii(),
        tables: vec![ResultTable::new("permutations", "Permutations", &COLUMNS, rows)],
        plots: vec![
            plot("bandwidth", "Bandwidth of a host, 8 KB", "bandwidth (MB/s)", bandwidths),
            plot("round-trip", "Round trip, 4 words", "round trip (µs)", trips),
        ],
        notes: NOTES,
    }
}

fn plot(name: &'static str, title: &str, label: &'static str, values: Vec<MilliValue>) -> PlotSpec {
    let curve = PlotCurve::new("100 hosts", (0..).map(MilliValue::whole).zip(values));
    let x = PlotAxis { label: "".into(), scale: AxisScale::Names(&NAMES) };
    PlotSpec::new(name, title, [x, PlotAxis::linear(label)], vec![curve])
}

fn figures(bandwidths: &[MilliValue], trips: &[MilliValue]) -> Vec<PublishedFigure> {
    let share = |values: &[MilliValue], place: usize| {
        let (one, all) = (values.get(1)?, values.get(place)?);
        Some(MilliValue::ratio(all.0.unsigned_abs().into(), one.0.unsigned_abs().into()))
    };
    let figure = |what: &str, source, ours| PublishedFigure::measured(what, "", source, ours);
    vec![
        figure("bandwidth: neighbour over shift", "both near the peak", share(bandwidths, 2)),
        figure("bandwidth: bisect over shift", "saturates the bisection", share(bandwidths, 3)),
        figure("round trip: neighbour over shift", "both near the best", share(trips, 2)),
        figure("round trip: bisect over shift", "longer", share(trips, 3)),
    ]
}

const NOTES: &[&str] = &[
    "share it: how many pairs go over the channel that most go over; each can have so much of \
         its 80 MB/s at most. The ways are those of the NOW as it is built here, of which only the \
         totals are published.",
    "sent again: nothing is lost, but messages that wait for more than 4 ms in the network are sent \
         again by the timer, which is set for a network that is not full. T-10",
    "In shift, neighbour and bisect a host sends and receives at once, over one bus and with one \
         firmware; in the one pair it does one of them.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_pair_each_host_with_another() {
        let hosts: Vec<NodeId> = (0..6).map(NodeId).collect();
        let found = |pattern: &PermutationPattern| -> Vec<u32> {
            pairs(pattern, &hosts).iter().map(|(_, to)| to.0).collect()
        };
        assert_eq!(PATTERNS.each_ref().map(|pattern| pattern.name), NAMES);
        assert_eq!(found(&PATTERNS[0]), [1]);
        assert_eq!(found(&PATTERNS[1]), [1, 2, 3, 4, 5, 0]);
        assert_eq!(found(&PATTERNS[2]), [1, 0, 3, 2, 5, 4]);
        assert_eq!(found(&PATTERNS[3]), [3, 4, 5, 0, 1, 2]);
    }

    /// The published shape: what is local is near the peak of one pair, and halves that exchange fill the few cables between
    /// them, without a collapse.
    #[test]
    fn local_permutations_are_near_the_peak_and_the_bisection_is_full() {
        let found = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let curve = |plot: usize| -> Vec<i64> {
            found.plots[plot].curves[0].points.iter().map(|(_, value)| value.0).collect()
        };
        let (bandwidths, trips) = (curve(0), curve(1));
        let ([pair, shift, neighbour, bisect], [alone, next, beside, across]) =
            (bandwidths.try_into().unwrap(), trips.try_into().unwrap());
        let near = |value: i64, best: i64| (best * 8 / 10..=best * 12 / 10).contains(&value);
        assert!(near(shift, pair) && near(neighbour, pair), "{found:?}");
        assert!(near(next, alone) && near(beside, alone) && across > next, "{found:?}");
        // 13 pairs share 80 MB/s.
        assert!((80_000 / 13 / 3..=80_000 / 13).contains(&bisect), "{bisect}");
    }

    #[test]
    fn hosts_of_a_switch_are_beside_each_other() {
        let (scenario, hosts) = network().unwrap();
        assert_eq!(hosts.len(), 100);
        let (shared, switches) = ways(&scenario, &pairs(&PATTERNS[2], &hosts));
        // Of five hosts at a leaf one has its partner at the next leaf.
        assert!(switches.0 < 2_500 && shared <= 3, "{switches} switches, {shared} share");
        let (shared, _) = ways(&scenario, &pairs(&PATTERNS[3], &hosts));
        assert!(shared > 3, "{shared}");
    }
}
