//! Cut-through multicast: the tables of switches, from the packets that load them, and the copies of a
//! packet, each of which is a branch of its journey. S-9

use std::collections::BTreeMap;

use codec::crc::CrcResidue;
use codec::multicast::{MulticastEntry, TABLE, VIRTUAL};
use codec::packet::Packet;
use codec::route::PortId;

use super::candidate::HopCandidate;
use super::fit::{ByteFit, ENOUGH};
use super::hop_record::{ClosedPacket, HopId, HopLink, HopRecord, NextHop};
use super::network_map::{MappedNode, RequestedOutput};
use super::{Journey, JourneyFate, JourneyTracker, MatchCertainty};

/// Maximum of multicasts of an input whose copies are looked for. *Chosen*: all but the last are over.
const COPIED_MAX: usize = 4;
/// First byte of a packet to a switch itself. S-8 (§3.4)
const SELF: u8 = 0xff;

/// Headers by output of each virtual address of a switch.
pub(super) type MulticastTable = BTreeMap<u8, BTreeMap<PortId, Vec<u8>>>;

/// A packet that a switch copies, kept until its copies have left.
#[derive(Clone, Debug, Default)]
pub(super) struct CopiedPacket {
    /// Outputs on which copies have been seen.
    outputs: Vec<PortId>,
    /// Number of the first reported journey of a copy, and number of reported journeys.
    first: Option<u64>,
    reported: usize,
}

impl MappedNode {
    /// Reads a packet that loads an entry of the table. Returns true if it is one.
    fn load(&mut self, packet: &ClosedPacket) -> bool {
        let read = Packet::parse(packet.visible());
        let is_whole = packet.is_sound() && packet.visible().len() as u64 == packet.length;
        let is_load = (read.route, read.tag.map(|tag| tag.value())) == (&[SELF], Some(TABLE));
        let entry = MulticastEntry::parse(read.payload).filter(|_| is_whole && is_load);
        let Some(MulticastEntry { address, items }) = entry else { return false };
        let items = items.into_iter().map(|item| (item.output, item.header)).collect();
        self.table.insert(address, items);
        true
    }

    /// Headers by output of a packet that the switch copies, as far as its table is known.
    pub(super) fn copies(&self, first: u8) -> Option<&BTreeMap<PortId, Vec<u8>>> {
        self.table.get(&address(first)?).filter(|items| !items.is_empty())
    }

    /// Header of the copy of a packet that leaves at an output. If the entry was loaded before the recording, any
    /// may be.
    fn header<'a>(
        &'a self,
        came: (u8, &ClosedPacket),
        (port, left): (PortId, &'a ClosedPacket),
    ) -> Option<&'a [u8]> {
        let (first, came) = came;
        match self.table.get(&address(first)?) {
            Some(items) => items.get(&port).map(Vec::as_slice),
            // A short packet agrees with others by chance.
            None if came.length < ENOUGH.into() => None,
            None => {
                let length = (left.length + 1).checked_sub(came.length)?;
                left.visible().get(..usize::try_from(length).ok()?)
            }
        }
    }
}

impl JourneyTracker {
    /// Settles a packet that loads the table of the switch behind its channel, and keeps one that the switch
    /// copies. Returns true for a packet that loads.
    pub(super) fn loads_table(&mut self, id: HopId, out: &mut Vec<Journey>) -> bool {
        let Some(hop) = self.table.get(id) else { return false };
        let (place, first) = (hop.lane, hop.first);
        let Some((node, _)) = self.net.lane(place).and_then(|lane| lane.to) else { return false };
        let closed = hop.closed.as_ref().filter(|_| first == SELF);
        let mut node = self.net.nodes.get_mut(node);
        if let (Some(node), Some(closed)) = (&mut node, closed)
            && node.load(closed)
        {
            self.leave_queue(id);
            self.settle(id, JourneyFate::Arrived, out);
            return true;
        }
        // The switch may have an entry that was loaded before the recording.
        let items = node.and_then(|node| Some(node.table.get(&address(first)?)));
        let is_copied = items.is_some_and(|items| items.is_none_or(|items| !items.is_empty()));
        let seq = self.table.get(id).map_or(0, |hop| hop.seq);
        if let Some(lane) = self.net.lane_mut(place).filter(|_| is_copied) {
            lane.copied.push_back((seq, id));
            if lane.copied.len() > COPIED_MAX
                && let Some(over) = lane.copied.pop_front()
            {
                self.end_copied(over);
            }
        }
        false
    }

    fn copies_of(&self, hop: Option<&HopRecord>) -> Option<&BTreeMap<PortId, Vec<u8>>> {
        let hop = hop?;
        let to = self.net.lane(hop.lane)?.to;
        self.net.node_at(to)?.0.copies(hop.first)
    }

