//! A transport packet's bytes: judged by the table of `docs/rules.md`, whole, by its head, and on the
//! wire. T-6..T-8, T-12

use analyzer::TransportSeen;
use analyzer::channel::{Notice, Receiver};
use analyzer::packet::Bytes;
use codec::chars::CharBuf;
use codec::crc::Residue;
use codec::error::DecodeError;
use codec::packet::Check;
use codec::transport::{Body, DATA_HEADER_LEN, Form, Header, Packet, Reason, Role, Seq, Sync, TAG};
use codec::{Character, tick::Tick};

use crate::reference::crc;
use crate::repair::Dice;

/// Bytes that are looked at between two symbols at most. *Chosen*: less than a header.
const RUN_MAX: u64 = 30;

type Parsed<'a> = Result<Packet<Body<'a>>, DecodeError>;

/// A payload parses if the table allows it; what is parsed stands where the table says; emit writes it
/// again; its head and its length tell the same, and so does a receiver that hears it in pieces.
///
/// # Panics
/// If not.
pub fn law(payload: &[u8]) {
    check(payload, Packet::parse);
}

fn check<'a>(payload: &'a [u8], parse: impl Fn(&'a [u8]) -> Parsed<'a>) {
    let parsed = parse(payload);
    assert_eq!(parsed.is_ok(), is_allowed(payload), "the table decides what parses");
    match &parsed {
        Ok(packet) => {
            let mut out = Vec::new();
            packet.emit(&mut out);
            assert_eq!(out, payload, "emit writes what parse read");
            fields(payload, packet);
        }
        Err(fault) => assert!(fault.at() <= payload.len(), "a fault is in the packet: {fault}"),
    }
    let head = payload.get(..DATA_HEADER_LEN).unwrap_or(payload);
    let by_head = Packet::parse_head(head, payload.len() as u64);
    assert_eq!(outline(&by_head), outline(&parsed), "its head and its length tell the same");
    let heard = heard(payload);
    assert_eq!(outline(&heard.packet), outline(&parsed), "a receiver hears the same");
    assert_eq!(heard.check, Check::Good, "its CRC is good");
}

