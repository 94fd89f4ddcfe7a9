//! Packets by which interfaces map a network, elect a mapper and distribute the map or the routes.
//! N-2, N-7, N-8
//!
//! No document gives their format: all of it is *chosen*. A mapping packet is the payload of a
//! packet of type [`TAG`]: the bytes between its tag and its CRC byte. Numbers are big-endian. The
//! first byte is the version in its high half, 1, or 2 for requests with a way back, and the kind in the low one; the
//! address of the sender follows.

mod answer;
mod interface_address;
mod internetwork;
mod network_map;

use nom::combinator::rest as all_of;
use nom::error::context;
use nom::multi::length_data;
use nom::number::complete::{be_u16, be_u32, u8 as byte};
use nom::{IResult, Parser};

pub use self::answer::AnswerStatus;
use self::answer::answer;
use self::interface_address::{ADDRESSES, address};
pub use self::interface_address::{InterfaceAddress, InterfaceRole};
pub use self::internetwork::InternetworkPacket;
pub use self::network_map::{
    MAP_PORT_MAX, MapEnd, MapNode, NetworkMap, SwitchIdentity, emit_routes, parse_routes,
};
use crate::error::{DecodeError, ParseTrace, cut_short, unexpected};
use crate::route::{is_route_byte, reversed};
use crate::switch_answer::SwitchAnswer;

/// The type of mapping packets. *Chosen*
pub const TAG: u8 = 0x02;

/// High half of the first byte.
const VERSION: u8 = 1;
/// Likewise, of a request with its way back.
const WITH_WAY_BACK: u8 = 2;
/// Bytes of a packet that comes home, without what switches add.
const HOME_LEN: usize = 11;

/// Number by which an answer, or a packet that comes home, is matched with its transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProbeTicket(pub u32);

/// Number of a map, counted by its mapper; compared by serial-number arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MapVersion(pub u32);

/// A packet of mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MappingPacket<'a> {
    /// Kinds 0, 4, 5, 6: an interface is asked, and answers.
    Request(RequestHeader<'a>, MappingRequest<'a>),
    /// Kind 1: the answer.
    Answer(MappingAnswer),
    /// Kinds 2, 3 and 8: comes home to the interface that sent it. N-2, N-8
    Home(HomeProbe, InterfaceAddress, ProbeTicket),
    /// Kind 7: the sender is no mapper any more.
    Resign {
        /// The interface that resigns.
        source: InterfaceAddress,
        /// The mapper with the higher address.
        winner: InterfaceAddress,
    },
}

/// Fields of all requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestHeader<'a> {
    /// The interface that asks; it maps the network, or begins to.
    pub source: InterfaceAddress,
    /// Number that the answer repeats.
    pub ticket: ProbeTicket,
    /// Version of the map that the request is about; of the latest one, in a probe.
    pub version: MapVersion,
    /// All route bytes of the request.
    pub route: &'a [u8],
    /// Route bytes of the answer; without them it takes the reverse route. N-8
    pub way_back: Option<&'a [u8]>,
}

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MappingRequest<'a> {
    /// Kind 0: looks for an interface.
    Probe,
    /// Kind 4: a piece of a [`NetworkMap`]. N-2
    Map(MapPiece<'a>),
    /// Kind 5: a piece of the receiver's routes. N-7
    Routes(MapPiece<'a>),
    /// Kind 6: install the routes of this version.
    Install,
}

/// A piece of a map or of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapPiece<'a> {
    /// Number of the piece, below the count.
    pub number: u16,
    /// Number of all pieces, at least 1.
    pub count: u16,
    /// Bytes of the piece.
    pub bytes: &'a [u8],
}

/// Answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MappingAnswer {
    /// The interface that answers.
    pub source: InterfaceAddress,
    /// Number of the request.
    pub ticket: ProbeTicket,
    /// The mapper of its network, as far as it knows.
    pub mapper: Option<InterfaceAddress>,
    /// Version of the map by which its routes were computed; 0 if it has none.
    pub version: MapVersion,
    /// Result of the request.
    pub status: AnswerStatus,
    /// Role of the interface that answers: so a router advertises itself. N-5
    pub role: InterfaceRole,
}

