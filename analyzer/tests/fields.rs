//! Fields of rows: their names, and the lists of them. That rows have these members is tested with the
//! schemas that `myriscope schema` prints.

use std::collections::BTreeSet;

use myriscope_analyzer::filter::{Filter, RowKind, list_fields};

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
