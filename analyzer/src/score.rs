//! Comparison of an analysis with the truth of the simulation, event by event.
//!
//! The truth has the format of `docs/truth.md`, from any simulator. The expected events of a
//! channel follow only from the truth's rows at the port where it was tapped, never from
//! characters. Truth and analysis are read in parallel, in order of time; matched events are
//! dropped.

mod channel_line;
mod channel_score;
mod error;
mod fills;
mod ip;
mod journeys;
mod mapping;
mod messages;
mod port;
mod score_report;
mod scorer;
mod truth;

use std::io::{self, BufRead, Read};

use codec::capture::{CaptureFault, ReadProgress};
use codec::time::FULL_RATE_PERIOD_PS;

pub use self::error::ScoreError;
pub use self::score_report::{HiddenEvents, ScoreDifference, ScoreReport, ScoreRow};
use self::scorer::{BEHIND, Scorer};
use self::truth::TruthReader;
use crate::event::Picoseconds;
use crate::link::parameters::LinkAssumptions;
use crate::options::AnalysisScope;
use crate::pipeline::{AnalysisEvent, CaptureAnalysis};

/// Scores a capture against its truth. Calls `capture` twice to open it.
///
/// # Errors
/// The capture or the truth cannot be read, or no channel declares its tap.
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
    // Time of the latest event of the capture, in periods of the full rate.
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
        while lines.now < until
            && let Some(row) = lines.next()?
        {
            accounts.truth_event(&row);
        }
        let known = if progress == ReadProgress::Done { u64::MAX } else { lines.now };
        for told in step.drain(..) {
            accounts.analysis_event(known, told, fault);
        }
        if progress == ReadProgress::Done {
            return Ok(accounts.finish());
        }
        let oldest = || analysis.paths().oldest().map_or(u64::MAX, periods);
        accounts.settle(now.min(lines.now), known, oldest);
    }
}

/// A time in periods of the full rate.
fn periods(time: Picoseconds) -> u64 {
    u64::try_from(time / Picoseconds::from(FULL_RATE_PERIOD_PS)).unwrap_or(u64::MAX)
}
