//! Columns of tables: what they hold, by their titles and the values of the beginning.

use std::collections::BTreeMap;

use super::super::decimal::{SECOND_FS, time_unit};
use super::field::{
    TimeColumn, binary_digits, bits, digits, fraction, is_binary, is_number, is_of_width, level,
    sign,
};
use crate::wires::WIRES;

const NO_UNIT: &str = "times without a unit: write it into the title, as in Time [ns]";

const NO_BASE: &str = "numbers that are decimal or hexadecimal: write which into the title, as in tx [dec] or tx [hex]";

/// Reasons for which columns are left out.
const EMPTY: &str = "empty";
const ANALOG: &str = "of an analog input";
const SIGNED: &str =
    "signed numbers, of an analog input or a bus: of a bus name the bits, as in tx[8:0]";
const TEXTS: &str = "neither levels nor numbers";
const ZEROS: &str = "times that are all 0";

/// Titles of columns that count rows or samples, or show a trigger.
const NO_SIGNALS: [&str; 11] = [
    "date",
    "sample",
    "samples",
    "sample in buffer",
    "sample in window",
    "trigger",
    "index",
    "gap",
    "sample number",
    "sequence",
    "#",
];

/// Use of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CsvColumn {
    /// A time.
    Time(TimeColumn),
    /// Numbers of samples, none less than the one before.
    Number,
    /// No levels, with the reason unless the title says it.
    Other(Option<&'static str>),
    /// Levels of one signal.
    Level,
    /// Levels of one signal, -1 and 1.
    Sign,
    /// Levels of some signals as a number of a base.
    Bus { width: usize, base: u32 },
    /// Values of an unknown unit or base, with what the user has to write.
    Unclear(&'static str),
}

impl CsvColumn {
    /// Number of signals.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Time(_) | Self::Number | Self::Other(_) | Self::Unclear(_) => 0,
            Self::Level | Self::Sign => 1,
            Self::Bus { width, .. } => width,
        }
    }
}

/// Femtoseconds of a unit of time, which may be in brackets.
pub(super) fn noted_unit(field: &str) -> Option<u64> {
    time_unit(field.trim_matches(['(', ')', '[', ']']))
}

/// The use of a column by its title, a note of its base or unit, and the values of the beginning.
pub(super) fn column<'v>(
    title: &str,
    note: &str,
    values: impl Iterator<Item = &'v str> + Clone,
) -> CsvColumn {
    let lower = title.to_lowercase();
    let filled: Vec<&str> = values.clone().filter(|value| !value.is_empty()).collect();
    let unit = noted_unit(note).or_else(|| title_unit(&lower));
    // Without a rate, some writers have zeros for all times.
    let is_timeless = !filled.is_empty() && filled.iter().all(|it| *it == "0");
    let is_time = is_time(&lower);
    if unit.is_some() || is_time && !is_timeless {
        let is_whole = |it: &&str| it.bytes().all(|it| it.is_ascii_digit());
        let is_unclear = unit.is_none() && !filled.is_empty() && filled.iter().all(is_whole);
        let times = TimeColumn::of(unit.unwrap_or(SECOND_FS), values);
        return if is_unclear { CsvColumn::Unclear(NO_UNIT) } else { CsvColumn::Time(times) };
    }
    if is_time || [lower.as_str(), &note.to_lowercase()].iter().any(|it| NO_SIGNALS.contains(it)) {
        let numbers: Option<Vec<i64>> = values.map(|value| value.parse().ok()).collect();
        let rises = |numbers: Vec<i64>| numbers.is_sorted() && numbers.first() < numbers.last();
        let other = CsvColumn::Other(is_time.then_some(ZEROS));
        return if numbers.is_some_and(rises) { CsvColumn::Number } else { other };
    }
    let (_, range) = super::super::variables::split_range(title);
    let stated = super::super::variables::range_width(range);
    let noted = base_of(note).or_else(|| base_of(range.trim_matches(['[', ']', '(', ')'])));
    let others: Vec<&str> = filled.iter().copied().filter(|it| level(it).is_none()).collect();
    let numbers: Vec<&str> = others.iter().copied().filter(|it| is_number(it)).collect();
    let levels = filled.len() - others.len();
    let is_empty = filled.is_empty() && values.clone().next().is_some();
    // Voltages, and counts of an analog input, which state no base.
    let is_count = others.iter().any(|it| digits(it).1.is_none());
    let is_analog = stated.is_none() && noted.is_none() && is_count && is_analog(&lower)
        || others.iter().any(|it| fraction(it).is_some());
    let is_signed = stated.is_none()
        && noted.is_none()
        && numbers.iter().any(|it| it.len() > 2 && it.starts_with('-'));
    let signs = || filled.iter().map(|it| sign(it));
    if signs().all(|it| it.is_some()) && signs().any(|it| it != signs().next().flatten()) {
        return CsvColumn::Sign;
    }
    let reasons = [
        (is_empty, EMPTY),
        (is_analog, ANALOG),
        (2 * (levels + numbers.len()) < filled.len(), TEXTS),
        (is_signed, SIGNED),
    ];
    if let Some((_, reason)) = reasons.into_iter().find(|(is_so, _)| *is_so) {
        return CsvColumn::Other(Some(reason));
    }
    if 2 * numbers.len() < others.len() {
        return CsvColumn::Level;
    }
    if stated.is_none() && noted.is_none() && counts(&filled) {
        return CsvColumn::Number;
    }
    bus((stated, noted), &numbers)
}

