//! Seeds of networks and switches: bytes from dice, chosen for what happens in the runs that they stand
//! for, after which they are named.

use super::Seed;
use crate::repair::Dice;

/// Bytes of each. *Chosen*: a plan seldom takes more.
const LEN: usize = 200;

/// Of networks and switches: target, the kind of event that happens twice at least, dice.
const RUNS: [(&str, &str, u64); 24] = [
    ("analyze", "blocked", 79),
    ("analyze", "overflow", 5),
    ("analyze", "open-link", 0),
    ("analyze", "truncated", 41),
    ("analyze", "forward-reset", 35),
    ("analyze", "sender-resumed", 0),
    ("network", "blocked", 30),
    ("network", "overflow", 6),
    ("network", "merged", 180),
    ("network", "silence-ended", 254),
    ("network", "invalid-code", 4),
    ("network", "overrun-alarm", 6),
    ("network", "backward-reset", 115),
    ("network", "reply", 13),
    ("network", "corrected-code", 4),
    ("network", "open-link", 4),
    ("network", "truncated", 30),
    ("switch", "overflow", 0),
    ("switch", "dropped", 0),
    ("switch", "forwarded", 0),
    ("switch", "blocked", 223),
    ("switch", "probe", 16),
    ("switch", "merged", 223),
    ("switch", "sender-resumed", 0),
];

/// All of them.
pub(super) fn all() -> impl Iterator<Item = Seed> {
    let bytes = |name: String, len| Dice::new(name.as_bytes()).bytes(len);
    let run = move |(target, name, dice)| (target, name, bytes(format!("{target} {dice}"), LEN));
    RUNS.into_iter().map(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::plan::{Plan, SwitchPlan};
    use crate::network::run::run;
    use simulator::network::Layout;
    use simulator::truth::Wanted;

    #[test]
    fn every_seed_of_a_run_shows_what_it_is_named_after() {
        for (target, name, bytes) in all() {
            let plan: Option<Plan> = match target {
                "network" | "analyze" => Plan::from_bytes(&bytes),
                "switch" => SwitchPlan::from_bytes(&bytes).map(Plan::from),
                _ => continue,
            };
            let scenario = plan.and_then(|plan| plan.scenario()).unwrap();
            let rows = run(&scenario, Wanted::Everything, Layout::AsGiven, 1000).rows;
            let count = rows.iter().filter(|row| row.what.kind() == name).count();
            assert!(count >= 2, "{target}/{name}: {count}");
        }
    }
}
