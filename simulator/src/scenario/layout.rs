//! Writer of the network's tables.

use codec::route::{PortId, RouteAddressing};

use super::keys;
use super::link_keys::{fibre_km, write_link};
use super::network::FIBRE_MODES;
use super::parameters::{INTERFACE, PORT, SWITCH};
use super::toml_writer::{TomlKeys, TomlPage, word_of};
use super::{Scenario, costs};
use crate::generate::{GeneratedShape, generate};
use crate::interface::{InterfaceParameters, InterfacePlace};
use crate::link::LinkParameters;
use crate::messaging::MessageCosts;
use crate::topology::{
    CableSpec, NodeId, NodeKind, NodeSpec, SwitchParameters, SwitchRole, Topology,
};

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
        if let NodeKind::Switch(switch) = kind
            && switch.role == SwitchRole::Crossbar
        {
            let mut keys = TomlKeys::default();
            keys.text("name", name);
            keys::write(SWITCH, &mut keys, *switch, bases.switch);
            page.element("switch", &keys);
        }
    }
    let cables = scenario.topology.cables().get(generated.cables..).unwrap_or_default();
    let is_fibre = |cable: &CableSpec| scenario.topology.is_fibre(cable);
    let (fibres, cables): (Vec<_>, Vec<_>) = cables.iter().partition(|cable| is_fibre(cable));
    let own = own_cables(scenario, &cables);
    let (own, cables) = cables.split_at(own);
    for (host, node) in nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Host)) {
        let InterfacePlace { index, count } = place(scenario, host);
        if index > 0 {
            continue;
        }
        let mut keys = TomlKeys::default();
        keys.text("name", node.name.strip_suffix(".0").filter(|_| count > 1).unwrap_or(&node.name));
        keys.differing("interfaces", count, 1);
        write_host(&mut keys, scenario, host, bases);
        if let Some(cable) = own.iter().find(|cable| cable.ends[0].node == host) {
            keys.text("at", &scenario.topology.port_name(cable.ends[1]));
            write_link(&mut keys, cable.link, bases.link);
        }
        page.element("host", &keys);
    }
    for CableSpec { ends, link } in fibres {
        let mut keys = TomlKeys::default();
        let name = scenario.topology.node(ends[0].node).map_or("", |node| &node.name);
        keys.text("name", name.strip_suffix(".0").unwrap_or(name));
        keys.value("length_km", fibre_km(link.delay));
        if scenario.topology.is_router(ends[0].node) {
            keys.text("mode", word_of(&FIBRE_MODES, SwitchParameters::ROUTER));
        }
        keys::write(PORT, &mut keys, link.ports[0], bases.link.fibre(link.delay).ports[0]);
        page.element("fibre", &keys);
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
        NodeKind::Switch(switch) => Some(switch).filter(|it| it.role == SwitchRole::Crossbar),
        NodeKind::Host => None,
    };
    let mut cables = scenario.topology.cables().iter();
    BaseParameters {
        link: cables.find(|it| !scenario.topology.is_fibre(it)).map_or_else(
            Default::default,
            |it| {
                // A file says one thing of all ports.
                LinkParameters { ports: [it.link.ports[0]; 2], ..it.link }
            },
        ),
        switch: scenario.topology.nodes().iter().find_map(switch).unwrap_or(SWITCH_BASE),
        interface: interface_base(scenario),
        costs: scenario.messaging.values().next().map_or_else(Default::default, |it| it.costs),
    }
}

/// Parameters of the first host; what another host leaves open cannot be written after it.
fn interface_base(scenario: &Scenario) -> InterfaceParameters {
    let mut interfaces = scenario.interfaces.iter().map(|(_, it)| *it);
    let first = interfaces.next().unwrap_or_default();
    interfaces.fold(first, |base, it| InterfaceParameters {
        send_memory: base.send_memory.filter(|_| it.send_memory.is_some()),
        receive_memory: base.receive_memory.filter(|_| it.receive_memory.is_some()),
        boot: base.boot.filter(|_| it.boot.is_some()),
        ..base
    })
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

fn place(scenario: &Scenario, host: NodeId) -> InterfacePlace {
    let interface = scenario.interfaces.iter().find(|(other, _)| *other == host);
    interface.map_or_else(InterfacePlace::default, |(_, interface)| interface.place)
}

/// Number of leading cables that `[[host]]` tables can express: from a host to a switch, in host
/// order.
fn own_cables(scenario: &Scenario, cables: &[&CableSpec]) -> usize {
    let topology = &scenario.topology;
    let kind = |node| topology.node(node).map(|node| node.kind);
    let mut last = None;
    let own = cables.iter().take_while(|cable| {
        let [host, switch] = cable.ends;
        let fits = kind(host.node) == Some(NodeKind::Host)
            && host.port == PortId(0)
            && place(scenario, host.node).count == 1
            && matches!(kind(switch.node), Some(NodeKind::Switch(_)))
            && last.is_none_or(|last| last < host.node);
        last = Some(host.node);
        fits
    });
    own.count()
}
