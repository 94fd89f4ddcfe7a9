//! A transport packet on the wire, received piece by piece. T-7, T-8

use analyzer::ParsedTransport;
use analyzer::event::ChannelEvent;
use analyzer::packet::ByteRetention;
use analyzer::receiver::ChannelReceiver;
use codec::chars::{CharBuf, Chars};
use codec::crc::CrcResidue;
use codec::error::DecodeError;
use codec::packet::CrcCheck;
use codec::transport::{TAG, TransportPacket};
use codec::{Character, time::Tick};

use crate::reference::crc;
use crate::repair::SeededRng;
use crate::transport_packet::same;

/// Bytes that are looked at between two symbols at most. *Chosen*: less than a header.
const RUN_MAX: u64 = 30;

/// A receiver that gets a payload in pieces, with symbols among them, reports its packet.
pub fn law(payload: &[u8]) {
    check(payload, |chars| chars);
}

fn check(payload: &[u8], passed: impl Fn(Chars<'_>) -> Chars<'_>) {
    let parsed = TransportPacket::parse(payload);
    let received = received(payload, passed);
    assert!(same(&received.packet, &parsed), "a receiver hears the same: {received:?} {parsed:?}");
    assert_eq!(received.check, CrcCheck::Good, "its CRC is good");
}

/// Transport packet that a receiver reports for a frame with a good CRC and symbols in it.
fn received(payload: &[u8], passed: impl Fn(Chars<'_>) -> Chars<'_>) -> ParsedTransport {
    let mut dice = SeededRng::new(payload);
    let mut frame = [&[0x81, TAG][..], payload].concat();
    frame.push(crc(&frame));
    let mut receiver = ChannelReceiver::new(ByteRetention::Forget);
    let mut seen = Vec::new();
    let mut out = |_: Tick, notice| {
        if let ChannelEvent::Packet(packet) = notice {
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
        receiver.feed(passed(chars.chars()), &mut out);
        rest = later;
    }
    let [one] = seen.as_slice() else { return MISSED };
    **one
}

/// No packet, or more than one, was reported.
const MISSED: ParsedTransport = ParsedTransport {
    packet: Err(DecodeError::CutShort { at: 0, field: "nothing was heard" }),
    check: CrcCheck::Runt,
    content: CrcResidue::NEW,
};

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus;

    /// The last character of a run, be it a GAP, gets lost.
    pub(crate) fn a_wire_that_loses_a_byte_is_caught() {
        let good = corpus::input("message", "good-short");
        check(&good, |chars| if chars.len() > 9 { chars.slice(1..chars.len()) } else { chars });
    }
}