/// Purpose of a probe that comes home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HomeProbe {
    /// Kind 2, on route r · 0x80 · r⁻¹: comes home exactly if there is a switch at the end of r.
    Switch = 2,
    /// Kind 3, on route A · δ · B⁻¹: comes home exactly if A and B end at one switch, δ ports
    /// apart.
    Compare = 3,
    /// Kind 8: its route asks a switch, by port 0x7F, for its identity, which the switch adds. S-8
    Identity = 8,
}

impl MapVersion {
    /// True if it is later by serial-number arithmetic: less than half the range ahead.
    pub const fn is_newer_than(self, other: Self) -> bool {
        let ahead = self.0.wrapping_sub(other.0);
        ahead != 0 && ahead < 1 << 31
    }

    /// The next one; 0 stands for no map.
    pub const fn next(self) -> Self {
        let next = self.0.wrapping_add(1);
        Self(if next == 0 { 1 } else { next })
    }
}

impl<'a> MappingPacket<'a> {
    /// Name of the kind of packet in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Request(_, MappingRequest::Probe) => "host-probe",
            Self::Answer(_) => "answer",
            Self::Home(HomeProbe::Switch, ..) => "switch-probe",
            Self::Home(HomeProbe::Compare, ..) => "compare-probe",
            Self::Home(HomeProbe::Identity, ..) => "identity-probe",
            Self::Request(_, MappingRequest::Map(_)) => "map",
            Self::Request(_, MappingRequest::Routes(_)) => "routes",
            Self::Request(_, MappingRequest::Install) => "install",
            Self::Resign { .. } => "resign",
        }
    }

    /// Address of the sender.
    pub const fn source(&self) -> InterfaceAddress {
        match self {
            Self::Request(RequestHeader { source, .. }, _)
            | Self::Answer(MappingAnswer { source, .. })
            | Self::Home(_, source, _)
            | Self::Resign { source, .. } => *source,
        }
    }

    /// Parses the payload of a packet of type [`TAG`].
    ///
    /// # Errors
    /// The field that is cut short or invalid, and its place behind the tag.
    pub fn parse(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let first = *payload.first().ok_or(DecodeError::CutShort { at: 0, field: "version" })?;
        let (version, kind) = (first >> 4, first & 0x0f);
        match (version, kind) {
            (VERSION, _) | (WITH_WAY_BACK, 0 | 4..=6) => {}
            (WITH_WAY_BACK, _) => {
                return Err(unexpected(0, "version", version, "1 but in requests"));
            }
            _ => return Err(unexpected(0, "version", version, "1 or 2")),
        }
        let stop = |stop| cut_short(payload, &stop);
        let (rest, source) = (context("kind", byte), context("source", address))
            .parse(payload)
            .map(|(rest, (_, source))| (rest, source))
            .map_err(stop)?;
        let source = source.ok_or_else(|| unexpected(1, "source", 0_u8, ADDRESSES))?;
        let (rest, packet) = match kind {
            1 => {
                let (rest, fields) = answer(rest).map_err(stop)?;
                (rest, Self::Answer(fields.check(source)?))
            }
            2 => ticket(rest)
                .map(|(rest, ticket)| (rest, Self::Home(HomeProbe::Switch, source, ticket)))
                .map_err(stop)?,
            3 => ticket(rest)
                .map(|(rest, ticket)| (rest, Self::Home(HomeProbe::Compare, source, ticket)))
                .map_err(stop)?,
            8 => {
                let (mut rest, ticket) = ticket(rest).map_err(stop)?;
                while !rest.is_empty() {
                    let (_, end) = SwitchAnswer::parse(payload, payload.len() - rest.len())?;
                    rest = payload.get(end..).unwrap_or_default();
                }
                (rest, Self::Home(HomeProbe::Identity, source, ticket))
            }
            7 => {
                let (rest, winner) = context("winner", address).parse(rest).map_err(stop)?;
                let winner = winner.ok_or_else(|| unexpected(7, "winner", 0_u8, ADDRESSES))?;
                (rest, Self::Resign { source, winner })
            }
            kind @ (0 | 4..=6) => {
                let (mut rest, mut header) = request(source, rest).map_err(stop)?;
                check_route(header.route, payload, rest)?;
                if version == WITH_WAY_BACK {
                    let (behind, back) = route("way back", rest).map_err(stop)?;
                    check_route(back, payload, behind)?;
                    (rest, header.way_back) = (behind, Some(back));
                }
                let (rest, request) = purpose(kind, payload, rest)?;
                (rest, Self::Request(header, request))
            }
            kind => return Err(unexpected(0, "kind", kind, "0..=8")),
        };
        match rest.len() {
            0 => Ok(packet),
            more => Err(unexpected(payload.len() - more, "trailing bytes", more as u64, "0")),
        }
    }

    /// First of the answers that switches added to an identity probe that came home.
    pub fn switch_answer(payload: &[u8]) -> Option<SwitchAnswer> {
        Some(SwitchAnswer::parse(payload, HOME_LEN).ok()?.0)
    }

    /// Writes what [`MappingPacket::parse`] reads, without what switches add. A route of more than 255 bytes is cut
    /// there.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let version = match self {
            Self::Request(RequestHeader { way_back: Some(_), .. }, _) => WITH_WAY_BACK,
            Self::Request(..) | Self::Answer(_) | Self::Home(..) | Self::Resign { .. } => VERSION,
        };
        let mut head = |kind: u8, source: InterfaceAddress| {
            out.push(version << 4 | kind);
            InterfaceAddress::emit(Some(source), out);
        };
        match self {
            Self::Request(header, request) => {
                let (kind, piece) = match request {
                    MappingRequest::Probe => (0, None),
                    MappingRequest::Map(piece) => (4, Some(piece)),
                    MappingRequest::Routes(piece) => (5, Some(piece)),
                    MappingRequest::Install => (6, None),
                };
                head(kind, header.source);
                header.emit(out);
                piece.into_iter().for_each(|piece| piece.emit(out));
            }
            Self::Answer(MappingAnswer { source, ticket, mapper, version, status, role }) => {
                head(1, *source);
                out.extend(ticket.0.to_be_bytes());
                InterfaceAddress::emit(*mapper, out);
                out.extend(version.0.to_be_bytes());
                out.push(*status as u8 | *role as u8);
            }
            Self::Home(kind, source, ticket) => {
                head(*kind as u8, *source);
                out.extend(ticket.0.to_be_bytes());
            }
            Self::Resign { source, winner } => {
                head(7, *source);
                InterfaceAddress::emit(Some(*winner), out);
            }
        }
    }
}

