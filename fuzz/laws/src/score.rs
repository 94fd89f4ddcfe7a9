//! Runs of scenarios, scored: what the analyzer makes of the capture against the truth.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::score::{ScoreError, ScoreReport, score};
use simulator::network::VisitOrder;
use simulator::scenario::Scenario;
use simulator::truth::TraceLevel;

use crate::network::run::{RunOutcome, run};

/// Runs a scenario and scores its capture.
///
/// # Panics
/// If the capture cannot be scored.
#[must_use]
pub fn scored(scenario: &Scenario) -> ScoreReport {
    let outcome = run(scenario, TraceLevel::Everything, VisitOrder::AsGiven, 1 << 16);
    let score = of(scenario, &outcome);
    assert!(score.is_ok(), "{:?}", score.err());
    score.unwrap_or_default()
}

/// Scores what came of a run.
///
/// # Errors
/// Those of [`score`].
///
/// # Panics
/// If the capture is not as it should be.
pub fn of(scenario: &Scenario, outcome: &RunOutcome) -> Result<ScoreReport, ScoreError> {
    let truth = truth(scenario, outcome);
    let mut faults = Vec::new();
    let capture = || Ok(outcome.capture.as_slice());
    let score =
        score(capture, truth.as_slice(), LinkAssumptions::default(), &mut |it| faults.push(it));
    assert_eq!(faults, [], "what is written is read");
    score
}

/// The truth about a run, as `docs/truth.md` has it.
#[must_use]
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
