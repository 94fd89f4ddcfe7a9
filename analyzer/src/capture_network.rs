//! The network of a section: channels with their declarations, ends and links, nodes with their kinds. It is
//! built once, and lent to all that follows packets, waits and messages. S-2, I-2

use std::collections::BTreeMap;
use std::sync::Arc;

use codec::capture::{Channel, ChannelId, StartState};
use codec::route::PortId;
use codec::time::{CharacterPeriod, LinkTimeout};

use crate::channel_name::{ChannelEnds, PortName, fibre_to};
use crate::channel_table::ChannelTable;
use crate::event::{ChannelEvent, LinkEvent, Picoseconds, RepeatedEvents, TimedEvent};
use crate::flow_control::FlowInput;
use crate::link::parameters::ParameterKey;
use crate::node_kind::{HeadCounts, TopologyNodeKind};

/// Periods after which all characters in transit have arrived, if the cable delay is unknown. *Chosen*: the round trip
/// of 1 km and more.
pub(crate) const SETTLED: Picoseconds = 1024;
/// Minimum beyond two round trips, if the cable delay is known. *Chosen*: several times the reaction time of all ports
/// together.
const OBEYED: Picoseconds = 64;

/// Index of the channels of a capture, their links and their nodes.
#[derive(Clone, Debug, Default)]
pub struct CaptureNetwork {
    channels: ChannelTable<KnownChannel>,
    named: Vec<NamedNode>,
    /// Indices of the named nodes.
    names: BTreeMap<String, usize>,
    opposites: ChannelTable<ChannelId>,
    /// STOP and GO to the senders of channels.
    commands: ChannelTable<RecordedCommands>,
    /// Longest known cable delay.
    longest_delay: Option<Picoseconds>,
}

/// STOP and GO to a sender, as far as they were recorded without a hole up to now.
#[derive(Clone, Copy, Debug)]
struct RecordedCommands {
    /// Time from which on a byte shows that the sender is not stopped by one that was not recorded.
    settled: Picoseconds,
    /// Time of the first of them, or of such a byte.
    known: Option<Picoseconds>,
}

/// A link, identified by the lesser of its channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkKey(pub ChannelId);

#[derive(Clone, Debug)]
struct KnownChannel {
    channel: Arc<Channel>,
    way: Option<Arc<ChannelEnds>>,
    /// Indices of the nodes at both ends.
    nodes: Option<[usize; 2]>,
    heads: HeadCounts,
}

#[derive(Clone, Debug, Default)]
struct NamedNode {
    /// True if it has a port other than 0.
    is_switch: bool,
    /// Name of the node at the other end, if it is an end of a fibre. N-5
    fibre: Option<String>,
    /// In ascending order.
    inputs: Vec<ChannelId>,
    outputs: Vec<ChannelId>,
}

