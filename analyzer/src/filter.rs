//! Selection of rows by expressions over their fields, similar to Wireshark's display filters.
//! `docs/filter.md` describes the language.
//!
//! ```
//! use myriscope_analyzer::filter::{Filter, RowKind};
//! use serde_json::json;
//!
//! let mut filter = Filter::parse("tag == 5 && crc.bad && start >= 10us", RowKind::Packets)?;
//! let period = codec::time::CharacterPeriod::FULL_RATE;
//! assert!(filter.keeps(&json!({ "tag": 5, "crc": "bad", "start": 800 }), period));
//! assert!(!filter.keeps(&json!({ "tag": 5, "crc": "bad", "start": 799 }), period));
//!
//! let error = Filter::parse("tga == 5", RowKind::Packets).unwrap_err();
//! assert!(error.to_string().contains("did you mean `tag`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod columns;
mod error;
mod eval;
mod expr;
mod field_list;
mod lex;
mod parse;
mod row_kind;
mod sort;
mod types;

use std::fmt::{self, Display};

use self::cells::RowCells;
use self::expr::FilterExpr;

pub use self::columns::ColumnList;
pub use self::error::{FilterError, FilterErrorStyle};
pub use self::field_list::list_fields;
pub use self::parse::{DEPTH_MAX, TEXT_MAX};
pub use self::row_kind::{RowKind, RowText};
pub use self::sort::{SortDirection, SortKey, SortOrder};
use crate::row::ListRow;
pub use crate::row::{FieldShape, RowField};
use codec::time::CharacterPeriod;

/// Parsed and checked expression over one kind of row.
#[derive(Clone, Debug)]
pub struct Filter {
    expr: FilterExpr,
    cells: RowCells,
}

impl Filter {
    /// Parses an expression.
    ///
    /// # Errors
    /// Returns the position of the fault, the expected form, and a suggestion.
    pub fn parse(text: &str, kind: RowKind) -> Result<Self, FilterError> {
        let (expr, fields) =
            parse::parse(text, kind).map_err(|fault| FilterError::new("--filter", text, fault))?;
        Ok(Self { expr, cells: RowCells::of(fields) })
    }

    /// True if the row matches the expression; `period` is the character period of its channel,
    /// in picoseconds, which converts character indices to times.
    pub fn keeps(&mut self, row: &dyn ListRow, period: CharacterPeriod) -> bool {
        self.cells.take(row);
        eval::holds(&self.expr, &self.cells, period)
    }

    /// True if the expression reads the field.
    pub fn uses_field(&self, name: &str) -> bool {
        self.cells.have(name)
    }
}

