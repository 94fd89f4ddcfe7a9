//! Networks whose clocks differ: nodes are processed in order of the times of their ticks. W-6
//!
//! Tick k of a node is k of its periods after time zero. All counts of time in a node are ticks. A
//! character takes as many ticks of its sender's clock through the cable as the cable's delay has
//! periods, and is received at the first tick of its receiver from then on: a tick receives one
//! character, or none from a slower node, or two from a faster one.

use std::collections::BTreeSet;

use codec::time::CharacterPeriod;

use super::active_set::ActiveSet;
use super::build::clock_of;
use super::catch_up::PhaseTimes;
use super::schedule::{PortEnd, WakeSchedule};
use super::sleep::PortSleep;
use super::{Network, NodePart, SimulationEngine};
use crate::arena::{GroupId, PartArena, PartNumber, UnitId};
use crate::link::clock::PortClock;
use crate::port::{DataSink, PortUnit};
use crate::scenario::Scenario;
use crate::topology::{NodeId, NodePort};
use crate::truth::TrueTime;

/// A time in femtoseconds since time zero.
type ClockTime = u128;

/// The clocks of all nodes.
#[derive(Debug)]
pub(super) struct UnlikeClocks {
    groups: PartArena<GroupId, ClockGroup>,
    /// The groups that have something to process, at the times of their next such ticks.
    queue: BTreeSet<(ClockTime, GroupId)>,
    /// The group whose parts, times and schedule are those of the network now.
    current: Option<GroupId>,
    ports: PartArena<UnitId, PortTiming>,
    /// Time of the tick being processed.
    now: ClockTime,
    /// Number of periods of the full rate without a tick that was processed.
    idle: u64,
}

/// Nodes with the same clock, which tick at the same times.
#[derive(Debug)]
struct ClockGroup {
    period: CharacterPeriod,
    /// The tick after the last one processed.
    tick: u64,
    /// The next tick with something to process.
    due: u64,
    /// All parts of the nodes, and those that are active.
    parts: ActiveSet,
    active: Box<ActiveSet>,
    schedule: Box<WakeSchedule>,
}

/// The group of a port's node, and the clock of the node at the other end of its cable.
#[derive(Clone, Copy, Debug)]
struct PortTiming {
    group: GroupId,
    far: CharacterPeriod,
    /// The first tick of that node whose characters have not been received, and its time.
    tick: u64,
    due: ClockTime,
}

impl ClockGroup {
    /// The first tick that has not been processed, between two ticks of any group.
    fn next(&self, now: ClockTime) -> u64 {
        let next = match (u64::try_from(now), self.period.fs()) {
            (Ok(now), period) => now.div_ceil(period),
            (Err(_), period) => u64::try_from(now.div_ceil(period.into())).unwrap_or(u64::MAX),
        };
        next.max(self.tick)
    }

    fn time(&self, tick: u64) -> ClockTime {
        ClockTime::from(tick) * ClockTime::from(self.period.fs())
    }
}

impl UnlikeClocks {
    /// The group that ticks first, if it does so before a time.
    fn next(&mut self, end: ClockTime) -> Option<GroupId> {
        let (due, group) = self.queue.first().copied().filter(|(due, _)| *due < end)?;
        let periods = (due - self.now) / ClockTime::from(CharacterPeriod::FULL_RATE.fs());
        self.idle += u64::try_from(periods).unwrap_or_default().saturating_sub(1);
        self.now = due;
        Some(group)
    }

    /// Sets the next tick in which a group has something to process.
    fn set_due(&mut self, number: GroupId, due: u64) {
        let group = &mut self.groups[number];
        self.queue.remove(&(group.time(group.due), number));
        group.due = due;
        if due < u64::MAX {
            self.queue.insert((group.time(due), number));
        }
    }

    /// The times of a port, if its group is not the one being processed.
    pub(super) fn times_of(&self, port: UnitId) -> Option<PhaseTimes> {
        let number = self.ports[port].group;
        let is_other = self.current != Some(number);
        is_other.then(|| PhaseTimes::all(self.groups[number].next(self.now)))
    }

    /// The schedule of a port in which an entry is added, if its group is not the one being
    /// processed.
    pub(super) fn schedule_of(&mut self, port: UnitId, at: u64) -> Option<&mut WakeSchedule> {
        let number = self.ports[port].group;
        if self.current == Some(number) {
            return None;
        }
        if at < self.groups[number].due {
            self.set_due(number, at);
        }
        Some(&mut self.groups[number].schedule)
    }

