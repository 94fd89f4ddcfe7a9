//! Mapping: the packets, and the machines on small networks whose cables are cut and mended and whose
//! packets are lost, doubled, delayed and forged. N-2..N-4, N-7, N-8

pub mod election;
pub mod election_walk;
mod lies;
pub mod mapped_network;
pub mod world;

use std::collections::BTreeMap;

use codec::error::DecodeError;
use codec::mapping::{
    HomeProbe, InterfaceAddress, InternetworkPacket, MapPiece, MappingPacket, MappingRequest,
    NetworkMap, emit_routes, parse_routes,
};
use codec::route::{PortId, RouteAddressing};
use simulator::link::LinkParameters;
use simulator::mapping::{MapperDesign, MapperParameters, MapperStart, SwitchSearch};
use simulator::topology::{
    CableSpec, ExtensionSupport, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology,
};

use self::world::{MappingWorld, PacketCopies};
use crate::repair::SeededRng;

/// Most operations of an input, and most periods until all is well again after the last: a mapper is
/// missed for 4, then waits up to 2; silent ports are probed every 8; then the same for a second one.
const OPS_MAX: usize = 12;
const REST_MAX: u64 = 40;

const PARAMETERS: MapperParameters = MapperParameters {
    design: MapperDesign::Map,
    period: 1_000_000,
    timeout: 4_000,
    tries: 2,
    switches: SwitchSearch::Turned,
};

/// Law of the packets: what parses is emitted again, and a fault is in the packet.
pub fn packets(payload: &[u8]) {
    check_packet(payload, MappingPacket::parse);
    match InternetworkPacket::parse(payload) {
        Ok(packet) => {
            let mut out = Vec::new();
            packet.emit(&mut out);
            assert_eq!(out, payload, "emit writes what parse read");
        }
        Err(fault) => assert!(fault.at() <= payload.len(), "a fault is in the packet: {fault}"),
    }
    for bytes in [payload, payload.get(1..).unwrap_or_default()] {
        let mut out = Vec::new();
        match NetworkMap::parse(bytes) {
            Ok(map) => {
                map.emit(&mut out);
                assert_eq!(out, bytes, "emit writes the map that parse read");
                lies::check_routes(&map, bytes);
            }
            Err(fault) => assert!(fault.at() <= bytes.len(), "a fault is in the map: {fault}"),
        }
        out.clear();
        match parse_routes(bytes) {
            Ok(routes) => {
                emit_routes(routes, &mut out);
                assert_eq!(out, bytes, "emit writes the routes that parse read");
            }
            Err(fault) => assert!(fault.at() <= bytes.len(), "a fault is in the routes: {fault}"),
        }
    }
}

fn check_packet<'a>(
    payload: &'a [u8],
    parse: impl Fn(&'a [u8]) -> Result<MappingPacket<'a>, DecodeError>,
) {
    match parse(payload) {
        Ok(packet) => {
            let mut out = Vec::new();
            packet.emit(&mut out);
            // What switches have added is not written. S-8
            let added = matches!(packet, MappingPacket::Home(HomeProbe::Identity, ..));
            let own = payload.get(..out.len()).filter(|_| added).unwrap_or(payload);
            assert_eq!(out, own, "emit writes what parse read");
            if let MappingPacket::Request(header, request) = packet {
                assert!(header.route.iter().all(|byte| *byte >= 0x80), "a route has route bytes");
                if let MappingRequest::Map(MapPiece { number, count, .. }) = request {
                    assert!(number < count, "a piece is one of all");
                }
            }
        }
        Err(fault) => assert!(fault.at() <= payload.len(), "a fault is in the packet: {fault}"),
    }
}

/// Law of the machines: whatever has happened, some periods later every part of the network has one
/// mapper, whose map is that part; every pair of hosts has a route that arrives; and the routes of
/// all form no cycle.
pub fn law(bytes: &[u8]) {
    run(bytes, |_| ());
}

