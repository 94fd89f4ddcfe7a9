//! Evaluation of an expression on a row.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::cells::{FieldCell, FieldValue, RowCells};
use super::expr::{
    BytePart, CompareOp, FieldCheck, FieldTest, FilterExpr, FilterLiteral, LiteralChoice,
};
use super::place_time;
use codec::time::CharacterPeriod;

/// True if the row matches the expression; `period` is the character period of its channel.
pub(super) fn holds(expr: &FilterExpr, cells: &RowCells, period: CharacterPeriod) -> bool {
    match expr {
        FilterExpr::Any(parts) => parts.iter().any(|part| holds(part, cells, period)),
        FilterExpr::All(parts) => parts.iter().all(|part| holds(part, cells, period)),
        FilterExpr::Not(part) => !holds(part, cells, period),
        FilterExpr::Test(test) => {
            cells.cell(test.cell).is_some_and(|cell| passes(test, cell, period))
        }
    }
}

/// True if the cell passes the test. A missing value passes no test.
fn passes(test: &FieldTest, cell: &FieldCell, period: CharacterPeriod) -> bool {
    let mut values = cell.values.iter().filter_map(|value| part_of(value, test.part));
    let compare = |value: &FieldValue, literal: &FilterLiteral| {
        if let (FilterLiteral::Rank(_, rank), FieldValue::Text(text)) = (literal, value) {
            let found = test.field.words().iter().position(|word| word == text);
            return found.map(|found| found.cmp(rank));
        }
        compare(value, literal, period)
    };
    match &test.check {
        FieldCheck::Present => values.any(|value| value.is_present()),
        FieldCheck::Holds => values.any(|value| *value == FieldValue::Flag(true)),
        // `!=` requires that none of several values is equal.
        FieldCheck::Compare(CompareOp::Unequal, literal) => {
            let orders: Vec<Ordering> =
                values.filter_map(|value| compare(&value, literal)).collect();
            !orders.is_empty() && orders.into_iter().all(Ordering::is_ne)
        }
        FieldCheck::Compare(op, literal) => {
            values.any(|value| compare(&value, literal).is_some_and(|found| op.takes(found)))
        }
        FieldCheck::In(choices) => values.any(|value| {
            choices.iter().any(|choice| match choice {
                LiteralChoice::One(literal) => compare(&value, literal) == Some(Ordering::Equal),
                LiteralChoice::Range(from, to) => {
                    compare(&value, from).is_some_and(Ordering::is_ge)
                        && compare(&value, to).is_some_and(Ordering::is_lt)
                }
            })
        }),
        FieldCheck::Contains(literal) => values.any(|value| contains(&value, literal)),
        FieldCheck::Like(pattern) => {
            values.any(|it| matches!(&*it, FieldValue::Text(text) if pattern.matches(text)))
        }
    }
}

/// Selected bytes of a value, if it has all of them.
fn part_of(value: &FieldValue, part: Option<BytePart>) -> Option<Cow<'_, FieldValue>> {
    let Some(BytePart { from, count }) = part else { return Some(Cow::Borrowed(value)) };
    let FieldValue::Bytes(bytes) = value else { return None };
    let from = if from < 0 {
        bytes.len().checked_sub(usize::try_from(from.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(from).ok()?
    };
    let to = match count {
        Some(count) => from.checked_add(usize::try_from(count).ok()?)?,
        None => bytes.len(),
    };
    let part = FieldValue::Bytes(bytes.get(from..to)?.to_vec());
    part.is_present().then_some(Cow::Owned(part))
}

/// Compares a value with a literal; none if their types differ.
fn compare(
    value: &FieldValue,
    literal: &FilterLiteral,
    period: CharacterPeriod,
) -> Option<Ordering> {
    match (value, literal) {
        (
            FieldValue::Number(number) | FieldValue::Length(number),
            FilterLiteral::Number(other)
            | FilterLiteral::Characters(other)
            | FilterLiteral::Time(other),
        ) => Some(number.cmp(other)),
        // Every time literal is below the value at which this saturates.
        (FieldValue::Number(place), FilterLiteral::Moment(time)) => {
            Some(place_time(*place, period).cmp(time))
        }
        (FieldValue::Real(number), FilterLiteral::Real(other)) => number.partial_cmp(other),
        (FieldValue::Text(text), FilterLiteral::Text(other)) => Some(text.cmp(other)),
        (FieldValue::Text(text), FilterLiteral::Word(other)) => Some(text.as_str().cmp(other)),
        (FieldValue::Bytes(bytes), FilterLiteral::Bytes(other)) => Some(bytes.cmp(other)),
        (FieldValue::Flag(flag), FilterLiteral::Flag(other)) => Some(flag.cmp(other)),
        _ => None,
    }
}

fn contains(value: &FieldValue, literal: &FilterLiteral) -> bool {
    match (value, literal) {
        (FieldValue::Text(text), FilterLiteral::Text(other)) => text.contains(other.as_str()),
        (FieldValue::Bytes(bytes), FilterLiteral::Bytes(other)) => {
            bytes.windows(other.len().max(1)).any(|window| window == other.as_slice())
        }
        _ => false,
    }
}
