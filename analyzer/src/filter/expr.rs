//! Parsed expression: its tests, and its formatting.

use std::cmp::Ordering;
use std::fmt::{self, Display};

use crate::row::RowField;

/// Expression over a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FilterExpr {
    /// Disjunction of at least two expressions.
    Any(Vec<Self>),
    /// Conjunction of at least two expressions.
    All(Vec<Self>),
    /// Negation.
    Not(Box<Self>),
    Test(FieldTest),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldTest {
    pub(super) field: &'static RowField,
    pub(super) cell: usize,
    pub(super) part: Option<BytePart>,
    pub(super) check: FieldCheck,
}

/// Slice of a field's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BytePart {
    /// First byte; counted from the end if negative.
    pub(super) from: i64,
    /// Number of bytes; all after the first if none.
    pub(super) count: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldCheck {
    /// The row has a non-empty value.
    Present,
    Holds,
    /// The comparison with a literal holds.
    Compare(CompareOp, FilterLiteral),
    /// The value is among the choices.
    In(Vec<LiteralChoice>),
    /// The value contains the bytes or the text.
    Contains(FilterLiteral),
    /// The whole text matches the pattern.
    Like(wildmatch::WildMatch),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum LiteralChoice {
    One(FilterLiteral),
    /// Range from the first, included, to the second, excluded.
    Range(FilterLiteral, FilterLiteral),
}

codec::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum CompareOp {
        Equal = "==",
        Unequal = "!=",
        Less = "<",
        AtMost = "<=",
        More = ">",
        AtLeast = ">=",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FilterLiteral {
    Number(i128),
    Real(f64),
    /// Character index, for a field that also takes times.
    Characters(i128),
    /// Picoseconds, for a field that counts characters.
    Moment(i128),
    /// Picoseconds, for a field in picoseconds.
    Time(i128),
    Text(String),
    Word(&'static str),
    /// Word of an ordered set, and the number of words below it.
    Rank(&'static str, usize),
    Bytes(Vec<u8>),
    Flag(bool),
}

impl CompareOp {
    /// True if the operator accepts this result of a comparison.
    pub(super) const fn takes(self, found: Ordering) -> bool {
        match self {
            Self::Equal => found.is_eq(),
            Self::Unequal => found.is_ne(),
            Self::Less => found.is_lt(),
            Self::AtMost => found.is_le(),
            Self::More => found.is_gt(),
            Self::AtLeast => found.is_ge(),
        }
    }
}

impl Display for FilterExpr {
    /// Formats the expression; parsing the result returns an equal one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    f.write_str(if at > 0 { " || " } else { "" })?;
                    match part {
                        Self::All(_) => part.fmt(f)?,
                        Self::Any(_) | Self::Not(_) | Self::Test(_) => within(f, part)?,
                    }
                }
                Ok(())
            }
            Self::All(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    f.write_str(if at > 0 { " && " } else { "" })?;
                    within(f, part)?;
                }
                Ok(())
            }
            // `!tag == 5` would be valid but easily misread.
            Self::Not(part) => {
                f.write_str("!")?;
                match part.as_ref() {
                    Self::Test(test) if !test.stands_alone() => write!(f, "({test})"),
                    Self::Test(_) | Self::Not(_) | Self::Any(_) | Self::All(_) => within(f, part),
                }
            }
            Self::Test(test) => test.fmt(f),
        }
    }
}

/// Formats a part of an expression, in parentheses unless they are superfluous.
fn within(f: &mut fmt::Formatter<'_>, part: &FilterExpr) -> fmt::Result {
    match part {
        FilterExpr::Any(_) | FilterExpr::All(_) => write!(f, "({part})"),
        FilterExpr::Not(_) => part.fmt(f),
        FilterExpr::Test(test) => test.fmt(f),
    }
}

impl FieldTest {
    /// True if the test is written as the field's name alone.
    const fn stands_alone(&self) -> bool {
        matches!(self.check, FieldCheck::Present | FieldCheck::Holds)
    }
}

impl Display for FieldTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, part, check, .. } = self;
        f.write_str(field.name)?;
        if let Some(part) = part {
            part.fmt(f)?;
        }
        match check {
            FieldCheck::Present | FieldCheck::Holds => Ok(()),
            FieldCheck::Compare(op, value) => write!(f, " {} {value}", op.name()),
            FieldCheck::In(choices) => match choices.as_slice() {
                [choice @ LiteralChoice::Range(..)] => write!(f, " in {choice}"),
                _ => {
                    let choices: Vec<String> =
                        choices.iter().map(LiteralChoice::to_string).collect();
                    write!(f, " in {{{}}}", choices.join(", "))
                }
            },
            FieldCheck::Contains(value) => write!(f, " contains {value}"),
            FieldCheck::Like(pattern) => write!(f, " ~ {}", QuotedText(&pattern.to_string())),
        }
    }
}

impl Display for BytePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { from, count: Some(1) } => write!(f, "[{from}]"),
            Self { from, count: Some(count) } => write!(f, "[{from}:{count}]"),
            Self { from, count: None } => write!(f, "[{from}:]"),
        }
    }
}

impl Display for LiteralChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => value.fmt(f),
            Self::Range(from, to) => write!(f, "{from}..{to}"),
        }
    }
}

impl Display for FilterLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Characters(count) => write!(f, "{count}ch"),
            Self::Moment(time) | Self::Time(time) => {
                let (unit, size) =
                    UNITS.into_iter().find(|(_, size)| time % size == 0).unwrap_or(("ps", 1));
                write!(f, "{}{unit}", time / size)
            }
            Self::Text(text) => QuotedText(text).fmt(f),
            Self::Word(word) | Self::Rank(word, _) => f.write_str(word),
            Self::Bytes(bytes) => colons(f, bytes),
            Self::Flag(set) => set.fmt(f),
        }
    }
}

/// Units of time in picoseconds, the longest first.
const UNITS: [(&str, i128); 5] =
    [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1000), ("ps", 1)];

/// Formats bytes in the notation of expressions: `83:05`.
pub(super) fn colons(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for (at, byte) in bytes.iter().enumerate() {
        write!(f, "{}{byte:02x}", if at > 0 { ":" } else { "" })?;
    }
    Ok(())
}

/// Text between quotation marks.
struct QuotedText<'a>(&'a str);

impl Display for QuotedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
