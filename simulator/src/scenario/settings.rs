//! Keys of a scenario that are replaced or added before it is read.

use codec::words::shortened;
use toml::de::DeTable;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};

/// Maximum number of names and numbers in a path. *Chosen*: scenarios have four.
const STEPS_MAX: usize = 8;
/// Units in the names of times: a scenario has one of the two.
const UNITS: [(&str, &str); 2] = [("_us", "_periods"), ("_periods", "_us")];

/// The last part of the path of a setting, for errors.
const KEY: &str = "a key, like `duration_us` or `traffic.0.load`";

/// Replaces or adds a key, for example `traffic.0.load`, in the text of a scenario. A value that is
/// not TOML is a text without its quotes. A text that is not TOML is returned as it is.
///
/// # Errors
/// The path does not fit the scenario: what is wrong, and what belongs there.
pub fn with_key(text: &str, path: &str, value: &str) -> Result<String, String> {
    let mut document = match text.parse::<DocumentMut>() {
        Ok(document) => document,
        // The scenario reader takes integers to 2^64, the editor of the text to 2^63 only.
        Err(_) if DeTable::parse(text).is_ok() => {
            return Err(
                "no key of a file with an integer above 9223372036854775807 is replaced".into()
            );
        }
        Err(_) => return Ok(text.to_owned()),
    };
    let value = value.trim();
    let value = value.parse::<Value>().unwrap_or_else(|_| Value::from(value));
    let mut item = document.as_item_mut();
    let mut parent = "the scenario";
    let mut steps = path.split('.').take(STEPS_MAX).peekable();
    while let Some(step) = steps.next() {
        let mut last = KEY.to_owned();
        if let Item::ArrayOfTables(list) = item {
            if step == list.len().to_string() {
                list.push(Table::new());
            }
            last = format!("a number from 0 to {}", list.len());
        }
        for (unit, other) in UNITS {
            if let (Some(stem), Some(table)) = (step.strip_suffix(unit), item.as_table_like_mut()) {
                table.remove(&format!("{stem}{other}"));
            }
        }
        let found = match index_of(step) {
            Some(index) => item.get_mut(index),
            None => item.get_mut(step),
        };
        item = found.ok_or_else(|| {
            let (parent, step) = (shortened(parent), shortened(step));
            format!("`{parent}` has no element `{step}`; expected {last}")
        })?;
        if let (true, Some(next)) = (item.is_none(), steps.peek()) {
            *item = match index_of(next) {
                Some(_) => Item::ArrayOfTables(ArrayOfTables::new()),
                None => Item::Table(Table::new()),
            };
        }
        parent = step;
    }
    if holds_tables(item, parent, path) {
        return Err(format!(
            "`{}` is a table, which would be lost; expected {KEY}",
            shortened(path)
        ));
    }
    *item = Item::Value(value);
    Ok(document.to_string())
}

/// A number of an element as it is written: `0`, but neither `00` nor `+0`.
fn index_of(step: &str) -> Option<usize> {
    step.parse().ok().filter(|index: &usize| index.to_string() == step)
}

/// True for a table of the scenario or a list of them, in any notation. A value within such a table
/// may be a table too: `payload = { … }`.
fn holds_tables(item: &Item, step: &str, path: &str) -> bool {
    let is_element = index_of(step).is_some() || step == path;
    match item {
        Item::Table(_) | Item::ArrayOfTables(_) => true,
        Item::Value(Value::InlineTable(_)) => is_element,
        Item::Value(Value::Array(list)) => list.iter().any(Value::is_inline_table),
        Item::Value(_) | Item::None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# A pair.
duration_us = 500 # short
[[traffic]]
to = \"h1\"
load = 0.1
[link]
go_slack = 4
";

    /// A setting, and the lines that are not in [`TEXT`]; or the message.
    #[test]
    fn keys_are_replaced_and_added() {
        for (path, value, expected) in [
            ("traffic.0.load", "0.3", "load = 0.3"),
            ("traffic.0.to", "h0", "to = \"h0\""),
            ("traffic.0.payload", "[64, 1500]", "payload = [64, 1500]"),
            ("link.go_slack", "8", "go_slack = 8"),
            ("duration_periods", "7", "duration_periods = 7"),
            ("seed", "3", "seed = 3"),
            ("topology.kind", "switch", "[topology]\nkind = \"switch\""),
            ("traffic.1.load", "0.2", "load = 0.2"),
            ("tap.0.all", "true", "[[tap]]\nall = true"),
            ("traffic.2.load", "1", "`traffic` has no element `2`; expected a number from 0 to 1"),
            ("traffic.load", "1", "`traffic` has no element `load`; expected a number from 0 to 1"),
            ("link.0", "1", "`link` has no element `0`; expected a key, like"),
            ("0.load", "1", "`the scenario` has no element `0`; expected a key, like"),
            ("seed.\u{1b}.\n", "1", ""),
            ("", "1", "\"\" = 1"),
        ] {
            let found = with_key(TEXT, path, value).map(|text| {
                assert_eq!(text.contains("duration_us"), path != "duration_periods", "{text}");
                let is_new = |line: &&str| TEXT.lines().all(|other| other != *line);
                text.lines().filter(is_new).collect::<Vec<_>>().join("\n")
            });
            let found = found.unwrap_or_else(|message| message);
            assert!(found.trim().starts_with(expected), "{path}: {found}");
        }
        for text in [TEXT, "link = { go_slack = 4 }\ntraffic = [{ payload = { small = 1 } }]"] {
            for path in ["traffic", "traffic.0", "link"] {
                let message = format!("`{path}` is a table, which would be lost; expected {KEY}");
                assert_eq!(with_key(text, path, "1"), Err(message));
            }
            for path in ["traffic.00", "traffic.+0", "traffic.00.load"] {
                let message = with_key(text, path, "1").unwrap_err();
                assert!(message.starts_with("`traffic` has no element"), "{message}");
            }
            assert!(with_key(text, "tap.0", "true").unwrap_err().starts_with("`tap.0` is a table"));
            let payload = with_key(text, "traffic.0.payload", "64").unwrap();
            assert!(payload.contains("payload = 64") && !payload.contains("small"), "{payload}");
        }
        let message = with_key("seed = 9223372036854775808", "duration_us", "5").unwrap_err();
        assert!(message.starts_with("no key of a file with an integer above"), "{message}");
        assert_eq!(with_key("a = [", "seed", "1"), Ok("a = [".to_owned()));
        let deep = with_key(TEXT, &"a.".repeat(100_000), &"[".repeat(100_000)).unwrap();
        assert!(deep.len() < 110_000);
    }
}
