//! Maps and routes as they are distributed. N-2, N-7, *chosen*

use nom::error::context;
use nom::multi::count;
use nom::number::complete::{be_i8, be_u16, be_u32, u8 as byte};
use nom::{IResult, Parser};

use super::InterfaceAddress;
use super::interface_address::address;
use crate::error::{DecodeError, ParseTrace, cut_short, unexpected};
use crate::route::{RouteAddressing, is_route_byte};

/// Greatest port of a switch in a map, counted from the port by which the mapper found the switch;
/// the least one is its negative. S-1
pub const MAP_PORT_MAX: i8 = 31;

/// Stands before the identities of switches, where a router might follow.
const IDENTITIES: u16 = 0xffff;

/// Bit of a node that is an interface.
const HOST: u16 = 0x8000;

/// A mapper's map: interfaces by their addresses, switches by number only. N-3
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NetworkMap {
    /// Interfaces, in ascending order.
    pub hosts: Vec<InterfaceAddress>,
    /// Number of switches.
    pub switches: u16,
    /// Links, each with its two ends.
    pub links: Vec<[MapEnd; 2]>,
    /// Indices of the interfaces that are routers to another network, in ascending order. N-5
    pub routers: Vec<u16>,
    /// Identities of all switches, or none. S-8
    pub identities: Vec<SwitchIdentity>,
}

/// What a switch says of itself. S-8
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SwitchIdentity {
    /// Meaning of its route bytes.
    pub addressing: RouteAddressing,
    /// Number of its node.
    pub node: u32,
}

/// End of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MapEnd {
    /// The node.
    pub node: MapNode,
    /// The port: of a switch, counted from the one by which it was found, or its number where identities are known;
    /// of an interface 0.
    pub port: i8,
}

/// A switch or an interface, by its index in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MapNode {
    /// A switch.
    Switch(u16),
    /// An interface.
    Host(u16),
}

impl NetworkMap {
    /// Parses the bytes of all pieces of a map: the numbers of interfaces, switches and links, 2
    /// bytes each; the addresses; and the ends of each link: the node in 2 bytes, whose highest bit
    /// is set for an interface, and the port in one; then the indices of the routers, 2 bytes each;
    /// then, behind `ffff`, the addressing of each switch, 0 or 1 as in a [`SwitchAnswer`](crate::switch_answer::SwitchAnswer),
    /// and its node number in 4 bytes, if identities are known.
    ///
    /// # Errors
    /// The field that is cut short or invalid, and its place.
    pub fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        let stop = |stop| cut_short(bytes, &stop);
        let (rest, (hosts, switches, links)) =
            (context("hosts", be_u16), context("switches", be_u16), context("links", be_u16))
                .parse(bytes)
                .map_err(stop)?;
        let at = |rest: &[u8]| bytes.len() - rest.len();
        for (place, number) in [(0, hosts), (2, switches)] {
            if number > HOST {
                return Err(unexpected(place, "number of nodes", number, "at most 32768"));
            }
        }
        let start = at(rest);
        let (rest, found) =
            context("address", count(address, hosts.into())).parse(rest).map_err(stop)?;
        let mut addresses: Vec<InterfaceAddress> = Vec::with_capacity(found.len());
        for (address, place) in found.into_iter().zip((start..).step_by(6)) {
            match address.filter(|address| addresses.last().is_none_or(|last| last < address)) {
                Some(address) => addresses.push(address),
                None => {
                    let found = address.map_or(0, InterfaceAddress::value);
                    return Err(unexpected(place, "address", found, "in ascending order"));
                }
            }
        }
        let start = at(rest);
        let (rest, found) =
            context("link", count((end, end), links.into())).parse(rest).map_err(stop)?;
        let ends = found.iter().flat_map(|(one, other)| [one, other]);
        for (end, place) in ends.zip((start..).step_by(3)) {
            end.check(place, hosts, switches)?;
        }
        let links = found.into_iter().map(|(one, other)| [one, other]).collect();
        let (behind, routers) = routers(bytes, rest, [hosts, switches])?;
        let (rest, number) = behind.map_or((&[][..], 0), |rest| (rest, switches));
        let start = at(rest);
        let fields = count((byte, be_u32), number.into());
        let (rest, found) = context("identity of a switch", fields).parse(rest).map_err(stop)?;
        let mut identities = Vec::with_capacity(found.len());
        for ((addressing, node), place) in found.into_iter().zip((start..).step_by(5)) {
            let known = RouteAddressing::from_number(addressing);
            let addressing =
                known.ok_or_else(|| unexpected(place, "addressing", addressing, "0 or 1"))?;
            identities.push(SwitchIdentity { addressing, node });
        }
        match rest.len() {
            0 => Ok(Self { hosts: addresses, switches, links, routers, identities }),
            more => Err(unexpected(at(rest), "trailing bytes", more as u64, "0")),
        }
    }

    /// Writes what [`NetworkMap::parse`] reads.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let number = |count: usize| u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes();
        out.extend(number(self.hosts.len()));
        out.extend(self.switches.to_be_bytes());
        out.extend(number(self.links.len()));
        self.hosts.iter().for_each(|host| InterfaceAddress::emit(Some(*host), out));
        for MapEnd { node, port } in self.links.iter().flatten() {
            let node = match node {
                MapNode::Switch(switch) => *switch,
                MapNode::Host(host) => HOST | host,
            };
            out.extend(node.to_be_bytes());
            out.extend(port.to_be_bytes());
        }
        self.routers.iter().for_each(|router| out.extend(router.to_be_bytes()));
        if !self.identities.is_empty() {
            out.extend(IDENTITIES.to_be_bytes());
        }
        for SwitchIdentity { addressing, node } in &self.identities {
            out.push(addressing.number());
            out.extend(node.to_be_bytes());
        }
    }
}

