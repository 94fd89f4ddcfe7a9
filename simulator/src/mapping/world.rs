//! A network for mapping machines without characters: packets follow their route bytes over a
//! topology, each hop takes the same time, and nothing waits for anything. For tests, laws and
//! measurements of the machine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use codec::mapping::{InterfaceAddress, MapEnd, MapNode, NetworkMap, ProbeTicket};
use codec::route::PortId;

use super::{
    MappedRoutes, MapperParameters, MapperStart, MappingEffect, MappingNotice, NetworkMapper,
};
use crate::topology::{NodeId, NodeKind, NodePort, Topology};

/// Time of a hop, in periods: a switch and a cable of some metres.
const HOP: u64 = 50;

/// Copies of a packet that arrive: the extra delay and the bytes of each. None if it is lost.
pub type PacketCopies = Vec<(u64, Vec<u8>)>;

/// Machines at the hosts of a topology.
#[derive(Debug)]
pub struct MappingWorld<'a> {
    topology: &'a Topology,
    parameters: MapperParameters,
    now: u64,
    machines: BTreeMap<NodeId, NetworkMapper>,
    /// Routes that each host uses.
    routes: BTreeMap<NodeId, MappedRoutes>,
    due: BTreeSet<(u64, NodeId)>,
    due_of: BTreeMap<NodeId, u64>,
    /// Packets in flight by arrival and number.
    flying: BTreeMap<(u64, u64), (NodeId, Vec<u8>)>,
    sent: u64,
    /// Cut cables by index, and nodes without power.
    cut: BTreeSet<usize>,
    off: BTreeSet<NodeId>,
    notices: Vec<(u64, NodeId, MappingNotice)>,
}

impl<'a> MappingWorld<'a> {
    /// A network of unlike machines that are started at time 0. `hosts` gives each its address and
    /// its beginning.
    pub fn new(
        topology: &'a Topology,
        parameters: MapperParameters,
        hosts: impl Fn(NodeId) -> (InterfaceAddress, MapperStart),
    ) -> Self {
        let mut world = Self {
            topology,
            parameters,
            now: 0,
            machines: BTreeMap::new(),
            routes: BTreeMap::new(),
            due: BTreeSet::new(),
            due_of: BTreeMap::new(),
            flying: BTreeMap::new(),
            sent: 0,
            cut: BTreeSet::new(),
            off: BTreeSet::new(),
            notices: Vec::new(),
        };
        for host in topology.hosts() {
            let (address, start) = hosts(host);
            world.start(host, address, start, ProbeTicket(0));
        }
        world
    }

    fn start(&mut self, host: NodeId, own: InterfaceAddress, how: MapperStart, first: ProbeTicket) {
        let machine = NetworkMapper::new(own, self.parameters, how, first, self.now);
        self.machines.insert(host, machine);
        self.routes.insert(host, MappedRoutes::new());
        self.schedule(host);
    }

    fn schedule(&mut self, host: NodeId) {
        let due = self.machines.get_mut(&host).map(NetworkMapper::due);
        if let Some(before) = self.due_of.remove(&host) {
            self.due.remove(&(before, host));
        }
        if let Some(due) = due.filter(|_| !self.off.contains(&host)) {
            let due = due.max(self.now);
            self.due.insert((due, host));
            self.due_of.insert(host, due);
        }
    }

    /// Time in periods.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Packets sent so far.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Cuts a cable.
    pub fn cut(&mut self, cable: usize) {
        self.cut.insert(cable);
    }

    /// Mends a cable.
    pub fn mend(&mut self, cable: usize) {
        self.cut.remove(&cable);
    }

    /// Switches a node off.
    pub fn power_off(&mut self, node: NodeId) {
        self.off.insert(node);
        self.schedule(node);
    }

    /// Switches a node on again; a host starts anew.
    pub fn power_on(&mut self, node: NodeId) {
        if self.off.remove(&node)
            && let Some(machine) = self.machines.get(&node)
        {
            let (own, first) = (machine.address(), machine.next_ticket());
            self.start(node, own, MapperStart::Soon, first);
        }
    }

