//! A scenario at work, and all laws held against it from rest to rest, so that memory stays bounded.

use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{ByteOrder, CaptureWriter, WriteError};
use codec::packet::CrcCheck;
use simulator::fault::FaultSpec;
use simulator::interface::ConsumptionMode;
use simulator::link::tagged_char::PacketId;
use simulator::messaging::{MICROSECOND, ProtocolLayers};
use simulator::network::{Network, VisitOrder};
use simulator::port::PortLed;
use simulator::scenario::{PortTap, Scenario};
use simulator::topology::NodePort;
use simulator::truth::{RuleId, TraceLevel, TruthEvent, TruthEventKind};

use super::generator::MILLISECOND;
use super::quiescence::{QuiescenceDetector, busy, calm_time};
use super::{StormCounts, laws};
use crate::delivery::{NetworkDelivery, loses_nothing};
use crate::network::facts::stands_still;
use crate::network::run::RunOutcome;

/// Number of times that it is looked whether the network is at rest.
const SLICE: u64 = 250 * MICROSECOND;
/// Time that a fault of a moment, or raw characters, may still be felt after it.
const FELT: u64 = 2 * MILLISECOND;
/// Periods that a packet of a roll call may take over a link, at most. *Chosen*: some fifty characters, to a
/// host that takes one in 64 periods, and as much again for all switches on the way.
const LONE: u64 = 1 << 13;
/// Time that an IP packet may be under way, at most. *Chosen*: the longest one, to the slowest host.
const IP_MAX: u64 = 20 * MILLISECOND;
/// Most rows of truth from rest to rest that are kept, and most bytes of capture. *Chosen*: some hundred
/// megabytes in all.
const ROWS_MAX: usize = 400_000;
const BYTES_MAX: usize = 64 << 20;

struct StormEpisode {
    from: u64,
    rows: Vec<TruthEvent>,
    file: Result<CaptureWriter<Vec<u8>>, WriteError>,
    bytes: usize,
    size: EpisodeSize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EpisodeSize {
    Kept,
    TooLarge,
}

pub(super) struct StormRun<'a> {
    scenario: &'a Scenario,
    network: Network,
    delivery: Option<NetworkDelivery<'a>>,
    rest: QuiescenceDetector,
    episode: StormEpisode,
    /// Time when all must have come to rest, if it can: after that what is sent arrives.
    calm: Option<u64>,
    /// Packets sent since then that have not arrived.
    sent: BTreeSet<PacketId>,
    /// Time of the last IP packet: a connection that has lost one sends it again at any time. H-1
    last_ip: u64,
    /// Ports that may give up on a packet that is alone.
    hasty: BTreeSet<NodePort>,
    begun: laws::MessagesBefore,
    counts: StormCounts,
}

