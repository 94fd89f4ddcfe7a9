//! The NIC loiters: it looks at an empty queue again and again. T-14

use super::firmware::MessagingFirmware;

/// Looks at the empty queue of the endpoint that the NIC stays with. T-14
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoiterState {
    /// Attempts that are left.
    pub(super) left: u32,
    /// Whether another endpoint has a message that can go.
    pub(super) others: OtherQueues,
}

/// What the endpoints have that the NIC does not stay with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherQueues {
    Wait,
    Nothing,
}

impl MessagingFirmware {
    /// Begins to look at an empty queue: once if a packet waits to be taken in, to the end of the turn
    /// if another endpoint waits, else until something happens. T-14
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

    /// Counts the looks that were made by now. One that is under way ends first. T-14
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