/// Bytes of an input, one by one; 0 behind its end.
struct InputBytes<'a>(&'a [u8]);

impl InputBytes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let byte = self.0.split_off_first().map_or(0, |byte| usize::from(*byte));
        byte.checked_rem(bound).unwrap_or(0)
    }
}

/// A few switches of 8 ports, with cables anywhere between them, and hosts; and the search that finds the switches: those
/// with extensions have any addressing.
fn network(input: &mut InputBytes<'_>) -> Option<(Topology, SwitchSearch)> {
    let (switches, hosts, links) = (1 + input.below(4), input.below(256), input.below(8));
    let (search, absolute): (_, fn(usize) -> bool) = match hosts / 5 % 4 {
        0 | 1 => (SwitchSearch::Turned, |_| false),
        2 => (SwitchSearch::Requested(8), |_| true),
        _ => (SwitchSearch::Requested(8), |i| i % 2 == 1),
    };
    let hosts = 1 + hosts % 5;
    let switch = |i| {
        let addressing =
            if absolute(i) { RouteAddressing::Absolute } else { RouteAddressing::Relative };
        let plain = SwitchParameters::new(8, addressing);
        let extensions = match search {
            SwitchSearch::Turned => ExtensionSupport::Off,
            SwitchSearch::Requested(_) => ExtensionSupport::On,
        };
        let kind = NodeKind::Switch(SwitchParameters { extensions, ..plain });
        NodeSpec { name: format!("s{i}"), kind }
    };
    let host = |i| NodeSpec { name: format!("h{i}"), kind: NodeKind::Host };
    let nodes: Vec<NodeSpec> = (0..switches).map(switch).chain((0..hosts).map(host)).collect();
    let mut free: BTreeMap<usize, Vec<u8>> = (0..switches).map(|i| (i, (0..8).collect())).collect();
    let mut port = |input: &mut InputBytes<'_>| {
        let switch = input.below(switches);
        let ports = free.get_mut(&switch).filter(|ports| !ports.is_empty())?;
        let at = input.below(ports.len());
        let (node, port) = (NodeId(u32::try_from(switch).ok()?), PortId(ports.swap_remove(at)));
        Some(NodePort { node, port })
    };
    let mut cables = Vec::new();
    for host in switches..switches + hosts {
        let node = NodeId(u32::try_from(host).ok()?);
        let seat = port(input).map(|seat| [seat, NodePort { node, port: PortId(0) }]);
        cables.extend(seat);
    }
    for _ in 0..links {
        cables.extend(port(input).zip(port(input)).map(|(one, other)| [one, other]));
    }
    let cable = |ends| CableSpec { ends, link: LinkParameters::default() };
    let topology = Topology::new(nodes, cables.into_iter().map(cable).collect()).ok()?;
    Some((topology, search))
}

/// Copies of a packet that the adversary lets through, with their delays.
fn fate(dice: &mut SeededRng, harm: usize, mut payload: Vec<u8>) -> PacketCopies {
    if dice.below(8) >= harm as u64 {
        return vec![(0, payload)];
    }
    match dice.below(5) {
        0 => Vec::new(),
        1 => vec![(0, payload.clone()), (dice.below(3 * PARAMETERS.period), payload)],
        2 => vec![(dice.below(2 * PARAMETERS.period), payload)],
        // A piece of a map or of routes has no check but the packet's CRC, which finds every single bit. P-4
        3 if matches!(payload.first(), Some(0x14 | 0x15 | 0x24 | 0x25)) => Vec::new(),
        3 => {
            let at = usize::try_from(dice.below(payload.len() as u64)).unwrap_or(0);
            payload.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << dice.below(8));
            vec![(0, payload)]
        }
        _ => {
            payload.truncate(usize::try_from(dice.below(20)).unwrap_or(0));
            vec![(0, payload)]
        }
    }
}

