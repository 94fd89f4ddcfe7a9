//! Events of mapping as rows of `docs/output.md`.

use codec::capture::{Channel, ChannelId};
use codec::mapping::{AnswerStatus, InterfaceAddress};

use super::{
    DistributedMap, JourneyFate, LinkOutage, MapperTerm, MappingEvent, MappingProbe, ProbeOutcome,
    RouteInstallation, TermEnd, UnreadPacket,
};
use crate::conversation::ObservedPlace;
use crate::event::Picoseconds;
use crate::row::FieldShape::{Bytes, Place, Words};
use crate::row::{FieldType, row};

const ROWS: &[&str] = &["probe", "installation", "map", "mapper", "outage", "unread"];
const KINDS: &[&str] = &[
    "host-probe",
    "switch-probe",
    "compare-probe",
    "identity-probe",
    "answer",
    "map",
    "routes",
    "install",
];

row! {
    /// A row of `myriscope mapping`, as `docs/output.md` specifies it.
    #[derive(Default)]
    pub struct MappingRow<'a> {
        row: &'static str as Words(ROWS), "", "", "what the row is about";
        time_ps: Picoseconds, "ps", "", "when its first packet was first seen";
        channel: &'a str, "", "", "name of the channel on which it was";
        at: u64 as Place, "characters", "P-1", "place of its first byte there";
        packet: u64, "", "", "its number there";
        address: Option<String> ["Option::is_none"], "", "N-3", "the interface that sent it";
        kind: Option<&'static str> ["Option::is_none"] as Words(KINDS), "", "N-2", "of a probe, an answer or a map: kind of the packets";
        outcome: Option<&'static str> ["Option::is_none"] as ProbeOutcome::SHAPE, "", "N-2", "what became of a probe or a request";
        round_trip_ps: Option<Picoseconds> ["Option::is_none"], "ps", "N-2", "time until it, or its answer, was back";
        ticket: Option<u32> ["Option::is_none"], "", "N-2", "its number, which the answer repeats";
        version: Option<u32> ["Option::is_none"], "", "N-2", "version of the map that it is about";
        route: Option<&'a [u8]> ["Option::is_none"] as Bytes, "", "N-8", "its route bytes where it was first seen";
        last_channel: Option<&'a str> ["Option::is_none"], "", "", "the channel on which it was seen last";
        fate: Option<&'static str> ["Option::is_none"] as Words(JourneyFate::NAMES), "", "", "what became of the packet, as in journeys";
        piece: Option<u16> ["Option::is_none"], "", "N-2", "number of a piece, from 0";
        pieces: Option<u16> ["Option::is_none"], "", "N-2", "number of all pieces";
        answered_by: Option<String> ["Option::is_none"], "", "N-3", "the interface that answered";
        status: Option<&'static str> ["Option::is_none"] as Words(AnswerStatus::NAMES), "", "N-2", "result in the answer";
        mapper: Option<String> ["Option::is_none"], "", "N-2", "the mapper: in an answer, of an installation or a map";
        installed_version: Option<u32> ["Option::is_none"], "", "N-2", "version of the routes of the interface that answered";
        interfaces: Option<u64> ["Option::is_none"], "interfaces", "N-2", "of a map: those to which it was sent";
        complete: Option<u64> ["Option::is_none"], "interfaces", "N-2", "those that acknowledged all pieces";
        installed: Option<u64> ["Option::is_none"], "interfaces", "N-2", "those that acknowledged the installation";
        refused: Option<u64> ["Option::is_none"], "interfaces", "N-2", "those that refused";
        complete_ps: Option<Picoseconds> ["Option::is_none"], "ps", "N-2", "when the last acknowledgement of all pieces arrived";
        installed_ps: Option<Picoseconds> ["Option::is_none"], "ps", "N-2", "when the last acknowledgement of the installation arrived";
        hosts: Option<u64> ["Option::is_none"], "interfaces", "N-2", "in the map";
        switches: Option<u64> ["Option::is_none"], "switches", "N-2", "in the map";
        links: Option<u64> ["Option::is_none"], "links", "N-2", "in the map";
        last_ps: Option<Picoseconds> ["Option::is_none"], "ps", "N-2", "of a mapper: when its last packet was seen";
        packets: Option<u64> ["Option::is_none"], "packets", "N-2", "of a mapper: its probes and requests";
        ended: Option<&'static str> ["Option::is_none"] as TermEnd::SHAPE, "", "N-2", "sign that it is mapper no more";
        winner: Option<String> ["Option::is_none"], "", "N-2", "the mapper in whose favour";
        flows: Option<u64> ["Option::is_none"], "flows", "N-4", "of a silent link: flows that had passed it";
        healed: Option<u64> ["Option::is_none"], "flows", "N-4", "those of which a packet came over another route";
        first_healed_ps: Option<Picoseconds> ["Option::is_none"], "ps", "N-4", "time from the silence to the first such packet";
        last_healed_ps: Option<Picoseconds> ["Option::is_none"], "ps", "N-4", "time to the first such packet of the last flow";
        fault: Option<String> ["Option::is_none"], "", "N-2", "why a packet or a map cannot be read";
    }
}

