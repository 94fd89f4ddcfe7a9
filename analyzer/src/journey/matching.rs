//! Which packet at a switch's inputs is the one that goes out: by bytes, and where those do not tell,
//! by order. P-3, P-5, S-3, S-5

use crate::event::Picoseconds;
use codec::route::PortId;
use codec::time::FULL_RATE_PERIOD_PS;

use super::fit::{ByteFit, ENOUGH, TurnMatch, fit, merged};
use super::hop_record::{ClosedPacket, HopId, HopRecord, HopTable, NextHop};
use super::network_map::NetworkMap;
use super::{JourneyTracker, MatchCertainty};
use crate::packet::PacketEnd;

/// Packets of one input that are looked at. *Chosen*: a slack buffer of 80 cells has no more (F-3).
const LOOKED_AT: usize = 64;
/// How far the token of an output goes from input to input. S-5
const STEP: Picoseconds = 2 * FULL_RATE_PERIOD_PS as Picoseconds;

/// How long after a reset at its input a packet has ended at the output. *Chosen*: a sender may have a few
/// symbols to send before the GAP. R-3, F-6
const SEVERED: Picoseconds = 8 * FULL_RATE_PERIOD_PS as Picoseconds;

/// How long a packet may stand at a free output without having left, in longest path formations.
/// *Chosen*. S-3, S-6
const STANDS: Picoseconds = 16;

/// Whether a packet could have left a switch at some time. S-6
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timeliness {
    /// As far as is known.
    Possible,
    /// Never has one been so fast.
    Unheard,
    /// Nor would one be so fast if the output's token had come at once.
    Doubtful,
    /// It would have left before.
    Impossible,
}

/// A packet at an input that may be the one that goes out.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopCandidate {
    pub(super) leg: HopId,
    pub(super) lane: usize,
    /// Its place in the input's queue.
    pub(super) place: usize,
    pub(super) fit: ByteFit,
    /// Packets before it that are still thought to be there.
    before: usize,
    /// Whether it could have left by then.
    haste: Timeliness,
    /// Since when it may have had the output, as far as is known. S-5
    served: Picoseconds,
    /// How far the output's token is from its input. S-5
    turn: u8,
}

impl HopCandidate {
    /// The less, the better.
    fn key(&self) -> (ByteFit, Timeliness, usize, Picoseconds, u8) {
        (self.fit, self.haste, self.before, self.served, self.turn)
    }
}

impl JourneyTracker {
    /// The packet that has begun to leave by a channel is thought to be the one whose turn it is.
    pub(super) fn claim(&mut self, leaving: HopId) {
        let mut best: Option<HopCandidate> = None;
        self.at_inputs(leaving, &mut |net, legs, candidate, _| {
            let Some(leg) = legs.get(candidate.leg) else { return SearchControl::On };
            let impossible = candidate.haste == Timeliness::Impossible;
            if impossible || !leg.is_free() || !requests_output(net, legs, leg, leaving) {
                return SearchControl::On;
            }
            if best.as_ref().is_none_or(|best| candidate.key() < best.key()) {
                best = Some(candidate);
            }
            SearchControl::Past
        });
        if let Some(found) = best {
            self.join(found.leg, leaving, NextHop::Claimed(leaving), MatchCertainty::ByOrder);
        }
    }

    /// The packet that has left by a channel, now that all its bytes are known: the best fit, and
    /// how sure it is; and those that have just the same bytes.
    pub(super) fn best(
        &self,
        left: HopId,
        alike: &mut Vec<HopId>,
    ) -> Option<(HopCandidate, MatchCertainty)> {
        let own = self.legs.get(left)?;
        let closed = own.closed.as_ref()?;
        let claimed = own.before.map(|joint| joint.leg);
        let (mut best, mut fronts) = (None::<HopCandidate>, 0);
        self.at_inputs(left, &mut |net, legs, mut candidate, behind| {
            let Some(leg) = legs.get(candidate.leg) else { return SearchControl::On };
            if let NextHop::Gone(_) = leg.onward {
                return SearchControl::On;
            }
            let asked = requests_output(net, legs, leg, left);
            let turn = if claimed == Some(candidate.leg) {
                TurnMatch::Its
            } else if leg.is_free()
                && candidate.before == 0
                && candidate.haste < Timeliness::Impossible
            {
                TurnMatch::Maybe
            } else {
                TurnMatch::Not
            };
            let mut fit = fit(leg, own, closed, (asked, turn));
            if asked && fit.is_none_or(|fit| fit > ByteFit::Merged) {
                fit = merged(legs, leg, closed, behind).map(|_| ByteFit::Merged).or(fit);
            }
            let Some(fit) = fit else { return SearchControl::On };
            if claimed == Some(candidate.leg) {
                (candidate.before, candidate.haste) = (0, Timeliness::Possible);
            }
            if self.is_severed(candidate.lane, own) {
                candidate.served = 0;
            }
            candidate.fit = fit;
            fronts += usize::from(matches!(fit, ByteFit::Front(_)));
            if best.as_ref().is_none_or(|best| candidate.key() < best.key()) {
                best = Some(candidate);
            }
            if fit == ByteFit::Same {
                alike.push(candidate.leg);
                return SearchControl::Past;
            }
            SearchControl::On
        });
        let best = best?;
        let doubted = |residue| {
            let lanes = [best.lane, own.lane].map(|lane| self.net.lane(lane));
            lanes.into_iter().flatten().any(|lane| lane.doubted.contains(&residue))
        };
        let came = self.legs.get(best.leg).and_then(|leg| leg.closed.as_ref());
        let certain = match best.fit {
            ByteFit::Same => alike.len() == 1 && !doubted(closed.all),
            ByteFit::Front(_) => {
                let enough = best.fit.is_by_bytes(ENOUGH) && fronts == 1;
                enough && !came.is_some_and(|came| doubted(came.rest))
            }
            ByteFit::Merged | ByteFit::OneBit => true,
            ByteFit::Hurt(_) => closed.length >= ENOUGH.into(),
            ByteFit::Lossy(_) | ByteFit::Elsewhere | ByteFit::Spoilt | ByteFit::Turn => false,
        };
        Some((best, if certain { MatchCertainty::Certain } else { MatchCertainty::ByOrder }))
    }

