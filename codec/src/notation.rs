//! Notation of characters for tests, reports and snapshots: `GAP 83 05 aa STOP IDLE×16`.
//!
//! | text | characters |
//! |---|---|
//! | `83` | data byte 0x83 |
//! | `GAP`, `PRB3`, `REPL15` | the symbol's own code (C-2) |
//! | `GAP!04` | control code 0x04, which a receiver corrects to GAP (C-4) |
//! | `!a6` | control code 0xa6, which is no symbol (C-5) |
//! | `IDLE×16`, `00×64` | a repeated character (`*` reads as `×`) |
//! | `(GAP GO)×40` | a repeated group of characters |

use std::fmt::{self, Display};
use std::ops::Range;

use nom::branch::alt;
use nom::bytes::complete::{take_while, take_while1};
use nom::character::complete::{char, one_of};
use nom::combinator::value;
use nom::sequence::preceded;
use nom::{IResult, Parser};

use crate::character::{
    Character, DecodedCode, FIXED, ProbeNumber, ReplyStatus, Symbol, decode_control,
};
use crate::chars::{CharBuf, Chars};
use crate::folding::RunFolder;

/// Most characters of a text. *Chosen*: 16 Mi take 18 MiB.
pub const PARSED_MAX: usize = 1 << 24;

/// Fault in the notation of characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {fault}")]
pub struct NotationError {
    /// Column in the text, in characters from 1.
    pub column: usize,
    /// The fault.
    pub fault: NotationFault,
}

/// Kind of a [`NotationError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotationFault {
    /// A word that is no byte, symbol or control code.
    #[error("expected a byte, symbol or control code, found {0:?}")]
    Word(String),
    /// A correction that no receiver makes.
    #[error("no receiver corrects code 0x{0:02x} to {1} (C-4)")]
    Correction(u8, Symbol),
    /// A count that is no number from 1 on, or repeats nothing.
    #[error("expected a number of repetitions from 1 on, found {0:?}")]
    Count(String),
    /// A group with a parenthesis missing, or inside another group.
    #[error("parentheses do not match")]
    Parenthesis,
    /// More than [`PARSED_MAX`] characters.
    #[error("more than {PARSED_MAX} characters")]
    TooMany,
}

impl Display for Character {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Data(byte) => write!(f, "{byte:02x}"),
            Self::Control(code) => match decode_control(code) {
                DecodedCode::Exact(symbol) => symbol.fmt(f),
                DecodedCode::Corrected(symbol) => write!(f, "{symbol}!{code:02x}"),
                DecodedCode::Invalid => write!(f, "!{code:02x}"),
            },
        }
    }
}

impl Display for Chars<'_> {
    /// The notation, runs folded. [`parse`] undoes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut result = Ok(());
        let mut write = |fold: crate::folding::FoldedRun| {
            result = result.and_then(|()| write!(f, "{separator}{fold}"));
            separator = " ";
        };
        let mut folder = RunFolder::default();
        self.iter().for_each(|character| folder.feed(character, &mut write));
        folder.finish(&mut write);
        result
    }
}

impl fmt::Debug for Chars<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

impl Display for CharBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().fmt(f)
    }
}

impl fmt::Debug for CharBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

/// Parses characters from their notation. White space separates words.
///
/// # Errors
/// The first word that is wrong, with its column.
pub fn parse(text: &str) -> Result<CharBuf, NotationError> {
    let mut parsed = NotationParser::default();
    let mut rest = text;
    // A column is a character's, not a byte's: `×` takes two bytes.
    let mut column = 1;
    while let Ok((after, (blank, lexeme))) = next_token(rest) {
        column += blank.chars().count();
        parsed.take(lexeme, column).map_err(|fault| NotationError { column, fault })?;
        let word = rest.get(blank.len()..rest.len() - after.len()).unwrap_or_default();
        column += word.chars().count();
        rest = after;
    }
    let fault = NotationFault::Parenthesis;
    parsed.group.map_or(Ok(parsed.out), |(_, column)| Err(NotationError { column, fault }))
}

