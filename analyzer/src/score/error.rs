//! Errors of a comparison.

use std::io;

use codec::capture::CaptureError;

/// Error that prevents a comparison.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// The capture cannot be opened.
    #[error("{0}")]
    Open(#[source] io::Error),
    /// The capture is damaged.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// No channel says where it was tapped, so no event of the truth can be compared.
    #[error("no channel declares its tap (tap=node:port in its description)")]
    NoTap,
    /// A line of the truth cannot be parsed.
    #[error("line {line}: {wrong}")]
    Truth {
        /// Counts from 1.
        line: u64,
        /// Its fault.
        wrong: String,
    },
    /// Reading the truth failed.
    #[error("line {line}: read failed: {source}")]
    Read {
        /// Counts from 1.
        line: u64,
        /// Error of the system.
        source: io::Error,
    },
}
