//! Service of every interface for a mapper: answers, collects maps, installs routes. N-2, N-7

use codec::mapping::{
    AnswerStatus, InterfaceAddress, MapPiece, MapVersion, MappingRequest, NetworkMap,
    RequestHeader, parse_routes,
};

use super::map_routes::{MapGraph, MappedRoutes};

/// Most bytes of a map or of routes. *Chosen*: a map of 4096 nodes needs less.
const BYTES_MAX: usize = 1 << 17;

/// The mapper of an interface, and the maps received from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct MapFollower {
    /// The mapper heard last, and the time until which it counts as alive.
    view: Option<(InterfaceAddress, u64)>,
    installed: Option<MapIdentity>,
    incoming: Option<IncomingMap>,
    staged: Option<(MapIdentity, MappedRoutes)>,
}

/// A map by its mapper and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MapIdentity {
    pub(super) mapper: InterfaceAddress,
    pub(super) version: MapVersion,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct IncomingMap {
    identity: MapIdentity,
    count: u16,
    /// Number of the next piece.
    next: u16,
    bytes: Vec<u8>,
}

impl MapFollower {
    /// Moves all times back.
    pub(super) fn shift_back(&mut self, by: u64) {
        self.view = self.view.filter(|(_, until)| by < *until);
        self.view.iter_mut().for_each(|(_, until)| *until -= by);
    }

    /// The mapper, if it was heard in time.
    pub(super) fn mapper(&self, now: u64) -> Option<InterfaceAddress> {
        self.view.filter(|(_, until)| now < *until).map(|(mapper, _)| mapper)
    }

    /// Version of the map by which the routes were computed, if it is this mapper's.
    pub(super) fn version(&self, mapper: Option<InterfaceAddress>) -> MapVersion {
        let installed = self.installed.filter(|installed| Some(installed.mapper) == mapper);
        installed.map_or(MapVersion(0), |installed| installed.version)
    }

    /// Accepts a mapper, unless one with a higher address was heard in time.
    pub(super) fn hear(&mut self, now: u64, mapper: InterfaceAddress, until: u64) -> bool {
        let accepted = self.mapper(now).is_none_or(|known| known <= mapper);
        if accepted {
            self.view = Some((mapper, until));
        }
        accepted
    }

    pub(super) const fn forget_mapper(&mut self) {
        self.view = None;
    }

    /// Handles a request of its mapper. Returns the routes that are to be installed now.
    pub(super) fn request(
        &mut self,
        own: InterfaceAddress,
        header: &RequestHeader<'_>,
        request: MappingRequest<'_>,
    ) -> (AnswerStatus, Option<MappedRoutes>) {
        let identity = MapIdentity { mapper: header.source, version: header.version };
        match request {
            MappingRequest::Probe => (AnswerStatus::Received, None),
            MappingRequest::Map(piece) => {
                let routes =
                    |bytes: &[u8]| MapGraph::new(&NetworkMap::parse(bytes).ok()?)?.routes_from(own);
                (self.piece(identity, piece, routes), None)
            }
            MappingRequest::Routes(piece) => {
                let routes = |bytes: &[u8]| {
                    let routes = parse_routes(bytes).ok()?;
                    let to = routes.into_iter().map(|(to, route)| (to, route.to_vec())).collect();
                    Some(MappedRoutes { to, router: None })
                };
                (self.piece(identity, piece, routes), None)
            }
            MappingRequest::Install => self.install(identity),
        }
    }

    fn piece(
        &mut self,
        identity: MapIdentity,
        piece: MapPiece<'_>,
        routes: impl Fn(&[u8]) -> Option<MappedRoutes>,
    ) -> AnswerStatus {
        let is_same = |(staged, _): &mut (MapIdentity, MappedRoutes)| *staged == identity;
        if piece.number == 0 {
            // A mapper that has lost its versions in a restart may use one again for another map.
            self.staged.take_if(is_same);
            self.incoming = None;
        } else if self.staged.as_mut().is_some_and(is_same) {
            return AnswerStatus::Complete;
        }
        let older = self.installed.filter(|installed| installed.mapper == identity.mapper);
        let version = identity.version;
        // Of two versions that are half the range apart, neither is newer: such a map is taken.
        let is_old = |it: MapVersion| it == version || it.is_newer_than(version);
        // And 0 is the version of no map.
        if version == MapVersion(0) || older.is_some_and(|installed| is_old(installed.version)) {
            return AnswerStatus::Refused;
        }
        let fits = |map: &IncomingMap| map.identity == identity && map.count == piece.count;
        let map = match &mut self.incoming {
            Some(map) if fits(map) => map,
            incoming => {
                let (count, bytes) = (piece.count, Vec::new());
                incoming.insert(IncomingMap { identity, count, next: 0, bytes })
            }
        };
        if piece.number.checked_add(1) == Some(map.next) {
            return AnswerStatus::Received;
        }
        if piece.number != map.next || map.bytes.len() + piece.bytes.len() > BYTES_MAX {
            return AnswerStatus::Refused;
        }
        map.bytes.extend_from_slice(piece.bytes);
        map.next += 1;
        if map.next < map.count {
            return AnswerStatus::Received;
        }
        let computed = routes(&map.bytes);
        self.incoming = None;
        self.staged = computed.map(|routes| (identity, routes));
        if self.staged.is_some() { AnswerStatus::Complete } else { AnswerStatus::Refused }
    }

    /// Installs the routes of a complete map. The old ones were used until now.
    pub(super) fn install(
        &mut self,
        identity: MapIdentity,
    ) -> (AnswerStatus, Option<MappedRoutes>) {
        if self.installed == Some(identity) {
            return (AnswerStatus::Installed, None);
        }
        match self.staged.take_if(|(staged, _)| *staged == identity) {
            Some((_, routes)) => {
                self.installed = Some(identity);
                (AnswerStatus::Installed, Some(routes))
            }
            None => (AnswerStatus::Refused, None),
        }
    }

    /// Stages the mapper's own routes.
    pub(super) fn stage(&mut self, identity: MapIdentity, routes: MappedRoutes) {
        self.staged = Some((identity, routes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapper_is_heard_up_to_its_time() {
        let [low, high] = [1, 2].map(|number| InterfaceAddress::new(number).unwrap());
        let mut follower = MapFollower::default();
        assert!(follower.hear(0, high, 10) && !follower.hear(9, low, 20));
        assert_eq!([9, 10].map(|now| follower.mapper(now)), [Some(high), None]);
        assert!(follower.hear(10, low, 20));
    }

    /// Versions go round: half of all numbers is ahead of each, and of the one opposite nothing is known. N-2
    #[test]
    fn a_newer_version_is_taken_wherever_its_number_is() {
        let mapper = InterfaceAddress::new(1).unwrap();
        let near = [0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001];
        let numbers = [1, 2, 0xffff_fffe, u32::MAX].into_iter().chain(near);
        for installed in numbers.clone() {
            for told in numbers.clone() {
                let identity = |number| MapIdentity { mapper, version: MapVersion(number) };
                let mut follower =
                    MapFollower { installed: Some(identity(installed)), ..MapFollower::default() };
                let piece = MapPiece { number: 0, count: 2, bytes: &[0] };
                let is_taken = (1..=1 << 31).contains(&told.wrapping_sub(installed));
                let expected =
                    if is_taken { AnswerStatus::Received } else { AnswerStatus::Refused };
                let answer = follower.piece(identity(told), piece, |_| None);
                assert_eq!(answer, expected, "{told} after {installed}");
            }
        }
    }
}