/// Parses the routers, and returns what is behind them if identities follow.
fn routers<'a>(
    bytes: &[u8],
    mut rest: &'a [u8],
    [hosts, switches]: [u16; 2],
) -> Result<(Option<&'a [u8]>, Vec<u16>), DecodeError> {
    let mut routers = Vec::new();
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let stop = |stop| cut_short(bytes, &stop);
        let (after, router) = context("router", be_u16).parse(rest).map_err(stop)?;
        rest = after;
        if router == IDENTITIES && switches > 0 {
            return Ok((Some(rest), routers));
        }
        if router >= hosts || routers.last().is_some_and(|last| *last >= router) {
            let expected = "an interface of the map, in ascending order";
            return Err(unexpected(at, "router", router, expected));
        }
        routers.push(router);
    }
    Ok((None, routers))
}

fn end(input: &[u8]) -> IResult<&[u8], MapEnd, ParseTrace<&[u8]>> {
    let (rest, (node, port)) = (be_u16, be_i8).parse(input)?;
    let host = node & HOST != 0;
    let node = if host { MapNode::Host(node & !HOST) } else { MapNode::Switch(node) };
    Ok((rest, MapEnd { node, port }))
}

impl MapEnd {
    fn check(&self, at: usize, hosts: u16, switches: u16) -> Result<(), DecodeError> {
        let (index, count, most) = match self.node {
            MapNode::Switch(index) => (index, switches, MAP_PORT_MAX),
            MapNode::Host(index) => (index, hosts, 0),
        };
        if index >= count {
            return Err(unexpected(at, "node", index, "a node of the map"));
        }
        if self.port.unsigned_abs() > most.unsigned_abs() {
            let found = self.port.unsigned_abs();
            return Err(unexpected(at + 2, "port", found, "0 at a host, -31..=31 at a switch"));
        }
        Ok(())
    }
}

/// Parses the bytes of all pieces of routes: for each destination its address, the length of the
/// route and the route bytes.
///
/// # Errors
/// The field that is cut short or invalid, and its place.
pub fn parse_routes(bytes: &[u8]) -> Result<Vec<(InterfaceAddress, &[u8])>, DecodeError> {
    let (mut rest, mut routes) = (bytes, Vec::new());
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let (after, (to, length)) = (context("address", address), context("route length", byte))
            .parse(rest)
            .map_err(|stop| cut_short(bytes, &stop))?;
        let to = to.ok_or_else(|| unexpected(at, "address", 0_u8, "an address (not 0)"))?;
        let field = DecodeError::CutShort { at: at + 7, field: "route" };
        let (route, after) = after.split_at_checked(length.into()).ok_or(field)?;
        if let Some((byte, at)) =
            route.iter().zip(at + 7..).find(|(byte, _)| !is_route_byte(**byte))
        {
            return Err(unexpected(at, "route byte", *byte, "0x80..=0xff"));
        }
        routes.push((to, route));
        rest = after;
    }
    Ok(routes)
}

