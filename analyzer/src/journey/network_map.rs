//! Hosts and switches by the names of channels, and the addressing of switches. S-1

use crate::event::Picoseconds;
use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId};
use codec::route::{PORTS_MAX, PortId, RouteAddressing};
use codec::time::FULL_RATE_PERIOD_PS;

use super::byte_reading::{ByteReading, count_vote};
use super::channel_traffic::ChannelTraffic;
use super::hop_record::HopRecord;
use super::multicast::MulticastTable;
use super::passage::VirtualPassage;
use crate::channel_name::{ChannelEnds, PortName, TapEnd};
use crate::channel_table::ChannelTable;
use crate::link::parameters::{ChannelParameters, LinkAssumptions, ParameterKey};
use crate::node_kind::{HeadCounts, TopologyNodeKind};

/// Assumed delay of a cable of unknown length. *Chosen*: that of some ten kilometres.
pub(super) const DELAY: Picoseconds = 4096 * FULL_RATE_PERIOD_PS as Picoseconds;
/// Assumed cells of an undeclared slack buffer and characters on its cable. *Chosen*: far more than
/// any real one (F-4).
const CELLS: u64 = 4096;

/// Maximum of inputs of a node at which packets are matched. *Chosen*: every port that a route byte
/// can select, tapped twice.
const INPUTS_MAX: usize = 2 * PORTS_MAX as usize;

/// Part of a path formation that is equal for all inputs. *Chosen*: as in S-6.
const ROUTING: Picoseconds = 28 * FULL_RATE_PERIOD_PS as Picoseconds;
/// Travel time of the token past a port. *Chosen*: as in S-5.
const TOKEN_STEP: Picoseconds = 2 * FULL_RATE_PERIOD_PS as Picoseconds;

/// Possible addressings of a switch. S-1
const WAYS: [RouteAddressing; 2] = [RouteAddressing::Absolute, RouteAddressing::Relative];

/// All channels and nodes of a capture.
#[derive(Debug, Default)]
pub(super) struct NetworkMap {
    pub(super) lanes: Vec<MappedChannel>,
    places: ChannelTable<usize>,
    pub(super) nodes: Vec<MappedNode>,
    names: BTreeMap<String, usize>,
}

#[derive(Debug)]
pub(super) struct MappedChannel {
    /// End of the latest time without recorded characters, or of the latest reset with data.
    pub(super) blind_until: Option<Picoseconds>,
    pub(super) id: ChannelId,
    pub(super) from: Option<(usize, PortId)>,
    pub(super) to: Option<(usize, PortId)>,
    pub(super) passage: VirtualPassage,
    /// Time from the tap to the receiver, if known.
    pub(super) until_received: Option<Picoseconds>,
    /// Time from the sender to the tap, if known.
    pub(super) since_sent: Option<Picoseconds>,
    /// Picoseconds after a command is at its sender, at most, until that obeys. F-1
    pub(super) obeys: u32,
    /// Longest path formation of the switch behind it without contention, if known. S-6
    pub(super) path: Option<Picoseconds>,
    /// Its STOPs, if the parameters are known.
    pub(super) stop: Option<StopThreshold>,
    /// Maximum of bytes between the tap and the switch behind it.
    pub(super) room: u64,
    /// Its traffic, from the first event on.
    pub(super) traffic: Option<Box<ChannelTraffic>>,
}

/// STOP of the slack buffer behind a channel. F-3
#[derive(Clone, Copy, Debug)]
pub(super) struct StopThreshold {
    /// Number of full cells at which STOP is generated.
    pub(super) cells: u64,
    /// Maximum number of bytes between the one that fills the last of these cells and STOP, at the tap.
    pub(super) lag: u64,
}

/// A host or a switch.
#[derive(Debug, Default)]
pub(super) struct MappedNode {
    pub(super) inputs: Vec<usize>,
    /// Outputs by port and by virtual channel on which a packet came: of each, all recordings of its wire. C-7
    pub(super) outputs: BTreeMap<(PortId, u8), Vec<usize>>,
    /// Highest known port: with one other than port 0, the node is a switch. I-1
    pub(super) port_max: u8,
    /// Index of the node at the other end, if it is an end of a fibre. N-5
    pub(super) fibre: Option<usize>,
    /// Index of the router at the other end of its fibre, if it is a router. N-5
    pub(super) router: Option<usize>,
    /// Counts of the first bytes of arriving packets.
    pub(super) heads: HeadCounts,
    /// Its multicast table, as captured packets have loaded it. S-9
    pub(super) table: MulticastTable,
    /// Numbers of packets that only absolute, and only relative, addressing explains.
    votes: [u64; 2],
    /// Votes of packets that have begun to leave, where all that may be the one agree: evidence for packets that
    /// wait, not for a judgement on those that are lost.
    begun: [u64; 2],
    /// Number of packets that certainly left it without their first byte. S-1
    pub(super) stripped: u64,
    /// Number of packets that asked for a port of which nothing was captured: others may come from there.
    left_unseen: u64,
    /// Number of packets that show clocks of its channels to be apart.
    pub(super) out_of_time: u64,
    /// Shortest certain passage of a packet. S-6
    pub(super) fastest: Option<Picoseconds>,
    /// True if a passage took longer than a switch of 8 ports needs, or an unknown time. S-6
    is_large: bool,
}

