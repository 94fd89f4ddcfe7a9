//! Character periods, and the timeouts that count them. §4.2

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

/// A number of character periods: 12.5 ns each at the full rate of 80 M characters/s. §4.2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticks(pub u64);

/// A character's place on its channel: periods since the capture's time zero.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize,
)]
pub struct Tick(pub u64);

/// Longest silence on a living link: 16 character periods, 0.2 µs at the full rate. Silence is
/// IDLE only; any other character, data included, ends it. F-7 (§4.5.3)
pub const OPEN_LINK: Ticks = Ticks(16);

/// The open-link timeout of a channel. F-7
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkTimeout {
    /// 16 silent periods.
    #[default]
    Silence,
    /// None: a handshake cable is silent between any two characters. B-1
    Never,
}

/// Picoseconds in a character period at the full rate. §4.2
pub const FULL_RATE_PERIOD_PS: u32 = 12_500;

/// A time since the zero of a capture, or its length, in picoseconds.
pub type Picoseconds = u128;

/// The character period of a channel, as its sender's clock gives it. W-6
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CharacterPeriod {
    femtoseconds: NonZeroU64,
}

impl Default for CharacterPeriod {
    /// The full rate.
    fn default() -> Self {
        Self::FULL_RATE
    }
}

impl CharacterPeriod {
    /// The period at the full rate: 12.5 ns. §4.2
    pub const FULL_RATE: Self = match Self::from_ps(FULL_RATE_PERIOD_PS as u64) {
        Some(period) => period,
        None => Self { femtoseconds: NonZeroU64::MIN },
    };

    /// One picosecond: for places that are times.
    pub const PICOSECOND: Self = match Self::from_ps(1) {
        Some(period) => period,
        None => Self::FULL_RATE,
    };

    /// A period of picoseconds: at least one, and less than 5.1 hours.
    pub const fn from_ps(picoseconds: u64) -> Option<Self> {
        match picoseconds.checked_mul(1000) {
            Some(femtoseconds) => Self::from_fs(femtoseconds),
            None => None,
        }
    }

    /// A period of femtoseconds, at least one.
    pub const fn from_fs(femtoseconds: u64) -> Option<Self> {
        match NonZeroU64::new(femtoseconds) {
            Some(femtoseconds) => Some(Self { femtoseconds }),
            None => None,
        }
    }

    /// The period of a clock that is this many parts per million faster, to the nearest
    /// femtosecond. W-6
    pub fn sped_up(self, ppm: i64) -> Self {
        let rate = u128::from(1_000_000_u64.saturating_add_signed(ppm)).max(1);
        let period = (u128::from(self.fs()) * 1_000_000 + rate / 2) / rate;
        u64::try_from(period).ok().and_then(Self::from_fs).unwrap_or(self)
    }

    /// The period of a sender at a fraction of the rate, or the longest possible one.
    pub const fn times(self, divisor: NonZeroU32) -> Self {
        Self {
            femtoseconds: self
                .femtoseconds
                .saturating_mul(NonZeroU64::MIN.saturating_add(divisor.get() as u64 - 1)),
        }
    }

    /// Femtoseconds.
    pub const fn fs(self) -> u64 {
        self.femtoseconds.get()
    }

    /// Picoseconds, rounded up.
    pub const fn ps(self) -> u64 {
        self.femtoseconds.get().div_ceil(1000)
    }

    /// True if clocks within their tolerance can make both of one rate. W-6
    pub const fn is_near(self, other: Self) -> bool {
        self.fs().abs_diff(other.fs()) <= self.fs() / 2000
    }

    /// Periods of the full rate in it, rounded up; a clock within its tolerance counts as exact.
    /// W-6
    pub const fn full_rate_periods(self) -> u64 {
        let least = self.fs() - self.fs() / 2000;
        let periods = least.div_ceil(Self::FULL_RATE.fs());
        if periods == 0 { 1 } else { periods }
    }

    /// Time of a number of periods; of a character, by its place on the channel.
    #[inline]
    pub fn time(self, periods: u64) -> Picoseconds {
        match periods.checked_mul(self.fs()) {
            // Division by a constant takes a multiplication, of 64 bits only.
            Some(femtoseconds) => Picoseconds::from(femtoseconds / 1000),
            None => u128::from(periods) * u128::from(self.fs()) / 1000,
        }
    }

    /// Whole periods in a time: the place on the channel at that time.
    #[inline]
    pub fn periods(self, time: Picoseconds) -> u64 {
        // A time is rounded down, so the character that begins within its picosecond counts.
        let last = time.saturating_mul(1000).saturating_add(999);
        match u64::try_from(last) {
            Ok(last) => last / self.fs(),
            Err(_) => u64::try_from(last / u128::from(self.fs())).unwrap_or(u64::MAX),
        }
    }

    /// The first place on the channel at a time or behind it.
    pub fn periods_up(self, time: Picoseconds) -> u64 {
        let place = self.periods(time);
        if self.time(place) < time { place.saturating_add(1) } else { place }
    }
}

impl Tick {
    /// The place `periods` later, or the last one.
    pub const fn after(self, periods: Ticks) -> Self {
        Self(self.0.saturating_add(periods.0))
    }

    /// Periods since an earlier place; none if it is later.
    pub const fn since(self, earlier: Self) -> Ticks {
        Ticks(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_periods_are_exact_to_the_picosecond() {
        // 100 ppm fast and slow: 12 498.75 and 12 501.25 ps. W-6
        for (fs, times) in [
            (12_500_000, [0, 12_500, 12_500_000_000]),
            (12_498_750, [0, 12_498, 12_498_750_000]),
            (12_501_250, [0, 12_501, 12_501_250_000]),
        ] {
            let period = CharacterPeriod::from_fs(fs).unwrap();
            assert_eq!([0, 1, 1_000_000].map(|periods| period.time(periods)), times);
            for at in [0, 1, 2, 3, 7, 799_999, 1 << 40, u64::MAX] {
                assert_eq!(period.periods(period.time(at)), at, "{fs} {at}");
            }
        }
        let slow = [1, 12_498_750, 12_501_250, 24_997_500, 26_000_000];
        let periods = slow.map(|fs| CharacterPeriod::from_fs(fs).unwrap().full_rate_periods());
        assert_eq!(periods, [1, 1, 1, 2, 3]);
        // 12.5 ns / 0.999 92, and back.
        let clock = |ppm| CharacterPeriod::FULL_RATE.sped_up(ppm).fs();
        assert_eq!([-80, 0, 100].map(clock), [12_501_000, 12_500_000, 12_498_750]);
        let slowest = CharacterPeriod::FULL_RATE.times(NonZeroU32::MAX);
        assert_eq!(slowest.fs(), 12_500_000 * 0xffff_ffff);
        assert_eq!([0, u64::MAX].map(CharacterPeriod::from_ps), [None; 2]);
        assert_eq!(CharacterPeriod::FULL_RATE.ps(), 12_500);
        assert_eq!(CharacterPeriod::from_fs(1).map(CharacterPeriod::ps), Some(1));
    }
}
