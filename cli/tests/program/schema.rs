//! Rows of all fixtures agree with the schema of their command.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{VIEWS, bad, good, run};

/// Faults of a value, by a schema of the keywords that `myriscope schema` prints.
fn faults(value: &Value, schema: &Value, place: &str, out: &mut Vec<String>) {
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return out.push(format!("{place}: not in the schema"));
        }
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) if types.contains(&"number") => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.contains(&found) {
        out.push(format!("{place}: {found} is none of {types:?}"));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        out.push(format!("{place}: {value} is none of {words:?}"));
    }
    if let Some(number) = value.as_u64() {
        let max = schema["maximum"].as_u64().unwrap_or(u64::MAX);
        if number > max {
            out.push(format!("{place}: {number} is more than {max}"));
        }
    }
    for element in value.as_array().into_iter().flatten() {
        faults(element, &schema["items"], &format!("{place}[]"), out);
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        // Members of objects without fields of their own depend on the kind of row.
        if let Some(properties) = schema.get("properties") {
            faults(member, &properties[name], &format!("{place}.{name}"), out);
        }
    }
}

#[test]
fn rows_of_all_fixtures_agree_with_the_schema() {
    let mut all = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for command in VIEWS {
        let name = command.join(" ");
        let schema: Value = serde_json::from_str(&good(&["schema", &name])).unwrap();
        assert_eq!(schema["version"], 1);
        insta::glob!("../../../fixtures", "*/capture.pcapng", |path| {
            let options =
                [command, &["--format", "jsonl", "--limit", "300", path.to_str().unwrap()]];
            for line in run(&options.concat()).out.lines() {
                let row: Value = serde_json::from_str(line).unwrap();
                if row["row"] != "verdict" {
                    faults(&row, &schema, &name, &mut all);
                    *seen.entry(name.clone()).or_default() += 1;
                }
            }
        });
    }
    all.sort();
    all.dedup();
    assert_eq!(all, [""; 0]);
    assert_eq!(seen.len(), VIEWS.len(), "{seen:?}");
}

#[test]
fn an_unknown_schema_is_answered_with_those_that_exist() {
    assert!(good(&["schema"]).lines().any(|line| line == "links --intervals"));
    assert!(bad(&["schema", "packet"]).contains("there is a schema of info, packets,"));
}
