//! Statistics of a run: packets by outcome, latencies, utilisation of channels.

mod offered;
mod repairs;
mod standing;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

pub use self::offered::OfferedLoad;
use self::repairs::FlightPurpose;
pub use self::repairs::{NetworkRepair, RepairTracker};
pub use self::standing::{StandingCause, StandingPackets};
pub(crate) use crate::histogram::share;
pub use crate::histogram::{LogHistogram, picoseconds};
use crate::node::PacketId;
use crate::scenario::Scenario;
use crate::topology::NodePort;
use crate::truth::{PacketHandling, RuleId, TruthEvent, TruthEventKind};

/// Utilisation of a channel, in periods of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChannelStatistics {
    /// All periods.
    pub periods: u64,
    /// Periods in which a byte was sent.
    pub data: u64,
    /// Periods in which the sender was stopped. F-2
    pub stopped: u64,
    /// STOP and GO sent for the slack buffer, without those sent as fill. F-3
    pub commands: u64,
    /// Packets completed.
    pub packets: u64,
}

impl ChannelStatistics {
    /// Share of the periods with data, in parts per million.
    pub fn utilisation(&self) -> u32 {
        share(self.data, self.periods)
    }

    /// Share of the periods in which the sender was stopped, in parts per million. F-2
    pub fn stoppage(&self) -> u32 {
        share(self.stopped, self.periods)
    }

    /// Share of the periods taken by STOP and GO, in parts per million: at most about 62 500 at h =
    /// 16. F-4
    pub fn overhead(&self) -> u32 {
        share(self.commands, self.periods)
    }
}

/// Packet statistics of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunStatistics {
    /// Periods of the full rate up to the last event; the caller may set the run's duration.
    #[serde(skip)]
    pub periods: u64,
    /// Packets injected by hosts.
    pub injected: u64,
    /// Their bytes, CRC bytes included.
    pub injected_bytes: u64,
    /// Packets consumed by interfaces.
    pub consumed: u64,
    /// Bytes between tag and CRC byte of the packets delivered after the warm-up.
    #[serde(rename = "payload_bytes")]
    pub payload: u64,
    /// Latencies of delivered packets that were ready after the warm-up.
    #[serde(skip)]
    pub latencies: PacketLatencies,
    /// Consumed packets by handling.
    #[serde(rename = "handling")]
    pub handlings: BTreeMap<PacketHandling, u64>,
    /// Packets dropped, by rule.
    #[serde(rename = "dropped")]
    pub drops: BTreeMap<RuleId, u64>,
    /// Truncations, by rule.
    #[serde(rename = "truncated")]
    pub truncations: BTreeMap<RuleId, u64>,
    /// Packets merged into others.
    pub merged: u64,
    /// Characters lost because a slack buffer was full. F-9
    #[serde(rename = "lost_characters")]
    pub overflows: u64,
    /// Characters that the levels of wires have changed. W-8
    pub wire_errors: u64,
    /// Blocked-packet timeouts. R-4
    #[serde(rename = "blocked_timeouts")]
    pub blocked: u64,
    /// Repairs of a mapped network after faults. N-4
    #[serde(skip_serializing_if = "RepairTracker::is_empty")]
    pub repairs: RepairTracker,
    /// End of the warm-up, in periods of the full rate.
    #[serde(skip)]
    warm_up: u64,
    /// End of what is measured; none for the end of the run.
    #[serde(skip)]
    end: Option<u64>,
    /// Measured packets that end without being delivered.
    #[serde(skip)]
    pub lost: u64,
    /// Each packet in transit.
    #[serde(rename = "in_transit", serialize_with = "length")]
    under_way: BTreeMap<PacketId, PacketFlight>,
    /// Senders that are stopped, and the times at which they were.
    #[serde(skip)]
    stopped: BTreeMap<NodePort, u64>,
    /// Character period and phase of what slow ports receive, in periods of the full rate.
    #[serde(skip)]
    clocks: BTreeMap<NodePort, (u64, u64)>,
}

/// Latencies of the same packets, in periods of the full rate (`docs/output.md`, Latency).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketLatencies {
    /// Queue times: from ready at the host to the first byte leaving it.
    pub queue: LogHistogram,
    /// Transfer times: from the first byte leaving the host to consumption.
    pub transfer: LogHistogram,
    /// Packet latencies: from ready at the host to consumption.
    pub packet: LogHistogram,
    /// Network latencies: from the first byte leaving the host to its arrival at the receiver.
    pub network: LogHistogram,
}

