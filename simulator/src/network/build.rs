//! Construction of a network from a scenario. N-1

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, WireMeasurement};
use codec::mapping::InterfaceAddress;
use codec::time::CharacterPeriod;
use codec::wires::FS_PER_PS;

use super::sleep::PortSleep;
use super::{HostUnit, Network, NodePart, VisitOrder};
use crate::clock::NodeClock;
use crate::interface::{AddressTable, HostInterface, InterfaceParameters};
use crate::link::wire::ChannelWire;
use crate::link::{FillMode, FramingMode, LinkParameters, ResetEnding};
use crate::mapping::MapperStart;
use crate::messaging::HostMessaging;
use crate::port::{DataSink, PortUnit, TapWindows};
use crate::recorder::CaptureRecorder;
use crate::rng::Rng;
use crate::scenario::{Scenario, word_of};
use crate::switch::{Switch, SwitchInputState};
use crate::topology::{CableSpec, NodeId, NodeKind, NodePort, Topology};
use crate::truth::TraceLevel;
use crate::wires::line::DisturbedLine;
use crate::wires::{CableEnds, CableWires};

/// Random streams of the parts.
const HOST_STREAM: u64 = 1 << 32;
const ENDPOINT_STREAM: u64 = 5 << 32;
const ORDER_STREAM: u64 = 3 << 32;
const JITTER_STREAM: u64 = 8 << 32;
const ADDRESS_STREAM: u64 = 9 << 32;

/// High half of all addresses: the one of Myricom in Ethernet addresses. *Chosen*
const ADDRESSES: u64 = 0x0060_dd00_0000;

impl Network {
    pub(super) fn build_nodes(&mut self, scenario: &Scenario, order: VisitOrder) {
        let addresses = addresses(scenario);
        let nodes: Vec<_> = (0..).map(NodeId).zip(scenario.topology.nodes()).collect();
        for (id, node) in arranged(nodes, order, 0) {
            let part = match node.kind {
                NodeKind::Switch(parameters) => {
                    self.switches.push(Switch::new(id, parameters));
                    NodePart::Switch(number(self.switches.len() - 1))
                }
                NodeKind::Host => {
                    let parameters = parameters(scenario, id);
                    self.hosts.push(HostUnit {
                        unit: None,
                        interface: interface(scenario, id, parameters, &addresses),
                        consumption: parameters.consumption,
                        scheduled: 0,
                    });
                    NodePart::Host(number(self.hosts.len() - 1))
                }
            };
            self.index.nodes.insert(id, part);
        }
    }

    pub(super) fn build_circuits(
        &mut self,
        scenario: &Scenario,
        level: TraceLevel,
        order: VisitOrder,
    ) {
        let cables = scenario.topology.cables();
        let ends = cables.iter().flat_map(|CableSpec { ends: [one, other], link }| {
            [(*one, *other, *link), (*other, *one, link.turned())]
        });
        let ends = arranged(ends.collect(), order, 1);
        // One after the other in memory, as the stepper goes through them.
        let wire = |(_, from, link): &(_, NodePort, _)| wire(scenario.seed, *from, link);
        self.wires.extend(ends.iter().map(wire));
        let mut peers = Vec::new();
        for (port, peer, link) in ends {
            let unit = number(self.units.len());
            // Every cable ends at a node.
            let Some(sink) = self.sink(port, unit) else { continue };
            self.units.push(PortUnit::new(port, &link, sink, level));
            self.sleep.push(PortSleep::default());
            self.index.units.insert(port, unit);
            peers.push(peer);
        }
        for (unit, peer) in self.units.iter_mut().zip(peers) {
            unit.peer = self.index.units.get(&peer).copied().unwrap_or_default();
        }
    }

    /// Places a port; returns the destination of the data it receives.
    fn sink(&mut self, port: NodePort, unit: u32) -> Option<DataSink> {
        match *self.index.nodes.get(&port.node)? {
            NodePart::Host(host) => {
                self.hosts.get_mut(host as usize)?.unit = Some(unit);
                Some(DataSink::Host(host))
            }
            NodePart::Switch(switch) => {
                self.switches.get_mut(switch as usize)?.cable(port.port, unit);
                Some(DataSink::Switch(switch, SwitchInputState::Empty))
            }
        }
    }

