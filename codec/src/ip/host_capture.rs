//! Reader of the packets that a host has recorded, for example with tcpdump: pcap or pcapng. H-1
//!
//! *Chosen*: IPv4 packets that are whole, on links whose header names what follows by its Ethernet
//! type, or without a header; VLAN tags are skipped.

use std::net::Ipv4Addr;
use std::time::Duration;

use nom::bytes::complete::take;
use nom::number::complete::{be_u16, be_u32};
use nom::sequence::preceded;
use nom::{IResult, Parser};
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::{Block, PcapNgParseError, PcapNgParser};

use crate::capture::innermost;

/// Link types, each with the place of the Ethernet type and the length of the header: Ethernet, Linux
/// cooked, its second version; raw IP and IPv4 have no header.
const LINKS: [(u32, usize, usize); 5] =
    [(1, 12, 14), (113, 14, 16), (276, 0, 20), (101, 0, 0), (228, 0, 0)];
const IPV4: u16 = 0x0800;
/// Ethernet types of VLAN tags.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
const HEADER_LEN: usize = 20;

/// The packets of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostCapture {
    /// Its IPv4 packets, in the order of the file.
    pub packets: Vec<HostPacket>,
    /// Number of other packets: of other protocols, with faults in the IP header, or without a time.
    pub others: u64,
    /// Time of the first packet of any kind.
    first: Option<Duration>,
}

/// An IPv4 packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPacket {
    /// Time since the first packet of the file; zero for one that was recorded before that.
    pub time: Duration,
    /// Addresses of sender and receiver.
    pub ends: [Ipv4Addr; 2],
    /// Its bytes from the IP header on, without padding.
    pub bytes: Vec<u8>,
}

/// Error that ends the reading of a file, with the byte at which its packet or block begins.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {fault}")]
pub struct HostCaptureError {
    /// Byte of the file.
    pub at: usize,
    /// Fault, with the number of a packet, counted from 1.
    pub fault: String,
}

#[derive(Clone, Copy)]
struct RecordedFrame<'a> {
    link: u32,
    time: Duration,
    original: u32,
    bytes: &'a [u8],
}

impl HostCapture {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is of another kind, damaged or cut short, or has a packet of an unknown link type or an
    /// IPv4 packet that was not recorded whole.
    pub fn read(file: &[u8]) -> Result<Self, HostCaptureError> {
        let mut capture = Self::default();
        match file {
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => capture.read_blocks(file)?,
            [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..]
            | [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..] => capture.read_records(file)?,
            _ => return Err(HostCaptureError::new(0, "not a pcapng or pcap file")),
        }
        Ok(capture)
    }

    fn number(&self) -> u64 {
        self.packets.len() as u64 + self.others + 1
    }

    fn read_records(&mut self, file: &[u8]) -> Result<(), HostCaptureError> {
        let (mut rest, parser) = PcapParser::new(file)
            .map_err(|error| HostCaptureError::new(0, format!("file header: {error}")))?;
        let header = parser.header();
        let is_micro = header.ts_resolution == pcap_file::pcap::PcapTsResolution::MicroSecond;
        while !rest.is_empty() {
            let at = file.len() - rest.len();
            let Ok((after, record)) = parser.next_raw_packet(rest) else {
                let fault = format!("the file ends inside of packet {}", self.number());
                return Err(HostCaptureError::new(at, fault));
            };
            let (part, second) = (record.ts_frac.into(), Duration::from_secs(record.ts_sec.into()));
            let part =
                if is_micro { Duration::from_micros(part) } else { Duration::from_nanos(part) };
            let (link, original) = (header.datalink.into(), record.orig_len);
            let time = second + part;
            self.add(at, &RecordedFrame { link, time, original, bytes: &record.data })?;
            rest = after;
        }
        Ok(())
    }

    fn read_blocks(&mut self, file: &[u8]) -> Result<(), HostCaptureError> {
        let damaged = |at, number, error: PcapNgParseError| {
            let is_cut = matches!(error, PcapNgParseError::IncompleteBuffer(..));
            let text = innermost(&error).to_string();
            let text = if is_cut { "the file ends here" } else { &*text };
            HostCaptureError::new(at, format!("block of packet {number} or before it: {text}"))
        };
        let (mut rest, mut parser) =
            PcapNgParser::new(file).map_err(|error| damaged(0, self.number(), error))?;
        while !rest.is_empty() {
            let at = file.len() - rest.len();
            let (after, block) =
                parser.next_block(rest).map_err(|error| damaged(at, self.number(), error))?;
            rest = after;
            if let Block::EnhancedPacket(packet) = &block {
                let interface = parser.packet_interface(packet);
                let link = interface.map_or(0, |interface| interface.linktype.into());
                let (time, original) = (packet.timestamp, packet.original_len);
                self.add(at, &RecordedFrame { link, time, original, bytes: &packet.data })?;
            } else if matches!(block, Block::Packet(_) | Block::SimplePacket(_)) {
                self.others += 1;
            }
        }
        Ok(())
    }

