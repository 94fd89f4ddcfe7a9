//! The election of a mapper and the installation of its map, as states of the real machines of a
//! few interfaces, and what can happen in each. N-2, N-4
//!
//! Packets arrive in the order in which they are sent, and before time passes; each may be lost,
//! doubled or held up. All clocks are at 0 in every state: what came before lies behind it.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use codec::mapping::{InterfaceAddress, MappingAnswer, MappingPacket, ProbeTicket, RequestHeader};
use codec::route::{PortId, RouteAddressing};
use simulator::link::LinkParameters;
use simulator::mapping::{
    MapperDesign, MapperParameters, MapperStart, MappingEffect, NetworkMapper, SwitchSearch,
};
use simulator::topology::{
    CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology,
};

use super::mapped_network::MappedNetwork;

/// Ticket of a packet whose request has been answered or given up: nothing depends on its number.
const STALE: ProbeTicket = ProbeTicket(u32::MAX);

/// A network, its machines, and bounds of what goes wrong.
#[derive(Clone, Debug)]
pub struct ElectionPlan {
    pub topology: Topology,
    pub parameters: MapperParameters,
    /// Most faults on the way to a state.
    pub faults: u8,
    /// Most packets held up at once.
    pub held: usize,
}

/// A packet under way to a host.
pub(super) type PacketFlight = (NodeId, Vec<u8>);

