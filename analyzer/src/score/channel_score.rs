//! Comparison of expected and found lines of a channel, in any order of arrival.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::channel_line::{ChannelLine, LineClass, LineKind};
use super::port::OmissionReason;
use crate::totals::totals;
use codec::time::OPEN_LINK;

totals! {
    /// Numbers of events in the truth, of events found, and of found events that match the truth.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct MatchCount {
        pub(super) in_truth: u64,
        pub(super) found: u64,
        pub(super) right: u64,
    }
}

/// Comparison of the lines of one channel.
#[derive(Clone, Debug, Default)]
pub(super) struct ChannelScore {
    /// Unmatched lines: the surplus in the truth, or, if negative, in the analysis.
    open: BTreeMap<ChannelLine, i64>,
    /// Places at which a class is not compared, with the reason, until the comparison has passed them.
    excluded: Vec<(LineClass, RangeInclusive<u64>, OmissionReason)>,
    /// The first and the last recorded place.
    recorded: (u64, u64),
    /// Recorded range of the opposite channel, which carries the sender's STOP and GO; none if
    /// uncaptured.
    opposite: Option<(u64, u64)>,
    /// Last place of packets that began before the recording.
    begun_before: Option<u64>,
    /// True if a packet continues after the end of the recording.
    goes_on: bool,
    /// Place from which the sender's state is known: it may have been stopped before the recording.
    sender: Option<u64>,
    /// Places by which a silence may seem longer or shorter to a receiver, which counts it by its own clock. F-7, W-6
    slip: u64,
    pub(super) counts: BTreeMap<LineKind, MatchCount>,
    pub(super) left_out: BTreeMap<(LineKind, OmissionReason), u64>,
}

/// Receiver of lines without a counterpart, each with the word for a line of the truth, or of the analysis, alone.
type MismatchSink<'a> = dyn FnMut(&'static str, ChannelLine) + 'a;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineOrigin {
    Truth,
    Capture,
}

impl ChannelScore {
    /// Starts the comparison of a channel, given the first and last recorded place of it and of its
    /// opposite.
    pub(super) fn new(recorded: (u64, u64), opposite: Option<(u64, u64)>, slip: u64) -> Self {
        let sender = opposite.is_some_and(|(first, _)| first == 0).then_some(0);
        Self { recorded, opposite, sender, slip, ..Self::default() }
    }

    /// True if a place lies within the recording, regardless of holes.
    pub(super) const fn has(&self, place: u64) -> bool {
        self.recorded.0 <= place && place <= self.recorded.1
    }

    /// Place after the last one recorded on both channels of the link.
    pub(super) fn end(&self) -> u64 {
        let (_, last) = self.opposite.unwrap_or(self.recorded);
        last.min(self.recorded.1).saturating_add(1)
    }

    /// Adds a line of the truth.
    pub(super) fn expect(&mut self, line: ChannelLine) {
        let (first, last) = self.recorded;
        let is_packet = line.kind.is_packet();
        if is_packet && line.start < first && first <= line.at {
            let begun = self.begun_before.max(Some(line.at));
            self.begun_before = begun;
            self.drop_found(|line| line.kind.is_packet() && Some(line.start) <= begun);
        }
        let recorded = match line.kind.class() {
            LineClass::Sender => {
                self.opposite.is_some_and(|(first, last)| (first..=last).contains(&line.at))
            }
            LineClass::OpenPacket => first <= line.start && line.end <= last,
            LineClass::Own | LineClass::ResetEnd => {
                first <= line.start && line.end.max(line.at) <= last
            }
        };
        if !recorded || self.is_from_before(&line) {
            if is_packet && line.start <= last && line.end.max(line.at) > last {
                self.goes_on = true;
                self.drop_found(|line| line.kind == LineKind::OpenPacket);
            }
            return self.leave_out(line.kind, OmissionReason::NotRecorded);
        }
        if line.kind.class() == LineClass::Sender && self.sender.is_none_or(|from| line.at < from) {
            self.sender.get_or_insert(line.at.saturating_add(1));
            return self.leave_out(line.kind, OmissionReason::NotRecorded);
        }
        if let Some(reason) = self.exclusion(&line) {
            return self.leave_out(line.kind, reason);
        }
        self.count(line, LineOrigin::Truth);
    }

    /// Adds a line of the analysis.
    pub(super) fn find(&mut self, line: ChannelLine) {
        let is_packet = line.kind.is_packet();
        let cut = line.kind == LineKind::OpenPacket && self.goes_on
            || is_packet && self.begun_before.is_some_and(|at| line.start <= at);
        // STOP and GO before the recording are unknown: the sender's state is known after its first line.
        let unknown = line.kind.class() == LineClass::Sender
            && line.at < *self.sender.get_or_insert(line.at.saturating_add(1));
        if !cut && !unknown && !self.is_from_before(&line) && self.exclusion(&line).is_none() {
            self.count(line, LineOrigin::Capture);
        }
    }

