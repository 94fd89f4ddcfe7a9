//! Output of a network as a Graphviz graph.

use std::fmt::Write as _;

use codec::words::escape_text;

use super::{
    NodeSource, PortNumber, Topology, TopologyEnd, TopologyLink, TopologyNode, TopologyNodeKind,
    TopologyPort,
};

impl Topology {
    /// Formats the network as a graph: switches as rounded records with their ports, hosts as
    /// boxes, links with their rates. Nodes derived from packets and links with one captured
    /// channel are dashed. An edge names nodes and numbers of ports: `"s0":3 -- "h0"`.
    pub fn dot(&self) -> String {
        self.dot_marked(&|_| "")
    }

    /// As [`Self::dot`], with more attributes of each link.
    pub(crate) fn dot_marked(&self, mark: &dyn Fn(usize) -> &'static str) -> String {
        let mut text = String::from("graph myrinet {\n");
        text += "  layout = neato; overlap = false; splines = true;\n";
        text +=
            "  node [fontname = \"monospace\"]; edge [fontname = \"monospace\", fontsize = 9];\n";
        let drawn = self.layout();
        for (number, node) in self.nodes.iter().enumerate() {
            // Inches upwards; 72 pixels are an inch.
            let place = drawn.nodes.get(&number).map(|[(x, y), _]| {
                let inches = [*x, drawn.size.1 - y].map(|it| it * 100 / 72);
                let [x, y] = inches.map(|it| format!("{}.{:02}", it / 100, it % 100));
                format!(", pos = \"{x},{y}!\"")
            });
            node_line(node, &place.unwrap_or_default(), &mut text);
        }
        for (place, link) in self.links.iter().enumerate() {
            self.link_line(place, link, mark(place), &mut text);
        }
        text + "}\n"
    }

    fn link_line(&self, place: usize, link: &TopologyLink, mark: &str, text: &mut String) {
        let [one, other] = link.ends;
        let (one, other) = (self.port(one, place, 0), self.port(other, place, 1));
        let periods = link.channels.iter().map(|channel| channel.period_ps.max(1));
        let rates: Vec<String> =
            periods.map(|period| format!("{} Mb/s", 8_000_000 / period)).collect();
        let style = if rates.len() == 1 { ", style = dashed" } else { "" };
        let rates = match rates.as_slice() {
            [one, other] if one == other => one.clone(),
            rates => rates.join(", "),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {one} -- {other} [label = \"{rates}\"{style}{mark}];");
    }

    /// End of an edge: the field of a switch's record, or the node.
    fn port(&self, TopologyEnd { node, .. }: TopologyEnd, link: usize, end: usize) -> String {
        let Some(node) = self.nodes.get(node) else { return String::new() };
        let mut ports = (0..).zip(&node.ports);
        let port = ports.find(|(_, socket)| (socket.link, socket.end) == (link, end));
        match port.filter(|_| node.kind == TopologyNodeKind::Switch) {
            Some((place, socket)) => {
                format!("{}:{}", identifier(&node.name), field(place, *socket))
            }
            None => identifier(&node.name),
        }
    }
}

fn identifier(name: &str) -> String {
    let name = escape_text(name.to_owned()).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{name}\"")
}

/// Identifier of a port in a record: its number, if that is known.
fn field(place: usize, socket: TopologyPort) -> String {
    match socket.port {
        PortNumber::Known(port) => port.0.to_string(),
        PortNumber::Offset(_) | PortNumber::Unknown => format!("p{place}"),
    }
}

fn node_line(node: &TopologyNode, place: &str, text: &mut String) {
    let dashed = match node.source {
        NodeSource::Names => "",
        NodeSource::Journeys => ", style = dashed",
    };
    let label = escaped(&node.name);
    let (shape, label) = match node.kind {
        TopologyNodeKind::Host => ("box", label),
        TopologyNodeKind::Fibre => ("cds", label),
        TopologyNodeKind::Unknown => ("ellipse", label),
        TopologyNodeKind::Switch => {
            let ports = node.ports.iter().enumerate();
            let ports: Vec<String> = ports
                .map(|(place, socket)| format!("<{}> {}", field(place, *socket), socket.port))
                .collect();
            ("Mrecord", format!("{{{label}|{{{}}}}}", ports.join("|")))
        }
    };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "  {} [shape = {shape}, label = \"{label}\"{dashed}{place}];",
        identifier(&node.name)
    );
}

/// Escapes a name for a label, of a record or not, so that no character has a special meaning.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for char in escape_text(name.to_owned()).chars() {
        if matches!(char, '"' | '\\' | '{' | '}' | '|' | '<' | '>' | '[' | ']') {
            text.push('\\');
        }
        // Graphviz decodes entities in labels too.
        match char {
            '&' => text += "&amp;",
            _ => text.push(char),
        }
    }
    text
}
