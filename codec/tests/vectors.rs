//! The published vectors of `fixtures/codec.json`: CRCs, hops, route bytes, control codes; and of
//! `fixtures/transport.json`: packets of the reliability protocol.

use myriscope_codec::character::{DecodedCode, Symbol, decode_control};
use myriscope_codec::crc::{crc_after_hop, crc8, syndrome};
use myriscope_codec::route::{PortId, RouteAddressing};
use myriscope_codec::transport::{
    ChannelIncarnation, DATA_HEADER_LEN, EndpointId, EndpointKey, LogicalChannel, MessageBody,
    MessageForm, MessageRole, NackReason, Nic, SequenceBit, SyncFlag, TransportHeader,
    TransportMessage, TransportPacket, TransportTimestamp,
};
use serde_json::Value;

const VECTORS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/codec.json"));
const TRANSPORT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/transport.json"));

fn vectors(table: &str) -> Value {
    take(VECTORS, table)
}

fn take(file: &str, table: &str) -> Value {
    let mut all: Value = serde_json::from_str(file).unwrap_or_default();
    all.get_mut(table).map(Value::take).unwrap_or_default()
}

fn rows(table: &Value) -> &[Value] {
    table.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn number(value: &Value) -> Option<u8> {
    value.as_u64().and_then(|number| u8::try_from(number).ok())
}

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().unwrap_or_default().as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    assert!(rest.is_empty(), "whole bytes");
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = pairs.iter().filter_map(byte).collect();
    assert_eq!(bytes.len(), pairs.len(), "hex digits only");
    bytes
}

#[test]
fn every_crc_is_the_published_one() {
    let table = vectors("crc8");
    assert_eq!(rows(&table).len(), 7);
    for row in rows(&table) {
        assert_eq!(Some(crc8(&bytes(&row["hex"]))), number(&row["crc"]), "{row}");
    }
}

#[test]
fn every_hop_forwards_the_published_packet() {
    let table = vectors("hop");
    assert_eq!(rows(&table["rows"]).len(), 4);
    for row in rows(&table["rows"]) {
        let packet = bytes(&row["in"]);
        assert_eq!(syndrome(&packet), number(&row["syndrome"]), "{row}");
        let (_, rest) = packet.split_first().unwrap();
        let mut forwarded = rest.to_vec();
        *forwarded.last_mut().unwrap() = crc_after_hop(&packet).unwrap();
        assert_eq!(forwarded, bytes(&row["out"]), "{row}");
        assert_eq!(syndrome(&forwarded), number(&row["syndrome"]), "{row}");
    }
}

#[test]
fn every_relative_route_byte_is_the_published_one() {
    let table = vectors("relative_8_port");
    assert_eq!(rows(&table["rows"]).len(), 8);
    for (input, row) in (0..).map(PortId).zip(rows(&table["rows"])) {
        assert_eq!(rows(row).len(), 8);
        for (output, byte) in (0..).map(PortId).zip(rows(row)) {
            assert_eq!(RouteAddressing::Relative.byte(input, output), number(byte));
            let selected = RouteAddressing::Relative.select(number(byte).unwrap(), input, 8);
            assert_eq!(selected, Ok(output), "{input:?} {byte}");
        }
    }
}

/// C-2
#[test]
fn every_control_code_is_decoded_as_published() {
    let table = vectors("control_codes");
    assert_eq!(table.as_object().unwrap().len(), 256);
    for code in 0..=u8::MAX {
        let row = &table[format!("0x{code:02x}")];
        let decoded = match decode_control(code) {
            // The vectors count the sixteen replies in hex.
            DecodedCode::Exact(Symbol::Reply(status)) => {
                (Some(format!("REPL{:X}", status.value())), false)
            }
            DecodedCode::Exact(symbol) => (Some(symbol.to_string()), false),
            DecodedCode::Corrected(symbol) => (Some(symbol.to_string()), true),
            DecodedCode::Invalid => (None, false),
        };
        let symbol = row["symbol"].as_str().map(str::to_owned);
        assert_eq!(decoded, (symbol, row["corrected"].as_bool().unwrap()), "0x{code:02x}");
    }
}

