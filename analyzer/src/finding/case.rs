//! Occurrences of findings, one by one.

use codec::capture::ChannelId;

use super::{FindingFact, FindingKind, Occurrence, Severity};
use crate::event::Picoseconds;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CaseList {
    /// Time of the latest event.
    pub(super) now: Picoseconds,
    pub(super) cases: Vec<FindingCase>,
}

/// One occurrence of a finding; in a long repetition, those of all rounds that were not examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingCase {
    /// Severity.
    pub severity: Severity,
    /// Kind.
    pub kind: FindingKind,
    /// The channel.
    pub channel: ChannelId,
    /// Place of the occurrence, or of the last one.
    pub place: Occurrence,
    /// Time of the character that proves it.
    pub known: Picoseconds,
    /// Number of occurrences.
    pub count: u64,
    /// Facts about it.
    pub facts: Vec<FindingFact>,
}

impl CaseList {
    pub(super) fn add(
        &mut self,
        (severity, kind, channel, place): (Severity, FindingKind, ChannelId, Occurrence),
        count: u64,
        facts: Vec<FindingFact>,
    ) {
        let known = place.time.max(self.now);
        self.cases.push(FindingCase { severity, kind, channel, place, known, count, facts });
    }
}
