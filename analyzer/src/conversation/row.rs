//! Conversations and their observations as rows of `docs/output.md`.

use crate::event::Picoseconds;
use codec::capture::{Channel, ChannelId};
use codec::transport::{NackReason, SequenceBit, SyncFlag};
use serde::Serialize;

use super::observation::{Abandonment, Observation, ObservationKind, ResendCause, Violation};
use super::totals::{RoundTrips, total};
use super::{Conversation, DataContent, MalformedPacket};

/// A row of `myriscope conversations`, as `docs/output.md` specifies it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConversationRow {
    /// [`Conversation::number`]
    pub conversation: u64,
    /// The NIC that sends the data.
    pub source: u16,
    /// The NIC that sends ACKs and NACKs.
    pub destination: u16,
    /// The logical channel.
    pub logical_channel: u8,
    /// Time of the first capture of its first packet, in picoseconds.
    pub first_ps: Picoseconds,
    /// Time of the last capture of its packets, in picoseconds.
    pub last_ps: Picoseconds,
    /// Number of messages.
    pub messages: u64,
    /// Number of acknowledged messages.
    pub acknowledged: u64,
    /// Unacknowledged messages, by [`Abandonment::name`].
    pub gone: NamedCounts<6>,
    /// Bytes of all messages, each counted once.
    pub bytes: u64,
    /// Number of data packets.
    pub data: u64,
    /// Data packets that were lost or corrupted.
    pub data_lost: u64,
    /// Number of retransmissions.
    pub retransmissions: u64,
    /// Retransmissions by [`ResendCause::name`].
    pub causes: NamedCounts<9>,
    /// Number of ACKs.
    pub acks: u64,
    /// Number of NACKs.
    pub nacks: u64,
    /// NACKs by [`NackReason::name`].
    pub reasons: NamedCounts<6>,
    /// ACKs and NACKs that were lost or corrupted.
    pub answers_lost: u64,
    /// Duplicates.
    pub duplicates: u64,
    /// Answers to transmissions that were not the latest.
    pub late: u64,
    /// Packets of finished messages or old incarnations.
    pub stale: u64,
    /// Number of incarnations.
    pub incarnations: u64,
    /// Number of violations.
    pub broken: u64,
    /// Violations by [`Violation::name`].
    pub breaches: NamedCounts<10>,
    /// Statistics of round trips.
    pub rtt: RoundTripRow,
    /// [`super::MessageHistory::line`]
    pub history: String,
    /// [`super::ConversationEnd::name`]
    pub ended: &'static str,
}

/// Counts by name; in JSON with `_` for `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCounts<const N: usize>(pub [(&'static str, u64); N]);

/// Statistics of round trips, from the first capture of data to the last capture of its ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RoundTripRow {
    /// Number of round trips.
    pub count: u64,
    /// The shortest, in picoseconds.
    pub min_ps: Option<Picoseconds>,
    /// The mean, in picoseconds.
    pub mean_ps: Option<Picoseconds>,
    /// The longest, in picoseconds.
    pub max_ps: Option<Picoseconds>,
}

/// A row of `myriscope conversations --events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObservationRow<'a> {
    /// Time of the packet's first capture, in picoseconds.
    pub time_ps: Picoseconds,
    /// Name of the channel of that capture.
    pub channel: &'a str,
    /// Place of its first byte on that channel.
    pub at: u64,
    /// Number of the packet on that channel.
    pub packet: u64,
    /// The NIC that sends the data.
    pub source: u16,
    /// The NIC that sends ACKs and NACKs.
    pub destination: u16,
    /// The logical channel.
    pub logical_channel: u8,
    /// Number of the message in the conversation.
    pub message: Option<u64>,
    /// [`ObservationKind::name`]
    pub event: &'static str,
    /// Incarnation in the packet's header.
    pub incarnation: u16,
    /// Sequence number in the packet's header.
    pub seq: u8,
    /// Timestamp in the packet's header.
    pub timestamp: u32,
    /// Fate of the packet.
    pub fate: &'static str,
    /// Data only: true if the packet has SYNC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<bool>,
    /// Data only: `short`, `medium` or `bulk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Data only: `request` or `reply`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Data only: the sending endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_endpoint: Option<u16>,
    /// Data only: the receiving endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_endpoint: Option<u16>,
    /// Data only: bytes of payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Retransmissions only: [`ResendCause::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
    /// NACKs only: [`NackReason::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// ACKs only: the round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ps: Option<Picoseconds>,
    /// Abandoned messages only: [`Abandonment::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<&'static str>,
}

/// A row of `myriscope conversations --events` for a packet of the protocol's type that cannot be
/// parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MalformedRow<'a> {
    /// See [`ObservationRow::time_ps`].
    pub time_ps: Picoseconds,
    /// See [`ObservationRow::channel`].
    pub channel: &'a str,
    /// See [`ObservationRow::at`].
    pub at: u64,
    /// See [`ObservationRow::packet`].
    pub packet: u64,
    /// `malformed`
    pub event: &'static str,
    /// Offset of the invalid field in bytes after the tag.
    pub byte: u64,
    /// Name of the invalid field.
    pub field: &'static str,
    /// Value of the field; null if it is truncated.
    pub found: Option<u64>,
    /// Description of the fault.
    pub fault: String,
}

impl<const N: usize> Serialize for NamedCounts<N> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name.replace('-', "_"), count)))
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
    #[must_use]
    pub fn row(&self) -> ConversationRow {
        let Self { sums, key, .. } = self;
        let of = |count: Option<&u64>| count.copied().unwrap_or(0);
        ConversationRow {
            conversation: self.number,
            source: key.source.0,
            destination: key.destination.0,
            logical_channel: key.channel.0,
            first_ps: self.first.time,
            last_ps: self.last,
            messages: sums.messages,
            acknowledged: sums.acknowledged,
            gone: NamedCounts(Abandonment::ALL.map(|gone| (gone.name(), of(sums.gone.get(&gone))))),
            bytes: sums.bytes,
            data: sums.data,
            data_lost: sums.data_lost,
            retransmissions: total(&sums.resent),
            causes: NamedCounts(
                ResendCause::ALL.map(|cause| (cause.name(), of(sums.resent.get(&cause)))),
            ),
            acks: sums.acks,
            nacks: total(&sums.nacks),
            reasons: NamedCounts(NackReason::ALL.map(|why| (why.name(), of(sums.nacks.get(&why))))),
            answers_lost: sums.answers_lost,
            duplicates: sums.duplicates,
            late: sums.late,
            stale: sums.stale,
            incarnations: sums.incarnations,
            broken: total(&sums.broken),
            breaches: NamedCounts(Violation::ALL.map(|it| (it.name(), of(sums.broken.get(&it))))),
            rtt: RoundTripRow::from(&sums.trips),
            history: self.history.line(),
            ended: self.ended.name(),
        }
    }
}

impl Observation {
    /// The observation as a row; `known` looks up channels.
    #[must_use]
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
            event: self.remark.name(),
            incarnation: self.label.incarnation.0,
            seq: match self.label.seq {
                SequenceBit::Zero => 0,
                SequenceBit::One => 1,
            },
            timestamp: self.label.timestamp.0,
            fate: self.fate.name(),
            sync: None,
            kind: None,
            role: None,
            source_endpoint: None,
            destination_endpoint: None,
            bytes: None,
            cause: None,
            reason: None,
            rtt_ps: None,
            gone: None,
        };
        match self.remark {
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
    #[must_use]
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
