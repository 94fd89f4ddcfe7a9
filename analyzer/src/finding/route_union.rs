//! Union of the routes that packets took, and its cycles. N-2
//!
//! A packet that holds one channel and waits for the next makes the one depend on the other. As long as these
//! dependencies have no cycle, no packets can wait for each other in one, whatever the load. So a cycle is
//! found though nothing has deadlocked.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::ChannelId;
use codec::framing::FrameEnd;
use codec::mapping;
use codec::packet::CrcCheck;
use codec::route::PORTS_MAX;

use super::Occurrence;
use crate::journey::{Journey, JourneyFate, JourneyHop, MatchCertainty};

/// Most steps of the search for the shortest cycle. *Chosen*: enough for all networks of the documents; a
/// cycle that is found later is longer than necessary.
const STEPS_MAX: u32 = 1 << 20;

/// Channels, and the next captured ones of packets, of which as many are kept as a switch has ports. A cycle of
/// channels with uncaptured ones between them is one too.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteUnion {
    turns: BTreeMap<ChannelId, BTreeMap<ChannelId, FirstPacket>>,
}

/// The first packet on its way from one channel to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstPacket {
    /// Place of its first byte on the first channel.
    pub(super) place: Occurrence,
    pub(super) number: u64,
}

/// Channels, each with those that it depends on.
type ChannelGraph = BTreeMap<ChannelId, Vec<ChannelId>>;

