//! Packets: route, tag, payload and CRC byte of a frame. P-1, P-2, P-9 (§3.1, §3.3)

use std::fmt;

use nom::bytes::complete::take_while;
use nom::combinator::opt;
use nom::number::complete::u8 as byte;
use nom::{IResult, Parser};

use crate::character::Character;
use crate::chars::CharBuf;
use crate::crc::{CrcResidue, crc8, syndrome};
use crate::route::is_route_byte;

/// Packet type, 0..128. P-2 (§3.1)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketTag(u8);

impl PacketTag {
    /// The tag of a byte with MSB 0; others are route bytes.
    pub const fn new(byte: u8) -> Option<Self> {
        if is_route_byte(byte) { None } else { Some(Self(byte)) }
    }

    /// 0..128.
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// Meaning of the bytes behind the route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketDialect {
    /// One byte is the type. P-2
    #[default]
    Tag,
    /// Four bytes are the type, as in ANSI/VITA 26-1998: [`crate::vita26`].
    Vita26,
}

crate::named_enum! {
    /// Result of the CRC check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CrcCheck {
        /// The last byte is the CRC of the others. P-4
        Good = "good",
        /// The last byte differs from their CRC by this syndrome, never 0. P-5
        Bad(u8) = "bad",
        /// Fewer than two bytes, so that none is a CRC. P-9
        Runt = "runt",
        /// The recording lacks its start or its end, so that no CRC is to be expected. P-7
        Partial = "partial",
    }
}

impl CrcCheck {
    /// The result for a syndrome; without one, a runt's. P-5, P-9
    pub const fn from_syndrome(syndrome: Option<u8>) -> Self {
        match syndrome {
            Some(0) => Self::Good,
            Some(syndrome) => Self::Bad(syndrome),
            None => Self::Runt,
        }
    }

    /// Computed ⊕ received CRC: 0 when good; a runt and a part of a packet have none. P-5
    pub const fn syndrome(self) -> Option<u8> {
        match self {
            Self::Good => Some(0),
            Self::Bad(syndrome) => Some(syndrome),
            Self::Runt | Self::Partial => None,
        }
    }
}

/// Route and tag at the head of a packet. P-2
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// The remaining route bytes, each with MSB 1.
    pub route: &'a [u8],
    /// The byte after them, if there is one.
    pub tag: Option<PacketTag>,
}

impl<'a> Header<'a> {
    /// Parses the head of some bytes; returns the bytes behind it too.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> (&'a [u8], Self) {
        header(bytes).unwrap_or((&[], Self { route: bytes, tag: None }))
    }
}

fn header(bytes: &[u8]) -> IResult<&[u8], Header<'_>> {
    // What follows the route bytes has MSB 0.
    let (rest, (route, tag)) =
        (take_while(is_route_byte), opt(byte.map(PacketTag))).parse(bytes)?;
    Ok((rest, Header { route, tag }))
}

/// A packet on a channel. Any bytes are one; irregularities show in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The remaining route bytes, each with MSB 1. P-2
    pub route: &'a [u8],
    /// The byte after them; none if the packet ends before it.
    pub tag: Option<PacketTag>,
    /// The bytes between the tag and the CRC byte.
    pub payload: &'a [u8],
    /// Result of the CRC check.
    pub check: CrcCheck,
}

impl<'a> Packet<'a> {
    /// Parses the bytes of a frame, CRC byte included. The CRC byte is no part of the header; a
    /// runt, which has none, is all header. P-2, P-9
    #[inline]
    pub fn parse(frame: &'a [u8]) -> Self {
        let body = match frame {
            [] | [_] => frame,
            [body @ .., _] => body,
        };
        let (payload, Header { route, tag }) = Header::parse(body);
        Self { route, tag, payload, check: CrcCheck::from_syndrome(syndrome(frame)) }
    }

    /// Writes the packet as an interface sends it: header, payload, CRC byte, GAP. A bad one gets
    /// its syndrome again; a runt no CRC byte. [`Packet::parse`] undoes it. P-1, I-1
    pub fn emit(&self, out: &mut CharBuf) {
        let mut bytes = self.route.to_vec();
        bytes.extend(self.tag.map(PacketTag::value));
        bytes.extend_from_slice(self.payload);
        bytes.extend(self.check.syndrome().map(|syndrome| crc8(&bytes) ^ syndrome));
        out.push_data(&bytes);
        out.push(Character::GAP);
    }
}