impl MappingEvent {
    /// The place of its first packet.
    pub const fn place(&self) -> ObservedPlace {
        match self {
            Self::Probe(probe) => probe.place,
            Self::Installation(installed) => installed.place,
            Self::Map(map) => map.place,
            Self::Mapper(term) => term.place,
            Self::Outage(outage) => outage.place,
            Self::Unread(unread) => unread.place,
        }
    }

    /// The event as a row; `known` looks up channels.
    pub fn row<'a>(&'a self, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> MappingRow<'a> {
        let name = |id| known(id).map_or("", |channel| channel.name.as_str());
        let place = self.place();
        let row = MappingRow {
            time_ps: place.time,
            channel: name(place.channel),
            at: place.at.0,
            packet: place.packet,
            ..MappingRow::default()
        };
        match self {
            Self::Probe(probe) => probe.row(name(probe.last), row),
            Self::Installation(installed) => installed.row(row),
            Self::Map(map) => map.row(row),
            Self::Mapper(term) => term.row(row),
            Self::Outage(outage) => outage.row(row),
            Self::Unread(unread) => unread.row(row),
        }
    }
}

fn text(address: InterfaceAddress) -> Option<String> {
    Some(address.to_string())
}

impl MappingProbe {
    fn row<'a>(&'a self, last_channel: &'a str, row: MappingRow<'a>) -> MappingRow<'a> {
        MappingRow {
            row: "probe",
            address: text(self.source),
            kind: Some(self.kind),
            outcome: Some(self.outcome.name()),
            round_trip_ps: self.round_trip,
            ticket: Some(self.ticket.0),
            version: self.version.map(|version| version.0),
            route: Some(&self.route),
            last_channel: Some(last_channel),
            fate: Some(self.fate.name()),
            piece: self.piece.map(|(number, _)| number),
            pieces: self.piece.map(|(_, count)| count),
            answered_by: self.answer.and_then(|answer| text(answer.source)),
            status: self.answer.map(|answer| answer.status.name()),
            mapper: self.answer.and_then(|answer| text(answer.mapper?)),
            installed_version: self.answer.map(|answer| answer.version.0),
            ..row
        }
    }
}

impl RouteInstallation {
    fn row<'a>(&self, row: MappingRow<'a>) -> MappingRow<'a> {
        let mapper = self.mapper.and_then(text);
        let (address, version) = (text(self.address), Some(self.version.0));
        MappingRow { row: "installation", address, mapper, version, ..row }
    }
}

impl DistributedMap {
    fn row<'a>(&self, row: MappingRow<'a>) -> MappingRow<'a> {
        let map = self.map.as_ref();
        MappingRow {
            row: "map",
            kind: Some(self.kind),
            mapper: text(self.mapper),
            version: Some(self.version.0),
            interfaces: Some(self.requested),
            complete: Some(self.complete),
            installed: Some(self.installed),
            refused: Some(self.refused),
            complete_ps: self.complete_time,
            installed_ps: self.installed_time,
            hosts: map.map(|map| map.hosts.len() as u64),
            switches: map.map(|map| map.switches.into()),
            links: map.map(|map| map.links.len() as u64),
            fault: self.fault.clone(),
            ..row
        }
    }
}

impl MapperTerm {
    fn row<'a>(&self, row: MappingRow<'a>) -> MappingRow<'a> {
        MappingRow {
            row: "mapper",
            address: text(self.address),
            last_ps: Some(self.last),
            packets: Some(self.packets),
            ended: Some(self.ended.name()),
            winner: self.winner.and_then(text),
            ..row
        }
    }
}

impl LinkOutage {
    fn row<'a>(&self, row: MappingRow<'a>) -> MappingRow<'a> {
        MappingRow {
            row: "outage",
            flows: Some(self.flows),
            healed: Some(self.healed),
            first_healed_ps: self.times.map(|(first, _)| first),
            last_healed_ps: self.times.map(|(_, last)| last),
            ..row
        }
    }
}

impl UnreadPacket {
    fn row<'a>(&self, row: MappingRow<'a>) -> MappingRow<'a> {
        let fault = self.fault.map_or_else(|| "the CRC is bad".to_owned(), |it| it.to_string());
        MappingRow { row: "unread", fault: Some(fault), ..row }
    }
}
