//! Names and fields of events about mapping: `docs/truth.md`. N-2

use serde::ser::SerializeMap;

use super::row::RowWriter;
use crate::mapping::{MappingNotice, ProbeKind};

impl MappingNotice {
    /// Writes the name and the fields of an event at a host.
    pub(super) fn write<'w, 'a, M: SerializeMap>(
        &self,
        out: &'w mut RowWriter<'a, M>,
    ) -> &'w mut RowWriter<'a, M> {
        match self {
            // The truth has the packet instead.
            Self::Probed(ProbeKind::Host | ProbeKind::Switch | ProbeKind::Compare) => {
                out.event("mapping-transmitted")
            }
            Self::Elected => out.event("mapper-elected"),
            Self::Resigned { winner } => {
                out.event("mapper-resigned").field("winner", &format_args!("{winner}"))
            }
            Self::Mapped { version, hosts, switches, links, probes, took } => {
                out.event("map-version").field("version", &version.0).field("hosts", hosts);
                out.field("switches", switches).field("links", links);
                out.field("probes", probes).field("took", took)
            }
            Self::Installed { mapper, version, routes } => {
                out.event("routes-installed").field("mapper", &format_args!("{mapper}"));
                out.field("version", &version.0).field("routes", routes)
            }
        }
    }
}
