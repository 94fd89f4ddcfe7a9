//! The clocks of a port and of the far end of its link. W-6

use std::num::NonZeroU32;
use std::ops::Range;

use codec::time::{CharacterPeriod, Ticks};

/// The periods in which a port sends, by its own clock, and those in which it receives, by the far
/// port's. Times are ticks of the port's node. W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortClock {
    own: u64,
    far: u64,
    /// Offset of the arrivals from the far port's clock.
    phase: u64,
    /// Age of an arriving character, in periods of the far port.
    lag: u64,
    /// Ticks of the port's node and of the far one, if they differ.
    rates: Option<[CharacterPeriod; 2]>,
}

impl PortClock {
    /// The clock of a port, given the delay of its cable and the divisors of its own and the far
    /// port's rate.
    pub(crate) fn new(delay: Ticks, [own, far]: [NonZeroU32; 2]) -> Self {
        let [own, far] = [own, far].map(|divisor| u64::from(divisor.get()));
        let phase = delay.0 % far;
        let in_flight = delay.0.div_ceil(far).max(1);
        Self { own, far, phase, lag: in_flight - u64::from(phase > 0), rates: None }
    }

    /// Clocks of two nodes whose ticks differ, the port's own first.
    pub(crate) fn with_rates(self, rates: [CharacterPeriod; 2]) -> Self {
        Self { rates: Some(rates), ..self }
    }

    /// The port's own period, if it sends at this time.
    #[inline]
    pub(crate) const fn send_slot(&self, now: u64) -> Option<u64> {
        if self.own == 1 {
            return Some(now);
        }
        if now.is_multiple_of(self.own) { Some(now / self.own) } else { None }
    }

    /// The far port's period, if a character arrives at this tick of the far node.
    #[inline]
    pub(crate) const fn receive_slot(&self, now: u64) -> Option<u64> {
        if self.far == 1 {
            return Some(now);
        }
        if now % self.far == self.phase { Some(now / self.far) } else { None }
    }

    /// The port's first period at or after a time.
    #[inline]
    pub(crate) const fn next_sent(&self, from: u64) -> u64 {
        if self.own == 1 { from } else { from.div_ceil(self.own) }
    }

    /// The first tick of the far node from which characters arrive at or after a time.
    #[inline]
    pub(crate) fn far_tick(&self, from: u64) -> u64 {
        match (self.rates, from.checked_sub(1)) {
            (Some([own, far]), Some(before)) => convert(before, own, far).0.saturating_add(1),
            (None, _) | (Some(_), None) => from,
        }
    }

    /// The far port's period of the first character that arrives at or after a time.
    #[inline]
    pub(crate) fn next_received(&self, from: u64) -> u64 {
        let tick = self.far_tick(from);
        if self.far == 1 { tick } else { tick.saturating_sub(self.phase).div_ceil(self.far) }
    }

    /// The port's first period in a range of times, and the first one behind it.
    #[inline]
    pub(crate) fn sent(&self, times: Range<u64>) -> [u64; 2] {
        [self.next_sent(times.start), self.next_sent(times.end)]
    }

    /// The far port's first period of which the character arrives in a range of times, and the first
    /// one behind it.
    #[inline]
    pub(crate) fn received(&self, times: Range<u64>) -> [u64; 2] {
        [self.next_received(times.start), self.next_received(times.end)]
    }

    /// Time at which the character of a far port's period arrives.
    pub(crate) fn receive_time(&self, slot: u64) -> u64 {
        let tick = slot.saturating_mul(self.far).saturating_add(self.phase);
        match self.rates {
            Some([own, far]) if tick < u64::MAX => {
                let (whole, rest) = convert(tick, far, own);
                whole.saturating_add(u64::from(rest > 0))
            }
            Some(_) | None => tick,
        }
    }

    /// Time of the port's n-th period at or after a time, 1 being the first.
    pub(crate) const fn send_time(&self, from: u64, number: u64) -> u64 {
        self.next_sent(from).saturating_add(number - 1).saturating_mul(self.own)
    }

