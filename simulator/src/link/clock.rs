//! The clocks of a port and of the far end of its link. W-6

use std::num::NonZeroU32;

use codec::time::Ticks;

/// The periods in which a port sends, by its own clock, and those in which it receives, by the far
/// port's. W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortClock {
    own: u64,
    far: u64,
    /// Offset of the arrivals from the far port's clock.
    phase: u64,
    /// Age of an arriving character, in periods of the far port.
    lag: u64,
}

impl PortClock {
    /// The clock of a port, given the delay of its cable and the divisors of its own and the far
    /// port's rate.
    pub(crate) fn new(delay: Ticks, [own, far]: [NonZeroU32; 2]) -> Self {
        let [own, far] = [own, far].map(|divisor| u64::from(divisor.get()));
        let phase = delay.0 % far;
        let in_flight = delay.0.div_ceil(far).max(1);
        Self { own, far, phase, lag: in_flight - u64::from(phase > 0) }
    }

    /// The port's own period, if it sends at this time.
    #[inline]
    pub(crate) const fn send_slot(&self, now: u64) -> Option<u64> {
        if self.own == 1 {
            return Some(now);
        }
        if now.is_multiple_of(self.own) { Some(now / self.own) } else { None }
    }

    /// The far port's period, if a character arrives at this time.
    #[inline]
    pub(crate) const fn receive_slot(&self, now: u64) -> Option<u64> {
        if self.far == 1 {
            return Some(now);
        }
        if now % self.far == self.phase { Some(now / self.far) } else { None }
    }

    /// The port's first period at or after a time.
    pub(crate) const fn next_sent(&self, from: u64) -> u64 {
        from.div_ceil(self.own)
    }

    /// The far port's period of the first character that arrives at or after a time.
    pub(crate) const fn next_received(&self, from: u64) -> u64 {
        from.saturating_sub(self.phase).div_ceil(self.far)
    }

    /// Time at which the character of a far port's period arrives.
    pub(crate) const fn receive_time(&self, slot: u64) -> u64 {
        slot.saturating_mul(self.far).saturating_add(self.phase)
    }

    /// Time of the port's n-th period at or after a time, 1 being the first.
    pub(crate) const fn send_time(&self, from: u64, number: u64) -> u64 {
        self.next_sent(from).saturating_add(number - 1).saturating_mul(self.own)
    }

    /// Time at which the n-th character at or after a time arrives, 1 being the first.
    pub(crate) const fn arrival_time(&self, from: u64, number: u64) -> u64 {
        self.receive_time(self.next_received(from).saturating_add(number - 1))
    }

    /// True if characters arrive at the rate at which another port of the node sends, and the next
    /// one does so before that sends.
    pub(crate) const fn feeds(&self, sender: &Self, from: u64) -> bool {
        self.far == sender.own && self.arrival_time(from, 1) <= sender.send_time(from, 1)
    }

    /// Age of an arriving character, in periods of the far port.
    pub(crate) const fn lag(&self) -> u64 {
        self.lag
    }

    /// Character period of the port.
    pub(crate) const fn divisor(&self) -> u64 {
        self.own
    }

    /// The longer of the two character periods.
    pub(crate) const fn slowest(&self) -> u64 {
        if self.own > self.far { self.own } else { self.far }
    }
}
