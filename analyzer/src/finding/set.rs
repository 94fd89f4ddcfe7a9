//! Findings counted by kind and channel, in memory independent of the number of occurrences.

use crate::capture_network::CaptureNetwork;
use crate::event::Picoseconds;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use codec::capture::ChannelId;
use codec::time::Tick;

use super::case::{CaseList, FindingCase};
use super::fact::FindingFact;
use super::parameter_check::{CheckCoverage, ParameterCheck};
use super::{FindingKind, Severity, TransportCoverage, WireCoverage};
use crate::link::parameters::UnknownParameters;
use crate::recorded::{FindingGrounds, RecordedTime};
use crate::totals::{AddTotals, totals};

/// Findings and rule coverage of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingSet {
    found: BTreeMap<(FindingKind, ChannelId), Finding>,
    pub(crate) seen: RuleCoverage,
    /// Time of the latest event.
    pub(crate) now: Picoseconds,
    pub(crate) recorded: RecordedTime,
    /// Cases since they were last taken; none if only totals are needed.
    cases: Option<CaseList>,
}

/// Occurrences of one kind of finding on one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity: that of the kind, or by the share of the recorded time.
    pub severity: Severity,
    /// Number of occurrences.
    pub count: u64,
    /// Earliest occurrence.
    pub first: Occurrence,
    /// Facts about the earliest occurrence.
    pub facts: Vec<FindingFact>,
    /// Latest occurrence, or the end of what lasts.
    pub last: Occurrence,
}

/// Time and character of a finding; the channel is that of the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// Picoseconds since the capture's time zero.
    pub time: Picoseconds,
    /// Index of the character.
    pub at: Tick,
}

impl Occurrence {
    pub(super) fn on(network: &CaptureNetwork, id: ChannelId, time: Picoseconds) -> Self {
        Self { time, at: Tick(network.period(id).periods(time)) }
    }
}

totals! {
    /// Rule coverage: number of occasions on which a capture tested each rule.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RuleCoverage {
        /// Channels.
        pub channels: u64,
        /// Channels whose opposite was captured.
        pub paired: u64,
        /// Characters.
        pub characters: u64,
        /// Characters with d = 0.
        pub codes: u64,
        /// ORUN, BRES, `PRBn`, `REPLx`. C-3
        pub optional: u64,
        /// Packets that ended.
        pub packets: u64,
        /// Packets with a CRC byte that can be checked. P-4
        pub checked: u64,
        /// Packets that contain control symbols. P-8
        pub punched: u64,
        /// Stops of a sender, commanded on its opposite channel. F-1, F-2
        pub stops: u64,
        /// Coverage of [`ParameterCheck::ALL`], in that order.
        pub judged: [CheckCoverage; 4],
        /// Intervals with bounds on the fill level of a slack buffer. F-3
        pub fills: u64,
        /// Silences of 16 periods that began within the recording. F-7
        pub silences: u64,
        /// FRES.
        pub resets: u64,
        /// Packets or stops of 2²² periods. R-4
        pub timeouts: u64,
        /// BRES on channels whose opposite was captured. R-5
        pub backward: u64,
        /// Probes on channels whose opposite was captured. R-6
        pub probes: u64,
        /// Packets captured on two or more links. P-3, P-5
        pub travelled: u64,
        /// Pairs of channels whose clocks were compared. W-6
        pub clocks: u64,
        /// Passages through switches with known duration. S-6
        pub timed: u64,
        /// Packets that a switch forwarded or dropped. S-1, S-2
        pub switched: u64,
        /// Packets that reached a host. I-2
        pub arrived: u64,
        /// Packets whose further way was not captured.
        pub out_of_sight: u64,
        /// Waits. S-3, I-4
        pub waits: u64,
        /// Different pairs of channels, one behind the other on the route of a packet. N-2
        pub turns: u64,
        /// Interfaces whose address was captured on their own link. N-3
        pub addresses: u64,
        /// Packets whose route was compared with the map of their sender. N-2
        pub mapped: u64,
        /// Packets whose route was compared with those that their sender got. N-7
        pub distributed: u64,
        /// Packets of IP whose checksums can be checked. H-1
        pub checksums: u64,
        /// Answers to captured requests, and turns by byte 80. N-8
        pub returns: u64,
        /// Packets and messages of the reliability protocol.
        pub transport: TransportCoverage,
        /// Checks of wires.
        pub wires: WireCoverage,
    }
}

