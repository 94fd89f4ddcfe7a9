//! Dialects of tables: comments, separators, headings, units and bases of numbers.

use std::collections::BTreeMap;

use super::super::decimal::{DecimalNumber, SECOND_FS, sample_rate, time_unit};
use super::super::levels::SignalLevel;
use super::super::vcd::BYTE_ORDER_MARK;

/// Separators of fields, in the order of preference.
const SEPARATORS: [u8; 3] = *b",;\t";

/// Lines from which the dialect is seen, at most.
const LINES: usize = 1000;

/// Titles of columns that count rows, or show a trigger.
const NO_SIGNALS: [&str; 9] = [
    "sample",
    "samples",
    "sample in buffer",
    "sample in window",
    "trigger",
    "index",
    "gap",
    "sample number",
    "#",
];

/// Use of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CsvColumn {
    /// A time, in a unit of some femtoseconds.
    Time(u64),
    /// Numbers of rows.
    Other,
    /// Levels of one signal.
    Level,
    /// Levels of some signals as a number of a base.
    Bus { width: usize, base: u32 },
}

/// Dialect of a table, as its beginning shows it.
#[derive(Clone, Debug)]
pub(super) struct TableDialect {
    pub(super) separator: u8,
    pub(super) comment: Option<u8>,
    /// Bytes and lines that precede the first row.
    pub(super) head: (usize, u64),
    /// Columns with their titles.
    pub(super) columns: Vec<(String, CsvColumn)>,
    /// Distance of rows that a comment states.
    pub(super) row_fs: Option<u64>,
}

/// A line of the beginning, with the bytes and lines up to its end.
struct HeadLine<'a> {
    text: &'a str,
    end: (usize, u64),
}

impl TableDialect {
    /// The dialect of a text; `None` if it is no table with a heading.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let (mut at, mut lines, mut comments) = (0, Vec::new(), Vec::new());
        for (number, line) in (1..).zip(head.split_inclusive(|byte| *byte == b'\n')).take(LINES) {
            at += line.len();
            let text = std::str::from_utf8(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)).ok();
            match text.map(str::trim) {
                Some("") => {}
                Some(text) if text.starts_with([';', '#']) => comments.push(text),
                Some(text) => lines.push(HeadLine { text, end: (at, number) }),
                // A character may be cut at the end.
                None => break,
            }
        }
        let of = |separator: u8| Some((separator, usual_count(&lines, separator)?));
        let (separator, count) =
            SEPARATORS.into_iter().rev().filter_map(of).max_by_key(|it| it.1)?;
        let rows = || lines.iter().map(|line| (line, fields(line.text, separator)));
        let (heading, titles) = rows().find(|(_, fields)| fields.len() >= count)?;
        let mut later: Vec<_> = rows().filter(|(line, _)| line.end > heading.end).collect();
        let mut head = heading.end;
        // Integrated logic analysers tell the base of each column in a line of its own.
        let radix =
            later.first().filter(|(_, row)| row.first().is_some_and(|it| it.starts_with("Radix")));
        let bases = radix.map(|(line, bases)| {
            head = line.end;
            bases.clone()
        });
        if bases.is_some() {
            later.remove(0);
        }
        let values: Vec<&Vec<&str>> = later.iter().map(|(_, row)| row).collect();
        let is_number = |field: &&str| {
            level(field).is_some()
                || field.bytes().all(|it| b"0123456789abcdefABCDEFxX.,:+-TZ ".contains(&it))
        };
        let is_title =
            |title: &&str| title.starts_with(char::is_alphabetic) && level(title).is_none();
        let is_table = titles.iter().any(is_title)
            && (separator == b',' || values.first().is_some_and(|row| row.iter().all(is_number)));
        let mut columns: Vec<(String, CsvColumn)> = titles
            .iter()
            .enumerate()
            .map(|(at, title)| {
                let base = bases.as_ref().and_then(|bases| bases.get(at)).map(|base| base_of(base));
                let values = values.iter().filter_map(|row| row.get(at).copied());
                ((*title).to_owned(), column(title, base, values))
            })
            .collect();
        while columns.pop_if(|(title, _)| title.is_empty()).is_some() {}
        name_by_comment(&mut columns, &comments);
        let row_fs =
            comments.iter().find_map(|text| stated_rate(text)).map(|rate| SECOND_FS / rate);
        let comment = comments.first().and_then(|text| text.bytes().next());
        is_table.then_some(Self { separator, comment, head, columns, row_fs })
    }
}

