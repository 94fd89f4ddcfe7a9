//! Conversations and their observations as rows of `docs/output.md`.

use crate::event::Picoseconds;
use codec::capture::{Channel, ChannelId};
use codec::transport::{MessageForm, MessageRole, NackReason, SequenceBit, SyncFlag};

use super::observation::{Abandonment, Observation, ObservationKind, ResendCause, Violation};
use super::totals::{RoundTrips, total};
use super::{Conversation, ConversationEnd, DataContent, MalformedPacket, TransportFate};
use crate::row::FieldShape::{List, Number, Place, Words};
use crate::row::{FieldType, NamedValues, RowField, row};

row! {
    /// A row of `myriscope conversations`, as `docs/output.md` specifies it.
    pub struct ConversationRow {
        conversation: u64, "", "", "counts from 0";
        source: u16, "", "T-2", "the NIC that sends the data";
        destination: u16, "", "T-2", "the NIC that answers";
        logical_channel: u8, "", "T-2", "the logical channel between them";
        first_ps: Picoseconds, "ps", "", "when its first packet was first seen";
        last_ps: Picoseconds, "ps", "", "when its last packet was last seen";
        messages: u64, "messages", "T-1", "messages";
        acknowledged: u64, "messages", "T-5", "those that were acknowledged";
        gone: NamedValues<u64>: "Unacknowledged messages, by [`Abandonment::name`]." as List => GONE_COUNTS;
        bytes: u64, "bytes", "", "bytes of messages, each counted once";
        data: u64, "packets", "", "data packets";
        data_lost: u64, "packets", "T-7", "those that were lost or hurt";
        retransmissions: u64, "packets", "T-10", "messages sent again";
        causes: NamedValues<u64>: "Retransmissions by [`ResendCause::name`]." as List => CAUSE_COUNTS;
        acks: u64, "packets", "T-5", "ACKs";
        nacks: u64, "packets", "T-6", "NACKs";
        reasons: NamedValues<u64>: "NACKs by [`NackReason::name`]." as List => REASON_COUNTS;
        answers_lost: u64, "packets", "T-7", "answers that were lost or hurt";
        duplicates: u64, "packets", "T-5", "data that had been written before";
        late: u64, "packets", "T-8", "answers to older transmissions";
        stale: u64, "packets", "T-12", "packets of what is over";
        incarnations: u64, "", "T-12", "times that it was opened anew";
        broken: u64, "", "T-1", "what must not be, all kinds together";
        breaches: NamedValues<u64>: "Violations by [`Violation::name`]." as List => BREACH_COUNTS;
        rtt: RoundTripRow: "Statistics of round trips." => RoundTripRow::FIELDS;
        history: String, "", "", "what happened, a word a message";
        ended: &'static str as ConversationEnd::SHAPE, "", "", "why it is told";
    }
}

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

const GONE_COUNTS: &[RowField] = &[
    RowField::new("refused", u64::SHAPE, "messages", "T-6", "those that got a final NACK"),
    RowField::new("unanswered", u64::SHAPE, "messages", "T-11", "no answer, and then SYNC"),
    RowField::new("withdrawn", u64::SHAPE, "messages", "T-13", "only NACKs, and then SYNC"),
    RowField::new("reopened", u64::SHAPE, "messages", "T-12", "sent anew, with SYNC"),
    RowField::new("unseen", u64::SHAPE, "messages", "", "the next one followed without ACK"),
    RowField::new("open", u64::SHAPE, "messages", "", "the capture ended"),
];

const CAUSE_COUNTS: &[RowField] = &[
    RowField::new("lost_data", u64::SHAPE, "packets", "T-10", "the one before was lost"),
    RowField::new("lost_ack", u64::SHAPE, "packets", "T-10", "its ACK was lost"),
    RowField::new("corrupt", u64::SHAPE, "packets", "T-7", "it, or its answer, was hurt"),
    RowField::new("nack", u64::SHAPE, "packets", "T-6", "it was not taken"),
    RowField::new("too_early", u64::SHAPE, "packets", "T-10", "its answer was on its way"),
    RowField::new("delayed", u64::SHAPE, "packets", "T-10", "it waited in its NIC"),
    RowField::new("after_ack", u64::SHAPE, "packets", "T-10", "its ACK had arrived"),
    RowField::new("unanswered", u64::SHAPE, "packets", "T-10", "no answer to it was seen"),
    RowField::new("unknown", u64::SHAPE, "packets", "", "what became of it was not seen"),
];

