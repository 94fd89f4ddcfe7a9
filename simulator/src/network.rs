//! All parts of a network together, and how they are joined. N-1

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU64;

use codec::capture::{Channel, ChannelId, Chunk};
use codec::route::PortId;
use codec::time::FULL_RATE_PERIOD_PS;

use crate::active_set::ActiveSet;
use crate::extension::SwitchExtension;
use crate::faults::ScheduledFault;
use crate::interface::{ConsumptionMode, HostInterface, InterfaceParameters};
use crate::link::{FillMode, FramingMode, LinkParameters, ResetEnding};
use crate::messaging::HostMessaging;
use crate::port::{DataSink, PortCounters, PortLed, PortUnit, TapWindows};
use crate::recorder::CaptureRecorder;
use crate::rng::Rng;
use crate::scenario::{Scenario, word_of};
use crate::stepper::IdleDetector;
use crate::switch::{Switch, SwitchInputState};
use crate::topology::{CableSpec, NodeId, NodeKind, NodePort, Topology};
use crate::truth::{TraceContext, TraceLevel, TruthEvent, TruthLog};
use crate::wire::ChannelWire;

/// A network at work.
#[derive(Debug)]
pub struct Network {
    pub(crate) now: u64,
    pub(crate) circuits: Vec<PortUnit>,
    /// The channel that comes in at each circuit.
    pub(crate) wires: Vec<ChannelWire>,
    /// How far the channel that comes in at each circuit is at rest.
    pub(crate) idle: Vec<IdleDetector>,
    /// What is looked at.
    pub(crate) active: ActiveSet,
    /// The circuit at the other end of each one's cable.
    pub(crate) peers: Vec<u32>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) hosts: Vec<HostUnit>,
    pub(crate) index: PartIndex,
    pub(crate) faults: VecDeque<ScheduledFault>,
    pub(crate) log: TruthLog,
    pub(crate) recorder: CaptureRecorder,
    channels: Vec<Channel>,
    /// Periods of the full rate before which no character is yet to be recorded.
    record_lag: u64,
    /// Periods that nothing happened in.
    pub(crate) skipped: u64,
}

/// A host's interface, and the circuit of its port if there is a cable.
#[derive(Debug)]
pub(crate) struct HostUnit {
    pub(crate) circuit: Option<u32>,
    pub(crate) interface: HostInterface,
    /// How it consumes unless something is ordered.
    pub(crate) consumption: ConsumptionMode,
}

/// Where things stand.
#[derive(Debug, Default)]
pub(crate) struct PartIndex {
    /// The circuit of each port.
    pub(crate) circuits: BTreeMap<NodePort, u32>,
    /// Each node among the hosts or the switches.
    pub(crate) nodes: BTreeMap<NodeId, NodePart>,
}

/// A node among its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodePart {
    Host(u32),
    Switch(u32),
}

/// In which order parts are visited within a period. It must make no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VisitOrder {
    /// As the scenario has them.
    #[default]
    AsGiven,
    /// In an order drawn with this seed.
    Shuffled(u64),
}

/// Streams of dice, so that each part has its own.
const HOST_DICE: u64 = 1 << 32;
const ENDPOINT_DICE: u64 = 5 << 32;
const LAYOUT_DICE: u64 = 3 << 32;

impl Network {
    /// The network of a scenario, before its first period.
    #[must_use]
    pub fn new(scenario: &Scenario, wanted: TraceLevel, layout: VisitOrder) -> Self {
        let mut network = Self {
            now: 0,
            circuits: Vec::new(),
            wires: Vec::new(),
            idle: Vec::new(),
            active: ActiveSet::default(),
            peers: Vec::new(),
            switches: Vec::new(),
            hosts: Vec::new(),
            index: PartIndex::default(),
            faults: ScheduledFault::of(&scenario.faults, scenario.seed),
            log: TruthLog::new(wanted),
            recorder: CaptureRecorder::new(Vec::new()),
            channels: Vec::new(),
            record_lag: 0,
            skipped: 0,
        };
        network.build_nodes(scenario, layout);
        network.build_circuits(scenario, wanted, layout);
        network.build_taps(scenario, wanted);
        network.active = ActiveSet::all(network.circuits.len(), network.hosts.len());
        network
    }

    fn build_nodes(&mut self, scenario: &Scenario, layout: VisitOrder) {
        let nodes: Vec<_> = (0..).map(NodeId).zip(scenario.topology.nodes()).collect();
        for (id, node) in arranged(nodes, layout, 0) {
            let part = match node.kind {
                NodeKind::Switch(parameters) => {
                    self.switches.push(Switch::new(id, parameters));
                    NodePart::Switch(number(self.switches.len() - 1))
                }
                NodeKind::Host => {
                    let parameters = parameters(scenario, id);
                    self.hosts.push(HostUnit {
                        circuit: None,
                        interface: interface(scenario, id, parameters),
                        consumption: parameters.consumption,
                    });
                    NodePart::Host(number(self.hosts.len() - 1))
                }
            };
            self.index.nodes.insert(id, part);
        }
    }

