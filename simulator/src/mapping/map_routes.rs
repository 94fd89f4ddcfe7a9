//! Routes computed from a map, by the same method at every interface. N-2

use std::collections::BTreeMap;

use codec::mapping::{InterfaceAddress, MapEnd, MapNode, NetworkMap};
use codec::route::{PortId, RouteAddressing, reversed};

use crate::link::LinkParameters;
use crate::routes::{RouteTable, RoutingMethod, channels};
use crate::topology::{
    CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SWITCH_PORTS_MAX, SwitchParameters, Topology,
};

/// Routes to other interfaces, by their addresses.
pub type AddressRoutes = BTreeMap<InterfaceAddress, Vec<u8>>;

/// A route to an interface, and the one of its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct RoundTrip {
    pub(super) out: Vec<u8>,
    pub(super) back: Vec<u8>,
}

impl RoundTrip {
    /// A route that leads home.
    pub(super) const fn home(out: Vec<u8>) -> Self {
        Self { out, back: Vec::new() }
    }

    /// What a request says of its way back. N-8
    pub(super) fn way_back(&self) -> Option<&[u8]> {
        (self.back != reversed(&self.out)).then_some(&self.back)
    }
}

/// Other interfaces of a map, with the routes to them.
pub(super) type KnownHosts = BTreeMap<InterfaceAddress, RoundTrip>;

/// Routes of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MappedRoutes {
    /// To the interfaces of its network.
    pub to: AddressRoutes,
    /// The interface that passes packets on to another network: of several routers the one with the
    /// lowest address. *Chosen* N-5
    pub router: Option<InterfaceAddress>,
}

impl MappedRoutes {
    /// The route to the router.
    pub fn to_router(&self) -> Option<&[u8]> {
        self.to.get(&self.router?).map(Vec::as_slice)
    }
}

/// The graph of a map: switches first, then interfaces, each in the order of the map.
#[derive(Clone, Debug)]
pub(super) struct MapGraph {
    topology: Topology,
    hosts: Vec<(InterfaceAddress, NodeId)>,
    /// In ascending order.
    routers: Vec<InterfaceAddress>,
}

impl MapGraph {
    /// The graph of a map, unless a switch has more than 32 ports, or a port two links.
    pub(super) fn new(map: &NetworkMap) -> Option<Self> {
        let mut first = vec![(i8::MAX, i8::MIN); map.switches.into()];
        if !map.identities.is_empty() {
            first.fill((0, 0));
        }
        for end in map.links.iter().flatten() {
            if let MapNode::Switch(switch) = end.node {
                let (least, most) = first.get_mut(usize::from(switch))?;
                (*least, *most) = ((*least).min(end.port), (*most).max(end.port));
            }
        }
        let wide = |(least, most): &(i8, i8)| {
            most.saturating_sub(*least) >= SWITCH_PORTS_MAX.cast_signed()
                || !map.identities.is_empty() && *least < 0
        };
        if first.iter().any(wide) {
            return None;
        }
        let node = |name, kind| NodeSpec { name, kind };
        let addressing = |switch: u16| {
            let identity = map.identities.get(usize::from(switch));
            identity.map_or(RouteAddressing::Relative, |identity| identity.addressing)
        };
        let switch = |i| {
            let parameters = SwitchParameters::new(SWITCH_PORTS_MAX, addressing(i));
            node(format!("s{i}"), NodeKind::Switch(parameters))
        };
        let switches = (0..map.switches).map(switch);
        let hosts = map.hosts.iter().map(|host| node(format!("h{}", host.value()), NodeKind::Host));
        let port = |end: &MapEnd| match end.node {
            MapNode::Switch(switch) => {
                let (least, _) = first.get(usize::from(switch))?;
                let port = PortId(u8::try_from(end.port - least).ok()?);
                Some(NodePort { node: NodeId(switch.into()), port })
            }
            MapNode::Host(host) => {
                let node = NodeId(u32::from(map.switches) + u32::from(host));
                Some(NodePort { node, port: PortId(0) })
            }
        };
        let cable = |[one, other]: &[MapEnd; 2]| {
            Some(CableSpec { ends: [port(one)?, port(other)?], link: LinkParameters::default() })
        };
        let cables = map.links.iter().map(cable).collect::<Option<_>>()?;
        let topology = Topology::new(switches.chain(hosts).collect(), cables).ok()?;
        let hosts = map.hosts.iter().copied().zip((map.switches.into()..).map(NodeId)).collect();
        let router = |index: &u16| map.hosts.get(usize::from(*index)).copied();
        let routers = map.routers.iter().filter_map(router).collect();
        Some(Self { topology, hosts, routers })
    }

    /// Routes from one interface to all that it can reach.
    pub(super) fn routes_from(&self, own: InterfaceAddress) -> Option<MappedRoutes> {
        let (_, from) = *self.hosts.iter().find(|(address, _)| *address == own)?;
        let method = RoutingMethod::UpDown;
        let table = RouteTable::compute_from(&self.topology, method, from).ok()?;
        Some(self.routes(&table, from))
    }

    /// Routes to interfaces with those of their answers, over the same cables.
    pub(super) fn round_trips(&self, own: InterfaceAddress, routes: &AddressRoutes) -> KnownHosts {
        let from = self.hosts.iter().find(|(address, _)| *address == own);
        let trip = |(to, out): (&InterfaceAddress, &Vec<u8>)| {
            let back = from.and_then(|(_, from)| self.way_back(*from, out));
            (*to, RoundTrip { out: out.clone(), back: back.unwrap_or_else(|| reversed(out)) })
        };
        routes.iter().map(trip).collect()
    }

    fn way_back(&self, from: NodeId, out: &[u8]) -> Option<Vec<u8>> {
        let sent = channels(&self.topology, from, out);
        let steps = sent.iter().zip(sent.iter().skip(1)).rev();
        let byte = |(before, after): (&NodePort, &NodePort)| {
            let input = self.topology.peer(*before)?.port;
            match self.topology.node(after.node)?.kind {
                NodeKind::Switch(switch) => switch.addressing.byte(after.port, input),
                NodeKind::Host => None,
            }
        };
        steps.map(byte).collect()
    }

    pub(super) fn all_routes(&self) -> Option<BTreeMap<InterfaceAddress, MappedRoutes>> {
        let table = RouteTable::compute(&self.topology, RoutingMethod::UpDown).ok()?;
        Some(self.hosts.iter().map(|(own, from)| (*own, self.routes(&table, *from))).collect())
    }

    fn routes(&self, table: &RouteTable, from: NodeId) -> MappedRoutes {
        let route = |(address, to): &(InterfaceAddress, NodeId)| {
            Some((*address, table.get(from, *to)?.to_vec()))
        };
        let to: AddressRoutes = self.hosts.iter().filter_map(route).collect();
        let router = self.routers.iter().find(|router| to.contains_key(router)).copied();
        MappedRoutes { to, router }
    }
}
