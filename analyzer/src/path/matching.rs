//! Which packet at a switch's inputs is the one that goes out: by bytes, and where those do not tell,
//! by order. P-3, P-5, S-3, S-5

use codec::packet::Check;
use codec::route::PortId;

use super::leg::{Closed, Leg, LegId, Legs, Onward};
use super::net::Net;
use super::{Certainty, Paths};
use crate::packet::EndedBy;
use crate::timeline::Time;

/// Packets of one input that are looked at. *Chosen*: a slack buffer of 80 cells has no more (F-3).
const LOOKED_AT: usize = 64;
/// Bits in which two packets may differ and yet look like one that was hurt. *Chosen*: so many of 127
/// do not agree by chance.
pub(super) const HURT_MAX: u32 = 16;

/// How long a packet may stand at a free output without having left, in longest path formations.
/// *Chosen*. S-3, S-6
const STANDS: Time = 16;

/// How well two packets fit, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// The same bytes, by the output that the route says.
    Same,
    /// The same bytes, the packet behind it appended for want of a GAP. P-1
    Merged,
    /// So many bits differ.
    Hurt(u32),
    /// The same bytes, by another output: the route byte was hurt, or there is more to the switch.
    Elsewhere,
    /// As many bytes, and the CRC byte says that something is wrong.
    Spoilt,
    /// Something is wrong with it, and its turn has come.
    Turn(Front),
}

/// Whether what is left of route and tag of a packet that went out is what stood there before. P-3
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Front {
    /// It is, or it is not known yet what stood there.
    Alike,
    Unlike,
}

/// Whether a packet could have left a switch at some time. S-6
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Haste {
    /// As far as is known.
    Possible,
    /// Never has one been so fast.
    Unheard,
    /// Nor would one be so fast if the output's token had come at once; or it would have left before.
    Impossible,
}

/// A packet at an input that may be the one that goes out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) leg: LegId,
    pub(super) lane: usize,
    /// Its place in the input's queue.
    pub(super) place: usize,
    pub(super) fit: Fit,
    /// Packets before it that are still thought to be there.
    before: usize,
    /// Whether it could have left by then.
    haste: Haste,
    /// How far the output's token is from its input. S-5
    turn: u8,
}

impl Candidate {
    /// The less, the better.
    fn key(&self) -> (Fit, Haste, usize, u8) {
        (self.fit, self.haste, self.before, self.turn)
    }
}

impl Paths {
    /// The packet that has begun to leave by a channel is thought to be the one whose turn it is.
    pub(super) fn claim(&mut self, leaving: LegId) {
        let mut best: Option<Candidate> = None;
        self.at_inputs(leaving, &mut |net, legs, candidate, _| {
            let Some(leg) = legs.get(candidate.leg) else { return Look::On };
            let impossible = candidate.haste == Haste::Impossible;
            if impossible || !leg.is_free() || !asks_for(net, legs, leg, leaving) {
                return Look::On;
            }
            if best.as_ref().is_none_or(|best| candidate.key() < best.key()) {
                best = Some(candidate);
            }
            Look::Past
        });
        if let Some(found) = best {
            self.join(found.leg, leaving, Onward::Claimed(leaving), Certainty::ByOrder);
        }
    }

