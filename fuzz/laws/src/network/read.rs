//! What the analyzer makes of the capture of a run, read once for all laws.

use std::collections::BTreeMap;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::blocking::Blocked;
use analyzer::finding::Ledger;
use analyzer::link::slack::{Assumptions, Fill, SlackSaid};
use analyzer::timeline::Row;
use codec::capture::{CaptureError, ChannelId, Progress};

use crate::alone::alone;

/// What the analyzer says of a capture.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Packets and events, in order of time.
    pub rows: Vec<Row>,
    /// Bounds of the fill of the slack buffers that channels lead to.
    pub fills: BTreeMap<ChannelId, Vec<Fill>>,
    /// How often what is assumed of such a buffer cannot be so.
    pub contradictions: BTreeMap<ChannelId, u64>,
    /// Waits.
    pub blocked: Vec<Blocked>,
    /// What is odd.
    pub ledger: Ledger,
}

impl Reading {
    /// Reads what was written by a simulator.
    ///
    /// # Panics
    /// If something is wrong with the file.
    #[must_use]
    pub fn of(capture: &[u8]) -> Self {
        alone();
        let mut reading = Self::default();
        let Self { rows, fills, contradictions, blocked, .. } = &mut reading;
        let mut faults = 0;
        let mut analysis = Analysis::new(capture, Wanted::Everything, Assumptions::default());
        let mut out = |told| match told {
            Told::Row(row) => rows.push(row),
            Told::Slack(SlackSaid::Fill(fill)) => fills.entry(fill.channel).or_default().push(fill),
            Told::Slack(SlackSaid::Contradiction { channel, .. }) => {
                *contradictions.entry(channel).or_default() += 1;
            }
            Told::Blocked(it) => blocked.push(it),
            Told::Fault(_) => faults += 1,
            Told::Slack(SlackSaid::Late { .. } | SlackSaid::OverrunRisk { .. })
            | Told::Interval(_)
            | Told::Journey(_)
            | Told::Spoken(_) => {}
        };
        let mut progress = Ok(Progress::More);
        while matches!(progress, Ok(Progress::More)) {
            progress = analysis.step(&mut out);
        }
        // A network without taps makes a capture without channels.
        let told = progress.err().filter(|it| !matches!(it, CaptureError::NoChannel { .. }));
        let error = told.map(|error| error.to_string());
        assert_eq!((error, faults), (None, 0), "what is written is read");
        reading.ledger = analysis.findings().ledger().clone();
        reading
    }
}
