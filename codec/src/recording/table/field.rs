//! Fields of tables: levels, numbers of some base, and times.

use super::super::decimal::{DecimalNumber, SECOND_FS, time_unit};
use super::super::levels::SignalLevel;

/// Femtoseconds in a day.
pub(super) const DAY_FS: i128 = 86_400 * SECOND_FS as i128;

/// Notation of a column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeColumn {
    /// Femtoseconds of the unit.
    unit_fs: u64,
    /// True if commas separate thousands.
    is_grouped: bool,
}

impl TimeColumn {
    /// A unit, and the notation that some values show: numbers with and without commas, all of whole thousands, have no decimal
    /// commas.
    pub(super) fn of<'v>(unit_fs: u64, mut values: impl Iterator<Item = &'v str> + Clone) -> Self {
        let is_whole = values.clone().any(|value| value.matches(',').count() != 1);
        Self { unit_fs, is_grouped: is_whole && values.all(is_grouped) }
    }

    /// Femtoseconds of a time.
    pub(super) fn time(self, text: &str) -> Option<i128> {
        if self.is_grouped && is_grouped(text) {
            return time(&text.replace(',', ""), self.unit_fs);
        }
        time(text, self.unit_fs)
    }
}

/// True for digits, in groups of three if there are commas: `1,234,567`.
fn is_grouped(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    match text.split_once(',') {
        None => is_number(text),
        Some((first, groups)) => {
            let is_first = is_number(first) && first.len() <= 3 && !first.starts_with('0');
            is_first && groups.split(',').all(|group| group.len() == 3 && is_number(group))
        }
    }
}

/// True if a number has no more bits than some, a negative one as two's complement.
pub(super) fn is_of_width(bits: i128, width: usize) -> bool {
    width >= 127 || bits >> width == 0 || bits >> width.saturating_sub(1) == -1
}

/// True for a number of any base, known or not.
pub(super) fn is_number(field: &str) -> bool {
    bits(field, 16).is_some() || bits(field, 10).is_some()
}

/// The level of a field: a letter, a word, or 0 or 1 as a fraction.
pub(super) fn level(field: &str) -> Option<SignalLevel> {
    if let [letter] = field.as_bytes() {
        return SignalLevel::of(*letter);
    }
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| field.eq_ignore_ascii_case(word));
    match fraction(field) {
        Some(0.0) => Some(SignalLevel::Low),
        Some(1.0) => Some(SignalLevel::High),
        None if is_one_of(["false", "low", "off"]) => Some(SignalLevel::Low),
        None if is_one_of(["true", "high", "on"]) => Some(SignalLevel::High),
        _ => None,
    }
}

/// The level of a sign, -1 or 1.
pub(super) fn sign(field: &str) -> Option<SignalLevel> {
    match field.parse() {
        Ok(-1.0) => Some(SignalLevel::Low),
        Ok(1.0) => Some(SignalLevel::High),
        _ => None,
    }
}

/// A number with a decimal point.
pub(super) fn fraction(field: &str) -> Option<f64> {
    field.contains('.').then(|| field.parse().ok())?
}

/// Digits of a number, and its base if they state it: `0x1ff`, `9'h1ff`, `x"1ff"`, `1ffh`, `$1ff`, `0o777`, `9'b101`.
pub(super) fn digits(field: &str) -> (&str, Option<u32>) {
    let field = field.trim_matches(['"', '\'', '$']);
    let (before, marked) = field.split_once(['\'', '"']).unwrap_or(("0", field));
    let bare = marked.strip_prefix('0').unwrap_or(marked);
    for (letter, base) in [('x', 16), ('h', 16), ('o', 8), ('d', 10), ('b', 2)] {
        let letters = [letter, letter.to_ascii_uppercase()];
        if before.ends_with(letters) {
            return (marked, Some(base));
        }
        let Some(digits) = bare.strip_prefix(letters) else { continue };
        // `0b101` and `d12` are hexadecimal numbers too.
        let is_prefix = ![2, 10].contains(&base);
        if !digits.is_empty() && (is_prefix || marked.len() < field.len()) {
            return (digits, Some(base));
        }
    }
    field.strip_suffix(['h', 'H']).map_or((field, None), |digits| (digits, Some(16)))
}

/// Digits behind `0b`, or `b` if there are some. A column of such numbers alone is binary: one of them, `0b101`, may be
/// hexadecimal.
pub(super) fn binary_digits(field: &str) -> Option<&str> {
    let marked = field.strip_prefix('0').unwrap_or(field);
    let digits = marked.strip_prefix(['b', 'B'])?;
    let least = if marked.len() < field.len() { 1 } else { 3 };
    Some(digits).filter(|digits| digits.len() >= least && is_binary(digits))
}

