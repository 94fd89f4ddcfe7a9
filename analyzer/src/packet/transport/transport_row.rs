//! Transport packets in rows.

use codec::packet::CrcCheck;
use codec::transport::{
    MessageExtent, MessageForm, MessageRole, NackReason, SequenceBit, SyncFlag, TransportHeader,
    TransportMessage, TransportPacket,
};

use super::ParsedTransport;
use crate::row::FieldShape::{Number, Words};
use crate::row::row;

row! {
    /// A transport packet in a row, without the fields that it does not have; fields as in `docs/output.md`.
    #[derive(Default)]
    pub struct TransportRow {
        kind: &'static str as Words(KINDS), "", "T-7", "what kind of packet it is";
        crc: &'static str as Words(CrcCheck::NAMES), "", "P-4", "what the CRC byte says of what was read";
        fault: Option<String> ["Option::is_none"], "", "T-7", "where it is malformed, and how";
        source: Option<u16> ["Option::is_none"], "", "", "NIC that sends it";
        destination: Option<u16> ["Option::is_none"], "", "", "NIC that it goes to";
        channel: Option<u8> ["Option::is_none"], "", "T-2", "logical channel";
        seq: Option<u8> ["Option::is_none"] as Number(1), "", "T-4", "sequence number";
        timestamp: Option<u32> ["Option::is_none"], "us", "T-8", "of the data, by its sender's clock";
        incarnation: Option<u16> ["Option::is_none"], "", "T-12", "of the logical channel";
        reason: Option<&'static str> ["Option::is_none"] as Words(NackReason::NAMES), "", "T-6", "why a NACK was sent";
        sync: Option<bool> ["Option::is_none"], "", "T-12", "whether data opens its logical channel";
        role: Option<&'static str> ["Option::is_none"] as Words(MessageRole::NAMES), "", "T-9", "which way of a conversation data goes";
        source_endpoint: Option<u16> ["Option::is_none"], "", "", "endpoint that sends it";
        destination_endpoint: Option<u16> ["Option::is_none"], "", "T-6", "endpoint that it is for";
        key: Option<String> ["Option::is_none"], "", "T-6", "key of that endpoint, 16 hex digits";
        handler: Option<u8> ["Option::is_none"], "", "", "which function is to handle it";
        length: Option<u16> ["Option::is_none"], "bytes", "", "payload of the message";
        offset: Option<u32> ["Option::is_none"], "bytes", "", "of a bulk piece in the segment";
        total: Option<u32> ["Option::is_none"], "bytes", "", "of the whole bulk transfer";
    }
}

impl ParsedTransport {
    /// The packet as a member of a row.
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
pub const fn kind_name(seen: &ParsedTransport) -> &'static str {
    match &seen.packet {
        Ok(TransportPacket::Data(_, _, message)) => message.body.form().name(),
        Ok(TransportPacket::Ack(_)) => ACK,
        Ok(TransportPacket::Nack(..)) => NACK,
        Err(_) => MALFORMED,
    }
}

/// Results of [`kind_name`].
const KINDS: &[&str] = &[
    MessageForm::Short.name(),
    MessageForm::Medium.name(),
    MessageForm::Bulk { offset: 0, total: 0 }.name(),
    ACK,
    NACK,
    MALFORMED,
];
