//! An expression, understood: what it asks of a row, and how it is written.

use std::cmp::Ordering;
use std::fmt::{self, Display};

use super::field::Field;

/// What is asked of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// Any of these; two at least.
    Any(Vec<Self>),
    /// All of these; two at least.
    All(Vec<Self>),
    /// Not this.
    Not(Box<Self>),
    /// This of a field.
    Test(Test),
}

/// What is asked of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) field: &'static Field,
    /// Which of the cells holds it.
    pub(super) cell: usize,
    pub(super) part: Option<Part>,
    pub(super) check: Check,
}

/// Some of a field's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The first; if negative, counted from the end.
    pub(super) from: i64,
    /// How many; all from the first on, if it is not said.
    pub(super) count: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Check {
    /// The row has it.
    Present,
    /// The flag is set.
    Holds,
    /// It compares so with a value.
    Compare(Op, Literal),
    /// It is one of these.
    In(Vec<Choice>),
    /// It has these bytes or this text in it.
    Contains(Literal),
    /// All of it is as a pattern says.
    Like(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    One(Literal),
    /// From the first on, before the second.
    Range(Literal, Literal),
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// A value that was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Number(i128),
    Real(f64),
    /// Characters, where a time could stand too.
    Characters(i128),
    /// Picoseconds, where a field counts characters.
    Moment(i128),
    /// Picoseconds, where a field does too.
    Time(i128),
    Text(String),
    Word(&'static str),
    /// A word, and how many stand below it.
    Rank(&'static str, usize),
    Bytes(Vec<u8>),
    Flag(bool),
}

impl Op {
    pub(super) const ALL: [Self; 6] =
        [Self::Equal, Self::Unequal, Self::Less, Self::AtMost, Self::More, Self::AtLeast];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Whether a value that stands so to another is meant.
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

impl Display for Expr {
    /// Parsing undoes it.
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
            // `!tag == 5` would do, and be misread.
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

/// A part of an expression: in parentheses, unless it cannot be misread.
fn within(f: &mut fmt::Formatter<'_>, part: &Expr) -> fmt::Result {
    match part {
        Expr::Any(_) | Expr::All(_) => write!(f, "({part})"),
        Expr::Not(_) => part.fmt(f),
        Expr::Test(test) => test.fmt(f),
    }
}

impl Test {
    /// Whether it is written as the field's name alone.
    const fn stands_alone(&self) -> bool {
        match self.check {
            Check::Present | Check::Holds => true,
            Check::Compare(..) | Check::In(_) | Check::Contains(_) | Check::Like(_) => false,
        }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, part, check, .. } = self;
        f.write_str(field.name)?;
        if let Some(part) = part {
            part.fmt(f)?;
        }
        match check {
            Check::Present | Check::Holds => Ok(()),
            Check::Compare(op, value) => write!(f, " {} {value}", op.name()),
            Check::In(choices) => match choices.as_slice() {
                [choice @ Choice::Range(..)] => write!(f, " in {choice}"),
                _ => {
                    let choices: Vec<String> = choices.iter().map(Choice::to_string).collect();
                    write!(f, " in {{{}}}", choices.join(", "))
                }
            },
            Check::Contains(value) => write!(f, " contains {value}"),
            Check::Like(pattern) => write!(f, " ~ {}", Quoted(pattern)),
        }
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { from, count: Some(1) } => write!(f, "[{from}]"),
            Self { from, count: Some(count) } => write!(f, "[{from}:{count}]"),
            Self { from, count: None } => write!(f, "[{from}:]"),
        }
    }
}

impl Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => value.fmt(f),
            Self::Range(from, to) => write!(f, "{from}..{to}"),
        }
    }
}

impl Display for Literal {
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
            Self::Text(text) => Quoted(text).fmt(f),
            Self::Word(word) | Self::Rank(word, _) => f.write_str(word),
            Self::Bytes(bytes) => colons(f, bytes),
            Self::Flag(set) => set.fmt(f),
        }
    }
}

/// Units of time and their picoseconds, the longest first.
const UNITS: [(&str, i128); 5] =
    [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1000), ("ps", 1)];

/// Bytes as they are written in an expression: `83:05`.
pub(super) fn colons(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for (at, byte) in bytes.iter().enumerate() {
        write!(f, "{}{byte:02x}", if at > 0 { ":" } else { "" })?;
    }
    Ok(())
}

/// Text between quotation marks.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
