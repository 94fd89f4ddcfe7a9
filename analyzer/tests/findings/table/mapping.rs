//! The kinds about mapping, with packets that have them and packets that nearly do.
//!
//! Packets are separated by `|`, 1000 periods apart, and go through a switch. Each has the numbers of two hosts, the
//! address of the sender, and words: `probe`, and `again` for the one before; `install` and a version; `map`, a version and a text: for each end of a
//! link the node and the port, hosts `a` to `c` and switches `x` and `y`; `routes`, a version and a text: for each
//! host the route byte; `answer` to the last request, with the version of `a`'s map; `data` of no mapping; `turn`, which
//! leaves the first host with route byte 80. A `.` stands for 11 ms.

use codec::crc::crc8;
use codec::mapping::{
    AnswerStatus, HomeProbe, InterfaceAddress, InterfaceRole, MapEnd, MapNode, MapPiece,
    MapVersion, MappingAnswer, MappingPacket, MappingRequest, NetworkMap, ProbeTicket,
    RequestHeader, TAG, emit_routes,
};
use myriscope_analyzer::finding::FindingKind;

use super::messages::MessageTalk;

/// All of them, in order of kinds. Hosts get a request first: what receives it is a host.
pub(super) const CASES: &[MessageTalk] = &[
    // N-2: the second interface gets a map without the third; or of another version.
    (
        FindingKind::MapsDiffer,
        "01 a map 5 a0-x0,b0-x1,c0-x2 | 02 a map 5 a0-x0,b0-x1",
        "01 a map 5 a0-x0,b0-x1,c0-x2 | 02 a map 6 a0-x0,b0-x1 | 01 a map 6 a0-x0,b0-x1",
    ),
    // N-2: two links at port 1; a switch of 33 ports, or 32; a part that no link leads to; a map of others.
    (
        FindingKind::ImpossibleMap,
        "01 a map 1 a0-x0,b0-x1,c0-x1 | 01 a map 2 a0-x-2,b0-x30 | 01 a map 3 a0-x0,b0-y0 | 01 c map 4 a0-x0,b0-x1",
        "01 a map 1 a0-x0,b0-x1,c0-x2 | 01 a map 2 a0-x-1,b0-x30 | 01 a map 3 a0-x0,b0-y0,x1-y1",
    ),
    // N-2: b sends to c, which is not on the map of its routes; or it is; or not 10 ms after b named the map; or a
    // request to install another comes; or b never names the map again.
    (
        FindingKind::RouteNotOnMap,
        "01 a map 5 a0-x0,b0-x1 | 10 b answer 5 | . | 12 b data | 10 b answer 5",
        "01 a map 5 a0-x0,b0-x1,c0-x2 | 10 b answer 5 | . | 12 b data | 10 b answer 5 | 01 a map 6 a0-x0,b0-x1 | \
         10 b answer 6 | 12 b data | 10 b answer 6 | . | 01 a install 7 | 12 b data | 10 b answer 6 | . | 12 b data | \
         10 b answer 8",
    ),
    // N-3
    (
        FindingKind::EqualAddresses,
        "20 c install 1 | 21 c install 1 | 01 a probe | 10 a probe",
        // Host 1 passes on what it got.
        "20 c install 1 | 21 c install 1 | 01 a probe | 10 b probe | 02 a probe | 01 a probe | 12 a again",
    ),
    // N-7: a requests, b, and a again; or b instead, or a of another version.
    (
        FindingKind::TwoMappers,
        "02 a install 1 | 12 b install 1 | 02 a install 1",
        "02 a install 1 | 12 b install 1 | 12 b install 1 | 02 a install 2",
    ),
    // N-7: b sends to c, by another route than those that it got; or by one of them.
    (
        FindingKind::RouteNotDistributed,
        "01 a routes 5 a:bf | 10 b answer 5 | . | 12 b data | 10 b answer 5",
        "01 a routes 5 a:bf,c:81 | 10 b answer 5 | . | 12 b data | 10 b data | 10 b answer 5",
    ),
    // N-8: an answer to a goes to c; byte 80 leads from port 1 to port 2; or each goes back, or to port 0.
    (
        FindingKind::WrongWayBack,
        "20 c install 1 | 01 a install 1 | 12 b answer 0 | 12 b turn",
        "20 c install 1 | 01 a install 1 | 10 b answer 0 | 11 b turn | 10 b turn",
    ),
];

