//! The packet at the head of a switch's input. S-3

use std::collections::BTreeSet;

use codec::capture::ChannelId;
use codec::route::PortId;

use super::JourneyTracker;
use super::hop_record::{ClosedPacket, HopId, HopRecord, NextHop};
use super::network_map::{MappedChannel, StopThreshold};
use crate::event::Picoseconds;

/// The packet at the head of a switch's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadPacket {
    /// Number of the packet on the input's channel.
    pub packet: u64,
    /// Time of its first byte at the tap of the input's channel.
    pub since: Picoseconds,
    /// The captured output channel that it requests, if known.
    pub wants: Option<ChannelId>,
    /// Progress on that channel.
    pub passing: HeadProgress,
    /// True if a packet of another input has held that channel since this packet arrived. S-3
    pub contended: bool,
    /// Delays of the switch, if known.
    pub delays: Option<SwitchDelays>,
    /// Its first byte. S-1
    pub first: u8,
}

/// Delays of a packet at a switch with nothing in its way. S-6, F-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchDelays {
    /// Longest path formation.
    pub path: Picoseconds,
    /// Maximum of characters from then until the sender, if it was stopped, is released.
    pub drain: u64,
}

/// Progress of a packet at the head of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadProgress {
    /// No byte of it has been captured on the output.
    Waiting,
    /// Its first byte has been captured on the output. While several packets wait for that output,
    /// the packet is assumed to be the next in the order of the output's token (S-5), until its
    /// bytes decide.
    Begun,
}

impl JourneyTracker {
    /// Packet at the head of the switch input behind a channel.
    pub fn head(&self, input: ChannelId) -> Option<HeadPacket> {
        let lane = self.net.lane(self.net.place(input)?)?;
        let hop_record = self.table.get(self.head_hop(lane)?)?;
        let (wants, passing, held) = match self.begun(hop_record) {
            Some(next) => {
                let output = self.net.lane(next.lane);
                (output, HeadProgress::Begun, next.held.output)
            }
            None => {
                let output = self.awaited(hop_record).and_then(|wants| self.net.lane(wants));
                let now = output.and_then(|output| output.open.map(|_| (0, Picoseconds::MAX)));
                (output, HeadProgress::Waiting, now.or(output.and_then(|output| output.last)))
            }
        };
        let wants = wants.filter(|wants| self.is_seen(hop_record, wants.id));
        let contended = wants.zip(held).is_some_and(|(output, held)| {
            let freed = held.1.saturating_sub(output.since_sent.unwrap_or(0));
            // The packet ahead at the same input is not contention.
            lane.left.is_none_or(|(_, left)| left != freed)
                && freed > hop_record.time + lane.until_received.unwrap_or(0)
        });
        let HopRecord { number: packet, time: since, first, .. } = *hop_record;
        let wants = wants.map(|output| output.id);
        let delays = lane.path.zip(lane.stop);
        // Those above the threshold of STOP go, then those that come on the way of GO.
        let drain = |stop: StopThreshold| stop.cells + 2 * stop.lag;
        let delays = delays.map(|(path, stop)| SwitchDelays { path, drain: drain(stop) });
        Some(HeadPacket { packet, since, wants, passing, contended, delays, first })
    }

    /// Records for which output the packet at the head of an input waits at the end of the recording.
    pub(super) fn note_awaited(&mut self, input: usize) {
        let head = self.net.lane(input).and_then(|lane| self.head_hop(lane));
        let waits = |id: &HopId| {
            let hop = self.table.get(*id).filter(|hop| self.begun(hop).is_none())?;
            let output = self.awaited(hop)?;
            self.is_seen(hop, self.net.lane(output)?.id).then_some(output)
        };
        let awaits = head.as_ref().and_then(waits);
        if let Some(hop) = head.and_then(|id| self.table.get_mut(id)) {
            hop.awaits = awaits;
        }
    }

