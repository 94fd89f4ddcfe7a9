//! A frame's bytes: packet, CRC, and what switches make of them.

use codec::chars::CharBuf;
use codec::crc::{Crc8, Residue, crc_after_hop, crc8, syndrome};
use codec::framing::frames;
use codec::packet::{Packet, Tag, strip};

use crate::reference::crc;
use crate::repair::Dice;

/// Most hops that a packet is taken through. *Chosen*: more than any network has.
const HOPS_MAX: u32 = 32;
/// About how many bytes are fed one repeat after the other. *Chosen*.
const BYTES_MAX: u64 = 2000;

/// A packet's parts are the frame; parse undoes emit; the CRC is long division's however the bytes
/// are fed; a syndrome survives every hop. P-2, P-4, P-5, P-9
///
/// # Panics
/// If not.
pub fn law(frame: &[u8]) {
    check(frame, crc_after_hop);
}

fn check(frame: &[u8], hop: impl Fn(&[u8]) -> Option<u8>) {
    parts(frame);
    checksum(frame);
    hops(frame, hop);
}

fn parts(frame: &[u8]) {
    let packet = Packet::parse(frame);
    assert!(packet.route.iter().all(|byte| *byte >= 0x80), "route bytes have MSB 1");
    let tag: Option<u8> = packet.tag.map(Tag::value);
    assert!(tag.is_none_or(|tag| tag < 0x80), "a tag has MSB 0");
    let mut parts = packet.route.to_vec();
    parts.extend(tag);
    parts.extend_from_slice(packet.payload);
    let expected = match frame {
        [body @ .., last] if !body.is_empty() => Some(crc(body) ^ last),
        _ => None,
    };
    assert_eq!(packet.check.syndrome(), expected, "the syndrome is computed ⊕ received");
    let crc_byte = expected.map(|syndrome| crc(&parts) ^ syndrome);
    parts.extend(crc_byte);
    assert_eq!(parts, frame, "the parts are the frame");
    let mut out = CharBuf::new();
    packet.emit(&mut out);
    match frames(out.chars()).collect::<Vec<_>>().as_slice() {
        [] => assert!(frame.is_empty(), "only nothing is no frame"),
        [one] => {
            assert_eq!(one.bytes, frame, "emit writes what parse read");
            assert_eq!(Packet::parse(&one.bytes), packet, "parse undoes emit");
        }
        [..] => assert!(frame.is_empty(), "a packet is one frame"),
    }
}

fn checksum(bytes: &[u8]) {
    let mut dice = Dice::new(bytes);
    assert_eq!(crc8(bytes), crc(bytes), "the CRC is long division's");
    let at = usize::try_from(dice.below(bytes.len() as u64 + 1)).unwrap_or_default();
    let (one, other) = bytes.split_at(at);
    let split = Crc8::NEW.feed(one).feed(other);
    assert_eq!(split.value(), crc(bytes), "the CRC does not depend on how bytes are fed");
    let times = dice.below(BYTES_MAX / (other.len() as u64 + 1) + 2);
    let residue = Residue::NEW.feed(one).feed(other);
    assert_eq!(residue.crc(), split, "the CRC follows from the residue");
    let looped = (0..times).fold(residue, |residue, _| residue.feed(other));
    assert_eq!(residue.feed_repeated(other, times), looped, "a repeat is fed as its rounds");
    let syndrome = syndrome(bytes);
    if syndrome.is_some() {
        assert_eq!(Some(split.syndrome()), syndrome, "a syndrome shows in the whole");
    }
}

/// P-3, P-5
fn hops(frame: &[u8], hop: impl Fn(&[u8]) -> Option<u8>) {
    let mut frame = frame.to_vec();
    let injected = syndrome(&frame);
    for _ in 0..HOPS_MAX {
        let (Some(crc_byte), Some((_, rest))) = (hop(&frame), strip(&frame)) else {
            assert!(frame.len() <= 2, "only a packet with nothing to check is not forwarded");
            return;
        };
        let mut forwarded = rest.to_vec();
        if let Some(last) = forwarded.last_mut() {
            *last = crc_byte;
        }
        frame = forwarded;
        assert_eq!(syndrome(&frame), injected, "a bad packet stays bad by the same bits");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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

    pub(crate) fn a_switch_that_heals_is_caught() {
        check(&[0x83, 0x05, 0xaa, 0xbb, 0xcc, 0x12], healing);
    }
}
