//! Units of positions in text.

use std::str::FromStr;

use codec::time::CharacterPeriod;

use super::{ColumnRank, StyledLine, microseconds};

/// Unit of times, and width of lines, of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportLayout {
    /// Unit of positions and times.
    pub unit: TimeUnit,
    /// Columns of the output; lines have no limit without them.
    pub width: Option<usize>,
}

impl ReportLayout {
    /// Columns that a heading leaves out.
    pub(super) fn rank(self, head: &StyledLine) -> ColumnRank {
        self.width.map_or(0, |width| head.rank_for(width))
    }
}

codec::named_enum! {
    /// Unit in which text prints positions.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum TimeUnit {
        /// Microseconds to a tenth of a nanosecond.
        #[default]
        Microseconds = "µs",
        /// Nanoseconds to a tenth.
        Nanoseconds = "ns",
        /// Character indices on the channel.
        Characters = "ch",
    }
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
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Microseconds => "time µs",
            Self::Nanoseconds => "time ns",
            Self::Characters => "character",
        }
    }

    /// The unit of times that are of no channel, and so have no character period.
    pub const fn of_times(self) -> Self {
        match self {
            Self::Characters | Self::Microseconds => Self::Microseconds,
            Self::Nanoseconds => Self::Nanoseconds,
        }
    }

    const fn picoseconds(self) -> u128 {
        match self {
            Self::Characters | Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1000,
        }
    }

    /// A time of no channel.
    pub fn elapsed(self, picoseconds: u128) -> String {
        self.of_times().time(picoseconds, CharacterPeriod::PICOSECOND)
    }

    /// A time of no channel, rounded to a tenth.
    pub(super) fn rounded(self, picoseconds: u128) -> String {
        let tenths = (10 * picoseconds + self.picoseconds() / 2) / self.picoseconds();
        format!("{}.{}", tenths / 10, tenths % 10)
    }

    pub(super) fn whole(self, microseconds: u64) -> String {
        (u128::from(microseconds) * 1_000_000 / self.picoseconds()).to_string()
    }

    /// A place of which the time is known.
    pub(super) fn place(self, at: u64, time_ps: u128) -> String {
        match self {
            Self::Characters => at.to_string(),
            Self::Microseconds | Self::Nanoseconds => self.elapsed(time_ps),
        }
    }

    /// A position on a channel with a character period.
    pub fn text(self, at: u64, period: CharacterPeriod) -> String {
        self.time(period.time(at), period)
    }

    /// A time in picoseconds; in characters of a channel with a character period.
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
