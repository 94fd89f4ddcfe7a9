//! Changes of a packet's bytes between two taps, and their positions. P-3, P-5
//!
//! The CRC generator has the factor x + 1, so an odd number of flipped bits changes the syndrome by
//! an odd number of bits, and an even number by an even one. x has order 127 modulo the generator:
//! one flipped bit followed by n bits changes the syndrome by xⁿ, which gives n modulo 127.

use std::ops::Range;

use codec::capture::ChannelId;
use codec::crc::CrcResidue;

use super::hop_record::{ClosedPacket, HopLink, HopRecord};
use super::located_harm::{self, LocatedHarm};
use super::wire_damage::CopyDamage;
use crate::named_enum::named_enum;
use crate::packet::{FrameEnd, StartCoverage};

/// Maximum of differing bits between a packet and its corrupted form. *Chosen*: no two of 127
/// random bits agree this closely by chance.
pub(super) const HURT_MAX: u32 = 16;

/// Change of a packet between two taps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptionSite {
    /// The last captured channel before the change; `None` if it happened before the first.
    pub after: Option<ChannelId>,
    /// The first captured channel with the change.
    pub seen: ChannelId,
    /// Number of switches between the two. More than 1 if links between were not captured: the
    /// change may have happened on any of them.
    pub switches: u64,
    /// Change of the syndrome; 0 if the CRC shows no change, or there is no CRC.
    pub syndrome: u8,
    /// Single flipped bit only: number of bits after it in the packet, including the CRC byte,
    /// modulo 127.
    pub bit: Option<u8>,
    /// Kind of the change.
    pub harm: Corruption,
    /// Place of an error on a wire. W-8
    pub located: Option<LocatedHarm>,
    /// Flipped bits only: the bytes before and after, if they are kept.
    pub damage: Option<Box<CopyDamage>>,
    /// Range of the number of bits after the flipped one.
    within: Range<u64>,
    /// Length of the packet on the channel `seen`, in bytes.
    length: u64,
}

/// Corruption of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corruption {
    /// Bits were flipped.
    Flipped(FlipParity),
    /// The packet is shorter: number of missing bytes, `None` if unknown, and the cause of its end.
    Cut(Option<u64>, FrameEnd),
    /// The packet is longer by this number of bytes.
    Grown(u64),
}

named_enum! {
    /// Parity of the number of flipped bits.
    pub enum FlipParity {
        /// An odd number, most likely one.
        Odd = "odd",
        /// An even number, at least two.
        Even = "even",
    }
}

/// Position of a bit in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitPlace {
    /// Index of the byte: 0 is the first on the channel [`CorruptionSite::seen`]; route bytes
    /// stripped before have negative indices.
    pub byte: i64,
    /// Bit of that byte, 7 to 0.
    pub bit: u8,
}

impl CorruptionSite {
    /// Possible positions of a single flipped bit, in order.
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

/// Corruption of a packet before its first captured channel.
pub(super) fn before_the_first(
    seen: ChannelId,
    hop: &HopRecord,
    opening: StartCoverage,
) -> Option<CorruptionSite> {
    let closed = hop.closed.as_ref()?;
    let syndrome = closed.syndrome();
    let injury = CorruptionSite {
        after: None,
        seen,
        switches: 0,
        syndrome,
        bit: power(syndrome),
        harm: Corruption::Flipped(flips(syndrome)),
        located: None,
        damage: None,
        within: 0..8 * closed.length,
        length: closed.length,
    };
    match closed.ended_by {
        // An incomplete recording is no corruption.
        FrameEnd::CaptureEnd | FrameEnd::Hole => None,
        FrameEnd::OpenLink | FrameEnd::Reset => Some(CorruptionSite {
            bit: None,
            harm: Corruption::Cut(None, closed.ended_by),
            ..injury
        }),
        // The CRC byte of a partially recorded packet is no evidence.
        FrameEnd::Gap if opening == StartCoverage::Unsure => None,
        FrameEnd::Gap => (syndrome != 0).then_some(injury),
    }
}

/// Corruption of a packet between two channels that `link` joins.
pub(super) fn between(
    (after, came): (ChannelId, &HopRecord),
    (seen, left): (ChannelId, &HopRecord),
    link: &HopLink,
) -> Option<CorruptionSite> {
    let (came, left) = (came.closed.as_ref()?, left.closed.as_ref()?);
    let switches = link.switches;
    let injury = CorruptionSite {
        after: Some(after),
        seen,
        switches,
        syndrome: 0,
        bit: None,
        harm: Corruption::Flipped(FlipParity::Even),
        located: None,
        damage: None,
        within: 0..0,
        length: left.length,
    };
    let expected = came.length.saturating_sub(switches);
    // A packet that the recording truncates is not known to be shorter.
    if left.is_cut_off() || (came.is_cut_off() && expected <= left.length) {
        return None;
    }
    // Bytes before the start of a recording are not missing in transit.
    let short = if expected > left.length { left } else { came };
    if expected != left.length && short.opening == StartCoverage::Unsure {
        return None;
    }
    if expected > left.length {
        let mut by = [left.ended_by, came.ended_by].into_iter();
        let by = by.find(|by| matches!(by, FrameEnd::OpenLink | FrameEnd::Reset));
        let missing = (!came.is_cut_off()).then_some(expected - left.length);
        let harm = Corruption::Cut(missing, by.unwrap_or(FrameEnd::Gap));
        return Some(CorruptionSite { harm, ..injury });
    }
    if expected < left.length {
        let harm = Corruption::Grown(left.length - expected);
        // Parts of two packets that an overflow merged may look like one with a byte more. F-9
        let located = located_harm::inserted(came, left).filter(|_| switches == 1 && link.alone);
        return Some(CorruptionSite { harm, located, ..injury });
    }
    if came.length.min(left.length) < 2 {
        return None;
    }
    flipped(came, left, &injury)
}

/// Similarity of two packets of equal length, one of which may be the corrupted other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteLikeness {
    /// The packets differ by one flipped bit.
    OneBit,
    /// The packets differ by few bits, or in the CRC byte.
    FewBits,
    Unlike,
}

