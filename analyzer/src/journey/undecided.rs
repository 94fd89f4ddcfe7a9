//! Matching of ended packets with their hops before, at once or postponed.
//!
//! A packet may leave a switch truncated while its possible origin is still arriving. The match is
//! postponed until that origin or the recording has ended.

use super::candidate::HopCandidate;
use super::fit::ByteFit;
use super::hop_record::{ClosedPacket, HopId, HopRecord, NextHop};
use super::matching::LOOKED_AT;
use super::visible_bytes::{VisibleBytes, compare};
use super::{Journey, JourneyFate, JourneyTracker, MatchCertainty};
use crate::packet::FrameEnd;

/// Maximum of postponed packets beside one of each channel. *Chosen*: one of each is usual.
const UNDECIDED_MAX: usize = 64;
/// Minimum of visible bytes for a decision in each round; the most certain come first.
const ROUNDS: [u8; 3] = [8, 2, 0];

impl JourneyTracker {
    /// Links an ended packet to its hop before, or postpones it if that requires more data.
    pub(super) fn find_before(&mut self, id: HopId, out: &mut Vec<Journey>) {
        let mut alike = Vec::new();
        let best = self.best_seen(id, &mut alike);
        if self.is_early(id, best.map(|(candidate, _)| candidate.fit)) {
            // Until the decision, later departures are matched with other packets.
            if let Some((candidate, _)) =
                best.filter(|(candidate, _)| candidate.fit != ByteFit::Turn)
            {
                self.join(candidate.hop, id, NextHop::Claimed(id), MatchCertainty::ByOrder);
            }
            self.postpone(id, out);
        } else {
            self.join_before(id, best, &alike, out);
        }
    }

    /// Links an ended packet to its best candidate.
    fn join_before(
        &mut self,
        id: HopId,
        best: Option<(HopCandidate, MatchCertainty)>,
        alike: &[HopId],
        out: &mut Vec<Journey>,
    ) {
        if let Some(copied) = self.copied_from(id) {
            return self.join_copy(copied, id, out);
        }
        let Some((candidate, certainty)) = best else {
            self.release(id);
            if let Some(hop) = self.table.get_mut(id) {
                let readings = std::mem::take(&mut hop.readings);
                self.net.vote_begun(hop.lane, readings, [false; 2]);
            }
            self.mark_likely(id);
            self.find_unseen(id);
            return;
        };
        let is_merged = candidate.fit == ByteFit::Merged;
        let appended = if is_merged { self.appended(&candidate, id) } else { Vec::new() };
        self.doubt(alike, id);
        self.join(candidate.hop, id, NextHop::Gone(id), certainty);
        if candidate.fit == ByteFit::Same && certainty == MatchCertainty::ByOrder {
            self.mark_likely(id);
        }
        self.left(&candidate, id, out);
        for hop in appended {
            self.leave_queue(hop);
            self.settle(hop, JourneyFate::Merged, out);
        }
    }

    /// True if the origin of an ended packet may not have ended itself; `best` is the best match so
    /// far.
    pub(super) fn is_early(&self, id: HopId, best: Option<ByteFit>) -> bool {
        let whole = matches!(best, Some(ByteFit::Same | ByteFit::Merged));
        self.is_open(id) || (!whole && self.awaits_open(id))
    }

    /// True if the packet continues after the end of the recording.
    fn is_open(&self, id: HopId) -> bool {
        let closed = self.table.get(id).and_then(|hop| hop.closed.as_ref());
        closed.is_some_and(|closed| closed.ended_by == FrameEnd::CaptureEnd)
    }

    /// True if a departure that is still open or undecided may be this packet.
    pub(super) fn may_be_leaving(&self, hop: &HopRecord) -> bool {
        let input = self.net.lane(hop.lane);
        let node = input.and_then(|lane| Some((lane, self.net.node_at(lane.to)?)));
        let outputs = node.map_or([None; 2], |(lane, (node, port))| {
            node.selects(hop.first, port).map(|port| node.output(port?, lane))
        });
        let later = |id| self.table.get(id).is_some_and(|left| left.time > hop.time);
        outputs.into_iter().flatten().any(|output| {
            let open = self.net.lane(output).and_then(|lane| lane.open);
            let undecided = self.undecided.iter().map(|(_, id)| *id).filter(|id| {
                self.table.get(*id).is_some_and(|left| left.undecided && left.lane == output)
            });
            open.into_iter().chain(undecided).any(later)
        })
    }

