//! `myriscope topology`: the nodes and links as a table, and as a tree.

use std::collections::BTreeSet;

use super::{Line, Role, count};
use crate::topology::{Kind, Link, Node, Number, Socket, Source, Topology};

/// Lines of trees that are shown. *Chosen*: a hundred hosts take three times as many.
const LINES_MAX: usize = 1024;

/// Levels of a tree that are drawn. *Chosen*: beyond it lines are too long.
const DEPTH_MAX: usize = 32;

/// The network: its links in a table, a picture, and what does not go together.
pub fn topology(topology: &Topology, out: &mut impl FnMut(Line)) {
    let kinds = |kind| topology.nodes.iter().filter(|node| node.kind == kind).count();
    let one_way = topology.links.iter().filter(|link| link.channels.len() == 1).count();
    let mut head = [(Kind::Switch, "switch"), (Kind::Host, "host"), (Kind::Unknown, "")]
        .into_iter()
        .map(|(kind, noun)| (kinds(kind), noun))
        .filter(|(number, noun)| *number > 0 || !noun.is_empty())
        .map(|(number, noun)| match noun {
            "" => format!("{number} of unknown kind"),
            "switch" if number != 1 => format!("{number} switches"),
            noun => count(number, noun),
        })
        .collect::<Vec<_>>()
        .join(", ");
    head += &format!(", {}", count(topology.links.len(), "link"));
    let head = Line::of(Role::Plain, head);
    out(match one_way {
        0 => head,
        one_way => head.and(Role::Notice, format!(", {one_way} of which in one direction only")),
    });
    if topology.links.is_empty() {
        return;
    }
    table(topology, out);
    out(Line::default());
    Trees { topology, drawn: BTreeSet::new(), crossed: BTreeSet::new(), left: LINES_MAX }.draw(out);
    if !topology.remarks.is_empty() {
        out(Line::default());
    }
    for remark in &topology.remarks {
        out(Line::of(Role::Notice, format!("! {}", remark.text)));
    }
}

/// A name that fits a column, where it can.
fn width(names: impl Iterator<Item = usize>) -> usize {
    const MOST: usize = 24;
    names.max().unwrap_or(0).min(MOST)
}

fn table(topology: &Topology, out: &mut impl FnMut(Line)) {
    let places = |end: usize| topology.links.iter().map(move |link| link.ends.get(end).copied());
    let text = |end| places(end).flatten().map(|end| topology.place(end));
    let [one, other] = [0, 1].map(|end| width(text(end).map(|text| text.chars().count())).max(4));
    out(Line::default());
    let head =
        format!("{:<one$}    {:<other$}  {:<10}  {:<12}  tap", "link", "", "rate", "captured");
    out(Line::of(Role::Head, head));
    for (link, (from, to)) in topology.links.iter().zip(text(0).zip(text(1))) {
        let mut rates: Vec<String> = link
            .channels
            .iter()
            .map(|channel| format!("{} Mb/s", 8_000_000 / channel.period_ps.max(1)))
            .collect();
        rates.dedup();
        let (arrow, captured, role) = match link.channels.len() {
            1 => ("─►", "one way", Role::Notice),
            _ => ("──", "both ways", Role::Plain),
        };
        out(Line::of(Role::Plain, format!("{from:<one$} {arrow} {to:<other$}  "))
            .and(Role::Plain, format!("{:<10}  ", rates.join(", ")))
            .and(role, format!("{captured:<12}  "))
            .and(Role::Dim, link.tap.as_deref().map_or_else(String::new, str::to_owned)));
    }
}

/// Trees that reach all nodes, each from its largest switch.
struct Trees<'a> {
    topology: &'a Topology,
    drawn: BTreeSet<usize>,
    crossed: BTreeSet<usize>,
    left: usize,
}

impl Trees<'_> {
    fn draw(mut self, out: &mut impl FnMut(Line)) {
        let mut nodes: Vec<(usize, &Node)> = self.topology.nodes.iter().enumerate().collect();
        // Stable: of equals the first stays first.
        nodes.sort_by_key(|(_, node)| (node.kind, std::cmp::Reverse(node.ports.len())));
        for (place, node) in nodes {
            if self.drawn.insert(place) {
                out(label(node));
                self.branches(place, &mut String::new(), out);
            }
        }
        if self.left == 0 {
            out(Line::of(Role::Dim, "and so on: the table has all links"));
        }
    }

    fn branches(&mut self, node: usize, stem: &mut String, out: &mut impl FnMut(Line)) {
        let topology = self.topology;
        let Some(node) = topology.nodes.get(node) else { return };
        let sockets: Vec<Socket> =
            node.ports.iter().filter(|it| !self.crossed.contains(&it.link)).copied().collect();
        let last = sockets.len().saturating_sub(1);
        for (place, socket) in sockets.into_iter().enumerate() {
            let Some(end) = topology.beyond(socket) else { continue };
            // Both ends of a link may be at this node, or a branch have come back to it.
            if !self.crossed.insert(socket.link) || self.left == 0 {
                continue;
            }
            self.left -= 1;
            let (fork, more) = if place == last { ("└─", "   ") } else { ("├─", "│  ") };
            let Some(there) = topology.nodes.get(end.node) else { continue };
            let line = Line::of(Role::Dim, format!("{stem}{fork} "))
                .and(Role::Plain, format!("{:>2}", socket.port))
                .and(
                    Role::Dim,
                    if one_way(topology.links.get(socket.link)) { " ╌╌ " } else { " ── " },
                )
                .and(Role::Plain, format!("{} ", end.port));
            let line = label(there).pieces().fold(line, |line, (role, text)| line.and(role, text));
            if !self.drawn.insert(end.node) {
                out(line.and(Role::Dim, "  (drawn elsewhere)"));
                continue;
            }
            out(line);
            let len = stem.len();
            if len < DEPTH_MAX * 5 {
                *stem += more;
                self.branches(end.node, stem, out);
                stem.truncate(len);
            }
        }
    }
}

fn one_way(link: Option<&Link>) -> bool {
    link.is_some_and(|link| link.channels.len() == 1)
}

fn label(node: &Node) -> Line {
    let name = &node.name;
    let role = match (node.source, node.kind) {
        (Source::Journeys, _) => Role::Notice,
        (Source::Names, Kind::Switch) => Role::Head,
        (Source::Names, Kind::Host | Kind::Unknown) => Role::Plain,
    };
    let line = Line::of(role, name);
    match (node.kind, node.addressing) {
        (Kind::Host, _) => line,
        (Kind::Unknown, _) => line.and(Role::Dim, " (host or switch)"),
        (Kind::Switch, None) => line.and(Role::Dim, " (switch)"),
        (Kind::Switch, Some(addressing)) => {
            let name = match addressing {
                codec::route::Addressing::Absolute => "absolute",
                codec::route::Addressing::Relative => "relative",
            };
            let known = node.ports.iter().all(|socket| matches!(socket.port, Number::Known(_)));
            let from = if known { "" } else { ", ports counted from the lowest known" };
            line.and(Role::Dim, format!(" (switch, {name}{from})"))
        }
    }
}
