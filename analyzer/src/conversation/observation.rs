//! Observations in conversations: packets, causes of retransmissions, violations.

use crate::event::Picoseconds;
use codec::transport::NackReason;

use super::transport_packet::{
    ConversationKey, DataContent, ObservedLabel, ObservedPlace, TransportFate,
};

/// Something noticed about a packet or a message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// At which packet.
    pub place: ObservedPlace,
    /// The conversation.
    pub key: ConversationKey,
    /// Number of the message in the conversation, from 0; none if unknown.
    pub message: Option<u64>,
    /// Field of the packet's header.
    pub label: ObservedLabel,
    /// Fate of the packet.
    pub fate: TransportFate,
    /// Its kind.
    pub remark: ObservationKind,
}

/// Kind of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationKind {
    /// A message is sent, for the first time as far as is known.
    Data(DataContent),
    /// It is sent again.
    Resent(DataContent, ResendCause),
    /// The receiver had written it before: this one is not written. T-5
    Duplicate,
    /// It is acknowledged; so long after that transmission. T-5
    Ack(Option<Picoseconds>),
    /// It is not taken. T-6
    Nack(NackReason),
    /// An answer to an older transmission than the latest. T-8
    Late,
    /// A packet of an incarnation that is no more, or a number that is over. T-12
    Stale,
    /// A message will not be acknowledged any more.
    Gone(Abandonment),
    /// A message was sent so often that something is in the way. T-10
    Storm(StormKind),
    /// Violations of the protocol.
    Broken(Violation),
}

/// Reason why a message was sent again: what became of the transmission before. T-10
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResendCause {
    /// It was lost.
    LostData,
    /// It was acknowledged, and the ACK was lost.
    LostAck,
    /// It, or the answer to it, was hurt. T-7
    Corrupt,
    /// It was not taken. T-6
    Nack,
    /// An answer was on its way.
    TooEarly,
    /// It was too, but only since one of the two waited in its NIC: by the sender's clock there was time
    /// enough for the answer.
    Delayed,
    /// Its ACK had arrived.
    AfterAck,
    /// It arrived, and no answer was seen.
    Unanswered,
    /// The fate was not captured.
    Unknown,
}

/// The end of a message that was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Abandonment {
    /// A final NACK: it goes back to its sender. T-6
    Refused,
    /// There was no answer, and the logical channel was opened anew: it went back to its sender, or
    /// the sender was started anew. T-11
    Unanswered,
    /// It was not taken, and the logical channel was opened anew: it went back, or was taken away with
    /// its endpoint. T-13
    Withdrawn,
    /// The receiver knew nothing of the logical channel, and the message was sent again on a new
    /// incarnation. T-12
    Reopened,
    /// Another message followed, and what had become of this one was out of sight: it was acknowledged, or
    /// went back.
    Unseen,
    /// The capture ended.
    Open,
}

/// Kind of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StormKind {
    /// Retransmissions. T-10
    Resent,
    /// NACKs. T-6
    Nacks,
}

/// Violations of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// A message follows one that is not acknowledged. T-2
    TwoOutstanding,
    /// A new message has the number of the one before it, which was acknowledged. T-4
    Unflipped,
    /// Another message has the number of one that is not acknowledged. T-4
    Altered,
    /// An ACK for what was hurt on its way. T-5, T-7
    AckOfLost,
    /// A NACK for a message that was acknowledged before. T-5
    NackAfterAck,
    /// An answer to what was not sent. T-8
    Unasked,
    /// A message is sent again long after its ACK arrived. T-10
    AfterAck,
    /// A new incarnation without SYNC. T-11
    SyncMissing,
    /// SYNC on a message that is not the first of its incarnation. T-12
    SyncAgain,
    /// An older incarnation behind a newer one, on the same link. T-12
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

    /// The name in `docs/output.md`: that of the finding.
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
