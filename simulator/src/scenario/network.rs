//! Network: generated, given by tables, or both.

mod chain;
mod fibre;
mod given;
mod profiles;
mod unresolved;

use std::collections::BTreeMap;
use std::ops::Range;

use codec::words::shortened;

use self::given::NetworkKeys;
use self::unresolved::UnresolvedCable;
use super::error::ProblemList;
use super::keys::GivenKeys;
use super::limits::{CABLES_MAX, CELLS_MAX, HOSTS_MAX, NODES_MAX, PROBLEMS_MAX};
use super::link_keys::LinkKeys;
use super::names::{NameLookup, NetworkCompleteness, invalid_name};
use super::parameters::{INTERFACE, PORT, SWITCH};
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use super::{FileReader, costs, generator};
use crate::clock::NodeClock;
use crate::interface::{InterfaceParameters, InterfacePlace, PLACES};
use crate::link::{LinkParameters, PortParameters};
use crate::messaging::MessageCosts;
use crate::topology::{
    CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, SwitchRole, Topology,
    TopologyItem, TopologyProblem,
};

pub(super) struct ScenarioNetwork {
    pub(super) topology: Topology,
    pub(super) interfaces: Vec<(NodeId, InterfaceParameters)>,
    pub(super) costs: BTreeMap<NodeId, MessageCosts>,
    /// Position of each node's name, or of the table that generated it.
    pub(super) places: BTreeMap<String, Range<usize>>,
    pub(super) whole: NetworkCompleteness,
    /// The host of each switch in a chain, and the reverse: they have one power supply. B-1
    pub(super) powered: BTreeMap<NodeId, Vec<NodeId>>,
    keys: NetworkKeys,
}

type PortKeys = GivenKeys<PortParameters>;

struct NetworkBuilder<'a> {
    problems: &'a ProblemList<'a>,
    nodes: Vec<NodeSpec>,
    names: BTreeMap<String, Range<usize>>,
    interfaces: BTreeMap<NodeId, InterfaceParameters>,
    costs: BTreeMap<NodeId, MessageCosts>,
    keys: NetworkKeys,
    cables: Vec<CableSpec>,
    /// Number of cables of the generated network, the first ones.
    generated: usize,
    /// Position of each cable's table, and the names of its ends.
    places: Vec<(Range<usize>, Vec<TomlText<'a>>)>,
    whole: NetworkCompleteness,
    powered: BTreeMap<NodeId, Vec<NodeId>>,
}

pub(super) fn read<'a>(
    root: &mut TomlTable<'a>,
    problems: &'a ProblemList<'a>,
    seed: u64,
    files: FileReader<'_>,
) -> ScenarioNetwork {
    let mut keys = NetworkKeys::default();
    if let Some(mut table) = root.table("link") {
        keys.link = LinkKeys::read_both(&mut table);
        table.finish();
    }
    let link = keys.link.over(LinkParameters::default());
    if let Some(mut table) = root.table("switch_defaults") {
        keys.switch = GivenKeys::read(SWITCH, &mut table);
        keys.kinds[0] = PortKeys::read(PORT, &mut table);
        table.finish();
    }
    let switch = keys.switch.over(SwitchParameters::default());
    if let Some(mut table) = root.table("interface") {
        keys.interface = GivenKeys::read(INTERFACE, &mut table);
        keys.kinds[1] = PortKeys::read(PORT, &mut table);
        table.finish();
    }
    let interface = keys.interface.over(InterfaceParameters::default());
    let mut costs = MessageCosts::default();
    if let Some(mut table) = root.table("costs") {
        keys.costs = table.leave_all();
        costs = costs::read(&mut table, costs);
        table.finish();
    }
    let mut plan = NetworkBuilder {
        problems,
        nodes: Vec::new(),
        names: BTreeMap::new(),
        interfaces: BTreeMap::new(),
        costs: BTreeMap::new(),
        keys,
        cables: Vec::new(),
        generated: 0,
        places: Vec::new(),
        whole: NetworkCompleteness::Complete,
        powered: BTreeMap::new(),
    };
    if let Some(table) = root.table("topology") {
        plan.generate(table, seed, (switch, link), files);
    }
    for table in root.tables("switch") {
        plan.switch(table, switch);
    }
    plan.chains(root.tables("chain"), switch, link);
    let mut loose = Vec::new();
    for table in root.tables("host") {
        loose.extend(plan.host(table, (interface, costs)));
    }
    for table in root.tables("fibre") {
        plan.fibre(table, link);
    }
    for table in root.tables("cable") {
        loose.extend(plan.cable(table));
    }
    plan.finish(loose, link, (interface, costs))
}