    /// The next character that has arrived at a port: its period, and the time at which it did.
    fn arrival(&mut self, port: UnitId, clock: &PortClock) -> Option<(u64, ClockTime)> {
        let port = &mut self.ports[port];
        while port.due <= self.now {
            let (tick, due) = (port.tick, port.due);
            port.tick += 1;
            port.due += ClockTime::from(port.far.fs());
            if let Some(slot) = clock.receive_slot(tick) {
                return Some((slot, due));
            }
        }
        None
    }

    /// Leaves out the characters that have arrived at a port before a tick of the far node.
    pub(super) fn skip(&mut self, port: UnitId, tick: u64) {
        let port = &mut self.ports[port];
        port.tick = tick;
        port.due = ClockTime::from(tick) * ClockTime::from(port.far.fs());
    }
}

impl Network {
    /// Gives nodes their clocks, if any differs from the full rate.
    pub(super) fn build_clocks(&mut self, scenario: &Scenario) {
        let nodes = scenario.topology.nodes().len();
        let ids = (0..u32::try_from(nodes).unwrap_or(u32::MAX)).map(NodeId);
        self.periods = ids.map(|id| clock_of(scenario, id)).collect();
        if self.periods.iter().all(|period| *period == CharacterPeriod::FULL_RATE) {
            self.periods.clear();
            return;
        }
        let mut rates = self.periods.clone();
        rates.sort_unstable();
        rates.dedup();
        let timing = |unit: &PortUnit| {
            let own = self.clock_period(unit.port.node);
            let far = self.clock_period(self.units[unit.peer].port.node);
            let group = GroupId::at(rates.binary_search(&own).unwrap_or_default());
            PortTiming { group, far, tick: 0, due: 0 }
        };
        let ports: PartArena<_, _> = self.units.iter().map(timing).collect();
        let group = |period: CharacterPeriod| ClockGroup {
            period,
            tick: 0,
            due: 0,
            parts: self.parts_of(|node| self.clock_period(node) == period),
            active: Box::new(self.parts_of(|node| self.clock_period(node) == period)),
            schedule: Box::default(),
        };
        let groups: PartArena<_, _> = rates.into_iter().map(group).collect();
        for (unit, timing) in self.units.iter_mut().zip(ports.iter()) {
            let own = groups[timing.group].period;
            if own != timing.far {
                unit.set_rates([own, timing.far]);
            }
        }
        let queue = groups.numbers().map(|group| (0, group)).collect();
        let clocks = UnlikeClocks { groups, queue, current: None, ports, now: 0, idle: 0 };
        self.clocks = Some(Box::new(clocks));
    }

    /// The parts of the nodes for which something is true.
    pub(super) fn parts_of(&self, is_one: impl Fn(NodeId) -> bool) -> ActiveSet {
        let mut parts = ActiveSet::none(self.units.len(), self.hosts.len(), self.switches.len());
        for (index, unit) in self.units.numbers().zip(self.units.iter()) {
            if is_one(unit.port.node) && unit.first == index {
                parts.receiving.insert(index);
                parts.sending.insert(index);
                match unit.sink {
                    DataSink::Host(host) => parts.hosts.insert(host),
                    DataSink::Switch(switch, _) => parts.switches.insert(switch),
                }
            }
        }
        // Hosts may have no cable.
        for (node, part) in &self.index.nodes {
            let hosts = match part {
                NodePart::Host(host) => std::slice::from_ref(host),
                NodePart::Router(ports) => ports,
                NodePart::Switch(_) => &[],
            };
            if is_one(*node) {
                hosts.iter().for_each(|host| parts.hosts.insert(*host));
            }
        }
        parts
    }

    /// The period of a node's clock.
    pub(super) fn clock_period(&self, node: NodeId) -> CharacterPeriod {
        let period = self.periods.get(node.0 as usize);
        period.copied().unwrap_or(CharacterPeriod::FULL_RATE)
    }

    /// The first tick of a node at or after a time, in periods of the full rate.
    pub(super) fn tick_at(&self, node: NodeId, at: u64) -> u64 {
        let full = CharacterPeriod::FULL_RATE;
        match self.clock_period(node) {
            period if period == full || at == u64::MAX => at,
            period => {
                let time = ClockTime::from(at) * ClockTime::from(full.fs());
                u64::try_from(time.div_ceil(period.fs().into())).unwrap_or(u64::MAX)
            }
        }
    }

