//! A lying interface: well-formed packets of mapping that no machine has sent, and maps of networks
//! that there cannot be. N-2, N-7

use std::collections::{BTreeMap, BTreeSet};

use codec::mapping::{
    AnswerStatus, HomeProbe, InterfaceAddress, InterfaceRole, MapEnd, MapNode, MapPiece,
    MapVersion, MappingAnswer, MappingPacket, MappingRequest, NetworkMap, ProbeTicket,
    RequestHeader, SwitchIdentity, emit_routes,
};
use codec::route::{PortId, RouteAddressing};
use codec::switch_answer::{AnsweredPorts, SwitchAnswer};
use simulator::mapping::{MapperParameters, MapperStart, MappingEffect, NetworkMapper};
use simulator::topology::NodeId;

use super::world::MappingWorld;
use crate::repair::SeededRng;

/// Most nodes of a map whose routes are computed, and most links. *Chosen*: more take long.
const NODES_MAX: usize = 8;
const LINKS_MAX: usize = 24;

fn small(dice: &mut SeededRng, bound: u8) -> u8 {
    u8::try_from(dice.below(bound.into())).unwrap_or(0)
}

/// A lie reaches one of the hosts: a request, an answer, or a map and the request to install it.
pub(super) fn tell(world: &mut MappingWorld<'_>, dice: &mut SeededRng) {
    let hosts: Vec<NodeId> = world.network.machines.keys().copied().collect();
    let known = world.network.machines.values().map(|machine| machine.address());
    let mut known: Vec<InterfaceAddress> = known.collect();
    known.extend(InterfaceAddress::new(1 + dice.below((1 << 48) - 1)));
    let address =
        |dice: &mut SeededRng| known.get(usize::from(small(dice, 8)) % known.len()).copied();
    let any = |dice: &mut SeededRng| hosts.get(usize::from(small(dice, 8)) % hosts.len()).copied();
    let Some((to, source, other)) =
        any(dice).zip(address(dice)).zip(address(dice)).map(|((to, one), other)| (to, one, other))
    else {
        return;
    };
    let ticket = ProbeTicket(small(dice, 40).into());
    let far = u32::from(dice.below(4) == 0) << 31;
    let version = MapVersion(u32::from(small(dice, 8)) | far);
    let route: Vec<u8> = (0..dice.below(4)).map(|_| 0x80 | small(dice, 64)).collect();
    let header = RequestHeader { source, ticket, version, route: &route, way_back: None };
    let mut bytes = Vec::new();
    let piece = |bytes| MapPiece { number: 0, count: 1, bytes };
    let statuses = [
        AnswerStatus::Received,
        AnswerStatus::Complete,
        AnswerStatus::Installed,
        AnswerStatus::Refused,
    ];
    let status =
        statuses.get(usize::from(small(dice, 4))).copied().unwrap_or(AnswerStatus::Refused);
    let mapper = Some(other).filter(|_| dice.below(4) > 0);
    let lie = match dice.below(7) {
        0 => MappingPacket::Request(header, MappingRequest::Probe),
        1 => {
            let role = InterfaceRole::Router;
            MappingPacket::Answer(MappingAnswer { source, ticket, mapper, version, status, role })
        }
        2 => MappingPacket::Resign { source, winner: other },
        3 if dice.below(2) == 0 => MappingPacket::Home(HomeProbe::Identity, source, ticket),
        3 => MappingPacket::Home(HomeProbe::Compare, source, ticket),
        4 => {
            emit_routes(known.iter().map(|to| (*to, route.as_slice())), &mut bytes);
            MappingPacket::Request(header, MappingRequest::Routes(piece(&bytes)))
        }
        _ => {
            map(&known, dice).emit(&mut bytes);
            MappingPacket::Request(header, MappingRequest::Map(piece(&bytes)))
        }
    };
    for packet in [lie, MappingPacket::Request(header, MappingRequest::Install)] {
        let mut payload = Vec::new();
        packet.emit(&mut payload);
        if let MappingPacket::Home(HomeProbe::Identity, ..) = packet {
            answer(dice).emit(&mut payload);
        }
        world.forge(to, payload);
    }
}

/// What some switch would say of itself.
fn answer(dice: &mut SeededRng) -> SwitchAnswer {
    let identity = identity(dice);
    let ports = AnsweredPorts::Counted(8);
    let input = PortId(small(dice, 8));
    SwitchAnswer { ports, addressing: identity.addressing, input, node: identity.node }
}

fn identity(dice: &mut SeededRng) -> SwitchIdentity {
    let absolute = dice.below(2) == 0;
    let addressing = if absolute { RouteAddressing::Absolute } else { RouteAddressing::Relative };
    SwitchIdentity { addressing, node: small(dice, 6).into() }
}

