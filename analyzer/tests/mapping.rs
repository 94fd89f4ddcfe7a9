//! Mapping on a cable between two hosts, written by hand, and hostile packets of it.

use std::collections::BTreeMap;

use codec::capture::Channel;
use codec::crc::crc8;
use codec::mapping::{
    AnswerStatus, HomeProbe, InterfaceAddress, InterfaceRole, MapEnd, MapNode, MapPiece,
    MapVersion, MappingAnswer, MappingPacket, MappingRequest, NetworkMap, ProbeTicket,
    RequestHeader, TAG,
};
use codec::time::CharacterPeriod;
use myriscope_analyzer::filter::{ColumnList, RowKind};
use myriscope_analyzer::mapping::{LinkSource, MapComparison, MappingEvent};
use myriscope_analyzer::{AnalysisEvent, AnalysisScope, Topology};

use crate::support::{analysed, capture};

const NAMES: [&str; 2] = ["h0:0>h1:0", "h1:0>h0:0"];

fn address(number: u64) -> InterfaceAddress {
    InterfaceAddress::new(number).unwrap()
}

fn request(ticket: u32, version: u32, request: MappingRequest<'_>) -> Vec<u8> {
    let (ticket, version) = (ProbeTicket(ticket), MapVersion(version));
    let header =
        RequestHeader { source: address(0xb), ticket, version, route: &[], way_back: None };
    bytes(MappingPacket::Request(header, request))
}

fn answer(ticket: u32, version: u32, status: AnswerStatus) -> Vec<u8> {
    bytes(MappingPacket::Answer(MappingAnswer {
        source: address(0xa),
        ticket: ProbeTicket(ticket),
        mapper: Some(address(0xb)),
        version: MapVersion(version),
        status,
        role: InterfaceRole::Host,
    }))
}

fn bytes(packet: MappingPacket<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    packet.emit(&mut out);
    out
}

/// Events and topology of payloads sent in turn, each on one of the two channels.
fn analyzed(payloads: &[(u32, Vec<u8>)]) -> (Vec<MappingEvent>, Topology) {
    let channels =
        [0, 1].map(|id: u32| Channel { peer: Some(1 - id), ..Channel::named(NAMES[id as usize]) });
    let (mut parts, mut at) = (Vec::new(), 0);
    for (channel, payload) in payloads {
        let mut packet = [&[TAG], &payload[..]].concat();
        packet.push(crc8(&packet));
        let bytes: String = packet.iter().map(|byte| format!(" {byte:02x}")).collect();
        for id in 0..2 {
            let fill = || format!("GAP×{}", packet.len() + 2);
            let text = if id == *channel { format!("GAP{bytes} GAP") } else { fill() };
            parts.push((id, at, text, 0));
        }
        at += packet.len() as u64 + 2;
    }
    let capture = capture(&channels, &parts);
    let (events, analysis) = analysed(capture.as_slice(), AnalysisScope::Mapping);
    let mapping =
        |event| if let AnalysisEvent::Mapping(event) = event { Some(event) } else { None };
    (events.into_iter().filter_map(mapping).collect(), analysis.topology())
}

/// Two hosts and the cable between them.
fn map() -> NetworkMap {
    let end = |host| MapEnd { node: MapNode::Host(host), port: 0 };
    NetworkMap {
        hosts: vec![address(0xa), address(0xb)],
        switches: 0,
        links: vec![[end(0), end(1)]],
        routers: Vec::new(),
        identities: Vec::new(),
    }
}

fn homes() -> BTreeMap<InterfaceAddress, String> {
    [(0xb, 0), (0xa, 1)].map(|(it, id)| (address(it), NAMES.get(id).unwrap().to_string())).into()
}

