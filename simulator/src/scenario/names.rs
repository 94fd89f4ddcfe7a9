//! Lookup of names in the network.

use codec::route::PortId;
use codec::words::{did_you_mean, shortened};

use super::error::ProblemList;
use super::limits::NAME_MAX;
use super::toml_reader::{TomlItem, TomlText};
use crate::topology::{NodeId, NodeKind, NodePort, NodeSpec, Topology};

/// Reserved words, which cannot be names of nodes.
pub(super) const RESERVED: [&str; 10] = [
    "all",
    "any",
    "bisect",
    "bit-reversal",
    "hotspot",
    "neighbour",
    "shift",
    "tornado",
    "transpose",
    "uniform",
];

/// Error of a word that cannot be the name of a node: message, and expected text.
pub(crate) fn invalid_name(name: &str) -> Option<(String, String)> {
    let shown = shortened(name);
    if RESERVED.contains(&name) {
        return Some((
            format!("the name `{shown}` is reserved"),
            "expected another name".to_owned(),
        ));
    }
    let node = NodeSpec { name: name.to_owned(), kind: NodeKind::Host };
    let is_invalid = name.len() > NAME_MAX || Topology::new(vec![node], Vec::new()).is_err();
    let expected = || format!("expected 1 to {NAME_MAX} bytes without blanks, `:`, `>` and `#`");
    is_invalid.then(|| (format!("invalid name `{shown}`"), expected()))
}

/// Completeness of the topology. With faulty nodes or cables, problems that may follow from them
/// are not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkCompleteness {
    Complete,
    Incomplete,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NameLookup<'a> {
    pub(super) topology: &'a Topology,
    pub(super) whole: NetworkCompleteness,
    pub(super) problems: &'a ProblemList<'a>,
}

impl<'a> NameLookup<'a> {
    /// Only port of a host. I-1
    pub(super) const fn host_port(host: NodeId) -> NodePort {
        NodePort { node: host, port: PortId(0) }
    }