const REASON_COUNTS: &[RowField] = &[
    RowField::new("not_resident", u64::SHAPE, "packets", "T-6", "NACKs with reason 1"),
    RowField::new("queue_full", u64::SHAPE, "packets", "T-6", "NACKs with reason 2"),
    RowField::new("no_resource", u64::SHAPE, "packets", "T-6", "NACKs with reason 3"),
    RowField::new("no_channel_state", u64::SHAPE, "packets", "T-12", "NACKs with reason 4"),
    RowField::new("bad_key", u64::SHAPE, "packets", "T-6", "NACKs with reason 16"),
    RowField::new("no_such_endpoint", u64::SHAPE, "packets", "T-6", "NACKs with reason 17"),
];

const BREACH_COUNTS: &[RowField] = &[
    RowField::new("two_outstanding", u64::SHAPE, "", "T-2", "a message before an ACK"),
    RowField::new("sequence_not_flipped", u64::SHAPE, "", "T-4", "the number of one ACKed"),
    RowField::new("message_altered", u64::SHAPE, "", "T-4", "two messages, one number"),
    RowField::new("ack_of_lost", u64::SHAPE, "", "T-5", "an ACK of what was hurt"),
    RowField::new("nack_after_ack", u64::SHAPE, "", "T-5", "a NACK of what was ACKed"),
    RowField::new("answer_unasked", u64::SHAPE, "", "T-8", "an answer to nothing"),
    RowField::new("resent_after_ack", u64::SHAPE, "", "T-10", "sent again though ACKed"),
    RowField::new("sync_missing", u64::SHAPE, "", "T-12", "a new incarnation, no SYNC"),
    RowField::new("sync_again", u64::SHAPE, "", "T-12", "SYNC, and no new incarnation"),
    RowField::new("incarnation_backwards", u64::SHAPE, "", "T-12", "an older incarnation"),
];

row! {
    /// Statistics of round trips, from the first capture of data to the last capture of its ACK.
    #[derive(Copy)]
    pub struct RoundTripRow {
        count: u64, "", "T-8", "round trips";
        min_ps: Option<Picoseconds>, "ps", "T-8", "the shortest";
        mean_ps: Option<Picoseconds>, "ps", "T-8", "the mean";
        max_ps: Option<Picoseconds>, "ps", "T-8", "the longest";
    }
}

row! {
    /// A row of `myriscope conversations --events`.
    #[derive(Default)]
    pub struct ObservationRow<'a> {
        time_ps: Picoseconds, "ps", "", "when the packet was first seen";
        channel: &'a str, "", "", "name of the channel";
        at: u64 as Place, "characters", "P-1", "place of its first byte there";
        packet: u64, "", "", "its number there";
        source: u16, "", "T-2", "the NIC that sends the data";
        destination: u16, "", "T-2", "the NIC that answers";
        logical_channel: u8, "", "T-2", "the logical channel between them";
        message: Option<u64>, "", "", "which message of the conversation, from 0";
        event: &'static str as Words(EVENT), "", "", "what was noticed";
        incarnation: u16, "", "T-12", "of the packet";
        seq: u8 as Number(1), "", "T-4", "of the packet";
        timestamp: u32, "us", "T-8", "of the packet: its sender's clock";
        fate: &'static str as TransportFate::SHAPE, "", "", "what became of the packet";
        sync: Option<bool> ["Option::is_none"], "", "T-12", "of data: whether it opens its logical channel";
        kind: Option<&'static str> ["Option::is_none"] as Words(MessageForm::NAMES), "", "", "of data";
        role: Option<&'static str> ["Option::is_none"] as Words(MessageRole::NAMES), "", "T-9", "of data";
        source_endpoint: Option<u16> ["Option::is_none"], "", "", "of data: the endpoint that sends it";
        destination_endpoint: Option<u16> ["Option::is_none"], "", "", "of data: that which it is for";
        bytes: Option<u64> ["Option::is_none"], "bytes", "", "of data: bytes of payload";
        cause: Option<&'static str> ["Option::is_none"] as ResendCause::SHAPE, "", "T-10", "of a retransmission";
        reason: Option<&'static str> ["Option::is_none"] as Words(NackReason::NAMES), "", "T-6", "of a NACK";
        rtt_ps: Option<Picoseconds> ["Option::is_none"], "ps", "T-8", "of an ACK: from first sight of data to its last";
        gone: Option<&'static str> ["Option::is_none"] as Abandonment::SHAPE, "", "T-1", "how a message ended that was not acknowledged";
    }
}

