//! Conversations of the reliability protocol, reconstructed from captured packets. T-1..T-13
//!
//! Each packet arrives once, as a journey. Packets come in order of the time of their first capture,
//! near their senders, and are assigned to the conversation of their NICs and logical channel. The
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

use self::conversation_state::ConversationState;
pub use self::from_journey::MalformedPacket;
pub(crate) use self::from_journey::{TransportItem, fate};
pub use self::history::MessageHistory;
pub use self::observation::{
    Abandonment, Observation, ObservationKind, ResendCause, StormKind, Violation,
};
pub use self::row::{ConversationRow, MalformedRow, ObservationRow, RoundTripRow};
pub use self::totals::{CLASSES, ConversationTotals, RoundTrips};
pub use self::transport_packet::{
    ConversationKey, DataContent, HeaderTrust, ObservedLabel, ObservedPacket, ObservedPlace,
    PacketContent, TransportFate,
};
use self::visibility::Visibility;
use crate::named_enum::named_enum;

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
    Observed(Observation),
    /// A packet with the protocol's packet type that cannot be parsed.
    Malformed(MalformedPacket),
    /// End of a conversation.
    Conversation(Box<Conversation>),
}

impl TransportEvent {
    /// First place at which its packet, or a packet of it, was seen.
    pub const fn place(&self) -> ObservedPlace {
        match self {
            Self::Observed(it) => it.place,
            Self::Malformed(it) => it.place,
            Self::Conversation(it) => it.first,
        }
    }
}

/// Tracker of all conversations of a capture.
#[derive(Debug, Default)]
pub struct ConversationTracker {
    talks: BTreeMap<ConversationKey, ConversationState>,
    /// Open conversations by the time of their last packet, for eviction.
    quiet: BTreeSet<(Picoseconds, ConversationKey)>,
    scene: Visibility,
    begun: u64,
}

impl ConversationTracker {
    /// Processes a packet or a hole; they come in order of time.
    pub(crate) fn process(
        &mut self,
        time: Picoseconds,
        item: TransportItem,
        out: &mut impl FnMut(TransportEvent),
    ) {
        match item {
            TransportItem::Hole => self.scene.add_hole(time),
            TransportItem::Packet(seen) => self.step(&seen, out),
            TransportItem::Malformed(malformed) => out(TransportEvent::Malformed(malformed)),
        }
    }

    /// Ends all conversations.
    pub fn finish(&mut self, out: &mut impl FnMut(TransportEvent)) {
        let talks = std::mem::take(&mut self.talks);
        self.quiet.clear();
        let mut talks: Vec<ConversationState> = talks.into_values().collect();
        talks.sort_by_key(|talk| talk.number);
        for talk in talks {
            self.end(talk, ConversationEnd::CaptureEnd, out);
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
        talk.step(seen, scene, &mut |observation| out(TransportEvent::Observed(observation)));
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
        talk.finish(&self.scene, &mut |observation| out(TransportEvent::Observed(observation)));
        let ConversationState { number, key, first, last, sums, history, .. } = talk;
        let told = Conversation { number, key, first, last, sums, history, ended };
        out(TransportEvent::Conversation(Box::new(told)));
    }
}
