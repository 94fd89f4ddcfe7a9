//! Points of experiments and their measurements.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::formula::ExactNumber;
use crate::link::tagged_char::PacketId;
use crate::mapping::MappingNotice;
use crate::messaging::{EndpointStatistics, MessagingStatistics};
use crate::network::{Network, VisitOrder};
use crate::routes::channels;
use crate::scenario::{Scenario, ScenarioError};
use crate::topology::NodeId;
use crate::truth::{TraceLevel, TruthEvent, TruthEventKind};

/// Periods simulated at a time. *Chosen*: few enough to keep all events.
const SLICE: u64 = 1 << 12;

/// Network of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentPoint {
    /// Scenario text as in `docs/scenario.md`, without the duration.
    pub scenario: String,
    /// End of the warm-up: earlier events are not counted.
    pub warm_up: u64,
    /// Duration including the warm-up, in periods of the full rate.
    pub duration: u64,
}

/// Measurement of a point: numbers by the names that the formulas of experiments have for them. Nearly all are the
/// differences of statistics between the end of the warm-up and that of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointMeasurement(BTreeMap<&'static str, ExactNumber>);

/// Counters of a host, and of each of its endpoints.
type HostCounters = (MessagingStatistics, Vec<EndpointStatistics>);

/// Packets of which the hosts tell, after the warm-up.
#[derive(Default)]
struct ReceivedPackets {
    /// Time at which each packet under way was ready at its host.
    ready: BTreeMap<PacketId, u64>,
    /// Number and sum of the times from then to the receiver, in periods.
    packets: u64,
    latency: u64,
    /// Senders and receivers.
    pairs: BTreeSet<(NodeId, NodeId)>,
    hosts: BTreeMap<NodeId, HostReceived>,
    /// Hosts, switches, links, probes and time of the first map, and the time of the latest map or installation. N-2
    map: Option<[u64; 5]>,
    mapped: Option<u64>,
}

/// Packets received by a host.
#[derive(Clone, Copy, Default)]
struct HostReceived {
    packets: u64,
    first: u64,
    last: u64,
    /// Bytes between tag and CRC byte of all but the first.
    payload: u64,
}

impl ExperimentPoint {
    /// Complete scenario text.
    pub fn text(&self) -> String {
        format!("duration_periods = {}\n{}", self.duration, self.scenario)
    }

    /// Runs the point, calling `progress` with the periods simulated since its last call. Where that breaks,
    /// nothing is measured.
    ///
    /// # Errors
    /// The scenario is invalid.
    pub fn run(
        &self,
        progress: &dyn Fn(u64) -> ControlFlow<()>,
    ) -> Result<PointMeasurement, ScenarioError> {
        let scenario = Scenario::read("experiment", &self.text())?;
        let is_messaging = !scenario.messaging.is_empty();
        let level = if is_messaging { TraceLevel::Nothing } else { TraceLevel::Everything };
        let mut network = Network::new(&scenario, level, VisitOrder::AsGiven);
        let mut seen = ReceivedPackets::default();
        let (mut counters, mut conflicts) = (Vec::new(), 0);
        for end in [self.warm_up.min(self.duration), self.duration] {
            (counters, conflicts) = (host_counters(&scenario, &network), network.conflicts());
            while network.now() < end {
                let start = network.now();
                network.run(start.saturating_add(SLICE).min(end));
                network.drain_events().for_each(|row| seen.observe(&row, self.warm_up));
                if progress(network.now() - start).is_break() {
                    return Ok(PointMeasurement::default());
                }
            }
        }
        let mut measured = PointMeasurement::default();
        measured.count("periods", self.duration.saturating_sub(self.warm_up));
        if is_messaging {
            measured.messages(&counters, &host_counters(&scenario, &network));
            measured.ways(&scenario);
        } else {
            measured.count("conflicts", network.conflicts() - conflicts);
            measured.packets(&seen, self.warm_up);
        }
        Ok(measured)
    }
}

fn host_counters(scenario: &Scenario, network: &Network) -> Vec<HostCounters> {
    let counters = scenario.messaging.iter().filter_map(|(host, plan)| {
        let messaging = network.interface(*host)?.messaging()?;
        let endpoint = |id| messaging.endpoint_statistics(id).cloned().unwrap_or_default();
        let endpoints = plan.endpoints.iter().map(|plan| endpoint(plan.id));
        Some((messaging.statistics(), endpoints.collect()))
    });
    counters.collect()
}

impl PointMeasurement {
    /// Number of a name; none if nothing was measured.
    pub(super) fn number(&self, name: &str) -> Option<ExactNumber> {
        self.0.get(name).copied()
    }

    fn count(&mut self, name: &'static str, count: u64) {
        self.0.insert(name, count.into());
    }

    fn packets(&mut self, seen: &ReceivedPackets, warm_up: u64) {
        let hosts = seen.hosts.values();
        let one = hosts.clone().next_back().copied().unwrap_or_default();
        for (name, count) in [
            ("packets", seen.packets),
            ("latency", seen.latency),
            ("pairs", seen.pairs.len() as u64),
            ("once", hosts.clone().filter(|host| host.packets == 1).count() as u64),
            ("last", hosts.map(|host| host.last).max().unwrap_or(0).saturating_sub(warm_up)),
            ("received", one.packets),
            ("payload", one.payload),
            ("span", one.last.saturating_sub(one.first)),
        ] {
            self.count(name, count);
        }
        let map = ["hosts", "switches", "links", "probes", "took"].into_iter();
        let map = map.zip(seen.map.into_iter().flatten());
        for (name, count) in map.chain(seen.mapped.map(|at| ("installed", at))) {
            self.count(name, count);
        }
    }