row! {
    /// A row of `myriscope conversations --events` for a packet of the protocol's type that cannot be
    /// parsed; `event` is `malformed`.
    pub struct MalformedRow<'a> {
        time_ps: Picoseconds: "See [`ObservationRow::time_ps`].";
        channel: &'a str: "See [`ObservationRow::channel`].";
        at: u64: "See [`ObservationRow::at`].";
        packet: u64: "See [`ObservationRow::packet`].";
        event: &'static str: "`malformed`";
        byte: u64, "", "T-7", "of what is malformed: place behind the tag";
        field: &'static str, "", "T-7", "of what is malformed: the field at fault";
        found: Option<u64>, "", "T-7", "of what is malformed: what the field holds";
        fault: String, "", "T-7", "of what is malformed: what is wrong with the field";
    }
}

impl From<&RoundTrips> for RoundTripRow {
    fn from(trips: &RoundTrips) -> Self {
        Self {
            count: trips.count,
            min_ps: trips.bounds.map(|(min, _)| min),
            mean_ps: trips.mean(),
            max_ps: trips.bounds.map(|(_, max)| max),
        }
    }
}

impl Conversation {
    /// The conversation as a row.
    pub fn row(&self) -> ConversationRow {
        let Self { sums, key, .. } = self;
        let of = |count: Option<&u64>| count.copied().unwrap_or(0);
        let gone = Abandonment::ALL.map(|gone| (gone.name(), of(sums.gone.get(&gone))));
        let causes = ResendCause::ALL.map(|cause| (cause.name(), of(sums.resent.get(&cause))));
        let reasons = NackReason::ALL.map(|why| (why.name(), of(sums.nacks.get(&why))));
        let breaches = Violation::ALL.map(|it| (it.name(), of(sums.broken.get(&it))));
        ConversationRow {
            conversation: self.number,
            source: key.source.0,
            destination: key.destination.0,
            logical_channel: key.channel.0,
            first_ps: self.first.time,
            last_ps: self.last,
            messages: sums.messages,
            acknowledged: sums.acknowledged,
            gone: NamedValues(gone.into()),
            bytes: sums.bytes,
            data: sums.data,
            data_lost: sums.data_lost,
            retransmissions: total(&sums.resent),
            causes: NamedValues(causes.into()),
            acks: sums.acks,
            nacks: total(&sums.nacks),
            reasons: NamedValues(reasons.into()),
            answers_lost: sums.answers_lost,
            duplicates: sums.duplicates,
            late: sums.late,
            stale: sums.stale,
            incarnations: sums.incarnations,
            broken: total(&sums.broken),
            breaches: NamedValues(breaches.into()),
            rtt: RoundTripRow::from(&sums.trips),
            history: self.history.line(),
            ended: self.ended.name(),
        }
    }
}

impl Observation {
    /// The observation as a row; `known` looks up channels.
    pub fn row<'a>(&self, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> ObservationRow<'a> {
        let mut row = ObservationRow {
            time_ps: self.place.time,
            channel: known(self.place.channel).map_or("", |channel| channel.name.as_str()),
            at: self.place.at.0,
            packet: self.place.packet,
            source: self.key.source.0,
            destination: self.key.destination.0,
            logical_channel: self.key.channel.0,
            message: self.message,
            event: self.observed.name(),
            incarnation: self.label.incarnation.0,
            seq: match self.label.seq {
                SequenceBit::Zero => 0,
                SequenceBit::One => 1,
            },
            timestamp: self.label.timestamp.0,
            fate: self.fate.name(),
            ..ObservationRow::default()
        };
        match self.observed {
            ObservationKind::Data(data) => row.data(data),
            ObservationKind::Resent(data, cause) => {
                row.data(data);
                row.cause = Some(cause.name());
            }
            ObservationKind::Ack(trip) => row.rtt_ps = trip,
            ObservationKind::Nack(reason) => row.reason = Some(reason.name()),
            ObservationKind::Gone(gone) => row.gone = Some(gone.name()),
            ObservationKind::Duplicate | ObservationKind::Late | ObservationKind::Stale => {}
            ObservationKind::Storm(_) | ObservationKind::Broken(_) => {}
        }
        row
    }
}

impl MalformedPacket {
    /// The packet as a row; `known` looks up channels.
    pub fn row<'a>(&self, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> MalformedRow<'a> {
        MalformedRow {
            time_ps: self.place.time,
            channel: known(self.place.channel).map_or("", |channel| channel.name.as_str()),
            at: self.place.at.0,
            packet: self.place.packet,
            event: "malformed",
            byte: self.fault.at() as u64,
            field: self.fault.field(),
            found: self.fault.found(),
            fault: self.fault.fault(),
        }
    }
}

impl ObservationRow<'_> {
    fn data(&mut self, data: DataContent) {
        self.sync = Some(data.sync == SyncFlag::Set);
        self.kind = Some(data.form.name());
        self.role = Some(data.role.name());
        self.source_endpoint = Some(data.source.0);
        self.destination_endpoint = Some(data.destination.0);
        self.bytes = Some(data.bytes);
    }
}