/// Output that a packet requests at the switch behind its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedOutput {
    /// Index of the captured output channel.
    Seen(usize),
    /// Port whose output was not captured, or an unknown node.
    Unseen,
    /// No port.
    Nothing,
}

impl NetworkMap {
    /// The recordings of the wire of an output that have begun, of those that are followed.
    fn recordings(&self, output: usize) -> impl Iterator<Item = &MappedChannel> {
        let outputs = self.lane(output).and_then(|lane| {
            let (node, port) = self.node_at(lane.from)?;
            node.outputs.get(&(port, lane.passage.sources().next()?))
        });
        let lanes = outputs.into_iter().flatten().filter_map(|place| self.lane(*place));
        lanes.filter(|lane| lane.blind_until.is_some())
    }

    /// True if packets on an output may not have been seen after a time.
    pub(super) fn is_blind(&self, place: usize, since: Picoseconds) -> bool {
        let is_hidden = |until: Option<Picoseconds>| until.is_some_and(|until| since < until);
        self.recordings(place).any(|it| it.resetting.is_some() || is_hidden(it.blind_until))
    }

    pub(super) fn declare(&mut self, id: ChannelId, channel: &Channel, assumed: &LinkAssumptions) {
        let place = self.lanes.len();
        let told = |key: ParameterKey| assumed.known(key, channel).map(u64::from);
        let picoseconds =
            |periods| Picoseconds::from(periods) * Picoseconds::from(FULL_RATE_PERIOD_PS);
        let periods = told(ParameterKey::Delay);
        let delay = periods.map(picoseconds);
        let cells = [ParameterKey::GoSlack, ParameterKey::Hysteresis, ParameterKey::StopSlack];
        let cells: Option<u64> = cells.map(told).into_iter().sum();
        let (until_received, since_sent) = match TapEnd::of(channel) {
            Some(TapEnd::Sender) => (delay, Some(0)),
            Some(TapEnd::Receiver) => (Some(0), delay),
            None => (None, None),
        };
        let threshold = told(ParameterKey::GoSlack).zip(told(ParameterKey::Hysteresis));
        let delays = told(ParameterKey::Generation).zip(until_received);
        let stop = threshold.zip(delays).map(|((kept, hysteresis), (generation, received))| {
            let lag = picoseconds(generation) + 2 * received;
            StopThreshold { cells: kept + hysteresis, lag: channel.period.periods_up(lag) }
        });
        let end = |net: &mut Self, place: PortName| (net.node(place.node, place.port), place.port);
        let ends = ChannelEnds::of(channel).map(|it| (end(self, it.from), end(self, it.to)));
        let (from, to) = ends.unzip();
        let passage = VirtualPassage::of(channel);
        let obeys = ChannelParameters::of(channel, assumed).grace(TapEnd::Sender, channel);
        if let Some((node, port)) = from
            && let Some(node) = self.nodes.get_mut(node)
        {
            for number in passage.sources() {
                node.outputs.entry((port, number)).or_default().push(place);
            }
        }
        if let Some((node, _)) = to
            && let Some(node) = self.nodes.get_mut(node)
        {
            // Exceeding the limit means wrong names; it must not make each packet more expensive.
            if node.inputs.len() < INPUTS_MAX {
                node.inputs.push(place);
            }
        }
        self.join_fibre(to, channel);
        let room = cells.map_or(CELLS, |cells| cells + 2 * periods.unwrap_or(CELLS));
        self.places.insert(id, place);
        self.lanes.push(MappedChannel {
            blind_until: None,
            id,
            from,
            to,
            passage,
            until_received,
            since_sent,
            obeys: u32::try_from(channel.period.time(obeys)).unwrap_or(u32::MAX),
            path: told(ParameterKey::Path).map(picoseconds),
            stop,
            room,
            traffic: None,
        });
    }

