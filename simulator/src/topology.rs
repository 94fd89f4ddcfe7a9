//! Hosts, switches and the cables between them: a checked graph. N-1

use codec::route::{Addressing, PortId};

use crate::link::LinkParameters;

/// A node: its place among the nodes of its topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A port of a node: where a cable may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique; no blanks, `:`, `>` or `#`.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A host with its interface, which has one port: 0. I-1
    Host,
    /// A switch.
    Switch(SwitchParameters),
}

/// The parameters of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchParameters {
    /// Ports, 1..=32.
    pub ports: u8,
    /// How it reads route bytes. S-1
    pub addressing: Addressing,
    /// Periods between a packet's first byte and its request for an output. S-6
    pub routing: u8,
    /// Periods that the token takes to look at one input. S-5
    pub token_step: u8,
    /// Whether it answers to port 0x7F and has a multicast table. S-8, S-9
    pub extensions: Extensions,
}

/// Whether a switch has the extensions of §3.4. S-8, S-9
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extensions {
    /// It has none: its unused addresses select no port.
    #[default]
    Off,
    /// It has them.
    On,
}

/// A cable between two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// Its ends.
    pub ends: [Port; 2],
    /// What is fixed about it.
    pub link: LinkParameters,
}

/// A checked graph. Nodes and cables keep the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
    cables: Vec<Cable>,
}

impl SwitchParameters {
    /// A switch with the decisions of S-5 and S-6, without extensions.
    #[must_use]
    pub const fn new(ports: u8, addressing: Addressing) -> Self {
        Self { ports, addressing, routing: 28, token_step: 2, extensions: Extensions::Off }
    }
}

impl NodeKind {
    /// How many ports it has.
    #[must_use]
    pub const fn ports(&self) -> u8 {
        match self {
            Self::Host => 1,
            Self::Switch(switch) => switch.ports,
        }
    }
}

impl Topology {
    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The cables.
    #[must_use]
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// A node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }
}
