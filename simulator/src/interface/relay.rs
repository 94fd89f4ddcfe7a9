//! Multicast by the control programs of interfaces: each receives a packet whole, delivers it, and sends
//! it on to the next interfaces of a tree. N-6

use std::collections::BTreeMap;

use codec::crc::crc8;

use super::HostInterface;
use super::send_engine::{OutgoingPacket, PacketOwner, SendEngine};
use crate::topology::NodeId;

/// Reaction of a control program to a multicast that it has no send memory for. *Chosen*
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RelayPolicy {
    /// It waits, and so do the packets behind it. In a circle of interfaces all may wait for ever. What is
    /// longer than all of the memory is lost as with `Drop`.
    #[default]
    Wait,
    /// It delivers the packet and sends it on to nobody.
    Drop,
}

/// A multicast that an interface has sent, or received and sent on. N-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayNotice {
    /// The host that sent it first.
    pub root: NodeId,
    /// Number of that host's command.
    pub number: u32,
    /// Number of copies that are sent.
    pub copies: usize,
    /// Number of copies that are not: no memory, or no route.
    pub lost: usize,
}

/// The multicasts of an interface.
#[derive(Clone, Debug, Default)]
pub(super) struct MulticastRelay {
    host: Option<NodeId>,
    /// Next interfaces of the tree of each root; none for groups that the host is not in.
    children: BTreeMap<NodeId, Vec<NodeId>>,
    policy: RelayPolicy,
    /// Packets whose copies are not all sent.
    packets: BTreeMap<u32, RelayedPacket>,
    next: u32,
    notices: Vec<RelayNotice>,
}

/// A packet in send memory.
#[derive(Clone, Copy, Debug)]
struct RelayedPacket {
    copies: usize,
    bytes: usize,
    command: Option<PacketOwner>,
}

/// A multicast whose last copy has left.
pub(super) struct FinishedRelay {
    pub bytes: usize,
    /// The command, at its root.
    pub command: Option<PacketOwner>,
}

/// Root and number of a multicast, from its tag on.
fn identity(packet: &[u8]) -> Option<(NodeId, u32)> {
    let [_, a, b, c, d, e, f, g, h, ..] = *packet else { return None };
    Some((NodeId(u32::from_be_bytes([a, b, c, d])), u32::from_be_bytes([e, f, g, h])))
}

impl MulticastRelay {
    pub(super) fn new(
        host: NodeId,
        children: BTreeMap<NodeId, Vec<NodeId>>,
        policy: RelayPolicy,
    ) -> Self {
        Self { host: Some(host), children, policy, ..Self::default() }
    }

    /// True for a multicast of the host, whose commands are for the host itself.
    pub(super) fn is_root(&self, to: NodeId) -> bool {
        self.host == Some(to)
    }

    /// The interfaces to which a packet is sent on; `None` if it is no multicast to the host.
    fn next_of(&self, packet: &[u8]) -> Option<&[NodeId]> {
        let (root, _) = identity(packet)?;
        self.children.get(&root).map(Vec::as_slice)
    }

    /// True if a received packet can be handed on with this much send memory free and in all.
    pub(super) fn has_room(&self, packet: &[u8], (free, memory): (usize, usize)) -> bool {
        self.policy == RelayPolicy::Drop
            || self.next_of(packet).is_none_or(<[_]>::is_empty)
            || packet.len() <= free
            || packet.len() > memory
    }

    /// Sends copies of a packet, from its tag to its CRC byte, if it fits `free` bytes of send memory;
    /// returns false if there are none.
    pub(super) fn send(
        &mut self,
        packet: &OutgoingPacket,
        routes: &BTreeMap<NodeId, Vec<u8>>,
        free: usize,
        sending: &mut SendEngine,
    ) -> bool {
        let Some((root, number)) = identity(&packet.bytes) else { return false };
        let contents = packet.bytes.split_last().zip(self.next_of(&packet.bytes));
        let Some(((_, content), next)) = contents else {
            return false;
        };
        let to = next.iter().filter_map(|to| routes.get(to));
        let to: Vec<_> = if packet.bytes.len() <= free { to.collect() } else { Vec::new() };
        let (slot, copies, lost) = (self.next, to.len(), next.len() - to.len());
        for route in to {
            let mut bytes = [route, content].concat();
            bytes.push(crc8(&bytes));
            let behalf = PacketOwner::Relay(slot);
            sending.push(OutgoingPacket { bytes, behalf, ready: packet.ready });
        }
        self.notices.push(RelayNotice { root, number, copies, lost });
        if copies > 0 {
            let command = matches!(packet.behalf, PacketOwner::Host { .. });
            let command = command.then_some(packet.behalf);
            let bytes = packet.bytes.len();
            self.packets.insert(slot, RelayedPacket { copies, bytes, command });
            self.next = slot.wrapping_add(1);
        }
        copies > 0
    }

    /// Counts a copy that has left; returns the packet after its last.
    pub(super) fn left(&mut self, slot: u32) -> Option<FinishedRelay> {
        let packet = self.packets.get_mut(&slot)?;
        packet.copies -= 1;
        if packet.copies > 0 {
            return None;
        }
        let RelayedPacket { bytes, command, .. } = self.packets.remove(&slot)?;
        Some(FinishedRelay { bytes, command })
    }

    /// Forgets all packets. R-3
    pub(super) fn reset(&mut self) {
        self.packets.clear();
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = RelayNotice> {
        self.notices.drain(..)
    }
}

impl HostInterface {
    /// Adds the next interfaces of multicasts, by their roots. N-6
    pub(crate) fn with_multicasts(mut self, children: BTreeMap<NodeId, Vec<NodeId>>) -> Self {
        self.control.relay = MulticastRelay::new(self.place.node, children, self.parameters.relay);
        self
    }
}
