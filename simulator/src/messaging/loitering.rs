//! Loitering: the NIC polls an empty queue. T-14

use super::firmware::MessagingFirmware;
use super::scheduler::{LoiterState, OtherQueues};

impl MessagingFirmware {
    /// Starts to poll an empty queue: once if a packet has arrived, to the end of the turn if
    /// another endpoint waits, else until something happens. T-14
    pub(super) fn loiter(
        &mut self,
        now: u64,
        look: u64,
        LoiterState { left, others }: LoiterState,
    ) {
        let looks = match others {
            _ if self.has_arrivals() => Some(1),
            OtherQueues::Wait => Some(left.into()),
            OtherQueues::Nothing => None,
        };
        self.looking = Some(now);
        self.until = looks.map(|looks| now.saturating_add(look.saturating_mul(looks)));
        self.turn_in();
    }

    /// Counts the polls so far; one in progress is finished first. T-14
    pub(super) fn is_done_looking(&mut self, now: u64, look: u64) -> bool {
        let Some(since) = self.looking else { return true };
        let looks = now.saturating_sub(since).div_ceil(look);
        let end = since.saturating_add(looks.saturating_mul(look));
        if end > now {
            self.until = Some(end);
            return false;
        }
        self.scheduler.count_looks(looks);
        self.looking = None;
        self.until = None;
        true
    }
}