/// The commonest number of fields of a line, of two or more.
fn usual_count(lines: &[HeadLine<'_>], separator: u8) -> Option<usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(fields(line.text, separator).len()).or_insert(0_usize) += 1;
    }
    let usual = counts.into_iter().max_by_key(|(_, lines)| *lines);
    usual.map(|(count, _)| count).filter(|count| *count > 1)
}

/// Fields of a line, without blanks and quotes around them; a separator between quotes is none.
fn fields(line: &str, separator: u8) -> Vec<&str> {
    let mut is_quoted = false;
    let split = line.split(|c: char| {
        is_quoted ^= c == '"';
        c == char::from(separator) && !is_quoted
    });
    split.map(|field| field.trim().trim_matches('"').trim()).collect()
}

/// The use of a column by its title, its base and some of its values.
fn column<'v>(title: &str, base: Option<u32>, values: impl Iterator<Item = &'v str>) -> CsvColumn {
    let lower = title.to_ascii_lowercase();
    if let Some(unit_fs) = time_title(&lower) {
        return CsvColumn::Time(unit_fs);
    }
    if NO_SIGNALS.contains(&lower.as_str()) {
        return CsvColumn::Other;
    }
    let (_, range) = super::super::variables::split_range(title);
    let digits = values.filter(|value| level(value).is_none()).map(|value| digits(value).0.len());
    let width = match super::super::variables::bounds(range) {
        Some((one, other)) => usize::abs_diff(one, other) + 1,
        // Three hexadecimal digits hold the nine wires of a channel.
        None => match digits.max().unwrap_or_default() {
            0 | 1 => return CsvColumn::Level,
            3 => 9,
            count => 4 * count,
        },
    };
    CsvColumn::Bus { width, base: base.unwrap_or(16) }
}

/// Femtoseconds of the unit in a title of times: `Time [ns]`, `Time(s)`, `nanoseconds`; seconds if there is none.
fn time_title(lower: &str) -> Option<u64> {
    let short = lower.strip_prefix('t').filter(|rest| !rest.starts_with(char::is_alphanumeric));
    if let Some(rest) = lower.strip_prefix("time").or(short) {
        let rest = rest.trim_start_matches("stamp").replace("unit", "");
        let unit = rest.trim_matches([' ', '[', ']', '(', ')', '/', ':', '_', ',', '.']);
        return if unit.is_empty() { Some(SECOND_FS) } else { time_unit(unit) };
    }
    time_unit(lower).filter(|_| lower.ends_with("second") || lower.ends_with("seconds"))
}

/// Base of numbers that a line of bases names.
fn base_of(text: &str) -> u32 {
    let text = text.to_ascii_lowercase();
    match text.split([' ', '-']).next_back() {
        Some("binary") => 2,
        Some("unsigned" | "signed" | "decimal") => 10,
        Some("octal") => 8,
        _ => 16,
    }
}

/// Names columns as a comment lists them where their titles are all alike: `; Channels (2/2): D0, D1`.
fn name_by_comment(columns: &mut [(String, CsvColumn)], comments: &[&str]) {
    let mut signals: Vec<&mut String> = columns
        .iter_mut()
        .filter(|(_, column)| matches!(column, CsvColumn::Level | CsvColumn::Bus { .. }))
        .map(|(title, _)| title)
        .collect();
    let listed = comments.iter().find(|text| text.to_ascii_lowercase().contains("channels"));
    let names = listed.and_then(|text| text.split_once(':')).map(|(_, names)| fields(names, b','));
    let is_alike = signals.windows(2).all(|two| matches!(two, [one, other] if one == other));
    if let Some(names) = names.filter(|names| is_alike && names.len() == signals.len()) {
        signals.iter_mut().zip(names).for_each(|(title, name)| name.clone_into(title));
    }
}

