//! Terms of `docs/glossary.md`.

use serde::Serialize;

/// A term, with its meaning in plain text.
#[derive(Serialize)]
pub(super) struct GlossaryTerm {
    pub(super) term: String,
    /// True for a term of the Myrinet documents.
    #[serde(rename = "of_myrinet")]
    pub(super) is_of_myrinet: bool,
    pub(super) meaning: String,
}

pub(super) fn all() -> impl Iterator<Item = GlossaryTerm> {
    let text = include_str!("../../../topics/glossary.md");
    text.lines().filter_map(|line| {
        let (term, meaning) = line.strip_prefix("- ")?.split_once(": ")?;
        let name = term.strip_suffix(" *(M)*");
        Some(GlossaryTerm {
            term: name.unwrap_or(term).to_owned(),
            is_of_myrinet: name.is_some(),
            meaning: without_links(meaning),
        })
    })
}

impl GlossaryTerm {
    /// Names by which the term is found: the whole, and each part of a list, without a remark in parentheses.
    pub(super) fn names(&self) -> Vec<String> {
        let plain = self.term.split(" (").next().unwrap_or_default();
        let parts = plain.split(", ").chain([self.term.as_str()]);
        parts.map(str::to_owned).collect()
    }
}

/// Markdown without the targets of links.
fn without_links(text: &str) -> String {
    let mut pieces = text.split("](");
    let mut plain = pieces.next().unwrap_or_default().replace('[', "");
    for piece in pieces {
        let (_, rest) = piece.split_once(')').unwrap_or(("", piece));
        plain += &rest.replace('[', "");
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_glossary_is_a_term() {
        let text = include_str!("../../../topics/glossary.md");
        assert_eq!(all().count(), text.lines().filter(|line| line.starts_with("- ")).count());
        assert!(all().all(|term| !term.meaning.contains(['[', ']']) && !term.term.contains("*(")));
    }
}
