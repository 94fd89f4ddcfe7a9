//! `[[tap]]`: observed ports and times.

use std::collections::BTreeMap;

use codec::words::shortened;

use super::PortTap;
use super::names::{NameLookup, NetworkCompleteness};
use super::toml_reader::TomlTable;
use crate::topology::{NodePort, Topology};

pub(super) fn read(root: &mut TomlTable<'_>, map: NameLookup<'_>, duration: u64) -> Vec<PortTap> {
    let mut taps = Vec::new();
    // Of each port the times that it is observed, and the line that says so.
    let mut seen: BTreeMap<NodePort, Vec<(u64, u64, usize)>> = BTreeMap::new();
    for mut table in root.tables("tap") {
        let ports = ports(&mut table, map);
        let from = table.time("from", 0..=duration.saturating_sub(1));
        let to = table.time("to", 1..=duration);
        let span = table.span();
        let last = to.as_ref().map_or(span.clone(), |to| to.span.clone());
        let (from, to) = (from.map_or(0, |time| time.periods), to.map(|time| time.periods));
        let to = to.unwrap_or(duration);
        table.finish();
        if from >= to {
            map.problems.add(&last, "the tap ends before it begins", "expected a later time");
            continue;
        }
        for port in ports {
            let times = seen.entry(port).or_default();
            let twice = times.iter().find(|(begin, end, _)| from < *end && *begin < to);
            if let Some((_, _, line)) = twice {
                let message = format!("`{}` is tapped twice", map.topology.port_name(port));
                let expected = format!("expected another port or time than those of line {line}");
                map.problems.add(&span, message, expected);
                break;
            }
            times.push((from, to, map.problems.line(&span)));
            taps.push(PortTap { port, from, to });
        }
    }
    taps
}

fn ports(table: &mut TomlTable<'_>, map: NameLookup<'_>) -> Vec<NodePort> {
    match (table.item("port"), table.item("all")) {
        (Some(_), Some(all)) => {
            all.report("expected `port` or `all`, not both".to_owned());
            Vec::new()
        }
        (Some(port), None) => {
            let port = port.text("a port, like `h0:0`");
            let port = port.and_then(|text| Some((map.cabled_port(&text)?, text)));
            if let Some((_, text)) = port.as_ref().filter(|(it, _)| is_routed(map.topology, *it)) {
                let message = format!("`{}` is a port of a router's fibre", shortened(text.text));
                let expected =
                    "expected a port with a cable, or of a fibre with `mode = \"bridge\"`";
                map.problems.add(&text.span, message, expected);
                return Vec::new();
            }
            port.map(|(port, _)| port).into_iter().collect()
        }
        (None, Some(all)) => {
            if all.boolean() == Some(false) {
                all.report("expected `true`, or a `port`".to_owned());
            }
            // Each link once.
            tappable(map.topology).collect()
        }
        (None, None) => {
            if map.whole == NetworkCompleteness::Complete {
                table.missing("expected the key `port` or `all`");
            }
            Vec::new()
        }
    }
}

/// True for a port of the fibre between two routers, by which packets go on without a route. N-5
fn is_routed(topology: &Topology, port: NodePort) -> bool {
    topology.is_router(port.node) && topology.cable(port).is_some_and(|it| topology.is_fibre(it))
}

fn tappable(topology: &Topology) -> impl Iterator<Item = NodePort> {
    let cables = topology.cables().iter().filter(|cable| !topology.is_fibre(cable));
    cables.map(|cable| cable.ends[0])
}
