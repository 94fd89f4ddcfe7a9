//! A frame's bytes: packet, CRC, and what switches make of them.

use std::cell::RefCell;

use codec::chars::CharBuf;
use codec::crc::{Crc8, CrcResidue, crc_after_hop, crc8, syndrome};
use codec::framing::{FrameEnd, frames};
use codec::packet::{Packet, PacketTag};

use crate::reference::crc;
use crate::repair::SeededRng;

/// Longest frame that is taken through switches. *Chosen*: it is kept on the stack.
const FRAME_MAX: usize = 1 << 10;
/// Hops that a packet is taken through. *Chosen*: two would do, as what leaves a switch is a frame
/// like any other.
const HOPS: usize = 3;

thread_local! {
    /// Kept from run to run, so that none begins with taking memory.
    static ROOM: RefCell<CharBuf> = RefCell::default();
}

/// A packet's parts are the frame; parse undoes emit; the CRC is long division's however the bytes
/// are fed; a syndrome survives every hop. P-2, P-4, P-5, P-9
pub fn law(frame: &[u8]) {
    check(frame, crc_after_hop);
}

fn check(frame: &[u8], hop: impl Fn(&[u8]) -> Option<u8>) {
    let body = frame.split_last().map_or(frame, |(_, body)| body);
    let of_body = crc(body);
    let last = frame.last().filter(|_| !body.is_empty());
    let expected = last.map(|last| of_body ^ last);
    let packet = Packet::parse(frame);
    parts(frame, &packet, expected);
    ROOM.with_borrow_mut(|room| emitted(frame, &packet, room));
    assert_eq!(syndrome(frame), expected, "a syndrome is computed ⊕ received");
    assert_eq!(crc8(body), of_body, "the CRC is long division's");
    checksum(frame, expected);
    hops(frame, expected, hop);
}

fn parts(frame: &[u8], packet: &Packet<'_>, expected: Option<u8>) {
    assert!(packet.route.iter().all(|byte| *byte >= 0x80), "route bytes have MSB 1");
    let tag: Option<u8> = packet.tag.map(PacketTag::value);
    assert!(tag.is_none_or(|tag| tag < 0x80), "a tag has MSB 0");
    assert_eq!(packet.check.syndrome(), expected, "the syndrome is computed ⊕ received");
    let behind = frame.strip_prefix(packet.route);
    let behind = match tag {
        Some(tag) => behind.and_then(|rest| rest.strip_prefix(&[tag])),
        None => behind,
    };
    let behind = behind.and_then(|rest| rest.strip_prefix(packet.payload));
    let own = usize::from(expected.is_some());
    assert_eq!(behind.map(<[u8]>::len), Some(own), "the parts are the frame");
    assert!(tag.is_some() || packet.payload.is_empty(), "a payload stands behind a tag");
}

fn emitted(frame: &[u8], packet: &Packet<'_>, out: &mut CharBuf) {
    out.clear();
    packet.emit(out);
    let mut frames = frames(out.chars());
    match frames.next() {
        None => assert!(frame.is_empty(), "only nothing is no frame"),
        Some(one) => {
            assert_eq!(one.bytes, frame, "emit writes what parse read");
            assert_eq!(one.end, FrameEnd::Gap, "and a GAP");
        }
    }
    assert!(frames.next().is_none(), "a packet is one frame");
}

fn checksum(bytes: &[u8], expected: Option<u8>) {
    let mut dice = SeededRng::new(bytes);
    let at = usize::try_from(dice.below(bytes.len() as u64 + 1)).unwrap_or_default();
    let (one, other) = bytes.split_at(at);
    let whole = Crc8::NEW.feed(bytes);
    assert_eq!(Crc8::NEW.feed(one).feed(other), whole, "it does not matter how bytes are fed");
    if let Some(expected) = expected {
        assert_eq!(whole.syndrome(), expected, "a syndrome shows in the whole");
    }
    let begun = CrcResidue::NEW.feed(one);
    let residue = begun.feed(other);
    assert_eq!(residue.crc(), whole, "the CRC follows from the residue");
    assert_eq!(residue, CrcResidue::NEW.feed(bytes), "nor does it for a residue");
    // By induction over the number of iterations: zero, and one more.
    assert_eq!(begun.feed_repeated(other, 0), begun, "no round brings nothing");
    assert_eq!(begun.feed_repeated(other, 1), residue, "one round is fed once");
    let (rounds, more) = (dice.roll() >> (1 + dice.below(60)), dice.below(4));
    let looped = (0..more).fold(begun.feed_repeated(other, rounds), |so_far, _| so_far.feed(other));
    assert_eq!(begun.feed_repeated(other, rounds + more), looped, "a repeat is fed as its rounds");
}

/// P-3, P-5
fn hops(frame: &[u8], injected: Option<u8>, hop: impl Fn(&[u8]) -> Option<u8>) {
    // What a switch forwards: a part of the frame but for its last byte.
    let mut hopped = [0; FRAME_MAX];
    let Some(forwarded) = hopped.get_mut(..frame.len()) else { return };
    forwarded.copy_from_slice(frame);
    let mut forwarded = forwarded;
    for _ in 0..HOPS {
        let Some(crc_byte) = hop(forwarded) else {
            assert!(forwarded.len() <= 2, "only a packet with nothing to check is not forwarded");
            return;
        };
        forwarded = forwarded.get_mut(1..).unwrap_or_default();
        forwarded.last_mut().into_iter().for_each(|last| *last = crc_byte);
        assert_eq!(syndrome(forwarded), injected, "a bad packet stays bad by the same bits");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use codec::packet::CrcCheck;

    /// A switch that writes the CRC of what leaves, and so heals what it should not.
    fn healing(frame: &[u8]) -> Option<u8> {
        match frame {
            [_, rest @ .., _] if !rest.is_empty() => Some(crc8(rest)),
            _ => None,
        }
    }

    #[test]
    fn a_switch_that_heals_is_not_caught_by_good_packets() {
        check(&[0x83, 0x05, 0xaa, 0xbb, 0xcc, 0x02], healing);
    }

    pub(crate) fn a_packet_without_its_last_byte_is_caught() {
        let frame = [0x83, 0x05, 0xaa, 0xbb, 0x12];
        let packet = Packet::parse(&frame);
        let short = Packet { payload: &packet.payload[1..], ..packet };
        parts(&frame, &short, packet.check.syndrome());
    }

    pub(crate) fn a_packet_that_is_mended_when_sent_is_caught() {
        let frame = [0x83, 0x05, 0xaa, 0xbb, 0x12];
        let mended = Packet { check: CrcCheck::Good, ..Packet::parse(&frame) };
        emitted(&frame, &mended, &mut CharBuf::new());
    }

    pub(crate) fn a_switch_that_heals_is_caught() {
        check(&[0x83, 0x05, 0xaa, 0xbb, 0xcc, 0x12], healing);
    }
}
