//! A message as a host and its NIC keep it, and the packets that carry it.

use std::sync::Arc;

use codec::error::DecodeError;
use codec::transport::{
    self, EndpointId, EndpointKey, MessageBody, MessageForm, MessageRole, Nic, TransportMessage,
};

use super::event::MessageId;
use crate::rng::Rng;
use crate::transport::ProtocolPacket;

/// Where the bytes of a request that are its own begin: behind its number.
const REQUEST_HEAD: usize = 4;

/// Where those of a reply begin: behind its number, and that of the request.
const REPLY_HEAD: usize = 8;

/// A message: what the protocol's machine carries, and looks not into.
pub(super) type SharedMessage = Arc<HostMessage>;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HostMessage {
    /// Who sent it, and the how manyth.
    pub id: MessageId,
    /// The endpoint that it is for.
    pub to: EndpointId,
    /// Request or reply.
    pub role: MessageRole,
    /// The key, as the sender knows it.
    pub key: EndpointKey,
    /// Short, medium, or a piece of a bulk one, and which.
    pub form: MessageForm,
    /// Argument words or payload.
    pub bytes: Vec<u8>,
}

/// Those who send and get a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageAddress {
    /// Who sends it, and the how manyth it is.
    pub id: MessageId,
    /// The endpoint that it is for.
    pub to: EndpointId,
    /// Its key.
    pub key: EndpointKey,
}

impl HostMessage {
    /// A request of so many bytes; 4 at least.
    pub(super) fn request(address: MessageAddress, form: MessageForm, length: usize) -> Self {
        let MessageAddress { id, to, key } = address;
        Self { id, to, role: MessageRole::Request, key, form, bytes: content(id, length) }
    }

    /// The reply to a request. *Chosen*: as short as the request, or of four words, as the paper's are
    /// to bulk transfers; two at least, of which the second is the number of the request.
    pub(super) fn reply(address: MessageAddress, request: &Self) -> Self {
        let MessageAddress { id, to, key } = address;
        let length = match request.form {
            MessageForm::Short => request.bytes.len().max(REPLY_HEAD),
            MessageForm::Medium | MessageForm::Bulk { .. } => 16,
        };
        let mut bytes = content(id, length);
        bytes.splice(REQUEST_HEAD..REPLY_HEAD, request.id.number.to_be_bytes());
        Self { id, to, role: MessageRole::Reply, key, form: MessageForm::Short, bytes }
    }

    /// The number of the request that it answers, if it is a reply.
    pub(super) fn answers(&self) -> Option<u32> {
        match self.role {
            MessageRole::Request => None,
            MessageRole::Reply => word(self.bytes.get(REQUEST_HEAD..)?),
        }
    }

    /// Whether its bytes are those that its sender gave it.
    pub(super) fn is_intact(&self) -> bool {
        let head = match self.role {
            MessageRole::Request => REQUEST_HEAD,
            MessageRole::Reply => REPLY_HEAD,
        };
        let sent = content(self.id, self.bytes.len());
        self.bytes.len() >= head && sent.get(head..) == self.bytes.get(head..)
    }

    /// Whether its bytes pass between the host's memory and the NIC's by DMA.
    pub(super) const fn is_transferred(&self) -> bool {
        match self.form {
            MessageForm::Short => false,
            MessageForm::Medium | MessageForm::Bulk { .. } => true,
        }
    }
}