    /// Simulates the periods of the full rate before `until`.
    pub(super) fn run_unlike(&mut self, engine: SimulationEngine, until: u64) {
        if engine == SimulationEngine::Step && self.sleep.iter().any(PortSleep::is_asleep) {
            self.wake_all();
        }
        while self.now < until {
            self.note_time(None);
            self.apply_due_faults();
            let fault = self.faults.front().map_or(u64::MAX, |order| order.at());
            let end = until.min(fault);
            let time = ClockTime::from(end) * ClockTime::from(CharacterPeriod::FULL_RATE.fs());
            while let Some(group) = self.clocks.as_mut().and_then(|clocks| clocks.next(time)) {
                self.enter(group);
                match engine {
                    SimulationEngine::Step => {
                        if let Some(clocks) = &self.clocks {
                            self.active.set_to(&clocks.groups[group].parts);
                        }
                        self.tick();
                    }
                    SimulationEngine::Event => {
                        self.tick();
                        self.settle();
                    }
                }
                self.leave(group);
            }
            self.now = end;
            self.clocks.as_mut().into_iter().for_each(|clocks| clocks.now = time);
        }
        if engine == SimulationEngine::Event {
            self.catch_up();
        }
    }

    /// Makes the parts, times and schedule of a group those of the network.
    fn enter(&mut self, number: GroupId) {
        let Some(clocks) = &mut self.clocks else { unreachable!("{number:?} is of unlike clocks") };
        let group = &mut clocks.groups[number];
        std::mem::swap(&mut self.active, &mut group.active);
        std::mem::swap(&mut self.schedule, &mut group.schedule);
        self.now = group.next(clocks.now);
        self.times = PhaseTimes::all(self.now);
        clocks.current = Some(number);
        self.note_time(None);
    }

    /// Ends what [`Self::enter`] has begun, with the tick to come.
    fn leave(&mut self, number: GroupId) {
        let due = if self.active.is_empty() { self.next_wake() } else { self.now };
        let Some(clocks) = &mut self.clocks else { unreachable!("{number:?} is of unlike clocks") };
        let group = &mut clocks.groups[number];
        std::mem::swap(&mut self.active, &mut group.active);
        std::mem::swap(&mut self.schedule, &mut group.schedule);
        group.tick = self.now;
        clocks.current = None;
        clocks.set_due(number, due);
    }

    /// Wakes everything, since any part may change now.
    pub(super) fn wake_groups(&mut self) {
        let now = self.now;
        let groups = self.clocks.iter().flat_map(|clocks| clocks.groups.numbers());
        for group in groups.collect::<Vec<_>>() {
            self.enter(group);
            let Some(clocks) = &self.clocks else { unreachable!("{group:?} is of unlike clocks") };
            let parts = clocks.groups[group].parts.clone();
            let (mut units, mut switches) = (parts.receiving.clone(), parts.switches.clone());
            while let Some(unit) = units.pop() {
                self.wake(PortEnd::Receiver, unit);
                self.wake(PortEnd::Sender, unit);
            }
            while let Some(switch) = switches.pop() {
                self.switches[switch].catch_up(self.now);
            }
            self.active.set_to(&parts);
            self.leave(group);
        }
        self.now = now;
    }

    /// Receives the characters that have arrived at a port.
    pub(super) fn receive_arrived(&mut self, index: UnitId) {
        while let Some(clocks) = &mut self.clocks
            && let Some((slot, arrived)) = clocks.arrival(index, &self.units[index].clock)
        {
            self.note_time(Some(arrived));
            self.receive_from_wire(index, slot);
        }
        self.note_time(None);
    }

    /// Sets the time of the events to come, and that of the character received.
    fn note_time(&mut self, arrived: Option<ClockTime>) {
        let tick = self.clocks.as_ref().map_or(0, |clocks| clocks.now);
        self.log.set_time(TrueTime { tick, character: arrived.unwrap_or(tick) });
    }

    /// Number of periods in which no node had anything to process, if clocks differ.
    pub(super) fn idle_periods(&self) -> u64 {
        self.clocks.as_ref().map_or(0, |clocks| clocks.idle)
    }

    /// Sets the time of the events at the end of the run.
    pub(super) fn note_end(&mut self) {
        let end = ClockTime::from(self.now) * ClockTime::from(CharacterPeriod::FULL_RATE.fs());
        if self.clocks.is_some() {
            self.log.set_time(TrueTime { tick: end, character: end });
        }
    }

    /// The node at the far end of the channel that a port sends on.
    pub(super) fn far_node(&self, port: NodePort) -> NodeId {
        let far = |unit| self.units[self.units[unit].peer].port.node;
        self.index.unit(port).map_or(port.node, far)
    }
}
