//! Maps and routes that mappers distribute: pieces, acknowledgements, contents. N-2, N-7

use std::collections::{BTreeMap, BTreeSet};

use codec::mapping::{
    AnswerStatus, InterfaceAddress, MapPiece, MapVersion, MappingRequest, NetworkMap, RequestHeader,
};

use super::{MappingEvent, MappingProbe, ObservedMapping};
use crate::conversation::ObservedPlace;
use crate::event::Picoseconds;

/// Maximum number of mappers whose maps are collected at once. *Chosen*: parts of a split network.
const OPEN_MAX: usize = 64;

/// Maximum number of interfaces that get a map. *Chosen*: beyond all networks that were mapped.
const DELIVERIES_MAX: usize = 1 << 12;

/// Maximum number of bytes of a map. *Chosen*: a map of 4096 nodes has less.
const BYTES_MAX: usize = 1 << 17;

/// A map, or the routes of one, with its distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistributedMap {
    /// Its first piece.
    pub place: ObservedPlace,
    /// The mapper.
    pub mapper: InterfaceAddress,
    /// Version of the map.
    pub version: MapVersion,
    /// Kind of the pieces: `map` or `routes`.
    pub kind: &'static str,
    /// Number of interfaces to which pieces were sent.
    pub requested: u64,
    /// Number of those that have acknowledged all pieces.
    pub complete: u64,
    /// Number of those that have acknowledged the installation.
    pub installed: u64,
    /// Number of those that have refused.
    pub refused: u64,
    /// Time of the last acknowledgement of all pieces.
    pub complete_time: Option<Picoseconds>,
    /// Time of the last acknowledgement of the installation.
    pub installed_time: Option<Picoseconds>,
    /// The map, if its pieces were captured and can be read.
    pub map: Option<NetworkMap>,
    /// Fault of a map of which all pieces were captured.
    pub fault: Option<String>,
}

/// A map that is being distributed.
#[derive(Debug)]
struct OpenMap {
    distributed: DistributedMap,
    /// Answers of the interfaces, by the routes to them.
    deliveries: BTreeMap<Box<[u8]>, BTreeSet<AnswerStatus>>,
    /// Pieces of a map; those of routes differ between interfaces.
    pieces: BTreeMap<u16, Box<[u8]>>,
    len: usize,
}

/// The latest map of each mapper.
#[derive(Debug, Default)]
pub(super) struct MapDistributions {
    open: BTreeMap<InterfaceAddress, OpenMap>,
}

impl MapDistributions {
    pub(super) fn request(
        &mut self,
        seen: &ObservedMapping,
        header: &RequestHeader<'_>,
        request: MappingRequest<'_>,
        out: &mut impl FnMut(MappingEvent),
    ) {
        let (piece, kind) = match request {
            MappingRequest::Map(piece) => (piece, "map"),
            MappingRequest::Routes(piece) => (piece, "routes"),
            MappingRequest::Probe | MappingRequest::Install => return,
        };
        let known = self.open.get(&header.source);
        if known.is_none_or(|map| map.is_another(header, kind, &piece)) {
            self.open.remove(&header.source).into_iter().for_each(|map| map.end(out));
            if self.open.len() >= OPEN_MAX {
                self.open.pop_first().into_iter().for_each(|(_, map)| map.end(out));
            }
            self.open.insert(header.source, OpenMap::new(seen.place, header, kind));
        }
        if let Some(map) = self.open.get_mut(&header.source) {
            map.piece(header.route, &piece);
        }
    }

    /// Adds an answer to a request.
    pub(super) fn answered(
        &mut self,
        probe: &MappingProbe,
        time: Picoseconds,
        status: AnswerStatus,
    ) {
        let Some(map) = self.open.get_mut(&probe.source) else { return };
        if Some(map.distributed.version) != probe.version {
            return;
        }
        let answers = map.deliveries.get_mut(&probe.whole_route);
        if !answers.is_some_and(|answers| answers.insert(status)) {
            return;
        }
        let distributed = &mut map.distributed;
        match status {
            AnswerStatus::Received => {}
            AnswerStatus::Refused => distributed.refused += 1,
            AnswerStatus::Complete => {
                distributed.complete += 1;
                distributed.complete_time = distributed.complete_time.max(Some(time));
            }
            AnswerStatus::Installed => {
                distributed.installed += 1;
                distributed.installed_time = distributed.installed_time.max(Some(time));
            }
        }
    }

    pub(super) fn finish(&mut self, out: &mut impl FnMut(MappingEvent)) {
        let mut open: Vec<OpenMap> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|map| map.distributed.place.time);
        open.into_iter().for_each(|map| map.end(out));
    }
}

impl OpenMap {
    fn new(place: ObservedPlace, header: &RequestHeader<'_>, kind: &'static str) -> Self {
        let distributed = DistributedMap {
            place,
            mapper: header.source,
            version: header.version,
            kind,
            requested: 0,
            complete: 0,
            installed: 0,
            refused: 0,
            complete_time: None,
            installed_time: None,
            map: None,
            fault: None,
        };
        Self { distributed, deliveries: BTreeMap::new(), pieces: BTreeMap::new(), len: 0 }
    }

    /// True if a piece begins another map. A mapper that has lost its versions in a restart may use
    /// one again.
    fn is_another(&self, header: &RequestHeader<'_>, kind: &str, piece: &MapPiece<'_>) -> bool {
        let is_whole = |status: &AnswerStatus| {
            [AnswerStatus::Complete, AnswerStatus::Installed].contains(status)
        };
        let answers = self.deliveries.get(header.route);
        let again = answers.is_some_and(|answers| answers.iter().any(is_whole));
        let differs = self.pieces.get(&0).is_some_and(|first| **first != *piece.bytes);
        (self.distributed.version, self.distributed.kind) != (header.version, kind)
            || piece.number == 0 && (again || differs)
    }

    fn piece(&mut self, route: &[u8], piece: &MapPiece<'_>) {
        if !self.deliveries.contains_key(route) && self.deliveries.len() < DELIVERIES_MAX {
            self.deliveries.insert(route.into(), BTreeSet::new());
            self.distributed.requested += 1;
        }
        let is_known = self.distributed.kind != "map" || self.pieces.contains_key(&piece.number);
        if is_known || self.len + piece.bytes.len() > BYTES_MAX {
            return;
        }
        self.len += piece.bytes.len();
        self.pieces.insert(piece.number, piece.bytes.into());
        if self.pieces.len() == usize::from(piece.count) {
            let bytes: Vec<u8> = self.pieces.values().flatten().copied().collect();
            match NetworkMap::parse(&bytes) {
                Ok(map) => self.distributed.map = Some(map),
                Err(fault) => self.distributed.fault = Some(fault.to_string()),
            }
        }
    }

    fn end(self, out: &mut impl FnMut(MappingEvent)) {
        out(MappingEvent::Map(Box::new(self.distributed)));
    }
}
