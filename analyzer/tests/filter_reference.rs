//! Filters held against a second evaluation, which reads the JSON of random rows and knows nothing of the first.

use codec::time::CharacterPeriod;
use myriscope_analyzer::filter::{FieldShape, Filter, RowField, RowKind};
use serde_json::{Map, Value, json};

/// Rows and expressions of each kind. *Chosen*: a second of work.
const DRAWS: usize = 600;
const WORDS: [&str; 4] = ["", "a", "ab", "b\"\\"];

/// Dice that fall the same each time (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 33) as usize % most
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn bytes(&mut self, least: usize) -> Vec<u8> {
        (0..least + self.below(3)).map(|_| 0x80 + self.below(3) as u8).collect()
    }
}

/// A value of a field or a literal; values of one type are ordered.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Key {
    Number(i128),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    Flag(bool),
}

#[derive(Debug)]
enum Check {
    Alone,
    /// An operator and what it is compared with.
    Compare(&'static str, Key),
    In(Vec<(Key, Option<Key>)>),
    Contains(Key),
    Begins(String),
}

#[derive(Debug)]
enum Expr {
    Test(&'static RowField, Option<(i64, usize)>, Check),
    Not(Box<Self>),
    Both(Box<Self>, Box<Self>),
    Either(Box<Self>, Box<Self>),
}

/// A random value of a shape, never null; text, bytes and lists may be empty.
fn leaf(dice: &mut Dice, shape: FieldShape) -> Value {
    match shape {
        FieldShape::Number(most) => json!(dice.below(4.min(most.saturating_add(1)) as usize)),
        FieldShape::Place | FieldShape::Time => json!(dice.below(4)),
        FieldShape::Signed => json!(dice.below(4) as i64 - 2),
        FieldShape::Real => json!(dice.below(4) as f64 / 2.0),
        FieldShape::Text => json!(dice.of(&WORDS)),
        FieldShape::Words(words) | FieldShape::Ranks(words) => json!(dice.of(words)),
        FieldShape::Flag => json!(dice.below(2) == 0),
        FieldShape::List => json!(vec![1; dice.below(3)]),
        FieldShape::Bytes => {
            let bytes = dice.bytes(0);
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            if dice.below(2) == 0 { json!(bytes) } else { json!(digits) }
        }
    }
}

/// A random object with the members whose names begin so.
fn object(dice: &mut Dice, fields: &[RowField], before: &str) -> Value {
    let mut members = Map::new();
    for field in fields {
        let Some(rest) = field.name.strip_prefix(before) else { continue };
        let name = rest.split('.').next().unwrap();
        let below = format!("{before}{name}.");
        if members.contains_key(name) || dice.below(5) == 0 {
            continue;
        }
        let is_parent = fields.iter().any(|other| other.name.starts_with(&below));
        let one = |dice: &mut Dice| match dice.below(6) {
            0 => Value::Null,
            _ if is_parent => object(dice, fields, &below),
            _ => leaf(dice, field.shape),
        };
        let is_listed = dice.below(3) == 0 && field.shape != FieldShape::Bytes;
        let value =
            if is_listed { (0..dice.below(3)).map(|_| one(dice)).collect() } else { one(dice) };
        members.insert(name.to_owned(), value);
    }
    Value::Object(members)
}

/// What a row has of a field: nothing that is absent, null or empty, but the length of a list.
fn found(row: &Value, field: &RowField) -> Vec<Key> {
    let mut parts = vec![row];
    for name in field.name.split('.') {
        parts = parts.into_iter().flat_map(flat).filter_map(|part| part.get(name)).collect();
    }
    let length = |len: usize| Key::Number(len as i128);
    match field.shape {
        FieldShape::List => {
            let lengths = parts.iter().filter_map(|part| match part {
                Value::Array(list) => Some(length(list.len())),
                Value::Object(members) => Some(length(members.len())),
                _ => None,
            });
            lengths.collect()
        }
        FieldShape::Bytes => {
            let bytes = parts.iter().filter_map(|part| match part {
                Value::String(digits) => {
                    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair));
                    Some(pairs.map(|it| u8::from_str_radix(it.unwrap(), 16).unwrap()).collect())
                }
                Value::Array(list) => {
                    Some(list.iter().map(|byte| byte.as_u64().unwrap() as u8).collect())
                }
                _ => None,
            });
            bytes.filter(|bytes: &Vec<u8>| !bytes.is_empty()).map(Key::Bytes).collect()
        }
        shape => parts.into_iter().flat_map(flat).filter_map(|part| key(part, shape)).collect(),
    }
}

