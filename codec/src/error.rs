//! Decoding errors: place, field, fault.

use nom::error::{ContextError, ErrorKind, ParseError};

/// Decoding error. Places count from the item's first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A field that is cut short.
    #[error("byte {at}: {field} {}", self.fault())]
    CutShort {
        /// Place of the field's first byte.
        at: usize,
        /// The field, as the specification calls it.
        field: &'static str,
    },
    /// A field with an invalid value.
    #[error("byte {at}: {field} {}", self.fault())]
    Unexpected {
        /// Place of the field's first byte.
        at: usize,
        /// The field, as the specification calls it.
        field: &'static str,
        /// The value found.
        found: u64,
        /// The values expected.
        expected: &'static str,
    },
}

impl DecodeError {
    /// Place of the field at fault.
    pub const fn at(&self) -> usize {
        match self {
            Self::CutShort { at, .. } | Self::Unexpected { at, .. } => *at,
        }
    }

    /// The field at fault.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::CutShort { field, .. } | Self::Unexpected { field, .. } => field,
        }
    }

    /// The value found, if the field is complete.
    pub const fn found(&self) -> Option<u64> {
        match self {
            Self::CutShort { .. } => None,
            Self::Unexpected { found, .. } => Some(*found),
        }
    }

    /// The fault as text.
    pub fn fault(&self) -> String {
        match self {
            Self::CutShort { .. } => "is cut short".to_owned(),
            Self::Unexpected { found, expected, .. } => format!("is {found}, not {expected}"),
        }
    }
}

/// Position at which a nom parser stopped: the remaining input, and the innermost field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseTrace<I> {
    pub(crate) rest: I,
    pub(crate) field: Option<&'static str>,
}

impl<I> ParseError<I> for ParseTrace<I> {
    fn from_error_kind(rest: I, _kind: ErrorKind) -> Self {
        Self { rest, field: None }
    }

    fn append(_rest: I, _kind: ErrorKind, other: Self) -> Self {
        other
    }
}

impl<I> ContextError<I> for ParseTrace<I> {
    fn add_context(_rest: I, field: &'static str, other: Self) -> Self {
        Self { field: other.field.or(Some(field)), ..other }
    }
}

/// The error of a parser that stopped within `input`.
pub(crate) fn cut_short(input: &[u8], stop: &nom::Err<ParseTrace<&[u8]>>) -> DecodeError {
    match stop {
        nom::Err::Error(trace) | nom::Err::Failure(trace) => DecodeError::CutShort {
            at: input.len() - trace.rest.len(),
            field: trace.field.unwrap_or("payload"),
        },
        // Only streaming parsers need more input.
        nom::Err::Incomplete(_) => DecodeError::CutShort { at: 0, field: "payload" },
    }
}

pub(crate) fn unexpected(
    at: usize,
    field: &'static str,
    found: impl Into<u64>,
    expected: &'static str,
) -> DecodeError {
    DecodeError::Unexpected { at, field, found: found.into(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_place_field_and_fault() {
        let cut = DecodeError::CutShort { at: 7, field: "reason" };
        let wrong = DecodeError::Unexpected { at: 2, field: "kind", found: 9, expected: "8" };
        let parts = |error: DecodeError| (error.at(), error.field(), error.found());
        assert_eq!(parts(cut), (7, "reason", None));
        assert_eq!(parts(wrong), (2, "kind", Some(9)));
        assert_eq!(cut.to_string(), "byte 7: reason is cut short");
        assert_eq!(wrong.to_string(), "byte 2: kind is 9, not 8");
    }
}
