//! Evaluation of an expression on a row, without allocation.

use std::cmp::Ordering;

use super::cells::{FieldCell, RowCells};
use super::expr::{
    BytePart, CompareOp, FieldCheck, FieldTest, FilterExpr, FilterLiteral, LiteralChoice,
};
use super::row_visitor::FieldValue;
use crate::name_match::matches;
use crate::row::RowField;

/// True if the row matches the expression; `period_ps` is the character period of its channel.
pub(super) fn holds(expr: &FilterExpr, cells: &RowCells, period_ps: u64) -> bool {
    match expr {
        FilterExpr::Any(parts) => parts.iter().any(|part| holds(part, cells, period_ps)),
        FilterExpr::All(parts) => parts.iter().all(|part| holds(part, cells, period_ps)),
        FilterExpr::Not(part) => !holds(part, cells, period_ps),
        FilterExpr::Test(test) => {
            cells.cell(test.cell).is_some_and(|cell| passes(test, cell, period_ps))
        }
    }
}

/// True if the cell passes the test. A missing value passes no test.
fn passes(test: &FieldTest, cell: &FieldCell, period_ps: u64) -> bool {
    let values = || cell.values().filter_map(|value| part_of(value, test.part));
    let compare = |value, literal: &FilterLiteral| {
        if let FilterLiteral::Rank(_, rank) = literal {
            return rank_of(value, test.field).map(|found| found.cmp(rank));
        }
        compare(value, literal, period_ps)
    };
    match &test.check {
        FieldCheck::Present => values().any(is_something),
        FieldCheck::Holds => values().any(|value| value == FieldValue::Flag(true)),
        // `!=` requires that none of several values is equal.
        FieldCheck::Compare(CompareOp::Unequal, literal) => {
            let mut differs = false;
            for value in values() {
                match compare(value, literal) {
                    Some(Ordering::Equal) => return false,
                    Some(Ordering::Less | Ordering::Greater) => differs = true,
                    None => {}
                }
            }
            differs
        }
        FieldCheck::Compare(op, literal) => {
            values().any(|value| compare(value, literal).is_some_and(|found| op.takes(found)))
        }
        FieldCheck::In(choices) => values().any(|value| {
            choices.iter().any(|choice| match choice {
                LiteralChoice::One(literal) => compare(value, literal) == Some(Ordering::Equal),
                LiteralChoice::Range(from, to) => {
                    compare(value, from).is_some_and(Ordering::is_ge)
                        && compare(value, to).is_some_and(Ordering::is_lt)
                }
            })
        }),
        FieldCheck::Contains(literal) => values().any(|value| contains(value, literal)),
        FieldCheck::Like(pattern) => values().any(|value| match value {
            FieldValue::Text(text) => matches(pattern.as_bytes(), text.as_bytes()),
            FieldValue::Number(_)
            | FieldValue::Real(_)
            | FieldValue::Bytes(_)
            | FieldValue::Flag(_) => false,
        }),
    }
}

/// True unless the value is empty text or has no bytes.
fn is_something(value: FieldValue<'_>) -> bool {
    match value {
        FieldValue::Text(text) => !text.is_empty(),
        FieldValue::Bytes(bytes) => !bytes.is_empty(),
        FieldValue::Number(_) | FieldValue::Real(_) | FieldValue::Flag(_) => true,
    }
}

/// Selected bytes of a value, if it has all of them.
fn part_of(value: FieldValue<'_>, part: Option<BytePart>) -> Option<FieldValue<'_>> {
    let Some(BytePart { from, count }) = part else { return Some(value) };
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
    bytes.get(from..to).map(FieldValue::Bytes)
}

/// Compares a value with a literal; none if their types differ.
fn compare(value: FieldValue<'_>, literal: &FilterLiteral, period_ps: u64) -> Option<Ordering> {
    match (value, literal) {
        (
            FieldValue::Number(number),
            FilterLiteral::Number(other)
            | FilterLiteral::Characters(other)
            | FilterLiteral::Time(other),
        ) => Some(number.cmp(other)),
        // Every time literal is below the value at which this saturates.
        (FieldValue::Number(place), FilterLiteral::Moment(time)) => {
            Some(place.saturating_mul(i128::from(period_ps)).cmp(time))
        }
        (FieldValue::Real(number), FilterLiteral::Real(other)) => number.partial_cmp(other),
        (FieldValue::Text(text), FilterLiteral::Text(other)) => Some(text.cmp(other.as_str())),
        (FieldValue::Text(text), FilterLiteral::Word(other)) => Some(text.cmp(other)),
        (FieldValue::Bytes(bytes), FilterLiteral::Bytes(other)) => {
            Some(bytes.cmp(other.as_slice()))
        }
        (FieldValue::Flag(flag), FilterLiteral::Flag(other)) => Some(flag.cmp(other)),
        _ => None,
    }
}

/// Number of the field's words below the value.
fn rank_of(value: FieldValue<'_>, field: &RowField) -> Option<usize> {
    match value {
        FieldValue::Text(text) => field.words().iter().position(|word| *word == text),
        FieldValue::Number(_)
        | FieldValue::Real(_)
        | FieldValue::Bytes(_)
        | FieldValue::Flag(_) => None,
    }
}

fn contains(value: FieldValue<'_>, literal: &FilterLiteral) -> bool {
    match (value, literal) {
        (FieldValue::Text(text), FilterLiteral::Text(other)) => text.contains(other.as_str()),
        (FieldValue::Bytes(bytes), FilterLiteral::Bytes(other)) => {
            bytes.windows(other.len().max(1)).any(|window| window == other.as_slice())
        }
        _ => false,
    }
}
