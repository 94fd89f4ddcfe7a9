//! Selection of the fields that are printed, and of those by which rows are sorted.

use std::ops::Range;

use super::cells::{FieldCell, FieldValue, RowCells};
use super::error::{FilterError, FilterFault};
use super::row_kind::{RowKind, RowText};
use super::types;
use crate::render::TimeUnit;
use crate::render::line::{StyledLine, TextStyle};
use crate::row::{FieldShape, FieldType as _, ListRow, RowField, json_at};
use codec::time::CharacterPeriod;
use serde_json::Value;

/// Fields of a kind of row, in the order in which they are printed.
#[derive(Clone, Debug)]
pub struct ColumnList {
    cells: RowCells,
    /// Fields that are printed as name and value behind the columns.
    details: RowCells,
    /// Unit of places and times in text; without it they are as in JSON.
    unit: Option<TimeUnit>,
    /// True if lists are written as JSON, in which groups differ, else their lengths.
    has_whole_lists: bool,
}

impl ColumnList {
    /// Parses names separated by commas.
    ///
    /// # Errors
    /// Returns the invalid name and a suggestion.
    pub fn parse(list: &str, kind: RowKind) -> Result<Self, FilterError> {
        Self::of_option("--fields", list, kind)
    }

    /// Parses the names given with an option.
    ///
    /// # Errors
    /// As for [`ColumnList::parse`].
    pub fn of_option(option: &'static str, list: &str, kind: RowKind) -> Result<Self, FilterError> {
        let fields = named_fields(list, kind, &mut no_suffix)
            .map_err(|fault| FilterError::new(option, list, fault))?;
        Ok(Self::from_fields(fields))
    }

    /// All fields of a kind that are no objects with fields of their own.
    pub fn leaves(kind: RowKind) -> Self {
        Self::from_fields(kind.fields().iter().filter(|field| field.members.is_empty()))
    }

    /// Fields of a line of the kind, where a command has no text of its own for it.
    pub fn usual(kind: RowKind) -> Self {
        let usual = match kind.text() {
            RowText::Lines(_) => "",
            RowText::Table(fields) | RowText::Report(fields) => fields,
        };
        let (columns, details) = usual.split_once('|').unwrap_or((usual, ""));
        let fields =
            |names: &'static str| names.split(',').filter_map(move |name| kind.field(name));
        Self { details: RowCells::of(fields(details)), ..Self::from_fields(fields(columns)) }
    }

    /// The same fields, and the number of rows of a group.
    pub fn with_count(&self) -> Self {
        static COUNT: RowField =
            RowField::new("count", u64::SHAPE, "rows", "", "rows of the group");
        Self { has_whole_lists: true, ..Self::from_fields(self.fields().chain([&COUNT])) }
    }

    fn from_fields(fields: impl IntoIterator<Item = &'static RowField>) -> Self {
        Self {
            cells: RowCells::of(fields),
            details: RowCells::of([]),
            unit: None,
            has_whole_lists: false,
        }
    }

    /// The list with places and times in a unit.
    pub fn in_unit(self, unit: Option<TimeUnit>) -> Self {
        Self { unit, ..self }
    }

    /// The first columns that fit a width.
    pub fn fitting(mut self, width: Option<usize>) -> Self {
        while width.is_some_and(|width| self.head().width() > width) && self.fields().count() > 1 {
            self.cells.pop();
        }
        self
    }

    /// True if the list contains the field.
    pub fn have(&self, name: &str) -> bool {
        self.cells.have(name)
    }

