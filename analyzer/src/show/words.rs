//! Styles of the words of a column.

use crate::render::line::TextStyle;

/// Words of a column with their styles.
pub(super) fn styled(text: &str) -> Vec<(TextStyle, String)> {
    text.split_inclusive(' ')
        .map(|word| {
            let symbol = word.trim_matches(['(', ' ']);
            let role = if word.contains('!') || symbol.starts_with("ORUN") {
                TextStyle::Bad
            } else if ["STOP", "FRES", "BRES", "PRB", "REPL"].iter().any(|s| symbol.starts_with(s))
            {
                TextStyle::Notice
            } else if ["GAP", "GO", "IDLE"].iter().any(|s| symbol.starts_with(s)) {
                TextStyle::Dim
            } else {
                TextStyle::Plain
            };
            (role, word.to_owned())
        })
        .collect()
}