type MappingParse<'a, T> = IResult<&'a [u8], T, ParseTrace<&'a [u8]>>;

fn ticket(input: &[u8]) -> MappingParse<'_, ProbeTicket> {
    context("ticket", be_u32.map(ProbeTicket)).parse(input)
}

fn version(input: &[u8]) -> MappingParse<'_, MapVersion> {
    context("map version", be_u32.map(MapVersion)).parse(input)
}

fn request(source: InterfaceAddress, input: &[u8]) -> MappingParse<'_, RequestHeader<'_>> {
    let (rest, (ticket, version)) = (ticket, version).parse(input)?;
    let (rest, route) = route("route", rest)?;
    Ok((rest, RequestHeader { source, ticket, version, route, way_back: None }))
}

fn route<'a>(field: &'static str, input: &'a [u8]) -> MappingParse<'a, &'a [u8]> {
    context(field, length_data(byte)).parse(input)
}

/// Checks the route bytes before `rest`.
fn check_route(route: &[u8], payload: &[u8], rest: &[u8]) -> Result<(), DecodeError> {
    let at = payload.len() - rest.len() - route.len();
    let wrong = route.iter().zip(at..).find(|(byte, _)| !is_route_byte(**byte));
    wrong.map_or(Ok(()), |(byte, at)| Err(unexpected(at, "route byte", *byte, "0x80..=0xff")))
}

