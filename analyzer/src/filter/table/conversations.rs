//! Fields of conversations and of their observations, in the order of their JSON.

use super::{CAPTURE, CHANNEL, U32, U64};
use codec::transport::{MessageForm, MessageRole, NackReason};

use crate::conversation::{Abandonment, ConversationEnd, ResendCause, TransportFate, Violation};
use crate::filter::field::FieldShape::{Flag, Number, Place, Text, Time, Words};
use crate::filter::field::RowField;

const U16: u64 = u16::MAX as u64;
const BYTE: u64 = u8::MAX as u64;

const CAUSE: &[&str] = &[
    ResendCause::LostData.name(),
    ResendCause::LostAck.name(),
    ResendCause::Corrupt.name(),
    ResendCause::Nack.name(),
    ResendCause::TooEarly.name(),
    ResendCause::Delayed.name(),
    ResendCause::AfterAck.name(),
    ResendCause::Unanswered.name(),
    ResendCause::Unknown.name(),
];

const REASON: &[&str] = &[
    NackReason::ALL[0].name(),
    NackReason::ALL[1].name(),
    NackReason::ALL[2].name(),
    NackReason::ALL[3].name(),
    NackReason::ALL[4].name(),
    NackReason::ALL[5].name(),
];

const GONE: &[&str] = &[
    Abandonment::Refused.name(),
    Abandonment::Unanswered.name(),
    Abandonment::Withdrawn.name(),
    Abandonment::Reopened.name(),
    Abandonment::Unseen.name(),
    Abandonment::Open.name(),
];

const FATE: &[&str] = &[
    TransportFate::Arrived.name(),
    TransportFate::Hurt.name(),
    TransportFate::Lost.name(),
    TransportFate::OutOfSight.name(),
    TransportFate::UnderWay.name(),
];

const KIND: &[&str] = &[
    MessageForm::Short.name(),
    MessageForm::Medium.name(),
    MessageForm::Bulk { offset: 0, total: 0 }.name(),
];

const ROLE: &[&str] = &[MessageRole::Request.name(), MessageRole::Reply.name()];

const ENDED: &[&str] = &[ConversationEnd::CaptureEnd.name(), ConversationEnd::Evicted.name()];

const EVENT: &[&str] = &[
    "data",
    "retransmission",
    "duplicate",
    "ack",
    "nack",
    "late",
    "stale",
    "gone",
    "retransmission-storm",
    "nack-storm",
    Violation::TwoOutstanding.name(),
    Violation::Unflipped.name(),
    Violation::Altered.name(),
    Violation::AckOfLost.name(),
    Violation::NackAfterAck.name(),
    Violation::Unasked.name(),
    Violation::AfterAck.name(),
    Violation::SyncMissing.name(),
    Violation::SyncAgain.name(),
    Violation::Backwards.name(),
    "malformed",
];

const SOURCE: RowField =
    RowField::new("source", Number(U16), "", "T-2", "the NIC that sends the data");
const DESTINATION: RowField =
    RowField::new("destination", Number(U16), "", "T-2", "the NIC that answers");
const LOGICAL: RowField =
    RowField::new("logical_channel", Number(BYTE), "", "T-2", "the logical channel between them");

