//! Construction of a network from a scenario. N-1

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, WireMeasurement};
use codec::mapping::{InterfaceAddress, InterfaceRole};
use codec::route::PortId;
use codec::time::CharacterPeriod;
use codec::wires::FS_PER_PS;

use super::sleep::PortSleep;
use super::{Network, NodePart, SharedHost, VisitOrder};
use crate::arena::UnitId;
use crate::clock::NodeClock;
use crate::interface::{AddressTable, HostInterface, InterfaceParameters, MemoryLayout};
use crate::ip::IpStack;
use crate::link::shared_line::PassageMode;
use crate::link::wire::ChannelWire;
use crate::link::{FillMode, FramingMode, LinkParameters, ResetEnding};
use crate::node::virtual_channel;
use crate::port::{DataSink, PortUnit, TapWindows};
use crate::recorder::CaptureRecorder;
use crate::rng::Rng;
use crate::scenario::{Scenario, word_of};
use crate::switch::{Switch, SwitchInputState};
use crate::topology::{
    CableSpec, ForwardingMode, NodeId, NodeKind, NodePort, SwitchParameters, SwitchRole, Topology,
};
use crate::truth::TraceLevel;
use crate::wires::line::DisturbedLine;
use crate::wires::{CableEnds, CableFlow, CableWires};

const ENDPOINT_STREAM: u64 = 5 << 32;
const ORDER_STREAM: u64 = 3 << 32;
const JITTER_STREAM: u64 = 8 << 32;
const ADDRESS_STREAM: u64 = 9 << 32;
const IP_STREAM: u64 = 10 << 32;

/// High half of all addresses: the one of Myricom in Ethernet addresses. *Chosen*
const ADDRESSES: u64 = 0x0060_dd00_0000;

impl Network {
    pub(super) fn build_nodes(&mut self, scenario: &Scenario, order: VisitOrder) {
        let addresses = addresses(scenario);
        let mut children = multicasts(scenario);
        let nodes: Vec<_> = (0..).map(NodeId).zip(scenario.topology.nodes()).collect();
        for (id, node) in arranged(nodes, order, 0) {
            let part = match node.kind {
                NodeKind::Switch(SwitchParameters { role: SwitchRole::Router, .. }) => {
                    NodePart::Router(self.build_router(scenario, id, &addresses))
                }
                NodeKind::Switch(parameters) => {
                    let channels = scenario.topology.virtual_channels(id);
                    NodePart::Switch(self.switches.push(Switch::new(id, parameters, channels)))
                }
                NodeKind::Host => {
                    let mut parameters = parameters(scenario, id);
                    let layout = MemoryLayout::of(&parameters, scenario.messaging.get(&id));
                    parameters.send_memory = u32::try_from(layout.send).ok();
                    parameters.receive_memory = u32::try_from(layout.receive).ok();
                    let children = children.remove(&id).unwrap_or_default();
                    let interface = interface(scenario, id, parameters, &addresses, children);
                    NodePart::Host(self.add_host(interface, parameters.consumption))
                }
            };
            self.index.nodes.insert(id, part);
        }
        self.build_shares(scenario);
    }

    /// Joins the interfaces of a host, whose nodes follow each other. I-7
    fn build_shares(&mut self, scenario: &Scenario) {
        let mut last = None;
        for (id, InterfaceParameters { place, .. }) in &scenario.interfaces {
            let Some(host) = self.index.host(*id).filter(|_| place.count > 1) else { continue };
            let before = last.filter(|_| place.index > 0);
            let share = before.unwrap_or_else(|| self.shares.push(SharedHost::default()));
            self.shares[share].members.push(host);
            self.hosts[host].share = Some(share);
            last = Some(share);
        }
    }

    pub(super) fn build_circuits(
        &mut self,
        scenario: &Scenario,
        level: TraceLevel,
        order: VisitOrder,
    ) {
        let cables = &scenario.topology;
        let ends = cables.cables().iter().flat_map(|CableSpec { ends: [one, other], link }| {
            [(*one, *other, *link), (*other, *one, link.turned())]
        });
        let ends = arranged(ends.collect(), order, 1);
        // One after the other in memory, as the stepper goes through them.
        let ends = ends.into_iter().flat_map(|(port, peer, link)| {
            cables.virtual_ports(port).map(move |port| (port, peer, link))
        });
        let mut peers = Vec::new();
        for (port, peer, link) in ends {
            self.wires.push(wire(scenario.seed, peer, &link));
            let unit = self.sleep.push(PortSleep::default());
            let sink = self.sink(port, unit);
            let first = UnitId(unit.0 - u32::from(virtual_channel(port.port)));
            let mut part = PortUnit::new(port, &link, sink, level);
            part.first = first;
            self.units.push(part);
            self.index.units.insert(port, unit);
            peers.push(peer);
        }
        for (unit, peer) in self.units.iter_mut().zip(peers) {
            unit.peer = self.index.cabled(peer);
        }
    }

