use std::collections::BTreeSet;

use codec::route::PortId;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{NetworkLayout, PicturePoint, distance, points};
use crate::topology::{
    NodeSource, PortNumber, Topology, TopologyEnd, TopologyLink, TopologyNode, TopologyNodeKind,
};

/// A cable between a port of a switch and one of another; hosts have no number of a port.
type TestCable = [(usize, Option<u8>); 2];

/// Switches, cables between them, and a host at each of these switches.
fn network(switches: usize, cables: &[TestCable], hosts: &[usize]) -> Topology {
    let node = |number: usize| {
        let is_switch = number < switches;
        let (letter, kind) =
            if is_switch { ('s', TopologyNodeKind::Switch) } else { ('h', TopologyNodeKind::Host) };
        let name = format!("{letter}{}", number - if is_switch { 0 } else { switches });
        let source = NodeSource::Names;
        TopologyNode { name, source, kind, addressing: None, ports: Vec::new() }
    };
    let nodes = switches + hosts.len();
    let hosts = hosts.iter().zip(switches..).map(|(at, host)| [(*at, None), (host, None)]);
    let link = |ends: TestCable| {
        let port = |port| PortNumber::Known(PortId(port));
        let ends = ends.map(|(node, number)| TopologyEnd {
            node,
            port: number.map_or(PortNumber::Unknown, port),
        });
        TopologyLink { ends, channels: Vec::new(), tap: None }
    };
    Topology {
        nodes: (0..nodes).map(node).collect(),
        links: cables.iter().copied().chain(hosts).map(link).collect(),
        passages: Vec::new(),
        remarks: Vec::new(),
    }
}

fn cable(from: usize, to: usize) -> TestCable {
    [(from, None), (to, None)]
}

/// Different columns and rows of the first nodes.
fn grid(layout: &NetworkLayout, nodes: usize) -> (usize, usize) {
    let places: Vec<PicturePoint> = (0..nodes).map(|node| layout.nodes[&node][0]).collect();
    let columns: BTreeSet<i64> = places.iter().map(|it| it.0).collect();
    let rows: BTreeSet<i64> = places.iter().map(|it| it.1).collect();
    (columns.len(), rows.len())
}

/// The least distance of a curve from a node that it does not end at.
fn clearance(topology: &Topology, layout: &NetworkLayout) -> i64 {
    let near = layout.links.iter().flat_map(|(number, curve)| {
        let ends = topology.links[*number].ends.map(|end| end.node);
        let others = layout.nodes.iter().filter(move |(node, _)| !ends.contains(node));
        others.flat_map(move |(_, [place, _])| points(*curve).map(|at| distance(at, *place)))
    });
    near.min().unwrap_or(i64::MAX)
}

#[test]
fn meshes_and_lines_are_grids_with_straight_links() {
    for (wide, high) in [(4, 3), (8, 8), (3, 1), (2, 2)] {
        let place = |x: usize, y: usize| x * high + y;
        let all = || (0..wide).flat_map(|x| (0..high).map(move |y| (x, y)));
        let along = all().filter(|it| it.0 > 0).map(|(x, y)| cable(place(x - 1, y), place(x, y)));
        let down = all().filter(|it| it.1 > 0).map(|(x, y)| cable(place(x, y - 1), place(x, y)));
        let cables: Vec<TestCable> = along.chain(down).collect();
        let hosts: Vec<usize> = (0..wide * high).collect();
        let topology = network(wide * high, &cables, &hosts);
        let layout = topology.layout();
        assert_eq!(grid(&layout, wide * high), (wide, high));
        for number in 0..cables.len() {
            let [from, bend, to] = layout.links[&number];
            assert_eq!(bend, ((from.0 + to.0) / 2, (from.1 + to.1) / 2));
        }
        assert!(clearance(&topology, &layout) >= 20);
    }
}

