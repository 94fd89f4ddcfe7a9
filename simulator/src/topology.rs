//! Hosts, switches and the cables between them: a validated graph. N-1

mod fibres;
mod forwarding;

use std::collections::BTreeMap;

use codec::route::{PortId, RouteAddressing};

pub(crate) use self::fibres::{RoutedNetworks, RoutedProblem};
pub use self::forwarding::ForwardingMode;
pub use crate::arbitration::ArbitrationPolicy;
use crate::clock::NodeClock;
use crate::link::LinkParameters;
use crate::node::PortLabel;
pub use crate::node::{NodeId, NodePort, SWITCH_PORTS_MAX};

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// A unique name without blanks, `:`, `>` and `#`.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A host with its interface, whose only port is 0. I-1
    Host,
    /// A switch, or an end of a fibre.
    Switch(SwitchParameters),
}

/// Parameters of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchParameters {
    /// Number of ports, 1..=32.
    pub ports: u8,
    /// Meaning of its route bytes. S-1
    pub addressing: RouteAddressing,
    /// Periods between a packet's first byte and its request for an output. S-6
    pub routing: u8,
    /// Periods that the token stays at one input. S-5
    pub token_step: u8,
    /// Policy by which outputs choose among inputs. S-5
    pub arbitration: ArbitrationPolicy,
    /// Support for port 0x7F and a multicast table. S-8, S-9
    pub extensions: ExtensionSupport,
    /// Its clock. W-6
    pub clock: NodeClock,
    /// Kind of node that it stands for: a switch, or an end of a fibre.
    pub role: SwitchRole,
    /// The time at which it sends a packet on. S-3, B-2
    pub forwarding: ForwardingMode,
    /// Power supplies, 1 or 2, each of which is enough. S-10
    pub supplies: u8,
}

impl Default for SwitchParameters {
    /// 8 ports with relative addressing.
    fn default() -> Self {
        Self::new(8, RouteAddressing::Relative)
    }
}

/// Treatment of the packets that come to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchRole {
    /// The first byte selects an output, and is stripped. S-1, P-3
    #[default]
    Crossbar,
    /// Each packet leaves unchanged by the other port: port 0 is electrical, port 1 the fibre. N-5
    FibreEnd,
    /// Each port is that of an interface: port 0 belongs to a network, port 1 is the fibre, by which
    /// packets go to the other network. N-5
    Router,
}

/// Support for the extensions of §3.4. S-8, S-9
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtensionSupport {
    /// None: unused addresses select no port.
    #[default]
    Off,
    /// All of them.
    On,
    /// All of them, and a computer at port 0x7F, which watches the ports.
    Computer,
}

/// A cable between two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableSpec {
    /// Its ends.
    pub ends: [NodePort; 2],
    /// Its parameters, with the ports in the order of the ends.
    pub link: LinkParameters,
}

/// A validated graph of nodes and cables, in their original order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<NodeSpec>,
    cables: Vec<CableSpec>,
    names: BTreeMap<String, NodeId>,
    /// Index of the cable at each port.
    ends: BTreeMap<NodePort, usize>,
}

/// A node or a cable, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopologyItem {
    Node(usize),
    Cable(usize),
}

/// Error of nodes and cables that form no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct TopologyError(#[from] pub(crate) TopologyProblem);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TopologyProblem {
    /// The name is empty or contains a separator.
    #[error("node {node}: `{name}` is no name (no blanks, `:`, `>` or `#`; not empty)")]
    Name { node: usize, name: String },
    #[error("node {node}: `{name}` is the name of node {first} already")]
    NameTwice { node: usize, first: usize, name: String },
    /// S-1
    #[error("switch {name}: {ports} ports (1..={SWITCH_PORTS_MAX})")]
    Ports { node: usize, name: String, ports: u8 },
    #[error("cable {cable}: there is no node {node} (0..{nodes})")]
    NoNode { cable: usize, node: u32, nodes: usize },
    #[error("cable {cable}: there is no port {name}:{port} ({name} has 0..{ports})")]
    NoPort { cable: usize, name: String, port: u8, ports: u8 },
    #[error("cable {cable}: both ends are {port}")]
    SameEnds { cable: usize, port: String },
    /// `first` is the earlier cable at the port.
    #[error("cable {cable}: {port} has cable {first} already")]
    PortTwice { cable: usize, first: usize, port: String },
}

