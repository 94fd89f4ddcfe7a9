//! Rows with their time and the number of their capture: characters and packets are counted from 0, and
//! names of channels are unique, in each capture of a file.

use serde_json::Value;

use crate::event::Picoseconds;
use crate::row::{FieldShape, FieldType, ListRow, RowField, json, row};
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

row! {
    /// Last members of every row.
    #[derive(Copy)]
    pub struct AddedMembers<'a> {
        time_ps: Option<Picoseconds> ["Option::is_none"]: "Time of its first character, if it has a place.";
        end_ps: Option<Picoseconds> ["Option::is_none"]: "Time of its last character, if its place has an end.";
        capture: u32: "Number of the capture in its file, from 0.";
        file: Option<&'a str> ["Option::is_none"]: "Name of the file, if rows of several are listed.";
    }
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
        self.added.member(name).or_else(|| self.row.member(name))
    }

    fn json(&self) -> Value {
        let mut row = self.row.json();
        if let (Value::Object(members), Value::Object(mut added)) = (&mut row, json(&self.added)) {
            members.append(&mut added);
        }
        row
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.row.write(out);
        out.pop();
        let brace = out.len();
        self.added.write(out);
        if let Some(brace) = out.get_mut(brace) {
            *brace = b',';
        }
    }
}
