//! A stop of a channel's sender, and the data that came in it. F-1, F-2, R-4

use codec::tick::Tick;

use super::ANSWER;
use crate::blocking::BLOCKED;
use crate::event::By;
use crate::finding::ledger::Scribe;
use crate::finding::{Fact, Kind};

/// A stop of a channel's sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    since: Tick,
    late: Option<Late>,
    /// Whether the sender may have gone on for a reason that the tap does not see.
    freed: bool,
}

/// Data that came although its sender was stopped.
#[derive(Clone, Copy, Debug)]
struct Late {
    first: Tick,
    /// Bytes before the last run of them.
    before: u64,
    /// That run: from where, and the place behind it. It may go on beyond the stop.
    run: (Tick, Tick),
}

impl Stop {
    pub(super) const fn new(since: Tick) -> Self {
        Self { since, late: None, freed: false }
    }

    /// The sender may have gone on by itself: no more data is late.
    pub(super) const fn forgive(&mut self) {
        self.freed = true;
    }

    /// A run of data; the sender should have stopped so many periods after STOP.
    pub(super) fn run(&mut self, at: Tick, end: Tick, grace: u64) {
        let from = at.max(Tick(self.since.0.saturating_add(grace)));
        if end > from && !self.freed {
            let late = self.late.get_or_insert(Late { first: from, before: 0, run: (from, from) });
            late.before += late.run.1.since(late.run.0).0;
            late.run = (from, end);
        }
    }

    /// It is over: released by this, or by the end of the recording.
    pub(super) fn released(self, at: Tick, by: Option<By>, scribe: &mut Scribe<'_>) {
        if let Some(late) = self.late
            && late.first < at
        {
            let bytes = late.before + late.run.1.min(at).since(late.run.0).0;
            scribe.note(Kind::DataWhileStopped, late.first, || {
                let after = late.first.since(self.since).0;
                vec![Fact::number("after_stop", after), Fact::number("bytes", bytes)]
            });
        }
        let periods = at.since(self.since).0;
        if periods <= BLOCKED || self.freed {
            return;
        }
        scribe.seen().timeouts += 1;
        let facts = || vec![Fact::number("periods", periods)];
        if periods > BLOCKED + ANSWER {
            scribe.note(Kind::NoEscape, self.since, facts);
        } else if by == Some(By::Reset) {
            scribe.note(Kind::BlockedTimeout, self.since, facts);
        }
    }
}