    /// Whether a reset at an input ended a packet that has left, as their times tell. R-3
    fn is_severed(&self, input: usize, left: &HopRecord) -> bool {
        let (input, output) = (self.net.lane(input), self.net.lane(left.lane));
        let reset = input.and_then(|input| Some(input.reset? + input.until_heard?));
        let seen = reset.zip(output.and_then(|output| output.since_sent));
        let ended = left.closed.as_ref().filter(|closed| closed.ended_by == PacketEnd::Gap);
        seen.zip(ended)
            .is_some_and(|((reset, late), ended)| (reset + late).abs_diff(ended.at) <= SEVERED)
    }

    /// Whether a packet that has left may be one that goes on coming in.
    pub(super) fn awaits_open(&self, left: HopId) -> bool {
        let Some(own) = self.legs.get(left) else { return false };
        let (claimed, mut awaits) = (own.before.map(|joint| joint.leg), false);
        let is_sound = own.closed.as_ref().is_some_and(ClosedPacket::is_sound);
        self.at_inputs(left, &mut |net, legs, candidate, _| {
            let Some(leg) = legs.get(candidate.leg) else { return SearchControl::On };
            let likely = !is_sound || claimed == Some(candidate.leg);
            awaits |= leg.closed.is_none() && likely && requests_output(net, legs, leg, left);
            SearchControl::On
        });
        awaits
    }

    /// Packets that came as one with this one, for want of GAPs, in order.
    pub(super) fn appended(&self, candidate: &HopCandidate, left: HopId) -> Vec<HopId> {
        let Some(lane) = self.net.lane(candidate.lane) else { return Vec::new() };
        let behind: Vec<HopId> = lane.queue.iter().skip(candidate.place + 1).copied().collect();
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
        leaving: HopId,
        look: &mut impl FnMut(
            &NetworkMap,
            &HopTable,
            HopCandidate,
            &mut dyn Iterator<Item = HopId>,
        ) -> SearchControl,
    ) {
        let Self { net, legs, .. } = self;
        let Some(own) = legs.get(leaving) else { return };
        let Some(output) = net.lane(own.lane) else { return };
        let Some((node, _)) = net.node_at(output.from) else { return };
        let left = output.since_sent.map(|late| own.time.saturating_sub(late));
        let ended = own.held.output.map_or(0, |(_, ended)| ended);
        let free = ended.max(own.held.resumed.unwrap_or(0));
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
                    _ if gone => Timeliness::Impossible,
                    (Some(took), Some(fastest)) if took + node.token(input) < fastest => {
                        Timeliness::Doubtful
                    }
                    (Some(took), Some(fastest)) if took < fastest => Timeliness::Unheard,
                    (_, _) => Timeliness::Possible,
                };
                let served = ready.unwrap_or(found.time).max(ended) + STEP * steps(turn);
                let fit = ByteFit::Same;
                let candidate = HopCandidate { leg, lane, place, fit, before, haste, served, turn };
                let mut behind = input.queue.iter().skip(place + 1).copied();
                if look(net, legs, candidate, &mut behind) == SearchControl::Past {
                    break;
                }
                before += usize::from(found.is_free() && found.passed.is_none() && !gone);
            }
        }
    }
}

/// Whether more of an input is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchControl {
    On,
    Past,
}

/// Whether a packet's first byte asks for the output by which another leaves.
fn requests_output(net: &NetworkMap, legs: &HopTable, leg: &HopRecord, leaving: HopId) -> bool {
    let ends = legs.get(leaving).and_then(|leaving| net.lane(leaving.lane)?.from);
    let input = net.lane(leg.lane).and_then(|lane| lane.to);
    let (Some((_, output)), Some((node, port))) = (ends, net.node_at(input)) else { return false };
    node.selects(leg.first, port).contains(&Some(output))
}

/// How long a packet took to pass a switch, if that is known.
fn passing(left: Option<Picoseconds>, ready: Option<Picoseconds>) -> Option<Picoseconds> {
    left.zip(ready).map(|(left, ready)| left.saturating_sub(ready))
}

/// About how many steps the token takes over a distance: of a switch of 8 ports, if it has no port beyond.
const fn steps(turn: u8) -> Picoseconds {
    (turn % 8) as Picoseconds
}

/// How many inputs the token looks at before this one. S-5
const fn distance(served: PortId, input: PortId) -> u8 {
    input.0.wrapping_sub(served.0).wrapping_sub(1)
}
