//! Understands the frames of one channel, byte by byte, as a circuit sends or hears them.

use codec::crc::Crc8;
use codec::packet::{CrcCheck, PacketTag};
use codec::route::is_route_byte;

use super::{FrameEnding, FrameRecord};

/// Most route bytes that are kept of a frame. *Chosen*: a route has a byte for each switch, so more
/// of them are rubbish.
pub const ROUTE_MAX: usize = 1 << 20;
/// Bytes that are understood at once. *Chosen*: the CRC of a byte alone takes as long as that of
/// sixteen.
const AT_ONCE: usize = 256;

/// A frame on its way. The newest bytes are held back: which one is the CRC byte shows only when
/// the frame has ended.
#[derive(Clone, Debug, Default)]
pub struct FrameTracker {
    start: u64,
    end: u64,
    length: u64,
    route: Vec<u8>,
    route_left_out: u64,
    tag: Option<PacketTag>,
    crc: Crc8,
    /// The newest bytes: some, if the frame has any.
    newest: Vec<u8>,
}

impl FrameTracker {
    /// Takes a byte at a place of the channel. The first one after an end begins a frame. P-7
    #[inline]
    pub fn data(&mut self, at: u64, byte: u8) {
        if self.newest.is_empty() {
            self.start = at;
        } else if self.newest.len() == AT_ONCE {
            self.settle();
        }
        self.end = at;
        self.length += 1;
        self.newest.push(byte);
    }

    /// Ends the frame, and hands it out if it had any bytes.
    pub fn end(&mut self, ended_by: FrameEnding) -> Option<FrameRecord> {
        let last = self.newest.pop()?;
        self.settle();
        let check = if self.length == 1 {
            // A runt is all header, and has no CRC byte. P-9
            self.header(&[last]);
            CrcCheck::Runt
        } else {
            CrcCheck::from_syndrome(Some(self.crc.value() ^ last))
        };
        let newest = std::mem::take(&mut self.newest);
        let Self { start, end, length, route, route_left_out, tag, .. } =
            std::mem::replace(self, Self { newest, ..Self::default() });
        Some(FrameRecord { start, end, length, route, route_left_out, tag, check, ended_by })
    }

    /// Understands the newest bytes, none of which is the CRC byte.
    fn settle(&mut self) {
        let mut bytes = std::mem::take(&mut self.newest);
        self.crc = self.crc.feed(&bytes);
        self.header(&bytes);
        bytes.clear();
        self.newest = bytes;
    }

    /// Goes on with the header: route bytes, then the tag. P-2
    fn header(&mut self, bytes: &[u8]) {
        if self.tag.is_some() {
            return;
        }
        let len = bytes.iter().take_while(|byte| is_route_byte(**byte)).count();
        let kept = len.min(ROUTE_MAX - self.route.len());
        self.route.extend(bytes.iter().take(kept));
        self.route_left_out += (len - kept) as u64;
        self.tag = bytes.get(len).copied().and_then(PacketTag::new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use codec::packet::Packet;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn frame(account: &mut FrameTracker, start: u64, bytes: &[u8]) -> Option<FrameRecord> {
        (start..).zip(bytes).for_each(|(at, byte)| account.data(at, *byte));
        account.end(FrameEnding::Gap)
    }

    #[test]
    fn a_frame_is_decoded_when_it_ends() {
        let mut account = FrameTracker::default();
        account.data(7, 0x83);
        account.data(9, 0x05);
        account.data(20, 0x11);
        let crc = codec::crc::crc8(&[0x83, 0x05, 0x11]);
        account.data(21, crc ^ 0x40);
        let expected = FrameRecord {
            start: 7,
            end: 21,
            length: 4,
            route: vec![0x83],
            route_left_out: 0,
            tag: PacketTag::new(5),
            check: CrcCheck::Bad(0x40),
            ended_by: FrameEnding::Reset,
        };
        assert_eq!(expected.payload(), 1);
        assert_eq!(account.end(FrameEnding::Reset), Some(expected));
        assert_eq!(account.end(FrameEnding::Gap), None);
    }

    #[test]
    fn a_packet_of_one_byte_is_all_header() {
        let mut account = FrameTracker::default();
        let route = frame(&mut account, 3, &[0x83]).unwrap();
        assert_eq!((route.route, route.tag, route.check), (vec![0x83], None, CrcCheck::Runt));
        let tag = frame(&mut account, 5, &[0x05]).unwrap();
        assert_eq!((tag.route, tag.tag, tag.check), (vec![], PacketTag::new(5), CrcCheck::Runt));
        assert_eq!((tag.start, tag.end, tag.length), (5, 5, 1));
    }

    #[test]
    fn the_first_mebibyte_of_a_long_route_is_kept() {
        let mut bytes = vec![0x80; ROUTE_MAX + 300];
        bytes.extend([0x05, 0xaa, 0xbb, 0x00]);
        let frame = frame(&mut FrameTracker::default(), 0, &bytes).unwrap();
        assert_eq!((frame.route.len(), frame.route_left_out), (ROUTE_MAX, 300));
        assert_eq!((frame.tag, frame.payload()), (PacketTag::new(5), 2));
    }

    proptest! {
        #[test]
        fn the_codec_understands_the_same(
            frames in vec((vec(128..=255_u8, 0..5), vec(any::<u8>(), 0..600)), 1..4)
        ) {
            let mut account = FrameTracker::default();
            for (mut bytes, more) in frames {
                bytes.extend(more);
                let packet = Packet::parse(&bytes);
                let frame = frame(&mut account, 10, &bytes);
                prop_assert_eq!(frame.is_none(), bytes.is_empty());
                let Some(frame) = frame else { continue };
                prop_assert_eq!(frame.route.as_slice(), packet.route);
                prop_assert_eq!(frame.tag, packet.tag);
                prop_assert_eq!(frame.payload(), packet.payload.len() as u64);
                prop_assert_eq!(frame.check, packet.check);
                prop_assert_eq!(frame.length, bytes.len() as u64);
                prop_assert_eq!(frame.end, 9 + bytes.len() as u64);
            }
        }
    }
}
