//! Verdicts on the rules for a capture.

use codec::capture::ReadExtent;

use super::{Rule, RuleVisibility};
use crate::finding::{FindingSet, Severity};
use crate::link::parameters::UnknownParameters;
use crate::row::FieldShape::Words;
use crate::row::row;

/// Verdict on a rule for a capture.
#[derive(Clone, Copy, Debug)]
pub struct RuleVerdict {
    /// Judged rule.
    pub rule: &'static Rule,
    /// Outcome of the rule.
    pub outcome: RuleOutcome,
    /// Number of occasions on which the rule was tested.
    pub times: u64,
    /// Number of error and warning findings of the rule.
    pub findings: u64,
}

codec::named_enum! {
    /// Outcome of a rule.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RuleOutcome {
        /// The rule was tested without errors or warnings.
        Pass = "pass",
        /// Errors or warnings were found.
        Fail = "fail",
        /// The capture contains no occasion to test the rule; the name of these, in the plural.
        NotExercised(&'static str) = "not-exercised",
        /// The capture lacks the required evidence.
        CannotTell(&'static str) = "cannot-tell",
        /// The required parameters are neither declared nor assumed.
        NotKnown(UnknownParameters) = "cannot-tell",
        /// No capture can show the rule, with the reason.
        NeverShown(&'static str) = "cannot-tell",
    }
}

row! {
    /// Row of a verdict in `myriscope check`: the contract of `docs/output.md`.
    #[derive(Eq)]
    pub struct VerdictRow {
        row: &'static str as Words(&["verdict"]), "", "", "kind of the row";
        rule: &'static str, "", "", "the rule";
        verdict: &'static str as Words(&["pass", "fail", "not-exercised", "cannot-tell"]), "", "", "outcome of the rule";
        times: u64, "", "", "occasions on which it was tested";
        findings: u64, "", "", "errors and warnings of the rule";
        reason: Option<String>, "", "", "reason for an outcome other than pass or fail";
        judged_on: &'static str as Words(&["all", "part"]), "", "", "how much of the file was read";
    }
}

/// Verdicts on all rules, in order.
pub fn verdicts(set: &FindingSet) -> Vec<RuleVerdict> {
    super::all().map(|rule| rule.verdict(set)).collect()
}

impl Rule {
    /// Verdict on the rule for a capture.
    pub fn verdict(&'static self, set: &FindingSet) -> RuleVerdict {
        let wrong = self.findings().filter(|about| about.severity != Severity::Note);
        let findings = wrong.map(|about| set.total(about.kind)).fold(0, u64::saturating_add);
        let (times, outcome) = match self.shows {
            RuleVisibility::Nothing(why) => (0, RuleOutcome::NeverShown(why)),
            RuleVisibility::All(test) | RuleVisibility::Part(test, _) => {
                let times = (test.times)(set);
                let outcome = match test.needs.lacking(set) {
                    _ if findings > 0 => RuleOutcome::Fail,
                    Some(why) => RuleOutcome::CannotTell(why),
                    None if let Some(unknown) = test.needs.unknown(set) => {
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
    /// Reason for an outcome other than pass or fail.
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
    /// True unless the capture lacks evidence or parameters, or no capture can show the rule.
    pub const fn is_judged(&self) -> bool {
        matches!(self.outcome, RuleOutcome::Pass | RuleOutcome::Fail | RuleOutcome::NotExercised(_))
    }

    /// Row of the verdict on what was read of a file, as in `docs/output.md`.
    pub fn row(&self, extent: &ReadExtent) -> VerdictRow {
        VerdictRow {
            row: "verdict",
            rule: self.rule.id,
            verdict: self.outcome.name(),
            times: self.times,
            findings: self.findings,
            reason: self.outcome.reason(),
            judged_on: if extent.is_whole() { "all" } else { "part" },
        }
    }
}
