//! Words of messages for people: quotations of what was read, lists in a sentence, suggestions for misspelt names.

use std::borrow::Cow;

/// Maximum length of words compared for suggestions, and of quotations in messages, in bytes. *Chosen*: no name is
/// longer, and a comparison takes the product of both lengths.
const WORD_MAX: usize = 64;

/// Minimum length of a word that stands for a longer one that begins with it. *Chosen*: shorter ones begin many.
const BEGIN_MIN: usize = 4;

/// Names of a list in a message, of others that may be many. *Chosen*: a few lines.
pub const LISTED_MAX: usize = 8;

/// Names in a sentence: `a`, `a and b`, `a, b and c`.
pub fn in_sentence(names: &[String], conjunction: &str) -> String {
    match names {
        [] | [_] => names.concat(),
        [others @ .., last] => format!("{} {conjunction} {last}", others.join(", ")),
    }
}

/// Quoted words in a sentence.
pub fn quoted<'w>(words: impl IntoIterator<Item = &'w str>, conjunction: &str) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    in_sentence(&quoted, conjunction)
}

/// The first names of a list, and the number of the others: `a, b and 7 more`; `none` of an empty one.
pub fn listed<'c>(names: impl Iterator<Item = &'c str> + Clone, most: usize) -> String {
    let shown: Vec<&str> = names.clone().take(most).collect();
    let text = escape_text(shown.join(", "));
    match names.count() {
        0 => "none".to_owned(),
        count if count > most => format!("{text} and {} more", count - most),
        _ => text,
    }
}

/// Quotation of what was read for a message: shortened, on one line, harmful characters escaped.
pub fn shortened(text: &str) -> String {
    let short = text.get(..text.floor_char_boundary(WORD_MAX)).unwrap_or_default();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", escape_text(short.to_owned()))
}

/// Replaces control characters of ISO 6429 (C1), which renderers of source lines print, by one of the same length, so
/// that byte positions stay valid.
pub fn without_c1(text: &str) -> String {
    text.chars().map(|char| if matches!(char, '\u{80}'..='\u{9f}') { '·' } else { char }).collect()
}

/// `did you mean …?`, if one of the words is similar or begins with the word.
pub fn did_you_mean<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<String> {
    nearest(word, words).map(|found| format!("did you mean `{}`?", shortened(found)))
}

/// The most similar of the words whatever the case of letters, or the shortest that begins with the word.
pub fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    if word.len() > WORD_MAX {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let chars = word.chars().count();
    let near = (chars / 3).max(1);
    let initial = |c| word.starts_with(c);
    let words: Vec<&str> = words.into_iter().filter(|other| other.len() <= WORD_MAX).collect();
    let similar = words
        .iter()
        // The difference of the lengths is a lower bound of the distance.
        .filter(|other| other.chars().count().abs_diff(chars) <= near)
        .map(|other| (strsim::damerau_levenshtein(&lower, &other.to_ascii_lowercase()), other))
        .filter(|(distance, _)| *distance <= near)
        // Of names alike, `s1` is meant for `s0` sooner than for `h1`.
        .min_by_key(|(distance, other)| (*distance, !other.starts_with(initial), *other))
        .map(|(_, other)| *other);
    let begun = words.iter().filter(|other| chars >= BEGIN_MIN && begins(other, &lower));
    similar.or_else(|| begun.min_by_key(|other| (other.len(), **other)).copied())
}

fn begins(name: &str, with: &str) -> bool {
    name.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with))
}

/// Escapes characters that would move a terminal's cursor, change its colours or reverse the direction of text.
pub fn escape_text(text: String) -> String {
    if !text.contains(is_harmful) {
        return text;
    }
    let escaped = |char: char| match is_harmful(char) {
        true => char.escape_default().collect(),
        false => String::from(char),
    };
    text.chars().map(escaped).collect()
}

/// As [`escape_text`], in JSON, whose writers leave only harmful characters beyond ASCII as they are.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    let is_raw = |char: char| char >= '\u{7f}' && is_harmful(char);
    let highest = text.bytes().fold(0, u8::max);
    if highest < 0x7f || !text.contains(is_raw) {
        return Cow::Borrowed(text);
    }
    let escaped = |char: char| match is_raw(char) {
        true => format!("\\u{:04x}", u32::from(char)),
        false => String::from(char),
    };
    Cow::Owned(text.chars().map(escaped).collect())
}

fn is_harmful(char: char) -> bool {
    let turns =
        matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    char.is_control() || turns || matches!(char, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_do_nothing_to_a_terminal() {
        assert_eq!(escape_text("h0:0>s0:3 µ".into()), "h0:0>s0:3 µ");
        assert_eq!(escape_text("\u{1b}[31m\n\u{202e}".into()), "\\u{1b}[31m\\n\\u{202e}");
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["h0", "h1", "s1", "payload", "payload_words", "length"];
        for (word, near) in [
            ("lenght", Some("length")),
            ("Length", Some("length")),
            ("payl", Some("payload")),
            ("pay", None),
            ("s0", Some("s1")),
            ("h2", Some("h0")),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), near, "{word}");
        }
        assert_eq!(nearest(&"a".repeat(65), ["a"]), None);
        assert_eq!(did_you_mean("a\u{202e}", ["a\u{202d}"]).unwrap(), "did you mean `a\\u{202d}`?");
    }
}