impl CaptureNetwork {
    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Arc<Channel>) {
        let delay = ParameterKey::Delay.declared(channel);
        let delay = delay.map(|periods| CharacterPeriod::FULL_RATE.time(periods.into()));
        self.longest_delay = self.longest_delay.max(delay);
        self.add(id, channel, ChannelEnds::of(channel).map(Arc::new));
    }

    fn add(&mut self, id: ChannelId, channel: &Arc<Channel>, way: Option<Arc<ChannelEnds>>) {
        let nodes = way.as_ref().map(|way| [&way.from, &way.to].map(|end| self.node(end)));
        if let Some(node) = nodes.and_then(|[_, to]| self.named.get_mut(to))
            && let Err(place) = node.inputs.binary_search(&id)
        {
            node.inputs.insert(place, id);
        }
        if let Some(node) = nodes.and_then(|[from, _]| self.named.get_mut(from)) {
            node.outputs.push(id);
        }
        if let (Some([_, near]), Some(name)) = (nodes, fibre_to(channel)) {
            let far = self.node(&PortName {
                node: name.to_owned(),
                port: PortId(0),
                virtual_channel: None,
            });
            let near_name = way.as_ref().map(|way| way.to.node.clone());
            for (end, other) in [(near, Some(name.to_owned())), (far, near_name)] {
                if let Some(node) = self.named.get_mut(end) {
                    node.fibre = other;
                }
            }
        }
        let heads = HeadCounts::default();
        self.channels.insert(id, KnownChannel { channel: Arc::clone(channel), way, nodes, heads });
    }

    /// Index of the node of a port.
    fn node(&mut self, end: &PortName) -> usize {
        let next = self.named.len();
        let place = match self.names.get(&end.node) {
            Some(place) => *place,
            None => {
                self.names.insert(end.node.clone(), next);
                self.named.push(NamedNode::default());
                next
            }
        };
        if let Some(node) = self.named.get_mut(place) {
            node.is_switch |= end.port != PortId(0);
        }
        place
    }

    /// Registers two channels as the directions of one link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.opposites.insert(one, other);
        self.opposites.insert(other, one);
    }

    /// Captured opposite channel of a channel.
    pub fn opposite(&self, id: ChannelId) -> Option<ChannelId> {
        self.opposites.get(id).copied()
    }

    /// The link of a channel.
    pub fn link(&self, id: ChannelId) -> LinkKey {
        LinkKey(self.opposite(id).map_or(id, |opposite| id.min(opposite)))
    }

    /// Counts the first byte of a packet, which is corrected when the packet has ended, and follows STOP and GO to the
    /// sender of the opposite channel. N-8, F-1
    pub fn observe(&mut self, event: &TimedEvent) {
        self.observe_commands(event);
        let Some(known) = self.channels.get_mut(event.channel) else { return };
        if let ChannelEvent::Head(first) = event.body {
            known.heads.count(first);
        } else if let Some(packet) = event.body.packet() {
            known.heads.correct(packet);
        }
    }

    fn observe_commands(&mut self, event: &TimedEvent) {
        let TimedEvent { channel, time, .. } = *event;
        if let ChannelEvent::Head(_) | ChannelEvent::Data(_) = event.body {
            if let Some(own) = self.commands.get_mut(channel).filter(|own| own.settled <= time) {
                own.known.get_or_insert(time);
            }
        } else if let (Some(input), Some(sender)) = (self.command(event), self.opposite(channel)) {
            let settled = time + self.settled(self.period(channel).ps().into());
            let unknown = RecordedCommands { settled, known: None };
            if input == FlowInput::PeerHole || self.commands.get(sender).is_none() {
                self.commands.insert(sender, unknown);
            }
            if input != FlowInput::PeerHole
                && let Some(commands) = self.commands.get_mut(sender)
            {
                commands.known.get_or_insert(time);
            }
        }
    }

    /// Command of an event on a channel to the sender of the opposite channel. F-1
    pub(crate) fn command(&self, event: &TimedEvent) -> Option<FlowInput> {
        match &event.body {
            ChannelEvent::Command(command) => Some(FlowInput::from(*command)),
            ChannelEvent::Link(LinkEvent::OpenLink) => Some(FlowInput::PeerSilent),
            ChannelEvent::Link(LinkEvent::Hole { .. }) => Some(FlowInput::PeerHole),
            body if body.leaves_out(RepeatedEvents::Commands) => Some(FlowInput::PeerHole),
            ChannelEvent::Begins => {
                let start = self.channel(event.channel).and_then(StartState::of);
                let start = start.filter(|start| start.at == event.at);
                let command = start.and_then(|start| start.command);
                Some(command.map_or(FlowInput::PeerHole, |(command, _)| FlowInput::from(command)))
            }
            ChannelEvent::Head(_) | ChannelEvent::Data(_) | ChannelEvent::Packet(_) => None,
            ChannelEvent::Link(_) | ChannelEvent::Framed | ChannelEvent::Omitted { .. } => None,
        }
    }

    /// Time from which on it is known whether the sender of a channel is stopped: its commands have no hole since.
    pub(crate) fn commands_known(&self, sender: ChannelId) -> Option<Picoseconds> {
        let known = || self.commands.get(sender)?.known;
        if self.has_no_stop(sender) { Some(0) } else { known() }
    }

    /// True on a handshake cable. Its packet that stands may wait for an acknowledge, or for its own next byte: nothing
    /// but a cycle shows which. B-1
    pub(crate) fn has_no_stop(&self, id: ChannelId) -> bool {
        self.channel(id).is_some_and(|it| it.link_timeout() == LinkTimeout::Never)
    }

    /// Time after which all characters under way have arrived, and all ports have obeyed them.
    pub(crate) fn settled(&self, period: Picoseconds) -> Picoseconds {
        match self.longest_delay {
            Some(delay) => 4 * delay + OBEYED * period,
            None => SETTLED * period,
        }
    }

    /// The ends of fibres, of each the first one in the order of names first.
    pub(crate) fn fibres(&self) -> impl Iterator<Item = [&str; 2]> {
        self.names.iter().filter_map(|(name, place)| {
            let other = self.named.get(*place)?.fibre.as_deref()?;
            (name.as_str() < other).then_some([name.as_str(), other])
        })
    }

    /// Adds the channels of another section.
    pub fn absorb(&mut self, other: Self) {
        if self.channels.is_empty() {
            *self = other;
            return;
        }
        for (id, opposite) in other.opposites.iter() {
            self.opposites.insert(id, *opposite);
        }
        for (id, known) in other.channels.iter() {
            self.add(id, &known.channel, known.way.clone());
            if let Some(own) = self.channels.get_mut(id) {
                own.heads = known.heads;
            }
        }
    }

    /// All channels.
    pub fn channels(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.channels.iter().map(|(id, known)| (id, &*known.channel))
    }

    /// Declaration of a channel.
    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(id).map(|known| &*known.channel)
    }

    /// Character period of a channel.
    pub fn period(&self, id: ChannelId) -> CharacterPeriod {
        self.channel(id).map_or(CharacterPeriod::PICOSECOND, |channel| channel.period)
    }

    /// Ends of a channel according to its name.
    pub fn ends(&self, id: ChannelId) -> Option<&ChannelEnds> {
        self.channels.get(id)?.way.as_deref()
    }

    /// Kind of the node at the far end of a channel.
    pub fn behind(&self, id: ChannelId) -> TopologyNodeKind {
        let Some(known) = self.channels.get(id) else { return TopologyNodeKind::Unknown };
        match known.nodes.and_then(|[_, to]| self.named.get(to)) {
            Some(node) => self.kind_of(node),
            None => known.heads.kind(),
        }
    }

    /// Kind of a named node.
    pub fn kind(&self, node: &str) -> TopologyNodeKind {
        let named = self.names.get(node).and_then(|place| self.named.get(*place));
        named.map_or(TopologyNodeKind::Unknown, |node| self.kind_of(node))
    }

    fn kind_of(&self, node: &NamedNode) -> TopologyNodeKind {
        if node.fibre.is_some() {
            return TopologyNodeKind::Fibre;
        }
        if node.is_switch {
            return TopologyNodeKind::Switch;
        }
        let heads = node.inputs.iter().filter_map(|id| self.channels.get(*id));
        heads.fold(HeadCounts::default(), |sum, known| sum.and(known.heads)).kind()
    }

    /// All channels from and to the node behind a channel, and the channel itself.
    pub(crate) fn around(&self, id: ChannelId) -> impl Iterator<Item = ChannelId> + '_ {
        let ends = self.channels.get(id).and_then(|known| known.nodes);
        let node = ends.and_then(|[_, to]| self.named.get(to)).into_iter();
        let ports = node.flat_map(|node| node.inputs.iter().chain(&node.outputs).copied());
        ports.chain([id])
    }

    /// Channels to the node that a channel comes from.
    pub fn inputs(&self, output: ChannelId) -> impl Iterator<Item = ChannelId> + '_ {
        let ends = self.channels.get(output).and_then(|known| known.nodes);
        let node = ends.and_then(|[from, _]| self.named.get(from));
        node.into_iter().flat_map(|node| node.inputs.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use codec::time::Tick;

    use super::*;

    fn nodes(names: &[&str], heads: &[(u32, u8)]) -> CaptureNetwork {
        let mut nodes = CaptureNetwork::default();
        for (id, name) in (0..).zip(names) {
            nodes.declare(ChannelId(id), &Arc::new(Channel::named(*name)));
        }
        for (id, first) in heads {
            let (channel, body) = (ChannelId(*id), ChannelEvent::Head(*first));
            nodes.observe(&TimedEvent { time: 0, channel, at: Tick(0), body });
        }
        nodes
    }

    #[test]
    fn a_port_beyond_0_or_route_bytes_make_a_switch_and_tags_a_host() {
        let names = ["h0:0>s0:3", "s0:3>h0:0", "s0:0>s1:1", "odd", "s0:4>h1:0"];
        let nodes = nodes(&names, &[(1, 0x05), (1, 0x85), (2, 0x83), (3, 0x80)]);
        let behind = |id| nodes.behind(ChannelId(id));
        assert_eq!(behind(0), TopologyNodeKind::Switch, "port 3");
        assert_eq!(behind(1), TopologyNodeKind::Host, "a misrouted packet makes no switch");
        assert_eq!(behind(2), TopologyNodeKind::Switch, "a route byte came");
        assert_eq!(behind(3), TopologyNodeKind::Switch, "without a name, too");
        assert_eq!(behind(4), TopologyNodeKind::Unknown, "nothing came");
    }

    #[test]
    fn inputs_of_an_output_are_the_channels_to_its_node() {
        let nodes = nodes(&["a:0>s:0", "s:0>a:0", "b:0>s:1", "s:1>b:0", "x"], &[]);
        let inputs: Vec<_> = nodes.inputs(ChannelId(3)).collect();
        assert_eq!(inputs, [ChannelId(0), ChannelId(2)]);
        assert_eq!(nodes.inputs(ChannelId(4)).count(), 0);
    }
}