/// Most bytes that [`CappedBytes`] stores. *Chosen*: a packet has no greatest length (P-1), and a
/// repeat can make one of 2⁶⁴ bytes.
pub const CAPPED_BYTES_MAX: usize = 1 << 20;

/// Any number of bytes, of which the first [`CAPPED_BYTES_MAX`] are stored; few of them in place.
#[derive(Clone, Default)]
pub struct CappedBytes {
    stored: StoredBytes,
    count: u64,
}

#[derive(Clone)]
enum StoredBytes {
    /// Bytes within the value itself.
    Inline([u8; 16]),
    Heap(Vec<u8>),
}

impl Default for StoredBytes {
    fn default() -> Self {
        Self::Inline([0; 16])
    }
}

impl CappedBytes {
    /// The stored bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.stored {
            StoredBytes::Inline(bytes) => bytes.get(..place(self.count)).unwrap_or_default(),
            StoredBytes::Heap(bytes) => bytes,
        }
    }

    /// Number of all bytes.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Number of bytes that are not stored.
    pub fn left_out(&self) -> u64 {
        self.count - self.bytes().len() as u64
    }

    /// Appends bytes.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let (start, len) = (place(self.count), bytes.len());
        if let StoredBytes::Inline(stored) = &mut self.stored
            && let Some(room) = stored.get_mut(start..start.saturating_add(len))
        {
            room.copy_from_slice(bytes);
        } else {
            let stored = self.on_heap();
            let room = CAPPED_BYTES_MAX - stored.len();
            stored.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
        self.count += len as u64;
    }

    /// Appends the same bytes `count` times.
    pub fn push_repeated(&mut self, bytes: &[u8], count: u64) {
        let more = count * bytes.len() as u64;
        let stored = self.on_heap();
        let room = place(more).min(CAPPED_BYTES_MAX - stored.len());
        stored.extend(bytes.iter().cycle().take(room));
        self.count += more;
    }

    fn on_heap(&mut self) -> &mut Vec<u8> {
        if let StoredBytes::Inline(_) = self.stored {
            self.stored = StoredBytes::Heap(self.bytes().to_vec());
        }
        match &mut self.stored {
            StoredBytes::Heap(stored) => stored,
            StoredBytes::Inline(_) => unreachable!("has been moved"),
        }
    }

    fn drop_last(&mut self) {
        self.count = self.count.saturating_sub(1);
        if let StoredBytes::Heap(stored) = &mut self.stored {
            stored.truncate(place(self.count));
        }
    }
}

fn place(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl PartialEq for CappedBytes {
    fn eq(&self, other: &Self) -> bool {
        (self.bytes(), self.count) == (other.bytes(), other.count)
    }
}

impl Eq for CappedBytes {}

impl fmt::Debug for CappedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x?} of {} bytes", self.bytes(), self.count)
    }
}

/// Streaming form of [`Packet::parse`], for bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub struct PacketParser {
    length: u64,
    route: CappedBytes,
    /// The first byte that is no route byte: the tag, unless it is the CRC byte.
    tag: Option<PacketTag>,
    residue: CrcResidue,
    last: u8,
}

/// A packet that a [`PacketParser`] has parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedPacket {
    /// Number of bytes, CRC byte included.
    pub length: u64,
    /// The remaining route bytes. P-2
    pub route: CappedBytes,
    /// The byte after them; none if the packet ends before it.
    pub tag: Option<PacketTag>,
    /// Result of the CRC check.
    pub check: CrcCheck,
    /// Residue of all bytes.
    residue: CrcResidue,
    last: u8,
}

