//! Keys of a scenario that are replaced or added before it is read.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::error::shortened;

/// Units in the names of times: a scenario has one of the two.
const UNITS: [(&str, &str); 2] = [("_us", "_periods"), ("_periods", "_us")];

/// Part of a key's path: a name, and the number of an element if it is a list.
type PathStep<'a> = (&'a str, Option<usize>);

/// Replaces or adds a key, for example `traffic.0.load`, in the text of a scenario. A value that is
/// not TOML is a text without its quotes. A text that is not TOML is returned as it is.
///
/// # Errors
/// The path does not fit the scenario: what is wrong, and what belongs there.
pub fn with_key(text: &str, path: &str, value: &str) -> Result<String, String> {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(text.to_owned()) };
    let value = value.trim();
    let value = value.parse::<Value>().unwrap_or_else(|_| Value::from(value));
    let steps = steps(path)?;
    let Some(((name, index), tables)) = steps.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for step in tables {
        table = enter(table, *step)?;
    }
    match index {
        Some(index) => {
            let list = table.get_mut(name).and_then(Item::as_array_mut);
            let element = list.and_then(|list| list.get_mut(*index));
            *element.ok_or_else(|| {
                format!(
                    "`{}` has no element {index}; expected an element of a list",
                    shortened(name)
                )
            })? = value;
        }
        None => {
            for (unit, other) in UNITS {
                if let Some(stem) = name.strip_suffix(unit) {
                    table.remove(&format!("{stem}{other}"));
                }
            }
            table.insert(name, Item::Value(value));
        }
    }
    Ok(document.to_string())
}

/// The steps of a path: names and numbers between points.
fn steps(path: &str) -> Result<Vec<PathStep<'_>>, String> {
    let mut steps: Vec<PathStep<'_>> = Vec::new();
    for part in path.split('.') {
        match (part.parse::<usize>(), steps.last_mut()) {
            (Ok(number), Some((_, index @ None))) => *index = Some(number),
            (Err(_), _) if !part.is_empty() => steps.push((part, None)),
            (Ok(_) | Err(_), _) => {
                let expected = "expected a key, like `duration_us` or `traffic.0.load`";
                return Err(format!("`{}` is not a key; {expected}", shortened(path)));
            }
        }
    }
    Ok(steps)
}

/// The table of a step; a missing one is added, in a list behind the last one.
fn enter<'t>(
    table: &'t mut dyn TableLike,
    (name, index): PathStep<'_>,
) -> Result<&'t mut dyn TableLike, String> {
    let shown = shortened(name);
    let missing = match index {
        Some(_) => Item::ArrayOfTables(ArrayOfTables::new()),
        None => Item::Table(Table::new()),
    };
    let item = table.entry(name).or_insert(missing);
    let Some(index) = index else {
        return item.as_table_like_mut().ok_or_else(|| {
            format!(
                "`{shown}` is a list or a value; expected the number of a table, like `{shown}.0`"
            )
        });
    };
    let count = item
        .as_array_of_tables()
        .map_or_else(|| item.as_array().map_or(0, toml_edit::Array::len), ArrayOfTables::len);
    let no_element = || {
        let last = if count == 0 { "0".to_owned() } else { format!("0 to {count}") };
        format!("`{shown}.{index}`: the scenario has {count} `[[{shown}]]`; expected {last}")
    };
    if item.is_array_of_tables() {
        let list = item.as_array_of_tables_mut().ok_or_else(no_element)?;
        if index == list.len() {
            list.push(Table::new());
        }
        return list.get_mut(index).map(|table| table as &mut dyn TableLike).ok_or_else(no_element);
    }
    let element = item.as_array_mut().and_then(|list| list.get_mut(index));
    let element = element.and_then(Value::as_inline_table_mut);
    element.map(|table| table as &mut dyn TableLike).ok_or_else(no_element)
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

    /// A setting, and the lines that differ from [`TEXT`]; or the message.
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
            ("traffic.1.load", "0.2", "[[traffic]]\nload = 0.2"),
            ("tap.0.all", "true", "[[tap]]\nall = true"),
            (
                "traffic.2.load",
                "1",
                "`traffic.2`: the scenario has 1 `[[traffic]]`; expected 0 to 1",
            ),
            (
                "traffic.load",
                "1",
                "`traffic` is a list or a value; expected the number of a table, like `traffic.0`",
            ),
            ("link.0", "1", "`link` has no element 0; expected an element of a list"),
            (
                "0.load",
                "1",
                "`0.load` is not a key; expected a key, like `duration_us` or `traffic.0.load`",
            ),
            ("", "1", "`` is not a key; expected a key, like `duration_us` or `traffic.0.load`"),
        ] {
            let changed = with_key(TEXT, path, value);
            let found = changed.map_or_else(
                |message| message,
                |text| {
                    let is_new = |line: &&str| {
                        !TEXT.lines().any(|other| other == *line) || line.starts_with("[[t")
                    };
                    let mut lines: Vec<&str> = text.lines().filter(is_new).collect();
                    // The table that was there.
                    lines.remove(lines.iter().position(|line| *line == "[[traffic]]").unwrap());
                    assert_eq!(text.contains("duration_us"), path != "duration_periods", "{text}");
                    lines.join("\n")
                },
            );
            assert_eq!(found.trim(), expected, "{path}");
        }
    }

    #[test]
    fn a_text_that_is_not_toml_is_left_to_the_reader() {
        assert_eq!(with_key("a = [", "seed", "1"), Ok("a = [".to_owned()));
    }
}
