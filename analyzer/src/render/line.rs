//! Line of text in styled pieces, and phrases shared by lines.

use std::fmt::{self, Display};
use std::ops::Range;

use codec::words::escape_text;

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
pub struct StyledLine(Vec<(TextStyle, String, ColumnRank)>);

/// Order in which columns are left out of a narrow table: 1 first; 0 stays.
pub type ColumnRank = u8;

/// Rank above all.
const RANK_MAX: ColumnRank = 5;

impl StyledLine {
    /// Creates a line of one piece.
    pub fn of(role: TextStyle, text: impl Display) -> Self {
        Self::default().and(role, text)
    }

    /// Appends a piece. Control characters in it are escaped: the result is one line, without
    /// effect on a terminal.
    pub fn and(self, role: TextStyle, text: impl Display) -> Self {
        self.and_ranked(0, role, text)
    }

    /// Appends a column that a narrow table may lack.
    pub fn and_ranked(mut self, rank: ColumnRank, role: TextStyle, text: impl Display) -> Self {
        self.0.push((role, escape_text(text.to_string()), rank));
        self
    }

    /// The line without the columns up to a rank.
    pub fn without(mut self, rank: ColumnRank) -> Self {
        self.0.retain(|(.., of)| *of == 0 || *of > rank);
        self
    }

    /// The least rank without which a heading fits a width.
    pub fn rank_for(&self, width: usize) -> ColumnRank {
        let fits = |rank: &ColumnRank| self.clone().without(*rank).width() <= width;
        (0..RANK_MAX).find(fits).unwrap_or(RANK_MAX)
    }

    /// The line, and another behind it.
    pub fn followed_by(mut self, line: Self) -> Self {
        self.0.extend(line.0);
        self
    }

    /// The line without the characters at these columns; `…` replaces them unless they are blanks.
    pub fn shortened(self, columns: Range<usize>) -> Self {
        let mut at = 0;
        let mut is_marked = columns.is_empty();
        let mut shorten = |text: String| -> String {
            let kept = text.chars().filter_map(|char| {
                let column = at;
                at += 1;
                if !columns.contains(&column) {
                    return Some(char);
                }
                let mark = (!is_marked && char != ' ').then_some('…');
                is_marked |= mark.is_some();
                mark
            });
            kept.collect()
        };
        Self(self.0.into_iter().map(|(role, text, rank)| (role, shorten(text), rank)).collect())
    }

    /// The line, shortened at its end to this number of columns.
    pub fn fitted(self, width: usize) -> Self {
        if self.to_string().chars().count() <= width {
            self
        } else {
            self.shortened(width.saturating_sub(1)..usize::MAX)
        }
    }

    /// The line in an output of this width, if that is limited.
    pub fn narrowed(self, width: Option<usize>) -> Self {
        let Some(width) = width else { return self };
        let rank = self.rank_for(width);
        self.without(rank).fitted(width)
    }

    /// Number of characters.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, text, _)| text.chars().count()).sum()
    }

    /// The line with changed text in each piece.
    pub fn each_piece(&self, change: impl Fn(&str) -> String) -> Self {
        Self(self.0.iter().map(|(role, text, rank)| (*role, change(text), *rank)).collect())
    }

    /// Pieces of the line, in order.
    pub fn pieces(&self) -> impl Iterator<Item = (TextStyle, &str)> {
        self.0.iter().map(|(role, text, _)| (*role, text.as_str()))
    }
}

impl Display for StyledLine {
    /// Formats the text without styles and trailing blanks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.0.iter().map(|(_, text, _)| text.as_str()).collect();
        f.write_str(text.trim_end())
    }
}

/// Words wrapped to lines of at most `width` characters; a longer word has a line of its own.
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
pub fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shortened_to_a_width() {
        let line = || StyledLine::of(TextStyle::Head, "ab cd").and(TextStyle::Plain, "efgh  ");
        for (width, expected) in
            [(9, "ab cdefgh"), (8, "ab cdef…"), (4, "ab …"), (1, "…"), (0, "…")]
        {
            assert_eq!(line().fitted(width).to_string(), expected, "{width}");
        }
        assert_eq!(line().shortened(1..4).to_string(), "a…defgh");
        assert_eq!(line().shortened(2..3).to_string(), "abcdefgh");
    }
}
