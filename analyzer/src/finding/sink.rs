//! Findings of one channel, with the time of its characters.

use codec::capture::ChannelId;
use codec::time::{CharacterPeriod, Tick};

use super::FindingKind;
use super::fact::FindingFact;
use super::set::{FindingSet, Occurrence, RuleCoverage};
use crate::recorded::FindingGrounds;

/// Adds findings of one channel to a [`FindingSet`].
#[derive(Debug)]
pub(super) struct FindingSink<'a> {
    pub(super) set: &'a mut FindingSet,
    pub(super) channel: ChannelId,
    pub(super) period: CharacterPeriod,
}

impl FindingSink<'_> {
    /// Time of a character of the channel.
    pub(super) fn when(&self, at: Tick) -> Occurrence {
        Occurrence { time: self.period.time(at.0), at }
    }

    /// Counts a finding at a character of the channel, which shows it.
    pub(super) fn note(
        &mut self,
        kind: FindingKind,
        at: Tick,
        facts: impl FnOnce() -> Vec<FindingFact>,
    ) {
        let when = self.when(at);
        self.set.note(kind, (self.channel, when), FindingGrounds::Characters, facts);
    }

    /// True if the channel and its opposite were recorded from one character up to another.
    pub(super) fn is_link_recorded(&self, from: Tick, to: Tick) -> bool {
        let span = [from, to].map(|at| self.period.time(at.0));
        self.set.recorded.supports(FindingGrounds::Channels(span, &[self.channel]))
    }

    /// Adds `more` occurrences to a finding, the last of them at `last`.
    pub(super) fn again(&mut self, kind: FindingKind, more: u64, last: Tick) {
        let last = self.when(last);
        self.set.again(kind, self.channel, more, last);
    }

    pub(super) const fn seen(&mut self) -> &mut RuleCoverage {
        &mut self.set.seen
    }
}
