//! What stands still is found, and nothing else; a sentence names who held up whom.

use analyzer::render::held_up;
use laws::corpus;
use laws::network::analyzed::AnalyzedCapture;
use laws::network::run::RunOutcome;
use laws::repair::draws;
use laws::standstill::circle::{CircleNetwork, CircleShape};
use laws::standstill::{StandstillTally, TappedPart};
use simulator::scenario::{PortTap, Scenario};

#[test]
fn what_stands_still_is_never_green_and_what_moves_is_never_accused() {
    for part in TappedPart::ALL {
        let StandstillTally { still, green, free, accused, .. } =
            StandstillTally::of(0..draws(36), part);
        assert!(still > 5 && free > 5, "{part:?}: {still} {free}");
        assert_eq!((green, accused), (vec![], vec![]), "{part:?}");
    }
    // A packet left by the port at which another waited, with bytes of its own: it was not that one. And two that
    // wait to the end for an output that others use.
    for number in [334, 959, 1375, 1538] {
        let tally = StandstillTally::of(number..number + 1, TappedPart::Some);
        assert_eq!((tally.still, tally.green), (1, vec![]));
    }
}

/// R-4, N-2
#[test]
fn the_circle_of_packets_is_named_in_every_topology() {
    for (shape, start) in CircleShape::ALL.into_iter().flat_map(CircleShape::starts) {
        let networks = (0..draws(8)).filter_map(|number| CircleNetwork::of(shape, start, number));
        let compared: Vec<_> = networks.filter_map(|network| network.compare()).collect();
        assert!(compared.len() > 2, "{shape:?} {start:?}");
        assert_eq!(compared.concat(), Vec::<String>::new(), "{shape:?} {start:?}");
    }
}

/// The sentences before the findings of a scenario, with these ports tapped; as it is without any.
fn sentences(file: &str, ports: &[&str]) -> String {
    let text = String::from_utf8(corpus::file(&format!("fixtures/{file}"))).unwrap();
    let mut scenario = Scenario::read(file, &text).unwrap();
    let tap = |name: &&str| {
        let (node, port) = name.split_once(':').unwrap();
        let node = scenario.topology.find(node).unwrap();
        let port = codec::route::PortId(port.parse().unwrap());
        let port = simulator::topology::NodePort { node, port };
        PortTap { port, from: 0, to: scenario.duration }
    };
    if !ports.is_empty() {
        scenario.taps = ports.iter().map(tap).collect();
    }
    let outcome = RunOutcome::untold(&scenario);
    let set = AnalyzedCapture::of(&outcome.capture).set;
    let lines = held_up(&set, &|id| outcome.channels.get(id.0 as usize));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_sentence_names_who_held_up_whom() {
    let cases: [(&str, &[&str]); 17] = [
        ("standstill/deadlock-mesh.toml", &[]),
        ("standstill/slow-host.toml", &[]),
        ("standstill/slow-host.toml", &["sw:3"]),
        ("standstill/slow-host.toml", &["sw:0"]),
        ("standstill/handshake.toml", &[]),
        ("standstill/pause.toml", &[]),
        ("standstill/unfinished.toml", &[]),
        ("demo-ring/scenario.toml", &[]),
        ("demo-ring/scenario.toml", &["s0:0", "h0:0"]),
        ("standstill/two-circles.toml", &[]),
        ("standstill/loop-cable.toml", &[]),
        ("standstill/circle-again.toml", &[]),
        ("standstill/late-tap.toml", &[]),
        ("standstill/late-circle.toml", &[]),
        ("standstill/late-sinks.toml", &[]),
        ("standstill/slow-then-dead.toml", &[]),
        ("standstill/two-senders.toml", &[]),
    ];
    let texts = cases.map(|(file, ports)| format!("{file} {ports:?}\n{}", sentences(file, ports)));
    insta::assert_snapshot!(texts.concat());
}
