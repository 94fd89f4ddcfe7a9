//! What a field may be asked, and what may stand beside it.

use std::ops::Range;

use super::error::{Fault, any_of, did_you_mean, shortened};
use super::eval::matches;
use super::expr::{Check, Choice, Literal, Op, Part};
use super::field::{Field, RowKind, Shape, having};
use crate::window::Edge;

/// Most bytes of a value. *Chosen*: longer than any header, and looking for them stays quick.
const BYTES_MAX: usize = 256;

/// Most words that are listed beside a place. *Chosen*: a line of a terminal.
const WORDS_BESIDE: usize = 6;

/// What a name at the head of a test means.
pub(super) enum Named {
    Field(&'static Field),
    /// `crc.bad`: the field is that word.
    Word(&'static Field, Literal),
}

/// Looks a name up.
pub(super) fn named(kind: RowKind, name: &str, at: &Range<usize>) -> Result<Named, Fault> {
    if let Some(field) = kind.field(name) {
        return Ok(Named::Field(field));
    }
    let parted = name.rsplit_once('.').and_then(|(field, word)| Some((kind.field(field)?, word)));
    if let Some((field, word)) = parted
        && !field.words().is_empty()
    {
        let at = at.end - word.len()..at.end;
        return self::word(field, word, &at).map(|word| Named::Word(field, word));
    }
    Err(unknown(kind, name, at))
}

/// No row of the kind has such a field.
pub(super) fn unknown(kind: RowKind, name: &str, at: &Range<usize>) -> Fault {
    let shown = shortened(name);
    let others: Vec<&str> = having(name).iter().map(|(other, _)| other.command()).collect();
    let names = kind.fields().iter().map(|field| field.name);
    let list = "--list-fields lists them all".to_owned();
    if others.is_empty() {
        let turned = name.starts_with(|c: char| c.is_ascii_digit());
        let first = turned.then(|| "the field comes first: `tag == 5`".to_owned());
        let help = first.or_else(|| did_you_mean(name, names)).unwrap_or(list);
        let expected = format!("{} have no such field", kind.name());
        Fault::new(at.clone(), format!("unknown field `{shown}`"), expected).with(Some(help))
    } else {
        let message = format!("{} have no field `{shown}`", kind.name());
        let expected = format!("the rows of {} have it", any_of(others).replace(" or ", " and "));
        Fault::new(at.clone(), message, expected).with(Some(list))
    }
}

/// What a field that stands alone asks.
pub(super) const fn alone(field: &Field) -> Check {
    match field.shape {
        Shape::Flag => Check::Holds,
        Shape::Number(_) | Shape::Signed | Shape::Real | Shape::Place | Shape::Time => {
            Check::Present
        }
        Shape::Text | Shape::Words(_) | Shape::Ranks(_) | Shape::Bytes | Shape::List => {
            Check::Present
        }
    }
}

/// What is expected beside a field.
pub(super) const fn expected(field: &Field) -> &'static str {
    match field.shape {
        Shape::Number(_) | Shape::List => "a number: 12 or 0x0c",
        Shape::Signed => "a number: 12 or -12",
        Shape::Real => "a number: 0.75",
        Shape::Place => "a character or a time: 4096, 4096ch or 12.5us",
        Shape::Time => "a time: 12.5us",
        Shape::Text => "text: \"h0:0>s0:3\"",
        Shape::Words(_) | Shape::Ranks(_) => "a word",
        Shape::Bytes => "bytes, in hex: 83:05",
        Shape::Flag => "`true` or `false`",
    }
}

/// Reads a value of a field.
pub(super) fn literal(field: &Field, text: &str, at: &Range<usize>) -> Result<Literal, Fault> {
    let wrong = || {
        let message = format!("`{}` is no value of `{}`", shortened(text), field.name);
        Fault::new(at.clone(), message, format!("expected {}", expected(field)))
    };
    match field.shape {
        Shape::Number(most) => number(field, text, most, at)?.map(Literal::Number),
        Shape::List => number(field, text, u64::MAX, at)?.map(Literal::Number),
        Shape::Signed => text.parse().ok().map(|number: i64| Literal::Number(number.into())),
        Shape::Real => decimal(text).map(Literal::Real),
        Shape::Place => match number(field, text, u64::MAX, at)? {
            Some(count) => Some(Literal::Characters(count)),
            None => match text.parse() {
                Ok(Edge::Character(count)) => Some(Literal::Characters(count.0.into())),
                Ok(Edge::Picoseconds(time)) => i128::try_from(time).ok().map(Literal::Moment),
                Err(_) => None,
            },
        },
        Shape::Time => match number(field, text, u64::MAX, at)? {
            Some(time) => Some(Literal::Time(time)),
            None => match text.parse() {
                Ok(Edge::Picoseconds(time)) => i128::try_from(time).ok().map(Literal::Time),
                Ok(Edge::Character(_)) | Err(_) => None,
            },
        },
        Shape::Text => Some(Literal::Text(text.to_owned())),
        Shape::Words(_) | Shape::Ranks(_) => return word(field, text, at),
        Shape::Bytes => bytes(text).map(Literal::Bytes),
        Shape::Flag => text.parse().ok().map(Literal::Flag),
    }
    .ok_or_else(wrong)
}

/// A whole number, if the text is one; it must not be too great for the field.
fn number(field: &Field, text: &str, most: u64, at: &Range<usize>) -> Result<Option<i128>, Fault> {
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
            let message = format!("`{}` is never {}", field.name, shortened(text));
            Err(Fault::new(at.clone(), message, format!("at most {most}")))
        }
    }
}

