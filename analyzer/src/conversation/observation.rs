//! Observations in conversations: packets, causes of retransmissions, violations.

use crate::event::Picoseconds;
use codec::transport::NackReason;

use super::transport_packet::{
    ConversationKey, DataContent, ObservedLabel, ObservedPlace, TransportFate,
};

/// An observation about a packet or a message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Place of the packet.
    pub place: ObservedPlace,
    /// The conversation.
    pub key: ConversationKey,
    /// Number of the message in the conversation, from 0; none if unknown.
    pub message: Option<u64>,
    /// Identifying fields of the packet's header.
    pub label: ObservedLabel,
    /// Fate of the packet.
    pub fate: TransportFate,
    /// Kind of the observation.
    pub remark: ObservationKind,
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

/// Cause of a retransmission: the fate of the previous transmission. T-10
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResendCause {
    /// The data packet was lost.
    LostData,
    /// The ACK was lost.
    LostAck,
    /// The data packet or its answer was corrupted. T-7
    Corrupt,
    /// The receiver sent a NACK. T-6
    Nack,
    /// An answer was in transit.
    TooEarly,
    /// An answer was in transit, but the timestamps left enough time for it: one of the two
    /// transmissions waited in its NIC.
    Delayed,
    /// The ACK had arrived.
    AfterAck,
    /// The data packet arrived and no answer was captured.
    Unanswered,
    /// The cause was not captured.
    Unknown,
}

/// End of a message without an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Abandonment {
    /// Refused by a final NACK and returned to its sender. T-6
    Refused,
    /// Without an answer before a new incarnation: the message was returned or the sender
    /// restarted. T-11
    Unanswered,
    /// Refused by a NACK before a new incarnation: the message was returned or removed with its
    /// endpoint. T-13
    Withdrawn,
    /// Retransmitted in a new incarnation, since the receiver had no state of the logical channel.
    /// T-12
    Reopened,
    /// Followed by another message, with an uncaptured end: acknowledged or returned.
    Unseen,
    /// The capture ended first.
    Open,
}

/// Kind of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StormKind {
    /// Retransmissions without an answer. T-10
    Resent,
    /// NACKs. T-6
    Nacks,
}

/// Violation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// A message follows an unacknowledged one. T-2
    TwoOutstanding,
    /// A new message has the sequence number of the acknowledged message before it. T-4
    Unflipped,
    /// Another message has the sequence number of an unacknowledged one. T-4
    Altered,
    /// An ACK of a corrupted data packet. T-5, T-7
    AckOfLost,
    /// A NACK of a message that was already acknowledged. T-5
    NackAfterAck,
    /// An answer to a transmission that does not exist. T-8
    Unasked,
    /// A retransmission long after the ACK arrived. T-10
    AfterAck,
    /// A new incarnation without SYNC. T-11
    SyncMissing,
    /// SYNC on a message that is not the first of its incarnation. T-12
    SyncAgain,
    /// An older incarnation after a newer one, on the same link. T-12
    Backwards,
}

impl ResendCause {
    /// All variants.
    pub const ALL: [Self; 9] = [
        Self::LostData,
        Self::LostAck,
        Self::Corrupt,
        Self::Nack,
        Self::TooEarly,
        Self::Delayed,
        Self::AfterAck,
        Self::Unanswered,
        Self::Unknown,
    ];

    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LostData => "lost-data",
            Self::LostAck => "lost-ack",
            Self::Corrupt => "corrupt",
            Self::Nack => "nack",
            Self::TooEarly => "too-early",
            Self::Delayed => "delayed",
            Self::AfterAck => "after-ack",
            Self::Unanswered => "unanswered",
            Self::Unknown => "unknown",
        }
    }
}

impl Abandonment {
    /// All variants.
    pub const ALL: [Self; 6] = [
        Self::Refused,
        Self::Unanswered,
        Self::Withdrawn,
        Self::Reopened,
        Self::Unseen,
        Self::Open,
    ];

    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Unanswered => "unanswered",
            Self::Withdrawn => "withdrawn",
            Self::Reopened => "reopened",
            Self::Unseen => "unseen",
            Self::Open => "open",
        }
    }
}

impl Violation {
    /// All variants.
    pub const ALL: [Self; 10] = [
        Self::TwoOutstanding,
        Self::Unflipped,
        Self::Altered,
        Self::AckOfLost,
        Self::NackAfterAck,
        Self::Unasked,
        Self::AfterAck,
        Self::SyncMissing,
        Self::SyncAgain,
        Self::Backwards,
    ];

    /// The name in `docs/output.md`, which is that of the finding.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoOutstanding => "two-outstanding",
            Self::Unflipped => "sequence-not-flipped",
            Self::Altered => "message-altered",
            Self::AckOfLost => "ack-of-lost",
            Self::NackAfterAck => "nack-after-ack",
            Self::Unasked => "answer-unasked",
            Self::AfterAck => "resent-after-ack",
            Self::SyncMissing => "sync-missing",
            Self::SyncAgain => "sync-again",
            Self::Backwards => "incarnation-backwards",
        }
    }
}

impl ObservationKind {
    /// The name in `docs/output.md`.
    #[must_use]
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
