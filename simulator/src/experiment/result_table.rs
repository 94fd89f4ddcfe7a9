//! What an experiment finds: tables of typed columns, and published figures beside ours.

use std::fmt;

/// A number in thousandths. Sums and slopes of them are exact, and the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MilliValue(pub i64);

/// A table: each row has a cell for each column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultTable {
    /// For files, unique in an experiment.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub columns: Vec<TableColumn>,
    /// Its rows.
    pub rows: Vec<Vec<TableCell>>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// For programs, with its unit: `round_trip_us`.
    pub name: &'static str,
    /// For people: `round trip`.
    pub head: &'static str,
    /// For people: `µs`; empty for words and counts.
    pub unit: &'static str,
    /// How many decimals people are shown, three at most.
    pub places: u8,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TableCell {
    /// There is nothing to say.
    #[default]
    Nothing,
    /// A word.
    Word(String),
    /// A number, in the unit of its column.
    Number(MilliValue),
}

/// A published figure beside ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFigure {
    /// Of what.
    pub what: String,
    /// Its unit; empty for a ratio.
    pub unit: &'static str,
    /// As the documents have it, if they do.
    pub published: Option<MilliValue>,
    /// Where, or what is said in place of a number.
    pub source: &'static str,
    /// As it was measured here.
    pub ours: Option<MilliValue>,
    /// Whether anything was set so that it comes out.
    pub origin: FigureOrigin,
}

/// How a figure comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FigureOrigin {
    /// A parameter was set so that it comes out as published.
    Set,
    /// It follows from the rules and from parameters that were set for other figures.
    Follows,
}

/// A parameter that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibratedSetting {
    /// Which.
    pub name: &'static str,
    /// To what.
    pub value: MilliValue,
    /// Of what unit.
    pub unit: &'static str,
    /// For which figure, or why else.
    pub why: String,
}

impl TableColumn {
    /// A column of words.
    #[must_use]
    pub const fn word(name: &'static str, head: &'static str) -> Self {
        Self { name, head, unit: "", places: 0 }
    }

    /// A column of whole numbers.
    #[must_use]
    pub const fn count(name: &'static str, head: &'static str) -> Self {
        Self { name, head, unit: "", places: 0 }
    }

    /// A column of numbers with a unit.
    #[must_use]
    pub const fn of(
        name: &'static str,
        head: &'static str,
        unit: &'static str,
        places: u8,
    ) -> Self {
        Self { name, head, unit, places }
    }
}

impl TableCell {
    /// A word.
    #[must_use]
    pub fn word(text: impl Into<String>) -> Self {
        Self::Word(text.into())
    }

    /// A whole number.
    #[must_use]
    pub fn count(count: u64) -> Self {
        Self::Number(MilliValue::ratio(count.into(), 1))
    }

    /// A number, if there is one.
    #[must_use]
    pub fn maybe(number: Option<MilliValue>) -> Self {
        number.map_or(Self::Nothing, Self::Number)
    }
}

impl From<MilliValue> for TableCell {
    fn from(number: MilliValue) -> Self {
        Self::Number(number)
    }
}

impl MilliValue {
    /// So many whole ones.
    #[must_use]
    pub const fn whole(count: i64) -> Self {
        Self(count.saturating_mul(1000))
    }

    /// A quotient, to the nearest thousandth; of a division by nothing, nothing.
    #[must_use]
    pub fn ratio(part: u128, whole: u128) -> Self {
        let scaled = part.saturating_mul(1000).saturating_add(whole / 2).checked_div(whole);
        Self(i64::try_from(scaled.unwrap_or(0)).unwrap_or(i64::MAX))
    }

    /// A time in microseconds, from periods of the full rate: 80 in a microsecond. §4.2
    #[must_use]
    pub fn microseconds(periods: u64) -> Self {
        Self::ratio(periods.into(), PERIODS_PER_US.into())
    }

    /// Megabits in a second, from bytes and the periods they took.
    #[must_use]
    pub fn megabits(bytes: u64, periods: u64) -> Self {
        Self::ratio(u128::from(bytes) * u128::from(8 * PERIODS_PER_US), periods.into())
    }

