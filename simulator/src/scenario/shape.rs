//! `[topology]`: a network from a generator.

use super::limits::NODES_MAX;
use super::table::Table;
use crate::generate::{Shape, ShapeError, generate};
use crate::link::LinkParameters;
use crate::topology::{Cable, Node, SWITCH_PORTS_MAX, SwitchParameters};

#[derive(Clone, Copy)]
enum Kind {
    Switch,
    Line,
    Ring,
    Mesh,
    FatTree,
    NowSubcluster,
    NowCluster,
    Random,
}

/// `kind` as the file calls it.
const KINDS: [(&str, Kind); 8] = [
    ("switch", Kind::Switch),
    ("line", Kind::Line),
    ("ring", Kind::Ring),
    ("mesh", Kind::Mesh),
    ("fat-tree", Kind::FatTree),
    ("now-subcluster", Kind::NowSubcluster),
    ("now-cluster", Kind::NowCluster),
    ("random", Kind::Random),
];

/// Whether the network is a mesh, whose routes go along x first by default.
pub(super) fn is_mesh(table: &mut Table<'_>) -> bool {
    table.item("kind").and_then(|kind| kind.as_text()).is_some_and(|kind| kind.text == "mesh")
}

/// The nodes and cables of `[topology]`.
pub(super) fn read(
    mut table: Table<'_>,
    seed: u64,
    switch: SwitchParameters,
    link: LinkParameters,
) -> Option<(Vec<Node>, Vec<Cable>)> {
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
            table.wrong(error.to_string(), expected);
            None
        }
    });
    table.finish();
    made
}

fn shape(table: &mut Table<'_>, kind: Kind, seed: u64, ports: u8) -> Option<Shape> {
    Some(match kind {
        Kind::Switch => {
            let ports = switch_ports(table, ports);
            let hosts = count(table, "hosts", 0).unwrap_or(ports.into());
            Shape::Single { ports, hosts }
        }
        Kind::Line => {
            let (switches, hosts) = (needed(table, "switches", 1), per_switch(table));
            Shape::Line { switches: switches?, hosts }
        }
        Kind::Ring => {
            let (switches, hosts) = (needed(table, "switches", 2), per_switch(table));
            Shape::Ring { switches: switches?, hosts }
        }
        Kind::Mesh => {
            let (width, height) = (needed(table, "width", 1), needed(table, "height", 1));
            let hosts = per_switch(table);
            Shape::Mesh { width: width?, height: height?, hosts }
        }
        Kind::FatTree => {
            let levels = table.needed("levels").and_then(|levels| levels.integer(1..=4));
            Shape::FatTree { levels: levels? }
        }
        Kind::NowSubcluster => Shape::NowSubcluster,
        Kind::NowCluster => Shape::NowCluster,
        Kind::Random => {
            let seed = table.integer("seed", 0..=u64::MAX).unwrap_or(seed);
            let ports = switch_ports(table, ports);
            let (switches, hosts) = (needed(table, "switches", 1), needed(table, "hosts", 0));
            let links = count(table, "links", 0).unwrap_or(0);
            Shape::Random { seed, switches: switches?, ports, hosts: hosts?, links }
        }
    })
}

fn switch_ports(table: &mut Table<'_>, ports: u8) -> u8 {
    table.integer("ports", 1..=SWITCH_PORTS_MAX.into()).unwrap_or(ports)
}

fn count(table: &mut Table<'_>, key: &'static str, least: u64) -> Option<u32> {
    table.integer(key, least..=NODES_MAX as u64)
}

fn needed(table: &mut Table<'_>, key: &'static str, least: u64) -> Option<u32> {
    table.needed(key)?.integer(least..=NODES_MAX as u64)
}

fn per_switch(table: &mut Table<'_>) -> u32 {
    count(table, "hosts_per_switch", 0).unwrap_or(1)
}
