//! Comparison of the visible bytes of two packets, one of which may be the start of the other. P-3,
//! P-5

use std::cmp::Reverse;

use codec::crc::crc8;

use super::hop_record::ClosedPacket;
use crate::packet::FrameEnd;

/// Minimum of bytes that agree in order although others are missing between them; of more than 256 bytes, four times as
/// many as agree by chance. *Chosen*
const LOSSY_MIN: usize = 4;

/// Result of the comparison, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VisibleBytes {
    /// All comparable bytes agree, this many.
    Agree(Reverse<u8>),
    /// This many bytes agree in order, with others missing between them. F-9
    Lossy(Reverse<u8>),
    /// The bytes agree except for few flipped bits.
    Flipped,
    /// The bytes belong to another packet.
    Differ,
}

/// Compares the kept front of a packet that has left a switch with that of one at its input.
pub(super) fn compare(came: &ClosedPacket, left: &ClosedPacket) -> VisibleBytes {
    compare_behind(1, came, left)
}

/// Compares the kept front of a departed packet with that of one at the input without its first bytes,
/// as many as the node strips: one, or none at the end of a fibre.
pub(super) fn compare_behind(
    stripped: usize,
    came: &ClosedPacket,
    left: &ClosedPacket,
) -> VisibleBytes {
    let stood = came.front.bytes().get(stripped..).unwrap_or_default();
    let own = left.front.bytes();
    // The last byte may be the CRC byte, which a switch recomputes, unless more follows. P-1
    let ends = came.length == (stood.len() + stripped) as u64 && left.length < came.length;
    let stood = stood.split_last().filter(|_| ends).map_or(stood, |(_, others)| others);
    let pairs = || stood.iter().zip(own);
    let compared = stood.len().min(own.len());
    let agree = pairs().take_while(|(stood, own)| stood == own).count();
    if is_converted(stripped, came, left, agree) {
        return VisibleBytes::Agree(Reverse(small(agree + 1)));
    }
    // A byte that a switch treated as the CRC byte after a loss is no evidence.
    let crc = left.ended_by == FrameEnd::Gap && left.length == agree as u64 + 1;
    if agree == compared || crc {
        return VisibleBytes::Agree(Reverse(small(agree)));
    }
    // What is behind lost bytes is in the packet too, but for what may be the CRC byte.
    let kept = came.visible();
    let mut rest = kept.iter().skip(stripped);
    let lossy = own.iter().take_while(|own| rest.any(|stood| stood == *own)).count();
    let least = LOSSY_MIN.max(kept.len() / 64) - usize::from(lossy < own.len());
    if lossy + 1 >= own.len() && lossy >= least {
        return VisibleBytes::Lossy(Reverse(small(lossy)));
    }
    let flipped: u32 = pairs().map(|(stood, own)| (stood ^ own).count_ones()).sum();
    if usize::try_from(flipped).is_ok_and(|flipped| flipped <= compared) {
        return VisibleBytes::Flipped;
    }
    VisibleBytes::Differ
}

/// True if the last byte of a packet ended by a switch is an input byte converted as a CRC byte.
/// P-5, R-3
fn is_converted(stripped: usize, came: &ClosedPacket, left: &ClosedPacket, agree: usize) -> bool {
    let (stood, own) = (came.front.bytes(), left.front.bytes());
    let last = left.ended_by == FrameEnd::Gap && left.length == agree as u64 + 1;
    let converted = || {
        let before = agree + stripped;
        let byte = stood.get(before)?;
        Some(byte ^ crc8(stood.get(..before)?) ^ crc8(own.get(..agree)?))
    };
    last && own.get(agree).copied() == converted()
}

/// Count of bytes, limited to 255.
pub(super) fn small(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}