#[derive(Clone, Copy)]
enum NotationToken<'a> {
    Open,
    Close,
    Times(&'a str),
    Word(&'a str),
}

/// White space and the token behind it.
fn next_token(text: &str) -> IResult<&str, (&str, NotationToken<'_>)> {
    let within = |c: char| !c.is_whitespace() && !"()×*".contains(c);
    let lexeme = alt((
        value(NotationToken::Open, char('(')),
        value(NotationToken::Close, char(')')),
        preceded(one_of("×*"), take_while(within)).map(NotationToken::Times),
        take_while1(within).map(NotationToken::Word),
    ));
    (take_while(char::is_whitespace), lexeme).parse(text)
}

#[derive(Default)]
struct NotationParser {
    out: CharBuf,
    /// Start of the open group: in `out`, and its column.
    group: Option<(usize, usize)>,
    /// The characters that a count repeats.
    last: Option<Range<usize>>,
}

impl NotationParser {
    fn take(&mut self, lexeme: NotationToken<'_>, column: usize) -> Result<(), NotationFault> {
        let start = self.out.len();
        match (lexeme, self.group) {
            (NotationToken::Open, None) => {
                self.group = Some((start, column));
                self.last = None;
            }
            (NotationToken::Close, Some((open, _))) => {
                self.group = None;
                self.last = Some(open..start);
            }
            (NotationToken::Open, Some(_)) | (NotationToken::Close, None) => {
                return Err(NotationFault::Parenthesis);
            }
            (NotationToken::Times(count), _) => self.repeat(count)?,
            (NotationToken::Word(word), _) => {
                self.out.push(character(word)?);
                self.last = Some(start..start + 1);
            }
        }
        if self.out.len() > PARSED_MAX { Err(NotationFault::TooMany) } else { Ok(()) }
    }

    fn repeat(&mut self, count: &str) -> Result<(), NotationFault> {
        let wrong = || NotationFault::Count(count.to_owned());
        let places = self.last.take().ok_or_else(wrong)?;
        // Digits, and no sign, which numbers may have otherwise.
        let digits = Some(count).filter(|count| !count.starts_with('+'));
        let number = digits.and_then(|count| count.parse::<u64>().ok());
        let more = number.and_then(|number| number.checked_sub(1)).ok_or_else(wrong)?;
        let room = PARSED_MAX.saturating_sub(self.out.len()) as u64;
        if more.saturating_mul(places.len() as u64) > room {
            return Err(NotationFault::TooMany);
        }
        let unit: CharBuf = self.out.chars().slice(places).iter().collect();
        if !unit.is_empty() {
            (0..more).for_each(|_| self.out.push_chars(unit.chars()));
        }
        Ok(())
    }
}

fn character(word: &str) -> Result<Character, NotationFault> {
    let unknown = || NotationFault::Word(word.to_owned());
    if let Some(byte) = hex_byte(word) {
        return Ok(Character::Data(byte));
    }
    match word.split_once('!') {
        None => {
            let code = symbol(word).and_then(Symbol::code).ok_or_else(unknown)?;
            Ok(Character::Control(code))
        }
        Some((name, code)) => {
            let code = hex_byte(code).ok_or_else(unknown)?;
            let claimed =
                if name.is_empty() { None } else { Some(symbol(name).ok_or_else(unknown)?) };
            match (claimed, decode_control(code)) {
                (Some(symbol), decoded) if decoded != DecodedCode::Corrected(symbol) => {
                    Err(NotationFault::Correction(code, symbol))
                }
                // A bare code claims no symbol.
                _ => Ok(Character::Control(code)),
            }
        }
    }
}

fn hex_byte(word: &str) -> Option<u8> {
    let digits = word.len() == 2 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
    if digits { u8::from_str_radix(word, 16).ok() } else { None }
}

fn symbol(name: &str) -> Option<Symbol> {
    let number = |digits: &str| {
        let canonical = !digits.starts_with(['0', '+']) || digits == "0";
        if canonical { digits.parse().ok() } else { None }
    };
    if let Some(digits) = name.strip_prefix("PRB") {
        ProbeNumber::new(number(digits)?).map(Symbol::Probe)
    } else if let Some(digits) = name.strip_prefix("REPL") {
        ReplyStatus::new(number(digits)?).map(Symbol::Reply)
    } else {
        FIXED.into_iter().map(|(_, symbol)| symbol).find(|symbol| symbol.family() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_the_table_says() {
        let text = "GAP 83 05 aa PRB3 REPL15 GAP!04 !a6 STOP";
        let chars = parse(text).unwrap();
        let bits: Vec<u16> = chars.chars().iter().map(Character::bits).collect();
        assert_eq!(bits, [0x00c, 0x183, 0x105, 0x1aa, 0x0c3, 0x0ff, 0x004, 0x0a6, 0x00f]);
        assert_eq!(chars.to_string(), text);
    }

    #[test]
    fn repetitions_fold_and_unfold() {
        for (text, len, shown) in [
            ("IDLE×16", 16, "IDLE×16"),
            ("IDLE*16", 16, "IDLE×16"),
            ("(GAP GO)×40", 80, "(GAP GO)×40"),
            ("GAP GO GAP GO", 4, "GAP GO GAP GO"),
            ("GAP GO GAP GO GAP GO GAP", 7, "(GAP GO)×3 GAP"),
            ("00 00 00 00 83", 5, "00×4 83"),
            ("()×3", 0, ""),
            ("83\n\t05\u{a0}GAP\u{2003}", 3, "83 05 GAP"),
            ("", 0, ""),
        ] {
            let chars = parse(text).unwrap();
            assert_eq!((chars.len(), chars.to_string().as_str()), (len, shown));
        }
    }

    #[test]
    fn faults_are_shown_with_their_column() {
        let word = |word| format!("expected a byte, symbol or control code, found {word:?}");
        let count = |count| format!("expected a number of repetitions from 1 on, found {count:?}");
        for (text, column, fault) in [
            ("GAP GAPP", 5, word("GAPP")),
            ("83 5", 4, word("5")),
            ("PRB8", 1, word("PRB8")),
            ("PRB+1", 1, word("PRB+1")),
            ("REPL01", 1, word("REPL01")),
            ("00×2\u{a0}x", 6, word("x")),
            ("00×2 ×3", 6, count("3")),
            ("00×+2", 3, count("+2")),
            ("00×0", 3, count("0")),
            ("00×99999999999999999999", 3, count("99999999999999999999")),
            ("STOP!04", 1, "no receiver corrects code 0x04 to STOP (C-4)".to_owned()),
            ("GAP (GO", 5, "parentheses do not match".to_owned()),
            ("GO) GAP", 3, "parentheses do not match".to_owned()),
            ("00×99999999999", 3, "more than 16777216 characters".to_owned()),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), format!("column {column}: {fault}"));
        }
    }

    #[test]
    fn characters_are_read_as_they_are_shown_up_to_a_limit() {
        let chars = parse("GAP 83 IDLE×16").unwrap();
        let shown = "[GAP 83 IDLE×16]".to_owned();
        assert_eq!([format!("{chars:?}"), format!("{:?}", chars.chars())], [shown.clone(), shown]);
        for character in (0..512).map(Character::from_bits) {
            let chars: CharBuf = [character].into_iter().collect();
            assert_eq!(parse(&character.to_string()), Ok(chars));
        }
        let most = "(IDLE×4096)×4096";
        assert_eq!(parse(most).unwrap().len(), PARSED_MAX);
        let column = most.chars().count() + 2;
        let error = NotationError { column, fault: NotationFault::TooMany };
        assert_eq!(parse(&format!("{most} GAP")), Err(error));
    }
}
