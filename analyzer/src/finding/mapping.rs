//! Checks of packets of mapping: addresses, mappers, ways back, and the maps and routes that mappers distribute.
//! N-2, N-3, N-7, N-8

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use codec::capture::ChannelId;
use codec::mapping::{
    InterfaceAddress, MapPiece, MappingPacket, MappingRequest, ProbeTicket, RequestHeader,
};
use codec::packet::CrcCheck;
use codec::route::PortId;

use super::collected_map::{CollectedPieces, PieceNovelty, TimedRoutes};
use super::fact::FindingFact;
use super::journeys::{packet as packet_fact, place};
use super::observed_routes::{RouteMap, WrongRoute, is_from_host};
use super::set::RuleCoverage;
use super::{FindingChecks, FindingKind};
use crate::capture_network::CaptureNetwork;
use crate::event::Picoseconds;
use crate::journey::{Journey, JourneyFate, JourneyHop, MatchCertainty};
use crate::packet::{CapturedMapping, FrameEnd};
use crate::recorded::FindingGrounds;

/// Most interfaces whose addresses are remembered. *Chosen*: more than a network has.
const INTERFACES_MAX: usize = 1 << 14;

/// Most mappers whose maps are collected. *Chosen*: parts of a split network.
const MAPPERS_MAX: usize = 64;

/// Most interfaces whose distributed routes are collected. *Chosen*: the Berkeley cluster has 100.
const DISTRIBUTED_MAX: usize = 256;

/// Most requests to an interface that may wait for their answers, and most packets of one that are remembered.
/// *Chosen*: a mapper sends two at once.
const ASKED_MAX: usize = 16;

/// The route byte that turns a packet round at a relative switch. N-8
const TURN: u8 = 0x80;

/// Interfaces and mappers of a section.
#[derive(Clone, Debug, Default)]
pub(super) struct MappingChecks {
    /// The channel from each interface, and its latest packets.
    homes: BTreeMap<InterfaceAddress, (ChannelId, RecentPackets)>,
    /// Channels on which packets of another one come again: behind a node that only passes them on. N-5
    passed_on: BTreeSet<[ChannelId; 2]>,
    /// Maps of the latest two requests of different mappers, by the channel to the interface.
    requests: BTreeMap<ChannelId, [RouteMap; 2]>,
    maps: BTreeMap<InterfaceAddress, CollectedPieces>,
    /// The latest whole one, and the routes that it allows.
    mapped: BTreeMap<InterfaceAddress, TimedRoutes>,
    /// The latest routes that were sent to each interface, and the mapper, by the channel from it.
    routes: BTreeMap<ChannelId, (InterfaceAddress, CollectedPieces, Option<TimedRoutes>)>,
    /// Numbers and routes of the latest requests to each interface, by the channel from it.
    pending: BTreeMap<ChannelId, VecDeque<MapperRequest>>,
}

/// Channels and contents of packets, the latest last.
type RecentPackets = VecDeque<(ChannelId, Arc<CapturedMapping>)>;

/// Number of a request, and the route of its answer.
type MapperRequest = (ProbeTicket, Box<[u8]>);

impl FindingChecks {
    /// Checks a packet of mapping whose CRC is good.
    pub(super) fn mapping(
        &mut self,
        journey: &Journey,
        packet: MappingPacket<'_>,
        network: &CaptureNetwork,
    ) {
        let (Some(first), Some(last)) = (journey.hops.first(), journey.hops.last()) else { return };
        self.turns(journey, network);
        if journey.certainty != MatchCertainty::Certain {
            return;
        }
        let is_own = is_from_host(first.channel, network);
        if is_own {
            self.address(packet.source(), journey, network);
        }
        let arrived = (journey.fate == JourneyFate::Arrived).then_some(last);
        match packet {
            MappingPacket::Answer(answer) if is_own => self.way_back(answer.ticket, journey, first),
            MappingPacket::Answer(_) | MappingPacket::Resign { .. } | MappingPacket::Home(..) => {}
            MappingPacket::Request(header, request) => {
                let map = (header.source, header.version);
                let to = arrived.and_then(|last| network.opposite(last.channel));
                to.into_iter().for_each(|to| self.mapping.expect_answer(to, &header));
                if request == MappingRequest::Probe {
                    return;
                }
                arrived.into_iter().for_each(|last| self.mappers(map, last));
                match request {
                    MappingRequest::Map(piece) => self.piece(map, &piece, first),
                    MappingRequest::Routes(piece) => to.into_iter().for_each(|to| {
                        self.mapping.distribute(to, map, &piece, last.time);
                    }),
                    MappingRequest::Probe | MappingRequest::Install => {}
                }
            }
        }
    }