impl Display for Filter {
    /// Formats the expression; parsing the result returns an equal filter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}

impl PartialEq for Filter {
    /// True if the expressions are equal.
    fn eq(&self, other: &Self) -> bool {
        self.expr == other.expr
    }
}

/// Time of a place on a channel; beyond all places, the last time.
fn place_time(place: i128, period: CharacterPeriod) -> i128 {
    let time = u64::try_from(place).ok().map(|place| period.time(place));
    time.and_then(|time| i128::try_from(time).ok()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::expr::{BytePart, CompareOp, FieldCheck, FieldTest, FilterLiteral, LiteralChoice};
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    const NUMBERS: std::ops::Range<u64> = 0..u64::MAX / 2;

    /// Value of a field, and a greater one if the values are ordered.
    fn values(field: &'static RowField) -> BoxedStrategy<(FilterLiteral, FilterLiteral)> {
        let pair = |kind: fn(i128) -> FilterLiteral, most: u64| {
            let numbers = (0..most.min(u64::MAX / 2), 1..=most.div_ceil(2));
            let pair = move |(from, more): (u64, u64)| {
                (
                    kind(from.into()),
                    kind(i128::from(from) + i128::from(more).min(i128::from(most - from))),
                )
            };
            numbers.prop_map(pair).boxed()
        };
        match field.shape {
            FieldShape::Number(most) => pair(FilterLiteral::Number, most),
            FieldShape::Signed => pair(|number| FilterLiteral::Number(number - 5), u64::MAX / 2),
            FieldShape::List => pair(FilterLiteral::Number, u64::MAX),
            FieldShape::Real => NUMBERS
                .prop_map(|number| (f64::from_bits(number), 1))
                .prop_filter("finite", |(number, _)| number.is_finite())
                .prop_map(|(number, _)| {
                    (FilterLiteral::Real(number), FilterLiteral::Real(f64::MAX))
                })
                .boxed(),
            FieldShape::Place => prop_oneof![
                pair(FilterLiteral::Characters, u64::MAX),
                pair(FilterLiteral::Moment, u64::MAX)
            ]
            .boxed(),
            FieldShape::Time => pair(FilterLiteral::Time, u64::MAX),
            FieldShape::Text => ".{0,6}"
                .prop_map(|text: String| {
                    (FilterLiteral::Text(text.clone()), FilterLiteral::Text(text))
                })
                .boxed(),
            FieldShape::Words(words) => select(words)
                .prop_map(|word| (FilterLiteral::Word(word), FilterLiteral::Word(word)))
                .boxed(),
            FieldShape::Ranks(words) => (0..words.len() - 1)
                .prop_map(move |rank| {
                    let last = words.len() - 1;
                    (FilterLiteral::Rank(words[rank], rank), FilterLiteral::Rank(words[last], last))
                })
                .boxed(),
            FieldShape::Bytes => proptest::collection::vec(0..=254_u8, 2)
                .prop_map(|bytes| {
                    (FilterLiteral::Bytes(bytes), FilterLiteral::Bytes(vec![255, 255]))
                })
                .boxed(),
            FieldShape::Flag => any::<bool>()
                .prop_map(|set| (FilterLiteral::Flag(set), FilterLiteral::Flag(!set)))
                .boxed(),
        }
    }

    fn checks(field: &'static RowField) -> BoxedStrategy<FieldCheck> {
        let order =
            !matches!(field.shape, FieldShape::Text | FieldShape::Words(_) | FieldShape::Flag);
        let ops = if order { &CompareOp::ALL[..] } else { &[CompareOp::Equal, CompareOp::Unequal] };
        let compare = (select(ops), values(field))
            .prop_map(|(op, (value, _))| FieldCheck::Compare(op, value));
        let alone = Just(types::alone(field));
        if field.shape == FieldShape::Flag {
            return prop_oneof![alone, compare].boxed();
        }
        let choice = (values(field), any::<bool>()).prop_map(move |((from, to), range)| {
            if range && order { LiteralChoice::Range(from, to) } else { LiteralChoice::One(from) }
        });
        let within = proptest::collection::vec(choice, 1..4).prop_map(FieldCheck::In);
        let contains = values(field).prop_map(|(value, _)| FieldCheck::Contains(value));
        let every = Just(FieldCheck::Like(wildmatch::WildMatch::new("*")));
        let like =
            r#"[*?\\"a-z]{0,5}"#.prop_map(|it| FieldCheck::Like(wildmatch::WildMatch::new(&it)));
        match field.shape {
            FieldShape::Text => prop_oneof![alone, compare, within, contains, like].boxed(),
            FieldShape::Bytes => prop_oneof![alone, compare, within, contains].boxed(),
            FieldShape::Words(_) | FieldShape::Ranks(_) => {
                prop_oneof![alone, compare, within, every].boxed()
            }
            FieldShape::Number(_) | FieldShape::Signed | FieldShape::Real | FieldShape::Place => {
                prop_oneof![alone, compare, within].boxed()
            }
            FieldShape::Time | FieldShape::List | FieldShape::Flag => {
                prop_oneof![alone, compare, within].boxed()
            }
        }
    }

    fn tests(kind: RowKind) -> impl Strategy<Value = FilterExpr> {
        let part = prop_oneof![
            Just(None),
            (-9_i64..9).prop_map(|from| Some(BytePart { from, count: Some(2) })),
            (-9_i64..9).prop_map(|from| Some(BytePart { from, count: None })),
        ];
        select(kind.fields()).prop_flat_map(checks_of).prop_flat_map(move |(field, check)| {
            part.clone().prop_map(move |part| {
                let part = part.filter(|_| field.shape == FieldShape::Bytes);
                FilterExpr::Test(FieldTest { field, cell: 0, part, check: check.clone() })
            })
        })
    }

    fn checks_of(field: RowField) -> impl Strategy<Value = (&'static RowField, FieldCheck)> {
        let kept = RowKind::ALL.into_iter().flat_map(RowKind::fields).find(|kept| **kept == field);
        let field = kept.unwrap();
        checks(field).prop_map(move |check| (field, check))
    }

    fn exprs(kind: RowKind) -> impl Strategy<Value = FilterExpr> {
        tests(kind).prop_recursive(4, 24, 3, |inner| {
            let many = proptest::collection::vec(inner.clone(), 2..4);
            prop_oneof![
                inner.prop_map(|part| FilterExpr::Not(Box::new(part))),
                many.clone().prop_map(FilterExpr::Any),
                many.prop_map(FilterExpr::All),
            ]
        })
    }

    /// Assigns the cell indices that parsing assigns.
    fn numbered(expr: &mut FilterExpr, fields: &mut Vec<&'static RowField>) {
        match expr {
            FilterExpr::Any(parts) | FilterExpr::All(parts) => {
                parts.iter_mut().for_each(|part| numbered(part, fields));
            }
            FilterExpr::Not(part) => numbered(part, fields),
            FilterExpr::Test(test) => {
                let known = fields.iter().position(|field| *field == test.field);
                test.cell = known.unwrap_or_else(|| {
                    fields.push(test.field);
                    fields.len() - 1
                });
            }
        }
    }

    proptest! {
        #[test]
        fn parsing_undoes_writing_out((kind, mut expr) in select(&RowKind::ALL[..])
            .prop_flat_map(|kind| (Just(kind), exprs(kind))))
        {
            numbered(&mut expr, &mut Vec::new());
            let text = expr.to_string();
            prop_assume!(text.len() <= TEXT_MAX);
            let read = Filter::parse(&text, kind).map(|filter| filter.expr);
            prop_assert_eq!(read.map_err(|error| error.to_string()), Ok(expr), "{}", text);
        }
    }
}
