//! A network for mapping machines without characters: packets follow their route bytes over a
//! topology, each hop takes the same time, and nothing waits for anything.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use codec::mapping::InterfaceAddress;
use simulator::mapping::{
    MapperParameters, MapperStart, MappingEffect, MappingNotice, NetworkMapper,
};
use simulator::topology::{NodeId, Topology};

use super::mapped_network::MappedNetwork;

/// Time of a hop, in periods: a switch and a cable of some metres.
const HOP: u64 = 50;

/// Copies of a packet that arrive: the extra delay and the bytes of each. None if it is lost.
pub type PacketCopies = Vec<(u64, Vec<u8>)>;

/// Machines at the hosts of a topology, and what is under way between them.
#[derive(Debug)]
pub struct MappingWorld<'a> {
    pub network: MappedNetwork<'a>,
    parameters: MapperParameters,
    now: u64,
    due: BTreeSet<(u64, NodeId)>,
    due_of: BTreeMap<NodeId, u64>,
    /// Packets in flight by arrival and number.
    flying: BTreeMap<(u64, u64), (NodeId, Vec<u8>)>,
    sent: u64,
    notices: Vec<(u64, NodeId, MappingNotice)>,
}

impl<'a> MappingWorld<'a> {
    /// A network of machines that are started at time 0. `hosts` gives each its address and its
    /// beginning.
    pub fn new(
        topology: &'a Topology,
        parameters: MapperParameters,
        hosts: impl Fn(NodeId) -> (InterfaceAddress, MapperStart),
    ) -> Self {
        let mut world = Self {
            network: MappedNetwork::new(topology, parameters, hosts),
            parameters,
            now: 0,
            due: BTreeSet::new(),
            due_of: BTreeMap::new(),
            flying: BTreeMap::new(),
            sent: 0,
            notices: Vec::new(),
        };
        topology.hosts().for_each(|host| world.schedule(host));
        world
    }

    fn schedule(&mut self, host: NodeId) {
        let due = self.network.machine_mut(host).map(NetworkMapper::due);
        if let Some(before) = self.due_of.remove(&host) {
            self.due.remove(&(before, host));
        }
        if let Some(due) = due {
            let due = due.max(self.now);
            self.due.insert((due, host));
            self.due_of.insert(host, due);
        }
    }

    /// Time in periods.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Packets sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Switches a node off.
    pub fn power_off(&mut self, node: NodeId) {
        self.network.off.insert(node);
        self.schedule(node);
    }

    /// Switches a node on again; a host starts anew.
    pub fn power_on(&mut self, node: NodeId) {
        if self.network.off.remove(&node) {
            self.network.restart(node, (self.parameters, MapperStart::Soon), self.now);
            self.schedule(node);
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
                    let machine = self.network.machine_mut(host);
                    machine.into_iter().for_each(|it| it.on_packet(at, &payload, &mut effects));
                    host
                }
                (None, Some((_, host))) => {
                    let machine = self.network.machine_mut(host);
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
            MappingEffect::Send { route, mut payload } => {
                self.sent += 1;
                let Some((to, hops, answers)) = self.network.end(host, &route) else { return };
                payload.extend(answers);
                for (later, payload) in fate(payload) {
                    let at = self.now + (hops + 1) * HOP + payload.len() as u64 + later;
                    let number = self.flying.keys().next_back().map_or(0, |(_, number)| *number);
                    let number = number.max(self.sent << 8) + 1;
                    self.flying.insert((at, number), (to, payload));
                }
            }
            MappingEffect::Install(routes) => {
                self.network.routes.insert(host, Rc::new(routes));
            }
            MappingEffect::Noted(notice) => self.notices.push((self.now, host, notice)),
        }
    }

    /// A packet reaches a host that none of the machines has sent.
    pub fn forge(&mut self, to: NodeId, payload: Vec<u8>) {
        self.sent += 1;
        self.flying.insert((self.now, self.sent << 8), (to, payload));
    }

    /// Notices since the last call.
    pub fn take_notices(&mut self) -> Vec<(u64, NodeId, MappingNotice)> {
        std::mem::take(&mut self.notices)
    }
}
