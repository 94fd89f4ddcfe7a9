//! Hosts and switches by the channels' names, and the addressing of switches. S-1

use crate::event::Picoseconds;
use std::collections::{BTreeMap, VecDeque};

use codec::capture::{Channel, ChannelId};
use codec::crc::CrcResidue;
use codec::route::{PORTS_MAX, PortId, RouteAddressing};
use codec::time::{FULL_RATE_PERIOD_PS, Tick};

use super::hop_record::{HopId, HopRecord, StartCoverage};
use crate::channel_name::{ChannelEnds, PortName, TapEnd};
use crate::link::parameters::{LinkAssumptions, ParameterKey};
use crate::node_kind::{HeadCounts, TopologyNodeKind};

/// Longest delay of a tap behind a cable of unknown length. *Chosen*: that of
/// some ten kilometres.
pub(super) const DELAY: Picoseconds = 4096 * FULL_RATE_PERIOD_PS as Picoseconds;
/// Cells of a slack buffer of which nothing is told, and what is on its cable. *Chosen*: far more
/// than any (F-4).
const CELLS: u64 = 4096;

/// Inputs of a node that packets are matched at. *Chosen*: every port a route byte can name, tapped twice.
const INPUTS_MAX: usize = 2 * PORTS_MAX as usize;

/// The part of a path formation that is the same for all inputs. *Chosen*: as S-6 has it.
const ROUTING: Picoseconds = 28 * FULL_RATE_PERIOD_PS as Picoseconds;
/// Travel of the token past a port. *Chosen*: as S-5 has it.
const TOKEN_STEP: Picoseconds = 2 * FULL_RATE_PERIOD_PS as Picoseconds;

/// Addressing of switches. S-1
const WAYS: [RouteAddressing; 2] = [RouteAddressing::Absolute, RouteAddressing::Relative];

/// All channels and nodes.
#[derive(Debug, Default)]
pub(super) struct NetworkMap {
    pub(super) lanes: Vec<MappedChannel>,
    /// Number of the first channel.
    base: u32,
    pub(super) nodes: Vec<MappedNode>,
    names: BTreeMap<String, usize>,
}

/// A channel.
#[derive(Debug)]
pub(super) struct MappedChannel {
    pub(super) id: ChannelId,
    pub(super) from: Option<(usize, PortId)>,
    pub(super) to: Option<(usize, PortId)>,
    /// Duration for which after the tap its receiver hears, if that is known.
    pub(super) until_heard: Option<Picoseconds>,
    /// Duration for which before the tap its sender has sent.
    pub(super) since_sent: Option<Picoseconds>,
    /// Longest time in which the switch behind it forms a path without contention, if that is known. S-6
    pub(super) path: Option<Picoseconds>,
    /// Most bytes that may be between the tap and the switch behind it.
    pub(super) room: u64,
    /// Packets at the switch's input behind it, or on their way there.
    pub(super) queue: VecDeque<QueuedHop>,
    /// From where on it is known where packets begin, since the first character or the last hole. P-1
    framed: Option<Tick>,
    /// The packet that is passing.
    pub(super) open: Option<HopId>,
    pub(super) next_number: u64,
    /// Bytes so far.
    pub(super) sum: u64,
    /// The last packet on it, and when it ended.
    pub(super) last: Option<(u64, Picoseconds)>,
    /// The last packet of this input that left, and when it had, at the switch.
    pub(super) left: Option<(u64, Picoseconds)>,
    /// Time at which the last packet of this input had left, at the switch, as far as that is known.
    pub(super) clear: Option<Picoseconds>,
    /// Time the last FRES on it was seen.
    pub(super) reset: Option<Picoseconds>,
    /// Bytes of packets of this input that were ambiguous.
    pub(super) doubted: VecDeque<CrcResidue>,
    /// The input that this output served last. S-5
    pub(super) served: PortId,
    pub(super) resumed: Option<Picoseconds>,
}

/// A packet in an input's queue with its first byte, which rules out most packets without a look-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedHop {
    pub(super) id: HopId,
    pub(super) first: u8,
}

/// A host or a switch.
#[derive(Debug)]
pub(super) struct MappedNode {
    pub(super) inputs: Vec<usize>,
    outputs: Vec<Option<usize>>,
    ports: KnownPorts,
    /// The highest of its ports that is known.
    port_max: PortId,
    /// First bytes of the packets that came in.
    heads: HeadCounts,
    /// Packets that went where only absolute, only relative addressing leads.
    votes: [u64; 2],
    /// The shortest time in which a packet is known to have passed it. S-6
    pub(super) fastest: Option<Picoseconds>,
    /// It may have more than 8 ports. S-6
    is_large: bool,
}

/// Known ports of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownPorts {
    /// Only port 0: it may be a host's. I-1
    Zero,
    /// Others: it is a switch.
    Others,
}

/// Known addressing of a switch. S-1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteReading {
    Absolute,
    Relative,
    Either,
}

/// Output that a packet requests of the switch behind its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedOutput {
    /// A port whose output was captured.
    Seen(usize),
    /// A port of which nothing was captured, or a node of which nothing is known.
    Unseen,
    /// No port.
    Nothing,
}

