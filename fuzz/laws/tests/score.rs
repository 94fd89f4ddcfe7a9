//! The demos of `fixtures/`, scored: all that the wire tells is found, and nothing else.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on stops")]

use std::fs;
use std::path::Path;

use analyzer::score::Score;
use laws::score::scored;
use simulator::scenario::{Scenario, Tap};

/// The demos, each with its scenario.
#[expect(clippy::disallowed_methods, reason = "the fixtures are files")]
fn demos() -> Vec<(String, Scenario)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut demos = Vec::new();
    for entry in fs::read_dir(fixtures).unwrap() {
        let directory = entry.unwrap();
        let name = directory.file_name().to_string_lossy().into_owned();
        let Ok(text) = fs::read(directory.path().join("scenario.toml")) else { continue };
        let text = String::from_utf8(text).unwrap();
        let scenario = Scenario::read(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        demos.push((name, scenario));
    }
    demos.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(demos.len(), 9);
    demos
}

/// Kinds that are still to be found.
const TO_COME: [&str; 3] = ["journey", "fate", "injury"];

fn check(name: &str, score: &Score) {
    for row in score.scores.iter().filter(|row| !TO_COME.contains(&row.kind)) {
        assert!(row.is_perfect(), "{name}: {row:?}\n{:#?}", score.differences);
    }
}

#[test]
fn all_that_the_wire_tells_is_found_in_every_demo() {
    for (name, scenario) in demos() {
        check(&name, &scored(&scenario));
    }
}

#[test]
fn at_every_port_of_a_demo_too() {
    for (name, mut scenario) in demos() {
        let ports = scenario.topology.cables().iter().flat_map(|cable| cable.ends);
        scenario.taps = ports.map(|port| Tap { port, from: 0, to: scenario.duration }).collect();
        check(&name, &scored(&scenario));
    }
}

/// Taps that begin in the middle see packets and stops that they know nothing of.
#[test]
fn in_a_part_of_a_demo_too() {
    for (name, mut scenario) in demos() {
        if name == "demo-ring" {
            continue;
        }
        let ports = scenario.topology.cables().iter().flat_map(|cable| cable.ends);
        let (from, to) = (scenario.duration / 3, scenario.duration / 3 * 2);
        scenario.taps = ports.map(|port| Tap { port, from, to }).collect();
        check(&name, &scored(&scenario));
    }
}
