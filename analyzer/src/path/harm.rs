//! What happened to a packet's bytes between two taps, and where in the packet. P-3, P-5
//!
//! The generator has the factor x + 1, so an odd number of flipped bits changes the syndrome by an odd
//! number of bits, and an even one by an even number. x has order 127 modulo the generator: one flipped
//! bit with n bits behind it changes the syndrome by xⁿ, and n is known modulo 127.

use std::ops::Range;

use codec::capture::ChannelId;
use codec::crc::Residue;
use codec::packet::Check;

use super::fit::HURT_MAX;
use super::leg::{Closed, Leg, Opening};
use crate::packet::EndedBy;

/// Something that was done to a packet between two taps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injury {
    /// The last captured channel on which it was as before; none if it was hurt before the first.
    pub after: Option<ChannelId>,
    /// The first captured channel on which it is different.
    pub seen: ChannelId,
    /// How many switches lie between the two. More than one if links between were not captured: it
    /// may have been hurt on any of them.
    pub switches: u64,
    /// What the syndrome changed by; 0 where the CRC does not tell, or there is none.
    pub syndrome: u8,
    /// If one bit was flipped: how many bits were behind it in the packet, CRC byte included, modulo
    /// 127.
    pub bit: Option<u8>,
    /// What was done.
    pub harm: Harm,
    /// Bits behind the flipped one are in this range.
    within: Range<u64>,
    /// The packet's bytes on the channel `seen`.
    length: u64,
}

/// What was done to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Bits were flipped.
    Flipped(Flips),
    /// So many bytes are missing; none if it is not known how many.
    Cut(Option<u64>, EndedBy),
    /// It has more bytes than before.
    Grown(u64),
}

/// How many bits were flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flips {
    /// An odd number: one, most likely.
    Odd,
    /// An even number, and so two at least.
    Even,
}

/// Where a bit is in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its byte: 0 is the first on the channel [`Injury::seen`]; those below 0 had been stripped.
    pub byte: i64,
    /// Its bit in that byte, 7 to 0.
    pub bit: u8,
}

impl Injury {
    /// Where the flipped bit may be, if it is one; the first first.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let (within, length) = (self.within.clone(), self.length);
        self.bit.into_iter().flat_map(move |bit| {
            let first = first_behind(bit, &within);
            let count = within.end.saturating_sub(first).div_ceil(127);
            (0..count).rev().map(move |round| {
                let behind = first + 127 * round;
                let byte = i64::try_from(length).unwrap_or(i64::MAX)
                    - 1
                    - i64::try_from(behind / 8).unwrap_or(i64::MAX);
                Place { byte, bit: u8::try_from(behind % 8).unwrap_or(0) }
            })
        })
    }
}

/// What is wrong with a packet on the first captured channel of its way.
pub(super) fn before_the_first(seen: ChannelId, leg: &Leg, opening: Opening) -> Option<Injury> {
    let closed = leg.closed.as_ref()?;
    let syndrome = closed.syndrome();
    let injury = Injury {
        after: None,
        seen,
        switches: 0,
        syndrome,
        bit: power(syndrome),
        harm: Harm::Flipped(flips(syndrome)),
        within: 0..8 * closed.length,
        length: closed.length,
    };
    match closed.ended_by {
        // The end of the recording cuts nothing but the recording.
        EndedBy::CaptureEnd | EndedBy::Hole => None,
        EndedBy::OpenLink | EndedBy::Reset => {
            Some(Injury { bit: None, harm: Harm::Cut(None, closed.ended_by), ..injury })
        }
        // Of what is only a part of a packet the CRC byte tells nothing.
        EndedBy::Gap if opening == Opening::Unsure => None,
        EndedBy::Gap => (syndrome != 0).then_some(injury),
    }
}

