//! What stands still at the end of a run.

use simulator::statistics::StandingPackets;
use simulator::topology::NodeId;

use super::{StatisticsOfRun, time};

/// What stands still, since when and why. Each stopped sender waits for another one, unless the chain ends at a
/// host or at a link without a sender or receiver.
pub(super) fn standstill(run: StatisticsOfRun<'_>, standing: &StandingPackets) -> String {
    let topology = &run.scenario.topology;
    let far = standing.senders.iter().filter_map(|port| topology.peer(*port));
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let mut hosts: Vec<_> = far.map(|port| port.node).filter(|node| hosts.contains(node)).collect();
    hosts.dedup();
    let mut names = hosts.iter().filter_map(|host| Some(&*topology.node(*host)?.name));
    let is_broken = !run.scenario.faults.is_empty();
    let why = match names.next() {
        Some(host) => match names.count() {
            0 => format!("{host} takes too little"),
            more => format!("{host} and {more} more take too little"),
        },
        None if is_broken => "deadlock, or a fault ahead".to_owned(),
        None => "deadlock".to_owned(),
    };
    format!("stand still since {} µs: {why}", time(standing.since))
}
