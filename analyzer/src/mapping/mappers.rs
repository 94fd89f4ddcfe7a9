//! Interfaces that map the network, by the packets that show it. N-2

use std::collections::BTreeMap;

use codec::mapping::InterfaceAddress;

use super::{MappingEvent, ObservedMapping};
use crate::conversation::ObservedPlace;
use crate::event::Picoseconds;
use crate::named_enum::named_enum;

/// Maximum number of mappers at once. *Chosen*: more interfaces than a network has.
const MAPPERS_MAX: usize = 1 << 12;

/// The time in which an interface sent probes and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapperTerm {
    /// Its first packet.
    pub place: ObservedPlace,
    /// The interface.
    pub address: InterfaceAddress,
    /// Time of its last packet.
    pub last: Picoseconds,
    /// Number of its probes and requests.
    pub packets: u64,
    /// The sign that it is mapper no more.
    pub ended: TermEnd,
    /// The mapper in whose favour it ended.
    pub winner: Option<InterfaceAddress>,
}

named_enum! {
    /// Sign that an interface is mapper no more.
    pub enum TermEnd {
        /// It has resigned.
        Resigned = "resigned",
        /// It has answered, and named another mapper or none.
        Follows = "follows",
        /// None until the capture ended.
        CaptureEnd = "capture-end",
        /// None, and too many mappers were known.
        Evicted = "evicted",
    }
}

/// The mappers of the moment.
#[derive(Debug, Default)]
pub(super) struct MapperTerms {
    open: BTreeMap<InterfaceAddress, MapperTerm>,
}

impl MapperTerms {
    /// Adds a probe or a request.
    pub(super) fn probes(
        &mut self,
        address: InterfaceAddress,
        seen: &ObservedMapping,
        out: &mut impl FnMut(MappingEvent),
    ) {
        let place = seen.place;
        if !self.open.contains_key(&address)
            && self.open.len() >= MAPPERS_MAX
            && let Some((_, term)) = self.open.pop_first()
        {
            out(MappingEvent::Mapper(MapperTerm { ended: TermEnd::Evicted, ..term }));
        }
        let (ended, winner) = (TermEnd::CaptureEnd, None);
        let new = MapperTerm { place, address, last: place.time, packets: 0, ended, winner };
        let term = self.open.entry(address).or_insert(new);
        (term.last, term.packets) = (place.time, term.packets + 1);
    }

    pub(super) fn ends(
        &mut self,
        address: InterfaceAddress,
        last: Picoseconds,
        (ended, winner): (TermEnd, Option<InterfaceAddress>),
        out: &mut impl FnMut(MappingEvent),
    ) {
        if let Some(term) = self.open.remove(&address) {
            let last = if ended == TermEnd::Resigned { last } else { term.last };
            out(MappingEvent::Mapper(MapperTerm { last, ended, winner, ..term }));
        }
    }

    pub(super) fn finish(&mut self, out: &mut impl FnMut(MappingEvent)) {
        let mut terms: Vec<MapperTerm> = std::mem::take(&mut self.open).into_values().collect();
        terms.sort_by_key(|term| (term.place.time, term.address));
        terms.into_iter().for_each(|term| out(MappingEvent::Mapper(term)));
    }
}
