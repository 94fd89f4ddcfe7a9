//! One packet: the way it went, and the journeys that were found of it.

use std::collections::BTreeMap;

use codec::capture::ChannelId;

use super::{Ended, Hop, Packet, Whole, Worth};
use crate::path::{Fate, Harm, Journey};
use crate::score::balance::Count;

/// Examples that are kept. *Chosen*: as many as one looks at.
const ODD_MAX: usize = 16;

/// Names of channels.
type Names = BTreeMap<ChannelId, String>;

/// Holds what was found of a packet against what happened to it.
pub(super) fn judge((name, packet): (&str, &mut Packet), names: &Names, worth: &mut Worth) {
    packet.hops.sort_unstable();
    let mut way: Vec<&str> = packet.hops.iter().map(|hop| named(names, hop.channel)).collect();
    way.dedup();
    worth.journeys.in_truth += u64::from(!way.is_empty());
    worth.journeys.found += packet.found.len() as u64;
    let own = |journey: &Journey| {
        journey.hops.iter().all(|hop| packet.hop(hop.channel, hop.start.0).is_some())
    };
    let is_right = |journey: &Journey| {
        let went = journey.hops.iter().map(|hop| named(names, hop.channel));
        own(journey) && went.eq(way.iter().copied())
    };
    let Some(right) = packet.found.iter().position(is_right) else {
        if !way.is_empty() {
            worth.note("journey", || went(name, packet, names));
        }
        return;
    };
    let taps = |channel| {
        let name = named(names, channel);
        packet.hops.iter().filter(|hop| named(names, hop.channel) == name).count()
    };
    // At the other end of its links the same packet is seen once more.
    let is_again =
        |journey: &&Journey| own(journey) && journey.hops.iter().all(|hop| taps(hop.channel) > 1);
    let others = packet.found.iter().enumerate().filter(|(place, _)| *place != right);
    let again = others.map(|(_, journey)| journey).filter(is_again).count() as u64;
    worth.journeys.found -= again;
    worth.again += again;
    worth.journeys.right += 1;
    if let Some(journey) = packet.found.get(right) {
        fate(name, packet, journey, worth);
        if packet.whole == Whole::No || packet.ended == Ended::Merged {
            worth.maimed += 1;
        } else {
            injuries(name, packet, journey, worth);
        }
    }
}

impl Packet {
    fn hop(&self, channel: ChannelId, start: u64) -> Option<&Hop> {
        self.hops.iter().find(|hop| (hop.channel, hop.start) == (channel, start))
    }
}

/// What became of it, where that was captured.
fn fate(name: &str, packet: &Packet, journey: &Journey, worth: &mut Worth) {
    let right = match (&journey.fate, &packet.ended) {
        (Fate::OutOfSight, _) => {
            worth.out_of_sight += 1;
            return;
        }
        // It has reached its host, which has not taken it all when the run ends.
        (Fate::Arrived | Fate::Misrouted, Ended::UnderWay) => {
            worth.not_consumed += 1;
            return;
        }
        (Fate::Merged, ended) => *ended == Ended::Merged,
        (Fate::Arrived | Fate::Misrouted, ended) => *ended == Ended::Consumed,
        (Fate::Dropped(rule), ended) => *ended == Ended::Dropped((*rule).to_owned()),
        (Fate::UnderWay, ended) => *ended == Ended::UnderWay,
    };
    add(&mut worth.fates, [1, 1, usize::from(right)]);
    if !right {
        let found = match journey.fate {
            Fate::Arrived => "arrived",
            Fate::Misrouted => "misrouted",
            Fate::OutOfSight => "out of sight",
            Fate::Merged => "merged",
            Fate::UnderWay => "under way",
            Fate::Dropped(rule) => rule,
        };
        let ended = match &packet.ended {
            Ended::UnderWay => "is under way",
            Ended::Consumed => "was consumed",
            Ended::Dropped(rule) => rule,
            Ended::Merged => "merged",
        };
        worth.note("fate", || format!("{name}: {ended}, found: {found}"));
    }
}

/// Where the syndrome changed from one captured channel to the next. P-5
fn injuries(name: &str, packet: &Packet, journey: &Journey, worth: &mut Worth) {
    let (mut before, mut after, mut expected) = (0, None, Vec::new());
    for hop in journey.hops.iter().filter_map(|hop| packet.hop(hop.channel, hop.start.0)) {
        let Some(syndrome) = hop.syndrome else { continue };
        if syndrome != before {
            expected.push((after, hop.channel, syndrome ^ before));
        }
        (before, after) = (syndrome, Some(hop.channel));
    }
    let flipped = journey.injuries.iter().filter(|it| matches!(it.harm, Harm::Flipped(_)));
    let found: Vec<_> = flipped.map(|it| (it.after, it.seen, it.syndrome)).collect();
    let right = found.iter().filter(|injury| expected.contains(injury)).count();
    add(&mut worth.injuries, [expected.len(), found.len(), right]);
    if found != expected {
        worth.note("injury", || format!("{name}: {expected:?}, found: {found:?}"));
    }
}

impl Worth {
    fn note(&mut self, kind: &'static str, what: impl FnOnce() -> String) {
        if self.odd.len() < ODD_MAX {
            self.odd.push((kind, what()));
        }
    }
}

const fn add(count: &mut Count, [in_truth, found, right]: [usize; 3]) {
    count.in_truth += in_truth as u64;
    count.found += found as u64;
    count.right += right as u64;
}

fn named(names: &Names, channel: ChannelId) -> &str {
    names.get(&channel).map_or("?", String::as_str)
}

/// The way that a packet went, and those that were found.
fn went(name: &str, packet: &Packet, names: &Names) -> String {
    let place = |channel, start: u64| format!("{}@{start}", named(names, channel));
    let way: Vec<_> = packet.hops.iter().map(|hop| place(hop.channel, hop.start)).collect();
    let journey = |journey: &Journey| {
        let hops = journey.hops.iter().map(|hop| place(hop.channel, hop.start.0));
        hops.collect::<Vec<_>>().join(" ")
    };
    let found: Vec<_> = packet.found.iter().map(journey).collect();
    format!("{name} went {}, found {}", way.join(" "), found.join(" and "))
}
