//! `[topology]`: generated networks.

use super::limits::NODES_MAX;
use super::toml_reader::TomlTable;
use crate::generate::{GeneratedShape, ShapeError, generate};
use crate::link::LinkParameters;
use crate::topology::{CableSpec, NodeSpec, SWITCH_PORTS_MAX, SwitchParameters};

#[derive(Clone, Copy)]
enum GeneratorKind {
    Switch,
    Line,
    Ring,
    Mesh,
    FatTree,
    NowSubcluster,
    NowCluster,
    Random,
}

const KINDS: [(&str, GeneratorKind); 8] = [
    ("switch", GeneratorKind::Switch),
    ("line", GeneratorKind::Line),
    ("ring", GeneratorKind::Ring),
    ("mesh", GeneratorKind::Mesh),
    ("fat-tree", GeneratorKind::FatTree),
    ("now-subcluster", GeneratorKind::NowSubcluster),
    ("now-cluster", GeneratorKind::NowCluster),
    ("random", GeneratorKind::Random),
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
    let kind = table.needed("kind").and_then(|item| item.word(&KINDS));
    let Some(kind) = kind else {
        // Which keys belong there depends on the kind.
        return None;
    };
    let shape = shape(&mut table, kind, seed, switch.ports);
    let made = shape.and_then(|shape| match generate(&shape, switch, link) {
        Ok(made) => Some(made),
        Err(error) => {
            let expected = match error {
                ShapeError::NoPort { .. } | ShapeError::Full { .. } => {
                    "expected fewer hosts or links, or switches with more ports"
                }
                ShapeError::Range { .. } | ShapeError::Nodes => "expected a smaller network",
            };
            table.report(error.to_string(), expected);
            None
        }
    });
    table.finish();
    made
}

fn shape(
    table: &mut TomlTable<'_>,
    kind: GeneratorKind,
    seed: u64,
    ports: u8,
) -> Option<GeneratedShape> {
    Some(match kind {
        GeneratorKind::Switch => {
            let ports = switch_ports(table, ports);
            let hosts = count(table, "hosts", 0).unwrap_or(ports.into());
            GeneratedShape::Single { ports, hosts }
        }
        GeneratorKind::Line => {
            let (switches, hosts) = (needed(table, "switches", 1), per_switch(table));
            GeneratedShape::Line { switches: switches?, hosts }
        }
        GeneratorKind::Ring => {
            let (switches, hosts) = (needed(table, "switches", 2), per_switch(table));
            GeneratedShape::Ring { switches: switches?, hosts }
        }
        GeneratorKind::Mesh => {
            let (width, height) = (needed(table, "width", 1), needed(table, "height", 1));
            let hosts = per_switch(table);
            GeneratedShape::Mesh { width: width?, height: height?, hosts }
        }
        GeneratorKind::FatTree => {
            let levels = table.needed("levels").and_then(|levels| levels.integer(1..=4));
            GeneratedShape::FatTree { levels: levels? }
        }
        GeneratorKind::NowSubcluster => GeneratedShape::NowSubcluster,
        GeneratorKind::NowCluster => GeneratedShape::NowCluster,
        GeneratorKind::Random => {
            let seed = table.integer("seed", 0..=u64::MAX).unwrap_or(seed);
            let ports = switch_ports(table, ports);
            let (switches, hosts) = (needed(table, "switches", 1), needed(table, "hosts", 0));
            let links = count(table, "links", 0).unwrap_or(0);
            GeneratedShape::Random { seed, switches: switches?, ports, hosts: hosts?, links }
        }
    })
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
