//! The words for packets that stand still at the end of a run.

use simulator::statistics::{StandingCause, StandingPackets};

use super::{StatisticsOfRun, time};

/// Time since which packets stand still, and the causes.
pub(super) fn standstill(run: StatisticsOfRun<'_>, standing: &StandingPackets) -> String {
    let topology = &run.scenario.topology;
    let (mut hosts, mut words) = (Vec::new(), Vec::new());
    for cause in &standing.causes {
        match cause {
            StandingCause::Host(host) => hosts.extend(topology.node(*host)),
            StandingCause::Deadlock => words.push("deadlock".to_owned()),
            StandingCause::Unfinished => {
                words.push("the rest of a packet does not come".to_owned());
            }
        }
    }
    if let Some((host, others)) = hosts.split_first() {
        let name = &host.name;
        words.push(match others.len() {
            0 => format!("{name} takes too little"),
            more => format!("{name} and {more} more take too little"),
        });
    }
    format!("stand still since {} µs: {}", time(standing.since), words.join(", "))
}
