//! Completed journeys and the latencies of their hops.

use std::sync::Arc;

use crate::event::Picoseconds;
use codec::capture::ChannelId;
use codec::packet::{CappedBytes, CrcCheck, PacketTag};
use codec::route::{PortId, is_route_byte};
use codec::time::Tick;

use super::JourneyTracker;
use super::corruption::{self, CorruptionSite};
use super::hop_record::{BlockingPackets, ClosedPacket, HopId, HopRecord, NextHop};
use super::network_map::MappedChannel;
use super::outcome::{JourneyFate, MatchCertainty, WaitReason};
use super::relays::{ArrivedPacket, PAYLOAD_MIN, RelayedFrom};
use crate::ip::ParsedIp;
use crate::packet::transport::ParsedTransport;
use crate::packet::{CapturedMapping, FrameEnd, StartCoverage};

/// The passage of one packet over the captured links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journey {
    /// Number of the journey from 0, in order of completion.
    pub number: u64,
    /// The captured links of its path, in order; at least one.
    pub hops: Vec<JourneyHop>,
    /// Route bytes on the first of them, if there are at most 16. P-2
    pub route: Option<CappedBytes>,
    /// Tag on the last of them on which its start was recorded. P-2
    pub tag: Option<PacketTag>,
    /// Number of bytes between tag and CRC byte on the last of them.
    pub payload: u64,
    /// Fate of the packet.
    pub fate: JourneyFate,
    /// Lowest certainty of the matches between hops.
    pub certainty: MatchCertainty,
    /// Corruptions of the packet, in order.
    pub injuries: Vec<CorruptionSite>,
    /// Reliability protocol only: the header on the first link that has its tag and a good CRC;
    /// otherwise on the first link that has its tag. T-7
    pub transport: Option<Box<ParsedTransport>>,
    /// Mapping only: the packet on the first link that has its tag and a good CRC; otherwise on the
    /// first link that has its tag. N-2
    pub mapping: Option<Arc<CapturedMapping>>,
    /// IP only: likewise. H-1
    pub ip: Option<Box<ParsedIp>>,
    /// The journey of which this packet is a copy: the sending host had received it before. N-6
    pub relayed: Option<RelayedFrom>,
    /// Number of the first reported journey of the same packet, if a switch made this copy of it. S-9
    pub branch_of: Option<u64>,
    /// Number of the first hops that the journey of an earlier copy has too. S-9
    pub shared: usize,
}

/// A packet on one captured channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JourneyHop {
    /// The channel.
    pub channel: ChannelId,
    /// Number of the packet on this channel.
    pub packet: u64,
    /// Position of its first byte.
    pub start: Tick,
    /// Position of its last byte.
    pub end: Tick,
    /// Time of its first byte at the tap.
    pub time: Picoseconds,
    /// Time of the character that ended it: a stopped packet holds the channel behind its last byte too.
    pub closed: Picoseconds,
    /// Time from which all channels of its switches must have been recorded, for it to be known which packet it is.
    pub(crate) since: Picoseconds,
    /// Length in bytes, including the CRC byte.
    pub length: u64,
    /// Coverage of its first byte on this channel.
    pub opening: StartCoverage,
    /// Result of the CRC check on this channel.
    pub check: CrcCheck,
    /// Cause of its end on this channel.
    pub ended_by: FrameEnd,
    /// Its first byte, if it is a route byte. P-2
    pub route: Option<u8>,
    /// The output port at the switch behind this channel, used or requested, if known.
    pub output: Option<PortId>,
    /// Number of switches before the next captured channel: 1, plus one for each uncaptured link
    /// between; 0 for the last hop, and across a fibre.
    pub switches: u64,
    /// Time from its first byte here to its first byte on the next captured channel, less the cable
    /// delays that are known.
    pub latency: Option<Picoseconds>,
    /// Part of the latency spent waiting for other packets or a stopped output. If the longest path
    /// formation of the switch is known: the time beyond it; otherwise the time until the last
    /// obstacle ended. 0 if nothing was in the way; `None` if a cable delay is unknown or a link
    /// between was not captured. S-6
    pub waited: Option<Picoseconds>,
    /// Reason for the wait, if it waited.
    pub waited_for: Option<WaitReason>,
    /// Part of the latency beyond the longest path formation of the switch; `None` if that or a
    /// cable delay is unknown, or a link between was not captured. S-6
    pub beyond: Option<Picoseconds>,
}