/// Rate of samples in a comment: `; Samplerate: 500 MHz`, `#Sample rate: 5e+08Hz`.
fn stated_rate(comment: &str) -> Option<u64> {
    let (key, value) = comment.split_once([':', '='])?;
    let key: String = key.to_ascii_lowercase().split_whitespace().collect();
    key.ends_with("samplerate").then(|| sample_rate(value))?
}

/// Level of a field.
pub(super) fn level(field: &str) -> Option<SignalLevel> {
    match field.as_bytes() {
        [letter] => SignalLevel::of(*letter),
        _ => None,
    }
}

/// Digits of a number, and its base if they state it: `0x1ff`, `9'h1ff`, `1ffh`, `b101`.
fn digits(field: &str) -> (&str, Option<u32>) {
    let field = field.split_once('\'').map_or(field, |(_, digits)| digits);
    let lower = |c: char| field.starts_with([c, c.to_ascii_uppercase()]);
    let bare = field.strip_prefix('0').unwrap_or(field);
    if bare.starts_with(['x', 'X', 'h', 'H']) {
        return (bare.get(1..).unwrap_or_default(), Some(16));
    }
    if lower('b') && field.len() > 3 && field.bytes().skip(1).all(|it| matches!(it, b'0' | b'1')) {
        return (field.get(1..).unwrap_or_default(), Some(2));
    }
    match field.strip_suffix(['h', 'H']) {
        Some(digits) => (digits, Some(16)),
        None => (field, None),
    }
}

/// The bits of a number. `Some(None)` if they are unknown.
pub(super) fn bits(field: &str, base: u32) -> Option<Option<u64>> {
    let is_unknown =
        |c: char| SignalLevel::of(c as u8) == Some(SignalLevel::Unknown) && c.is_ascii();
    let (digits, stated) = digits(field);
    match u64::from_str_radix(digits, stated.unwrap_or(base)) {
        Ok(bits) => Some(Some(bits)),
        Err(_) if !field.is_empty() && field.trim_start_matches("0x").chars().any(is_unknown) => {
            Some(None)
        }
        Err(_) => None,
    }
}

/// Femtoseconds of a time in a unit, or of a date with a time of day. ISO 8601
pub(super) fn time(text: &str, unit_fs: u64) -> Option<i128> {
    match text.split_once(['T', ' ']) {
        Some((date, time)) => date_time(date, time),
        None => DecimalNumber::parse(text)?.times(unit_fs),
    }
}

/// Femtoseconds of a date and a time of day, since a day that is long past.
fn date_time(date: &str, time: &str) -> Option<i128> {
    let mut date = date.split('-').map(|part| part.parse::<i128>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone);
    let hours = |text: &str| {
        let mut parts = text.splitn(3, ':');
        let whole = |part: Option<&str>| part.map_or(Some(0), |part| part.parse::<u32>().ok());
        let (hours, minutes) = (whole(parts.next())?, whole(parts.next())?);
        let seconds = DecimalNumber::parse(parts.next().unwrap_or("0"))?.times(SECOND_FS)?;
        Some(i128::from(hours * 60 + minutes) * 60 * i128::from(SECOND_FS) + seconds)
    };
    let apart = match zone.split_at_checked(1) {
        Some((sign, zone)) if !zone.is_empty() => hours(zone)? * if sign == "-" { -1 } else { 1 },
        _ => 0,
    };
    if !(1..=12).contains(&month) || !(0..10_000).contains(&year) {
        return None;
    }
    // Years that begin with March have the leap day at their end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap + (month * 153 + 2) / 5 + day;
    Some(days * 86_400 * i128::from(SECOND_FS) + hours(time)? - apart)
}
