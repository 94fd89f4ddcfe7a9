//! The bus and the processor of a host, which its interfaces share. I-7

use super::HostInterface;

/// Maximum number of interfaces of a host. *Chosen*
pub(crate) const PLACES: u8 = 8;

/// Turns at the bus: of the DMA engine of each interface, and of its endpoints.
const TURNS: u8 = 2 * PLACES;

/// Position of an interface among those of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfacePlace {
    /// Number, from 0.
    pub index: u8,
    /// Number of the host's interfaces.
    pub count: u8,
}

/// State of a host's bus and processor.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostShare {
    /// The bus is in use until this time.
    pub(super) bus: u64,
    /// The turn served last, and those that wait, a bit for each: the DMA engines of the interfaces,
    /// then their endpoints.
    last: u8,
    waiting: u16,
    /// The processor works until this time.
    pub(super) busy: u64,
}

impl Default for InterfacePlace {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl HostShare {
    /// Makes the processor work this much longer.
    pub(super) const fn work(&mut self, now: u64, time: u64) {
        if time > 0 {
            let from = if self.busy > now { self.busy } else { now };
            self.busy = from.saturating_add(time);
        }
    }

    /// Takes the bus until a time, if it is free. In the period in which it becomes free those that
    /// wait have their turns.
    pub(crate) fn take_bus(&mut self, now: u64, turn: u8, until: u64) -> bool {
        self.waiting |= bit(turn);
        let mut turns = (self.last + 1..TURNS).chain(0..=self.last);
        let next = turns.find(|other| self.waiting & bit(*other) != 0);
        if now < self.bus || now == self.bus && next != Some(turn) {
            return false;
        }
        // Those that did not come when it was free wait no more.
        self.waiting = if now > self.bus { 0 } else { self.waiting & !bit(turn) };
        (self.bus, self.last) = (until, turn);
        true
    }

    /// Takes the bus for some periods, or returns the time of the next attempt.
    pub(crate) fn try_bus(&mut self, now: u64, turn: u8, periods: u64) -> Option<u64> {
        let is_taken = self.take_bus(now, turn, now.saturating_add(periods));
        (!is_taken).then(|| self.bus.max(now.saturating_add(1)))
    }
}

impl HostInterface {
    /// Exchanges the bus and the processor of its host.
    pub(crate) const fn exchange(&mut self, share: &mut HostShare) {
        std::mem::swap(&mut self.share, share);
    }
}

const fn bit(turn: u8) -> u16 {
    1 << (turn % TURNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I-7
    #[test]
    fn interfaces_take_turns_at_the_bus() {
        let mut share = HostShare::default();
        assert!(share.take_bus(0, 1, 92), "alone");
        assert_eq!([1, 0].map(|index| share.take_bus(50, index, 142)), [false, false]);
        // It was the turn of 0, whoever looks first.
        assert_eq!([1, 0].map(|index| share.take_bus(92, index, 184)), [false, true]);
        assert_eq!([0, 1].map(|index| share.take_bus(184, index, 276)), [false, true]);
        assert!(!share.take_bus(276, 1, 368), "it is the turn of 0,");
        assert!(share.take_bus(277, 1, 369), "which does not come");
        assert!(share.take_bus(369, 1, 461), "and is not waited for again");
    }
}
