//! The network as a picture, its links coloured by what was found.

use std::borrow::Cow;
use std::collections::BTreeMap;

use analyzer::finding::{Severity, ShellCommand};
use analyzer::topology::layout::PicturePoint;
use analyzer::topology::{Inconsistency, Topology, TopologyLink, TopologyNode, TopologyNodeKind};

use super::text::BoundedList;

/// Facts about a channel that colour its link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChannelFacts {
    pub(super) severity: Option<Severity>,
    /// Data bytes in a thousand characters.
    pub(super) use_permille: u64,
    /// Time stopped, in a thousand characters; none where the opposite channel was not recorded.
    pub(super) stopped_permille: Option<u64>,
}

impl ChannelFacts {
    pub(super) fn worse(self, other: Self) -> Self {
        Self {
            severity: self.severity.into_iter().chain(other.severity).min(),
            use_permille: self.use_permille.max(other.use_permille),
            stopped_permille: self.stopped_permille.max(other.stopped_permille),
        }
    }
}

pub(super) struct NetworkPicture<'a> {
    /// Width and height.
    pub(super) size: PicturePoint,
    pub(super) summary: String,
    pub(super) nodes: Vec<PictureNode<'a>>,
    pub(super) links: BoundedList<PictureLink<'a>>,
    pub(super) more_nodes: usize,
    pub(super) remarks: BoundedList<&'a Inconsistency>,
}

pub(super) struct PictureNode<'a> {
    pub(super) place: PicturePoint,
    /// The middle of the name.
    pub(super) name: PicturePoint,
    pub(super) node: &'a TopologyNode,
}

pub(super) struct PictureLink<'a> {
    /// Start, control point and end.
    pub(super) curve: [PicturePoint; 3],
    pub(super) link: &'a TopologyLink,
    pub(super) names: [String; 2],
    pub(super) facts: ChannelFacts,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) state: &'static str,
}

/// Draws the network; none without nodes.
pub(super) fn picture<'a>(
    topology: &'a Topology,
    facts: &BTreeMap<Cow<'_, str>, ChannelFacts>,
    command: &ShellCommand,
) -> Option<NetworkPicture<'a>> {
    let drawn = topology.layout();
    let nodes = drawn.nodes.iter().filter_map(|(node, [place, name])| {
        Some(PictureNode { place: *place, name: *name, node: topology.nodes.get(*node)? })
    });
    let nodes: Vec<PictureNode<'_>> = nodes.collect();
    if nodes.is_empty() {
        return None;
    }
    let links = drawn.links.iter().filter_map(|(link, curve)| {
        topology.links.get(*link).map(|link| draw(topology, link, facts, *curve))
    });
    let links = BoundedList {
        items: links.collect(),
        more: topology.links.len() - drawn.links.len(),
        command: command.clone(),
    };
    let counts = TopologyNodeKind::ALL
        .map(|kind| (kind, topology.nodes.iter().filter(|node| node.kind == kind).count()));
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let words = counts.map(|(kind, count)| format!("{count} × {}", kind.name()));
    let words: Vec<String> = words.chain([format!("{} × link", topology.links.len())]).collect();
    Some(NetworkPicture {
        size: drawn.size,
        summary: words.join(", "),
        more_nodes: topology.nodes.len() - nodes.len(),
        nodes,
        links,
        remarks: BoundedList::of(&topology.remarks, 12, command),
    })
}

/// A link with what is known of its channels.
fn draw<'a>(
    topology: &Topology,
    link: &'a TopologyLink,
    facts: &BTreeMap<Cow<'_, str>, ChannelFacts>,
    curve: [PicturePoint; 3],
) -> PictureLink<'a> {
    let own = link.channels.iter().filter_map(|channel| facts.get(channel.name.as_str()));
    let own = own.copied().reduce(ChannelFacts::worse);
    let facts = own.unwrap_or_default();
    let (class, sign) = match facts.severity {
        Some(Severity::Error) => ("error", "✗"),
        Some(Severity::Warning) => ("warning", "!"),
        Some(Severity::Note) | None if facts.stopped_permille >= Some(100) => ("stopped", "■"),
        Some(Severity::Note) | None if facts.use_permille == 0 => ("quiet", ""),
        Some(Severity::Note) | None => ("good", ""),
    };
    let state = match facts.severity {
        Some(severity) => severity.name(),
        None if link.channels.is_empty() => "a fibre, not captured",
        None if own.is_none() => "not selected",
        None => "nothing found",
    };
    let names = link.ends.map(|end| topology.place(end));
    PictureLink { curve, link, names, facts, class, sign, state }
}
