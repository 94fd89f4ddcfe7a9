//! Conversations of the reliability protocol, reconstructed from captured packets. T-1..T-13
//!
//! Each packet arrives once, as a journey. Packets are sorted by the time of their first capture,
//! near their senders, and assigned to the conversation of their NICs and logical channel. The
//! memory of a conversation does not grow with its length.

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
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::ChannelId;

use self::conversation_state::ConversationState;
pub use self::from_journey::MalformedPacket;
pub(crate) use self::from_journey::fate;
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
use crate::named_enum::named_enum;
use crate::time_queue::TimeQueue;

/// Maximum number of open conversations. *Chosen*: a hundred NICs, each of which exchanges data
/// with every other on all 8 logical channels, have 79 200.
const OPEN_MAX: usize = 1 << 17;

/// A finished conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Number of the conversation in order of first capture, from 0.
    pub number: u64,
    /// The two NICs and the logical channel.
    pub key: ConversationKey,
    /// First captured packet.
    pub first: ObservedPlace,
    /// Time of the last capture of its packets.
    pub last: Picoseconds,
    /// Totals.
    pub sums: ConversationTotals,
    /// One letter per packet or event.
    pub history: MessageHistory,
    /// Reason for the end of tracking.
    pub ended: ConversationEnd,
}

named_enum! {
    /// Reason for the end of a conversation's tracking.
    pub enum ConversationEnd {
        /// The capture ended.
        CaptureEnd = "capture-end",
        /// Too many conversations were open and this one was silent longest. Later packets start a new
        /// conversation.
        Evicted = "evicted",
    }
}

/// Event of the reliability protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportEvent {
    /// Observation about a packet or a message.
    Noticed(Observation),
    /// A packet with the protocol's packet type that cannot be parsed.
    Malformed(MalformedPacket),
    /// End of a conversation.
    Conversation(Box<Conversation>),
}

impl TransportEvent {
    /// First place at which its packet, or a packet of it, was seen.
    pub const fn place(&self) -> ObservedPlace {
        match self {
            Self::Noticed(it) => it.place,
            Self::Malformed(it) => it.place,
            Self::Conversation(it) => it.first,
        }
    }
}

/// Tracker of all conversations of a capture.
#[derive(Debug, Default)]
pub struct ConversationTracker {
    waiting: TimeQueue<PendingItem>,
    talks: BTreeMap<ConversationKey, ConversationState>,
    /// Open conversations by the time of their last packet, for eviction.
    quiet: BTreeSet<(Picoseconds, ConversationKey)>,
    scene: Visibility,
    /// Links of the channels whose opposite channel was captured too.
    links: BTreeMap<ChannelId, LinkKey>,
    begun: u64,
}

/// A packet or a hole, held until all earlier ones have arrived.
#[derive(Debug)]
enum PendingItem {
    Packet(Box<ObservedPacket>),
    Malformed(MalformedPacket),
    Hole,
}

impl ConversationTracker {
    /// Pairs two channels as the directions of one link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        let link = LinkKey(one.min(other));
        self.links.extend([(one, link), (other, link)]);
    }

    /// Adds the packet of a journey, if it has the protocol's packet type.
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

    /// Adds a packet whose journey has ended.
    pub fn packet(&mut self, seen: ObservedPacket, out: &mut impl FnMut(TransportEvent)) {
        self.wait(seen.place.time, PendingItem::Packet(Box::new(seen)), out);
    }

    /// Marks the capture up to `time` as incomplete: uncaptured packets may have existed.
    pub fn hole(&mut self, time: Picoseconds, out: &mut impl FnMut(TransportEvent)) {
        self.wait(time, PendingItem::Hole, out);
    }

    /// True if any packet or hole is held for earlier ones.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Processes all items before `until`: no packet captured earlier will be added.
    pub fn pass(&mut self, until: Picoseconds, out: &mut impl FnMut(TransportEvent)) {
        while let Some((time, item)) = self.waiting.pop_before(until) {
            self.process(time, item, out);
        }
    }

    /// Processes all held items and ends all conversations.
    pub fn finish(&mut self, out: &mut impl FnMut(TransportEvent)) {
        while let Some((time, item)) = self.waiting.pop() {
            self.process(time, item, out);
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
        if let Some((time, item)) = self.waiting.push(time, item) {
            self.process(time, item, out);
        }
    }

    fn process(
        &mut self,
        time: Picoseconds,
        item: PendingItem,
        out: &mut impl FnMut(TransportEvent),
    ) {
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
            // A corrupted header may name NICs that do not exist.
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

    /// Ends the conversation that was silent longest, if [`OPEN_MAX`] are open.
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
