//! What the wire shows of the reliability protocol: conversations, and what is odd in them. T-1..T-13
//!
//! Packets come as journeys, each once; they are put in order of the time at which they were first seen,
//! that is near their senders, and each goes to the conversation of its NICs and logical channel. What is
//! known of one conversation does not grow with its length.

mod history;
mod journey;
mod message;
mod noticed;
mod row;
mod scene;
mod seen;
mod sums;
mod talk;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use codec::capture::ChannelId;

pub use self::history::History;
pub use self::journey::Malformed;
use self::journey::{Heard, heard};
pub use self::noticed::{Broken, Cause, Gone, Label, Noticed, Remark, Storm};
pub use self::row::{ConversationRow, Counted, MalformedRow, NoticedRow, TripsRow};
use self::scene::Scene;
pub use self::seen::{Data, Fate, Key, Link, Place, Reading, Seen, What};
pub use self::sums::{CLASSES, Sums, Trips};
use self::talk::Talk;
use crate::path::Journey;
use crate::timeline::Time;

/// Conversations that are open at a time. *Chosen*: a hundred NICs, each of which talks to each other one
/// on all of 8 logical channels, have 79 200.
const OPEN_MAX: usize = 1 << 17;

/// Packets that wait for others that were first seen before them. *Chosen*: more than are on their way at a
/// time, out of sight or not.
const WAITING_MAX: usize = 1 << 16;

/// A conversation that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Counts from 0, in the order in which they were first seen.
    pub number: u64,
    /// Between whom, on which logical channel.
    pub key: Key,
    /// Its first packet.
    pub first: Place,
    /// When the last of its packets was last seen.
    pub last: Time,
    /// What is added up.
    pub sums: Sums,
    /// What happened.
    pub history: History,
    /// Why it is told.
    pub ended: Ended,
}

/// Why a conversation is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The capture is over.
    CaptureEnd,
    /// Others took its place: more were open than are kept. Should it go on, it is told as another.
    Evicted,
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// Of a packet or a message.
    Noticed(Noticed),
    /// A packet only looks like one of the protocol.
    Malformed(Malformed),
    /// A conversation is over.
    Conversation(Box<Conversation>),
}

/// All conversations.
#[derive(Debug, Default)]
pub struct Conversations {
    waiting: BinaryHeap<Reverse<Waiting>>,
    talks: BTreeMap<Key, Talk>,
    /// The same by when they were last heard of.
    quiet: BTreeSet<(Time, Key)>,
    scene: Scene,
    /// The links of channels, where both were captured.
    links: BTreeMap<ChannelId, Link>,
    fed: u64,
    begun: u64,
}

/// What waits for its turn.
#[derive(Debug)]
struct Waiting {
    time: Time,
    number: u64,
    item: Item,
}

#[derive(Debug)]
enum Item {
    Packet(Box<Seen>),
    Malformed(Malformed),
    /// Characters were not recorded.
    Hole,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl Conversations {
    /// Makes two channels the directions of one link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        let link = Link(one.min(other));
        self.links.extend([(one, link), (other, link)]);
    }

    /// Takes a journey, if it is of a packet of the protocol's type.
    pub fn journey(&mut self, journey: &Journey, out: &mut impl FnMut(Spoken)) {
        let link = |channel| self.links.get(&channel).copied().unwrap_or(Link(channel));
        match heard(journey, link) {
            None => {}
            Some(Heard::Packet(seen)) => self.packet(*seen, out),
            Some(Heard::Malformed(it)) => self.wait(it.place.time, Item::Malformed(it), out),
        }
    }

    /// Takes a packet, whose journey has ended.
    pub fn packet(&mut self, seen: Seen, out: &mut impl FnMut(Spoken)) {
        self.wait(seen.place.time, Item::Packet(Box::new(seen)), out);
    }

    /// Up to this moment something was not recorded: what was not seen may have been there.
    pub fn hole(&mut self, time: Time, out: &mut impl FnMut(Spoken)) {
        self.wait(time, Item::Hole, out);
    }

    /// Whether anything waits for its turn.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Nothing will come any more that was first seen before a time.
    pub fn pass(&mut self, until: Time, out: &mut impl FnMut(Spoken)) {
        while self.waiting.peek().is_some_and(|Reverse(next)| next.time < until) {
            self.next(out);
        }
    }

    /// Nothing will come any more.
    pub fn finish(&mut self, out: &mut impl FnMut(Spoken)) {
        while !self.waiting.is_empty() {
            self.next(out);
        }
        let talks = std::mem::take(&mut self.talks);
        self.quiet.clear();
        let mut talks: Vec<Talk> = talks.into_values().collect();
        talks.sort_by_key(|talk| talk.number);
        for talk in talks {
            self.end(talk, Ended::CaptureEnd, out);
        }
    }

    fn wait(&mut self, time: Time, item: Item, out: &mut impl FnMut(Spoken)) {
        let number = self.fed;
        self.fed += 1;
        self.waiting.push(Reverse(Waiting { time, number, item }));
        if self.waiting.len() > WAITING_MAX {
            self.next(out);
        }
    }

    fn next(&mut self, out: &mut impl FnMut(Spoken)) {
        let Some(Reverse(Waiting { time, item, .. })) = self.waiting.pop() else { return };
        match item {
            Item::Hole => self.scene.doubt(time),
            Item::Packet(seen) => self.step(&seen, out),
            Item::Malformed(malformed) => out(Spoken::Malformed(malformed)),
        }
    }

    fn step(&mut self, seen: &Seen, out: &mut impl FnMut(Spoken)) {
        self.scene.learn(seen);
        let key = seen.key();
        if !self.talks.contains_key(&key) {
            // What is hurt may name NICs that never were.
            if seen.reading == Reading::Doubtful {
                return;
            }
            self.make_room(out);
            self.talks.insert(key, Talk::new(self.begun, seen));
            self.begun += 1;
        }
        let Self { talks, scene, quiet, .. } = self;
        let Some(talk) = talks.get_mut(&key) else { return };
        quiet.remove(&(talk.last, key));
        talk.step(seen, scene, &mut |noticed| out(Spoken::Noticed(noticed)));
        quiet.insert((talk.last, key));
    }

    /// Ends the conversation that was silent for the longest time, if there are too many.
    fn make_room(&mut self, out: &mut impl FnMut(Spoken)) {
        if self.talks.len() < OPEN_MAX {
            return;
        }
        let Some((_, key)) = self.quiet.pop_first() else { return };
        if let Some(talk) = self.talks.remove(&key) {
            self.end(talk, Ended::Evicted, out);
        }
    }

    fn end(&self, mut talk: Talk, ended: Ended, out: &mut impl FnMut(Spoken)) {
        talk.finish(&self.scene, &mut |noticed| out(Spoken::Noticed(noticed)));
        let Talk { number, key, first, last, sums, history, .. } = talk;
        let told = Conversation { number, key, first, last, sums, history, ended };
        out(Spoken::Conversation(Box::new(told)));
    }
}

impl Ended {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CaptureEnd => "capture-end",
            Self::Evicted => "evicted",
        }
    }
}
