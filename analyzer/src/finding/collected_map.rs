//! Maps and routes put together from captured pieces, and the routes that they allow. N-2, N-7

use std::collections::{BTreeMap, BTreeSet};

use codec::mapping::{
    InterfaceAddress, MapEnd, MapNode, MapPiece, MapVersion, NetworkMap, SwitchIdentity,
    parse_routes,
};
use codec::route::RouteAddressing;

use super::FindingKind;
use crate::event::Picoseconds;

/// Most bytes of a map, or of the routes of an interface. *Chosen*: a map of 4096 nodes has less.
const BYTES_MAX: usize = 1 << 17;

/// Greatest difference of two ports of a switch. S-10
const SPREAD_MAX: i16 = 31;

#[derive(Clone, Debug)]
pub(super) struct CollectedPieces {
    pub(super) version: MapVersion,
    /// Number of all pieces.
    count: u16,
    pieces: BTreeMap<u16, Box<[u8]>>,
    /// Number of their bytes.
    len: usize,
    /// True once two contents of a piece had one version.
    is_doubtful: bool,
}

/// Effect of a piece on those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceNovelty {
    Known,
    New,
    /// Another content of a piece of the same version, or another number of pieces.
    Differs,
}

#[derive(Clone, Debug)]
pub(super) enum AllowedRoutes {
    /// Those that lead to an interface of a map: the interfaces, the identities of switches, and the other end of the
    /// link at each end.
    OnMap(Box<[InterfaceAddress]>, Box<[SwitchIdentity]>, BTreeMap<MapEnd, MapEnd>),
    /// Those that were sent to an interface.
    Distributed(BTreeSet<Box<[u8]>>),
}

/// Routes from the time at which their last piece was captured.
#[derive(Clone, Debug)]
pub(super) struct TimedRoutes {
    pub(super) version: MapVersion,
    pub(super) since: Picoseconds,
    pub(super) routes: AllowedRoutes,
}

impl CollectedPieces {
    /// No pieces yet, of a version that has as many as a piece says.
    pub(super) const fn new(version: MapVersion, piece: &MapPiece<'_>) -> Self {
        Self { version, count: piece.count, pieces: BTreeMap::new(), len: 0, is_doubtful: false }
    }

    /// Adds a piece. Those of another version, or that differ from it, are removed before.
    pub(super) fn add(&mut self, version: MapVersion, piece: &MapPiece<'_>) -> PieceNovelty {
        if self.version != version || self.len > BYTES_MAX {
            *self = Self { is_doubtful: self.is_doubtful, ..Self::new(version, piece) };
        }
        let known = self.pieces.get(&piece.number);
        let differs = self.count != piece.count || known.is_some_and(|it| **it != *piece.bytes);
        if differs {
            *self = Self { is_doubtful: true, ..Self::new(version, piece) };
        } else if known.is_some() {
            return PieceNovelty::Known;
        }
        self.len += piece.bytes.len();
        self.pieces.insert(piece.number, piece.bytes.into());
        if differs { PieceNovelty::Differs } else { PieceNovelty::New }
    }

    /// The bytes of all pieces, once they are known.
    fn bytes(&self) -> Option<Vec<u8>> {
        let is_whole = self.pieces.len() >= self.count.into();
        is_whole.then(|| self.pieces.values().flatten().copied().collect())
    }

    /// The routes that the map allows, once all its pieces are known; or the map's fault.
    pub(super) fn map(
        &self,
        mapper: InterfaceAddress,
        since: Picoseconds,
    ) -> Result<Option<TimedRoutes>, &'static str> {
        let Some(bytes) = self.bytes() else { return Ok(None) };
        let map = NetworkMap::parse(&bytes).map_err(|_| "unreadable")?;
        fault(&map, mapper).map_or(Ok(()), Err)?;
        let both = map.links.iter().flat_map(|[one, other]| [(*one, *other), (*other, *one)]);
        let routes = AllowedRoutes::OnMap(map.hosts.into(), map.identities.into(), both.collect());
        let version = self.version;
        Ok((!self.is_doubtful).then_some(TimedRoutes { version, since, routes }))
    }

    /// The routes of an interface, once all their pieces are known.
    pub(super) fn routes(&self, since: Picoseconds) -> Option<TimedRoutes> {
        let bytes = self.bytes().filter(|_| !self.is_doubtful)?;
        let routes = parse_routes(&bytes).ok()?.into_iter().map(|(_, route)| route.into());
        let routes = AllowedRoutes::Distributed(routes.collect());
        Some(TimedRoutes { version: self.version, since, routes })
    }
}

impl AllowedRoutes {
    pub(super) const fn finding(&self) -> FindingKind {
        match self {
            Self::OnMap(..) => FindingKind::RouteNotOnMap,
            Self::Distributed(_) => FindingKind::RouteNotDistributed,
        }
    }

    /// Tests a route of an interface, if it is in the map.
    pub(super) fn allow(&self, from: InterfaceAddress, route: &[u8]) -> Option<bool> {
        match self {
            Self::Distributed(routes) => Some(routes.contains(route)),
            Self::OnMap(hosts, identities, links) => {
                let index = u16::try_from(hosts.binary_search(&from).ok()?).ok()?;
                let own = MapEnd { node: MapNode::Host(index), port: 0 };
                let end = route.iter().try_fold(*links.get(&own)?, |end, byte| {
                    let MapNode::Switch(switch) = end.node else { return None };
                    let identity = identities.get(usize::from(switch));
                    let port = match identity.map(|identity| identity.addressing) {
                        Some(RouteAddressing::Absolute) => (byte & 0x7f).cast_signed(),
                        // Six bits in two's complement. S-1
                        Some(RouteAddressing::Relative) | None => {
                            end.port.checked_add((byte << 2).cast_signed() >> 2)?
                        }
                    };
                    links.get(&MapEnd { port, ..end }).copied()
                });
                Some(end.is_some_and(|end| matches!(end.node, MapNode::Host(_))))
            }
        }
    }
}

fn fault(map: &NetworkMap, mapper: InterfaceAddress) -> Option<&'static str> {
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
        (!is_connected(map)).then_some("not-connected")
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
