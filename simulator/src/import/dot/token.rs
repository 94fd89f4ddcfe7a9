//! Tokens of DOT files.

use super::super::{BytePosition, ImportProblem};
use crate::scenario::shortened;

/// An identifier, a number or a quoted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DotText {
    pub(super) text: String,
    pub(super) at: BytePosition,
    /// Keywords are not quoted.
    is_quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DotMark {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Semicolon,
    Comma,
    Colon,
    Equals,
    Edge,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum DotToken {
    Text(DotText),
    Mark(DotMark),
    #[default]
    End,
}

/// The tokens of a text, with the next one read ahead.
#[derive(Debug, Default)]
pub(super) struct DotTokens<'a> {
    text: &'a str,
    /// End of the next token.
    at: BytePosition,
    /// Start of the next token.
    start: BytePosition,
    next: DotToken,
}

const MARKS: [(&str, DotMark); 9] = [
    ("{", DotMark::OpenBrace),
    ("}", DotMark::CloseBrace),
    ("[", DotMark::OpenBracket),
    ("]", DotMark::CloseBracket),
    (";", DotMark::Semicolon),
    (",", DotMark::Comma),
    (":", DotMark::Colon),
    ("=", DotMark::Equals),
    ("--", DotMark::Edge),
];

impl<'a> DotTokens<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, ImportProblem> {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut tokens = Self { text, at, ..Self::default() };
        tokens.advance()?;
        Ok(tokens)
    }

    pub(super) const fn peek(&self) -> &DotToken {
        &self.next
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        match &self.next {
            DotToken::Text(text) => !text.is_quoted && text.text.eq_ignore_ascii_case(word),
            DotToken::Mark(_) | DotToken::End => false,
        }
    }

    /// Takes a keyword, if it is the next token.
    pub(super) fn accept_word(&mut self, word: &str) -> Result<bool, ImportProblem> {
        let is_next = self.is_word(word);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes a mark, if it is the next token.
    pub(super) fn accept(&mut self, mark: DotMark) -> Result<bool, ImportProblem> {
        let is_next = self.next == DotToken::Mark(mark);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    pub(super) fn expect(&mut self, mark: DotMark) -> Result<(), ImportProblem> {
        if self.accept(mark)? {
            return Ok(());
        }
        let name = MARKS.iter().find(|(_, other)| *other == mark).map_or("", |(name, _)| name);
        Err(self.unexpected(&format!("`{name}`")))
    }

    /// Takes a text; adjacent quoted texts with `+` are not joined.
    pub(super) fn text(&mut self, expected: &str) -> Result<DotText, ImportProblem> {
        match self.next.clone() {
            DotToken::Text(text) => {
                self.advance()?;
                Ok(text)
            }
            DotToken::Mark(_) | DotToken::End => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn unexpected(&self, expected: &str) -> ImportProblem {
        let shown = self.text.get(self.start..self.at).unwrap_or_default();
        let message = match self.next {
            DotToken::End => "the graph ends too early".to_owned(),
            DotToken::Text(_) | DotToken::Mark(_) => format!("unexpected `{}`", shortened(shown)),
        };
        ImportProblem::new(self.start, message, format!("expected {expected}"))
    }

    fn advance(&mut self) -> Result<(), ImportProblem> {
        self.skip_blanks()?;
        self.start = self.at;
        let rest = self.rest();
        let mark = MARKS.iter().find(|(text, _)| rest.starts_with(text));
        self.next = if let Some((text, mark)) = mark {
            self.at += text.len();
            DotToken::Mark(*mark)
        } else if let Some(quoted) = rest.strip_prefix('"') {
            DotToken::Text(self.quoted(quoted)?)
        } else {
            self.word(rest)?
        };
        Ok(())
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks, comments and lines of a preprocessor.
    fn skip_blanks(&mut self) -> Result<(), ImportProblem> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            let before = self.text.get(..self.at).unwrap_or_default();
            let is_line_start = before.is_empty() || before.ends_with('\n');
            if blanks > 0 {
                self.at += blanks;
            } else if rest.starts_with("//") || (is_line_start && rest.starts_with('#')) {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    let message = "a comment without an end";
                    return Err(ImportProblem::new(self.at, message, "expected `*/`"));
                };
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    /// Reads to the closing quotation mark. Only that mark is escaped; labels have escapes of their own.
    fn quoted(&mut self, quoted: &str) -> Result<DotText, ImportProblem> {
        let mut text = String::new();
        let mut chars = quoted.char_indices();
        while let Some((place, char)) = chars.next() {
            match char {
                '"' => {
                    self.at += place + 2;
                    return Ok(DotText { text, at: self.start, is_quoted: true });
                }
                '\\' => match chars.next() {
                    Some((_, '"')) => text.push('"'),
                    Some((_, '\n')) => {}
                    Some((_, other)) => text.extend(['\\', other]),
                    None => {}
                },
                _ => text.push(char),
            }
        }
        Err(ImportProblem::new(self.start, "a quotation mark without its pair", "expected `\"`"))
    }

    fn word(&mut self, rest: &str) -> Result<DotToken, ImportProblem> {
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.');
        let sign = usize::from(rest.starts_with('-'));
        let tail = rest.get(sign..).unwrap_or_default();
        let len = sign + tail.find(|char| !is_part(char)).unwrap_or(tail.len());
        let Some(char) = rest.chars().next() else { return Ok(DotToken::End) };
        if len <= sign {
            let (shown, expected) = match char {
                '-' if rest.starts_with("->") => {
                    ("->".to_owned(), "expected `--`: links have no direction")
                }
                '<' => {
                    ("<".to_owned(), "expected a text in quotation marks: HTML is not supported")
                }
                _ => (char.to_string(), "expected a name, a number or a text in quotation marks"),
            };
            let message = format!("unexpected `{}`", shortened(&shown));
            return Err(ImportProblem::new(self.at, message, expected));
        }
        self.at += len;
        let text = rest.get(..len).unwrap_or_default().to_owned();
        Ok(DotToken::Text(DotText { text, at: self.start, is_quoted: false }))
    }
}
