//! Columns of the tables, from the fields of their rows.

use analyzer::filter::{FieldShape, RowField};
use arrow_schema::{DataType, Field, Fields, Schema};
use serde_json::Value;

use crate::args::ExportedTable;
use crate::commands::schema::SchemaNode;

/// Field of packets that their rows do not have: joins find a packet on its other channels by it.
pub(super) const BODY: RowField = RowField {
    name: "body",
    shape: FieldShape::Text,
    unit: "",
    rule: "P-3",
    help: "digest of the bytes that no hop changes, 32 hex digits",
    members: &[],
    rust: "",
    absent: "",
};

/// Field of journeys in place of their hops, which have a table of their own.
pub(super) const COUNTED: RowField = number("hops", "number of hops");

/// Fields of hops beside their own.
pub(super) const JOURNEY: RowField = number("journey", "number of the journey");
pub(super) const HOP: RowField = number("hop", "number in the journey, from 0");

const fn number(name: &'static str, help: &'static str) -> RowField {
    RowField { name, shape: FieldShape::Number(u64::MAX), rule: "", help, ..BODY }
}

fn fields(table: ExportedTable) -> Vec<RowField> {
    let fields = table.kind().fields().iter();
    // One file is read.
    let own = fields.clone().filter(|field| field.name != "file");
    match table {
        ExportedTable::Packets => {
            // Bytes of packets are not kept.
            let own = own.filter(|field| !matches!(field.name, "bytes" | "bytes_left_out"));
            // Groups of members that few packets have. *Chosen*: `packets --format jsonl` has them.
            let own = own.filter(|field| {
                !matches!(
                    field.name.split('.').next(),
                    Some("vita26" | "ip" | "switch" | "switch_fault" | "internetwork")
                )
            });
            own.copied().chain([BODY]).collect()
        }
        ExportedTable::Journeys => {
            let own = own.filter(|field| !field.name.starts_with(COUNTED.name));
            own.copied().chain([COUNTED]).collect()
        }
        ExportedTable::Hops => {
            let hops = fields.clone().filter_map(|field| {
                Some(RowField { name: field.name.strip_prefix("hops.")?, ..*field })
            });
            let capture = fields.filter(|field| field.name == "capture").copied();
            [JOURNEY, HOP].into_iter().chain(hops).chain(capture).collect()
        }
        ExportedTable::Events
        | ExportedTable::LinkIntervals
        | ExportedTable::Fills
        | ExportedTable::Waits
        | ExportedTable::Messages
        | ExportedTable::Findings => own.copied().collect(),
    }
}

/// The schema of a table, its columns in the order of the fields; every column may be null.
pub(super) fn schema(table: ExportedTable) -> Schema {
    Schema::new(arrow_fields(&SchemaNode::of(&fields(table))))
}

fn arrow_fields(node: &SchemaNode) -> Fields {
    let members = node.members.iter();
    members.map(|(name, node)| Field::new(*name, data_type(node), true)).collect()
}

fn data_type(node: &SchemaNode) -> DataType {
    let Some(field) = node.field else { return DataType::Struct(arrow_fields(node)) };
    let kind = match field.shape {
        FieldShape::Bytes if field.is_list() => DataType::UInt8,
        FieldShape::Bytes => DataType::Binary,
        FieldShape::Number(0..=0xff) => DataType::UInt8,
        FieldShape::Number(0x100..=0xffff) => DataType::UInt16,
        FieldShape::Number(0x1_0000..=0xffff_ffff) => DataType::UInt32,
        FieldShape::Number(_) | FieldShape::Place | FieldShape::Time => DataType::UInt64,
        FieldShape::Signed => DataType::Int64,
        FieldShape::Real => DataType::Float64,
        FieldShape::Flag => DataType::Boolean,
        FieldShape::List if !node.members.is_empty() => DataType::Struct(arrow_fields(node)),
        // Objects whose members differ from row to row are their JSON.
        FieldShape::Text | FieldShape::Words(_) | FieldShape::Ranks(_) | FieldShape::List => {
            DataType::Utf8
        }
    };
    if field.is_list() { DataType::new_list(kind, true) } else { kind }
}

/// Reduces the JSON of a row to its columns. A value that its column cannot have becomes null: a time behind
/// 2⁶⁴ ps.
pub(super) fn fit(columns: &Fields, row: &mut Value) {
    let Value::Object(members) = row else { return *row = Value::Null };
    members.retain(|name, value| {
        let column = columns.find(name);
        column.inspect(|(_, column)| fit_value(column.data_type(), value)).is_some()
    });
}

#[expect(clippy::wildcard_enum_match_arm, reason = "Arrow has types that no column has")]
fn fit_value(kind: &DataType, value: &mut Value) {
    let is_up_to = |most: u64| value.as_u64().is_some_and(|number| number <= most);
    let fits = match kind {
        DataType::UInt8 => is_up_to(u8::MAX.into()),
        DataType::UInt16 => is_up_to(u16::MAX.into()),
        DataType::UInt32 => is_up_to(u32::MAX.into()),
        DataType::UInt64 => value.is_u64(),
        DataType::Int64 => value.is_i64(),
        DataType::Float64 => value.is_number(),
        DataType::Boolean => value.is_boolean(),
        DataType::Struct(members) => return fit(members, value),
        DataType::List(element) => match value.as_array_mut() {
            Some(list) => {
                return list.iter_mut().for_each(|value| fit_value(element.data_type(), value));
            }
            None => false,
        },
        DataType::Utf8 if !value.is_null() && !value.is_string() => {
            return *value = Value::String(value.to_string());
        }
        _ => value.is_string(),
    };
    if !fits {
        *value = Value::Null;
    }
}
