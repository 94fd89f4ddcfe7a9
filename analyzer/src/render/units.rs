//! Units of positions in text.

use std::str::FromStr;

use super::microseconds;
use codec::time::CharacterPeriod;

/// Unit in which text prints positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Microseconds to a tenth of a nanosecond.
    #[default]
    Microseconds,
    /// Nanoseconds to a tenth.
    Nanoseconds,
    /// Character indices on the channel.
    Characters,
}

impl FromStr for TimeUnit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "us" => Ok(Self::Microseconds),
            "ns" => Ok(Self::Nanoseconds),
            "chars" => Ok(Self::Characters),
            _ => Err("expected us, ns or chars"),
        }
    }
}

impl TimeUnit {
    /// Heading above positions.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Microseconds => "time µs",
            Self::Nanoseconds => "time ns",
            Self::Characters => "character",
        }
    }

    /// The unit, behind the name of a column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "µs",
            Self::Nanoseconds => "ns",
            Self::Characters => "ch",
        }
    }

    /// A position on a channel with a character period.
    #[must_use]
    pub fn text(self, at: u64, period: CharacterPeriod) -> String {
        self.time(period.time(at), period)
    }

    /// A time in picoseconds; in characters of a channel with a character period.
    #[must_use]
    pub fn time(self, picoseconds: u128, period: CharacterPeriod) -> String {
        match self {
            Self::Microseconds => microseconds(picoseconds),
            Self::Nanoseconds => {
                format!("{}.{}", picoseconds / 1000, picoseconds % 1000 / 100)
            }
            Self::Characters => period.periods(picoseconds).to_string(),
        }
    }
}