    /// Index of the named node, created if new; the port is recorded.
    pub(super) fn node(&mut self, name: String, port: PortId) -> usize {
        let next = self.nodes.len();
        let place = *self.names.entry(name).or_insert(next);
        if place == next {
            self.nodes.push(MappedNode::default());
        }
        if let Some(node) = self.nodes.get_mut(place) {
            node.port_max = node.port_max.max(port.0);
        }
        place
    }

    /// Index of a channel.
    pub(super) fn place(&self, id: ChannelId) -> Option<usize> {
        self.places.get(id).copied()
    }

    pub(super) fn lane(&self, place: usize) -> Option<&MappedChannel> {
        self.lanes.get(place)
    }

    pub(super) fn lane_mut(&mut self, place: usize) -> Option<&mut MappedChannel> {
        self.lanes.get_mut(place)
    }

    pub(super) fn node_at(&self, end: Option<(usize, PortId)>) -> Option<(&MappedNode, PortId)> {
        let (node, port) = end?;
        Some((self.nodes.get(node)?, port))
    }

    /// Packets that arrived at the node behind a channel, by their first byte. S-1, P-2
    pub(super) fn heads(&mut self, place: usize) -> Option<&mut HeadCounts> {
        let (node, _) = self.lanes.get(place)?.to?;
        self.nodes.get_mut(node).map(|node| &mut node.heads)
    }

    /// Counts the addressing that explains the passage of a packet with this first byte.
    pub(super) fn vote(&mut self, input: usize, output: usize, first: u8) {
        let ends = (self.lane(input).and_then(|l| l.to), self.lane(output).and_then(|l| l.from));
        let (Some((node, input)), Some((_, output))) = ends else { return };
        let explains = WAYS.map(|way| way.select(first, input, PORTS_MAX) == Ok(output));
        if let Some(node) = self.nodes.get_mut(node) {
            count_vote(&mut node.votes, explains);
        }
    }

    /// Counts the addressings that explain the departure of a packet that has begun on an output, instead of those
    /// that explained it before. None explain one that has ended and was not the one that seemed to leave.
    pub(super) fn vote_begun(&mut self, output: usize, before: [bool; 2], explains: [bool; 2]) {
        let from = self.lane(output).and_then(|output| output.from);
        if let Some(node) = from.and_then(|(node, _)| self.nodes.get_mut(node)) {
            let mut vote = [0; 2];
            count_vote(&mut vote, before);
            node.begun.iter_mut().zip(vote).for_each(|(votes, vote)| *votes -= vote);
            count_vote(&mut node.begun, explains);
        }
    }

    /// Output that a packet with this first byte requests at the switch behind a channel.
    pub(super) fn requested_output(&self, place: usize, first: u8) -> RequestedOutput {
        let Some(lane) = self.lane(place) else { return RequestedOutput::Unseen };
        let Some((node, input)) = self.node_at(lane.to) else { return RequestedOutput::Unseen };
        let mut wish = RequestedOutput::Nothing;
        for output in node.selects(first, input).into_iter().flatten() {
            match node.output(output, lane) {
                Some(lane) => wish = RequestedOutput::Seen(lane),
                // The packet may have taken the uncaptured output, so its loss cannot be concluded.
                None => return RequestedOutput::Unseen,
            }
        }
        wish
    }

    /// Notes a packet that asks for an output that was not captured, however the switch reads its first byte.
    pub(super) fn note_requested(&mut self, hop: &HopRecord) {
        let Some(lane) = self.lane(hop.lane) else { return };
        let Some((node, input)) = self.node_at(lane.to) else { return };
        let mut ports = node.selects(hop.first, input).into_iter().flatten().peekable();
        let is_unseen = ports.peek().is_some() && ports.all(|it| node.output(it, lane).is_none());
        let node = lane.to.and_then(|(node, _)| self.nodes.get_mut(node));
        if let Some(node) = node.filter(|_| is_unseen) {
            node.left_unseen += 1;
        }
    }

    /// True if a packet that left a switch may be another one with these bytes, from where nothing was captured.
    pub(super) fn may_be_unseen(&self, left: &HopRecord) -> bool {
        let node = self.lane(left.lane).and_then(|lane| self.node_at(lane.from));
        left.is_common() && node.is_some_and(|(node, _)| node.left_unseen > 0)
    }

    /// Delay between a packet's departure from the switch and its appearance at the output's tap, or at that of either
    /// output while the addressing is not known.
    pub(super) fn lateness(&self, hop: &HopRecord) -> Picoseconds {
        let Some(lane) = self.lane(hop.lane) else { return 0 };
        let Some((node, input)) = self.node_at(lane.to) else { return 0 };
        let outputs = node.selects(hop.first, input).into_iter().flatten();
        let outputs = outputs.filter_map(|port| node.output(port, lane));
        let recordings = outputs.flat_map(|output| self.recordings(output));
        recordings.map(MappedChannel::lateness).max().unwrap_or(0)
    }
}