    /// True for silence that may have begun before the recording: when it opened the link is not known. F-7
    const fn is_from_before(&self, line: &ChannelLine) -> bool {
        let (first, _) = self.recorded;
        let is_silence = matches!(line.kind, LineKind::OpenLink | LineKind::LinkRestored);
        first > 0 && is_silence && line.at < first.saturating_add(OPEN_LINK.0)
    }

    fn exclusion(&self, line: &ChannelLine) -> Option<OmissionReason> {
        let mut excluded = self.excluded.iter();
        let found = excluded.find(|(class, places, _)| line.is_in(*class, places));
        found.map(|(_, _, reason)| *reason)
    }

    fn leave_out(&mut self, kind: LineKind, reason: OmissionReason) {
        *self.left_out.entry((kind, reason)).or_default() += 1;
    }

    /// The line of the other side for a silence that one side counted by another clock.
    fn slipped(&self, line: &ChannelLine, step: i64) -> Option<ChannelLine> {
        let near = line.at.saturating_sub(self.slip)..=line.at.saturating_add(self.slip);
        let near = near.filter(|_| line.kind == LineKind::OpenLink);
        let mut near = near.map(|at| ChannelLine::new(at, LineKind::OpenLink, String::new()));
        let is_other = |it: &ChannelLine| self.open.get(it).is_some_and(|it| it.signum() == -step);
        near.find(is_other)
    }

    fn count(&mut self, line: ChannelLine, from: LineOrigin) {
        let step = match from {
            LineOrigin::Truth => 1,
            LineOrigin::Capture => -1,
        };
        let line = self.slipped(&line, step).unwrap_or(line);
        let count = self.counts.entry(line.kind).or_default();
        match from {
            LineOrigin::Truth => count.in_truth += 1,
            LineOrigin::Capture => count.found += 1,
        }
        let open = self.open.get(&line).copied().unwrap_or_default();
        if open.signum() == -step {
            count.right += 1;
        }
        if open == -step {
            self.open.remove(&line);
        } else {
            self.open.insert(line, open + step);
        }
    }

    /// Excludes a class at some places from the comparison.
    pub(super) fn exclude(
        &mut self,
        class: LineClass,
        places: RangeInclusive<u64>,
        reason: OmissionReason,
    ) {
        self.drop_found(|line| line.is_in(class, &places));
        let Self { open, counts, left_out, .. } = self;
        open.retain(|line, number| {
            let is_excluded = line.is_in(class, &places);
            if is_excluded {
                let number = number.unsigned_abs();
                counts.entry(line.kind).or_default().in_truth -= number;
                *left_out.entry((line.kind, reason)).or_default() += number;
            }
            !is_excluded
        });
        self.excluded.push((class, places, reason));
    }

    /// Removes unmatched lines of the analysis.
    fn drop_found(&mut self, which: impl Fn(&ChannelLine) -> bool) {
        let counts = &mut self.counts;
        self.open.retain(|line, more| {
            let dropped = *more < 0 && which(line);
            if dropped {
                counts.entry(line.kind).or_default().found -= more.unsigned_abs();
            }
            !dropped
        });
    }

    /// Emits and removes the unmatched lines before a place.
    pub(super) fn settle(&mut self, before: u64, out: &mut MismatchSink<'_>) {
        self.excluded.retain(|(_, places, _)| *places.end() >= before);
        while let Some(entry) = self.open.first_entry() {
            if entry.key().at >= before {
                break;
            }
            odd(entry.remove_entry(), out);
        }
    }

    /// Emits all unmatched lines.
    pub(super) fn finish(&mut self, out: &mut MismatchSink<'_>) {
        std::mem::take(&mut self.open).into_iter().for_each(|entry| odd(entry, out));
    }
}

fn odd((line, more): (ChannelLine, i64), out: &mut MismatchSink<'_>) {
    let account = if more > 0 { "missed" } else { "invented" };
    (0..more.unsigned_abs()).for_each(|_| out(account, line.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_may_be_a_period_longer_or_shorter_by_another_clock() {
        // F-7, W-6
        for (slip, found, right) in [(0, 14, 1), (0, 15, 0), (1, 13, 1), (1, 15, 1), (1, 16, 0)] {
            let line = |at| ChannelLine::new(at, LineKind::OpenLink, String::new());
            let mut score = ChannelScore::new((0, 100), None, slip);
            score.expect(line(14));
            score.find(line(found));
            let mut odd = 0;
            score.finish(&mut |_, _| odd += 1);
            assert_eq!((score.counts[&LineKind::OpenLink].right, odd), (right, 2 - 2 * right));
        }
    }
}
