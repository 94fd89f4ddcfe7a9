//! Keys of parameter sections: one table of keys for each.
//!
//! Serde was no alternative: it stops at the first error of a table, and does not list its keys.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use codec::time::Ticks;

use super::error::{KeyUse, ProblemList};
use super::toml_reader::TomlTable;
#[cfg(test)]
use crate::rng::Rng;
use crate::transport::Micros;

/// A key of a section with the parameters `S`.
pub(super) type AnyKey<S> = &'static dyn SectionKey<S>;

/// All keys of such a section.
pub(super) type KeyList<S> = [AnyKey<S>];

pub(super) trait SectionKey<S: Copy> {
    /// Reads the key into `to`. Returns the key that copies the value, if it was given.
    fn read(&'static self, table: &mut TomlTable<'_>, to: &mut S) -> Option<AnyKey<S>>;

    fn copy(&self, from: S, to: &mut S);

    /// The keys of the section whose values it decides.
    fn decides(&self) -> &[&'static str];

    /// True if something makes use of the value among the others of its section.
    fn acts(&self, _: S, _: &ScenarioUse) -> bool {
        true
    }

    /// The key with a random value that the section allows.
    #[cfg(test)]
    fn any(&self, rng: &mut Rng) -> (String, String);
}

/// Key of a field: its name, its format, and the field. The name of a time excludes the unit.
pub(super) struct FieldKey<S, T, F>(
    pub(super) &'static str,
    pub(super) F,
    pub(super) fn(&mut S) -> &mut T,
);

/// The key of a field: section, name, format, path of the field.
macro_rules! key {
    ($section:ty, $name:literal, $format:expr, $($field:ident).+) => {
        &FieldKey($name, $format, |section: &mut $section| &mut section.$($field).+)
    };
}
pub(super) use key;

pub(super) trait KeyFormat<T> {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<T>;
    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String);
}

/// Integer within limits.
pub(super) struct IntRange(pub(super) RangeInclusive<u64>);

/// Time in periods or microseconds, within limits in periods.
pub(super) struct TimeRange(pub(super) RangeInclusive<u64>);

pub(super) struct WordList<T: 'static>(pub(super) &'static [(&'static str, T)]);

/// The word of a value in a table of words, `?` for one that is not there.
pub fn word_of<T: PartialEq + Copy>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, meaning)| *meaning == value).map_or("?", |(word, _)| word)
}

pub(super) struct BoolPair<T>(pub(super) [T; 2]);

/// Number in a field, which may be absent.
pub(super) trait KeyNumber: Sized {
    fn from_number(number: u64) -> Option<Self>;
}

pub(super) fn read<S: Copy>(section: &KeyList<S>, table: &mut TomlTable<'_>, base: S) -> S {
    let mut parameters = base;
    for key in section {
        key.read(table, &mut parameters);
    }
    parameters
}

/// A key that has an effect only with others.
pub(super) struct WithKey<S: 'static>(pub(super) AnyKey<S>, pub(super) fn(S, &ScenarioUse) -> bool);

/// Parts of a scenario beside its network, which make use of keys.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each asked for by its name")]
pub(super) struct ScenarioUse {
    pub(super) ip: bool,
    pub(super) multicast: bool,
    pub(super) mapping: bool,
    pub(super) endpoints: bool,
    /// Checksums by the processor of a host.
    pub(super) checksums: bool,
    /// Commands that interrupt a host.
    pub(super) interrupts: bool,
}

/// Parameters given in a table, to be applied to several bases.
#[derive(Clone, Default)]
pub(super) struct GivenKeys<S: Copy + 'static> {
    values: S,
    given: Vec<(AnyKey<S>, Option<KeyUse>)>,
}

impl<S: Copy + Default> GivenKeys<S> {
    pub(super) fn read(section: &KeyList<S>, table: &mut TomlTable<'_>) -> Self {
        let mut values = S::default();
        let mut read = |key: &AnyKey<S>| {
            let key = key.read(table, &mut values)?;
            Some((key, table.leave()))
        };
        let given = section.iter().filter_map(&mut read).collect();
        Self { values, given }
    }

    pub(super) fn over(&self, base: S) -> S {
        let mut parameters = base;
        self.given.iter().for_each(|(key, _)| key.copy(self.values, &mut parameters));
        parameters
    }
}

