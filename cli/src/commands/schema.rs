//! `myriscope schema`: JSON Schema of the rows of a list, from the table of their fields.

use std::collections::BTreeMap;

use analyzer::filter::{FieldShape, RowField, RowKind};
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

/// Schema of one row, as in JSONL.
fn schema(kind: RowKind) -> Value {
    let mut root = SchemaNode::default();
    for field in kind.fields() {
        root.add(field.name, field);
    }
    let mut schema = root.object();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(format!("a row of myriscope {}", kind.command())));
    schema.insert("version".to_owned(), json!(VERSION));
    schema.insert("type".to_owned(), json!("object"));
    Value::Object(schema)
}

/// A member of a row: its field, if it is one, and its own members.
#[derive(Default)]
struct SchemaNode {
    field: Option<RowField>,
    members: BTreeMap<&'static str, Self>,
}

impl SchemaNode {
    fn add(&mut self, path: &'static str, field: &RowField) {
        match path.split_once('.') {
            Some((name, rest)) => self.members.entry(name).or_default().add(rest, field),
            None => self.members.entry(path).or_default().field = Some(*field),
        }
    }

    /// Keywords for an object of the members.
    fn object(&self) -> Map<String, Value> {
        let members = self.members.iter();
        let members: Map<String, Value> =
            members.map(|(name, node)| ((*name).to_owned(), node.schema())).collect();
        let mut keywords = Map::new();
        if !members.is_empty() {
            keywords.insert("properties".to_owned(), Value::Object(members));
        }
        keywords
    }

    fn schema(&self) -> Value {
        let mut schema = match self.field.map(|field| field.shape) {
            None | Some(FieldShape::List) => {
                let mut object = self.object();
                let mut items = object.clone();
                items.insert("type".to_owned(), json!(["object", "integer", "string", "null"]));
                object.insert("type".to_owned(), json!(["object", "array", "null"]));
                object.insert("items".to_owned(), Value::Object(items));
                object
            }
            Some(shape) => value(shape),
        };
        if let Some(field) = self.field {
            let texts = [("description", field.help), ("unit", field.unit), ("rule", field.rule)];
            for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
                schema.insert(name.to_owned(), json!(text));
            }
        }
        Value::Object(schema)
    }
}

/// Keywords for a value. A row lacks a value by null, or does not have the member; several values of
/// one type are a list.
fn value(shape: FieldShape) -> Map<String, Value> {
    let (name, bounds) = match shape {
        FieldShape::Number(max) => ("integer", json!({ "minimum": 0, "maximum": max })),
        FieldShape::Place | FieldShape::Time => ("integer", json!({ "minimum": 0 })),
        FieldShape::Signed => ("integer", json!({})),
        FieldShape::Real => ("number", json!({})),
        FieldShape::Text => ("string", json!({})),
        FieldShape::Words(words) | FieldShape::Ranks(words) => {
            let words: Vec<Option<&str>> = words.iter().copied().map(Some).chain([None]).collect();
            return single("string", &json!({ "enum": words }));
        }
        FieldShape::Flag => return single("boolean", &json!({})),
        FieldShape::Bytes => {
            let items = json!({ "type": "integer", "minimum": 0, "maximum": 255 });
            return single_or_list("string", &json!({}), &items);
        }
        FieldShape::List => return Map::new(),
    };
    let mut items = bounds.clone();
    if let Some(items) = items.as_object_mut() {
        items.insert("type".to_owned(), json!([name, "null"]));
    }
    single_or_list(name, &bounds, &items)
}

fn single(name: &str, keywords: &Value) -> Map<String, Value> {
    let mut schema = keywords.as_object().cloned().unwrap_or_default();
    schema.insert("type".to_owned(), json!([name, "null"]));
    schema
}

fn single_or_list(name: &str, keywords: &Value, items: &Value) -> Map<String, Value> {
    let mut schema = single(name, keywords);
    schema.insert("type".to_owned(), json!([name, "array", "null"]));
    schema.insert("items".to_owned(), items.clone());
    schema
}
