//! Matching of packets across uncaptured links. P-3

use crate::event::Picoseconds;
use codec::packet::CrcCheck;
use codec::time::FULL_RATE_PERIOD_PS;

use super::candidate::HopCandidate;
use super::clock_gaps::SwitchSide;
use super::corruption::{self, ByteLikeness};
use super::fit::ByteFit;
use super::hop_record::{HopId, HopRecord, NextHop, SearchScope};
use super::network_map::RequestedOutput;
use super::recent_sets::ANY_NODE;
use super::visible_bytes::{VisibleBytes, compare_behind};
use super::{IMPLIED_MAX, Journey, JourneyFate, JourneyTracker, MatchCertainty, WAITING_MAX};
use crate::packet::FrameEnd;

/// Maximum of examined candidates for a packet corrupted on uncaptured links, the newest first.
/// *Chosen*: more than are in transit at a time in a network of a hundred hosts.
const HURT_LOOKED_AT: usize = 256;
/// Maximum time on uncaptured links of a packet identified by length, tag and route. *Chosen*: some
/// 0.8 ms, in which a link carries as much as all buffers on a path hold.
const NEAR: Picoseconds = (1 << 16) * FULL_RATE_PERIOD_PS as Picoseconds;

impl JourneyTracker {
    /// Adds a packet to those on uncaptured links; the oldest beyond the limit is settled.
    pub(super) fn wait(&mut self, id: HopId, out: &mut Vec<Journey>) {
        if let Some(hop) = self.table.get_mut(id)
            && std::mem::replace(&mut hop.sight, SearchScope::Lost) == SearchScope::Followed
        {
            self.waiting.push_back((hop.seq, id));
        }
        while self.waiting.len() > WAITING_MAX {
            let Some((seq, id)) = self.waiting.pop_front() else { return };
            let Some(hop) = self.table.get_mut(id).filter(|hop| hop.seq == seq) else { continue };
            if hop.is_free() {
                self.leave_queue(id);
                self.settle(id, JourneyFate::OutOfSight, out);
            } else {
                // If its next hop proves to be another packet, it is added again.
                hop.sight = SearchScope::Followed;
            }
        }
    }

    /// Matches a packet with those sent into uncaptured links.
    pub(super) fn find_unseen(&mut self, id: HopId) {
        let Some(own) = self.table.get(id) else { return };
        let Some(closed) = &own.closed else { return };
        if self.is_first(own) {
            return;
        }
        let (mut found, mut alike) = (None::<(HopId, u64)>, 0_usize);
        let mut contradicts = None;
        // A fibre holds packets for so long that others may displace them from the index, and keeps their order. N-5
        let is_from_fibre = self.net.is_from_fibre(own.lane);
        let looked_at = if is_from_fibre { HURT_LOOKED_AT } else { 0 };
        let waiting = self.waiting.iter().skip(self.waiting.len().saturating_sub(looked_at));
        for (seq, hop) in self.recent.find(closed.body, ANY_NODE).chain(waiting.copied()) {
            if found.is_some_and(|(known, _)| known == hop) {
                continue;
            }
            let Some(other) = self.table.get(hop).filter(|it| it.seq == seq && !it.is_gone())
            else {
                continue;
            };
            let Some(came) = &other.closed else { continue };
            let switches = came.length.saturating_sub(closed.length);
            let fits = (switches > 0 || self.net.is_fibre_between(other.lane, own.lane))
                && other.time < own.time
                && (came.check, came.body) == (closed.check, closed.body);
            if !fits || hop == id || came.peeled(switches) != Some(closed.all) {
                continue;
            }
            if self.forbids(other, own, switches) {
                contradicts = contradicts.or((switches == 1).then_some(hop));
                continue;
            }
            alike += 1;
            let known = found.and_then(|(known, _)| self.table.get(known));
            // What another departure has claimed comes behind what none has.
            let rank = |it: &HopRecord| (!it.is_free(), it.time * u128::from(is_from_fibre));
            if known.is_none_or(|known| rank(other) < rank(known)) {
                found = Some((hop, switches));
            }
        }
        let hurt = match found.map(|(hop, _)| hop).or(contradicts) {
            None => self.hurt_unseen(id).or_else(|| Some((self.cut_behind_fibre(id)?, 0))),
            Some(_) => None,
        };
        if let Some(way) = found {
            let is_certain = alike == 1 && !own.is_common();
            let certainty =
                if is_certain { MatchCertainty::Certain } else { MatchCertainty::ByOrder };
            self.reappear(way, id, certainty);
        } else if let Some(way) = hurt {
            self.reappear(way, id, MatchCertainty::ByOrder);
        } else {
            self.shows_gap(id, SwitchSide::Output);
        }
        let implied = match found {
            Some((hop, 1)) => Some(hop),
            Some(_) | None => contradicts,
        };
        let from = implied.and_then(|from| self.table.get(from));
        if let Some((from, to)) = from.zip(self.table.get(id)) {
            self.imply(from.lane, to.lane, from.first);
        }
    }

