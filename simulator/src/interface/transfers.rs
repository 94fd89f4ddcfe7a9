//! Transfers between host memory and interface memory: blocks are gathered into a packet, or a
//! packet is scattered into buffers. I-5, I-6 (Micro)

use codec::crc::crc8;

use super::checksum::InternetChecksum;
use super::queues::{BUFFER, HostAcknowledgment, SendCommand};
use super::receive_engine::StoredPacket;
use super::send_engine::{OutgoingPacket, PacketOwner};
use crate::packet_types::PacketRoutine;
use crate::topology::NodeId;

/// A packet being gathered from the host's blocks.
#[derive(Clone, Debug)]
pub(super) struct GatherTransfer {
    /// Its command, with the blocks left, none empty; the first one from `at` on.
    command: SendCommand,
    at: usize,
    /// Header and payload so far.
    packet: Vec<u8>,
    header: usize,
    sum: InternetChecksum,
}

/// A payload being scattered into the host's buffers, each filled but for the last.
#[derive(Clone, Debug)]
pub(super) struct ScatterTransfer {
    routine: PacketRoutine,
    /// From its tag to its CRC byte, which stay.
    packet: Vec<u8>,
    /// Bytes of the payload moved.
    moved: usize,
}

impl GatherTransfer {
    /// Begins with the route and the tag. P-2
    pub(super) fn new(mut command: SendCommand, route: &[u8]) -> Self {
        let payload: usize = command.gather.iter().map(Vec::len).sum();
        let mut packet = Vec::with_capacity(route.len() + payload + 2);
        packet.extend_from_slice(route);
        packet.push(command.tag.value());
        let header = packet.len();
        command.gather.retain(|block| !block.is_empty());
        Self { command, at: 0, packet, header, sum: InternetChecksum::default() }
    }

    pub(super) const fn to(&self) -> NodeId {
        self.command.to
    }

    /// True if bytes have been moved.
    pub(super) const fn has_begun(&self) -> bool {
        self.packet.len() > self.header
    }

    /// Number of contiguous bytes next, at most `most`; 0 at the end.
    pub(super) fn next(&self, most: usize) -> usize {
        self.command.gather.front().map_or(0, |block| (block.len() - self.at).min(most))
    }

    /// Moves the bytes counted by [`Self::next`].
    pub(super) fn carry(&mut self, most: usize) {
        let count = self.next(most);
        let Some(block) = self.command.gather.front() else { return };
        if let Some(bytes) = block.get(self.at..self.at + count) {
            self.packet.extend_from_slice(bytes);
            self.sum.feed(bytes);
        }
        self.at += count;
        if self.at == block.len() {
            self.command.gather.pop_front();
            self.at = 0;
        }
    }

    /// The packet with its checksum and CRC byte, for the sending engine. I-1
    pub(super) fn finish(mut self) -> OutgoingPacket {
        let SendCommand { number, interrupt, ready, checksum, .. } = self.command;
        if let Some(at) = checksum {
            let payload = self.packet.get_mut(self.header..);
            payload.into_iter().for_each(|payload| self.sum.insert(payload, at));
        }
        self.packet.push(crc8(&self.packet));
        let behalf = PacketOwner::Host { number, interrupt };
        OutgoingPacket { bytes: self.packet, behalf, ready }
    }
}

impl ScatterTransfer {
    pub(super) fn new(StoredPacket { routine, bytes }: StoredPacket) -> Self {
        Self { routine, packet: bytes, moved: 0 }
    }

    /// True if bytes have been moved.
    pub(super) const fn has_begun(&self) -> bool {
        self.moved > 0
    }

    /// Number of contiguous bytes next, at most `most`; 0 at the end.
    pub(super) fn next(&self, most: usize) -> usize {
        let left = self.packet.len().saturating_sub(2 + self.moved);
        left.min(BUFFER - self.moved % BUFFER).min(most)
    }

    /// Moves the bytes counted by [`Self::next`]; returns their number.
    pub(super) fn carry(&mut self, most: usize) -> usize {
        let count = self.next(most);
        self.moved += count;
        count
    }

