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
    /// No channel declares its tap, so no event of the truth can be compared.
    #[error("no channel declares its tap (tap=node:port in its description)")]
    NoTap,
    /// A line of the truth cannot be parsed.
    #[error("line {line}: {wrong}")]
    Truth {
        /// Line number, from 1.
        line: u64,
        /// Description of the fault.
        wrong: String,
    },
    /// Reading the truth failed.
    #[error("line {line}: read failed: {source}")]
    Read {
        /// Line number, from 1.
        line: u64,
        /// Error of the operating system.
        source: io::Error,
    },
}