    /// The packet that has left by a channel, now that all its bytes are known: the best fit, and
    /// how sure it is; and those that have just the same bytes.
    pub(super) fn best(
        &self,
        left: LegId,
        alike: &mut Vec<LegId>,
    ) -> Option<(Candidate, Certainty)> {
        let own = self.legs.get(left)?;
        let closed = own.closed.as_ref()?;
        let claimed = own.before.map(|joint| joint.leg);
        let mut best = None::<Candidate>;
        self.at_inputs(left, &mut |net, legs, mut candidate, behind| {
            let Some(leg) = legs.get(candidate.leg) else { return Look::On };
            if let Onward::Gone(_) = leg.onward {
                return Look::On;
            }
            let asked = asks_for(net, legs, leg, left);
            let turn = if claimed == Some(candidate.leg) {
                Turn::Its
            } else if leg.is_free() && candidate.before == 0 && candidate.haste < Haste::Impossible
            {
                Turn::Maybe
            } else {
                Turn::Not
            };
            let Some(fit) = fit(leg, own, closed, (asked, turn)).or_else(|| {
                (asked && merged(legs, leg, closed, behind).is_some()).then_some(Fit::Merged)
            }) else {
                return Look::On;
            };
            if claimed == Some(candidate.leg) {
                (candidate.turn, candidate.before) = (0, 0);
                candidate.haste = Haste::Possible;
            }
            candidate.fit = fit;
            if best.as_ref().is_none_or(|best| candidate.key() < best.key()) {
                best = Some(candidate);
            }
            if fit == Fit::Same {
                alike.push(candidate.leg);
                return Look::Past;
            }
            Look::On
        });
        let best = best?;
        let certain = match best.fit {
            Fit::Same => {
                let lane = self.net.lane(best.lane);
                let doubted = lane.is_some_and(|lane| lane.doubted.contains(&closed.all));
                alike.len() == 1 && !doubted
            }
            Fit::Merged | Fit::Hurt(_) => true,
            Fit::Elsewhere | Fit::Spoilt | Fit::Turn(_) => false,
        };
        Some((best, if certain { Certainty::Certain } else { Certainty::ByOrder }))
    }

    /// Packets that came as one with this one, for want of GAPs, in order.
    pub(super) fn appended(&self, candidate: &Candidate, left: LegId) -> Vec<LegId> {
        let Some(lane) = self.net.lane(candidate.lane) else { return Vec::new() };
        let behind: Vec<LegId> = lane.queue.iter().skip(candidate.place + 1).copied().collect();
        let legs = self.legs.get(candidate.leg).zip(self.legs.get(left));
        legs.and_then(|(leg, left)| {
            let count =
                merged(&self.legs, leg, left.closed.as_ref()?, &mut behind.iter().copied())?;
            Some(behind.into_iter().take(count).collect())
        })
        .unwrap_or_default()
    }

    /// Goes through the packets at the inputs of the switch that a packet leaves, those that were
    /// there before it left.
    fn at_inputs(
        &self,
        leaving: LegId,
        look: &mut impl FnMut(&Net, &Legs, Candidate, &mut dyn Iterator<Item = LegId>) -> Look,
    ) {
        let Self { net, legs, .. } = self;
        let Some(own) = legs.get(leaving) else { return };
        let Some(output) = net.lane(own.lane) else { return };
        let Some((node, _)) = net.node_at(output.from) else { return };
        let left = output.since_sent.map(|late| own.time.saturating_sub(late));
        let free = own.held.output.map(|(_, ended)| ended).max(own.held.resumed).unwrap_or(0);
        if !node.is_switch() {
            return;
        }
        for lane in node.inputs.iter().copied() {
            let Some((input, (_, port))) = net.lane(lane).and_then(|it| Some((it, it.to?))) else {
                continue;
            };
            let turn = distance(output.served, port);
            let mut before = 0;
            for (place, leg) in input.queue.iter().copied().enumerate().take(LOOKED_AT) {
                let Some(found) = legs.get(leg) else { continue };
                // S-6: a path takes time.
                if found.time >= own.time {
                    break;
                }
                let ready = input.ready(found.time);
                let gone = found.is_emptied(own.time)
                    || passing(left, ready.map(|ready| ready.max(free)))
                        > Some(STANDS * node.path(input));
                let haste = match (passing(left, ready), node.fastest) {
                    _ if gone => Haste::Impossible,
                    (Some(took), Some(fastest)) if took + node.token(input) < fastest => {
                        Haste::Impossible
                    }
                    (Some(took), Some(fastest)) if took < fastest => Haste::Unheard,
                    (_, _) => Haste::Possible,
                };
                let candidate = Candidate { leg, lane, place, fit: Fit::Same, before, haste, turn };
                let mut behind = input.queue.iter().skip(place + 1).copied();
                if look(net, legs, candidate, &mut behind) == Look::Past {
                    break;
                }
                before += usize::from(found.is_free() && found.passed.is_none() && !gone);
            }
        }
    }
}

