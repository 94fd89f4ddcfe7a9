//! Parses the frames of one channel, byte by byte, as a circuit sends or receives them.

use codec::framing::FrameEnd;
use codec::packet::{PacketParser, ParsedPacket};
use serde::ser::SerializeMap;

use super::row::RowWriter;

/// Bytes that are parsed at once. *Chosen*: the CRC of a single byte takes as long as that of
/// sixteen.
const BLOCK: usize = 256;

/// A frame being sent or received.
#[derive(Clone, Debug, Default)]
pub struct FrameTracker {
    start: u64,
    end: u64,
    parser: PacketParser,
    /// The newest bytes: some, if the frame has any.
    newest: Vec<u8>,
}

/// The data between two framing marks on a channel, as the circuit at the place of the event sent
/// or received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Period of its first byte, counted by the channel; at a receiver that of the arrival.
    pub start: u64,
    /// Period of its last byte.
    pub end: u64,
    /// Its bytes.
    pub packet: ParsedPacket,
    /// Event that ended it; [`FrameEnd::CaptureEnd`] at the end of the run.
    pub ended_by: FrameEnd,
}

impl FrameTracker {
    /// Takes a byte of a period. The first one after an end begins a frame. P-7
    #[inline]
    pub fn data(&mut self, at: u64, byte: u8) {
        if self.newest.is_empty() {
            self.start = at;
        } else if self.newest.len() == BLOCK {
            self.parse();
        }
        self.end = at;
        self.newest.push(byte);
    }

    /// Takes the bytes of consecutive periods from `first` on.
    pub(crate) fn run(&mut self, first: u64, bytes: impl Iterator<Item = u8>) {
        (first..).zip(bytes).for_each(|(at, byte)| self.data(at, byte));
    }

    /// Ends the frame, and returns it if it has any bytes.
    pub fn end(&mut self, ended_by: FrameEnd) -> Option<FrameRecord> {
        if self.newest.is_empty() {
            return None;
        }
        self.parse();
        let packet = std::mem::take(&mut self.parser).finish();
        Some(FrameRecord { start: self.start, end: self.end, packet, ended_by })
    }

    fn parse(&mut self) {
        self.parser.feed(&self.newest);
        self.newest.clear();
    }
}

impl<M: SerializeMap> RowWriter<'_, M> {
    /// Writes the fields that `myriscope packets` gives a packet (`docs/output.md`).
    pub(super) fn frame(&mut self, frame: &FrameRecord) -> &mut Self {
        let FrameRecord { start, end, packet, ended_by } = frame;
        self.field("start", start).field("end", end).field("length", &packet.length);
        self.field("route", packet.route.bytes());
        self.field("tag", &packet.tag.map(|tag| tag.value())).field("payload", &packet.payload());
        self.field("crc", packet.check.name()).field("syndrome", &packet.check.syndrome());
        self.field("ended_by", ended_by.name());
        let left_out = packet.route.left_out();
        self.optional("route_left_out", (left_out > 0).then_some(left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use codec::packet::Packet;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        /// Frames of all lengths, one after the other in the same tracker.
        #[test]
        fn frames_are_parsed_as_packets(
            frames in vec((vec(128..=255_u8, 0..5), vec(any::<u8>(), 0..600)), 1..4)
        ) {
            let mut tracker = FrameTracker::default();
            for (mut bytes, more) in frames {
                bytes.extend(more);
                (10..).zip(&bytes).for_each(|(at, byte)| tracker.data(2 * at, *byte));
                let packet = Packet::parse(&bytes);
                let frame = tracker.end(FrameEnd::Gap);
                prop_assert_eq!(frame.is_none(), bytes.is_empty());
                let Some(FrameRecord { start, end, packet: frame, .. }) = frame else { continue };
                prop_assert_eq!(frame.route.bytes(), packet.route);
                prop_assert_eq!((frame.tag, frame.check), (packet.tag, packet.check));
                prop_assert_eq!(frame.payload(), packet.payload.len() as u64);
                prop_assert_eq!((frame.length, start), (bytes.len() as u64, 20));
                prop_assert_eq!(end, 18 + 2 * bytes.len() as u64);
            }
        }
    }
}
