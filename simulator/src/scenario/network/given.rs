//! Keys that tables give to a network, and the note of those that decide something in it.

use std::collections::BTreeMap;

use super::{PortKeys, ScenarioNetwork};
use crate::interface::InterfaceParameters;
use crate::scenario::error::{KeyUse, ProblemList};
use crate::scenario::keys::{GivenKeys, ScenarioUse};
use crate::scenario::link_keys::LinkKeys;
use crate::topology::{NodeId, NodeKind, SwitchParameters, SwitchRole, Topology};

#[derive(Default)]
pub(super) struct NetworkKeys {
    pub(super) link: LinkKeys,
    /// Keys of all switches and interfaces, and of single ones.
    pub(super) switch: GivenKeys<SwitchParameters>,
    pub(super) switches: BTreeMap<NodeId, GivenKeys<SwitchParameters>>,
    pub(super) interface: GivenKeys<InterfaceParameters>,
    pub(super) interfaces: BTreeMap<NodeId, GivenKeys<InterfaceParameters>>,
    /// Port keys of all switches, of all hosts, and of single nodes.
    pub(super) kinds: [PortKeys; 2],
    pub(super) ports: BTreeMap<NodeId, PortKeys>,
    /// Keys of single cables, by their index.
    pub(super) cables: BTreeMap<usize, LinkKeys>,
    /// Keys of endpoints' costs.
    pub(super) costs: Vec<KeyUse>,
}

impl NetworkKeys {
    /// Port keys that apply to the ports of a node, later ones over earlier ones.
    fn of_node(&self, topology: &Topology, node: NodeId) -> Vec<&PortKeys> {
        let [switches, hosts] = &self.kinds;
        let kind = match topology.node(node).map(|node| node.kind) {
            Some(NodeKind::Switch(switch)) => {
                Some(switches).filter(|_| switch.role == SwitchRole::Crossbar)
            }
            Some(NodeKind::Host) => Some(hosts),
            None => None,
        };
        kind.into_iter().chain(self.ports.get(&node)).collect()
    }
}

impl ScenarioNetwork {
    /// Notes the keys that decide something in the network, and those of endpoints if there are any.
    pub(in crate::scenario) fn note_use(
        &self,
        scope: &ScenarioUse,
        transport: &[KeyUse],
        problems: &ProblemList<'_>,
    ) {
        let Self { keys, topology, interfaces, .. } = self;
        for (at, cable) in topology.cables().iter().enumerate() {
            let own = keys.cables.get(&at).cloned().unwrap_or_default();
            let [a, b] = cable.ends.map(|end| keys.of_node(topology, end.node));
            LinkKeys::note_use([&keys.link, &own], [&a, &b], cable.link, scope, problems);
        }
        for (node, id) in topology.nodes().iter().zip((0..).map(NodeId)) {
            if let NodeKind::Switch(switch) = node.kind
                && switch.role == SwitchRole::Crossbar
            {
                let layers: Vec<_> =
                    [&keys.switch].into_iter().chain(keys.switches.get(&id)).collect();
                GivenKeys::note_use(&layers, switch, scope, problems);
            }
        }
        for (host, interface) in interfaces {
            let own = keys.interfaces.get(host);
            let layers: Vec<_> = [&keys.interface].into_iter().chain(own).collect();
            GivenKeys::note_use(&layers, *interface, scope, problems);
        }
        if scope.endpoints {
            keys.costs.iter().chain(transport).for_each(|key| problems.note_use(*key));
        }
    }
}
