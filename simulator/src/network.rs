//! A network: its parts, and the connections between them. N-1

mod active_set;
mod arrivals;
mod build;
mod catch_up;
mod clocks;
mod faults;
mod routers;
mod schedule;
mod settle;
mod sleep;
mod step;

use std::collections::{BTreeMap, VecDeque};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::route::PortId;
use codec::time::{CharacterPeriod, FULL_RATE_PERIOD_PS};

use self::active_set::ActiveSet;
use self::catch_up::PhaseTimes;
use self::clocks::UnlikeClocks;
use self::faults::ScheduledFault;
use self::schedule::WakeSchedule;
use self::sleep::PortSleep;
use crate::arena::{HostId, PartArena, ShareId, SwitchId, UnitId};
use crate::interface::{ConsumptionMode, HostInterface, HostShare};
use crate::link::sender::SendState;
use crate::link::tagged_char::TaggedChar;
use crate::link::wire::ChannelWire;
use crate::node::virtual_channel;
use crate::port::{DataSink, DataSource, PortCounters, PortLed, PortUnit};
use crate::recorder::CaptureRecorder;
use crate::scenario::Scenario;
use crate::switch::extension::SwitchExtension;
use crate::switch::{Switch, SwitchArena, SwitchInputState};
use crate::topology::{NodeId, NodePort};
use crate::truth::{TraceContext, TraceLevel, TruthEvent, TruthLog};

/// A part for which a packet waits, or by which it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedPart {
    /// The host that takes it.
    Host(NodeId),
    /// An output of a switch.
    Output(NodePort),
}

/// A network being simulated.
#[derive(Debug)]
pub struct Network {
    now: u64,
    units: PartArena<UnitId, PortUnit>,
    /// The channel that each port receives.
    wires: PartArena<UnitId, ChannelWire>,
    /// The ends of channels at each port that sleep.
    sleep: PartArena<UnitId, PortSleep>,
    schedule: Box<WakeSchedule>,
    active: Box<ActiveSet>,
    times: PhaseTimes,
    /// Buffers for bytes of a packet, for the outputs on its path, and for connections to make.
    cells: Vec<TaggedChar>,
    bytes: Vec<u8>,
    granted: Vec<(PortId, PortId)>,
    path: Vec<UnitId>,
    switches: SwitchArena,
    hosts: PartArena<HostId, HostUnit>,
    /// Hosts with several interfaces. I-7
    shares: PartArena<ShareId, SharedHost>,
    index: PartIndex,
    /// Clocks of nodes, by number, and the order of their ticks; none if all are alike. W-6
    periods: Vec<CharacterPeriod>,
    clocks: Option<Box<UnlikeClocks>>,
    faults: VecDeque<ScheduledFault>,
    /// Supplies that are off, by node. S-10
    supplies_off: BTreeMap<NodeId, u32>,
    log: TruthLog,
    recorder: CaptureRecorder,
    channels: Vec<Channel>,
    /// Characters of the last periods may still be recorded: this many periods of the full rate.
    record_lag: u64,
    /// Number of skipped periods.
    skipped: u64,
}

/// A host's interface, and the index of its port if it has a cable.
#[derive(Debug)]
struct HostUnit {
    unit: Option<UnitId>,
    interface: HostInterface,
    /// The consumption policy of the scenario, without faults.
    consumption: ConsumptionMode,
    taken: TakenChannel,
    /// Time of its last entry in the schedule.
    scheduled: u64,
    /// The host, if it has several interfaces.
    share: Option<ShareId>,
    /// The interface of the other port, if it belongs to a router. N-5
    twin: Option<HostId>,
    /// The period after the last one in which it was processed with its host.
    decided: u64,
}

/// The virtual channel of its port from which an interface takes characters, or has taken the last. C-7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TakenChannel {
    /// Between packets.
    Between(u8),
    /// Inside a packet.
    Inside(u8),
}

/// A host with several interfaces: what they share, and their indices in the order of nodes. I-7
#[derive(Debug, Default)]
struct SharedHost {
    share: HostShare,
    members: Vec<HostId>,
}

/// Indices of the parts.
#[derive(Debug, Default)]
struct PartIndex {
    units: BTreeMap<NodePort, UnitId>,
    nodes: BTreeMap<NodeId, NodePart>,
}

