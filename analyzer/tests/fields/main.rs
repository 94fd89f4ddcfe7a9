//! The registry of fields and the rows that are printed say the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod samples;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use myriscope_analyzer::filter::{FieldShape, Filter, RowField, RowKind, list_fields};

use serde_json::Value;

use crate::samples::samples;

/// The values at the end of a path, through lists.
fn at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    if let Value::Array(elements) = value {
        return elements.iter().flat_map(|element| at(element, path)).collect();
    }
    match path.split_once('.') {
        None => value.get(path).into_iter().collect(),
        Some((name, rest)) => value.get(name).map_or_else(Vec::new, |inner| at(inner, rest)),
    }
}

/// The paths of all values, those of members and of elements too.
fn paths(value: &Value, before: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(elements) => {
            elements.iter().for_each(|element| paths(element, before, found));
        }
        Value::Object(members) => {
            for (name, member) in members {
                let path = format!("{before}{name}");
                paths(member, &format!("{path}."), found);
                found.insert(path);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Members whose names depend on the kind of finding.
const FREE: [&str; 2] = ["first.", "facts."];

fn fits(field: &RowField, value: &Value) -> bool {
    match field.shape {
        FieldShape::Number(most) => value.as_u64().is_some_and(|number| number <= most),
        FieldShape::Signed => value.is_i64(),
        FieldShape::Real => value.is_f64(),
        FieldShape::Place | FieldShape::Time => value.is_u64(),
        FieldShape::Text => match value.as_array() {
            None => value.is_string(),
            Some(texts) => texts.iter().all(Value::is_string),
        },
        FieldShape::Words(words) | FieldShape::Ranks(words) => {
            value.as_str().is_some_and(|word| words.contains(&word))
        }
        FieldShape::Bytes => value.is_array() || value.is_string(),
        FieldShape::Flag => value.is_boolean(),
        FieldShape::List => value.is_array() || value.is_object(),
    }
}

#[test]
fn every_member_of_a_row_is_a_field_and_every_field_a_member() {
    for kind in RowKind::ALL {
        let rows = samples(kind);
        let mut members = BTreeSet::new();
        rows.iter().for_each(|row| paths(row, "", &mut members));
        members.retain(|path| !FREE.iter().any(|free| path.starts_with(free)));
        let fields: BTreeSet<String> = kind.fields().iter().map(|f| f.name.to_owned()).collect();
        let missing: Vec<_> = fields.difference(&members).collect();
        assert!(missing.is_empty(), "{}: no such members: {missing:?}", kind.name());
        // That an object in an object has members need not be asked.
        let inner =
            |path: &String| members.iter().any(|other| other.starts_with(&format!("{path}.")));
        let unknown: Vec<_> = members.difference(&fields).filter(|path| !inner(path)).collect();
        assert!(unknown.is_empty(), "{}: not in the registry: {unknown:?}", kind.name());
        for field in kind.fields() {
            let values: Vec<&Value> = rows.iter().flat_map(|row| at(row, field.name)).collect();
            assert!(!values.is_empty(), "{} of {}: not there", field.name, kind.name());
            for value in values.iter().filter(|value| !value.is_null()) {
                assert!(fits(field, value), "{} of {}: {value}", field.name, kind.name());
            }
            let said: BTreeSet<&str> = values.iter().filter_map(|value| value.as_str()).collect();
            if matches!(kind, RowKind::Events | RowKind::Findings) && !field.words().is_empty() {
                let words: BTreeSet<&str> = field.words().iter().copied().collect();
                assert_eq!(said, words, "{}", field.name);
            }
        }
    }
}

#[test]
fn names_are_there_once_and_every_field_can_be_asked_for() {
    for kind in RowKind::ALL {
        let names: BTreeSet<&str> = kind.fields().iter().map(|field| field.name).collect();
        assert_eq!(names.len(), kind.fields().len());
        for (field, rows) in kind.fields().iter().map(|field| (field, samples(kind))) {
            let mut filter = Filter::parse(field.name, kind).unwrap();
            assert!(rows.iter().any(|row| filter.keeps(row, 1)), "{}", field.name);
            assert!(!field.help.is_empty() && field.help.len() <= 60, "{}", field.name);
        }
    }
}

#[test]
fn what_fields_mean_stands_in_one_column_however_long_their_names_are() {
    for kind in RowKind::ALL {
        let mut lines: Vec<Vec<char>> = Vec::new();
        list_fields(kind, &mut |line| {
            lines.push(line.pieces().flat_map(|(_, piece)| piece.chars()).collect());
        });
        let head: String = lines.first().unwrap().iter().collect();
        let column = head.find("meaning").unwrap();
        for line in &lines {
            assert!(line.len() <= 120, "{line:?}");
            assert_eq!(line.get(column - 1), Some(&' '), "{line:?}");
            assert!(line.get(column).is_some_and(|first| *first != ' '), "{line:?}");
        }
    }
}

/// The registry as the tables of `docs/filter.md`.
fn tables() -> String {
    let mut text = String::new();
    for kind in RowKind::ALL {
        writeln!(text, "### `{}`\n", kind.command()).unwrap();
        text += "| field | type | unit | rule | meaning |\n|---|---|---|---|---|\n";
        for RowField { name, shape, unit, rule, help, .. } in kind.fields() {
            let words = kind.field(name).unwrap().words();
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let words =
                if words.is_empty() { String::new() } else { format!(": {}", words.join(" ")) };
            let shape = shape.name();
            writeln!(text, "| `{name}` | {shape} | {unit} | {rule} | {help}{words} |").unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_documentation_lists_every_field() {
    let page = include_str!("../../../docs/filter.md");
    let listed = page.split_once("a test checks this.\n\n").unwrap().1;
    assert_eq!(
        listed.trim_end(),
        tables().trim_end(),
        "docs/filter.md: its tables should be\n{}",
        tables()
    );
}
