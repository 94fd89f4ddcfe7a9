//! Fields of events about messages and endpoints: `docs/truth.md`. T

use codec::transport::{EndpointId, NackReason, Nic, SequenceBit, SyncFlag, TransportHeader};
use serde::ser::SerializeMap;

use crate::messaging::{
    MessageId, MessagingEvent, ReturnCause, TransmissionAttempt, TransmissionKind,
};
use crate::topology::NodeId;
use crate::transport::TransportNotice;

/// Writes the fields of an event at a host.
pub(super) fn event_fields<'a, M: SerializeMap>(
    event: &MessagingEvent,
    here: NodeId,
    name: &impl Fn(NodeId) -> &'a str,
    row: &mut M,
) -> Result<(), M::Error> {
    match event {
        MessagingEvent::Accepted(id, (nic, to)) => {
            message(*id, name, row)?;
            endpoint(node_of(*nic), *to, name, row)
        }
        MessagingEvent::Written(id, at)
        | MessagingEvent::Lost(id, at)
        | MessagingEvent::Damaged(id, at) => {
            message(*id, name, row)?;
            endpoint(here, *at, name, row)
        }
        MessagingEvent::Acknowledged(id) | MessagingEvent::GivenUp(id) => message(*id, name, row),
        MessagingEvent::Returned(id, why) => {
            message(*id, name, row)?;
            row.serialize_entry("why", why.name())?;
            if let ReturnCause::Refused(cause) = why { reason(*cause, row) } else { Ok(()) }
        }
        MessagingEvent::Refused(id, packet, cause) => {
            message(*id, name, row)?;
            header(packet, row)?;
            reason(*cause, row)
        }
        MessagingEvent::Dropped(id, cause) => {
            message(*id, name, row)?;
            reason(*cause, row)
        }
        MessagingEvent::Noticed(packet, notice) => {
            header(packet, row)?;
            if let TransportNotice::Refused(cause) = notice { reason(*cause, row) } else { Ok(()) }
        }
        MessagingEvent::Malformed(error) => row.serialize_entry("error", &format_args!("{error}")),
        MessagingEvent::Overrun => Ok(()),
        MessagingEvent::Leaving(at)
        | MessagingEvent::Unloaded(at)
        | MessagingEvent::Loaded(at)
        | MessagingEvent::Mapped(at) => endpoint(here, *at, name, row),
        MessagingEvent::Credits(at, credits) => {
            endpoint(here, *at, name, row)?;
            row.serialize_entry("credits", credits)
        }
    }
}

/// Writes the fields of a transport packet being sent.
pub(super) fn transmission_fields<'a, M: SerializeMap>(
    kind: &TransmissionKind,
    name: &impl Fn(NodeId) -> &'a str,
    row: &mut M,
) -> Result<(), M::Error> {
    match kind {
        TransmissionKind::Data { header: packet, sync, message: id, turn } => {
            message(*id, name, row)?;
            header(packet, row)?;
            row.serialize_entry("sync", &(*sync == SyncFlag::Set))?;
            row.serialize_entry("again", &(*turn == TransmissionAttempt::Again))
        }
        TransmissionKind::Ack(packet) => header(packet, row),
        TransmissionKind::Nack(packet, cause) => {
            header(packet, row)?;
            reason(*cause, row)
        }
    }
}

fn node_of(nic: Nic) -> NodeId {
    NodeId(nic.0.into())
}

fn message<'a, M: SerializeMap>(
    MessageId { nic, endpoint, number }: MessageId,
    name: &impl Fn(NodeId) -> &'a str,
    row: &mut M,
) -> Result<(), M::Error> {
    let text = format_args!("{}.{}#{number}", name(node_of(nic)), endpoint.0);
    row.serialize_entry("message", &text)
}

fn endpoint<'a, M: SerializeMap>(
    host: NodeId,
    endpoint: EndpointId,
    name: &impl Fn(NodeId) -> &'a str,
    row: &mut M,
) -> Result<(), M::Error> {
    row.serialize_entry("endpoint", &format_args!("{}.{}", name(host), endpoint.0))
}

fn reason<M: SerializeMap>(cause: NackReason, row: &mut M) -> Result<(), M::Error> {
    row.serialize_entry("reason", cause.name())
}

fn header<M: SerializeMap>(header: &TransportHeader, row: &mut M) -> Result<(), M::Error> {
    let TransportHeader { source, destination, channel, seq, timestamp, incarnation } = header;
    row.serialize_entry("source", &source.0)?;
    row.serialize_entry("destination", &destination.0)?;
    row.serialize_entry("channel", &channel.0)?;
    let seq = match seq {
        SequenceBit::Zero => 0_u8,
        SequenceBit::One => 1,
    };
    row.serialize_entry("seq", &seq)?;
    row.serialize_entry("timestamp", &timestamp.0)?;
    row.serialize_entry("incarnation", &incarnation.0)
}

pub(super) const fn event_name(event: &MessagingEvent) -> &'static str {
    match event {
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

pub(super) const fn transmission_name(kind: &TransmissionKind) -> &'static str {
    match kind {
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