    /// Differences of the counters of hosts and endpoints.
    fn messages(&mut self, before: &[HostCounters], after: &[HostCounters]) {
        let pairs = || before.iter().zip(after);
        let host = |of: fn(&MessagingStatistics) -> u64| {
            pairs().map(move |((then, _), (now, _))| of(now).saturating_sub(of(then)))
        };
        let endpoint = |of: fn(&EndpointStatistics) -> u64| {
            let ends = pairs().flat_map(|((_, then), (_, now))| then.iter().zip(now));
            ends.map(move |(then, now)| of(now).saturating_sub(of(then)))
        };
        let completed = |it: &EndpointStatistics| it.completed;
        let trips =
            |it: &EndpointStatistics| u64::try_from(it.round_trips.sum()).unwrap_or(u64::MAX);
        let client = endpoint(|it| it.requests_sent).zip(endpoint(completed));
        let client = client.filter_map(|(sent, completed)| (sent > 0).then_some(completed));
        let client: Vec<u64> = client.collect();
        let replies =
            |counters: &HostCounters| counters.1.iter().map(|it| it.replies_sent).sum::<u64>();
        let server = pairs().position(|(then, now)| replies(then) < replies(now));
        let server = |of| server.and_then(|at| host(of).nth(at)).unwrap_or(0);
        for (name, count) in [
            ("completed", endpoint(completed).sum()),
            ("sent", endpoint(|it| it.requests_sent).sum()),
            ("round_trips", endpoint(trips).sum()),
            ("data", host(|it| it.data_sent).sum()),
            ("again", host(|it| it.retransmitted).sum()),
            ("first_send", host(|it| it.host_send).next().unwrap_or(0)),
            ("first_receive", host(|it| it.host_receive).next().unwrap_or(0)),
            ("server_nacks", server(|it| it.nacks_sent.iter().sum())),
            ("server_loads", server(|it| it.loads)),
            ("clients", client.len() as u64),
            ("client_least", client.iter().copied().min().unwrap_or(0)),
            ("client_most", client.iter().copied().max().unwrap_or(0)),
        ] {
            self.count(name, count);
        }
    }

    /// Pairs of hosts with messages, those on the channel that most go over, and the switches on the ways of all.
    fn ways(&mut self, scenario: &Scenario) {
        let mut used: BTreeMap<_, u64> = BTreeMap::new();
        let (mut pairs, mut switches) = (0, 0);
        for (from, plan) in &scenario.messaging {
            for stream in &plan.streams {
                let to = scenario.messaging.iter().find(|(_, plan)| plan.nic == stream.to.0);
                let route = to.and_then(|(to, _)| scenario.routes.get(*from, *to));
                let route = route.unwrap_or_default();
                pairs += 1;
                switches += route.len() as u64;
                for port in channels(&scenario.topology, *from, route) {
                    *used.entry(port).or_default() += 1;
                }
            }
        }
        self.count("streams", pairs);
        self.count("switches", switches);
        self.count("shared", used.into_values().max().unwrap_or(0));
    }
}

impl ReceivedPackets {
    fn observe(&mut self, row: &TruthEvent, warm_up: u64) {
        match (&row.kind, row.packet) {
            (TruthEventKind::Injected { queued, .. }, Some(packet)) => {
                self.ready.insert(packet, row.at.saturating_sub(*queued));
            }
            (TruthEventKind::Mapping(notice), _) => {
                if let MappingNotice::Mapped { hosts, switches, links, probes, took, .. } = notice {
                    let counts = [*hosts as u64, (*switches).into(), *links as u64, *probes, *took];
                    self.map.get_or_insert(counts);
                }
                if matches!(notice, MappingNotice::Mapped { .. } | MappingNotice::Installed { .. })
                {
                    self.mapped = Some(row.at);
                }
            }
            (TruthEventKind::Consumed { length, .. }, packet) if row.at >= warm_up => {
                let host = self.hosts.entry(row.place.node).or_default();
                host.add(row.at, length.saturating_sub(2));
                if let Some(packet) = packet
                    && let Some(ready) = self.ready.remove(&packet)
                {
                    self.pairs.insert((packet.host, row.place.node));
                    self.packets += 1;
                    self.latency += row.at.saturating_sub(ready);
                }
            }
            _ => {}
        }
    }
}

impl HostReceived {
    fn add(&mut self, at: u64, payload: u64) {
        if self.packets == 0 {
            self.first = at;
        } else {
            self.payload = self.payload.saturating_add(payload);
        }
        self.last = at;
        self.packets += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_after_the_warm_up_is_counted() {
        // Every 100 periods a packet of 10 bytes, from period 1000 on.
        let scenario = "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n\
                        [[cable]]\nends = [\"a:0\", \"b:0\"]\n\
                        [[traffic]]\nfrom = \"a\"\nto = \"b\"\npayload = 10\n\
                        every_periods = 100\nstart_periods = 1000\npackets = 20\n";
        // They arrive from 1024 on.
        for (warm_up, packets) in [(0, 20), (2000, 10), (2024, 10), (2025, 9)] {
            let point = ExperimentPoint { scenario: scenario.to_owned(), warm_up, duration: 4000 };
            let measured = point.run(&|_| ControlFlow::Continue(())).unwrap();
            // Nothing of the first packet is counted but its time.
            for (name, expected) in [
                ("packets", packets),
                ("received", packets),
                ("payload", 10 * (packets - 1)),
                ("span", 100 * (packets - 1)),
                ("pairs", 1),
                ("conflicts", 0),
            ] {
                assert_eq!(measured.number(name), Some(expected.into()), "{name}, {warm_up}");
            }
        }
    }
}