#[test]
fn packets_are_paired_and_a_map_is_read() {
    let mut piece = Vec::new();
    map().emit(&mut piece);
    let piece = MappingRequest::Map(MapPiece { number: 0, count: 1, bytes: &piece });
    let winner = address(0xc);
    let (events, topology) = analyzed(&[
        (0, request(1, 0, MappingRequest::Probe)),
        (1, answer(1, 0, AnswerStatus::Received)),
        (0, request(2, 5, piece)),
        (1, answer(2, 0, AnswerStatus::Complete)),
        (0, request(3, 5, MappingRequest::Install)),
        (1, answer(3, 5, AnswerStatus::Installed)),
        (0, request(4, 5, MappingRequest::Probe)),
        (1, answer(9, 5, AnswerStatus::Received)),
        // Each of both asks: what the other one sends answers the one that has come to it.
        (1, request(6, 7, MappingRequest::Probe)),
        (0, request(6, 5, MappingRequest::Probe)),
        (1, answer(6, 5, AnswerStatus::Received)),
        (0, bytes(MappingPacket::Home(HomeProbe::Switch, address(0xb), ProbeTicket(5)))),
        (0, bytes(MappingPacket::Resign { source: address(0xb), winner })),
        (1, vec![0x10, 0]),
    ]);
    let names: Vec<&str> = RowKind::Mapping.fields().iter().map(|field| field.name).collect();
    let mut columns = ColumnList::parse(&names.join(","), RowKind::Mapping).unwrap();
    let mut line = |event: &MappingEvent| {
        let line = columns.line(&event.row(&|_| None), CharacterPeriod::PICOSECOND).to_string();
        line.split_whitespace().filter(|cell| *cell != "-").collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = events.iter().map(&mut line).collect();
    assert_eq!(
        lines,
        [
            "probe 12500 1 0 00:00:00:00:00:0b host-probe answered 250000 1 0 arrived 00:00:00:00:00:0a received 00:00:00:00:00:0b 0",
            "probe 587500 47 1 00:00:00:00:00:0b map answered 600000 2 5 arrived 0 1 00:00:00:00:00:0a complete 00:00:00:00:00:0b 0",
            "installation 1762500 141 2 00:00:00:00:00:0a 5 00:00:00:00:00:0b",
            "probe 1512500 121 2 00:00:00:00:00:0b install answered 250000 3 5 arrived 00:00:00:00:00:0a installed 00:00:00:00:00:0b 5",
            "probe 2337500 187 3 00:00:00:00:00:0a answer unasked 9 5 arrived 00:00:00:00:00:0a received 00:00:00:00:00:0b 5",
            "probe 2912500 233 4 00:00:00:00:00:0b host-probe answered 250000 6 5 arrived 00:00:00:00:00:0a received 00:00:00:00:00:0b 5",
            // It turns at a switch, and there is none.
            "probe 3487500 279 5 00:00:00:00:00:0b switch-probe elsewhere 5 arrived",
            "mapper 12500 1 0 00:00:00:00:00:0b 3675000 7 resigned 00:00:00:00:00:0c",
            "unread 3887500 311 6 byte 1: source is cut short",
            "probe 2087500 167 3 00:00:00:00:00:0b host-probe unanswered 4 5 arrived",
            "probe 2662500 213 4 00:00:00:00:00:0b host-probe unanswered 6 7 arrived",
            "map 587500 47 1 map 5 00:00:00:00:00:0b 1 1 1 0 1187500 1762500 2 0 1",
        ]
    );
    // Packets of interfaces may be those of a virtual channel. C-7
    let split = |(it, name): (_, String)| (it, format!("{}.vc0", name.replace('>', ".vc0>")));
    for homes in [homes(), homes().into_iter().map(split).collect()] {
        let compared = MapComparison::new(topology.clone(), &[&map()], &homes);
        assert_eq!(compared.sources, [LinkSource::Both]);
    }
}

#[test]
fn hostile_packets_are_read_within_bounds() {
    let piece = |number, count, bytes| MappingRequest::Map(MapPiece { number, count, bytes });
    // Tickets without answers, more than are kept; each is reported once.
    let mut payloads: Vec<(u32, Vec<u8>)> =
        (0..20_000).map(|ticket| (0, request(ticket, 1, MappingRequest::Probe))).collect();
    payloads.extend([
        (0, request(1, 1, piece(65_534, 65_535, b"absurd"))),
        (0, request(2, 2, piece(0, 1, &[0x80, 0, 0xff, 0xff, 0xff, 0xff]))),
        (0, request(3, 3, piece(0, 1, &[0; 2000]))),
        (1, Vec::new()),
        (1, vec![0x18; 40]),
        // What receives it is a host.
        (1, bytes(MappingPacket::Resign { source: address(0xa), winner: address(0xb) })),
    ]);
    let (events, topology) = analyzed(&payloads);
    let count = |is: fn(&MappingEvent) -> bool| events.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event, MappingEvent::Probe(_))), 20_002);
    assert_eq!(count(|event| matches!(event, MappingEvent::Map(_))), 2);
    assert_eq!(count(|event| matches!(event, MappingEvent::Unread(_))), 3, "one is too long");
    // A cable to itself, thousands of cables in one port, switches behind nothing.
    let end = |node, port| MapEnd { node, port };
    let (host, far) = (end(MapNode::Host(0), 0), end(MapNode::Switch(0), -31));
    let links =
        [[host, far], [host, host], [end(MapNode::Switch(7), 1), end(MapNode::Switch(7), 1)]];
    let links = links.into_iter().chain(std::iter::repeat_n([far, far], 60_000)).collect();
    let forged = NetworkMap { switches: 8, links, ..map() };
    let compared = MapComparison::new(topology, &[&forged, &forged], &homes());
    let counts = [LinkSource::Both, LinkSource::Map].map(|source| compared.count(source));
    assert_eq!((counts, compared.unplaced), ([0, 2], 2 * 60_002));
    assert_eq!(compared.dot().matches("color = blue").count(), 2);
}
