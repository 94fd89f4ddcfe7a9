//! The shortest legal path between each pair of hosts.

use std::collections::{BTreeMap, VecDeque};

use super::channel_order::{ChannelOrder, OrderedChannel};
use crate::rng::Rng;
use crate::topology::{NodeId, NodeKind, NodePort, Topology};

/// A node, and whether channels of order `First` are still allowed.
type RouteState = (NodeId, ChannelOrder);

/// The channels that leave and reach each node, in the order of the cables.
struct ChannelGraph {
    out: Vec<Vec<OrderedChannel>>,
    into: Vec<Vec<OrderedChannel>>,
}

/// Distance of a destination from each node, in either state.
struct HopDistances(Vec<[Option<u32>; 2]>);

/// The paths from the hosts in `sources` to all others.
pub(super) fn from(
    topology: &Topology,
    ways: &[OrderedChannel],
    sources: &[NodeId],
) -> BTreeMap<(NodeId, NodeId), Vec<u8>> {
    let mut graph = ChannelGraph {
        out: vec![Vec::new(); topology.nodes().len()],
        into: vec![Vec::new(); topology.nodes().len()],
    };
    for way in ways {
        for (lists, node) in [(&mut graph.out, way.from.node), (&mut graph.into, way.to.node)] {
            if let Some(list) = lists.get_mut(node.0 as usize) {
                list.push(*way);
            }
        }
    }
    let mut routes = Vec::new();
    for to in topology.hosts() {
        let distances = HopDistances::to(to, &graph);
        for from in sources.iter().copied().filter(|from| *from != to) {
            if let Some(bytes) = route(topology, &graph, &distances, [from, to]) {
                routes.push(((from, to), bytes));
            }
        }
    }
    routes.into_iter().collect()
}

impl HopDistances {
    /// Searches breadth first, backwards from the destination.
    fn to(to: NodeId, graph: &ChannelGraph) -> Self {
        let mut found = Self(vec![[None; 2]; graph.out.len()]);
        let mut queue = VecDeque::new();
        for turn in [ChannelOrder::First, ChannelOrder::Then] {
            found.put((to, turn), 0, &mut queue);
        }
        while let Some((stand, far)) = queue.pop_front() {
            for way in graph.into.get(stand.0.0 as usize).into_iter().flatten() {
                for before in [ChannelOrder::First, ChannelOrder::Then] {
                    if after(before, way.turn) == Some(stand.1) {
                        found.put((way.from.node, before), far + 1, &mut queue);
                    }
                }
            }
        }
        found
    }

    fn put(&mut self, stand: RouteState, far: u32, queue: &mut VecDeque<(RouteState, u32)>) {
        let slots = self.0.get_mut(stand.0.0 as usize);
        if let Some(slot @ None) = slots.and_then(|slots| slots.get_mut(stand.1 as usize)) {
            *slot = Some(far);
            queue.push_back((stand, far));
        }
    }

    fn get(&self, (node, turn): RouteState) -> Option<u32> {
        self.0.get(node.0 as usize)?.get(turn as usize).copied().flatten()
    }
}

/// The state after a channel, if it is allowed.
const fn after(before: ChannelOrder, taken: ChannelOrder) -> Option<ChannelOrder> {
    match (before, taken) {
        (ChannelOrder::First, turn) => Some(turn),
        (ChannelOrder::Then, ChannelOrder::Then) => Some(ChannelOrder::Then),
        (ChannelOrder::Then, ChannelOrder::First) => None,
    }
}

fn route(
    topology: &Topology,
    graph: &ChannelGraph,
    distances: &HopDistances,
    [from, to]: [NodeId; 2],
) -> Option<Vec<u8>> {
    let mut stand = (from, ChannelOrder::First);
    let mut input: Option<NodePort> = None;
    let mut bytes = Vec::new();
    let pair = u64::from(from.0) << 32 | u64::from(to.0);
    for left in (0..distances.get(stand)?).rev() {
        let ways = graph.out.get(stand.0.0 as usize)?;
        let mut nearer = ways.iter().filter_map(|way| {
            let next = (way.to.node, after(stand.1, way.turn)?);
            (distances.get(next) == Some(left)).then_some((way, next))
        });
        let count = u64::try_from(nearer.clone().count()).ok()?;
        let pick = Rng::new(pair, u64::from(stand.0.0)).below(count);
        let (way, next) = nearer.nth(usize::try_from(pick).ok()?)?;
        if let (Some(input), NodeKind::Switch(switch)) = (input, topology.node(stand.0)?.kind) {
            bytes.push(switch.addressing.byte(input.port, way.from.port)?);
        }
        input = Some(way.to);
        stand = next;
    }
    Some(bytes)
}
