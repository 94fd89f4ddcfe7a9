//! What happened to messages and endpoints, as fields of a row: `docs/truth.md`. T

use std::fmt;

use codec::transport::{EndpointId, NackReason, Nic, SequenceBit, SyncFlag, TransportHeader};
use serde::{Serialize, Serializer};

use crate::messaging::{
    MessageId, MessagingEvent, ReturnCause, TransmissionAttempt, TransmissionKind,
};
use crate::topology::NodeId;
use crate::transport::TransportNotice;

/// The fields of a row about a message, an endpoint or a transport packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageFields<'a> {
    /// The message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageName<'a>>,
    /// The endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointName<'a>>,
    /// What the packet has on the wire.
    #[serde(flatten)]
    pub header: Option<HeaderFields>,
    /// Whether it opens its logical channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<bool>,
    /// Whether its message was sent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<bool>,
    /// Why a message is back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// [`NackReason::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Credits that there are now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits: Option<u16>,
    /// What is malformed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What all transport packets have, as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HeaderFields {
    /// The NIC that sends it.
    pub source: u16,
    /// The NIC that it goes to.
    pub destination: u16,
    /// The logical channel.
    pub channel: u8,
    /// The sequence number.
    pub seq: u8,
    /// When the data was transmitted, by the clock of who sent it, in µs.
    pub timestamp: u32,
    /// The incarnation.
    pub incarnation: u16,
}

/// An endpoint: `h3.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointName<'a> {
    /// The name of its host.
    pub host: &'a str,
    /// Its number there.
    pub endpoint: EndpointId,
}

/// A message: `h3.2#17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageName<'a> {
    /// The endpoint that sends it.
    pub from: EndpointName<'a>,
    /// The how manyth of that.
    pub number: u32,
}

impl fmt::Display for EndpointName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.host, self.endpoint.0)
    }
}

impl fmt::Display for MessageName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.from, self.number)
    }
}

impl Serialize for EndpointName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for MessageName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<TransportHeader> for HeaderFields {
    fn from(header: TransportHeader) -> Self {
        let TransportHeader { source, destination, channel, seq, timestamp, incarnation } = header;
        Self {
            source: source.0,
            destination: destination.0,
            channel: channel.0,
            seq: match seq {
                SequenceBit::Zero => 0,
                SequenceBit::One => 1,
            },
            timestamp: timestamp.0,
            incarnation: incarnation.0,
        }
    }
}

impl<'a> MessageFields<'a> {
    fn about(message: MessageId, name: &impl Fn(NodeId) -> &'a str) -> Self {
        let MessageId { nic, endpoint, number } = message;
        let from = named((nic, endpoint), name);
        Self { message: Some(MessageName { from, number }), ..Self::default() }
    }

    fn at(self, endpoint: EndpointName<'a>) -> Self {
        Self { endpoint: Some(endpoint), ..self }
    }

    fn with(self, header: TransportHeader) -> Self {
        Self { header: Some(header.into()), ..self }
    }

    fn because(self, reason: NackReason) -> Self {
        Self { reason: Some(reason.name()), ..self }
    }