    /// Names of the fields, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.cells.iter().map(|cell| cell.field.name)
    }

    /// The fields, in order.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'static RowField> {
        self.cells.iter().map(|cell| cell.field)
    }

    /// Heading above the rows.
    pub fn head(&self) -> StyledLine {
        let headings = self.fields().map(|field| (field, self.heading(field)));
        StyledLine::of(TextStyle::Head, self.aligned(headings))
    }

    /// Line of a row on a channel of a character period.
    pub fn line(&mut self, row: &dyn ListRow, period: CharacterPeriod) -> StyledLine {
        self.cells.take(row);
        self.details.take(row);
        let text = |cell: &FieldCell| match json_at(row, cell.field.name) {
            Some(list @ (Value::Array(_) | Value::Object(_)))
                if self.has_whole_lists && cell.field.shape == FieldShape::List =>
            {
                list.to_string()
            }
            _ => self.written(cell, period),
        };
        let texts = self.cells.iter().map(|cell| (cell.field, text(cell)));
        let details = self.details.iter().filter(|cell| !cell.values.is_empty()).map(|cell| {
            let (name, value) = (self.heading(cell.field), self.written(cell, period));
            format!("  {} {value}", name.replace('_', " "))
        });
        StyledLine::of(TextStyle::Plain, self.aligned(texts) + &details.collect::<String>())
    }

    fn heading(&self, field: &RowField) -> String {
        let name = field.name;
        match (field.shape, self.unit, field.unit) {
            (FieldShape::Place, None, _) => format!("{name} [ch]"),
            (FieldShape::Place, Some(unit), _) => format!("{name} [{}]", unit.name()),
            (FieldShape::Time, Some(unit), _) => {
                format!("{} [{}]", name.trim_end_matches("_ps"), unit.of_times().name())
            }
            (FieldShape::Number(_), _, unit @ ("bytes" | "cells" | "us")) if unit != name => {
                format!("{name} [{unit}]")
            }
            _ => name.to_owned(),
        }
    }

    /// Values of a cell in the notation of expressions; `-` if there are none.
    fn written(&self, cell: &FieldCell, period: CharacterPeriod) -> String {
        let texts: Vec<String> = cell
            .values
            .iter()
            .map(|value| match (value, self.unit) {
                (FieldValue::Number(place), Some(unit))
                    if cell.field.shape == FieldShape::Place =>
                {
                    let place = place.unsigned_abs();
                    unit.text(u64::try_from(place).unwrap_or(u64::MAX), period)
                }
                (FieldValue::Number(time), Some(unit)) if cell.field.shape == FieldShape::Time => {
                    unit.elapsed(time.unsigned_abs())
                }
                (FieldValue::Number(number) | FieldValue::Length(number), _) => number.to_string(),
                (FieldValue::Real(number), Some(_)) => format!("{number:.4}"),
                (FieldValue::Real(number), None) => number.to_string(),
                (FieldValue::Text(word), _) => word.clone(),
                (FieldValue::Flag(flag), _) => flag.to_string(),
                (FieldValue::Bytes(bytes), _) => ColonBytes(bytes).to_string(),
            })
            .collect();
        if texts.is_empty() { "-".to_owned() } else { texts.join(",") }
    }

    /// Texts aligned in columns as wide as their headings.
    fn aligned<'c>(&self, cells: impl Iterator<Item = (&'c RowField, String)>) -> String {
        let aligned = cells.map(|(field, text)| {
            let width = width(field).max(self.heading(field).chars().count());
            match field.shape {
                FieldShape::Text | FieldShape::Words(_) | FieldShape::Ranks(_) => {
                    format!("{text:<width$}")
                }
                FieldShape::Bytes | FieldShape::Flag => format!("{text:<width$}"),
                FieldShape::Number(_) | FieldShape::Signed | FieldShape::Real => {
                    format!("{text:>width$}")
                }
                FieldShape::List | FieldShape::Place | FieldShape::Time => {
                    format!("{text:>width$}")
                }
            }
        });
        aligned.collect::<Vec<_>>().join("  ")
    }
}

/// Check of the part of a name behind a colon, and of its place in the list.
type SuffixCheck<'c> = dyn FnMut(Option<&str>, Range<usize>) -> Result<(), FilterFault> + 'c;

fn no_suffix(rest: Option<&str>, at: Range<usize>) -> Result<(), FilterFault> {
    let expected = "expected a comma or the end";
    rest.map_or(Ok(()), |_| Err(FilterFault::new(at, "`:` behind a name", expected)))
}

/// Fields of the names in a list. The part of a name behind a colon, and its place in the list, are
/// passed to `suffix`.
pub(super) fn named_fields(
    list: &str,
    kind: RowKind,
    suffix: &mut SuffixCheck<'_>,
) -> Result<Vec<&'static RowField>, FilterFault> {
    let mut fields: Vec<&'static RowField> = Vec::new();
    let mut start = 0;
    for item in list.split(',') {
        let end = start + item.len();
        let at = end - item.trim_start().len()..start + item.trim_end().len();
        let at = at.start.min(at.end)..at.end;
        start = end + 1;
        let (name, rest) = match item.trim().split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (item.trim(), None),
        };
        if name.is_empty() {
            return Err(FilterFault::new(at, "a name is missing", "expected a field"));
        }
        let name_at = at.start..at.start + name.len();
        let field = kind.field(name).ok_or_else(|| types::unknown(kind, name, &name_at))?;
        suffix(rest, name_at.end..at.end)?;
        if fields.contains(&field) {
            let message = format!("`{name}` is listed twice");
            return Err(FilterFault::new(at, message, "the second time"));
        }
        fields.push(field);
    }
    Ok(fields)
}

/// Width of a column. *Chosen*: wider than most values.
fn width(field: &RowField) -> usize {
    match field.shape {
        FieldShape::Number(most) if most <= 255 => 3,
        FieldShape::Number(_) | FieldShape::Signed | FieldShape::List => 7,
        FieldShape::Real => 8,
        FieldShape::Place | FieldShape::Time => 12,
        FieldShape::Text => 15,
        FieldShape::Words(words) | FieldShape::Ranks(words) => {
            words.iter().map(|word| word.len()).max().unwrap_or(0)
        }
        FieldShape::Bytes => 11,
        FieldShape::Flag => 5,
    }
}

struct ColonBytes<'a>(&'a [u8]);

impl std::fmt::Display for ColonBytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        super::expr::colons(f, self.0)
    }
}
