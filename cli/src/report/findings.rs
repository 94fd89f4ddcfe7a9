//! Findings in words: the rule, the places, likely causes, and what to look at next.

use std::path::Path;

use analyzer::finding::{FindingKind, Severity, ShellCommand};
use analyzer::finding_row::FindingRow;
use analyzer::render::check::{details, mark, sign};
use analyzer::render::explain::plain;
use analyzer::rules::{RuleOutcome, RuleVerdict};
use codec::capture::{Channel, ChannelId};

use super::text::{BoundedList, DataCell, DataTable, TEXT_MAX, clipped, name};

/// Channels listed of a finding. *Chosen*: a card fits a screen.
const PLACES_MAX: usize = 12;
/// Length of the command that shows a place; a longer one would be cut and could not be used.
const COMMAND_MAX: usize = 400;

/// A finding that the options select.
#[derive(Debug)]
pub(crate) struct SelectedFinding<'a> {
    pub(crate) kind: FindingKind,
    pub(crate) id: ChannelId,
    pub(crate) channel: &'a Channel,
    pub(crate) row: FindingRow<'a>,
}

/// All findings of one kind.
pub(super) struct FindingCard {
    pub(super) finding: &'static str,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) severity: &'static str,
    pub(super) rule: Option<&'static str>,
    pub(super) clause: &'static str,
    pub(super) text: &'static str,
    pub(super) count: u64,
    pub(super) causes: &'static str,
    pub(super) next: &'static str,
    pub(super) places: BoundedList<FindingPlace>,
}

/// A finding on a channel.
pub(super) struct FindingPlace {
    pub(super) count: u64,
    pub(super) channel: String,
    pub(super) time: String,
    pub(super) details: String,
    pub(super) see: Option<String>,
}

pub(super) const fn severity_class(severity: Severity) -> &'static str {
    severity.name()
}

/// The findings, a card for each kind, the most severe first.
pub(super) fn cards(findings: &[SelectedFinding<'_>], file: &Path) -> Vec<FindingCard> {
    let alike = findings.chunk_by(|one, other| one.kind == other.kind);
    alike.filter_map(|alike| Some(card(alike.first()?, alike, file))).collect()
}

fn card(first: &SelectedFinding<'_>, alike: &[SelectedFinding<'_>], file: &Path) -> FindingCard {
    let about = first.kind.about();
    let (causes, next) = about.advice();
    let (sign, _) = mark(about.severity);
    let command =
        ShellCommand::of("check", file).with(&format!("--filter 'finding == {}'", about.name));
    FindingCard {
        finding: about.name,
        class: severity_class(about.severity),
        sign,
        severity: about.severity.name(),
        rule: about.rule,
        clause: first.row.clause.unwrap_or_default(),
        text: about.text,
        count: alike.iter().map(|it| it.row.count).fold(0, u64::saturating_add),
        causes,
        next,
        places: BoundedList::of(alike, PLACES_MAX, &command, place),
    }
}

fn place(found: &SelectedFinding<'_>) -> FindingPlace {
    let see = found.row.see.as_ref().map(ToString::to_string);
    FindingPlace {
        count: found.row.count,
        channel: name(&found.channel.label()),
        time: format!("{} µs", analyzer::render::microseconds(found.row.time_ps)),
        details: clipped(&details(&found.row.first), TEXT_MAX),
        see: see.filter(|see| see.len() <= COMMAND_MAX).map(|see| clipped(&see, COMMAND_MAX)),
    }
}

/// Verdicts of one kind, with the number of rules.
pub(super) struct VerdictCount {
    pub(super) sign: &'static str,
    pub(super) class: &'static str,
    pub(super) count: usize,
    pub(super) words: &'static str,
}

/// Numbers of rules by outcome.
pub(super) fn outcomes(verdicts: &[RuleVerdict]) -> Vec<VerdictCount> {
    let kinds = [
        (RuleOutcome::Fail, "failed"),
        (RuleOutcome::Pass, "passed"),
        (RuleOutcome::NotExercised(""), "not exercised"),
        (RuleOutcome::CannotTell(""), "cannot tell here"),
        (RuleOutcome::NeverShown(""), "on no wire"),
    ];
    let kinds = kinds.into_iter().map(|(outcome, words)| {
        let alike = |verdict: &&RuleVerdict| sign(verdict.outcome).0 == sign(outcome).0;
        let count = verdicts.iter().filter(alike).count();
        VerdictCount { sign: sign(outcome).0, class: outcome_class(outcome), count, words }
    });
    kinds.filter(|kind| kind.count > 0).collect()
}

const fn outcome_class(outcome: RuleOutcome) -> &'static str {
    match outcome {
        RuleOutcome::Fail => "error",
        RuleOutcome::Pass => "good",
        RuleOutcome::CannotTell(_) | RuleOutcome::NotKnown(_) => "warning",
        RuleOutcome::NotExercised(_) | RuleOutcome::NeverShown(_) => "note",
    }
}

/// The verdict on each rule, failed ones first.
pub(super) fn rule_table(verdicts: &[RuleVerdict], file: &Path) -> DataTable {
    let mut verdicts: Vec<&RuleVerdict> = verdicts.iter().collect();
    verdicts.sort_by_key(|verdict| verdict.outcome != RuleOutcome::Fail);
    let command = ShellCommand::of("check", file).with("--rules");
    let rows = BoundedList::of(&verdicts, usize::MAX, &command, |verdict| {
        let (sign, outcome) = (sign(verdict.outcome).0, verdict.outcome);
        let reason = outcome.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        let words = format!("{sign} {}{reason}", outcome.name()).replace('`', "");
        vec![
            DataCell { value: Some(verdict.rule.id.to_owned()), ..DataCell::text(verdict.rule.id) },
            DataCell { class: outcome_class(outcome), ..DataCell::text(words) },
            DataCell::number(verdict.times),
            DataCell::number(verdict.findings).alarming(verdict.findings),
            DataCell::text(plain(verdict.rule.text).replace('`', "")),
        ]
    });
    DataTable { id: "rules", heads: &["rule", "verdict", "tested", "findings", "text"], rows }
}