    /// Links a packet to its sighting before the uncaptured links, `switches` switches earlier.
    fn reappear(&mut self, (hop, switches): (HopId, u64), id: HopId, certainty: MatchCertainty) {
        self.join(hop, id, NextHop::Gone(id), certainty);
        if let Some(joint) = self.table.get_mut(id).and_then(|hop| hop.before.as_mut()) {
            joint.switches = switches;
        }
        // When a packet left a switch for an uncaptured link is not known; a fibre keeps the order.
        if let (Some(came), Some(own)) = (self.table.get(hop), self.table.get(id))
            && self.net.is_fibre_between(came.lane, own.lane)
            && let Some(input) = self.net.lane_mut(came.lane)
        {
            input.left = Some((came.number, came.time)).max(input.left);
        }
        self.leave_queue(hop);
    }

    /// The packet that silence or the end of the recording cut as it came out of a fibre: the first of those
    /// that went in behind the last one that came out, and have its visible bytes. A fibre keeps packets in
    /// order. N-5
    fn cut_behind_fibre(&self, id: HopId) -> Option<HopId> {
        let own = self.table.get(id)?;
        let left = own.closed.as_ref().filter(|left| left.ended_by != FrameEnd::Gap)?;
        let may_be = |id: &HopId| {
            let Some(other) = self.table.get(*id).filter(|other| other.is_free()) else {
                return false;
            };
            let lane = self.net.lane(other.lane);
            let is_next =
                lane.is_some_and(|it| it.left.is_none_or(|(last, _)| other.number > last));
            let agrees = other.closed.as_ref().map_or(other.first == own.first, |came| {
                matches!(compare_behind(0, came, left), VisibleBytes::Agree(_))
            });
            is_next && agrees && other.time < own.time
        };
        let inputs = self.net.inputs_of_fibre(own.lane);
        let queued = inputs.flat_map(|input| input.queue.iter().map(|it| it.id));
        let waiting = self.waiting.iter().rev().take(HURT_LOOKED_AT).filter(|(seq, id)| {
            let waits = self.table.get(*id).filter(|other| other.seq == *seq);
            waits.is_some_and(|other| self.net.is_fibre_between(other.lane, own.lane))
        });
        let found = queued.chain(waiting.map(|(_, id)| *id)).filter(may_be);
        found.min_by_key(|id| self.table.get(*id).map(|other| other.number))
    }

    /// Best match at the switch's inputs, as by [`JourneyTracker::best`]; `None` if it is by turn
    /// alone and a packet from uncaptured links matches better.
    pub(super) fn best_seen(
        &self,
        id: HopId,
        alike: &mut Vec<HopId>,
    ) -> Option<(HopCandidate, MatchCertainty)> {
        let best = self.best(id, alike)?;
        let by_turn = matches!(best.0.fit, ByteFit::Spoilt | ByteFit::Turn);
        (!by_turn || self.hurt_unseen(id).is_none()).then_some(best)
    }

