//! Registry of fields: name, type, unit and rule of each. Filters, columns and lists of fields are
//! derived from it; a test compares it with the rows.

use serde::{Serialize, Serializer};

/// Field of one kind of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowField {
    /// Name in the JSON; a dot separates a member from its object.
    pub name: &'static str,
    /// Type and range of its values.
    pub shape: FieldShape,
    /// Unit of a number, if it has one.
    pub unit: &'static str,
    /// Rule of the field, if any.
    pub rule: &'static str,
    /// Meaning of the field.
    pub help: &'static str,
}

/// Type of a field. A field inside a list has one value per element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldShape {
    /// Whole number up to this maximum.
    Number(u64),
    /// Whole number that may be negative.
    Signed,
    /// Real number.
    Real,
    /// Character index on the row's channel, or a number of its periods; comparable with times.
    Place,
    /// Picoseconds.
    Time,
    /// Free text.
    Text,
    /// One of a set of words.
    Words(&'static [&'static str]),
    /// One of an ordered set of words, the least first.
    Ranks(&'static [&'static str]),
    /// Bytes.
    Bytes,
    /// Boolean.
    Flag,
    /// List of objects, compared by its length.
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

    /// Words that the field can be; empty for other types.
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
    /// Maximum of a number, if it is bounded.
    #[must_use]
    pub const fn most(self) -> Option<u64> {
        if let Self::Number(most) = self { Some(most) } else { None }
    }

    /// Name of the type in lists of fields.
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

/// Row of `--list-fields`: the contract of `docs/filter.md`.
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
