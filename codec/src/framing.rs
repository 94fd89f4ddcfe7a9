//! Characters and frames: the data between two GAPs. P-1, P-7, P-8 (§4.4)
//!
//! A frame is what the wire shows; what it means is [`crate::packet`]'s. Resets and silence, which
//! end packets too, are states of a link and belong to who keeps states.

use std::borrow::Cow;

use nom::combinator::opt;
use nom::error::{ErrorKind, ParseError};
use nom::multi::fold_many0;
use nom::sequence::preceded;
use nom::{IResult, Parser};

use crate::character::{Character, Symbol, decode_control};
use crate::chars::{CharBuf, Chars};
use crate::error::ParseTrace;

/// The data between two GAPs, at least one byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Place of the first data character.
    pub start: usize,
    /// Its bytes, CRC byte included: borrowed where no symbol stands among them. P-8
    pub bytes: Cow<'a, [u8]>,
    /// What ended it.
    pub end: FrameEnd,
}

/// What ended a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEnd {
    /// A GAP, corrected ones (C-4) included.
    Gap,
    /// The characters ended first.
    Cut,
}

/// The frames of a run of characters, from its first data character on. P-7
#[must_use]
pub const fn frames(chars: Chars<'_>) -> FrameIter<'_> {
    FrameIter { rest: chars, len: chars.len() }
}

/// See [`frames`].
#[derive(Clone, Copy, Debug)]
pub struct FrameIter<'a> {
    rest: Chars<'a>,
    /// Of all characters, to tell places from.
    len: usize,
}

impl<'a> Iterator for FrameIter<'a> {
    type Item = Frame<'a>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'a>> {
        let (_, from) = self.rest.split_at(self.rest.control_len());
        let start = self.len - from.len();
        let (rest, (bytes, end)) = frame(from).ok()?;
        self.rest = rest;
        Some(Frame { start, bytes, end })
    }
}

impl Frame<'_> {
    /// Writes what [`frames`] reads: the bytes, and a GAP if one ended them. P-1
    pub fn emit(&self, out: &mut CharBuf) {
        out.push_data(&self.bytes);
        match self.end {
            FrameEnd::Gap => out.push(Character::GAP),
            FrameEnd::Cut => {}
        }
    }
}

type FramingResult<'a, O> = IResult<Chars<'a>, O, ParseTrace<Chars<'a>>>;

#[inline]
fn frame(chars: Chars<'_>) -> FramingResult<'_, (Cow<'_, [u8]>, FrameEnd)> {
    let (rest, first) = data(chars)?;
    match gap(rest) {
        // Most frames have no symbol inside.
        Ok((rest, ())) => Ok((rest, (Cow::Borrowed(first), FrameEnd::Gap))),
        Err(_) => mixed_frame(first, rest),
    }
}

/// What follows a frame's first bytes, if that is not its end.
fn mixed_frame<'a>(
    first: &'a [u8],
    rest: Chars<'a>,
) -> FramingResult<'a, (Cow<'a, [u8]>, FrameEnd)> {
    let joined = |bytes: Cow<'a, [u8]>, piece: &[u8]| {
        let mut bytes = bytes.into_owned();
        bytes.extend_from_slice(piece);
        Cow::Owned(bytes)
    };
    let (rest, bytes) =
        fold_many0(preceded(symbols, data), || Cow::Borrowed(first), joined).parse(rest)?;
    let (rest, gap) = preceded(symbols, opt(gap)).parse(rest)?;
    Ok((rest, (bytes, gap.map_or(FrameEnd::Cut, |()| FrameEnd::Gap))))
}

#[inline]
fn data(chars: Chars<'_>) -> FramingResult<'_, &[u8]> {
    let (data, rest) = chars.split_at(chars.data_len());
    if data.is_empty() { Err(stop(chars)) } else { Ok((rest, data.low())) }
}

/// Control characters up to the next GAP: not part of the frame. P-8
fn symbols(chars: Chars<'_>) -> FramingResult<'_, ()> {
    let (run, _) = chars.split_at(chars.control_len());
    let len = run.low().iter().position(|code| is_gap(*code)).unwrap_or(run.len());
    Ok((chars.split_at(len).1, ()))
}

#[inline]
fn gap(chars: Chars<'_>) -> FramingResult<'_, ()> {
    match chars.get(0) {
        Some(Character::Control(code)) if is_gap(code) => Ok((chars.split_at(1).1, ())),
        _ => Err(stop(chars)),
    }
}

fn stop(chars: Chars<'_>) -> nom::Err<ParseTrace<Chars<'_>>> {
    nom::Err::Error(ParseTrace::from_error_kind(chars, ErrorKind::Verify))
}

/// Whether a receiver takes the code for the mark that ends a packet. C-4
pub(crate) fn is_gap(code: u8) -> bool {
    decode_control(code).symbol() == Some(Symbol::Gap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;

    fn check(text: &str) -> Vec<(usize, String, FrameEnd)> {
        frames(parse(text).unwrap().chars())
            .map(|frame| (frame.start, format!("{:02x?}", frame.bytes), frame.end))
            .collect()
    }

    #[test]
    fn gaps_part_frames_and_redundant_ones_carry_nothing() {
        assert_eq!(
            check("83 05 92 GAP GAP GO GAP 01 07"),
            [
                (0, "[83, 05, 92]".to_owned(), FrameEnd::Gap),
                (7, "[01, 07]".to_owned(), FrameEnd::Cut)
            ]
        );
        assert_eq!(check("GAP GO IDLE×100"), []);
    }

    #[test]
    fn symbols_inside_are_no_part_and_a_weakened_gap_still_ends() {
        let bytes = "[83, 05, 92]".to_owned();
        assert_eq!(
            check("STOP 83 STOP!07 IDLE 05 GO 92 IDLE GAP!08 IDLE"),
            [(1, bytes, FrameEnd::Gap)]
        );
    }

    #[test]
    fn only_frames_with_symbols_inside_are_copied() {
        let chars = parse("83 05 92 GAP 83 GO 05").unwrap();
        let owned: Vec<bool> =
            frames(chars.chars()).map(|frame| matches!(frame.bytes, Cow::Owned(_))).collect();
        assert_eq!(owned, [false, true]);
    }
}