/// The bytes of a message: its number, then what only depends on who sent it and the number.
pub(super) fn content(id: MessageId, length: usize) -> Vec<u8> {
    let sender = u64::from(id.nic.0) << 16 | u64::from(id.endpoint.0);
    let mut dice = Rng::new(sender, u64::from(id.number));
    let mut bytes = Vec::with_capacity(length.saturating_add(12));
    bytes.extend_from_slice(&id.number.to_be_bytes());
    while bytes.len() < length {
        bytes.extend_from_slice(&dice.next_u64().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn word(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|word| u32::from_be_bytes(*word))
}

/// Reads a packet. T-7
pub(super) fn parse_packet(payload: &[u8]) -> Result<ProtocolPacket<SharedMessage>, DecodeError> {
    Ok(match transport::TransportPacket::<MessageBody<'_>>::parse(payload)? {
        transport::TransportPacket::Data(header, sync, message) => {
            let TransportMessage { role, source, destination, key, body, .. } = message;
            let bytes = body.bytes().to_vec();
            // One that is too short to have a number is none of ours.
            let number = word(&bytes).unwrap_or(u32::MAX);
            let id = MessageId { nic: header.source, endpoint: source, number };
            let form = body.form();
            let parcel = HostMessage { id, to: destination, role, key, form, bytes };
            ProtocolPacket::Data(header, sync, Arc::new(parcel))
        }
        transport::TransportPacket::Ack(header) => ProtocolPacket::Ack(header),
        transport::TransportPacket::Nack(header, reason) => ProtocolPacket::Nack(header, reason),
    })
}

/// The NIC that a packet is for, and the packet in bytes.
pub(super) fn emit_packet(packet: &ProtocolPacket<SharedMessage>) -> (Nic, Vec<u8>) {
    let mut bytes = Vec::new();
    let to = match packet {
        ProtocolPacket::Data(header, sync, parcel) => {
            if let Some(message) = message(parcel) {
                transport::TransportPacket::Data(*header, *sync, message).emit(&mut bytes);
            }
            header.destination
        }
        ProtocolPacket::Ack(header) => {
            transport::TransportPacket::Ack(*header).emit(&mut bytes);
            header.destination
        }
        ProtocolPacket::Nack(header, reason) => {
            transport::TransportPacket::Nack(*header, *reason).emit(&mut bytes);
            header.destination
        }
    };
    (to, bytes)
}

/// *Chosen*: handler 0 for requests, 1 for replies.
fn message(parcel: &HostMessage) -> Option<TransportMessage<MessageBody<'_>>> {
    let HostMessage { id, to, role, key, form, ref bytes } = *parcel;
    let handler = match role {
        MessageRole::Request => 0,
        MessageRole::Reply => 1,
    };
    let body = MessageBody::new(form, bytes)?;
    Some(TransportMessage { role, source: id.endpoint, destination: to, key, handler, body })
}

#[cfg(test)]
mod tests {
    use codec::transport::{
        ChannelIncarnation, LogicalChannel, SequenceBit, SyncFlag, TransportHeader,
        TransportTimestamp,
    };

    use super::*;

    fn address(number: u32) -> MessageAddress {
        let id = MessageId { nic: Nic(3), endpoint: EndpointId(2), number };
        MessageAddress { id, to: EndpointId(7), key: EndpointKey(9) }
    }

    #[test]
    fn a_reply_names_its_request_in_its_second_word() {
        let request = HostMessage::request(address(0x0102_0304), MessageForm::Short, 4);
        assert_eq!(request.bytes, [1, 2, 3, 4]);
        let reply = HostMessage::reply(address(5), &request);
        assert_eq!(reply.bytes, [0, 0, 0, 5, 1, 2, 3, 4]);
        assert_eq!((reply.answers(), request.answers()), (Some(0x0102_0304), None));
        let medium = HostMessage::request(address(6), MessageForm::Medium, 8192);
        assert_eq!(HostMessage::reply(address(7), &medium).bytes.len(), 16);
    }

    #[test]
    fn a_changed_byte_is_damage() {
        let mut parcel = HostMessage::request(address(1), MessageForm::Medium, 100);
        assert!(parcel.is_intact());
        parcel.bytes[99] ^= 1;
        assert!(!parcel.is_intact());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let header = TransportHeader {
            source: Nic(3),
            destination: Nic(4),
            channel: LogicalChannel(1),
            seq: SequenceBit::One,
            timestamp: TransportTimestamp(5),
            incarnation: ChannelIncarnation(6),
        };
        let form = MessageForm::Bulk { offset: 8, total: 99 };
        let parcel = Arc::new(HostMessage::request(address(2), form, 40));
        for packet in
            [ProtocolPacket::Data(header, SyncFlag::Set, parcel), ProtocolPacket::Ack(header)]
        {
            let (to, bytes) = emit_packet(&packet);
            assert_eq!((to, parse_packet(&bytes)), (Nic(4), Ok(packet)));
        }
    }
}
