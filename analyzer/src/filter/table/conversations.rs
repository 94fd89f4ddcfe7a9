//! The fields of conversations, and of what is noticed in them, in the order of their JSON.

use super::{CAPTURE, CHANNEL, U32, U64};
use codec::transport::{Form, Reason, Role};

use crate::conversation::{Broken, Cause, Ended, Fate, Gone};
use crate::filter::field::Field;
use crate::filter::field::Shape::{Flag, Number, Place, Text, Time, Words};

const U16: u64 = u16::MAX as u64;
const BYTE: u64 = u8::MAX as u64;

const CAUSE: &[&str] = &[
    Cause::LostData.name(),
    Cause::LostAck.name(),
    Cause::Corrupt.name(),
    Cause::Nack.name(),
    Cause::TooEarly.name(),
    Cause::Delayed.name(),
    Cause::AfterAck.name(),
    Cause::Unanswered.name(),
    Cause::Unknown.name(),
];

const REASON: &[&str] = &[
    Reason::ALL[0].name(),
    Reason::ALL[1].name(),
    Reason::ALL[2].name(),
    Reason::ALL[3].name(),
    Reason::ALL[4].name(),
    Reason::ALL[5].name(),
];

const GONE: &[&str] = &[
    Gone::Refused.name(),
    Gone::Unanswered.name(),
    Gone::Withdrawn.name(),
    Gone::Reopened.name(),
    Gone::Unseen.name(),
    Gone::Open.name(),
];

const FATE: &[&str] = &[
    Fate::Arrived.name(),
    Fate::Hurt.name(),
    Fate::Lost.name(),
    Fate::OutOfSight.name(),
    Fate::UnderWay.name(),
];

const KIND: &[&str] =
    &[Form::Short.name(), Form::Medium.name(), Form::Bulk { offset: 0, total: 0 }.name()];

const ROLE: &[&str] = &[Role::Request.name(), Role::Reply.name()];

const ENDED: &[&str] = &[Ended::CaptureEnd.name(), Ended::Evicted.name()];

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
    Broken::TwoOutstanding.name(),
    Broken::Unflipped.name(),
    Broken::Altered.name(),
    Broken::AckOfLost.name(),
    Broken::NackAfterAck.name(),
    Broken::Unasked.name(),
    Broken::AfterAck.name(),
    Broken::SyncMissing.name(),
    Broken::SyncAgain.name(),
    Broken::Backwards.name(),
    "malformed",
];

const SOURCE: Field = Field::new("source", Number(U16), "", "T-2", "the NIC that sends the data");
const DESTINATION: Field =
    Field::new("destination", Number(U16), "", "T-2", "the NIC that answers");
const LOGICAL: Field =
    Field::new("logical_channel", Number(BYTE), "", "T-2", "the logical channel between them");