/// The elements of lists in lists.
fn flat(part: &Value) -> Vec<&Value> {
    match part {
        Value::Array(list) => list.iter().flat_map(flat).collect(),
        one => vec![one],
    }
}

fn key(value: &Value, shape: FieldShape) -> Option<Key> {
    match (shape, value) {
        (FieldShape::Ranks(words), Value::String(text)) => {
            words.iter().position(|word| word == text).map(|rank| Key::Number(rank as i128))
        }
        (_, Value::String(text)) => Some(Key::Text(text.clone())).filter(|_| !text.is_empty()),
        (_, Value::Bool(flag)) => Some(Key::Flag(*flag)),
        (FieldShape::Real, Value::Number(number)) => number.as_f64().map(Key::Real),
        (_, Value::Number(number)) => number.as_i64().map(|it| Key::Number(it.into())),
        _ => None,
    }
}

/// A random check of a field that the language allows.
fn check(dice: &mut Dice, shape: FieldShape) -> Check {
    let is_ordered = !matches!(shape, FieldShape::Text | FieldShape::Words(_) | FieldShape::Flag);
    let ops: &[&str] = if is_ordered { &["==", "!=", "<", "<=", ">", ">="] } else { &["==", "!="] };
    let literal = |dice: &mut Dice| match shape {
        FieldShape::List => Key::Number(dice.below(3) as i128),
        FieldShape::Bytes => Key::Bytes(dice.bytes(1)),
        FieldShape::Text => Key::Text((*dice.of(&WORDS)).to_owned()),
        _ => key(&leaf(dice, shape), shape).unwrap(),
    };
    match dice.below(5) {
        0 => Check::Alone,
        1 if shape != FieldShape::Flag => {
            let choices = (0..=dice.below(2)).map(|_| {
                let (one, other) = (literal(dice), literal(dice));
                let range = is_ordered && one < other && dice.below(2) == 0;
                (one, Some(other).filter(|_| range))
            });
            Check::In(choices.collect())
        }
        2 if matches!(shape, FieldShape::Text | FieldShape::Bytes) => {
            Check::Contains(literal(dice))
        }
        3 if shape == FieldShape::Text => Check::Begins((*dice.of(&["", "a", "ab"])).to_owned()),
        _ => Check::Compare(ops[dice.below(ops.len())], literal(dice)),
    }
}

fn expr(dice: &mut Dice, kind: RowKind, depth: usize) -> Expr {
    let inner = |dice: &mut Dice| Box::new(expr(dice, kind, depth - 1));
    match if depth == 0 { 9 } else { dice.below(6) } {
        0 => Expr::Not(inner(dice)),
        1 => Expr::Both(inner(dice), inner(dice)),
        2 => Expr::Either(inner(dice), inner(dice)),
        _ => {
            let field = dice.of(kind.fields());
            let mut check = check(dice, field.shape);
            let mut part = None;
            if field.shape == FieldShape::Bytes && dice.below(3) == 0 {
                let count = 1 + dice.below(2);
                part = Some((dice.below(4) as i64 - 2, count));
                // Bytes that are compared with a part are as many.
                if let Check::Compare(_, Key::Bytes(bytes)) = &mut check {
                    bytes.resize(count, 0x80);
                } else {
                    check = Check::Alone;
                }
            }
            Expr::Test(field, part, check)
        }
    }
}