impl TopologyProblem {
    /// The node or cable at fault.
    pub(crate) const fn item(&self) -> TopologyItem {
        match self {
            Self::Name { node, .. } | Self::NameTwice { node, .. } | Self::Ports { node, .. } => {
                TopologyItem::Node(*node)
            }
            Self::NoNode { cable, .. }
            | Self::NoPort { cable, .. }
            | Self::SameEnds { cable, .. }
            | Self::PortTwice { cable, .. } => TopologyItem::Cable(*cable),
        }
    }
}

impl SwitchParameters {
    /// Longest latency of a packet's first byte, in periods, without contention for its output. A token that stays
    /// nowhere takes a period from one input to the next. S-6
    pub fn path(&self) -> u64 {
        u64::from(self.routing) + u64::from(self.ports) * u64::from(self.token_step.max(1))
    }

    /// A switch with the decisions of S-5 and S-6, without extensions.
    pub const fn new(ports: u8, addressing: RouteAddressing) -> Self {
        Self {
            ports,
            addressing,
            routing: 28,
            token_step: 2,
            arbitration: ArbitrationPolicy::Token,
            extensions: ExtensionSupport::Off,
            clock: NodeClock::EXACT,
            role: SwitchRole::Crossbar,
            forwarding: ForwardingMode::CutThrough,
            supplies: 1,
        }
    }

    /// One end of a fibre. A packet is delayed by the one period that a byte takes to be followed by
    /// the next. N-5
    pub const FIBRE_END: Self = Self {
        routing: 0,
        token_step: 0,
        role: SwitchRole::FibreEnd,
        ..Self::new(2, RouteAddressing::Relative)
    };

    /// One end of a fibre between two networks. N-5
    pub const ROUTER: Self = Self { role: SwitchRole::Router, ..Self::FIBRE_END };

    /// The port of the fibre for the electrical one, and the reverse, if it is an end of a fibre. N-5
    pub(crate) const fn opposite(&self, input: PortId) -> Option<PortId> {
        match self.role {
            SwitchRole::Crossbar => None,
            SwitchRole::FibreEnd | SwitchRole::Router => Some(PortId(1 - (input.0 & 1))),
        }
    }
}

impl NodeKind {
    /// Number of ports.
    pub const fn ports(&self) -> u8 {
        match self {
            Self::Host => 1,
            Self::Switch(switch) => switch.ports,
        }
    }
}

impl Topology {
    /// Validates nodes and cables; the network need not be connected. N-1
    ///
    /// # Errors
    /// The first node at fault, or else the first cable.
    pub fn new(nodes: Vec<NodeSpec>, cables: Vec<CableSpec>) -> Result<Self, TopologyError> {
        let mut topology = Self { nodes, ..Self::default() };
        for (place, node) in topology.nodes.iter().enumerate() {
            check_node(place, node)?;
            // A u32 holds the place of every node that memory holds.
            let id = NodeId(u32::try_from(place).unwrap_or(u32::MAX));
            if let Some(first) = topology.names.insert(node.name.clone(), id) {
                let (first, name) = (first.0 as usize, node.name.clone());
                return Err(TopologyProblem::NameTwice { node: place, first, name }.into());
            }
        }
        for (place, cable) in cables.iter().enumerate() {
            for end in cable.ends {
                topology.check_end(place, end)?;
            }
            if cable.ends[0] == cable.ends[1] {
                let port = topology.port_name(cable.ends[0]);
                return Err(TopologyProblem::SameEnds { cable: place, port }.into());
            }
            for end in cable.ends {
                if let Some(first) = topology.ends.insert(end, place) {
                    let port = topology.port_name(end);
                    return Err(TopologyProblem::PortTwice { cable: place, first, port }.into());
                }
            }
        }
        topology.cables = cables;
        Ok(topology)
    }

    fn check_end(&self, cable: usize, end: NodePort) -> Result<(), TopologyProblem> {
        let Some(node) = self.node(end.node) else {
            let (node, nodes) = (end.node.0, self.nodes.len());
            return Err(TopologyProblem::NoNode { cable, node, nodes });
        };
        let (port, ports) = (end.port.0, node.kind.ports());
        if port < ports {
            Ok(())
        } else {
            Err(TopologyProblem::NoPort { cable, name: node.name.clone(), port, ports })
        }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[NodeSpec] {
        &self.nodes
    }

    pub(crate) fn nodes_mut(&mut self) -> &mut [NodeSpec] {
        &mut self.nodes
    }

    /// The cables.
    pub fn cables(&self) -> &[CableSpec] {
        &self.cables
    }

    /// A node by its index.
    pub fn node(&self, id: NodeId) -> Option<&NodeSpec> {
        self.nodes.get(id.0 as usize)
    }

    /// A node by its name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.names.get(name).copied()
    }

