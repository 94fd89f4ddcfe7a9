//! Tables of cut-through multicast in switches. S-9 (§3.4)
//!
//! §3.4 gives no format: it is *chosen*, as that of the packets that load a table.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use nom::combinator::all_consuming;
use nom::multi::{length_count, length_data};
use nom::number::complete::u8 as byte;
use nom::{IResult, Parser};

use crate::error::ParseTrace;
use crate::route::PortId;

/// Port addresses that select an entry of the multicast table. S-9 (§3.4)
pub const VIRTUAL: RangeInclusive<u8> = 0x60..=0x7e;
/// Tag of a packet that loads an entry. *Chosen*: the last, least likely to be one between hosts.
pub const TABLE: u8 = 0x7f;
/// Tag of a multicast that hosts send on. Its payload begins with 8 bytes, big-endian: the host that sent
/// it first and the number of its command. *Chosen* N-6
pub const RELAYED: u8 = 0x12;
/// One output of a multicast. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastItem {
    /// The output port.
    pub output: PortId,
    /// Replaces the byte that the switch used: up to 255 bytes.
    pub header: Vec<u8>,
}

/// An entry of a multicast table. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastEntry {
    /// The virtual address that selects it, one of [`VIRTUAL`].
    pub address: u8,
    /// The outputs; an entry without any disables the address.
    pub items: Vec<MulticastItem>,
}

impl MulticastEntry {
    /// Reads the payload of a packet with the tag [`TABLE`]: address, number of items, and of each its
    /// output, header length and header. Rejects other addresses, repeated outputs, and other lengths.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut entry = all_consuming((byte, length_count(byte, item)));
        let (_, (address, items)) = entry.parse(payload).ok()?;
        let outputs: BTreeSet<_> = items.iter().map(|item| item.output).collect();
        let fits = VIRTUAL.contains(&address) && outputs.len() == items.len();
        fits.then_some(Self { address, items })
    }

    /// Writes what [`Self::parse`] reads; at most 255 items with at most 255 header bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let len = |len: usize| u8::try_from(len).unwrap_or(u8::MAX);
        out.extend([self.address, len(self.items.len())]);
        for item in self.items.iter().take(u8::MAX.into()) {
            out.extend([item.output.0, len(item.header.len())]);
            out.extend(item.header.iter().take(u8::MAX.into()));
        }
    }
}

fn item(input: &[u8]) -> IResult<&[u8], MulticastItem, ParseTrace<&[u8]>> {
    let (rest, (output, header)) = (byte, length_data(byte)).parse(input)?;
    Ok((rest, MulticastItem { output: PortId(output), header: header.to_vec() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    #[test]
    fn an_invalid_entry_is_refused() {
        let item = |output, header: &[u8]| MulticastItem {
            output: PortId(output),
            header: header.to_vec(),
        };
        let entry =
            MulticastEntry { address: 0x60, items: vec![item(1, &[0x83, 0x81]), item(0, &[])] };
        let good = [0x60, 2, 1, 2, 0x83, 0x81, 0, 0];
        assert_eq!(MulticastEntry::parse(&good), Some(entry));
        let empty = MulticastEntry { address: 0x7e, items: vec![] };
        assert_eq!(MulticastEntry::parse(&[0x7e, 0]), Some(empty));
        // No virtual address.
        assert_eq!(MulticastEntry::parse(&[0x5f, 0]), None);
        assert_eq!(MulticastEntry::parse(&[0x7f, 0]), None);
        // Cut short anywhere.
        (0..good.len()).for_each(|len| assert_eq!(MulticastEntry::parse(&good[..len]), None));
        // A byte too many.
        assert_eq!(MulticastEntry::parse(&[0x60, 0, 0]), None);
        // An output twice.
        assert_eq!(MulticastEntry::parse(&[0x60, 2, 1, 0, 1, 0]), None);
    }

    proptest! {
        #[test]
        fn parsing_undoes_emitting(
            address in VIRTUAL,
            items in btree_map(any::<u8>(), vec(any::<u8>(), 0..256), 0..256),
        ) {
            let items = items.into_iter();
            let items = items.map(|(output, header)| MulticastItem { output: PortId(output), header });
            let entry = MulticastEntry { address, items: items.take(255).collect() };
            let mut bytes = Vec::new();
            entry.emit(&mut bytes);
            prop_assert_eq!(MulticastEntry::parse(&bytes), Some(entry));
        }

        #[test]
        fn any_bytes_can_be_parsed(bytes in vec(any::<u8>(), 0..40)) {
            let entry = MulticastEntry::parse(&bytes);
            if let Some(entry) = entry {
                let mut again = Vec::new();
                entry.emit(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