impl<'a> StormRun<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let network = Network::new(scenario, TraceLevel::Everything, VisitOrder::AsGiven);
        let mut plans = scenario.messaging.values();
        let reliable = plans.all(|plan| plan.parameters.layers != ProtocolLayers::Baseline);
        Self {
            scenario,
            delivery: reliable.then(|| NetworkDelivery::new(scenario)),
            rest: QuiescenceDetector::new(scenario),
            episode: StormEpisode::new(0, &network),
            calm: calm(scenario),
            sent: BTreeSet::new(),
            last_ip: 0,
            hasty: hasty(scenario),
            begun: laws::MessagesBefore::None,
            counts: StormCounts::of(scenario),
            network,
        }
    }

    pub(super) fn run(mut self) -> StormCounts {
        let taps = self.scenario.taps.iter();
        let mut edges: BTreeSet<u64> = taps.flat_map(|tap| [tap.from, tap.to]).collect();
        edges.insert(self.scenario.duration);
        while self.network.now() < self.scenario.duration {
            let now = self.network.now();
            let edge = edges.range(now + 1..).next().copied().unwrap_or(u64::MAX);
            self.network.run((now + SLICE).min(edge).min(self.scenario.duration));
            self.look();
            let now = self.network.now();
            let is_at_rest = self.rest.is_at(now) && self.is_clear();
            if is_at_rest && (!self.episode.rows.is_empty() || edges.contains(&now)) {
                self.close();
            }
        }
        self.network.finish();
        self.look();
        self.settled();
        self.close();
        self.counts.stepped = self.scenario.duration - self.network.skipped_periods();
        self.counts.messages = self.delivery.as_ref().map_or(0, |it| it.checker.messages()) as u64;
        self.counts
    }

    /// Tests whether no packet is in transit, and no channel is inside one: of a packet whose end was lost in a
    /// slack buffer, what it has sent stays open behind it. F-9
    fn is_clear(&self) -> bool {
        let network = &self.network;
        let mut ports = self.scenario.topology.cables().iter().flat_map(|cable| cable.ends);
        let is_inside =
            |port| network.port_state(port).is_some_and(|(_, light)| light == PortLed::Yellow);
        network.in_transit() == 0 && !ports.any(is_inside)
    }

    /// Takes in what has happened and what has been recorded.
    fn look(&mut self) {
        let Self { network, rest, episode, delivery, .. } = self;
        let (calm, sent, counts) = (self.calm, &mut self.sent, &mut self.counts);
        let last_ip = &mut self.last_ip;
        let hasty = &self.hasty;
        for row in network.drain_events() {
            rest.see(&row);
            delivery.iter_mut().for_each(|it| it.record(&row, &mut |_| 1));
            if let (Some(id), TruthEventKind::Injected { .. }) = (row.packet, &row.kind) {
                counts.packets += 1;
                sent.extend((Some(row.at) >= calm && calm.is_some()).then_some(id));
            }
            if let (Some(id), TruthEventKind::Consumed { check: CrcCheck::Good, .. }) =
                (row.packet, &row.kind)
            {
                sent.remove(&id);
            }
            if let TruthEventKind::IpTransmitted(_) = row.kind {
                *last_ip = row.at;
            }
            // Most probes of a mapper are lost: there is nothing where they go. N-2
            if let (Some(id), TruthEventKind::MappingTransmitted(_)) = (row.packet, &row.kind) {
                sent.remove(&id);
            }
            if matches!(row.kind, TruthEventKind::Blocked(_)) && hasty.contains(&row.place) {
                sent.clear();
            }
            // The reset of such a port stays open to the next GAP, which is that of a later packet. R-2
            if let (Some(id), TruthEventKind::Dropped(RuleId("R-2")), false) =
                (row.packet, &row.kind, hasty.is_empty())
            {
                sent.remove(&id);
            }
            episode.rows.push(row);
        }
        let StormEpisode { file, bytes, size, rows, .. } = episode;
        let written = network.flush_recorded(&mut |id, chunk| {
            let (chars, _) = chunk.content.parts();
            *bytes += chars.len() + 32;
            match file {
                Ok(file) if *size == EpisodeSize::Kept => file.write(id, chunk),
                Ok(_) | Err(_) => Ok(()),
            }
        });
        assert!(written.is_ok(), "what is recorded can be written: {:?}", written.err());
        if rows.len() > ROWS_MAX || *bytes > BYTES_MAX {
            *size = EpisodeSize::TooLarge;
            rows.truncate(1);
        }
    }

    /// Holds the laws against what there is since the last rest.
    fn close(&mut self) {
        let now = self.network.now();
        let next = StormEpisode::new(now, &self.network);
        let StormEpisode { from, rows, file, size, .. } =
            std::mem::replace(&mut self.episode, next);
        self.counts.episodes += u64::from(!rows.is_empty());
        let open = self.delivery.as_ref().map_or(0, |it| it.checker.open());
        let begun = if open > 0 { laws::MessagesBefore::Some } else { laws::MessagesBefore::None };
        let begun = std::mem::replace(&mut self.begun, begun);
        if size == EpisodeSize::TooLarge {
            self.counts.too_large += 1;
            return;
        }
        let part = part(self.scenario, from, now);
        let capture = file.and_then(CaptureWriter::finish);
        assert!(capture.is_ok(), "what is recorded can be written: {:?}", capture.err());
        let outcome = RunOutcome {
            from,
            channels: self.network.channels().to_vec(),
            capture: capture.unwrap_or_default(),
            rows,
            under_way: self.network.in_transit(),
            passed: BTreeMap::new(),
            hosts: BTreeMap::new(),
            routes: BTreeMap::new(),
            skipped: 0,
        };
        laws::held(&part, &outcome, &mut self.counts);
        if laws::is_whole(&part, from) {
            self.counts.recorded += now - from;
            laws::agreed(&part, outcome, begun, &mut self.counts);
        }
    }

    /// Time when nothing has broken for long, and nothing new is to be sent, all has come to rest, unless an IP packet
    /// is on its way; but for where slack buffers can overflow. There the end of a packet may be lost for good. F-9
    fn settled(&mut self) {
        let speaks = self.last_ip > 0 && self.last_ip + IP_MAX > self.scenario.duration;
        if self.calm.is_none() || speaks || !loses_nothing(self.scenario) {
            return;
        }
        // A mapper never rests.
        if self.scenario.mapping.is_none() {
            let (unsettled, under_way) = (self.rest.unsettled(), self.network.in_transit());
            assert!(
                under_way == 0,
                "the network becomes quiescent. N-1: {under_way} packets are under way"
            );
            assert!(unsettled.is_empty(), "the network becomes quiescent. F-2, F-7: {unsettled:?}");
            self.counts.checked("the network becomes quiescent", 1);
        }
        self.delivery.iter().for_each(|it| it.checker.settled());
        let sent = &self.sent;
        assert!(sent.is_empty(), "packets sent after the last fault arrive. I-4: not {sent:?}");
        self.counts.checked("packets sent after the last fault arrive", 1);
    }
}