    /// Runs until a time. `fate` decides what becomes of each packet.
    pub fn run(&mut self, until: u64, fate: &mut impl FnMut(Vec<u8>) -> PacketCopies) {
        let mut effects = Vec::new();
        loop {
            let tick = self.due.first().copied();
            let packet = self.flying.keys().next().copied();
            let next = [tick.map(|(at, _)| at), packet.map(|(at, _)| at)];
            let Some(at) = next.into_iter().flatten().min().filter(|at| *at < until) else { break };
            self.now = at;
            let host = match (packet.filter(|(time, _)| *time == at), tick) {
                (Some(key), _) => {
                    let Some((host, payload)) = self.flying.remove(&key) else { continue };
                    if self.off.contains(&host) {
                        continue;
                    }
                    let machine = self.machines.get_mut(&host);
                    machine.into_iter().for_each(|it| it.on_packet(at, &payload, &mut effects));
                    host
                }
                (None, Some((_, host))) => {
                    let machine = self.machines.get_mut(&host);
                    machine.into_iter().for_each(|it| it.on_tick(at, &mut effects));
                    host
                }
                (None, None) => break,
            };
            effects.drain(..).for_each(|effect| self.apply(host, effect, fate));
            self.schedule(host);
        }
        self.now = until;
    }

    fn apply(
        &mut self,
        host: NodeId,
        effect: MappingEffect,
        fate: &mut impl FnMut(Vec<u8>) -> PacketCopies,
    ) {
        match effect {
            MappingEffect::Send { route, payload } => {
                self.sent += 1;
                let Some((to, hops)) = self.end(host, &route) else { return };
                for (later, payload) in fate(payload) {
                    let at = self.now + (hops + 1) * HOP + payload.len() as u64 + later;
                    let number = self.flying.keys().next_back().map_or(0, |(_, number)| *number);
                    let number = number.max(self.sent << 8) + 1;
                    self.flying.insert((at, number), (to, payload));
                }
            }
            MappingEffect::Install(routes) => drop(self.routes.insert(host, routes)),
            MappingEffect::Noted(notice) => self.notices.push((self.now, host, notice)),
        }
    }

    /// The host at the end of a route, and the number of hops; none if it leads to no host. S-1
    #[must_use]
    pub fn end(&self, from: NodeId, route: &[u8]) -> Option<(NodeId, u64)> {
        let mut at = NodePort { node: from, port: PortId(0) };
        let (mut bytes, mut hops) = (route.iter(), 0);
        loop {
            let input = self.peer(at)?;
            hops += 1;
            let byte = bytes.next();
            match (self.topology.node(input.node)?.kind, byte) {
                (NodeKind::Host, None) => return Some((input.node, hops)),
                (NodeKind::Host, Some(_)) | (NodeKind::Switch(_), None) => return None,
                (NodeKind::Switch(switch), Some(byte)) => {
                    let port = switch.addressing.select(*byte, input.port, switch.ports).ok()?;
                    at = NodePort { node: input.node, port };
                }
            }
        }
    }

    /// The port at the other end of a cable that is not cut, between nodes with power.
    #[must_use]
    pub fn peer(&self, port: NodePort) -> Option<NodePort> {
        let other = self.topology.peer(port)?;
        let cable = self.topology.cable_index(port)?;
        let dead = self.cut.contains(&cable)
            || [port, other].iter().any(|end| self.off.contains(&end.node));
        (!dead).then_some(other)
    }

    /// Notices since the last call.
    pub fn take_notices(&mut self) -> Vec<(u64, NodeId, MappingNotice)> {
        std::mem::take(&mut self.notices)
    }

    /// The machine of a host with power.
    #[must_use]
    pub fn machine(&self, host: NodeId) -> Option<&NetworkMapper> {
        self.machines.get(&host).filter(|_| !self.off.contains(&host))
    }

    /// The routes that a host uses.
    #[must_use]
    pub fn routes(&self, host: NodeId) -> Option<&MappedRoutes> {
        self.routes.get(&host)
    }

    /// All nodes that can be reached from one, itself included.
    #[must_use]
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
                    let address = self.machines.get(real).map(NetworkMapper::address);
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
