//! The switch extensions of §3.4: answers, packets to the switch itself, multicast table. S-8, S-9
//!
//! §3.4 names these functions without formats: all of them are *chosen*.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use codec::packet::{CrcCheck, Packet};
use codec::route::PortId;

use crate::link::receiver::PortReceiver;
use crate::link::tagged_char::PacketId;
use crate::switch::multicast::{MulticastItem, MulticastPacket};
use crate::truth::{PacketHandling, RuleId, TraceContext, TruthEventKind};

/// First byte of a packet to a switch itself: port address 0x7F. S-8 (§3.4)
pub(crate) const SELF: u8 = 0xff;
/// Port addresses that select an entry of the multicast table. S-9 (§3.4)
pub(crate) const VIRTUAL: RangeInclusive<u8> = 0x60..=0x7e;
/// Tag of a packet that loads an entry of a switch's multicast table. *Chosen*: the last one, since
/// it is least likely to be a packet type between hosts.
pub(crate) const TABLE: u8 = 0x7f;
/// Maximum length of a packet to a switch itself, first byte and CRC byte included. *Chosen*: 32
/// items with short headers; a switch has little memory.
pub(crate) const TAKEN_MAX: usize = 256;

/// An entry of a multicast table. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MulticastEntry {
    /// The virtual address that selects it, one of [`VIRTUAL`].
    pub(crate) address: u8,
    /// The outputs; an entry without any disables the address.
    pub(crate) items: Vec<MulticastItem>,
}

impl MulticastEntry {
    /// Reads the payload of a packet with the tag [`TABLE`]: the address, the number of items, and
    /// of each item its output, header length and header. Rejects an address that is not virtual, a
    /// repeated output, and missing or extra bytes.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
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

    /// Writes what [`MulticastEntry::parse`] reads; at most 255 items with at most 255 header
    /// bytes.
    #[cfg(test)]
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        let len = |len: usize| u8::try_from(len).unwrap_or(u8::MAX);
        out.extend([self.address, len(self.items.len())]);
        for item in self.items.iter().take(u8::MAX.into()) {
            out.extend([item.output.0, len(item.header.len())]);
            out.extend(item.header.iter().take(u8::MAX.into()));
        }
    }
}

/// State of a switch with the extensions. S-7, S-8, S-9
#[derive(Clone, Debug, Default)]
pub(crate) struct SwitchExtension {
    /// Outputs by virtual address, in ascending order.
    table: BTreeMap<u8, Vec<MulticastItem>>,
    /// The packets that the extensions handle, by input.
    jobs: BTreeMap<PortId, ExtensionJob>,
    /// The answers to the packets that ask, by input. S-8
    answers: BTreeMap<PortId, Vec<u8>>,
}

/// Handling of the packet at an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExtensionJob {
    /// It is addressed to the switch. S-8
    Taking(SelfAddressedPacket),
    /// It goes to several outputs. S-9
    Copying(MulticastPacket),
}

/// A packet addressed to the switch. S-8
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SelfAddressedPacket {
    bytes: Vec<u8>,
    head: Option<PacketId>,
}

/// State of a packet to the switch after a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IntakeOutcome {
    UnderWay,
    /// Too long: the rest is to be dropped.
    TooLong,
    /// Ended, and invalid.
    Refused,
    /// Ended, and loads this entry.
    Loads(MulticastEntry),
}

impl SwitchExtension {
    /// The outputs that a route byte selects, the lowest first. S-9
    pub(crate) fn items(&self, route: u8) -> &[MulticastItem] {
        let address = route.checked_sub(0x80).and_then(|address| self.table.get(&address));
        address.map_or(&[], Vec::as_slice)
    }

    pub(crate) fn load(&mut self, MulticastEntry { address, mut items }: MulticastEntry) {
        items.sort_by_key(|item| item.output);
        self.table.insert(address, items);
    }

    /// Loses the table with the power. S-7
    pub(crate) fn power_off(&mut self) {
        self.table.clear();
    }

    /// Keeps the answer to the packet at an input, which is connected next. S-8
    pub(crate) fn set_answer(&mut self, input: PortId, answer: Vec<u8>) {
        self.answers.insert(input, answer);
    }

    /// The answer to the packet at an input.
    pub(crate) fn answer(&self, input: PortId) -> &[u8] {
        self.answers.get(&input).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn begin(&mut self, input: PortId, job: ExtensionJob) {
        self.jobs.insert(input, job);
    }
    pub(crate) fn peek(&self, input: PortId) -> Option<&ExtensionJob> {
        self.jobs.get(&input)
    }

    pub(crate) fn job(&mut self, input: PortId) -> Option<&mut ExtensionJob> {
        self.jobs.get_mut(&input)
    }

    pub(crate) fn end(&mut self, input: PortId) -> Option<ExtensionJob> {
        self.jobs.remove(&input)
    }

    /// Number of packets whose first byte is held here.
    pub(crate) fn heads(&self) -> usize {
        self.jobs.values().filter_map(ExtensionJob::head).count()
    }
}

impl ExtensionJob {
    /// The packet whose first byte is held here.
    pub(crate) fn head(&self) -> Option<PacketId> {
        match self {
            Self::Taking(taking) => taking.head,
            Self::Copying(multicast) => multicast.head(),
        }
    }
}

impl SelfAddressedPacket {
    /// Takes one byte or the framing mark. Drops an invalid packet.
    pub(crate) fn step(
        &mut self,
        ports: u8,
        buffer: &mut PortReceiver,
        trace: &mut TraceContext<'_>,
    ) -> IntakeOutcome {
        let Some((cell, head)) = buffer.take() else { return IntakeOutcome::UnderWay };
        if !cell.is_data() {
            return self.end(ports, trace);
        }
        self.bytes.push(cell.low());
        if let Some(id) = self.head.and(head) {
            trace.emit(Some(id), || TruthEventKind::Merged);
        }
        self.head = self.head.or(head);
        if self.bytes.len() <= TAKEN_MAX {
            return IntakeOutcome::UnderWay;
        }
        trace.drop_packet(self.head, RuleId("S-9"));
        IntakeOutcome::TooLong
    }

    fn end(&self, ports: u8, trace: &mut TraceContext<'_>) -> IntakeOutcome {
        match self.entry(ports) {
            None => {
                trace.drop_packet(self.head, RuleId("S-9"));
                IntakeOutcome::Refused
            }
            Some(entry) => {
                // The switch has used the first byte. P-3
                let length = self.bytes.len().saturating_sub(1) as u64;
                let (check, handling) = (CrcCheck::Good, PacketHandling::Delivered);
                trace.emit(self.head, || TruthEventKind::Consumed { length, check, handling });
                IntakeOutcome::Loads(entry)
            }
        }
    }

    /// The entry that it loads, if the packet is valid and all outputs exist.
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
    fn an_invalid_entry_is_refused() {
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
