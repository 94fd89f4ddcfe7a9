//! Order in which each method takes the channels of a path.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::{RoutesError, RoutingMethod};
use crate::topology::{NodeId, NodeKind, NodePort, Topology};

/// A channel by its ends. Each legal way goes over channels of turn `First`, then `NextAction`.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderedChannel {
    pub(super) from: NodePort,
    pub(super) to: NodePort,
    pub(super) turn: ChannelOrder,
}

/// Position of a channel in a path: up before down, or x before y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelOrder {
    First,
    Then,
}

/// The channels of all cables, with their order.
pub(super) fn ways(
    topology: &Topology,
    method: RoutingMethod,
) -> Result<Vec<OrderedChannel>, RoutesError> {
    let both = topology.cables().iter().flat_map(|cable| {
        let [a, b] = cable.ends;
        [(a, b), (b, a)]
    });
    let label = |turn: &dyn Fn(NodePort, NodePort) -> ChannelOrder| {
        both.clone().map(|(from, to)| OrderedChannel { from, to, turn: turn(from, to) }).collect()
    };
    match method {
        RoutingMethod::Shortest => Ok(label(&|_, _| ChannelOrder::First)),
        RoutingMethod::UpDown => {
            let ranks = ranks(topology);
            let rank = |port: NodePort| at(&ranks, port.node);
            Ok(label(&|from, to| {
                if (rank(to), to.node) < (rank(from), from.node) {
                    ChannelOrder::First
                } else {
                    ChannelOrder::Then
                }
            }))
        }
        RoutingMethod::DimensionOrder => {
            let places = places(topology)?;
            let place = |port: NodePort| at(&places, port.node);
            Ok(label(&|from, to| match (place(from), place(to)) {
                (Some(from), Some(to)) if from[0] == to[0] => ChannelOrder::Then,
                (Some(_), None) => ChannelOrder::Then,
                (Some(_), Some(_)) | (None, Some(_) | None) => ChannelOrder::First,
            }))
        }
    }
}

/// Rank of each node below the root, in the order of the nodes; `None` without a host.
fn ranks(topology: &Topology) -> Vec<Option<i64>> {
    let near = neighbours(topology);
    let mut ranks = vec![None; topology.nodes().len()];
    for host in topology.hosts() {
        if at(&ranks, host).is_some() {
            continue;
        }
        // The first host of its part of the network; the root is a switch of that part.
        let part = distances(&near, host);
        let ends = |switch: &NodeId| {
            let found = distances(&near, *switch);
            let hosts = topology.hosts().filter_map(|host| at(&found, host));
            (hosts.clone().max(), Reverse(hosts.min()))
        };
        let switches = topology.switches().filter(|switch| at(&part, *switch).is_some());
        let root = switches.min_by_key(ends).unwrap_or(host);
        for (rank, found) in ranks.iter_mut().zip(distances(&near, root)) {
            *rank = rank.or(found);
        }
    }
    while lift(topology, &near, &mut ranks) {}
    ranks
}

/// Moves each switch that is below all its neighbours above them; returns true if there was any.
///
/// A path down to such a switch cannot go up again: moving it loses no path and allows some. In a
/// fat tree, all roots but one begin like that. The moves end, as every reversal of sinks does in
/// which some node is never moved: here, a switch with a host.
fn lift(topology: &Topology, near: &[Vec<NodeId>], ranks: &mut [Option<i64>]) -> bool {
    let mut any = false;
    for switch in topology.switches() {
        let stand = |node: NodeId| at(ranks, node).map(|rank| (rank, node));
        let others = near.get(switch.0 as usize).into_iter().flatten().copied();
        let others = others.filter(|node| *node != switch).filter_map(stand);
        if let (Some(low), Some((high, _)), Some(own)) =
            (others.clone().max(), others.min(), stand(switch))
            && low < own
            && let Some(slot) = ranks.get_mut(switch.0 as usize)
        {
            *slot = Some(high - 1);
            any = true;
        }
    }
    any
}

fn at<T: Copy>(list: &[Option<T>], node: NodeId) -> Option<T> {
    list.get(node.0 as usize).copied().flatten()
}

fn neighbours(topology: &Topology) -> Vec<Vec<NodeId>> {
    let mut near = vec![Vec::new(); topology.nodes().len()];
    for cable in topology.cables() {
        let [a, b] = cable.ends.map(|end| end.node);
        for (one, other) in [(a, b), (b, a)] {
            if let Some(list) = near.get_mut(one.0 as usize) {
                list.push(other);
            }
        }
    }
    near
}

/// Number of cables from one node to each other.
fn distances(near: &[Vec<NodeId>], from: NodeId) -> Vec<Option<i64>> {
    let mut found = vec![None; near.len()];
    let mut queue = VecDeque::from([(from, 0)]);
    if let Some(slot) = found.get_mut(from.0 as usize) {
        *slot = Some(0);
    }
    while let Some((node, far)) = queue.pop_front() {
        for next in near.get(node.0 as usize).into_iter().flatten() {
            if let Some(slot @ None) = found.get_mut(next.0 as usize) {
                *slot = Some(far + 1);
                queue.push_back((*next, far + 1));
            }
        }
    }
    found
}

/// The position of each switch in the mesh; `None` for hosts.
fn places(topology: &Topology) -> Result<Vec<Option<[u32; 2]>>, RoutesError> {
    let place = |name: &str| {
        let (x, y) = name.strip_prefix('s')?.split_once('.')?;
        Some([x.parse().ok()?, y.parse().ok()?])
    };
    let places = topology.nodes().iter().map(|node| match node.kind {
        NodeKind::Host => Ok(None),
        NodeKind::Switch(_) => match place(&node.name) {
            None => Err(RoutesError::NoPlace { name: node.name.clone() }),
            found @ Some(_) => Ok(found),
        },
    });
    let places: Vec<Option<[u32; 2]>> = places.collect::<Result<_, _>>()?;
    for (place, cable) in topology.cables().iter().enumerate() {
        let [a, b] = cable.ends.map(|end| at(&places, end.node));
        if let (Some(a), Some(b)) = (a, b)
            && a[0].abs_diff(b[0]).saturating_add(a[1].abs_diff(b[1])) != 1
        {
            let [a, b] = cable.ends.map(|end| {
                topology.node(end.node).map_or_else(String::new, |node| node.name.clone())
            });
            return Err(RoutesError::Apart { cable: place, a, b });
        }
    }
    Ok(places)
}
