//! The registry of fields: what rows have, by name, shape, unit and rule. Filters, columns and lists of
//! fields are made from it, and a test holds it against the rows themselves.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use super::table;

/// The rows that a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKind {
    /// Rows of `info`.
    Channels,
    /// Rows of `packets`.
    Packets,
    /// Rows of `events`.
    Events,
    /// Rows of `show`.
    Characters,
    /// Rows of `blocking`.
    Waits,
    /// Rows of `links`.
    Links,
    /// Rows of `links --intervals`.
    Intervals,
    /// Rows of `links --slack`.
    Buffers,
    /// Rows of `links --fill`.
    Fills,
    /// Rows of `journeys`.
    Journeys,
    /// Rows of `conversations`.
    Conversations,
    /// Rows of `conversations --events`.
    Remarks,
    /// Rows of `check`.
    Findings,
}

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

impl RowKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Channels,
        Self::Packets,
        Self::Events,
        Self::Characters,
        Self::Waits,
        Self::Links,
        Self::Intervals,
        Self::Buffers,
        Self::Fills,
        Self::Journeys,
        Self::Conversations,
        Self::Remarks,
        Self::Findings,
    ];

    /// Name of the rows, in the plural.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Channels => "channels",
            Self::Packets => "packets",
            Self::Events => "events",
            Self::Characters => "rows of characters",
            Self::Waits => "waits",
            Self::Links => "links",
            Self::Intervals => "intervals",
            Self::Buffers => "buffers",
            Self::Fills => "fills",
            Self::Journeys => "journeys",
            Self::Conversations => "conversations",
            Self::Remarks => "events of conversations",
            Self::Findings => "findings",
        }
    }

    /// The command that prints them.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Self::Channels => "info",
            Self::Packets => "packets",
            Self::Events => "events",
            Self::Characters => "show",
            Self::Waits => "blocking",
            Self::Links => "links",
            Self::Intervals => "links --intervals",
            Self::Buffers => "links --slack",
            Self::Fills => "links --fill",
            Self::Journeys => "journeys",
            Self::Conversations => "conversations",
            Self::Remarks => "conversations --events",
            Self::Findings => "check",
        }
    }

    /// Their fields, in the order of their JSON.
    #[must_use]
    pub const fn fields(self) -> &'static [RowField] {
        match self {
            Self::Channels => table::CHANNELS,
            Self::Packets => table::PACKETS,
            Self::Events => table::EVENTS,
            Self::Characters => table::CHARACTERS,
            Self::Waits => table::WAITS,
            Self::Links => table::LINKS,
            Self::Intervals => table::INTERVALS,
            Self::Buffers => table::BUFFERS,
            Self::Fills => table::FILLS,
            Self::Journeys => table::JOURNEYS,
            Self::Conversations => table::CONVERSATIONS,
            Self::Remarks => table::REMARKS,
            Self::Findings => table::FINDINGS,
        }
    }

    /// The field of a name.
    #[must_use]
    pub fn field(self, name: &str) -> Option<&'static RowField> {
        having(name).iter().find(|(kind, _)| *kind == self).map(|(_, field)| *field)
    }
}

/// The kinds of rows that have a field of a name, and that field.
pub(super) fn having(name: &str) -> &'static [(RowKind, &'static RowField)] {
    type Named = BTreeMap<&'static str, Vec<(RowKind, &'static RowField)>>;
    static NAMED: LazyLock<Named> = LazyLock::new(|| {
        let mut named = Named::new();
        for kind in RowKind::ALL {
            for field in kind.fields() {
                named.entry(field.name).or_default().push((kind, field));
            }
        }
        named
    });
    NAMED.get(name).map(Vec::as_slice).unwrap_or_default()
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
