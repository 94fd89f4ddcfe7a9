//! Fields of rows: their names, and the lists of them. That rows have these members is tested with the
//! schemas that `myriscope schema` prints.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use myriscope_analyzer::filter::{Filter, RowField, RowKind, list_fields};

#[test]
fn names_are_there_once_and_every_field_can_be_asked_for() {
    for kind in RowKind::ALL {
        let names: BTreeSet<&str> = kind.fields().iter().map(|field| field.name).collect();
        assert_eq!(names.len(), kind.fields().len());
        for field in kind.fields() {
            assert!(Filter::parse(field.name, kind).is_ok(), "{}", field.name);
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
    let page = include_str!("../../docs/filter.md");
    let listed = page.split_once("a test checks this.\n\n").unwrap().1;
    assert_eq!(
        listed.trim_end(),
        tables().trim_end(),
        "docs/filter.md: its tables should be\n{}",
        tables()
    );
}
