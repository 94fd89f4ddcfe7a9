//! Packets of the reliability protocol at a tap. T-7, T-8, T-12
//!
//! While such a packet arrives, its header is kept, but not its payload: header and length determine all
//! actions of the protocol.

mod transport_row;

use std::sync::Arc;

use codec::crc::CrcResidue;
use codec::error::DecodeError;
use codec::packet::CrcCheck;
use codec::transport::{ANSWER_LEN, DATA_HEADER_LEN, MessageExtent, TAG, TransportPacket};
use codec::{ip, mapping, switch_answer};

pub use self::transport_row::{TransportRow, kind_name};
use crate::ip::{ByteSums, HEADERS_MAX, ParsedIp};
use crate::packet::{CapturedMapping, PAYLOAD_MAX, SwitchAnswers};

/// Contents of a captured packet of type [`TAG`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedTransport {
    /// The parsed packet, or the position of its fault.
    pub packet: Result<TransportPacket<MessageExtent>, DecodeError>,
    /// Check of its bytes: any field of a bad packet may differ from the one sent. P-5
    pub check: CrcCheck,
    /// Endpoints, key, handler and payload modulo x¹²⁷−1: the part behind the fields that answers repeat. It
    /// is equal in all transmissions of a message.
    pub content: CrcResidue,
}

impl ParsedTransport {
    /// The packet, if it is well formed and its CRC is good. T-7
    pub fn sound(&self) -> Option<TransportPacket<MessageExtent>> {
        self.packet.ok().filter(|_| self.check == CrcCheck::Good)
    }
}

/// First bytes behind the tag of an arriving packet, of a type that the analyzer reads.
#[derive(Clone, Debug)]
pub(crate) struct HeaderBytes {
    tag: u8,
    bytes: Vec<u8>,
    /// Sums of all bytes of an IP packet, for its checksums.
    sums: ByteSums,
}

impl HeaderBytes {
    /// An empty header, if packets with this tag are read.
    pub(crate) fn of(tag: u8) -> Option<Self> {
        let bytes = || Vec::with_capacity(DATA_HEADER_LEN);
        let sums = ByteSums::default();
        [TAG, mapping::TAG, ip::TAG, switch_answer::TAG].contains(&tag).then(|| Self {
            tag,
            bytes: bytes(),
            sums,
        })
    }

    /// Number of bytes that are kept. A CRC byte may be among them.
    const fn most(&self) -> usize {
        match self.tag {
            TAG => DATA_HEADER_LEN,
            ip::TAG => HEADERS_MAX,
            _ => PAYLOAD_MAX + 1,
        }
    }

    /// Adds further bytes, as long as they are kept.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.add_repeated(bytes, 1);
    }

    /// Adds the same bytes `count` times.
    pub(crate) fn add_repeated(&mut self, data: &[u8], count: u64) {
        let rounds = usize::try_from(count).unwrap_or(usize::MAX).min(self.most());
        let room = self.most() - self.bytes.len();
        self.bytes.extend(std::iter::repeat_n(data, rounds).flatten().take(room));
        if self.tag == ip::TAG {
            self.sums.add(data, count);
        }
    }

    /// The bytes of a mapping packet with `payload` bytes between its tag and its CRC byte.
    pub(crate) fn mapping(
        &self,
        route: &[u8],
        payload: u64,
        check: CrcCheck,
    ) -> Option<Arc<CapturedMapping>> {
        let of_it = self.tag == mapping::TAG;
        of_it.then(|| Arc::new(CapturedMapping::new(route, &self.bytes, payload, check)))
    }

    /// The packet of IP with `payload` bytes between its tag and its CRC byte, which is the last.
    pub(crate) fn ip(&self, payload: u64, last: u8, check: CrcCheck) -> Option<Box<ParsedIp>> {
        let of_it = self.tag == ip::TAG;
        of_it.then(|| Box::new(ParsedIp::new(&self.bytes, payload, (self.sums, last, check))))
    }

    /// The answers of switches in a packet with `payload` bytes between its tag and its CRC byte.
    pub(crate) fn switches(&self, payload: u64) -> Option<Box<SwitchAnswers>> {
        let of_it = self.tag == switch_answer::TAG;
        of_it.then(|| Box::new(SwitchAnswers::new(&self.bytes, payload)))
    }

    /// Parses a packet with `payload` bytes between its tag and its CRC byte. `body` is the residue of the tag
    /// and the payload.
    pub(crate) fn transport(
        &self,
        payload: u64,
        check: CrcCheck,
        body: CrcResidue,
    ) -> Option<Box<ParsedTransport>> {
        if self.tag != TAG {
            return None;
        }
        let len = usize::try_from(payload).unwrap_or(usize::MAX).min(self.bytes.len());
        // The first bytes of a short packet include the CRC byte.
        let first = self.bytes.get(..len).unwrap_or_default();
        let content = first.first_chunk::<ANSWER_LEN>().map_or(CrcResidue::NEW, |echoed| {
            let others = payload - echoed.len() as u64;
            body.without_first(&[TAG], payload).without_first(echoed, others)
        });
        let packet = TransportPacket::parse_head(first, payload);
        Some(Box::new(ParsedTransport { packet, check, content }))
    }
}