fn purpose<'a>(
    kind: u8,
    payload: &[u8],
    input: &'a [u8],
) -> Result<(&'a [u8], MappingRequest<'a>), DecodeError> {
    if kind == 0 || kind == 6 {
        let request = if kind == 0 { MappingRequest::Probe } else { MappingRequest::Install };
        return Ok((input, request));
    }
    let fields = (context("piece", be_u16), context("pieces", be_u16), all_of).parse(input);
    let (rest, (number, count, bytes)) = fields.map_err(|stop| cut_short(payload, &stop))?;
    if number >= count {
        let at = payload.len() - input.len();
        return Err(unexpected(at, "piece", number, "below the number of pieces"));
    }
    let piece = MapPiece { number, count, bytes };
    let map = kind == 4;
    Ok((rest, if map { MappingRequest::Map(piece) } else { MappingRequest::Routes(piece) }))
}

impl RequestHeader<'_> {
    /// Route bytes of the answer. N-8
    pub fn answer_route(&self) -> Vec<u8> {
        self.way_back.map_or_else(|| reversed(self.route), <[u8]>::to_vec)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.ticket.0.to_be_bytes());
        out.extend(self.version.0.to_be_bytes());
        for route in [Some(self.route), self.way_back].into_iter().flatten() {
            let route = route.get(..usize::from(u8::MAX)).unwrap_or(route);
            out.push(u8::try_from(route.len()).unwrap_or(u8::MAX));
            out.extend_from_slice(route);
        }
    }
}