/// Name of an interface of a host: `h0`, or of several `h0.0`, `h0.1`, …; and its place. I-7
fn name_of(name: &TomlText<'_>, (index, count): (u8, u8)) -> (String, Range<usize>) {
    let text = match count {
        1 => name.text.to_owned(),
        _ => format!("{}.{index}", name.text),
    };
    (text, name.span.clone())
}

/// The ports that the interfaces of a host are cabled to.
fn ports_of<'a>(at: &TomlItem<'a>, count: u8) -> Option<Vec<TomlText<'a>>> {
    if count == 1 {
        return Some(vec![at.text("a port, like `s0:0`")?]);
    }
    let list = at.as_list().unwrap_or_default();
    let ports: Vec<_> = list.iter().filter_map(TomlItem::as_text).collect();
    if ports.len() != usize::from(count) || list.len() != ports.len() {
        at.report(format!("expected a list of {count} ports, like `s0:0`"));
        return None;
    }
    Some(ports)
}

impl<'a> NetworkBuilder<'a> {
    fn generate(
        &mut self,
        table: TomlTable<'a>,
        seed: u64,
        base: (SwitchParameters, LinkParameters),
        files: FileReader<'_>,
    ) {
        let span = table.span();
        let Some((nodes, cables)) = generator::read(table, seed, base, files) else {
            self.whole = NetworkCompleteness::Incomplete;
            return;
        };
        self.names.extend(nodes.iter().map(|node| (node.name.clone(), span.clone())));
        self.places.extend(cables.iter().map(|_| (span.clone(), Vec::new())));
        (self.nodes, self.cables) = (nodes, cables);
        self.generated = self.cables.len();
        for at in 0..self.cables.len() {
            let Some(CableSpec { ends, link }) = self.cables.get(at) else { continue };
            let link = self.link_between(*ends, *link);
            self.cables.iter_mut().skip(at).take(1).for_each(|cable| cable.link = link);
        }
    }

    /// Parameters of a link before its own keys: a node's keys override those of its kind, which
    /// override those of all links.
    fn link_between(&self, ends: [NodePort; 2], base: LinkParameters) -> LinkParameters {
        let [switches, hosts] = &self.keys.kinds;
        let mut link = base;
        for (port, end) in link.ports.iter_mut().zip(ends) {
            *port = match self.nodes.get(end.node.0 as usize).map(|node| node.kind) {
                Some(NodeKind::Switch(switch)) => match switch.role {
                    SwitchRole::Crossbar => switches.over(switch.packet_memory(*port)),
                    SwitchRole::FibreEnd | SwitchRole::Router => *port,
                },
                Some(NodeKind::Host) => hosts.over(*port),
                None => *port,
            };
            *port = self.keys.ports.get(&end.node).map_or(*port, |own| own.over(*port));
        }
        link
    }

    fn switch(&mut self, mut table: TomlTable<'a>, base: SwitchParameters) {
        let name = table.needed("name").and_then(|item| item.text("a name"));
        let keys = GivenKeys::read(SWITCH, &mut table);
        let kind = NodeKind::Switch(keys.over(base));
        let ports = PortKeys::read(PORT, &mut table);
        let name = name.as_ref().map(|name| (name.text, &name.span));
        let node = self.node(name, kind);
        self.keys.ports.extend(node.map(|node| (node, ports)));
        self.keys.switches.extend(node.map(|node| (node, keys)));
        table.finish();
    }