    pub(super) fn build_taps(&mut self, scenario: &Scenario, level: TraceLevel) {
        let topology = &scenario.topology;
        let mut peers = Vec::new();
        for tap in &scenario.taps {
            let (Some(link), Some(peer)) = (topology.link(tap.port), topology.peer(tap.port))
            else {
                continue;
            };
            let [from, to] = [tap.from, tap.to].map(|at| self.tick_at(tap.port.node, at));
            let window = from..to;
            let Some(unit) = self.index.units.get(&tap.port) else { continue };
            let Some(unit) = self.units.get_mut(*unit as usize) else { continue };
            if let Some(tapped) = &mut unit.tapped {
                tapped.windows.push(window);
                continue;
            }
            let first = number(self.channels.len());
            // Readers apply the commands of one instant in the order of channels: so what is heard
            // comes first where it is heard before the next character is sent.
            let heard_first = link.delay.0 % u64::from(link.ports[1].divisor.get()) == 0;
            let [incoming, outgoing] = if heard_first { [0, 1] } else { [1, 0] }.map(|n| first + n);
            if level == TraceLevel::Everything {
                unit.fill_trace = Some(Box::default());
                peers.push(unit.peer);
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
        for peer in peers {
            let far = self.units.get_mut(peer as usize);
            far.into_iter().for_each(|far| far.fill_trace = Some(Box::default()));
        }
        if self.clocks.is_some() {
            self.record_lag += 2;
        }
        let periods = self.channels.iter().map(|channel| channel.period).collect();
        self.recorder = CaptureRecorder::new(periods);
    }
}

/// The wire of the channel from a port.
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

/// Addresses of all hosts: the given ones, and different ones that follow from the seed. N-3
/// *Chosen*
fn addresses(scenario: &Scenario) -> AddressTable {
    let mut table = scenario.mapping.as_ref().map_or_else(BTreeMap::new, |it| it.addresses.clone());
    let mut used: BTreeSet<InterfaceAddress> = table.values().copied().collect();
    for host in scenario.topology.hosts() {
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

fn interface(
    scenario: &Scenario,
    host: NodeId,
    parameters: InterfaceParameters,
    addresses: &AddressTable,
) -> HostInterface {
    let routes = scenario.topology.hosts().filter_map(|to| {
        let bytes = match scenario.mapping {
            Some(_) if to != host => &[],
            Some(_) | None => scenario.routes.get(host, to)?,
        };
        Some((to, bytes.to_vec()))
    });
    let streams = scenario.streams.iter().filter(|stream| stream.from == host).cloned();
    let raw = scenario.raw.iter().filter(|raw| raw.from == host).cloned();
    let rng = Rng::new(scenario.seed, HOST_STREAM | u64::from(host.0));
    let interface = HostInterface::new(
        host,
        parameters,
        rng,
        routes.collect(),
        streams.collect(),
        raw.collect(),
    );
    let interface = match scenario.messaging.get(&host) {
        Some(plan) => {
            let seed = Rng::new(scenario.seed, ENDPOINT_STREAM | u64::from(host.0)).next_u64();
            interface.with_endpoints(HostMessaging::new(plan.clone(), seed))
        }
        None => interface,
    };
    let Some(plan) = &scenario.mapping else { return interface };
    let start = match plan.who {
        Some(who) if who == host => MapperStart::AtOnce,
        Some(_) => MapperStart::Patient,
        None => MapperStart::Soon,
    };
    interface.with_mapping(addresses, plan.parameters, start)
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
    let LinkParameters { delay, ports: [sender, receiver], .. } = topology.link(from)?;
    let path = match topology.node(to.node)?.kind {
        NodeKind::Switch(switch) => Some(("path", switch.path().to_string())),
        NodeKind::Host => None,
    };
    let words = [
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
    // A simulation begins with the power-up of all its nodes. P-7
    let words = words.into_iter().chain(path).chain([("start", "power-up".to_owned())]);
    Some(Channel {
        period: clock.times(sender.divisor),
        more: words.map(|(key, value)| (key.to_owned(), value)).collect(),
        comments: Vec::new(),
        ..Channel::named(format!("{}>{}", topology.port_name(from), topology.port_name(to)))
    })
}

/// Converts an index; a scenario's limits keep all of them far below 2³².
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
