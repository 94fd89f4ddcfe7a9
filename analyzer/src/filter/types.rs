//! Checks allowed for a field, and literals allowed in them.

use std::ops::Range;

use codec::words::{did_you_mean, quoted, shortened};
use wildmatch::WildMatch;

use super::error::FilterFault;
use super::expr::{BytePart, CompareOp, FieldCheck, FilterLiteral, LiteralChoice};
use super::row_kind::{RowKind, having};
use crate::row::{FieldShape, RowField};
use crate::window::WindowEdge;

/// Maximum length of a bytes literal. *Chosen*: longer than any header, and fast to search for.
const BYTES_MAX: usize = 256;

/// Maximum number of words listed beside the position of a fault. *Chosen*: one line of a terminal.
const WORDS_BESIDE: usize = 6;

/// Meaning of the name at the start of a test.
pub(super) enum NamedWord {
    Field(&'static RowField),
    /// `crc.bad`: a field and one of its words.
    Word(&'static RowField, FilterLiteral),
}

pub(super) fn named(
    kind: RowKind,
    name: &str,
    at: &Range<usize>,
) -> Result<NamedWord, FilterFault> {
    if let Some(field) = kind.field(name) {
        return Ok(NamedWord::Field(field));
    }
    let parted = name.rsplit_once('.').and_then(|(field, word)| Some((kind.field(field)?, word)));
    if let Some((field, word)) = parted
        && !field.words().is_empty()
    {
        let at = at.end - word.len()..at.end;
        return self::word(field, word, &at).map(|word| NamedWord::Word(field, word));
    }
    Err(unknown(kind, name, at))
}

pub(super) fn unknown(kind: RowKind, name: &str, at: &Range<usize>) -> FilterFault {
    let shown = shortened(name);
    let others: Vec<&str> = having(name).iter().map(|(other, _)| other.command()).collect();
    let names = kind.fields().iter().map(|field| field.name);
    let list = "--list-fields lists them all".to_owned();
    if others.is_empty() {
        let turned = name.starts_with(|c: char| c.is_ascii_digit());
        let first = turned.then(|| "the field comes first: `tag == 5`".to_owned());
        let help = first.or_else(|| did_you_mean(name, names)).unwrap_or(list);
        let expected = format!("{} have no such field", kind.name());
        FilterFault::new(at.clone(), format!("unknown field `{shown}`"), expected).with(Some(help))
    } else {
        let message = format!("{} have no field `{shown}`", kind.name());
        let expected = format!("the rows of {} have it", quoted(others, "and"));
        FilterFault::new(at.clone(), message, expected).with(Some(list))
    }
}

/// Check implied by a field's name alone.
pub(super) const fn alone(field: &RowField) -> FieldCheck {
    if matches!(field.shape, FieldShape::Flag) { FieldCheck::Holds } else { FieldCheck::Present }
}

pub(super) const fn expected(field: &RowField) -> &'static str {
    match field.shape {
        FieldShape::Number(_) | FieldShape::List => "a number: 12 or 0x0c",
        FieldShape::Signed => "a number: 12 or -12",
        FieldShape::Real => "a number: 0.75",
        FieldShape::Place => "a character or a time: 4096, 4096ch or 12.5us",
        FieldShape::Time => "a time: 12.5us",
        FieldShape::Text => "text: \"h0:0>s0:3\"",
        FieldShape::Words(_) | FieldShape::Ranks(_) => "a word",
        FieldShape::Bytes => "bytes, in hex: 83:05",
        FieldShape::Flag => "`true` or `false`",
    }
}

pub(super) fn literal(
    field: &RowField,
    text: &str,
    at: &Range<usize>,
) -> Result<FilterLiteral, FilterFault> {
    let wrong = || {
        let message = format!("invalid value `{}` of `{}`", shortened(text), field.name);
        FilterFault::new(at.clone(), message, format!("expected {}", expected(field)))
    };
    match field.shape {
        FieldShape::Number(most) => number(field, text, most, at)?.map(FilterLiteral::Number),
        FieldShape::List => number(field, text, u64::MAX, at)?.map(FilterLiteral::Number),
        FieldShape::Signed => {
            text.parse().ok().map(|number: i64| FilterLiteral::Number(number.into()))
        }
        FieldShape::Real => decimal(text).map(FilterLiteral::Real),
        FieldShape::Place => match number(field, text, u64::MAX, at)? {
            Some(count) => Some(FilterLiteral::Characters(count)),
            None => match text.parse() {
                Ok(WindowEdge::Character(count)) => Some(FilterLiteral::Characters(count.0.into())),
                Ok(WindowEdge::Picoseconds(time)) => {
                    i128::try_from(time).ok().map(FilterLiteral::Moment)
                }
                Err(_) => None,
            },
        },
        FieldShape::Time => match number(field, text, u64::MAX, at)? {
            Some(time) => Some(FilterLiteral::Time(time)),
            None => match text.parse() {
                Ok(WindowEdge::Picoseconds(time)) => {
                    i128::try_from(time).ok().map(FilterLiteral::Time)
                }
                Ok(WindowEdge::Character(_)) | Err(_) => None,
            },
        },
        FieldShape::Text => Some(FilterLiteral::Text(text.to_owned())),
        FieldShape::Words(_) | FieldShape::Ranks(_) => return word(field, text, at),
        FieldShape::Bytes => bytes(text).map(FilterLiteral::Bytes),
        FieldShape::Flag => text.parse().ok().map(FilterLiteral::Flag),
    }
    .ok_or_else(wrong)
}

/// Parses a whole number; returns a fault if it exceeds the field's maximum.
fn number(
    field: &RowField,
    text: &str,
    most: u64,
    at: &Range<usize>,
) -> Result<Option<i128>, FilterFault> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Ok(None);
    }
    match u64::from_str_radix(digits, radix) {
        Ok(number) if number <= most => Ok(Some(number.into())),
        Ok(_) | Err(_) => {
            let message = format!("`{}` cannot be {}", field.name, shortened(text));
            Err(FilterFault::new(at.clone(), message, format!("at most {most}")))
        }
    }
}