impl Journey {
    /// Its corruptions but those of hops that the journey of an earlier copy has. S-9
    pub fn own_injuries(&self) -> impl Iterator<Item = &CorruptionSite> {
        let shared = self.hops.get(..self.shared).unwrap_or_default();
        self.injuries.iter().filter(|it| shared.iter().all(|hop| hop.channel != it.seen))
    }
}

impl JourneyTracker {
    /// Reports the journey of a packet if all its hops have ended and its fate is known.
    pub(super) fn emit_if_complete(&mut self, id: HopId, out: &mut Vec<Journey>) {
        let mut chain = std::mem::take(&mut self.chain);
        chain.clear();
        if self.complete_chain(id, &mut chain).is_some() {
            let copied = (1..)
                .zip(&chain)
                .find_map(|(hops, id)| Some((self.table.get(*id)?.copied_of?, hops)));
            let branch = copied.and_then(|(copied, hops)| Some((self.branch_of(copied)?, hops)));
            let hops = || chain.iter().filter_map(|id| self.table.get(*id));
            let last = hops().next_back();
            let closed = last.and_then(|hop_record| hop_record.closed.as_ref());
            let begun = |hop_record: &&HopRecord| !hop_record.is_part();
            let certainty =
                hops().skip(1).filter_map(|hop_record| Some(hop_record.before?.certainty)).max();
            let journey = Journey {
                number: self.reported,
                hops: self.hops(&chain),
                route: hops().next().filter(begun).and_then(|it| it.closed.as_ref()?.route()),
                tag: hops().rev().find(begun).and_then(|it| it.closed.as_ref()?.tag),
                payload: closed.map_or(0, |it| it.payload),
                fate: last.and_then(|hop_record| hop_record.fate).unwrap_or(JourneyFate::UnderWay),
                certainty: certainty.unwrap_or(MatchCertainty::Certain),
                injuries: self.injuries(&chain),
                transport: first(hops, |closed| closed.transport.as_ref(), |it| it.check),
                mapping: first(hops, |closed| closed.mapping.as_ref(), |it| it.check),
                ip: first(hops, |closed| closed.ip.as_ref(), |it| it.check),
                relayed: self.relayed_from(&chain),
                branch_of: branch.map(|(first, _)| first),
                shared: branch.map_or(0, |(_, hops)| hops),
            };
            self.keep_arrived(&journey, &chain);
            self.reported += 1;
            chain.iter().for_each(|id| self.table.remove(*id));
            out.push(journey);
            if let Some(over) = self.over.take() {
                self.end_copied(over);
            }
        }
        self.chain = chain;
    }

    /// Node at the end of a packet's channel, if it is no switch.
    fn host(
        &self,
        hop_record: &HopRecord,
        end: fn(&MappedChannel) -> Option<(usize, PortId)>,
    ) -> Option<usize> {
        let place = end(self.net.lane(hop_record.lane)?);
        let (node, _) = self.net.node_at(place)?;
        place.map(|(place, _)| place).filter(|_| !node.is_switch())
    }

    /// The journey of which a packet is a copy.
    fn relayed_from(&self, chain: &[HopId]) -> Option<RelayedFrom> {
        let (first, last) = (self.table.get(*chain.first()?)?, self.table.get(*chain.last()?)?);
        let closed = last.closed.as_ref().filter(|it| it.payload >= PAYLOAD_MIN)?;
        let host = self.host(first, |lane| lane.from)?;
        let node = self.net.nodes.get(host).and_then(|node| node.router).unwrap_or(host);
        self.arrivals.last_before((node, closed.length, closed.all), first.time)
    }

