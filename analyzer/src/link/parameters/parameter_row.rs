//! What is known of parameters and from where, and which a judgement lacks. F-4

use std::fmt;

use serde::Serialize;

use super::{ChannelParameters, ParameterKey, ParameterValue};

/// The least and the greatest that an estimated value can be; none if nothing bounds it above.
pub type ParameterRange = (u32, Option<u32>);

/// A parameter in `links`; fields as in `docs/output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterRow {
    /// [`ParameterKey::name`].
    pub name: &'static str,
    /// Cells or periods; none if not known.
    pub value: Option<u32>,
    /// The name of a variant.
    pub variant: Option<&'static str>,
    /// [`super::ParameterSource::name`]; none if the value is not known.
    pub source: Option<&'static str>,
    /// The range of an estimate.
    pub range: Option<ParameterRange>,
}

/// Parameters that a judgement rests on and that are neither declared nor given, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnknownParameters(u16);

/// The same thing about each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PerParameter<T> {
    /// [`ParameterKey::GoSlack`].
    pub kg: T,
    /// [`ParameterKey::Hysteresis`].
    pub h: T,
    /// [`ParameterKey::StopSlack`].
    pub ks: T,
    /// [`ParameterKey::Delay`].
    pub delay: T,
    /// [`ParameterKey::Generation`].
    #[serde(rename = "gen")]
    pub generation: T,
    /// [`ParameterKey::Interpretation`].
    #[serde(rename = "int")]
    pub interpretation: T,
}

impl ChannelParameters {
    /// Something about each number.
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

    /// All of them; of switches no size is taken for granted. S-6
    pub(in crate::link) fn rows(&self) -> impl Iterator<Item = ParameterRow> {
        ParameterKey::ALL.into_iter().zip(self.all()).map(|(key, it)| {
            let known = key != ParameterKey::Path || it.is_told();
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
    /// The end at which a link was tapped.
    pub(crate) const TAP: Self = Self(1 << ParameterKey::ALL.len());

    /// Those of some keys.
    pub(crate) fn of(parameters: &ChannelParameters, keys: &[ParameterKey]) -> Self {
        let all = ParameterKey::ALL.into_iter().zip(parameters.all());
        let unknown = all.filter(|(key, it)| keys.contains(key) && !it.is_told());
        Self(unknown.fold(0, |bits, (key, _)| bits | 1 << key as u16))
    }

    /// These and others.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there are none.
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