/// What was done to a packet between two channels, with so many switches between.
pub(super) fn between(
    (after, came): (ChannelId, &Leg),
    (seen, left): (ChannelId, &Leg),
    switches: u64,
) -> Option<Injury> {
    let (came, left) = (came.closed.as_ref()?, left.closed.as_ref()?);
    let injury = Injury {
        after: Some(after),
        seen,
        switches,
        syndrome: 0,
        bit: None,
        harm: Harm::Flipped(Flips::Even),
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
    if expected != left.length && short.opening == Opening::Unsure {
        return None;
    }
    if expected > left.length {
        let mut by = [left.ended_by, came.ended_by].into_iter();
        let by = by.find(|by| matches!(by, EndedBy::OpenLink | EndedBy::Reset));
        let missing = (!came.is_cut_off()).then_some(expected - left.length);
        let harm = Harm::Cut(missing, by.unwrap_or(EndedBy::Gap));
        return Some(Injury { harm, ..injury });
    }
    if expected < left.length {
        return Some(Injury { harm: Harm::Grown(left.length - expected), ..injury });
    }
    if came.check == Check::Runt || left.check == Check::Runt {
        return None;
    }
    flipped(came, left, &injury)
}

/// How like two packets are of one length, of which one may be the other, hurt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// One flipped bit makes one of the other.
    OneBit,
    /// Few bits do, or the CRC byte.
    FewBits,
    Unlike,
}

/// How like two packets are, with so many switches between.
pub(super) fn likeness(came: &Closed, left: &Closed, switches: u64) -> Likeness {
    let Some(stripped) = came.peeled(switches) else { return Likeness::Unlike };
    let bytes = stripped.and(left.all);
    let syndrome = came.syndrome() ^ left.syndrome();
    let differ = bytes.bits().count_ones();
    // A body of few bytes agrees with others by chance.
    let bits = u32::try_from(left.length).unwrap_or(u32::MAX).saturating_mul(2);
    // The CRC must tell of the same bits as the bytes, unless these were not hurt.
    if differ > HURT_MAX.min(bits) || (differ > 0 && bytes.crc().value() != syndrome) {
        return Likeness::Unlike;
    }
    match one_bit(bytes, syndrome, [came.length, left.length]) {
        (Some(bit), within) if first_behind(bit, &within) < within.end => Likeness::OneBit,
        (Some(_) | None, _) => Likeness::FewBits,
    }
}

/// If one bit was flipped, how many bits are behind it modulo 127, and in which range that is, by how
/// bytes and syndromes differ; and by the packet's lengths before and after.
fn one_bit(bytes: Residue, syndrome: u8, [came, left]: [u64; 2]) -> (Option<u8>, Range<u64>) {
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

fn flipped(came: &Closed, left: &Closed, injury: &Injury) -> Option<Injury> {
    let syndrome = came.syndrome() ^ left.syndrome();
    let stripped = came.peeled(injury.switches).unwrap_or(came.rest);
    let bytes = stripped.and(left.all);
    if syndrome == 0 && bytes == Residue::NEW {
        return None;
    }
    let odd = if bytes == Residue::NEW { syndrome.count_ones() } else { bytes.bits().count_ones() };
    let harm = Harm::Flipped(if odd % 2 == 1 { Flips::Odd } else { Flips::Even });
    let (bit, within) = one_bit(bytes, syndrome, [came.length, left.length]);
    Some(Injury { syndrome, bit, harm, within, ..injury.clone() })
}

/// The power of x that a syndrome is, if it is one.
fn power(syndrome: u8) -> Option<u8> {
    if flips(syndrome) == Flips::Even {
        // A power of x is odd; and a good packet needs no search.
        return None;
    }
    let one = Residue::NEW.feed(&[1]);
    // A CRC has eight bits more behind it.
    (0..127).find(|power| one.times_x_to(u64::from(*power) + 119).crc().value() == syndrome)
}

const fn flips(syndrome: u8) -> Flips {
    if syndrome.count_ones() % 2 == 1 { Flips::Odd } else { Flips::Even }
}
