//! Data that arrives later after a STOP than cable and latencies allow. F-4

use super::{SenderState, SlackAligner};
use crate::link::slack::arrival::BufferArrival;

/// Late characters after a STOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LateData {
    pub(super) at: u64,
    pub(super) by: u64,
    /// Lateness of the last one in periods, without what was added.
    pub(super) periods: u64,
}

impl SlackAligner {
    /// Counts data that arrives although the sender should have paused.
    pub(super) fn count_late(&mut self, now: u64, end: u64, front: Option<BufferArrival>) {
        let Some(BufferArrival::Data { start, .. }) = front else { return };
        if start != now {
            return;
        }
        let pause = now - std::mem::replace(&mut self.data, end).min(now);
        if pause >= self.pause_max {
            self.resume();
        }
        if let SenderState::Stopped { since, allowed } = self.sender {
            let late = self.late.get_or_insert(LateData { at: now, by: 0, periods: 0 });
            late.by += end - now;
            late.periods = allowed + (end - since);
        }
    }

    /// Periods by which data exceeded the allowed time after a STOP, if the length of the cable is not
    /// declared. A STOP in transit when more was allowed has less of its own.
    pub(in crate::link::slack) const fn overdue(&self) -> Option<u64> {
        match self.overdue.saturating_sub(self.allowed) {
            0 => None,
            late => Some(late),
        }
    }

    /// Extends the time for data after a STOP.
    pub(in crate::link::slack) const fn allow(&mut self, periods: u64) {
        self.allowed = self.allowed.saturating_add(periods);
        self.timing.effective = self.timing.effective.saturating_add(periods);
    }
}
