//! All that the rules leave to a port, and links whose ends differ: no law takes it for wrong.

use std::collections::BTreeSet;

use laws::judged_network::planned;
use laws::network::facts;
use laws::network::input::NetworkInput;
use laws::repair::SeededRng;
use simulator::link::PortParameters;

#[test]
fn random_networks_of_all_variants_and_unlike_ends_keep_the_laws() {
    let (mut dice, mut seen) = (SeededRng::new(b"what is left to a port"), BTreeSet::new());
    for number in 0..150 {
        // So many that the last of them, which are about ends, are drawn too.
        let plan = NetworkInput::from_bytes(&dice.bytes(700)).unwrap();
        let Some(scenario) = plan.scenario() else { continue };
        for link in scenario.topology.cables().iter().map(|cable| cable.link) {
            let [a, b] = link.ports;
            for PortParameters { reset, fill, framing, replies, .. } in [a, b] {
                seen.extend([format!("{reset:?}"), format!("{framing:?}"), format!("{replies}")]);
                seen.extend(format!("{fill:?}").split('(').next().map(str::to_owned));
            }
            let unlike = [
                ("slack", a.slack != b.slack),
                ("latencies", (a.generation, a.interpretation) != (b.generation, b.interpretation)),
                ("symbols", a.symbols != b.symbols),
                ("rates", a.divisor != b.divisor),
                ("silence", !facts::keeps_alive(&link)),
            ];
            seen.extend(
                unlike.iter().filter(|(_, unlike)| *unlike).map(|(it, _)| (*it).to_owned()),
            );
        }
        let held = std::panic::catch_unwind(|| planned(&plan));
        assert!(held.is_ok(), "{number}: {}", crate::file(plan.draft()));
    }
    let all = "Chip Commands Free Gaps Idle NextGap OwnGap Waits false latencies rates silence slack symbols true";
    assert_eq!(seen.into_iter().collect::<Vec<_>>().join(" "), all);
}