fn run(bytes: &[u8], tamper: fn(&mut NetworkMap)) {
    let mut dice = SeededRng::new(bytes);
    let input = &mut InputBytes(bytes);
    let Some((topology, switches)) = network(input) else { return };
    let design = if input.below(2) == 0 { MapperDesign::Map } else { MapperDesign::Daemon };
    let twins = input.below(16) == 1;
    let salt = input.below(256) as u64;
    let address = |host: NodeId| {
        let number = if twins { u64::from(host.0) / 2 } else { u64::from(host.0) };
        // Different numbers in an order that depends on the salt.
        InterfaceAddress::new(1 + (((number + 1) * (2 * salt + 0x9e37)) & 0xff_ffff))
    };
    let Some(first) = address(NodeId(0)) else { return };
    let mut world =
        MappingWorld::new(&topology, MapperParameters { design, switches, ..PARAMETERS }, |host| {
            (address(host).unwrap_or(first), MapperStart::Soon)
        });
    let (mut harm, mut lied) = (0, false);
    for _ in 0..OPS_MAX.min(input.0.len()) {
        let (cables, nodes) = (topology.cables().len(), topology.nodes().len());
        match input.below(7) {
            0 => {
                world.network.cut.insert(input.below(cables));
            }
            1 => {
                world.network.cut.remove(&input.below(cables));
            }
            2 => world.power_off(NodeId(u32::try_from(input.below(nodes)).unwrap_or(0))),
            3 => world.power_on(NodeId(u32::try_from(input.below(nodes)).unwrap_or(0))),
            4 => harm = input.below(6),
            5 => {
                let until = world.now() + PARAMETERS.period * input.below(64) as u64 / 8;
                world.run(until, &mut |payload| fate(&mut dice, harm, payload));
            }
            _ => {
                lied = true;
                (0..=input.below(8)).for_each(|_| lies::tell(&mut world, &mut dice));
            }
        }
    }
    let mut result = Err(String::new());
    for _ in 0..REST_MAX / 4 {
        world.run(world.now() + 4 * PARAMETERS.period, &mut |payload| vec![(0, payload)]);
        result = world.network.check(tamper);
        if result.is_ok() {
            break;
        }
    }
    // Two interfaces with one address cannot be told apart: they may go on for ever.
    assert!(twins || result.is_ok(), "it comes to rest: {result:?}");
    // One without power still has the routes of its latest map, in which lost probes may have made one
    // switch appear as several.
    let has_power = |host: &NodeId| world.network.machine(*host).is_some();
    for host in topology.hosts().filter(|host| !lied && has_power(host)) {
        let cycle = world.network.cycle_of(host);
        assert_eq!(cycle, None, "the routes of an interface form no cycle: {host:?}");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn storm(count: usize, tamper: fn(&mut NetworkMap)) {
        let mut dice = SeededRng::new(b"a storm of networks that map themselves");
        for _ in 0..count {
            run(&dice.bytes(60), tamper);
        }
    }

    /// N-2, N-4
    #[test]
    fn networks_heal_after_any_storm() {
        storm(1000, |_| ());
    }

    #[test]
    fn routes_of_made_up_maps_form_no_cycle() {
        let mut dice = SeededRng::new(b"maps of networks that there cannot be");
        let hosts: Vec<InterfaceAddress> = (1..5).filter_map(InterfaceAddress::new).collect();
        for _ in 0..2000 {
            let mut bytes = Vec::new();
            lies::map(&hosts, &mut dice).emit(&mut bytes);
            packets(&bytes);
        }
    }

    pub(crate) fn a_map_without_a_link_is_caught() {
        storm(50, |map| map.links.truncate(map.links.len().saturating_sub(1)));
    }

    pub(crate) fn a_parser_that_skips_a_byte_is_caught() {
        let probe = [0x12, 0, 0x60, 0xdd, 1, 2, 3, 0, 0, 0, 9, 0];
        check_packet(&probe, |payload| MappingPacket::parse(&payload[..payload.len() - 1]));
    }
}
