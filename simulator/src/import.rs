//! Networks from files of other programs: CSV, and a subset of DOT. N-1
//!
//! A file lists cables by the names and ports of their ends. A node is a host if the file draws it as
//! one, or if its only cable is at port 0; every other node is a switch. Switches are numbered before
//! hosts, both in the order in which the file names them.

mod csv;
mod dot;

use std::collections::BTreeMap;
use std::fmt;

use codec::route::PortId;
use codec::time::Ticks;

use crate::link::LinkParameters;
use crate::topology::{
    CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology,
};

/// Maximum delay of a cable, in periods.
const DELAY_MAX: u64 = crate::scenario::limits::DELAY_MAX;
const NAME_MAX: usize = crate::scenario::limits::NAME_MAX;
const CABLES_MAX: usize = crate::scenario::limits::CABLES_MAX;

/// Format of a file with a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// Rows `from,from_port,to,to_port`, with `delay` if wanted.
    Csv,
    /// An undirected graph of Graphviz.
    Dot,
}

/// Error of a file that describes no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the faulty text.
    pub message: String,
    /// Expected text.
    pub expected: String,
}

/// Position in the text, in bytes.
type BytePosition = usize;

/// Error at a position of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ImportProblem {
    at: BytePosition,
    message: String,
    expected: String,
}

/// One end of a cable as the file names it.
#[derive(Clone, Debug)]
struct NamedEnd {
    /// Number of the node in the order of its first mention.
    node: usize,
    /// The port, if it is given; a host needs none.
    port: Option<u32>,
    at: BytePosition,
}

/// A cable as the file names it.
#[derive(Clone, Debug)]
struct NamedCable {
    ends: [NamedEnd; 2],
    delay: Option<u64>,
}

/// Kind of a node as the file states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StatedKind {
    #[default]
    Unstated,
    Host,
    Switch,
}

#[derive(Clone, Debug)]
struct NamedNode {
    name: String,
    kind: StatedKind,
}

/// Contents of a file.
#[derive(Clone, Debug, Default)]
struct NamedNetwork {
    nodes: Vec<NamedNode>,
    cables: Vec<NamedCable>,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message, expected } = self;
        write!(f, "{line}:{column}: {message}, {expected}")
    }
}

impl std::error::Error for ImportError {}

impl ImportProblem {
    fn new(at: BytePosition, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { at, message: message.into(), expected: expected.into() }
    }

    fn locate(self, text: &str) -> ImportError {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        ImportError { line, column, message: self.message, expected: self.expected }
    }
}

/// Reads the nodes and cables of a file. All switches have the parameters of the prototype, and all
/// cables those of `link`, but for delays that the file gives.
///
/// # Errors
/// Line, column and text of the first fault.
pub fn import(
    format: ImportFormat,
    text: &str,
    prototype: SwitchParameters,
    link: LinkParameters,
) -> Result<(Vec<NodeSpec>, Vec<CableSpec>), ImportError> {
    let read = match format {
        ImportFormat::Csv => csv::read(text),
        ImportFormat::Dot => dot::read(text),
    };
    read.and_then(|network| network.build(prototype, link)).map_err(|error| error.locate(text))
}

impl NamedNetwork {
    fn cable(&mut self, ends: [NamedEnd; 2], delay: Option<u64>) -> Result<(), ImportProblem> {
        let [NamedEnd { at, .. }, _] = ends;
        if self.cables.len() >= CABLES_MAX {
            let message = format!("more than {CABLES_MAX} cables");
            return Err(ImportProblem::new(at, message, "expected a smaller network"));
        }
        self.cables.push(NamedCable { ends, delay });
        Ok(())
    }

    fn build(
        self,
        prototype: SwitchParameters,
        link: LinkParameters,
    ) -> Result<(Vec<NodeSpec>, Vec<CableSpec>), ImportProblem> {
        let kinds = self.kinds();
        let switches = kinds.iter().filter(|kind| **kind == StatedKind::Switch).count();
        let mut next = [0, switches];
        let mut nodes: Vec<Option<NodeSpec>> = vec![None; self.nodes.len()];
        let mut ids = Vec::new();
        for (node, kind) in self.nodes.into_iter().zip(kinds) {
            let [switch, host] = &mut next;
            let (place, kind) = match kind {
                StatedKind::Switch => (switch, NodeKind::Switch(prototype)),
                StatedKind::Host | StatedKind::Unstated => (host, NodeKind::Host),
            };
            if let Some(slot) = nodes.get_mut(*place) {
                *slot = Some(NodeSpec { name: node.name, kind });
            }
            // There are fewer nodes than bytes of a file.
            ids.push(NodeId(u32::try_from(*place).unwrap_or(u32::MAX)));
            *place += 1;
        }
        let nodes: Vec<NodeSpec> = nodes.into_iter().flatten().collect();
        let mut taken = BTreeMap::new();
        let cables = self.cables.into_iter().map(|cable| {
            let [a, b] = cable.ends.map(|end| {
                let id = ids.get(end.node).copied().unwrap_or(NodeId(u32::MAX));
                port(&nodes, id, &end, &mut taken)
            });
            let mut link = link;
            link.delay = cable.delay.map_or(link.delay, Ticks);
            Ok(CableSpec { ends: [a?, b?], link })
        });
        let cables = cables.collect::<Result<_, ImportProblem>>()?;
        Ok((nodes, cables))
    }

