//! Packets that stand still at the end of a run, by the waits of its switches.

use std::collections::BTreeSet;

use super::RunStatistics;
use crate::network::{AwaitedPart, Network};
use crate::topology::{NodeId, NodePort};

/// Periods after which a stopped sender, or a packet in transit, stands still. *Chosen*: a packet of 4 kB.
const STANDS: u64 = 1 << 12;
/// Periods after which stopped senders that wait for one another stand still. *Chosen*: the round trip of a
/// kilometre, so that no GO is under way.
const SETTLED: u64 = 1 << 10;

/// Packets that stand still at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingPackets {
    /// Number of packets in transit whose last event was long ago.
    pub packets: u64,
    /// Time since which the first sender has been stopped.
    pub since: u64,
    /// Causes, at the ends of the chains of stopped senders.
    pub causes: BTreeSet<StandingCause>,
}

/// The end of a chain of stopped senders, each of which waits for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StandingCause {
    /// A host that takes too little.
    Host(NodeId),
    /// The chain is a circle.
    Deadlock,
    /// A packet whose rest does not come.
    Unfinished,
}

impl RunStatistics {
    /// Packets behind senders that have been stopped to the end for a time, 51.2 µs at least, or 12.8 µs in a circle; none
    /// behind a sender that only waits while others use its output.
    pub fn standing(&self, network: &Network, time: u64) -> Option<StandingPackets> {
        let ends = self.stopped.iter().filter_map(|(sender, since)| {
            let cause = self.cause(*sender, network)?;
            let least = if cause == StandingCause::Deadlock { SETTLED } else { STANDS };
            (since.saturating_add(least.max(time)) <= network.now()).then_some((*since, cause))
        });
        let ends: Vec<_> = ends.collect();
        let since = ends.iter().map(|(since, _)| *since).min()?;
        let causes: BTreeSet<_> = ends.into_iter().map(|(_, cause)| cause).collect();
        let least = if causes.contains(&StandingCause::Deadlock) { SETTLED } else { STANDS };
        let stands = |moved: u64| moved.saturating_add(least.max(time)) <= network.now();
        let packets = self.under_way.values().filter(|flight| stands(flight.moved)).count();
        Some(StandingPackets { packets: packets as u64, since, causes })
    }

    /// The end of the chain of a stopped sender; none if something moves there.
    fn cause(&self, sender: NodePort, network: &Network) -> Option<StandingCause> {
        let (mut at, mut passed) = (sender, BTreeSet::new());
        while passed.insert(at) {
            match network.awaited(at)? {
                AwaitedPart::Host(host) => return Some(StandingCause::Host(host)),
                AwaitedPart::Output(output) if self.stopped.contains_key(&output) => at = output,
                AwaitedPart::Output(output) => {
                    return network.is_unfinished(output).then_some(StandingCause::Unfinished);
                }
            }
        }
        Some(StandingCause::Deadlock)
    }
}