    /// Marks the packets that an ended packet of unknown origin may be, damaged: they were not lost.
    fn mark_likely(&mut self, left: HopId) {
        let Some((own, closed)) =
            self.table.get(left).and_then(|own| Some((own, own.closed.as_ref()?)))
        else {
            return;
        };
        let from = self.net.lane(own.lane).and_then(|lane| self.net.node_at(lane.from));
        let Some((node, output)) = from.filter(|(node, _)| node.is_switch()) else { return };
        let (time, mut likely) = (own.time, Vec::new());
        for input in node.inputs.iter().filter_map(|place| self.net.lane(*place)) {
            let bytes = input.to.map_or([None; 2], |(_, port)| node.bytes_to(port, output));
            let asking = input.queue.iter().filter(|it| bytes.contains(&Some(it.first)));
            likely.extend(asking.take(LOOKED_AT).map(|it| it.id).filter(|id| {
                let hop = self.table.get(*id).filter(|hop| hop.time < own.time);
                hop.is_some_and(|hop| may_have_become(hop, closed))
            }));
        }
        for id in likely {
            if let Some(hop) = self.table.get_mut(id) {
                hop.likely_left = Some(time);
            }
        }
    }

    /// Postpones the decision of a packet; beyond the limit the oldest is decided at once.
    pub(super) fn postpone(&mut self, id: HopId, out: &mut Vec<Journey>) {
        let Some(hop) = self.table.get_mut(id) else { return };
        if !std::mem::replace(&mut hop.undecided, true) {
            self.undecided.push((hop.seq, id));
        }
        if self.undecided.len() > UNDECIDED_MAX + self.net.lanes.len() {
            let (seq, oldest) = self.undecided.remove(0);
            self.decide(oldest, seq, out);
        }
    }

    /// Decides the postponed packets of the switch at which a packet has arrived completely, where
    /// possible.
    pub(super) fn decide_behind(&mut self, place: usize, out: &mut Vec<Journey>) {
        if self.undecided.is_empty() {
            return;
        }
        let node = self.net.lane(place).and_then(|lane| lane.to);
        for (seq, id) in std::mem::take(&mut self.undecided) {
            let lane = self.table.get(id).filter(|hop| hop.seq == seq).map(|hop| hop.lane);
            let from = lane.and_then(|lane| self.net.lane(lane)?.from);
            let is_behind = from.zip(node).is_some_and(|(from, node)| from.0 == node.0);
            let ready = is_behind && !self.is_open(id);
            let best = ready.then(|| self.best_seen(id, &mut Vec::new()));
            if best.is_some_and(|best| !self.is_early(id, best.map(|(candidate, _)| candidate.fit)))
            {
                self.decide(id, seq, out);
            } else {
                self.undecided.push((seq, id));
            }
        }
    }

    /// Decides all postponed packets at the end of the recording; matches by bytes come before
    /// those by turn and order.
    pub fn decide_all(&mut self, out: &mut Vec<Journey>) {
        (0..self.net.lanes.len()).for_each(|place| self.note_awaited(place));
        for least in ROUNDS {
            let time = |(_, id): &(u64, HopId)| self.table.get(*id).map(|hop| hop.time);
            let mut undecided = std::mem::take(&mut self.undecided);
            undecided.sort_by_key(time);
            for (seq, id) in undecided {
                let fit = self.best_seen(id, &mut Vec::new()).map(|(candidate, _)| candidate.fit);
                if least == 0 || fit.is_some_and(|fit| fit.is_by_bytes(least)) {
                    self.decide(id, seq, out);
                } else {
                    self.undecided.push((seq, id));
                }
            }
        }
    }

    fn decide(&mut self, id: HopId, seq: u64, out: &mut Vec<Journey>) {
        let Some(hop) = self.table.get_mut(id).filter(|hop| hop.seq == seq) else { return };
        hop.undecided = false;
        let mut alike = Vec::new();
        let best = self.best_seen(id, &mut alike);
        self.join_before(id, best, &alike, out);
        self.emit_if_complete(id, out);
    }
}

/// True if a packet at an input may have left as a damaged one.
fn may_have_become(hop: &HopRecord, left: &ClosedPacket) -> bool {
    let differs = |came| left.is_sound() && compare(came, left) == VisibleBytes::Differ;
    !hop.is_gone() && !hop.closed.as_ref().is_some_and(differs)
}
