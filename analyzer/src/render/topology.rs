//! Text of `myriscope topology`: nodes and links as a table and as a tree.

use std::collections::BTreeSet;

use super::{StyledLine, TextStyle, count};
use crate::topology::{
    NodeSource, PortNumber, Topology, TopologyNode, TopologyNodeKind, TopologyPort,
};

/// Maximum number of lines of trees. *Chosen*: enough for a network of a hundred hosts.
const LINES_MAX: usize = 1024;

/// Maximum depth of a tree. *Chosen*: deeper lines are too long.
const DEPTH_MAX: usize = 32;

/// Prints the network: a table of its links, a tree, and inconsistencies.
pub fn topology(topology: &Topology, out: &mut impl FnMut(StyledLine)) {
    let kinds = |kind| topology.nodes.iter().filter(|node| node.kind == kind).count();
    let one_way = topology.links.iter().filter(|link| link.channels.len() == 1).count();
    let mut head = [
        (TopologyNodeKind::Switch, "switch"),
        (TopologyNodeKind::Host, "host"),
        (TopologyNodeKind::Fibre, "fibre end"),
        (TopologyNodeKind::Unknown, ""),
    ]
    .into_iter()
    .map(|(kind, noun)| (kinds(kind), noun))
    .filter(|(number, noun)| *number > 0 || matches!(*noun, "switch" | "host"))
    .map(|(number, noun)| match noun {
        "" => format!("{number} of unknown kind"),
        "switch" if number != 1 => format!("{number} switches"),
        noun => count(number, noun),
    })
    .collect::<Vec<_>>()
    .join(", ");
    head += &format!(", {}", count(topology.links.len(), "link"));
    let head = StyledLine::of(TextStyle::Plain, head);
    out(match one_way {
        0 => head,
        one_way => {
            head.and(TextStyle::Notice, format!(", {one_way} of which in one direction only"))
        }
    });
    if topology.links.is_empty() {
        return;
    }
    table(topology, out);
    out(StyledLine::default());
    network(topology, &|socket| cable(topology, socket), &mut |_, line| out(line));
    if !topology.remarks.is_empty() {
        out(StyledLine::default());
    }
    for observed in &topology.remarks {
        out(StyledLine::of(TextStyle::Notice, format!("! {}", observed.text)));
    }
}

/// Prints the network as trees of all nodes, each from its largest switch, with the text of each link. Lines come with
/// the socket of their link, those of roots without.
pub fn network(
    topology: &Topology,
    cable: &dyn Fn(TopologyPort) -> StyledLine,
    out: &mut impl FnMut(Option<TopologyPort>, StyledLine),
) {
    let (drawn, crossed) = (BTreeSet::new(), BTreeSet::new());
    TopologyTrees { topology, cable, drawn, crossed, left: LINES_MAX }.draw(out);
}

/// A link, by the directions that were captured.
fn cable(topology: &Topology, socket: TopologyPort) -> StyledLine {
    let channels = topology.links.get(socket.link).map(|link| link.channels.len());
    let text = match channels {
        Some(0) => "~~",
        Some(1) => "╌╌",
        Some(_) | None => "──",
    };
    StyledLine::of(TextStyle::Dim, text)
}

/// Width of a column of names, limited to 24.
fn width(names: impl Iterator<Item = usize>) -> usize {
    const MOST: usize = 24;
    names.max().unwrap_or(0).min(MOST)
}

fn table(topology: &Topology, out: &mut impl FnMut(StyledLine)) {
    let places = |end: usize| topology.links.iter().map(move |link| link.ends.get(end).copied());
    let text = |end| places(end).flatten().map(|end| topology.place(end));
    let [one, other] = [0, 1].map(|end| width(text(end).map(|text| text.chars().count())).max(4));
    out(StyledLine::default());
    let head =
        format!("{:<one$}    {:<other$}  {:<10}  {:<12}  tap", "link", "", "rate", "captured");
    out(StyledLine::of(TextStyle::Head, head));
    for (link, (from, to)) in topology.links.iter().zip(text(0).zip(text(1))) {
        let periods = link.channels.iter().map(|channel| channel.period_ps.max(1));
        let mut rates: Vec<String> =
            periods.map(|period| format!("{} Mb/s", 8_000_000 / period)).collect();
        rates.dedup();
        let (arrow, captured, role) = match link.channels.len() {
            0 => ("~~", "", TextStyle::Plain),
            1 => ("─►", "one way", TextStyle::Notice),
            _ => ("──", "both ways", TextStyle::Plain),
        };
        out(StyledLine::of(TextStyle::Plain, format!("{from:<one$} {arrow} {to:<other$}  "))
            .and(TextStyle::Plain, format!("{:<10}  ", rates.join(", ")))
            .and(role, format!("{captured:<12}  "))
            .and(TextStyle::Dim, link.tap.as_deref().map_or_else(String::new, str::to_owned)));
    }
}

