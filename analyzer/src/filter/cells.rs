//! Values of the fields that a filter or a list of columns reads, extracted once per row.

use std::ops::Range;

use serde::Serialize;

use super::row_visitor::{FieldValue, RowVisitor, visit};
use crate::row::{FieldShape, RowField};

/// One cell per field.
#[derive(Clone, Debug)]
pub(super) struct RowCells(Vec<FieldCell>);

/// All values of a field in a row. Its memory is reused for the next row.
#[derive(Clone, Debug)]
pub(super) struct FieldCell {
    field: &'static RowField,
    values: Vec<CellValue>,
    /// Text and bytes of all values, concatenated.
    buffer: Vec<u8>,
}

#[derive(Clone, Debug)]
enum CellValue {
    Number(i128),
    Real(f64),
    Text(Range<usize>),
    Bytes(Range<usize>),
    Flag(bool),
}

impl RowCells {
    pub(super) fn of(fields: impl IntoIterator<Item = &'static RowField>) -> Self {
        let cell = |field| FieldCell { field, values: Vec::new(), buffer: Vec::new() };
        Self(fields.into_iter().map(cell).collect())
    }

    pub(super) fn take(&mut self, row: &(impl Serialize + ?Sized)) {
        for cell in &mut self.0 {
            cell.values.clear();
            cell.buffer.clear();
        }
        visit(row, &mut RowMembers(&mut self.0));
    }

    pub(super) fn cell(&self, at: usize) -> Option<&FieldCell> {
        self.0.get(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &FieldCell> {
        self.0.iter()
    }

    /// True if there is a cell for the field.
    pub(super) fn have(&self, name: &str) -> bool {
        self.0.iter().any(|cell| cell.field.name == name)
    }
}

impl FieldCell {
    pub(super) const fn field(&self) -> &'static RowField {
        self.field
    }

    pub(super) fn values(&self) -> impl Iterator<Item = FieldValue<'_>> {
        let bytes = |at: &Range<usize>| self.buffer.get(at.clone()).unwrap_or_default();
        self.values.iter().map(move |kept| match kept {
            CellValue::Number(number) => FieldValue::Number(*number),
            CellValue::Real(number) => FieldValue::Real(*number),
            CellValue::Flag(flag) => FieldValue::Flag(*flag),
            CellValue::Bytes(at) => FieldValue::Bytes(bytes(at)),
            CellValue::Text(at) => {
                FieldValue::Text(std::str::from_utf8(bytes(at)).unwrap_or_default())
            }
        })
    }

    fn keep(&mut self, value: FieldValue<'_>) {
        let start = self.buffer.len();
        let kept = match value {
            FieldValue::Number(number) => CellValue::Number(number),
            FieldValue::Real(number) => CellValue::Real(number),
            FieldValue::Flag(flag) => CellValue::Flag(flag),
            FieldValue::Text(text) => {
                self.buffer.extend_from_slice(text.as_bytes());
                CellValue::Text(start..self.buffer.len())
            }
            FieldValue::Bytes(bytes) => {
                self.buffer.extend_from_slice(bytes);
                CellValue::Bytes(start..self.buffer.len())
            }
        };
        self.values.push(kept);
    }
}

/// Visitor that passes each member of a row to the cells whose paths begin with its name.
struct RowMembers<'c>(&'c mut [FieldCell]);

impl RowVisitor for RowMembers<'_> {
    fn value(&mut self, _: FieldValue<'_>) {}

    fn begin(&mut self) {}

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        for cell in self.0.iter_mut() {
            if let Some(rest) = behind(cell.field.name, name) {
                CellMembers { cell, rest }.take(value);
            }
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, _: &T) {}
}

/// Rest of a path after `name`, if the path begins with it.
fn behind(path: &'static str, name: &str) -> Option<&'static str> {
    let rest = path.strip_prefix(name)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// Visitor of a part of a row, for the cell whose values it may contain.
struct CellMembers<'c> {
    cell: &'c mut FieldCell,
    rest: &'static str,
}

impl CellMembers<'_> {
    fn take(&mut self, value: &(impl Serialize + ?Sized)) {
        if self.cell.field.shape != FieldShape::List || !self.rest.is_empty() {
            return visit(value, self);
        }
        let mut count = ElementCount(None);
        visit(value, &mut count);
        if let Some(count) = count.0 {
            self.cell.keep(FieldValue::Number(count));
        }
    }
}

impl RowVisitor for CellMembers<'_> {
    fn value(&mut self, value: FieldValue<'_>) {
        let FieldCell { field, values, buffer } = &mut *self.cell;
        match (field.shape, value, values.last_mut()) {
            _ if !self.rest.is_empty() => {}
            // A list of bytes is visited byte by byte.
            (FieldShape::Bytes, FieldValue::Number(byte), Some(CellValue::Bytes(all))) => {
                buffer.extend(u8::try_from(byte));
                all.end = buffer.len();
            }
            _ => self.cell.keep(value),
        }
    }

    fn begin(&mut self) {
        if self.rest.is_empty() && self.cell.field.shape == FieldShape::Bytes {
            self.cell.keep(FieldValue::Bytes(&[]));
        }
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if let Some(rest) = behind(self.rest, name) {
            CellMembers { cell: &mut *self.cell, rest }.take(value);
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.take(value);
    }
}

/// Counter of the elements of a list or the members of an object.
struct ElementCount(Option<i128>);

impl RowVisitor for ElementCount {
    fn value(&mut self, _: FieldValue<'_>) {}

    fn begin(&mut self) {
        self.0 = Some(0);
    }

    fn member<T: Serialize + ?Sized>(&mut self, _: &str, _: &T) {
        self.0 = self.0.map(|count| count + 1);
    }

    fn element<T: Serialize + ?Sized>(&mut self, _: &T) {
        self.0 = self.0.map(|count| count + 1);
    }
}
