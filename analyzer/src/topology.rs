//! Reconstruction of the network's nodes, ports and links from channel names, and from packet
//! routes where names are missing or wrong. N-1, S-1

mod build;
mod dot;
mod inconsistency;
pub mod layout;
mod ports;
mod row;

use std::collections::BTreeMap;
use std::fmt;

use codec::capture::ChannelId;
use codec::route::{PortId, RouteAddressing};
use serde::Serialize;

pub use self::inconsistency::{Inconsistency, InconsistencyKind};
pub use self::row::{TopologyLinkRow, TopologyNodeRow, TopologyPortRow, TopologyRow};
pub use crate::capture_network::{CaptureNetwork, LinkKey};
use crate::journey::ImpliedPassage;
pub use crate::node_kind::TopologyNodeKind;

/// Maximum of counted passages between channels. *Chosen*: a switch of 32 ports has 1024 pairs.
const IMPLIED_MAX: usize = 1 << 16;

/// Evidence of the network in a capture.
#[derive(Clone, Debug, Default)]
pub struct TopologyEvidence {
    network: CaptureNetwork,
    /// Number of packets from one channel to another by a route byte.
    implied: BTreeMap<(ChannelId, ChannelId, u8), u64>,
}

/// The known part of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Named nodes in order of names, then nodes derived from packets.
    pub nodes: Vec<TopologyNode>,
    /// Links in order of their first channels.
    pub links: Vec<TopologyLink>,
    /// Passages of packets through switches.
    pub passages: Vec<SwitchPassage>,
    /// Contradictions in the evidence.
    pub remarks: Vec<Inconsistency>,
}

/// A switch or a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyNode {
    /// Name from the channels, or `?1`, `?2`, … without one.
    pub name: String,
    /// Source of the node.
    pub source: NodeSource,
    /// Kind of the node.
    pub kind: TopologyNodeKind,
    /// Addressing of route bytes, if packets and ports show it. S-1
    pub addressing: Option<RouteAddressing>,
    /// Known ports in order.
    pub ports: Vec<TopologyPort>,
}

/// Source of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeSource {
    /// Names of channels.
    Names,
    /// Packets: a channel has two ends, and packets pass from one channel to another.
    Journeys,
}

/// A port of a node, with the end of a link in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopologyPort {
    /// Number of the port.
    pub port: PortNumber,
    /// Index of the link.
    pub link: usize,
    /// Index of the end.
    pub end: usize,
}

/// Number of a port, absolute or relative, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortNumber {
    /// This number.
    Known(PortId),
    /// Difference to the lowest known port of the node. S-1
    Offset(u16),
    /// No evidence.
    Unknown,
}

/// A link of which one or both channels were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyLink {
    /// Source and destination of the first channel.
    pub ends: [TopologyEnd; 2],
    /// The captured channels, one or two; of a fibre none.
    pub channels: Vec<TopologyChannel>,
    /// Port at which the link was tapped, if declared.
    pub tap: Option<String>,
}

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopologyEnd {
    /// Index of the node.
    pub node: usize,
    /// Port of the node.
    pub port: PortNumber,
}

/// A channel of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyChannel {
    /// Name of the channel.
    pub name: String,
    /// Character period in picoseconds. §4.2
    pub period_ps: u64,
}

/// Passage of packets through a switch; a row of `myriscope topology`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SwitchPassage {
    /// Name of the channel to the switch.
    pub from: String,
    /// Name of the channel from the switch.
    pub to: String,
    /// The stripped route byte. P-3
    pub byte: u8,
    /// Number of packets.
    pub packets: u64,
}

impl TopologyEvidence {
    /// Adds the evidence of a section of a capture.
    pub fn section(
        &mut self,
        network: CaptureNetwork,
        implied: impl Iterator<Item = ImpliedPassage>,
    ) {
        self.network.absorb(network);
        for ImpliedPassage { from, to, byte, packets } in implied {
            let key = (from, to, byte);
            if self.implied.len() < IMPLIED_MAX || self.implied.contains_key(&key) {
                let count = self.implied.entry(key).or_default();
                *count = count.saturating_add(packets);
            }
        }
    }

    /// Builds the network from the evidence.
    pub fn topology(&self) -> Topology {
        build::build(&self.network, &self.implied)
    }
}

impl Topology {
    /// Formats a port as node name and port number.
    pub fn place(&self, end: TopologyEnd) -> String {
        let name = self.nodes.get(end.node).map_or("", |node| node.name.as_str());
        format!("{name}:{}", end.port)
    }

    /// Adds the fibre between two nodes that were captured: a link without channels, unless it was
    /// captured itself. N-5
    fn add_fibre(&mut self, names: [&str; 2]) {
        let node = |name: &str| self.nodes.iter().position(|node| node.name == name);
        let [Some(one), Some(other)] = names.map(node) else { return };
        let (link, port) = (self.links.len(), PortNumber::Known(PortId(1)));
        let is_known = |node: &TopologyNode| node.ports.iter().any(|it| it.port == port);
        if [one, other].iter().any(|node| self.nodes.get(*node).is_some_and(is_known)) {
            return;
        }
        for (end, node) in [one, other].into_iter().enumerate() {
            if let Some(node) = self.nodes.get_mut(node) {
                node.ports.push(TopologyPort { port, link, end });
            }
        }
        let ends = [one, other].map(|node| TopologyEnd { node, port });
        self.links.push(TopologyLink { ends, channels: Vec::new(), tap: None });
    }

    /// Other end of the link in a port, or of the links that fibres join to one. N-5
    pub(crate) fn beyond_fibres(
        &self,
        socket: TopologyPort,
        mut passed: impl FnMut(usize),
    ) -> Option<TopologyEnd> {
        let mut socket = socket;
        // More steps than links would be a circle.
        for _ in &self.links {
            passed(socket.link);
            let end = self.beyond(socket)?;
            let node = self.nodes.get(end.node).filter(|it| it.kind == TopologyNodeKind::Fibre);
            let Some(node) = node else { return Some(end) };
            socket = *node.ports.iter().find(|other| other.link != socket.link)?;
        }
        None
    }

    /// Other end of the link in a port.
    pub fn beyond(&self, socket: TopologyPort) -> Option<TopologyEnd> {
        let [one, other] = self.links.get(socket.link)?.ends;
        Some(if socket.end == 0 { other } else { one })
    }
}

impl PortNumber {
    pub(crate) fn known(self) -> Option<i16> {
        match self {
            Self::Known(PortId(port)) => Some(port.into()),
            Self::Offset(_) | Self::Unknown => None,
        }
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
