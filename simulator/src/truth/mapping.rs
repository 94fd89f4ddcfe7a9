//! Names and fields of events about mapping: `docs/truth.md`. N-2

use codec::mapping::{
    AnswerStatus, InterfaceAddress, MapPiece, MapVersion, MappingPacket, MappingRequest,
    ProbeTicket,
};
use serde::ser::SerializeMap;

use super::row::RowWriter;

/// Fields of a mapping packet, each if the kind of packet has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappingLabel {
    /// Kind of the packet.
    pub kind: &'static str,
    /// Its sender.
    pub source: InterfaceAddress,
    /// Number of the request.
    pub ticket: Option<ProbeTicket>,
    /// Version of the map.
    pub version: Option<MapVersion>,
    /// Of an answer: the mapper.
    pub mapper: Option<InterfaceAddress>,
    /// Of an answer: the result.
    pub status: Option<AnswerStatus>,
    /// Of a piece: its number, and the number of all.
    pub piece: Option<(u16, u16)>,
}

/// Notice of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingNotice {
    /// A probe was sent, for the first time or again.
    Probed(ProbeKind),
    /// It has begun to map the network. N-2
    Elected,
    /// It is no mapper any more.
    Resigned {
        /// The mapper with the higher address.
        winner: InterfaceAddress,
    },
    /// It has finished a map.
    Mapped {
        /// Version of the map.
        version: MapVersion,
        /// Interfaces in the map.
        hosts: usize,
        /// Switches in the map.
        switches: u16,
        /// Links in the map.
        links: usize,
        /// Packets sent for the map: probes and their repetitions.
        probes: u64,
        /// Time since the beginning of the search.
        took: u64,
    },
    /// It has installed new routes.
    Installed {
        /// The mapper.
        mapper: InterfaceAddress,
        /// Version of the map.
        version: MapVersion,
        /// Number of routes.
        routes: usize,
    },
}

/// Kind of a probe. N-2, N-8
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProbeKind {
    /// Looks for an interface.
    Host,
    /// Looks for a switch.
    Switch,
    /// Looks for the same switch at the ends of two routes.
    Compare,
    /// Asks a switch for its identity.
    Identity,
}

impl MappingLabel {
    /// The fields of a packet.
    pub fn of(packet: &MappingPacket<'_>) -> Self {
        let (kind, source) = (packet.name(), packet.source());
        let (ticket, version, mapper, status, piece) = (None, None, None, None, None);
        let label = Self { kind, source, ticket, version, mapper, status, piece };
        match packet {
            MappingPacket::Request(header, request) => Self {
                ticket: Some(header.ticket),
                version: Some(header.version),
                piece: match request {
                    MappingRequest::Map(MapPiece { number, count, .. })
                    | MappingRequest::Routes(MapPiece { number, count, .. }) => {
                        Some((*number, *count))
                    }
                    MappingRequest::Probe | MappingRequest::Install => None,
                },
                ..label
            },
            MappingPacket::Answer(answer) => Self {
                ticket: Some(answer.ticket),
                version: Some(answer.version),
                mapper: answer.mapper,
                status: Some(answer.status),
                ..label
            },
            MappingPacket::Home(_, _, ticket) => Self { ticket: Some(*ticket), ..label },
            MappingPacket::Resign { .. } => label,
        }
    }
}

impl<M: SerializeMap> RowWriter<'_, M> {
    /// Writes the name and the fields of its transmission.
    pub(super) fn mapping_packet(&mut self, label: &MappingLabel) -> &mut Self {
        self.event("mapping-transmitted").field("kind", label.kind);
        self.field("source", &format_args!("{}", label.source));
        self.optional("ticket", label.ticket.map(|ticket| ticket.0));
        self.optional("version", label.version.map(|version| version.0));
        self.optional("mapper", label.mapper.map(|mapper| mapper.to_string()));
        self.optional("status", label.status.map(AnswerStatus::name));
        self.optional("piece", label.piece.map(|(number, _)| number));
        self.optional("pieces", label.piece.map(|(_, count)| count))
    }

    /// Writes the name and the fields of an event at a host.
    pub(super) fn mapping(&mut self, notice: &MappingNotice) -> &mut Self {
        match notice {
            // The truth has the packet instead.
            MappingNotice::Probed(
                ProbeKind::Host | ProbeKind::Switch | ProbeKind::Compare | ProbeKind::Identity,
            ) => self.event("mapping-transmitted"),
            MappingNotice::Elected => self.event("mapper-elected"),
            MappingNotice::Resigned { winner } => {
                self.event("mapper-resigned").field("winner", &format_args!("{winner}"))
            }
            MappingNotice::Mapped { version, hosts, switches, links, probes, took } => {
                self.event("map-version").field("version", &version.0).field("hosts", hosts);
                self.field("switches", switches).field("links", links);
                self.field("probes", probes).field("took", took)
            }
            MappingNotice::Installed { mapper, version, routes } => {
                self.event("routes-installed").field("mapper", &format_args!("{mapper}"));
                self.field("version", &version.0).field("routes", routes)
            }
        }
    }
}
