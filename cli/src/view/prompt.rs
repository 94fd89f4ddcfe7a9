//! The line in which a filter, a text or a time is typed.

use analyzer::filter::RowKind;

#[derive(Debug)]
pub(super) struct LinePrompt {
    pub(super) kind: PromptKind,
    pub(super) text: String,
    /// Names that the last word may become, or an error.
    pub(super) hint: String,
}

/// Use of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKind {
    Filter(RowKind),
    Search,
    Time,
}

impl PromptKind {
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Filter(_) => "filter",
            Self::Search => "search",
            Self::Time => "go to time",
        }
    }
}

impl LinePrompt {
    pub(super) fn new(kind: PromptKind, text: String) -> Self {
        let hint = match kind {
            PromptKind::Filter(_) => {
                "Tab completes names of fields; Enter without a text removes it"
            }
            PromptKind::Search => "a part of a line; n and N find the next and the one before",
            PromptKind::Time => "12.5us, 3ms, 250ns, 1s, or 4096ch at the full rate",
        };
        Self { kind, text, hint: hint.to_owned() }
    }

    /// Completes the last word as far as it is the same in all names that begin so.
    pub(super) fn complete(&mut self) {
        let PromptKind::Filter(kind) = self.kind else { return };
        let is_in_name = |char: char| char.is_ascii_alphanumeric() || "_.-".contains(char);
        let word = self.text.trim_end_matches(is_in_name).len();
        let word = self.text.get(word..).unwrap_or_default().to_owned();
        let fields = kind.fields().iter();
        let names =
            fields.flat_map(|field| [field.name].into_iter().chain(field.words().iter().copied()));
        let mut names: Vec<&str> = names.filter(|name| name.starts_with(&word)).collect();
        names.sort_unstable();
        names.dedup();
        let common = |a: &str, b: &str| {
            a.char_indices()
                .zip(b.chars())
                .find(|((_, a), b)| a != b)
                .map_or(a.len().min(b.len()), |((at, _), _)| at)
        };
        let Some((first, others)) = names.split_first() else {
            return self.hint = format!("no field begins with {word}");
        };
        let len = others.iter().fold(first.len(), |len, other| len.min(common(first, other)));
        self.text += first.get(word.len()..len).unwrap_or_default();
        self.hint = match others {
            [] => kind.field(first).map_or_else(String::new, |field| field.help.to_owned()),
            _ => names.join("  "),
        };
    }
}