/// Parses a decimal number, with or without a point.
fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = text.parse().ok().filter(|_| plain)?;
    number.is_finite().then_some(number)
}

fn word(field: &RowField, text: &str, at: &Range<usize>) -> Result<FilterLiteral, FilterFault> {
    let words = field.words();
    let found = words.iter().enumerate().find(|(_, word)| **word == text);
    match (found, field.shape) {
        (Some((rank, word)), FieldShape::Ranks(_)) => Ok(FilterLiteral::Rank(word, rank)),
        (Some((_, word)), _) => Ok(FilterLiteral::Word(word)),
        (None, _) => {
            let message = format!("`{}` cannot be `{}`", field.name, shortened(text));
            let help = did_you_mean(text, words.iter().copied());
            Err(one_of(words, at, message, help))
        }
    }
}

/// Fault that lists the expected words: beside the position, or in the help if there are many.
fn one_of(words: &[&str], at: &Range<usize>, message: String, help: Option<String>) -> FilterFault {
    let list = |conjunction| quoted(words.iter().copied(), conjunction);
    if words.len() <= WORDS_BESIDE {
        return FilterFault::new(at.clone(), message, format!("expected {}", list("or")))
            .with(help);
    }
    let expected = format!("expected one of {} words", words.len());
    let help = help.unwrap_or_else(|| format!("they are {}", list("and")));
    FilterFault::new(at.clone(), message, expected).with(Some(help))
}

/// Parses `83:05`, `8305` or `0x8305`.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let byte = |digits: &str| {
        let hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| u8::from_str_radix(digits, 16).ok())?
    };
    let bytes: Option<Vec<u8>> = if text.contains(':') {
        text.split(':').map(byte).collect()
    } else {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        if digits.len() == 1 {
            byte(digits).map(|byte| vec![byte])
        } else {
            let pairs = (0..digits.len()).step_by(2).map(|at| digits.get(at..at + 2));
            pairs.map(|pair| pair.and_then(byte)).collect()
        }
    };
    bytes.filter(|bytes| (1..=BYTES_MAX).contains(&bytes.len()))
}

/// Range of literals; an empty one is refused.
pub(super) fn range(
    from: FilterLiteral,
    to: FilterLiteral,
    at: &Range<usize>,
) -> Result<LiteralChoice, FilterFault> {
    let empty = match (&from, &to) {
        (FilterLiteral::Number(from), FilterLiteral::Number(to))
        | (FilterLiteral::Characters(from), FilterLiteral::Characters(to))
        | (FilterLiteral::Moment(from), FilterLiteral::Moment(to))
        | (FilterLiteral::Time(from), FilterLiteral::Time(to)) => from >= to,
        (FilterLiteral::Real(from), FilterLiteral::Real(to)) => from >= to,
        (FilterLiteral::Rank(_, from), FilterLiteral::Rank(_, to)) => from >= to,
        (FilterLiteral::Bytes(from), FilterLiteral::Bytes(to)) => from >= to,
        // The order of a character index and a time depends on the channel.
        (_, _) => false,
    };
    if empty {
        let message = format!("empty range: {from}..{to}");
        return Err(FilterFault::new(at.clone(), message, "expected the lower end first"));
    }
    Ok(LiteralChoice::Range(from, to))
}

