//! Parameters given on the command line.

use std::str::FromStr;

use codec::capture::Channel;
use codec::packet::PacketDialect;

use super::ParameterKey;

/// Parameters of all links, `kg=32,h=16,reset=own-gap`, and the dialect of their packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkAssumptions {
    values: [Option<u32>; ParameterKey::ALL.len()],
    /// Meaning of the bytes behind the route.
    pub(crate) dialect: PacketDialect,
}

/// An assumption that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssumeError {
    /// Word without `=`.
    #[error("expected key=value, found `{0}`")]
    NoValue(String),
    /// Unknown key.
    #[error("unknown parameter `{0}` (known: {known})", known = ParameterKey::ALL.map(ParameterKey::name).join(", "))]
    Unknown(String),
    /// Second value of a key.
    #[error("`{0}` is given twice")]
    Duplicate(&'static str),
    /// Invalid value.
    #[error("{key} is `{value}`, expected {expected}")]
    OutOfRange {
        /// Key.
        key: &'static str,
        /// Value found.
        value: String,
        /// Valid values.
        expected: String,
    },
}

impl LinkAssumptions {
    /// The value given on the command line, else the one that the capture declares for the channel.
    pub fn known(&self, key: ParameterKey, channel: &Channel) -> Option<u32> {
        self.of(key).or_else(|| key.declared(channel))
    }

    /// These assumptions, for packets in a dialect.
    pub const fn with_dialect(self, dialect: PacketDialect) -> Self {
        Self { dialect, ..self }
    }

    pub(super) fn of(&self, key: ParameterKey) -> Option<u32> {
        self.values.get(key as usize).copied().flatten()
    }
}

impl FromStr for LinkAssumptions {
    type Err = AssumeError;

    fn from_str(text: &str) -> Result<Self, AssumeError> {
        let mut assumptions = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let no_value = || AssumeError::NoValue(word.to_owned());
            let (name, value) = word.split_once('=').ok_or_else(no_value)?;
            let (name, value) = (name.trim(), value.trim());
            let mut entries = ParameterKey::ALL.iter().zip(&mut assumptions.values);
            let found = entries.find(|(key, _)| key.name() == name);
            let (key, entry) = found.ok_or_else(|| AssumeError::Unknown(name.to_owned()))?;
            let out_of_range = || AssumeError::OutOfRange {
                key: key.name(),
                value: value.to_owned(),
                expected: key.expected(),
            };
            if entry.replace(key.parse(value).ok_or_else(out_of_range)?).is_some() {
                return Err(AssumeError::Duplicate(key.name()));
            }
        }
        Ok(assumptions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_word_and_the_valid_values() {
        let known = "(known: kg, h, ks, delay, gen, int, path, reset, fill, framing)";
        for (text, error) in [
            ("kg", "expected key=value, found `kg`".to_owned()),
            ("kx=1", format!("unknown parameter `kx` {known}")),
            ("reset=gap", "reset is `gap`, expected own-gap or next-gap".to_owned()),
            ("fill=chip,fill=chip", "`fill` is given twice".to_owned()),
            ("h=0", "h is `0`, expected a number in 1..=65536".to_owned()),
            (
                "delay=99999999999",
                "delay is `99999999999`, expected a number in 0..=65536".to_owned(),
            ),
        ] {
            assert_eq!(text.parse::<LinkAssumptions>().unwrap_err().to_string(), error);
        }
    }
}
