//! Points of experiments and their measurements.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::result_table::{MilliValue, PERIODS_PER_US};
use crate::link::tagged_char::PacketId;
use crate::mapping::MappingNotice;
use crate::messaging::{EndpointStatistics, MessagingStatistics};
use crate::network::{Network, VisitOrder};
use crate::scenario::{Scenario, ScenarioError};
use crate::topology::NodeId;
use crate::truth::{TraceLevel, TruthEvent, TruthEventKind};

/// Periods simulated at a time. *Chosen*: few enough to keep all events.
const SLICE: u64 = 1 << 12;

/// Network of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentPoint {
    /// Unique label.
    pub label: String,
    /// Scenario text as in `docs/scenario.md`, without the duration.
    pub scenario: String,
    /// Source of the measurement.
    pub metric: MetricKind,
    /// End of the warm-up: earlier events are not counted.
    pub warm_up: u64,
    /// Duration including the warm-up, in periods of the full rate.
    pub duration: u64,
}

/// Source of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Packets consumed by the interfaces.
    Packets,
    /// Message counters of the hosts.
    Messages,
}

/// Measurement of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointMeasurement {
    /// Periods after the warm-up.
    pub periods: u64,
    /// Packets received by each host after the warm-up.
    pub received: BTreeMap<NodeId, HostReceived>,
    /// Activity of each host with endpoints after the warm-up.
    pub hosts: BTreeMap<NodeId, HostActivity>,
    /// Requests of all endpoints over the whole run, warm-up included.
    pub totals: EndpointActivity,
    /// Maps finished and routes installed, with their times. N-2
    pub mapping: Vec<(u64, MappingNotice)>,
    /// Sender and receiver of the packets received after the warm-up.
    pub pairs: BTreeSet<(NodeId, NodeId)>,
    /// Times from queue to receiver of the packets received after the warm-up.
    pub latency: PacketLatency,
    /// Requests after the warm-up for outputs that were held or requested already. S-4, S-5
    pub conflicts: u64,
}

/// Sum of the times that packets took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketLatency {
    /// Packets.
    pub packets: u64,
    /// Sum of their times, in periods of the full rate.
    pub periods: u64,
}

impl PacketLatency {
    /// Mean in microseconds.
    pub fn mean(&self) -> Option<MilliValue> {
        MilliValue::mean_microseconds(self.periods, self.packets)
    }
}

/// Packets received by a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostReceived {
    /// Packets.
    pub packets: u64,
    /// Time of the first packet.
    pub first: u64,
    /// Time of the last packet.
    pub last: u64,
    /// Bytes between tag and CRC byte of all but the first.
    pub payload: u64,
}

/// Activity of a host with endpoints; times in periods of the full rate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostActivity {
    /// Time that the host's processor spent on sending.
    pub send: u64,
    /// Time that the host's processor spent on receiving.
    pub receive: u64,
    /// Data packets sent.
    pub data: u64,
    /// Retransmitted data packets. T-10
    pub again: u64,
    /// NACKs sent. T-6
    pub nacks: u64,
    /// Endpoints loaded. T-15
    pub loads: u64,
    /// Activity of each endpoint.
    pub endpoints: Vec<EndpointActivity>,
}

/// Requests and replies of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointActivity {
    /// Requests whose replies were read.
    pub completed: u64,
    /// Requests sent.
    pub sent: u64,
    /// Requests read by their receiver.
    pub read: u64,
    /// Replies sent.
    pub replied: u64,
    /// Returned or given up, requests and replies.
    pub lost: u64,
    /// Sum of the round-trip times, in periods of the full rate.
    pub round_trips: u64,
}

impl ExperimentPoint {
    /// Point of which the packets are measured, between these times in periods.
    pub(super) fn packets(label: String, scenario: String, [warm_up, duration]: [u64; 2]) -> Self {
        Self { label, scenario, metric: MetricKind::Packets, warm_up, duration }
    }

