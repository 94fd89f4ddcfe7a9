//! Transport packets in rows.

use codec::transport::{
    MessageExtent, MessageForm, MessageRole, NackReason, SequenceBit, SyncFlag, TransportHeader,
    TransportMessage, TransportPacket,
};
use serde::Serialize;

use super::ParsedTransport;

/// A transport packet in a row, without the fields that it does not have; fields as in `docs/output.md`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "docs/output.md describes the fields")]
pub struct TransportRow {
    pub kind: &'static str,
    pub crc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_endpoint: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_endpoint: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
}

impl ParsedTransport {
    /// The packet as a member of a row.
    #[must_use]
    pub fn row(&self) -> TransportRow {
        let kind = kind_name(self);
        let mut row = TransportRow { kind, crc: self.check.name(), ..TransportRow::default() };
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

/// Kind of a transport packet.
#[must_use]
pub const fn kind_name(seen: &ParsedTransport) -> &'static str {
    match &seen.packet {
        Ok(TransportPacket::Data(_, _, message)) => message.body.form().name(),
        Ok(TransportPacket::Ack(_)) => ACK,
        Ok(TransportPacket::Nack(..)) => NACK,
        Err(_) => MALFORMED,
    }
}

/// Results of [`kind_name`].
pub const KINDS: &[&str] = &[
    MessageForm::Short.name(),
    MessageForm::Medium.name(),
    MessageForm::Bulk { offset: 0, total: 0 }.name(),
    ACK,
    NACK,
    MALFORMED,
];

/// Names of reasons, in their order.
pub const REASONS: &[&str] = &[
    NackReason::NotResident.name(),
    NackReason::QueueFull.name(),
    NackReason::NoResource.name(),
    NackReason::NoChannelState.name(),
    NackReason::BadKey.name(),
    NackReason::NoSuchEndpoint.name(),
];

/// Names of roles.
pub const ROLES: &[&str] = &[MessageRole::Request.name(), MessageRole::Reply.name()];
