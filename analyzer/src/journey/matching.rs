//! Matching of a departing packet with the packets at a switch's inputs: by bytes, otherwise by
//! order. P-3, P-5, S-3, S-5

use codec::crc::CrcResidue;
use codec::route::PortId;
use codec::time::FULL_RATE_PERIOD_PS;

use super::candidate::{DepartureTimeliness, HopCandidate};
use super::fit::{ByteFit, ENOUGH, TurnMatch, fit, merged};
use super::hop_record::{ClosedPacket, HopId, HopRecord, HopTable, NextHop};
use super::network_map::{MappedChannel, MappedNode, NetworkMap, RequestedOutput};
use super::passage::VirtualPassage;
use super::{JourneyTracker, MatchCertainty};
use crate::event::Picoseconds;
use crate::packet::FrameEnd;

/// Maximum of examined packets of one input. *Chosen*: a buffer of 80 cells holds fewer (F-3).
pub(super) const LOOKED_AT: usize = 64;
/// Maximum of packets of one input whose first bytes are examined. *Chosen*: more than one holds.
const PASSED_OVER: usize = 1 << 13;
/// Travel time of the output's token from input to input. S-5
const STEP: Picoseconds = 2 * FULL_RATE_PERIOD_PS as Picoseconds;

/// Maximum difference between a reset at the input and the packet's end at the output, and length of a reset in which
/// no packet leaves. *Chosen*: a sender may have a few symbols to send before the GAP. R-3, F-6
pub(super) const SEVERED: Picoseconds = 8 * FULL_RATE_PERIOD_PS as Picoseconds;

/// Maximum wait of a packet at a free output, in longest path formations. *Chosen*. S-3, S-6
const STANDS: Picoseconds = 16;

impl JourneyTracker {
    /// Assigns a departure that begins on an output to the waiting packet whose turn it is.
    pub(super) fn claim(&mut self, leaving: HopId) {
        let Some(scan) = self.scan(leaving, MappedNode::strips_routes) else { return };
        let mut best: Option<HopCandidate> = None;
        // How the switch reads the first bytes of packets that may be this one.
        let mut readings = [false; 2];
        for input in scan.inputs().filter(|input| scan.may_turn_back(input)) {
            let mut free = scan.requesting(&input).filter(|found| found.hop.is_free());
            let candidate = free.find_map(|found| {
                let earlier = scan.packets(&input).take_while(|other| other.place < found.place);
                let before = earlier.filter(|other| scan.is_waiting(&input, other)).count();
                Some(scan.candidate(&input, &found, before))
                    .filter(|it| it.timeliness != DepartureTimeliness::Impossible)
            });
            if let Some(first) = candidate.as_ref().and_then(|it| self.table.get(it.hop)) {
                for (reading, byte) in readings.iter_mut().zip(input.bytes) {
                    *reading |= byte == Some(first.first);
                }
            }
            best = best.into_iter().chain(candidate).min_by_key(HopCandidate::key);
        }
        let Some(found) = best else { return };
        let (lane, before) = (scan.own.lane, scan.own.readings);
        self.net.vote_begun(lane, before, readings);
        if let Some(hop) = self.table.get_mut(leaving) {
            hop.readings = readings;
        }
        self.join(found.hop, leaving, NextHop::Claimed(leaving), MatchCertainty::ByOrder);
    }