    /// Of what happened at a host, given the names of nodes.
    pub(super) fn of_told(
        told: &MessagingEvent,
        here: NodeId,
        name: &impl Fn(NodeId) -> &'a str,
    ) -> Self {
        let about = |message: &MessageId| Self::about(*message, name);
        let local = |endpoint: &EndpointId| EndpointName { host: name(here), endpoint: *endpoint };
        let none = Self::default();
        match told {
            MessagingEvent::Accepted(message, to) => about(message).at(named(*to, name)),
            MessagingEvent::Written(message, endpoint)
            | MessagingEvent::Lost(message, endpoint)
            | MessagingEvent::Damaged(message, endpoint) => about(message).at(local(endpoint)),
            MessagingEvent::Acknowledged(message) | MessagingEvent::GivenUp(message) => {
                about(message)
            }
            MessagingEvent::Returned(message, why) => {
                let row = Self { why: Some(why.name()), ..about(message) };
                if let ReturnCause::Refused(reason) = why { row.because(*reason) } else { row }
            }
            MessagingEvent::Refused(message, header, reason) => {
                about(message).with(*header).because(*reason)
            }
            MessagingEvent::Dropped(message, reason) => about(message).because(*reason),
            MessagingEvent::Noticed(header, note) => {
                let row = none.with(*header);
                if let TransportNotice::Refused(reason) = note { row.because(*reason) } else { row }
            }
            MessagingEvent::Malformed(error) => Self { error: Some(error.to_string()), ..none },
            MessagingEvent::Overrun => none,
            MessagingEvent::Leaving(endpoint)
            | MessagingEvent::Unloaded(endpoint)
            | MessagingEvent::Loaded(endpoint)
            | MessagingEvent::Mapped(endpoint) => none.at(local(endpoint)),
            MessagingEvent::Credits(endpoint, credits) => {
                Self { credits: Some(*credits), ..none.at(local(endpoint)) }
            }
        }
    }

    /// Of what is sent.
    pub(super) fn of_transmission(
        transmission: &TransmissionKind,
        name: &impl Fn(NodeId) -> &'a str,
    ) -> Self {
        match *transmission {
            TransmissionKind::Data { header, sync, message, turn } => Self {
                sync: Some(sync == SyncFlag::Set),
                again: Some(turn == TransmissionAttempt::Again),
                ..Self::about(message, name).with(header)
            },
            TransmissionKind::Ack(header) => Self::default().with(header),
            TransmissionKind::Nack(header, reason) => Self::default().with(header).because(reason),
        }
    }
}

fn named<'a>(
    (nic, endpoint): (Nic, EndpointId),
    name: &impl Fn(NodeId) -> &'a str,
) -> EndpointName<'a> {
    EndpointName { host: name(NodeId(nic.0.into())), endpoint }
}

/// The name of the kind of event.
pub(super) const fn kind_of_told(told: &MessagingEvent) -> &'static str {
    match told {
        MessagingEvent::Accepted(..) => "message-accepted",
        MessagingEvent::Written(..) => "message-written",
        MessagingEvent::Acknowledged(_) => "message-acknowledged",
        MessagingEvent::Returned(..) => "message-returned",
        MessagingEvent::GivenUp(_) => "message-given-up",
        MessagingEvent::Lost(..) => "message-lost",
        MessagingEvent::Damaged(..) => "message-damaged",
        MessagingEvent::Refused(..) => "message-refused",
        MessagingEvent::Dropped(..) => "message-dropped",
        MessagingEvent::Noticed(_, note) => match note {
            TransportNotice::Duplicate => "transport-duplicate",
            TransportNotice::Stale => "transport-stale",
            TransportNotice::Late => "transport-late",
            TransportNotice::Unknown => "transport-unknown",
            TransportNotice::Retransmitted => "transport-retransmitted",
            TransportNotice::Refused(_) => "transport-refused",
        },
        MessagingEvent::Malformed(_) => "transport-malformed",
        MessagingEvent::Overrun => "transport-overrun",
        MessagingEvent::Leaving(_) => "endpoint-leaving",
        MessagingEvent::Unloaded(_) => "endpoint-unloaded",
        MessagingEvent::Loaded(_) => "endpoint-loaded",
        MessagingEvent::Mapped(_) => "host-memory-mapped",
        MessagingEvent::Credits(..) => "endpoint-credits",
    }
}

/// The name of the kind of event.
pub(super) const fn kind_of_transmission(transmission: &TransmissionKind) -> &'static str {
    match transmission {
        TransmissionKind::Data { .. } => "message-transmitted",
        TransmissionKind::Ack(_) => "ack-transmitted",
        TransmissionKind::Nack(..) => "nack-transmitted",
    }
}

impl ReturnCause {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Unreachable => "unreachable",
            Self::Restarted => "restarted",
        }
    }
}