    /// Time at which the n-th character at or after a time arrives, 1 being the first.
    pub(crate) fn arrival_time(&self, from: u64, number: u64) -> u64 {
        self.receive_time(self.next_received(from).saturating_add(number - 1))
    }

    /// True if characters arrive at the rate at which another port of the node sends, and the next
    /// one does so before that sends.
    pub(crate) fn feeds(&self, sender: &Self, from: u64) -> bool {
        self.far == sender.own && self.arrival_time(from, 1) <= sender.send_time(from, 1)
    }

    /// Time before which one character arrives between any two successive periods in which this node
    /// sends or takes characters at the rate of the far port: later there may be none or two.
    pub(crate) fn regular_until(&self, from: u64) -> u64 {
        let Some([own, far]) = self.rates.map(|rates| rates.map(CharacterPeriod::fs)) else {
            return u64::MAX;
        };
        let time = |tick: u64, period: u64| i128::from(tick) * i128::from(period);
        let first = from.div_ceil(self.far) * self.far;
        let arrival = self.next_received(from) * self.far + self.phase;
        // The time between an arrival and the period in which it is taken, and its change.
        let lead = u64::try_from(time(first, own) - time(arrival, far)).unwrap_or(u64::MAX);
        let (most, drift) = (self.far * far, self.far * own.abs_diff(far));
        let periods = if lead >= most {
            0
        } else if far > own {
            lead / drift + 1
        } else {
            (most - lead).div_ceil(drift)
        };
        (first + 1).saturating_add(periods.saturating_mul(self.far)).saturating_sub(self.far)
    }

    /// True if both ports have the same rate, apart from their nodes' clocks.
    pub(crate) const fn is_even(&self) -> bool {
        self.own == self.far
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

/// Whole periods of a clock in a number of periods of another, and the rest of the time.
fn convert(periods: u64, from: CharacterPeriod, to: CharacterPeriod) -> (u64, u64) {
    match periods.checked_mul(from.fs()) {
        Some(time) => (time / to.fs(), time % to.fs()),
        None => {
            let (time, to) = (u128::from(periods) * u128::from(from.fs()), u128::from(to.fs()));
            let [whole, rest] = [time / to, time % to].map(u64::try_from);
            (whole.unwrap_or(u64::MAX), rest.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arithmetic agrees with counting from tick to tick. W-6
    #[test]
    fn arrivals_between_unlike_clocks_are_counted() {
        let rates = [(1000, 1013), (1013, 1000), (1000, 1500), (1700, 1000)];
        for (own, far) in rates {
            for (delay, divisor) in [(1, 1), (7, 1), (5, 2), (9, 3), (12, 3)] {
                let divisors = [NonZeroU32::new(divisor).unwrap(); 2];
                let clock = PortClock::new(Ticks(delay), divisors)
                    .with_rates([own, far].map(|fs| CharacterPeriod::from_fs(fs).unwrap()));
                let arrives = |slot: u64| {
                    ((slot * u64::from(divisor) + delay % u64::from(divisor)) * far).div_ceil(own)
                };
                let times: Vec<u64> = (0..800).map(arrives).collect();
                assert!((0..800).zip(&times).all(|(slot, at)| clock.receive_time(slot) == *at));
                for from in 0..300 {
                    let first = times.iter().filter(|at| **at < from).count() as u64;
                    assert_eq!(clock.next_received(from), first, "{own} {far} {delay} {divisor}");
                    // The first period with no arrival or with two, of those at the rate.
                    let step = u64::from(divisor);
                    let mut taken = from.div_ceil(step) * step;
                    let mut start = from;
                    while taken < 390
                        && times.iter().filter(|at| (start..=taken).contains(*at)).count() == 1
                    {
                        (start, taken) = (taken + 1, taken + step);
                    }
                    let until = clock.regular_until(from);
                    let irregular = (taken + 1).saturating_sub(step);
                    assert!(
                        if taken < 390 { until == irregular } else { until >= 380 },
                        "{own} {far} {delay} {divisor} {from}: {until} {irregular}"
                    );
                }
            }
        }
    }
}