/// True for the numbers of three rows or more, each one more than the row before: traffic does not count.
fn counts(values: &[&str]) -> bool {
    let is_next = |pair: &[&str]| {
        let [one, other] = pair else { return false };
        let numbers = one.parse::<i64>().ok().zip(other.parse().ok());
        numbers.is_some_and(|(one, other)| one.checked_add(1) == Some(other))
    };
    values.len() >= 3 && values.windows(2).all(is_next)
}

/// Takes signed numbers for buses if nothing else has levels.
pub(super) fn take_signed(columns: &mut [(String, CsvColumn)], values: &[&Vec<&str>]) {
    if columns.iter().any(|(_, it)| it.width() > 0) {
        return;
    }
    for (at, (title, it)) in (0..).zip(columns) {
        if *it == CsvColumn::Other(Some(SIGNED)) {
            *it = column(title, "signed", values.iter().filter_map(|row| row.get(at).copied()));
        }
    }
}

/// A bus of numbers, of a width and a base as far as they are stated.
fn bus((stated, noted): (Option<usize>, Option<u32>), numbers: &[&str]) -> CsvColumn {
    let known = numbers.iter().filter(|number| bits(number, 16) != Some(None));
    let prefixed = known.map(|number| binary_digits(number));
    let most = prefixed.clone().map(|digits| digits.map_or(0, str::len)).max();
    if let Some(most) = most.filter(|_| prefixed.clone().all(|digits| digits.is_some())) {
        return CsvColumn::Bus { width: stated.unwrap_or(most), base: 2 };
    }
    let plain = |it: &&str| digits(it).1.is_none();
    let lengths = numbers.iter().map(|number| digits(number).0.trim_start_matches('-').len());
    let longest = lengths.max().unwrap_or_default();
    if stated.is_none() && longest < 2 {
        let is_bit = |it: &&str| matches!(bits(it, 10), Some(None | Some(-1..=1)));
        let is_bus = !numbers.is_empty() && numbers.iter().all(is_bit);
        return if is_bus { CsvColumn::Bus { width: 1, base: 10 } } else { CsvColumn::Level };
    }
    let is_binary = longest + 1 >= WIRES && numbers.iter().all(|it| is_binary(digits(it).0));
    let given = numbers.iter().find_map(|number| digits(number).1);
    let width = stated.unwrap_or(match longest {
        _ if is_binary || given == Some(2) => longest,
        // As many digits as hold the nine wires of one channel or more.
        3 | 5 | 7 => longest / 2 * WIRES,
        _ => 4 * longest,
    });
    let is_letter = |it: u8| it.is_ascii_hexdigit() && !it.is_ascii_digit();
    let is_hex = || numbers.iter().filter(|it| plain(it)).any(|it| it.bytes().any(is_letter));
    let fits =
        |it: &&str| bits(it, 16).is_some_and(|it| it.is_none_or(|it| is_of_width(it, width)));
    let is_open = |it: &&&str| plain(it) && bits(it, 10).flatten().is_some_and(|it| it > 9);
    let base = match noted {
        Some(base) => base,
        None if is_binary && longest == width => 2,
        None if is_hex() => 16,
        None if !numbers.iter().filter(|it| plain(it)).all(fits) => 10,
        None if numbers.iter().any(|it| is_open(&it)) => return CsvColumn::Unclear(NO_BASE),
        None => 16,
    };
    // Digits of decimal numbers do not tell the width: a byte, or the wires of channels.
    let values = || numbers.iter().filter_map(|it| bits(it, base).flatten());
    let is_signed = values().any(|it| it < 0);
    let holds = |width: &usize| {
        values().all(|it| is_of_width(it, *width - usize::from(is_signed && it >= 0)))
    };
    let mut widths = [8].into_iter().chain((1..=7).map(|channels| channels * WIRES));
    let is_open = stated.is_none() && base == 10;
    let least = if is_open { widths.find(holds) } else { None };
    CsvColumn::Bus { width: least.unwrap_or(width), base }
}