    /// Name of a port, or of a virtual channel of it: `s0:3`, `s0:3.vc1`.
    pub fn port_name(&self, port: NodePort) -> String {
        let name = self.node(port.node).map_or("?", |node| &node.name);
        format!("{name}:{}", PortLabel(port.port))
    }

    /// The cable at a port.
    pub fn cable(&self, port: NodePort) -> Option<&CableSpec> {
        self.cables.get(*self.ends.get(&port)?)
    }

    /// Index of the cable at a port.
    pub fn cable_index(&self, port: NodePort) -> Option<usize> {
        self.ends.get(&port).copied()
    }

    /// The link of a port, with its own end first.
    pub fn link(&self, port: NodePort) -> Option<LinkParameters> {
        let CableSpec { ends, link } = *self.cable(port)?;
        Some(if ends[0] == port { link } else { link.turned() })
    }

    /// The port at the far end of a port's cable.
    pub fn peer(&self, port: NodePort) -> Option<NodePort> {
        let [a, b] = self.cable(port)?.ends;
        Some(if a == port { b } else { a })
    }

    /// The hosts, in the order of the nodes.
    pub fn hosts(&self) -> impl Iterator<Item = NodeId> + Clone {
        self.ids(|kind| matches!(kind, NodeKind::Host))
    }

    /// The switches, in the order of the nodes.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + Clone {
        self.ids(|kind| matches!(kind, NodeKind::Switch(_)))
    }

    fn ids(&self, level: fn(NodeKind) -> bool) -> impl Iterator<Item = NodeId> + Clone {
        let ids = (0..=u32::MAX).map(NodeId);
        ids.zip(&self.nodes).filter(move |(_, node)| level(node.kind)).map(|(id, _)| id)
    }

    /// The ports of a node, with or without a cable.
    pub fn ports(&self, node: NodeId) -> impl Iterator<Item = NodePort> + use<> {
        let ports = self.node(node).map_or(0, |node| node.kind.ports());
        (0..ports).map(move |port| NodePort { node, port: PortId(port) })
    }
}

impl Topology {
    /// A port, or its virtual channels. C-7
    pub fn virtual_ports(&self, port: NodePort) -> impl Iterator<Item = NodePort> + use<> {
        let shared = self.link(port).and_then(|link| link.shared());
        let channels = shared.map_or(1, |codes| codes.channels());
        (0..channels).map(move |channel| match shared {
            None => port,
            Some(_) => port.with_virtual_channel(channel),
        })
    }

    /// Most virtual channels of a port of a node, 1 if none has any. C-7
    pub(crate) fn virtual_channels(&self, node: NodeId) -> u8 {
        let shared = self.ports(node).filter_map(|port| self.link(port)?.shared());
        shared.map(|codes| codes.channels()).max().unwrap_or(1)
    }
}