/// A host or switch, by index.
#[derive(Clone, Copy, Debug)]
enum NodePart {
    Host(HostId),
    Switch(SwitchId),
    /// The interfaces of a router's ports 0 and 1. N-5
    Router([HostId; 2]),
}

/// Order in which parts are visited within a period. It makes no difference to the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VisitOrder {
    /// Order of the scenario.
    #[default]
    AsGiven,
    /// Shuffled with this seed.
    Shuffled(u64),
}

/// The way in which a network is simulated. The results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SimulationEngine {
    /// Every part in every period: [`Network::step`].
    Step,
    /// The parts to which something happens: [`Network::run`].
    #[default]
    Event,
}

impl Network {
    /// The network of a scenario, before its first period.
    pub fn new(scenario: &Scenario, level: TraceLevel, order: VisitOrder) -> Self {
        let mut network = Self {
            now: 0,
            units: PartArena::default(),
            wires: PartArena::default(),
            sleep: PartArena::default(),
            schedule: Box::default(),
            active: Box::default(),
            times: PhaseTimes::default(),
            cells: Vec::new(),
            bytes: Vec::new(),
            granted: Vec::new(),
            path: Vec::new(),
            switches: SwitchArena::default(),
            hosts: PartArena::default(),
            shares: PartArena::default(),
            index: PartIndex::default(),
            periods: Vec::new(),
            clocks: None,
            supplies_off: BTreeMap::new(),
            faults: ScheduledFault::of(&scenario.faults, scenario.seed),
            log: TruthLog::new(level),
            recorder: CaptureRecorder::new(Vec::new()),
            channels: Vec::new(),
            record_lag: 0,
            skipped: 0,
        };
        network.build_nodes(scenario, order);
        network.build_circuits(scenario, level, order);
        network.build_clocks(scenario);
        network.build_taps(scenario, level);
        *network.active = network.parts_of(|_| true);
        network
    }

    /// The recorded channels, in the order of their numbers.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Periods of the full rate since time zero.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Simulates the periods before `until`: the same as repeated [`Network::step`], but what
    /// follows by arithmetic is not processed period by period.
    pub fn run(&mut self, until: u64) {
        if self.clocks.is_some() {
            return self.run_unlike(SimulationEngine::Event, until);
        }
        while self.now < until {
            self.skip(until);
            if self.now < until {
                self.period();
                self.settle();
            }
        }
        self.catch_up();
    }

    /// Simulates the periods before `until`.
    pub fn run_with(&mut self, engine: SimulationEngine, until: u64) {
        match engine {
            SimulationEngine::Event => self.run(until),
            SimulationEngine::Step => {
                while self.now < until {
                    self.step();
                }
            }
        }
    }

    /// Number of periods so far that [`Network::run`] has skipped, since all parts slept.
    pub fn skipped_periods(&self) -> u64 {
        self.skipped + self.idle_periods()
    }

    /// Skips the periods before `until` in which nothing is active.
    #[inline]
    fn skip(&mut self, until: u64) {
        if self.active.is_empty() {
            let fault = self.faults.front().map_or(u64::MAX, |order| order.at());
            let due = self.next_wake().min(fault);
            let end = due.min(until).max(self.now);
            self.skipped += end - self.now;
            self.now = end;
            self.times = PhaseTimes::all(end);
        }
    }

    /// Ends the run: emits the events of unfinished frames.
    pub fn finish(&mut self) {
        self.record_lag = 0;
        self.note_end();
        let Self { units, log, now, .. } = self;
        for unit in units.iter_mut() {
            let slot = *now / unit.clock.divisor();
            let trace = &mut TraceContext { now: *now, slot, place: unit.port, log };
            unit.receiver.finish(trace);
            unit.sender.finish(trace);
        }
    }

    /// Returns the events since the last call, in order of time.
    pub fn drain_events(&mut self) -> impl Iterator<Item = TruthEvent> {
        self.log.drain()
    }

    /// True if the recorded characters should be flushed.
    pub const fn needs_flush(&self) -> bool {
        self.recorder.is_full()
    }

