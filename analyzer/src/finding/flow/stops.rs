//! Reaction of a channel's sender to STOP: late data, and the blocked-packet timeout. F-1, F-2, R-4

use codec::capture::{StartSender, StartState};
use codec::time::{CharacterPeriod, Tick};

use super::ANSWER;
use crate::blocking::BLOCKED_TIMEOUT;
use crate::channel_name::TapEnd;
use crate::clock::OffsetTrend;
use crate::event::ResumeCause;
use crate::finding::sink::FindingSink;
use crate::finding::{FindingFact, FindingKind};
use crate::link::slack::SILENT_ELSEWHERE;

/// Stops of a channel's sender.
#[derive(Clone, Debug, Default)]
pub(in crate::finding) struct StopChecker {
    /// Periods after STOP at the tap from which no data may pass the tap; none if unknown. F-1
    pub(super) grace: Option<u64>,
    end: Option<TapEnd>,
    pub(super) stop: Option<ActiveStop>,
    /// End of the last run of data.
    data: Tick,
    /// First character of a slice that has the state before it: nothing before needs to have been recorded.
    known_from: Tick,
    /// Late data that drift may explain, and the first of it: position, periods after STOP, bytes.
    offsets: OffsetTrend,
    offset: Option<(Tick, u64, u64)>,
}

/// Current stop of a channel's sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveStop {
    since: Tick,
    late: Option<LateDataRun>,
    /// True if the sender may have resumed for a reason that the tap does not capture.
    freed: bool,
}

/// Data that arrived while its sender should have been stopped.
#[derive(Clone, Copy, Debug)]
struct LateDataRun {
    first: Tick,
    /// Bytes before the last run.
    before: u64,
    /// Start and end of the last run. It may extend beyond the stop.
    run: (Tick, Tick),
}

impl StopChecker {
    pub(super) fn new(end: Option<TapEnd>, grace: Option<u64>) -> Self {
        Self { grace, end, ..Self::default() }
    }

    /// Sets the rate of an opposite channel of another rate.
    pub(super) fn join(&mut self, own: CharacterPeriod, other: CharacterPeriod) {
        // The arrival time of a character within a period of another rate is unknown, and cells
        // fill and empty at another rate than that of the commands.
        let grace = self.grace.map(|grace| grace + other.fs().div_ceil(own.fs()));
        // Fill that keeps a slow channel open may be too rare for a faster sender: after 16
        // silent periods of its own it resumes by F-7. W-6
        self.grace = grace.filter(|_| own > other);
    }

    pub(super) fn begins(&mut self, start: &StartState) {
        (self.data, self.known_from) = (start.data, start.at);
        if let Some(StartSender::Stopped(since)) = start.sender {
            self.stop = Some(ActiveStop { since, late: None, freed: false });
        }
    }

    pub(super) fn stopped(&mut self, at: Tick) {
        self.stop = Some(ActiveStop { since: at, late: None, freed: false });
        // The run of data in progress at the STOP may continue for too long.
        self.run(at, self.data.since(at).0);
    }

    /// Adds a run of data.
    pub(super) fn run(&mut self, at: Tick, len: u64) {
        let end = Tick(at.0.saturating_add(len));
        if self.end == Some(TapEnd::Receiver) && at.since(self.data).0 >= SILENT_ELSEWHERE {
            self.forgive();
        }
        self.data = self.data.max(end);
        let (Some(stop), Some(grace)) = (&mut self.stop, self.grace) else { return };
        let from = at.max(Tick(stop.since.0.saturating_add(grace)));
        if end > from && !stop.freed {
            let late =
                stop.late.get_or_insert(LateDataRun { first: from, before: 0, run: (from, from) });
            late.before += late.run.1.since(late.run.0).0;
            late.run = (from, end);
        }
    }

    /// True if the current stop alone is longer than the timeout, which is told at its end. R-4
    pub(super) fn is_blocked(&self, at: Tick) -> bool {
        self.stop.is_some_and(|stop| at.since(stop.since).0 > BLOCKED_TIMEOUT)
    }

