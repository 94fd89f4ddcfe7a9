//! `[mapper]`: mapping of the network by its interfaces. N-2, N-4, N-7

use codec::route::RouteAddressing;

use super::keys::{self, FieldKey, IntRange, KeyList, TimeRange, WordList, key};
use super::limits::{DURATION_MAX, TRIES_MAX};
use super::names::{NameLookup, node_name};
use super::toml_reader::TomlTable;
use super::toml_writer::{TomlKeys, TomlPage};
use crate::mapping::{MapperDesign, MapperParameters as Mapper};
use crate::topology::{NodeId, NodeKind, Topology};

/// Mapping in a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappingPlan {
    /// Parameters of all interfaces.
    pub parameters: Mapper,
    /// The host that maps from the beginning, if the network manager has chosen one. N-2
    pub who: Option<NodeId>,
}

const DESIGNS: [(&str, MapperDesign); 2] =
    [("map", MapperDesign::Map), ("daemon", MapperDesign::Daemon)];

const TIME: TimeRange = TimeRange(1..=DURATION_MAX);

const MAPPER: &KeyList<Mapper> = &[
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
    if mapped.is_none() {
        let expected = "expected `method = \"mapped\"` in [routes]";
        table.report("[mapper] without mapped routes".to_owned(), expected);
    }
    table.finish();
    mapped.map(|_| MappingPlan { parameters, who })
}

/// Name of the first switch whose way back the mapper cannot compute. N-8
pub(super) fn absolute_switch(topology: &Topology) -> Option<&str> {
    let absolute = |kind: NodeKind| match kind {
        NodeKind::Switch(switch) => switch.addressing == RouteAddressing::Absolute,
        NodeKind::Host => false,
    };
    let mut nodes = topology.nodes().iter();
    nodes.find(|node| absolute(node.kind)).map(|node| node.name.as_str())
}

pub(super) fn write(page: &mut TomlPage, plan: MappingPlan, topology: &Topology) {
    let mut keys = TomlKeys::default();
    keys::write(MAPPER, &mut keys, plan.parameters, Mapper::default());
    plan.who.into_iter().for_each(|who| keys.text("who", node_name(topology, who)));
    page.table("mapper", &keys);
}