impl StormEpisode {
    fn new(from: u64, network: &Network) -> Self {
        let file = CaptureWriter::new(Vec::new(), ByteOrder::Little, network.channels());
        Self { from, rows: Vec::new(), file, bytes: 0, size: EpisodeSize::Kept }
    }
}

/// The part of a scenario that may be felt in a time.
fn part(scenario: &Scenario, from: u64, to: u64) -> Scenario {
    let felt = |fault: &&FaultSpec| {
        let end = mended(fault).unwrap_or(u64::MAX);
        fault.at < to && end.saturating_add(FELT) > from
    };
    let faults = scenario.faults.iter().filter(felt).cloned().collect();
    let raw = scenario.raw.iter().filter(|raw| raw.at < to && raw.at + FELT > from);
    let taps = scenario.taps.iter().filter(|tap| tap.from < to && tap.to > from).copied();
    let mut taps: Vec<PortTap> = taps.collect();
    taps.sort_by_key(|tap| (tap.port, tap.from));
    Scenario { duration: to, faults, raw: raw.cloned().collect(), taps, ..scenario.clone() }
}

/// Ports with a blocked-packet timeout that a packet alone may outlast. R-4
fn hasty(scenario: &Scenario) -> BTreeSet<NodePort> {
    let cables = scenario.topology.cables().iter();
    let ends = cables.flat_map(|cable| cable.ends.into_iter().zip(cable.link.ports));
    ends.filter(|(_, port)| port.blocked.0 < LONE).map(|(end, _)| end).collect()
}

fn mended(fault: &FaultSpec) -> Option<u64> {
    match fault.until {
        None if fault.kind.lasts() => None,
        until => Some(until.unwrap_or(fault.at)),
    }
}

/// Time when a scenario is calm for good: nothing breaks any more, and no new messages begin.
fn calm(scenario: &Scenario) -> Option<u64> {
    let mended: Option<Vec<u64>> = scenario.faults.iter().map(mended).collect();
    let said = scenario.messaging.values().flat_map(|plan| &plan.streams);
    let said: Option<Vec<u64>> = said.map(|it| it.count.map(|_| it.start)).collect();
    let raw = scenario.raw.iter().map(|raw| raw.at);
    // A packet alone meets no others in calm weather.
    let many = scenario.streams.iter().filter(|stream| stream.packets != Some(1));
    let sent = many.map(|stream| stream.start);
    let last = mended?.into_iter().chain(said?).chain(raw).chain(sent).max().unwrap_or(0);
    let ended = scenario.streams.iter().all(|stream| stream.packets.is_some());
    let calm = last.checked_add(calm_time(&scenario.topology))?.checked_add(busy(scenario))?;
    // Neither takes the last of what has come.
    let holds = |how| matches!(how, ConsumptionMode::Never | ConsumptionMode::Adversary);
    let takes = !scenario.interfaces.iter().any(|(_, own)| holds(own.consumption));
    let moves = !scenario.faults.iter().any(|it| stands_still(&scenario.topology, it));
    (ended && takes && moves && calm < scenario.duration).then_some(calm)
}