/// Whether more of an input is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    On,
    Past,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Its,
    Maybe,
    Not,
}

/// Whether a packet's first byte asks for the output by which another leaves.
fn asks_for(net: &Net, legs: &Legs, leg: &Leg, leaving: LegId) -> bool {
    let ends = legs.get(leaving).and_then(|leaving| net.lane(leaving.lane)?.from);
    let input = net.lane(leg.lane).and_then(|lane| lane.to);
    let (Some((_, output)), Some((node, port))) = (ends, net.node_at(input)) else { return false };
    node.selects(leg.first, port).contains(&Some(output))
}

/// How well a packet at an input fits the one that has left.
fn fit(leg: &Leg, own: &Leg, left: &Closed, (asked, turn): (bool, Turn)) -> Option<Fit> {
    // Another has begun with it: only the same bytes tell that it is not that one's.
    let taken = match leg.onward {
        Onward::Nowhere => false,
        Onward::Claimed(other) => {
            turn != Turn::Its && own.before.is_none_or(|joint| joint.leg != other)
        }
        Onward::Gone(_) => return None,
    };
    let Some(came) = leg.closed.as_ref() else {
        // It goes on coming in, while what left has ended.
        return (turn == Turn::Its && !left.is_sound()).then_some(Fit::Turn(Front::Alike));
    };
    let as_long = came.length == left.length + 1;
    let differ =
        (came.rest.and(left.all).bits().count_ones()).max(u32::from(came.check != left.check));
    if as_long && differ == 0 {
        return Some(if asked { Fit::Same } else { Fit::Elsewhere });
    }
    if taken || !asked {
        return None;
    }
    // What the end of the recording cuts off says nothing.
    let cut_off = left.ended_by == EndedBy::CaptureEnd;
    // A body of few bytes agrees with others by chance.
    let bits = u32::try_from(left.length).unwrap_or(u32::MAX).saturating_mul(2);
    if as_long && !cut_off && came.check != left.check {
        if differ <= HURT_MAX.min(bits) {
            return Some(Fit::Hurt(differ));
        }
        if left.check != Check::Good {
            return Some(Fit::Spoilt);
        }
    }
    let whole = came.is_sound() && left.is_sound();
    let ends = [came.ended_by, left.ended_by];
    let cut = ends.iter().any(|by| *by != EndedBy::Gap) || left.check != Check::Good;
    let shorter = left.length + 1 < came.length || (as_long && cut_off);
    let front = || if came.leads(left) { Front::Alike } else { Front::Unlike };
    (shorter && !whole && cut && turn != Turn::Not).then(|| Fit::Turn(front()))
}

/// How many packets behind one left with it as one packet, if these are just its bytes. P-1
fn merged(
    legs: &Legs,
    leg: &Leg,
    left: &Closed,
    behind: &mut dyn Iterator<Item = LegId>,
) -> Option<usize> {
    let came = leg.closed.as_ref()?;
    let (mut length, mut bytes) = (came.length.checked_sub(1)?, None);
    if length >= left.length {
        return None;
    }
    for (number, next) in behind.enumerate() {
        let next = legs.get(next)?.closed.as_ref()?;
        // The CRC byte of the one before stays as it is.
        let so_far = bytes.unwrap_or_else(|| {
            let crc = came.all.crc().value() ^ came.syndrome();
            came.rest.feed(&[crc])
        });
        let all = so_far.times_x_to(8 * ((next.length - 1) % 127)).and(next.all);
        length += next.length;
        if length >= left.length {
            return (length == left.length && all == left.all).then_some(number + 1);
        }
        let message = so_far.times_x_to(8 * (next.length % 127)).and(next.message());
        bytes = Some(message);
    }
    None
}

/// How long a packet took to pass a switch, if that is known.
fn passing(left: Option<Time>, ready: Option<Time>) -> Option<Time> {
    left.zip(ready).map(|(left, ready)| left.saturating_sub(ready))
}

/// How many inputs the token looks at before this one. S-5
const fn distance(served: PortId, input: PortId) -> u8 {
    input.0.wrapping_sub(served.0).wrapping_sub(1)
}
