//! Fibres: the links that bridging pairs of ends act as, and the networks that routers join. N-5

use std::borrow::Cow;
use std::collections::BTreeMap;

use codec::route::PortId;

use super::{CableSpec, NodeId, NodeKind, NodePort, SwitchRole, Topology};

impl Topology {
    /// The other port of a port's node, if that is an end of a fibre, which passes packets on. N-5
    pub(crate) fn through_fibre_end(&self, port: NodePort) -> Option<NodePort> {
        let NodeKind::Switch(switch) = self.node(port.node)?.kind else { return None };
        let other = switch.opposite(port.port).filter(|_| switch.role == SwitchRole::FibreEnd);
        other.map(|other| NodePort { port: other, ..port })
    }

    /// True if a cable is a fibre. N-5
    pub fn is_fibre(&self, cable: &CableSpec) -> bool {
        let is_end = |end: &NodePort| match self.node(end.node).map(|node| node.kind) {
            Some(NodeKind::Switch(switch)) => switch.opposite(end.port) == Some(PortId(0)),
            Some(NodeKind::Host) | None => false,
        };
        cable.ends.iter().all(is_end)
    }

    /// The network with a cable in place of each pair of bridging fibre ends and their cables, since
    /// the pair acts as one link; and without the fibres of routers. N-5
    pub(crate) fn without_fibres(&self) -> Cow<'_, Self> {
        if !self.cables.iter().any(|cable| self.is_fibre(cable)) {
            return Cow::Borrowed(self);
        }
        let cables = self.cables.iter().filter_map(|cable| {
            if self.is_routed(cable) {
                return None;
            }
            let [a, b] = cable.ends.map(|end| self.behind_fibres(end));
            let ends = [a?, b?];
            // A pair is found from both sides, by the cables of its ends.
            let is_whole = ends == cable.ends;
            let is_first = cable.ends.contains(&ends[0].min(ends[1])) && ends[0] != ends[1];
            (is_whole || is_first).then_some(CableSpec { ends, ..*cable })
        });
        let contracted = Self::new(self.nodes.clone(), cables.collect());
        contracted.map_or(Cow::Borrowed(self), Cow::Owned)
    }

    /// A port, or the one behind the fibres that it belongs to.
    fn behind_fibres(&self, port: NodePort) -> Option<NodePort> {
        let mut at = port;
        // More steps than nodes would be a circle of fibres.
        for _ in &self.nodes {
            match self.through_fibre_end(at) {
                None => return Some(at),
                Some(other) => at = self.peer(other)?,
            }
        }
        None
    }

    /// True if a node is an end of a fibre between two networks.
    pub fn is_router(&self, node: NodeId) -> bool {
        let kind = self.node(node).map(|node| node.kind);
        matches!(kind, Some(NodeKind::Switch(switch)) if switch.role == SwitchRole::Router)
    }

    /// The routers, in the order of the nodes.
    pub fn routers(&self) -> impl Iterator<Item = NodeId> + Clone {
        self.switches().filter(|node| self.is_router(*node))
    }

    /// True if a cable is a fibre between routers.
    fn is_routed(&self, cable: &CableSpec) -> bool {
        self.is_fibre(cable) && self.is_router(cable.ends[0].node)
    }
}

/// Networks, and those that routers join. N-5
#[derive(Clone, Debug, Default)]
pub(crate) struct RoutedNetworks {
    /// The network of each node, by the lowest index of its nodes; none if there are no routers.
    networks: Vec<usize>,
    /// The networks that each fibre joins, and the router at its first end.
    joined: Vec<(NodeId, [usize; 2])>,
}

/// Routers that do not join two networks. *Chosen*: an interface does not know what is behind a router,
/// and so cannot choose between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoutedProblem {
    /// Both ends are in the same network.
    SameNetwork,
    /// A network has routers to several others.
    SeveralNetworks,
}

impl RoutedNetworks {
    pub(crate) fn of(topology: &Topology) -> Self {
        if topology.routers().next().is_none() {
            return Self::default();
        }
        let mut networks: Vec<usize> = (0..topology.nodes.len()).collect();
        let (fibres, cables): (Vec<&CableSpec>, Vec<&CableSpec>) =
            topology.cables.iter().partition(|cable| topology.is_routed(cable));
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for cable in &cables {
                let ends = cable.ends.map(|end| end.node.0 as usize);
                let lowest = ends.iter().filter_map(|end| networks.get(*end)).min().copied();
                for network in ends {
                    let network = networks.get_mut(network).zip(lowest);
                    network.into_iter().for_each(|(network, lowest)| {
                        changed |= *network != lowest;
                        *network = lowest;
                    });
                }
            }
        }
        let network = |end: NodePort| networks.get(end.node.0 as usize).copied().unwrap_or(0);
        let joined = fibres.iter().map(|it| (it.ends[0].node, it.ends.map(network))).collect();
        Self { networks, joined }
    }

    /// True if two nodes are in different networks that a fibre joins.
    pub(crate) fn joins(&self, one: NodeId, other: NodeId) -> bool {
        let network = |node: NodeId| self.networks.get(node.0 as usize);
        let ends = network(one).zip(network(other));
        ends.is_some_and(|(one, other)| {
            one != other
                && self.joined.iter().any(|(_, [a, b])| [(a, b), (b, a)].contains(&(one, other)))
        })
    }

    /// The first fibre that does not join two networks, by the router at its end.
    pub(crate) fn problem(&self) -> Option<(NodeId, RoutedProblem)> {
        let mut others = BTreeMap::new();
        for (router, [a, b]) in &self.joined {
            if a == b {
                return Some((*router, RoutedProblem::SameNetwork));
            }
            if [(a, b), (b, a)]
                .iter()
                .any(|(one, other)| others.insert(*one, *other).is_some_and(|it| it != *other))
            {
                return Some((*router, RoutedProblem::SeveralNetworks));
            }
        }
        None
    }
}