    /// Best match at the inputs for a packet that has left and ended, and its certainty. `alike`
    /// receives the packets with the same bytes, if there are several.
    pub(super) fn best(
        &self,
        left: HopId,
        alike: &mut Vec<HopId>,
    ) -> Option<(HopCandidate, MatchCertainty)> {
        let scan = self.scan(left, MappedNode::may_strip_routes)?;
        let closed = scan.own.closed.as_ref()?;
        let mut same = scan.same(closed);
        if let (Some(only), None) = (same.next(), same.next()) {
            let doubted = self.is_doubted(&only, scan.own, closed.all);
            let certainty = if doubted { MatchCertainty::ByOrder } else { MatchCertainty::Certain };
            return Some((only, certainty));
        }
        // Of what may be a host, equal bytes alone show that it strips any.
        if !scan.node.strips_routes() {
            return None;
        }
        let (mut best, mut fronts) = (None::<HopCandidate>, 0);
        for input in scan.inputs() {
            let mut before = 0;
            for found in scan.packets(&input) {
                let candidate = self.fitting(&scan, &input, &found, before);
                before += usize::from(scan.is_waiting(&input, &found));
                let Some(candidate) = candidate else { continue };
                fronts += usize::from(matches!(candidate.fit, ByteFit::Front(_)));
                best = best.into_iter().chain([candidate]).min_by_key(HopCandidate::key);
                if candidate.fit == ByteFit::Same {
                    alike.push(found.id);
                    break;
                }
            }
        }
        let best = best?;
        let doubted = |residue| self.is_doubted(&best, scan.own, residue);
        let came = self.table.get(best.hop).and_then(|hop| hop.closed.as_ref());
        let certain = match best.fit {
            ByteFit::Same => alike.len() == 1 && !doubted(closed.all),
            ByteFit::Front(_) => {
                let enough = best.fit.is_by_bytes(ENOUGH) && fronts == 1;
                enough && !came.is_some_and(|came| doubted(came.rest))
            }
            ByteFit::Merged | ByteFit::OneBit | ByteFit::OneWire => true,
            ByteFit::Hurt(_) => closed.length >= ENOUGH.into() && scan.expects(best.hop),
            ByteFit::Lossy(_) | ByteFit::Elsewhere | ByteFit::Spoilt | ByteFit::Turn => false,
        };
        let certainty = if certain { MatchCertainty::Certain } else { MatchCertainty::ByOrder };
        Some((best, certainty))
    }

    /// Candidate for a packet at an input, with its match quality; `None` if it does not match.
    fn fitting(
        &self,
        scan: &DepartureScan<'_>,
        input: &ScannedInput<'_>,
        found: &ScannedPacket<'_>,
        before: usize,
    ) -> Option<HopCandidate> {
        let (hop, own, closed) = (found.hop, scan.own, scan.own.closed.as_ref()?);
        if scan.cannot_leave(hop) {
            return None;
        }
        let mut candidate = scan.candidate(input, found, before);
        let claimed = scan.expects(found.id);
        let asked = input.is_requested_by(hop.first);
        let turn = if claimed {
            TurnMatch::Its
        } else if !scan.may_turn_back(input) {
            TurnMatch::Back
        } else if hop.is_free()
            && candidate.before == 0
            && candidate.timeliness < DepartureTimeliness::Impossible
        {
            TurnMatch::Maybe
        } else {
            TurnMatch::Not
        };
        let mut fit = fit(hop, own, closed, (asked, turn, input.input.queue.len() < 2));
        if asked && fit.is_none_or(|fit| fit > ByteFit::Merged) {
            let mut behind = input.input.queue.iter().skip(found.place + 1).map(|it| it.id);
            fit = merged(&self.table, hop, closed, &mut behind).map(|_| ByteFit::Merged).or(fit);
        }
        // What left by an output that was not captured may come again, from a host that passes it on, and short packets
        // agree by chance. N-6
        let may_stray = self.requested(hop) != RequestedOutput::Unseen && !own.is_common();
        candidate.fit =
            fit.filter(|it| it.suits(turn) && (may_stray || *it != ByteFit::Elsewhere))?;
        if claimed {
            (candidate.before, candidate.timeliness) = (0, DepartureTimeliness::Possible);
        }
        if self.is_severed(candidate.lane, own) {
            candidate.served = 0;
        }
        Some(candidate)
    }

    /// True if several packets with these bytes were identical at the input or the output, or if FRES at
    /// the output may have removed this one while an identical one waits behind it. R-4
    fn is_doubted(&self, best: &HopCandidate, own: &HopRecord, residue: CrcResidue) -> bool {
        let [input, output] = [best.lane, own.lane].map(|lane| self.net.lane(lane));
        let reset = output.and_then(|output| output.reset);
        let came = self.table.get(best.hop).filter(|came| reset > Some(came.time));
        let content = |hop: &HopRecord| hop.closed.as_ref().map(|closed| closed.all);
        let bytes = came.and_then(content);
        let mut behind = input.into_iter().flat_map(|it| it.queue.iter().skip(best.place + 1));
        [input, output].into_iter().flatten().any(|lane| lane.doubted.contains(&residue))
            || self.net.may_be_unseen(own)
            || (bytes.is_some()
                && behind.any(|it| self.table.get(it.id).and_then(content) == bytes))
    }

