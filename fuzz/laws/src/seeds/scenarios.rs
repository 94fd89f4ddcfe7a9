//! Seeds of networks and switches: random bytes, chosen for what happens in the runs that they stand
//! for, after which they are named.

use super::CorpusSeed;
use crate::repair::SeededRng;

/// Bytes of each. *Chosen*: a plan seldom takes more.
const LEN: usize = 200;

/// Seeds of networks and switches: target or mode, event that occurs at least twice, seed of the generator.
const RUNS: [(&str, &str, u64); 34] = [
    ("analyze", "blocked", 79),
    ("analyze", "overflow", 5),
    ("analyze", "open-link", 0),
    ("analyze", "truncated", 72),
    ("analyze", "forward-reset", 35),
    ("analyze", "sender-resumed", 0),
    ("crossbar", "overflow", 54),
    ("crossbar", "dropped", 1),
    ("crossbar", "forwarded", 18),
    ("crossbar", "forward-reset", 375),
    ("crossbar", "sender-resumed", 63),
    ("crossbar", "reply", 38),
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
    ("network-switch", "overflow", 0),
    ("network-switch", "dropped", 0),
    ("network-switch", "forwarded", 0),
    ("network-switch", "blocked", 223),
    ("network-switch", "probe", 16),
    ("network-switch", "merged", 223),
    ("network-switch", "sender-resumed", 0),
    ("network-talk", "message-returned", 2),
    ("network-talk", "endpoint-unloaded", 5),
    ("analyze-threads", "overflow", 4),
    ("analyze-threads", "open-link", 1),
];

pub(super) fn all() -> impl Iterator<Item = CorpusSeed> {
    let bytes = |name: String, len| SeededRng::new(name.as_bytes()).bytes(len);
    // Messages take as many bytes again.
    let len = |target| if target == "network-talk" { 2 * LEN } else { LEN };
    RUNS.into_iter().map(move |(target, name, dice)| {
        // The generator was seeded with the names that modes had.
        let seed = target.rsplit('-').next().unwrap_or(target);
        (target, name, bytes(format!("{seed} {dice}"), len(target)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::input::{NetworkInput, SwitchInput};
    use crate::network::run::run;
    use crate::{crossbar, delivery};
    use simulator::network::VisitOrder;
    use simulator::scenario::Scenario;
    use simulator::truth::TraceLevel;

    fn scenario(target: &str, bytes: &[u8]) -> Option<Scenario> {
        match target {
            "network" | "analyze" | "analyze-threads" => {
                NetworkInput::from_bytes(bytes)?.scenario()
            }
            "network-switch" => NetworkInput::from(SwitchInput::from_bytes(bytes)?).scenario(),
            "crossbar" => crossbar::scenario(SwitchInput::from_bytes(bytes)?),
            // Long enough for the longest patience.
            "network-talk" => {
                let scenario = delivery::ConversationInput::from_bytes(bytes)?.scenario()?;
                Some(Scenario { duration: 2_000_000, taps: Vec::new(), ..scenario })
            }
            _ => None,
        }
    }

    fn count(target: &str, name: &str, bytes: &[u8]) -> usize {
        let scenario = scenario(target, bytes).unwrap();
        let rows = run(&scenario, TraceLevel::Everything, VisitOrder::AsGiven, 1000).rows;
        rows.iter().filter(|row| row.kind.name() == name).count()
    }

    #[test]
    fn every_seed_of_a_run_shows_what_it_is_named_after() {
        for (target, name, bytes) in all().filter(|(target, ..)| *target != "link") {
            let count = count(target, name, &bytes);
            assert!(count >= 2, "{target}/{name}: {count}");
        }
    }
}
