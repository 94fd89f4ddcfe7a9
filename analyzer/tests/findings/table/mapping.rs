//! The kinds about mapping, with packets that have them and packets that nearly do.
//!
//! Packets are separated by `|`, 1000 periods apart, and go through a switch. Each has the numbers of two hosts, the
//! address of the sender, and words: `probe`; `install` and a version; `map`, a version and a text: for each end of a
//! link the node and the port, hosts `a` to `c` and switches `x` and `y`.

use codec::crc::crc8;
use codec::mapping::{
    InterfaceAddress, MapEnd, MapNode, MapPiece, MapVersion, MappingPacket, MappingRequest,
    NetworkMap, ProbeTicket, RequestHeader, TAG,
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
    // N-3
    (
        FindingKind::EqualAddresses,
        "20 c install 1 | 21 c install 1 | 01 a probe | 10 a probe",
        "20 c install 1 | 21 c install 1 | 01 a probe | 10 b probe | 02 a probe",
    ),
    // N-7: a requests, b, and a again; or b instead, or a of another version.
    (
        FindingKind::TwoMappers,
        "02 a install 1 | 12 b install 1 | 02 a install 1",
        "02 a install 1 | 12 b install 1 | 12 b install 1 | 02 a install 2",
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

/// The capture of the hosts at a switch.
pub(super) fn capture(packets: &str) -> Vec<u8> {
    let mut written = Vec::new();
    for (number, packet) in (1..).zip(packets.split(" | ")) {
        let words: Vec<&str> = packet.split(' ').collect();
        let [ports, source, kind, rest @ ..] = words.as_slice() else { panic!("{packet}") };
        let [from, to] = *ports.as_bytes() else { panic!("{packet}") };
        let version = rest.first().map_or(0, |version| version.parse().unwrap());
        let bytes = rest.get(1).map_or(Vec::new(), |text| map(text));
        let piece = MapPiece { number: 0, count: 1, bytes: &bytes };
        let request = match *kind {
            "probe" => MappingRequest::Probe,
            "install" => MappingRequest::Install,
            _ => MappingRequest::Map(piece),
        };
        // Relative addressing. S-1
        let route = [0x80 | (to.wrapping_sub(from) & 0x3f)];
        let (ticket, version) = (ProbeTicket(number), MapVersion(version));
        let header = RequestHeader { source: address(source), ticket, version, route: &route };
        let mut bytes = vec![TAG];
        MappingPacket::Request(header, request).emit(&mut bytes);
        let at = 1000 * u64::from(number);
        let [from, to] = [from, to].map(|host| 2 * u32::from(host - b'0'));
        for (channel, at, route) in [(from, at, &route[..]), (to + 1, at + 30, &[])] {
            let mut bytes = [route, &bytes].concat();
            bytes.push(crc8(&bytes));
            written.push((channel, at, bytes));
        }
    }
    super::messages::written(&super::described(&super::SWITCH), written)
}