/// A decimal number, with a point or without.
fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = text.parse().ok().filter(|_| plain)?;
    number.is_finite().then_some(number)
}

fn word(field: &Field, text: &str, at: &Range<usize>) -> Result<Literal, Fault> {
    let words = field.words();
    let found = words.iter().enumerate().find(|(_, word)| **word == text);
    match (found, field.shape) {
        (Some((rank, word)), Shape::Ranks(_)) => Ok(Literal::Rank(word, rank)),
        (Some((_, word)), _) => Ok(Literal::Word(word)),
        (None, _) => {
            let message = format!("`{}` is never `{}`", field.name, shortened(text));
            let help = did_you_mean(text, words.iter().copied());
            Err(one_of(words, at, message, help))
        }
    }
}

/// Words of which one is expected: beside the place, or below, where they are many.
fn one_of(words: &[&str], at: &Range<usize>, message: String, help: Option<String>) -> Fault {
    let list = any_of(words.iter().copied());
    if words.len() <= WORDS_BESIDE {
        return Fault::new(at.clone(), message, format!("expected {list}")).with(help);
    }
    let expected = format!("expected one of {} words", words.len());
    let help = help.unwrap_or_else(|| format!("they are {}", list.replace(" or ", " and ")));
    Fault::new(at.clone(), message, expected).with(Some(help))
}

/// `83:05`, `8305` or `0x8305`.
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

/// A range that holds something.
pub(super) fn range(from: Literal, to: Literal, at: &Range<usize>) -> Result<Choice, Fault> {
    let empty = match (&from, &to) {
        (Literal::Number(from), Literal::Number(to))
        | (Literal::Characters(from), Literal::Characters(to))
        | (Literal::Moment(from), Literal::Moment(to))
        | (Literal::Time(from), Literal::Time(to)) => from >= to,
        (Literal::Real(from), Literal::Real(to)) => from >= to,
        (Literal::Rank(_, from), Literal::Rank(_, to)) => from >= to,
        (Literal::Bytes(from), Literal::Bytes(to)) => from >= to,
        // Characters and a time: that depends on the channel.
        (_, _) => false,
    };
    if empty {
        let message = format!("no value is from {from} on and before {to}");
        return Err(Fault::new(at.clone(), message, "expected the lower end first"));
    }
    Ok(Choice::Range(from, to))
}

