//! The key `extensions` of a switch. S-8, S-9

use super::keys::KeyFormat;
use super::toml_reader::TomlTable;
#[cfg(test)]
use crate::rng::Rng;
use crate::topology::ExtensionSupport;

/// A truth value, or a word. S-8
pub(super) struct ExtensionFormat;

const COMPUTER: &str = "computer";

impl KeyFormat<ExtensionSupport> for ExtensionFormat {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<ExtensionSupport> {
        let item = table.item(name)?;
        let support = match (item.as_boolean(), item.as_text()) {
            (Some(false), _) => Some(ExtensionSupport::Off),
            (Some(true), _) => Some(ExtensionSupport::On),
            (None, Some(word)) if word.text == COMPUTER => Some(ExtensionSupport::Computer),
            (None, _) => None,
        };
        if support.is_none() {
            item.report(format!("expected `true`, `false` or `{COMPUTER}`"));
        }
        support
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        let value = ["false".to_owned(), "true".to_owned(), format!("'{COMPUTER}'")];
        (name.to_owned(), value[usize::try_from(rng.below(3)).unwrap()].clone())
    }
}