    /// Checks that no two interfaces have one address. N-3
    fn address(&mut self, address: InterfaceAddress, journey: &Journey, network: &CaptureNetwork) {
        let (Some(first), Some(contents)) = (journey.hops.first(), &journey.mapping) else {
            return;
        };
        let is_full = self.mapping.homes.len() >= INTERFACES_MAX;
        if is_full && !self.mapping.homes.contains_key(&address) {
            return;
        }
        let (home, recent) = self.mapping.homes.entry(address).or_insert_with(|| {
            self.set.seen.addresses += 1;
            (first.channel, VecDeque::new())
        });
        let mut others = recent.iter().filter(|(channel, _)| *channel != first.channel);
        // No two interfaces send the same packets.
        if let Some((other, _)) = others.find(|(_, packet)| packet.packet() == contents.packet()) {
            self.mapping.passed_on.insert([first.channel, *other]);
            self.mapping.passed_on.insert([*other, first.channel]);
            for id in [first.channel, *other] {
                self.set.forget(&[FindingKind::EqualAddresses], id);
            }
        }
        recent.push_back((first.channel, Arc::clone(contents)));
        if recent.len() > ASKED_MAX {
            recent.pop_front();
        }
        let home = *home;
        if self.mapping.passed_on.contains(&[home, first.channel]) {
            return;
        }
        let node = |id| network.ends(id).map(|ends| &ends.from.node);
        if node(home) != node(first.channel) {
            self.set.note_here(FindingKind::EqualAddresses, place(first), || {
                let other = FindingFact::channel("other", home);
                vec![packet_fact(first), FindingFact::address("address", address), other]
            });
        }
    }

    /// Checks that byte 80 turns a packet round at a switch. An absolute switch sends it to port 0. N-8
    fn turns(&mut self, journey: &Journey, network: &CaptureNetwork) {
        let hops = journey.hops.iter();
        for (hop, next) in hops.clone().zip(hops.skip(1)) {
            let is_whole = hop.length == next.length + 1 && is_sound(hop) && is_sound(next);
            let ends = network.ends(hop.channel).zip(network.ends(next.channel));
            let Some((came, left)) = ends.filter(|_| is_whole && hop.route == Some(TURN)) else {
                continue;
            };
            if came.to.node != left.from.node || left.from.port == PortId(0) {
                continue;
            }
            self.set.seen.returns += 1;
            if came.to.port != left.from.port {
                self.set.note_here(FindingKind::WrongWayBack, place(hop), || {
                    vec![packet_fact(hop), FindingFact::channel("output", next.channel)]
                });
            }
        }
    }

    /// Checks that an answer has the route that a request with its number names, or the reverse one. N-8
    fn way_back(&mut self, ticket: ProbeTicket, journey: &Journey, first: &JourneyHop) {
        let pending = self.mapping.pending.get(&first.channel).into_iter().flatten();
        let mut pending = pending.filter(|(number, _)| *number == ticket).peekable();
        let Some(route) = journey.route.as_ref().filter(|_| is_sound(first)) else { return };
        if pending.peek().is_none() {
            return;
        }
        let is_back = pending.any(|(_, way)| **way == *route.bytes());
        self.set.seen.returns += 1;
        if !is_back {
            self.set.note(
                FindingKind::WrongWayBack,
                place(first),
                FindingGrounds::Network([0, first.time]),
                || vec![packet_fact(first), FindingFact::number("ticket", ticket.0.into())],
            );
        }
    }

    /// Checks the route of a packet that is not of mapping against the map or the routes from which its sender
    /// has it. N-2, N-7
    pub(super) fn used_route(&mut self, journey: &Journey) {
        let Some(first) = journey.hops.first().filter(|first| is_sound(first)) else { return };
        let Some(route) = journey.route.as_ref().map(|route| route.bytes()) else { return };
        // Reading: bytes with bit 6 are for tables of switches, which no map has. S-1, S-8, S-9
        if journey.mapping.is_some() || route.iter().any(|byte| byte & 0x40 != 0) {
            return;
        }
        let Some((address, map, named)) = self.routes.installed(first) else { return };
        let routes = self.mapping.allowed(first.channel, map).filter(|it| it.since <= named);
        let Some(routes) = routes.map(|it| &it.routes) else { return };
        let kind = routes.finding();
        match routes.allow(address, route) {
            Some(true) => self.set.seen.count_route(kind),
            Some(false) => {
                let ((_, place), packet) = (place(first), first.packet);
                self.routes.hold(first.channel, WrongRoute { kind, place, packet });
            }
            None => {}
        }
    }