    /// False for a packet that may have left by an output, or have another one before it, while something was not recorded.
    fn is_seen(&self, hop_record: &HopRecord, output: ChannelId) -> bool {
        let hides = |lane: &MappedChannel| lane.is_hidden(hop_record.number);
        self.net.place(output).is_some_and(|it| !self.net.is_blind(it, hop_record.time))
            && !self.net.lane(hop_record.lane).is_some_and(hides)
    }

    fn head_hop(&self, lane: &MappedChannel) -> Option<HopId> {
        let (node, port) = self.net.node_at(lane.to).filter(|(node, _)| node.is_switch())?;
        // A packet whose first byte selects no port is dropped as it comes, and waits for nothing. S-2
        let is_forwarded = |first| node.waits_for(first, port).iter().any(Option::is_some);
        let waits = |hop: &HopRecord| hop.passed.is_none() && is_forwarded(hop.first);
        lane.queue.iter().map(|it| it.id).find(|id| self.table.get(*id).is_some_and(waits))
    }

    /// The packet on an output as which one at the head of an input has begun to leave.
    fn begun(&self, hop_record: &HopRecord) -> Option<&HopRecord> {
        match hop_record.onward {
            // A sound packet that has ended is not one that still arrives.
            NextHop::Claimed(next) => self.table.get(next).filter(|next| {
                hop_record.closed.is_some()
                    || !next.closed.as_ref().is_some_and(ClosedPacket::is_sound)
            }),
            NextHop::Gone(next) => self.table.get(next),
            NextHop::Nowhere => None,
        }
    }

    /// Output for which a packet at the head of an input waits.
    fn awaited(&self, hop_record: &HopRecord) -> Option<usize> {
        let lane = self.net.lane(hop_record.lane)?;
        let (node, port) = self.net.node_at(lane.to)?;
        let output = |port| node.output(port, lane);
        let is_held = |other: &PortId| {
            let lane = output(*other).and_then(|output| self.net.lane(output));
            *other != port && lane.is_some_and(|lane| lane.open.is_some())
        };
        let wants = match node.waits_for(hop_record.first, port) {
            // Where both addressings are possible it waits for the output that is held: the other one
            // is free, or was not captured. That it goes back to its own port must be known. S-3
            [Some(one), Some(other)] if one != other => {
                let mut held = [one, other].into_iter().filter(is_held);
                held.next().filter(|_| held.next().is_none())
            }
            [one, other] => one.or(other),
        };
        wants.and_then(output)
    }

    /// True if a packet with this first byte, one of which began to leave an input by an output, can request no other one;
    /// or if both directions of all recorded links of the switch were recorded, so that another did not begin there.
    pub fn leads_to(&self, input: ChannelId, first: u8, output: ChannelId) -> bool {
        let lane = self.net.place(input).and_then(|place| self.net.lane(place));
        let place = lane.and_then(|lane| Some((lane, self.net.node_at(lane.to)?)));
        let Some((lane, (node, port))) = place else { return false };
        let id = |place| self.net.lane(place).map(|lane| lane.id);
        let wanted = node.selects(first, port).into_iter().flatten();
        let mut wanted = wanted.map(|port| node.output(port, lane).and_then(id) == Some(output));
        let ports = |places: &mut dyn Iterator<Item = &usize>, end: fn(&MappedChannel) -> _| {
            let lanes = places.filter_map(|place| self.net.lane(*place));
            let lanes = lanes.filter(|lane| lane.blind_until.is_some());
            lanes.filter_map(end).map(|(_, port)| port).collect::<BTreeSet<PortId>>()
        };
        let is_whole = || {
            ports(&mut node.inputs.iter(), |lane| lane.to)
                == ports(&mut node.outputs.values().flatten(), |lane| lane.from)
        };
        wanted.clone().any(|is_one| is_one) && (wanted.all(|is_one| is_one) || is_whole())
    }
}
