//! Typed access to TOML tables and values with their positions. Keys that were never requested are
//! reported as unknown.

use std::ops::{Range, RangeInclusive};

use codec::words::{did_you_mean, nearest, quoted, shortened};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{KeyUse, ProblemList};

/// Scale of decimals, which are exact to nine places.
pub(super) const NANO: u128 = 1_000_000_000;

/// Periods of the full rate in a microsecond. §4.2
pub(super) const PERIODS_PER_US: u64 = 80;

#[derive(Debug)]
pub(super) struct TomlTable<'a> {
    title: String,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
    known: Vec<String>,
    /// The key that was found last, and its place.
    last: Option<(String, Range<usize>)>,
    problems: &'a ProblemList<'a>,
}

#[derive(Clone, Debug)]
pub(super) struct TomlItem<'a> {
    pub(super) key: String,
    pub(super) span: Range<usize>,
    value: &'a DeValue<'a>,
    problems: &'a ProblemList<'a>,
}

#[derive(Clone, Debug)]
pub(super) struct TomlText<'a> {
    pub(super) text: &'a str,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct TomlTime {
    pub(super) periods: u64,
    pub(super) span: Range<usize>,
    pub(super) unit: TimeUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Microseconds,
    Periods,
}

/// Keys of former versions and their replacements.
const REPLACED: [([&str; 2], &str); 1] = [(
    ["loiter_us", "loiter_periods"],
    "`look_us` in [costs]: the NIC loiters for what is left of 2 to the `burst_log2` attempts",
)];

impl<'a> TomlTable<'a> {
    pub(super) const fn new(
        title: String,
        span: Range<usize>,
        entries: &'a DeTable<'a>,
        problems: &'a ProblemList<'a>,
    ) -> Self {
        Self { title, span, entries, known: Vec::new(), last: None, problems }
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(super) fn item(&mut self, key: &str) -> Option<TomlItem<'a>> {
        self.known.push(key.to_owned());
        let value = self.entries.get(key)?;
        let key = key.to_owned();
        self.last = Some((key.clone(), value.span()));
        Some(TomlItem { key, span: value.span(), value: value.get_ref(), problems: self.problems })
    }

    /// Leaves the value of the key that was found last to be used later.
    pub(super) fn leave(&mut self) -> Option<KeyUse> {
        let (key, span) = self.last.take()?;
        Some(self.problems.leave(span, format!("`{key}` in {}", self.title)))
    }

