//! Errors of recordings.

use std::fmt;

/// Error in a recording, with its place. What precedes the place has been given.
#[derive(Debug)]
pub struct RecordingError {
    /// Place in the file.
    pub place: RecordingPlace,
    /// Cause.
    pub cause: String,
}

/// Place in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingPlace {
    /// Line, from 1.
    Line(u64),
    /// Byte, from 0.
    Byte(u64),
}

impl fmt::Display for RecordingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.cause)
    }
}

impl std::error::Error for RecordingError {}

impl RecordingError {
    pub(super) fn at_line(line: u64, cause: impl Into<String>) -> Self {
        Self { place: RecordingPlace::Line(line), cause: cause.into() }
    }

    #[cfg(feature = "recordings")]
    pub(super) fn at_byte(byte: u64, cause: impl Into<String>) -> Self {
        Self { place: RecordingPlace::Byte(byte), cause: cause.into() }
    }
}
