//! Kinds of rows, and the fields of each.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::field::RowField;
use super::table;

/// Kind of the rows that a command prints.
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

    /// Command that prints the rows.
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

    /// Fields of the rows, in the order of their JSON.
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

    /// Field with the given name.
    #[must_use]
    pub fn field(self, name: &str) -> Option<&'static RowField> {
        having(name).iter().find(|(kind, _)| *kind == self).map(|(_, field)| *field)
    }
}

/// Kinds of rows that have a field of the name, each with that field.
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
