//! `myriscope schema`: JSON Schema of the rows of a list, from the table of their fields.

use std::collections::BTreeSet;

use analyzer::captured::FILE;
use analyzer::filter::{FieldShape, RowField, RowKind};
use analyzer::rules::VerdictRow;
use serde_json::{Map, Value, json};

use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;

/// Version of the rows: it rises when a field is removed or changes its meaning, not when one is added.
const VERSION: u32 = 1;

/// Prints the schema of the rows of a command, or without one lists the commands.
pub(crate) fn run(command: Option<&str>, output: &mut StandardOutput) -> CommandResult {
    let Some(command) = command else {
        RowKind::ALL.iter().for_each(|kind| output.text(&format!("{}\n", kind.command())));
        return Ok(RunReport::default());
    };
    let kind = RowKind::ALL.into_iter().find(|kind| kind.command() == command);
    let Some(kind) = kind else {
        let names = RowKind::ALL.map(RowKind::command).join(", ");
        let message = format!("no rows are called {command:?}; there is a schema of {names}");
        return Err(CliError::Message(message));
    };
    let text = serde_json::to_string_pretty(&schema(kind)).unwrap_or_default();
    output.text(&(text + "\n"));
    Ok(RunReport::default())
}

/// Schema of one row, as in JSONL, with those of other lines and of the object of `--format json`.
fn schema(kind: RowKind) -> Value {
    let mut schema = SchemaNode::of(kind.fields()).object();
    let count = one_or_each(&json!({ "type": "integer", "minimum": 0 }));
    let verdicts = json!({ "type": "array", "items": { "$ref": "#/$defs/verdict" } });
    let behind = if kind == RowKind::Channels {
        vec![("skipped_interfaces", count.clone()), ("faults", count)]
    } else if kind == RowKind::Findings {
        vec![("verdicts", verdicts), ("read", one_or_each(&json!({ "type": "object" })))]
    } else {
        vec![]
    };
    let rows = (kind.list(), json!({ "type": "array", "items": { "$ref": "#" } }));
    let members = behind.into_iter().chain([rows]);
    let members: Value = members.map(|(name, value)| (name.to_owned(), value)).collect();
    let verdict = SchemaNode::of(&[VerdictRow::FIELDS, &[FILE]].concat()).object();
    let mut others = Map::new();
    others.insert("group".to_owned(), group(kind));
    others.insert("document".to_owned(), json!({ "type": "object", "properties": members }));
    if kind == RowKind::Findings {
        others.insert("verdict".to_owned(), verdict.into());
    }
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(format!("a row of myriscope {}", kind.command())));
    schema.insert("version".to_owned(), json!(VERSION));
    schema.insert("$defs".to_owned(), others.into());
    Value::Object(schema)
}

/// A member with a value, or of several files a list of their values.
fn one_or_each(value: &Value) -> Value {
    json!({ "anyOf": [value, { "type": "array", "items": value }] })
}

/// Schema of a row of `--group`: values of fields under their whole names, and the number of rows.
fn group(kind: RowKind) -> Value {
    let leaves = kind.fields().iter().filter(|field| field.members.is_empty());
    let mut values: Map<String, Value> =
        leaves.map(|field| (field.name.to_owned(), json!({}))).collect();
    values.insert("count".to_owned(), json!({ "type": "integer", "minimum": 1 }));
    json!({ "type": "object", "properties": values, "required": ["count"] })
}

/// A member of a row: its field, if it is one, and its own members.
#[derive(Default)]
pub(crate) struct SchemaNode {
    pub(crate) field: Option<RowField>,
    /// In the order of the registry.
    pub(crate) members: Vec<(&'static str, Self)>,
}

impl SchemaNode {
    pub(crate) fn of(fields: &[RowField]) -> Self {
        let mut root = Self::default();
        fields.iter().for_each(|field| root.add(field.name, field));
        root
    }

    fn add(&mut self, path: &'static str, field: &RowField) {
        match path.split_once('.') {
            Some((name, rest)) => self.member(name).add(rest, field),
            None => self.member(path).field = Some(*field),
        }
    }

    fn member(&mut self, name: &'static str) -> &mut Self {
        let found = self.members.iter().position(|(known, _)| *known == name);
        let at = found.unwrap_or(self.members.len());
        if found.is_none() {
            self.members.push((name, Self::default()));
        }
        #[expect(clippy::indexing_slicing, reason = "it is there now")]
        &mut self.members[at].1
    }

    /// Keywords for an object of the members.
    fn object(&self) -> Map<String, Value> {
        let mut keywords = Map::new();
        keywords.insert("type".to_owned(), json!("object"));
        if !self.members.is_empty() {
            let is_required = |field: RowField| field.absent.is_empty();
            let required = self.members.iter();
            let required = required.filter(|(_, node)| node.field.is_none_or(is_required));
            let required: BTreeSet<&str> = required.map(|(name, _)| *name).collect();
            keywords.insert("required".to_owned(), required.into_iter().collect());
            let members = self.members.iter();
            let schemas = members.map(|(name, node)| ((*name).to_owned(), node.schema()));
            keywords.insert("properties".to_owned(), Value::Object(schemas.collect()));
        }
        keywords
    }

    fn schema(&self) -> Value {
        let Some(field) = self.field else { return Value::Object(self.object()) };
        let mut schema =
            if field.shape == FieldShape::List { self.object() } else { value(&field) };
        if field.is_list() {
            if field.has_nulls() {
                allow_null(&mut schema);
            }
            schema = Map::from_iter([
                ("type".to_owned(), json!("array")),
                ("items".to_owned(), Value::Object(schema)),
            ]);
        }
        if field.is_nullable() {
            allow_null(&mut schema);
        }
        let texts = [("description", field.help), ("unit", field.unit), ("rule", field.rule)];
        for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            schema.insert(name.to_owned(), json!(text));
        }
        Value::Object(schema)
    }
}

fn allow_null(schema: &mut Map<String, Value>) {
    let kind = schema.get("type").cloned();
    schema.insert("type".to_owned(), json!([kind, "null"]));
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
}

/// Keywords for a value, or for an element of a list.
fn value(field: &RowField) -> Map<String, Value> {
    let keywords = match field.shape {
        FieldShape::Number(max) => json!({ "type": "integer", "minimum": 0, "maximum": max }),
        FieldShape::Place | FieldShape::Time => json!({ "type": "integer", "minimum": 0 }),
        FieldShape::Signed => json!({ "type": "integer" }),
        FieldShape::Real => json!({ "type": "number" }),
        FieldShape::Words(words) | FieldShape::Ranks(words) => {
            json!({ "type": "string", "enum": words })
        }
        FieldShape::Flag => json!({ "type": "boolean" }),
        FieldShape::Bytes if field.is_list() => {
            json!({ "type": "integer", "minimum": 0, "maximum": 255 })
        }
        FieldShape::Text | FieldShape::Bytes => json!({ "type": "string" }),
        FieldShape::List => json!({ "type": "object" }),
    };
    keywords.as_object().cloned().unwrap_or_default()
}