impl MapPiece<'_> {
    fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.number.to_be_bytes());
        out.extend(self.count.to_be_bytes());
        out.extend_from_slice(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H1: InterfaceAddress = InterfaceAddress::new(0x0060_dd01_0203).unwrap();
    const H2: InterfaceAddress = InterfaceAddress::new(0x0060_dd0a_0b0c).unwrap();

    /// Packets and their bytes, written by hand from the table of `docs/rules.md`.
    #[rustfmt::skip]
    fn vectors() -> Vec<(MappingPacket<'static>, &'static str, Vec<u8>)> {
        let header = RequestHeader {
            source: H1, ticket: ProbeTicket(0x0102_0304), version: MapVersion(5), route: &[0x83, 0xbf],
            way_back: None,
        };
        let absolute = RequestHeader { way_back: Some(&[0x81]), ..header };
        let piece = MapPiece { number: 1, count: 2, bytes: b"map" };
        let request = |first| [&[first, 0, 0x60, 0xdd, 1, 2, 3, 1, 2, 3, 4, 0, 0, 0, 5, 2, 0x83, 0xbf][..]].concat();
        let with = |first, more: &[u8]| [&request(first)[..], more].concat();
        let answer = MappingAnswer {
            source: H2, ticket: ProbeTicket(7), mapper: Some(H1), version: MapVersion(8),
            status: AnswerStatus::Installed, role: InterfaceRole::Host,
        };
        vec![
            (MappingPacket::Request(header, MappingRequest::Probe), "host-probe", request(0x10)),
            (MappingPacket::Request(header, MappingRequest::Map(piece)), "map",
                with(0x14, &[0, 1, 0, 2, b'm', b'a', b'p'])),
            (MappingPacket::Request(header, MappingRequest::Routes(piece)), "routes",
                with(0x15, &[0, 1, 0, 2, b'm', b'a', b'p'])),
            (MappingPacket::Request(header, MappingRequest::Install), "install", request(0x16)),
            (MappingPacket::Request(absolute, MappingRequest::Install), "install", with(0x26, &[1, 0x81])),
            (MappingPacket::Answer(answer), "answer", vec![
                0x11, 0, 0x60, 0xdd, 10, 11, 12, 0, 0, 0, 7, 0, 0x60, 0xdd, 1, 2, 3, 0, 0, 0, 8, 2,
            ]),
            (MappingPacket::Answer(MappingAnswer { mapper: None, status: AnswerStatus::Received, ..answer }),
                "answer",
                vec![0x11, 0, 0x60, 0xdd, 10, 11, 12, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]),
            (MappingPacket::Answer(MappingAnswer { role: InterfaceRole::Router, ..answer }), "answer",
                vec![0x11, 0, 0x60, 0xdd, 10, 11, 12, 0, 0, 0, 7, 0, 0x60, 0xdd, 1, 2, 3, 0, 0, 0, 8, 0x82]),
            (MappingPacket::Home(HomeProbe::Switch, H1, ProbeTicket(9)), "switch-probe",
                vec![0x12, 0, 0x60, 0xdd, 1, 2, 3, 0, 0, 0, 9]),
            (MappingPacket::Home(HomeProbe::Compare, H1, ProbeTicket(9)), "compare-probe",
                vec![0x13, 0, 0x60, 0xdd, 1, 2, 3, 0, 0, 0, 9]),
            (MappingPacket::Home(HomeProbe::Identity, H1, ProbeTicket(9)), "identity-probe",
                vec![0x18, 0, 0x60, 0xdd, 1, 2, 3, 0, 0, 0, 9]),
            (MappingPacket::Resign { source: H1, winner: H2 }, "resign",
                vec![0x17, 0, 0x60, 0xdd, 1, 2, 3, 0, 0x60, 0xdd, 10, 11, 12]),
        ]
    }

    #[test]
    fn every_kind_has_the_bytes_of_the_table() {
        for (packet, name, bytes) in vectors() {
            let mut out = Vec::new();
            packet.emit(&mut out);
            assert_eq!((&out, packet.name()), (&bytes, name));
            assert_eq!(MappingPacket::parse(&bytes), Ok(packet));
        }
    }

    #[test]
    fn every_packet_cut_or_prolonged_names_its_fault() {
        for (packet, name, mut bytes) in vectors() {
            // A piece may have any length, none included.
            let fixed = match packet {
                MappingPacket::Request(_, MappingRequest::Map(_) | MappingRequest::Routes(_)) => 22,
                MappingPacket::Request(..)
                | MappingPacket::Answer(_)
                | MappingPacket::Home(..)
                | MappingPacket::Resign { .. } => bytes.len(),
            };
            for len in 0..fixed {
                let error = MappingPacket::parse(&bytes[..len]).unwrap_err();
                assert!(error.at() <= len && error.found().is_none(), "{name} {len}: {error}");
            }
            if fixed == bytes.len() {
                bytes.push(0);
                let error = MappingPacket::parse(&bytes).unwrap_err().to_string();
                let is_identity = matches!(packet, MappingPacket::Home(HomeProbe::Identity, ..));
                let answer = "identity of a switch is cut short";
                let expected = if is_identity { answer } else { "trailing bytes is 1, not 0" };
                assert!(error.ends_with(expected), "{name}: {error}");
            }
        }
    }

    #[test]
    fn invalid_fields_are_named() {
        let [probe, map, _, _, back, answer, ..] = &vectors()[..] else { panic!("twelve") };
        for (bytes, at, value, fault) in [
            (probe, 0, 0x30, "byte 0: version is 3, not 1 or 2"),
            (answer, 0, 0x21, "byte 0: version is 2, not 1 but in requests"),
            (probe, 0, 0x19, "byte 0: kind is 9, not 0..=8"),
            (back, 19, 3, "byte 19: route byte is 3, not 0x80..=0xff"),
            (probe, 17, 0x7f, "byte 17: route byte is 127, not 0x80..=0xff"),
            (map, 19, 2, "byte 18: piece is 2, not below the number of pieces"),
            (answer, 21, 4, "byte 21: status is 4, not 0..=3"),
            (answer, 21, 0x84, "byte 21: status is 4, not 0..=3"),
        ] {
            let mut bytes = bytes.2.clone();
            bytes[at] = value;
            assert_eq!(MappingPacket::parse(&bytes).unwrap_err().to_string(), fault);
        }
        let nobody = [0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
        let error = MappingPacket::parse(&nobody).unwrap_err().to_string();
        assert_eq!(error, "byte 1: source is 0, not an address (not 0)");
    }

    #[test]
    fn versions_wrap_past_none() {
        assert_eq!(MapVersion(u32::MAX).next(), MapVersion(1));
        assert!(MapVersion(1).is_newer_than(MapVersion(u32::MAX)));
        assert!(!MapVersion(3).is_newer_than(MapVersion(3)));
    }
}