fn length<K, V, S: Serializer>(map: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error> {
    map.len().serialize(serializer)
}

/// Times of a packet in transit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PacketFlight {
    ready: u64,
    injected: u64,
    /// Arrival of the first byte at the latest port that has received the packet.
    arrived: Option<(NodePort, u64)>,
    /// Last event of the packet.
    moved: u64,
    purpose: FlightPurpose,
}

impl PacketLatencies {
    fn record(&mut self, flight: PacketFlight, consumed: &TruthEvent) {
        let PacketFlight { ready, injected, arrived, .. } = flight;
        self.queue.record(injected.saturating_sub(ready));
        self.transfer.record(consumed.at.saturating_sub(injected));
        self.packet.record(consumed.at.saturating_sub(ready));
        if let Some((_, at)) = arrived.filter(|(place, _)| *place == consumed.place) {
            self.network.record(at.saturating_sub(injected));
        }
    }
}

impl RunStatistics {
    /// Statistics of a scenario's run. Payload and latencies count from `warm_up` on.
    pub fn new(scenario: &Scenario, warm_up: u64) -> Self {
        let ends = scenario.topology.cables().iter().flat_map(|cable| {
            let [a, b] = cable.ends;
            // A port receives at the rate of the other end.
            let [own, far] = cable.link.ports.map(|port| u64::from(port.divisor.get()));
            [(a, far), (b, own)].map(|(end, period)| (end, (period, cable.link.delay.0 % period)))
        });
        let clocks = ends.filter(|(_, (period, _))| *period != 1).collect();
        Self { warm_up, clocks, ..Self::default() }
    }

    /// Measures only what comes before a time: the payload delivered up to then, and the latencies of packets that
    /// were ready by then.
    pub fn until(mut self, end: u64) -> Self {
        self.end = Some(end);
        self
    }

    fn is_measured(&self, at: u64) -> bool {
        at >= self.warm_up && self.end.is_none_or(|end| at < end)
    }

    /// Records an event; events come in order of time.
    pub fn observe(&mut self, happened: &TruthEvent) {
        self.periods = self.periods.max(happened.at.saturating_add(1));
        self.observe_progress(happened);
        if let TruthEventKind::Injected { length, queued } = happened.kind {
            self.injected += 1;
            self.injected_bytes = self.injected_bytes.saturating_add(length);
            let ready = happened.at.saturating_sub(queued);
            let purpose = self.repairs.purpose_from(happened.place.node);
            let (injected, arrived) = (happened.at, None);
            let flight = PacketFlight { ready, injected, arrived, moved: injected, purpose };
            self.under_way.extend(happened.packet.map(|packet| (packet, flight)));
        } else if let TruthEventKind::Received(frame) = &happened.kind {
            let (period, phase) =
                self.clocks.get(&happened.place.whole()).copied().unwrap_or((1, 0));
            let flight = happened.packet.and_then(|packet| self.under_way.get_mut(&packet));
            if let Some(flight) = flight {
                let at = frame.start.saturating_mul(period).saturating_add(phase);
                flight.arrived = Some((happened.place.whole(), at));
            }
        } else if let TruthEventKind::Consumed { length, handling, .. } = happened.kind {
            let flight = self.leave(happened);
            let purpose = flight.map(|flight| flight.purpose);
            self.repairs.observe_end(happened.at, purpose, Some(handling));
            self.consumed += 1;
            *self.handlings.entry(handling).or_default() += 1;
            let is_mapping = purpose == Some(FlightPurpose::Mapping);
            if handling == PacketHandling::Delivered && !is_mapping {
                // Of its header only the tag is left. P-2
                if self.is_measured(happened.at) {
                    self.payload = self.payload.saturating_add(length.saturating_sub(2));
                }
                if let Some(flight) = flight.filter(|flight| self.is_measured(flight.ready)) {
                    self.latencies.record(flight, happened);
                }
            } else {
                self.lose(flight);
            }
        } else if let TruthEventKind::Dropped(rule) = happened.kind {
            let flight = self.leave(happened);
            self.lose(flight);
            self.repairs.observe_end(happened.at, flight.map(|flight| flight.purpose), None);
            *self.drops.entry(rule).or_default() += 1;
        } else if let TruthEventKind::Truncated(rule) = happened.kind {
            *self.truncations.entry(rule).or_default() += 1;
        } else if happened.kind == TruthEventKind::Merged {
            let flight = self.leave(happened);
            self.lose(flight);
            self.repairs.observe_end(happened.at, flight.map(|flight| flight.purpose), None);
            self.merged += 1;
        } else if happened.kind == TruthEventKind::Overflow {
            self.overflows += 1;
        } else if let TruthEventKind::WireError { .. } = happened.kind {
            self.wire_errors += 1;
        } else if let TruthEventKind::Blocked(_) = happened.kind {
            self.blocked += 1;
        } else {
            if let TruthEventKind::MappingTransmitted(_) = happened.kind {
                let flight = happened.packet.and_then(|packet| self.under_way.get_mut(&packet));
                flight.into_iter().for_each(|flight| flight.purpose = FlightPurpose::Mapping);
            }
            self.repairs.observe(happened);
        }
    }