/// A number of so many bytes, 0 beyond the end.
fn number(payload: &[u8], at: usize, size: usize) -> u64 {
    let bytes = payload.get(at..at + size).unwrap_or_default();
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Whether the table allows these bytes.
fn is_allowed(payload: &[u8]) -> bool {
    let at = |at, size| number(payload, at, size);
    let (kind, flags, reason) = (at(0, 1), at(1, 1), at(7, 1));
    let (words, offset, total, len) = (at(27, 1), at(28, 4), at(32, 4), at(36, 2));
    let data = flags < 8 && reason == 0 && payload.len() as u64 == 38 + len;
    match kind {
        0x10 => data && words <= 8 && len == 4 * words && (offset, total) == (0, 0),
        0x11 => data && words == 0 && len <= 8192 && (offset, total) == (0, 0),
        0x12 => data && words == 0 && len <= 8192 && len <= total,
        0x18 => payload.len() == 14 && flags < 2 && reason == 0,
        0x19 => payload.len() == 14 && flags < 2 && [1, 2, 3, 4, 16, 17].contains(&reason),
        _ => false,
    }
}

/// Every field is what stands at its place.
fn fields(payload: &[u8], packet: &Packet<Body<'_>>) {
    let at = |at, size| number(payload, at, size);
    let Header { source, destination, channel, seq, timestamp, incarnation } = packet.header();
    assert_eq!((u64::from(source.0), u64::from(destination.0)), (at(2, 2), at(4, 2)));
    assert_eq!((u64::from(channel.0), u64::from(timestamp.0)), (at(6, 1), at(8, 4)));
    assert_eq!((u64::from(incarnation.0), seq == Seq::One), (at(12, 2), at(1, 1) & 1 == 1));
    match packet {
        Packet::Ack(_) => assert_eq!(at(0, 1), 0x18),
        Packet::Nack(_, reason) => {
            assert_eq!(at(0, 1), 0x19);
            let is_final = matches!(reason, Reason::BadKey | Reason::NoSuchEndpoint);
            assert_eq!((u64::from(reason.code()), reason.is_final()), (at(7, 1), is_final));
        }
        Packet::Data(_, sync, message) => {
            assert_eq!(
                (*sync == Sync::Set, message.role == Role::Reply),
                (at(1, 1) & 2 == 2, at(1, 1) & 4 == 4)
            );
            assert_eq!(u64::from(message.source.0), at(14, 2));
            assert_eq!(u64::from(message.destination.0), at(16, 2));
            assert_eq!((message.key.0, u64::from(message.handler)), (at(18, 8), at(26, 1)));
            let (kind, bulk) = match message.body.form() {
                Form::Short => (0x10, (0, 0)),
                Form::Medium => (0x11, (0, 0)),
                Form::Bulk { offset, total } => (0x12, (offset, total)),
            };
            let bulk = (u64::from(bulk.0), u64::from(bulk.1));
            assert_eq!((kind, bulk), (at(0, 1), (at(28, 4), at(32, 4))));
            assert_eq!(Some(message.body.bytes()), payload.get(38..), "the payload is the rest");
        }
    }
}

/// What does not depend on whether the payload is at hand.
fn outline<B>(parsed: &Result<Packet<B>, DecodeError>) -> String {
    match parsed {
        Err(fault) => fault.to_string(),
        Ok(Packet::Ack(header)) => format!("ACK {header:?}"),
        Ok(Packet::Nack(header, reason)) => format!("NACK {header:?} {reason:?}"),
        Ok(Packet::Data(header, sync, message)) => {
            let ends = (message.source, message.destination, message.key, message.handler);
            format!("{header:?} {sync:?} {:?} {ends:?}", message.role)
        }
    }
}

/// What a receiver hears of it as a packet with a good CRC, with symbols in it at any place.
fn heard(payload: &[u8]) -> TransportSeen {
    let mut dice = Dice::new(payload);
    let mut frame = [&[0x81, TAG][..], payload].concat();
    frame.push(crc(&frame));
    let mut receiver = Receiver::new(Bytes::Forget);
    let mut seen = Vec::new();
    let mut out = |_: Tick, notice| {
        if let Notice::Packet(packet) = notice {
            seen.extend(packet.transport);
        }
    };
    let mut rest = frame.as_slice();
    while !rest.is_empty() {
        let len = usize::try_from(dice.below(RUN_MAX)).unwrap_or(0).min(rest.len());
        let (now, later) = rest.split_at(len);
        let mut chars = CharBuf::new();
        chars.push_data(now);
        chars.push(if later.is_empty() { Character::GAP } else { Character::Control(0x03) });
        receiver.feed(chars.chars(), &mut out);
        rest = later;
    }
    let [one] = seen.as_slice() else { return MISSED };
    **one
}

/// No packet, or more than one, was told.
const MISSED: TransportSeen = TransportSeen {
    packet: Err(DecodeError::CutShort { at: 0, field: "nothing was heard" }),
    check: Check::Runt,
    content: Residue::NEW,
};

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::seeds;

    /// A receiver that does not look behind the end of an answer.
    fn careless(payload: &[u8]) -> Parsed<'_> {
        match payload {
            [0x18, answer @ ..] if answer.len() >= 13 => Packet::parse(&payload[..14]),
            _ => Packet::parse(payload),
        }
    }

    #[test]
    fn a_parser_that_does_not_look_behind_the_end_is_not_caught_by_good_packets() {
        let good = |(_, name, _): &(_, &str, _)| name.starts_with("good");
        let seeds = seeds::all();
        let seeds =
            || seeds.iter().filter(|(target, ..)| *target == "message").filter(|it| good(it));
        assert!(seeds().count() > 4);
        seeds().for_each(|(_, _, bytes)| check(bytes, careless));
    }

    pub(crate) fn a_parser_that_does_not_look_behind_the_end_is_caught() {
        check(&[0x18, 0, 0, 1, 0, 2, 3, 0, 0, 0, 0, 4, 0, 5, 6], careless);
    }
}
