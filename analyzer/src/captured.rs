//! Rows with their time and the number of their capture: characters and packets are counted from 0, and
//! names of channels are unique, in each capture of a file.

use serde::Serialize;
use serde_json::Value;

use crate::event::Picoseconds;
use crate::row::{FieldShape, FieldType, ListRow, RowField, json};
use codec::time::CharacterPeriod;

/// Field of rows of several files.
pub const FILE: RowField =
    RowField::new("file", FieldShape::Text, "", "", "name of the file, if there are several")
        .of_some();

/// A row with its time, and the number of its capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CapturedRow<'a, R> {
    /// The row.
    #[serde(flatten)]
    pub row: &'a R,
    /// Time of its first character, if it has a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ps: Option<Picoseconds>,
    /// Time of its last character, if its place has an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_ps: Option<Picoseconds>,
    /// Number of the capture in its file, from 0.
    pub capture: u32,
    /// Name of the file, if rows of several are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'a str>,
}

impl<'a, R: ListRow> CapturedRow<'a, R> {
    /// A row of a capture on a channel with a character period.
    pub fn new(row: &'a R, capture: u32, period: CharacterPeriod) -> Self {
        let place = row.place();
        let time = |at: Option<u64>| at.map(|at| period.time(at));
        let (time_ps, end_ps) = (time(place.first), time(place.last));
        Self { row, time_ps, end_ps, capture, file: None }
    }

    /// The row, of one of several files.
    #[must_use]
    pub const fn of_file(self, file: Option<&'a str>) -> Self {
        Self { file, ..self }
    }
}

impl<R: ListRow> ListRow for CapturedRow<'_, R> {
    /// Last fields of every row. The times are declared with the place of the row.
    const FIELDS: &'static [RowField] =
        &[RowField::new("capture", u32::SHAPE, "", "", "number of the capture in the file"), FILE];

    fn member(&self, name: &str) -> Option<Value> {
        match name {
            "capture" => Some(self.capture.into()),
            "file" => self.file.map(Value::from),
            "time_ps" if self.time_ps.is_some() => Some(json(&self.time_ps)),
            "end_ps" if self.end_ps.is_some() => Some(json(&self.end_ps)),
            _ => self.row.member(name),
        }
    }
}
