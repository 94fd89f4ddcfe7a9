//! Filters held against a second evaluation, which reads the JSON of random rows and knows nothing of the first.

use codec::time::CharacterPeriod;
use myriscope_analyzer::filter::{FieldShape, Filter, RowField, RowKind};
use serde_json::{Map, Value, json};

use crate::support::FixedDraws;

/// Rows and expressions of each kind. *Chosen*: a second of work.
const DRAWS: usize = 1000;
const WORDS: [&str; 4] = ["", "a", "ab", "b\"\\"];
const ORDERS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// A value of a field or a literal; values of one type are ordered.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum FieldPath {
    Number(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A random value of a shape, never null; text, bytes and lists may be empty.
fn leaf(dice: &mut FixedDraws, shape: FieldShape) -> Value {
    match shape {
        FieldShape::Number(most) => json!(dice.below(4.min(most.saturating_add(1)) as usize)),
        FieldShape::Place | FieldShape::Time => json!(dice.below(4)),
        FieldShape::Signed => json!([-2, -1, 0, 1][dice.below(4)]),
        FieldShape::Real => json!(dice.below(4) as f64 / 2.0),
        FieldShape::Text => json!(WORDS[dice.below(4)]),
        FieldShape::Words(words) | FieldShape::Ranks(words) => {
            json!(words[dice.below(words.len())])
        }
        FieldShape::Flag => json!(dice.below(2) == 0),
        FieldShape::List => json!(vec![1; dice.below(3)]),
        FieldShape::Bytes => {
            let bytes: Vec<u8> = (0..dice.below(4)).map(|_| 0x80 + dice.below(3) as u8).collect();
            if dice.below(2) == 0 { json!(bytes) } else { json!(hex(&bytes)) }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A random object with the members whose names begin so: each absent, null, a value or a list of these.
fn object(dice: &mut FixedDraws, fields: &[RowField], before: &str) -> Value {
    let mut members = Map::new();
    for field in fields {
        let Some(rest) = field.name.strip_prefix(before) else { continue };
        let name = rest.split('.').next().unwrap();
        let below = format!("{before}{name}.");
        if members.contains_key(name) || dice.below(5) == 0 {
            continue;
        }
        let is_parent = fields.iter().any(|other| other.name.starts_with(&below));
        let one = |dice: &mut FixedDraws| match dice.below(6) {
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

/// Values of a field in a row: nothing that is absent, null or empty, but the length of a list.
fn found(row: &Value, field: &RowField) -> Vec<FieldPath> {
    let mut parts = vec![row];
    for name in field.name.split('.') {
        parts = parts.into_iter().flat_map(flat).filter_map(|part| part.get(name)).collect();
    }
    if !matches!(field.shape, FieldShape::List | FieldShape::Bytes) {
        parts = parts.into_iter().flat_map(flat).collect();
    }
    parts.into_iter().filter_map(|part| key(part, field.shape)).collect()
}

/// The elements of lists in lists.
fn flat(part: &Value) -> Vec<&Value> {
    part.as_array().map_or_else(|| vec![part], |list| list.iter().flat_map(flat).collect())
}

fn key(value: &Value, shape: FieldShape) -> Option<FieldPath> {
    match (shape, value) {
        (FieldShape::List, Value::Array(list)) => Some(FieldPath::Number(list.len() as f64)),
        (FieldShape::List, Value::Object(members)) => Some(FieldPath::Number(members.len() as f64)),
        (FieldShape::Bytes, Value::Array(list)) => {
            let bytes: Vec<u8> = list.iter().map(|byte| byte.as_u64().unwrap() as u8).collect();
            key(&json!(hex(&bytes)), shape)
        }
        (FieldShape::Bytes, Value::String(digits)) => {
            let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
            let bytes: Vec<u8> = pairs.map(|it| u8::from_str_radix(it, 16).unwrap()).collect();
            Some(FieldPath::Bytes(bytes)).filter(|_| !digits.is_empty())
        }
        (FieldShape::Ranks(words), Value::String(text)) => {
            words.iter().position(|word| word == text).map(|rank| FieldPath::Number(rank as f64))
        }
        (_, Value::String(text)) => {
            Some(FieldPath::Text(text.clone())).filter(|_| !text.is_empty())
        }
        (_, Value::Bool(flag)) => Some(FieldPath::Number(f64::from(u8::from(*flag)))),
        (_, Value::Number(number)) => number.as_f64().map(FieldPath::Number),
        _ => None,
    }
}

fn literal(key: &FieldPath, field: &RowField) -> String {
    match key {
        FieldPath::Number(flag) if field.shape == FieldShape::Flag => (*flag > 0.0).to_string(),
        FieldPath::Number(rank) if !field.words().is_empty() => {
            field.words()[rank.to_string().parse::<usize>().unwrap()].to_owned()
        }
        FieldPath::Number(number) => number.to_string(),
        FieldPath::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        FieldPath::Bytes(bytes) => hex(bytes),
    }
}

/// A random test of a field that the language allows, and whether the row passes it.
fn test(dice: &mut FixedDraws, field: &RowField, row: &Value) -> (String, bool) {
    let keys = found(row, field);
    let any = |passes: &dyn Fn(&FieldPath) -> bool| keys.iter().any(passes);
    let words = matches!(field.shape, FieldShape::Text | FieldShape::Words(_) | FieldShape::Flag);
    let mut draw = || loop {
        if let Some(key) = key(&leaf(dice, field.shape), field.shape) {
            return key;
        }
    };
    let (one, other) = (draw(), draw());
    let (name, value) = (field.name, literal(&one, field));
    match dice.below(6) {
        0 if matches!(field.shape, FieldShape::List | FieldShape::Flag) => {
            (name.to_owned(), any(&|it| *it != FieldPath::Number(0.0)))
        }
        0 => (name.to_owned(), !keys.is_empty()),
        1 if !words && one < other => {
            let text = format!("{name} in {{{value}..{}}}", literal(&other, field));
            (text, any(&|it| one <= *it && *it < other))
        }
        2 if field.shape == FieldShape::Text => {
            let FieldPath::Text(part) = &one else { unreachable!() };
            let has = |it: &FieldPath| matches!(it, FieldPath::Text(text) if text.contains(part));
            (format!("{name} contains {value}"), any(&has))
        }
        3 if field.shape == FieldShape::Bytes => {
            let second = |it: &FieldPath| matches!(it, FieldPath::Bytes(bytes) if bytes.get(1) == Some(&0x81));
            (format!("{name}[1] == 81"), any(&second))
        }
        _ => {
            let order = ORDERS[dice.below(if words { 2 } else { 6 })];
            let holds = match order {
                "==" => any(&|it| *it == one),
                "!=" => !keys.is_empty() && !keys.contains(&one),
                "<" => any(&|it| *it < one),
                "<=" => any(&|it| *it <= one),
                ">" => any(&|it| *it > one),
                _ => any(&|it| *it >= one),
            };
            (format!("{name} {order} {value}"), holds)
        }
    }
}

#[test]
fn a_second_evaluation_of_the_json_keeps_the_same_rows() {
    let mut dice = FixedDraws::new(33);
    let mut kept = [0, 0];
    for kind in RowKind::ALL {
        for _ in 0..DRAWS {
            let row = object(&mut dice, kind.fields(), "");
            let [(one, first), (other, second)] = [(); 2].map(|()| {
                let field = &kind.fields()[dice.below(kind.fields().len())];
                test(&mut dice, field, &row)
            });
            let (text, expected) = match dice.below(3) {
                0 => (format!("{one} && !({other})"), first && !second),
                1 => (format!("!({one} || {other})"), !(first || second)),
                _ => (one, first),
            };
            let mut filter = Filter::parse(&text, kind).unwrap_or_else(|it| panic!("{text}: {it}"));
            let keeps = filter.keeps(&row, CharacterPeriod::FULL_RATE);
            assert_eq!(keeps, expected, "{text}\n{row}");
            kept[usize::from(keeps)] += 1;
        }
    }
    assert!(kept.iter().all(|count| *count > DRAWS), "{kept:?}");
}