#[rustfmt::skip]
pub(in crate::filter) const CONVERSATIONS: &[Field] = &[
    Field::new("conversation", Number(U64), "", "", "counts from 0"),
    SOURCE, DESTINATION, LOGICAL,
    Field::new("first_ps", Time, "ps", "", "when its first packet was first seen"),
    Field::new("last_ps", Time, "ps", "", "when its last packet was last seen"),
    Field::new("messages", Number(U64), "messages", "T-1", "messages"),
    Field::new("acknowledged", Number(U64), "messages", "T-5", "those that were acknowledged"),
    Field::new("gone.refused", Number(U64), "messages", "T-6", "those that got a final NACK"),
    Field::new("gone.unanswered", Number(U64), "messages", "T-11", "no answer, and then SYNC"),
    Field::new("gone.withdrawn", Number(U64), "messages", "T-13", "only NACKs, and then SYNC"),
    Field::new("gone.reopened", Number(U64), "messages", "T-12", "sent anew, with SYNC"),
    Field::new("gone.unseen", Number(U64), "messages", "", "the next one followed without ACK"),
    Field::new("gone.open", Number(U64), "messages", "", "the capture ended"),
    Field::new("bytes", Number(U64), "bytes", "", "bytes of messages, each counted once"),
    Field::new("data", Number(U64), "packets", "", "data packets"),
    Field::new("data_lost", Number(U64), "packets", "T-7", "those that were lost or hurt"),
    Field::new("retransmissions", Number(U64), "packets", "T-10", "messages sent again"),
    Field::new("causes.lost_data", Number(U64), "packets", "T-10", "the one before was lost"),
    Field::new("causes.lost_ack", Number(U64), "packets", "T-10", "its ACK was lost"),
    Field::new("causes.corrupt", Number(U64), "packets", "T-7", "it, or its answer, was hurt"),
    Field::new("causes.nack", Number(U64), "packets", "T-6", "it was not taken"),
    Field::new("causes.too_early", Number(U64), "packets", "T-10", "its answer was on its way"),
    Field::new("causes.delayed", Number(U64), "packets", "T-10", "it waited in its NIC"),
    Field::new("causes.after_ack", Number(U64), "packets", "T-10", "its ACK had arrived"),
    Field::new("causes.unanswered", Number(U64), "packets", "T-10", "no answer to it was seen"),
    Field::new("causes.unknown", Number(U64), "packets", "", "what became of it was not seen"),
    Field::new("acks", Number(U64), "packets", "T-5", "ACKs"),
    Field::new("nacks", Number(U64), "packets", "T-6", "NACKs"),
    Field::new("reasons.not_resident", Number(U64), "packets", "T-6", "NACKs with reason 1"),
    Field::new("reasons.queue_full", Number(U64), "packets", "T-6", "NACKs with reason 2"),
    Field::new("reasons.no_resource", Number(U64), "packets", "T-6", "NACKs with reason 3"),
    Field::new("reasons.no_channel_state", Number(U64), "packets", "T-12", "NACKs with reason 4"),
    Field::new("reasons.bad_key", Number(U64), "packets", "T-6", "NACKs with reason 16"),
    Field::new("reasons.no_such_endpoint", Number(U64), "packets", "T-6", "NACKs with reason 17"),
    Field::new("answers_lost", Number(U64), "packets", "T-7", "answers that were lost or hurt"),
    Field::new("duplicates", Number(U64), "packets", "T-5", "data that had been written before"),
    Field::new("late", Number(U64), "packets", "T-8", "answers to older transmissions"),
    Field::new("stale", Number(U64), "packets", "T-12", "packets of what is over"),
    Field::new("incarnations", Number(U64), "", "T-12", "times that it was opened anew"),
    Field::new("broken", Number(U64), "", "T-1", "what must not be, all kinds together"),
    Field::new("breaches.two_outstanding", Number(U64), "", "T-2", "a message before an ACK"),
    Field::new("breaches.sequence_not_flipped", Number(U64), "", "T-4", "the number of one ACKed"),
    Field::new("breaches.message_altered", Number(U64), "", "T-4", "two messages, one number"),
    Field::new("breaches.ack_of_lost", Number(U64), "", "T-5", "an ACK of what was hurt"),
    Field::new("breaches.nack_after_ack", Number(U64), "", "T-5", "a NACK of what was ACKed"),
    Field::new("breaches.answer_unasked", Number(U64), "", "T-8", "an answer to nothing"),
    Field::new("breaches.resent_after_ack", Number(U64), "", "T-10", "sent again though ACKed"),
    Field::new("breaches.sync_missing", Number(U64), "", "T-12", "a new incarnation, no SYNC"),
    Field::new("breaches.sync_again", Number(U64), "", "T-12", "SYNC, and no new incarnation"),
    Field::new("breaches.incarnation_backwards", Number(U64), "", "T-12", "an older incarnation"),
    Field::new("rtt.count", Number(U64), "", "T-8", "round trips"),
    Field::new("rtt.min_ps", Time, "ps", "T-8", "the shortest"),
    Field::new("rtt.mean_ps", Time, "ps", "T-8", "the mean"),
    Field::new("rtt.max_ps", Time, "ps", "T-8", "the longest"),
    Field::new("history", Text, "", "", "what happened, a word a message"),
    Field::new("ended", Words(ENDED), "", "", "why it is told"),
    CAPTURE,
];

#[rustfmt::skip]
pub(in crate::filter) const REMARKS: &[Field] = &[
    Field::new("time_ps", Time, "ps", "", "when the packet was first seen"),
    CHANNEL,
    Field::new("at", Place, "characters", "P-1", "place of its first byte there"),
    Field::new("packet", Number(U64), "", "", "its number there"),
    SOURCE, DESTINATION, LOGICAL,
    Field::new("message", Number(U64), "", "", "which message of the conversation, from 0"),
    Field::new("event", Words(EVENT), "", "", "what was noticed"),
    Field::new("incarnation", Number(U16), "", "T-12", "of the packet"),
    Field::new("seq", Number(1), "", "T-4", "of the packet"),
    Field::new("timestamp", Number(U32), "us", "T-8", "of the packet: its sender's clock"),
    Field::new("fate", Words(FATE), "", "", "what became of the packet"),
    Field::new("sync", Flag, "", "T-12", "of data: whether it opens its logical channel"),
    Field::new("kind", Words(KIND), "", "", "of data"),
    Field::new("role", Words(ROLE), "", "T-9", "of data"),
    Field::new("source_endpoint", Number(U16), "", "", "of data: the endpoint that sends it"),
    Field::new("destination_endpoint", Number(U16), "", "", "of data: that which it is for"),
    Field::new("bytes", Number(U64), "bytes", "", "of data: bytes of payload"),
    Field::new("cause", Words(CAUSE), "", "T-10", "of a retransmission"),
    Field::new("reason", Words(REASON), "", "T-6", "of a NACK"),
    Field::new("rtt_ps", Time, "ps", "T-8", "of an ACK: from first sight of data to its last"),
    Field::new("gone", Words(GONE), "", "T-1", "how a message ended that was not acknowledged"),
    Field::new("byte", Number(U64), "", "T-7", "of what is malformed: place behind the tag"),
    Field::new("field", Text, "", "T-7", "of what is malformed: the field at fault"),
    Field::new("found", Number(U64), "", "T-7", "of what is malformed: what the field holds"),
    Field::new("fault", Text, "", "T-7", "of what is malformed: what is wrong with the field"),
    CAPTURE,
];
