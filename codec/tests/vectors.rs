//! The published vectors of `fixtures/codec.json`: CRCs, hops, route bytes, control codes.

use codec::character::{Heard, Symbol, hear};
use codec::crc::{crc_after_hop, crc8, syndrome};
use codec::packet::strip;
use codec::route::{Addressing, PortId};
use serde_json::Value;

const VECTORS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/codec.json"));

fn vectors(table: &str) -> Value {
    let mut all: Value = serde_json::from_str(VECTORS).unwrap_or_default();
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
        let (_, rest) = strip(&packet).unwrap();
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
            assert_eq!(Addressing::Relative.byte(input, output), number(byte));
            let selected = Addressing::Relative.select(number(byte).unwrap(), input, 8);
            assert_eq!(selected, Ok(output), "{input:?} {byte}");
        }
    }
}

#[test]
fn every_control_code_is_heard_as_published() {
    let table = vectors("control_codes");
    assert_eq!(table.as_object().unwrap().len(), 256);
    for code in 0..=u8::MAX {
        let row = &table[format!("0x{code:02x}")];
        let heard = match hear(code) {
            // The vectors count the sixteen replies in hex.
            Heard::Exact(Symbol::Reply(status)) => {
                (Some(format!("REPL{:X}", status.value())), false)
            }
            Heard::Exact(symbol) => (Some(symbol.to_string()), false),
            Heard::Corrected(symbol) => (Some(symbol.to_string()), true),
            Heard::Invalid => (None, false),
        };
        let symbol = row["symbol"].as_str().map(str::to_owned);
        assert_eq!(heard, (symbol, row["corrected"].as_bool().unwrap()), "0x{code:02x}");
    }
}