    /// Adds a packet whose record or block begins at a byte.
    fn add(&mut self, at: usize, frame: &RecordedFrame<'_>) -> Result<(), HostCaptureError> {
        let RecordedFrame { link, time, original, bytes } = *frame;
        let number = self.number();
        let first = *self.first.get_or_insert(time);
        let Some((_, place, length)) = LINKS.iter().find(|(known, ..)| *known == link) else {
            let fault = format!(
                "packet {number} has link type {link}, not Ethernet (1), Linux cooked (113, 276) or \
                 raw IP (101, 228)"
            );
            return Err(HostCaptureError::new(at, fault));
        };
        let content = content(bytes, *place, *length).unwrap_or_default();
        let whole = number_at(content, 2).map_or(0, |(_, length)| usize::from(length));
        let is_cut = content.len() < whole.max(HEADER_LEN) && original as usize > bytes.len();
        if is_cut && !content.is_empty() {
            let fault = format!("packet {number} has {} of its {original} bytes", bytes.len());
            return Err(HostCaptureError::new(at, fault));
        }
        let packet = content.get(..whole).and_then(|bytes| Some((ends(bytes)?, bytes.to_vec())));
        match packet {
            Some((ends, bytes)) => {
                self.packets.push(HostPacket { time: time.saturating_sub(first), ends, bytes });
            }
            None => self.others += 1,
        }
        Ok(())
    }
}

impl HostCaptureError {
    fn new(at: usize, fault: impl Into<String>) -> Self {
        Self { at, fault: fault.into() }
    }
}

/// The IPv4 packet behind a header of this length with an Ethernet type at a place.
fn content(bytes: &[u8], place: usize, length: usize) -> Option<&[u8]> {
    let (_, mut kind) = number_at(bytes, place).ok()?;
    let mut content = bytes.get(length..)?;
    while TAGS.contains(&kind) {
        (content, kind) = number_at(content, 2).ok()?;
    }
    let is_ipv4 = (length == 0 || kind == IPV4) && content.first().is_some_and(|it| it >> 4 == 4);
    is_ipv4.then_some(content)
}

/// The addresses of a packet, if its header is right. RFC 791
fn ends(packet: &[u8]) -> Option<[Ipv4Addr; 2]> {
    let length = usize::from(packet.first()? & 0xf) * 4;
    let header = packet.get(..length).filter(|header| header.len() >= HEADER_LEN)?;
    let words = header.as_chunks::<2>().0.iter().map(|word| u32::from(u16::from_be_bytes(*word)));
    // At most thirty words.
    let sum = words.sum::<u32>();
    let is_right = (sum >> 16) + (sum & 0xffff) == 0xffff;
    let ends: IResult<_, _> = preceded(take(12_usize), (be_u32, be_u32)).parse(header);
    let (_, (source, destination)) = ends.ok()?;
    is_right.then(|| [source, destination].map(Ipv4Addr::from))
}

