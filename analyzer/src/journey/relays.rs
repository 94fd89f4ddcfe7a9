//! Packets that a host sends on: those that leave it with the bytes of one that it has received, or that
//! the router at the other end of its fibre has. N-5, N-6

use codec::crc::CrcResidue;

use super::recent_sets::RecentSets;
use crate::event::Picoseconds;

/// Minimum payload, in bytes. *Chosen*: shorter packets are alike by chance.
pub(super) const PAYLOAD_MIN: u64 = 8;

/// The journey of which a packet is a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayedFrom {
    /// Its number.
    pub journey: u64,
    /// Time from its last byte to the first byte of the copy, both at their taps.
    pub after: Picoseconds,
}

/// A good packet that has reached a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrivedPacket {
    pub(super) node: usize,
    pub(super) length: u64,
    /// From the tag on.
    pub(super) content: CrcResidue,
    pub(super) journey: u64,
    pub(super) end: Picoseconds,
}

impl RecentSets<ArrivedPacket> {
    /// The last packet with this content that a node had received whole at a time.
    pub(super) fn last_before(
        &self,
        (node, length, content): (usize, u64, CrcResidue),
        time: Picoseconds,
    ) -> Option<RelayedFrom> {
        let same = |it: &ArrivedPacket| (it.node, it.length, it.content) == (node, length, content);
        self.find(content, node).rev().filter(same).find_map(|it| {
            Some(RelayedFrom { journey: it.journey, after: time.checked_sub(it.end)? })
        })
    }
}
