//! Rows with the number of their capture: characters and packets are counted from 0, and names of channels
//! are unique, in each capture of a file.

use serde::Serialize;

use crate::row::{FieldType, ListRow, RowField};

/// A row, and the number of its capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CapturedRow<'a, R> {
    /// The row.
    #[serde(flatten)]
    pub row: &'a R,
    /// Number of the capture in its file, from 0.
    pub capture: u32,
}

impl<R: Serialize> ListRow for CapturedRow<'_, R> {
    /// Last field of every row.
    const FIELDS: &'static [RowField] =
        &[RowField::new("capture", u32::SHAPE, "", "", "number of the capture in the file")];
}