/// Similarity of two packets that are `switches` switches apart.
pub(super) fn likeness(came: &ClosedPacket, left: &ClosedPacket, switches: u64) -> ByteLikeness {
    let Some(stripped) = came.peeled(switches) else { return ByteLikeness::Unlike };
    let bytes = stripped.xor(left.all);
    let syndrome = came.syndrome() ^ left.syndrome();
    let differ = bytes.bits().count_ones();
    // A short body agrees with others by chance.
    let bits = u32::try_from(left.length).unwrap_or(u32::MAX).saturating_mul(2);
    // The change of the CRC must match the change of the bytes, unless the bytes are unchanged.
    if differ > HURT_MAX.min(bits) || (differ > 0 && bytes.crc().value() != syndrome) {
        let damage = CopyDamage::between(came, left, switches);
        let is_of_one_wire = damage.is_some_and(|it| it.tally.single().is_some());
        return if is_of_one_wire { ByteLikeness::FewBits } else { ByteLikeness::Unlike };
    }
    match one_bit(bytes, syndrome, [came.length, left.length]) {
        (Some(bit), within) if first_behind(bit, &within) < within.end => ByteLikeness::OneBit,
        (Some(_) | None, _) => ByteLikeness::FewBits,
    }
}

/// Number of bits after a single flipped bit modulo 127, and its range, from the differences of
/// bytes and syndromes and the lengths of the packet before and after.
fn one_bit(bytes: CrcResidue, syndrome: u8, [came, left]: [u64; 2]) -> (Option<u8>, Range<u64>) {
    let bits = 8 * left;
    match (bytes.bits().count_ones(), power(syndrome)) {
        // The bytes show the bit, which the eight bits of the CRC follow. Both must agree.
        (1, Some(bit)) if (bytes.bits().trailing_zeros() + 8) % 127 == u32::from(bit) => {
            (Some(bit), 8..bits)
        }
        // No remaining byte changed: either the CRC byte did,
        (0, Some(bit)) if bit < 8 => (Some(bit), 0..8),
        // or a route byte that has been stripped since.
        (0, Some(bit)) => (Some(bit), bits..8 * came),
        (_, _) => (None, 0..0),
    }
}

/// First number in a range that is congruent to `bit` modulo 127.
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
    let damage = CopyDamage::between(came, left, injury.switches).filter(|it| !it.is_none());
    // Bits of one wire 127 characters apart change neither CRC nor residue: the bytes tell, while they are kept.
    if syndrome == 0 && bytes == CrcResidue::NEW && damage.is_none() {
        return None;
    }
    let odd =
        if bytes == CrcResidue::NEW { syndrome.count_ones() } else { bytes.bits().count_ones() };
    let harm = Corruption::Flipped(if odd % 2 == 1 { FlipParity::Odd } else { FlipParity::Even });
    let (bit, within) = one_bit(bytes, syndrome, [came.length, left.length]);
    // The CRC byte changes as the bytes do, unless it was hurt itself.
    let crc = bytes.crc().value() ^ syndrome;
    let located = located_harm::pair(came, left, injury.switches, (bytes, crc));
    let damage = damage.map(Box::new);
    Some(CorruptionSite { syndrome, bit, harm, located, damage, within, ..injury.clone() })
}

/// Exponent of the power of x that equals a syndrome, if there is one.
fn power(syndrome: u8) -> Option<u8> {
    if flips(syndrome) == FlipParity::Even {
        // A power of x has an odd number of bits; this also excludes syndrome 0.
        return None;
    }
    let one = CrcResidue::NEW.feed(&[1]);
    // The CRC adds eight bits.
    (0..127).find(|power| one.times_x_to(u64::from(*power) + 119).crc().value() == syndrome)
}

const fn flips(syndrome: u8) -> FlipParity {
    if syndrome.count_ones() % 2 == 1 { FlipParity::Odd } else { FlipParity::Even }
}
