//! Line of text in styled pieces, and phrases shared by lines.

use std::fmt::{self, Display};

use crate::channel_name::escape_text;

/// Style of a piece of a line, from which programs derive colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    /// Ordinary text.
    Plain,
    /// Secondary text.
    Dim,
    /// Heading or label.
    Head,
    /// Correct state.
    Good,
    /// Unusual state.
    Notice,
    /// Error.
    Bad,
}

/// Line of text in styled pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyledLine(Vec<(TextStyle, String)>);

impl StyledLine {
    /// Creates a line of one piece.
    #[must_use]
    pub fn of(role: TextStyle, text: impl Display) -> Self {
        Self::default().and(role, text)
    }

    /// Appends a piece. Control characters in it are escaped: the result is one line, without
    /// effect on a terminal.
    #[must_use]
    pub fn and(mut self, role: TextStyle, text: impl Display) -> Self {
        self.0.push((role, escape_text(text.to_string())));
        self
    }

    /// Pieces of the line, in order.
    pub fn pieces(&self) -> impl Iterator<Item = (TextStyle, &str)> {
        self.0.iter().map(|(role, text)| (*role, text.as_str()))
    }
}

impl Display for StyledLine {
    /// Formats the text without styles and trailing blanks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        f.write_str(text.trim_end())
    }
}

/// Time in microseconds to a tenth of a nanosecond, from picoseconds.
#[must_use]
pub fn microseconds(picoseconds: u128) -> String {
    let tenths = picoseconds / 100;
    format!("{}.{:04}", tenths / 10_000, tenths % 10_000)
}

/// Words wrapped to lines of at most `width` characters; a longer word has a line of its own.
#[must_use]
pub fn wrapped<'w>(
    words: impl IntoIterator<Item = &'w str>,
    between: &str,
    width: usize,
) -> Vec<String> {
    let len = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if len(line) + len(between) + len(word) <= width => {
                *line += between;
                *line += word;
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `1 link`, `2 links`.
pub(crate) fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
