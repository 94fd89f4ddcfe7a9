//! The events to a packet's bytes between two taps, and where in the packet. P-3, P-5
//!
//! The generator has the factor x + 1, so an odd number of flipped bits changes the syndrome by an odd
//! number of bits, and an even one by an even number. x has order 127 modulo the generator: one flipped
//! bit with n bits behind it changes the syndrome by xⁿ, and n is known modulo 127.

use std::ops::Range;

use codec::capture::ChannelId;
use codec::crc::CrcResidue;
use codec::packet::CrcCheck;

use super::hop_record::{ClosedPacket, HopRecord, StartCoverage};
use crate::packet::PacketEnd;

/// Bits in which two packets may differ and yet look like one that was hurt. *Chosen*: so many of 127
/// do not agree by chance.
pub(super) const HURT_MAX: u32 = 16;

/// Something that was done to a packet between two taps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptionSite {
    /// The last captured channel on which it was as before; none if it was hurt before the first.
    pub after: Option<ChannelId>,
    /// The first captured channel on which it is different.
    pub seen: ChannelId,
    /// Number of switches between the two. More than one if links between were not captured: it
    /// may have been hurt on any of them.
    pub switches: u64,
    /// Change of the syndrome; 0 where the CRC shows none, or there is none.
    pub syndrome: u8,
    /// Single flipped bit only: number of bits behind it in the packet, CRC byte included, modulo
    /// 127.
    pub bit: Option<u8>,
    /// The corruption.
    pub harm: Corruption,
    /// Bits behind the flipped one are in this range.
    within: Range<u64>,
    /// The packet's bytes on the channel `seen`.
    length: u64,
}

/// Corruption of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corruption {
    /// Bits were flipped.
    Flipped(FlipParity),
    /// So many bytes are missing; none if it is not known how many.
    Cut(Option<u64>, PacketEnd),
    /// It has more bytes than before.
    Grown(u64),
}

/// Parity of the number of flipped bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlipParity {
    /// An odd number: one, most likely.
    Odd,
    /// An even number, and so two at least.
    Even,
}

/// Place at which a bit is in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitPlace {
    /// Its byte: 0 is the first on the channel [`CorruptionSite::seen`]; those below 0 had been stripped.
    pub byte: i64,
    /// Its bit in that byte, 7 to 0.
    pub bit: u8,
}

impl CorruptionSite {
    /// Possible places of a single flipped bit, in order.
    pub fn places(&self) -> impl Iterator<Item = BitPlace> + use<> {
        let (within, length) = (self.within.clone(), self.length);
        self.bit.into_iter().flat_map(move |bit| {
            let first = first_behind(bit, &within);
            let count = within.end.saturating_sub(first).div_ceil(127);
            (0..count).rev().map(move |round| {
                let behind = first + 127 * round;
                let byte = i64::try_from(length).unwrap_or(i64::MAX)
                    - 1
                    - i64::try_from(behind / 8).unwrap_or(i64::MAX);
                BitPlace { byte, bit: u8::try_from(behind % 8).unwrap_or(0) }
            })
        })
    }
}

/// Fault of a packet on the first captured channel of its way.
pub(super) fn before_the_first(
    seen: ChannelId,
    leg: &HopRecord,
    opening: StartCoverage,
) -> Option<CorruptionSite> {
    let closed = leg.closed.as_ref()?;
    let syndrome = closed.syndrome();
    let injury = CorruptionSite {
        after: None,
        seen,
        switches: 0,
        syndrome,
        bit: power(syndrome),
        harm: Corruption::Flipped(flips(syndrome)),
        within: 0..8 * closed.length,
        length: closed.length,
    };
    match closed.ended_by {
        // The end of the recording cuts nothing but the recording.
        PacketEnd::CaptureEnd | PacketEnd::Hole => None,
        PacketEnd::OpenLink | PacketEnd::Reset => Some(CorruptionSite {
            bit: None,
            harm: Corruption::Cut(None, closed.ended_by),
            ..injury
        }),
        // Of what is only a part of a packet the CRC byte tells nothing.
        PacketEnd::Gap if opening == StartCoverage::Unsure => None,
        PacketEnd::Gap => (syndrome != 0).then_some(injury),
    }
}

