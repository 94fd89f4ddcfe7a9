//! Multicast by the control programs of interfaces: each receives a packet whole, delivers it, and sends
//! it on to the next interfaces of a tree. N-6

use std::collections::BTreeMap;

use super::HostInterface;
use super::send_engine::{OutgoingPacket, PacketOwner, SendEngine, with_crc};
use crate::topology::NodeId;
use crate::truth::RelayNotice;

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
pub(super) struct RelayedPacket {
    /// Copies that have not left.
    copies: usize,
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
            let (bytes, behalf) = (with_crc(&[route, content]), PacketOwner::Relay(slot));
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
    pub(super) fn left(&mut self, slot: u32) -> Option<RelayedPacket> {
        let packet = self.packets.get_mut(&slot)?;
        packet.copies -= 1;
        if packet.copies > 0 { None } else { self.packets.remove(&slot) }
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

#[cfg(test)]
mod tests {
    use codec::route::PortId;

    use super::*;
    use crate::topology::NodePort;

    /// A multicast of a root, with 11 bytes from its tag to its CRC byte.
    const fn packet(root: u8) -> [u8; 11] {
        [0x12, 0, 0, 0, root, 0, 0, 0, 7, 0xaa, 0xcc]
    }

    fn relay(policy: RelayPolicy) -> MulticastRelay {
        let children = [(NodeId(0), vec![NodeId(2)]), (NodeId(3), vec![])];
        MulticastRelay::new(NodeId(1), children.into(), policy)
    }

    /// N-6. It waits for memory that others use, unless all of it would not be enough.
    #[test]
    fn a_multicast_waits_for_memory_if_it_can_ever_have_it() {
        let rooms = [(11, 20), (10, 20), (0, 11), (0, 10)];
        let has_room = |policy, root| rooms.map(|room| relay(policy).has_room(&packet(root), room));
        assert_eq!(has_room(RelayPolicy::Wait, 0), [true, false, false, true]);
        assert_eq!(has_room(RelayPolicy::Drop, 0), [true; 4], "it is not sent on");
        assert_eq!(has_room(RelayPolicy::Wait, 3), [true; 4], "it goes to nobody");
    }

    /// N-6, I-5
    #[test]
    fn a_multicast_keeps_memory_until_its_last_copy_has_left() {
        let mut relay = relay(RelayPolicy::Wait);
        relay.children.insert(NodeId(0), vec![NodeId(2), NodeId(4), NodeId(5)]);
        let port = NodePort { node: NodeId(1), port: PortId(0) };
        let sending = &mut SendEngine::new(port, Vec::new());
        let mut send = |relay: &mut MulticastRelay, routes: &[u32]| {
            let behalf = PacketOwner::Router;
            let packet = OutgoingPacket { bytes: packet(0).to_vec(), behalf, ready: 0 };
            let routes = routes.iter().map(|to| (NodeId(*to), vec![0x81])).collect();
            let has_copies = relay.send(&packet, &routes, 20, sending);
            let counts: Vec<_> = relay.drain().map(|notice| (notice.copies, notice.lost)).collect();
            (has_copies, counts)
        };
        assert_eq!(send(&mut relay, &[]), (false, vec![(0, 3)]), "it has no route");
        assert!(relay.packets.is_empty());
        assert_eq!(send(&mut relay, &[2, 4]), (true, vec![(2, 1)]));
        let left = [(); 3].map(|()| relay.left(0).map(|packet| packet.bytes));
        assert_eq!(left, [None, Some(11), None]);
    }
}