/// Writes what [`parse_routes`] reads. Longer routes than 255 bytes are left out.
pub fn emit_routes<'a>(
    routes: impl IntoIterator<Item = (InterfaceAddress, &'a [u8])>,
    out: &mut Vec<u8>,
) {
    for (to, route) in routes {
        if let Ok(length) = u8::try_from(route.len()) {
            InterfaceAddress::emit(Some(to), out);
            out.push(length);
            out.extend_from_slice(route);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H1: InterfaceAddress = InterfaceAddress::new(0x0060_dd01_0203).unwrap();
    const H2: InterfaceAddress = InterfaceAddress::new(0x0060_dd0a_0b0c).unwrap();

    /// A host and a router at a switch: the mapper at the port that it counts from, the router 3 below
    /// it.
    const BYTES: [u8; 32] = [
        0, 2, 0, 1, 0, 2, 0, 0x60, 0xdd, 1, 2, 3, 0, 0x60, 0xdd, 10, 11, 12, 0x80, 0, 0, 0, 0,
        0, //
        0x80, 1, 0, 0, 0, 0xfd, 0, 1,
    ];

    #[test]
    fn a_map_has_the_bytes_of_the_table() {
        let end = |node, port| MapEnd { node, port };
        let map = NetworkMap {
            hosts: vec![H1, H2],
            switches: 1,
            links: vec![
                [end(MapNode::Host(0), 0), end(MapNode::Switch(0), 0)],
                [end(MapNode::Host(1), 0), end(MapNode::Switch(0), -3)],
            ],
            routers: vec![1],
            identities: Vec::new(),
        };
        let mut out = Vec::new();
        map.emit(&mut out);
        assert_eq!(out, BYTES);
        let without = NetworkMap { routers: Vec::new(), ..map.clone() };
        let identity = SwitchIdentity { addressing: RouteAddressing::Absolute, node: 0x0102 };
        let known = NetworkMap { identities: vec![identity], ..map.clone() };
        let mut bytes = [&BYTES[..], &[0xff, 0xff, 0, 0, 0, 1, 2]].concat();
        known.emit(&mut out);
        assert_eq!(out[BYTES.len()..], bytes);
        for len in BYTES.len() + 1..bytes.len() {
            assert!(NetworkMap::parse(&bytes[..len]).unwrap_err().at() <= len);
        }
        assert_eq!(NetworkMap::parse(&bytes), Ok(known));
        bytes[34] = 2;
        let error = NetworkMap::parse(&bytes).unwrap_err().to_string();
        assert_eq!(error, "byte 34: addressing is 2, not 0 or 1");
        assert_eq!(NetworkMap::parse(&BYTES), Ok(map));
        assert_eq!(NetworkMap::parse(&BYTES[..30]), Ok(without));
    }

    #[test]
    fn a_faulty_map_names_the_field() {
        for len in (0..BYTES.len()).filter(|len| *len != 30) {
            assert!(NetworkMap::parse(&BYTES[..len]).unwrap_err().at() <= len);
        }
        for (at, value, fault) in [
            (0, 0x81, "byte 0: number of nodes is 33026, not at most 32768"),
            (13, 0, "byte 12: address is 3708422924, not in ascending order"),
            (25, 2, "byte 24: node is 2, not a node of the map"),
            (28, 1, "byte 27: node is 1, not a node of the map"),
            (29, 0xe0, "byte 29: port is 32, not 0 at a host, -31..=31 at a switch"),
            (20, 1, "byte 20: port is 1, not 0 at a host, -31..=31 at a switch"),
            (31, 2, "byte 30: router is 2, not an interface of the map, in ascending order"),
            (5, 1, "byte 24: router is 32769, not an interface of the map, in ascending order"),
        ] {
            let mut bytes = BYTES;
            bytes[at] = value;
            let error = NetworkMap::parse(&bytes).map_err(|error| error.to_string());
            assert_eq!(error.unwrap_err(), fault);
        }
    }

    #[test]
    fn interfaces_and_routers_are_in_ascending_order_and_none_is_there_twice() {
        let is_read = |hosts: &[u64], routers: &[u16]| {
            let hosts = hosts.iter().map(|host| InterfaceAddress::new(*host).unwrap()).collect();
            let map = NetworkMap { hosts, routers: routers.to_vec(), ..NetworkMap::default() };
            let mut bytes = Vec::new();
            map.emit(&mut bytes);
            NetworkMap::parse(&bytes).is_ok()
        };
        for (one, other) in (1..4).flat_map(|one| (1..4).map(move |other| (one, other))) {
            assert_eq!(is_read(&[one.into(), other.into()], &[]), one < other);
            assert_eq!(is_read(&[1, 2, 3, 4], &[one, other]), one < other);
        }
    }

    #[test]
    fn routes_have_the_bytes_of_the_table() {
        let bytes = [0, 0x60, 0xdd, 1, 2, 3, 2, 0x83, 0xbf, 0, 0x60, 0xdd, 10, 11, 12, 0];
        let routes = vec![(H1, &[0x83, 0xbf][..]), (H2, &[][..])];
        let mut out = Vec::new();
        emit_routes(routes.iter().copied(), &mut out);
        assert_eq!(out, bytes);
        assert_eq!(parse_routes(&bytes), Ok(routes));
        for len in (1..16).filter(|len| *len != 9) {
            assert!(parse_routes(&bytes[..len]).unwrap_err().at() <= len);
        }
        let wrong = parse_routes(&[0, 0x60, 0xdd, 1, 2, 3, 1, 3]).unwrap_err();
        assert_eq!(wrong.to_string(), "byte 7: route byte is 3, not 0x80..=0xff");
    }
}