impl NetworkMap {
    pub(super) fn declare(&mut self, id: ChannelId, channel: &Channel, assumed: &LinkAssumptions) {
        if self.lanes.is_empty() {
            self.base = id.0;
        }
        let way = ChannelEnds::of(channel);
        let place = self.lanes.len();
        let told = |key: ParameterKey| assumed.known(key, channel).map(u64::from);
        let picoseconds =
            |periods| Picoseconds::from(periods) * Picoseconds::from(FULL_RATE_PERIOD_PS);
        let periods = told(ParameterKey::Delay);
        let delay = periods.map(picoseconds);
        let cells =
            [ParameterKey::GoSlack, ParameterKey::Hysteresis, ParameterKey::StopSlack].map(told);
        let cells = cells.into_iter().sum::<Option<u64>>();
        let (until_heard, since_sent) = match TapEnd::of(channel) {
            Some(TapEnd::Sender) => (delay, Some(0)),
            Some(TapEnd::Receiver) => (Some(0), delay),
            None => (None, None),
        };
        let end = |net: &mut Self, place: PortName| (net.node(place.node, place.port), place.port);
        let (from, to) = match way {
            Some(way) => (Some(end(self, way.from)), Some(end(self, way.to))),
            None => (None, None),
        };
        if let Some((node, port)) = from
            && let Some(node) = self.nodes.get_mut(node)
            && let Some(output) = node.outputs.get_mut(usize::from(port.0))
        {
            *output = Some(place);
        }
        if let Some((node, _)) = to
            && let Some(node) = self.nodes.get_mut(node)
        {
            // Beyond that, names are wrong; a packet must not cost more for it.
            if node.inputs.len() < INPUTS_MAX {
                node.inputs.push(place);
            }
        }
        let room = cells.map_or(CELLS, |cells| cells + 2 * periods.unwrap_or(CELLS));
        self.lanes.push(MappedChannel {
            id,
            from,
            to,
            until_heard,
            since_sent,
            path: told(ParameterKey::Path).map(picoseconds),
            room,
            queue: VecDeque::new(),
            framed: None,
            open: None,
            next_number: 0,
            sum: 0,
            last: None,
            left: None,
            clear: None,
            reset: None,
            doubted: VecDeque::new(),
            served: PortId(0),
            resumed: None,
        });
    }

    /// The node of a name, which has this port.
    fn node(&mut self, name: String, port: PortId) -> usize {
        let next = self.nodes.len();
        let place = *self.names.entry(name).or_insert(next);
        if place == next {
            self.nodes.push(MappedNode {
                inputs: Vec::new(),
                outputs: vec![None; usize::from(PORTS_MAX)],
                ports: KnownPorts::Zero,
                port_max: PortId(0),
                heads: HeadCounts::default(),
                votes: [0; 2],
                fastest: None,
                is_large: false,
            });
        }
        if let Some(node) = self.nodes.get_mut(place)
            && port.0 > 0
        {
            node.ports = KnownPorts::Others;
            node.port_max = node.port_max.max(port);
        }
        place
    }

    /// The place of a channel. They are declared in order, without gaps in a section.
    pub(super) fn place(&self, id: ChannelId) -> Option<usize> {
        let place = id.0.checked_sub(self.base)? as usize;
        match self.lanes.get(place) {
            Some(lane) if lane.id == id => Some(place),
            _ => self.lanes.iter().position(|lane| lane.id == id),
        }
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

    /// A packet with this first byte comes to the node behind a channel. S-1, P-2
    pub(super) fn count_head(&mut self, place: usize, first: u8) {
        if let Some((node, _)) = self.lanes.get(place).and_then(|lane| lane.to)
            && let Some(node) = self.nodes.get_mut(node)
        {
            node.heads.count(first);
        }
    }

    /// A packet with this first byte went from one channel to another.
    pub(super) fn vote(&mut self, input: usize, output: usize, first: u8) {
        let ends = (self.lane(input).and_then(|l| l.to), self.lane(output).and_then(|l| l.from));
        let (Some((node, input)), Some((_, output))) = ends else { return };
        let [absolute, relative] =
            WAYS.map(|way| way.select(first, input, PORTS_MAX) == Ok(output));
        if let Some(node) = self.nodes.get_mut(node)
            && absolute != relative
        {
            let [for_absolute, for_relative] = &mut node.votes;
            *(if absolute { for_absolute } else { for_relative }) += 1;
        }
    }

    /// From this place on it is known where packets of a channel begin, or it is no longer. P-1
    pub(super) fn framed(&mut self, place: usize, from: Option<Tick>) {
        if let Some(lane) = self.lanes.get_mut(place) {
            lane.framed = from;
        }
    }

    /// Output that a packet with this first byte requests of the switch behind a channel.
    pub(super) fn requested_output(&self, place: usize, first: u8) -> RequestedOutput {
        let Some((node, input)) = self.lane(place).and_then(|lane| self.node_at(lane.to)) else {
            return RequestedOutput::Unseen;
        };
        let mut wish = RequestedOutput::Nothing;
        for output in node.selects(first, input).into_iter().flatten() {
            match node.output(output) {
                Some(lane) => wish = RequestedOutput::Seen(lane),
                // As long as it may have gone there, nothing says that it has not.
                None => return RequestedOutput::Unseen,
            }
        }
        wish
    }

    /// Duration for which a packet may have left the switch that it came to before it shows behind it.
    pub(super) fn lateness(&self, leg: &HopRecord) -> Picoseconds {
        match self.requested_output(leg.lane, leg.first) {
            RequestedOutput::Seen(output) => self.lane(output).map_or(0, MappedChannel::lateness),
            RequestedOutput::Unseen | RequestedOutput::Nothing => 0,
        }
    }
}

impl MappedNode {
    /// True if it is taken for a switch: it has another port than 0 (I-1), or packets come to it with
    /// a route byte in front.
    pub(super) const fn is_switch(&self) -> bool {
        match (self.ports, self.heads.kind()) {
            (KnownPorts::Others, _) | (KnownPorts::Zero, TopologyNodeKind::Switch) => true,
            (KnownPorts::Zero, TopologyNodeKind::Host | TopologyNodeKind::Unknown) => false,
        }
    }

