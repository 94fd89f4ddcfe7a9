//! Errors of wires that the bytes of a packet before and after prove. W-8
//!
//! A level that is wrong for a while makes two false transitions: two characters with one flipped bit
//! each, on the same wire, or a character where there was none. Of long packets only the first bytes are
//! kept; that nothing else differs follows from the residues.

use codec::crc::CrcResidue;
use codec::packet::CrcCheck;

use super::corruption::BitPlace;
use super::hop_record::ClosedPacket;
use crate::packet::FrameEnd;

/// Place of an error on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocatedHarm {
    /// Two flipped bits on one wire, the first in order.
    Pair([BitPlace; 2]),
    /// Two flipped bits, of which one at least is behind the bytes that are kept. If they are on one
    /// wire, they are this many characters apart, modulo 127, the shorter way round.
    Apart(u8),
    /// Index of a byte that the packet did not have before, and its value.
    Inserted(u64, u8),
}

/// Two flipped bits and no other, unless they are on different wires: `bytes` is the difference of the residues without
/// the CRC byte, `crc` the change of that.
pub(super) fn pair(
    came: &ClosedPacket,
    left: &ClosedPacket,
    switches: u64,
    (bytes, crc): (CrcResidue, u8),
) -> Option<LocatedHarm> {
    if bytes.bits().count_ones() + crc.count_ones() != 2 {
        return None;
    }
    // A bit of the route byte that is stripped since may resemble one of the CRC byte.
    let route = 8 * (left.length % 127) % 127;
    if crc != 0 && !(8..120).contains(&route) {
        return None;
    }
    let stood = came.visible().get(usize::try_from(switches).ok()?..)?;
    let last = left.length.checked_sub(1)?;
    let body = usize::try_from(last).unwrap_or(usize::MAX);
    let differences = stood.iter().zip(left.visible()).take(body).map(|(old, new)| old ^ new);
    let mut seen = CrcResidue::NEW;
    let mut flipped = Vec::new();
    for (index, byte) in (0_u64..).zip(differences).chain([(last, crc)]) {
        if byte != 0 {
            flipped.push((index, byte));
        }
        if byte != 0 && index < last {
            let behind = last - 1 - index;
            seen = seen.xor(CrcResidue::NEW.feed(&[byte]).times_x_to(8 * (behind % 127)));
        }
    }
    if seen != bytes {
        return apart(bytes, crc).map(LocatedHarm::Apart);
    }
    let [(first, bit), (second, same)] = *flipped.as_slice() else { return None };
    if bit != same || bit.count_ones() != 1 {
        return None;
    }
    let place = |index| {
        let bit = u8::try_from(bit.trailing_zeros()).unwrap_or_default();
        BitPlace { byte: i64::try_from(index).unwrap_or(i64::MAX), bit }
    };
    Some(LocatedHarm::Pair([place(first), place(second)]))
}

/// The byte that a packet has more than before it passed a switch, if its CRC is good without it.
pub(super) fn inserted(came: &ClosedPacket, left: &ClosedPacket) -> Option<LocatedHarm> {
    let CrcCheck::Bad(syndrome) = left.check else { return None };
    let body = came.length.checked_sub(2)?;
    let ends = [came, left].map(|packet| packet.ended_by);
    if came.length != left.length || came.check != CrcCheck::Good || ends != [FrameEnd::Gap; 2] {
        return None;
    }
    let (route, stood) = came.visible().split_first()?;
    let own = left.visible();
    let agree = stood.iter().zip(own).take_while(|(stood, own)| stood == own).count();
    let (head, value) = (stood.get(..agree)?, *own.get(agree)?);
    let place = agree as u64;
    let behind = body.checked_sub(place)?;
    let tail = came.rest.without_first(head, behind);
    let whole = CrcResidue::NEW.feed(head).feed(&[value]).times_x_to(8 * (behind % 127)).xor(tail);
    // The CRC byte is that of the packet without the byte: behind the switch, or before it, where
    // the CRC still includes the route byte.
    let routed = |residue: CrcResidue, length: u64| {
        CrcResidue::NEW.feed(&[*route]).times_x_to(8 * (length % 127)).xor(residue).crc().value()
    };
    let behind_it = whole.crc().value() ^ came.rest.crc().value();
    let before_it = routed(whole, body + 1) ^ routed(came.rest, body);
    let is_it = whole == left.all && (syndrome == behind_it || syndrome == before_it);
    is_it.then_some(LocatedHarm::Inserted(place, value))
}

/// Distance of two flipped bits, if they are on one wire: characters modulo 127, the shorter way
/// round. P-4
fn apart(bytes: CrcResidue, crc: u8) -> Option<u8> {
    let bits = |word: u128| (0..127_u32).filter(move |bit| word & 1 << bit != 0);
    // The eight bits of the CRC byte follow those of the others.
    let mut flipped = bits(bytes.bits()).map(|bit| bit + 8).chain(bits(crc.into()));
    let (Some(one), Some(other), None) = (flipped.next(), flipped.next(), flipped.next()) else {
        return None;
    };
    // 8 · 16 = 1 modulo 127.
    let apart = one.abs_diff(other) * 16 % 127;
    u8::try_from(apart.min(127 - apart)).ok().filter(|apart| *apart > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bits_of_a_wire_are_apart_by_the_shorter_way_round() {
        // Bytes between the CRC byte and those with a flipped bit, and the flipped bits of the CRC byte. P-4
        for (places, crc, expected) in [
            (&[3, 10][..], 0, Some(7)),
            (&[0, 126], 0, Some(1)),
            (&[0], 4, Some(1)),
            (&[62], 4, Some(63)),
            (&[0, 1], 4, None),
            (&[5], 0, None),
        ] {
            let flip = |at: &u64| CrcResidue::NEW.feed(&[4]).times_x_to(8 * at);
            let bytes = places.iter().map(flip).fold(CrcResidue::NEW, CrcResidue::xor);
            assert_eq!(apart(bytes, crc), expected, "{places:?} {crc}");
        }
    }
}
