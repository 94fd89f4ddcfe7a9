//! Checks of packets of mapping: addresses, mappers, and the maps that they distribute. N-2, N-3, N-7, N-8

use std::collections::BTreeMap;

use codec::capture::ChannelId;
use codec::mapping::{
    HomeProbe, InterfaceAddress, MapEnd, MapNode, MapPiece, MapVersion, MappingPacket,
    MappingRequest, NetworkMap,
};
use codec::route::reversed;

use super::journeys::{packet as packet_fact, place};
use super::observed_routes::{RouteMap, is_from_host};
use super::set::FindingFact;
use super::{FindingChecks, FindingKind};
use crate::journey::{Journey, JourneyFate, JourneyHop, MatchCertainty};
use crate::topology::NodeIndex;

/// Most interfaces whose addresses are remembered. *Chosen*: more than a network has.
const INTERFACES_MAX: usize = 1 << 14;

/// Most mappers whose maps are collected. *Chosen*: parts of a split network.
const MAPPERS_MAX: usize = 64;

/// Most bytes of a map. *Chosen*: a map of 4096 nodes has less.
const BYTES_MAX: usize = 1 << 17;

/// Greatest difference of two ports of a switch. S-10
const SPREAD_MAX: i16 = 31;

/// Interfaces and mappers of a section.
#[derive(Clone, Debug, Default)]
pub(super) struct MappingChecks {
    /// The channel from each interface.
    homes: BTreeMap<InterfaceAddress, ChannelId>,
    /// Maps of the latest two requests of different mappers, by the channel to the interface.
    requests: BTreeMap<ChannelId, [RouteMap; 2]>,
    /// The latest map of each mapper.
    maps: BTreeMap<InterfaceAddress, CollectedMap>,
}

/// Pieces of a map.
#[derive(Clone, Debug)]
struct CollectedMap {
    version: MapVersion,
    /// Number of all pieces.
    count: u16,
    pieces: BTreeMap<u16, Box<[u8]>>,
    /// Number of their bytes.
    len: usize,
}

impl FindingChecks {
    /// Checks a packet of mapping whose CRC is good.
    pub(super) fn mapping(
        &mut self,
        journey: &Journey,
        packet: MappingPacket<'_>,
        nodes: &NodeIndex,
    ) {
        let (Some(first), Some(last)) = (journey.hops.first(), journey.hops.last()) else { return };
        if journey.certainty != MatchCertainty::Certain {
            return;
        }
        let is_own = is_from_host(first.channel, nodes);
        if is_own {
            self.address(packet.source(), first, nodes);
        }
        let arrived = (journey.fate == JourneyFate::Arrived).then_some(last);
        match packet {
            MappingPacket::Home(HomeProbe::Switch, ..) if is_own => {
                let route = journey.mapping.as_ref().map_or(&[][..], |contents| &contents.route);
                arrived.into_iter().for_each(|last| self.returned(route, [first, last], nodes));
            }
            MappingPacket::Home(..) | MappingPacket::Request(_, MappingRequest::Probe) => {}
            MappingPacket::Answer(_) | MappingPacket::Resign { .. } => {}
            MappingPacket::Request(header, request) => {
                self.ledger.seen.map_requests += 1;
                let map = (header.source, header.version);
                arrived.into_iter().for_each(|last| self.mappers(map, last));
                if let MappingRequest::Map(piece) = request {
                    self.piece(map, &piece, first);
                }
            }
        }
    }

    /// Checks that no two interfaces have one address. N-3
    fn address(&mut self, address: InterfaceAddress, first: &JourneyHop, nodes: &NodeIndex) {
        let Some(home) = self.mapping.homes.get(&address).copied() else {
            if self.mapping.homes.len() < INTERFACES_MAX {
                self.mapping.homes.insert(address, first.channel);
                self.ledger.seen.addresses += 1;
            }
            return;
        };
        let node = |id| nodes.ends(id).map(|ends| &ends.from.node);
        if node(home) != node(first.channel) {
            self.ledger.note(FindingKind::EqualAddresses, first.channel, place(first), || {
                let other = FindingFact::channel("other", home);
                vec![packet_fact(first), FindingFact::address("address", address), other]
            });
        }
    }

