//! The fields of rows that are printed, where not all are.

use std::fmt::Write as _;

use serde::Serialize;

use super::cells::{Cell, Cells};
use super::error::{Fault, FilterError};
use super::field::{Field, RowKind, Shape};
use super::members::Value;
use super::types;
use crate::text::{Line, Role};

/// Fields of a kind of row, in the order in which they are printed.
#[derive(Clone, Debug)]
pub struct Columns(Cells);

impl Columns {
    /// Reads names, with commas between them.
    ///
    /// # Errors
    /// Says which name is wrong, and what may have been meant.
    pub fn parse(list: &str, kind: RowKind) -> Result<Self, FilterError> {
        Self::read(list, kind).map_err(|fault| FilterError::new("--fields", list, fault))
    }

    fn read(list: &str, kind: RowKind) -> Result<Self, Fault> {
        let mut fields: Vec<&'static Field> = Vec::new();
        let mut start = 0;
        for name in list.split(',') {
            let end = start + name.len();
            let at = end - name.trim_start().len()..start + name.trim_end().len();
            let at = at.start.min(at.end)..at.end;
            start = end + 1;
            let name = name.trim();
            if name.is_empty() {
                return Err(Fault::new(at, "a name is missing", "expected a field"));
            }
            let field = kind.field(name).ok_or_else(|| types::unknown(kind, name, &at))?;
            if fields.contains(&field) {
                return Err(Fault::new(at, format!("`{name}` comes twice"), "the second time"));
            }
            fields.push(field);
        }
        Ok(Self(Cells::of(fields)))
    }

    /// Whether a field is among them.
    #[must_use]
    pub fn have(&self, name: &str) -> bool {
        self.0.have(name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|cell| cell.field().name)
    }

    /// The line above the rows.
    #[must_use]
    pub fn head(&self) -> Line {
        let texts = self.0.iter().map(|cell| cell.field().name.to_owned());
        Line::of(Role::Head, aligned(self.0.iter().zip(texts)))
    }

    /// A row's line.
    #[must_use]
    pub fn line(&mut self, row: &impl Serialize) -> Line {
        self.0.take(row);
        Line::of(Role::Plain, aligned(self.0.iter().map(|cell| (cell, written(cell)))))
    }
}

/// Texts in columns.
fn aligned<'c>(cells: impl Iterator<Item = (&'c Cell, String)>) -> String {
    let mut line = String::new();
    for (cell, text) in cells {
        let gap = if line.is_empty() { "" } else { "  " };
        let width = width(cell.field());
        // Writing to a string does not fail.
        let _ = match cell.field().shape {
            Shape::Number(_) | Shape::Signed | Shape::Real | Shape::List => {
                write!(line, "{gap}{text:>width$}")
            }
            Shape::Place | Shape::Time => write!(line, "{gap}{text:>width$}"),
            Shape::Text | Shape::Words(_) | Shape::Ranks(_) | Shape::Bytes | Shape::Flag => {
                write!(line, "{gap}{text:<width$}")
            }
        };
    }
    line
}

/// How wide a column is: wider than what most rows have. *Chosen*.
fn width(field: &Field) -> usize {
    let usual = match field.shape {
        Shape::Number(most) if most <= 255 => 3,
        Shape::Number(_) | Shape::Signed | Shape::List => 7,
        Shape::Real => 8,
        Shape::Place | Shape::Time => 12,
        Shape::Text => 15,
        Shape::Words(words) | Shape::Ranks(words) => {
            words.iter().map(|word| word.len()).max().unwrap_or(0)
        }
        Shape::Bytes => 11,
        Shape::Flag => 5,
    };
    usual.max(field.name.len())
}

/// A cell's values as an expression has them; `-` if there are none.
fn written(cell: &Cell) -> String {
    let mut text = String::new();
    for value in cell.values() {
        if !text.is_empty() {
            text.push(',');
        }
        // Writing to a string does not fail.
        let _ = match value {
            Value::Number(number) => write!(text, "{number}"),
            Value::Real(number) => write!(text, "{number}"),
            Value::Text(word) => write!(text, "{word}"),
            Value::Flag(flag) => write!(text, "{flag}"),
            Value::Bytes(bytes) => write!(text, "{}", Colons(bytes)),
        };
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

struct Colons<'a>(&'a [u8]);

impl std::fmt::Display for Colons<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        super::expr::colons(f, self.0)
    }
}