impl PacketParser {
    /// Takes further bytes. Returns those behind the tag.
    #[inline]
    pub fn feed<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        self.residue = self.residue.feed(bytes);
        self.last = bytes.last().copied().unwrap_or(self.last);
        self.length += bytes.len() as u64;
        if self.tag.is_some() {
            return bytes;
        }
        let (rest, header) = Header::parse(bytes);
        self.route.push(header.route);
        self.tag = header.tag;
        rest
    }

    /// Takes further bytes, `count` times the same, which were fed once before.
    pub fn feed_repeated(&mut self, bytes: &[u8], count: u64) {
        self.residue = self.residue.feed_repeated(bytes, count);
        self.last = bytes.last().copied().unwrap_or(self.last);
        self.length += count * bytes.len() as u64;
        if self.tag.is_none() {
            self.route.push_repeated(bytes, count);
        }
    }

    /// Number of bytes so far.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Residue of the bytes so far.
    pub const fn residue(&self) -> CrcResidue {
        self.residue
    }

    /// The byte after the route, if it has come. It may yet prove to be the CRC byte.
    pub const fn tag(&self) -> Option<PacketTag> {
        self.tag
    }

    /// Ends the packet: the last byte is its CRC byte, unless it is a runt. P-9
    #[inline]
    pub fn finish(self) -> ParsedPacket {
        let Self { length, mut route, mut tag, residue, last } = self;
        let mut check = CrcCheck::Runt;
        if length >= 2 {
            tag = tag.filter(|_| route.count() + 1 < length);
            if route.count() == length {
                route.drop_last();
            }
            check = CrcCheck::from_syndrome(Some(residue.crc().syndrome()));
        }
        ParsedPacket { length, route, tag, check, residue, last }
    }
}

impl ParsedPacket {
    /// Residue of the bytes between the route and the CRC byte, which no hop changes. P-3, P-5
    #[inline]
    pub fn body(&self) -> CrcResidue {
        let (before_crc, length) = match self.check {
            CrcCheck::Runt | CrcCheck::Partial => (self.residue, self.length),
            CrcCheck::Good | CrcCheck::Bad(_) => {
                (self.residue.without_last(self.last), self.length - 1)
            }
        };
        // A route that is not stored as a whole distinguishes packets without its length too.
        let behind = length - self.route.count() + self.route.left_out();
        before_crc.without_first(self.route.bytes(), behind)
    }

    /// Number of bytes between tag and CRC byte.
    pub fn payload(&self) -> u64 {
        let crc = u64::from(self.check != CrcCheck::Runt);
        self.length - self.route.count() - u64::from(self.tag.is_some()) - crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::frames;

    /// P-2, P-9
    #[test]
    fn the_crc_byte_is_no_part_of_the_header_and_a_runt_is_all_header() {
        let packet = Packet::parse(&[0x83, 0x81, 0x05, 0xaa, 0x00]);
        assert_eq!((packet.route, packet.tag), (&[0x83, 0x81][..], PacketTag::new(5)));
        assert_eq!(packet.payload, [0xaa]);
        let no_tag = Packet::parse(&[0x99, 0x02]);
        assert_eq!((no_tag.route, no_tag.tag, no_tag.payload), (&[0x99][..], None, &[][..]));
        let runt = Packet::parse(&[0x00]);
        assert_eq!((runt.tag, runt.check), (PacketTag::new(0), CrcCheck::Runt));
        let runt = Packet::parse(&[0x82]);
        assert_eq!((runt.route, runt.tag, runt.check), (&[0x82][..], None, CrcCheck::Runt));
        assert_eq!(Packet::parse(&[]).check, CrcCheck::Runt);
    }

    #[test]
    fn what_is_emitted_is_checked_and_ends_with_a_gap() {
        let packet =
            Packet { route: &[0x83], tag: PacketTag::new(5), payload: &[], check: CrcCheck::Good };
        let mut out = CharBuf::new();
        packet.emit(&mut out);
        // crc8(83 05) is 146 in the published vectors.
        assert_eq!(out.to_string(), "83 05 92 GAP");
        assert_eq!(frames(out.chars()).map(|f| f.bytes.len()).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn of_a_long_route_the_first_mebibyte_is_stored() {
        let mut parser = PacketParser::default();
        parser.feed(&[0x80, 0x81]);
        let rounds = CAPPED_BYTES_MAX as u64;
        parser.feed_repeated(&[0x80, 0x81], rounds - 1);
        assert_eq!(parser.feed(&[0x05, 0xaa, 0x00]), [0xaa, 0x00]);
        let packet = parser.finish();
        assert_eq!((packet.length, packet.payload()), (2 * rounds + 3, 1));
        assert_eq!((packet.route.count(), packet.route.left_out()), (2 * rounds, rounds));
        assert_eq!(packet.tag, PacketTag::new(5));
        assert_eq!(packet.route.bytes()[..3], [0x80, 0x81, 0x80]);
    }
}
