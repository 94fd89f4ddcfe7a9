//! Explanations of rules and findings, as the rows of `docs/output.md`.

use serde::Serialize;

use super::{Rule, RuleVisibility};
use crate::finding::{FindingInfo, Severity};

/// Row of a rule in `myriscope explain`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    /// Id of the rule.
    pub rule: &'static str,
    /// Source of the rule.
    pub clause: &'static str,
    /// Text of the rule.
    pub text: &'static str,
    /// Part that a capture shows: `all`, `part` or `nothing`.
    pub shown: &'static str,
    /// Evidence required to judge the rule.
    pub evidence: Option<&'static str>,
    /// Limits of the evidence.
    pub limits: Option<&'static str>,
    /// Names of the findings that belong to the rule.
    pub findings: Vec<&'static str>,
    /// Commands that demonstrate the rule.
    pub examples: Vec<String>,
}

/// Row of a kind of finding in `myriscope explain`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingInfoRow {
    /// Name of the kind.
    pub finding: &'static str,
    /// Severity.
    pub severity: Severity,
    /// Rule of the finding; none if it concerns the recording.
    pub rule: Option<&'static str>,
    /// Meaning of the finding.
    pub text: &'static str,
    /// Command that demonstrates the finding.
    pub example: String,
}

impl Rule {
    /// Commands that demonstrate the rule: a capture that tests it, and captures with each of its
    /// findings.
    #[must_use]
    pub fn examples(&self) -> Vec<String> {
        let kept = self.example.map(|path| format!("myriscope check {path}"));
        kept.into_iter().chain(self.findings().map(FindingInfo::example)).collect()
    }

    /// Row of the rule, as in `docs/output.md`.
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
            evidence: self.evidence,
            limits,
            findings: self.findings().map(|about| about.name).collect(),
            examples: self.examples(),
        }
    }
}

impl FindingInfo {
    /// Command that demonstrates the finding.
    #[must_use]
    pub fn example(&self) -> String {
        format!("myriscope check fixtures/findings/{}.pcapng", self.name)
    }

    /// Row of the kind, as in `docs/output.md`.
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
