//! Values of the fields that a filter, an order or a list of columns reads, extracted once per row.
//!
//! One rule decides what a row has, for all of them: a field that is absent, null or empty has no value. Only the length
//! of an empty list, 0, can be compared.

use serde_json::Value;

use crate::row::{FieldShape, ListRow, RowField, first_member, split_path};

#[derive(Clone, Debug)]
pub(super) struct RowCells(Vec<FieldCell>);

#[derive(Clone, Debug)]
pub(super) struct FieldCell {
    pub(super) field: &'static RowField,
    pub(super) values: Vec<FieldValue>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldValue {
    Number(i128),
    /// Length of a list that stands for it.
    Length(i128),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    Flag(bool),
}

impl FieldValue {
    /// False for what is empty.
    pub(super) const fn is_present(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::Bytes(bytes) => !bytes.is_empty(),
            Self::Length(length) => *length > 0,
            Self::Number(_) | Self::Real(_) | Self::Flag(_) => true,
        }
    }
}

impl RowCells {
    pub(super) fn of(fields: impl IntoIterator<Item = &'static RowField>) -> Self {
        Self(fields.into_iter().map(|field| FieldCell { field, values: Vec::new() }).collect())
    }

    pub(super) fn take(&mut self, row: &dyn ListRow) {
        for cell in &mut self.0 {
            cell.values.clear();
            if let Some((member, rest)) = first_member(row, cell.field.name) {
                cell.take(member, rest);
            }
        }
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
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
    /// Adds the values at a path of a part of the row.
    fn take(&mut self, part: Value, path: &str) {
        let is_whole = path.is_empty();
        let value = match (self.field.shape, part) {
            (FieldShape::List, Value::Array(list)) if is_whole => length(list.len()),
            (FieldShape::List, Value::Object(members)) if is_whole => length(members.len()),
            (FieldShape::Bytes, Value::Array(bytes)) if is_whole => {
                let byte = |byte: &Value| u8::try_from(byte.as_u64()?).ok();
                FieldValue::Bytes(bytes.iter().filter_map(byte).collect())
            }
            (_, Value::Array(list)) => {
                return list.into_iter().for_each(|element| self.take(element, path));
            }
            (_, Value::Object(mut members)) => {
                let (name, rest) = split_path(path);
                return members.remove(name).into_iter().for_each(|part| self.take(part, rest));
            }
            (_, Value::Null) => return,
            _ if !is_whole => return,
            (FieldShape::Bytes, Value::String(digits)) => FieldValue::Bytes(from_hex(&digits)),
            (_, Value::String(text)) => FieldValue::Text(text),
            (_, Value::Bool(flag)) => FieldValue::Flag(flag),
            (_, Value::Number(number)) => match number.as_i128() {
                Some(whole) => FieldValue::Number(whole),
                None => FieldValue::Real(number.as_f64().unwrap_or(f64::MAX)),
            },
        };
        if value.is_present() || matches!(value, FieldValue::Length(_)) {
            self.values.push(value);
        }
    }
}

fn length(len: usize) -> FieldValue {
    FieldValue::Length(i128::try_from(len).unwrap_or(i128::MAX))
}

fn from_hex(digits: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).filter_map(pair).collect()
}
