//! Packets to an interface of another network, which a router passes on. N-5

use nom::Parser;
use nom::error::context;
use nom::number::complete::u8 as byte;

use super::interface_address::{ADDRESSES, InterfaceAddress, address};
use crate::error::{DecodeError, cut_short, unexpected};

/// First byte: the version.
const VERSION: u8 = 1;

/// A packet of another type, with the addresses that lead it from network to network: the payload of
/// a packet of type [`Self::TAG`]. *Chosen*: the version 1, the addresses of receiver and sender, the
/// type, and the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InternetworkPacket<'a> {
    /// The interface that is to get it.
    pub destination: InterfaceAddress,
    /// The interface that has sent it.
    pub source: InterfaceAddress,
    /// Type of the packet that is delivered, with MSB 0. P-2
    pub tag: u8,
    /// Its payload.
    pub payload: &'a [u8],
}

impl<'a> InternetworkPacket<'a> {
    /// The type of these packets. *Chosen*
    pub const TAG: u8 = 0x03;

    /// Bytes before the type of the packet that is delivered.
    pub const HEADER: usize = 13;

    /// Parses the payload of a packet of type [`Self::TAG`].
    ///
    /// # Errors
    /// The field that is cut short or invalid, and its place behind the tag.
    pub fn parse(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let (destination, source) = (context("destination", address), context("source", address));
        let (rest, (version, destination, source, tag)) =
            (context("version", byte), destination, source, context("type", byte))
                .parse(payload)
                .map_err(|stop| cut_short(payload, &stop))?;
        if version != VERSION {
            return Err(unexpected(0, "version", version, "1"));
        }
        let known = |address: Option<_>, at, field| {
            address.ok_or_else(|| unexpected(at, field, 0_u8, ADDRESSES))
        };
        let destination = known(destination, 1, "destination")?;
        let source = known(source, 7, "source")?;
        if tag >= 0x80 {
            return Err(unexpected(Self::HEADER, "type", tag, "below 0x80"));
        }
        Ok(Self { destination, source, tag, payload: rest })
    }

    /// Writes what [`Self::parse`] reads.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        InterfaceAddress::emit(Some(self.destination), out);
        InterfaceAddress::emit(Some(self.source), out);
        out.push(self.tag);
        out.extend_from_slice(self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 16] = [1, 0, 0x60, 0xdd, 10, 11, 12, 0, 0x60, 0xdd, 1, 2, 3, 5, 0xaa, 0xbb];

    #[test]
    fn a_packet_has_the_bytes_of_the_table() {
        let address = |low: u64| InterfaceAddress::new(0x0060_dd00_0000 | low).unwrap();
        let (destination, source) = (address(0x0a_0b0c), address(0x01_0203));
        let packet = InternetworkPacket { destination, source, tag: 5, payload: &[0xaa, 0xbb] };
        let mut out = Vec::new();
        packet.emit(&mut out);
        assert_eq!(out, BYTES);
        assert_eq!(InternetworkPacket::parse(&BYTES), Ok(packet));
        assert_eq!(InternetworkPacket::parse(&BYTES[..14]).map(|it| it.payload), Ok(&[][..]));
    }

    #[test]
    fn a_faulty_packet_names_the_field() {
        for len in 0..14 {
            assert!(InternetworkPacket::parse(&BYTES[..len]).unwrap_err().at() <= len);
        }
        for (places, value, fault) in [
            (0..1, 2, "byte 0: version is 2, not 1"),
            (1..7, 0, "byte 1: destination is 0, not an address (not 0)"),
            (7..13, 0, "byte 7: source is 0, not an address (not 0)"),
            (13..14, 0x80, "byte 13: type is 128, not below 0x80"),
        ] {
            let mut bytes = BYTES;
            bytes[places].fill(value);
            let error = InternetworkPacket::parse(&bytes).unwrap_err();
            assert_eq!(error.to_string(), fault);
        }
    }
}
