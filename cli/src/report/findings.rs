//! Findings, a card for each kind, and the verdicts on the rules.

use analyzer::finding::{CaptureArgument, FindingInfo, FindingKind, ShellCommand};
use analyzer::finding_row::FindingRow;
use analyzer::render::check::{mark, sign};
use analyzer::render::fact_text::details;
use analyzer::render::{explain, microseconds};
use analyzer::rules::{RuleOutcome, RuleVerdict};
use codec::capture::{Channel, ChannelId};

use super::text::BoundedList;

/// Channels listed of a finding. *Chosen*: a card fits a screen.
const PLACES_MAX: usize = 12;
/// Length of the command that shows a place; a longer one would be cut and could not be used.
const COMMAND_MAX: usize = 400;

#[derive(Debug)]
pub(crate) struct SelectedFinding<'a> {
    pub(crate) kind: FindingKind,
    pub(crate) id: ChannelId,
    pub(crate) channel: &'a Channel,
    pub(crate) row: FindingRow<'a>,
}

impl<'a> From<(FindingKind, ChannelId, &'a Channel, FindingRow<'a>)> for SelectedFinding<'a> {
    fn from(
        (kind, id, channel, row): (FindingKind, ChannelId, &'a Channel, FindingRow<'a>),
    ) -> Self {
        Self { kind, id, channel, row }
    }
}

impl SelectedFinding<'_> {
    pub(super) fn sign(&self) -> &'static str {
        mark(self.row.severity).0
    }

    pub(super) fn time(&self) -> String {
        microseconds(self.row.time_ps)
    }

    pub(super) fn details(&self) -> String {
        details(&self.row.first)
    }

    /// The command that shows the place.
    pub(super) fn see(&self) -> Option<String> {
        self.row.see.as_ref().map(ToString::to_string).filter(|see| see.len() <= COMMAND_MAX)
    }
}

/// All findings of one kind.
pub(super) struct FindingCard<'a> {
    pub(super) info: &'static FindingInfo,
    pub(super) first: &'a SelectedFinding<'a>,
    pub(super) count: u64,
    pub(super) places: BoundedList<&'a SelectedFinding<'a>>,
}

/// The findings, a card for each kind, the most severe first.
pub(super) fn cards<'a>(
    findings: &'a [SelectedFinding<'a>],
    capture: CaptureArgument<'_>,
) -> Vec<FindingCard<'a>> {
    let alike = findings.chunk_by(|one, other| one.kind == other.kind);
    let cards = alike.filter_map(|alike| {
        let info = alike.first()?.kind.about();
        let filter = format!("--filter 'finding == {}'", info.name);
        let command = ShellCommand::of("check", capture).with(&filter);
        Some(FindingCard {
            info,
            first: alike.first()?,
            count: alike.iter().map(|it| it.row.count).fold(0, u64::saturating_add),
            places: BoundedList::of(alike, PLACES_MAX, &command),
        })
    });
    cards.collect()
}

/// A verdict as the page shows it.
pub(super) struct ShownVerdict {
    pub(super) verdict: RuleVerdict,
    pub(super) sign: &'static str,
    pub(super) class: &'static str,
    /// Outcome in the count of the verdicts.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

/// The verdict on each rule, failed ones first.
pub(super) fn verdicts(verdicts: Vec<RuleVerdict>) -> Vec<ShownVerdict> {
    let show = |verdict: RuleVerdict| {
        let (class, kind) = match verdict.outcome {
            RuleOutcome::Fail => ("error", "failed"),
            RuleOutcome::Pass => ("good", "passed"),
            RuleOutcome::NotExercised(_) => ("note", "not exercised"),
            RuleOutcome::CannotTell(_) | RuleOutcome::NotKnown(_) => {
                ("warning", "cannot tell here")
            }
            RuleOutcome::NeverShown(_) => ("note", "on no wire"),
        };
        let text = explain::plain(verdict.rule.text());
        ShownVerdict { sign: sign(verdict.outcome).0, class, kind, text, verdict }
    };
    let mut shown: Vec<ShownVerdict> = verdicts.into_iter().map(show).collect();
    shown.sort_by_key(|it| it.kind != "failed");
    shown
}
