//! Order of the rows of a list: as read, sorted, grouped or counted. What is kept in memory is
//! bounded.

use std::collections::BTreeMap;

use analyzer::filter::{ColumnList, SortDirection, SortKey, SortOrder};
use analyzer::render::{self, StyledLine};
use analyzer::row::{ListRow, json, json_at, json_text, write_json};
use codec::time::CharacterPeriod;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::selection::RowSelection;
use super::separated::ValueSeparator;
use crate::args::{ArrangeArgs, ListFormat};

/// Maximum number of rows or groups kept for an order. *Chosen*: more than anybody reads.
const ROWS_MAX: usize = 1_000_000;
/// Maximum memory of kept rows or groups, in bytes, by an estimate. *Chosen*: small for a workstation.
const BYTES_MAX: usize = 512 << 20;
/// Memory of a kept row besides its key and its text: its entry in the map, and what its allocations are
/// rounded up by. *Estimated*: lists of text need up to half as much again, short rows of CSV less.
const ENTRY: usize = 352;

/// File, if there are several, and capture of a row.
pub(super) type CapturePlace = (Option<String>, u32);

/// Lines between rows of two files or captures, unless their columns are shown.
pub(super) fn separators(
    (old_file, old_capture): &CapturePlace,
    (file, capture): &CapturePlace,
    shown: &RowSelection,
) -> Vec<StyledLine> {
    let is_new = file != old_file;
    let file = file.as_ref().filter(|_| is_new && !shown.shows("file"));
    let before = if is_new { 0 } else { *old_capture };
    let capture = Some(*capture).filter(|it| *it != before && !shown.shows("capture"));
    let file = file.map(|name| render::file_line(name));
    file.into_iter().chain(capture.map(render::capture_line)).collect()
}

/// Order of the rows of a list.
#[derive(Debug)]
pub(super) enum RowArrangement {
    AsRead,
    /// Only the number of rows is printed.
    Count(u64),
    Groups(RowGroups),
    Sorted(SortedRows),
}

impl RowArrangement {
    pub(super) fn uses_field(&self, name: &str) -> bool {
        match self {
            Self::AsRead | Self::Count(_) => false,
            Self::Groups(groups) => groups.columns.have(name),
            Self::Sorted(rows) => rows.order.uses_field(name),
        }
    }
}

/// The number of rows, in a format.
pub(super) fn count_text(count: u64, format: ListFormat, options: &ArrangeArgs) -> String {
    match format {
        ListFormat::Json | ListFormat::Jsonl => format!("{{\"count\":{count}}}\n"),
        ListFormat::Csv | ListFormat::Tsv if options.has_head => format!("count\n{count}\n"),
        ListFormat::Text | ListFormat::Csv | ListFormat::Tsv => format!("{count}\n"),
    }
}

/// A row as it will be printed.
#[derive(Debug)]
pub(super) enum RenderedRow {
    Lines(Vec<StyledLine>),
    Text(String),
}

impl RenderedRow {
    /// A row in a format: its columns if some are selected, otherwise all of it, as text `lines`.
    pub(super) fn of(
        format: ListFormat,
        columns: Option<&mut ColumnList>,
        (row, period): (&dyn ListRow, CharacterPeriod),
        lines: impl FnOnce(&mut dyn FnMut(StyledLine)),
    ) -> Self {
        match (format, columns) {
            (ListFormat::Text, None) => {
                let mut kept = Vec::new();
                lines(&mut |line| kept.push(line));
                Self::Lines(kept)
            }
            (ListFormat::Text, Some(columns)) => Self::Lines(vec![columns.line(row, period)]),
            (ListFormat::Json | ListFormat::Jsonl, Some(columns)) => {
                let members = columns.names().filter_map(|name| {
                    json_at(row, name).map(|value| format!("\"{name}\":{value}"))
                });
                Self::Text(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
            }
            (ListFormat::Csv | ListFormat::Tsv, Some(columns)) => {
                Self::Text(ValueSeparator::of(format).row(row, columns.names()))
            }
            (_, None) => Self::Text(row.text()),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Lines(lines) => {
                lines.iter().flat_map(StyledLine::pieces).map(|(_, text)| text.len() + 32).sum()
            }
            Self::Text(text) => text.len(),
        }
    }
}

/// Memory taken, and its bound.
#[derive(Debug, Default)]
struct MemoryBudget(usize);

impl MemoryBudget {
    fn add(&mut self, bytes: usize, rows: usize) -> Result<(), String> {
        self.0 = self.0.saturating_add(bytes);
        if rows > ROWS_MAX || self.0 > BYTES_MAX {
            return Err(format!(
                "more rows than can be sorted or grouped: at most {ROWS_MAX} rows and {} MB of \
                 memory; --filter, --from and --to select fewer, --sort with --top keeps only the \
                 first",
                BYTES_MAX >> 20
            ));
        }
        Ok(())
    }
}

/// Rows in the order of --sort, at most `max`.
#[derive(Debug)]
pub(super) struct SortedRows {
    order: SortOrder,
    max: usize,
    /// Rows with their places. The number keeps the order of equal rows.
    rows: BTreeMap<(SortKey, u64), (CapturePlace, RenderedRow)>,
    seen: u64,
    bytes: MemoryBudget,
}

impl SortedRows {
    pub(super) fn new(order: SortOrder, max: Option<u64>) -> Self {
        let max = max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
        Self { order, max, rows: BTreeMap::new(), seen: 0, bytes: MemoryBudget::default() }
    }

