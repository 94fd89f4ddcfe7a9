//! What happened to messages and endpoints, as fields of a row: `docs/truth.md`. T

use std::fmt;

use codec::transport::{EndpointId, Header, Nic, Reason, Seq, Sync};
use serde::{Serialize, Serializer};

use crate::endpoint::{MessageId, Told, Transmission, Turn, Why};
use crate::topology::NodeId;
use crate::transport::Note;

/// The fields of a row about a message, an endpoint or a transport packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageRow<'a> {
    /// The message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageName<'a>>,
    /// The endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointName<'a>>,
    /// What the packet has on the wire.
    #[serde(flatten)]
    pub header: Option<HeaderRow>,
    /// Whether it opens its logical channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<bool>,
    /// Whether its message was sent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<bool>,
    /// Why a message is back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// [`Reason::name`].
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
pub struct HeaderRow {
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

impl From<Header> for HeaderRow {
    fn from(header: Header) -> Self {
        let Header { source, destination, channel, seq, timestamp, incarnation } = header;
        Self {
            source: source.0,
            destination: destination.0,
            channel: channel.0,
            seq: match seq {
                Seq::Zero => 0,
                Seq::One => 1,
            },
            timestamp: timestamp.0,
            incarnation: incarnation.0,
        }
    }
}

impl<'a> MessageRow<'a> {
    fn about(message: MessageId, name: &impl Fn(NodeId) -> &'a str) -> Self {
        let MessageId { nic, endpoint, number } = message;
        let from = named((nic, endpoint), name);
        Self { message: Some(MessageName { from, number }), ..Self::default() }
    }

    fn at(self, endpoint: EndpointName<'a>) -> Self {
        Self { endpoint: Some(endpoint), ..self }
    }

    fn with(self, header: Header) -> Self {
        Self { header: Some(header.into()), ..self }
    }

    fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason.name()), ..self }
    }

    /// Of what happened at a host, given the names of nodes.
    pub(super) fn of_told(told: &Told, here: NodeId, name: &impl Fn(NodeId) -> &'a str) -> Self {
        let about = |message: &MessageId| Self::about(*message, name);
        let local = |endpoint: &EndpointId| EndpointName { host: name(here), endpoint: *endpoint };
        let none = Self::default();
        match told {
            Told::Accepted(message, to) => about(message).at(named(*to, name)),
            Told::Written(message, endpoint)
            | Told::Lost(message, endpoint)
            | Told::Damaged(message, endpoint) => about(message).at(local(endpoint)),
            Told::Acknowledged(message) | Told::GivenUp(message) => about(message),
            Told::Returned(message, why) => {
                let row = Self { why: Some(why.name()), ..about(message) };
                if let Why::Refused(reason) = why { row.because(*reason) } else { row }
            }
            Told::Refused(message, header, reason) => about(message).with(*header).because(*reason),
            Told::Dropped(message, reason) => about(message).because(*reason),
            Told::Noticed(header, note) => {
                let row = none.with(*header);
                if let Note::Refused(reason) = note { row.because(*reason) } else { row }
            }
            Told::Malformed(error) => Self { error: Some(error.to_string()), ..none },
            Told::Overrun => none,
            Told::Leaving(endpoint)
            | Told::Unloaded(endpoint)
            | Told::Loaded(endpoint)
            | Told::Mapped(endpoint) => none.at(local(endpoint)),
            Told::Credits(endpoint, credits) => {
                Self { credits: Some(*credits), ..none.at(local(endpoint)) }
            }
        }
    }

    /// Of what is sent.
    pub(super) fn of_transmission(
        transmission: &Transmission,
        name: &impl Fn(NodeId) -> &'a str,
    ) -> Self {
        match *transmission {
            Transmission::Data { header, sync, message, turn } => Self {
                sync: Some(sync == Sync::Set),
                again: Some(turn == Turn::Again),
                ..Self::about(message, name).with(header)
            },
            Transmission::Ack(header) => Self::default().with(header),
            Transmission::Nack(header, reason) => Self::default().with(header).because(reason),
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
pub(super) const fn kind_of_told(told: &Told) -> &'static str {
    match told {
        Told::Accepted(..) => "message-accepted",
        Told::Written(..) => "message-written",
        Told::Acknowledged(_) => "message-acknowledged",
        Told::Returned(..) => "message-returned",
        Told::GivenUp(_) => "message-given-up",
        Told::Lost(..) => "message-lost",
        Told::Damaged(..) => "message-damaged",
        Told::Refused(..) => "message-refused",
        Told::Dropped(..) => "message-dropped",
        Told::Noticed(_, note) => match note {
            Note::Duplicate => "transport-duplicate",
            Note::Stale => "transport-stale",
            Note::Late => "transport-late",
            Note::Unknown => "transport-unknown",
            Note::Retransmitted => "transport-retransmitted",
            Note::Refused(_) => "transport-refused",
        },
        Told::Malformed(_) => "transport-malformed",
        Told::Overrun => "transport-overrun",
        Told::Leaving(_) => "endpoint-leaving",
        Told::Unloaded(_) => "endpoint-unloaded",
        Told::Loaded(_) => "endpoint-loaded",
        Told::Mapped(_) => "host-memory-mapped",
        Told::Credits(..) => "endpoint-credits",
    }
}

/// The name of the kind of event.
pub(super) const fn kind_of_transmission(transmission: &Transmission) -> &'static str {
    match transmission {
        Transmission::Data { .. } => "message-transmitted",
        Transmission::Ack(_) => "ack-transmitted",
        Transmission::Nack(..) => "nack-transmitted",
    }
}

impl Why {
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
