//! A network that is simulated once and analysed once, and judged by all laws.

use std::sync::OnceLock;

use analyzer::score::ScoreReport;
use simulator::network::VisitOrder;
use simulator::scenario::Scenario;
use simulator::truth::TraceLevel;

use crate::network::analyzed::AnalyzedCapture;
use crate::network::run::{RunOutcome, run};
use crate::score;

/// A run of a scenario, with the analysis of its capture and the score of that, each made when a law first asks.
#[derive(Debug)]
pub struct JudgedNetwork {
    pub scenario: Scenario,
    pub outcome: RunOutcome,
    analysis: OnceLock<AnalyzedCapture>,
    score: OnceLock<ScoreReport>,
}

impl JudgedNetwork {
    /// Simulates a scenario.
    pub fn of(scenario: Scenario) -> Self {
        let outcome = run(&scenario, TraceLevel::Everything, VisitOrder::AsGiven, 1 << 16);
        Self::new(scenario, outcome)
    }

    pub const fn new(scenario: Scenario, outcome: RunOutcome) -> Self {
        Self { scenario, outcome, analysis: OnceLock::new(), score: OnceLock::new() }
    }

    pub fn analysis(&self) -> &AnalyzedCapture {
        self.analysis.get_or_init(|| AnalyzedCapture::of(&self.outcome.capture))
    }

    /// The analysis compared with the truth.
    pub fn score(&self) -> &ScoreReport {
        self.score.get_or_init(|| {
            let score = score::of(&self.scenario, &self.outcome);
            assert!(score.is_ok(), "{:?}", score.err());
            score.unwrap_or_default()
        })
    }
}
