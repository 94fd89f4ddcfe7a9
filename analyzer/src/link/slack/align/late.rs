//! Data that comes later after a STOP than cable and latencies allow. F-4

use super::{SenderState, SlackAligner};
use crate::link::slack::SlackEvent;
use crate::link::slack::arrival::BufferArrival;

/// Characters that came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LateData {
    pub(super) at: u64,
    pub(super) by: u64,
    /// How many periods after they should have ended, had nothing been added.
    pub(super) periods: u64,
}

impl SlackAligner {
    /// Data that comes although the sender should have paused before.
    pub(super) fn count_late(
        &mut self,
        now: u64,
        end: u64,
        front: Option<BufferArrival>,
        out: &mut impl FnMut(SlackEvent),
    ) {
        let Some(BufferArrival::Data { start, .. }) = front else { return };
        if start != now {
            return;
        }
        let pause = now - std::mem::replace(&mut self.data, end).min(now);
        if pause >= self.pause_max {
            self.resume(out);
        }
        if let SenderState::Stopped { since, allowed } = self.sender {
            let late = self.late.get_or_insert(LateData { at: now, by: 0, periods: 0 });
            late.by += end - now;
            late.periods = allowed + (end - since);
        }
    }

    /// How many periods more than allowed data has gone on after a STOP, if nobody has said how long
    /// the cable is. A STOP that was on its way when more was allowed has less of its own.
    pub(in crate::link::slack) const fn overdue(&self) -> Option<u64> {
        match self.overdue.saturating_sub(self.allowed) {
            0 => None,
            late => Some(late),
        }
    }

    /// Data may go on for so many periods more.
    pub(in crate::link::slack) const fn allow(&mut self, periods: u64) {
        self.allowed = self.allowed.saturating_add(periods);
        self.timing.effective = self.timing.effective.saturating_add(periods);
    }
}
