//! Linking and release of the hops of a packet. P-3

use super::candidate::HopCandidate;
use super::clock_gaps::SwitchSide;
use super::hop_record::{BlockingPackets, ClosedPacket, HopId, HopLink, HopRecord, NextHop};
use super::network_map::{DELAY, NetworkMap, RequestedOutput};
use super::{DOUBTED_MAX, Journey, JourneyFate, JourneyTracker, MatchCertainty};
use crate::clock::TimedPassage;
use crate::event::Picoseconds;

impl JourneyTracker {
    /// Earliest start of a packet whose journey has not been reported.
    pub fn oldest(&self) -> Option<Picoseconds> {
        self.table.oldest()
    }

    /// Links the packet `from` to its next hop `to`.
    pub(super) fn join(
        &mut self,
        from: HopId,
        to: HopId,
        onward: NextHop,
        certainty: MatchCertainty,
    ) {
        self.release(to);
        let lane = self.table.get(from).and_then(|hop| self.net.lane(hop.lane));
        let alone = lane.is_some_and(|lane| lane.queue.len() < 2);
        let before = self.table.get_mut(from).map(|hop| std::mem::replace(&mut hop.onward, onward));
        if let Some(hop) = self.table.get_mut(to) {
            hop.before = Some(HopLink { hop: from, switches: 1, certainty, alone });
        }
        if let Some(NextHop::Claimed(other)) = before
            && other != to
            && let Some(hop) = self.table.get_mut(other)
        {
            hop.before = None;
            if hop.closed.is_none() {
                self.claim(other);
            }
        }
    }

    /// Removes the link of a packet to its hop before.
    pub(super) fn release(&mut self, id: HopId) {
        let before = self.table.get_mut(id).and_then(|hop| hop.before.take());
        if let Some(before) = before.and_then(|joint| self.table.get_mut(joint.hop)) {
            before.onward = NextHop::Nowhere;
        }
    }

    /// Ends a runt: what is behind it does not wait for it, and a packet that seems to be it is another one. P-9
    pub(super) fn drop_runt(&mut self, id: HopId, out: &mut Vec<Journey>) {
        let onward = self.table.get(id).map(|hop| hop.onward);
        if let Some(NextHop::Claimed(next)) = onward {
            self.release(next);
        }
        self.leave_queue(id);
        self.settle(id, JourneyFate::RUNT, out);
        if let Some(NextHop::Claimed(next)) = onward {
            self.claim(next);
        }
    }

    pub(super) fn leave_queue(&mut self, id: HopId) {
        let lane = self.table.get(id).map(|hop| hop.lane);
        if let Some(lane) = lane.and_then(|lane| self.net.lane_mut(lane))
            && let Some(place) = lane.queue.iter().position(|other| other.id == id)
        {
            lane.queue.remove(place);
        }
    }

    /// Removes a packet whose end is not known.
    pub(super) fn forget(&mut self, id: HopId) {
        self.release(id);
        self.leave_queue(id);
        let next = match self.table.get(id).map(|hop| hop.onward) {
            Some(NextHop::Claimed(next) | NextHop::Gone(next)) => self.table.get_mut(next),
            Some(NextHop::Nowhere) | None => None,
        };
        if let Some(next) = next {
            next.before = None;
        }
        self.table.remove(id);
    }

    /// Removes packets from the front of a queue that can no longer be at the input.
    pub(super) fn drain(&mut self, place: usize, out: &mut Vec<Journey>) {
        loop {
            let Some(lane) = self.net.lane(place) else { return };
            let Some(front) = lane.queue.front().map(|it| it.id) else { return };
            let Some(hop) = self.table.get(front) else { return };
            let Some(closed) = &hop.closed else { return };
            let now = lane.last.map_or(0, |(_, time)| time);
            let beyond = lane.sum.saturating_sub(closed.sum) > lane.room;
            let over = hop.passed.is_some_and(|until| until < now) || hop.is_emptied(now);
            if !hop.is_free() || !(over || beyond) || self.may_be_leaving(hop) {
                return;
            }
            self.leave_queue(front);
            self.overtaken(front, out);
        }
    }

    /// Settles a packet that was not captured at an output and can no longer appear there.
    pub(super) fn overtaken(&mut self, id: HopId, out: &mut Vec<Journey>) {
        let Some(hop) = self.table.get(id) else { return };
        let fate = self.verdict(hop, JourneyFate::Dropped(None));
        if fate != JourneyFate::OutOfSight {
            return self.settle(id, fate, out);
        }
        if let Some(hop) = self.table.get_mut(id) {
            hop.passed.get_or_insert(self.now);
        }
        self.wait(id, out);
    }

    pub(super) fn settle(&mut self, id: HopId, mut fate: JourneyFate, out: &mut Vec<Journey>) {
        if matches!(fate, JourneyFate::Dropped(_)) && self.shows_gap(id, SwitchSide::Input) {
            fate = JourneyFate::OutOfSight;
        }
        if let Some(hop) = self.table.get_mut(id) {
            hop.fate = Some(fate);
        }
        self.emit_if_complete(id, out);
    }