/// True for binary digits alone, and letters of levels that are unknown.
pub(super) fn is_binary(digits: &str) -> bool {
    digits.bytes().all(|it| b"01xXzZuU".contains(&it))
}

/// The bits of a number. `Some(None)` if they are unknown.
pub(super) fn bits(field: &str, base: u32) -> Option<Option<i128>> {
    let is_unknown = |it: u8| SignalLevel::of(it) == Some(SignalLevel::Unknown);
    let is_digit = |it: u8| it.is_ascii_hexdigit() || is_unknown(it);
    let binary = binary_digits(field).or(Some(field).filter(|it| is_binary(it)));
    let binary = binary.filter(|_| base == 2);
    let (digits, stated) = binary.map_or_else(|| digits(field), |digits| (digits, Some(2)));
    let base = stated.unwrap_or(base);
    match i128::from_str_radix(digits, base) {
        Ok(bits) => (base == 10 || !digits.starts_with(['-', '+'])).then_some(Some(bits)),
        Err(_) => {
            let is_unknown = digits.bytes().any(is_unknown) && digits.bytes().all(is_digit);
            (is_unknown && !digits.starts_with('-')).then_some(None)
        }
    }
}

/// Femtoseconds of a time in a unit, which may stand behind it, or since midnight; with a date in numbers since long ago.
pub(super) fn time(text: &str, unit_fs: u64) -> Option<i128> {
    if let Some((before, _)) = text.split_once(':') {
        let begin = before.rfind(['T', ' ']).map_or(0, |at| at + 1);
        let time_fs = time_of_day(text.get(begin..)?)?;
        let days = days(text.get(..begin)?.trim_end_matches(['T', ' ']));
        let dated = days.map(|days| time_fs.checked_add(days * DAY_FS));
        return dated.unwrap_or_else(|| Some(time_fs.rem_euclid(DAY_FS)));
    }
    let unit = text.rfind(|c: char| !c.is_alphabetic()).map_or(0, |at| at + 1);
    let (number, unit) = text.split_at_checked(unit)?;
    let unit_fs = if unit.is_empty() { unit_fs } else { time_unit(unit)? };
    DecimalNumber::parse(number.trim_end())?.times(unit_fs)
}

/// Days of a date in numbers.
fn days(date: &str) -> Option<i128> {
    let date = date.split(['-', '/', '.']).map_while(|part| part.parse::<u16>().ok());
    let mut date: Vec<i128> = date.map(i128::from).collect();
    let is_year_last = date.last() > Some(&31);
    date.rotate_right(usize::from(is_year_last));
    // Which one is the month, only midnight shows: then the next day seems to be a far one.
    let ([year, month @ 1..=12, day] | [year, day, month @ 1..=12]) = date[..] else {
        return None;
    };
    // Years that begin with March have the leap day at their end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap + (month * 153 + 2) / 5 + day)
}

/// Femtoseconds from midnight to a time of day, `5:59:59.5 PM` or `59:59.5`. Behind it may be a zone: `Z`, `CET`, `+02:00`,
/// `+0200` or `+02`.
fn time_of_day(text: &str) -> Option<i128> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let end = text.find(|c: char| !c.is_ascii_digit() && !":.,".contains(c));
    let (time, rest) = text.split_at(end.unwrap_or(text.len()));
    // Two numbers are hours and minutes, unless the second has a fraction.
    let skipped = match time.matches(':').count() {
        1 => usize::from(time.contains(['.', ','])),
        2 => 0,
        _ => return None,
    };
    let units = [3600, 60, 1].into_iter().skip(skipped);
    let mut time_fs = time.split(':').zip(units).try_fold(0, |sum, (part, unit)| {
        DecimalNumber::parse(part)?.times(SECOND_FS)?.checked_mul(unit)?.checked_add(sum)
    })?;
    // Each half of a day begins with its twelfth hour.
    let rest = rest.trim_start().replace('.', "").to_ascii_uppercase();
    for (half, begin_fs) in [("AM", 0), ("PM", DAY_FS / 2)] {
        time_fs = if rest.starts_with(half) { time_fs % (DAY_FS / 2) + begin_fs } else { time_fs };
    }
    let zone = rest.find(['+', '-']).and_then(|at| rest.get(at..)).unwrap_or("+00");
    let zone = zone.replace(':', "");
    let number = i128::from(zone.parse::<i16>().ok()?);
    let hundreds = if zone.len() > 3 { 100 } else { 1 };
    let minutes = number / hundreds * 60 + number % hundreds;
    (sign * time_fs).checked_sub(minutes * 60 * i128::from(SECOND_FS))
}
