//! Comparison by bytes of a packet at a switch input with a packet that has left the switch. P-1,
//! P-3, P-5

use std::cmp::Reverse;

use codec::packet::CrcCheck;

use super::corruption::{self, ByteLikeness, HURT_MAX};
use super::hop_record::{ClosedPacket, HopId, HopRecord, HopTable, NextHop};
use super::located_harm;
use super::visible_bytes::{VisibleBytes, compare, small};
use super::wire_damage::CopyDamage;
use crate::packet::FrameEnd;

/// Visible bytes of a truncated packet that identify it. *Chosen*: this many do not agree by
/// chance.
pub(super) const ENOUGH: u8 = 8;
/// Minimum of visible bytes that are evidence: the tag alone agrees with many packets.
pub(super) const FEW: u8 = 2;

/// Quality of a match of two packets, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ByteFit {
    /// Equal bytes, at the output that the route requests.
    Same,
    /// Equal bytes, followed by the next packet for want of a GAP. P-1
    Merged,
    /// One bit differs, or one byte was inserted, and the CRC agrees with that.
    OneBit,
    /// Equal length; all bits that differ are on one wire. W-5
    OneWire,
    /// Truncated: all visible bytes agree, this many.
    Front(Reverse<u8>),
    /// Equal length; this many bits differ.
    Hurt(u32),
    /// This many visible bytes agree, with others missing between them. F-9
    Lossy(Reverse<u8>),
    /// Equal bytes at another output: the route byte was corrupted, or the switch is not fully
    /// known.
    Elsewhere,
    /// Equal length, and the CRC shows corruption.
    Spoilt,
    /// Truncated; its turn has come, and no visible byte contradicts.
    Turn,
}

impl ByteFit {
    /// True if the match follows from the bytes, at least `least` of them.
    pub(super) const fn is_by_bytes(self, least: u8) -> bool {
        match self {
            Self::Same | Self::Merged | Self::OneBit | Self::OneWire => true,
            Self::Front(Reverse(bytes)) => bytes >= least,
            Self::Hurt(_) | Self::Lossy(_) | Self::Elsewhere | Self::Spoilt | Self::Turn => false,
        }
    }

    /// False if the packets are only alike, as those of one protocol are, and it cannot have been the turn of the first.
    pub(super) fn suits(self, turn: TurnMatch) -> bool {
        match self {
            Self::Hurt(_) | Self::Spoilt => matches!(turn, TurnMatch::Its | TurnMatch::Maybe),
            Self::Lossy(_) | Self::Turn => turn != TurnMatch::Back,
            Self::Same
            | Self::Merged
            | Self::OneBit
            | Self::OneWire
            | Self::Front(_)
            | Self::Elsewhere => true,
        }
    }
}

/// Evidence that it is a packet's turn at an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnMatch {
    Its,
    Maybe,
    Not,
    /// It came from where it would go, to which only one of two possible addressings leads.
    Back,
}

