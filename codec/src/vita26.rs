//! Packets of the later dialect, ANSI/VITA 26-1998: the first four bytes behind the route are the packet
//! type, and the MSB of the first is 0. Sources, and what is *chosen*, are in `docs/dialect.md`.
//!
//! Types in use have 16 bits and a subtype of 16 bits. GM is read from version 2.0 on, whose header is
//! published; packets of other types stay bytes. Numbers are big-endian.

use nom::bytes::complete::take;
use nom::error::context;
use nom::multi::fill;
use nom::number::complete::{be_u16, be_u32, u8 as byte};
use nom::sequence::preceded;
use nom::{IResult, Parser};

use crate::error::{DecodeError, ParseTrace, cut_short, unexpected};
use crate::route::is_route_byte;

/// Bytes of a body by which [`Vita26Packet::parse_head`] reads it: prefix and header of an Ethernet frame.
pub const HEAD_LEN: usize = 28;
/// Address of an Ethernet station.
pub type EthernetAddress = [u8; 6];

/// First subtype of GM 2.0. Earlier versions used the numbers below.
const GM_2: u16 = 256;
/// First subtype of packets without payload.
const GM_CONTROL: u16 = GM_2 + 128;
/// Interfaces pad packets to a multiple of this.
const PADDED_TO: u64 = 8;
/// Bytes of a GM packet before its payload, and before an Ethernet frame.
const GM_LEN: u64 = 24;
const PREFIX_LEN: u64 = 14;
const FRAME_HEADER_LEN: usize = 14;
/// Bytes behind the type: of the header of GM, and before an Ethernet frame.
const GM_HEADER_LEN: usize = 20;
const ETHERNET_PREFIX_LEN: usize = 10;

/// Subtypes of GM, less 256: the first and the last that have each of [`GM_NAMES`].
#[rustfmt::skip]
const GM_RANGES: [(u16, u16); GM_NAMES.len()] = [
    (0, 0), (1, 1), (2, 2), (3, 3), (7, 38), (39, 70), (71, 71), (72, 72), (73, 73), (74, 74), (75, 75),
    (76, 76), (77, 108), (109, 109), (110, 110), (128, 128), (129, 129), (130, 130), (131, 131), (132, 132),
    (133, 133),
];
/// Names of the subtypes of GM.
#[rustfmt::skip]
pub const GM_NAMES: [&str; 21] = [
    "null", "boot", "get", "got", "data", "head", "body", "tail", "put", "put-head", "put-body", "put-tail",
    "datagram", "yp-reply", "yp-query", "ack", "nack", "nack-down", "nack-reject", "nack-open", "nack-close",
];

/// Four bytes behind the route: less than 2³¹.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketType(u32);

crate::named_enum! {
    /// Group of types, by their first 16 bits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TypeGroup {
        /// 0x0008: messages of GM.
        Gm = "gm",
        /// 0x0009: Ethernet frames between hosts with GM.
        GmEthernet = "gm-ethernet",
        /// 0x700f: mapping of GM. Its format is not published.
        GmMapping = "gm-mapping",
        /// Any other.
        Unknown = "unknown",
    }
}

impl PacketType {
    /// The type of four bytes, unless the first is a route byte.
    pub const fn new(bytes: [u8; 4]) -> Option<Self> {
        let [first, ..] = bytes;
        if is_route_byte(first) { None } else { Some(Self(u32::from_be_bytes(bytes))) }
    }