    /// The packet at an input of which an ended packet is a copy, and its certainty.
    pub(super) fn copied_from(&self, id: HopId) -> Option<(HopCandidate, MatchCertainty)> {
        let own = self.table.get(id)?;
        let left = own.closed.as_ref()?;
        let (node, port) = self.net.node_at(self.net.lane(own.lane)?.from)?;
        let lanes = node.inputs.iter().filter_map(|place| Some((*place, self.net.lane(*place)?)));
        let packets =
            lanes.flat_map(|(place, lane)| lane.copied.iter().map(move |it| (place, *it)));
        let mut fitting = packets.filter_map(|(place, (seq, from))| {
            let came = self.table.get(from).filter(|hop| hop.seq == seq && hop.time < own.time)?;
            let closed = came.closed.as_ref()?;
            let header = node.header((came.first, closed), (port, left))?;
            let is_new = came.copied.as_ref().is_none_or(|it| !it.outputs.contains(&port));
            let fits = is_new && is_copy(closed, left, header);
            fits.then_some((came.time, from, place))
        });
        let (mut best, mut certainty) = (fitting.next()?, MatchCertainty::Certain);
        for other in fitting {
            (best, certainty) = (best.min(other), MatchCertainty::ByOrder);
        }
        let (_, from, lane) = best;
        let place = self.net.lane(lane)?.queue.iter().position(|it| it.id == from);
        let candidate = HopCandidate::same(from, lane, place.unwrap_or(usize::MAX));
        Some((HopCandidate { fit: ByteFit::Turn, ..candidate }, certainty))
    }

    /// Begins a branch of the journey of a packet with one of its copies.
    pub(super) fn join_copy(
        &mut self,
        (candidate, certainty): (HopCandidate, MatchCertainty),
        id: HopId,
        out: &mut Vec<Journey>,
    ) {
        self.release(id);
        let (mut from, mut to, mut link) = (Some(candidate.hop), id, None::<HopLink>);
        let source = self.table.get(candidate.hop).map(|hop| (hop.seq, candidate.hop));
        while let Some(hop) = from.and_then(|from| self.table.get(from)).cloned() {
            let (before, onward) = (hop.before, NextHop::Gone(to));
            let copied_of = source.filter(|_| link.is_none());
            let own = self.table.add(HopRecord { onward, copied_of, copied: None, ..hop });
            if let Some(next) = self.table.get_mut(to) {
                let first = HopLink { hop: own, switches: 1, certainty, alone: true };
                next.before = Some(HopLink { hop: own, ..link.unwrap_or(first) });
            }
            (from, to, link) = (before.map(|before| before.hop), own, before);
        }
        let port = self.table.get(id).and_then(|hop| self.net.lane(hop.lane)?.from).map(|it| it.1);
        let Some(came) = self.table.get_mut(candidate.hop) else { return };
        let is_first = came.copied.is_none();
        let seen = came.copied.get_or_insert_default();
        seen.outputs.extend(port);
        came.onward = NextHop::Gone(id);
        if is_first && candidate.place != usize::MAX {
            self.left(&candidate, id, out);
        }
    }

    /// Number of the first reported journey of a packet that was copied, for another branch.
    pub(super) fn branch_of(&mut self, (seq, id): (u64, HopId)) -> Option<u64> {
        let captured = self.captured_copies(id);
        let hop = self.table.get_mut(id).filter(|hop| hop.seq == seq)?;
        let copied = hop.copied.as_mut()?;
        let first = copied.first;
        copied.first = first.or(Some(self.reported));
        copied.reported += 1;
        if copied.reported >= captured {
            self.over = Some((seq, id));
        }
        first
    }

    /// Number of the captured outputs at which copies of a packet leave; the maximum if it is not known.
    fn captured_copies(&self, id: HopId) -> usize {
        let hop = self.table.get(id);
        let Some((items, hop)) = self.copies_of(hop).zip(hop) else { return usize::MAX };
        let Some(lane) = self.net.lane(hop.lane) else { return 0 };
        let Some((node, _)) = self.net.node_at(lane.to) else { return 0 };
        items.keys().filter(|port| node.output(**port, lane).is_some()).count()
    }

    /// Forgets a packet that was copied, with its hops before, unless no copy of it was seen.
    pub(super) fn end_copied(&mut self, (seq, id): (u64, HopId)) {
        let Some(hop) = self.table.get(id).filter(|hop| hop.seq == seq) else { return };
        let mut next = hop.copied.as_ref().map(|_| id);
        if let Some(lane) = self.net.lane_mut(hop.lane) {
            lane.copied.retain(|it| it.0 != seq);
        }
        while let Some(id) = next {
            self.leave_queue(id);
            next = self.table.get(id).and_then(|hop| hop.before).map(|before| before.hop);
            self.table.remove(id);
        }
    }

    /// Output that a packet requests, of which a table may know more than its byte.
    pub(super) fn requested(&self, hop: &HopRecord) -> RequestedOutput {
        match (self.copies_of(Some(hop)), hop.awaits) {
            (Some(_), _) => RequestedOutput::Unseen,
            (None, Some(output)) => RequestedOutput::Seen(output),
            (None, None) => self.net.requested_output(hop.lane, hop.first),
        }
    }
}

/// The virtual address that a first byte selects. S-9
fn address(first: u8) -> Option<u8> {
    first.checked_sub(0x80).filter(|address| VIRTUAL.contains(address))
}

/// True if a packet that has left is another with the header in place of its first byte.
fn is_copy(came: &ClosedPacket, left: &ClosedPacket, header: &[u8]) -> bool {
    let Some(others) = came.length.checked_sub(2) else { return false };
    if left.is_cut_off() {
        let (Some(rest), own) = (came.visible().get(1..), left.visible()) else { return false };
        return header.iter().chain(rest).zip(own).all(|(one, other)| one == other);
    }
    let all = CrcResidue::NEW.feed(header).times_x_to(8 * (others % 127)).xor(came.rest);
    let length = others + header.len() as u64 + 1;
    (left.length, left.check) == (length, came.check) && left.all.xor(all).bits() == 0
}