impl FindingSet {
    /// Keeps every case from now on, until it is taken.
    pub(super) fn keep_cases(&mut self) {
        self.cases.get_or_insert_default();
    }

    /// Sets the time of the event that proves the next cases.
    pub(super) const fn pass(&mut self, now: Picoseconds) {
        if let Some(cases) = &mut self.cases {
            cases.now = now;
        }
    }

    pub(super) fn take_cases(&mut self) -> Vec<FindingCase> {
        self.cases.as_mut().map(|list| std::mem::take(&mut list.cases)).unwrap_or_default()
    }

    /// Counts a finding; calls `facts` only if it is the earliest, or if cases are kept. Only a note may rest on
    /// time that was not recorded.
    pub(crate) fn note(
        &mut self,
        kind: FindingKind,
        (channel, when): (ChannelId, Occurrence),
        grounds: FindingGrounds<'_>,
        facts: impl FnOnce() -> Vec<FindingFact>,
    ) {
        if kind.about().severity != Severity::Note && !self.recorded.supports(grounds) {
            return;
        }
        self.note_as((kind.about().severity, kind), channel, when, facts);
    }

    /// Counts a finding that rests on the characters at its place alone.
    pub(super) fn note_here(
        &mut self,
        kind: FindingKind,
        place: (ChannelId, Occurrence),
        facts: impl FnOnce() -> Vec<FindingFact>,
    ) {
        self.note(kind, place, FindingGrounds::Characters, facts);
    }

    /// Counts a finding whose severity is not that of its kind.
    pub(super) fn note_as(
        &mut self,
        (severity, kind): (Severity, FindingKind),
        channel: ChannelId,
        when: Occurrence,
        facts: impl FnOnce() -> Vec<FindingFact>,
    ) {
        let Some(cases) = &mut self.cases else {
            return self.count_case((severity, kind), channel, when, facts);
        };
        let facts = facts();
        cases.add((severity, kind, channel, when), 1, facts.clone());
        self.count_case((severity, kind), channel, when, || facts);
    }

    /// Makes a finding as severe as given, and adds facts to it; counts it if it is new.
    pub(super) fn raise(
        &mut self,
        (severity, kind): (Severity, FindingKind),
        channel: ChannelId,
        when: Occurrence,
        facts: Vec<FindingFact>,
    ) {
        match self.found.get_mut(&(kind, channel)) {
            Some(found) => {
                found.severity = found.severity.min(severity);
                let is_new = |fact: &FindingFact| found.facts.iter().all(|it| it.name != fact.name);
                let facts: Vec<_> = facts.into_iter().filter(is_new).collect();
                found.facts.extend(facts);
            }
            None => self.note_as((severity, kind), channel, when, || facts),
        }
    }

    fn count_case(
        &mut self,
        (severity, kind): (Severity, FindingKind),
        channel: ChannelId,
        when: Occurrence,
        facts: impl FnOnce() -> Vec<FindingFact>,
    ) {
        match self.found.get_mut(&(kind, channel)) {
            None => {
                let found = Finding { severity, count: 1, first: when, facts: facts(), last: when };
                self.found.insert((kind, channel), found);
            }
            Some(found) => {
                found.severity = found.severity.min(severity);
                found.count = found.count.saturating_add(1);
                found.last = found.last.max(when);
                if when < found.first {
                    (found.first, found.facts) = (when, facts());
                }
            }
        }
    }

    /// Adds occurrences to a finding that has been counted before.
    pub(super) fn again(
        &mut self,
        kind: FindingKind,
        channel: ChannelId,
        more: u64,
        last: Occurrence,
    ) {
        if let Some(found) = self.found.get_mut(&(kind, channel)) {
            found.count = found.count.saturating_add(more);
            found.last = found.last.max(last);
            if let Some(cases) = self.cases.as_mut().filter(|_| more > 0) {
                cases.add((found.severity, kind, channel, last), more, Vec::new());
            }
        }
    }

