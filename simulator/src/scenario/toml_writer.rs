//! Writer of TOML tables and values.

use std::fmt::{Display, Write};

#[derive(Debug, Default)]
pub(super) struct TomlPage(String);

impl TomlPage {
    pub(super) fn text(self) -> String {
        self.0
    }

    pub(super) fn keys(&mut self, keys: &TomlKeys) {
        for (key, value) in &keys.0 {
            // Writing to a string cannot go wrong.
            let _ = writeln!(self.0, "{key} = {value}");
        }
    }

    /// Writes a single table, unless it is empty.
    pub(super) fn table(&mut self, name: &str, keys: &TomlKeys) {
        if !keys.0.is_empty() {
            let _ = writeln!(self.0, "\n[{name}]");
            self.keys(keys);
        }
    }

    pub(super) fn element(&mut self, name: &str, keys: &TomlKeys) {
        let _ = writeln!(self.0, "\n[[{name}]]");
        self.keys(keys);
    }
}

#[derive(Debug, Default)]
pub(super) struct TomlKeys(Vec<(String, String)>);

impl TomlKeys {
    pub(super) fn value(&mut self, key: &str, value: impl Display) {
        self.0.push((key.to_owned(), value.to_string()));
    }

    /// Adds a value that differs from its default.
    pub(super) fn differing<T: PartialEq + Copy + Display>(
        &mut self,
        key: &str,
        value: T,
        base: T,
    ) {
        if value != base {
            self.value(key, value);
        }
    }

    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.value(key, quoted(text));
    }

    pub(super) fn word<T: PartialEq + Copy>(
        &mut self,
        key: &str,
        words: &[(&'static str, T)],
        value: T,
        base: T,
    ) {
        if value != base {
            self.text(key, word_of(words, value));
        }
    }

    pub(super) fn texts(&mut self, key: &str, texts: &[&str]) {
        match texts {
            [one] => self.text(key, one),
            several => self.list(key, several),
        }
    }

    pub(super) fn list(&mut self, key: &str, texts: &[&str]) {
        let all: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
        self.value(key, format!("[{}]", all.join(", ")));
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Formats all keys as an inline table.
    pub(super) fn inline(&self) -> String {
        let all: Vec<String> =
            self.0.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        format!("{{ {} }}", all.join(", "))
    }
}

pub(crate) fn word_of<T: PartialEq + Copy>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, meaning)| *meaning == value).map_or("?", |(word, _)| word)
}

pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
