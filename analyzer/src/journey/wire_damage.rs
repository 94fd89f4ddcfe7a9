//! Comparison of all bytes of a packet before and after: which wires flipped them. W-5, W-8, P-5

use codec::crc::{CrcResidue, crc8};

use super::hop_record::ClosedPacket;
use crate::totals::totals;

/// Number of changed bytes that are listed. *Chosen*: as many as fit into a line.
pub const CHANGED_MAX: usize = 8;
/// Wires of a data byte. W-1
const WIRES: usize = 8;

totals! {
    /// Flipped bits by wire.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct WireTally {
        /// Ones that became zeros, by wire.
        pub cleared: [u64; WIRES],
        /// Zeros that became ones, by wire.
        pub set: [u64; WIRES],
    }
}

/// A byte that is not as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedByte {
    /// Index of the byte on the later channel, from 0; route bytes stripped before have negative indices.
    pub byte: i64,
    /// Its value before; of the CRC byte, the one that the switches would have computed. P-5
    pub before: u8,
    /// Its value after.
    pub after: u8,
}

/// Differences of a packet's bytes before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyDamage {
    /// Flipped bits by wire.
    pub tally: WireTally,
    /// The first [`CHANGED_MAX`] changed bytes.
    pub changed: Vec<ChangedByte>,
}

impl WireTally {
    fn add(&mut self, before: u8, after: u8) {
        for (wire, (cleared, set)) in self.cleared.iter_mut().zip(&mut self.set).enumerate() {
            *cleared += u64::from(before & !after) >> wire & 1;
            *set += u64::from(after & !before) >> wire & 1;
        }
    }

    /// Wires with flipped bits: number, cleared and set bits.
    pub fn wires(&self) -> impl Iterator<Item = (u8, u64, u64)> + use<> {
        let counts = self.cleared.into_iter().zip(self.set);
        let wires = (0..).zip(counts).map(|(wire, (cleared, set))| (wire, cleared, set));
        wires.filter(|(_, cleared, set)| cleared + set > 0)
    }

    /// The wire that explains all flipped bits, if one does.
    pub fn single(&self) -> Option<u8> {
        let mut wires = self.wires().map(|(wire, ..)| wire);
        wires.next().filter(|_| wires.next().is_none())
    }
}

impl CopyDamage {
    /// Compares all bytes of a packet with those `switches` switches later; `None` if they are not kept, or
    /// if the lengths do not match.
    pub(super) fn between(came: &ClosedPacket, left: &ClosedPacket, switches: u64) -> Option<Self> {
        let bytes = |packet: &ClosedPacket| {
            let bytes = packet.bytes.clone()?;
            (bytes.bytes().len() as u64 == packet.length && packet.length > 1).then_some(bytes)
        };
        let (stood, own) = (bytes(came)?, bytes(left)?);
        let (route, stood) = stood.bytes().split_at_checked(usize::try_from(switches).ok()?)?;
        let ([stood @ .., _], [own @ .., _]) = (stood, own.bytes()) else { return None };
        if stood.len() != own.len() {
            return None;
        }
        let mut damage = Self::default();
        if stood == own && came.check == left.check {
            return Some(damage);
        }
        let pairs = stood.iter().zip(own);
        pairs.for_each(|(before, after)| damage.tally.add(*before, *after));
        // A switch computes the CRC byte anew; what was flipped in it, or in a stripped byte, is left in the
        // syndrome. P-5
        let crc = crc8(stood) ^ came.syndrome();
        let mut flipped = came.syndrome() ^ left.syndrome() ^ crc8(stood) ^ crc8(own);
        if let Some((place, mask)) = damage.in_route(route.len(), stood.len(), &mut flipped)
            && let Some(byte) = route.get(place)
        {
            damage.tally.add(*byte, byte ^ mask);
            damage.list(place, route.len(), *byte, byte ^ mask);
        }
        for (place, (before, after)) in stood.iter().zip(own).enumerate() {
            damage.list(place + route.len(), route.len(), *before, *after);
        }
        damage.tally.add(crc, crc ^ flipped);
        damage.list(stood.len() + route.len(), route.len(), crc, crc ^ flipped);
        Some(damage)
    }

    /// The stripped byte and the bit of it that explain a change of the syndrome together with at most the same
    /// bit of the CRC byte, if the bit is on the wire of all others. That part of the change is removed.
    fn in_route(&self, route: usize, behind: usize, flipped: &mut u8) -> Option<(usize, u8)> {
        let wires = self.tally.wires().count();
        if flipped.count_ones() < 2 || wires > 1 {
            return None;
        }
        let bits = (0..8).filter(|wire| wires == 0 || self.tally.single() == Some(*wire));
        let places = (0..route).flat_map(|place| bits.clone().map(move |wire| (place, 1 << wire)));
        for (place, mask) in places {
            let later = route - 1 - place + behind;
            let crc = CrcResidue::NEW.feed(&[mask]).times_x_to(8 * (later as u64 % 127)).crc();
            let rest = *flipped ^ crc.value();
            if rest == 0 || rest == mask {
                *flipped = rest;
                return Some((place, mask));
            }
        }
        None
    }

    /// Lists a byte that has changed.
    fn list(&mut self, place: usize, route: usize, before: u8, after: u8) {
        if before != after && self.changed.len() < CHANGED_MAX {
            let byte = i64::try_from(place).unwrap_or(i64::MAX) - i64::try_from(route).unwrap_or(0);
            self.changed.push(ChangedByte { byte, before, after });
        }
    }

    /// True if no bit has changed.
    pub(super) fn is_none(&self) -> bool {
        self.changed.is_empty()
    }
}