/// Compares a packet at an input with the packet that has left. `asked`: the route requests that
/// output; `alone`: the input holds no other packet.
pub(super) fn fit(
    hop: &HopRecord,
    own: &HopRecord,
    left: &ClosedPacket,
    (asked, turn, alone): (bool, TurnMatch, bool),
) -> Option<ByteFit> {
    // Another departure has claimed it: only bytes can refute that.
    let taken = match hop.onward {
        NextHop::Nowhere => false,
        NextHop::Claimed(other) => {
            turn != TurnMatch::Its && own.before.is_none_or(|joint| joint.hop != other)
        }
        NextHop::Gone(_) => return None,
    };
    let Some(came) = hop.closed.as_ref() else {
        // The packet is still arriving although its departure has ended.
        return (asked && turn == TurnMatch::Its && !left.is_sound()).then_some(ByteFit::Turn);
    };
    let as_long = came.length == left.length + 1;
    let differ =
        (came.rest.xor(left.all).bits().count_ones()).max(u32::from(came.check != left.check));
    if came.becomes(left) {
        return Some(if asked { ByteFit::Same } else { ByteFit::Elsewhere });
    }
    let one_wire = || (as_long && !taken).then(|| one_wire(came, left)).flatten();
    let both_whole = came.is_sound() && left.is_sound();
    if !asked || (both_whole && turn != TurnMatch::Its) {
        // At another output than the requested one the route byte was changed.
        let is_in_route = |it: &CopyDamage| it.changed.first().is_some_and(|it| it.byte < 0);
        let in_route = || one_wire().filter(is_in_route).map(|_| ByteFit::OneWire);
        return if both_whole { None } else { in_route() };
    }
    // A length truncated by the recording is no evidence.
    if as_long && !left.is_cut_off() && !came.is_cut_off() {
        let fit = if came.check == left.check || taken { None } else { hurt(came, left, differ) };
        return match fit {
            Some(ByteFit::OneBit) => fit,
            _ if one_wire().is_some() => Some(ByteFit::OneWire),
            fit => fit,
        };
    }
    if !taken && alone && located_harm::inserted(came, left).is_some() {
        return Some(ByteFit::OneBit);
    }
    let longer = left.length >= came.length && !came.is_cut_off();
    // One of 256 packets that lost bytes still has a good CRC: most of its bytes must agree.
    let kept = small(left.front.bytes().len());
    let most = ENOUGH.max(kept / 4 * 3);
    let least = match (left.is_sound(), both_whole) {
        (_, true) => most,
        (true, false) => ENOUGH.min(kept),
        (false, false) => FEW,
    };
    match compare(came, left) {
        VisibleBytes::Agree(bytes) if bytes.0 >= least => Some(ByteFit::Front(bytes)),
        // Bytes missing at the front of a sound packet were removed by other switches, not lost. S-1
        VisibleBytes::Lossy(_)
            if both_whole && came.front.bytes().get(1) != left.front.bytes().first() =>
        {
            None
        }
        // A packet that lost bytes is shorter; the end of the recording is no sign that it lost any.
        VisibleBytes::Lossy(_) if longer => None,
        VisibleBytes::Lossy(bytes) if left.is_cut_off() && bytes.0 < most => None,
        VisibleBytes::Lossy(bytes) if bytes.0 >= least && (!taken || bytes.0 >= ENOUGH) => {
            Some(ByteFit::Lossy(bytes))
        }
        VisibleBytes::Agree(_) | VisibleBytes::Flipped => {
            (!left.is_sound() && !longer && !taken && turn != TurnMatch::Not)
                .then_some(ByteFit::Turn)
        }
        VisibleBytes::Lossy(_) | VisibleBytes::Differ => None,
    }
}

/// Change of a sound packet, if the bits of one wire explain it. Its CRC may be good by chance.
fn one_wire(came: &ClosedPacket, left: &ClosedPacket) -> Option<CopyDamage> {
    let is_whole = left.ended_by == FrameEnd::Gap && left.length >= ENOUGH.into();
    let damage =
        (came.is_sound() && is_whole).then(|| CopyDamage::between(came, left, 1)).flatten();
    damage.filter(|it| it.tally.single().is_some())
}

/// Compares a packet with one of equal length that differs in `differ` bits.
fn hurt(came: &ClosedPacket, left: &ClosedPacket, differ: u32) -> Option<ByteFit> {
    // A short body agrees with others by chance.
    let bits = u32::try_from(left.length).unwrap_or(u32::MAX).saturating_mul(2);
    if left.length < 2 {
        // One byte has no CRC to compare: it is the front of a packet truncated before.
        let VisibleBytes::Agree(bytes) = compare(came, left) else { return None };
        return (bytes == Reverse(1)).then_some(ByteFit::Front(bytes));
    }
    if left.length >= ENOUGH.into() && corruption::likeness(came, left, 1) == ByteLikeness::OneBit {
        return Some(ByteFit::OneBit);
    }
    if differ <= HURT_MAX.min(bits) {
        return Some(ByteFit::Hurt(differ));
    }
    (left.check != CrcCheck::Good && compare(came, left) != VisibleBytes::Differ)
        .then_some(ByteFit::Spoilt)
}

/// Number of following packets that left merged with this one, if the bytes match exactly. P-1
pub(super) fn merged(
    table: &HopTable,
    hop: &HopRecord,
    left: &ClosedPacket,
    behind: &mut dyn Iterator<Item = HopId>,
) -> Option<usize> {
    let came = hop.closed.as_ref()?;
    let (mut length, mut bytes) = (came.length.checked_sub(1)?, None);
    if length >= left.length {
        return None;
    }
    for (number, next) in behind.enumerate() {
        let next = table.get(next)?.closed.as_ref()?;
        // The CRC byte of the packet before stays as it is.
        let so_far = bytes.unwrap_or_else(|| {
            let crc = came.all.crc().value() ^ came.syndrome();
            came.rest.feed(&[crc])
        });
        let all = so_far.times_x_to(8 * ((next.length - 1) % 127)).xor(next.all);
        length += next.length;
        if length >= left.length {
            return (length == left.length && all == left.all).then_some(number + 1);
        }
        let message = so_far.times_x_to(8 * (next.length % 127)).xor(next.message());
        bytes = Some(message);
    }
    None
}
