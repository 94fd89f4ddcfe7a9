//! Rows of parameters, and parameters that a check lacks. F-4

use std::fmt;

use serde::Serialize;

use super::{ChannelParameters, ParameterKey, ParameterValue};

/// Bounds of an estimated value; `None` if it has no upper bound.
pub type ParameterRange = (u32, Option<u32>);

/// A parameter in `links`; fields as in `docs/output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "docs/output.md describes the fields")]
pub struct ParameterRow {
    pub name: &'static str,
    pub value: Option<u32>,
    pub variant: Option<&'static str>,
    pub source: Option<&'static str>,
    pub range: Option<ParameterRange>,
}

/// Parameters that a check depends on and that are not declared, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnknownParameters(u16);

/// A property of each numeric parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "ParameterKey describes the parameters")]
pub struct PerParameter<T> {
    pub kg: T,
    pub h: T,
    pub ks: T,
    pub delay: T,
    #[serde(rename = "gen")]
    pub generation: T,
    #[serde(rename = "int")]
    pub interpretation: T,
}

impl ChannelParameters {
    /// A property of each numeric parameter.
    pub(in crate::link) fn each<T>(&self, what: impl Fn(ParameterValue) -> T) -> PerParameter<T> {
        PerParameter {
            kg: what(self.kg),
            h: what(self.h),
            ks: what(self.ks),
            delay: what(self.delay),
            generation: what(self.generation),
            interpretation: what(self.interpretation),
        }
    }

    /// Rows of all parameters; the size of switches is not assumed. S-6
    pub(in crate::link) fn rows(&self) -> impl Iterator<Item = ParameterRow> {
        ParameterKey::ALL.into_iter().zip(self.all()).map(|(key, it)| {
            let known = key != ParameterKey::Path || it.is_declared();
            let variant = key.variants().get(it.value as usize).copied();
            ParameterRow {
                name: key.name(),
                value: Some(it.value).filter(|_| known && variant.is_none()),
                variant,
                source: known.then_some(it.source.name()),
                range: it.range(),
            }
        })
    }
}

impl UnknownParameters {
    /// The tapped end of the link.
    pub(crate) const TAP: Self = Self(1 << ParameterKey::ALL.len());

    /// The undeclared ones of some parameters.
    pub(crate) fn of(parameters: &ChannelParameters, keys: &[ParameterKey]) -> Self {
        let all = ParameterKey::ALL.into_iter().zip(parameters.all());
        let unknown = all.filter(|(key, it)| keys.contains(key) && !it.is_declared());
        Self(unknown.fold(0, |bits, (key, _)| bits | 1 << key as u16))
    }

    /// The union of two sets.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if all are declared.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for UnknownParameters {
    /// `h, ks not known (--assume h=…,ks=…, or these words in the capture)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = ParameterKey::ALL.into_iter().filter(|key| self.0 >> *key as u16 & 1 == 1);
        let names: Vec<&str> = keys.map(ParameterKey::name).collect();
        if self.0 & Self::TAP.0 != 0 {
            f.write_str("where the link is tapped is not known (tap= in the capture)")?;
            f.write_str(if names.is_empty() { "" } else { "; " })?;
        }
        if names.is_empty() {
            return Ok(());
        }
        let words = if names.len() == 1 { "this word" } else { "these words" };
        let (listed, given) = (names.join(", "), names.join("=…,"));
        write!(f, "{listed} not known (--assume {given}=…, or {words} in the capture)")
    }
}
