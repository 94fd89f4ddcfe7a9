//! Comparison of one packet's true path with the journeys found.

use std::collections::BTreeMap;

use codec::capture::ChannelId;

use super::{JourneyTotals, ScoredFate, ScoredHop, ScoredPacket};
use crate::journey::{Corruption, Journey, JourneyFate};
use crate::score::channel_score::MatchCount;

/// Maximum number of examples. *Chosen*: as many as a reader examines.
const ODD_MAX: usize = 16;

type ScoredNames = BTreeMap<ChannelId, String>;

/// Compares the journeys of a packet with its true path, fate and corruptions.
pub(super) fn compare(
    (name, packet): (&str, &mut ScoredPacket),
    names: &ScoredNames,
    worth: &mut JourneyTotals,
) {
    packet.hops.sort_unstable();
    let way = |is_seen: fn(&ScoredHop) -> bool| {
        let hops = packet.hops.iter().filter(|hop| is_seen(hop));
        let mut way: Vec<&str> = hops.map(|hop| named(names, hop.channel)).collect();
        way.dedup();
        way
    };
    // Of a packet that stands on a wire as its recordings begin or end, one of them may have nothing.
    let [way, followed] = [way(|_| true), way(|hop| hop.is_followed)];
    if followed.is_empty() && packet.found.is_empty() {
        return;
    }
    let journeys = &mut worth.journeys.compared;
    journeys.in_truth += u64::from(!way.is_empty());
    journeys.found += packet.found.len() as u64;
    let own = |journey: &Journey| {
        journey.hops.iter().all(|hop| packet.hop(hop.channel, hop.start.0).is_some())
    };
    let is_right = |journey: &Journey| {
        let went = journey.hops.iter().map(|hop| named(names, hop.channel));
        own(journey) && [&way, &followed].iter().any(|way| went.clone().eq(way.iter().copied()))
    };
    let Some(right) = packet.found.iter().position(is_right) else {
        if packet.found.iter().all(own) && packet.is_apart(&way, names) {
            journeys.in_truth -= 1;
            journeys.found -= packet.found.len() as u64;
            worth.journeys.leave_out("out-of-sight");
        } else if !way.is_empty() {
            worth.note("journey", || went(name, packet, names));
        }
        return;
    };
    let taps = |channel| {
        let name = named(names, channel);
        packet.hops.iter().filter(|hop| named(names, hop.channel) == name).count()
    };
    // The taps at the other ends of its links capture the same packet once more.
    let is_again =
        |journey: &&Journey| own(journey) && journey.hops.iter().all(|hop| taps(hop.channel) > 1);
    let others = packet.found.iter().enumerate().filter(|(place, _)| *place != right);
    for _ in others.map(|(_, journey)| journey).filter(is_again) {
        worth.journeys.compared.found -= 1;
        worth.journeys.leave_out("seen-again");
    }
    worth.journeys.compared.right += 1;
    if let Some(journey) = packet.found.get(right) {
        fate(name, packet, journey, (names, worth));
        if packet.is_maimed || packet.ended == ScoredFate::Merged {
            worth.injuries.leave_out("maimed");
        } else {
            injuries(name, packet, journey, worth);
        }
    }
}

impl ScoredPacket {
    /// True if the journeys contain all captured hops of the packet.
    pub(super) fn is_reported(&self) -> bool {
        let hops = || self.found.iter().flat_map(|journey| &journey.hops);
        let is_found = |own: &ScoredHop| {
            hops().any(|hop| (hop.channel, hop.start.0) == (own.channel, own.start))
        };
        self.hops.iter().all(is_found)
    }