    /// Megabytes in a second: of 10⁶ bytes.
    #[must_use]
    pub fn megabytes(bytes: u64, periods: u64) -> Self {
        Self::ratio(u128::from(bytes) * u128::from(PERIODS_PER_US), periods.into())
    }

    /// How many in a second.
    #[must_use]
    pub fn per_second(count: u64, periods: u64) -> Self {
        Self::ratio(u128::from(count) * u128::from(1_000_000 * PERIODS_PER_US), periods.into())
    }

    /// In text, with so many decimals, three at most, rounded half away from zero.
    #[must_use]
    pub fn with_places(self, places: u8) -> String {
        let (step, width) = match places {
            0 => (1000, 0),
            1 => (100, 1),
            2 => (10, 2),
            _ => (1, 3),
        };
        let steps = self.0.unsigned_abs().saturating_add(step / 2) / step;
        let sign = if self.0 < 0 && steps > 0 { "-" } else { "" };
        let (whole, part) = (steps / (1000 / step), steps % (1000 / step));
        if width == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part:0width$}") }
    }
}

impl fmt::Display for MilliValue {
    /// Exactly, without zeros at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.with_places(3);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// The slope of the straight line that fits points best: the least squares, in y per x.
#[must_use]
pub fn slope(points: &[(MilliValue, MilliValue)]) -> Option<MilliValue> {
    let count = i128::try_from(points.len()).ok()?;
    let sum = |of: &dyn Fn(i128, i128) -> i128| -> i128 {
        points.iter().map(|(x, y)| of(i128::from(x.0), i128::from(y.0))).sum()
    };
    let (x, y) = (sum(&|x, _| x), sum(&|_, y| y));
    let above = count.checked_mul(sum(&|x, y| x * y))?.checked_sub(x.checked_mul(y)?)?;
    let below = count.checked_mul(sum(&|x, _| x * x))?.checked_sub(x.checked_mul(x)?)?;
    let scaled = above.checked_mul(1000)?.checked_add(below / 2)?.checked_div_euclid(below)?;
    i64::try_from(scaled).ok().map(MilliValue)
}

/// Periods of the full rate in a microsecond. §4.2
pub const PERIODS_PER_US: u64 = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        let number = |milli: i64| [0, 1, 2, 3].map(|places| MilliValue(milli).with_places(places));
        assert_eq!(number(12_345), ["12", "12.3", "12.35", "12.345"]);
        assert_eq!(number(-12_500), ["-13", "-12.5", "-12.50", "-12.500"]);
        assert_eq!(number(-4), ["0", "0.0", "0.00", "-0.004"]);
        assert_eq!(number(i64::MIN)[0], "-9223372036854776");
        assert_eq!(
            [0, 1000, 1250, -7].map(|n| MilliValue(n).to_string()),
            ["0", "1", "1.25", "-0.007"]
        );
    }

    #[test]
    fn rates_count_80_periods_in_a_microsecond() {
        // A byte in every period is 640 Mb/s, 80 MB/s.
        assert_eq!(MilliValue::megabits(8192, 8192), MilliValue::whole(640));
        assert_eq!(MilliValue::megabytes(8192, 8192), MilliValue::whole(80));
        assert_eq!(MilliValue::per_second(1, 1024).with_places(3), "78125.000");
        assert_eq!(MilliValue::microseconds(1), MilliValue(13), "12.5 ns");
        assert_eq!(MilliValue::megabits(1, 0), MilliValue(0));
    }

    #[test]
    fn a_slope_is_that_of_the_least_squares() {
        let line = |points: &[(i64, i64)]| {
            let points: Vec<_> =
                points.iter().map(|(x, y)| (MilliValue(*x), MilliValue(*y))).collect();
            slope(&points)
        };
        assert_eq!(
            line(&[(1000, 13_000), (2000, 25_800), (3000, 38_600)]),
            Some(MilliValue(12_800))
        );
        // By hand: the means are 2 and 14/3; 1·4 + 1·4 over 2.
        assert_eq!(line(&[(1000, 1000), (2000, 4000), (3000, 9000)]), Some(MilliValue(4000)));
        assert_eq!(line(&[(1000, 9000), (2000, 1000)]), Some(MilliValue(-8000)));
        assert_eq!(line(&[(1000, 9000), (1000, 1000)]), None);
        assert_eq!(line(&[]), None);
    }
}
