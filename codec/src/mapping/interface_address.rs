//! Addresses of interfaces, and their roles. N-3, N-5

use std::fmt;

use nom::number::complete::{be_u16, be_u32};
use nom::{IResult, Parser};

use crate::error::ParseTrace;

/// Unique address of an interface: 48 bits, not 0. N-3
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceAddress(u64);

/// Role of an interface in its network. *Chosen*: the value is a bit of the status in its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InterfaceRole {
    /// It belongs to a host.
    #[default]
    Host = 0,
    /// It passes packets on to another network, over a fibre. N-5
    Router = 0x80,
}

pub(super) const ADDRESSES: &str = "an address (not 0)";

impl InterfaceAddress {
    /// An address of 48 bits other than 0.
    pub const fn new(address: u64) -> Option<Self> {
        if address == 0 || address >> 48 != 0 { None } else { Some(Self(address)) }
    }

    /// The number.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Reads what `Display` writes: six bytes in hex, with colons between them.
    pub fn from_notation(text: &str) -> Option<Self> {
        let is_byte =
            |part: &&str| part.len() == 2 && part.bytes().all(|it| it.is_ascii_hexdigit());
        let bytes: Vec<&str> = text.splitn(7, ':').filter(is_byte).collect();
        let is_whole = bytes.len() == 6 && text.len() == 17;
        is_whole.then(|| u64::from_str_radix(&bytes.concat(), 16).ok().and_then(Self::new))?
    }

    pub(super) fn emit(this: Option<Self>, out: &mut Vec<u8>) {
        let [_, _, bytes @ ..] = this.map_or(0, |address| address.0).to_be_bytes();
        out.extend(bytes);
    }
}

impl fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [_, _, a, b, c, d, e, g] = self.0.to_be_bytes();
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

pub(super) fn address(input: &[u8]) -> IResult<&[u8], Option<InterfaceAddress>, ParseTrace<&[u8]>> {
    let (rest, (high, low)) = (be_u16, be_u32).parse(input)?;
    Ok((rest, InterfaceAddress::new(u64::from(high) << 32 | u64::from(low))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_48_bits() {
        assert_eq!(InterfaceAddress::new(0), None);
        assert_eq!(InterfaceAddress::new(1 << 48), None);
        let address = InterfaceAddress::new(0x0060_dd01_0203).map(|it| it.to_string());
        assert_eq!(address.as_deref(), Some("00:60:dd:01:02:03"));
    }
}
