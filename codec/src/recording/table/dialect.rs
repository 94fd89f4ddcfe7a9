//! Dialects of tables: comments, separators, headings, and the uses of columns.

use std::collections::BTreeMap;

use super::super::decimal::{SECOND_FS, SampleDistance, sample_rate, time_unit};
use super::field::{
    TimeColumn, binary_digits, bits, digits, fraction, is_binary, is_number, is_of_width, level,
    time,
};
use crate::wires::WIRES;

/// Separators of fields, in the order of preference.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// Lines from which the dialect is seen, at most.
const LINES: usize = 20_000;

const NO_UNIT: &str = "times without a unit: write it into the title, as in Time [ns]";

const NO_BASE: &str = "numbers that are decimal or hexadecimal: write which into the title, as in tx [dec] or tx [hex]";

/// Most columns that are listed for a reason. *Chosen*
const LISTED: usize = 8;

/// Reasons for which columns are left out.
const EMPTY: &str = "empty";
const ANALOG: &str = "of an analog input";
const SIGNED: &str =
    "signed numbers, of an analog input or a bus: of a bus name the bits, as in tx[8:0]";
const TEXTS: &str = "neither levels nor numbers";

/// Keys of the distance of samples.
const DISTANCES: [&str; 6] =
    ["sampleinterval", "increment", "tinc", "xinc", "xincr", "horizontalinterval"];