    /// Leaves the values of all keys to be used later.
    pub(super) fn leave_all(&self) -> Vec<KeyUse> {
        let leave = |key: TomlText<'_>| {
            self.problems.leave(key.span, format!("`{}` in {}", shortened(key.text), self.title))
        };
        self.names().into_iter().map(leave).collect()
    }

    /// All keys, each with its place.
    pub(super) fn names(&self) -> Vec<TomlText<'a>> {
        let keys = self.entries.keys();
        keys.map(|key| TomlText { text: key.get_ref(), span: key.span() }).collect()
    }

    pub(super) fn needed(&mut self, key: &str) -> Option<TomlItem<'a>> {
        let item = self.item(key);
        if item.is_none() {
            self.missing(&format!("expected the key `{key}`"));
        }
        item
    }

    pub(super) fn integer<T: TryFrom<u64>>(
        &mut self,
        key: &str,
        limits: RangeInclusive<u64>,
    ) -> Option<T> {
        self.item(key)?.integer(limits)
    }

    pub(super) fn word<T: Copy>(&mut self, key: &str, words: &[(&'static str, T)]) -> Option<T> {
        self.item(key)?.word(words)
    }

    /// Time within limits by its name without unit, in periods or microseconds.
    pub(super) fn time(&mut self, name: &str, limits: RangeInclusive<u64>) -> Option<TomlTime> {
        match (self.item(&format!("{name}_us")), self.item(&format!("{name}_periods"))) {
            (Some(us), Some(periods)) => {
                let message = format!("both `{}` and `{}` in {}", us.key, periods.key, self.title);
                self.problems.add(&periods.span, message, "expected one of the two");
                None
            }
            (Some(us), None) => us.microseconds(limits),
            (None, Some(periods)) => Some(TomlTime {
                periods: periods.integer(limits)?,
                span: periods.span,
                unit: TimeUnit::Periods,
            }),
            (None, None) => None,
        }
    }

    pub(super) fn table(&mut self, key: &str) -> Option<Self> {
        let item = self.item(key)?;
        let DeValue::Table(entries) = item.value else {
            item.report(format!("expected a table `[{key}]`"));
            return None;
        };
        Some(Self::new(format!("[{key}]"), item.span, entries, self.problems))
    }

    pub(super) fn tables(&mut self, key: &str) -> Vec<Self> {
        let Some(item) = self.item(key) else { return Vec::new() };
        let DeValue::Array(list) = item.value else {
            item.report(format!("expected tables `[[{key}]]`"));
            return Vec::new();
        };
        let table = |element: &'a Spanned<DeValue<'a>>| match element.get_ref() {
            DeValue::Table(entries) => {
                Some(Self::new(format!("[[{key}]]"), element.span(), entries, self.problems))
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => {
                item.element(element).report("expected a table".to_owned());
                None
            }
        };
        list.iter().filter_map(table).collect()
    }

    pub(super) fn missing(&self, expected: &str) {
        self.problems.add(&self.span, self.incomplete(), expected);
    }

    fn incomplete(&self) -> String {
        format!("{} is not complete", self.title)
    }

    pub(super) fn report(&self, message: String, expected: &str) {
        self.problems.add(&self.span, message, expected);
    }

    pub(super) fn report_at(&self, span: &Range<usize>, message: String, expected: &str) {
        self.problems.add(span, message, expected);
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    pub(super) fn has_time(&self, name: &str) -> bool {
        ["us", "periods"].iter().any(|unit| self.has(&format!("{name}_{unit}")))
    }

    /// Reports the keys that were not requested.
    pub(super) fn finish(mut self) {
        self.known.sort_unstable();
        self.known.dedup();
        for key in self.entries.keys() {
            let name: &str = key.get_ref();
            if !self.known.iter().any(|known| known == name) {
                let message = format!("unknown key `{}` in {}", shortened(name), self.title);
                let replaced = REPLACED.iter().find(|(keys, _)| keys.contains(&name));
                let meant = self.meant(name).filter(|_| replaced.is_none());
                let expected = match replaced {
                    Some((_, instead)) => format!("expected {instead}"),
                    None => format!("expected {}", quoted(self.shown(), "or")),
                };
                let help = meant.map(|meant| format!("did you mean `{meant}`?"));
                self.problems.add_with_help(&key.span(), message, expected, help);
                if let Some(meant) = meant {
                    self.problems.withdraw_missing(&self.span, &self.incomplete(), meant);
                }
            }
        }
    }

    /// The known key that an unknown one may stand for: a time without its unit, or a similar one.
    fn meant(&self, name: &str) -> Option<&str> {
        let mut known = self.known.iter().map(String::as_str);
        known
            .find(|known| known.strip_suffix("_us") == Some(name))
            .or_else(|| nearest(name, self.known.iter().map(String::as_str)))
    }

    /// Known keys; a time only in microseconds.
    fn shown(&self) -> Vec<&str> {
        let twin = |key: &str| {
            let stem = key.strip_suffix("_periods")?;
            self.known.iter().find(|other| other.strip_suffix("_us") == Some(stem))
        };
        self.known.iter().map(String::as_str).filter(|key| twin(key).is_none()).collect()
    }
}

impl<'a> TomlItem<'a> {
    pub(super) fn report(&self, expected: String) {
        let message = match self.value {
            DeValue::Array(_) => format!("`{}` is a list", self.key),
            DeValue::Table(_) => format!("`{}` is a table", self.key),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {
                format!("`{}` is {}", self.key, self.problems.shown(&self.span))
            }
        };
        self.problems.add(&self.span, message, expected);
    }

    /// Reports a problem of the text that the value stands for.
    pub(super) fn add(&self, message: String, expected: &str) {
        self.problems.add(&self.span, message, expected);
    }

    fn element(&self, element: &'a Spanned<DeValue<'a>>) -> Self {
        Self { span: element.span(), value: element.get_ref(), ..self.clone() }
    }

    pub(super) fn as_text(&self) -> Option<TomlText<'a>> {
        let DeValue::String(text) = self.value else { return None };
        Some(TomlText { text, span: self.span.clone() })
    }

    pub(super) fn as_list(&self) -> Option<Vec<Self>> {
        let DeValue::Array(list) = self.value else { return None };
        Some(list.iter().map(|element| self.element(element)).collect())
    }

    pub(super) fn as_table(&self) -> Option<TomlTable<'a>> {
        let DeValue::Table(entries) = self.value else { return None };
        let title = format!("`{}`", self.key);
        Some(TomlTable::new(title, self.span.clone(), entries, self.problems))
    }

    pub(super) fn as_integer(&self) -> Option<u64> {
        let DeValue::Integer(integer) = self.value else { return None };
        u64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    /// Returns a decimal integer of any sign.
    pub(super) fn as_signed(&self) -> Option<i64> {
        let DeValue::Integer(integer) = self.value else { return None };
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    pub(super) fn text(&self, expected: &str) -> Option<TomlText<'a>> {
        let text = self.as_text();
        if text.is_none() {
            self.report(format!("expected {expected}, in quotes"));
        }
        text
    }

    pub(super) fn integer<T: TryFrom<u64>>(&self, limits: RangeInclusive<u64>) -> Option<T> {
        let integer = self.as_integer().filter(|integer| limits.contains(integer));
        let integer = integer.and_then(|integer| T::try_from(integer).ok());
        if integer.is_none() {
            let (first, last) = limits.into_inner();
            self.report(format!("expected an integer from {first} to {last}"));
        }
        integer
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        let truth = self.as_boolean();
        if truth.is_none() {
            self.report("expected `true` or `false`".to_owned());
        }
        truth
    }

    pub(super) fn as_boolean(&self) -> Option<bool> {
        if let DeValue::Boolean(truth) = self.value { Some(*truth) } else { None }
    }

    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let allowed = quoted(names.iter().copied(), "or");
        let text = self.text(&allowed)?;
        let found = words.iter().find(|(name, _)| *name == text.text);
        if found.is_none() {
            let message = format!("unknown `{}` `{}`", self.key, shortened(text.text));
            let expected = format!("expected {allowed}");
            let help = did_you_mean(text.text, names);
            self.problems.add_with_help(&self.span, message, expected, help);
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// Number times 10⁹; none if it is negative or not finite.
    pub(super) fn as_nanos(&self) -> Option<u128> {
        match self.value {
            DeValue::Integer(_) => Some(u128::from(self.as_integer()?) * NANO),
            DeValue::Float(float) => nanos(float.as_str()),
            DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        }
    }

    fn microseconds(&self, limits: RangeInclusive<u64>) -> Option<TomlTime> {
        let (first, last) = limits.into_inner();
        let periods = self
            .as_nanos()
            .and_then(|nanos| nanos.checked_mul(PERIODS_PER_US.into()))
            .and_then(|scaled| u64::try_from(scaled.checked_add(NANO / 2)? / NANO).ok())
            .filter(|periods| (first..=last).contains(periods));
        if periods.is_none() {
            let (from, to) = (microseconds(first), microseconds(last));
            self.report(format!("expected a time from {from} to {to} µs, nine decimals at most"));
        }
        Some(TomlTime { periods: periods?, span: self.span.clone(), unit: TimeUnit::Microseconds })
    }
}

/// Formats periods as exact microseconds.
fn microseconds(periods: u64) -> String {
    // A period is 12.5 ns: four decimals of a microsecond are exact.
    let tenths_of_ns = u128::from(periods) * 125;
    let decimals = format!("{}.{:04}", tenths_of_ns / 10_000, tenths_of_ns % 10_000);
    decimals.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Decimal number times 10⁹, if that is an integer: `0.3` and `3e-1` are 300 000 000.
fn nanos(text: &str) -> Option<u128> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let places = u32::try_from(fraction.len()).ok()?;
    let shift = 9 + i64::from(exponent) - i64::from(places);
    let factor = 10_u128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?)?;
    if shift >= 0 {
        digits.checked_mul(factor)
    } else {
        digits.is_multiple_of(factor).then_some(digits / factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly() {
        assert_eq!(nanos("0.3"), Some(300_000_000));
        assert_eq!(nanos("3e-1"), Some(300_000_000));
        assert_eq!(nanos("+12.0125E2"), Some(1_201_250_000_000));
        assert_eq!(nanos("0.000000001"), Some(1));
        assert_eq!(nanos("1.50000000000"), Some(1_500_000_000));
        for text in ["0.0000000001", "-1.0", "inf", "nan", "1e99", "1e-99", "1e9999999999", ""] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }

    #[test]
    fn periods_are_shown_as_microseconds() {
        assert_eq!(microseconds(1), "0.0125");
        assert_eq!(microseconds(80), "1");
        assert_eq!(microseconds(0), "0");
        assert_eq!(microseconds(44), "0.55");
    }
}
