//! Order of rows by the values of their fields.

use std::cmp::Reverse;
use std::ops::Range;

use super::cells::{FieldValue, RowCells};
use super::columns::{ColumnList, named_fields};
use super::error::{FilterError, FilterFault};
use super::place_time;
use super::row_kind::RowKind;
use crate::row::{FieldShape, ListRow, RowField};
use codec::time::CharacterPeriod;

/// Fields by which rows are sorted, and the direction of each.
#[derive(Clone, Debug)]
pub struct SortOrder {
    cells: RowCells,
    directions: Vec<SortDirection>,
}

/// Direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortDirection {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

/// Place of a row in the order. Rows without a value come last in either direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortKey(Vec<SortValue>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SortValue {
    Ascending(Vec<KeyValue>),
    Descending(Reverse<Vec<KeyValue>>),
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyValue {
    /// A number, the rank of a word, a flag, or the bits of a real number in its order.
    Number(i128),
    Text(String),
    Bytes(Vec<u8>),
}

impl SortOrder {
    /// Parses `FIELD`, `FIELD:asc` or `FIELD:desc`, several separated by commas; `usual` is the
    /// direction where none is given.
    ///
    /// # Errors
    /// Returns the invalid name or direction and a suggestion.
    pub fn parse(list: &str, kind: RowKind, usual: SortDirection) -> Result<Self, FilterError> {
        let mut directions = Vec::new();
        let mut suffix = |rest: Option<&str>, at: Range<usize>| {
            directions.push(match rest {
                None => usual,
                Some("asc") => SortDirection::Ascending,
                Some("desc") => SortDirection::Descending,
                Some(_) => {
                    return Err(FilterFault::new(at, "no such order", "expected `asc` or `desc`"));
                }
            });
            Ok(())
        };
        let fields = named_fields(list, kind, &mut suffix)
            .map_err(|fault| FilterError::new("--sort", list, fault))?;
        Ok(Self { cells: RowCells::of(fields), directions })
    }

    /// Ascending order by all fields of a list.
    pub fn of(columns: &ColumnList) -> Self {
        let cells = RowCells::of(columns.fields());
        let directions = vec![SortDirection::Ascending; cells.iter().count()];
        Self { cells, directions }
    }

    /// True if rows are sorted by the field.
    pub fn uses_field(&self, name: &str) -> bool {
        self.cells.have(name)
    }

    /// Key of a row; `period` is the character period of its channel, so that positions on
    /// different channels are sorted by time.
    pub fn key(&mut self, row: &dyn ListRow, period: CharacterPeriod) -> SortKey {
        self.cells.take(row);
        let values = self.cells.iter().zip(&self.directions).map(|(cell, direction)| {
            let values: Vec<KeyValue> =
                cell.values.iter().map(|value| key_value(cell.field, value, period)).collect();
            match direction {
                _ if values.is_empty() => SortValue::Missing,
                SortDirection::Ascending => SortValue::Ascending(values),
                SortDirection::Descending => SortValue::Descending(Reverse(values)),
            }
        });
        SortKey(values.collect())
    }
}

impl SortKey {
    /// Memory that the key takes, roughly.
    pub fn size(&self) -> usize {
        let size = |value: &KeyValue| match value {
            KeyValue::Number(_) => 32,
            KeyValue::Text(text) => 32 + text.len(),
            KeyValue::Bytes(bytes) => 32 + bytes.len(),
        };
        let sizes = self.0.iter().map(|value| match value {
            SortValue::Ascending(values) | SortValue::Descending(Reverse(values)) => {
                32 + values.iter().map(size).sum::<usize>()
            }
            SortValue::Missing => 32,
        });
        32 + sizes.sum::<usize>()
    }
}

fn key_value(field: &RowField, value: &FieldValue, period: CharacterPeriod) -> KeyValue {
    let rank = |text: &str| field.words().iter().position(|word| *word == text);
    match (field.shape, value) {
        (FieldShape::Place, FieldValue::Number(at)) => KeyValue::Number(place_time(*at, period)),
        (_, FieldValue::Number(number) | FieldValue::Length(number)) => KeyValue::Number(*number),
        (_, FieldValue::Flag(flag)) => KeyValue::Number((*flag).into()),
        (_, FieldValue::Real(number)) => {
            // The order of `f64::total_cmp`.
            let bits = number.to_bits().cast_signed();
            KeyValue::Number(
                (bits ^ (bits >> 63).cast_unsigned().wrapping_shr(1).cast_signed()).into(),
            )
        }
        (FieldShape::Ranks(_), FieldValue::Text(text)) => rank(text).map_or_else(
            || KeyValue::Text(text.clone()),
            |rank| KeyValue::Number(i128::try_from(rank).unwrap_or(i128::MAX)),
        ),
        (_, FieldValue::Text(text)) => KeyValue::Text(text.clone()),
        (_, FieldValue::Bytes(bytes)) => KeyValue::Bytes(bytes.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_sort_rows_by_each_field_in_its_direction() {
        let rows = [("a", Some(9), 8), ("b", None, 4), ("a", Some(10), 1), ("b", Some(1), 2)];
        for (order, expected) in [
            ("start", [2, 3, 1, 0]),
            ("start:desc", [0, 1, 3, 2]),
            ("tag", [3, 0, 2, 1]),
            ("tag:desc", [2, 0, 3, 1]),
            ("channel:desc,start", [3, 1, 2, 0]),
        ] {
            let mut by =
                SortOrder::parse(order, RowKind::Packets, SortDirection::Ascending).unwrap();
            let mut sorted: Vec<usize> = (0..rows.len()).collect();
            sorted.sort_by_key(|at| {
                let (channel, tag, start) = rows[*at];
                by.key(
                    &json!({ "channel": channel, "tag": tag, "start": start }),
                    CharacterPeriod::FULL_RATE,
                )
            });
            assert_eq!(sorted, expected, "{order}");
        }
    }

    #[test]
    fn an_unknown_field_or_direction_is_refused() {
        for (order, expected) in [
            ("sart", "did you mean `start`?"),
            ("start:up", "expected `asc` or `desc`"),
            ("start,start", "`start` is listed twice"),
            ("", "a name is missing"),
        ] {
            let error = SortOrder::parse(order, RowKind::Packets, SortDirection::Ascending);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(expected), "{order}: {error}");
        }
    }

    #[test]
    fn real_numbers_are_in_their_order() {
        let keys = [f64::MIN, -1.5, -0.0, 0.0, 1e-9, 0.5, 2.0, f64::MAX].map(|number| {
            let bits = number.to_bits().cast_signed();
            bits ^ (bits >> 63).cast_unsigned().wrapping_shr(1).cast_signed()
        });
        assert!(keys.is_sorted(), "{keys:?}");
    }
}
