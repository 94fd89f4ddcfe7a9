//! Routes of a network that maps itself: a union for each map. N-2
//!
//! Routes of one map have no cycle together. Those of two maps may, and are in use at once only for as long as
//! it takes to install the later ones. So a packet counts for the map by which its interface computed its route:
//! answers of the interface name it. A packet counts for none as long as it may have any other route.

use std::collections::{BTreeMap, VecDeque};

use codec::capture::ChannelId;
use codec::mapping::{InterfaceAddress, MapVersion, MappingAnswer, MappingPacket, MappingRequest};
use codec::route::PortId;

use super::FindingKind;
use super::route_union::RouteUnion;
use super::set::Occurrence;
use crate::capture_network::CaptureNetwork;
use crate::event::Picoseconds;
use crate::journey::{Journey, JourneyFate, JourneyHop};
use crate::node_kind::TopologyNodeKind;

/// Time for which packets with earlier routes may leave an interface that has installed new ones. *Chosen*: its
/// memory holds packets of 1.6 ms (I-5), which may wait.
const QUEUED: Picoseconds = 10_000_000_000;

/// Most maps whose routes are united at a time. *Chosen*: parts of a split network, before and after.
const UNIONS_MAX: usize = 4;

/// Most packets that wait for their sender to name its map again. *Chosen*: mappers ask every few milliseconds.
const ODD_MAX: usize = 64;

/// A map by its mapper and its version.
pub(super) type RouteMap = (InterfaceAddress, MapVersion);

#[derive(Clone, Debug, Default)]
pub(super) struct ObservedRoutes {
    /// By map; without one as long as no interface has named any.
    unions: VecDeque<(Option<RouteMap>, RouteUnion)>,
    /// The map of each interface's routes, by the channel from it.
    interfaces: BTreeMap<ChannelId, InstalledMap>,
    /// True once an interface has named a map.
    is_mapped: bool,
    /// Packets whose sender has named the same map again.
    pub(super) confirmed: Vec<(ChannelId, RouteMap, WrongRoute)>,
}

#[derive(Clone, Debug)]
struct InstalledMap {
    address: InterfaceAddress,
    /// None after a request to install another, until an answer names it.
    map: Option<RouteMap>,
    /// Time from which all its packets have routes of that map.
    since: Picoseconds,
    /// Packets with routes that the map does not allow, until the interface names it again: in a hole of the
    /// recording it may have installed another.
    odd: Vec<WrongRoute>,
}

/// A packet with a route that a map does not allow.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrongRoute {
    pub(super) kind: FindingKind,
    /// Place of its first byte on the channel from its sender.
    pub(super) place: Occurrence,
    pub(super) packet: u64,
}

impl ObservedRoutes {
    /// Adds a packet; `mapping` is its content, if it is a sound one of mapping. Returns the number of new pairs of channels, and a union to which none will be added.
    pub(super) fn add(
        &mut self,
        journey: &Journey,
        mapping: Option<MappingPacket<'_>>,
        network: &CaptureNetwork,
    ) -> (u64, Option<RouteUnion>) {
        if journey.mapping.is_some() {
            return (0, mapping.and_then(|packet| self.mapping(journey, packet, network)));
        }
        let Some(first) = journey.hops.first() else { return (0, None) };
        let installed = self.interfaces.get(&first.channel);
        let map = installed.filter(|it| it.since <= first.time).and_then(|it| it.map);
        if map.is_none() && self.is_mapped {
            return (0, None);
        }
        if let Some((_, union)) = self.unions.iter_mut().find(|(known, _)| *known == map) {
            return (union.add(journey), None);
        }
        let mut union = RouteUnion::default();
        let added = union.add(journey);
        if added > 0 {
            self.unions.push_back((map, union));
        }
        let is_full = self.unions.len() > UNIONS_MAX;
        (added, if is_full { self.unions.pop_front().map(|(_, union)| union) } else { None })
    }

    /// Ends the section, and returns its unions.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = RouteUnion> + use<> {
        std::mem::take(self).unions.into_iter().map(|(_, union)| union)
    }

    /// The sender of a packet, the map from which it has its routes, and the time at which it has named it.
    pub(super) fn installed(
        &self,
        first: &JourneyHop,
    ) -> Option<(InterfaceAddress, RouteMap, Picoseconds)> {
        let installed = self.interfaces.get(&first.channel)?;
        let map = installed.map.filter(|_| installed.since <= first.time)?;
        Some((installed.address, map, installed.since.saturating_sub(QUEUED)))
    }

    /// Keeps a packet until its sender names the map again.
    pub(super) fn hold(&mut self, from: ChannelId, odd: WrongRoute) {
        let installed = self.interfaces.get_mut(&from);
        if let Some(installed) = installed.filter(|installed| installed.odd.len() < ODD_MAX) {
            installed.odd.push(odd);
        }
    }

    /// Notes the maps of interfaces.
    fn mapping(
        &mut self,
        journey: &Journey,
        packet: MappingPacket<'_>,
        network: &CaptureNetwork,
    ) -> Option<RouteUnion> {
        let (first, last) = (journey.hops.first()?, journey.hops.last()?);
        let map = match packet {
            MappingPacket::Answer(MappingAnswer { mapper: Some(mapper), version, .. }) => {
                Some((mapper, version)).filter(|_| version != MapVersion(0))?
            }
            MappingPacket::Request(header, MappingRequest::Install) => {
                let map = (header.source, header.version);
                let to = network.opposite(last.channel);
                let to = to.filter(|_| journey.fate == JourneyFate::Arrived);
                if let Some(installed) = to.and_then(|to| self.interfaces.get_mut(&to))
                    && installed.map != Some(map)
                {
                    installed.map = None;
                }
                // The mapper has installed its own.
                map
            }
            MappingPacket::Request(
                header,
                MappingRequest::Map(piece) | MappingRequest::Routes(piece),
            ) if piece.number == 0 => {
                // Its mapper has lost its versions in a restart, and uses one again.
                return self.close(Some((header.source, header.version)));
            }
            MappingPacket::Request(..) | MappingPacket::Home(..) => return None,
            MappingPacket::Answer(_) | MappingPacket::Resign { .. } => return None,
        };
        if is_from_host(first.channel, network) {
            let address = packet.source();
            let (since, odd) = (first.time + QUEUED, Vec::new());
            let new = || InstalledMap { address, map: Some(map), since, odd };
            match self.interfaces.get_mut(&first.channel).filter(|known| known.map == Some(map)) {
                Some(known) => {
                    let odd = known.odd.drain(..).map(|odd| (first.channel, map, odd));
                    self.confirmed.extend(odd);
                }
                None => drop(self.interfaces.insert(first.channel, new())),
            }
        }
        let is_first = !std::mem::replace(&mut self.is_mapped, true);
        if is_first { self.close(None) } else { None }
    }

    fn close(&mut self, map: Option<RouteMap>) -> Option<RouteUnion> {
        let place = self.unions.iter().position(|(known, _)| *known == map)?;
        self.unions.remove(place).map(|(_, union)| union)
    }
}

/// True if a channel comes from a host, by its name and by the packets that the host received. I-1
pub(super) fn is_from_host(channel: ChannelId, network: &CaptureNetwork) -> bool {
    network.ends(channel).is_some_and(|ends| {
        ends.from.port == PortId(0) && network.kind(&ends.from.node) == TopologyNodeKind::Host
    })
}
