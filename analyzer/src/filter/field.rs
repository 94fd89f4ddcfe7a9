//! The registry of fields: what rows have, by name, shape, unit and rule. Filters, columns and lists of
//! fields are made from it, and a test holds it against the rows themselves.

use serde::{Serialize, Serializer};

/// Something that rows of one kind have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowField {
    /// Its name in the JSON; behind a dot, a member of a member.
    pub name: &'static str,
    /// Type and range of its values.
    pub shape: FieldShape,
    /// Unit of a number, if it has one.
    pub unit: &'static str,
    /// The rule that it comes from, if there is one.
    pub rule: &'static str,
    /// Its meaning.
    pub help: &'static str,
}

/// Type of a field. Of several values in a row, as in lists, each counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldShape {
    /// A whole number, up to this.
    Number(u64),
    /// A whole number, which may be less than 0.
    Signed,
    /// A number that need not be whole.
    Real,
    /// A character of the row's channel, or a number of its periods; so it can be told as a time.
    Place,
    /// Picoseconds.
    Time,
    /// Any text.
    Text,
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, each more than the one before it.
    Ranks(&'static [&'static str]),
    /// Bytes.
    Bytes,
    /// Yes or no.
    Flag,
    /// A list of objects; it stands for their number.
    List,
}

impl RowField {
    pub(super) const fn new(
        name: &'static str,
        shape: FieldShape,
        unit: &'static str,
        rule: &'static str,
        help: &'static str,
    ) -> Self {
        Self { name, shape, unit, rule, help }
    }

    /// The words that it may be; none, if it is no matter of words.
    #[must_use]
    pub const fn words(&self) -> &'static [&'static str] {
        match self.shape {
            FieldShape::Words(words) | FieldShape::Ranks(words) => words,
            FieldShape::Number(_)
            | FieldShape::Signed
            | FieldShape::Real
            | FieldShape::Place
            | FieldShape::Time => &[],
            FieldShape::Text | FieldShape::Bytes | FieldShape::Flag | FieldShape::List => &[],
        }
    }
}

impl FieldShape {
    /// The greatest number that it may be, if it is a number that has one.
    #[must_use]
    pub const fn most(self) -> Option<u64> {
        if let Self::Number(most) = self { Some(most) } else { None }
    }

    /// Its name in lists of fields.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number(_) | Self::Signed => "number",
            Self::Real => "real",
            Self::Place => "place",
            Self::Time => "time",
            Self::Text => "text",
            Self::Words(_) => "word",
            Self::Ranks(_) => "rank",
            Self::Bytes => "bytes",
            Self::Flag => "flag",
            Self::List => "list",
        }
    }
}

/// A field as a row of `--list-fields`: the contract of `docs/filter.md`.
#[derive(Debug, Serialize)]
struct FieldInfo<'a> {
    name: &'a str,
    r#type: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    words: &'a [&'a str],
    unit: Option<&'a str>,
    rule: Option<&'a str>,
    help: &'a str,
}

impl Serialize for RowField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let some = |text: &'static str| (!text.is_empty()).then_some(text);
        let Self { name, shape, unit, rule, help } = *self;
        let (unit, rule) = (some(unit), some(rule));
        FieldInfo { name, r#type: shape.name(), words: self.words(), unit, rule, help }
            .serialize(serializer)
    }
}
