//! Conversations of the reliability protocol, as far as captured packets show them. T-1..T-13
//!
//! Packets come as journeys, each once; they are put in order of the time at which they were first seen,
//! that is near their senders, and each goes to the conversation of its NICs and logical channel. What is
//! known of one conversation does not grow with its length.

mod conversation_state;
mod from_journey;
mod history;
mod message;
mod observation;
mod row;
#[cfg(test)]
mod tests;
mod totals;
mod transport_packet;
mod visibility;

use crate::event::Picoseconds;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use codec::capture::ChannelId;

use self::conversation_state::ConversationState;
pub use self::from_journey::MalformedPacket;
use self::from_journey::{JourneyPacket, packet_of};
pub use self::history::MessageHistory;
pub use self::observation::{
    Abandonment, Observation, ObservationKind, ResendCause, StormKind, Violation,
};
pub use self::row::{ConversationRow, MalformedRow, NamedCounts, ObservationRow, RoundTripRow};
pub use self::totals::{CLASSES, ConversationTotals, RoundTrips};
pub use self::transport_packet::{
    ConversationKey, DataContent, HeaderTrust, LinkKey, ObservedLabel, ObservedPacket,
    ObservedPlace, PacketContent, TransportFate,
};
use self::visibility::Visibility;
use crate::journey::Journey;

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
    pub key: ConversationKey,
    /// Its first packet.
    pub first: ObservedPlace,
    /// Time at which the last of its packets was last seen.
    pub last: Picoseconds,
    /// Totals.
    pub sums: ConversationTotals,
    /// The events.
    pub history: MessageHistory,
    /// Reason for its report.
    pub ended: ConversationEnd,
}

/// Reason for the report of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationEnd {
    /// The capture is over.
    CaptureEnd,
    /// Others took its place: more were open than are kept. Should it go on, it is told as another.
    Evicted,
}

/// Event of the reliability protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportEvent {
    /// Observation about a packet or a message.
    Noticed(Observation),
    /// A packet only looks like one of the protocol.
    Malformed(MalformedPacket),
    /// A conversation is over.
    Conversation(Box<Conversation>),
}

/// All conversations.
#[derive(Debug, Default)]
pub struct ConversationTracker {
    waiting: BinaryHeap<Reverse<PendingPacket>>,
    talks: BTreeMap<ConversationKey, ConversationState>,
    /// The same by when they were last heard of.
    quiet: BTreeSet<(Picoseconds, ConversationKey)>,
    scene: Visibility,
    /// The links of channels, where both were captured.
    links: BTreeMap<ChannelId, LinkKey>,
    fed: u64,
    begun: u64,
}

/// A packet or a hole until all earlier ones have come.
#[derive(Debug)]
struct PendingPacket {
    time: Picoseconds,
    number: u64,
    item: PendingItem,
}

#[derive(Debug)]
enum PendingItem {
    Packet(Box<ObservedPacket>),
    Malformed(MalformedPacket),
    /// Characters were not recorded.
    Hole,
}

impl PartialEq for PendingPacket {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PendingPacket {}

impl PartialOrd for PendingPacket {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PendingPacket {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl ConversationTracker {
    /// Makes two channels the directions of one link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        let link = LinkKey(one.min(other));
        self.links.extend([(one, link), (other, link)]);
    }

    /// Takes a journey, if it is of a packet of the protocol's type.
    pub fn journey(&mut self, journey: &Journey, out: &mut impl FnMut(TransportEvent)) {
        let link = |channel| self.links.get(&channel).copied().unwrap_or(LinkKey(channel));
        match packet_of(journey, link) {
            None => {}
            Some(JourneyPacket::Packet(seen)) => self.packet(*seen, out),
            Some(JourneyPacket::Malformed(it)) => {
                self.wait(it.place.time, PendingItem::Malformed(it), out);
            }
        }
    }

    /// Takes a packet, whose journey has ended.
    pub fn packet(&mut self, seen: ObservedPacket, out: &mut impl FnMut(TransportEvent)) {
        self.wait(seen.place.time, PendingItem::Packet(Box::new(seen)), out);
    }

    /// Up to this moment something was not recorded: what was not seen may have been there.
    pub fn hole(&mut self, time: Picoseconds, out: &mut impl FnMut(TransportEvent)) {
        self.wait(time, PendingItem::Hole, out);
    }

    /// True if anything waits for its turn.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Nothing will come any more that was first seen before a time.
    pub fn pass(&mut self, until: Picoseconds, out: &mut impl FnMut(TransportEvent)) {
        while self.waiting.peek().is_some_and(|Reverse(next)| next.time < until) {
            self.next(out);
        }
    }

    /// Nothing will come any more.
    pub fn finish(&mut self, out: &mut impl FnMut(TransportEvent)) {
        while !self.waiting.is_empty() {
            self.next(out);
        }
        let talks = std::mem::take(&mut self.talks);
        self.quiet.clear();
        let mut talks: Vec<ConversationState> = talks.into_values().collect();
        talks.sort_by_key(|talk| talk.number);
        for talk in talks {
            self.end(talk, ConversationEnd::CaptureEnd, out);
        }
    }

    fn wait(&mut self, time: Picoseconds, item: PendingItem, out: &mut impl FnMut(TransportEvent)) {
        let number = self.fed;
        self.fed += 1;
        self.waiting.push(Reverse(PendingPacket { time, number, item }));
        if self.waiting.len() > WAITING_MAX {
            self.next(out);
        }
    }

    fn next(&mut self, out: &mut impl FnMut(TransportEvent)) {
        let Some(Reverse(PendingPacket { time, item, .. })) = self.waiting.pop() else { return };
        match item {
            PendingItem::Hole => self.scene.add_hole(time),
            PendingItem::Packet(seen) => self.step(&seen, out),
            PendingItem::Malformed(malformed) => out(TransportEvent::Malformed(malformed)),
        }
    }

    fn step(&mut self, seen: &ObservedPacket, out: &mut impl FnMut(TransportEvent)) {
        self.scene.add_packet(seen);
        let key = seen.key();
        if !self.talks.contains_key(&key) {
            // What is hurt may name NICs that never were.
            if seen.reading == HeaderTrust::Doubtful {
                return;
            }
            self.make_room(out);
            self.talks.insert(key, ConversationState::new(self.begun, seen));
            self.begun += 1;
        }
        let Self { talks, scene, quiet, .. } = self;
        let Some(talk) = talks.get_mut(&key) else { return };
        quiet.remove(&(talk.last, key));
        talk.step(seen, scene, &mut |noticed| out(TransportEvent::Noticed(noticed)));
        quiet.insert((talk.last, key));
    }

    /// Ends the conversation that was silent for the longest time, if there are too many.
    fn make_room(&mut self, out: &mut impl FnMut(TransportEvent)) {
        if self.talks.len() < OPEN_MAX {
            return;
        }
        let Some((_, key)) = self.quiet.pop_first() else { return };
        if let Some(talk) = self.talks.remove(&key) {
            self.end(talk, ConversationEnd::Evicted, out);
        }
    }

    fn end(
        &self,
        mut talk: ConversationState,
        ended: ConversationEnd,
        out: &mut impl FnMut(TransportEvent),
    ) {
        talk.finish(&self.scene, &mut |noticed| out(TransportEvent::Noticed(noticed)));
        let ConversationState { number, key, first, last, sums, history, .. } = talk;
        let told = Conversation { number, key, first, last, sums, history, ended };
        out(TransportEvent::Conversation(Box::new(told)));
    }
}

impl ConversationEnd {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CaptureEnd => "capture-end",
            Self::Evicted => "evicted",
        }
    }
}