    /// Marks the bytes of several identical candidates as ambiguous, so that later matches of the
    /// same bytes are not certain.
    pub(super) fn doubt(&mut self, alike: &[HopId], left: HopId) {
        for id in alike.iter().chain([&left]).filter(|_| alike.len() > 1) {
            let Some(hop) = self.table.get(*id) else { continue };
            let bytes = |it: &ClosedPacket| if *id == left { it.all } else { it.rest };
            if let Some(bytes) = hop.closed.as_ref().map(bytes)
                && let Some(lane) = self.net.lane_mut(hop.lane)
                && !lane.doubted.contains(&bytes)
            {
                lane.doubted.push_back(bytes);
                if lane.doubted.len() > DOUBTED_MAX {
                    lane.doubted.pop_front();
                }
            }
        }
    }

    /// Records the passage time of a packet that certainly passed its switch. S-6
    pub(super) fn record_passage(&mut self, candidate: &HopCandidate, to: HopId) {
        let NetworkMap { lanes, nodes, .. } = &mut self.net;
        let hops = self.table.get(candidate.hop).zip(self.table.get(to));
        let Some((came, left)) = hops else { return };
        let sure = left.before.is_some_and(|joint| joint.certainty == MatchCertainty::Certain);
        let channels = lanes.get(came.lane).zip(lanes.get(left.lane)).filter(|_| sure);
        let Some((input, output)) = channels else { return };
        let Some(node) = input.to.and_then(|(node, _)| nodes.get_mut(node)) else { return };
        node.stripped += 1;
        let held = BlockingPackets { input: input.left, ..left.held };
        let held = held.is_behind_unseen(came.number)
            || held.in_the_way(came, left.time, [input, output]).is_some();
        let (channels, first_bytes) = ([came.lane, left.lane], [came.start, left.start]);
        let ready = input.ready(came.time).zip(output.since_sent);
        let took = ready.map(|(ready, late)| left.time.checked_sub(ready + late));
        // A switch that stores packets takes the longer, the longer they are: that is no sign of a clock. B-2
        let is_stored = took.flatten().is_some_and(|took| took > node.path(input))
            && came.closed.as_ref().is_some_and(|closed| closed.at < left.time);
        if let Some(took) = took.flatten() {
            node.fastest = Some(node.fastest.map_or(took, |fastest| fastest.min(took)));
        }
        if !held {
            node.passed(took.map(Option::unwrap_or_default));
        }
        let spread = node.spread(input);
        let held = held || is_stored;
        self.clocks.passage(&TimedPassage { channels, first_bytes, held, spread });
    }

    /// Starts the deadline of all packets in the buffers that the resets of an instant empty: those that have not
    /// begun to leave never will. R-2
    pub(crate) fn end_instant(&mut self) {
        let time = self.now;
        for place in std::mem::take(&mut self.resets) {
            let Some(lane) = self.net.lane_mut(place) else { continue };
            lane.reset = Some(time);
            let heard = time.saturating_add(lane.until_received.unwrap_or(DELAY));
            let queued: Vec<HopId> = lane.queue.iter().map(|it| it.id).collect();
            for id in queued {
                let Some(hop) = self.table.get(id) else { continue };
                let until = heard.saturating_add(self.net.lateness(hop));
                if let Some(hop) = self.table.get_mut(id) {
                    hop.emptied.get_or_insert(until);
                }
            }
        }
    }

    /// Starts the deadline of a packet that a later packet of its input has overtaken.
    pub(super) fn mark_overtaken(&mut self, id: HopId, since: Picoseconds) {
        let Some(hop) = self.table.get(id) else { return };
        let late = self.net.lateness(hop);
        if let Some(hop) = self.table.get_mut(id) {
            hop.passed.get_or_insert(since + late);
        }
    }

    /// Ends the wait of packets that a STOP shows to have left by uncaptured outputs: it is generated as the
    /// buffer fills up to its threshold, and later bytes alone fill it so far. F-3
    ///
    /// `begun` is the number of bytes of the packet on the channel so far.
    pub(super) fn stopped(&mut self, place: usize, time: Picoseconds, begun: u64) {
        let Some(lane) = self.net.lane(place) else { return };
        let Some(stop) = lane.stop else { return };
        let arrived = lane.sum.saturating_add(begun).saturating_sub(stop.lag);
        let has_left = |hop: &HopRecord| {
            let behind = hop.closed.as_ref().map(|closed| arrived.saturating_sub(closed.sum));
            hop.is_free()
                && behind.is_some_and(|behind| behind >= stop.cells)
                && self.requested(hop) == RequestedOutput::Unseen
        };
        let queued = lane.queue.iter().map(|it| it.id);
        let gone: Vec<HopId> =
            queued.filter(|id| self.table.get(*id).is_some_and(has_left)).collect();
        // One whose output is not known for sure may be on its way to a tap.
        gone.into_iter().for_each(|id| self.mark_overtaken(id, time));
    }
}