    /// All four bytes as a number.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Type and subtype: the first two bytes, and the others.
    const fn halves(self) -> (u16, u16) {
        let [a, b, c, d] = self.0.to_be_bytes();
        (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
    }

    /// The group of the first two bytes.
    pub const fn group(self) -> TypeGroup {
        match self.halves().0 {
            0x0008 => TypeGroup::Gm,
            0x0009 => TypeGroup::GmEthernet,
            0x700f => TypeGroup::GmMapping,
            _ => TypeGroup::Unknown,
        }
    }

    /// Name of the subtype of a GM packet. Versions before 2.0 have the same names.
    pub fn gm_name(self) -> Option<&'static str> {
        let subtype = self.halves().1;
        let is_gm = self.group() == TypeGroup::Gm && subtype < 2 * GM_2;
        let mut names = GM_RANGES.iter().zip(GM_NAMES);
        let found = names.find(|((first, last), _)| (first..=last).contains(&&(subtype % GM_2)));
        found.map(|(_, name)| name).filter(|_| is_gm)
    }

    /// True for subtypes with a payload, whose length is in the header.
    pub const fn has_payload(self) -> bool {
        self.halves().1 < GM_CONTROL
    }
}

/// Header of a GM packet behind its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GmHeader {
    /// Number of the receiving interface.
    pub target: u32,
    /// Session, sequence number in it, and bytes of payload; the last is reserved in packets without one.
    pub session_sequence_length: [u16; 3],
    /// Port × 2 + priority of receiver and sender; reserved in packets without payload.
    pub subports: [u8; 2],
    /// Number of the sending interface.
    pub sender: u32,
    /// Connection by the receiver's count, and by the sender's.
    pub connections: [u16; 2],
}

/// Packet of the later dialect. The last member is the bytes behind the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vita26Packet<'a> {
    /// Packet of GM 2.0 or later.
    Gm(PacketType, GmHeader, &'a [u8]),
    /// Ethernet frame: its length, a sequence number, and the address of the gateway that sent it.
    Ethernet(PacketType, [u16; 2], EthernetAddress, &'a [u8]),
    /// Bytes of any other type.
    Other(PacketType, &'a [u8]),
}

impl<'a> Vita26Packet<'a> {
    /// Parses the bytes between the route and the CRC byte.
    ///
    /// # Errors
    /// The field that is cut short or invalid, and its place behind the route.
    pub fn parse(body: &'a [u8]) -> Result<Self, DecodeError> {
        Self::parse_head(body, body.len() as u64)
    }

    /// Parses a body of `len` bytes by the first of them, at least [`HEAD_LEN`] or all.
    ///
    /// # Errors
    /// Errors of [`Self::parse`].
    pub fn parse_head(first: &'a [u8], len: u64) -> Result<Self, DecodeError> {
        let stop = |stop| cut_short(first, &stop);
        let fits = |at, length, room: u64| match u64::from(length) > room {
            true => Err(unexpected(at, "length", length, "at most the bytes behind the header")),
            false => Ok(()),
        };
        let (rest, kind) = context("type", be_u32).parse(first).map_err(stop)?;
        let [byte, ..] = kind.to_be_bytes();
        let kind = PacketType::new(kind.to_be_bytes());
        let kind = kind.ok_or_else(|| unexpected(0, "type", byte, "less than 128"))?;
        match (kind.group(), kind.halves().1) {
            (TypeGroup::Gm, GM_2..=511) => {
                let header = take(GM_HEADER_LEN).and_then(gm_header);
                let (rest, header) = context("GM header", header).parse(rest).map_err(stop)?;
                let [.., length] = header.session_sequence_length;
                let length = if kind.has_payload() { length } else { 0 };
                fits(12, length, len.saturating_sub(GM_LEN))?;
                Ok(Self::Gm(kind, header, rest))
            }
            (TypeGroup::GmEthernet, _) => {
                let prefix = take(ETHERNET_PREFIX_LEN).and_then((be_u16, be_u16, station));
                let (rest, (length, sequence, gateway)) =
                    context("Ethernet prefix", prefix).parse(rest).map_err(stop)?;
                fits(4, length, len.saturating_sub(PREFIX_LEN))?;
                Ok(Self::Ethernet(kind, [length, sequence], gateway, rest))
            }
            (TypeGroup::Gm | TypeGroup::GmMapping | TypeGroup::Unknown, _) => {
                Ok(Self::Other(kind, rest))
            }
        }
    }

    /// Writes what [`Self::parse`] reads.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.packet_type().0.to_be_bytes());
        let rest = match self {
            Self::Gm(_, header, rest) => {
                header.emit(out);
                rest
            }
            Self::Ethernet(_, numbers, gateway, rest) => {
                out.extend(numbers.map(u16::to_be_bytes).concat());
                out.extend(gateway);
                rest
            }
            Self::Other(_, rest) => rest,
        };
        out.extend_from_slice(rest);
    }

    /// Type of the packet.
    pub const fn packet_type(&self) -> PacketType {
        let (Self::Gm(kind, ..) | Self::Ethernet(kind, ..) | Self::Other(kind, _)) = self;
        *kind
    }

    /// The Ethernet frame without its check sequence, as far as its bytes are there.
    pub fn frame(&self) -> Option<&'a [u8]> {
        let Self::Ethernet(_, [length, _], _, rest) = self else { return None };
        Some(rest.get(..usize::from(*length)).unwrap_or(rest))
    }

    /// True if more than the type agrees: a known subtype of GM 2.0, or an Ethernet frame with a header that
    /// fills a body of `len` bytes up to padding.
    pub fn is_typical(&self, len: u64) -> bool {
        match self {
            Self::Gm(kind, ..) => kind.gm_name().is_some(),
            Self::Ethernet(_, [length, _], ..) => {
                let padding = len.saturating_sub(PREFIX_LEN).saturating_sub((*length).into());
                padding < PADDED_TO && usize::from(*length) >= FRAME_HEADER_LEN
            }
            Self::Other(..) => false,
        }
    }
}