impl<S: Copy + PartialEq> GivenKeys<S> {
    /// Notes the keys that decide parameters: of layers of keys the last one of each, if the parameters
    /// have its value, and it acts among them.
    pub(super) fn note_use(
        layers: &[&Self],
        parameters: S,
        scope: &ScenarioUse,
        problems: &ProblemList<'_>,
    ) {
        let mut decided: Vec<&str> = Vec::new();
        for layer in layers.iter().rev() {
            for (key, left) in &layer.given {
                let mut same = parameters;
                key.copy(layer.values, &mut same);
                let is_last = key.decides().iter().any(|key| !decided.contains(key));
                if is_last && same == parameters && key.acts(parameters, scope) {
                    left.iter().for_each(|left| problems.note_use(*left));
                }
            }
            decided.extend(layer.given.iter().flat_map(|(key, _)| key.decides()));
        }
    }
}

impl<S: Copy> SectionKey<S> for WithKey<S> {
    fn read(&'static self, table: &mut TomlTable<'_>, to: &mut S) -> Option<AnyKey<S>> {
        self.0.read(table, to).map(|_| self as &dyn SectionKey<S>)
    }

    fn copy(&self, from: S, to: &mut S) {
        self.0.copy(from, to);
    }

    fn decides(&self) -> &[&'static str] {
        self.0.decides()
    }

    fn acts(&self, value: S, scope: &ScenarioUse) -> bool {
        self.1(value, scope)
    }

    #[cfg(test)]
    fn any(&self, rng: &mut Rng) -> (String, String) {
        self.0.any(rng)
    }
}

impl<S: Copy, T: Copy + PartialEq, F: KeyFormat<T>> SectionKey<S> for FieldKey<S, T, F> {
    fn read(&'static self, table: &mut TomlTable<'_>, to: &mut S) -> Option<AnyKey<S>> {
        *self.2(to) = self.1.read(table, self.0)?;
        Some(self)
    }

    fn copy(&self, mut from: S, to: &mut S) {
        *self.2(to) = *self.2(&mut from);
    }

    fn decides(&self) -> &[&'static str] {
        std::slice::from_ref(&self.0)
    }

    #[cfg(test)]
    fn any(&self, rng: &mut Rng) -> (String, String) {
        self.1.any(self.0, rng)
    }
}

impl<T: KeyNumber> KeyFormat<T> for IntRange {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<T> {
        T::from_number(table.integer(name, self.0.clone())?)
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        (name.to_owned(), rng.between(*self.0.start(), *self.0.end()).to_string())
    }
}

impl<T: KeyNumber> KeyFormat<T> for TimeRange {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<T> {
        T::from_number(table.time(name, self.0.clone())?.periods)
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        (format!("{name}_periods"), rng.between(*self.0.start(), *self.0.end()).to_string())
    }
}

impl<T: Copy + PartialEq> KeyFormat<T> for WordList<T> {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<T> {
        table.word(name, self.0)
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        let word = usize::try_from(rng.below(self.0.len() as u64)).unwrap();
        (name.to_owned(), format!("'{}'", self.0[word].0))
    }
}

impl<T: Copy + PartialEq> KeyFormat<T> for BoolPair<T> {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<T> {
        let [no, yes] = self.0;
        Some(if table.item(name)?.boolean()? { yes } else { no })
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        (name.to_owned(), (rng.below(2) == 0).to_string())
    }
}

macro_rules! key_numbers {
    ($($number:ty: $from:expr;)*) => {
        $(impl KeyNumber for $number {
            fn from_number(number: u64) -> Option<Self> {
                $from(number)
            }
        })*
    };
}

key_numbers! {
    u8: |number: u64| number.try_into().ok();
    u16: |number: u64| number.try_into().ok();
    u32: |number: u64| number.try_into().ok();
    u64: Some;
    NonZeroU32: |number: u64| Self::new(number.try_into().ok()?);
    Ticks: |number| Some(Self(number));
    Micros: |number| Some(Self(number));
    Option<u8>: |number| u8::from_number(number).map(Some);
    Option<u16>: |number| u16::from_number(number).map(Some);
    Option<u32>: |number| u32::from_number(number).map(Some);
    Option<Ticks>: |number| Some(Some(Ticks(number)));
}

#[cfg(test)]
mod tests;