#[cfg(test)]
mod tests {
    use codec::crc::crc8;
    use codec::notation;
    use codec::time::Tick;
    use codec::transport::{
        ChannelIncarnation, LogicalChannel, Nic, SequenceBit, TransportHeader, TransportTimestamp,
    };

    use super::*;
    use crate::event::ChannelEvent;
    use crate::packet::{ByteRetention, ReceivedPacket};
    use crate::receiver::ChannelReceiver;

    const ACK: TransportHeader = TransportHeader {
        source: Nic(1),
        destination: Nic(2),
        channel: LogicalChannel(3),
        seq: SequenceBit::Zero,
        timestamp: TransportTimestamp(4),
        incarnation: ChannelIncarnation(5),
    };

    /// Packets of characters in notation behind a GAP, followed by repeated characters.
    fn packets(text: &str, repeated: &str, count: u64) -> Vec<ReceivedPacket> {
        let mut packets = Vec::new();
        let mut out = |_: Tick, notice| {
            if let ChannelEvent::Packet(packet) = notice {
                packets.push(*packet);
            }
        };
        let mut receiver = ChannelReceiver::new(ByteRetention::Forget);
        receiver.feed(notation::parse(&format!("GAP {text}")).unwrap().chars(), &mut out);
        receiver.feed_repeated(notation::parse(repeated).unwrap().chars(), count, &mut out);
        receiver.finish(&mut out);
        packets
    }

    fn seen(text: &str) -> Option<ParsedTransport> {
        let packets = packets(text, "GAP", 1);
        packets.first().unwrap().transport.as_deref().copied()
    }

    #[test]
    fn an_ack_is_parsed_with_symbols_inside_and_with_its_check() {
        let crc = crc8(&[0x83, 1, 0x18, 0, 0, 1, 0, 2, 3, 0, 0, 0, 0, 4, 0, 5]);
        let seen = |crc: u8| {
            let ack = "GAP 83 01 18 00 STOP 00 01 GO 00 02 03 IDLE 00 00 00 00 04 00 05";
            seen(&format!("{ack} {crc:02x}")).unwrap()
        };
        let (good, bad) = (seen(crc), seen(crc ^ 8));
        assert_eq!((good.sound(), good.check), (Some(TransportPacket::Ack(ACK)), CrcCheck::Good));
        assert_eq!((bad.packet, bad.check), (good.packet, CrcCheck::Bad(8)));
        assert_eq!(bad.sound(), None);
    }

    #[test]
    fn only_packets_of_the_type_are_parsed_without_their_crc_byte() {
        for text in ["83 02 18 00", "83 82 01", "81 81 81", "00"] {
            assert_eq!(seen(text), None, "{text}");
        }
        let nothing = Err(DecodeError::CutShort { at: 0, field: "version" });
        for text in ["01", "01 07", "83 01 aa"] {
            assert_eq!(seen(text).map(|seen| seen.packet), Some(nothing), "{text}");
        }
        let cut = seen("83 01 18 00 00 01 00 02 03 00 00 00 00 04 00 05").unwrap();
        let fault = DecodeError::CutShort { at: 12, field: "incarnation" };
        assert_eq!((cut.packet, cut.content), (Err(fault), CrcResidue::NEW));
    }

    #[test]
    fn lengths_are_checked_without_the_payload_which_may_repeat() {
        let envelope = "00 07 00 08 (00)×8 09 00 (00)×8";
        let medium =
            |length: &str| format!("01 11 00 (00)×4 00 00 (00)×4 00 00 {envelope} {length}");
        // One GAP more ends it; the CRC byte is one of the repeated bytes.
        let [long, short, fit] = [4001, 3999, 4000].map(|count| {
            let packets = packets(&medium("0f a0"), "55", count + 1);
            packets.first().unwrap().transport.as_deref().copied().unwrap().packet
        });
        assert!(matches!(fit, Ok(TransportPacket::Data(..))), "{fit:?}");
        let trailing = DecodeError::Unexpected {
            at: 38 + 4000,
            field: "trailing bytes",
            found: 1,
            expected: "0",
        };
        assert_eq!(long, Err(trailing));
        assert_eq!(short, Err(DecodeError::CutShort { at: 38, field: "payload" }));
        let packets = packets("01", "11", 40);
        let version = packets.first().unwrap().transport.as_deref().unwrap().packet.unwrap_err();
        assert_eq!((version.at(), version.field(), version.found()), (1, "flags", Some(0x11)));
    }
}