/// Spanning trees of all nodes.
struct TopologyTrees<'a> {
    topology: &'a Topology,
    /// Text of the link in a port.
    cable: &'a dyn Fn(TopologyPort) -> StyledLine,
    drawn: BTreeSet<usize>,
    crossed: BTreeSet<usize>,
    left: usize,
}

impl TopologyTrees<'_> {
    fn draw(mut self, out: &mut impl FnMut(Option<TopologyPort>, StyledLine)) {
        let mut nodes: Vec<(usize, &TopologyNode)> =
            self.topology.nodes.iter().enumerate().collect();
        // The sort is stable: of equal nodes the first stays first.
        nodes.sort_by_key(|(_, node)| (node.kind, std::cmp::Reverse(node.ports.len())));
        for (place, node) in nodes {
            if self.drawn.insert(place) {
                out(None, label(node));
                self.branches(place, &mut String::new(), out);
            }
        }
        if self.left == 0 {
            out(None, StyledLine::of(TextStyle::Dim, "and so on: the table has all links"));
        }
    }

    fn branches(
        &mut self,
        node: usize,
        stem: &mut String,
        out: &mut impl FnMut(Option<TopologyPort>, StyledLine),
    ) {
        let topology = self.topology;
        let Some(node) = topology.nodes.get(node) else { return };
        let sockets: Vec<TopologyPort> =
            node.ports.iter().filter(|it| !self.crossed.contains(&it.link)).copied().collect();
        let last = sockets.len().saturating_sub(1);
        for (place, socket) in sockets.into_iter().enumerate() {
            let Some(end) = topology.beyond(socket) else { continue };
            // The link may have both ends at this node, or a branch may have returned over it.
            if !self.crossed.insert(socket.link) || self.left == 0 {
                continue;
            }
            self.left -= 1;
            let (fork, more) = if place == last { ("└─", "   ") } else { ("├─", "│  ") };
            let Some(there) = topology.nodes.get(end.node) else { continue };
            let line = StyledLine::of(TextStyle::Dim, format!("{stem}{fork} "))
                .and(TextStyle::Plain, format!("{:>2} ", socket.port))
                .followed_by((self.cable)(socket))
                .and(TextStyle::Plain, format!(" {} ", end.port))
                .followed_by(label(there));
            if !self.drawn.insert(end.node) {
                out(Some(socket), line.and(TextStyle::Dim, "  (drawn elsewhere)"));
                continue;
            }
            out(Some(socket), line);
            let len = stem.len();
            if len < DEPTH_MAX * 5 {
                *stem += more;
                self.branches(end.node, stem, out);
                stem.truncate(len);
            }
        }
    }
}

fn label(node: &TopologyNode) -> StyledLine {
    let name = &node.name;
    let role = match (node.source, node.kind) {
        (NodeSource::Journeys, _) => TextStyle::Notice,
        (NodeSource::Names, TopologyNodeKind::Switch) => TextStyle::Head,
        (NodeSource::Names, _) => TextStyle::Plain,
    };
    let line = StyledLine::of(role, name);
    match (node.kind, node.addressing) {
        (TopologyNodeKind::Host, _) => line,
        (TopologyNodeKind::Fibre, _) => line.and(TextStyle::Dim, " (fibre)"),
        (TopologyNodeKind::Unknown, _) => line.and(TextStyle::Dim, " (host or switch)"),
        (TopologyNodeKind::Switch, None) => line.and(TextStyle::Dim, " (switch)"),
        (TopologyNodeKind::Switch, Some(addressing)) => {
            let name = addressing.name();
            let known = node.ports.iter().all(|socket| matches!(socket.port, PortNumber::Known(_)));
            let from = if known { "" } else { ", ports counted from the lowest known" };
            line.and(TextStyle::Dim, format!(" (switch, {name}{from})"))
        }
    }
}
