//! The tables that say what the network is, written as `network` reads them.

use codec::route::{Addressing, PortId};

use super::write::{Keys, Names, Page};
use super::{Scenario, costs, parameters};
use crate::endpoint::Costs;
use crate::generate::{Shape, generate};
use crate::interface::InterfaceParameters;
use crate::link::LinkParameters;
use crate::topology::{Cable, Node, NodeId, NodeKind, SwitchParameters, Topology};

/// What differs from these is said with each part.
#[derive(Clone, Copy)]
struct Bases {
    link: LinkParameters,
    switch: SwitchParameters,
    interface: InterfaceParameters,
    costs: Costs,
}

/// Nodes and cables that a generator makes: how many of each.
#[derive(Clone, Copy, Default)]
struct Generated {
    nodes: usize,
    cables: usize,
}

/// Writes nodes and cables, in their order.
pub(super) fn write(page: &mut Page, scenario: &Scenario) {
    let bases = bases(scenario);
    write_bases(page, bases);
    let generated = generated(&scenario.topology, bases);
    if generated.nodes > 0 {
        let mut keys = Keys::default();
        keys.text("kind", "now-cluster");
        page.table("topology", &keys);
    }
    let ids = (0..=u32::MAX).map(NodeId);
    let nodes = ids.zip(scenario.topology.nodes()).skip(generated.nodes);
    for (_, Node { name, kind }) in nodes.clone() {
        if let NodeKind::Switch(switch) = kind {
            let mut keys = Keys::default();
            keys.text("name", name);
            parameters::write_switch(&mut keys, *switch, bases.switch);
            page.element("switch", &keys);
        }
    }
    let cables = scenario.topology.cables().get(generated.cables..).unwrap_or_default();
    let own = own_cables(&scenario.topology, cables);
    let (own, cables) = cables.split_at(own);
    for (host, node) in nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Host)) {
        let mut keys = Keys::default();
        keys.text("name", &node.name);
        write_host(&mut keys, scenario, host, bases);
        if let Some(cable) = own.iter().find(|cable| cable.ends[0].node == host) {
            keys.text("at", &scenario.topology.port_name(cable.ends[1]));
            parameters::write_link(&mut keys, cable.link, bases.link);
        }
        page.element("host", &keys);
    }
    for cable in cables {
        let mut keys = Keys::default();
        let [a, b] = cable.ends.map(|end| Names { topology: &scenario.topology }.port(end));
        keys.list("ends", &[&a, &b]);
        parameters::write_link(&mut keys, cable.link, bases.link);
        page.element("cable", &keys);
    }
}

/// Those of the first part of each kind.
fn bases(scenario: &Scenario) -> Bases {
    let switch = |node: &Node| match node.kind {
        NodeKind::Switch(switch) => Some(switch),
        NodeKind::Host => None,
    };
    Bases {
        link: scenario.topology.cables().first().map_or_else(Default::default, |it| {
            // A file says one thing of all ports.
            LinkParameters::alike(it.link.delay, it.link.ports[0])
        }),
        switch: scenario.topology.nodes().iter().find_map(switch).unwrap_or(SWITCH),
        interface: scenario.interfaces.first().map_or_else(Default::default, |(_, it)| *it),
        costs: scenario.messaging.values().next().map_or_else(Default::default, |it| it.costs),
    }
}

/// The switch of a file that says nothing of it.
const SWITCH: SwitchParameters = SwitchParameters::new(8, Addressing::Relative);

fn write_bases(page: &mut Page, bases: Bases) {
    let mut keys = Keys::default();
    parameters::write_link(&mut keys, bases.link, LinkParameters::default());
    page.table("link", &keys);
    let mut keys = Keys::default();
    parameters::write_switch(&mut keys, bases.switch, SWITCH);
    page.table("switch_defaults", &keys);
    let mut keys = Keys::default();
    parameters::write_interface(&mut keys, bases.interface, InterfaceParameters::default());
    page.table("interface", &keys);
    let mut keys = Keys::default();
    costs::write(&mut keys, bases.costs, Costs::default());
    page.table("costs", &keys);
}

/// Nodes in an order that no tables give, but the generator of the Berkeley NOW: hosts between
/// switches.
fn generated(topology: &Topology, bases: Bases) -> Generated {
    let Ok((nodes, cables)) = generate(&Shape::NowCluster, bases.switch, bases.link) else {
        return Generated::default();
    };
    let begins = topology.nodes().starts_with(&nodes) && topology.cables().starts_with(&cables);
    if begins {
        Generated { nodes: nodes.len(), cables: cables.len() }
    } else {
        Generated::default()
    }
}

fn write_host(keys: &mut Keys, scenario: &Scenario, host: NodeId, bases: Bases) {
    let interface = scenario.interfaces.iter().find(|(other, _)| *other == host);
    if let Some((_, interface)) = interface {
        parameters::write_interface(keys, *interface, bases.interface);
    }
    if let Some(plan) = scenario.messaging.get(&host) {
        let mut own = Keys::default();
        costs::write(&mut own, plan.costs, bases.costs);
        if !own.is_empty() {
            keys.value("costs", own.inline());
        }
    }
}

/// How many cables come first that a `[[host]]` can say: from its port to a switch's, in the order
/// of the hosts.
fn own_cables(topology: &Topology, cables: &[Cable]) -> usize {
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
