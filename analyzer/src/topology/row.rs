//! The network as rows of `docs/output.md`.

use codec::route::RouteAddressing;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{Inconsistency, NodeSource, PortNumber, SwitchPassage, Topology, TopologyNodeKind};

/// Row of `myriscope topology`, as specified in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "row", rename_all = "kebab-case")]
pub enum TopologyRow<'a> {
    /// A switch or a host.
    Node(TopologyNodeRow<'a>),
    /// A link.
    Link(TopologyLinkRow<'a>),
    /// Passage of packets through a switch.
    Passage(&'a SwitchPassage),
    /// Contradiction in the evidence.
    Inconsistency(&'a Inconsistency),
}

/// A switch or a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TopologyNodeRow<'a> {
    /// Name of the node.
    pub name: &'a str,
    /// `switch`, `host` or `unknown`.
    pub kind: TopologyNodeKind,
    /// `names` or `journeys`.
    pub source: NodeSource,
    /// `absolute`, `relative`, or null without evidence.
    pub addressing: Option<&'static str>,
    /// Known ports in order.
    pub ports: Vec<TopologyPortRow>,
}

/// A port of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TopologyPortRow {
    pub(crate) port: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<u16>,
    pub(crate) to: String,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TopologyLinkRow<'a> {
    pub(crate) ends: [String; 2],
    pub(crate) channels: Vec<&'a str>,
    pub(crate) periods_ps: Vec<u64>,
    pub(crate) tap: Option<&'a str>,
}

impl Topology {
    /// Converts the nodes to rows.
    pub fn node_rows(&self) -> impl Iterator<Item = TopologyNodeRow<'_>> {
        self.nodes.iter().map(|node| TopologyNodeRow {
            name: &node.name,
            kind: node.kind,
            source: node.source,
            addressing: node.addressing.map(RouteAddressing::name),
            ports: node
                .ports
                .iter()
                .map(|socket| {
                    let (port, offset) = match socket.port {
                        PortNumber::Known(port) => (Some(port.0), None),
                        PortNumber::Offset(offset) => (None, Some(offset)),
                        PortNumber::Unknown => (None, None),
                    };
                    let to = self.beyond(*socket).map(|end| self.place(end)).unwrap_or_default();
                    TopologyPortRow { port, offset, to }
                })
                .collect(),
        })
    }

    /// Converts the links to rows.
    pub fn link_rows(&self) -> impl Iterator<Item = TopologyLinkRow<'_>> {
        self.links.iter().map(|link| TopologyLinkRow {
            ends: link.ends.map(|end| self.place(end)),
            channels: link.channels.iter().map(|channel| channel.name.as_str()).collect(),
            periods_ps: link.channels.iter().map(|channel| channel.period_ps).collect(),
            tap: link.tap.as_deref(),
        })
    }

    /// All rows: nodes, links, passages and contradictions.
    pub fn rows(&self) -> impl Iterator<Item = TopologyRow<'_>> {
        let nodes = self.node_rows().map(TopologyRow::Node);
        let links = self.link_rows().map(TopologyRow::Link);
        let passages = self.passages.iter().map(TopologyRow::Passage);
        let remarks = self.remarks.iter().map(TopologyRow::Inconsistency);
        nodes.chain(links).chain(passages).chain(remarks)
    }
}

impl Serialize for Topology {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut topology = serializer.serialize_struct("Topology", 4)?;
        topology.serialize_field("nodes", &self.node_rows().collect::<Vec<_>>())?;
        topology.serialize_field("links", &self.link_rows().collect::<Vec<_>>())?;
        topology.serialize_field("passages", &self.passages)?;
        topology.serialize_field("remarks", &self.remarks)?;
        topology.end()
    }
}