    /// Places a port; returns the destination of the data it receives.
    fn sink(&mut self, port: NodePort, unit: UnitId) -> DataSink {
        let host = match self.index.node(port.node) {
            NodePart::Host(host) => host,
            NodePart::Router([network, _]) if port.whole().port == PortId(0) => network,
            NodePart::Router([_, fibre]) => fibre,
            NodePart::Switch(switch) => {
                self.switches[switch].cable(port.port, unit);
                return DataSink::Switch(switch, SwitchInputState::Empty);
            }
        };
        self.hosts[host].unit.get_or_insert(unit);
        DataSink::Host(host)
    }

    pub(super) fn build_taps(&mut self, scenario: &Scenario, level: TraceLevel) {
        let topology = &scenario.topology;
        let mut traced = Vec::new();
        for tap in &scenario.taps {
            let (Some(link), Some(peer)) = (topology.link(tap.port), topology.peer(tap.port))
            else {
                continue;
            };
            let [from, to] = [tap.from, tap.to].map(|at| self.tick_at(tap.port.node, at));
            let window = from..to;
            let Some(unit) = self.index.unit(tap.port) else { continue };
            let unit = &mut self.units[unit];
            if let Some(tapped) = &mut unit.tapped {
                tapped.windows.push(window);
                continue;
            }
            // A scenario's limits keep all numbers far below 2³².
            let first = u32::try_from(self.channels.len()).unwrap_or(u32::MAX);
            // Readers apply the commands of one instant in the order of channels: so what is heard
            // comes first where it is heard before the next character is sent.
            let heard_first = link.delay.0 % u64::from(link.ports[1].divisor.get()) == 0;
            let [incoming, outgoing] = if heard_first { [0, 1] } else { [1, 0] }.map(|n| first + n);
            if level == TraceLevel::Everything {
                traced.extend([tap.port, peer]);
            }
            unit.tapped = Some(Box::new(TapWindows { outgoing, incoming, windows: vec![window] }));
            self.record_lag = self.record_lag.max(unit.clock.slowest());
            let mut ends = [(tap.port, incoming), (peer, outgoing)];
            ends.sort_by_key(|(_, opposite)| std::cmp::Reverse(*opposite));
            for (from, opposite) in ends {
                let tap = Some(topology.port_name(tap.port));
                let clock = self.clock_period(from.node);
                let Some(mut channel) = channel(topology, from, clock) else { continue };
                if from == peer {
                    measure(&mut channel, &link.wires, scenario.seed, from);
                }
                self.channels.push(Channel { peer: Some(opposite), tap, ..channel });
            }
        }
        for port in traced.into_iter().flat_map(|port| topology.virtual_ports(port)) {
            if let Some(unit) = self.index.unit(port) {
                self.units[unit].fill_trace = Some(Box::default());
            }
        }
        if self.clocks.is_some() {
            self.record_lag += 2;
        }
        let periods = self.channels.iter().map(|channel| channel.period).collect();
        self.recorder = CaptureRecorder::new(periods);
    }
}

fn wire(seed: u64, from: NodePort, link: &LinkParameters) -> ChannelWire {
    let [_, sender] = link.ports;
    let mut wire = ChannelWire::new(link.delay, sender.divisor);
    if link.wires.is_uneven() {
        let period = CharacterPeriod::FULL_RATE.times(sender.divisor);
        let delays = link.wires.delays(seed, from);
        let rng =
            Rng::new(seed, JITTER_STREAM | u64::from(from.node.0) << 8 | u64::from(from.port.0));
        wire.set_line(DisturbedLine::new(&link.wires, &delays, period.fs(), &rng));
    }
    match link.wires.ends {
        CableEnds::Mirrored => {}
        CableEnds::Straight => drop(wire.cut()),
    }
    wire
}