    /// The message to the host, and the number of bytes that it does not get.
    pub(super) fn finish(self) -> (HostAcknowledgment, usize) {
        let Self { routine, mut packet, moved } = self;
        let behind = packet.len() - moved;
        packet.truncate(moved + 1);
        packet.drain(..1);
        (HostAcknowledgment::Arrived { routine, payload: packet }, behind)
    }
}

#[cfg(test)]
mod tests {
    use codec::crc::syndrome;
    use codec::packet::PacketTag;

    use super::*;
    use crate::topology::NodeId;

    fn command(gather: &[&[u8]], checksum: Option<usize>) -> SendCommand {
        SendCommand {
            number: 7,
            gather: gather.iter().map(|block| block.to_vec()).collect(),
            checksum,
            to: NodeId(1),
            tag: PacketTag::new(0x05).unwrap(),
            ready: 0,
            interrupt: false,
        }
    }

    fn gathered(command: SendCommand, most: usize) -> Vec<u8> {
        let mut gather = GatherTransfer::new(command, &[0x81, 0x82]);
        while gather.next(most) > 0 {
            gather.carry(most);
        }
        gather.finish().bytes
    }

    #[test]
    fn three_blocks_become_one_packet_with_its_checksum_and_crc() {
        // The example of RFC 1071, its checksum 0x220d, with two bytes for it in the middle.
        let blocks: [&[u8]; 4] =
            [&[0x00, 0x01, 0xf2], &[], &[0x03, 0, 0, 0xf4], &[0xf5, 0xf6, 0xf7]];
        for most in [1, 2, 3, 64] {
            let packet = gathered(command(&blocks, Some(4)), most);
            assert_eq!(
                packet[..13],
                [0x81, 0x82, 0x05, 0, 1, 0xf2, 3, 0x22, 0x0d, 0xf4, 0xf5, 0xf6, 0xf7]
            );
            assert_eq!((packet.len(), syndrome(&packet)), (14, Some(0)));
        }
    }

    #[test]
    fn a_checksum_in_an_odd_place_fits_too() {
        let packet = gathered(command(&[&[0x12, 0, 0, 0x34]], Some(1)), 64);
        let mut sum = InternetChecksum::default();
        sum.feed(&packet[3..7]);
        assert_eq!(sum.sum(), 0xffff);
    }

    #[test]
    fn a_checksum_beyond_the_payload_is_not_inserted() {
        assert_eq!(gathered(command(&[&[1, 2]], Some(1)), 64)[3..5], [1, 2]);
        assert_eq!(gathered(command(&[], Some(0)), 64)[..3], [0x81, 0x82, 0x05]);
    }

    #[test]
    fn bytes_that_lie_together_are_moved_together() {
        let mut gather = GatherTransfer::new(command(&[&[0; 100], &[0; 3]], None), &[]);
        let mut bursts = Vec::new();
        while gather.next(64) > 0 {
            bursts.push(gather.next(64));
            gather.carry(64);
        }
        assert_eq!(bursts, [64, 36, 3]);
    }

    #[test]
    fn a_payload_is_scattered_into_buffers_in_turn() {
        let payload: Vec<u8> = (0..=99).cycle().take(BUFFER + 100).collect();
        let bytes = [&[5], &payload[..], &[0xcc]].concat();
        let routine = PacketRoutine::Deliver;
        let mut scatter = ScatterTransfer::new(StoredPacket { routine, bytes });
        let mut bursts = Vec::new();
        while scatter.next(3000) > 0 {
            bursts.push(scatter.carry(3000));
        }
        assert_eq!(bursts, [3000, BUFFER - 3000, 100]);
        assert_eq!(scatter.finish(), (HostAcknowledgment::Arrived { routine, payload }, 2));
        // There is nothing to move of an empty one.
        let scatter = ScatterTransfer::new(StoredPacket { routine, bytes: vec![5, 0x1b] });
        let arrived = HostAcknowledgment::Arrived { routine, payload: vec![] };
        assert_eq!((scatter.next(64), scatter.finish()), (0, (arrived, 2)));
    }
}