    /// Point of which the messages are measured, between these times in microseconds.
    pub(super) fn messages(label: String, scenario: String, times: [u64; 2]) -> Self {
        let [warm_up, duration] = times.map(|us| us * PERIODS_PER_US);
        Self { label, scenario, metric: MetricKind::Messages, warm_up, duration }
    }

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
        let scenario = Scenario::read(&self.label, &self.text())?;
        let level = match self.metric {
            MetricKind::Packets => TraceLevel::Everything,
            MetricKind::Messages => TraceLevel::Nothing,
        };
        let mut network = Network::new(&scenario, level, VisitOrder::AsGiven);
        let mut reading = PointMeasurement {
            periods: self.duration.saturating_sub(self.warm_up),
            ..PointMeasurement::default()
        };
        let mut before = CounterSnapshot::default();
        let mut sent = BTreeMap::new();
        for end in [self.warm_up.min(self.duration), self.duration] {
            if self.metric == MetricKind::Messages {
                before = CounterSnapshot::of(&scenario, &network);
            }
            reading.conflicts = network.conflicts();
            while network.now() < end {
                let start = network.now();
                network.run(start.saturating_add(SLICE).min(end));
                let observe = |row: TruthEvent| reading.observe(&row, self.warm_up, &mut sent);
                network.drain_events().for_each(observe);
                if progress(network.now() - start).is_break() {
                    return Ok(PointMeasurement::default());
                }
            }
        }
        reading.conflicts = network.conflicts() - reading.conflicts;
        if self.metric == MetricKind::Messages {
            CounterSnapshot::of(&scenario, &network).since(&before, &mut reading);
        }
        Ok(reading)
    }
}

#[derive(Default)]
struct CounterSnapshot(BTreeMap<NodeId, (MessagingStatistics, Vec<EndpointStatistics>)>);

impl CounterSnapshot {
    fn of(scenario: &Scenario, network: &Network) -> Self {
        let counts = scenario.messaging.iter().filter_map(|(host, plan)| {
            let messaging = network.interface(*host)?.messaging()?;
            let endpoints = plan.endpoints.iter();
            let endpoints = endpoints
                .map(|plan| messaging.endpoint_statistics(plan.id).cloned().unwrap_or_default());
            Some((*host, (messaging.statistics(), endpoints.collect())))
        });
        Self(counts.collect())
    }

    /// Adds the differences to an earlier snapshot to the measurement.
    fn since(&self, before: &Self, reading: &mut PointMeasurement) {
        for (id, (now, endpoints)) in &self.0 {
            let nothing = Default::default();
            let (then, endpoints_then) = before.0.get(id).unwrap_or(&nothing);
            let mut host = HostActivity {
                send: now.host_send.saturating_sub(then.host_send),
                receive: now.host_receive.saturating_sub(then.host_receive),
                data: now.data_sent.saturating_sub(then.data_sent),
                again: now.retransmitted.saturating_sub(then.retransmitted),
                nacks: sum(&now.nacks_sent).saturating_sub(sum(&then.nacks_sent)),
                loads: now.loads.saturating_sub(then.loads),
                endpoints: Vec::new(),
            };
            for (place, now) in endpoints.iter().enumerate() {
                let then = endpoints_then.get(place).cloned().unwrap_or_default();
                host.endpoints.push(EndpointActivity::between(&then, now));
                reading.totals.add(&EndpointActivity::between(&EndpointStatistics::default(), now));
            }
            reading.hosts.insert(*id, host);
        }
    }
}

fn sum(counts: &[u64]) -> u64 {
    counts.iter().sum()
}

const fn lost(endpoint: &EndpointStatistics) -> u64 {
    endpoint.returned + endpoint.given_up + endpoint.replies_returned
}

impl EndpointActivity {
    fn between(then: &EndpointStatistics, now: &EndpointStatistics) -> Self {
        let round_trips = now.round_trips.sum().saturating_sub(then.round_trips.sum());
        Self {
            completed: now.completed.saturating_sub(then.completed),
            sent: now.requests_sent.saturating_sub(then.requests_sent),
            read: now.requests_read.saturating_sub(then.requests_read),
            replied: now.replies_sent.saturating_sub(then.replies_sent),
            lost: lost(now).saturating_sub(lost(then)),
            round_trips: u64::try_from(round_trips).unwrap_or(u64::MAX),
        }
    }

    fn add(&mut self, other: &Self) {
        self.completed += other.completed;
        self.sent += other.sent;
        self.read += other.read;
        self.replied += other.replied;
        self.lost += other.lost;
        self.round_trips = self.round_trips.saturating_add(other.round_trips);
    }

    /// Mean round-trip time in microseconds.
    pub fn round_trip(&self) -> Option<MilliValue> {
        MilliValue::mean_microseconds(self.round_trips, self.completed)
    }

    /// Tests that no request was read, answered or completed twice. T-1
    pub const fn is_conserved(&self) -> bool {
        self.completed <= self.replied && self.replied <= self.read && self.read <= self.sent
    }
}