/// A pattern that text of the field can match.
pub(super) fn pattern(field: &Field, text: &str, at: &Range<usize>) -> Result<String, Fault> {
    let words = field.words();
    if !words.is_empty() && !words.iter().any(|word| matches(text.as_bytes(), word.as_bytes())) {
        let message = format!("`{}` is never like `{}`", field.name, shortened(text));
        return Err(one_of(words, at, message, None));
    }
    Ok(text.to_owned())
}

/// Some of the bytes: the first and how many, either of them left out.
pub(super) fn part(text: &str, at: &Range<usize>) -> Result<Part, Fault> {
    let part = match text.split_once(':') {
        Some(("", "")) => None,
        Some(("", count)) => count.parse().ok().map(|count| Part { from: 0, count: Some(count) }),
        Some((from, "")) => from.parse().ok().map(|from| Part { from, count: None }),
        Some((from, count)) => from
            .parse()
            .ok()
            .zip(count.parse().ok())
            .map(|(from, count)| Part { from, count: Some(count) }),
        None => text.parse().ok().map(|from| Part { from, count: Some(1) }),
    };
    part.filter(|part| part.count != Some(0)).ok_or_else(|| {
        let message = format!("`{}` names no bytes", shortened(text));
        Fault::new(at.clone(), message, "expected the first, `:`, how many: `[0:2]`")
    })
}

/// What a field may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Equal,
    Order,
    Within,
    Contains,
    Like,
    Part,
}

impl Ask {
    pub(super) const fn of(op: Op) -> Self {
        match op {
            Op::Equal | Op::Unequal => Self::Equal,
            Op::Less | Op::AtMost | Op::More | Op::AtLeast => Self::Order,
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

/// What fields of a shape are called, and what they may be asked.
const fn asks(shape: Shape) -> (&'static str, &'static [Ask]) {
    use Ask::{Contains, Equal, Like, Order, Part, Within};
    match shape {
        Shape::Number(_) | Shape::Signed | Shape::Real => ("a number", &[Equal, Order, Within]),
        Shape::Place => ("a place", &[Equal, Order, Within]),
        Shape::Time => ("a time", &[Equal, Order, Within]),
        Shape::List => ("a list, and stands for its length", &[Equal, Order, Within]),
        Shape::Text => ("text", &[Equal, Within, Contains, Like]),
        Shape::Words(_) => ("a word", &[Equal, Within, Like]),
        Shape::Ranks(_) => ("a word", &[Equal, Order, Within, Like]),
        Shape::Bytes => ("bytes", &[Equal, Order, Within, Contains, Part]),
        Shape::Flag => ("a flag", &[Equal]),
    }
}

/// Whether a field may be asked that.
pub(super) fn may_ask(field: &Field, ask: Ask, at: &Range<usize>) -> Result<(), Fault> {
    let (called, asks) = asks(field.shape);
    if asks.contains(&ask) {
        return Ok(());
    }
    let written: Vec<&str> = asks.iter().map(|ask| ask.written()).collect();
    let message = format!("`{}` is {called}", field.name);
    Err(Fault::new(at.clone(), message, format!("it takes {}", written.join(" "))))
}

/// So many bytes can never equal more or fewer.
pub(super) fn may_be_as_long(
    part: Option<Part>,
    value: &Literal,
    at: &Range<usize>,
) -> Result<(), Fault> {
    let (Some(Part { count: Some(count), .. }), Literal::Bytes(bytes)) = (part, value) else {
        return Ok(());
    };
    if u32::try_from(bytes.len()) == Ok(count) {
        return Ok(());
    }
    let bytes_of = |count: usize| format!("{count} byte{}", if count == 1 { "" } else { "s" });
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let message = format!("{} cannot equal {}", bytes_of(count), bytes.len());
    Err(Fault::new(at.clone(), message, format!("expected {}", bytes_of(count))))
}
