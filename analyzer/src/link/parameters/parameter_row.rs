//! Rows of parameters, and parameters that a check lacks. F-4

use std::fmt;

use serde::Serialize;

use super::{ChannelParameters, NAMES, ParameterKey, ParameterSource, ParameterValue};
use crate::row::FieldShape::{Number, Words};
use crate::row::{FieldType, RowField, row};

/// Bounds of an estimated value; `None` if it has no upper bound.
pub type ParameterRange = (u32, Option<u32>);

row! {
    /// A parameter in `links`; fields as in `docs/output.md`.
    #[derive(Copy)]
    pub struct ParameterRow {
        name: &'static str as Words(NAMES), "", "", "which parameter";
        value: Option<u32>, "", "F-4", "cells or periods";
        variant: Option<&'static str>, "", "R-1", "which variant of reset, fill and framing";
        source: Option<&'static str> as ParameterSource::SHAPE, "", "", "on whose word";
        range: Option<(u32, Option<u32>)> as Number(u32::MAX as u64), "numbers", "F-4", "least and greatest of an estimate";
    }
}

/// Assumed values, as fields of a row.
pub(in crate::link) const ASSUMED: &[RowField] = &[
    RowField::new("kg", u32::SHAPE, "cells", "F-3", "k_g: GO at so many full cells"),
    RowField::new("h", u32::SHAPE, "cells", "F-3", "h: so many more for STOP"),
    RowField::new("ks", u32::SHAPE, "cells", "F-3", "k_s: so many above that"),
    RowField::new("delay", u32::SHAPE, "periods", "F-4", "delay of the cable, at the full rate"),
    RowField::new("gen", u32::SHAPE, "periods", "F-4", "from a threshold to the wire"),
    RowField::new("int", u32::SHAPE, "periods", "F-4", "from the wire to obedience"),
];

/// Sources of the assumed values, as fields of a row.
pub(in crate::link) const ASSUMED_BY: &[RowField] = &[
    source_of("kg"),
    source_of("h"),
    source_of("ks"),
    source_of("delay"),
    source_of("gen"),
    source_of("int"),
];

const fn source_of(name: &'static str) -> RowField {
    RowField::new(name, ParameterSource::SHAPE, "", "", "who says that")
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
        let [kg, h, ks, delay, generation, interpretation, ..] = self.0.map(what);
        PerParameter { kg, h, ks, delay, generation, interpretation }
    }

    /// Rows of all parameters; the size of switches is not assumed. S-6
    pub(in crate::link) fn rows(&self) -> impl Iterator<Item = ParameterRow> {
        ParameterKey::ALL.into_iter().zip(self.0).map(|(key, it)| {
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
        let all = ParameterKey::ALL.into_iter().zip(parameters.0);
        let unknown = all.filter(|(key, it)| keys.contains(key) && !it.is_declared());
        Self(unknown.fold(0, |bits, (key, _)| bits | 1 << key as u16))
    }

    /// The union of two sets.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if all are declared.
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