    /// Key of a row, or none if it comes after all rows that are kept.
    pub(super) fn key(&mut self, row: &dyn ListRow, period: CharacterPeriod) -> Option<SortKey> {
        let key = self.order.key(row, period);
        let is_kept = self.rows.len() < self.max
            || self.rows.last_key_value().is_some_and(|((last, _), _)| key < *last);
        is_kept.then_some(key)
    }

    pub(super) fn add(
        &mut self,
        key: SortKey,
        place: CapturePlace,
        row: RenderedRow,
    ) -> Result<(), String> {
        let bytes = ENTRY + key.size() + row.size();
        self.rows.insert((key, self.seen), (place, row));
        self.seen += 1;
        if self.rows.len() > self.max
            && let Some(((key, _), (_, row))) = self.rows.pop_last()
        {
            self.bytes.0 = self.bytes.0.saturating_sub(ENTRY + key.size() + row.size());
        }
        self.bytes.add(bytes, self.rows.len())
    }

    /// The rows with their places, in order.
    pub(super) fn into_rows(self) -> impl Iterator<Item = (CapturePlace, RenderedRow)> {
        self.rows.into_values()
    }
}

/// Numbers of rows with equal values of the fields of --group.
#[derive(Debug)]
pub(super) struct RowGroups {
    pub(super) columns: ColumnList,
    order: SortOrder,
    by_count: Option<SortDirection>,
    max: usize,
    /// The groups by their order, then by all that is in their values, as JSON.
    groups: BTreeMap<(SortKey, String), GroupRow>,
    bytes: MemoryBudget,
}

/// Values that rows have in common, and the number of rows.
#[derive(Debug)]
pub(super) struct GroupRow {
    members: Vec<(&'static str, Value)>,
    count: u64,
}

impl RowGroups {
    pub(super) fn new(
        columns: ColumnList,
        by_count: Option<SortDirection>,
        max: Option<u64>,
    ) -> Self {
        let (order, groups) = (SortOrder::of(&columns), BTreeMap::new());
        let max = max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
        Self { columns, order, by_count, max, groups, bytes: MemoryBudget::default() }
    }

    pub(super) fn add(&mut self, row: &dyn ListRow) -> Result<(), String> {
        let values: Vec<Value> =
            self.columns.names().map(|name| json_at(row, name).unwrap_or_default()).collect();
        let key = (self.order.key(row, CharacterPeriod::PICOSECOND), json_text(&values));
        if let Some(group) = self.groups.get_mut(&key) {
            group.count += 1;
            return Ok(());
        }
        let members = self.columns.names().zip(values).collect();
        let bytes = ENTRY + 2 * key.0.size() + 4 * key.1.len();
        self.groups.insert(key, GroupRow { members, count: 1 });
        self.bytes.add(bytes, self.groups.len())
    }

    pub(super) fn into_rows(self) -> impl Iterator<Item = GroupRow> {
        let mut groups: Vec<GroupRow> = self.groups.into_values().collect();
        match self.by_count {
            None => {}
            Some(SortDirection::Ascending) => groups.sort_by_key(|group| group.count),
            Some(SortDirection::Descending) => {
                groups.sort_by_key(|group| std::cmp::Reverse(group.count));
            }
        }
        groups.into_iter().take(self.max)
    }
}

impl ListRow for GroupRow {
    fn member(&self, name: &str) -> Option<Value> {
        match self.members.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Some(value.clone()),
            None => Some(self.count.into()).filter(|_| name == "count"),
        }
    }

    fn json(&self) -> Value {
        json(self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_json(self, out);
    }
}

impl Serialize for GroupRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.members {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("count", &self.count)?;
        map.end()
    }
}