/// Describes the longest character that may arrive, to within what depends on chance and on the
/// direction of edges. W-4
fn measure(channel: &mut Channel, wires: &CableWires, seed: u64, from: NodePort) {
    if wires.is_uneven() {
        let spread_fs = u64::from(wires.spread_ps(seed, from)) * FS_PER_PS;
        let skew = Some((spread_fs.min(channel.period.fs()), None));
        let varies_fs = u64::from(wires.polarity_ps + wires.jitter_ps) * FS_PER_PS;
        let sample_fs = Some(varies_fs.min(channel.period.fs()));
        WireMeasurement { skew, sample_fs, ..WireMeasurement::of(channel) }.describe(channel);
    }
}

/// The period of a node's clock. W-6
pub(super) fn clock_of(scenario: &Scenario, id: NodeId) -> CharacterPeriod {
    let clock = match scenario.topology.node(id).map(|node| node.kind) {
        Some(NodeKind::Switch(switch)) => switch.clock,
        Some(NodeKind::Host) => parameters(scenario, id).clock,
        None => NodeClock::EXACT,
    };
    clock.period(scenario.seed, id)
}

fn parameters(scenario: &Scenario, host: NodeId) -> InterfaceParameters {
    let found = scenario.interfaces.iter().find(|(node, _)| *node == host);
    found.map(|(_, parameters)| *parameters).unwrap_or_default()
}

/// Addresses of all hosts and routers: the given ones, and different ones that follow from the seed. N-3
/// *Chosen*
fn addresses(scenario: &Scenario) -> AddressTable {
    let mut table = scenario.mapping.as_ref().map_or_else(BTreeMap::new, |it| it.addresses.clone());
    let mut used: BTreeSet<InterfaceAddress> = table.values().copied().collect();
    for host in scenario.topology.hosts().chain(scenario.topology.routers()) {
        let mut rng = Rng::new(scenario.seed, ADDRESS_STREAM | u64::from(host.0));
        let addresses = std::iter::repeat_with(|| {
            InterfaceAddress::new(ADDRESSES | rng.next_u64() & 0xff_ffff)
        });
        let free = addresses.flatten().find(|address| !used.contains(address));
        if let (Some(address), Entry::Vacant(own)) = (free, table.entry(host)) {
            used.insert(*own.insert(address));
        }
    }
    table.into()
}

/// Next interfaces of the multicasts that each host sends or receives, by their roots. N-6
fn multicasts(scenario: &Scenario) -> BTreeMap<NodeId, BTreeMap<NodeId, Vec<NodeId>>> {
    let mut children = BTreeMap::<NodeId, BTreeMap<NodeId, Vec<NodeId>>>::new();
    for stream in &scenario.streams {
        for (from, to) in stream.tree() {
            children.entry(from).or_default().entry(stream.from).or_default().push(to);
            children.entry(to).or_default().entry(stream.from).or_default();
        }
    }
    children
}

fn interface(
    scenario: &Scenario,
    host: NodeId,
    parameters: InterfaceParameters,
    addresses: &AddressTable,
    children: BTreeMap<NodeId, Vec<NodeId>>,
) -> HostInterface {
    let routes = scenario.topology.hosts().filter_map(|to| {
        let bytes = match scenario.mapping {
            Some(_) if to != host => &[],
            Some(_) | None => scenario.routes.get(host, to)?,
        };
        Some((to, bytes.to_vec()))
    });
    let (streams, rng) = scenario.host_streams(host);
    let raw = scenario.raw.iter().filter(|raw| raw.from == host).cloned();
    let interface =
        HostInterface::new(host, parameters, rng, routes.collect(), streams, raw.collect());
    let interface = interface.with_multicasts(children);
    let rng = Rng::new(scenario.seed, IP_STREAM | u64::from(host.0));
    let over_ip = scenario.streams.iter().filter(|stream| stream.protocol.is_some()).enumerate();
    let interface = interface.with_ip(IpStack::new(host, parameters.mtu, over_ip, rng));
    let replayed = scenario.replays.iter().flat_map(|replay| &replay.packets);
    let mut replayed: Vec<_> = replayed.filter(|packet| packet.from == host).cloned().collect();
    replayed.sort_by_key(|packet| packet.at);
    let interface = interface.with_replay(replayed);
    let interface = match scenario.messaging.get(&host) {
        Some(plan) => {
            let seed = Rng::new(scenario.seed, ENDPOINT_STREAM | u64::from(host.0)).next_u64();
            interface.with_endpoints(plan, seed)
        }
        None => interface,
    };
    let Some(plan) = &scenario.mapping else { return interface };
    let how = plan.machine_of(host, &scenario.topology);
    let interface = interface.with_mapping(addresses, InterfaceRole::Host, how);
    let is_routed = scenario.topology.routers().next().is_some();
    if is_routed { interface.with_internetwork(addresses) } else { interface }
}

