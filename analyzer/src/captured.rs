//! Rows with the number of their capture: characters and packets are counted from 0, and names of channels
//! are unique, in each capture of a file.

use serde::Serialize;

use crate::row::{FieldType, RowField};

/// A row, and the number of its capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CapturedRow<'a, R> {
    /// The row.
    #[serde(flatten)]
    pub row: &'a R,
    /// Number of the capture in its file, from 0.
    pub capture: u32,
}

/// Last field of every row.
pub(crate) const CAPTURE: RowField =
    RowField::new("capture", u32::SHAPE, "", "", "number of the capture in the file");
