//! A range of time or of characters, to which a view may be restricted.

use std::fmt;
use std::str::FromStr;

use codec::capture::Channel;
use codec::time::Tick;

/// A position in a capture, independent of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowEdge {
    /// The character with that index, on any channel.
    Character(Tick),
    /// The first character that begins at that time or later, in picoseconds.
    Picoseconds(u128),
}

/// A range between two edges, without the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// The first character inside.
    pub from: WindowEdge,
    /// The first character after it.
    pub to: Option<WindowEdge>,
}

impl TimeWindow {
    /// The whole capture.
    pub const ALL: Self = Self { from: WindowEdge::Character(Tick(0)), to: None };

    /// The range of characters on a channel.
    pub fn on(&self, channel: &Channel) -> (Tick, Tick) {
        let to = self.to.map_or(Tick(u64::MAX), |edge| edge.on(channel));
        (self.from.on(channel), to)
    }

    /// True if the window contains a character of a channel.
    pub fn contains(&self, channel: &Channel, at: Tick) -> bool {
        self.overlaps(channel, at, at)
    }

    /// True if the window contains any of the characters `first..=last` of a channel.
    pub fn overlaps(&self, channel: &Channel, first: Tick, last: Tick) -> bool {
        let (from, to) = self.on(channel);
        first < to && from <= last
    }
}

impl fmt::Display for WindowEdge {
    /// Formats the position as it is parsed, times in microseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(at) => write!(f, "{at}ch"),
            Self::Picoseconds(time) => {
                let text = microseconds(*time);
                write!(f, "{}us", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

impl WindowEdge {
    /// The first character at the position or behind it, on a channel.
    pub fn on(self, channel: &Channel) -> Tick {
        match self {
            Self::Character(at) => at,
            Self::Picoseconds(time) => Tick(channel.period.periods_up(time)),
        }
    }
}

/// A text that is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// A negative number.
    #[error("invalid position `{0}`: a capture starts at 0, so no position is negative")]
    Negative(String),
    /// Something else.
    #[error(
        "invalid position `{0}`: expected characters (4096ch) or a time (250ns, 12.5us, 3ms, 1s)"
    )]
    Invalid(String),
}

/// Units of time and their powers of ten, the longer of two with the same ending first.
const UNITS: [(&str, u32); 5] = [("ps", 0), ("ns", 3), ("us", 6), ("µs", 6), ("ms", 9)];

impl FromStr for WindowEdge {
    type Err = PositionError;

    /// Parses a whole number of characters, or a decimal number with a unit of time.
    fn from_str(text: &str) -> Result<Self, PositionError> {
        let is_negative = text
            .strip_prefix('-')
            .is_some_and(|rest| !rest.starts_with('-') && rest.parse::<Self>().is_ok());
        let error = if is_negative { PositionError::Negative } else { PositionError::Invalid };
        let invalid = || error(text.to_owned());
        if let Some(characters) = text.strip_suffix("ch") {
            return characters.parse().map(|at| Self::Character(Tick(at))).map_err(|_| invalid());
        }
        let unit = UNITS.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power)));
        let (number, power) = match unit {
            Some(found) => found,
            None => (text.strip_suffix('s').ok_or_else(invalid)?, 12),
        };
        picoseconds(number, power).map(Self::Picoseconds).ok_or_else(invalid)
    }
}

/// A decimal number times a power of ten; digits below one picosecond must be zero.
fn picoseconds(number: &str, power: u32) -> Option<u128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || whole.len() > 20 || !digits(whole) || !digits(part) {
        return None;
    }
    let power = power as usize;
    let (part, rest) = part.split_at(part.len().min(power));
    if rest.bytes().any(|digit| digit != b'0') {
        return None;
    }
    format!("{whole}{part:0<power$}").parse().ok()
}

/// Time in microseconds to a tenth of a nanosecond, from picoseconds.
pub fn microseconds(picoseconds: u128) -> String {
    let tenths = picoseconds / 100;
    format!("{}.{:04}", tenths / 10_000, tenths % 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_selects_the_first_character_that_begins_then_or_later() {
        let channel = Channel::named("a>b");
        let window = TimeWindow {
            from: WindowEdge::Picoseconds(12_501),
            to: Some(WindowEdge::Picoseconds(50_000)),
        };
        assert_eq!(window.on(&channel), (Tick(2), Tick(4)));
        assert!(!window.contains(&channel, Tick(1)) && window.contains(&channel, Tick(2)));
        assert!(window.contains(&channel, Tick(3)) && !window.contains(&channel, Tick(4)));
    }

    #[test]
    fn positions_are_characters_or_times() {
        let edge = |text: &str| text.parse::<WindowEdge>();
        assert_eq!(edge("4096ch"), Ok(WindowEdge::Character(Tick(4096))));
        assert_eq!(edge("12.5us"), Ok(WindowEdge::Picoseconds(12_500_000)));
        assert_eq!(edge("12.5µs"), Ok(WindowEdge::Picoseconds(12_500_000)));
        assert_eq!(edge("0.0125us"), Ok(WindowEdge::Picoseconds(12_500)));
        assert_eq!(edge("250ns"), Ok(WindowEdge::Picoseconds(250_000)));
        assert_eq!(edge("3ms"), Ok(WindowEdge::Picoseconds(3_000_000_000)));
        assert_eq!(edge("1s"), Ok(WindowEdge::Picoseconds(1_000_000_000_000)));
        for written in ["0ch", "4096ch", "0us", "10us", "12.5125us"] {
            assert_eq!(edge(written).map(|edge| edge.to_string()), Ok(written.to_owned()));
        }
        assert_eq!(edge("7ps"), Ok(WindowEdge::Picoseconds(7)));
        for invalid in ["", "12", "ch", "-1ch", "1.5ch", "us", ".5us", "1e3us", "5 us", "0.5ps"] {
            let is_negative = edge(invalid) == Err(PositionError::Negative(invalid.to_owned()));
            assert_eq!(is_negative, invalid.starts_with('-'));
            assert!(
                edge(invalid).unwrap_err().to_string().contains("invalid position"),
                "{invalid}"
            );
        }
    }
}