/// Pattern; refused if it matches no word of the field.
pub(super) fn pattern(
    field: &RowField,
    text: &str,
    at: &Range<usize>,
) -> Result<WildMatch, FilterFault> {
    let words = field.words();
    let pattern = WildMatch::new(text);
    if !words.is_empty() && !words.iter().any(|word| pattern.matches(word)) {
        let message = format!("no value of `{}` matches `{}`", field.name, shortened(text));
        return Err(one_of(words, at, message, None));
    }
    Ok(pattern)
}

/// Parses a byte slice: the first byte and the count, either of which may be omitted.
pub(super) fn part(text: &str, at: &Range<usize>) -> Result<BytePart, FilterFault> {
    let part = match text.split_once(':') {
        Some(("", "")) => None,
        Some(("", count)) => {
            count.parse().ok().map(|count| BytePart { from: 0, count: Some(count) })
        }
        Some((from, "")) => from.parse().ok().map(|from| BytePart { from, count: None }),
        Some((from, count)) => from
            .parse()
            .ok()
            .zip(count.parse().ok())
            .map(|(from, count)| BytePart { from, count: Some(count) }),
        None => text.parse().ok().map(|from| BytePart { from, count: Some(1) }),
    };
    part.filter(|part| part.count != Some(0)).ok_or_else(|| {
        let message = format!("invalid slice `{}`", shortened(text));
        FilterFault::new(at.clone(), message, "expected the first, `:`, how many: `[0:2]`")
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckForm {
    Equal,
    Order,
    Within,
    Contains,
    Like,
    Part,
}

impl CheckForm {
    pub(super) const fn of(op: CompareOp) -> Self {
        match op {
            CompareOp::Equal | CompareOp::Unequal => Self::Equal,
            CompareOp::Less | CompareOp::AtMost | CompareOp::More | CompareOp::AtLeast => {
                Self::Order
            }
        }
    }

    const fn written(self) -> &'static str {
        match self {
            Self::Equal => "`==` `!=`",
            Self::Order => "`<` `<=` `>` `>=`",
            Self::Within => "`in`",
            Self::Contains => "`contains`",
            Self::Like => "`~`",
            Self::Part => "`[0:2]`",
        }
    }
}

const fn check_forms(shape: FieldShape) -> (&'static str, &'static [CheckForm]) {
    use CheckForm::{Contains, Equal, Like, Order, Part, Within};
    match shape {
        FieldShape::Number(_) | FieldShape::Signed | FieldShape::Real => {
            ("a number", &[Equal, Order, Within])
        }
        FieldShape::Place => ("a place", &[Equal, Order, Within]),
        FieldShape::Time => ("a time", &[Equal, Order, Within]),
        FieldShape::List => ("a list, and stands for its length", &[Equal, Order, Within]),
        FieldShape::Text => ("text", &[Equal, Within, Contains, Like]),
        FieldShape::Words(_) => ("a word", &[Equal, Within, Like]),
        FieldShape::Ranks(_) => ("a word", &[Equal, Order, Within, Like]),
        FieldShape::Bytes => ("bytes", &[Equal, Order, Within, Contains, Part]),
        FieldShape::Flag => ("a flag", &[Equal]),
    }
}

/// Returns an error unless the check is allowed for the field.
pub(super) fn check_form(
    field: &RowField,
    form: CheckForm,
    at: &Range<usize>,
) -> Result<(), FilterFault> {
    let (called, forms) = check_forms(field.shape);
    if forms.contains(&form) {
        return Ok(());
    }
    let written: Vec<&str> = forms.iter().map(|form| form.written()).collect();
    let message = format!("`{}` is {called}", field.name);
    Err(FilterFault::new(at.clone(), message, format!("it takes {}", written.join(" "))))
}

/// Returns an error if a bytes literal and the slice compared with it differ in length.
pub(super) fn may_be_as_long(
    part: Option<BytePart>,
    value: &FilterLiteral,
    at: &Range<usize>,
) -> Result<(), FilterFault> {
    let (Some(BytePart { count: Some(count), .. }), FilterLiteral::Bytes(bytes)) = (part, value)
    else {
        return Ok(());
    };
    if u32::try_from(bytes.len()) == Ok(count) {
        return Ok(());
    }
    let bytes_of = |count: usize| format!("{count} byte{}", if count == 1 { "" } else { "s" });
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let message = format!("{} cannot equal {}", bytes_of(count), bytes.len());
    Err(FilterFault::new(at.clone(), message, format!("expected {}", bytes_of(count))))
}