/// Corruption of a packet between two channels with `switches` switches between.
pub(super) fn between(
    (after, came): (ChannelId, &HopRecord),
    (seen, left): (ChannelId, &HopRecord),
    switches: u64,
) -> Option<CorruptionSite> {
    let (came, left) = (came.closed.as_ref()?, left.closed.as_ref()?);
    let injury = CorruptionSite {
        after: Some(after),
        seen,
        switches,
        syndrome: 0,
        bit: None,
        harm: Corruption::Flipped(FlipParity::Even),
        within: 0..0,
        length: left.length,
    };
    let expected = came.length.saturating_sub(switches);
    // What the recording cuts off is not known to be shorter.
    if left.is_cut_off() || (came.is_cut_off() && expected <= left.length) {
        return None;
    }
    // What is missing of one that may have begun before its recording is not missing on the way.
    let short = if expected > left.length { left } else { came };
    if expected != left.length && short.opening == StartCoverage::Unsure {
        return None;
    }
    if expected > left.length {
        let mut by = [left.ended_by, came.ended_by].into_iter();
        let by = by.find(|by| matches!(by, PacketEnd::OpenLink | PacketEnd::Reset));
        let missing = (!came.is_cut_off()).then_some(expected - left.length);
        let harm = Corruption::Cut(missing, by.unwrap_or(PacketEnd::Gap));
        return Some(CorruptionSite { harm, ..injury });
    }
    if expected < left.length {
        return Some(CorruptionSite { harm: Corruption::Grown(left.length - expected), ..injury });
    }
    if came.check == CrcCheck::Runt || left.check == CrcCheck::Runt {
        return None;
    }
    flipped(came, left, &injury)
}

/// Similarity of two packets of one length, one of which may be the other, corrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteLikeness {
    /// One flipped bit makes one of the other.
    OneBit,
    /// Few bits do, or the CRC byte.
    FewBits,
    Unlike,
}

/// Similarity of two packets with `switches` switches between.
pub(super) fn likeness(came: &ClosedPacket, left: &ClosedPacket, switches: u64) -> ByteLikeness {
    let Some(stripped) = came.peeled(switches) else { return ByteLikeness::Unlike };
    let bytes = stripped.xor(left.all);
    let syndrome = came.syndrome() ^ left.syndrome();
    let differ = bytes.bits().count_ones();
    // A body of few bytes agrees with others by chance.
    let bits = u32::try_from(left.length).unwrap_or(u32::MAX).saturating_mul(2);
    // The CRC must tell of the same bits as the bytes, unless these were not hurt.
    if differ > HURT_MAX.min(bits) || (differ > 0 && bytes.crc().value() != syndrome) {
        return ByteLikeness::Unlike;
    }
    match one_bit(bytes, syndrome, [came.length, left.length]) {
        (Some(bit), within) if first_behind(bit, &within) < within.end => ByteLikeness::OneBit,
        (Some(_) | None, _) => ByteLikeness::FewBits,
    }
}

/// Number of bits behind a single flipped bit modulo 127, and its range, by how
/// bytes and syndromes differ; and by the packet's lengths before and after.
fn one_bit(bytes: CrcResidue, syndrome: u8, [came, left]: [u64; 2]) -> (Option<u8>, Range<u64>) {
    let bits = 8 * left;
    match (bytes.bits().count_ones(), power(syndrome)) {
        // The bytes themselves tell: eight bits of CRC are behind them. Both must agree.
        (1, Some(bit)) if (bytes.bits().trailing_zeros() + 8) % 127 == u32::from(bit) => {
            (Some(bit), 8..bits)
        }
        // No byte that is left was hurt: it was the CRC byte,
        (0, Some(bit)) if bit < 8 => (Some(bit), 0..8),
        // or a route byte that has been used since.
        (0, Some(bit)) => (Some(bit), bits..8 * came),
        (_, _) => (None, 0..0),
    }
}

/// The first place in a range that is so much modulo 127.
fn first_behind(bit: u8, within: &Range<u64>) -> u64 {
    within.start + (u64::from(bit) + 127 - within.start % 127) % 127
}

fn flipped(
    came: &ClosedPacket,
    left: &ClosedPacket,
    injury: &CorruptionSite,
) -> Option<CorruptionSite> {
    let syndrome = came.syndrome() ^ left.syndrome();
    let stripped = came.peeled(injury.switches).unwrap_or(came.rest);
    let bytes = stripped.xor(left.all);
    if syndrome == 0 && bytes == CrcResidue::NEW {
        return None;
    }
    let odd =
        if bytes == CrcResidue::NEW { syndrome.count_ones() } else { bytes.bits().count_ones() };
    let harm = Corruption::Flipped(if odd % 2 == 1 { FlipParity::Odd } else { FlipParity::Even });
    let (bit, within) = one_bit(bytes, syndrome, [came.length, left.length]);
    Some(CorruptionSite { syndrome, bit, harm, within, ..injury.clone() })
}

/// The power of x that a syndrome is, if it is one.
fn power(syndrome: u8) -> Option<u8> {
    if flips(syndrome) == FlipParity::Even {
        // A power of x is odd; and a good packet needs no search.
        return None;
    }
    let one = CrcResidue::NEW.feed(&[1]);
    // A CRC has eight bits more behind it.
    (0..127).find(|power| one.times_x_to(u64::from(*power) + 119).crc().value() == syndrome)
}

const fn flips(syndrome: u8) -> FlipParity {
    if syndrome.count_ones() % 2 == 1 { FlipParity::Odd } else { FlipParity::Even }
}