    /// Keeps a good packet that has reached a host, for its copies.
    fn keep_arrived(&mut self, journey: &Journey, chain: &[HopId]) {
        let last = chain.last().and_then(|id| self.table.get(*id));
        let Some((hop_record, closed)) =
            last.and_then(|hop_record| Some((hop_record, hop_record.closed.as_ref()?)))
        else {
            return;
        };
        if journey.fate == JourneyFate::Arrived
            && closed.is_sound()
            && closed.payload >= PAYLOAD_MIN
            && let Some(node) = self.host(hop_record, |lane| lane.to)
        {
            let (length, content, end) = (closed.length, closed.all, closed.at);
            let journey = journey.number;
            let arrived = ArrivedPacket { node, length, content, journey, end };
            self.arrivals.add(content, node, arrived);
        }
    }

    /// Collects all hops of a packet; `None` if the journey is not complete.
    fn complete_chain(&self, id: HopId, chain: &mut Vec<HopId>) -> Option<()> {
        let mut at = id;
        while let Some(before) = self.table.get(at)?.before {
            at = before.hop;
        }
        loop {
            let hop_record = self.table.get(at)?;
            hop_record.closed.as_ref().filter(|_| !hop_record.undecided)?;
            chain.push(at);
            match hop_record.onward {
                NextHop::Gone(next) => at = next,
                NextHop::Nowhere => return hop_record.fate.map(|_| ()),
                NextHop::Claimed(_) => return None,
            }
        }
    }

    fn hops(&self, chain: &[HopId]) -> Vec<JourneyHop> {
        let nexts = chain.iter().skip(1).map(|id| self.table.get(*id)).chain([None]);
        let mut hops = Vec::with_capacity(chain.len());
        for (id, next) in chain.iter().zip(nexts) {
            if let Some(hop) = self.table.get(*id).and_then(|hop_record| self.hop(hop_record, next))
            {
                hops.push(hop);
            }
        }
        hops
    }

    fn hop(&self, hop_record: &HopRecord, next: Option<&HopRecord>) -> Option<JourneyHop> {
        let lane = self.net.lane(hop_record.lane)?;
        let closed = hop_record.closed.as_ref()?;
        let switches = next.and_then(|next| next.before).map_or(0, |joint| joint.switches);
        let output = next.and_then(|next| self.net.lane(next.lane));
        let port = match (output, switches) {
            (Some(output), 1) => output.from.map(|(_, port)| port),
            (Some(_) | None, _) => self.requested_port(hop_record),
        };
        let mut hop = JourneyHop {
            channel: lane.id,
            packet: hop_record.number,
            start: hop_record.start,
            end: closed.end,
            time: hop_record.time,
            closed: closed.at,
            since: hop_record.since,
            length: closed.length,
            opening: closed.opening,
            check: closed.check,
            ended_by: closed.ended_by,
            route: Some(hop_record.first)
                .filter(|first| is_route_byte(*first) && !hop_record.is_part()),
            output: port,
            switches,
            latency: None,
            waited: None,
            waited_for: None,
            beyond: None,
        };
        // Times of unlike clocks tell no latency.
        let output = output.filter(|_| switches != 1 || !self.net.is_apart(lane.to));
        if let (Some(next), Some(output)) = (next, output) {
            let known = lane.until_received.zip(output.since_sent).filter(|_| switches == 1);
            // Outputs of a multicast are requested one after the other. S-9
            let known = known.filter(|_| hop_record.copied_of.is_none());
            let cables = lane.until_received.unwrap_or(0) + output.since_sent.unwrap_or(0);
            let latency = (next.time - hop_record.time.min(next.time)).saturating_sub(cables);
            hop.latency = Some(latency);
            let timed = known.filter(|_| !next.held.is_behind_unseen(hop_record.number));
            hop.beyond = timed.and(lane.path).map(|path| latency.saturating_sub(path));
            let held = next.held.in_the_way(hop_record, next.time, [lane, output]);
            let waited = held.map_or(0, |(held, _)| hop.beyond.unwrap_or(held.min(latency)));
            hop.waited = known.map(|_| waited);
            hop.waited_for = held.filter(|_| known.is_some() && waited > 0).map(|(_, by)| by);
        }
        Some(hop)
    }