fn holds(expr: &Expr, row: &Value) -> bool {
    let (field, part, check) = match expr {
        Expr::Not(inner) => return !holds(inner, row),
        Expr::Both(one, other) => return holds(one, row) && holds(other, row),
        Expr::Either(one, other) => return holds(one, row) || holds(other, row),
        Expr::Test(field, part, check) => (field, part, check),
    };
    let mut keys = found(row, field);
    if let Some((from, count)) = part {
        let slice = |key: Key| {
            let Key::Bytes(bytes) = key else { return None };
            let from = if *from < 0 { from + bytes.len() as i64 } else { *from };
            let from = usize::try_from(from).ok()?;
            Some(Key::Bytes(bytes.get(from..from + count)?.to_vec()))
        };
        keys = keys.into_iter().filter_map(slice).collect();
    }
    match check {
        Check::Alone if field.shape == FieldShape::Flag => keys.contains(&Key::Flag(true)),
        Check::Alone if field.shape == FieldShape::List => {
            keys.iter().any(|it| *it != Key::Number(0))
        }
        Check::Alone => !keys.is_empty(),
        Check::Compare("!=", than) => !keys.is_empty() && !keys.contains(than),
        Check::Compare(op, than) => keys.iter().any(|it| match *op {
            "==" => it == than,
            "<" => it < than,
            "<=" => it <= than,
            ">" => it > than,
            _ => it >= than,
        }),
        Check::In(choices) => keys.iter().any(|it| {
            choices.iter().any(|(from, to)| match to {
                Some(to) => from <= it && it < to,
                None => it == from,
            })
        }),
        Check::Contains(Key::Bytes(part)) => keys.iter().any(|it| match it {
            Key::Bytes(bytes) => bytes.windows(part.len()).any(|window| window == part),
            _ => false,
        }),
        Check::Contains(part) => keys.iter().any(|it| match (it, part) {
            (Key::Text(text), Key::Text(part)) => text.contains(part),
            _ => false,
        }),
        Check::Begins(with) => {
            keys.iter().any(|it| matches!(it, Key::Text(text) if text.starts_with(with)))
        }
    }
}

fn written(expr: &Expr) -> String {
    let (field, part, check) = match expr {
        Expr::Not(inner) => return format!("!({})", written(inner)),
        Expr::Both(one, other) => return format!("({}) && ({})", written(one), written(other)),
        Expr::Either(one, other) => return format!("({}) || ({})", written(one), written(other)),
        Expr::Test(field, part, check) => (field, part, check),
    };
    let literal = |key: &Key| match key {
        Key::Number(rank) if !field.words().is_empty() => field.words()[*rank as usize].to_owned(),
        Key::Number(number) => number.to_string(),
        Key::Real(number) => number.to_string(),
        Key::Flag(flag) => flag.to_string(),
        Key::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        Key::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let part = part.map_or(String::new(), |(from, count)| format!("[{from}:{count}]"));
    let rest = match check {
        Check::Alone => String::new(),
        Check::Compare(op, than) => format!(" {op} {}", literal(than)),
        Check::In(choices) => {
            let choice = |(from, to): &(Key, Option<Key>)| match to {
                Some(to) => format!("{}..{}", literal(from), literal(to)),
                None => literal(from),
            };
            let choices: Vec<String> = choices.iter().map(choice).collect();
            format!(" in {{{}}}", choices.join(", "))
        }
        Check::Contains(part) => format!(" contains {}", literal(part)),
        Check::Begins(with) => format!(" ~ \"{with}*\""),
    };
    format!("{}{part}{rest}", field.name)
}

#[test]
fn a_second_evaluation_of_the_json_keeps_the_same_rows() {
    let mut dice = Dice(33);
    let mut kept = [0, 0];
    for kind in RowKind::ALL {
        for _ in 0..DRAWS {
            let (expr, row) = (expr(&mut dice, kind, 3), object(&mut dice, kind.fields(), ""));
            let text = written(&expr);
            let mut filter = Filter::parse(&text, kind).unwrap_or_else(|it| panic!("{text}: {it}"));
            let keeps = filter.keeps(&row, CharacterPeriod::FULL_RATE);
            assert_eq!(keeps, holds(&expr, &row), "{text}\n{row}");
            kept[usize::from(keeps)] += 1;
        }
    }
    assert!(kept.iter().all(|count| *count > DRAWS), "{kept:?}");
}