#[rustfmt::skip]
pub(in crate::filter) const CONVERSATIONS: &[RowField] = &[
    RowField::new("conversation", Number(U64), "", "", "counts from 0"),
    SOURCE, DESTINATION, LOGICAL,
    RowField::new("first_ps", Time, "ps", "", "when its first packet was first seen"),
    RowField::new("last_ps", Time, "ps", "", "when its last packet was last seen"),
    RowField::new("messages", Number(U64), "messages", "T-1", "messages"),
    RowField::new("acknowledged", Number(U64), "messages", "T-5", "those that were acknowledged"),
    RowField::new("gone.refused", Number(U64), "messages", "T-6", "those that got a final NACK"),
    RowField::new("gone.unanswered", Number(U64), "messages", "T-11", "no answer, and then SYNC"),
    RowField::new("gone.withdrawn", Number(U64), "messages", "T-13", "only NACKs, and then SYNC"),
    RowField::new("gone.reopened", Number(U64), "messages", "T-12", "sent anew, with SYNC"),
    RowField::new("gone.unseen", Number(U64), "messages", "", "the next one followed without ACK"),
    RowField::new("gone.open", Number(U64), "messages", "", "the capture ended"),
    RowField::new("bytes", Number(U64), "bytes", "", "bytes of messages, each counted once"),
    RowField::new("data", Number(U64), "packets", "", "data packets"),
    RowField::new("data_lost", Number(U64), "packets", "T-7", "those that were lost or hurt"),
    RowField::new("retransmissions", Number(U64), "packets", "T-10", "messages sent again"),
    RowField::new("causes.lost_data", Number(U64), "packets", "T-10", "the one before was lost"),
    RowField::new("causes.lost_ack", Number(U64), "packets", "T-10", "its ACK was lost"),
    RowField::new("causes.corrupt", Number(U64), "packets", "T-7", "it, or its answer, was hurt"),
    RowField::new("causes.nack", Number(U64), "packets", "T-6", "it was not taken"),
    RowField::new("causes.too_early", Number(U64), "packets", "T-10", "its answer was on its way"),
    RowField::new("causes.delayed", Number(U64), "packets", "T-10", "it waited in its NIC"),
    RowField::new("causes.after_ack", Number(U64), "packets", "T-10", "its ACK had arrived"),
    RowField::new("causes.unanswered", Number(U64), "packets", "T-10", "no answer to it was seen"),
    RowField::new("causes.unknown", Number(U64), "packets", "", "what became of it was not seen"),
    RowField::new("acks", Number(U64), "packets", "T-5", "ACKs"),
    RowField::new("nacks", Number(U64), "packets", "T-6", "NACKs"),
    RowField::new("reasons.not_resident", Number(U64), "packets", "T-6", "NACKs with reason 1"),
    RowField::new("reasons.queue_full", Number(U64), "packets", "T-6", "NACKs with reason 2"),
    RowField::new("reasons.no_resource", Number(U64), "packets", "T-6", "NACKs with reason 3"),
    RowField::new("reasons.no_channel_state", Number(U64), "packets", "T-12", "NACKs with reason 4"),
    RowField::new("reasons.bad_key", Number(U64), "packets", "T-6", "NACKs with reason 16"),
    RowField::new("reasons.no_such_endpoint", Number(U64), "packets", "T-6", "NACKs with reason 17"),
    RowField::new("answers_lost", Number(U64), "packets", "T-7", "answers that were lost or hurt"),
    RowField::new("duplicates", Number(U64), "packets", "T-5", "data that had been written before"),
    RowField::new("late", Number(U64), "packets", "T-8", "answers to older transmissions"),
    RowField::new("stale", Number(U64), "packets", "T-12", "packets of what is over"),
    RowField::new("incarnations", Number(U64), "", "T-12", "times that it was opened anew"),
    RowField::new("broken", Number(U64), "", "T-1", "what must not be, all kinds together"),
    RowField::new("breaches.two_outstanding", Number(U64), "", "T-2", "a message before an ACK"),
    RowField::new("breaches.sequence_not_flipped", Number(U64), "", "T-4", "the number of one ACKed"),
    RowField::new("breaches.message_altered", Number(U64), "", "T-4", "two messages, one number"),
    RowField::new("breaches.ack_of_lost", Number(U64), "", "T-5", "an ACK of what was hurt"),
    RowField::new("breaches.nack_after_ack", Number(U64), "", "T-5", "a NACK of what was ACKed"),
    RowField::new("breaches.answer_unasked", Number(U64), "", "T-8", "an answer to nothing"),
    RowField::new("breaches.resent_after_ack", Number(U64), "", "T-10", "sent again though ACKed"),
    RowField::new("breaches.sync_missing", Number(U64), "", "T-12", "a new incarnation, no SYNC"),
    RowField::new("breaches.sync_again", Number(U64), "", "T-12", "SYNC, and no new incarnation"),
    RowField::new("breaches.incarnation_backwards", Number(U64), "", "T-12", "an older incarnation"),
    RowField::new("rtt.count", Number(U64), "", "T-8", "round trips"),
    RowField::new("rtt.min_ps", Time, "ps", "T-8", "the shortest"),
    RowField::new("rtt.mean_ps", Time, "ps", "T-8", "the mean"),
    RowField::new("rtt.max_ps", Time, "ps", "T-8", "the longest"),
    RowField::new("history", Text, "", "", "what happened, a word a message"),
    RowField::new("ended", Words(ENDED), "", "", "why it is told"),
    CAPTURE,
];

#[rustfmt::skip]
pub(in crate::filter) const REMARKS: &[RowField] = &[
    RowField::new("time_ps", Time, "ps", "", "when the packet was first seen"),
    CHANNEL,
    RowField::new("at", Place, "characters", "P-1", "place of its first byte there"),
    RowField::new("packet", Number(U64), "", "", "its number there"),
    SOURCE, DESTINATION, LOGICAL,
    RowField::new("message", Number(U64), "", "", "which message of the conversation, from 0"),
    RowField::new("event", Words(EVENT), "", "", "what was noticed"),
    RowField::new("incarnation", Number(U16), "", "T-12", "of the packet"),
    RowField::new("seq", Number(1), "", "T-4", "of the packet"),
    RowField::new("timestamp", Number(U32), "us", "T-8", "of the packet: its sender's clock"),
    RowField::new("fate", Words(FATE), "", "", "what became of the packet"),
    RowField::new("sync", Flag, "", "T-12", "of data: whether it opens its logical channel"),
    RowField::new("kind", Words(KIND), "", "", "of data"),
    RowField::new("role", Words(ROLE), "", "T-9", "of data"),
    RowField::new("source_endpoint", Number(U16), "", "", "of data: the endpoint that sends it"),
    RowField::new("destination_endpoint", Number(U16), "", "", "of data: that which it is for"),
    RowField::new("bytes", Number(U64), "bytes", "", "of data: bytes of payload"),
    RowField::new("cause", Words(CAUSE), "", "T-10", "of a retransmission"),
    RowField::new("reason", Words(REASON), "", "T-6", "of a NACK"),
    RowField::new("rtt_ps", Time, "ps", "T-8", "of an ACK: from first sight of data to its last"),
    RowField::new("gone", Words(GONE), "", "T-1", "how a message ended that was not acknowledged"),
    RowField::new("byte", Number(U64), "", "T-7", "of what is malformed: place behind the tag"),
    RowField::new("field", Text, "", "T-7", "of what is malformed: the field at fault"),
    RowField::new("found", Number(U64), "", "T-7", "of what is malformed: what the field holds"),
    RowField::new("fault", Text, "", "T-7", "of what is malformed: what is wrong with the field"),
    CAPTURE,
];
