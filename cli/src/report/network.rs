//! The network as a picture: hosts in the lowest row, and nodes that may be hosts; each switch above by
//! its distance from them.
//! Coordinates are integers, so that the bytes are the same on every machine.

use std::borrow::Cow;
use std::collections::BTreeMap;

use analyzer::finding::{Severity, ShellCommand};
use analyzer::topology::{Inconsistency, Topology, TopologyLink, TopologyNode, TopologyNodeKind};

use super::text::BoundedList;

/// Nodes in the picture. *Chosen*: more could not be told apart.
const NODES_MAX: usize = 160;
/// Links in the picture.
const LINKS_MAX: usize = 600;
/// Passes that sort each row by the neighbours of its nodes. *Chosen*: more change little.
const SORTING_PASSES: usize = 8;
/// Size of the picture and of its parts, in pixels.
const WIDTH_MIN: usize = 960;
const ROW: usize = 120;
/// Room for links within the highest row, and for names below the lowest.
const ABOVE: usize = 64;
const BELOW: usize = 52;

/// Facts about a channel that colour its link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChannelFacts {
    pub(super) severity: Option<Severity>,
    /// Data bytes in a thousand characters.
    pub(super) use_permille: u64,
    /// Time stopped, in a thousand characters.
    pub(super) stopped_permille: u64,
}

impl ChannelFacts {
    /// The worse of each fact.
    pub(super) fn worse(self, other: Self) -> Self {
        Self {
            severity: self.severity.into_iter().chain(other.severity).min(),
            use_permille: self.use_permille.max(other.use_permille),
            stopped_permille: self.stopped_permille.max(other.stopped_permille),
        }
    }
}

pub(super) struct NetworkPicture<'a> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) summary: String,
    pub(super) nodes: Vec<PictureNode<'a>>,
    pub(super) links: BoundedList<PictureLink<'a>>,
    pub(super) more_nodes: usize,
    pub(super) remarks: BoundedList<&'a Inconsistency>,
}

pub(super) struct PictureNode<'a> {
    pub(super) x: usize,
    pub(super) y: usize,
    /// Distance of the name: neighbours alternate where names are many.
    pub(super) below: usize,
    pub(super) node: &'a TopologyNode,
}

/// A link as a curve.
pub(super) struct PictureLink<'a> {
    pub(super) from: (usize, usize),
    pub(super) bend: (usize, usize),
    pub(super) to: (usize, usize),
    pub(super) link: &'a TopologyLink,
    pub(super) names: [String; 2],
    pub(super) facts: ChannelFacts,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) state: &'static str,
}

/// Rows of nodes, hosts first, and the place of each node in its row.
struct NodeRows {
    rows: Vec<Vec<usize>>,
    neighbours: BTreeMap<usize, Vec<usize>>,
}

/// Draws the network; none without nodes.
pub(super) fn picture<'a>(
    topology: &'a Topology,
    facts: &BTreeMap<Cow<'_, str>, ChannelFacts>,
    command: &ShellCommand,
) -> Option<NetworkPicture<'a>> {
    let is_host = |node: usize| {
        topology.nodes.get(node).is_some_and(|node| node.kind != TopologyNodeKind::Switch)
    };
    let mut shown: Vec<usize> = (0..topology.nodes.len()).collect();
    shown.sort_by_key(|node| is_host(*node));
    shown.truncate(NODES_MAX);
    let mut neighbours: BTreeMap<usize, Vec<usize>> =
        shown.iter().map(|node| (*node, Vec::new())).collect();
    let has = |nodes: &BTreeMap<usize, Vec<usize>>, link: &TopologyLink| {
        link.ends.iter().all(|end| nodes.contains_key(&end.node))
    };
    let links: Vec<&TopologyLink> =
        topology.links.iter().filter(|link| has(&neighbours, link)).collect();
    for link in &links {
        let [one, other] = link.ends.map(|end| end.node);
        for (from, to) in [(one, other), (other, one)] {
            neighbours.entry(from).or_default().push(to);
        }
    }
    let mut rows = NodeRows::new(neighbours, is_host);
    rows.sort();
    let most = rows.rows.iter().map(Vec::len).max().filter(|most| *most > 0)?;
    let width = WIDTH_MIN.max(most * 34);
    let places = rows.places(width);
    let nodes = rows.rows.iter().flat_map(|row| row.iter().enumerate().map(|it| (row.len(), it)));
    let nodes = nodes.filter_map(|(len, (place, id))| {
        let ((x, y), node) = (*places.get(id)?, topology.nodes.get(*id)?);
        let stagger = if len > 12 { place % 2 * 14 } else { 0 };
        Some(PictureNode { x, y, below: 28 + stagger, node })
    });
    let nodes: Vec<PictureNode<'_>> = nodes.collect();
    let mut parallel: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    let links = BoundedList::of(links, LINKS_MAX, command).map(|link| {
        let mut ends = link.ends.map(|end| end.node);
        ends.sort_unstable();
        let number = parallel.entry(ends).and_modify(|number| *number += 1).or_default();
        let [from, to] = link.ends.map(|end| places.get(&end.node).copied().unwrap_or_default());
        draw(topology, link, facts, (from, to, *number))
    });
    let counts = TopologyNodeKind::ALL
        .map(|kind| (kind, topology.nodes.iter().filter(|node| node.kind == kind).count()));
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let words = counts.map(|(kind, count)| format!("{count} × {}", kind.name()));
    let words: Vec<String> = words.chain([format!("{} × link", topology.links.len())]).collect();
    Some(NetworkPicture {
        width,
        height: rows.rows.len().saturating_sub(1) * ROW + ABOVE + BELOW,
        summary: words.join(", "),
        more_nodes: topology.nodes.len() - nodes.len(),
        nodes,
        links,
        remarks: BoundedList::of(&topology.remarks, 12, command),
    })
}

