//! Packets that went where nothing was captured, and those that come from there. P-3

use codec::capture::ChannelId;

use super::leg::{Leg, LegId, Onward, Sight};
use super::net::Wish;
use super::{Certainty, Fate, IMPLIED_MAX, Journey, Paths, WAITING_MAX};

impl Paths {
    /// A packet has gone out of sight.
    pub(super) fn wait(&mut self, id: LegId, seq: u64, out: &mut impl FnMut(Journey)) {
        match self.legs.get_mut(id).map(|leg| std::mem::replace(&mut leg.sight, Sight::Lost)) {
            Some(Sight::Followed) => self.waiting.push_back((seq, id)),
            Some(Sight::Lost) | None => {}
        }
        while self.waiting.len() > WAITING_MAX {
            let Some((seq, id)) = self.waiting.pop_front() else { return };
            let Some(leg) = self.legs.get_mut(id).filter(|leg| leg.seq == seq) else { continue };
            if leg.is_free() {
                self.leave_queue(id);
                self.settle(id, Fate::OutOfSight, out);
            } else {
                // If it turns out to be another that left, it comes here again.
                leg.sight = Sight::Followed;
            }
        }
    }

    /// Finds a packet among those that went where nothing was captured.
    pub(super) fn find_unseen(&mut self, id: LegId) {
        let Some(own) = self.legs.get(id) else { return };
        let Some(closed) = &own.closed else { return };
        let from = self.net.lane(own.lane).and_then(|lane| lane.from);
        if self.net.node_at(from).is_some_and(|(node, _)| !node.is_switch()) {
            return;
        }
        let (mut found, mut alike) = (None::<(LegId, u64)>, 0_usize);
        let mut contradicts = None;
        for (seq, leg) in self.recent.find(closed.body) {
            let Some(other) = self.legs.get(leg).filter(|it| it.seq == seq && it.is_free()) else {
                continue;
            };
            let Some(came) = &other.closed else { continue };
            let switches = came.length.saturating_sub(closed.length);
            let fits = switches > 0 && other.time < own.time && came.check == closed.check;
            if !fits || leg == id || came.peeled(switches) != Some(closed.all) {
                continue;
            }
            let to = self.net.lane(other.lane).and_then(|lane| lane.to);
            let (known, same) =
                (to.is_some() && from.is_some(), to.map(|it| it.0) == from.map(|it| it.0));
            let seen = matches!(self.net.wish(other.lane, other.first), Wish::Seen(_));
            // One switch between two channels is the one that both names say.
            if seen || (known && (switches == 1 || (same && switches < 3))) {
                contradicts = contradicts.or((switches == 1).then_some(leg));
                continue;
            }
            alike += 1;
            found = found.or(Some((leg, switches)));
        }
        if let Some((leg, switches)) = found {
            let certainty = if alike == 1 { Certainty::Certain } else { Certainty::ByOrder };
            self.join(leg, id, Onward::Gone(id), certainty);
            if let Some(joint) = self.legs.get_mut(id).and_then(|leg| leg.before.as_mut()) {
                joint.switches = switches;
            }
            self.leave_queue(leg);
        }
        let implied = match found {
            Some((leg, 1)) => Some(leg),
            Some(_) | None => contradicts,
        };
        self.imply_pair(implied, id);
    }

    fn imply_pair(&mut self, from: Option<LegId>, to: LegId) {
        let channel = |leg: &Leg| self.net.lane(leg.lane).map(|lane| lane.id);
        let from = from.and_then(|from| self.legs.get(from));
        let to = self.legs.get(to).and_then(channel);
        if let (Some(from), Some(to)) = (from, to)
            && let Some(id) = channel(from)
        {
            let first = from.first;
            self.imply(id, to, first);
        }
    }

    pub(super) fn imply(&mut self, from: ChannelId, to: ChannelId, byte: u8) {
        let room = self.implied.len() < IMPLIED_MAX;
        let key = (from, to, byte);
        if room || self.implied.contains_key(&key) {
            *self.implied.entry(key).or_default() += 1;
        }
    }
}
