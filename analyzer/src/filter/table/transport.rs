//! Fields of transport packets, in the order of their JSON.

use super::{BYTE, CRC, U32};
use crate::filter::field::FieldShape::{Flag, List, Number, Text, Words};
use crate::filter::field::RowField;
use crate::transport::{KINDS, REASONS, ROLES};

const U16: u64 = u16::MAX as u64;

/// Fields of a packet of the reliability protocol.
#[rustfmt::skip]
pub(super) const TRANSPORT: [RowField; 20] = [
    RowField::new("transport", List, "members", "", "what a packet of the reliability protocol says"),
    RowField::new("transport.kind", Words(KINDS), "", "T-7", "what kind of packet it is"),
    RowField::new("transport.crc", Words(CRC), "", "P-4", "what the CRC byte says of what was read"),
    RowField::new("transport.fault", Text, "", "T-7", "where it is malformed, and how"),
    RowField::new("transport.source", Number(U16), "", "", "NIC that sends it"),
    RowField::new("transport.destination", Number(U16), "", "", "NIC that it goes to"),
    RowField::new("transport.channel", Number(BYTE), "", "T-2", "logical channel"),
    RowField::new("transport.seq", Number(1), "", "T-4", "sequence number"),
    RowField::new("transport.timestamp", Number(U32), "us", "T-8", "of the data, by its sender's clock"),
    RowField::new("transport.incarnation", Number(U16), "", "T-12", "of the logical channel"),
    RowField::new("transport.reason", Words(REASONS), "", "T-6", "why a NACK was sent"),
    RowField::new("transport.sync", Flag, "", "T-12", "whether data opens its logical channel"),
    RowField::new("transport.role", Words(ROLES), "", "T-9", "which way of a conversation data goes"),
    RowField::new("transport.source_endpoint", Number(U16), "", "", "endpoint that sends it"),
    RowField::new("transport.destination_endpoint", Number(U16), "", "T-6", "endpoint that it is for"),
    RowField::new("transport.key", Text, "", "T-6", "key of that endpoint, 16 hex digits"),
    RowField::new("transport.handler", Number(BYTE), "", "", "which function is to handle it"),
    RowField::new("transport.length", Number(U16), "bytes", "", "payload of the message"),
    RowField::new("transport.offset", Number(U32), "bytes", "", "of a bulk piece in the segment"),
    RowField::new("transport.total", Number(U32), "bytes", "", "of the whole bulk transfer"),
];
