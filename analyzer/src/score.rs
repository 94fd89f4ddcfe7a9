//! Comparison of an analysis with the truth of the simulation, event by event.
//!
//! The truth is that of `docs/truth.md`, as any simulator may write it. What is expected of a channel
//! follows from the rows at the port where it was tapped and nothing else, never from characters.
//! Both accounts are read side by side, in time; what has found its counterpart is forgotten.

mod channel_line;
mod channel_score;
mod fills;
mod journeys;
mod messages;
mod port;
mod scorer;
mod truth;

use crate::event::Picoseconds;
use crate::link::parameters::LinkAssumptions;
use crate::options::AnalysisScope;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use codec::capture::{CaptureError, CaptureFault, ReadProgress};
use codec::time::FULL_RATE_PERIOD_PS;
use serde::Serialize;

use self::channel_score::MatchCount;
use self::port::OmissionReason;
use self::scorer::Scorer;
use self::truth::TruthReader;

use crate::pipeline::{AnalysisEvent, CaptureAnalysis};

/// Longest lag between truth and analysis, in periods of the full rate.
/// *Chosen*: longer than anything that a row waits for.
const BEHIND: u64 = 1 << 12;

/// Reason why nothing could be scored.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// The capture cannot be opened.
    #[error("{0}")]
    Open(#[source] io::Error),
    /// The capture is damaged.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// No channel says where it was tapped, so nothing of the truth belongs to any.
    #[error("no channel says where it was tapped (tap=node:port in its description)")]
    NoTap,
    /// A line of the truth is none.
    #[error("line {line}: {wrong}")]
    Truth {
        /// Counts from 1.
        line: u64,
        /// Its fault.
        wrong: String,
    },
    /// The truth cannot be read on.
    #[error("line {line}: cannot read on: {source}")]
    Read {
        /// Counts from 1.
        line: u64,
        /// Error of the system.
        source: io::Error,
    },
}

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
    fn new(kind: &'static str, count: MatchCount, left_out: BTreeMap<&'static str, u64>) -> Self {
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

impl OmissionReason {
    /// The name in `docs/output.md`.
    const fn name(self) -> &'static str {
        match self {
            Self::PowerLost => "power-lost",
            Self::Raw => "raw",
            Self::NotRecorded => "not-recorded",
            Self::Repeated => "repeated",
        }
    }
}

/// Scores a capture, which is opened twice, against the truth about it.
///
/// # Errors
/// Either cannot be read, or they have nothing to do with each other.
pub fn score<C: Read + Send>(
    mut capture: impl FnMut() -> io::Result<C>,
    truth: impl BufRead,
    assumptions: LinkAssumptions,
    fault: &mut impl FnMut(CaptureFault),
) -> Result<ScoreReport, ScoreError> {
    let mut accounts = Scorer::of(capture().map_err(ScoreError::Open)?)?;
    let capture = capture().map_err(ScoreError::Open)?;
    let mut analysis = CaptureAnalysis::new(capture, AnalysisScope::Everything, assumptions);
    let mut lines = TruthReader::new(truth);
    let mut step = Vec::new();
    // The latest row of the capture, in periods of the full rate.
    let mut now = 0;
    loop {
        let progress = analysis.step(&mut |told| step.push(told))?;
        for told in &step {
            if let AnalysisEvent::Row(row) = told {
                now = now.max(periods(row.time));
            }
        }
        let until =
            if progress == ReadProgress::Done { u64::MAX } else { now.saturating_add(BEHIND) };
        while lines.now() < until
            && let Some(row) = lines.next()?
        {
            accounts.truth_event(&row);
        }
        let known = if progress == ReadProgress::Done { u64::MAX } else { lines.now() };
        for told in step.drain(..) {
            accounts.analysis_event(known, told, fault);
        }
        if progress == ReadProgress::Done {
            return Ok(accounts.finish());
        }
        let oldest = || analysis.paths().oldest().map_or(u64::MAX, periods);
        accounts.settle(now.min(lines.now()), known, oldest);
    }
}

/// A time in periods of the full rate.
fn periods(time: Picoseconds) -> u64 {
    u64::try_from(time / Picoseconds::from(FULL_RATE_PERIOD_PS)).unwrap_or(u64::MAX)
}
