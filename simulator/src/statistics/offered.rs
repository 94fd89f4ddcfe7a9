//! Offered load: what the streams of a scenario have to send, however much the network accepts.

use std::ops::Range;

use crate::scenario::Scenario;
use crate::traffic::{StreamGenerator, TrafficStream};

/// Packets that become ready at their hosts in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfferedLoad {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes of payload.
    pub payload: u64,
}

impl OfferedLoad {
    /// The load in a span, in periods of the full rate. None unless the times of all packets are given: with
    /// `saturate` and `window` they depend on the network, as do those of messages, IP and multicasts.
    pub fn of(scenario: &Scenario, span: Range<u64>) -> Option<Self> {
        let is_open = |stream: &TrafficStream| {
            let mut arrivals = stream.arrivals;
            let is_timed = arrivals.interval_mut().is_some();
            is_timed && stream.protocol.is_none() && stream.multicast.is_none()
        };
        let is_alone = scenario.messaging.is_empty() && scenario.replays.is_empty();
        if !is_alone || !scenario.streams.iter().all(is_open) {
            return None;
        }
        let mut load = Self::default();
        for host in scenario.topology.hosts() {
            let (streams, rng) = scenario.host_streams(host);
            for mut stream in StreamGenerator::each(streams, rng) {
                load.add(&mut stream, &span);
            }
        }
        Some(load)
    }

    fn add(&mut self, stream: &mut StreamGenerator, span: &Range<u64>) {
        while let Some(due) = stream.due().filter(|due| *due < span.end) {
            let Some(packet) = stream.draw(due, 0) else { return };
            if due >= span.start {
                self.packets += 1;
                self.payload = self.payload.saturating_add(packet.length.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Network, VisitOrder};
    use crate::statistics::RunStatistics;
    use crate::truth::TraceLevel;

    const STAR: &str = "duration_us = 100\n[topology]\nkind = \"switch\"\nhosts = 4\n";

    fn star(text: &str) -> Scenario {
        Scenario::read("net.toml", &format!("{STAR}[[traffic]]\n{text}")).unwrap()
    }

    #[test]
    fn constant_streams_offer_what_is_due_in_the_span() {
        let scenario = star("to = \"shift\"\npayload = 50\nevery_us = 10\nstart_us = 5\n");
        // Of each host at 25, 35, …, 95 µs, or without the last.
        for (span, times) in [(1_600..8_000, 8), (2_000..7_600, 7)] {
            let load = OfferedLoad { packets: 4 * times, payload: 4 * times * 50 };
            assert_eq!(OfferedLoad::of(&scenario, span), Some(load));
        }
    }

    /// The network sends the very packets: at a low load each of them arrives.
    #[test]
    fn an_idle_network_accepts_what_is_offered() {
        let scenario = star("to = \"uniform\"\npayload = [1, 60]\nload = 0.1\n");
        let load = OfferedLoad::of(&scenario, 800..8_000).unwrap();
        let mut network = Network::new(&scenario, TraceLevel::Everything, VisitOrder::AsGiven);
        let mut seen = RunStatistics::new(&scenario, 800).until(8_000);
        network.run(16_000);
        network.drain_events().for_each(|event| seen.observe(&event));
        assert_eq!(seen.latencies.packet.count(), load.packets);
        assert!(load.packets > 20 && seen.measured_under_way() == 0 && seen.lost == 0);
    }

    #[test]
    fn a_load_that_depends_on_the_network_is_unknown() {
        for text in ["saturate = true", "window = 2", "every_us = 10\nmulticast = 2"] {
            let scenario =
                star(&format!("from = \"h0\"\nto = [\"h1\", \"h2\"]\npayload = 50\n{text}\n"));
            assert_eq!(OfferedLoad::of(&scenario, 0..8_000), None, "{text}");
        }
    }
}
