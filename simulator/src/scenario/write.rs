//! Writer of scenario files: the order of their sections.

use std::fmt::{Display, Write};

use super::{Scenario, ScenarioError, endpoints, faults, layout, messages, routes, taps, traffic};
use crate::topology::{NodeId, NodePort, Topology};

/// Scenario that no file can express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnwritableScenario {
    /// The closest file is invalid.
    #[error("the form of scenario files has no room for it:\n{error}")]
    Refused {
        /// Text of the closest file.
        text: String,
        /// Its problems.
        error: ScenarioError,
    },
    /// The closest file describes another scenario.
    #[error("the form of scenario files has other {part} only")]
    Differs {
        /// Text of the closest file, which is valid.
        text: String,
        /// First part that differs.
        part: &'static str,
    },
}

impl UnwritableScenario {
    /// Text of the closest file.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Refused { text, .. } | Self::Differs { text, .. } => text,
        }
    }
}

impl Scenario {
    /// Writes the file that [`Scenario::read`] parses to this scenario, all times in periods.
    ///
    /// Endpoint names known to a host are compared only as far as replies need them.
    ///
    /// # Errors
    /// No file expresses the scenario: for example a sender that is its own receiver, or hosts
    /// numbered between switches.
    pub fn write(&self) -> Result<String, UnwritableScenario> {
        let text = text(self);
        match Self::read("scenario.toml", &text) {
            Err(error) => Err(UnwritableScenario::Refused { text, error }),
            Ok(read) => match differing(self, &read) {
                None => Ok(text),
                Some(part) => Err(UnwritableScenario::Differs { text, part }),
            },
        }
    }
}

fn text(scenario: &Scenario) -> String {
    let names = NodeNames { topology: &scenario.topology };
    let mut page = TomlPage::default();
    let mut keys = TomlKeys::default();
    keys.value("seed", scenario.seed);
    keys.value("duration_periods", scenario.duration);
    page.keys(&keys);
    layout::write(&mut page, scenario);
    routes::write(&mut page, &scenario.routes, names);
    traffic::write(&mut page, scenario);
    endpoints::write(&mut page, scenario);
    messages::write(&mut page, scenario);
    faults::write(&mut page, &scenario.faults, names);
    taps::write(&mut page, &scenario.taps, names, scenario.duration);
    page.0
}

/// First part in which two scenarios differ.
fn differing(one: &Scenario, other: &Scenario) -> Option<&'static str> {
    let heard = |scenario: &Scenario| messages::replies(&scenario.messaging);
    [
        ("seeds", one.seed == other.seed),
        ("durations", one.duration == other.duration),
        ("nodes", one.topology.nodes() == other.topology.nodes()),
        ("cables", one.topology.cables() == other.topology.cables()),
        ("interfaces", one.interfaces == other.interfaces),
        ("routes", one.routes == other.routes),
        ("traffic", one.streams == other.streams),
        ("raw characters", one.raw == other.raw),
        ("endpoints and messages", heard(one) == heard(other)),
        ("faults", one.faults == other.faults),
        ("taps", one.taps == other.taps),
    ]
    .into_iter()
    .find_map(|(part, same)| (!same).then_some(part))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeNames<'a> {
    pub(super) topology: &'a Topology,
}

impl<'a> NodeNames<'a> {
    pub(super) fn node(self, node: NodeId) -> &'a str {
        self.topology.node(node).map_or("?", |node| &node.name)
    }

    pub(super) fn port(self, port: NodePort) -> String {
        self.topology.port_name(port)
    }
}

/// Text of a file being written.
#[derive(Debug, Default)]
pub(super) struct TomlPage(String);

impl TomlPage {
    fn keys(&mut self, keys: &TomlKeys) {
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

/// Keys and formatted values of a table.
#[derive(Debug, Default)]
pub(super) struct TomlKeys(Vec<(&'static str, String)>);

impl TomlKeys {
    pub(super) fn value(&mut self, key: &'static str, value: impl Display) {
        self.0.push((key, value.to_string()));
    }

    /// Adds a value that differs from its default.
    pub(super) fn differing<T: PartialEq + Copy + Display>(
        &mut self,
        key: &'static str,
        value: T,
        base: T,
    ) {
        if value != base {
            self.value(key, value);
        }
    }

    pub(super) fn text(&mut self, key: &'static str, text: &str) {
        self.value(key, quoted(text));
    }

    /// Adds a word that differs from its default.
    pub(super) fn word<T: PartialEq + Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        value: T,
        base: T,
    ) {
        if value != base {
            self.text(key, word_of(words, value));
        }
    }

    pub(super) fn texts(&mut self, key: &'static str, texts: &[&str]) {
        match texts {
            [one] => self.text(key, one),
            several => self.list(key, several),
        }
    }

    pub(super) fn list(&mut self, key: &'static str, texts: &[&str]) {
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

/// Word of a value.
pub(crate) fn word_of<T: PartialEq + Copy>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, meaning)| *meaning == value).map_or("?", |(word, _)| word)
}

fn quoted(text: &str) -> String {
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

#[cfg(test)]
mod tests;
