//! Rows of all fixtures agree with the schema of their command.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{capture, fixtures, good, json, run, views};

/// Fields that no fixture has, without options.
const UNSEEN: [&str; 11] = [
    "packets.bytes",
    "packets.bytes_left_out",
    "packets.ip.fault",
    "packets.route_left_out",
    "journeys.injuries.apart",
    "journeys.transport.offset",
    "journeys.transport.total",
    "mapping.first_healed_ps",
    "mapping.flows",
    "mapping.healed",
    "mapping.last_healed_ps",
];

/// A check of rows by the keywords that `myriscope schema` prints.
struct SchemaCheck {
    root: Value,
    /// Faults, each once.
    faults: BTreeSet<String>,
    /// Paths of the members found, and the words that they have.
    seen: BTreeSet<String>,
}

impl SchemaCheck {
    fn of(command: &str) -> Self {
        let root = json(&good(&["schema", command]));
        Self { root, faults: BTreeSet::new(), seen: BTreeSet::new() }
    }

    fn check(&mut self, value: &Value, schema: &Value, place: &str) {
        if let Some(name) = schema["$ref"].as_str() {
            let schema = self.root.pointer(name.trim_start_matches('#')).unwrap().clone();
            return self.check(value, &schema, place);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let choice = choices.get(usize::from(value.is_array())).unwrap();
            return self.check(value, choice, place);
        }
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let types = schema["type"].to_string();
        let is_known = types.contains(&format!("\"{found}\""));
        if schema.is_null() || types != "null" && !is_known {
            self.faults.insert(format!("{place}: {found} is not in {types}"));
        }
        if let (Some(words), Value::String(word)) = (schema["enum"].as_array(), value) {
            self.seen.insert(format!("{place}={word}"));
            if !words.contains(value) {
                self.faults.insert(format!("{place}: {value} is none of {words:?}"));
            }
        }
        if value.as_u64() > schema["maximum"].as_u64().or(value.as_u64()) {
            self.faults.insert(format!("{place}: {value} is too large"));
        }
        for element in value.as_array().into_iter().flatten() {
            self.check(element, &schema["items"], place);
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
                self.faults.insert(format!("{place}: lacks {name}"));
            }
        }
        for (name, member) in value.as_object().into_iter().flatten() {
            // Members of facts depend on the kind of finding.
            if let Some(properties) = schema.get("properties") {
                let path = format!("{place}.{name}");
                self.check(member, &properties[name], &path);
                self.seen.insert(path);
            }
        }
    }

    /// Members and words of the schema that were not seen.
    fn unseen(&self, schema: &Value, place: &str, out: &mut Vec<String>) {
        let is_kind = ["events.event", "check.finding"].contains(&place);
        let words = schema["enum"].as_array().filter(|_| is_kind).into_iter().flatten();
        for word in words.filter_map(Value::as_str) {
            out.extend(Some(format!("{place}={word}")).filter(|it| !self.seen.contains(it)));
        }
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{place}.{name}");
            self.unseen(member, &path, out);
            out.extend(Some(path).filter(|it| !self.seen.contains(it)));
        }
        if let Some(items) = schema.get("items") {
            self.unseen(items, place, out);
        }
    }
}

#[test]
fn rows_of_all_fixtures_agree_with_the_schema_and_have_all_its_members() {
    let (mut faults, mut unseen) = (Vec::new(), Vec::new());
    for command in views() {
        let name = command.join(" ");
        let mut check = SchemaCheck::of(&name);
        let root = check.root.clone();
        assert_eq!(root["version"], 1);
        let mut rows = |files: &[&str], options: &[&str], def: &str| {
            let output = run(&[command, options, files].concat()).out;
            for line in output.lines().filter(|_| !def.is_empty()) {
                let row = json(line);
                let def = if row["row"] == "verdict" { "/$defs/verdict" } else { def };
                check.check(&row, root.pointer(def.trim_start_matches('#')).unwrap(), &name);
            }
            output
        };
        let mut all: Vec<_> =
            fixtures().iter().map(|path| path.to_str().unwrap().to_owned()).collect();
        all.sort_by_key(|file| !file.contains("/link-"));
        let files: Vec<&str> = all.iter().map(String::as_str).collect();
        rows(&files, &["--format", "jsonl", "--limit", "20000"], "#");
        if name == "packets" {
            let file = capture("vita26");
            rows(&[&file], &["--format", "jsonl", "--dialect", "vita26"], "#");
        }
        let (first, two) = (files.get(..1).unwrap(), files.get(..2).unwrap());
        rows(first, &["--format", "jsonl"], "#");
        rows(two, &["--group", "capture", "--format", "jsonl"], "#/$defs/group");
        let document = json(&rows(two, &["--format", "json"], ""));
        let row_schema = root["$defs"]["document"].clone();
        check.check(&document, &row_schema, &name);
        check.unseen(&root, &name, &mut unseen);
        faults.extend(check.faults);
    }
    assert_eq!(faults, [""; 0]);
    assert_eq!(unseen, UNSEEN);
}

#[test]
fn the_schemas_are_listed() {
    assert!(good(&["schema"]).lines().any(|line| line == "links --intervals"));
}
