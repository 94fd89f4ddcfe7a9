//! Quiescence of a network, from the events of its ports.

use std::collections::BTreeSet;

use codec::transport::MEDIUM_MAX;
use simulator::interface::ConsumptionMode;
use simulator::link::FillMode;
use simulator::scenario::Scenario;
use simulator::topology::{NodePort, Topology};
use simulator::traffic::PayloadSize;
use simulator::truth::{TruthEvent, TruthEventKind};

use super::generator::MILLISECOND;
use crate::variety;

/// Time that nothing has happened at rest, in periods of the full rate, beside what the longest packet
/// takes: of one that was dropped at its head, there is no event until it ends. *Chosen*: longer than any
/// cable with a message over it and back.
const QUIET: u64 = 1 << 12;
/// Time that after everything has been mended, and everybody has begun to send, all must have come to rest.
/// *Chosen*: patience and silence of hosts end within some ten milliseconds, and the blocked-packet
/// timeout, 52 ms, may have to pass several times.
const CALM: u64 = 400 * MILLISECOND;
/// Characters of a packet beside its payload, at most.
const BESIDE: u64 = 1 << 11;

/// Number of times that a message is sent in the mean before its answer has come, at a host that takes what comes more
/// slowly than its sender is patient. *Chosen*
const RESENT: u64 = 8;

/// [`CALM`] for a network: three times as long where hosts wait longer for answers. *Chosen*
pub(super) fn calm_time(topology: &Topology) -> u64 {
    if variety::holds_packets(topology) { 3 * CALM } else { CALM }
}

fn most(size: PayloadSize) -> u32 {
    match size {
        PayloadSize::Fixed(size) => size,
        PayloadSize::Uniform(least, most) => least.max(most),
        PayloadSize::Bimodal { small, large, .. } => small.max(large),
    }
}

/// Time for all messages of hosts, at the slowest host: periods of the full
/// rate.
pub(super) fn busy(scenario: &Scenario) -> u64 {
    let slow = scenario.interfaces.iter().map(|(_, own)| match own.consumption {
        ConsumptionMode::Every(periods) => u64::from(periods.get()),
        ConsumptionMode::Always | ConsumptionMode::Never | ConsumptionMode::Adversary => 1,
    });
    let bytes = |size, count: Option<u64>| u64::from(most(size)).saturating_mul(count.unwrap_or(0));
    let said = scenario.messaging.values().flat_map(|plan| &plan.streams);
    let said = said.map(|it| bytes(it.size, it.count).saturating_mul(RESENT));
    let sent = scenario.streams.iter().map(|it| bytes(it.payload, it.packets));
    let all = said.chain(sent).fold(0, u64::saturating_add);
    all.saturating_mul(slow.max().unwrap_or(1))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PortActivity {
    /// Its sender is stopped. F-2
    Stopped,
    /// It receives nothing. F-7
    Silence,
    /// It sends nothing, without power.
    Silent,
    /// A reset that has not ended came in. R-2
    Reset,
}

#[derive(Clone, Debug)]
pub(super) struct QuiescenceDetector {
    uneasy: BTreeSet<(NodePort, PortActivity)>,
    last: u64,
    quiet: u64,
    /// Ports whose far sender fills without GAP: a reset may last as long as no packet comes. R-2
    gapless: BTreeSet<NodePort>,
}

impl QuiescenceDetector {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let payloads = scenario.streams.iter().map(|stream| most(stream.payload).into());
        let raw = scenario.raw.iter().map(|raw| raw.chars.len() as u64);
        let longest = payloads.chain(raw).chain([MEDIUM_MAX as u64]).max().unwrap_or(0);
        let cables = scenario.topology.cables().iter();
        let ports = cables.flat_map(|cable| cable.link.ports);
        let slowest = ports.map(|port| u64::from(port.divisor.get())).max().unwrap_or(1);
        let quiet = (longest + BESIDE).saturating_mul(slowest).saturating_add(QUIET);
        let has_gaps = |fill| matches!(fill, FillMode::Chip | FillMode::Gaps);
        let cables = scenario.topology.cables().iter();
        let ends = cables.flat_map(|it| {
            let ([a, b], [of_a, of_b]) = (it.ends, it.link.ports);
            [(a, of_b.fill), (b, of_a.fill)]
        });
        let gapless = ends.filter(|(_, fill)| !has_gaps(*fill)).map(|(port, _)| port).collect();
        Self { uneasy: BTreeSet::new(), last: 0, quiet, gapless }
    }

    pub(super) fn see(&mut self, row: &TruthEvent) {
        self.last = self.last.max(row.at);
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "a few kinds of rows begin or end unrest"
        )]
        let (what, begins) = match row.kind {
            TruthEventKind::SenderStopped => (PortActivity::Stopped, true),
            TruthEventKind::SenderResumed(_) => (PortActivity::Stopped, false),
            TruthEventKind::LinkOpen => (PortActivity::Silence, true),
            TruthEventKind::LinkRestored => (PortActivity::Silence, false),
            TruthEventKind::FellSilent => (PortActivity::Silent, true),
            TruthEventKind::SilenceEnded => (PortActivity::Silent, false),
            TruthEventKind::ResetReceived => (PortActivity::Reset, true),
            TruthEventKind::ResetEnded => (PortActivity::Reset, false),
            // Received characters are forgotten without power.
            TruthEventKind::PowerLost => {
                self.uneasy.remove(&(row.place, PortActivity::Silence));
                (PortActivity::Reset, false)
            }
            _ => return,
        };
        if begins {
            self.uneasy.insert((row.place, what));
        } else {
            self.uneasy.remove(&(row.place, what));
        }
    }

    /// Tests whether nothing has happened for a while, and no port is in any other state than at first.
    pub(super) fn is_at(&self, now: u64) -> bool {
        self.uneasy.is_empty() && self.last + self.quiet <= now
    }

    /// Ports in another state than at first, though it must have ended.
    pub(super) fn unsettled(&self) -> Vec<impl std::fmt::Debug + use<>> {
        let lasts = |port, activity| activity == PortActivity::Reset && self.gapless.contains(port);
        self.uneasy.iter().filter(|(port, activity)| !lasts(port, *activity)).copied().collect()
    }
}