    /// Kind of each node: stated, or a host whose only cable is at port 0, or a switch.
    fn kinds(&self) -> Vec<StatedKind> {
        let mut cables = vec![0_u32; self.nodes.len()];
        let mut is_inner = vec![false; self.nodes.len()];
        for end in self.cables.iter().flat_map(|cable| &cable.ends) {
            if let (Some(cables), Some(is_inner)) =
                (cables.get_mut(end.node), is_inner.get_mut(end.node))
            {
                *cables += 1;
                *is_inner |= *cables > 1 || end.port.is_some_and(|port| port > 0);
            }
        }
        let nodes = self.nodes.iter().zip(is_inner);
        nodes
            .map(|(node, is_inner)| match node.kind {
                StatedKind::Unstated if is_inner => StatedKind::Switch,
                StatedKind::Unstated => StatedKind::Host,
                stated @ (StatedKind::Host | StatedKind::Switch) => stated,
            })
            .collect()
    }
}

/// The port at an end: it exists, and no other cable ends there.
fn port(
    nodes: &[NodeSpec],
    id: NodeId,
    end: &NamedEnd,
    taken: &mut BTreeMap<NodePort, ()>,
) -> Result<NodePort, ImportProblem> {
    let node = nodes.get(id.0 as usize);
    let (name, kind) = node.map_or(("?", NodeKind::Host), |node| (node.name.as_str(), node.kind));
    let given = match (end.port, kind) {
        (Some(port), NodeKind::Host | NodeKind::Switch(_)) => port,
        (None, NodeKind::Host) => 0,
        (None, NodeKind::Switch(_)) => {
            let message = format!("no port of switch {name} is given");
            return Err(ImportProblem::new(end.at, message, format!("expected {name}:PORT")));
        }
    };
    let port = u8::try_from(given).ok().filter(|port| *port < kind.ports());
    let Some(port) = port else {
        let (kind, expected) = match kind {
            NodeKind::Host => ("host", "expected port 0".to_owned()),
            NodeKind::Switch(switch) => {
                let last = switch.ports.saturating_sub(1);
                ("switch", format!("expected at most {last}, or more `ports` in the scenario"))
            }
        };
        let message = format!("{kind} {name} has no port {given}");
        return Err(ImportProblem::new(end.at, message, expected));
    };
    let place = NodePort { node: id, port: PortId(port) };
    if taken.insert(place, ()).is_some() {
        let message = format!("port {name}:{given} is used twice");
        return Err(ImportProblem::new(end.at, message, "expected another port"));
    }
    Ok(place)
}

/// Checks the name of a node.
fn check_name(name: &str, at: BytePosition) -> Result<(), ImportProblem> {
    let node = NodeSpec { name: name.to_owned(), kind: NodeKind::Host };
    let is_reserved = crate::scenario::is_reserved(name);
    if name.len() <= NAME_MAX && !is_reserved && Topology::new(vec![node], Vec::new()).is_ok() {
        return Ok(());
    }
    let message = format!("invalid name `{}`", crate::scenario::shortened(name));
    let expected = if is_reserved {
        "expected a name that is not reserved".to_owned()
    } else {
        format!("expected 1 to {NAME_MAX} bytes without blanks, `:`, `>` and `#`")
    };
    Err(ImportProblem::new(at, message, expected))
}

/// Reads the number of a port.
fn port_number(text: &str, at: BytePosition) -> Result<u32, ImportProblem> {
    let number = text.parse::<u8>().ok().filter(|_| text.bytes().all(|it| it.is_ascii_digit()));
    number.map(u32::from).ok_or_else(|| {
        let message = format!("`{}` is no port", crate::scenario::shortened(text));
        ImportProblem::new(at, message, "expected a number from 0")
    })
}

/// Reads the delay of a cable, in periods of the full rate.
fn delay_number(text: &str, at: BytePosition) -> Result<u64, ImportProblem> {
    let number = text.parse::<u64>().ok().filter(|delay| (1..=DELAY_MAX).contains(delay));
    number.ok_or_else(|| {
        let message = format!("`{}` is no delay", crate::scenario::shortened(text));
        ImportProblem::new(at, message, format!("expected 1 to {DELAY_MAX} periods"))
    })
}

#[cfg(test)]
mod tests;
