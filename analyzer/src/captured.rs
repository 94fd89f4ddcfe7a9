//! Rows with the number of their capture: places, packets and names of channels start anew in each
//! capture of a file.

use serde::Serialize;

/// A row, and the capture that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CapturedRow<'a, R> {
    /// The row.
    #[serde(flatten)]
    pub row: &'a R,
    /// Number of the capture in its file, from 0.
    pub capture: u32,
}
