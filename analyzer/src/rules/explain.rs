//! Explanations of rules and findings, as the rows of `docs/output.md`.

use serde::Serialize;

use super::{Rule, RuleVisibility};
use crate::finding::{FindingInfo, Severity};

/// Row of a rule in `myriscope explain`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    rule: &'static str,
    clause: &'static str,
    text: &'static str,
    shown: &'static str,
    evidence: Option<&'static str>,
    limits: Option<&'static str>,
    findings: Vec<&'static str>,
    examples: Vec<String>,
}

/// Row of a kind of finding in `myriscope explain`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingInfoRow {
    finding: &'static str,
    severity: Severity,
    rule: Option<&'static str>,
    text: &'static str,
    causes: &'static str,
    next: &'static str,
    example: String,
}

impl Rule {
    /// Commands that demonstrate the rule: on a demo that tests it, and on captures with each of its
    /// findings.
    pub fn examples(&self) -> Vec<String> {
        let kept = self.example.map(|demo| {
            format!("myriscope demo {demo} -o {demo}.pcapng && myriscope check {demo}.pcapng")
        });
        kept.into_iter().chain(self.findings().map(FindingInfo::example)).collect()
    }

    /// Row of the rule, as in `docs/output.md`.
    pub fn row(&self) -> RuleRow {
        let (shown, limits) = match self.shows {
            RuleVisibility::All(_) => ("all", None),
            RuleVisibility::Part(_, limits) => ("part", Some(limits)),
            RuleVisibility::Nothing(why) => ("nothing", Some(why)),
        };
        RuleRow {
            rule: self.id,
            clause: self.clause(),
            text: self.text(),
            shown,
            evidence: self.evidence,
            limits,
            findings: self.findings().map(|about| about.name).collect(),
            examples: self.examples(),
        }
    }
}

impl FindingInfo {
    /// Commands that write a capture with the finding, and check it.
    pub fn example(&self) -> String {
        format!("myriscope explain {} -o my.pcapng && myriscope check my.pcapng", self.name)
    }

    /// Row of the kind, as in `docs/output.md`.
    pub fn row(&self) -> FindingInfoRow {
        let (causes, next) = self.advice();
        FindingInfoRow {
            finding: self.name,
            severity: self.severity,
            rule: self.rule,
            text: self.text,
            causes,
            next,
            example: self.example(),
        }
    }
}