impl PointMeasurement {
    /// Counts an event; `sent` has the time of each packet under way.
    fn observe(&mut self, row: &TruthEvent, warm_up: u64, sent: &mut BTreeMap<PacketId, u64>) {
        if let (TruthEventKind::Injected { queued, .. }, Some(packet)) = (&row.kind, row.packet) {
            sent.insert(packet, row.at.saturating_sub(*queued));
        }
        if let TruthEventKind::Mapping(notice) = &row.kind
            && matches!(notice, MappingNotice::Mapped { .. } | MappingNotice::Installed { .. })
        {
            self.mapping.push((row.at, notice.clone()));
        }
        if let TruthEventKind::Consumed { length, .. } = row.kind
            && row.at >= warm_up
        {
            self.received.entry(row.place.node).or_default().add(row.at, length.saturating_sub(2));
            if let Some(packet) = row.packet
                && let Some(from) = sent.remove(&packet)
            {
                self.pairs.insert((packet.host, row.place.node));
                self.latency.packets += 1;
                self.latency.periods += row.at.saturating_sub(from);
            }
        }
    }

    /// Payload received by all hosts, in Mb/s.
    pub fn megabits(&self) -> MilliValue {
        MilliValue(self.received.values().map(|taken| taken.megabits(0).0).sum())
    }

    /// Sum over all endpoints of all hosts.
    pub fn flow(&self) -> EndpointActivity {
        let mut flow = EndpointActivity::default();
        self.hosts.values().flat_map(|host| &host.endpoints).for_each(|one| flow.add(one));
        flow
    }

    /// Retransmissions among the data packets sent, in percent. T-10
    pub(super) fn sent_again(&self) -> MilliValue {
        let sum = |of: fn(&HostActivity) -> u64| self.hosts.values().map(of).sum::<u64>();
        MilliValue::ratio(u128::from(sum(|host| host.again)) * 100, sum(|host| host.data).into())
    }

    /// Activity of each endpoint that sent requests.
    pub fn clients(&self) -> impl Iterator<Item = &EndpointActivity> {
        self.hosts.values().flat_map(|host| &host.endpoints).filter(|flow| flow.sent > 0)
    }

    /// Activity of each host that answered requests.
    pub fn servers(&self) -> impl Iterator<Item = &HostActivity> {
        self.hosts.values().filter(|host| host.endpoints.iter().any(|flow| flow.replied > 0))
    }

    /// Completed requests per second.
    pub fn rate(&self) -> MilliValue {
        MilliValue::per_second(self.flow().completed, self.periods)
    }

    /// Bandwidth of completed requests of `bytes` bytes, in MB/s.
    pub fn bandwidth(&self, bytes: u64) -> MilliValue {
        MilliValue::megabytes(self.flow().completed.saturating_mul(bytes), self.periods)
    }
}

impl HostReceived {
    /// Records a packet.
    pub fn add(&mut self, at: u64, payload: u64) {
        if self.packets == 0 {
            self.first = at;
        } else {
            self.payload = self.payload.saturating_add(payload);
        }
        self.last = at;
        self.packets += 1;
    }

    /// Payload between first and last packet, in Mb/s, without the headers of each packet in it.
    pub fn megabits(&self, headers: u64) -> MilliValue {
        let headers = headers.saturating_mul(self.packets.saturating_sub(1));
        let bytes = self.payload.saturating_sub(headers);
        MilliValue::megabits(bytes, self.last.saturating_sub(self.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_counted_from_packet_to_packet() {
        let mut taken = HostReceived::default();
        assert_eq!(taken.megabits(0), MilliValue(0));
        taken.add(1000, 64);
        assert_eq!((taken.packets, taken.megabits(4)), (1, MilliValue(0)));
        taken.add(1064, 64);
        taken.add(1192, 64);
        // 128 bytes in 192 periods: two thirds of 640 Mb/s.
        assert_eq!(taken.megabits(0), MilliValue(426_667));
        // 96 bytes without headers of 16.
        assert_eq!(taken.megabits(16), MilliValue::whole(320));
    }

    #[test]
    fn only_what_comes_after_the_warm_up_is_counted() {
        // Every 100 periods a packet of 10 bytes, from period 1000 on.
        let point = |warm_up| ExperimentPoint {
            label: "pair".to_owned(),
            scenario: "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n\
                       [[cable]]\nends = [\"a:0\", \"b:0\"]\n\
                       [[traffic]]\nfrom = \"a\"\nto = \"b\"\npayload = 10\n\
                       every_periods = 100\nstart_periods = 1000\npackets = 20\n"
                .to_owned(),
            metric: MetricKind::Packets,
            warm_up,
            duration: 4000,
        };
        let [all, half] =
            [0, 2000].map(|from| point(from).run(&|_| ControlFlow::Continue(())).unwrap().received);
        let [all, half] = [&all, &half].map(|taken| taken.get(&NodeId(1)).copied().unwrap());
        assert_eq!((all.packets, all.payload, all.last - all.first), (20, 190, 1900));
        assert_eq!((half.packets, half.last), (10, all.last));
    }
}