    /// True if the time of a reset at the input matches the end of a packet that has left. R-3
    fn is_severed(&self, input: usize, left: &HopRecord) -> bool {
        let (input, output) = (self.net.lane(input), self.net.lane(left.lane));
        let reset = input.and_then(|input| Some(input.reset? + input.until_received?));
        let seen = reset.zip(output.and_then(|output| output.since_sent));
        let ended = left.closed.as_ref().filter(|closed| closed.ended_by == FrameEnd::Gap);
        let seen = seen.zip(ended);
        seen.is_some_and(|((reset, late), ended)| (reset + late).abs_diff(ended.at) <= SEVERED)
    }

    /// True if the origin of a packet that has left may still be arriving.
    pub(super) fn awaits_open(&self, left: HopId) -> bool {
        let Some(own) = self.table.get(left) else { return false };
        let Some(scan) = self.scan(left, MappedNode::strips_routes) else { return false };
        let claimed = own.before.map(|joint| joint.hop);
        let is_sound = own.closed.as_ref().is_some_and(ClosedPacket::is_sound);
        scan.inputs().any(|input| {
            scan.requesting(&input)
                .any(|found| found.hop.closed.is_none() && (!is_sound || claimed == Some(found.id)))
        })
    }

    /// Packets that left merged with the candidate for want of GAPs, in order.
    pub(super) fn appended(&self, candidate: &HopCandidate, left: HopId) -> Vec<HopId> {
        let Some(lane) = self.net.lane(candidate.lane) else { return Vec::new() };
        let behind: Vec<HopId> =
            lane.queue.iter().skip(candidate.place + 1).map(|it| it.id).collect();
        let table = self.table.get(candidate.hop).zip(self.table.get(left));
        table
            .and_then(|(hop, left)| {
                let count =
                    merged(&self.table, hop, left.closed.as_ref()?, &mut behind.iter().copied())?;
                Some(behind.into_iter().take(count).collect())
            })
            .unwrap_or_default()
    }

    /// Scan of the inputs of the switch that a packet leaves; `None` if that strips no route bytes.
    fn scan(&self, leaving: HopId, strips: fn(&MappedNode) -> bool) -> Option<DepartureScan<'_>> {
        let Self { net, table, .. } = self;
        let own = table.get(leaving)?;
        let output = net.lane(own.lane)?;
        let (node, port) = net.node_at(output.from).filter(|(node, _)| strips(node))?;
        let left = output.since_sent.map(|late| own.time.saturating_sub(late));
        let ended = own.held.output.map_or(0, |(_, ended)| ended);
        let free = ended.max(own.held.resumed.unwrap_or(0));
        let (served, passage) = (output.served, output.passage);
        Some(DepartureScan { net, table, own, node, port, passage, served, left, ended, free })
    }
}

/// Packets at the inputs of the switch that a packet leaves, at the time of its departure.
struct DepartureScan<'a> {
    net: &'a NetworkMap,
    table: &'a HopTable,
    own: &'a HopRecord,
    node: &'a MappedNode,
    /// Number of the output port.
    port: PortId,
    passage: VirtualPassage,
    /// Input port that the output served last. S-5
    served: PortId,
    left: Option<Picoseconds>,
    ended: Picoseconds,
    free: Picoseconds,
}

struct ScannedInput<'a> {
    lane: usize,
    input: &'a MappedChannel,
    port: PortId,
    /// Route bytes that select the output.
    bytes: [Option<u8>; 2],
}

struct ScannedPacket<'a> {
    id: HopId,
    hop: &'a HopRecord,
    /// Position in the input's queue.
    place: usize,
}

impl ScannedInput<'_> {
    fn is_requested_by(&self, first: u8) -> bool {
        self.bytes.contains(&Some(first))
    }
}