fn address(letter: &str) -> InterfaceAddress {
    InterfaceAddress::new(letter.bytes().next().unwrap().into()).unwrap()
}

fn map(text: &str) -> Vec<u8> {
    let mut map = NetworkMap::default();
    let mut hosts: Vec<&str> = text.split([',', '-']).filter_map(|it| it.get(..1)).collect();
    hosts.retain(|node| ["a", "b", "c"].contains(node));
    hosts.sort_unstable();
    hosts.dedup();
    let mut end = |text: &str| {
        let (node, port) = text.split_at(1);
        let switch = u16::from(node == "y");
        let host = (0..).zip(&hosts).find(|(_, host)| **host == node);
        let node = host.map_or(MapNode::Switch(switch), |(index, _)| MapNode::Host(index));
        map.switches = map.switches.max(switch + 1);
        MapEnd { node, port: port.parse().unwrap() }
    };
    // A port may be negative: `x-1`.
    let links = text
        .split(',')
        .map(|link| link.split_at(2))
        .map(|(one, other)| [end(one), end(&other[1..])]);
    map.links = links.collect();
    map.hosts = hosts.iter().map(|host| address(host)).collect();
    let mut bytes = Vec::new();
    map.emit(&mut bytes);
    bytes
}

fn routes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for route in text.split(',') {
        let (to, route) = route.split_once(':').unwrap();
        emit_routes([(address(to), &[u8::from_str_radix(route, 16).unwrap()][..])], &mut bytes);
    }
    bytes
}

/// The packet of some words, behind its route.
fn contents(number: u32, [source, kind]: [&str; 2], rest: &[&str], route: &[u8]) -> Vec<u8> {
    let source = address(source);
    let version = MapVersion(rest.first().map_or(0, |version| version.parse().unwrap()));
    let text = rest.get(1).copied().unwrap_or_default();
    let bytes = match kind {
        "map" => map(text),
        "routes" => routes(text),
        _ => Vec::new(),
    };
    let piece = MapPiece { number: 0, count: 1, bytes: &bytes };
    let ticket = ProbeTicket(number - u32::from(kind == "again"));
    let header = RequestHeader { source, ticket, version, route, way_back: None };
    let request = |request| MappingPacket::Request(header, request);
    let packet = match kind {
        "data" => return vec![0x05, 0xaa],
        "probe" | "again" => request(MappingRequest::Probe),
        "install" => request(MappingRequest::Install),
        "map" => request(MappingRequest::Map(piece)),
        "routes" => request(MappingRequest::Routes(piece)),
        "turn" => MappingPacket::Home(HomeProbe::Switch, source, ticket),
        "answer" => {
            let (ticket, mapper) = (ProbeTicket(number - 1), Some(address("a")));
            let (status, role) = (AnswerStatus::Received, InterfaceRole::Host);
            MappingPacket::Answer(MappingAnswer { source, ticket, mapper, version, status, role })
        }
        _ => panic!("{kind}"),
    };
    let mut bytes = vec![TAG];
    packet.emit(&mut bytes);
    bytes
}

/// The capture of the hosts at a switch.
pub(super) fn capture(packets: &str) -> Vec<u8> {
    let (mut written, mut at) = (Vec::new(), 0);
    for (number, packet) in (1..).zip(packets.split(" | ")) {
        at += 1000;
        let words: Vec<&str> = packet.split(' ').collect();
        let [ports, source, kind, rest @ ..] = words.as_slice() else {
            assert_eq!(packet, ".");
            at += 880_000;
            continue;
        };
        let [from, to] = *ports.as_bytes() else { panic!("{packet}") };
        // Relative addressing. S-1
        let straight = 0x80 | (to.wrapping_sub(from) & 0x3f);
        let route = [if *kind == "turn" { 0x80 } else { straight }];
        let bytes = contents(number, [source, kind], rest, &route);
        let [from, to] = [from, to].map(|host| 2 * u32::from(host - b'0'));
        for (channel, at, route) in [(from, at, &route[..]), (to + 1, at + 30, &[])] {
            let mut bytes = [route, &bytes].concat();
            bytes.push(crc8(&bytes));
            written.push((channel, at, bytes));
        }
    }
    super::messages::written(&super::described(&super::SWITCH), written)
}
