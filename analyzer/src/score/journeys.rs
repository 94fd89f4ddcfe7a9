//! Journeys against the ways that packets went: every hop, what became of them, where they were hurt.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a packet")]

use std::collections::BTreeMap;

use codec::capture::ChannelId;

use super::balance::Count;
use super::truth::{Frame, Happened, What};
use crate::packet::EndedBy;
use crate::path::{Fate, Harm, Journey};

/// How long nothing has happened to a packet when it is done with, in periods of the full rate.
/// *Chosen*: twice the longest that a packet can stand.
const QUIET: u64 = 1 << 23;

/// All packets that are or were on captured channels.
#[derive(Clone, Debug, Default)]
pub(super) struct Journeys {
    /// Which packet a frame is of, by its channel and its first byte.
    frames: BTreeMap<(ChannelId, u64), String>,
    packets: BTreeMap<String, Packet>,
    /// When to look next for packets that are done with.
    next: u64,
    worth: Worth,
}

/// What journeys were worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Worth {
    pub(super) journeys: Count,
    pub(super) fates: Count,
    pub(super) injuries: Count,
    /// Journeys with frames of which the truth does not know the packet.
    pub(super) unknown: u64,
    /// Packets whose fate was not captured.
    pub(super) out_of_sight: u64,
    /// Packets that were cut or merged, so that their CRC byte says nothing of injuries.
    pub(super) maimed: u64,
    /// Journeys that are not as they were, the first of them.
    pub(super) odd: Vec<String>,
}

/// Journeys that are kept as examples. *Chosen*.
const ODD_MAX: usize = 16;

#[derive(Clone, Debug, Default)]
struct Packet {
    hops: Vec<Hop>,
    ended: Ended,
    whole: Whole,
    found: Vec<Journey>,
    /// When something last happened to it.
    last: u64,
}

/// A packet on a captured channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hop {
    /// When its first byte was on the wire, in periods of the full rate.
    time: u64,
    channel: ChannelId,
    start: u64,
    syndrome: Option<u8>,
}

/// What became of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Ended {
    /// Nothing yet.
    #[default]
    UnderWay,
    Consumed,
    Dropped(String),
    Merged,
}

/// Whether its CRC byte is its own everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Whole {
    #[default]
    Yes,
    No,
}

impl Journeys {
    /// A frame stood on a captured channel of so many periods of the full rate each.
    pub(super) fn frame(&mut self, id: ChannelId, divisor: u64, row: &Happened, frame: &Frame) {
        let Some(name) = &row.packet else { return };
        self.frames.insert((id, frame.start), name.clone());
        let packet = self.packets.entry(name.clone()).or_default();
        packet.last = row.at;
        packet.hops.push(Hop {
            time: frame.start.saturating_mul(divisor),
            channel: id,
            start: frame.start,
            syndrome: frame.syndrome,
        });
        if frame.ended_by != EndedBy::Gap.name() {
            packet.whole = Whole::No;
        }
    }

    /// Something happened to a packet, anywhere.
    pub(super) fn row(&mut self, row: &Happened) {
        let ended = match &row.what {
            What::Consumed { .. } => Ended::Consumed,
            What::Dropped { rule } => Ended::Dropped(rule.clone()),
            What::Merged => Ended::Merged,
            What::Truncated => Ended::UnderWay,
            _ => return,
        };
        let Some(name) = &row.packet else { return };
        let packet = self.packets.entry(name.clone()).or_default();
        packet.last = row.at;
        if ended == Ended::UnderWay {
            packet.whole = Whole::No;
        } else {
            packet.ended = ended;
        }
    }

    /// A journey was found; the truth is known as far.
    pub(super) fn found(&mut self, now: u64, journey: Journey) {
        let of = |hop: &crate::path::Hop| self.frames.get(&(hop.channel, hop.start.0));
        let all = journey.hops.iter().all(|hop| of(hop).is_some());
        match journey.hops.first().and_then(of).filter(|_| all) {
            None => self.worth.unknown += 1,
            Some(name) => {
                let packet = self.packets.entry(name.clone()).or_default();
                packet.last = packet.last.max(now);
                packet.found.push(journey);
            }
        }
    }

