//! Dialects of tables: comments, separators and headings.

use std::collections::BTreeMap;

use super::super::decimal::{SECOND_FS, SampleDistance, sample_rate};
use super::column::{CsvColumn, column, noted_unit, take_signed};
use super::field::{bits, level, time};
use crate::wires::WIRES;

/// Lines from which the dialect is seen, at most.
const LINES: usize = 20_000;

/// Keys of the distance of samples, where `sampling` is `sample`.
const DISTANCES: [&str; 7] =
    ["sampleinterval", "sampleperiod", "increment", "tinc", "xinc", "xincr", "horizontalinterval"];

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
    /// The dialect of a text with one of some separators, in the order of preference; `None` if it is no table with a heading.
    pub(super) fn of(head: &[u8], separators: &[u8]) -> Option<Self> {
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
        separators.iter().rev().filter_map(|by| of(*by)).max_by_key(|it| it.0).map(|it| it.1)
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
        if is_bare && (by == b' ' || count < WIRES && names_of(&texts).is_none()) {
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
                let named = if is_time { "time" } else { "" };
                let title = if is_bare { named } else { title };
                (title.to_owned(), column(title, note.unwrap_or_default(), values))
            })
            .collect();
        take_signed(&mut columns, &values);
        // Some writers give values behind the titles that no row has: those of the whole recording.
        let used = values.iter().map(|row| row.len()).max().unwrap_or(columns.len()).max(count);
        columns.truncate(used);
        while columns.pop_if(|(title, _)| title.is_empty() && !is_bare).is_some() {}
        name_by_comment(&mut columns, &texts);
        if is_bare {
            let untitled = (1..).zip(&mut columns).filter(|(_, (title, _))| title.is_empty());
            untitled.for_each(|(number, (title, _))| *title = format!("column{number}"));
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

/// Fields of a line, without blanks and quotes around them; a separator in quotes, or a blank before a bracket, is none.
fn fields(line: &str, separator: u8) -> Vec<&str> {
    let mut is_quoted = false;
    let mut later = line.chars().skip(1);
    let split = line.split(|c: char| {
        let next = later.next();
        is_quoted ^= c == '"';
        c == char::from(separator) && !is_quoted && !(c == ' ' && matches!(next, Some('[' | '(')))
    });
    split.map(|field| field.trim().trim_matches('"').trim()).collect()
}

/// Names columns as a comment lists them where their titles are all alike: `; Channels (2/2): D0, D1`.
fn name_by_comment(columns: &mut [(String, CsvColumn)], comments: &[&str]) {
    let mut signals: Vec<&mut String> = columns
        .iter_mut()
        .filter(|(_, column)| column.width() > 0)
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
    let is_word = |text: &str, word| text.to_ascii_lowercase().contains(word);
    let is_list = |text: &&&str| ["channels", "probes"].iter().any(|it| is_word(text, it));
    let (_, names) = comments.iter().find(is_list)?.split_once(':')?;
    Some(fields(names, b','))
}

/// Distance of samples that a line before the rows states, or a title: `; Samplerate: 500 MHz`, `Sample Interval,2e-9`.
fn stated_distance(key: &str, value: &str) -> Option<SampleDistance> {
    let key: String = key.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let (key, value) = (key.replace("sampling", "sample"), value.trim().trim_matches('"'));
    if ["samplerate", "samplefrequency"].iter().any(|rate| key.ends_with(rate)) {
        return sample_rate(value);
    }
    let is_distance = DISTANCES.contains(&key.as_str());
    let value = value.rsplit(':').next().filter(|_| is_distance)?;
    let time_fs = u64::try_from(time(value.trim(), SECOND_FS)?).ok()?;
    (time_fs > 0).then(|| SampleDistance::of_period(time_fs))
}