/// Titles of columns that count rows or samples, or show a trigger.
const NO_SIGNALS: [&str; 10] = [
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
    /// Levels of some signals as a number of a base.
    Bus { width: usize, base: u32 },
    /// Values of an unknown unit or base, with what the user has to write.
    Unclear(&'static str),
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
    begin: (usize, u64),
    end: (usize, u64),
}

impl TableDialect {
    /// The dialect of a text; `None` if it is no table with a heading.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let (mut at, mut lines, mut comments) = (0, Vec::new(), Vec::new());
        for (number, line) in (0..).zip(head.split_inclusive(|byte| *byte == b'\n')).take(LINES) {
            let begin = (at, number);
            at += line.len();
            // A character may be cut at the end.
            let Ok(text) = std::str::from_utf8(line) else { break };
            let text = text.trim();
            let is_comment = text.starts_with([';', '#']);
            let of_kind = if is_comment { &mut comments } else { &mut lines };
            of_kind.push(HeadLine { text, begin, end: (at, number + 1) });
        }
        lines.retain(|line| !line.text.is_empty());
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
        let texts: Vec<&str> = comments.iter().map(|line| line.text).collect();
        // A table without titles begins with its first row.
        let is_bare = !titles.iter().any(is_title);
        if is_bare && count < WIRES && names_of(&texts).is_none() {
            return None;
        }
        let mut head = if is_bare { heading.begin } else { heading.end };
        let mut later: Vec<_> = rows().filter(|(line, _)| line.begin >= head).collect();
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
        let is_table =
            by == b',' && !is_bare || values.first().is_some_and(|row| row.iter().all(is_value));
        let mut columns: Vec<(String, CsvColumn)> = titles
            .iter()
            .enumerate()
            .map(|(at, title)| {
                let note = notes.as_ref().and_then(|notes| notes.get(at)).copied();
                let values = values.iter().filter_map(|row| row.get(at).copied());
                let is_time = at == 0 && values.clone().any(|value| level(value).is_none());
                let title = match is_bare {
                    true if is_time => "time",
                    true => "",
                    false => title,
                };
                (title.to_owned(), column(title, note.unwrap_or_default(), values))
            })
            .collect();
        if !columns.iter().any(|(_, it)| matches!(it, CsvColumn::Level | CsvColumn::Bus { .. })) {
            let signed = (0..).zip(&mut columns);
            for (at, (title, it)) in
                signed.filter(|(_, (_, it))| *it == CsvColumn::Other(Some(SIGNED)))
            {
                *it = column(title, "signed", values.iter().filter_map(|row| row.get(at).copied()));
            }
        }
        while columns.pop_if(|(title, _)| title.is_empty() && !is_bare).is_some() {}
        name_by_comment(&mut columns, &texts);
        for (number, (title, _)) in
            (1..).zip(&mut columns).filter(|(_, (title, _))| is_bare && title.is_empty())
        {
            *title = format!("column{number}");
        }
        let before = lines.iter().filter(|line| line.begin < heading.begin).map(|line| line.text);
        let pairs = texts.iter().copied().chain(before).chain(titles.iter().copied());
        let pairs = pairs.map(|text| text.trim_start_matches([';', '#']));
        let pairs = pairs.filter_map(|text| text.split_once([':', '=', char::from(by)]));
        let noted = titles.iter().copied().zip(notes.iter().flatten().copied());
        let distance = pairs.chain(noted).find_map(|(key, value)| stated_distance(key, value));
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

/// True for the first field of a line between titles and values: `Radix - HEX`, `second`, `(ns)`, `Sequence`.
fn is_note(field: &str) -> bool {
    field.starts_with("Radix") || field == "Sequence" || noted_unit(field).is_some()
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

/// The use of a column by its title, a note of its base or unit, and the values of the beginning.
fn column<'v>(title: &str, note: &str, values: impl Iterator<Item = &'v str> + Clone) -> CsvColumn {
    let lower = title.to_lowercase();
    let filled: Vec<&str> = values.clone().filter(|value| !value.is_empty()).collect();
    let unit = noted_unit(note).or_else(|| title_unit(&lower));
    if unit.is_some() || is_time(&lower) {
        let is_whole = |it: &&str| it.bytes().all(|it| it.is_ascii_digit());
        let is_unclear = unit.is_none() && !filled.is_empty() && filled.iter().all(is_whole);
        let times = TimeColumn::of(unit.unwrap_or(SECOND_FS), values);
        return if is_unclear { CsvColumn::Unclear(NO_UNIT) } else { CsvColumn::Time(times) };
    }
    if NO_SIGNALS.contains(&lower.as_str()) || NO_SIGNALS.contains(&note.to_lowercase().as_str()) {
        let numbers: Option<Vec<i64>> = values.map(|value| value.parse().ok()).collect();
        let rises = |numbers: Vec<i64>| numbers.is_sorted() && numbers.first() < numbers.last();
        return if numbers.is_some_and(rises) { CsvColumn::Number } else { CsvColumn::Other(None) };
    }
    let (_, range) = super::super::variables::split_range(title);
    let stated = super::super::variables::range_width(range);
    let noted = base_of(note).or_else(|| base_of(range.trim_matches(['[', ']', '(', ')'])));
    let others: Vec<&str> = filled.iter().copied().filter(|it| level(it).is_none()).collect();
    let numbers: Vec<&str> = others.iter().copied().filter(|it| is_number(it)).collect();
    let levels = filled.len() - others.len();
    let is_empty = filled.is_empty() && values.clone().next().is_some();
    // Voltages, and counts of an analog input.
    let is_analog = stated.is_none() && noted.is_none() && !others.is_empty() && is_analog(&lower)
        || others.iter().any(|it| fraction(it).is_some());
    let is_signed = stated.is_none()
        && noted.is_none()
        && numbers.iter().any(|it| it.len() > 2 && it.starts_with('-'));
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
    bus((stated, noted), &numbers)
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
    let of_reason = |(reason, mut titles): (&str, Vec<String>)| {
        if titles.len() > LISTED {
            titles.truncate(LISTED);
            titles.push("…".to_owned());
        }
        format!("{} ({reason})", titles.join(", "))
    };
    let texts: Vec<String> = titles.into_iter().map(of_reason).collect();
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
    let first = lower.split(|c: char| !c.is_alphanumeric() && c != '-').next();
    let unit = lower.trim_end_matches([']', ')']).rsplit(['[', '(', ' ', '_']).next();
    let is_other = unit != first && lower.ends_with([']', ')']);
    words.iter().any(|word| first == Some(word)) && !is_other
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

/// Names columns as a comment lists them where their titles are all alike: `; Channels (2/2): D0, D1`.
fn name_by_comment(columns: &mut [(String, CsvColumn)], comments: &[&str]) {
    let mut signals: Vec<&mut String> = columns
        .iter_mut()
        .filter(|(_, column)| matches!(column, CsvColumn::Level | CsvColumn::Bus { .. }))
        .map(|(title, _)| title)
        .collect();
    let names = names_of(comments);
    let is_alike = signals.windows(2).all(|two| matches!(two, [one, other] if one == other));
    if let Some(names) = names.filter(|names| is_alike && names.len() == signals.len()) {
        signals.iter_mut().zip(names).for_each(|(title, name)| name.clone_into(title));
    }
}

/// Names that a comment lists.
fn names_of<'a>(comments: &[&'a str]) -> Option<Vec<&'a str>> {
    let is_list = |text: &&&str| {
        let lower = text.to_ascii_lowercase();
        lower.contains("channels") || lower.contains("probes")
    };
    let (_, names) = comments.iter().find(is_list)?.split_once(':')?;
    Some(fields(names, b','))
}

/// Distance of samples that a line before the rows states, or a title: `; Samplerate: 500 MHz`, `Sample Interval,2e-9`.
fn stated_distance(key: &str, value: &str) -> Option<SampleDistance> {
    let key: String = key.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    if key.ends_with("samplerate") {
        return sample_rate(value);
    }
    let is_distance = DISTANCES.contains(&key.as_str());
    let value = value.rsplit(':').next().filter(|_| is_distance)?;
    let time_fs = u64::try_from(time(value.trim(), SECOND_FS)?).ok()?;
    (time_fs > 0).then(|| SampleDistance::of_period(time_fs))
}
