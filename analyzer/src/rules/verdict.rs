//! Verdicts of a capture on the rules.

use serde::Serialize;

use super::{Rule, RuleVisibility};
use crate::finding::{FindingSet, Severity};
use crate::link::parameters::UnknownParameters;

/// Verdict of a capture on a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleVerdict {
    /// The rule.
    pub rule: &'static Rule,
    /// The outcome.
    pub outcome: RuleOutcome,
    /// Number of times that it was put to the test.
    pub times: u64,
    /// Number of errors and warnings from it.
    pub findings: u64,
}

/// Outcome of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    /// It was put to the test, and nothing was wrong.
    Pass,
    /// There are errors or warnings.
    Fail,
    /// Nothing came that it is about: no such things.
    NotExercised(&'static str),
    /// This capture lacks what it takes.
    CannotTell(&'static str),
    /// These parameters are neither declared nor given.
    NotKnown(UnknownParameters),
    /// No capture can show it.
    NeverShown(&'static str),
}

/// A row of `myriscope check`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictRow {
    /// The rule's id.
    pub rule: &'static str,
    /// [`RuleOutcome::name`].
    pub verdict: &'static str,
    /// Number of times that the rule was put to the test.
    pub times: u64,
    /// Number of errors and warnings from it.
    pub findings: u64,
    /// Reason why it is neither passed nor failed.
    pub reason: Option<String>,
}

/// The verdict on every rule, in order.
#[must_use]
pub fn verdicts(ledger: &FindingSet) -> Vec<RuleVerdict> {
    super::all().map(|rule| rule.verdict(ledger)).collect()
}

impl Rule {
    /// The verdict of a capture on it.
    #[must_use]
    pub fn verdict(&'static self, ledger: &FindingSet) -> RuleVerdict {
        let wrong = self.findings().filter(|about| about.severity != Severity::Note);
        let findings = wrong.map(|about| ledger.total(about.kind)).fold(0, u64::saturating_add);
        let (times, outcome) = match self.shows {
            RuleVisibility::Nothing(why) => (0, RuleOutcome::NeverShown(why)),
            RuleVisibility::All(test) | RuleVisibility::Part(test, _) => {
                let times = (test.times)(ledger);
                let outcome = match test.needs.lacking(ledger) {
                    _ if findings > 0 => RuleOutcome::Fail,
                    Some(why) => RuleOutcome::CannotTell(why),
                    None if let Some(unknown) = test.needs.unknown(ledger) => {
                        RuleOutcome::NotKnown(unknown)
                    }
                    None if times == 0 => RuleOutcome::NotExercised(test.what),
                    None => RuleOutcome::Pass,
                };
                (times, outcome)
            }
        };
        RuleVerdict { rule: self, outcome, times, findings }
    }
}

impl RuleOutcome {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotExercised(_) => "not-exercised",
            Self::CannotTell(_) | Self::NotKnown(_) | Self::NeverShown(_) => "cannot-tell",
        }
    }

    /// Reason why it is neither passed nor failed.
    #[must_use]
    pub fn reason(self) -> Option<String> {
        match self {
            Self::Pass | Self::Fail => None,
            Self::NotExercised(what) => Some(format!("no {what}")),
            Self::CannotTell(why) => Some(why.to_owned()),
            Self::NotKnown(unknown) => Some(unknown.to_string()),
            Self::NeverShown(why) => Some(format!("no capture can show it: {why}")),
        }
    }
}

impl RuleVerdict {
    /// True if this capture, or any, can tell how the rule stands.
    #[must_use]
    pub const fn is_judged(&self) -> bool {
        matches!(self.outcome, RuleOutcome::Pass | RuleOutcome::Fail | RuleOutcome::NotExercised(_))
    }

    /// The verdict as the row of `docs/output.md`.
    #[must_use]
    pub fn row(&self) -> VerdictRow {
        VerdictRow {
            rule: self.rule.id,
            verdict: self.outcome.name(),
            times: self.times,
            findings: self.findings,
            reason: self.outcome.reason(),
        }
    }
}