impl GmHeader {
    fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.target.to_be_bytes());
        out.extend(self.session_sequence_length.map(u16::to_be_bytes).concat());
        out.extend(self.subports);
        out.extend(self.sender.to_be_bytes());
        out.extend(self.connections.map(u16::to_be_bytes).concat());
    }
}

fn gm_header(input: &[u8]) -> IResult<&[u8], GmHeader, ParseTrace<&[u8]>> {
    let (numbers, subports, connections) =
        ((be_u16, be_u16, be_u16), (byte, byte), (be_u16, be_u16));
    let (rest, (target, numbers, subports, sender, connections)) =
        (be_u32, numbers, subports, be_u32, connections).parse(input)?;
    let (session_sequence_length, subports) = (numbers.into(), subports.into());
    let connections = connections.into();
    Ok((rest, GmHeader { target, session_sequence_length, subports, sender, connections }))
}

fn station(input: &[u8]) -> IResult<&[u8], EthernetAddress, ParseTrace<&[u8]>> {
    let mut address = EthernetAddress::default();
    let (rest, ()) = fill(byte, &mut address).parse(input)?;
    Ok((rest, address))
}

/// Destination, source and type of an Ethernet frame, unless its header is cut short.
pub fn ethernet_header(frame: &[u8]) -> Option<(EthernetAddress, EthernetAddress, u16)> {
    (station, station, be_u16).parse(frame).ok().map(|(_, header)| header)
}