    /// Marks the current stop as possibly ended by the sender itself: later data is not late.
    pub(super) fn forgive(&mut self) {
        if let Some(stop) = &mut self.stop {
            stop.freed = true;
        }
    }

    /// Ends the recording; `end` is the position after its last character.
    pub(in crate::finding) fn finish(&mut self, end: Tick, sink: &mut FindingSink<'_>) {
        self.ended(end, None, sink);
        if let Some((at, after, bytes)) = self.offset
            && self.offsets.rate().is_none()
            && !self.offsets.is_slight()
        {
            sink.note(FindingKind::DataWhileStopped, at, || data_while_stopped(after, bytes));
            let (more, last) = self.offsets.more();
            sink.again(FindingKind::DataWhileStopped, more, last);
        }
    }

    /// Growth of the delay of this channel's data relative to the commands to its sender, in parts
    /// per million, and the position where it was first observed. W-6
    pub(in crate::finding) fn drift(&self) -> Option<(Tick, i64)> {
        self.offset.map(|(at, ..)| at).zip(self.offsets.rate())
    }

    /// Ends the current stop, released by `by` or by the end of the recording.
    pub(super) fn ended(&mut self, at: Tick, by: Option<ResumeCause>, sink: &mut FindingSink<'_>) {
        let Some(stop) = self.stop.take() else { return };
        if let Some(late) = stop.late
            && late.first < at
            && sink.is_link_recorded(stop.since.max(self.known_from), late.run.1.min(at))
        {
            let bytes = late.before + late.run.1.min(at).since(late.run.0).0;
            let after = late.first.since(stop.since).0;
            let due = Tick(stop.since.0.saturating_add(self.grace.unwrap_or(0)));
            let (periods, side) = match (late.run.1 < at, late.first > due) {
                (true, _) => (late.run.1.since(due).0, Some(1)),
                (false, true) => (at.since(late.first).0, Some(-1)),
                (false, false) => (at.since(due).0, None),
            };
            let offset = side.map(|side| side * i64::try_from(periods).unwrap_or(i64::MAX));
            if self.offsets.add(at, periods, offset) {
                self.offset.get_or_insert((late.first, after, bytes));
            } else {
                let facts = || data_while_stopped(after, bytes);
                sink.note(FindingKind::DataWhileStopped, late.first, facts);
            }
        }
        self.timed_out(stop, at, by, sink);
    }

    /// Checks a stop against the blocked-packet timeout. R-4
    fn timed_out(
        &self,
        stop: ActiveStop,
        at: Tick,
        by: Option<ResumeCause>,
        sink: &mut FindingSink<'_>,
    ) {
        let periods = at.since(stop.since).0;
        let until = Tick(stop.since.0.saturating_add(periods.min(BLOCKED_TIMEOUT + ANSWER)));
        if periods <= BLOCKED_TIMEOUT
            || stop.freed
            || !sink.is_link_recorded(stop.since.max(self.known_from), until)
        {
            return;
        }
        sink.seen().timeouts += 1;
        let kind = timeout_kind(periods);
        if kind == FindingKind::MissingTimeout || by == Some(ResumeCause::Reset) {
            sink.note(kind, stop.since, || vec![FindingFact::number("periods", periods)]);
        }
    }
}

/// Finding of a stop or a packet that took longer than the timeout: what had to end it did, or did not. R-4
pub(super) const fn timeout_kind(periods: u64) -> FindingKind {
    if periods > BLOCKED_TIMEOUT + ANSWER {
        FindingKind::MissingTimeout
    } else {
        FindingKind::BlockedTimeout
    }
}

fn data_while_stopped(after: u64, bytes: u64) -> Vec<FindingFact> {
    vec![FindingFact::number("after_stop", after), FindingFact::number("bytes", bytes)]
}
