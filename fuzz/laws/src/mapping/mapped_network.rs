//! A network of mapping machines as it is at one time: cables, power, machines, and the routes in use.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use codec::mapping::{InterfaceAddress, MapEnd, MapNode, NetworkMap, ProbeTicket};
use codec::route::PortId;
use codec::switch_answer::{AnsweredPorts, SwitchAnswer};
use simulator::mapping::{MappedRoutes, MapperParameters, MapperStart, NetworkMapper};
use simulator::routes::RouteTable;
use simulator::topology::{ExtensionSupport, NodeId, NodeKind, NodePort, Topology};

/// Machines at the hosts of a topology.
#[derive(Clone, Debug)]
pub struct MappedNetwork<'a> {
    pub topology: &'a Topology,
    pub machines: BTreeMap<NodeId, Rc<NetworkMapper>>,
    /// Routes that each host uses.
    pub routes: BTreeMap<NodeId, Rc<MappedRoutes>>,
    /// Cut cables by index, and nodes without power.
    pub cut: BTreeSet<usize>,
    pub off: BTreeSet<NodeId>,
}

impl<'a> MappedNetwork<'a> {
    /// A network of machines that are started at time 0. `hosts` gives each its address and its
    /// beginning.
    pub fn new(
        topology: &'a Topology,
        parameters: MapperParameters,
        hosts: impl Fn(NodeId) -> (InterfaceAddress, MapperStart),
    ) -> Self {
        let machine = |host| {
            let (own, start) = hosts(host);
            Rc::new(NetworkMapper::new(own, parameters, start, ProbeTicket(0), 0))
        };
        Self {
            topology,
            machines: topology.hosts().map(|host| (host, machine(host))).collect(),
            routes: topology.hosts().map(|host| (host, Rc::default())).collect(),
            cut: BTreeSet::new(),
            off: BTreeSet::new(),
        }
    }

    /// Starts a host anew: its table of routes is empty.
    pub fn restart(
        &mut self,
        host: NodeId,
        (parameters, start): (MapperParameters, MapperStart),
        now: u64,
    ) {
        if let Some(machine) = self.machines.get_mut(&host) {
            let (own, first) = (machine.address(), machine.next_ticket());
            *machine = Rc::new(NetworkMapper::new(own, parameters, start, first, now));
            self.routes.insert(host, Rc::default());
        }
    }

    /// The machine of a host, to be stepped.
    pub fn machine_mut(&mut self, host: NodeId) -> Option<&mut NetworkMapper> {
        self.machines.get_mut(&host).filter(|_| !self.off.contains(&host)).map(Rc::make_mut)
    }

    /// The host at the end of a route, the number of hops, and what switches add; none if it leads to no host. S-1, S-8
    pub fn end(&self, from: NodeId, route: &[u8]) -> Option<(NodeId, u64, Vec<u8>)> {
        let mut at = NodePort { node: from, port: PortId(0) };
        let (mut bytes, mut hops, mut answers) = (route.iter(), 0, Vec::new());
        loop {
            let input = self.peer(at)?;
            hops += 1;
            let byte = bytes.next();
            match (self.topology.node(input.node)?.kind, byte) {
                (NodeKind::Host, None) => return Some((input.node, hops, answers)),
                (NodeKind::Host, Some(_)) | (NodeKind::Switch(_), None) => return None,
                (NodeKind::Switch(switch), Some(byte)) => {
                    let asks = *byte == 0xff && switch.extensions != ExtensionSupport::Off;
                    let byte = if asks { bytes.next()? } else { byte };
                    if asks {
                        let ports = AnsweredPorts::Counted(switch.ports);
                        let (addressing, input, node) =
                            (switch.addressing, input.port, input.node.0);
                        SwitchAnswer { ports, addressing, input, node }.emit(&mut answers);
                    }
                    let port = switch.addressing.select(*byte, input.port, switch.ports).ok()?;
                    at = NodePort { node: input.node, port };
                }
            }
        }
    }

    /// The port at the other end of a cable that is not cut, between nodes with power.
    pub fn peer(&self, port: NodePort) -> Option<NodePort> {
        let other = self.topology.peer(port)?;
        let cable = self.topology.cable_index(port)?;
        let dead = self.cut.contains(&cable)
            || [port, other].iter().any(|end| self.off.contains(&end.node));
        (!dead).then_some(other)
    }

    /// The machine of a host with power.
    pub fn machine(&self, host: NodeId) -> Option<&NetworkMapper> {
        self.machines.get(&host).filter(|_| !self.off.contains(&host)).map(Rc::as_ref)
    }

    /// The routes that a host uses.
    pub fn routes(&self, host: NodeId) -> Option<&MappedRoutes> {
        self.routes.get(&host).map(Rc::as_ref)
    }

