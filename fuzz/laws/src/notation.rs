//! Characters as text: any text at all, and back.

use codec::chars::Chars;
use codec::notation::{PARSED_MAX, parse};

/// Longest characters that are printed. *Chosen*: printing is for people.
const SHOWN_MAX: usize = 1 << 14;
/// Most digits of a count. *Chosen*: texts of a few bytes for millions of characters only cost
/// time.
const DIGITS_MAX: usize = 5;

/// No text makes the reader panic, and what it reads is printed and read back as it was.
///
/// # Panics
/// If not.
pub fn law(text: &[u8]) {
    check(text, |chars| chars.to_string());
}

fn check(text: &[u8], print: impl Fn(Chars<'_>) -> String) {
    let text = String::from_utf8_lossy(text);
    if text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > DIGITS_MAX) {
        return;
    }
    let chars = match parse(&text) {
        Ok(chars) => chars,
        Err(error) => {
            let said = error.to_string();
            assert!(said.starts_with("column "), "a fault names its column: {said}");
            return;
        }
    };
    assert!(chars.len() <= PARSED_MAX, "a text stands for so many characters at most");
    if !text.contains(['(', ')', '×', '*']) {
        assert_eq!(text.split_whitespace().count(), chars.len(), "every word is a character");
    }
    if chars.len() > SHOWN_MAX {
        return;
    }
    let shown = print(chars.chars());
    let again = parse(&shown);
    assert_eq!(again.as_ref(), Ok(&chars), "what is printed is read back: {shown}");
    assert_eq!(again.map(|again| print(again.chars())), Ok(shown), "and printed alike");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::reference::heard;
    use codec::Character;

    /// Prints weakened codes as the symbols that they are heard as.
    fn glossing(chars: Chars<'_>) -> String {
        let word = |character| match character {
            Character::Control(code) => {
                heard(code).map_or_else(|| character.to_string(), |(symbol, _)| symbol.to_string())
            }
            Character::Data(_) => character.to_string(),
        };
        chars.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn a_printer_that_hides_corrections_is_caught() {
        check(b"83 05 92 GAP!04", glossing);
    }
}
