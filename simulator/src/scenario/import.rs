//! Networks from files of other programs: CSV, and undirected graphs of Graphviz. N-1
//!
//! A file lists cables by the names and ports of their ends. A node with only one cable, at port 0, is a
//! host; every other node is a switch. Switches are numbered before hosts, both in the order in which
//! the file names them.

mod dot;

use std::collections::BTreeMap;

use codec::route::PortId;
use codec::time::Ticks;
use codec::words::shortened;

use super::invalid_name;
use super::limits::{CABLES_MAX, DELAY_MAX};
use crate::link::LinkParameters;
use crate::topology::{
    CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology, TopologyError,
    TopologyItem, TopologyProblem,
};

/// Format of a file with a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImportFormat {
    /// Rows `from,from_port,to,to_port`, perhaps with `delay`.
    Csv,
    /// Edges `s0:3 -- h0`.
    Dot,
}

/// Error of a file that describes no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportError {
    /// Line, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) expected: String,
}

impl ImportError {
    fn new(line: usize, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { line, message: message.into(), expected: expected.into() }
    }
}

/// Nodes and cables in the order of the file.
#[derive(Debug, Default)]
struct NamedNetwork<'a> {
    nodes: Vec<NamedNode<'a>>,
    numbers: BTreeMap<&'a str, usize>,
    cables: Vec<NamedCable>,
}

#[derive(Debug)]
struct NamedNode<'a> {
    name: &'a str,
    cables: u32,
    is_switch: bool,
}

/// End of a cable: the number of a node, and a port.
type NumberedEnd = (usize, u8);

#[derive(Clone, Copy, Debug)]
struct NamedCable {
    line: usize,
    ends: [NumberedEnd; 2],
    delay: Option<u64>,
}

/// Reads the nodes and cables of a file. All switches have the parameters of the prototype, and all
/// cables those of `link`, except for delays that the file gives.
pub(crate) fn import(
    format: ImportFormat,
    text: &str,
    prototype: SwitchParameters,
    link: LinkParameters,
) -> Result<(Vec<NodeSpec>, Vec<CableSpec>), ImportError> {
    // Spreadsheets put a byte order mark in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut network = NamedNetwork::default();
    match format {
        ImportFormat::Csv => read_csv(text, &mut network)?,
        ImportFormat::Dot => dot::read(text, &mut network)?,
    }
    network.build(prototype, link)
}

/// Reads a cable from each row, except for a heading, empty lines and comments.
fn read_csv<'a>(text: &'a str, network: &mut NamedNetwork<'a>) -> Result<(), ImportError> {
    for (line, row) in (1..).zip(text.lines()) {
        // No name contains a comma or a quotation mark.
        let fields = row.split(',').map(|field| field.trim().trim_matches('"'));
        let (a, a_port, b, b_port, delay) = match *fields.collect::<Vec<_>>() {
            [first, ..] if row.trim().is_empty() || first.starts_with('#') => continue,
            ["from", "from_port", "to", "to_port", ..] => continue,
            [a, a_port, b, b_port] => (a, a_port, b, b_port, ""),
            [a, a_port, b, b_port, delay] => (a, a_port, b, b_port, delay),
            ref fields => {
                let message = format!("a row of {} fields", fields.len());
                let expected = "expected `from,from_port,to,to_port` and perhaps `delay`";
                return Err(ImportError::new(line, message, expected));
            }
        };
        let ends = [network.end(line, a, a_port)?, network.end(line, b, b_port)?];
        network.cable(line, ends, delay)?;
    }
    Ok(())
}

