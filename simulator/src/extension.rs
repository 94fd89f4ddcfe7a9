//! What a switch with the extensions of §3.4 knows and does: it says who it is, takes in what is
//! sent to itself, and has a multicast table. S-8, S-9
//!
//! §3.4 names these functions and gives no formats: all of them are *chosen*.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use codec::packet::{CrcCheck, Packet};
use codec::route::{PortId, RouteAddressing};

use crate::multicast::MulticastPacket;
use crate::receiver::PortReceiver;
use crate::tagged_char::PacketId;
use crate::topology::{NodeId, SwitchParameters};
use crate::truth::{PacketHandling, RuleId, TraceContext, TruthEventKind};

/// The first byte of a packet to a switch itself: port address 0x7F. S-8 (§3.4)
pub const SELF: u8 = 0xff;
/// The port addresses that select an entry of the multicast table. S-9 (§3.4)
pub const VIRTUAL: RangeInclusive<u8> = 0x60..=0x7e;
/// The tag of a packet to a switch itself that loads an entry of its multicast table. *Chosen*: the
/// last one, so that it is least likely to be a type of packets between hosts.
pub const TABLE: u8 = 0x7f;
/// Most bytes of a packet to a switch itself, that first byte and the CRC byte included. *Chosen*:
/// 32 items with short headers; a switch has little memory.
pub const TAKEN_MAX: usize = 256;
/// The format of an identity.
const VERSION: u8 = 1;

/// Who a switch is: what a packet that asks for it takes along, before its CRC byte. S-8
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchIdentity {
    /// How many ports it has.
    pub ports: u8,
    /// How it reads route bytes.
    pub addressing: RouteAddressing,
    /// The port at which the packet came in.
    pub input: PortId,
    /// Which switch it is.
    pub node: NodeId,
}

/// An entry of a multicast table, as a packet loads it. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastEntry {
    /// The virtual address that selects it, one of [`VIRTUAL`].
    pub address: u8,
    /// Where packets go; if nowhere, the address selects nothing any more.
    pub items: Vec<MulticastItem>,
}

/// One way out for a multicast packet. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastItem {
    /// The output port.
    pub output: PortId,
    /// What stands there in place of the byte that the switch used: up to 255 bytes.
    pub header: Vec<u8>,
}

impl SwitchIdentity {
    /// The identity of a switch, for a packet that came in at one of its ports.
    #[must_use]
    pub const fn new(node: NodeId, parameters: &SwitchParameters, input: PortId) -> Self {
        let SwitchParameters { ports, addressing, .. } = *parameters;
        Self { ports, addressing, input, node }
    }

    /// Reads the bytes of an identity; none if they are no such thing.
    #[must_use]
    pub const fn parse(bytes: [u8; 8]) -> Option<Self> {
        let [VERSION, ports, addressing, input, a, b, c, d] = bytes else { return None };
        let addressing = match addressing {
            0 => RouteAddressing::Absolute,
            1 => RouteAddressing::Relative,
            _ => return None,
        };
        let node = NodeId(u32::from_be_bytes([a, b, c, d]));
        Some(Self { ports, addressing, input: PortId(input), node })
    }

    /// Writes what [`SwitchIdentity::parse`] reads.
    #[must_use]
    pub const fn emit(&self) -> [u8; 8] {
        let addressing = match self.addressing {
            RouteAddressing::Absolute => 0,
            RouteAddressing::Relative => 1,
        };
        let [a, b, c, d] = self.node.0.to_be_bytes();
        [VERSION, self.ports, addressing, self.input.0, a, b, c, d]
    }
}

impl MulticastEntry {
    /// Reads the payload of a packet with the tag [`TABLE`]: the address, the number of items, and
    /// of each its output, the length of its header and the header. None if anything is wrong: the
    /// address is no virtual one, an output comes twice, something is missing or left over.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let [address, count, rest @ ..] = payload else { return None };
        let (mut items, mut rest) = (Vec::new(), rest);
        for _ in 0..*count {
            let [output, len, more @ ..] = rest else { return None };
            let (header, more) = more.split_at_checked(usize::from(*len))?;
            items.push(MulticastItem { output: PortId(*output), header: header.to_vec() });
            rest = more;
        }
        let outputs: BTreeSet<_> = items.iter().map(|item| item.output).collect();
        let fits = VIRTUAL.contains(address) && rest.is_empty() && outputs.len() == items.len();
        fits.then_some(Self { address: *address, items })
    }

    /// Writes what [`MulticastEntry::parse`] reads; of headers the first 255 bytes, of items the first 255.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let len = |len: usize| u8::try_from(len).unwrap_or(u8::MAX);
        out.extend([self.address, len(self.items.len())]);
        for item in self.items.iter().take(u8::MAX.into()) {
            out.extend([item.output.0, len(item.header.len())]);
            out.extend(item.header.iter().take(u8::MAX.into()));
        }
    }
}

/// What a switch with the extensions keeps. S-7, S-8, S-9
#[derive(Clone, Debug, Default)]
pub struct SwitchExtension {
    /// Items by virtual address, each entry's by output.
    table: BTreeMap<u8, Vec<MulticastItem>>,
    /// What is done with the packets of some inputs.
    jobs: BTreeMap<PortId, ExtensionJob>,
}

/// What is done with the packet of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtensionJob {
    /// It is for the switch itself. S-8
    Taking(SelfAddressedPacket),
    /// It goes to several outputs. S-9
    Copying(MulticastPacket),
}

/// A packet for the switch itself. S-8
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfAddressedPacket {
    bytes: Vec<u8>,
    head: Option<PacketId>,
}