fn check_node(place: usize, node: &NodeSpec) -> Result<(), TopologyProblem> {
    let name = || node.name.clone();
    let illegal = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | '>' | '#');
    if node.name.is_empty() || node.name.contains(illegal) {
        return Err(TopologyProblem::Name { node: place, name: name() });
    }
    let ports = node.kind.ports();
    if (1..=SWITCH_PORTS_MAX).contains(&ports) {
        Ok(())
    } else {
        Err(TopologyProblem::Ports { node: place, name: name(), ports })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> NodeSpec {
        NodeSpec { name: name.to_owned(), kind: NodeKind::Host }
    }

    fn switch(name: &str, ports: u8) -> NodeSpec {
        let kind = NodeKind::Switch(SwitchParameters::new(ports, RouteAddressing::Relative));
        NodeSpec { name: name.to_owned(), kind }
    }

    fn cable(ends: [(u32, u8); 2]) -> CableSpec {
        let ends = ends.map(|(node, port)| NodePort { node: NodeId(node), port: PortId(port) });
        CableSpec { ends, link: LinkParameters::default() }
    }

    /// A topology with nodes 0 to 2: h0, s0 with 4 ports, and h1.
    fn check(cables: &[[(u32, u8); 2]]) -> Result<Topology, TopologyError> {
        let nodes = vec![host("h0"), switch("s0", 4), host("h1")];
        Topology::new(nodes, cables.iter().copied().map(cable).collect())
    }

    fn fault(cables: &[[(u32, u8); 2]]) -> (String, TopologyItem) {
        let error = check(cables).unwrap_err();
        (error.to_string(), error.0.item())
    }

    fn node_fault(nodes: Vec<NodeSpec>) -> (String, TopologyItem) {
        let error = Topology::new(nodes, Vec::new()).unwrap_err();
        (error.to_string(), error.0.item())
    }

    #[test]
    fn the_ends_of_a_cable_lead_to_each_other() {
        let topology = check(&[[(0, 0), (1, 3)], [(1, 0), (2, 0)]]).unwrap();
        let port = |node, port| NodePort { node: NodeId(node), port: PortId(port) };
        assert_eq!(topology.peer(port(0, 0)), Some(port(1, 3)));
        assert_eq!(topology.peer(port(1, 3)), Some(port(0, 0)));
        assert_eq!(topology.peer(port(1, 1)), None);
        assert_eq!(topology.cable(port(1, 0)), topology.cables().get(1));
        assert_eq!(topology.port_name(port(1, 3)), "s0:3");
    }

    #[test]
    fn nodes_are_found_by_name_and_by_kind() {
        let topology = check(&[]).unwrap();
        assert_eq!(topology.find("h1"), Some(NodeId(2)));
        assert_eq!(topology.find("h2"), None);
        assert_eq!(topology.hosts().collect::<Vec<_>>(), [NodeId(0), NodeId(2)]);
        assert_eq!(topology.switches().collect::<Vec<_>>(), [NodeId(1)]);
        assert_eq!(topology.ports(NodeId(1)).count(), 4);
        assert_eq!(topology.ports(NodeId(0)).count(), 1);
        assert_eq!(topology.ports(NodeId(3)).count(), 0);
    }

    #[test]
    fn a_switch_may_be_cabled_to_itself() {
        assert!(check(&[[(1, 0), (1, 1)]]).is_ok());
    }

    #[test]
    fn names_are_unique_and_legal() {
        for name in ["", "a b", "a:0", "a>b", "a#", "a\u{a0}b", "a\n"] {
            let (_, item) = node_fault(vec![host("h0"), host(name)]);
            assert_eq!(item, TopologyItem::Node(1), "{name:?}");
        }
        let (message, _) = node_fault(vec![host("a:0")]);
        assert_eq!(message, "node 0: `a:0` is no name (no blanks, `:`, `>` or `#`; not empty)");
        let twice = node_fault(vec![host("a"), host("b"), switch("a", 4)]);
        assert_eq!(
            twice,
            ("node 2: `a` is the name of node 0 already".to_owned(), TopologyItem::Node(2))
        );
    }

    #[test]
    fn a_switch_has_1_to_32_ports() {
        for ports in [0, 33] {
            let (message, item) = node_fault(vec![switch("s0", ports)]);
            assert_eq!(message, format!("switch s0: {ports} ports (1..=32)"));
            assert_eq!(item, TopologyItem::Node(0));
        }
        assert!(Topology::new(vec![switch("s0", 1), switch("s1", 32)], Vec::new()).is_ok());
    }

    #[test]
    fn a_cable_ends_at_ports_that_are_there() {
        let (message, item) = fault(&[[(0, 0), (1, 0)], [(2, 0), (3, 0)]]);
        assert_eq!(message, "cable 1: there is no node 3 (0..3)");
        assert_eq!(item, TopologyItem::Cable(1));
        let (message, _) = fault(&[[(0, 0), (1, 4)]]);
        assert_eq!(message, "cable 0: there is no port s0:4 (s0 has 0..4)");
        let (message, _) = fault(&[[(0, 1), (1, 0)]]);
        assert_eq!(message, "cable 0: there is no port h0:1 (h0 has 0..1)");
    }

    /// N-1
    #[test]
    fn a_port_used_twice_is_refused() {
        let (message, item) = fault(&[[(0, 0), (1, 2)], [(1, 2), (2, 0)]]);
        assert_eq!(message, "cable 1: s0:2 has cable 0 already");
        assert_eq!(item, TopologyItem::Cable(1));
        let (message, _) = fault(&[[(1, 2), (1, 2)]]);
        assert_eq!(message, "cable 0: both ends are s0:2");
    }
}
