//! Comparison of the visible bytes of two packets, one of which may be the front of the other. P-3, P-5

use std::cmp::Reverse;

use codec::crc::crc8;

use super::hop_record::ClosedPacket;
use crate::packet::PacketEnd;

/// Bytes that agree in order though others are missing between them, before they say anything. *Chosen*:
/// of 63 bytes about one in four agrees with a given byte somewhere.
const LOSSY_MIN: u8 = 4;

/// Result of the comparison, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VisibleBytes {
    /// So many bytes can be compared, and all agree.
    Agree(Reverse<u8>),
    /// So many agree in order, and others are missing between them. F-9
    Lossy(Reverse<u8>),
    /// All could be compared but for few flipped bits.
    Flipped,
    /// They are another packet's.
    Differ,
}

/// Compares what left a switch with what came to it, as far as the front of both was kept.
pub(super) fn compare(came: &ClosedPacket, left: &ClosedPacket) -> VisibleBytes {
    let stood = came.front.bytes().get(1..).unwrap_or_default();
    let own = left.front.bytes();
    // The last byte may be the CRC byte, which a switch writes anew, unless more follows. P-1
    let ends = came.length == stood.len() as u64 + 1 && left.length < came.length;
    let stood = stood.split_last().filter(|_| ends).map_or(stood, |(_, others)| others);
    let pairs = || stood.iter().zip(own);
    let compared = stood.len().min(own.len());
    let agree = pairs().take_while(|(stood, own)| stood == own).count();
    if is_converted(came, left, agree) {
        return VisibleBytes::Agree(Reverse(small(agree + 1)));
    }
    // What a switch took for the CRC byte, where bytes were lost before it, tells nothing.
    let crc = left.ended_by == PacketEnd::Gap && left.length == agree as u64 + 1;
    if agree == compared || crc {
        return VisibleBytes::Agree(Reverse(small(agree)));
    }
    let mut rest = stood.iter();
    let lossy = own.iter().take_while(|own| rest.any(|stood| stood == *own)).count();
    let all = lossy as u64 + 1 == left.length;
    if small(lossy) >= LOSSY_MIN - u8::from(all) {
        return VisibleBytes::Lossy(Reverse(small(lossy)));
    }
    let flipped: u32 = pairs().map(|(stood, own)| (stood ^ own).count_ones()).sum();
    if usize::try_from(flipped).is_ok_and(|flipped| flipped <= compared) {
        return VisibleBytes::Flipped;
    }
    VisibleBytes::Differ
}

/// True if the last byte of a packet that a switch ended is an input byte converted as a CRC byte. P-5, R-3
fn is_converted(came: &ClosedPacket, left: &ClosedPacket, agree: usize) -> bool {
    let (stood, own) = (came.front.bytes(), left.front.bytes());
    let last = left.ended_by == PacketEnd::Gap && left.length == agree as u64 + 1;
    let converted = || {
        let byte = stood.get(agree + 1)?;
        Some(byte ^ crc8(stood.get(..=agree)?) ^ crc8(own.get(..agree)?))
    };
    last && own.get(agree).copied() == converted()
}

/// A count of bytes, as far as it is told.
pub(super) fn small(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}
