//! Names and fields of events about messages and endpoints: `docs/truth.md`. T

use codec::transport::{EndpointId, Nic, SequenceBit, SyncFlag, TransportHeader};
use serde::ser::SerializeMap;

use super::row::RowWriter;
use super::{MessageId, MessagingEvent, ReturnCause, TransmissionAttempt, TransmissionKind};
use crate::node::NodeId;
use crate::transport::TransportNotice;

impl<M: SerializeMap> RowWriter<'_, M> {
    fn message(&mut self, MessageId { nic, endpoint, number }: MessageId) -> &mut Self {
        let host = self.node_name(node_of(nic));
        self.field("message", &format_args!("{host}.{}#{number}", endpoint.0))
    }

    fn endpoint(&mut self, host: NodeId, endpoint: EndpointId) -> &mut Self {
        let host = self.node_name(host);
        self.field("endpoint", &format_args!("{host}.{}", endpoint.0))
    }

    fn header(&mut self, header: &TransportHeader) -> &mut Self {
        let TransportHeader { source, destination, channel, seq, timestamp, incarnation } = header;
        self.field("source", &source.0).field("destination", &destination.0);
        let seq = u8::from(*seq == SequenceBit::One);
        self.field("channel", &channel.0).field("seq", &seq);
        self.field("timestamp", &timestamp.0).field("incarnation", &incarnation.0)
    }
}

fn node_of(nic: Nic) -> NodeId {
    NodeId(nic.0.into())
}

impl MessagingEvent {
    /// Writes the name and the fields of an event at a host.
    pub(super) fn write<'w, 'a, M: SerializeMap>(
        &self,
        here: NodeId,
        out: &'w mut RowWriter<'a, M>,
    ) -> &'w mut RowWriter<'a, M> {
        match self {
            Self::Accepted(id, (nic, to)) => {
                out.event("message-accepted").message(*id).endpoint(node_of(*nic), *to)
            }
            Self::Written(id, at) => out.event("message-written").message(*id).endpoint(here, *at),
            Self::Lost(id, at) => out.event("message-lost").message(*id).endpoint(here, *at),
            Self::Damaged(id, at) => out.event("message-damaged").message(*id).endpoint(here, *at),
            Self::Acknowledged(id) => out.event("message-acknowledged").message(*id),
            Self::GivenUp(id) => out.event("message-given-up").message(*id),
            Self::Returned(id, why) => {
                let (name, reason) = match why {
                    ReturnCause::Refused(reason) => ("refused", Some(reason.name())),
                    ReturnCause::Unreachable => ("unreachable", None),
                    ReturnCause::Restarted => ("restarted", None),
                };
                out.event("message-returned").message(*id).field("why", name);
                out.optional("reason", reason)
            }
            Self::Refused(id, packet, reason) => {
                out.event("message-refused").message(*id).header(packet);
                out.field("reason", reason.name())
            }
            Self::Dropped(id, reason) => {
                out.event("message-dropped").message(*id).field("reason", reason.name())
            }
            Self::Observed(packet, notice) => {
                let (name, reason) = match notice {
                    TransportNotice::Duplicate => ("transport-duplicate", None),
                    TransportNotice::Stale => ("transport-stale", None),
                    TransportNotice::Late => ("transport-late", None),
                    TransportNotice::Unknown => ("transport-unknown", None),
                    TransportNotice::Retransmitted => ("transport-retransmitted", None),
                    TransportNotice::Refused(reason) => ("transport-refused", Some(reason.name())),
                };
                out.event(name).header(packet).optional("reason", reason)
            }
            Self::Malformed(error) => {
                out.event("transport-malformed").field("error", &format_args!("{error}"))
            }
            Self::Overrun => out.event("transport-overrun"),
            Self::Leaving(at) => out.event("endpoint-leaving").endpoint(here, *at),
            Self::Unloaded(at) => out.event("endpoint-unloaded").endpoint(here, *at),
            Self::Loaded(at) => out.event("endpoint-loaded").endpoint(here, *at),
            Self::Mapped(at) => out.event("host-memory-mapped").endpoint(here, *at),
            Self::Credits(at, credits) => {
                out.event("endpoint-credits").endpoint(here, *at).field("credits", credits)
            }
        }
    }
}

impl TransmissionKind {
    /// Writes the name and the fields of a transport packet being sent.
    pub(super) fn write<'w, 'a, M: SerializeMap>(
        &self,
        out: &'w mut RowWriter<'a, M>,
    ) -> &'w mut RowWriter<'a, M> {
        match self {
            Self::Data { header, sync, message, turn } => {
                out.event("message-transmitted").message(*message).header(header);
                out.field("sync", &(*sync == SyncFlag::Set));
                out.field("again", &(*turn == TransmissionAttempt::Again))
            }
            Self::Ack(header) => out.event("ack-transmitted").header(header),
            Self::Nack(header, reason) => {
                out.event("nack-transmitted").header(header).field("reason", reason.name())
            }
        }
    }
}
