//! Character periods, and the timeouts that count them. §4.2

use std::fmt;

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

/// Picoseconds in a character period at the full rate. §4.2
pub const FULL_RATE_PERIOD_PS: u32 = 12_500;

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
