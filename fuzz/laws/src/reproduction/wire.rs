//! Characters, frames and payloads: each as it goes over a wire.

use codec::Character;
use codec::capture::{Channel, ChannelId, Chunk};
use codec::chars::CharBuf;
use codec::mapping;
use codec::packet::{CrcCheck, Packet, PacketTag};
use codec::transport::{self, MessageBody, TAG};

use super::ReproductionDraft;
use super::text_page::{self, alone, byte_test, call, notation, path, test};
use crate::capture_input::OwnedChunk;

const NOTHING_RAN: &str = "characters were not simulated";

/// Most characters of a test that are printed. *Chosen*: a screen.
const CHARS_MAX: usize = 1 << 11;

/// An input of `chars`: the payload of a chunk.
pub(super) fn chars(target: &str, input: &[u8]) -> ReproductionDraft {
    let chunk = match Chunk::parse(input) {
        Ok(chunk) => chunk,
        Err(error) => {
            let why = format!("these bytes are no chunk: {error}");
            let notation = byte_test(target, std::slice::from_ref(&why), input);
            return ReproductionDraft::nothing(&why, notation);
        }
    };
    let owned = OwnedChunk::from(chunk);
    let notation = chunk_test(target, &owned, input);
    let capture = text_page::capture(&[Channel::named("wire")], vec![(ChannelId(0), owned)]);
    ReproductionDraft::of_capture(capture, NOTHING_RAN, notation)
}

fn chunk_test(target: &str, owned: &OwnedChunk, input: &[u8]) -> String {
    if owned.chars.len() > CHARS_MAX {
        return byte_test(target, &[], input);
    }
    let notation = owned.chars.to_string();
    let mut lines = call("let chars = codec::notation::parse", &notation, ".unwrap();");
    let content = match owned.count {
        None => "ChunkContent::Literal(chars.chars())".to_owned(),
        Some(count) => format!("ChunkContent::Repeat {{ pattern: chars.chars(), count: {count} }}"),
    };
    lines.extend([
        format!("let content = codec::capture::{content};"),
        format!("let first = codec::time::Tick({});", owned.first.0),
        "let mut input = Vec::new();".to_owned(),
        "codec::capture::Chunk { first, content }.emit(&mut input);".to_owned(),
        format!("{}(&input);", path(target)),
    ]);
    test(target, &[], &lines)
}

pub(super) fn canary(target: &str, input: &[u8]) -> ReproductionDraft {
    let mut chars = CharBuf::new();
    chars.push_data(input);
    let capture =
        if chars.is_empty() { Err("there are no bytes".to_owned()) } else { alone("wire", chars) };
    ReproductionDraft::of_capture(capture, NOTHING_RAN, byte_test(target, &[], input))
}

/// An input of `packet`: a frame.
pub(super) fn packet(target: &str, input: &[u8]) -> ReproductionDraft {
    let Packet { route, tag, payload, check } = Packet::parse(input);
    let tag = tag.map_or("none".to_owned(), |tag| format!("{:02x}", tag.value()));
    let known = [format!(
        "Route {}; tag {tag}; {} bytes of payload; {}.",
        or_none(&notation(route)),
        payload.len(),
        check_text(check)
    )];
    let mut frame = CharBuf::new();
    frame.push_data(input);
    frame.push(Character::GAP);
    let notation = byte_test(target, &known, input);
    ReproductionDraft::of_capture(alone("wire", frame), NOTHING_RAN, notation)
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn check_text(check: CrcCheck) -> String {
    match check {
        CrcCheck::Good => "a good CRC".to_owned(),
        CrcCheck::Bad(syndrome) => format!("a bad CRC, syndrome {syndrome:02x}"),
        CrcCheck::Runt => "too short for a CRC".to_owned(),
        CrcCheck::Partial => "a part of a packet".to_owned(),
    }
}

/// An input of `message`: the payload of a transport packet. On a wire it has a route, its tag and a CRC.
pub(super) fn message(target: &str, input: &[u8]) -> ReproductionDraft {
    let known = match transport::TransportPacket::parse(input) {
        Ok(packet) => header(&packet),
        Err(error) => vec![format!("It is malformed: {error}.")],
    };
    let mut frame = CharBuf::new();
    Packet { route: &[0x81], tag: PacketTag::new(TAG), payload: input, check: CrcCheck::Good }
        .emit(&mut frame);
    let notation = byte_test(target, &known, input);
    ReproductionDraft::of_capture(alone("wire", frame), NOTHING_RAN, notation)
}

/// An input of `mapping`: the payload in a packet, as far as it is one; else it is played by machines.
pub(super) fn mapping(target: &str, input: &[u8]) -> ReproductionDraft {
    let known = match mapping::MappingPacket::parse(input) {
        Ok(packet) => format!("It is a packet: {}.", packet.name()),
        Err(error) => format!("As a packet it is malformed: {error}."),
    };
    let mut frame = CharBuf::new();
    let tag = PacketTag::new(mapping::TAG);
    Packet { route: &[0x81], tag, payload: input, check: CrcCheck::Good }.emit(&mut frame);
    let notation = byte_test(target, &[known], input);
    ReproductionDraft::of_capture(alone("wire", frame), NOTHING_RAN, notation)
}

fn header(packet: &transport::TransportPacket<MessageBody<'_>>) -> Vec<String> {
    let it = packet.header();
    let kind = match packet {
        transport::TransportPacket::Data(_, sync, message) => {
            format!("{:?} {:?}, SYNC {sync:?}", message.role, message.body.form())
        }
        transport::TransportPacket::Ack(_) => "ACK".to_owned(),
        transport::TransportPacket::Nack(_, reason) => format!("NACK, {reason:?}"),
    };
    vec![
        format!(
            "{kind}, from NIC {} to NIC {}, channel {},",
            it.source.0, it.destination.0, it.channel.0
        ),
        format!(
            "number {:?}, timestamp {}, incarnation {}.",
            it.seq, it.timestamp.0, it.incarnation.0
        ),
    ]
}
