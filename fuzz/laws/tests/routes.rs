//! Up*/down* routes of any small graph are those of a plain model: the root by its documented ties, ways that go up and
//! then down, none longer than it must be. N-2

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use codec::route::{PortId, RouteAddressing};
use laws::repair::{SeededRng, draws};
use simulator::link::LinkParameters;
use simulator::routes::{RouteTable, RoutingMethod, channels};
use simulator::topology::{
    CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology,
};

/// Switches with any cables between them, and hosts at any of them, in any order.
fn graph(dice: &mut SeededRng) -> Topology {
    let count = 4 + u32::try_from(dice.below(14)).unwrap();
    let hosts: Vec<bool> = (0..count).map(|node| node > 1 && dice.below(3) == 0).collect();
    let switch = NodeKind::Switch(SwitchParameters::new(16, RouteAddressing::Relative));
    let kind = |is_host: &bool| if *is_host { NodeKind::Host } else { switch };
    let nodes = hosts
        .iter()
        .enumerate()
        .map(|(number, is_host)| NodeSpec { name: format!("n{number}"), kind: kind(is_host) });
    let nodes: Vec<NodeSpec> = nodes.collect();
    let mut used = vec![0_u8; nodes.len()];
    let mut cables = Vec::new();
    for _ in 0..u64::from(count) + dice.below(2 * u64::from(count)) {
        let ends = [(); 2].map(|()| usize::try_from(dice.below(count.into())).unwrap());
        let is_free = |node: usize| used[node] < if hosts[node] { 1 } else { 15 };
        if ends[0] == ends[1]
            || !ends.into_iter().all(is_free)
            || ends.into_iter().all(|it| hosts[it])
        {
            continue;
        }
        let ends = ends.map(|node| {
            let port =
                NodePort { node: NodeId(u32::try_from(node).unwrap()), port: PortId(used[node]) };
            used[node] += 1;
            port
        });
        cables.push(CableSpec { ends, link: LinkParameters::default() });
    }
    Topology::new(nodes, cables).unwrap()
}

type NodeNeighbours = BTreeMap<NodeId, BTreeSet<NodeId>>;

fn near(topology: &Topology) -> NodeNeighbours {
    let mut near = NodeNeighbours::new();
    for [a, b] in topology.cables().iter().map(|cable| cable.ends.map(|end| end.node)) {
        near.entry(a).or_default().insert(b);
        near.entry(b).or_default().insert(a);
    }
    near
}

/// Cables from a node to each that it reaches.
fn distances(near: &NodeNeighbours, from: NodeId) -> BTreeMap<NodeId, i64> {
    let mut found = BTreeMap::from([(from, 0)]);
    for far in 1.. {
        let edge: Vec<NodeId> =
            found.iter().filter(|(_, it)| **it == far - 1).map(|(node, _)| *node).collect();
        let next = edge.iter().filter_map(|node| near.get(node)).flatten();
        let before = found.len();
        next.for_each(|node| _ = found.entry(*node).or_insert(far));
        if found.len() == before {
            break;
        }
    }
    found
}

/// Heights of the nodes: the least is the top.
fn heights(topology: &Topology, near: &NodeNeighbours) -> BTreeMap<NodeId, (i64, NodeId)> {
    let mut ranks: BTreeMap<NodeId, i64> = BTreeMap::new();
    for host in topology.hosts() {
        let part = distances(near, host);
        if ranks.contains_key(&host) {
            continue;
        }
        let hosts = |switch: NodeId| {
            let far = distances(near, switch);
            topology.hosts().filter_map(move |host| far.get(&host).copied()).collect::<Vec<_>>()
        };
        let switches = topology.switches().filter(|switch| part.contains_key(switch));
        // The farthest host is nearest, the nearest one farthest, the first.
        let root = switches.min_by_key(|switch| {
            let hosts = hosts(*switch);
            (hosts.iter().max().copied(), Reverse(hosts.iter().min().copied()), *switch)
        });
        ranks.extend(distances(near, root.unwrap_or(host)));
    }
    // A switch below all its neighbours goes above them.
    loop {
        let mut is_done = true;
        for switch in topology.switches() {
            let others = near.get(&switch).into_iter().flatten();
            let others: Vec<(i64, NodeId)> =
                others.filter_map(|node| Some((*ranks.get(node)?, *node))).collect();
            let own = ranks.get(&switch).map(|rank| (*rank, switch));
            if own.is_some_and(|own| !others.is_empty() && others.iter().all(|other| *other < own))
            {
                ranks.insert(switch, others.iter().min().unwrap().0 - 1);
                is_done = false;
            }
        }
        if is_done {
            return ranks.into_iter().map(|(node, rank)| (node, (rank, node))).collect();
        }
    }
}

#[test]
fn routes_go_up_and_down_by_the_shortest_way() {
    let mut dice = SeededRng::new(b"up and down");
    let (mut pairs, mut longer) = (0, 0);
    for number in 0..draws(1000) {
        let topology = graph(&mut dice);
        let (near, routes) =
            (near(&topology), RouteTable::compute(&topology, RoutingMethod::UpDown).unwrap());
        let heights = heights(&topology, &near);
        let is_up = |from: NodeId, to: NodeId| heights[&to] < heights[&from];
        for from in topology.hosts() {
            // Nodes by the way there, and whether it still goes up; hosts pass nothing on.
            let mut reached = BTreeMap::from([((from, true), 0_usize)]);
            for far in 1..40_usize {
                let edge: Vec<(NodeId, bool)> =
                    reached.iter().filter(|(_, it)| **it == far - 1).map(|(at, _)| *at).collect();
                for (node, was_up) in edge {
                    let ends = node != from && topology.hosts().any(|host| host == node);
                    for next in near.get(&node).into_iter().flatten().filter(|_| !ends) {
                        let up = is_up(node, *next);
                        if was_up || !up {
                            reached.entry((*next, up)).or_insert(far);
                        }
                    }
                }
            }
            for to in topology.hosts().filter(|to| *to != from) {
                let shortest = [true, false].iter().filter_map(|up| reached.get(&(to, *up))).min();
                let way = routes.get(from, to).map(|bytes| channels(&topology, from, bytes));
                let name = format!("{number}: {from:?} to {to:?}: {way:?}");
                assert_eq!(way.as_ref().map(Vec::len), shortest.copied(), "{name}");
                let Some(way) = way else { continue };
                let ups = way.iter().map(|port| {
                    let other = topology.peer(*port).unwrap().node;
                    !is_up(port.node, other)
                });
                assert!(ups.is_sorted(), "{name}");
                pairs += 1;
                longer +=
                    usize::from(way.len() > usize::try_from(distances(&near, from)[&to]).unwrap());
            }
        }
    }
    assert!(pairs > 5000 && longer > 20, "{pairs} {longer}");
}