    /// Both accounts have come so far: packets that are long done with are judged.
    pub(super) fn settle(&mut self, now: u64) {
        if now < self.next {
            return;
        }
        self.next = now.saturating_add(QUIET);
        let done = |packet: &Packet| packet.last.saturating_add(QUIET) < now;
        let Self { packets, frames, worth, .. } = self;
        packets.retain(|name, packet| {
            let done = done(packet);
            if done {
                judge(name, packet, worth);
                packet.hops.iter().for_each(|hop| drop(frames.remove(&(hop.channel, hop.start))));
            }
            !done
        });
    }

    /// Both accounts are at their end.
    pub(super) fn finish(mut self) -> Worth {
        for (name, packet) in &mut self.packets {
            judge(name, packet, &mut self.worth);
        }
        self.worth
    }
}

/// Holds what was found of a packet against what happened to it.
fn judge(name: &str, packet: &mut Packet, worth: &mut Worth) {
    packet.hops.sort_unstable();
    worth.journeys.in_truth += u64::from(!packet.hops.is_empty());
    worth.journeys.found += packet.found.len() as u64;
    let way: Vec<_> = packet.hops.iter().map(|hop| (hop.channel, hop.start)).collect();
    let is_right = |journey: &&Journey| {
        journey.hops.iter().map(|hop| (hop.channel, hop.start.0)).eq(way.iter().copied())
    };
    let Some(journey) = packet.found.iter().find(is_right) else {
        if worth.odd.len() < ODD_MAX && !packet.hops.is_empty() {
            worth.odd.push(odd(name, packet));
        }
        return;
    };
    worth.journeys.right += 1;
    let fate = match (&journey.fate, &packet.ended) {
        (Fate::Merged, ended) => Some(*ended == Ended::Merged),
        (Fate::OutOfSight, _) | (_, Ended::Merged) => None,
        (Fate::Arrived | Fate::Misrouted, ended) => Some(*ended == Ended::Consumed),
        (Fate::Dropped(rule), ended) => Some(*ended == Ended::Dropped((*rule).to_owned())),
        (Fate::UnderWay, ended) => Some(*ended == Ended::UnderWay),
    };
    match fate {
        None => worth.out_of_sight += 1,
        Some(right) => add(&mut worth.fates, [1, 1, u64::from(right)]),
    }
    if packet.whole == Whole::No || packet.ended == Ended::Merged {
        worth.maimed += 1;
    } else {
        injuries(packet, journey, worth);
    }
}

/// Where the syndrome changed from one captured channel to the next. P-5
fn injuries(packet: &Packet, journey: &Journey, worth: &mut Worth) {
    let (mut before, mut after, mut expected) = (0, None, Vec::new());
    for hop in &packet.hops {
        let Some(syndrome) = hop.syndrome else { continue };
        if syndrome != before {
            expected.push((after, hop.channel, syndrome ^ before));
        }
        (before, after) = (syndrome, Some(hop.channel));
    }
    let found: Vec<_> = journey
        .injuries
        .iter()
        .filter(|injury| matches!(injury.harm, Harm::Flipped(_)))
        .map(|injury| (injury.after, injury.seen, injury.syndrome))
        .collect();
    let right = found.iter().filter(|injury| expected.contains(injury)).count();
    add(&mut worth.injuries, [expected.len(), found.len(), right].map(|number| number as u64));
}

const fn add(count: &mut Count, [in_truth, found, right]: [u64; 3]) {
    count.in_truth += in_truth;
    count.found += found;
    count.right += right;
}

fn odd(name: &str, packet: &Packet) -> String {
    let place = |channel: ChannelId, start: u64| format!("{channel}@{start}");
    let way: Vec<_> = packet.hops.iter().map(|hop| place(hop.channel, hop.start)).collect();
    let journey = |journey: &Journey| {
        let hops = journey.hops.iter().map(|hop| place(hop.channel, hop.start.0));
        hops.collect::<Vec<_>>().join(" ")
    };
    let found: Vec<_> = packet.found.iter().map(journey).collect();
    format!("{name} went {}, found {}", way.join(" "), found.join(" and "))
}
