//! Selection of the fields that are printed.

use std::fmt::Write as _;

use serde::Serialize;

use super::cells::{FieldCell, RowCells};
use super::error::{FilterError, FilterFault};
use super::row_kind::RowKind;
use super::row_visitor::FieldValue;
use super::types;
use crate::render::line::{StyledLine, TextStyle};
use crate::row::{FieldShape, RowField};

/// Fields of a kind of row, in the order in which they are printed.
#[derive(Clone, Debug)]
pub struct ColumnList(RowCells);

impl ColumnList {
    /// Parses names separated by commas.
    ///
    /// # Errors
    /// Returns the invalid name and a suggestion.
    pub fn parse(list: &str, kind: RowKind) -> Result<Self, FilterError> {
        Self::read(list, kind).map_err(|fault| FilterError::new("--fields", list, fault))
    }

    fn read(list: &str, kind: RowKind) -> Result<Self, FilterFault> {
        let mut fields: Vec<&'static RowField> = Vec::new();
        let mut start = 0;
        for name in list.split(',') {
            let end = start + name.len();
            let at = end - name.trim_start().len()..start + name.trim_end().len();
            let at = at.start.min(at.end)..at.end;
            start = end + 1;
            let name = name.trim();
            if name.is_empty() {
                return Err(FilterFault::new(at, "a name is missing", "expected a field"));
            }
            let field = kind.field(name).ok_or_else(|| types::unknown(kind, name, &at))?;
            if fields.contains(&field) {
                return Err(FilterFault::new(
                    at,
                    format!("`{name}` is listed twice"),
                    "the second time",
                ));
            }
            fields.push(field);
        }
        Ok(Self(RowCells::of(fields)))
    }

    /// True if the list contains the field.
    #[must_use]
    pub fn have(&self, name: &str) -> bool {
        self.0.have(name)
    }

    /// Names of the fields, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|cell| cell.field().name)
    }

    /// Heading above the rows.
    #[must_use]
    pub fn head(&self) -> StyledLine {
        let texts = self.0.iter().map(|cell| cell.field().name.to_owned());
        StyledLine::of(TextStyle::Head, aligned(self.0.iter().zip(texts)))
    }

    /// Line of a row.
    #[must_use]
    pub fn line(&mut self, row: &impl Serialize) -> StyledLine {
        self.0.take(row);
        StyledLine::of(TextStyle::Plain, aligned(self.0.iter().map(|cell| (cell, written(cell)))))
    }
}

/// Texts aligned in columns.
fn aligned<'c>(cells: impl Iterator<Item = (&'c FieldCell, String)>) -> String {
    let mut line = String::new();
    for (cell, text) in cells {
        let gap = if line.is_empty() { "" } else { "  " };
        let width = width(cell.field());
        // Writing to a string does not fail.
        let _ = match cell.field().shape {
            FieldShape::Number(_) | FieldShape::Signed | FieldShape::Real | FieldShape::List => {
                write!(line, "{gap}{text:>width$}")
            }
            FieldShape::Place | FieldShape::Time => write!(line, "{gap}{text:>width$}"),
            FieldShape::Text
            | FieldShape::Words(_)
            | FieldShape::Ranks(_)
            | FieldShape::Bytes
            | FieldShape::Flag => {
                write!(line, "{gap}{text:<width$}")
            }
        };
    }
    line
}

/// Width of a column. *Chosen*: wider than most values.
fn width(field: &RowField) -> usize {
    let usual = match field.shape {
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
    };
    usual.max(field.name.len())
}

/// Values of a cell in the notation of expressions; `-` if there are none.
fn written(cell: &FieldCell) -> String {
    let mut text = String::new();
    for value in cell.values() {
        if !text.is_empty() {
            text.push(',');
        }
        // Writing to a string does not fail.
        let _ = match value {
            FieldValue::Number(number) => write!(text, "{number}"),
            FieldValue::Real(number) => write!(text, "{number}"),
            FieldValue::Text(word) => write!(text, "{word}"),
            FieldValue::Flag(flag) => write!(text, "{flag}"),
            FieldValue::Bytes(bytes) => write!(text, "{}", ColonBytes(bytes)),
        };
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

struct ColonBytes<'a>(&'a [u8]);

impl std::fmt::Display for ColonBytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        super::expr::colons(f, self.0)
    }
}
