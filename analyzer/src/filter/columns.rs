//! Selection of the fields that are printed, and of those by which rows are sorted.

use std::fmt::Write as _;
use std::ops::Range;

use super::cells::{FieldCell, FieldValue, RowCells};
use super::error::{FilterError, FilterFault};
use super::row_kind::RowKind;
use super::types;
use crate::render::line::{StyledLine, TextStyle};
use crate::row::{FieldShape, FieldType as _, ListRow, RowField};

/// Fields of a kind of row, in the order in which they are printed.
#[derive(Clone, Debug)]
pub struct ColumnList(RowCells);

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
        Ok(Self(RowCells::of(fields)))
    }

    /// All fields of a kind that are no objects with fields of their own.
    #[must_use]
    pub fn leaves(kind: RowKind) -> Self {
        Self(RowCells::of(kind.fields().iter().filter(|field| field.members.is_empty())))
    }

    /// Fields of a line of the kind, where a command has no text of its own for it.
    #[must_use]
    pub fn usual(kind: RowKind) -> Self {
        Self(RowCells::of(kind.usual().iter().filter_map(|name| kind.field(name))))
    }

    /// The same fields, and the number of rows of a group.
    #[must_use]
    pub fn with_count(&self) -> Self {
        static COUNT: RowField =
            RowField::new("count", u64::SHAPE, "rows", "", "rows of the group");
        Self(RowCells::of(self.fields().chain([&COUNT])))
    }

    /// True if the list contains the field.
    #[must_use]
    pub fn have(&self, name: &str) -> bool {
        self.0.have(name)
    }

    /// Names of the fields, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|cell| cell.field.name)
    }

    /// The fields, in order.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'static RowField> {
        self.0.iter().map(|cell| cell.field)
    }

    /// Heading above the rows.
    #[must_use]
    pub fn head(&self) -> StyledLine {
        let texts = self.0.iter().map(|cell| cell.field.name.to_owned());
        StyledLine::of(TextStyle::Head, aligned(self.0.iter().zip(texts)))
    }

    /// Line of a row.
    #[must_use]
    pub fn line(&mut self, row: &impl ListRow) -> StyledLine {
        self.0.take(row);
        StyledLine::of(TextStyle::Plain, aligned(self.0.iter().map(|cell| (cell, written(cell)))))
    }
}

/// Check of the part of a name behind a colon, and of its place in the list.
type SuffixCheck<'c> = dyn FnMut(Option<&str>, Range<usize>) -> Result<(), FilterFault> + 'c;

fn no_suffix(rest: Option<&str>, at: Range<usize>) -> Result<(), FilterFault> {
    match rest {
        Some(_) => Err(FilterFault::new(at, "`:` behind a name", "expected a comma or the end")),
        None => Ok(()),
    }
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

/// Texts aligned in columns.
fn aligned<'c>(cells: impl Iterator<Item = (&'c FieldCell, String)>) -> String {
    let mut line = String::new();
    for (cell, text) in cells {
        let gap = if line.is_empty() { "" } else { "  " };
        let width = width(cell.field);
        // Writing to a string does not fail.
        let _ = match cell.field.shape {
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
    for value in cell.values.iter() {
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