    fn requested_port(&self, hop_record: &HopRecord) -> Option<PortId> {
        if hop_record.is_part() {
            return None;
        }
        let lane = self.net.lane(hop_record.lane)?;
        let (node, input) = self.net.node_at(lane.to)?;
        if let Some(output) = hop_record.awaits.and_then(|output| self.net.lane(output)) {
            return output.from.map(|(_, port)| port);
        }
        match node.selects(hop_record.first, input) {
            [Some(one), Some(other)] if one != other => None,
            [one, other] => one.or(other),
        }
    }

    fn injuries(&self, chain: &[HopId]) -> Vec<CorruptionSite> {
        let hops = || chain.iter().filter_map(|id| self.table.get(*id));
        let channel = |hop_record: &HopRecord| self.net.lane(hop_record.lane).map(|lane| lane.id);
        let first = hops().next().and_then(|hop_record| {
            corruption::before_the_first(channel(hop_record)?, hop_record, opening(hops()))
        });
        // A copy has the bytes that its header requires. S-9
        let pairs = hops().zip(hops().skip(1)).filter(|(came, _)| came.copied_of.is_none());
        let later = pairs.filter_map(|(came, left)| {
            corruption::between((channel(came)?, came), (channel(left)?, left), &left.before?)
        });
        first.into_iter().chain(later).collect()
    }
}

/// Coverage of the packet's first byte on its first channel. A later hop of the same original
/// length, recorded from its first byte, proves that it was captured.
fn opening<'a>(hops: impl Iterator<Item = &'a HopRecord>) -> StartCoverage {
    let mut stripped = 0;
    let mut lengths = hops.filter_map(|hop_record| {
        stripped += hop_record.before.map_or(0, |joint| joint.switches);
        let closed = hop_record.closed.as_ref()?;
        Some((closed.opening, closed.length + stripped))
    });
    let Some((opening, length)) = lengths.next() else { return StartCoverage::Unsure };
    if lengths.any(|later| later == (StartCoverage::Seen, length)) {
        StartCoverage::Seen
    } else {
        opening
    }
}

/// Contents of the first hop with a good CRC, or else of the first hop that has them.
fn first<'a, T: Clone + 'a, I: Iterator<Item = &'a HopRecord>>(
    hops: impl Fn() -> I,
    contents: impl Fn(&'a ClosedPacket) -> Option<&'a T>,
    check: impl Fn(&T) -> CrcCheck,
) -> Option<T> {
    let seen = || hops().filter_map(|hop_record| contents(hop_record.closed.as_ref()?));
    let good = seen().find(|seen| check(seen) == CrcCheck::Good);
    good.or_else(|| seen().next()).cloned()
}

impl BlockingPackets {
    /// Last obstacle of a packet at a switch whose first byte was seen behind it at a time, and how long it remained
    /// after the packet's arrival; `None` if nothing was in the way.
    pub(super) fn in_the_way(
        &self,
        came: &HopRecord,
        seen: Picoseconds,
        [input, output]: [&MappedChannel; 2],
    ) -> Option<(Picoseconds, WaitReason)> {
        let since = came.time + input.until_received.unwrap_or(0);
        let delay = output.since_sent.unwrap_or(0);
        let (left, obeys) = (seen.saturating_sub(delay), Picoseconds::from(output.obeys));
        // Bytes come from the sender, GO goes to it. If the last GO came too late, one before it may have let it go.
        let resumed = self.resumed.map(|at| at + delay);
        let obstacles = [
            self.output.map(|(packet, at)| (at.saturating_sub(delay), WaitReason::Output(packet))),
            resumed.filter(|at| *at <= left).map(|at| (left.min(at + obeys), WaitReason::Stop)),
            self.input.map(|(packet, at)| (at, WaitReason::Input(packet))),
        ];
        let late = resumed.filter(|at| *at > left && left > since);
        // On equal times the packet ahead at the same input is the more specific reason.
        let last = obstacles.into_iter().flatten().max_by_key(|(at, _)| *at);
        let last = last.filter(|(at, _)| *at > since).or(late.map(|_| (left, WaitReason::Stop)));
        last.map(|(at, by)| (at - since, by))
    }
}