fn arranged<T>(mut parts: Vec<T>, order: VisitOrder, what: u64) -> Vec<T> {
    match order {
        VisitOrder::AsGiven => {}
        VisitOrder::Shuffled(seed) => {
            let mut rng = Rng::new(seed, ORDER_STREAM | what);
            for last in (1..parts.len()).rev() {
                let other = rng.below(last as u64 + 1);
                parts.swap(last, usize::try_from(other).unwrap_or(last));
            }
        }
    }
    parts
}

/// The channel that a port sends on, and the parameters that govern it: those of a sender from its
/// own end, those of a receiver from the far end. F-1, F-3, F-4, F-8, R-1, S-6
fn channel(topology: &Topology, from: NodePort, clock: CharacterPeriod) -> Option<Channel> {
    let to = topology.peer(from)?;
    let link = topology.link(from)?;
    let LinkParameters { delay, ports: [sender, receiver], wires } = link;
    let path = match topology.node(to.node)?.kind {
        NodeKind::Switch(switch) => match switch.opposite(to.port) {
            None => path(topology, to.node).map(|path| ("path", path.to_string())),
            Some(_) => {
                let key = if topology.is_router(to.node) { "router" } else { "fibre" };
                Some((key, name_behind(topology, NodePort { port: PortId(1), ..to })?))
            }
        },
        NodeKind::Host => None,
    };
    let flow = [
        ("kg", receiver.slack.go_slack.to_string()),
        ("h", receiver.slack.hysteresis.to_string()),
        ("ks", receiver.slack.stop_slack.to_string()),
        ("delay", delay.0.to_string()),
        ("gen", receiver.generation.to_string()),
        ("int", sender.interpretation.to_string()),
        ("reset", word_of(&ResetEnding::WORDS, sender.reset).to_owned()),
        ("fill", word_of(&FillMode::WORDS, sender.fill).to_owned()),
        ("framing", word_of(&FramingMode::WORDS, sender.framing).to_owned()),
    ];
    // What a cable does not have is not declared, so that nothing is judged by it. B-1, C-7
    let words = match (wires.flow, link.shared().and_then(|codes| codes.profile())) {
        (CableFlow::StopGo, None) => flow.to_vec(),
        (CableFlow::StopGo, Some(profile)) => {
            let passage = ("passage", word_of(&PassageMode::WORDS, sender.passage).to_owned());
            let shared = flow.into_iter().filter(|(key, _)| !["gen", "fill"].contains(key));
            shared.chain([("profile", profile.to_string()), passage]).collect()
        }
        (CableFlow::Handshake, _) => {
            vec![("link", "handshake".to_owned()), ("delay", delay.0.to_string())]
        }
    };
    // A simulation begins with the power-up of all its nodes. P-7
    let words = words.into_iter().chain(path).chain([("start", "power-up".to_owned())]);
    Some(Channel {
        period: clock.times(sender.divisor),
        more: words.map(|(key, value)| (key.to_owned(), value)).collect(),
        comments: Vec::new(),
        ..Channel::named(format!("{}>{}", topology.port_name(from), topology.port_name(to)))
    })
}

/// The node at the far end of a port's cable.
fn name_behind(topology: &Topology, port: NodePort) -> Option<String> {
    Some(topology.node(topology.peer(port)?.node)?.name.clone())
}

/// The bound of path formation in a node, if it has one: a switch that forwards at once, without
/// handshake cables or virtual channels, whose characters wait for each other. S-6, B-1, B-2, C-7
fn path(topology: &Topology, node: NodeId) -> Option<u64> {
    let NodeKind::Switch(switch) = topology.node(node)?.kind else { return None };
    let mut links = topology.ports(node).filter_map(|port| topology.link(port));
    let bounded = switch.forwarding == ForwardingMode::CutThrough
        && links.all(|link| link.wires.flow == CableFlow::StopGo && link.shared().is_none());
    bounded.then(|| switch.path())
}