    /// True if the journeys are the way in parts, each behind a node that no tap shows, of a packet that was cut or changed:
    /// what left that node need not be what came to it.
    fn is_apart(&self, mut way: &[&str], names: &ScoredNames) -> bool {
        let part = |it: &Journey| it.hops.iter().map(|hop| named(names, hop.channel)).collect();
        let mut parts: Vec<Vec<&str>> = self.found.iter().map(part).collect();
        let node = |port: &str| port.rsplit_once(':').map(|(node, _)| node.to_owned());
        while let Some(at) = parts.iter().position(|part| way.starts_with(part)) {
            let (before, after) = way.split_at(parts.swap_remove(at).len());
            let to = before.last().and_then(|last| node(last.split_once('>')?.1));
            let from = after.first().and_then(|next| node(next.split_once('>')?.0));
            if to == from {
                return false;
            }
            way = after;
        }
        let mut syndromes = self.hops.iter().map(|hop| hop.syndrome);
        let first = syndromes.next();
        let is_changed = self.is_maimed || syndromes.any(|syndrome| Some(syndrome) != first);
        parts.is_empty() && way.is_empty() && is_changed
    }

    fn hop(&self, channel: ChannelId, start: u64) -> Option<&ScoredHop> {
        self.hops.iter().find(|hop| (hop.channel, hop.start) == (channel, start))
    }
}

/// Verdict on the fate of a journey whose last captured hop leads to the port `to`.
fn fate_verdict(journey: &Journey, ended: &ScoredFate, to: Option<&str>) -> FateVerdict {
    let last = journey.hops.last();
    let is_there = |place: &str| to == Some(place);
    match (&journey.fate, ended) {
        (JourneyFate::OutOfSight, _) => FateVerdict::OutOfSight,
        // An uncaptured end cannot be wrong.
        (JourneyFate::UnderWay, ScoredFate::Dropped(..) | ScoredFate::Merged) => {
            FateVerdict::OutOfSight
        }
        (JourneyFate::UnderWay, ScoredFate::UnderWay) => FateVerdict::Right,
        (JourneyFate::UnderWay, ScoredFate::Consumed(_)) => FateVerdict::Wrong,
        // A host may lose a packet after its arrival; the run may end before it or a switch has taken the packet.
        (
            JourneyFate::Arrived | JourneyFate::Misrouted | JourneyFate::Dropped(_),
            ScoredFate::UnderWay | ScoredFate::Merged,
        ) => FateVerdict::Behind,
        (JourneyFate::Arrived | JourneyFate::Misrouted, ScoredFate::Dropped(place, _))
            if is_there(place) =>
        {
            FateVerdict::Behind
        }
        // A loss between the last tap and the receiver is not captured.
        (
            JourneyFate::Arrived | JourneyFate::Misrouted | JourneyFate::Dropped(_),
            ScoredFate::Dropped(_, rule),
        ) if ["F-7", "F-9", "W-5"].contains(&rule.as_str()) => FateVerdict::Behind,
        (JourneyFate::Arrived | JourneyFate::Misrouted, ScoredFate::Consumed(place))
            if is_there(place) =>
        {
            FateVerdict::Right
        }
        (JourneyFate::Dropped(None), ScoredFate::Dropped(place, _)) if is_there(place) => {
            FateVerdict::Right
        }
        (JourneyFate::Dropped(Some(found)), ScoredFate::Dropped(place, rule))
            if is_there(place) =>
        {
            // A packet of one byte that selects no port violates both rules.
            let both = last.is_some_and(|hop| hop.length < 2) && [*found, rule].contains(&"P-9");
            // A capture does not show which switches have multicast tables.
            let table = (*found, rule.as_str()) == ("S-1", "S-9");
            // A capture does not distinguish a slack buffer from the input behind it.
            let reset = (*found, rule.as_str()) == ("R-2", "R-3");
            if found == rule || both || table || reset {
                FateVerdict::Right
            } else {
                FateVerdict::Wrong
            }
        }
        (JourneyFate::Merged, ScoredFate::Merged) => FateVerdict::Right,
        (
            JourneyFate::Arrived
            | JourneyFate::Misrouted
            | JourneyFate::Dropped(_)
            | JourneyFate::Merged,
            _,
        ) => FateVerdict::Wrong,
    }
}

