//! A transport packet as a member of the rows of `docs/output.md`.

use codec::transport::{
    MessageExtent, MessageForm, MessageRole, NackReason, SequenceBit, SyncFlag, TransportHeader,
    TransportMessage, TransportPacket,
};
use serde::Serialize;

use super::ParsedTransport;
use crate::packet::crc_name;

/// What a transport packet says. Members that it does not have are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransportRow {
    /// `short`, `medium`, `bulk`, `ack`, `nack` or `malformed`.
    pub kind: &'static str,
    /// `good`, `bad` or `runt`: what the CRC byte says of the bytes that this was read from.
    pub crc: &'static str,
    /// Where a malformed one is so, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The NIC that sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<u16>,
    /// The NIC that it goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<u16>,
    /// The logical channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u8>,
    /// The sequence number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u8>,
    /// When the data was transmitted, in µs of its sender's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u32>,
    /// The logical channel's incarnation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u16>,
    /// Why it is a NACK: [`NackReason::name`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Whether data opens its logical channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<bool>,
    /// `request` or `reply`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// The endpoint that sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_endpoint: Option<u16>,
    /// The endpoint that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_endpoint: Option<u16>,
    /// The endpoint's key, in 16 hex digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Handler index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler: Option<u8>,
    /// Bytes of its payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u16>,
    /// Bulk: offset in the receiver's segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// Bulk: bytes of the whole transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
}

impl ParsedTransport {
    /// The packet as a member of a row.
    #[must_use]
    pub fn row(&self) -> TransportRow {
        let kind = kind_name(self);
        let mut row = TransportRow { kind, crc: crc_name(self.check), ..TransportRow::default() };
        match &self.packet {
            Err(fault) => row.fault = Some(fault.to_string()),
            Ok(packet) => {
                row.head(packet.header());
                match packet {
                    TransportPacket::Ack(_) => {}
                    TransportPacket::Nack(_, reason) => row.reason = Some(reason.name()),
                    TransportPacket::Data(_, sync, message) => row.message(*sync, message),
                }
            }
        }
        row
    }
}

impl TransportRow {
    fn head(&mut self, header: TransportHeader) {
        let TransportHeader { source, destination, channel, seq, timestamp, incarnation } = header;
        self.source = Some(source.0);
        self.destination = Some(destination.0);
        self.channel = Some(channel.0);
        self.seq = Some(match seq {
            SequenceBit::Zero => 0,
            SequenceBit::One => 1,
        });
        self.timestamp = Some(timestamp.0);
        self.incarnation = Some(incarnation.0);
    }

    fn message(&mut self, sync: SyncFlag, message: &TransportMessage<MessageExtent>) {
        let TransportMessage { role, source, destination, key, handler, body } = message;
        self.sync = Some(sync == SyncFlag::Set);
        self.role = Some(role.name());
        self.source_endpoint = Some(source.0);
        self.destination_endpoint = Some(destination.0);
        self.key = Some(format!("{:016x}", key.0));
        self.handler = Some(*handler);
        self.length = Some(body.len());
        if let MessageForm::Bulk { offset, total } = body.form() {
            (self.offset, self.total) = (Some(offset), Some(total));
        }
    }
}

const ACK: &str = "ack";
const NACK: &str = "nack";
const MALFORMED: &str = "malformed";

/// What a transport packet is, in a word.
#[must_use]
pub const fn kind_name(seen: &ParsedTransport) -> &'static str {
    match &seen.packet {
        Ok(TransportPacket::Data(_, _, message)) => message.body.form().name(),
        Ok(TransportPacket::Ack(_)) => ACK,
        Ok(TransportPacket::Nack(..)) => NACK,
        Err(_) => MALFORMED,
    }
}

/// All that [`kind_name`] says.
pub const KINDS: &[&str] = &[
    MessageForm::Short.name(),
    MessageForm::Medium.name(),
    MessageForm::Bulk { offset: 0, total: 0 }.name(),
    ACK,
    NACK,
    MALFORMED,
];

/// The names of reasons, in their order.
pub const REASONS: &[&str] = &[
    NackReason::NotResident.name(),
    NackReason::QueueFull.name(),
    NackReason::NoResource.name(),
    NackReason::NoChannelState.name(),
    NackReason::BadKey.name(),
    NackReason::NoSuchEndpoint.name(),
];

/// The names of roles.
pub const ROLES: &[&str] = &[MessageRole::Request.name(), MessageRole::Reply.name()];
