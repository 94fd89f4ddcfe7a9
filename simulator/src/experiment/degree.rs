//! Degree of switches against topology: latency, throughput and conflicts over load. S-10

use std::fmt::Write as _;

use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotSpec};
use super::result_table::{
    MilliValue, PERIODS_PER_US, PublishedFigure, ResultTable, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "degree",
    title: "switches of high degree: one of 32 ports for sixteen in a mesh, modules in a mesh or a tree",
    text: "\
Sixteen nodes on a mesh of 4 x 4 switches, and on one switch of 32 ports. Then 64 nodes on four such
switches: in a mesh of 2 x 2 with four cables to a side, as the edges of four meshes, and under two
more switches of 32 ports. All nodes send to all, packets of 128 bytes at random intervals.",
    points,
    conclude,
};

/// Name, number of hosts and scenario of a network.
type DegreeNetwork = (&'static str, u64, fn() -> String);

const NETWORKS: [DegreeNetwork; 4] = [
    ("16: mesh", 16, || {
        "[topology]\nkind = \"mesh\"\nwidth = 4\nheight = 4\nhosts_per_switch = 1\n".to_owned()
    }),
    ("16: one switch", 16, || "[topology]\nkind = \"switch\"\nports = 32\nhosts = 16\n".to_owned()),
    ("64: modules in a mesh", 64, || modules(&[(0, 1, 4), (2, 3, 4), (0, 2, 4), (1, 3, 4)], 4)),
    ("64: modules in a tree", 64, || {
        let up = (0..4).flat_map(|leaf| [(leaf, 4, 8), (leaf, 5, 8)]);
        modules(&up.collect::<Vec<_>>(), 6)
    }),
];

/// Loads in thousandths of a link.
fn loads(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[50, 100, 200, 300, 400, 600, 800], &[100, 600])
}

/// Switches of 32 ports, the first four with 16 hosts each, with these numbers of cables between two.
fn modules(cables: &[(usize, usize, usize)], switches: usize) -> String {
    let mut text = "[switch_defaults]\nports = 32\n".to_owned();
    let mut next = vec![0; switches];
    for switch in 0..switches {
        // Text can always be added to.
        let _ = writeln!(text, "[[switch]]\nname = \"s{switch}\"");
    }
    for host in 0..64 {
        let (switch, port) = (host / 16, host % 16);
        let _ = writeln!(text, "[[host]]\nname = \"h{host}\"\nat = \"s{switch}:{port}\"");
    }
    next.iter_mut().take(4).for_each(|port| *port = 16);
    let mut port = |switch: usize| {
        let next = next.get_mut(switch).map(|next| std::mem::replace(next, *next + 1));
        format!("s{switch}:{}", next.unwrap_or_default())
    };
    for (one, other, count) in cables {
        for _ in 0..*count {
            let ends = [port(*one), port(*other)];
            let _ = writeln!(text, "[[cable]]\nends = [\"{}\", \"{}\"]", ends[0], ends[1]);
        }
    }
    text
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let times = effort.choose([100, 1000], [40, 140]).map(|us| us * PERIODS_PER_US);
    series::points(&NETWORKS, loads(effort), |(name, _, network), load| {
        let traffic = "[[traffic]]\nto = \"uniform\"\npayload = 128\nload = 0";
        let scenario = format!("{}{traffic}.{load:03}\n", network());
        ExperimentPoint::packets(format!("{name}, load 0.{load:03}"), scenario, times)
    })
}

const COLUMNS: [TableColumn; 5] = [
    TableColumn::word("network", "network"),
    TableColumn::of("load", "load", "of a link", 2),
    TableColumn::of("host_mb_per_s", "per host", "Mb/s", 1),
    TableColumn::of("latency_us", "latency", "µs", 2),
    TableColumn::of("conflicts_per_packet", "conflicts", "a packet", 2),
];

/// Payload received by a host, in Mb/s.
fn rate(hosts: u64, reading: &PointMeasurement) -> MilliValue {
    let bits = u128::from(reading.latency.packets) * u128::from(128 * 8 * PERIODS_PER_US);
    MilliValue::ratio(bits, u128::from(hosts * reading.periods))
}

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let loads = loads(effort);
    let name = |(name, ..): &DegreeNetwork| (*name).to_owned();
    let (rows, curves) =
        series::curves(&NETWORKS, loads, readings, name, |(name, hosts, _), load, reading| {
            let [load, percent] = [1000, 10].map(|whole| MilliValue::ratio((*load).into(), whole));
            let latency = reading.latency.mean();
            let packets = reading.latency.packets.into();
            let conflicts = MilliValue::ratio(reading.conflicts.into(), packets);
            let row = cells![*name, load, rate(*hosts, reading), latency, conflicts];
            (row, latency.map(|latency| (percent, latency)))
        });
    let figure = |((name, hosts, _), readings): (&DegreeNetwork, &[PointMeasurement])| {
        let most = readings.iter().map(|reading| rate(*hosts, reading)).max();
        let what = format!("{name}: most payload per host");
        PublishedFigure::measured(what, "Mb/s", "the degree of switches matters most", most)
    };
    let axes = [PlotAxis::linear("load of a link (%)"), PlotAxis::linear("latency (µs)")];
    let title = "Latency, throughput and conflicts";
    ExperimentResult {
        figures: NETWORKS.iter().zip(readings.chunks(loads.len())).map(figure).collect(),
        tables: vec![ResultTable::new("load", title, &COLUMNS, rows)],
        plots: vec![PlotSpec::new("latency", "Latency over load", axes, curves)],
        notes: NOTES,
        ..ExperimentResult::default()
    }
}

const NOTES: &[&str] = &[
    "A conflict is a packet whose output is held or requested by another when it requests it. The latency is that from an interface's \
     memory to the other's.",
    "One switch takes the place of sixteen: their conflicts inside the module are gone, and so are six switches on the longest path. Under two more switches \
     each module has its 16 cables upwards; in the mesh of 2 x 2 each has 8 to its neighbours.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_switch_of_high_degree_conflicts_less_than_a_mesh_and_a_tree_carries_more() {
        let found = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let number = |row: usize, column: usize| found.tables[0].number(row, column);
        for (mesh, high) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
            assert!(number(high, 3) < number(mesh, 3), "latency: {:?}", found.tables[0].rows);
        }
        // At a low load the packets for one host conflict on any network.
        for (mesh, high) in [(1, 3), (4, 6)] {
            assert!(number(high, 4) < number(mesh, 4), "conflicts: {:?}", found.tables[0].rows);
        }
        assert!(
            number(3, 2) > number(1, 2) && number(7, 2) > number(5, 2),
            "throughput: {:?}",
            found.tables[0].rows
        );
        // At a tenth of the load no network is saturated: 128 of 131 to 137 characters of a packet
        // are payload, 59.8 to 62.5 Mb/s.
        for row in [0, 2, 4, 6] {
            assert!((55_000..68_000).contains(&number(row, 2)), "{}", number(row, 2));
        }
    }
}