    /// Longest path formation for an input: as known, or else as S-6 has it for a switch of 8 ports, or of
    /// those that it has. Packets are matched by it, nothing is judged by it.
    pub(super) fn path(&self, input: &MappedChannel) -> Picoseconds {
        let ports = Picoseconds::from(self.port_max.0).max(7) + 1;
        input.path.unwrap_or(ROUTING + TOKEN_STEP * ports)
    }

    /// By how much path formations differ at most, by where the output's token is. S-6
    pub(super) fn token(&self, input: &MappedChannel) -> Picoseconds {
        self.path(input).max(ROUTING + 8 * TOKEN_STEP) - ROUTING
    }

    /// By how much path formations for an input may differ: the token's travel past all ports, where the
    /// longest is that of S-6 for so many ports; where it is another, all of it. Where it is not known,
    /// the travel past 8 ports, or past 32 once one has taken longer than 8 ports take. S-5, S-6
    pub(super) fn spread(&self, input: &MappedChannel) -> Picoseconds {
        let travels = [4, 8, 16, 32].map(|ports| ports * TOKEN_STEP);
        let unknown = if self.is_large { 32 * TOKEN_STEP } else { 8 * TOKEN_STEP };
        let Some(path) = input.path else { return unknown };
        travels.into_iter().find(|travel| ROUTING + travel == path).unwrap_or(path)
    }

    /// A packet with nothing in its way has passed it in some time, if that is known.
    pub(super) fn passed(&mut self, took: Option<Picoseconds>) {
        self.is_large |= took.is_none_or(|took| took > ROUTING + 9 * TOKEN_STEP);
    }

    const fn reads(&self) -> ByteReading {
        let [absolute, relative] = self.votes;
        if absolute > relative {
            ByteReading::Absolute
        } else if relative > absolute {
            ByteReading::Relative
        } else {
            ByteReading::Either
        }
    }

    /// The ports that a first byte may select.
    pub(super) fn selects(&self, first: u8, input: PortId) -> [Option<PortId>; 2] {
        let [absolute, relative] = WAYS.map(|way| way.select(first, input, PORTS_MAX).ok());
        match self.reads() {
            ByteReading::Absolute => [absolute, None],
            ByteReading::Relative => [None, relative],
            ByteReading::Either => [absolute, relative],
        }
    }

    /// The first bytes by which [`Self::selects`] finds an output.
    pub(super) fn bytes_to(&self, input: PortId, output: PortId) -> [Option<u8>; 2] {
        let [absolute, relative] =
            WAYS.map(|way| way.byte(input, output).filter(|_| output.0 < PORTS_MAX));
        match self.reads() {
            ByteReading::Absolute => [absolute, None],
            ByteReading::Relative => [None, relative],
            ByteReading::Either => [absolute, relative],
        }
    }

    /// The channel that goes out from a port, if it was captured.
    pub(super) fn output(&self, port: PortId) -> Option<usize> {
        self.outputs.get(usize::from(port.0)).copied().flatten()
    }
}

impl MappedChannel {
    /// Time at which a packet that was seen here at some time could be decoded at the switch behind. S-3, S-6
    pub(super) fn ready(&self, seen: Picoseconds) -> Option<Picoseconds> {
        Some((seen + self.until_heard?).max(self.clear.unwrap_or(0)))
    }

    /// True if the recording has the beginning of a packet of which this is the first byte it has. P-1
    pub(super) fn opening(&self, start: Tick) -> StartCoverage {
        if self.framed.is_some_and(|framed| framed < start) {
            StartCoverage::Seen
        } else {
            StartCoverage::Unsure
        }
    }

    /// Duration for which a packet may have left its switch before it shows on this channel.
    fn lateness(&self) -> Picoseconds {
        self.since_sent.unwrap_or(DELAY)
    }
}
