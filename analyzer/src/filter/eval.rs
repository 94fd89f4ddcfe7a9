//! Whether a row is as an expression asks. Nothing is allocated.

use std::cmp::Ordering;

use super::cells::{Cell, Cells};
use super::expr::{Check, Choice, Expr, Literal, Op, Part, Test};
use super::field::Field;
use super::members::Value;

/// Whether it is; `period_ps` is the character period of the row's channel.
pub(super) fn holds(expr: &Expr, cells: &Cells, period_ps: u64) -> bool {
    match expr {
        Expr::Any(parts) => parts.iter().any(|part| holds(part, cells, period_ps)),
        Expr::All(parts) => parts.iter().all(|part| holds(part, cells, period_ps)),
        Expr::Not(part) => !holds(part, cells, period_ps),
        Expr::Test(test) => cells.cell(test.cell).is_some_and(|cell| passes(test, cell, period_ps)),
    }
}

/// What a row does not have passes no test.
fn passes(test: &Test, cell: &Cell, period_ps: u64) -> bool {
    let values = || cell.values().filter_map(|value| part_of(value, test.part));
    let compare = |value, literal: &Literal| {
        if let Literal::Rank(_, rank) = literal {
            return rank_of(value, test.field).map(|found| found.cmp(rank));
        }
        compare(value, literal, period_ps)
    };
    match &test.check {
        Check::Present => values().any(is_something),
        Check::Holds => values().any(|value| value == Value::Flag(true)),
        // Of several values, none may be equal.
        Check::Compare(Op::Unequal, literal) => {
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
        Check::Compare(op, literal) => {
            values().any(|value| compare(value, literal).is_some_and(|found| op.takes(found)))
        }
        Check::In(choices) => values().any(|value| {
            choices.iter().any(|choice| match choice {
                Choice::One(literal) => compare(value, literal) == Some(Ordering::Equal),
                Choice::Range(from, to) => {
                    compare(value, from).is_some_and(Ordering::is_ge)
                        && compare(value, to).is_some_and(Ordering::is_lt)
                }
            })
        }),
        Check::Contains(literal) => values().any(|value| contains(value, literal)),
        Check::Like(pattern) => values().any(|value| match value {
            Value::Text(text) => matches(pattern.as_bytes(), text.as_bytes()),
            Value::Number(_) | Value::Real(_) | Value::Bytes(_) | Value::Flag(_) => false,
        }),
    }
}

/// Empty text, bytes and lists are nothing.
fn is_something(value: Value<'_>) -> bool {
    match value {
        Value::Text(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::Number(_) | Value::Real(_) | Value::Flag(_) => true,
    }
}

/// Some of a value's bytes, if it has all of them.
fn part_of(value: Value<'_>, part: Option<Part>) -> Option<Value<'_>> {
    let Some(Part { from, count }) = part else { return Some(value) };
    let Value::Bytes(bytes) = value else { return None };
    let from = if from < 0 {
        bytes.len().checked_sub(usize::try_from(from.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(from).ok()?
    };
    let to = match count {
        Some(count) => from.checked_add(usize::try_from(count).ok()?)?,
        None => bytes.len(),
    };
    bytes.get(from..to).map(Value::Bytes)
}

/// How a value compares with what was written; nothing, if they are not of a kind.
fn compare(value: Value<'_>, literal: &Literal, period_ps: u64) -> Option<Ordering> {
    match (value, literal) {
        (
            Value::Number(number),
            Literal::Number(other) | Literal::Characters(other) | Literal::Time(other),
        ) => Some(number.cmp(other)),
        // Every time that can be written is below what this stops at.
        (Value::Number(place), Literal::Moment(time)) => {
            Some(place.saturating_mul(i128::from(period_ps)).cmp(time))
        }
        (Value::Real(number), Literal::Real(other)) => number.partial_cmp(other),
        (Value::Text(text), Literal::Text(other)) => Some(text.cmp(other.as_str())),
        (Value::Text(text), Literal::Word(other)) => Some(text.cmp(other)),
        (Value::Bytes(bytes), Literal::Bytes(other)) => Some(bytes.cmp(other.as_slice())),
        (Value::Flag(flag), Literal::Flag(other)) => Some(flag.cmp(other)),
        _ => None,
    }
}

/// How many of the field's words stand below this.
fn rank_of(value: Value<'_>, field: &Field) -> Option<usize> {
    match value {
        Value::Text(text) => field.words().iter().position(|word| *word == text),
        Value::Number(_) | Value::Real(_) | Value::Bytes(_) | Value::Flag(_) => None,
    }
}

fn contains(value: Value<'_>, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Text(text), Literal::Text(other)) => text.contains(other.as_str()),
        (Value::Bytes(bytes), Literal::Bytes(other)) => {
            bytes.windows(other.len().max(1)).any(|window| window == other.as_slice())
        }
        _ => false,
    }
}

/// Whether all of a text is as a pattern: `*` stands for any letters, `?` for any one.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // Where the last `*` stands, and how far what it stands for reaches.
    let mut star: Option<(usize, usize)> = None;
    while let Some(letter) = text.get(read) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(expected) if *expected == b'?' || expected == letter => {
                at += 1;
                read += 1;
            }
            Some(_) | None => {
                let Some((place, reach)) = &mut star else { return false };
                *reach += 1;
                (at, read) = (*place + 1, *reach);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|rest| *rest == b'*')
}
