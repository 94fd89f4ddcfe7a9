//! The network: its nodes, ports and links, from the names of channels, and where these are missing or
//! wrong, from the ways that packets took. N-1, S-1

mod build;
mod dot;
mod inconsistency;
mod nodes;
mod ports;
mod row;

use std::collections::BTreeMap;
use std::fmt;

use codec::capture::ChannelId;
use codec::route::{PortId, RouteAddressing};
use serde::Serialize;

pub use self::inconsistency::{Inconsistency, InconsistencyKind};
pub use self::nodes::NodeIndex;
pub use self::row::{TopologyLinkRow, TopologyNodeRow, TopologyPortRow, TopologyRow};
use crate::journey::ImpliedPassage;
pub use crate::node_kind::TopologyNodeKind;

/// Pairs of channels that are kept. *Chosen*: a switch of 32 ports has 1024.
const IMPLIED_MAX: usize = 1 << 16;

/// Evidence of the network in a capture.
#[derive(Clone, Debug, Default)]
pub struct TopologyEvidence {
    nodes: NodeIndex,
    /// Number of packets went from one channel to another by a route byte.
    implied: BTreeMap<(ChannelId, ChannelId, u8), u64>,
}

/// A network, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Those that have names first, in order of names; then those that packets imply.
    pub nodes: Vec<TopologyNode>,
    /// In order of their first channels.
    pub links: Vec<TopologyLink>,
    /// Ways of packets through switches.
    pub passages: Vec<SwitchPassage>,
    /// Contradictions.
    pub remarks: Vec<Inconsistency>,
}

/// A switch or a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyNode {
    /// As the channels have it, or `?1`, `?2`, … if none has.
    pub name: String,
    /// Source of the node.
    pub source: NodeSource,
    /// Its kind.
    pub kind: TopologyNodeKind,
    /// Addressing of route bytes, where packets and ports show it. S-1
    pub addressing: Option<RouteAddressing>,
    /// Its ports that are known, in order.
    pub ports: Vec<TopologyPort>,
}

/// Source of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeSource {
    /// By the names of channels.
    Names,
    /// As a channel must have two ends, and packets go from one to another.
    Journeys,
}

/// A port of a node, and which end of which link is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopologyPort {
    /// Its number.
    pub port: PortNumber,
    /// Index of the link.
    pub link: usize,
    /// Index of the end.
    pub end: usize,
}

/// Number of a port, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortNumber {
    /// It is this.
    Known(PortId),
    /// It is so much more than that of the lowest port that is known. S-1
    Offset(u16),
    /// Nothing.
    Unknown,
}

/// A link, both channels or one of which was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyLink {
    /// Place at which the first channel comes from, and where it goes to.
    pub ends: [TopologyEnd; 2],
    /// One or two.
    pub channels: Vec<TopologyChannel>,
    /// At which port it was observed, as the capture says.
    pub tap: Option<String>,
}

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopologyEnd {
    /// Index of the node.
    pub node: usize,
    /// The port there.
    pub port: PortNumber,
}

/// A channel of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyChannel {
    /// Its name.
    pub name: String,
    /// Its character period in picoseconds. §4.2
    pub period_ps: u64,
}

/// Passage of packets through a switch: a row of `myriscope topology`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SwitchPassage {
    /// Name of the channel to the switch.
    pub from: String,
    /// Name of the channel out of it.
    pub to: String,
    /// The route byte that it stripped. P-3
    pub byte: u8,
    /// The number.
    pub packets: u64,
}

impl TopologyEvidence {
    /// Adds what a section of a capture tells.
    pub fn section(&mut self, nodes: &NodeIndex, implied: impl Iterator<Item = ImpliedPassage>) {
        self.nodes.absorb(nodes);
        for ImpliedPassage { from, to, byte, packets } in implied {
            let key = (from, to, byte);
            if self.implied.len() < IMPLIED_MAX || self.implied.contains_key(&key) {
                let count = self.implied.entry(key).or_default();
                *count = count.saturating_add(packets);
            }
        }
    }

    /// The network.
    #[must_use]
    pub fn topology(&self) -> Topology {
        build::build(&self.nodes, &self.implied)
    }
}

impl Topology {
    /// A port, as its node's name and its number.
    #[must_use]
    pub fn place(&self, end: TopologyEnd) -> String {
        let name = self.nodes.get(end.node).map_or("", |node| node.name.as_str());
        format!("{name}:{}", end.port)
    }

    /// The other end of the link in a port.
    #[must_use]
    pub fn beyond(&self, socket: TopologyPort) -> Option<TopologyEnd> {
        let [one, other] = self.links.get(socket.link)?.ends;
        Some(if socket.end == 0 { other } else { one })
    }
}

impl fmt::Display for PortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(PortId(port)) => port.fmt(f),
            Self::Offset(offset) => write!(f, "+{offset}"),
            Self::Unknown => f.write_str("?"),
        }
    }
}
