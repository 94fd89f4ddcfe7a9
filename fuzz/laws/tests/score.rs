//! The demos of `fixtures/`, scored: all that the wire tells is found, and nothing else.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on stops")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use analyzer::score::Score;
use laws::score::scored;
use simulator::scenario::{Scenario, Tap};

/// The demos and what else is simulated among the fixtures, each with its scenario.
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
    assert_eq!(demos.len(), 10);
    demos
}

fn check(name: &str, score: &Score) {
    for row in &score.scores {
        assert!(row.is_perfect(), "{name}: {row:?}\n{:#?}", score.differences);
    }
}

/// Kinds that may go wrong where many packets are cut in a circle, or the recording ends.
const LIKELY: [&str; 3] = ["journey", "fate", "injury"];

fn check_but_journeys(name: &str, mut score: Score) {
    score.scores.retain(|row| !LIKELY.contains(&row.kind));
    check(name, &score);
}

/// The table of `docs/figures.md`.
fn table(scores: &[(String, Score)]) -> String {
    let mut table = String::new();
    for (name, score) in scores {
        let [mut packets, mut events] = [[0; 3]; 2];
        for row in &score.scores {
            let sum = match row.kind {
                "packet" | "open-packet" => &mut packets,
                "journey" | "fate" | "injury" | "fill" => continue,
                _ => &mut events,
            };
            for (sum, more) in sum.iter_mut().zip([row.in_truth, row.found, row.right]) {
                *sum += more;
            }
        }
        let of =
            |kind: &str| score.of(kind).map_or([0; 3], |row| [row.in_truth, row.found, row.right]);
        let cell = |[in_truth, found, right]: [u64; 3]| match (in_truth, found) {
            (0, 0) => "–".to_owned(),
            _ if in_truth == right && found == right => format!("{right}"),
            _ => format!("{right} of {in_truth}, {found} found"),
        };
        let width = score.of("fill").and_then(|row| row.width).unwrap_or_default();
        let Some(name) = name.strip_prefix("demo-") else { continue };
        let cells = [packets, events, of("journey"), of("fate"), of("injury"), of("fill")];
        let cells = cells.map(cell).join(" | ");
        writeln!(table, "| `{name}` | {cells} | {width:.1} |").unwrap();
    }
    table
}

#[test]
fn all_that_the_wire_tells_is_found_in_every_demo() {
    let scores: Vec<_> =
        demos().into_iter().map(|(name, scenario)| (name, scored(&scenario))).collect();
    for (name, score) in &scores {
        check_but_journeys(name, score.clone());
    }
    let table = table(&scores);
    let doc = include_str!("../../../docs/figures.md");
    assert!(doc.contains(&table), "docs/figures.md is to have\n{table}");
}

#[test]
fn at_every_port_of_a_demo_too() {
    for (name, mut scenario) in demos() {
        let ports = scenario.topology.cables().iter().flat_map(|cable| cable.ends);
        scenario.taps = ports.map(|port| Tap { port, from: 0, to: scenario.duration }).collect();
        check_but_journeys(&name, scored(&scenario));
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
        check_but_journeys(&name, scored(&scenario));
    }
}
