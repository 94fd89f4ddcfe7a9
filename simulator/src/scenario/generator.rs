//! `[topology]`: generated networks.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::Path;

use codec::words::shortened;

use super::FileReader;
use super::import::{ImportError, ImportFormat, import};
use super::limits::{NODES_MAX, TEXT_MAX};
use super::toml_reader::{TomlItem, TomlTable};
use crate::generate::{DragonflySize, GeneratedShape, LatticeEdge, ShapeProblem, generate};
use crate::link::LinkParameters;
use crate::topology::{CableSpec, NodeSpec, SWITCH_PORTS_MAX, SwitchParameters};

const PORTS: u64 = SWITCH_PORTS_MAX as u64;

/// Reads the keys of a network, given the seed of the file and the default number of ports.
type ShapeReader = fn(&mut TomlTable<'_>, u64, u8) -> Option<GeneratedShape>;

const KINDS: [(&str, ShapeReader); 11] = [
    ("switch", |table, _, ports| {
        let ports = switch_ports(table, ports);
        let hosts = count(table, "hosts", 0).unwrap_or(ports.into());
        Some(GeneratedShape::Single { ports, hosts })
    }),
    ("line", |table, _, _| {
        let (switches, hosts) = (needed(table, "switches", 1), per_switch(table));
        Some(GeneratedShape::lattice(LatticeEdge::Open, &[switches?], hosts))
    }),
    ("ring", |table, _, _| {
        let (switches, hosts) = (needed(table, "switches", 2), per_switch(table));
        Some(GeneratedShape::lattice(LatticeEdge::Closed, &[switches?], hosts))
    }),
    ("mesh", |table, _, _| {
        let (width, height) = (needed(table, "width", 1), needed(table, "height", 1));
        let hosts = per_switch(table);
        Some(GeneratedShape::lattice(LatticeEdge::Open, &[width?, height?], hosts))
    }),
    ("torus", |table, _, _| {
        let (sizes, hosts) = (sizes(table), per_switch(table));
        Some(GeneratedShape::lattice(LatticeEdge::Closed, &sizes?, hosts))
    }),
    ("hypercube", |table, _, _| {
        let (dimensions, hosts) = (table.needed("dimensions")?.integer(1..=12), per_switch(table));
        Some(GeneratedShape::lattice(LatticeEdge::Pair, &vec![2; dimensions?], hosts))
    }),
    ("dragonfly", |table, _, _| {
        let groups = needed(table, "groups", 1);
        let switches = limited(table, "switches", 1..=PORTS);
        let global_links = limited(table, "global_links", 0..=PORTS);
        let (groups, switches, global_links) = (groups?, switches?, global_links?);
        let hosts = per_switch(table);
        Some(GeneratedShape::Dragonfly(DragonflySize { groups, switches, hosts, global_links }))
    }),
    ("fat-tree", |table, _, _| {
        let levels = limited(table, "levels", 1..=12);
        let radix = table.integer("radix", 2..=PORTS).unwrap_or(8);
        Some(GeneratedShape::FatTree { levels: levels?, radix })
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
    (switch, link): (SwitchParameters, LinkParameters),
    files: FileReader<'_>,
) -> Option<(Vec<NodeSpec>, Vec<CableSpec>)> {
    if let Some(file) = table.item("file") {
        let ports = switch_ports(&mut table, switch.ports);
        let read = imported(&file, SwitchParameters { ports, ..switch }, link, files);
        table.finish();
        return read;
    }
    // Without a kind, the known keys are not determined.
    let kind = table.needed("kind")?.word(&KINDS)?;
    let made = kind(&mut table, seed, switch.ports).and_then(|shape| {
        match generate(&shape, switch, link) {
            Ok(made) => Some(made),
            Err(error) => {
                let expected = match error.0 {
                    ShapeProblem::Odd(_) => "expected an even number of ports",
                    ShapeProblem::Range { .. } => "expected a number of this range",
                    ShapeProblem::NoPort { .. }
                    | ShapeProblem::Full { .. }
                    | ShapeProblem::Nodes => {
                        "expected a smaller network, or switches with more ports"
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

/// Reads the network of a CSV or DOT file.
fn imported(
    item: &TomlItem<'_>,
    switch: SwitchParameters,
    link: LinkParameters,
    files: FileReader<'_>,
) -> Option<(Vec<NodeSpec>, Vec<CableSpec>)> {
    let file = item.text("the name of a file")?.text;
    let format = match Path::new(file).extension().and_then(OsStr::to_str) {
        Some("csv") => ImportFormat::Csv,
        Some("dot" | "gv") => ImportFormat::Dot,
        Some(_) | None => {
            let expected = "expected the name of a file that ends in `.csv`, `.dot` or `.gv`";
            item.report(expected.to_owned());
            return None;
        }
    };
    let name = shortened(file);
    let text = files(file, TEXT_MAX)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|error| format!("no UTF-8: {error}")));
    let read = text.map_err(|error| {
        let expected = "expected a file beside the scenario, of at most 1 MiB".to_owned();
        (format!("{name} cannot be read: {}", shortened(&error)), expected)
    });
    let network = read.and_then(|text| {
        import(format, &text, switch, link).map_err(|ImportError { line, message, expected }| {
            (format!("{name}:{line}: {message}"), expected)
        })
    });
    network.map_err(|(message, expected)| item.add(message, &expected)).ok()
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

fn limited(
    table: &mut TomlTable<'_>,
    key: &'static str,
    limits: RangeInclusive<u64>,
) -> Option<u32> {
    table.needed(key)?.integer(limits)
}

/// Number of switches in each dimension.
fn sizes(table: &mut TomlTable<'_>) -> Option<Vec<u32>> {
    let item = table.needed("sizes")?;
    let list = item.as_list().filter(|list| (1..=12).contains(&list.len()));
    let Some(list) = list else {
        item.report("expected 1 to 12 sizes, like `[4, 4, 4]`".to_owned());
        return None;
    };
    list.iter().map(|size| size.integer(2..=NODES_MAX as u64)).collect()
}

fn per_switch(table: &mut TomlTable<'_>) -> u32 {
    count(table, "hosts_per_switch", 0).unwrap_or(1)
}
