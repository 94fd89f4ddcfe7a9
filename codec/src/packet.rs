//! A frame understood: header, payload, check. P-1, P-2, P-9 (§3.1, §3.3)

use nom::bytes::complete::take_while;
use nom::combinator::{opt, verify};
use nom::number::complete::u8 as byte;
use nom::{IResult, Parser};

use crate::chars::CharBuf;
use crate::crc::{crc8, syndrome};
use crate::framing::{Frame, FrameEnd};
use crate::route::is_route_byte;

/// The type of a packet, as an interface's control program sees it: 0..128. P-2 (§3.1)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketTag(u8);

impl PacketTag {
    /// The tag of a byte with MSB 0; others are route bytes.
    #[must_use]
    pub const fn new(byte: u8) -> Option<Self> {
        if is_route_byte(byte) { None } else { Some(Self(byte)) }
    }

    /// 0..128.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// What a packet's last byte says of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrcCheck {
    /// It is their CRC. P-4
    Good,
    /// It differs from their CRC by this syndrome, never 0. P-5
    Bad(u8),
    /// There are fewer than two bytes, so that none is a CRC. P-9
    Runt,
}

impl CrcCheck {
    /// The verdict of a syndrome; of none, a runt's. P-5, P-9
    #[must_use]
    pub const fn from_syndrome(syndrome: Option<u8>) -> Self {
        match syndrome {
            Some(0) => Self::Good,
            Some(syndrome) => Self::Bad(syndrome),
            None => Self::Runt,
        }
    }

    /// Computed ⊕ received CRC: 0 when good; a runt has none. P-5
    #[must_use]
    pub const fn syndrome(self) -> Option<u8> {
        match self {
            Self::Good => Some(0),
            Self::Bad(syndrome) => Some(syndrome),
            Self::Runt => None,
        }
    }
}

/// A packet on a channel. Any bytes are one: what is odd about it shows in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The route bytes still ahead of it, each with MSB 1. P-2
    pub route: &'a [u8],
    /// The byte after them; none if the packet ends before it.
    pub tag: Option<PacketTag>,
    /// What stands between the tag and the CRC byte.
    pub payload: &'a [u8],
    /// Whether the CRC byte fits.
    pub check: CrcCheck,
}

impl<'a> Packet<'a> {
    /// Understands the bytes of a frame, CRC byte included. The CRC byte is no part of the header;
    /// a runt, which has none, is all header. P-2, P-9
    #[must_use]
    #[inline]
    pub fn parse(frame: &'a [u8]) -> Self {
        let body = match frame {
            [] | [_] => frame,
            [body @ .., _] => body,
        };
        let (route, tag, payload) = match header(body) {
            Ok((payload, (route, tag))) => (route, tag, payload),
            Err(_) => (body, None, <&[u8]>::default()),
        };
        Self { route, tag, payload, check: CrcCheck::from_syndrome(syndrome(frame)) }
    }

    /// Writes the packet as an interface sends it: header, payload, CRC byte, GAP. A bad one gets
    /// its syndrome again; a runt no CRC byte. [`Packet::parse`] undoes it. P-1, I-1
    pub fn emit(&self, out: &mut CharBuf) {
        let mut bytes = self.route.to_vec();
        bytes.extend(self.tag.map(PacketTag::value));
        bytes.extend_from_slice(self.payload);
        bytes.extend(self.check.syndrome().map(|syndrome| crc8(&bytes) ^ syndrome));
        Frame { start: out.len(), bytes: bytes.into(), end: FrameEnd::Gap }.emit(out);
    }
}

fn header(body: &[u8]) -> IResult<&[u8], (&[u8], Option<PacketTag>)> {
    let tag = verify(byte, |byte| !is_route_byte(*byte)).map(PacketTag);
    (take_while(is_route_byte), opt(tag)).parse(body)
}

/// The packet that a switch passes on: its first byte, which the switch used, and the rest of the
/// frame, CRC byte not yet rewritten ([`crate::crc::crc_after_hop`]). P-3
#[must_use]
pub const fn strip_route_byte(frame: &[u8]) -> Option<(u8, &[u8])> {
    match frame {
        [used, rest @ ..] => Some((*used, rest)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::frames;

    /// P-2
    #[test]
    fn the_crc_byte_is_no_part_of_the_header() {
        let packet = Packet::parse(&[0x83, 0x81, 0x05, 0xaa, 0x00]);
        assert_eq!((packet.route, packet.tag), (&[0x83, 0x81][..], PacketTag::new(5)));
        assert_eq!(packet.payload, [0xaa]);
        let no_tag = Packet::parse(&[0x99, 0x02]);
        assert_eq!((no_tag.route, no_tag.tag, no_tag.payload), (&[0x99][..], None, &[][..]));
    }

    /// P-9
    #[test]
    fn a_runt_is_all_header() {
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
    fn a_switch_strips_the_byte_it_used() {
        assert_eq!(strip_route_byte(&[0x83, 5, 1]), Some((0x83, &[5, 1][..])));
        assert_eq!(strip_route_byte(&[]), None);
    }
}
