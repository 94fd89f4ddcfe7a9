//! Packets that went where nothing was captured, and those that come from there. P-3

use codec::capture::ChannelId;
use codec::packet::Check;
use codec::tick::FULL_RATE_PERIOD_PS;

use super::fit::Fit;
use super::harm::{self, Likeness};
use super::leg::{Leg, LegId, Onward, Sight};
use super::matching::Candidate;
use super::net::Wish;
use super::{Certainty, Fate, IMPLIED_MAX, Journey, Paths, WAITING_MAX};
use crate::packet::EndedBy;
use crate::timeline::Time;

/// Packets out of sight that are looked at for one that was hurt there, the newest. *Chosen*: more than
/// are on their way at a time in a network of a hundred hosts.
const HURT_LOOKED_AT: usize = 256;
/// How long a packet may have been out of sight that is known by its length, tag and way. *Chosen*:
/// some 0.8 ms, in which a link carries as much as all buffers on a way hold.
const NEAR: Time = (1 << 16) * FULL_RATE_PERIOD_PS as Time;

/// A packet and so many switches: the only one that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Only {
    Nothing,
    This((LegId, u64)),
    Several,
}

impl Only {
    const fn add(&mut self, way: (LegId, u64)) {
        *self = match *self {
            Self::Nothing => Self::This(way),
            Self::This(_) | Self::Several => Self::Several,
        };
    }
}

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
        if self.is_first(own) {
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
            if self.forbids(other, own, switches) {
                contradicts = contradicts.or((switches == 1).then_some(leg));
                continue;
            }
            alike += 1;
            found = found.or(Some((leg, switches)));
        }
        let hurt = match found.map(|(leg, _)| leg).or(contradicts) {
            None => self.hurt_unseen(id),
            Some(_) => None,
        };
        if let Some(way) = found {
            let certainty = if alike == 1 { Certainty::Certain } else { Certainty::ByOrder };
            self.reappear(way, id, certainty);
        } else if let Some(way) = hurt {
            self.reappear(way, id, Certainty::ByOrder);
        }
        let implied = match found {
            Some((leg, 1)) => Some(leg),
            Some(_) | None => contradicts,
        };
        self.imply_pair(implied, id);
    }

    /// A packet that went out of sight is this one, so many switches on.
    fn reappear(&mut self, (leg, switches): (LegId, u64), id: LegId, certainty: Certainty) {
        self.join(leg, id, Onward::Gone(id), certainty);
        if let Some(joint) = self.legs.get_mut(id).and_then(|leg| leg.before.as_mut()) {
            joint.switches = switches;
        }
        self.leave_queue(leg);
    }

    /// The packet at its switch's inputs that a packet is, as [`Paths::best`] tells; none if that is
    /// known by its turn alone, and one that is out of sight fits better.
    pub(super) fn best_seen(
        &self,
        id: LegId,
        alike: &mut Vec<LegId>,
    ) -> Option<(Candidate, Certainty)> {
        let best = self.best(id, alike)?;
        let by_turn = match best.0.fit {
            Fit::Spoilt | Fit::Turn => true,
            Fit::Same | Fit::Merged | Fit::OneBit | Fit::Front(_) => false,
            Fit::Hurt(_) | Fit::Lossy(_) | Fit::Elsewhere => false,
        };
        (!by_turn || self.hurt_unseen(id).is_none()).then_some(best)
    }

    /// Which of the packets out of sight a packet is that was hurt there, and how many switches back:
    /// the only one that became this by one flipped bit; if there is none, the only one of its length,
    /// tag and way, if few bits differ.
    fn hurt_unseen(&self, id: LegId) -> Option<(LegId, u64)> {
        let own = self.legs.get(id)?;
        let left = own.closed.as_ref()?;
        // One flipped bit always shows in the CRC; and what was cut has no bytes to go by.
        let hurt = matches!(left.check, Check::Bad(_)) && left.ended_by == EndedBy::Gap;
        if !hurt || self.is_first(own) {
            return None;
        }
        let (mut by_one, mut others) = (Only::Nothing, Only::Nothing);
        for (seq, leg) in self.waiting.iter().rev().take(HURT_LOOKED_AT) {
            let Some(other) = self.legs.get(*leg).filter(|it| it.seq == *seq && it.is_free())
            else {
                continue;
            };
            let Some((came, switches)) =
                other.closed.as_ref().and_then(|came| Some((came, came.ahead_of(left)?)))
            else {
                continue;
            };
            if other.time >= own.time || self.forbids(other, own, switches) {
                continue;
            }
            let near = own.time - other.time <= NEAR && came.tag == left.tag;
            match harm::likeness(came, left, switches) {
                Likeness::OneBit => by_one.add((*leg, switches)),
                Likeness::FewBits if near => others.add((*leg, switches)),
                Likeness::Unlike if near => others = Only::Several,
                Likeness::FewBits | Likeness::Unlike => {}
            }
            if by_one == Only::Several {
                return None;
            }
        }
        match (by_one, others) {
            (Only::This(way), _) | (Only::Nothing, Only::This(way)) => Some(way),
            (_, _) => None,
        }
    }

    /// Whether a packet comes from a host: it was nowhere before.
    fn is_first(&self, leg: &Leg) -> bool {
        let from = self.net.lane(leg.lane).and_then(|lane| lane.from);
        self.net.node_at(from).is_some_and(|(node, _)| !node.is_switch())
    }

    /// Whether a packet cannot have gone from one channel to another through so many switches, unseen
    /// between.
    fn forbids(&self, came: &Leg, left: &Leg, switches: u64) -> bool {
        let to = self.net.lane(came.lane).and_then(|lane| lane.to);
        let from = self.net.lane(left.lane).and_then(|lane| lane.from);
        let (known, same) =
            (to.is_some() && from.is_some(), to.map(|it| it.0) == from.map(|it| it.0));
        let seen = matches!(self.net.wish(came.lane, came.first), Wish::Seen(_));
        // One switch between two channels is the one that both names say.
        seen || (known && (switches == 1 || (same && switches < 3)))
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