/// The IP packet in an Ethernet frame of type 0x0800 or 0x86dd, of the version that the type names, without
/// the padding behind it.
pub fn ip_packet(frame: &[u8]) -> Option<&[u8]> {
    // Version, bytes between it and the length, and those that the length does not count.
    let (version, before, header) = match ethernet_header(frame)?.2 {
        0x0800 => (4, 1_usize, 0),
        0x86dd => (6, 3, 40),
        _ => return None,
    };
    let packet = frame.get(FRAME_HEADER_LEN..)?;
    let length = preceded(take::<_, _, ParseTrace<&[u8]>>(before), be_u16);
    let (_, (first, length)) = (byte, length).parse(packet).ok()?;
    let end = usize::from(length) + header;
    (first >> 4 == version).then(|| packet.get(..end).unwrap_or(packet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_faults_and_guesses() {
        let read = |start: &[u8], len: usize| {
            let mut body = start.to_vec();
            body.resize(len, 0);
            match Vita26Packet::parse(&body) {
                Ok(packet) => {
                    let mut bytes = Vec::new();
                    packet.emit(&mut bytes);
                    assert_eq!(bytes, body);
                    assert_eq!(packet.packet_type().value().to_be_bytes(), body[..4]);
                    let (kind, guess) = (packet.packet_type(), packet.is_typical(len as u64));
                    format!("{} {} {guess}", kind.group().name(), kind.gm_name().unwrap_or("-"))
                }
                Err(error) => error.to_string(),
            }
        };
        let cases: [(&[u8], usize, &str); 17] = [
            (&[], 0, "byte 0: type is cut short"),
            (&[0, 8, 1], 3, "byte 0: type is cut short"),
            (&[0x80, 8, 1], 4, "byte 0: type is 128, not less than 128"),
            (&[0, 8, 1, 128, 0, 0, 0, 7, 0, 1, 0, 2, 0, 9], 24, "gm ack true"),
            (&[0, 8, 1, 133], 24, "gm nack-close true"),
            (&[0, 8, 1, 38, 0, 0, 0, 7, 0, 1, 0, 2, 0, 2], 26, "gm data true"),
            (&[0, 8, 1, 39, 0, 0, 0, 7, 0, 1, 0, 2, 0, 2], 30, "gm head true"),
            (
                &[0, 8, 1, 7, 0, 0, 0, 7, 0, 1, 0, 2, 0, 3],
                26,
                "byte 12: length is 3, not at most the bytes behind the header",
            ),
            (&[0, 8, 1, 7], 23, "byte 4: GM header is cut short"),
            (&[0, 8, 1, 5], 24, "gm - false"),
            (&[0, 8, 0, 128], 16, "gm ack false"),
            (&[0, 8, 2, 0], 24, "gm - false"),
            (&[0, 9, 0, 0, 0, 14], 35, "gm-ethernet - true"),
            (&[0, 9, 0, 0, 0, 14], 36, "gm-ethernet - false"),
            (&[0, 9, 0, 0, 0, 14], 13, "byte 4: Ethernet prefix is cut short"),
            (
                &[0, 9, 0, 0, 0, 14],
                20,
                "byte 4: length is 14, not at most the bytes behind the header",
            ),
            (&[0x70, 0x0f, 0, 1], 9, "gm-mapping - false"),
        ];
        for (start, len, expected) in cases {
            assert_eq!(read(start, len), expected, "{start:02x?} {len}");
        }
    }

    #[test]
    fn a_frame_and_an_ip_packet_end_where_their_lengths_say() {
        // Type, length and ports, gateway, a frame of 14 bytes, and padding.
        let body = [&[0, 9, 0, 0, 0, 14][..], &[1; 8], &[7; 14], &[0; 2]].concat();
        assert_eq!(Vita26Packet::parse(&body).unwrap().frame(), Some(&[7; 14][..]));
        assert_eq!(Vita26Packet::parse(&[0; 8]).unwrap().frame(), None);
        for (kind, ip, expected) in [
            ([8, 0], [0x45, 0, 0, 50, 0, 0], Some(50)),
            ([8, 0], [0x45, 0, 1, 50, 0, 0], Some(56)),
            ([0x86, 0xdd], [0x60, 0, 0, 0, 0, 9], Some(49)),
            ([8, 0], [0x60, 0, 0, 50, 0, 9], None),
            ([8, 6], [0x45, 0, 0, 50, 0, 0], None),
        ] {
            let mut frame = [&[2; 12][..], &kind, &ip].concat();
            frame.resize(14 + 56, 0);
            assert_eq!(ip_packet(&frame).map(<[u8]>::len), expected, "{kind:?} {ip:?}");
        }
    }
}