    /// Records what moves and what is stopped.
    fn observe_progress(&mut self, happened: &TruthEvent) {
        // The end of a run ends frames.
        let is_frame =
            matches!(happened.kind, TruthEventKind::Sent(_) | TruthEventKind::Received(_));
        let flight = happened.packet.filter(|_| !is_frame);
        if let Some(flight) = flight.and_then(|packet| self.under_way.get_mut(&packet)) {
            flight.moved = happened.at;
        }
        if happened.kind == TruthEventKind::SenderStopped {
            self.stopped.entry(happened.place).or_insert(happened.at);
        } else if let TruthEventKind::SenderResumed(_) = happened.kind {
            self.stopped.remove(&happened.place);
        }
    }

    /// Packets in transit.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Measured packets in transit.
    pub fn measured_under_way(&self) -> u64 {
        self.under_way.values().filter(|flight| self.counts(flight)).count() as u64
    }

    fn counts(&self, flight: &PacketFlight) -> bool {
        flight.purpose != FlightPurpose::Mapping && self.is_measured(flight.ready)
    }

    fn lose(&mut self, flight: Option<PacketFlight>) {
        self.lost += u64::from(flight.is_some_and(|flight| self.counts(&flight)));
    }

    /// Packets dropped, all rules.
    pub fn dropped(&self) -> u64 {
        self.drops.values().sum()
    }