    /// Law of a network at rest: each part has one mapper, whose map is the part; every pair of hosts
    /// has a route that arrives; and the routes of all form no cycle.
    ///
    /// # Errors
    /// What is not so.
    pub fn check(&self, tamper: fn(&mut NetworkMap)) -> Result<(), String> {
        let mut union = RouteTable::default();
        for host in self.topology.hosts().filter(|host| self.machine(*host).is_some()) {
            let part = self.part(host);
            let others = self.topology.hosts().filter(|other| part.contains(other));
            let others: Vec<NodeId> = others.collect();
            let is_mapper =
                |host: &&NodeId| self.machine(**host).is_some_and(NetworkMapper::is_mapper);
            let mappers: Vec<&NodeId> = others.iter().filter(is_mapper).collect();
            let [mapper] = mappers[..] else {
                return Err(format!("a part has one mapper: {mappers:?} map the part of {host:?}"));
            };
            let map = self.machine(*mapper).and_then(NetworkMapper::map);
            let mut map = map.ok_or("the mapper has a map")?.clone();
            tamper(&mut map);
            self.compare(*mapper, &map)
                .map_err(|wrong| format!("the map is the network: {wrong}"))?;
            for other in others.into_iter().filter(|other| *other != host) {
                let address = self.machine(other).map(NetworkMapper::address);
                let routes = self.routes(host).zip(address);
                let route = routes.and_then(|(routes, address)| routes.to.get(&address));
                let end = route.and_then(|route| self.end(host, route));
                if end.map(|(end, ..)| end) != Some(other) {
                    return Err(format!("every route arrives: {host:?} to {other:?} by {route:?}"));
                }
                union.set(host, other, route.cloned().unwrap_or_default());
            }
        }
        match union.cycle(self.topology) {
            None => Ok(()),
            Some(cycle) => Err(format!("routes form no cycle: {cycle:?}")),
        }
    }

    /// A cycle of the routes that one host uses.
    pub fn cycle_of(&self, host: NodeId) -> Option<Vec<NodePort>> {
        let mut table = RouteTable::default();
        for (to, route) in (0..).map(NodeId).zip(self.routes(host)?.to.values()) {
            table.set(host, to, route.clone());
        }
        table.cycle(self.topology)
    }

    /// All nodes that can be reached from one, itself included.
    pub fn part(&self, from: NodeId) -> BTreeSet<NodeId> {
        let mut part = BTreeSet::from([from]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for port in self.topology.ports(node) {
                if let Some(other) = self.peer(port).filter(|other| part.insert(other.node)) {
                    queue.push_back(other.node);
                }
            }
        }
        part
    }

    /// Compares a map with the part of the network that its mapper can reach. Ports of a switch may
    /// be counted from any of them.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, mapper: NodeId, map: &NetworkMap) -> Result<(), String> {
        let Some(own) = self.machine(mapper).map(NetworkMapper::address) else {
            return Err("the mapper is off".to_owned());
        };
        let mut links = BTreeMap::new();
        for [one, other] in &map.links {
            if links.insert(*one, *other).or(links.insert(*other, *one)).is_some() {
                return Err(format!("two links at one port: {one:?} {other:?}"));
            }
        }
        let host = map.hosts.binary_search(&own).ok().and_then(|at| u16::try_from(at).ok());
        let start = MapNode::Host(host.ok_or("the mapper is not in its map")?);
        // For each node of the map the node of the network, and the port that is port 0 of the map.
        let mut same = BTreeMap::from([(start, (mapper, 0_i16))]);
        let mut queue = VecDeque::from([start]);
        let mut cables = 0;
        while let Some(node) = queue.pop_front() {
            let Some((real, zero)) = same.get(&node).copied() else { continue };
            for port in self.topology.ports(real) {
                let end = i8::try_from(i16::from(port.port.0) - zero).ok();
                let end = end.map(|port| MapEnd { node, port }).filter(|_| zero <= 64);
                let mapped = end.and_then(|end| links.get(&end));
                match (self.peer(port), mapped) {
                    (None, None) => {}
                    (Some(peer), Some(other)) => {
                        cables += 1;
                        let shift = i16::from(peer.port.0) - i16::from(other.port);
                        let found = *same.entry(other.node).or_insert_with(|| {
                            queue.push_back(other.node);
                            (peer.node, shift)
                        });
                        if found != (peer.node, shift) {
                            return Err(format!("{other:?} is {peer:?} and {found:?}"));
                        }
                    }
                    (peer, mapped) => {
                        return Err(format!("at {port:?} is {peer:?}, in the map {mapped:?}"));
                    }
                }
            }
        }
        self.compare_nodes(&same, map)?;
        if cables == 2 * map.links.len() {
            Ok(())
        } else {
            Err(format!("{} links in the map, {cables} ends of cables", map.links.len()))
        }
    }

    fn compare_nodes(
        &self,
        same: &BTreeMap<MapNode, (NodeId, i16)>,
        map: &NetworkMap,
    ) -> Result<(), String> {
        let reals: BTreeSet<NodeId> = same.values().map(|(real, _)| *real).collect();
        if reals.len() != same.len() || same.len() != map.hosts.len() + usize::from(map.switches) {
            let nodes = map.hosts.len() + usize::from(map.switches);
            return Err(format!("{nodes} nodes in the map, {} in the network", reals.len()));
        }
        for (node, (real, _)) in same {
            let kind = self.topology.node(*real).map(|node| node.kind);
            let right = match (node, kind) {
                (MapNode::Switch(_), Some(NodeKind::Switch(_))) => true,
                (MapNode::Host(host), Some(NodeKind::Host)) => {
                    let address = self.machines.get(real).map(|machine| machine.address());
                    map.hosts.get(usize::from(*host)).copied() == address
                }
                (MapNode::Switch(_) | MapNode::Host(_), Some(_) | None) => false,
            };
            if !right {
                return Err(format!("{node:?} is {real:?}"));
            }
        }
        Ok(())
    }
}