/// The bytes of a row, with those that are repeated behind them.
fn packet(row: &Value) -> Vec<u8> {
    let mut all = bytes(&row["hex"]);
    let times = row["then"]["times"].as_u64().unwrap_or(0);
    all.resize(
        all.len() + usize::try_from(times).unwrap(),
        number(&row["then"]["byte"]).unwrap_or(0),
    );
    all
}

fn field<T: TryFrom<u64>>(means: &Value, name: &str) -> T {
    let number = means[name].as_u64().unwrap_or_else(|| panic!("{name} of {means}"));
    T::try_from(number).unwrap_or_else(|_| panic!("{name} of {means}"))
}

fn header(means: &Value) -> TransportHeader {
    TransportHeader {
        source: Nic(field(means, "source")),
        destination: Nic(field(means, "destination")),
        channel: LogicalChannel(field(means, "channel")),
        seq: if field::<u8>(means, "seq") == 0 { SequenceBit::Zero } else { SequenceBit::One },
        timestamp: TransportTimestamp(field(means, "timestamp")),
        incarnation: ChannelIncarnation(field(means, "incarnation")),
    }
}

fn reason(name: &str) -> NackReason {
    NackReason::ALL
        .into_iter()
        .find(|reason| reason.name() == name)
        .unwrap_or_else(|| panic!("{name}"))
}

/// The packet that a row means, its payload as it stands in `bytes`.
fn meant<'a>(means: &Value, bytes: &'a [u8]) -> TransportPacket<MessageBody<'a>> {
    let form = match means["kind"].as_str().unwrap() {
        "ack" => return TransportPacket::Ack(header(means)),
        "nack" => {
            return TransportPacket::Nack(header(means), reason(means["reason"].as_str().unwrap()));
        }
        "short" => MessageForm::Short,
        "medium" => MessageForm::Medium,
        "bulk" => {
            MessageForm::Bulk { offset: field(means, "offset"), total: field(means, "total") }
        }
        kind => panic!("{kind}"),
    };
    let message = TransportMessage {
        role: if means["role"] == "reply" { MessageRole::Reply } else { MessageRole::Request },
        source: EndpointId(field(means, "source_endpoint")),
        destination: EndpointId(field(means, "destination_endpoint")),
        key: EndpointKey(u64::from_str_radix(means["key"].as_str().unwrap(), 16).unwrap()),
        handler: field(means, "handler"),
        body: MessageBody::new(form, &bytes[DATA_HEADER_LEN..]).unwrap(),
    };
    let sync = if field::<u8>(means, "sync") == 0 { SyncFlag::Clear } else { SyncFlag::Set };
    TransportPacket::Data(header(means), sync, message)
}

#[test]
fn every_transport_packet_is_the_published_one() {
    let table = take(TRANSPORT, "good");
    assert_eq!(rows(&table).len(), 18);
    for row in rows(&table) {
        let (packet, means) = (packet(row), &row["means"]);
        let parsed = TransportPacket::parse(&packet);
        assert_eq!(parsed, Ok(meant(means, &packet)), "{row}");
        let mut emitted = Vec::new();
        parsed.unwrap().emit(&mut emitted);
        assert_eq!(emitted, packet, "{row}");
        if let (Some(hex), Ok(TransportPacket::Data(_, _, message))) =
            (means.get("payload"), parsed)
        {
            assert_eq!(message.body.bytes(), bytes(hex), "{row}");
        }
    }
}

#[test]
fn every_malformed_transport_packet_has_the_published_fault() {
    let table = take(TRANSPORT, "malformed");
    assert_eq!(rows(&table).len(), 117);
    for row in rows(&table) {
        let packet = packet(row);
        let fault = TransportPacket::parse(&packet).unwrap_err();
        let found = (fault.at(), fault.field(), fault.found());
        let published = (row["at"].as_u64(), row["field"].as_str(), row["found"].as_u64());
        let found = (u64::try_from(found.0).ok(), Some(found.1), found.2);
        assert_eq!(found, published, "{row}");
        assert_eq!(TransportPacket::parse_head(&packet, packet.len() as u64), Err(fault), "{row}");
    }
}