impl MappedNode {
    /// True if the node counts as a switch: it has a port other than 0 (I-1), is an end of a fibre, has
    /// stripped a route byte, or most arriving packets begin with one.
    pub(super) const fn is_switch(&self) -> bool {
        let is_headed = matches!(self.heads.kind(), TopologyNodeKind::Switch);
        self.port_max > 0 || self.stripped > 0 || is_headed || self.fibre.is_some()
    }

    /// True if the packets leave no doubt whether the node is a switch.
    pub(super) const fn is_sure(&self) -> bool {
        self.port_max > 0 || self.fibre.is_some() || self.heads.is_sure()
    }

    /// Longest path formation for an input: the known one, or that of S-6 for the known ports, at
    /// least 8. Used for matching only, never for a judgement.
    pub(super) fn path(&self, input: &MappedChannel) -> Picoseconds {
        let ports = Picoseconds::from(self.port_max).max(7) + 1;
        input.path.unwrap_or(ROUTING + TOKEN_STEP * ports)
    }

    /// Maximum difference of path formations by the token's position. S-6
    pub(super) fn token(&self, input: &MappedChannel) -> Picoseconds {
        self.path(input).max(ROUTING + 8 * TOKEN_STEP) - ROUTING
    }

    /// Possible difference of path formations for an input: the token's travel past all ports if
    /// the known path is that of S-6 for 4, 8, 16 or 32 ports; otherwise the whole path. With an
    /// unknown path: the travel past 8 ports, or past 32 once a passage has taken longer than 8
    /// ports allow. S-5, S-6
    pub(super) fn spread(&self, input: &MappedChannel) -> Picoseconds {
        let travels = [4, 8, 16, 32].map(|ports| ports * TOKEN_STEP);
        let unknown = if self.is_large { 32 * TOKEN_STEP } else { 8 * TOKEN_STEP };
        let Some(path) = input.path else { return unknown };
        travels.into_iter().find(|travel| ROUTING + travel == path).unwrap_or(path)
    }

    /// Records the passage of a packet with nothing in its way; an unknown time counts as one of a
    /// large switch.
    pub(super) fn passed(&mut self, took: Option<Picoseconds>) {
        self.is_large |= took.is_none_or(|took| took > ROUTING + 9 * TOKEN_STEP);
    }

    /// Ports that a first byte may select; at an end of a fibre, which reads none, the other port.
    pub(super) fn selects(&self, first: u8, input: PortId) -> [Option<PortId>; 2] {
        self.select_by(ByteReading::of(self.votes), first, input)
    }

    /// Ports that the first byte of a waiting packet may select.
    pub(super) fn waits_for(&self, first: u8, input: PortId) -> [Option<PortId>; 2] {
        let reading = match ByteReading::of(self.votes) {
            ByteReading::Either => ByteReading::of(self.begun),
            known @ (ByteReading::Absolute | ByteReading::Relative) => known,
        };
        self.select_by(reading, first, input)
    }

    fn select_by(&self, reading: ByteReading, first: u8, input: PortId) -> [Option<PortId>; 2] {
        if self.fibre.is_some() {
            return [Some(PortId(u8::from(input == PortId(0)))), None];
        }
        reading.of_both(WAYS.map(|way| way.select(first, input, PORTS_MAX).ok()))
    }

    /// Inverse of [`Self::selects`]: the first bytes that may select an output.
    pub(super) fn bytes_to(&self, input: PortId, output: PortId) -> [Option<u8>; 2] {
        let [absolute, relative] =
            WAYS.map(|way| way.byte(input, output).filter(|_| output.0 < PORTS_MAX));
        ByteReading::of(self.votes).of_both([absolute, relative])
    }

    /// Channel from a port on which packets of an input leave, if it was captured.
    pub(super) fn output(&self, port: PortId, input: &MappedChannel) -> Option<usize> {
        self.outputs.get(&(port, input.passage.number))?.first().copied()
    }
}

impl MappedChannel {
    /// Time at which the switch behind can decode a packet whose first byte passed the tap at
    /// `seen`. S-3, S-6
    pub(super) fn ready(&self, seen: Picoseconds) -> Option<Picoseconds> {
        Some((seen + self.until_received?).max(self.clear.unwrap_or(0)))
    }

    /// Delay between a packet's departure from its switch and its appearance on this channel.
    fn lateness(&self) -> Picoseconds {
        self.since_sent.unwrap_or(DELAY)
    }
}