    /// Counts a probe r · 0x80 · r⁻¹ that comes home. N-8
    fn returned(&mut self, route: &[u8], [first, last]: [&JourneyHop; 2], nodes: &NodeIndex) {
        let (way, [0x80, back @ ..]) = route.split_at(route.len() / 2) else { return };
        let ends = nodes.ends(first.channel).zip(nodes.ends(last.channel));
        let is_home = ends.is_some_and(|(from, to)| from.from.node == to.to.node);
        self.ledger.seen.returns += u64::from(is_home && reversed(way) == back);
    }

    /// Notes requests of two mappers in turn: neither has resigned, though both maps reach one interface. N-7
    fn mappers(&mut self, map: RouteMap, last: &JourneyHop) {
        let [latest, before] = self.mapping.requests.entry(last.channel).or_insert([map; 2]);
        if latest.0 == map.0 {
            *latest = map;
            return;
        }
        let other = std::mem::replace(latest, map);
        if std::mem::replace(before, other) == map {
            self.ledger.note(FindingKind::TwoMappers, last.channel, place(last), || {
                let address = FindingFact::address;
                vec![packet_fact(last), address("mapper", map.0), address("other_mapper", other.0)]
            });
        }
    }

    /// Checks a piece of a map, and the map of all pieces. N-2
    fn piece(&mut self, (mapper, version): RouteMap, piece: &MapPiece<'_>, first: &JourneyHop) {
        let maps = &mut self.mapping.maps;
        if !maps.contains_key(&mapper) && maps.len() >= MAPPERS_MAX {
            maps.pop_first();
        }
        let empty =
            || CollectedMap { version, count: piece.count, pieces: BTreeMap::new(), len: 0 };
        let map = maps.entry(mapper).or_insert_with(empty);
        if map.version != version || map.len > BYTES_MAX {
            *map = empty();
        }
        let known = map.pieces.get(&piece.number);
        let differs = map.count != piece.count || known.is_some_and(|it| **it != *piece.bytes);
        if differs {
            *map = empty();
        } else if known.is_some() {
            return;
        }
        map.len += piece.bytes.len();
        map.pieces.insert(piece.number, piece.bytes.into());
        let fault = map.fault(mapper);
        let kind = if differs { FindingKind::MapsDiffer } else { FindingKind::ImpossibleMap };
        if differs || fault.is_some() {
            self.ledger.note(kind, first.channel, place(first), || {
                let mut facts = vec![packet_fact(first), FindingFact::address("mapper", mapper)];
                facts.push(FindingFact::number("version", version.0.into()));
                facts.extend(fault.map(|fault| FindingFact::word("fault", fault)));
                facts
            });
        }
    }
}

impl CollectedMap {
    /// Fault of the map, once all its pieces are known.
    fn fault(&self, mapper: InterfaceAddress) -> Option<&'static str> {
        if self.pieces.len() < self.count.into() {
            return None;
        }
        let bytes: Vec<u8> = self.pieces.values().flatten().copied().collect();
        let Ok(map) = NetworkMap::parse(&bytes) else { return Some("unreadable") };
        let mut ends: Vec<MapEnd> = map.links.iter().flatten().copied().collect();
        ends.sort_unstable();
        let is_wide = |ports: &[MapEnd]| match ports {
            [first, .., last] => i16::from(last.port) - i16::from(first.port) > SPREAD_MAX,
            [] | [_] => false,
        };
        if map.hosts.binary_search(&mapper).is_err() {
            Some("no-mapper")
        } else if ends.windows(2).any(|two| matches!(two, [one, other] if one == other)) {
            Some("port-twice")
        } else if ends.chunk_by(|one, other| one.node == other.node).any(is_wide) {
            Some("too-many-ports")
        } else {
            (!is_connected(&map)).then_some("not-connected")
        }
    }
}

/// True if links lead from every node of a map to every other one.
fn is_connected(map: &NetworkMap) -> bool {
    let mut links: BTreeMap<MapNode, Vec<MapNode>> = BTreeMap::new();
    for [one, other] in &map.links {
        links.entry(one.node).or_default().push(other.node);
        links.entry(other.node).or_default().push(one.node);
    }
    let nodes = map.hosts.len() + usize::from(map.switches);
    let is_linked = links.len() == nodes || nodes == 1;
    let mut reached: Vec<MapNode> = links.keys().next().copied().into_iter().collect();
    while let Some(node) = reached.pop() {
        reached.extend(links.remove(&node).into_iter().flatten());
    }
    is_linked && links.is_empty()
}
