//! Interfaces of other link types, which are skipped.

use std::collections::BTreeMap;

use super::LINK_TYPE;

/// Most link types listed for a file without channels. *Chosen*: they fit a line.
const LINK_TYPES_SHOWN: usize = 4;

/// Number of interfaces by link type.
#[derive(Debug, Default)]
pub(super) struct ForeignInterfaces(BTreeMap<u32, u64>);

impl ForeignInterfaces {
    pub(super) fn add(&mut self, link_type: u32) {
        *self.0.entry(link_type).or_default() += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The contents of a file of some sections and no channel, as text.
    pub(super) fn describe(&self, sections: u64) -> String {
        let plural = |count: u64, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let shown = self.0.iter().take(LINK_TYPES_SHOWN).map(|(link_type, count)| {
            let name = link_type_name(*link_type);
            format!("{} of link type {link_type}{name}", plural(*count, "interface"))
        });
        let mut found: Vec<String> = shown.collect();
        if found.is_empty() {
            found.push(format!("{} and no interface", plural(sections, "section header")));
        } else if self.0.len() > LINK_TYPES_SHOWN {
            found.push("others".to_owned());
        }
        format!("{}, expected {LINK_TYPE} (USER0)", found.join(", "))
    }
}

const fn link_type_name(link_type: u32) -> &'static str {
    match link_type {
        1 => " (Ethernet)",
        101 | 228 | 229 => " (IP)",
        105 | 127 => " (IEEE 802.11)",
        113 | 276 => " (Linux cooked)",
        148 => " (written by export packets: read the capture that it was written from)",
        149..=162 => " (another USER)",
        189 | 220 => " (USB)",
        _ => "",
    }
}
