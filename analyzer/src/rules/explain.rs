//! Rules and findings explained, as the rows of `docs/output.md`.

use serde::Serialize;

use super::{Rule, RuleVisibility};
use crate::finding::{FindingInfo, Severity};

/// A rule in `myriscope explain`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    /// The rule's id.
    pub rule: &'static str,
    /// Place at which it comes from.
    pub clause: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Part that a capture shows: `all`, `part` or `nothing`.
    pub shown: &'static str,
    /// Evidence needed to judge it.
    pub evidence: Option<&'static str>,
    /// Limits of the evidence.
    pub limits: Option<&'static str>,
    /// The findings that come from it.
    pub findings: Vec<&'static str>,
    /// Commands that show it.
    pub examples: Vec<String>,
}

/// A kind of finding in `myriscope explain`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingInfoRow {
    /// The kind's name.
    pub finding: &'static str,
    /// Severity.
    pub severity: Severity,
    /// The rule that it comes from; none if it is about the recording.
    pub rule: Option<&'static str>,
    /// Its meaning.
    pub text: &'static str,
    /// A command that shows it.
    pub example: String,
}

impl Rule {
    /// Commands that show it at work: where it is kept, and where its findings are.
    #[must_use]
    pub fn examples(&self) -> Vec<String> {
        let kept = self.example.map(|path| format!("myriscope check {path}"));
        kept.into_iter().chain(self.findings().map(FindingInfo::example)).collect()
    }

    /// The rule as the row of `docs/output.md`.
    #[must_use]
    pub fn row(&self) -> RuleRow {
        let (shown, limits) = match self.shows {
            RuleVisibility::All(_) => ("all", None),
            RuleVisibility::Part(_, limits) => ("part", Some(limits)),
            RuleVisibility::Nothing(why) => ("nothing", Some(why)),
        };
        RuleRow {
            rule: self.id,
            clause: self.clause,
            text: self.text,
            shown,
            evidence: (!self.evidence.is_empty()).then_some(self.evidence),
            limits,
            findings: self.findings().map(|about| about.name).collect(),
            examples: self.examples(),
        }
    }
}

impl FindingInfo {
    /// The command that shows it.
    #[must_use]
    pub fn example(&self) -> String {
        format!("myriscope check fixtures/findings/{}.pcapng", self.name)
    }

    /// The kind as the row of `docs/output.md`.
    #[must_use]
    pub fn row(&self) -> FindingInfoRow {
        FindingInfoRow {
            finding: self.name,
            severity: self.severity,
            rule: self.rule,
            text: self.text,
            example: self.example(),
        }
    }
}
