//! Runs of scenarios, scored: what the analyzer makes of the capture against the truth.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::score::{ScoreError, ScoreReport, score};
use simulator::scenario::Scenario;

use crate::network::run::RunOutcome;

/// Scores what came of a run.
///
/// # Errors
/// Those of [`score`].
pub fn of(scenario: &Scenario, outcome: &RunOutcome) -> Result<ScoreReport, ScoreError> {
    let truth = truth(scenario, outcome);
    let mut faults = Vec::new();
    let capture = || Ok(outcome.capture.as_slice());
    let score =
        score(capture, truth.as_slice(), LinkAssumptions::default(), &mut |it| faults.push(it));
    assert_eq!(faults, [], "what is written is read");
    score
}

/// Kinds that a capture cannot always identify: packets that are alike, or truncated, may be exchanged, and a
/// journey is in parts where a link is tapped twice, or not at all.
pub const LIKELY: [&str; 3] = ["journey", "fate", "injury"];

/// Kinds of conversations, of IP too, and of mapping. They follow from journeys, which are certain only where every cable is tapped and
/// nothing is truncated.
pub const MESSAGES: [&str; 14] = [
    "data",
    "retransmission",
    "cause",
    "ack",
    "nack",
    "duplicate",
    "refused",
    "gone",
    "mapping-probe",
    "installation",
    "map",
    "mapper",
    "resignation",
    "ip-conversation",
];

/// Checks that all kinds but some are found as they are in the truth.
pub(crate) fn check_all(score: &ScoreReport, but: &[&[&str]]) {
    let checked = |kind: &str| !but.iter().any(|some| some.contains(&kind));
    for row in score.scores.iter().filter(|row| checked(row.kind)) {
        assert!(row.is_perfect(), "what is found happened: {row:?}, {:?}", score.differences);
    }
}

/// The truth about a run, as `docs/truth.md` has it.
pub fn truth(scenario: &Scenario, outcome: &RunOutcome) -> Vec<u8> {
    let mut lines = Vec::new();
    let name = |node| scenario.topology.node(node).map_or("?", |node| &*node.name);
    for row in &outcome.rows {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut lines, &row.row(name));
        lines.push(b'\n');
    }
    lines
}