    /// Writes the recorded chunks since the last call, in the order of a capture file; after
    /// [`Network::finish`] all of them.
    ///
    /// # Errors
    /// The first error of `out`.
    pub fn flush_recorded<E>(
        &mut self,
        out: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // A slow link hears late in its period: what has its place there may still come.
        let moment = u128::from(self.now.saturating_sub(self.record_lag));
        self.recorder.flush_before(moment * u128::from(FULL_RATE_PERIOD_PS), out)
    }

    /// Counters and LEDs of a port. L
    pub fn port_state(&self, port: NodePort) -> Option<(PortCounters, PortLed)> {
        let unit = &self.units[self.index.unit(port)?];
        Some((unit.counters(), unit.led()))
    }

    /// The part that the packet at the far end of a sender waits for, or leaves by; none if it waits for nothing, or
    /// if several outputs take it.
    pub fn awaited(&self, sender: NodePort) -> Option<AwaitedPart> {
        let far = &self.units[self.far_end(self.index.unit(sender)?)];
        match far.sink {
            DataSink::Host(_) => Some(AwaitedPart::Host(far.port.node)),
            DataSink::Switch(
                switch,
                SwitchInputState::Waiting(output) | SwitchInputState::Connected(output, _),
            ) => {
                let output = self.switches[switch].cabled(output);
                Some(AwaitedPart::Output(self.units[output].port))
            }
            DataSink::Switch(..) => None,
        }
    }

    /// The port at the other end of a cable, or its virtual channel of the same number.
    fn far_end(&self, unit: UnitId) -> UnitId {
        let unit = &self.units[unit];
        unit.peer.with_channel(virtual_channel(unit.port.port))
    }

    /// True if an output sends a packet whose rest has been lost on its way.
    pub fn is_unfinished(&self, output: NodePort) -> bool {
        let Some(mut output) = self.index.unit(output) else { return false };
        for _ in 0..self.units.len() {
            let DataSource::Circuit(input) = self.units[output].source else { break };
            let unit = &self.units[input];
            let mut coming = self.wires[unit.first].cells().iter();
            if unit.receiver.fill() > 0 || coming.any(|cell| cell.is_data() || cell.is_end()) {
                break;
            }
            let before = self.far_end(input);
            if self.units[before].sender.sending() != SendState::Packet {
                return true;
            }
            output = before;
        }
        false
    }

    /// Requests for outputs that were held or requested already, at all switches. S-5
    pub fn conflicts(&self) -> u64 {
        self.switches.iter().map(Switch::conflicts).sum()
    }

    /// The interface of a host.
    pub fn interface(&self, host: NodeId) -> Option<&HostInterface> {
        Some(&self.hosts[self.index.host(host)?].interface)
    }

    /// Number of packets in transit: their first byte is on a wire, in a slack buffer, in a switch,
    /// or in an interface that has not received their last.
    pub fn in_transit(&self) -> usize {
        let wires: usize = self.wires.iter().map(ChannelWire::heads).sum();
        let units = self.units.iter().map(|unit| {
            let transit = match &unit.sink {
                DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                    transit.head().iter().count()
                }
                DataSink::Switch(..) | DataSink::Host(_) => 0,
            };
            unit.receiver.heads() + transit
        });
        let taking = self.hosts.iter().filter(|host| host.interface.is_taking()).count();
        let switches =
            self.switches.iter().filter_map(Switch::extension).map(SwitchExtension::heads);
        wires + units.sum::<usize>() + taking + switches.sum::<usize>()
    }
}

impl PartIndex {
    /// Index of a port, or of its first virtual channel.
    fn unit(&self, port: NodePort) -> Option<UnitId> {
        let first = || self.units.get(&port.with_virtual_channel(0));
        self.units.get(&port).or_else(first).copied()
    }

    /// Index of a port at an end of a cable.
    #[expect(clippy::expect_used, reason = "each cable has a port at either end")]
    fn cabled(&self, port: NodePort) -> UnitId {
        self.unit(port).expect("a port with a cable has a unit")
    }

    /// A node at an end of a cable.
    #[expect(clippy::expect_used, reason = "each cable ends at nodes of its network")]
    fn node(&self, node: NodeId) -> NodePart {
        *self.nodes.get(&node).expect("a cable ends at a node")
    }

    fn host(&self, node: NodeId) -> Option<HostId> {
        match self.nodes.get(&node)? {
            NodePart::Host(host) => Some(*host),
            NodePart::Switch(_) | NodePart::Router(_) => None,
        }
    }
}
