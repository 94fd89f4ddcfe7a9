//! Characters as text: any text at all, and back.

use codec::chars::Chars;
use codec::notation::parse;

/// Most characters that a text stands for. *Chosen*: what is parsed, printed and parsed in a few
/// microseconds.
const SHORT: u64 = 1 << 10;
/// Likewise, of texts that may take longer.
const LONG: u64 = 1 << 18;

/// No text makes the reader panic, and what it reads is printed and read back as it was. Of texts
/// that stand for a few characters.
pub fn law(text: &[u8]) {
    check(text, SHORT, |chars| chars.to_string());
}

/// Checks texts that stand for many characters.
pub fn long(text: &[u8]) {
    check(text, LONG, |chars| chars.to_string());
}

fn check(text: &[u8], most: u64, print: impl Fn(Chars<'_>) -> String) {
    let text = String::from_utf8_lossy(text);
    if requested_count(&text) > most {
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
    assert!(chars.len() as u64 <= most, "a text stands for so many characters at most");
    if !text.contains(['(', ')', '×', '*']) {
        assert_eq!(text.split_whitespace().count(), chars.len(), "every word is a character");
        let mut words = text.split_whitespace().zip(chars.chars().iter());
        // Those with a number in them: `PRB3`, `REPL15`.
        let one_spelling = words.all(|(word, character)| {
            !word.starts_with(['P', 'R']) || character.to_string() == word
        });
        assert!(one_spelling, "a numbered symbol is spelt in one way: {text}");
    }
    let shown = print(chars.chars());
    assert_eq!(parse(&shown).as_ref(), Ok(&chars), "what is printed is read back: {shown}");
}

/// No fewer characters than a text can stand for: a word may be repeated, and so may its group.
fn requested_count(text: &str) -> u64 {
    let (mut most, mut second) = (1, 1);
    for (at, mark) in text.char_indices().filter(|(_, c)| matches!(c, '×' | '*')) {
        let behind = text.as_bytes().get(at + mark.len_utf8()..).unwrap_or_default();
        let digits = behind.iter().take_while(|byte| byte.is_ascii_digit());
        let count = digits.fold(0, |number: u64, digit| {
            number.saturating_mul(10).saturating_add(u64::from(digit & 15))
        });
        second = second.max(count.min(most));
        most = most.max(count);
    }
    most.saturating_mul(second).saturating_mul(text.len() as u64)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::reference::decode_symbol;
    use codec::Character;

    /// Prints weakened codes as the symbols that they decode to.
    fn glossing(chars: Chars<'_>) -> String {
        let word = |character| match character {
            Character::Control(code) => decode_symbol(code)
                .map_or_else(|| character.to_string(), |(symbol, _)| symbol.to_string()),
            Character::Data(_) => character.to_string(),
        };
        chars.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn a_printer_that_loses_a_round_is_caught() {
        check(b"(GAP GO)*3000", LONG, |chars| chars.to_string().replace('3', "2"));
    }

    pub(crate) fn a_printer_that_hides_corrections_is_caught() {
        check(b"83 05 92 GAP!04", SHORT, glossing);
    }
}