    fn build_circuits(&mut self, scenario: &Scenario, wanted: TraceLevel, layout: VisitOrder) {
        let cables = scenario.topology.cables();
        let ends = cables.iter().flat_map(|CableSpec { ends: [one, other], link }| {
            [(*one, *other, *link), (*other, *one, link.turned())]
        });
        let ends = arranged(ends.collect(), layout, 1);
        // One after the other in memory, as the stepper goes through them.
        let wire = |link: &LinkParameters| ChannelWire::new(link.delay, link.ports[1].divisor);
        self.wires.extend(ends.iter().map(|(.., link)| wire(link)));
        let mut peers = Vec::new();
        for (port, peer, link) in ends {
            let circuit = number(self.circuits.len());
            // Every cable ends at a node.
            let Some(sink) = self.sink(port, circuit) else { continue };
            self.circuits.push(PortUnit::new(port, &link, sink, wanted));
            self.idle.push(IdleDetector::default());
            self.index.circuits.insert(port, circuit);
            peers.push(peer);
        }
        for (circuit, peer) in self.circuits.iter_mut().zip(peers) {
            circuit.peer = self.index.circuits.get(&peer).copied().unwrap_or_default();
            self.peers.push(circuit.peer);
        }
    }

    /// Puts a circuit at its port; what takes the data that it receives.
    fn sink(&mut self, port: NodePort, circuit: u32) -> Option<DataSink> {
        match *self.index.nodes.get(&port.node)? {
            NodePart::Host(host) => {
                self.hosts.get_mut(host as usize)?.circuit = Some(circuit);
                Some(DataSink::Host(host))
            }
            NodePart::Switch(switch) => {
                self.switches.get_mut(switch as usize)?.cable(port.port, circuit);
                Some(DataSink::Switch(switch, SwitchInputState::Empty))
            }
        }
    }

    fn build_taps(&mut self, scenario: &Scenario, wanted: TraceLevel) {
        let topology = &scenario.topology;
        let mut peers = Vec::new();
        for tap in &scenario.taps {
            let (Some(link), Some(peer)) = (topology.link(tap.port), topology.peer(tap.port))
            else {
                continue;
            };
            let Some(circuit) = self.index.circuits.get(&tap.port) else { continue };
            let Some(circuit) = self.circuits.get_mut(*circuit as usize) else { continue };
            let window = tap.from..tap.to;
            if let Some(tapped) = &mut circuit.tapped {
                tapped.windows.push(window);
                continue;
            }
            let first = number(self.channels.len());
            // Readers apply the commands of one instant in the order of channels: so what is heard
            // comes first where it is heard before the next character is sent.
            let heard_first = link.delay.0 % u64::from(link.ports[1].divisor.get()) == 0;
            let [incoming, outgoing] = if heard_first { [0, 1] } else { [1, 0] }.map(|n| first + n);
            if wanted == TraceLevel::Everything {
                circuit.fill_trace = Some(Box::default());
                peers.push(circuit.peer);
            }
            circuit.tapped =
                Some(Box::new(TapWindows { outgoing, incoming, windows: vec![window] }));
            self.record_lag = self.record_lag.max(circuit.clock.slowest());
            let mut ends = [(tap.port, incoming), (peer, outgoing)];
            ends.sort_by_key(|(_, opposite)| std::cmp::Reverse(*opposite));
            for (from, opposite) in ends {
                let tap = Some(topology.port_name(tap.port));
                let channel = channel(topology, from).map(|channel| Channel {
                    peer: Some(opposite),
                    tap,
                    ..channel
                });
                self.channels.extend(channel);
            }
        }
        for peer in peers {
            let far = self.circuits.get_mut(peer as usize);
            far.into_iter().for_each(|far| far.fill_trace = Some(Box::default()));
        }
        let periods = self.channels.iter().map(|channel| channel.period_ps.get()).collect();
        self.recorder = CaptureRecorder::new(periods);
    }

    /// The channels that are recorded, in the order of their numbers.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Periods of the full rate since time zero.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// The run ends: tells of what is unfinished.
    pub fn finish(&mut self) {
        self.account_for_idle();
        self.record_lag = 0;
        let Self { circuits, log, now, .. } = self;
        for circuit in circuits {
            let slot = *now / circuit.clock.divisor();
            let telling = &mut TraceContext { now: *now, slot, place: circuit.port, log };
            circuit.receiver.finish(telling);
            circuit.sender.finish(telling);
        }
    }

    /// Hands out what has happened since the last time, in order of time.
    pub fn drain_events(&mut self) -> impl Iterator<Item = TruthEvent> {
        self.log.drain()
    }

    /// Whether so much has been recorded that it should be handed out.
    #[must_use]
    pub const fn needs_flush(&self) -> bool {
        self.recorder.is_full()
    }

    /// Hands out what has been recorded since the last time, in the order of a capture file; after
    /// [`Network::finish`] all of it.
    ///
    /// # Errors
    /// Those of `out`, at once.
    pub fn flush_recorded<E>(
        &mut self,
        out: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.account_for_idle();
        // A slow link hears late in its period: what has its place there may still come.
        let moment = u128::from(self.now.saturating_sub(self.record_lag));
        self.recorder.flush_before(moment * u128::from(FULL_RATE_PERIOD_PS), out)
    }