impl RouteUnion {
    /// Adds the route of a packet, as far as it is certain, and returns the number of pairs of channels that
    /// are new.
    ///
    /// Reading: a packet whose bytes are damaged, that a switch dropped, or that left a host with a route byte
    /// in front did not take a route of an interface. Nor does a packet of mapping: it goes where no route is
    /// known yet, and may deadlock (N-7).
    pub(super) fn add(&mut self, journey: &Journey) -> u64 {
        let is_route = matches!(journey.fate, JourneyFate::Arrived | JourneyFate::OutOfSight)
            && journey.certainty == MatchCertainty::Certain
            && journey.tag.is_some_and(|tag| tag.value() != mapping::TAG);
        let is_sound =
            |hop: &JourneyHop| hop.check == CrcCheck::Good && hop.ended_by == FrameEnd::Gap;
        let mut added = 0;
        let hops = journey.hops.iter();
        for (hop, next) in hops.clone().zip(hops.skip(1)).filter(|_| is_route) {
            let onward = self.turns.entry(hop.channel).or_default();
            if onward.len() < PORTS_MAX.into() && is_sound(hop) && is_sound(next) {
                let place = Occurrence { time: hop.time, at: hop.start };
                let first = FirstPacket { place, number: hop.packet };
                match onward.entry(next.channel) {
                    Entry::Vacant(entry) => {
                        entry.insert(first);
                        added += 1;
                    }
                    Entry::Occupied(mut entry) if first.place < entry.get().place => {
                        entry.insert(first);
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
        added
    }

    /// First packet from the first channel of a cycle to the second one.
    pub(super) fn first_packet(&self, cycle: &[ChannelId]) -> Option<FirstPacket> {
        let (first, second) = (cycle.first()?, cycle.get(1).or(cycle.first())?);
        self.turns.get(first)?.get(second).copied()
    }

    /// A cycle with as few channels as possible, from its lowest channel on.
    pub(super) fn cycle(&self) -> Option<Vec<ChannelId>> {
        let graph = self.cyclic_part();
        let mut best = any_cycle(&graph)?;
        let mut steps = STEPS_MAX;
        for start in graph.keys() {
            best = shorter_cycle(&graph, *start, best.len(), &mut steps).unwrap_or(best);
        }
        let lowest = best.iter().enumerate().min_by_key(|(_, channel)| **channel);
        let lowest = lowest.map_or(0, |(place, _)| place);
        best.rotate_left(lowest);
        Some(best)
    }

    /// The channels from which a cycle can be reached.
    fn cyclic_part(&self) -> ChannelGraph {
        let mut graph = ChannelGraph::new();
        let (mut before, mut onward) = (ChannelGraph::new(), BTreeMap::new());
        for (from, turns) in &self.turns {
            onward.insert(*from, turns.len());
            for to in turns.keys() {
                before.entry(*to).or_default().push(*from);
                onward.entry(*to).or_default();
            }
        }
        let mut ends: Vec<ChannelId> =
            onward.iter().filter(|(_, count)| **count == 0).map(|(channel, _)| *channel).collect();
        let mut ended = BTreeSet::new();
        while let Some(end) = ends.pop() {
            ended.insert(end);
            for from in before.get(&end).into_iter().flatten() {
                let Some(count) = onward.get_mut(from) else { continue };
                *count -= 1;
                ends.extend((*count == 0).then_some(*from));
            }
        }
        for (from, turns) in self.turns.iter().filter(|(from, _)| !ended.contains(from)) {
            graph.insert(*from, turns.keys().filter(|to| !ended.contains(to)).copied().collect());
        }
        graph
    }
}

/// The cycle that the first ways lead to from the lowest channel.
fn any_cycle(graph: &ChannelGraph) -> Option<Vec<ChannelId>> {
    let (mut path, mut places) = (Vec::new(), BTreeMap::new());
    let mut at = graph.keys().next()?;
    loop {
        if let Some(place) = places.insert(*at, path.len()) {
            return Some(path.split_off(place));
        }
        path.push(*at);
        at = graph.get(at)?.first()?;
    }
}

/// The shortest cycle through a channel, if it has fewer channels than `below`.
fn shorter_cycle(
    graph: &ChannelGraph,
    start: ChannelId,
    below: usize,
    steps: &mut u32,
) -> Option<Vec<ChannelId>> {
    let mut before = BTreeMap::from([(start, start)]);
    let mut reached = vec![start];
    for _ in 1..below {
        for at in std::mem::take(&mut reached) {
            for to in graph.get(&at)? {
                *steps = steps.checked_sub(1)?;
                if *to == start {
                    let mut cycle = vec![at];
                    while let Some(at) = cycle.last().filter(|at| **at != start) {
                        cycle.push(*before.get(at)?);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if let Entry::Vacant(entry) = before.entry(*to) {
                    entry.insert(at);
                    reached.push(*to);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use codec::time::Tick;

    type Turns<'a> = &'a [(u32, u32)];

    fn union(turns: Turns<'_>) -> RouteUnion {
        let mut union = RouteUnion::default();
        for (from, to) in turns {
            let place = Occurrence { time: u64::from(*from).into(), at: Tick(u64::from(*from)) };
            let turns = union.turns.entry(ChannelId(*from)).or_default();
            turns.insert(ChannelId(*to), FirstPacket { place, number: u64::from(*to) });
        }
        union
    }

    /// N-2
    #[test]
    fn the_shortest_cycle_is_named_from_its_lowest_channel() {
        let ring: Vec<(u32, u32)> = (0..4).map(|n| (n, (n + 1) % 4)).collect();
        let chord = [&ring[..], &[(2, 0)]].concat();
        // Two cycles of three, joined; and what leads to them.
        let two = [(9, 1), (1, 8), (8, 3), (3, 1), (3, 2), (2, 7), (7, 4), (4, 2), (5, 9), (2, 6)];
        let cases: [(Turns<'_>, &[u32]); 7] = [
            (&[], &[]),
            (&[(0, 1), (1, 2), (0, 2), (3, 2)], &[]),
            (&ring, &[0, 1, 2, 3]),
            (&ring[1..], &[]),
            (&chord, &[0, 1, 2]),
            (&two, &[1, 8, 3]),
            (&[(5, 6), (6, 6)], &[6]),
        ];
        for (turns, expected) in cases {
            let cycle = union(turns).cycle().unwrap_or_default();
            assert_eq!(cycle.iter().map(|id| id.0).collect::<Vec<_>>(), expected, "{turns:?}");
        }
        let first = union(&chord).first_packet(&[ChannelId(0), ChannelId(1), ChannelId(2)]);
        assert_eq!(first.map(|first| (first.place.at, first.number)), Some((Tick(0), 1)));
    }

    /// A hostile capture: many channels in one cycle, each of which leads to most others.
    #[test]
    fn a_search_with_too_many_channels_ends_with_a_cycle() {
        let ring = (0..30_000).map(|n| (n, (n + 1) % 30_000));
        let turns: Vec<(u32, u32)> = ring.chain((0..30_000).map(|n| (n + 30_000, n))).collect();
        assert_eq!(union(&turns).cycle().map(|cycle| cycle.len()), Some(30_000));
    }
}