    pub(super) fn name(&self, node: NodeId) -> &'a str {
        node_name(self.topology, node)
    }

    pub(super) fn node(&self, name: &TomlText<'_>) -> Option<NodeId> {
        self.find(name, name.text, "node", |_| true)
    }

    pub(super) fn host(&self, name: &TomlText<'_>) -> Option<NodeId> {
        self.find(name, name.text, "host", |kind| matches!(kind, NodeKind::Host))
    }

    /// The first interface of a host with several; none if the name is that of a node itself. I-7
    pub(super) fn first_interface(&self, host: &str) -> Option<NodeId> {
        if self.topology.find(host).is_some() {
            return None;
        }
        let found = self.topology.find(&format!("{host}.0"))?;
        self.topology.node(found).filter(|it| it.kind == NodeKind::Host).map(|_| found)
    }

    fn find(
        &self,
        place: &TomlText<'_>,
        name: &str,
        what: &str,
        fits: fn(NodeKind) -> bool,
    ) -> Option<NodeId> {
        let found = self.topology.find(name);
        let fitting = found.filter(|id| self.topology.node(*id).is_some_and(|n| fits(n.kind)));
        if fitting.is_none() {
            let shown = shortened(name);
            let names = self.topology.nodes().iter().filter(|node| fits(node.kind));
            let help = if self.problems.are_many() {
                None
            } else {
                did_you_mean(name, names.map(|node| node.name.as_str()))
            };
            let (message, expected) = match found {
                Some(_) => (format!("`{shown}` is not a {what}"), format!("expected a {what}")),
                None => {
                    (format!("unknown {what} `{shown}`"), format!("expected the name of a {what}"))
                }
            };
            self.problems.add_with_help(&place.span, message, expected, help);
        }
        fitting
    }

    pub(super) fn port(&self, name: &TomlText<'_>) -> Option<NodePort> {
        let shown = shortened(name.text);
        let parts = name.text.rsplit_once(':');
        let number = |digits: &str| {
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>().ok())?
        };
        let Some((node, port)) = parts.and_then(|(node, port)| Some((node, number(port)?))) else {
            let message = format!("invalid port `{shown}`");
            self.problems.add(&name.span, message, "expected node and port, like `s0:3`");
            return None;
        };
        let node = self.find(name, node, "node", |_| true)?;
        let ports = self.topology.node(node).map_or(0, |node| node.kind.ports());
        let port = u8::try_from(port).ok().filter(|port| *port < ports);
        if port.is_none() {
            let message = format!("there is no port `{shown}`");
            let expected = match ports {
                1 => format!("expected port 0, the only one of `{}`", self.name(node)),
                _ => format!("expected a port from 0 to {}", ports.saturating_sub(1)),
            };
            self.problems.add(&name.span, message, expected);
        }
        Some(NodePort { node, port: PortId(port?) })
    }

    pub(super) fn cabled_port(&self, name: &TomlText<'_>) -> Option<NodePort> {
        let port = self.port(name)?;
        self.has_cable(port, name).then_some(port)
    }

    /// A port with a cable, or a virtual channel of one: `s0:3`, `s0:3.vc1`. C-7
    pub(super) fn sending_port(&self, name: &TomlText<'_>) -> Option<NodePort> {
        let whole = name.text.rsplit_once(".vc").map(|(whole, _)| whole);
        let Some(whole) = whole.filter(|whole| whole.contains(':')) else {
            return self.cabled_port(name);
        };
        let port = self.cabled_port(&TomlText { text: whole, span: name.span.clone() })?;
        let mut channels = self.topology.virtual_ports(port);
        let found = channels.find(|channel| self.topology.port_name(*channel) == name.text);
        if found.is_none() {
            let message = format!("there is no virtual channel `{}`", shortened(name.text));
            self.problems.add(&name.span, message, "expected one of the port's profile");
        }
        found
    }

    pub(super) fn cabled_host(&self, name: &TomlText<'_>) -> Option<NodeId> {
        let host = self.host(name)?;
        self.has_cable(Self::host_port(host), name).then_some(host)
    }

    fn has_cable(&self, port: NodePort, place: &TomlText<'_>) -> bool {
        let cabled =
            self.whole == NetworkCompleteness::Incomplete || self.topology.peer(port).is_some();
        if !cabled {
            let message = format!("`{}` has no cable", shortened(place.text));
            self.problems.add(&place.span, message, "expected one with a cable");
        }
        cabled
    }

    /// All hosts with a cable; none for an incomplete network, which may be far too large.
    pub(super) fn cabled_hosts(&self) -> Vec<NodeId> {
        if self.whole == NetworkCompleteness::Incomplete {
            return Vec::new();
        }
        let cabled = |host: &NodeId| self.topology.peer(Self::host_port(*host)).is_some();
        self.topology.hosts().filter(cabled).collect()
    }

    pub(super) fn cabled_ports(&self) -> Vec<NodePort> {
        self.topology.cables().iter().flat_map(|cable| cable.ends).collect()
    }

    /// A host, a list of hosts or `all`, with cables.
    pub(super) fn hosts(&self, item: &TomlItem<'_>) -> Option<Vec<NodeId>> {
        match (item.as_text(), item.as_list()) {
            (Some(text), _) if text.text == "all" => Some(self.cabled_hosts()),
            (Some(text), _) => Some(vec![self.cabled_host(&text)?]),
            (None, Some(list)) => self.host_list(&list),
            (None, None) => {
                item.report("expected a host, a list of hosts or `all`".to_owned());
                None
            }
        }
    }

    pub(super) fn host_list(&self, list: &[TomlItem<'_>]) -> Option<Vec<NodeId>> {
        // All of them are looked up, so that each problem is reported.
        let host = |item: &TomlItem<'_>| self.cabled_host(&item.text("the name of a host")?);
        let hosts: Vec<Option<NodeId>> = list.iter().map(host).collect();
        hosts.into_iter().collect()
    }
}

pub(super) fn node_name(topology: &Topology, node: NodeId) -> &str {
    topology.node(node).map_or("?", |node| &node.name)
}
