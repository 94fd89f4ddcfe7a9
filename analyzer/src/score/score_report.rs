//! Result of a comparison: scores by kind, hidden events, differences.

use std::collections::BTreeMap;

use serde::Serialize;

use super::channel_score::MatchCount;

/// Score of a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScoreReport {
    /// Scores of observable events, a row a kind.
    pub scores: Vec<ScoreRow>,
    /// Events that no capture shows.
    pub unseen: Vec<HiddenEvents>,
    /// Differences, the first of them.
    pub differences: Vec<ScoreDifference>,
}

/// A kind of thing that both tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreRow {
    /// A kind of `docs/output.md`: `packet`, an event, `journey`, `gone`, `fill` and so on.
    pub kind: &'static str,
    /// The number in the truth; of fills, moments.
    pub in_truth: u64,
    /// Number of those found.
    pub found: u64,
    /// Number of of those are in the truth as they were found.
    pub right: u64,
    /// `right` over `found`; none if none was found.
    pub precision: Option<f64>,
    /// `right` over `in_truth`; none if there is none.
    pub recall: Option<f64>,
    /// Fills only: cells from the lower bound to the upper, in the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Number of are in the truth that are not compared, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<&'static str, u64>,
}

/// A kind of thing in the truth that no wire shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HiddenEvents {
    /// The kind of event.
    pub event: &'static str,
    /// The number.
    pub count: u64,
    /// The reason.
    pub why: &'static str,
}

/// Something that only one of the two tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScoreDifference {
    /// `missed`: it happened and was not found; `invented`: the other way round.
    pub account: &'static str,
    /// The channel; of journeys none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Its place; of packets that the end of the capture closes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The kind.
    pub kind: &'static str,
    /// Its kind, in words that are no contract.
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

    /// True if all was found, and nothing else.
    #[must_use]
    pub const fn is_perfect(&self) -> bool {
        self.in_truth == self.right && self.found == self.right
    }
}

impl ScoreReport {
    /// True if all that the wire tells was found, and nothing else.
    #[must_use]
    pub fn is_perfect(&self) -> bool {
        self.scores.iter().all(ScoreRow::is_perfect)
    }

    /// The row of a kind, if there is anything of it.
    #[must_use]
    pub fn of(&self, kind: &str) -> Option<&ScoreRow> {
        self.scores.iter().find(|row| row.kind == kind)
    }
}