    fn host(
        &mut self,
        mut table: TomlTable<'a>,
        (interface, costs): (InterfaceParameters, MessageCosts),
    ) -> Vec<UnresolvedCable<'a>> {
        let name = table.needed("name").and_then(|item| item.text("a name"));
        let keys = GivenKeys::read(INTERFACE, &mut table);
        let interface = keys.over(interface);
        let costs = table.item("costs").map_or(Some(costs), |item| costs::of_host(&item, costs));
        let count = table.integer("interfaces", 1..=PLACES.into()).unwrap_or(1);
        let at = table.item("at");
        let (link, own) = match &at {
            Some(_) => (LinkKeys::read(&mut table), PortKeys::default()),
            None => (LinkKeys::default(), PortKeys::read(PORT, &mut table)),
        };
        let span = table.span();
        table.finish();
        if count > 1 && interface.clock == NodeClock::Random {
            let message = "the interfaces of a host have one clock";
            self.problems.add(&span, message, "expected `clock_ppm` in parts per million");
        }
        let hosts: Vec<NodeId> = (0..count)
            .filter_map(|index| {
                let name = name.as_ref().map(|name| name_of(name, (index, count)));
                let host =
                    self.node(name.as_ref().map(|(name, span)| (&**name, span)), NodeKind::Host)?;
                self.keys.ports.insert(host, own.clone());
                self.keys.interfaces.insert(host, keys.clone());
                let place = InterfacePlace { index, count };
                self.interfaces.insert(host, InterfaceParameters { place, ..interface });
                self.costs.extend(costs.map(|costs| (host, costs)));
                Some(host)
            })
            .collect();
        // The host is their supply. I-3
        for host in &hosts {
            let others = hosts.iter().copied().filter(|other| other != host);
            self.powered.insert(*host, others.collect());
        }
        let Some(at) = at else { return Vec::new() };
        let Some(ports) = ports_of(&at, count).filter(|ports| ports.len() == hosts.len()) else {
            self.whole = NetworkCompleteness::Incomplete;
            return Vec::new();
        };
        let cable = |(host, at)| UnresolvedCable {
            span: span.clone(),
            ends: Ok((host, at)),
            link: link.clone(),
        };
        hosts.into_iter().zip(ports).map(cable).collect()
    }

    fn cable(&mut self, mut table: TomlTable<'a>) -> Option<UnresolvedCable<'a>> {
        let ends = table.needed("ends");
        let link = LinkKeys::read(&mut table);
        let span = table.span();
        table.finish();
        let texts = ends.as_ref().and_then(|ends| match ends.as_list()?.as_slice() {
            [a, b] => Some([a.as_text()?, b.as_text()?]),
            [] | [_] | [_, _, _, ..] => None,
        });
        let Some(texts) = texts else {
            if let Some(ends) = ends {
                ends.report("expected two ports, like `[\"s0:7\", \"s1:7\"]`".to_owned());
            }
            self.whole = NetworkCompleteness::Incomplete;
            return None;
        };
        Some(UnresolvedCable { span, ends: Err(texts), link })
    }

    fn node(&mut self, name: Option<(&str, &Range<usize>)>, kind: NodeKind) -> Option<NodeId> {
        let admitted = name.and_then(|name| self.add_node(name, kind));
        if admitted.is_none() {
            self.whole = NetworkCompleteness::Incomplete;
        }
        admitted
    }

    fn add_node(&mut self, (text, span): (&str, &Range<usize>), kind: NodeKind) -> Option<NodeId> {
        if let Some((message, expected)) = invalid_name(text) {
            self.problems.add(span, message, expected);
            return None;
        }
        if let Some(first) = self.names.get(text) {
            let line = self.problems.line(first);
            let message = format!("`{}` is the name of two nodes", shortened(text));
            let expected = format!("expected another name: line {line} has this one");
            self.problems.add(span, message, expected);
            return None;
        }
        let node = NodeSpec { name: text.to_owned(), kind };
        self.names.insert(node.name.clone(), span.clone());
        let id = NodeId(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(node);
        Some(id)
    }

    fn finish(
        mut self,
        loose: Vec<UnresolvedCable<'a>>,
        base: LinkParameters,
        (interface, costs): (InterfaceParameters, MessageCosts),
    ) -> ScenarioNetwork {
        let problems = self.problems;
        let nodes = Topology::new(self.nodes.clone(), Vec::new()).unwrap_or_default();
        let map = NameLookup { topology: &nodes, whole: NetworkCompleteness::Incomplete, problems };
        self.lay(loose, base, map);
        let topology = self.build();
        let of = |host| (host, self.interfaces.get(&host).copied().unwrap_or(interface));
        let interfaces = topology.hosts().map(of).collect();
        let of = |host| (host, self.costs.get(&host).copied().unwrap_or(costs));
        let costs = topology.hosts().map(of).collect();
        self.check_profiles(&topology);
        self.check_size(&topology);
        let Self { names: places, whole, powered, keys, .. } = self;
        ScenarioNetwork { topology, interfaces, costs, places, whole, powered, keys }
    }

    /// Builds the topology; reports and omits cables that do not fit.
    fn build(&mut self) -> Topology {
        for _ in 0..=PROBLEMS_MAX {
            match Topology::new(self.nodes.clone(), self.cables.clone()) {
                Ok(topology) => return topology,
                Err(error) => {
                    self.whole = NetworkCompleteness::Incomplete;
                    match error.0.item() {
                        TopologyItem::Cable(cable) if cable < self.cables.len() => {
                            self.report_topology(&error.0, cable);
                            self.cables.remove(cable);
                            self.places.remove(cable);
                        }
                        // Every node was admitted before.
                        TopologyItem::Cable(_) | TopologyItem::Node(_) => {
                            self.problems.add(&(0..0), error.to_string(), "expected a network");
                            break;
                        }
                    }
                }
            }
        }
        // What else is wrong is not shown; the names are good all the same.
        Topology::new(self.nodes.clone(), Vec::new()).unwrap_or_default()
    }

    fn report_topology(&self, error: &TopologyProblem, cable: usize) {
        let Some((span, texts)) = self.places.get(cable) else { return };
        let (message, expected, port) = match error {
            TopologyProblem::PortTwice { port, first, .. } => {
                let line = self.places.get(*first).map_or(1, |(span, _)| self.problems.line(span));
                let expected = format!("expected another port: the cable of line {line} ends here");
                (format!("port `{port}` is used twice"), expected, port.as_str())
            }
            TopologyProblem::SameEnds { port, .. } => {
                let message = format!("both ends of the cable are `{port}`");
                (message, "expected another port".to_owned(), port.as_str())
            }
            // Ports are looked up before, and so are nodes.
            other @ (TopologyProblem::Name { .. }
            | TopologyProblem::NameTwice { .. }
            | TopologyProblem::Ports { .. }
            | TopologyProblem::NoNode { .. }
            | TopologyProblem::NoPort { .. }) => {
                (other.to_string(), "expected a cable between two ports".to_owned(), "")
            }
        };
        let place = texts.iter().rev().find(|text| text.text == port);
        self.problems.add(place.map_or(span, |text| &text.span), message, expected);
    }

    fn check_size(&mut self, topology: &Topology) {
        let cells = topology.cables().iter().map(|cable| cable.link.cells());
        let cells = usize::try_from(cells.sum::<u64>()).unwrap_or(usize::MAX);
        let sizes = [
            ("hosts", topology.hosts().count(), HOSTS_MAX),
            ("nodes", topology.nodes().len(), NODES_MAX),
            ("cables", topology.cables().len(), CABLES_MAX),
            ("characters on cables and in slack buffers", cells, CELLS_MAX),
        ];
        for (what, count, most) in sizes {
            if count > most {
                self.whole = NetworkCompleteness::Incomplete;
                let span = self.places.last().map_or(0..0, |(span, _)| span.clone());
                let message = format!("the network has {count} {what}");
                self.problems.add(&span, message, format!("expected {most} at most"));
            }
        }
    }
}