    /// Candidate for a packet corrupted on uncaptured links, with the number of switches passed:
    /// the only candidate that differs by one flipped bit; otherwise the only one of matching
    /// length, tag and route, if few bits differ.
    fn hurt_unseen(&self, id: HopId) -> Option<(HopId, u64)> {
        let own = self.table.get(id)?;
        let left = own.closed.as_ref()?;
        // One flipped bit always changes the CRC check; a truncated packet has no bytes to compare.
        let hurt = matches!(left.check, CrcCheck::Bad(_)) && left.ended_by == FrameEnd::Gap;
        if !hurt || self.is_first(own) {
            return None;
        }
        let (mut by_one, mut others, mut is_other_near) = (Vec::new(), Vec::new(), false);
        for (seq, hop) in self.waiting.iter().rev().take(HURT_LOOKED_AT) {
            let Some(other) = self.table.get(*hop).filter(|it| it.seq == *seq && it.is_free())
            else {
                continue;
            };
            let Some((came, switches)) =
                other.closed.as_ref().and_then(|came| Some((came, came.ahead_of(left)?)))
            else {
                continue;
            };
            if switches == 0 && !self.net.is_fibre_between(other.lane, own.lane) {
                continue;
            }
            if other.time >= own.time || self.forbids(other, own, switches) {
                continue;
            }
            let near = own.time - other.time <= NEAR && came.tag == left.tag;
            let way = (*hop, switches);
            match corruption::likeness(came, left, switches) {
                ByteLikeness::OneBit => by_one.push(way),
                ByteLikeness::FewBits if near => others.push(way),
                ByteLikeness::Unlike if near => is_other_near = true,
                ByteLikeness::FewBits | ByteLikeness::Unlike => {}
            }
        }
        match (by_one.as_slice(), others.as_slice()) {
            ([way], _) => Some(*way),
            ([], [way]) if !is_other_near => Some(*way),
            (_, _) => None,
        }
    }

    /// True if the packet comes from a host, and so has no hop before.
    fn is_first(&self, hop: &HopRecord) -> bool {
        let from = self.net.lane(hop.lane).and_then(|lane| lane.from);
        self.net.node_at(from).is_some_and(|(node, _)| !node.is_switch())
    }

    /// True if the packet cannot have passed from one channel to the other through `switches`
    /// switches and uncaptured links.
    fn forbids(&self, came: &HopRecord, left: &HopRecord, switches: u64) -> bool {
        let to = self.net.lane(came.lane).and_then(|lane| lane.to);
        let from = self.net.lane(left.lane).and_then(|lane| lane.from);
        let (known, same) =
            (to.is_some() && from.is_some(), to.map(|it| it.0) == from.map(|it| it.0));
        let wanted = self.net.requested_output(came.lane, came.first);
        let seen = matches!(wanted, RequestedOutput::Seen(output)
            if output != left.lane || !self.net.is_fibre_between(came.lane, left.lane));
        let is_fibre = [to, from]
            .iter()
            .any(|end| self.net.node_at(*end).is_some_and(|(node, _)| node.fibre.is_some()));
        // Two named channels with one switch between meet at that switch, which matches its own
        // packets, unless one of them belongs to a fibre.
        seen || (known && !is_fibre && (switches == 1 || (same && switches < 3)))
    }

    /// Counts the passage of a packet from one channel to another.
    pub(super) fn imply(&mut self, from: usize, to: usize, first: u8) {
        let Some(output) = self.net.lane_mut(to) else { return };
        let known = |(input, byte, _): &(usize, u8, u64)| (*input, *byte);
        match output.passages.binary_search_by_key(&(from, first), known) {
            Ok(place) => {
                output.passages.get_mut(place).into_iter().for_each(|(.., packets)| *packets += 1);
            }
            Err(place) if self.implied < IMPLIED_MAX => {
                output.passages.insert(place, (from, first, 1));
                self.implied += 1;
            }
            Err(_) => {}
        }
    }
}
