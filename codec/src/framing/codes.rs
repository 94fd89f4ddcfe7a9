//! Runs of data, of IDLEs and of fill, and single control codes. F-8

use nom::bytes::complete::take_while;
use nom::error::{ErrorKind, ParseError};
use nom::number::complete::u8 as byte;
use nom::{IResult, Parser};

use super::LinkRules;
use crate::character::{DecodedCode, Symbol};
use crate::chars::{CharRun, Chars};
use crate::error::ParseTrace;

type FramingResult<I, O> = IResult<I, O, ParseTrace<I>>;

/// The data or the control codes at the head: `alt`, written out so that it is inlined.
#[inline(always)]
pub(super) fn run(chars: Chars<'_>) -> FramingResult<Chars<'_>, CharRun<'_>> {
    if let Ok((rest, data)) = take_run(chars, chars.data_len()) {
        return Ok((rest, CharRun::Data(data)));
    }
    let (rest, codes) = take_run(chars, chars.control_len())?;
    Ok((rest, CharRun::Control(codes)))
}

#[inline(always)]
fn take_run(chars: Chars<'_>, len: usize) -> FramingResult<Chars<'_>, &[u8]> {
    if len == 0 {
        return Err(nom::Err::Error(ParseTrace::from_error_kind(chars, ErrorKind::TakeWhile1)));
    }
    let (run, rest) = chars.split_at(len);
    Ok((rest, run.low()))
}

pub(super) enum ControlCodes {
    Idle,
    Other(u8),
}

/// The IDLEs or the single other code at the head.
#[inline(always)]
pub(super) fn code(codes: &[u8]) -> FramingResult<&[u8], ControlCodes> {
    if let Some(&IDLE) = codes.first() {
        let (rest, _) = take_while(|code| code == IDLE).parse(codes)?;
        return Ok((rest, ControlCodes::Idle));
    }
    let (rest, code) = byte(codes)?;
    Ok((rest, ControlCodes::Other(code)))
}

const IDLE: u8 = 0;

/// Number of codes at the head of the rest that go on with the fill of the two before.
#[inline]
pub(super) fn fill_len(rules: &LinkRules, codes: &[u8], rest: &[u8]) -> usize {
    let before = codes.len() - rest.len();
    let Some(from) = before.checked_sub(2).and_then(|from| codes.get(from..)) else { return 0 };
    let is_fill = |code: &u8| {
        let symbol = rules.decode(*code);
        [Symbol::Gap, Symbol::Go, Symbol::Stop].map(DecodedCode::Exact).contains(&symbol)
    };
    let len = rest.iter().zip(from).take_while(|(code, before)| code == before).count();
    if len > 0 && from.iter().take(2).all(is_fill) { len } else { 0 }
}

#[cfg(test)]
mod tests {
    use crate::framing::{FrameEvent, Framer};
    use crate::notation::parse;

    /// F-8
    #[test]
    fn codes_that_repeat_the_two_before_are_fill() {
        let fill = |text: &str| {
            let (mut fill, chars) = (Vec::new(), parse(text).unwrap());
            Framer::new().feed(chars.chars(), &mut |at, event| {
                if let FrameEvent::Fill(codes) = event {
                    fill.push((at.0, codes.len()));
                }
            });
            fill
        };
        assert_eq!(fill("GAP GO GAP GO GAP STOP STOP STOP STOP"), [(2, 3), (7, 2)]);
        assert_eq!(fill("GO GO IDLE GO GO GO 05 GO GO GAP GO GAP"), [(5, 1), (10, 2)]);
        // FRES, PRB and codes that are no symbols have their effect each time.
        assert_eq!(fill("FRES FRES FRES GAP FRES GAP !ff !ff !ff GAP !0d GAP !0d"), []);
    }
}