    /// What has passed through a port, and its lamps. L
    #[must_use]
    pub fn port_state(&self, port: NodePort) -> Option<(PortCounters, PortLed)> {
        let circuit = self.circuits.get(*self.index.circuits.get(&port)? as usize)?;
        let mut passed = circuit.counters();
        let rest = self.idle.get(circuit.peer as usize)?;
        passed.stopped += rest.stopped(&circuit.clock, self.now);
        Some((passed, circuit.led()))
    }

    /// The interface of a host.
    #[must_use]
    pub fn interface(&self, host: NodeId) -> Option<&HostInterface> {
        match self.index.nodes.get(&host)? {
            NodePart::Host(host) => self.hosts.get(*host as usize).map(|host| &host.interface),
            NodePart::Switch(_) => None,
        }
    }

    /// Packets whose first byte is on a wire, in a slack buffer, in a switch, or in an interface that
    /// has not taken in the last.
    #[must_use]
    pub fn in_transit(&self) -> usize {
        let wires: usize = self.wires.iter().map(ChannelWire::heads).sum();
        let circuits = self.circuits.iter().map(|circuit| {
            let transit = match &circuit.sink {
                DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                    transit.head().iter().count()
                }
                DataSink::Switch(..) | DataSink::Host(_) => 0,
            };
            circuit.receiver.heads() + transit
        });
        let taking = self.hosts.iter().filter(|host| host.interface.is_taking()).count();
        let switches =
            self.switches.iter().filter_map(Switch::extension).map(SwitchExtension::heads);
        wires + circuits.sum::<usize>() + taking + switches.sum::<usize>()
    }
}

impl PartIndex {
    /// The circuit of a port.
    pub(crate) fn circuit(&self, port: NodePort) -> Option<usize> {
        self.circuits.get(&port).map(|circuit| *circuit as usize)
    }

    /// A host's place among the hosts.
    pub(crate) fn host(&self, node: NodeId) -> Option<usize> {
        match self.nodes.get(&node)? {
            NodePart::Host(host) => Some(*host as usize),
            NodePart::Switch(_) => None,
        }
    }
}

fn parameters(scenario: &Scenario, host: NodeId) -> InterfaceParameters {
    let found = scenario.interfaces.iter().find(|(node, _)| *node == host);
    found.map(|(_, parameters)| *parameters).unwrap_or_default()
}

/// The interface of a host.
fn interface(scenario: &Scenario, host: NodeId, parameters: InterfaceParameters) -> HostInterface {
    let routes = scenario.topology.hosts().filter_map(|to| {
        let bytes = scenario.routes.get(host, to)?;
        Some((to, bytes.to_vec()))
    });
    let streams = scenario.streams.iter().filter(|stream| stream.from == host).cloned();
    let raw = scenario.raw.iter().filter(|raw| raw.from == host).cloned();
    let dice = Rng::new(scenario.seed, HOST_DICE | u64::from(host.0));
    let interface = HostInterface::new(
        host,
        parameters,
        dice,
        routes.collect(),
        streams.collect(),
        raw.collect(),
    );
    match scenario.messaging.get(&host) {
        Some(plan) => {
            let seed = Rng::new(scenario.seed, ENDPOINT_DICE | u64::from(host.0)).next_u64();
            interface.with_endpoints(HostMessaging::new(plan.clone(), seed))
        }
        None => interface,
    }
}

fn arranged<T>(mut parts: Vec<T>, layout: VisitOrder, what: u64) -> Vec<T> {
    match layout {
        VisitOrder::AsGiven => {}
        VisitOrder::Shuffled(seed) => {
            let mut dice = Rng::new(seed, LAYOUT_DICE | what);
            for last in (1..parts.len()).rev() {
                let other = dice.below(last as u64 + 1);
                parts.swap(last, usize::try_from(other).unwrap_or(last));
            }
        }
    }
    parts
}

/// The channel that a port sends on, and the parameters that govern it: of its own end those of a
/// sender, of the far end those of a receiver. F-1, F-3, F-4, F-8, R-1, S-6
fn channel(topology: &Topology, from: NodePort) -> Option<Channel> {
    let to = topology.peer(from)?;
    let LinkParameters { delay, ports: [sender, receiver] } = topology.link(from)?;
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
    let period = u64::from(FULL_RATE_PERIOD_PS) * u64::from(sender.divisor.get());
    // A simulation begins with the power-up of all its nodes. P-7
    let words = words.into_iter().chain(path).chain([("start", "power-up".to_owned())]);
    Some(Channel {
        period_ps: NonZeroU64::new(period).unwrap_or(NonZeroU64::MIN),
        more: words.map(|(key, value)| (key.to_owned(), value)).collect(),
        ..Channel::named(format!("{}>{}", topology.port_name(from), topology.port_name(to)))
    })
}

/// A scenario's limits keep all numbers of parts far below 2³².
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A host's only port. I-1
pub(crate) const HOST_PORT: PortId = PortId(0);