impl NodeRows {
    /// Hosts, and switches by their distance from the nearest host.
    fn new(neighbours: BTreeMap<usize, Vec<usize>>, is_host: impl Fn(usize) -> bool) -> Self {
        let mut left: Vec<usize> = neighbours.keys().copied().collect();
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let mut next: Vec<usize> = left.iter().copied().filter(|node| is_host(*node)).collect();
        while !left.is_empty() {
            if next.is_empty() {
                // Switches that no host reaches.
                next.clone_from(&left);
            }
            left.retain(|node| !next.contains(node));
            let above = left.iter().copied().filter(|node| {
                neighbours.get(node).is_some_and(|it| it.iter().any(|it| next.contains(it)))
            });
            let above = above.collect();
            rows.push(std::mem::replace(&mut next, above));
        }
        Self { rows, neighbours }
    }

    /// Sorts each row by the mean place of the neighbours in other rows, so that fewer links cross: upwards,
    /// then downwards, and so on.
    fn sort(&mut self) {
        let upwards = 0..self.rows.len();
        let ways = [upwards.clone().collect::<Vec<_>>(), upwards.rev().collect()];
        for number in ways.iter().cycle().take(SORTING_PASSES).flatten() {
            let places = self.places(1 << 20);
            let Some(row) = self.rows.get_mut(*number) else { continue };
            row.sort_by_cached_key(|node| {
                let (own, y) = places.get(node).copied().unwrap_or_default();
                let near = self.neighbours.get(node).map(Vec::as_slice).unwrap_or_default();
                let near = near.iter().filter_map(|it| places.get(it)).filter(|place| place.1 != y);
                let (sum, count) = near.fold((0, 0), |(sum, count), (x, _)| (sum + x, count + 1));
                (sum.checked_div(count).unwrap_or(own), own)
            });
        }
    }

    /// Coordinates of the nodes in a picture of this width.
    fn places(&self, width: usize) -> BTreeMap<usize, (usize, usize)> {
        let rows = self.rows.iter().rev().enumerate();
        let places = rows.flat_map(|(number, row)| {
            let x = move |place: usize| (2 * place + 1) * width / (2 * row.len().max(1));
            let y = ABOVE + number * ROW;
            row.iter().enumerate().map(move |(place, node)| (*node, (x(place), y)))
        });
        places.collect()
    }
}

/// Draws a link; several between the same nodes lie side by side.
fn draw<'a>(
    topology: &Topology,
    link: &'a TopologyLink,
    facts: &BTreeMap<Cow<'_, str>, ChannelFacts>,
    (from, to, number): ((usize, usize), (usize, usize), usize),
) -> PictureLink<'a> {
    let own = link.channels.iter().filter_map(|channel| facts.get(channel.name.as_str()));
    let own = own.copied().reduce(ChannelFacts::worse);
    let facts = own.unwrap_or_default();
    let (class, sign) = match facts.severity {
        Some(Severity::Error) => ("error", "✗"),
        Some(Severity::Warning) => ("warning", "!"),
        Some(Severity::Note) | None if facts.stopped_permille >= 100 => ("stopped", "■"),
        Some(Severity::Note) | None if facts.use_permille == 0 => ("quiet", ""),
        Some(Severity::Note) | None => ("good", ""),
    };
    let middle = (usize::midpoint(from.0, to.0), usize::midpoint(from.1, to.1));
    // Long links within a row are arcs: nodes are below them.
    let rise =
        if from.1 == to.1 { (from.0.abs_diff(to.0) / 6).saturating_sub(40).min(100) } else { 0 };
    let bend = (middle.0 + number * 18, middle.1.saturating_sub(rise + number * 12).max(2));
    let state = match facts.severity {
        Some(severity) => severity.name(),
        None if link.channels.is_empty() => "a fibre, not captured",
        None if own.is_none() => "not selected",
        None => "nothing found",
    };
    let names = link.ends.map(|end| topology.place(end));
    PictureLink { from, bend, to, link, names, facts, class, sign, state }
}