impl<'a> DepartureScan<'a> {
    fn inputs(&self) -> impl Iterator<Item = ScannedInput<'a>> {
        self.node.inputs.iter().filter_map(|lane| {
            let input = self.net.lane(*lane).filter(|input| {
                !input.queue.is_empty() && self.passage.is_for(input.passage.number)
            })?;
            let (_, port) = input.to?;
            let bytes = self.node.bytes_to(port, self.port);
            Some(ScannedInput { lane: *lane, input, port, bytes })
        })
    }

    /// False for the input of the output's own port, while only one of two possible addressings leads back there.
    fn may_turn_back(&self, input: &ScannedInput<'a>) -> bool {
        let [one, other] = input.bytes;
        input.port != self.port || one == other || one.is_none() || other.is_none()
    }

    /// Packets of an input that arrived before the departure; path formation takes time. S-6
    fn packets(&self, input: &ScannedInput<'a>) -> impl Iterator<Item = ScannedPacket<'a>> {
        self.packets_with(input, |_| true)
    }

    /// Packets of an input whose first byte selects the output.
    fn requesting(&self, input: &ScannedInput<'a>) -> impl Iterator<Item = ScannedPacket<'a>> {
        self.packets_with(input, |first| input.is_requested_by(first))
    }

    /// Packets of an input that arrived before the departure, with certain first bytes.
    fn packets_with(
        &self,
        input: &ScannedInput<'a>,
        keeps: impl Fn(u8) -> bool,
    ) -> impl Iterator<Item = ScannedPacket<'a>> {
        let packets = input.input.queue.iter().enumerate().take(PASSED_OVER);
        packets
            .filter(move |(_, it)| keeps(it.first))
            .take(LOOKED_AT)
            .filter_map(|(place, it)| {
                Some(ScannedPacket { id: it.id, hop: self.table.get(it.id)?, place })
            })
            .take_while(|found| found.hop.time < self.own.time)
    }

    /// Requesting packets with the same bytes as the departed one, at most one of each input.
    fn same(&self, closed: &ClosedPacket) -> impl Iterator<Item = HopCandidate> {
        self.inputs().filter_map(|input| {
            let found = self.requesting(&input).find(|found| {
                let bytes = found.hop.closed.as_ref().filter(|_| !self.cannot_leave(found.hop));
                bytes.is_some_and(|came| came.becomes(closed))
            })?;
            Some(HopCandidate::same(found.id, input.lane, found.place))
        })
    }

    /// True if a packet has left elsewhere, or FRES has removed it before the departure. R-2
    fn cannot_leave(&self, hop: &HopRecord) -> bool {
        hop.is_gone() || hop.is_emptied(self.own.time)
    }

    fn is_gone(&self, input: &MappedChannel, hop: &HopRecord) -> bool {
        let ready = input.ready(hop.time).map(|ready| ready.max(self.free));
        hop.is_emptied(self.own.time)
            || passing(self.left, ready) > Some(STANDS * self.node.path(input))
    }

    /// True for the packet that was assumed to leave when the departure began.
    fn expects(&self, packet: HopId) -> bool {
        self.own.before.is_some_and(|joint| joint.hop == packet)
    }

    fn is_waiting(&self, input: &ScannedInput<'a>, found: &ScannedPacket<'_>) -> bool {
        // If another packet is the one that leaves, the one assumed at first still waits.
        let waits = found.hop.is_free() || self.expects(found.id);
        waits && found.hop.passed.is_none() && !self.is_gone(input.input, found.hop)
    }

    fn candidate(
        &self,
        scanned: &ScannedInput<'a>,
        found: &ScannedPacket<'_>,
        before: usize,
    ) -> HopCandidate {
        let ScannedInput { lane, input, port, .. } = *scanned;
        let ScannedPacket { id, hop, place } = *found;
        let ready = input.ready(hop.time);
        let timeliness = match (passing(self.left, ready), self.node.fastest) {
            _ if self.is_gone(input, hop) => DepartureTimeliness::Impossible,
            (Some(took), Some(fastest)) if took + self.node.token(input) < fastest => {
                DepartureTimeliness::Doubtful
            }
            (Some(took), Some(fastest)) if took < fastest => DepartureTimeliness::Unheard,
            (_, _) => DepartureTimeliness::Possible,
        };
        let turn = distance(self.served, port);
        // The token's travel is approximated modulo 8 ports.
        let served = ready.unwrap_or(hop.time).max(self.ended) + STEP * Picoseconds::from(turn % 8);
        HopCandidate { hop: id, lane, place, fit: ByteFit::Same, before, timeliness, served, turn }
    }
}

/// Time that a packet took to pass a switch, if known.
fn passing(left: Option<Picoseconds>, ready: Option<Picoseconds>) -> Option<Picoseconds> {
    left.zip(ready).map(|(left, ready)| left.saturating_sub(ready))
}

/// Number of inputs that the token visits before this one. S-5
const fn distance(served: PortId, input: PortId) -> u8 {
    input.0.wrapping_sub(served.0).wrapping_sub(1)
}
