//! `[topology]`: generated networks.

use super::limits::NODES_MAX;
use super::toml_reader::TomlTable;
use crate::generate::{GeneratedShape, ShapeProblem, generate};
use crate::link::LinkParameters;
use crate::topology::{CableSpec, NodeSpec, SWITCH_PORTS_MAX, SwitchParameters};

/// Reads the keys of a network, given the seed of the file and the default number of ports.
type ShapeReader = fn(&mut TomlTable<'_>, u64, u8) -> Option<GeneratedShape>;

const KINDS: [(&str, ShapeReader); 8] = [
    ("switch", |table, _, ports| {
        let ports = switch_ports(table, ports);
        let hosts = count(table, "hosts", 0).unwrap_or(ports.into());
        Some(GeneratedShape::Single { ports, hosts })
    }),
    ("line", |table, _, _| {
        let (switches, hosts) = (needed(table, "switches", 1), per_switch(table));
        Some(GeneratedShape::Line { switches: switches?, hosts })
    }),
    ("ring", |table, _, _| {
        let (switches, hosts) = (needed(table, "switches", 2), per_switch(table));
        Some(GeneratedShape::Ring { switches: switches?, hosts })
    }),
    ("mesh", |table, _, _| {
        let (width, height) = (needed(table, "width", 1), needed(table, "height", 1));
        let hosts = per_switch(table);
        Some(GeneratedShape::Mesh { width: width?, height: height?, hosts })
    }),
    ("fat-tree", |table, _, _| {
        Some(GeneratedShape::FatTree { levels: table.needed("levels")?.integer(1..=4)? })
    }),
    ("now-subcluster", |_, _, _| Some(GeneratedShape::NowSubcluster)),
    ("now-cluster", |_, _, _| Some(GeneratedShape::NowCluster)),
    ("random", |table, seed, ports| {
        let seed = table.integer("seed", 0..=u64::MAX).unwrap_or(seed);
        let ports = switch_ports(table, ports);
        let (switches, hosts) = (needed(table, "switches", 1), needed(table, "hosts", 0));
        let links = count(table, "links", 0).unwrap_or(0);
        Some(GeneratedShape::Random { seed, switches: switches?, ports, hosts: hosts?, links })
    }),
];

pub(super) fn is_mesh(table: &mut TomlTable<'_>) -> bool {
    table.item("kind").and_then(|kind| kind.as_text()).is_some_and(|kind| kind.text == "mesh")
}

pub(super) fn read(
    mut table: TomlTable<'_>,
    seed: u64,
    switch: SwitchParameters,
    link: LinkParameters,
) -> Option<(Vec<NodeSpec>, Vec<CableSpec>)> {
    // Without a kind, the known keys are not determined.
    let kind = table.needed("kind")?.word(&KINDS)?;
    let made = kind(&mut table, seed, switch.ports).and_then(|shape| {
        match generate(&shape, switch, link) {
            Ok(made) => Some(made),
            Err(error) => {
                let expected = match error.0 {
                    ShapeProblem::NoPort { .. } | ShapeProblem::Full { .. } => {
                        "expected fewer hosts or links, or switches with more ports"
                    }
                    ShapeProblem::Range { .. } | ShapeProblem::Nodes => {
                        "expected a smaller network"
                    }
                };
                table.report(error.to_string(), expected);
                None
            }
        }
    });
    table.finish();
    made
}

fn switch_ports(table: &mut TomlTable<'_>, ports: u8) -> u8 {
    table.integer("ports", 1..=SWITCH_PORTS_MAX.into()).unwrap_or(ports)
}

fn count(table: &mut TomlTable<'_>, key: &'static str, least: u64) -> Option<u32> {
    table.integer(key, least..=NODES_MAX as u64)
}

fn needed(table: &mut TomlTable<'_>, key: &'static str, least: u64) -> Option<u32> {
    table.needed(key)?.integer(least..=NODES_MAX as u64)
}

fn per_switch(table: &mut TomlTable<'_>) -> u32 {
    count(table, "hosts_per_switch", 0).unwrap_or(1)
}
