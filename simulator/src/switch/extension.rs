//! The switch extensions of §3.4: answers, packets to the switch itself, multicast table. S-8, S-9
//!
//! §3.4 names these functions without formats: all of them are *chosen*.

use std::collections::BTreeMap;

use codec::multicast::{MulticastEntry, MulticastItem, TABLE};
use codec::packet::{CrcCheck, Packet};
use codec::route::PortId;

use crate::link::receiver::PortReceiver;
use crate::link::tagged_char::PacketId;
use crate::switch::multicast::MulticastPacket;
use crate::truth::{PacketHandling, RuleId, TraceContext, TruthEventKind};

/// First byte of a packet to a switch itself: port address 0x7F. S-8 (§3.4)
pub(crate) const SELF: u8 = 0xff;
/// Maximum length of a packet to a switch itself, first byte and CRC byte included. *Chosen*: 32
/// items with short headers; a switch has little memory.
pub(crate) const TAKEN_MAX: usize = 256;

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
