//! Facts about the first occurrence of a finding.

use codec::capture::ChannelId;
use codec::mapping::InterfaceAddress;

use super::Finding;

/// Detail of a finding, with its name in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingFact {
    /// Name in `docs/output.md`.
    pub name: &'static str,
    /// Value of the fact.
    pub value: FactValue,
}

/// Value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactValue {
    /// Count or index.
    Number(u64),
    /// Byte, printed in hexadecimal.
    Byte(u8),
    /// Term of the specification.
    Word(&'static str),
    /// Address of an interface.
    Address(InterfaceAddress),
    /// A channel.
    Channel(ChannelId),
    /// Channels in order.
    Channels(Vec<ChannelId>),
}

impl Finding {
    /// Value of the fact of a name.
    pub fn fact(&self, name: &str) -> Option<&FactValue> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value)
    }

    /// True if the fact of a name is this word.
    pub fn has_word(&self, name: &str, word: &'static str) -> bool {
        self.fact(name) == Some(&FactValue::Word(word))
    }

    /// Channels of the fact of a name; none if it has no such fact.
    pub fn channels(&self, name: &str) -> &[ChannelId] {
        match self.fact(name) {
            Some(FactValue::Channel(channel)) => std::slice::from_ref(channel),
            Some(FactValue::Channels(channels)) => channels,
            Some(FactValue::Number(_) | FactValue::Byte(_)) | None => &[],
            Some(FactValue::Word(_) | FactValue::Address(_)) => &[],
        }
    }
}

impl FactValue {
    /// The number, if it is one.
    pub const fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }
}

impl FindingFact {
    pub(crate) const fn number(name: &'static str, number: u64) -> Self {
        Self { name, value: FactValue::Number(number) }
    }

    pub(crate) const fn byte(name: &'static str, byte: u8) -> Self {
        Self { name, value: FactValue::Byte(byte) }
    }

    pub(crate) const fn address(name: &'static str, address: InterfaceAddress) -> Self {
        Self { name, value: FactValue::Address(address) }
    }

    pub(crate) const fn channel(name: &'static str, channel: ChannelId) -> Self {
        Self { name, value: FactValue::Channel(channel) }
    }

    pub(crate) const fn word(name: &'static str, word: &'static str) -> Self {
        Self { name, value: FactValue::Word(word) }
    }
}
