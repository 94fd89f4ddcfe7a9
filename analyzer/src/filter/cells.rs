//! The fields of a row that somebody looks at: taken out of it once, and held until the next row.

use std::ops::Range;

use serde::Serialize;

use super::field::{Field, Shape};
use super::members::{Value, Visitor, visit};

/// Cells, one a field.
#[derive(Clone, Debug)]
pub(super) struct Cells(Vec<Cell>);

/// All values that a row has of a field. Its memory is used again for the next row.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    field: &'static Field,
    values: Vec<Kept>,
    /// Text and bytes of the values, one behind the other.
    buffer: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Kept {
    Number(i128),
    Real(f64),
    Text(Range<usize>),
    Bytes(Range<usize>),
    Flag(bool),
}

impl Cells {
    pub(super) fn of(fields: impl IntoIterator<Item = &'static Field>) -> Self {
        let cell = |field| Cell { field, values: Vec::new(), buffer: Vec::new() };
        Self(fields.into_iter().map(cell).collect())
    }

    pub(super) fn take(&mut self, row: &(impl Serialize + ?Sized)) {
        for cell in &mut self.0 {
            cell.values.clear();
            cell.buffer.clear();
        }
        visit(row, &mut Top(&mut self.0));
    }

    pub(super) fn cell(&self, at: usize) -> Option<&Cell> {
        self.0.get(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.0.iter()
    }

    /// Whether the cells look at a field.
    pub(super) fn have(&self, name: &str) -> bool {
        self.0.iter().any(|cell| cell.field.name == name)
    }
}

impl Cell {
    pub(super) const fn field(&self) -> &'static Field {
        self.field
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        let bytes = |at: &Range<usize>| self.buffer.get(at.clone()).unwrap_or_default();
        self.values.iter().map(move |kept| match kept {
            Kept::Number(number) => Value::Number(*number),
            Kept::Real(number) => Value::Real(*number),
            Kept::Flag(flag) => Value::Flag(*flag),
            Kept::Bytes(at) => Value::Bytes(bytes(at)),
            Kept::Text(at) => Value::Text(std::str::from_utf8(bytes(at)).unwrap_or_default()),
        })
    }

    fn keep(&mut self, value: Value<'_>) {
        let start = self.buffer.len();
        let kept = match value {
            Value::Number(number) => Kept::Number(number),
            Value::Real(number) => Kept::Real(number),
            Value::Flag(flag) => Kept::Flag(flag),
            Value::Text(text) => {
                self.buffer.extend_from_slice(text.as_bytes());
                Kept::Text(start..self.buffer.len())
            }
            Value::Bytes(bytes) => {
                self.buffer.extend_from_slice(bytes);
                Kept::Bytes(start..self.buffer.len())
            }
        };
        self.values.push(kept);
    }
}

/// The members of a row go to the cells that begin with their names.
struct Top<'c>(&'c mut [Cell]);

impl Visitor for Top<'_> {
    fn value(&mut self, _: Value<'_>) {}

    fn begin(&mut self) {}

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        for cell in self.0.iter_mut() {
            if let Some(rest) = behind(cell.field.name, name) {
                Inner { cell, rest }.take(value);
            }
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, _: &T) {}
}

/// What is left of a path behind its first name, if that is this.
fn behind(path: &'static str, name: &str) -> Option<&'static str> {
    let rest = path.strip_prefix(name)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// On the way to a cell's values.
struct Inner<'c> {
    cell: &'c mut Cell,
    rest: &'static str,
}

impl Inner<'_> {
    fn take(&mut self, value: &(impl Serialize + ?Sized)) {
        if self.cell.field.shape != Shape::List || !self.rest.is_empty() {
            return visit(value, self);
        }
        let mut count = Count(None);
        visit(value, &mut count);
        if let Some(count) = count.0 {
            self.cell.keep(Value::Number(count));
        }
    }
}

impl Visitor for Inner<'_> {
    fn value(&mut self, value: Value<'_>) {
        let Cell { field, values, buffer } = &mut *self.cell;
        match (field.shape, value, values.last_mut()) {
            _ if !self.rest.is_empty() => {}
            // A list of bytes says them one by one.
            (Shape::Bytes, Value::Number(byte), Some(Kept::Bytes(all))) => {
                buffer.extend(u8::try_from(byte));
                all.end = buffer.len();
            }
            _ => self.cell.keep(value),
        }
    }

    fn begin(&mut self) {
        if self.rest.is_empty() && self.cell.field.shape == Shape::Bytes {
            self.cell.keep(Value::Bytes(&[]));
        }
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if let Some(rest) = behind(self.rest, name) {
            Inner { cell: &mut *self.cell, rest }.take(value);
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.take(value);
    }
}

/// How many elements or members a list or an object has.
struct Count(Option<i128>);

impl Visitor for Count {
    fn value(&mut self, _: Value<'_>) {}

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