impl<'a> NamedNetwork<'a> {
    /// Number of a node, which is added if its name is new.
    fn node(&mut self, line: usize, name: &'a str) -> Result<usize, ImportError> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        if let Some((message, expected)) = invalid_name(name) {
            return Err(ImportError::new(line, message, expected));
        }
        let number = self.nodes.len();
        self.numbers.insert(name, number);
        self.nodes.push(NamedNode { name, cables: 0, is_switch: false });
        Ok(number)
    }

    /// Adds the end of a cable; an empty port is port 0.
    fn end(&mut self, line: usize, name: &'a str, port: &str) -> Result<NumberedEnd, ImportError> {
        let number = self.node(line, name)?;
        let port = match port {
            "" => 0,
            port => port.parse::<u8>().map_err(|_| {
                let message = format!("`{}` is no port", shortened(port));
                ImportError::new(line, message, "expected a number from 0 to 31")
            })?,
        };
        if let Some(node) = self.nodes.get_mut(number) {
            node.cables += 1;
            node.is_switch |= port > 0 || node.cables > 1;
        }
        Ok((number, port))
    }

    /// Adds a cable; with an empty delay it has that of all others.
    fn cable(
        &mut self,
        line: usize,
        ends: [NumberedEnd; 2],
        delay: &str,
    ) -> Result<(), ImportError> {
        let number = delay.parse().ok().filter(|delay| (1..=DELAY_MAX).contains(delay));
        if number.is_none() && !delay.is_empty() {
            let message = format!("`{}` is no delay", shortened(delay));
            let expected = format!("expected 1 to {DELAY_MAX} periods");
            return Err(ImportError::new(line, message, expected));
        }
        if self.cables.len() >= CABLES_MAX {
            let message = format!("more than {CABLES_MAX} cables");
            return Err(ImportError::new(line, message, "expected a smaller network"));
        }
        self.cables.push(NamedCable { line, ends, delay: number });
        Ok(())
    }

    fn build(
        &self,
        prototype: SwitchParameters,
        link: LinkParameters,
    ) -> Result<(Vec<NodeSpec>, Vec<CableSpec>), ImportError> {
        let mut order: Vec<(usize, &NamedNode<'a>)> = self.nodes.iter().enumerate().collect();
        order.sort_by_key(|(_, node)| !node.is_switch);
        let mut ids = vec![NodeId(0); order.len()];
        for (id, (number, _)) in (0..).map(NodeId).zip(&order) {
            ids.get_mut(*number).into_iter().for_each(|slot| *slot = id);
        }
        let spec = |(_, node): &(usize, &NamedNode<'_>)| NodeSpec {
            name: node.name.to_owned(),
            kind: if node.is_switch { NodeKind::Switch(prototype) } else { NodeKind::Host },
        };
        let nodes: Vec<NodeSpec> = order.iter().map(spec).collect();
        let cable = |cable: &NamedCable| {
            let ends = cable.ends.map(|(number, port)| NodePort {
                node: ids.get(number).copied().unwrap_or(NodeId(u32::MAX)),
                port: PortId(port),
            });
            let link = cable.delay.map_or(link, |delay| link.with_cable(Ticks(delay), None));
            CableSpec { ends, link }
        };
        let cables: Vec<CableSpec> = self.cables.iter().map(cable).collect();
        if let Err(TopologyError(problem)) = Topology::new(nodes.clone(), cables.clone()) {
            let line_of = |cable: usize| self.cables.get(cable).map_or(1, |cable| cable.line);
            let line = match problem.item() {
                TopologyItem::Cable(cable) => line_of(cable),
                // The names have been checked before.
                TopologyItem::Node(_) => 1,
            };
            if let TopologyProblem::PortTwice { first, port, .. } = problem {
                let message = format!("{port} has the cable of line {} already", line_of(first));
                return Err(ImportError::new(line, message, "expected another port"));
            }
            let text = problem.to_string();
            // Numbers of nodes and cables are in no file.
            let message = text.split_once(": ").map_or(&*text, |(_, message)| message);
            let expected = "expected another port, or more `ports` in the scenario";
            return Err(ImportError::new(line, message, expected));
        }
        Ok((nodes, cables))
    }
}

#[cfg(test)]
mod tests;
