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

impl<M: SerializeMap> RowWriter<'_, M> {
    /// Writes the name and the fields of an event at a host.
    pub(super) fn messaging(&mut self, here: NodeId, event: &MessagingEvent) -> &mut Self {
        match event {
            MessagingEvent::Accepted(id, (nic, to)) => {
                self.event("message-accepted").message(*id).endpoint(node_of(*nic), *to)
            }
            MessagingEvent::Written(id, at) => {
                self.event("message-written").message(*id).endpoint(here, *at)
            }
            MessagingEvent::Lost(id, at) => {
                self.event("message-lost").message(*id).endpoint(here, *at)
            }
            MessagingEvent::Damaged(id, at) => {
                self.event("message-damaged").message(*id).endpoint(here, *at)
            }
            MessagingEvent::Acknowledged(id) => self.event("message-acknowledged").message(*id),
            MessagingEvent::GivenUp(id) => self.event("message-given-up").message(*id),
            MessagingEvent::Returned(id, why) => {
                let (name, reason) = match why {
                    ReturnCause::Refused(reason) => ("refused", Some(reason.name())),
                    ReturnCause::Unreachable => ("unreachable", None),
                    ReturnCause::Restarted => ("restarted", None),
                };
                self.event("message-returned").message(*id).field("why", name);
                self.optional("reason", reason)
            }
            MessagingEvent::Refused(id, packet, reason) => {
                self.event("message-refused").message(*id).header(packet);
                self.field("reason", reason.name())
            }
            MessagingEvent::Dropped(id, reason) => {
                self.event("message-dropped").message(*id).field("reason", reason.name())
            }
            MessagingEvent::Observed(packet, notice) => {
                let (name, reason) = match notice {
                    TransportNotice::Duplicate => ("transport-duplicate", None),
                    TransportNotice::Stale => ("transport-stale", None),
                    TransportNotice::Late => ("transport-late", None),
                    TransportNotice::Unknown => ("transport-unknown", None),
                    TransportNotice::Retransmitted => ("transport-retransmitted", None),
                    TransportNotice::Refused(reason) => ("transport-refused", Some(reason.name())),
                };
                self.event(name).header(packet).optional("reason", reason)
            }
            MessagingEvent::Malformed(error) => {
                self.event("transport-malformed").field("error", &format_args!("{error}"))
            }
            MessagingEvent::Overrun => self.event("transport-overrun"),
            MessagingEvent::Leaving(at) => self.event("endpoint-leaving").endpoint(here, *at),
            MessagingEvent::Unloaded(at) => self.event("endpoint-unloaded").endpoint(here, *at),
            MessagingEvent::Loaded(at) => self.event("endpoint-loaded").endpoint(here, *at),
            MessagingEvent::Mapped(at) => self.event("host-memory-mapped").endpoint(here, *at),
            MessagingEvent::Credits(at, credits) => {
                self.event("endpoint-credits").endpoint(here, *at).field("credits", credits)
            }
        }
    }

    /// Writes the name and the fields of a transport packet being sent.
    pub(super) fn transmission(&mut self, kind: &TransmissionKind) -> &mut Self {
        match kind {
            TransmissionKind::Data { header, sync, message, turn } => {
                self.event("message-transmitted").message(*message).header(header);
                self.field("sync", &(*sync == SyncFlag::Set));
                self.field("again", &(*turn == TransmissionAttempt::Again))
            }
            TransmissionKind::Ack(header) => self.event("ack-transmitted").header(header),
            TransmissionKind::Nack(header, reason) => {
                self.event("nack-transmitted").header(header).field("reason", reason.name())
            }
        }
    }
}