#[derive(Clone, Debug)]
pub(super) struct ElectionState<'a> {
    pub(super) network: MappedNetwork<'a>,
    pub(super) path: VecDeque<Rc<PacketFlight>>,
    pub(super) held: BTreeSet<Rc<PacketFlight>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElectionAction {
    /// The next packet arrives; where there is none, time passes until something is due.
    GoOn,
    /// A packet that was held up arrives.
    Arrive(Rc<PacketFlight>),
    Fault(ElectionFault),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElectionFault {
    /// The next packet is lost.
    Lose,
    /// The next packet arrives, and another copy is held up.
    Double,
    /// The next packet is held up.
    Hold,
    /// The clock of an interface runs ahead to what is due next.
    Hurry(NodeId),
    Restart(NodeId),
    /// A cable is cut, or mended if it is cut.
    Cable(usize),
}

impl ElectionPlan {
    /// Two interfaces at the ends of a cable, or more at a switch. Faults, and packets held up.
    pub fn new(design: MapperDesign, hosts: u8, [faults, held]: [u8; 2]) -> Option<Self> {
        let node = |name, kind| NodeSpec { name, kind };
        let mut nodes: Vec<NodeSpec> =
            (0..hosts).map(|host| node(format!("h{host}"), NodeKind::Host)).collect();
        let end = |node: u8, port| NodePort { node: NodeId(node.into()), port: PortId(port) };
        let mut ends = vec![[end(0, 0), end(1, 0)]];
        if hosts > 2 {
            let switch = SwitchParameters::new(hosts, RouteAddressing::Relative);
            nodes.push(node("s".to_owned(), NodeKind::Switch(switch)));
            ends = (0..hosts).map(|host| [end(host, 0), end(hosts, host)]).collect();
        }
        let cable = |ends| CableSpec { ends, link: LinkParameters::default() };
        let topology = Topology::new(nodes, ends.into_iter().map(cable).collect()).ok()?;
        let switches = SwitchSearch::Turned;
        let parameters = MapperParameters { design, period: 16, timeout: 1, tries: 1, switches };
        Some(Self { topology, parameters, faults, held: held.into() })
    }
}

impl<'a> ElectionState<'a> {
    pub(super) fn new(plan: &'a ElectionPlan) -> Option<Self> {
        let address = |host: NodeId| InterfaceAddress::new(1 + u64::from(host.0));
        let first = InterfaceAddress::new(1)?;
        let network = MappedNetwork::new(&plan.topology, plan.parameters, |host| {
            (address(host).unwrap_or(first), MapperStart::Soon)
        });
        Some(Self { network, path: VecDeque::new(), held: BTreeSet::new() })
    }

    /// All that can happen now: going on, arrivals and faults.
    pub(super) fn actions(&self, plan: &ElectionPlan) -> Vec<ElectionAction> {
        use ElectionFault::{Cable, Double, Hold, Hurry, Lose, Restart};
        let hosts: Vec<NodeId> = plan.topology.hosts().collect();
        let mut faults: Vec<ElectionFault> = hosts.iter().map(|host| Hurry(*host)).collect();
        faults.extend(hosts.iter().map(|host| Restart(*host)));
        faults.extend((0..plan.topology.cables().len()).map(Cable));
        if !self.path.is_empty() {
            faults.push(Lose);
            faults.extend(
                (self.held.len() < plan.held).then_some([Double, Hold]).into_iter().flatten(),
            );
        }
        let held = self.held.iter().cloned().map(ElectionAction::Arrive);
        let faults = faults.into_iter().map(ElectionAction::Fault);
        std::iter::once(ElectionAction::GoOn).chain(held).chain(faults).collect()
    }

    /// The state after an action, and the time that passes.
    pub(super) fn after(&self, action: &ElectionAction, plan: &ElectionPlan) -> (Self, u64) {
        let (mut next, mut time) = (self.clone(), 0);
        match action {
            ElectionAction::GoOn => {
                // Nothing is held up for ever.
                if let Some(packet) = next.held.pop_first().or_else(|| next.path.pop_front()) {
                    next.arrive(&packet);
                } else {
                    time = next.pass();
                }
            }
            ElectionAction::Arrive(packet) => {
                next.held.remove(packet);
                next.arrive(packet);
            }
            ElectionAction::Fault(ElectionFault::Lose) => drop(next.path.pop_front()),
            ElectionAction::Fault(ElectionFault::Hold) => next.held.extend(next.path.pop_front()),
            ElectionAction::Fault(ElectionFault::Double) => {
                if let Some(packet) = next.path.pop_front() {
                    next.held.insert(Rc::clone(&packet));
                    next.arrive(&packet);
                }
            }
            ElectionAction::Fault(ElectionFault::Hurry(host)) => {
                let due = next.network.machine_mut(*host).map_or(0, NetworkMapper::due);
                next.step(*host, |machine, effects| {
                    machine.shift_back(due);
                    machine.on_tick(0, effects);
                });
            }
            ElectionAction::Fault(ElectionFault::Restart(host)) => {
                next.network.restart(*host, (plan.parameters, MapperStart::Patient), 0);
                next.step(*host, |_, _| ());
            }
            ElectionAction::Fault(ElectionFault::Cable(cable)) => {
                if !next.network.cut.remove(cable) {
                    next.network.cut.insert(*cable);
                }
            }
        }
        (next, time)
    }

    /// A packet reaches its host. A mapper that hears of a better one stops at once.
    fn arrive(&mut self, packet: &PacketFlight) {
        let (host, payload) = packet;
        let better = match MappingPacket::parse(payload) {
            Ok(MappingPacket::Request(header, _)) => Some(header.source),
            Ok(MappingPacket::Answer(answer)) => answer.mapper.filter(|_| answer.ticket != STALE),
            Ok(MappingPacket::Home(..) | MappingPacket::Resign { .. }) | Err(_) => None,
        };
        self.step(*host, |machine, effects| machine.on_packet(0, payload, effects));
        if let Some(machine) = self.network.machine(*host).filter(|machine| machine.is_mapper()) {
            let goes_on = better > Some(machine.address());
            assert!(!goes_on, "a mapper stops at once: {} goes on", machine.address());
        }
    }

    /// Time passes until something is due, which is done.
    fn pass(&mut self) -> u64 {
        let hosts: Vec<NodeId> = self.network.topology.hosts().collect();
        let machine =
            |it: &mut Self, host| it.network.machine_mut(host).map_or(0, NetworkMapper::due);
        let dues: Vec<(u64, NodeId)> =
            hosts.iter().map(|host| (machine(self, *host), *host)).collect();
        let Some((time, first)) = dues.into_iter().min() else { return 0 };
        for host in hosts {
            self.network.machine_mut(host).into_iter().for_each(|it| drop(it.shift_back(time)));
        }
        self.step(first, |machine, effects| machine.on_tick(0, effects));
        time
    }

    fn step(
        &mut self,
        host: NodeId,
        work: impl FnOnce(&mut NetworkMapper, &mut Vec<MappingEffect>),
    ) {
        let (mut effects, mut former) = (Vec::new(), Vec::new());
        if let Some(machine) = self.network.machine_mut(host) {
            work(machine, &mut effects);
            former = machine.shift_back(0);
        }
        for effect in effects {
            match effect {
                MappingEffect::Send { route, payload } => {
                    let end = self.network.end(host, &route);
                    self.path.extend(end.map(|(end, ..)| Rc::new((end, payload))));
                }
                MappingEffect::Install(routes) => {
                    self.network.routes.insert(host, Rc::new(routes));
                }
                MappingEffect::Noted(_) => {}
            }
        }
        self.renumber(host, &former);
    }

    /// Gives the requests of a host, and the answers to it, the tickets that are valid now.
    fn renumber(&mut self, host: NodeId, former: &[ProbeTicket]) {
        let own = self.network.machine(host).map(NetworkMapper::address);
        let renewed = |ticket: ProbeTicket| {
            let place = former.binary_search(&ticket).ok().and_then(|at| u32::try_from(at).ok());
            place.map_or(STALE, ProbeTicket)
        };
        let renew = |flight: Rc<PacketFlight>| {
            let mut payload = Vec::new();
            match MappingPacket::parse(&flight.1) {
                Ok(MappingPacket::Request(header, request)) if Some(header.source) == own => {
                    let header = RequestHeader { ticket: renewed(header.ticket), ..header };
                    MappingPacket::Request(header, request).emit(&mut payload);
                }
                Ok(MappingPacket::Home(kind, source, ticket)) if Some(source) == own => {
                    MappingPacket::Home(kind, source, renewed(ticket)).emit(&mut payload);
                }
                Ok(MappingPacket::Answer(answer)) if flight.0 == host => {
                    let answer = MappingAnswer { ticket: renewed(answer.ticket), ..answer };
                    MappingPacket::Answer(answer).emit(&mut payload);
                }
                Ok(_) | Err(_) => return flight,
            }
            if payload == flight.1 { flight } else { Rc::new((flight.0, payload)) }
        };
        self.path = std::mem::take(&mut self.path).into_iter().map(&renew).collect();
        self.held = std::mem::take(&mut self.held).into_iter().map(&renew).collect();
    }
}