/// What comes of a period in which a packet is taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntakeOutcome {
    /// It goes on.
    UnderWay,
    /// It was too long: what is left of it is to be dropped.
    TooLong,
    /// It has ended, and was no good.
    Refused,
    /// It has ended, and loads this entry.
    Loads(MulticastEntry),
}

impl SwitchExtension {
    /// The items that a route byte selects, the lowest output first. S-9
    #[must_use]
    pub fn items(&self, route: u8) -> &[MulticastItem] {
        let address = route.checked_sub(0x80).and_then(|address| self.table.get(&address));
        address.map_or(&[], Vec::as_slice)
    }

    /// Loads an entry in place of the one before.
    pub fn load(&mut self, MulticastEntry { address, mut items }: MulticastEntry) {
        items.sort_by_key(|item| item.output);
        self.table.insert(address, items);
    }

    /// The power goes: the table is lost. S-7
    pub fn power_off(&mut self) {
        self.table.clear();
    }

    /// Begins with the packet of an input.
    pub fn begin(&mut self, input: PortId, job: ExtensionJob) {
        self.jobs.insert(input, job);
    }

    /// What is done with the packet of an input.
    #[must_use]
    pub fn peek(&self, input: PortId) -> Option<&ExtensionJob> {
        self.jobs.get(&input)
    }

    /// The same, to go on with.
    pub fn job(&mut self, input: PortId) -> Option<&mut ExtensionJob> {
        self.jobs.get_mut(&input)
    }

    /// It is done, or given up.
    pub fn end(&mut self, input: PortId) -> Option<ExtensionJob> {
        self.jobs.remove(&input)
    }

    /// How many packets are held here, their first bytes included.
    #[must_use]
    pub fn heads(&self) -> usize {
        self.jobs.values().filter_map(ExtensionJob::head).count()
    }
}

impl ExtensionJob {
    /// The packet, if its first byte is held here.
    #[must_use]
    pub fn head(&self) -> Option<PacketId> {
        match self {
            Self::Taking(taking) => taking.head,
            Self::Copying(multicast) => multicast.head(),
        }
    }
}

impl SelfAddressedPacket {
    /// A period passes: a byte is taken in, or the framing mark. A wrong packet is dropped.
    pub fn step(
        &mut self,
        ports: u8,
        buffer: &mut PortReceiver,
        telling: &mut TraceContext<'_>,
    ) -> IntakeOutcome {
        let Some((cell, head)) = buffer.take() else { return IntakeOutcome::UnderWay };
        if !cell.is_data() {
            return self.end(ports, telling);
        }
        self.bytes.push(cell.low());
        if let Some(id) = self.head.and(head) {
            telling.emit(Some(id), || TruthEventKind::Merged);
        }
        self.head = self.head.or(head);
        if self.bytes.len() <= TAKEN_MAX {
            return IntakeOutcome::UnderWay;
        }
        telling.emit(self.head, || TruthEventKind::Dropped(RuleId("S-9")));
        IntakeOutcome::TooLong
    }

    fn end(&self, ports: u8, telling: &mut TraceContext<'_>) -> IntakeOutcome {
        match self.entry(ports) {
            None => {
                telling.emit(self.head, || TruthEventKind::Dropped(RuleId("S-9")));
                IntakeOutcome::Refused
            }
            Some(entry) => {
                // The switch has used the first byte. P-3
                let length = self.bytes.len().saturating_sub(1) as u64;
                let (check, handling) = (CrcCheck::Good, PacketHandling::Delivered);
                telling.emit(self.head, || TruthEventKind::Consumed { length, check, handling });
                IntakeOutcome::Loads(entry)
            }
        }
    }

    /// The entry that it loads, if it is good and all its outputs are there.
    fn entry(&self, ports: u8) -> Option<MulticastEntry> {
        let packet = Packet::parse(&self.bytes);
        let tag = packet.tag.map(|tag| tag.value());
        if (packet.route, tag, packet.check) != (&[SELF], Some(TABLE), CrcCheck::Good) {
            return None;
        }
        let entry = MulticastEntry::parse(packet.payload)?;
        entry.items.iter().all(|item| item.output.0 < ports).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    #[test]
    fn an_identity_has_eight_bytes() {
        let node = NodeId(0x0102_0304);
        let identity = SwitchIdentity {
            ports: 8,
            addressing: RouteAddressing::Relative,
            input: PortId(3),
            node,
        };
        let bytes = [1, 8, 1, 3, 1, 2, 3, 4];
        assert_eq!(identity.emit(), bytes);
        assert_eq!(SwitchIdentity::parse(bytes), Some(identity));
        assert_eq!(SwitchIdentity::parse([2, 8, 1, 3, 1, 2, 3, 4]), None);
        assert_eq!(SwitchIdentity::parse([1, 8, 2, 3, 1, 2, 3, 4]), None);
    }

    #[test]
    fn an_entry_that_is_not_right_is_refused() {
        let item = |output, header: &[u8]| MulticastItem {
            output: PortId(output),
            header: header.to_vec(),
        };
        let entry =
            MulticastEntry { address: 0x60, items: vec![item(1, &[0x83, 0x81]), item(0, &[])] };
        let good = [0x60, 2, 1, 2, 0x83, 0x81, 0, 0];
        assert_eq!(MulticastEntry::parse(&good), Some(entry));
        assert_eq!(
            MulticastEntry::parse(&[0x7e, 0]),
            Some(MulticastEntry { address: 0x7e, items: vec![] })
        );
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