    /// Replaces the facts of a finding that have one of these names.
    pub(super) fn amend(
        &mut self,
        (kind, channel): (FindingKind, ChannelId),
        names: &[&str],
        facts: Vec<FindingFact>,
    ) {
        if let Some(found) = self.found.get_mut(&(kind, channel)) {
            found.facts.retain(|old| !names.contains(&old.name));
            found.facts.extend(facts);
        }
    }

    /// True if the channel has a finding of the kind.
    pub fn has(&self, kind: FindingKind, channel: ChannelId) -> bool {
        self.found.contains_key(&(kind, channel))
    }

    pub(super) fn forget(&mut self, kinds: &[FindingKind], channel: ChannelId) {
        self.found.retain(|(kind, id), _| *id != channel || !kinds.contains(kind));
    }

    pub(super) fn absorb(&mut self, mut other: Self) {
        if self.found.is_empty() {
            std::mem::swap(&mut self.found, &mut other.found);
        }
        for (place, theirs) in other.found {
            match self.found.entry(place) {
                Entry::Vacant(place) => drop(place.insert(theirs)),
                Entry::Occupied(mut found) => {
                    let found = found.get_mut();
                    found.severity = found.severity.min(theirs.severity);
                    found.count = found.count.saturating_add(theirs.count);
                    found.last = found.last.max(theirs.last);
                    if theirs.first < found.first {
                        (found.first, found.facts) = (theirs.first, theirs.facts);
                    }
                }
            }
        }
        self.seen.absorb(&other.seen);
        self.recorded.absorb(other.recorded);
        if let (Some(own), Some(theirs)) = (&mut self.cases, other.cases) {
            own.cases.extend(theirs.cases);
        }
    }

    /// Findings in order of kind and channel.
    pub fn found(&self) -> impl Iterator<Item = (FindingKind, ChannelId, &Finding)> {
        self.found.iter().map(|((kind, channel), found)| (*kind, *channel, found))
    }

    /// Number of occurrences of a kind on all channels.
    pub fn total(&self, kind: FindingKind) -> u64 {
        let found = self.found.range((kind, ChannelId(0))..=(kind, ChannelId(u32::MAX)));
        found.map(|(_, found)| found.count).fold(0, u64::saturating_add)
    }

    /// Rule coverage.
    pub const fn seen(&self) -> &RuleCoverage {
        &self.seen
    }

    /// Number of findings of a severity: pairs of kind and channel, not occurrences.
    pub fn count(&self, severity: Severity) -> usize {
        self.found.values().filter(|found| found.severity == severity).count()
    }
}

impl RuleCoverage {
    pub(super) fn add_check(&mut self, judgement: ParameterCheck, unknown: UnknownParameters) {
        if let Some(judged) = self.judged.get_mut(judgement as usize) {
            judged.absorb(&CheckCoverage { times: unknown.is_empty().into(), unknown });
        }
    }

    /// Coverage of a check.
    pub fn check_coverage(&self, judgement: ParameterCheck) -> CheckCoverage {
        self.judged.get(judgement as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first occurrence gives the facts, of equal ones that which was counted first.
    #[test]
    fn occurrences_are_counted_in_any_order_and_in_several_sets() {
        let place = (FindingKind::CrcBad, ChannelId(0));
        for round in 0..200_u32 {
            let (mut sets, mut drawn) = (<[FindingSet; 2]>::default(), Vec::new());
            for number in 0..6 {
                let draw = (round * 6 + number).wrapping_mul(0x9e37_79b9).rotate_left(13);
                let (set, at) = (draw >> 4 & 1, u64::from(draw & 3));
                let severity = [Severity::Error, Severity::Warning][draw as usize >> 8 & 1];
                let when = Occurrence { time: at.into(), at: Tick(at) };
                let facts = vec![FindingFact::number("n", number.into())];
                sets[set as usize].note_as((severity, place.0), place.1, when, || facts.clone());
                drawn.push((when, set, number, severity, facts));
            }
            let [mut all, other] = sets;
            all.absorb(other);
            let (first, .., facts) =
                drawn.iter().min_by_key(|it| (it.0, it.1, it.2)).unwrap().clone();
            let last = drawn.iter().map(|it| it.0).max().unwrap();
            let severity = drawn.iter().map(|it| it.3).min().unwrap();
            let expected = Finding { severity, count: 6, first, facts, last };
            assert_eq!(all.found, [(place, expected)].into(), "{round}");
        }
    }
}