    /// Reports packets whose sender has named the same map before and after them.
    pub(super) fn odd_routes(&mut self) {
        for (channel, (mapper, version), odd) in std::mem::take(&mut self.routes.confirmed) {
            self.set.seen.count_route(odd.kind);
            let grounds = FindingGrounds::Network([0, odd.place.time]);
            self.set.note(odd.kind, (channel, odd.place), grounds, || {
                let packet = FindingFact::number("packet", odd.packet);
                let version = FindingFact::number("version", version.0.into());
                vec![packet, FindingFact::address("mapper", mapper), version]
            });
        }
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
            self.set.note_here(FindingKind::TwoMappers, place(last), || {
                let address = FindingFact::address;
                vec![packet_fact(last), address("mapper", map.0), address("other_mapper", other.0)]
            });
        }
    }

    /// Checks a piece of a map, and the map of all pieces. N-2
    fn piece(&mut self, (mapper, version): RouteMap, piece: &MapPiece<'_>, first: &JourneyHop) {
        let MappingChecks { maps, mapped, .. } = &mut self.mapping;
        if !maps.contains_key(&mapper) && maps.len() >= MAPPERS_MAX {
            maps.pop_first().into_iter().for_each(|(other, _)| drop(mapped.remove(&other)));
        }
        let map = maps.entry(mapper).or_insert_with(|| CollectedPieces::new(version, piece));
        let novelty = map.add(version, piece);
        if novelty == PieceNovelty::Known {
            return;
        }
        mapped.remove(&mapper);
        let fault = match map.map(mapper, first.time) {
            Ok(routes) => {
                mapped.extend(routes.map(|routes| (mapper, routes)));
                None
            }
            Err(fault) => Some(fault),
        };
        let differs = novelty == PieceNovelty::Differs;
        let kind = if differs { FindingKind::MapsDiffer } else { FindingKind::ImpossibleMap };
        if differs || fault.is_some() {
            self.set.note_here(kind, place(first), || {
                let mut facts = vec![packet_fact(first), FindingFact::address("mapper", mapper)];
                facts.push(FindingFact::number("version", version.0.into()));
                facts.extend(fault.map(|fault| FindingFact::word("fault", fault)));
                facts
            });
        }
    }
}

impl MappingChecks {
    fn expect_answer(&mut self, to: ChannelId, header: &RequestHeader<'_>) {
        let pending = self.pending.entry(to).or_default();
        pending.push_back((header.ticket, header.answer_route().into()));
        if pending.len() > ASKED_MAX {
            pending.pop_front();
        }
    }

    /// Adds a piece of the routes of an interface. N-7
    fn distribute(
        &mut self,
        to: ChannelId,
        (mapper, version): RouteMap,
        piece: &MapPiece<'_>,
        time: Picoseconds,
    ) {
        if !self.routes.contains_key(&to) && self.routes.len() >= DISTRIBUTED_MAX {
            return;
        }
        let empty = || (mapper, CollectedPieces::new(version, piece), None);
        let (source, pieces, routes) = self.routes.entry(to).or_insert_with(empty);
        if *source != mapper {
            (*source, *pieces, *routes) = empty();
        }
        if pieces.add(version, piece) != PieceNovelty::Known {
            *routes = pieces.routes(time);
        }
    }

    /// Routes that an interface may use by a map, if it has been sent any, or else the map.
    fn allowed(&self, from: ChannelId, (mapper, version): RouteMap) -> Option<&TimedRoutes> {
        let routes = match self.routes.get(&from) {
            Some((source, _, routes)) => routes.as_ref().filter(|_| *source == mapper),
            None => self.mapped.get(&mapper),
        };
        routes.filter(|routes| routes.version == version)
    }
}

impl RuleCoverage {
    /// Counts a packet that may have a finding about its route. N-2, N-7
    const fn count_route(&mut self, kind: FindingKind) {
        let is_distributed = matches!(kind, FindingKind::RouteNotDistributed);
        *(if is_distributed { &mut self.distributed } else { &mut self.mapped }) += 1;
    }
}

/// True if a packet was captured as it was sent.
fn is_sound(hop: &JourneyHop) -> bool {
    hop.check == CrcCheck::Good && hop.ended_by == FrameEnd::Gap
}