/// Titles of columns that are left out, by the reason.
pub(super) fn left_out(columns: &[(String, CsvColumn)]) -> Option<String> {
    let mut titles: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (title, column) in columns {
        if let CsvColumn::Other(Some(reason)) = column {
            titles.entry(reason).or_default().push(format!("{:?}", super::head(title)));
        }
    }
    let texts: Vec<String> =
        titles.iter().map(|(reason, of)| format!("{} ({reason})", of.join(", "))).collect();
    (!texts.is_empty()).then(|| format!("columns left out: {}", texts.join("; ")))
}

/// True for titles of analog inputs: `CH1`, and any with a unit, `D (V)`.
fn is_analog(lower: &str) -> bool {
    let input = lower.trim_start_matches("channel").trim_start_matches("ch").trim();
    let is_input = input.len() < lower.len() && input.bytes().all(|it| it.is_ascii_digit());
    is_input || [" v", "(v)", "[v]", "mv)", "volt", "volts"].iter().any(|it| lower.ends_with(it))
}

/// True for a title of times without a unit.
fn is_time(lower: &str) -> bool {
    let words = ["t", "time", "timestamp", "times", "x-axis", "zeit", "temps", "tiempo", "tempo"];
    let others = ["tijd", "tid", "aika", "czas", "čas", "время", "时间", "時間", "시간"];
    let mut split = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
    let first = split.next();
    let unit = lower.trim_end_matches([']', ')']).rsplit(['[', '(', ' ', '_']).next();
    let is_other = unit != first && lower.ends_with([']', ')']);
    let is_word = |it: Option<&str>| words.iter().chain(&others).any(|word| it == Some(word));
    (is_word(first) || split.next_back() == Some("time")) && !is_other
}

/// Femtoseconds of the unit in a title of times, its last word: `Time [ns]`, `Zeit in us`, `in s`, `[s]`, `nanoseconds`.
/// Any title with a unit in brackets is one of times.
fn title_unit(lower: &str) -> Option<u64> {
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (first, last) = (words.next()?, words.next_back());
    let is_spelled = first.trim_end_matches('s').ends_with("second");
    let is_unit = is_spelled || lower.ends_with([']', ')']) || is_time(lower) || first == "in";
    time_unit(last.unwrap_or(first))
        .filter(|_| is_unit && (last.is_some() || lower != first || is_spelled))
}

/// Base of numbers that a title or a line of bases names.
fn base_of(text: &str) -> Option<u32> {
    let text = text.to_ascii_lowercase();
    let name = text.split([' ', '-']).next_back()?;
    let bases =
        ["bin", "oct", "unsigned", "signed", "dec", "hex"].into_iter().zip([2, 8, 10, 10, 10, 16]);
    bases.into_iter().find(|(base, _)| name.starts_with(base)).map(|(_, base)| base)
}