#[test]
fn tori_are_grids_whose_links_back_pass_beside_the_nodes() {
    for (wide, high) in [(3, 3), (4, 4), (6, 3)] {
        let place = |x: usize, y: usize| x % wide + wide * (y % high);
        let all = || (0..wide).flat_map(|x| (0..high).map(move |y| (x, y)));
        let next = |x, y, to, port| [(place(x, y), Some(port)), (to, Some(port + 1))];
        let along = all().map(|(x, y)| next(x, y, place(x + 1, y), 0));
        let down = all().map(|(x, y)| next(x, y, place(x, y + 1), 2));
        let cables: Vec<TestCable> = along.chain(down).collect();
        let topology = network(wide * high, &cables, &(0..wide * high).collect::<Vec<_>>());
        let layout = topology.layout();
        assert_eq!(grid(&layout, wide * high), (wide, high), "{wide} x {high}");
        assert!(clearance(&topology, &layout) >= 16, "{wide} x {high}");
    }
}

#[test]
fn the_sides_of_a_ring_are_equal() {
    let cables: Vec<TestCable> = (0..9).map(|at| cable(at, (at + 1) % 9)).collect();
    let layout = network(9, &cables, &[]).layout();
    let side = |number: usize| {
        let [from, _, to] = layout.links[&number];
        distance(from, to)
    };
    let sides: Vec<i64> = (0..9).map(side).collect();
    let (least, most) = (*sides.iter().min().unwrap(), *sides.iter().max().unwrap());
    assert!(most - least <= most / 10, "{sides:?}");
}

#[test]
fn trees_have_their_hosts_in_the_lowest_row() {
    // Two roots, four leaves, two hosts each.
    let cables: Vec<TestCable> =
        (0..2).flat_map(|up| (2..6).map(move |to| cable(up, to))).collect();
    let layout = network(6, &cables, &[2, 2, 3, 3, 4, 4, 5, 5]).layout();
    let row = |node: usize| layout.nodes[&node][0].1;
    assert!((0..2).all(|node| row(node) == row(0)));
    assert!((2..6).all(|node| row(node) == row(0) + 120));
    assert!((6..14).all(|node| row(node) == row(0) + 240));
}

#[test]
fn at_most_160_nodes_and_600_links_are_drawn() {
    let line: Vec<TestCable> = (1..170).map(|at| cable(at - 1, at)).collect();
    let pair = vec![cable(0, 1); 601];
    for (switches, cables, drawn) in [(170, line, (160, 159)), (2, pair, (4, 600))] {
        let layout = network(switches, &cables, &[0, 1]).layout();
        assert_eq!((layout.nodes.len(), layout.links.len()), drawn);
    }
}

proptest! {
    /// Trees with further cables: no link passes over a node, and all is within the picture.
    #[test]
    fn links_of_any_network_pass_beside_the_nodes(
        ups in vec(any::<prop::sample::Index>(), 1..24),
        further in vec(any::<[prop::sample::Index; 2]>(), 0..8),
        hosts in vec(any::<prop::sample::Index>(), 0..24),
        letters in 1..20_usize,
    ) {
        let switches = ups.len() + 1;
        let up = |(at, up): (usize, &prop::sample::Index)| cable(up.index(at), at);
        let mut cables: Vec<TestCable> = (1..).zip(&ups).map(up).collect();
        cables.extend(further.iter().map(|it| {
            let [from, to] = it.map(|it| it.index(switches));
            cable(from, to)
        }));
        let hosts: Vec<usize> = hosts.iter().map(|at| at.index(switches)).collect();
        let mut topology = network(switches, &cables, &hosts);
        topology.nodes.iter_mut().step_by(2).for_each(|it| it.name += &"x".repeat(letters));
        let layout = topology.layout();
        prop_assert_eq!(layout.nodes.len(), topology.nodes.len());
        prop_assert_eq!(layout.links.len(), topology.links.len());
        prop_assert!(clearance(&topology, &layout) >= 11, "{}", clearance(&topology, &layout));
        let (wide, high) = layout.size;
        for (node, [place, name]) in &layout.nodes {
            // Seven pixels a letter, of 16 at most.
            let letters = topology.nodes[*node].name.chars().count().min(16);
            let half = i64::try_from(7 * letters / 2).unwrap();
            let is_within = |it: &PicturePoint, half| {
                (half..=wide - half).contains(&it.0) && (0..=high).contains(&it.1)
            };
            prop_assert!(is_within(place, 0) && is_within(name, half), "{node}: {name:?}");
        }
        let mut places: Vec<PicturePoint> = layout.nodes.values().map(|it| it[0]).collect();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), topology.nodes.len());
    }
}
