//! Dialects of tables: comments, separators, headings, and the uses of columns.

use std::collections::BTreeMap;

use super::super::decimal::{SECOND_FS, SampleDistance, sample_rate, time_unit};
use super::super::vcd::BYTE_ORDER_MARK;
use super::field::{
    TimeColumn, binary_digits, bits, digits, fraction, is_binary, is_of_width, level, time,
};
use crate::wires::WIRES;

/// Separators of fields, in the order of preference.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// Lines from which the dialect is seen, at most.
const LINES: usize = 1000;

/// Titles of columns that count rows or samples, or show a trigger.
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
    /// A time.
    Time(TimeColumn),
    /// Numbers of samples, none less than the one before.
    Number,
    /// Numbers that stay, voltages.
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
    /// Fields of a row, at most.
    pub(super) fields: usize,
    /// Columns with their titles.
    pub(super) columns: Vec<(String, CsvColumn)>,
    /// Distance of rows that a comment states.
    pub(super) distance: Option<SampleDistance>,
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
                Some(text) => {
                    let is_comment = text.starts_with([';', '#']);
                    let of_kind = if is_comment { &mut comments } else { &mut lines };
                    of_kind.push(HeadLine { text, end: (at, number) });
                }
                // A character may be cut at the end.
                None => break,
            }
        }
        // A decimal comma separates too: what has no heading then is no table.
        let of = |separator: u8| Self::separated(&lines, &comments, separator);
        SEPARATORS.into_iter().rev().filter_map(of).max_by_key(|it| it.0).map(|it| it.1)
    }

    /// The usual number of fields, and the dialect, if lines are separated by a byte.
    fn separated(
        lines: &[HeadLine<'_>],
        comments: &[HeadLine<'_>],
        by: u8,
    ) -> Option<(usize, Self)> {
        let count = usual_count(lines, by)?;
        let rows = || lines.iter().map(|line| (line, fields(line.text, by)));
        let (heading, titles) = heading(rows(), comments, (count, by))?;
        let mut later: Vec<_> = rows().filter(|(line, _)| line.end > heading.end).collect();
        let mut head = heading.end;
        // Some writers tell the base or the unit of each column in a line of its own.
        let notes = later.first().filter(|(_, row)| row.first().is_some_and(|it| is_note(it)));
        let notes = notes.map(|(line, notes)| {
            head = line.end;
            notes.clone()
        });
        if notes.is_some() {
            later.remove(0);
        }
        let values: Vec<&Vec<&str>> = later.iter().map(|(_, row)| row).collect();
        let is_value = |field: &&str| {
            field.is_empty()
                || level(field).is_some()
                || bits(field, 16).is_some()
                || time(field, SECOND_FS).is_some()
        };
        let is_table = titles.iter().any(is_title)
            && (by == b',' || values.first().is_some_and(|row| row.iter().all(is_value)));
        let mut columns: Vec<(String, CsvColumn)> = titles
            .iter()
            .enumerate()
            .map(|(at, title)| {
                let note = notes.as_ref().and_then(|notes| notes.get(at)).copied();
                let values = values.iter().filter_map(|row| row.get(at).copied());
                ((*title).to_owned(), column(title, note.unwrap_or_default(), values))
            })
            .collect();
        while columns.pop_if(|(title, _)| title.is_empty()).is_some() {}
        let texts: Vec<&str> = comments.iter().map(|line| line.text).collect();
        name_by_comment(&mut columns, &texts);
        let distance = texts.iter().find_map(|text| stated_rate(text));
        let comment = texts.first().and_then(|text| text.bytes().next());
        let fields = count.max(columns.len());
        let dialect = Self { separator: by, comment, head, fields, columns, distance };
        is_table.then_some((count, dialect))
    }
}

/// The line of titles: the first with enough fields, of which half are not empty, unless that leaves some empty to which the
/// next one gives titles; or a comment before it that has titles where the line has none.
fn heading<'l, 't>(
    mut rows: impl Iterator<Item = (&'l HeadLine<'t>, Vec<&'t str>)>,
    comments: &'l [HeadLine<'t>],
    (count, by): (usize, u8),
) -> Option<(&'l HeadLine<'t>, Vec<&'t str>)> {
    let is_filled = |row: &[&str]| {
        let filled = row.iter().filter(|field| !field.is_empty()).count();
        row.len() >= count && 2 * filled >= count
    };
    let has_titles = |row: &[&str]| {
        let titles = row.get(..count).unwrap_or_default();
        !titles.is_empty()
            && titles.iter().all(is_title)
            && !titles.first().is_some_and(|it| is_note(it))
    };
    let first = rows.find(|(_, row)| is_filled(row))?;
    let is_partial = first.1.iter().take(count).any(|field| field.is_empty());
    let next = rows.next().filter(|(_, row)| is_partial && has_titles(row));
    let first = next.unwrap_or(first);
    let mut before = comments.iter().rev().filter(|line| line.end < first.0.end);
    let titles = before.next().and_then(|line| {
        let text = line.text.strip_prefix('#')?;
        let titles: Vec<&str> = fields(text, by);
        let unnamed = titles.iter().skip(1).any(is_title);
        (unnamed && is_filled(&titles)).then(|| {
            let named = titles.into_iter().enumerate();
            let name = |(at, title)| if at == 0 && str::is_empty(title) { "#" } else { title };
            (line, named.map(name).collect())
        })
    });
    if first.1.iter().any(is_title) { Some(first) } else { titles.or(Some(first)) }
}

/// True for a title: a word that is no level.
fn is_title(title: &&str) -> bool {
    title.starts_with(char::is_alphabetic) && level(title).is_none()
}

/// True for the first field of a line between titles and values: `Radix - HEX`, `second`, `(ns)`.
fn is_note(field: &str) -> bool {
    field.starts_with("Radix") || noted_unit(field).is_some()
}

/// Femtoseconds of a unit of time, which may be in brackets.
fn noted_unit(field: &str) -> Option<u64> {
    time_unit(field.trim_matches(['(', ')', '[', ']']))
}

/// The commonest number of fields of a line, of two or more. A last one that is always empty is none: some writers end a
/// row with a separator, and its heading without.
fn usual_count(lines: &[HeadLine<'_>], separator: u8) -> Option<usize> {
    let mut counts: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
    for line in lines {
        let fields = fields(line.text, separator);
        let (count, is_ended) = counts.entry(fields.len()).or_insert((0, true));
        *count += 1;
        *is_ended &= fields.last().is_some_and(|field| field.is_empty());
    }
    let (fields, (_, is_ended)) = counts.into_iter().max_by_key(|(_, (lines, _))| *lines)?;
    Some(fields - usize::from(is_ended)).filter(|count| *count > 1)
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

/// The use of a column by its title, a note of its base or unit, and some of its values.
fn column<'v>(title: &str, note: &str, values: impl Iterator<Item = &'v str> + Clone) -> CsvColumn {
    let lower = title.to_ascii_lowercase();
    if let Some(unit_fs) = time_title(&lower) {
        return CsvColumn::Time(TimeColumn::of(noted_unit(note).unwrap_or(unit_fs), values));
    }
    if NO_SIGNALS.contains(&lower.as_str()) {
        let numbers: Option<Vec<i64>> = values.map(|value| value.parse().ok()).collect();
        let rises = |numbers: Vec<i64>| numbers.is_sorted() && numbers.first() < numbers.last();
        return if numbers.is_some_and(rises) { CsvColumn::Number } else { CsvColumn::Other };
    }
    let is_number = |value: &&str| !value.is_empty() && level(value).is_none();
    let numbers: Vec<&str> = values.filter(is_number).collect();
    // A voltage.
    if numbers.iter().any(|number| fraction(number).is_some()) {
        return CsvColumn::Other;
    }
    let (_, range) = super::super::variables::split_range(title);
    let stated = super::super::variables::range_width(range);
    let prefixed = numbers.iter().map(|number| binary_digits(number));
    let most = prefixed.clone().map(|digits| digits.map_or(0, str::len)).max();
    if let Some(most) = most.filter(|_| prefixed.clone().all(|digits| digits.is_some())) {
        return CsvColumn::Bus { width: stated.unwrap_or(most), base: 2 };
    }
    let longest = numbers.iter().map(|number| digits(number).0.len()).max().unwrap_or_default();
    if stated.is_none() && longest < 2 {
        return CsvColumn::Level;
    }
    let given = numbers.iter().find_map(|number| digits(number).1);
    let is_binary = longest + 1 >= WIRES && numbers.iter().all(|it| is_binary(digits(it).0));
    let width = stated.unwrap_or(match longest {
        _ if is_binary || given == Some(2) => longest,
        // Three digits hold the nine wires of a channel.
        3 => WIRES,
        _ => 4 * longest,
    });
    let fits = |base: &u32| {
        let mut all = numbers.iter();
        all.all(|it| bits(it, *base).is_some_and(|it| it.is_none_or(|it| is_of_width(it, width))))
    };
    let bases = if is_binary && longest == width { [2, 16] } else { [16, 10] };
    let base = base_of(note).or_else(|| bases.into_iter().find(fits)).unwrap_or(16);
    CsvColumn::Bus { width, base }
}

/// Femtoseconds of the unit in a title of times, its last word: `Time [ns]`, `Time in us`, `nanoseconds`; seconds if there is
/// none. Any title with a unit in brackets is one of times.
fn time_title(lower: &str) -> Option<u64> {
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (first, last) = (words.next()?, words.next_back());
    let is_time = ["t", "time", "timestamp", "times"].contains(&first) || lower == "x-axis";
    match last.filter(|last| !["stamp", "unit", "utc", "axis"].contains(last)) {
        None if is_time => Some(SECOND_FS),
        None => time_unit(first).filter(|_| first.trim_end_matches('s').ends_with("second")),
        Some(unit) if is_time || lower.ends_with([']', ')']) => time_unit(unit),
        Some(_) => None,
    }
}

/// Base of numbers that a line of bases names.
fn base_of(text: &str) -> Option<u32> {
    let text = text.to_ascii_lowercase();
    let name = text.split([' ', '-']).next_back()?;
    let bases = [
        ("binary", 2),
        ("octal", 8),
        ("unsigned", 10),
        ("signed", 10),
        ("decimal", 10),
        ("hex", 16),
    ];
    bases.into_iter().find(|(base, _)| *base == name).map(|(_, base)| base)
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

/// Distance of samples by their rate in a comment: `; Samplerate: 500 MHz`, `#Sample rate: 5e+08Hz`.
fn stated_rate(comment: &str) -> Option<SampleDistance> {
    let (key, value) = comment.split_once([':', '='])?;
    let key: String = key.to_ascii_lowercase().split_whitespace().collect();
    key.ends_with("samplerate").then(|| sample_rate(value))?
}
