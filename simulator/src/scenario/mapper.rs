//! `[mapper]`: mapping of the network by its interfaces. N-2, N-4, N-7

use std::collections::BTreeMap;
use std::ops::Range;

use codec::mapping::InterfaceAddress;
use codec::route::RouteAddressing;
use codec::words::shortened;

use super::keys::{self, FieldKey, IntRange, KeyList, TimeRange, WordList, key};
use super::limits::{DURATION_MAX, TRIES_MAX};
use super::names::{NameLookup, node_name};
use super::toml_reader::TomlTable;
use crate::mapping::{MapperDesign, MapperParameters as Mapper, MapperStart, SwitchSearch};
use crate::topology::{
    ExtensionSupport, NodeId, NodeKind, NodeSpec, RoutedNetworks, RoutedProblem, SwitchParameters,
    SwitchRole, Topology,
};

/// Mapping in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappingPlan {
    /// Parameters of all interfaces; how switches are found follows from the network.
    pub parameters: Mapper,
    /// The host that maps from the beginning, if the network manager has chosen one. N-2
    pub who: Option<NodeId>,
    /// Addresses of interfaces; those of the others follow from the seed. N-3
    pub addresses: BTreeMap<NodeId, InterfaceAddress>,
}

impl MappingPlan {
    /// Parameters and beginning of an interface.
    pub(crate) fn machine_of(&self, node: NodeId, topology: &Topology) -> (Mapper, MapperStart) {
        let start = match self.who {
            Some(who) if who == node => MapperStart::AtOnce,
            Some(_) => MapperStart::Patient,
            None => MapperStart::Soon,
        };
        let switches = switch_search(topology).unwrap_or_default();
        (Mapper { switches, ..self.parameters }, start)
    }
}

const DESIGNS: [(&str, MapperDesign); 2] =
    [("map", MapperDesign::Map), ("daemon", MapperDesign::Daemon)];

const TIME: TimeRange = TimeRange(1..=DURATION_MAX);

pub(super) const MAPPER: &KeyList<Mapper> = &[
    key!(Mapper, "design", WordList(&DESIGNS), design),
    key!(Mapper, "period", TIME, period),
    key!(Mapper, "timeout", TIME, timeout),
    key!(Mapper, "tries", IntRange(1..=TRIES_MAX), tries),
];

/// The word for a mapper that the interfaces choose.
const AUTO: &str = "auto";

/// Reads `[mapper]`, which only `method = "mapped"` of `[routes]` permits.
pub(super) fn read(
    root: &mut TomlTable<'_>,
    map: NameLookup<'_>,
    mapped: Option<MappingPlan>,
) -> Option<MappingPlan> {
    let Some(mut table) = root.table("mapper") else { return mapped };
    let parameters = keys::read(MAPPER, &mut table, Mapper::default());
    let who = table.item("who").and_then(|who| who.text("the name of a host, or `auto`"));
    let who = who.filter(|who| who.text != AUTO).and_then(|who| map.host(&who));
    let addresses = read_addresses(&mut table, map);
    if mapped.is_none() {
        let expected = "expected `method = \"mapped\"` in [routes]";
        table.report("[mapper] without mapped routes".to_owned(), expected);
    }
    table.finish();
    mapped.map(|_| MappingPlan { parameters, who, addresses })
}

/// Reads the addresses of interfaces. Two may be the same, as by a mistake of their maker. N-3
fn read_addresses(
    table: &mut TomlTable<'_>,
    map: NameLookup<'_>,
) -> BTreeMap<NodeId, InterfaceAddress> {
    let item = table.item("addresses");
    let given = item.as_ref().and_then(|item| {
        let given = item.as_table();
        if given.is_none() {
            item.report(
                "expected a table of hosts, like `{ h0 = \"00:60:dd:00:00:01\" }`".to_owned(),
            );
        }
        given
    });
    let Some(mut given) = given else { return BTreeMap::new() };
    let names = given.names();
    let addresses = names.iter().filter_map(|name| {
        let text = given.item(name.text)?.text("an address, like `00:60:dd:00:00:01`")?;
        let address = InterfaceAddress::from_notation(text.text);
        if address.is_none() {
            let message = format!("invalid address `{}`", shortened(text.text));
            let expected = "expected six bytes in hex, not all 0, like `00:60:dd:00:00:01`";
            map.problems.add(&text.span, message, expected);
        }
        Some((map.host(name)?, address?))
    });
    addresses.collect()
}

/// Checks the routers. N-5
pub(super) fn check_routers(
    map: NameLookup<'_>,
    places: &BTreeMap<String, Range<usize>>,
    mapping: Option<&MappingPlan>,
) {
    let Some(first) = map.topology.routers().next() else { return };
    let (router, message, expected) = match (mapping, RoutedNetworks::of(map.topology).problem()) {
        (None, _) => {
            (first, "a router without mapped routes", "expected `method = \"mapped\"` in [routes]")
        }
        (Some(plan), _) if plan.parameters.design == MapperDesign::Daemon => {
            (first, "a router without maps", "expected `design = \"map\"` in [mapper]")
        }
        (Some(_), Some((router, RoutedProblem::SameNetwork))) => {
            (router, "a router to its own network", "expected ends in two networks")
        }
        (Some(_), Some((router, RoutedProblem::SeveralNetworks))) => {
            (router, "a router to a third network", "expected routers to one other network")
        }
        (Some(_), None) => return,
    };
    let place = places.get(node_name(map.topology, router)).cloned();
    map.problems.add(&place.unwrap_or(0..0), message, expected);
}

/// The search for the switches of a network: they are asked if all have extensions. The name of a switch that can be
/// neither asked nor passed backwards is an error. N-8, S-8
pub(super) fn switch_search(topology: &Topology) -> Result<SwitchSearch, &str> {
    let switch = |node: &'_ NodeSpec| match node.kind {
        NodeKind::Switch(switch) if switch.role == SwitchRole::Crossbar => Some(switch),
        NodeKind::Switch(_) | NodeKind::Host => None,
    };
    let switches = || topology.nodes().iter().filter_map(switch);
    let absolute = |switch: &SwitchParameters| switch.addressing == RouteAddressing::Absolute;
    let can_answer = |switch: SwitchParameters| switch.extensions != ExtensionSupport::Off;
    if switches().next().is_some() && switches().all(can_answer) {
        let ports = switches().filter(absolute).map(|switch| switch.ports).max();
        return Ok(SwitchSearch::Requested(ports.unwrap_or(1)));
    }
    let mut nodes = topology.nodes().iter();
    match nodes.find(|node| switch(node).as_ref().is_some_and(absolute)) {
        Some(node) => Err(&node.name),
        None => Ok(SwitchSearch::Turned),
    }
}