    /// Removes a packet in transit and returns its times.
    fn leave(&mut self, happened: &TruthEvent) -> Option<PacketFlight> {
        self.under_way.remove(&happened.packet?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::MappingNotice;
    use crate::topology::NodeId;
    use crate::truth::{BlockedEscape, FrameTracker};
    use codec::framing::FrameEnd;
    use codec::mapping::{InterfaceAddress, MapVersion};
    use codec::packet::CrcCheck;
    use codec::route::PortId;

    #[test]
    fn shares_are_parts_per_million() {
        let channel =
            ChannelStatistics { periods: 31, data: 20, stopped: 7, commands: 2, packets: 1 };
        // 20/31 = 0.645161…, 7/31 = 0.225806…, 2/31 = 0.064516…
        assert_eq!(
            (channel.utilisation(), channel.stoppage(), channel.overhead()),
            (645_161, 225_806, 64_516)
        );
        assert_eq!(ChannelStatistics::default().utilisation(), 0);
    }

    fn happened(at: u64, number: u32, what: TruthEventKind) -> TruthEvent {
        let place = NodePort { node: NodeId(0), port: PortId(0) };
        let packet = Some(PacketId { host: NodeId(0), number });
        TruthEvent { at, time_ps: None, place, packet, kind: what }
    }

    const fn consumed(length: u64, handling: PacketHandling) -> TruthEventKind {
        TruthEventKind::Consumed { length, check: CrcCheck::Good, handling }
    }

    #[test]
    fn packets_are_followed_from_injection_to_their_end() {
        let mut run = RunStatistics::default();
        for number in 0..5 {
            run.observe(&happened(10, number, TruthEventKind::Injected { length: 67, queued: 4 }));
        }
        run.observe(&happened(110, 0, consumed(66, PacketHandling::Delivered)));
        run.observe(&happened(120, 1, consumed(66, PacketHandling::Corrupt)));
        run.observe(&happened(130, 2, TruthEventKind::Dropped(RuleId("S-1"))));
        run.observe(&happened(135, 3, TruthEventKind::Truncated(RuleId("R-4"))));
        run.observe(&happened(140, 3, TruthEventKind::Merged));
        run.observe(&happened(150, 4, TruthEventKind::Overflow));
        run.observe(&happened(160, 4, TruthEventKind::Blocked(BlockedEscape::Gap)));
        assert_eq!((run.injected, run.injected_bytes, run.consumed), (5, 335, 2));
        assert_eq!(
            (run.payload, run.latencies.transfer.count(), run.latencies.packet.max()),
            (64, 1, Some(104))
        );
        assert_eq!(
            run.handlings,
            [(PacketHandling::Delivered, 1), (PacketHandling::Corrupt, 1)].into()
        );
        assert_eq!((run.dropped(), run.drops), (1, [(RuleId("S-1"), 1)].into()));
        assert_eq!(run.truncations, [(RuleId("R-4"), 1)].into());
        assert_eq!((run.merged, run.overflows, run.blocked), (1, 1, 1));
        assert_eq!((run.under_way.len(), run.periods), (1, 161));
    }

    #[test]
    fn a_packet_that_comes_out_twice_has_one_latency() {
        let mut run = RunStatistics::default();
        run.observe(&happened(0, 0, TruthEventKind::Injected { length: 10, queued: 0 }));
        run.observe(&happened(50, 0, consumed(9, PacketHandling::Delivered)));
        run.observe(&happened(60, 0, consumed(9, PacketHandling::Delivered)));
        assert_eq!((run.consumed, run.payload, run.latencies.transfer.count()), (2, 14, 1));
    }

    /// The first period of a slow port ends when the delay of its cable does.
    #[test]
    fn a_packet_arrives_in_a_period_of_its_port() {
        for (divisor, arrived) in [(1, 20), (2, 41), (3, 62)] {
            let text = format!(
                "duration_us = 9\nhost = [{{ name = 'h0' }}, {{ name = 'h1' }}]\n[link]\n\
                 rate_divisor = {divisor}\ndelay_periods = 5\n[[cable]]\nends = ['h0:0', 'h1:0']\n"
            );
            let mut run = RunStatistics::new(&Scenario::read("net.toml", &text).unwrap(), 0);
            let mut frame = FrameTracker::default();
            (20..23).for_each(|at| frame.data(at, 5));
            for (at, kind) in [
                (10, TruthEventKind::Injected { length: 3, queued: 0 }),
                (66, TruthEventKind::Received(frame.end(FrameEnd::Gap).unwrap())),
                (70, consumed(3, PacketHandling::Delivered)),
            ] {
                run.observe(&happened(at, 0, kind));
            }
            assert_eq!(run.latencies.network.max(), Some(arrived - 10), "{divisor}");
        }
    }

    /// N-4: a packet is lost whichever routes it took, until one of renewed routes arrives.
    #[test]
    fn packets_are_lost_until_a_repair_is_seen() {
        let (mapper, version) = (InterfaceAddress::new(0x0060_dd01_0203).unwrap(), MapVersion(2));
        let renewed =
            TruthEventKind::Mapping(MappingNotice::Installed { mapper, version, routes: 3 });
        let fault = TruthEventKind::Fault("cut".to_owned());
        let (lost, arrived) =
            (TruthEventKind::Dropped(RuleId("S-1")), consumed(9, PacketHandling::Delivered));
        let kinds = [&renewed, &fault, &lost, &arrived, &renewed, &lost, &arrived, &lost];
        let mut run = RunStatistics::default();
        for (at, kind) in (0..).step_by(2).zip(kinds) {
            run.observe(&happened(at, 0, TruthEventKind::Injected { length: 9, queued: 0 }));
            run.observe(&happened(at + 1, 0, kind.clone()));
        }
        let repair = NetworkRepair { fault: 3, took: Some(10), lost: 2 };
        assert_eq!(run.repairs.list(), [repair]);
    }

    /// Payload counts where it is consumed, a latency and a loss where the packet was ready.
    #[test]
    fn what_is_measured_begins_with_the_warm_up_and_ends_before_the_end() {
        let (warm_up, end) = (100, 200);
        let is_inside = |at| u64::from((warm_up..end).contains(&at));
        let run = || RunStatistics { warm_up, ..RunStatistics::default() }.until(end);
        let injected =
            |ready| happened(ready + 5, 0, TruthEventKind::Injected { length: 9, queued: 5 });
        for at in [99, 100, 101, 150, 199, 200, 201] {
            for (ready, until) in [(at, 300), (50, at), (150, at.max(160))] {
                let mut seen = run();
                seen.observe(&injected(ready));
                seen.observe(&happened(until, 0, consumed(9, PacketHandling::Delivered)));
                let found = (seen.payload, seen.latencies.packet.count());
                assert_eq!(found, (7 * is_inside(until), is_inside(ready)), "{ready} to {until}");
            }
            for end in [
                TruthEventKind::Dropped(RuleId("S-1")),
                TruthEventKind::Merged,
                consumed(9, PacketHandling::Corrupt),
            ] {
                let mut seen = run();
                seen.observe(&injected(at));
                assert_eq!(seen.measured_under_way(), is_inside(at), "{at}");
                seen.observe(&happened(300, 0, end));
                assert_eq!(seen.lost, is_inside(at), "{at}");
            }
        }
    }
}
