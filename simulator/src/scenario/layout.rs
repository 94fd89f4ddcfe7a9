//! Writer of the network's tables.

use codec::route::{PortId, RouteAddressing};

use super::keys;
use super::parameters::{INTERFACE, SWITCH, write_link};
use super::toml_writer::{TomlKeys, TomlPage};
use super::{Scenario, costs};
use crate::generate::{GeneratedShape, generate};
use crate::interface::InterfaceParameters;
use crate::link::LinkParameters;
use crate::messaging::MessageCosts;
use crate::topology::{CableSpec, NodeId, NodeKind, NodeSpec, SwitchParameters, Topology};

/// Defaults in a written file; parts state their differences.
#[derive(Clone, Copy)]
struct BaseParameters {
    link: LinkParameters,
    switch: SwitchParameters,
    interface: InterfaceParameters,
    costs: MessageCosts,
}

#[derive(Clone, Copy, Default)]
struct GeneratedPrefix {
    nodes: usize,
    cables: usize,
}

pub(super) fn write(page: &mut TomlPage, scenario: &Scenario) {
    let bases = bases(scenario);
    write_bases(page, bases);
    let generated = generated(&scenario.topology, bases);
    if generated.nodes > 0 {
        let mut keys = TomlKeys::default();
        keys.text("kind", "now-cluster");
        page.table("topology", &keys);
    }
    let ids = (0..=u32::MAX).map(NodeId);
    let nodes = ids.zip(scenario.topology.nodes()).skip(generated.nodes);
    for (_, NodeSpec { name, kind }) in nodes.clone() {
        if let NodeKind::Switch(switch) = kind {
            let mut keys = TomlKeys::default();
            keys.text("name", name);
            keys::write(SWITCH, &mut keys, *switch, bases.switch);
            page.element("switch", &keys);
        }
    }
    let cables = scenario.topology.cables().get(generated.cables..).unwrap_or_default();
    let own = own_cables(&scenario.topology, cables);
    let (own, cables) = cables.split_at(own);
    for (host, node) in nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Host)) {
        let mut keys = TomlKeys::default();
        keys.text("name", &node.name);
        write_host(&mut keys, scenario, host, bases);
        if let Some(cable) = own.iter().find(|cable| cable.ends[0].node == host) {
            keys.text("at", &scenario.topology.port_name(cable.ends[1]));
            write_link(&mut keys, cable.link, bases.link);
        }
        page.element("host", &keys);
    }
    for cable in cables {
        let mut keys = TomlKeys::default();
        let [a, b] = cable.ends.map(|end| scenario.topology.port_name(end));
        keys.list("ends", &[&a, &b]);
        write_link(&mut keys, cable.link, bases.link);
        page.element("cable", &keys);
    }
}

fn bases(scenario: &Scenario) -> BaseParameters {
    let switch = |node: &NodeSpec| match node.kind {
        NodeKind::Switch(switch) => Some(switch),
        NodeKind::Host => None,
    };
    BaseParameters {
        link: scenario.topology.cables().first().map_or_else(Default::default, |it| {
            // A file says one thing of all ports.
            LinkParameters { ports: [it.link.ports[0]; 2], ..it.link }
        }),
        switch: scenario.topology.nodes().iter().find_map(switch).unwrap_or(SWITCH_BASE),
        interface: scenario.interfaces.first().map_or_else(Default::default, |(_, it)| *it),
        costs: scenario.messaging.values().next().map_or_else(Default::default, |it| it.costs),
    }
}

const SWITCH_BASE: SwitchParameters = SwitchParameters::new(8, RouteAddressing::Relative);

fn write_bases(page: &mut TomlPage, bases: BaseParameters) {
    let mut keys = TomlKeys::default();
    write_link(&mut keys, bases.link, LinkParameters::default());
    page.table("link", &keys);
    let mut keys = TomlKeys::default();
    keys::write(SWITCH, &mut keys, bases.switch, SWITCH_BASE);
    page.table("switch_defaults", &keys);
    let mut keys = TomlKeys::default();
    keys::write(INTERFACE, &mut keys, bases.interface, InterfaceParameters::default());
    page.table("interface", &keys);
    let mut keys = TomlKeys::default();
    costs::write(&mut keys, bases.costs, MessageCosts::default());
    page.table("costs", &keys);
}

/// Prefix made by the generator of the Berkeley NOW, which orders hosts between switches as no
/// tables can.
fn generated(topology: &Topology, bases: BaseParameters) -> GeneratedPrefix {
    let Ok((nodes, cables)) = generate(&GeneratedShape::NowCluster, bases.switch, bases.link)
    else {
        return GeneratedPrefix::default();
    };
    let begins = topology.nodes().starts_with(&nodes) && topology.cables().starts_with(&cables);
    if begins {
        GeneratedPrefix { nodes: nodes.len(), cables: cables.len() }
    } else {
        GeneratedPrefix::default()
    }
}

fn write_host(keys: &mut TomlKeys, scenario: &Scenario, host: NodeId, bases: BaseParameters) {
    let interface = scenario.interfaces.iter().find(|(other, _)| *other == host);
    if let Some((_, interface)) = interface {
        keys::write(INTERFACE, keys, *interface, bases.interface);
    }
    if let Some(plan) = scenario.messaging.get(&host) {
        let mut own = TomlKeys::default();
        costs::write(&mut own, plan.costs, bases.costs);
        if !own.is_empty() {
            keys.value("costs", own.inline());
        }
    }
}

/// Number of leading cables that `[[host]]` tables can express: from a host to a switch, in host
/// order.
fn own_cables(topology: &Topology, cables: &[CableSpec]) -> usize {
    let kind = |node| topology.node(node).map(|node| node.kind);
    let mut last = None;
    let own = cables.iter().take_while(|cable| {
        let [host, switch] = cable.ends;
        let fits = kind(host.node) == Some(NodeKind::Host)
            && host.port == PortId(0)
            && matches!(kind(switch.node), Some(NodeKind::Switch(_)))
            && last.is_none_or(|last| last < host.node);
        last = Some(host.node);
        fits
    });
    own.count()
}