/// A map with any links, at ports that may be taken.
pub(super) fn map(known: &[InterfaceAddress], dice: &mut SeededRng) -> NetworkMap {
    let hosts: BTreeSet<InterfaceAddress> =
        known.iter().copied().filter(|_| dice.below(4) > 0).collect();
    let (hosts, switches) = (Vec::from_iter(hosts), u16::from(small(dice, 5)));
    let mut end = || {
        let place =
            u16::try_from(dice.below(hosts.len() as u64 + u64::from(switches))).unwrap_or(0);
        match place.checked_sub(switches) {
            Some(host) => MapEnd { node: MapNode::Host(host), port: 0 },
            None => {
                MapEnd { node: MapNode::Switch(place), port: small(dice, 40).cast_signed() - 9 }
            }
        }
    };
    let links: Vec<[MapEnd; 2]> = (0..9).map(|_| [end(), end()]).collect();
    let links = if hosts.is_empty() && switches == 0 { Vec::new() } else { links };
    let routers = if hosts.is_empty() { Vec::new() } else { vec![0] };
    let known = if dice.below(2) == 0 { switches } else { 0 };
    let identities = (0..known).map(|_| identity(dice)).collect();
    NetworkMap { hosts, switches, links, routers, identities }
}

fn addressing(map: &NetworkMap, node: MapNode) -> RouteAddressing {
    let MapNode::Switch(switch) = node else { return RouteAddressing::Relative };
    let identity = map.identities.get(usize::from(switch));
    identity.map_or(RouteAddressing::Relative, |identity| identity.addressing)
}

/// Law of the routes: of whatever map, the interfaces compute routes that arrive in the network of the
/// map, and form no cycle in it; or they refuse it.
pub(super) fn check_routes(map: &NetworkMap, bytes: &[u8]) {
    if map.hosts.len() + usize::from(map.switches) > NODES_MAX || map.links.len() > LINKS_MAX {
        return;
    }
    let ends = map.links.iter().flat_map(|[one, other]| [(*one, *other), (*other, *one)]);
    let links: BTreeMap<MapEnd, MapEnd> = ends.collect();
    let Some(mapper) = InterfaceAddress::new((1 << 48) - 1) else { return };
    let mut after: BTreeMap<MapEnd, BTreeSet<MapEnd>> = BTreeMap::new();
    for (host, own) in (0..).zip(&map.hosts).filter(|(_, own)| **own != mapper) {
        let start = MapperStart::Patient;
        let (ticket, version) = (ProbeTicket(0), MapVersion(1));
        let mut machine = NetworkMapper::new(*own, MapperParameters::default(), start, ticket, 0);
        let header = RequestHeader { source: mapper, ticket, version, route: &[], way_back: None };
        let mut effects = Vec::new();
        let piece = MapPiece { number: 0, count: 1, bytes };
        for request in [MappingRequest::Map(piece), MappingRequest::Install] {
            let mut payload = Vec::new();
            MappingPacket::Request(header, request).emit(&mut payload);
            machine.on_packet(0, &payload, &mut effects);
        }
        for effect in effects {
            let MappingEffect::Install(routes) = effect else { continue };
            assert!(
                routes.router.is_none_or(|it| routes.to.contains_key(&it)),
                "a router is reached"
            );
            for (to, route) in routes.to {
                let mut way = vec![MapEnd { node: MapNode::Host(host), port: 0 }];
                let mut end = way.first().and_then(|sent| links.get(sent)).copied();
                for byte in route {
                    let sent = end.map(|end| {
                        let port = match addressing(map, end.node) {
                            RouteAddressing::Absolute => (byte & 0x7f).cast_signed(),
                            // Six bits with a sign. S-1
                            RouteAddressing::Relative => {
                                end.port.saturating_add((byte << 2).cast_signed() >> 2)
                            }
                        };
                        MapEnd { port, ..end }
                    });
                    way.extend(sent);
                    end = sent.and_then(|sent| links.get(&sent)).copied();
                }
                let place = map.hosts.binary_search(&to).ok().and_then(|at| u16::try_from(at).ok());
                let arrives = end.map(|end| end.node) == place.map(MapNode::Host);
                assert!(arrives, "a route arrives in its map: {own} to {to} in {map:?}");
                for (one, next) in way.iter().zip(way.iter().skip(1)) {
                    after.entry(*one).or_default().insert(*next);
                }
            }
        }
    }
    // What waits for nothing goes, until nothing is left.
    while let Some(free) = after.values().flatten().find(|next| !after.contains_key(next)).copied()
    {
        for next in after.values_mut() {
            next.remove(&free);
        }
        after.retain(|_, next| !next.is_empty());
    }
    assert!(after.is_empty(), "routes of a map form no cycle: {after:?} in {map:?}");
}