/// The number behind some bytes.
fn number_at(bytes: &[u8], place: usize) -> IResult<&[u8], u16> {
    preceded(take(place), be_u16).parse(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UDP from 10.0.0.1 to 10.0.0.2 with a payload of one byte, 29 bytes: the header's words but its
    /// checksum sum to 0x9932.
    const PACKET: [u8; 29] = [
        0x45, 0, 0, 29, 0, 1, 0, 0, 64, 17, 0x66, 0xcd, 10, 0, 0, 1, 10, 0, 0, 2, 0x80, 0, 4, 0, 0,
        9, 0, 0, 7,
    ];

    fn word(number: usize) -> u32 {
        u32::try_from(number).unwrap()
    }

    /// Records of a little-endian file in microseconds: time, original length and bytes.
    fn pcap(link: u32, records: &[(usize, usize, Vec<u8>)]) -> Vec<u8> {
        let words =
            |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, link]);
        for (micros, original, bytes) in records {
            let [second, part] = [micros / 1_000_000, micros % 1_000_000];
            let head = [second, part, bytes.len(), *original].map(word);
            file.extend(words(&head).iter().chain(bytes));
        }
        file
    }

    fn record(micros: usize, header: &[u8], packet: &[u8]) -> (usize, usize, Vec<u8>) {
        let bytes = [header, packet].concat();
        (micros, bytes.len(), bytes)
    }

    /// A block of a big-endian pcapng file.
    fn block(kind: u32, words: &[u32], bytes: &[u8]) -> Vec<u8> {
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        let len = 12 + 4 * words.len() + bytes.len() + padding;
        let mut block: Vec<u8> =
            [kind, word(len)].iter().chain(words).flat_map(|it| it.to_be_bytes()).collect();
        block.extend(bytes.iter().chain(&[0; 3][..padding]));
        block.extend(word(len).to_be_bytes());
        block
    }

    const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];

    fn times(file: &[u8]) -> (Vec<u128>, u64) {
        let read = HostCapture::read(file).unwrap();
        for HostPacket { ends, bytes, .. } in &read.packets {
            assert_eq!(*ends, [1, 2].map(|host| Ipv4Addr::new(10, 0, 0, host)));
            assert_eq!(bytes[..], PACKET);
        }
        (read.packets.iter().map(|packet| packet.time.as_nanos()).collect(), read.others)
    }

    #[test]
    fn packets_are_found_behind_each_header() {
        let tagged = [&ETHERNET[..12], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0]].concat();
        let mut arp = ETHERNET;
        arp[13] = 6;
        let padded = [&PACKET[..], &[0; 17]].concat();
        let mut bad = PACKET;
        bad[8] = 63;
        let file = pcap(
            1,
            &[
                record(5_999_999, &arp, &[0; 46]),
                record(6_000_002, &ETHERNET, &padded),
                record(6_000_001, &tagged, &PACKET),
                record(5_000_000, &ETHERNET, &PACKET),
                // A wrong header checksum, a total length beyond the packet, and IPv6.
                record(6_000_003, &ETHERNET, &bad),
                record(6_000_003, &ETHERNET, &PACKET[..28]),
                record(6_000_003, &ETHERNET, &[0x60; 60]),
            ],
        );
        assert_eq!(times(&file), (vec![3_000, 2_000, 0], 4));
        let cooked = [&[0; 14][..], &[8, 0]].concat();
        let second = [&[8, 0][..], &[0; 18]].concat();
        for (link, header) in [(101, &[][..]), (228, &[]), (113, &cooked), (276, &second)] {
            let records = [record(1, header, &PACKET), record(2, header, &PACKET)];
            assert_eq!(times(&pcap(link, &records)), (vec![0, 1_000], 0), "{link}");
        }
    }

    /// Interface 0 counts microseconds, interface 1 units of 2⁻⁸ s.
    fn pcapng() -> Vec<u8> {
        let (frame, len) = ([&ETHERNET[..], &PACKET].concat(), 14 + 29);
        [
            block(0x0a0d_0d0a, &[0x1a2b_3c4d, 0x0001_0000, u32::MAX, u32::MAX], &[]),
            block(1, &[0x0001_0000, 0], &[]),
            block(1, &[0x0065_0000, 0, 0x0009_0001, 0x8800_0000, 0], &[]),
            block(6, &[0, 0, 1_000_000, len, len], &frame),
            block(3, &[len], &frame),
            block(6, &[1, 0, 257, 29, 29], &PACKET),
        ]
        .concat()
    }

    #[test]
    fn interfaces_have_their_units_of_time() {
        // 1/256 s behind the first.
        assert_eq!(times(&pcapng()), (vec![0, 3_906_250], 1));
    }

    #[test]
    fn faults_have_a_place_and_a_packet() {
        let good = pcap(1, &[record(1, &ETHERNET, &PACKET), record(2, &ETHERNET, &PACKET)]);
        let cut = |captured: usize| {
            let bytes = [&ETHERNET[..], &PACKET].concat()[..captured].to_vec();
            pcap(1, &[record(1, &ETHERNET, &PACKET), (2, 43, bytes)])
        };
        let ng = pcapng();
        for (file, expected) in [
            (&b"PK\x03\x04"[..], "byte 0: not a pcapng or pcap file"),
            // 24 bytes of file header, and a record of 16 + 43.
            (&good[..100], "byte 83: the file ends inside of packet 2"),
            (&cut(42), "byte 83: packet 2 has 42 of its 43 bytes"),
            (&cut(16), "byte 83: packet 2 has 16 of its 43 bytes"),
            (
                &pcap(127, &[record(1, &[], &PACKET)]),
                "byte 24: packet 1 has link type 127, not Ethernet (1), Linux cooked (113, 276) or \
                 raw IP (101, 228)",
            ),
            // Blocks of 28, 20, 32, 76 and 60 bytes before the last.
            (&ng[..220], "byte 216: block of packet 3 or before it: the file ends here"),
        ] {
            assert_eq!(HostCapture::read(file).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn damage_anywhere_is_an_error_or_other_packets() {
        for file in [pcapng(), pcap(1, &[record(1, &ETHERNET, &PACKET)])] {
            for at in 0..file.len() {
                HostCapture::read(&file[..at]).ok();
                for with in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut file = file.clone();
                    file[at] = with;
                    if let Ok(read) = HostCapture::read(&file) {
                        assert!(read.packets.len() <= 2);
                    }
                }
            }
        }
    }
}
