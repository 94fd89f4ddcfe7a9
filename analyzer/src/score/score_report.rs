//! Result of a comparison: scores by kind, hidden events, differences.

use std::collections::BTreeMap;

use serde::Serialize;

use super::channel_score::MatchCount;

/// Score of a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScoreReport {
    /// Scores of observable events, one row per kind.
    pub scores: Vec<ScoreRow>,
    /// Events that no capture shows.
    pub unseen: Vec<HiddenEvents>,
    /// The first differences.
    pub differences: Vec<ScoreDifference>,
}

/// Score of one kind of event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreRow {
    /// A kind of `docs/output.md`: `packet`, an event, `journey`, `gone`, `fill` and so on.
    pub kind: &'static str,
    /// Number in the truth; for fills, number of compared periods.
    pub in_truth: u64,
    /// Number found by the analysis.
    pub found: u64,
    /// Number found that match the truth.
    pub right: u64,
    /// `right` over `found`; none if none was found.
    pub precision: Option<f64>,
    /// `right` over `in_truth`; none if the truth has none.
    pub recall: Option<f64>,
    /// Fills only: mean of upper bound minus lower bound, in cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Number in the truth that are not compared, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<&'static str, u64>,
}

/// A kind of event in the truth that no capture shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HiddenEvents {
    /// The kind of event.
    pub event: &'static str,
    /// Number of events.
    pub count: u64,
    /// Reason why no capture shows them.
    pub why: &'static str,
}

/// A difference between truth and analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScoreDifference {
    /// `missed`: in the truth only; `invented`: in the analysis only.
    pub account: &'static str,
    /// Name of the channel; none for journeys and messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Place on the channel; none for packets that the end of the capture cuts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// Kind of the row in `docs/output.md`.
    pub kind: &'static str,
    /// Description, in words that may change.
    pub what: String,
}

impl ScoreRow {
    pub(super) fn new(
        kind: &'static str,
        count: MatchCount,
        left_out: BTreeMap<&'static str, u64>,
    ) -> Self {
        let MatchCount { in_truth, found, right } = count;
        let share = |of: u64| (of > 0).then(|| right as f64 / of as f64);
        Self {
            kind,
            in_truth,
            found,
            right,
            precision: share(found),
            recall: share(in_truth),
            width: None,
            left_out,
        }
    }

    /// True if every event of the truth was found, and nothing else.
    pub const fn is_perfect(&self) -> bool {
        self.in_truth == self.right && self.found == self.right
    }
}

impl ScoreReport {
    /// True if every observable event of the truth was found, and nothing else.
    pub fn is_perfect(&self) -> bool {
        self.scores.iter().all(ScoreRow::is_perfect)
    }

    /// The row of a kind, if there is one.
    pub fn of(&self, kind: &str) -> Option<&ScoreRow> {
        self.scores.iter().find(|row| row.kind == kind)
    }
}