/// Compares the journey's fate with the packet's, if the packet's was captured.
fn fate(
    name: &str,
    packet: &ScoredPacket,
    journey: &Journey,
    (names, worth): (&ScoredNames, &mut JourneyTotals),
) {
    let last = journey.hops.last();
    let to = last.and_then(|hop| named(names, hop.channel).split_once('>')).map(|(_, to)| to);
    match fate_verdict(journey, &packet.ended, to) {
        FateVerdict::OutOfSight => worth.fates.leave_out("out-of-sight"),
        FateVerdict::Behind => worth.fates.leave_out("behind-the-tap"),
        FateVerdict::Right => add(&mut worth.fates.compared, [1, 1, 1]),
        FateVerdict::Wrong => {
            add(&mut worth.fates.compared, [1, 1, 0]);
            worth.note("fate", || {
                let ended = match &packet.ended {
                    ScoredFate::UnderWay => "is under way".to_owned(),
                    ScoredFate::Consumed(place) => format!("was consumed at {place}"),
                    ScoredFate::Dropped(place, rule) => format!("was dropped at {place} by {rule}"),
                    ScoredFate::Merged => "was merged".to_owned(),
                };
                let last = last.map_or("?", |hop| named(names, hop.channel));
                let found = match journey.fate {
                    JourneyFate::Dropped(Some(rule)) => rule,
                    other => other.name(),
                };
                format!("{name} {ended}, found on {last}: {found}")
            });
        }
    }
}

/// Verdict on a journey's fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FateVerdict {
    Right,
    Wrong,
    /// The fate was not captured.
    OutOfSight,
    /// Correct up to the last tap, after which the true fate was decided.
    Behind,
}

/// Channels at which the syndrome changed. P-5
fn injuries(name: &str, packet: &ScoredPacket, journey: &Journey, worth: &mut JourneyTotals) {
    let (mut before, mut after, mut expected) = (0, None, Vec::new());
    for hop in journey.hops.iter().filter_map(|hop| packet.hop(hop.channel, hop.start.0)) {
        let Some(syndrome) = hop.syndrome else { continue };
        if syndrome != before {
            expected.push((after, hop.channel, syndrome ^ before));
        }
        (before, after) = (syndrome, Some(hop.channel));
    }
    let flipped = journey.injuries.iter().filter(|it| matches!(it.harm, Corruption::Flipped(_)));
    let found: Vec<_> = flipped.map(|it| (it.after, it.seen, it.syndrome)).collect();
    let right = found.iter().filter(|injury| expected.contains(injury)).count();
    add(&mut worth.injuries.compared, [expected.len(), found.len(), right]);
    if found != expected {
        worth.note("injury", || format!("{name}: {expected:?}, found: {found:?}"));
    }
}

impl JourneyTotals {
    fn note(&mut self, kind: &'static str, what: impl FnOnce() -> String) {
        if self.odd.len() < ODD_MAX {
            self.odd.push((kind, what()));
        }
    }
}

const fn add(count: &mut MatchCount, [in_truth, found, right]: [usize; 3]) {
    count.in_truth += in_truth as u64;
    count.found += found as u64;
    count.right += right as u64;
}

fn named(names: &ScoredNames, channel: ChannelId) -> &str {
    names.get(&channel).map_or("?", String::as_str)
}

/// Description of a packet's true path and of the paths found.
fn went(name: &str, packet: &ScoredPacket, names: &ScoredNames) -> String {
    let place = |channel, start: u64| format!("{}@{start}", named(names, channel));
    let way: Vec<_> = packet.hops.iter().map(|hop| place(hop.channel, hop.start)).collect();
    let journey = |journey: &Journey| {
        let hops = journey.hops.iter().map(|hop| place(hop.channel, hop.start.0));
        hops.collect::<Vec<_>>().join(" ")
    };
    let found: Vec<_> = packet.found.iter().map(journey).collect();
    format!("{name} went {}, found {}", way.join(" "), found.join(" and "))
}
