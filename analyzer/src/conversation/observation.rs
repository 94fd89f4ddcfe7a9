//! Observations in conversations: packets, causes of retransmissions, violations.

use crate::event::Picoseconds;
use codec::transport::NackReason;

use super::transport_packet::{
    ConversationKey, DataContent, ObservedLabel, ObservedPlace, TransportFate,
};
use crate::named_enum::named_enum;

/// An observation about a packet or a message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Place of the packet.
    pub place: ObservedPlace,
    /// Time of the first packet that it rests on.
    pub since: Picoseconds,
    /// The conversation.
    pub key: ConversationKey,
    /// Number of the message in the conversation, from 0; none if unknown.
    pub message: Option<u64>,
    /// Identifying fields of the packet's header.
    pub label: ObservedLabel,
    /// Fate of the packet.
    pub fate: TransportFate,
    /// Kind of the observation.
    pub observed: ObservationKind,
}

/// Kind of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationKind {
    /// First captured transmission of a message.
    Data(DataContent),
    /// Retransmission of a message, with its cause.
    Resent(DataContent, ResendCause),
    /// Duplicate: the receiver had already written the message and discards this packet. T-5
    Duplicate,
    /// ACK; with the round trip, if it is known. T-5
    Ack(Option<Picoseconds>),
    /// NACK, with its reason. T-6
    Nack(NackReason),
    /// Answer to a transmission that is not the latest. T-8
    Late,
    /// Packet of an old incarnation or of a finished message. T-12
    Stale,
    /// End of a message without an ACK.
    Gone(Abandonment),
    /// Too many retransmissions or NACKs of one message. T-10
    Storm(StormKind),
    /// Violation of the protocol.
    Broken(Violation),
}

named_enum! {
    /// Cause of a retransmission: the fate of the previous transmission. T-10
    pub enum ResendCause {
        /// The data packet was lost.
        LostData = "lost-data",
        /// The ACK was lost.
        LostAck = "lost-ack",
        /// The data packet or its answer was corrupted. T-7
        Corrupt = "corrupt",
        /// The receiver sent a NACK. T-6
        Nack = "nack",
        /// An answer was in transit.
        TooEarly = "too-early",
        /// An answer was in transit, but the timestamps left enough time for it: one of the two
        /// transmissions waited in its NIC.
        Delayed = "delayed",
        /// The ACK had arrived.
        AfterAck = "after-ack",
        /// The data packet arrived and no answer was captured.
        Unanswered = "unanswered",
        /// The cause was not captured.
        Unknown = "unknown",
    }
}

named_enum! {
    /// End of a message without an ACK.
    pub enum Abandonment {
        /// Refused by a final NACK and returned to its sender. T-6
        Refused = "refused",
        /// Without an answer before a new incarnation: the message was returned or the sender
        /// restarted. T-11
        Unanswered = "unanswered",
        /// Refused by a NACK before a new incarnation: the message was returned or removed with its
        /// endpoint. T-13
        Withdrawn = "withdrawn",
        /// Retransmitted in a new incarnation, since the receiver had no state of the logical channel.
        /// T-12
        Reopened = "reopened",
        /// Followed by another message, with an uncaptured end: acknowledged or returned.
        Unseen = "unseen",
        /// The capture ended first.
        Open = "open",
    }
}

/// Kind of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StormKind {
    /// Retransmissions without an answer. T-10
    Resent,
    /// NACKs. T-6
    Nacks,
}

named_enum! {
    /// Violation of the protocol.
    pub enum Violation {
        /// A message follows an unacknowledged one. T-2
        TwoOutstanding = "two-outstanding",
        /// A new message has the sequence number of the acknowledged message before it. T-4
        Unflipped = "sequence-not-flipped",
        /// Another message has the sequence number of an unacknowledged one. T-4
        Altered = "message-altered",
        /// An ACK of a corrupted data packet. T-5, T-7
        AckOfLost = "ack-of-lost",
        /// A NACK of a message that was already acknowledged. T-5
        NackAfterAck = "nack-after-ack",
        /// An answer to a transmission that does not exist. T-8
        Unasked = "answer-unasked",
        /// A retransmission long after the ACK arrived. T-10
        AfterAck = "resent-after-ack",
        /// A new incarnation without SYNC. T-11
        SyncMissing = "sync-missing",
        /// SYNC on a message that is not the first of its incarnation. T-12
        SyncAgain = "sync-again",
        /// An older incarnation after a newer one, on the same link. T-12
        Backwards = "incarnation-backwards",
    }
}

impl ObservationKind {
    /// The name in `docs/output.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data(_) => "data",
            Self::Resent(..) => "retransmission",
            Self::Duplicate => "duplicate",
            Self::Ack(_) => "ack",
            Self::Nack(_) => "nack",
            Self::Late => "late",
            Self::Stale => "stale",
            Self::Gone(_) => "gone",
            Self::Storm(StormKind::Resent) => "retransmission-storm",
            Self::Storm(StormKind::Nacks) => "nack-storm",
            Self::Broken(broken) => broken.name(),
        }
    }
}
