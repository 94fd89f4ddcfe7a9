//! Rows with their time and the number of their capture: characters and packets are counted from 0, and
//! names of channels are unique, in each capture of a file.

use serde::Serialize;
use serde_json::Value;

use crate::event::Picoseconds;
use crate::row::{FieldShape, FieldType, ListRow, RowField, json, json_text};
use codec::time::CharacterPeriod;

/// Field of rows of several files.
pub const FILE: RowField =
    RowField::new("file", FieldShape::Text, "", "", "name of the file, if there are several")
        .of_some();

/// A row with its time, and the number of its capture.
#[derive(Clone, Copy, Debug)]
pub struct CapturedRow<'a> {
    row: &'a dyn ListRow,
    added: AddedMembers<'a>,
}

/// Last members of every row.
#[derive(Clone, Copy, Debug, Serialize)]
struct AddedMembers<'a> {
    /// Time of its first character, if it has a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ps: Option<Picoseconds>,
    /// Time of its last character, if its place has an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_ps: Option<Picoseconds>,
    /// Number of the capture in its file, from 0.
    capture: u32,
    /// Name of the file, if rows of several are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

impl<'a> CapturedRow<'a> {
    /// Last fields of every row. The times are declared with the place of the row.
    pub const FIELDS: &'static [RowField] =
        &[RowField::new("capture", u32::SHAPE, "", "", "number of the capture in the file"), FILE];

    /// A row of a capture on a channel with a character period.
    pub fn new(row: &'a dyn ListRow, capture: u32, period: CharacterPeriod) -> Self {
        let place = row.place();
        let time = |at: Option<u64>| at.map(|at| period.time(at));
        let (time_ps, end_ps) = (time(place.first), time(place.last));
        Self { row, added: AddedMembers { time_ps, end_ps, capture, file: None } }
    }

    /// The row, of one of several files.
    pub const fn of_file(self, file: Option<&'a str>) -> Self {
        Self { added: AddedMembers { file, ..self.added }, ..self }
    }
}

impl ListRow for CapturedRow<'_> {
    fn member(&self, name: &str) -> Option<Value> {
        let AddedMembers { time_ps, end_ps, capture, file } = self.added;
        match name {
            "capture" => Some(capture.into()),
            "file" => file.map(Value::from),
            "time_ps" if time_ps.is_some() => Some(json(&time_ps)),
            "end_ps" if end_ps.is_some() => Some(json(&end_ps)),
            _ => self.row.member(name),
        }
    }

    fn json(&self) -> Value {
        let mut row = self.row.json();
        if let (Value::Object(members), Value::Object(mut added)) = (&mut row, json(&self.added)) {
            members.append(&mut added);
        }
        row
    }

    fn text(&self) -> String {
        joined(self.row.text(), &json_text(&self.added))
    }
}

/// An object's JSON with the members of another one behind its own.
pub fn joined(mut object: String, added: &str) -> String {
    if let (Some('}'), Some(members)) = (object.pop(), added.strip_prefix('{')) {
        object.extend([",", members]);
    }
    object
}
