//! Transfers between host memory and interface memory: blocks are gathered into a packet, or a
//! packet is scattered into buffers. I-5, I-6 (Micro)

use std::collections::VecDeque;

use codec::crc::crc8;

use super::checksum::InternetChecksum;
use super::queues::{HostBuffer, SendCommand};
use super::send_engine::{OutgoingPacket, PacketOwner};
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

/// A payload being scattered into the host's buffers.
#[derive(Clone, Debug)]
pub(super) struct ScatterTransfer {
    packet: Vec<u8>,
    at: usize,
    end: usize,
    /// The buffer being filled and those after it, none full.
    empty: VecDeque<HostBuffer>,
    filled: Vec<HostBuffer>,
    sum: InternetChecksum,
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
    /// Scatters a packet without its tag and CRC byte.
    pub(super) fn new(packet: Vec<u8>, buffers: impl Iterator<Item = HostBuffer>) -> Self {
        let end = packet.len().saturating_sub(1).max(1);
        let empty = buffers.filter(|buffer| buffer.room() > 0).collect();
        Self { packet, at: 1, end, empty, filled: Vec::new(), sum: InternetChecksum::default() }
    }

    /// True if bytes have been moved.
    pub(super) const fn has_begun(&self) -> bool {
        self.at > 1
    }

    /// Number of contiguous bytes next, at most `most`; 0 at the end.
    pub(super) fn next(&self, most: usize) -> usize {
        let room = self.empty.front().map_or(0, HostBuffer::room);
        (self.end - self.at).min(room).min(most)
    }

    /// Moves the bytes counted by [`Self::next`]; returns their number.
    pub(super) fn carry(&mut self, most: usize) -> usize {
        let count = self.next(most);
        let Some(buffer) = self.empty.front_mut() else { return 0 };
        if let Some(bytes) = self.packet.get(self.at..self.at + count) {
            buffer.bytes.extend_from_slice(bytes);
            self.sum.feed(bytes);
        }
        self.at += count;
        if buffer.room() == 0 || self.at == self.end {
            self.filled.extend(self.empty.pop_front());
        }
        count
    }

    /// The filled buffers and their sum.
    pub(super) fn finish(self) -> (Vec<HostBuffer>, u16) {
        (self.filled, self.sum.sum())
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
    fn a_payload_is_scattered_into_buffers_of_other_sizes() {
        let packet = gathered(command(&[&[1, 2, 3], &[4, 5, 6, 7]], None), 64)[2..].to_vec();
        let buffers = [2, 0, 4, 16, 16].map(HostBuffer::new);
        let mut scatter = ScatterTransfer::new(packet, buffers.into_iter());
        let mut bursts = Vec::new();
        while scatter.next(3) > 0 {
            bursts.push(scatter.carry(3));
        }
        assert_eq!(bursts, [2, 3, 1, 1]);
        let (filled, sum) = scatter.finish();
        let bytes: Vec<&[u8]> = filled.iter().map(|buffer| &*buffer.bytes).collect();
        assert_eq!(bytes, [&[1, 2][..], &[3, 4, 5, 6], &[7]]);
        assert_eq!(sum, 0x0102 + 0x0304 + 0x0506 + 0x0700);
    }

    #[test]
    fn an_empty_payload_needs_no_move() {
        let scatter = ScatterTransfer::new(vec![5, 0x1b], std::iter::empty());
        assert_eq!((scatter.next(64), scatter.finish()), (0, (vec![], 0)));
    }
}
