//! Networks whose clocks differ: nodes are processed in order of the times of their ticks. W-6
//!
//! Tick k of a node is k of its periods after time zero. All counts of time in a node are ticks. A
//! character takes as many ticks of its sender's clock through the cable as the cable's delay has
//! periods, and is received at the first tick of its receiver from then on: a tick receives one
//! character, or none from a slower node, or two from a faster one.

use codec::time::CharacterPeriod;

use super::Network;
use super::active_set::ActiveSet;
use super::build::clock_of;
use crate::link::clock::PortClock;
use crate::port::DataSink;
use crate::scenario::Scenario;
use crate::topology::{NodeId, NodePort};
use crate::truth::TrueTime;

/// A time in femtoseconds since time zero.
type ClockTime = u128;

/// The clocks of all nodes.
#[derive(Debug)]
pub(super) struct UnlikeClocks {
    groups: Vec<ClockGroup>,
    /// By port.
    arrivals: Vec<FarClock>,
    /// Time of the tick being processed.
    now: ClockTime,
}

/// Nodes with the same clock, which tick at the same times.
#[derive(Debug)]
struct ClockGroup {
    period: CharacterPeriod,
    /// The next tick, and its time.
    tick: u64,
    due: ClockTime,
    parts: ActiveSet,
}

/// The clock of the node at the other end of a port's cable.
#[derive(Clone, Copy, Debug)]
struct FarClock {
    period: CharacterPeriod,
    /// The first tick whose characters have not been received, and its time.
    tick: u64,
    due: ClockTime,
}

impl UnlikeClocks {
    /// The group that ticks first and its tick, if it does so before a time.
    fn next(&mut self, end: ClockTime) -> Option<(&mut ClockGroup, u64)> {
        let first = self.groups.iter_mut().min_by_key(|group| group.due)?;
        if first.due >= end {
            return None;
        }
        self.now = first.due;
        let tick = first.tick;
        first.tick += 1;
        first.due += ClockTime::from(first.period.fs());
        Some((first, tick))
    }

    /// The next character that has arrived at a port: its period, and the time at which it did.
    fn arrival(&mut self, port: usize, clock: &PortClock) -> Option<(u64, ClockTime)> {
        let far = self.arrivals.get_mut(port)?;
        while far.due <= self.now {
            let (tick, due) = (far.tick, far.due);
            far.tick += 1;
            far.due += ClockTime::from(far.period.fs());
            if let Some(slot) = clock.receive_slot(tick) {
                return Some((slot, due));
            }
        }
        None
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
        let far = |unit: &crate::port::PortUnit| {
            let far = self.units.get(unit.peer as usize);
            self.clock_period(far.map_or(unit.port.node, |far| far.port.node))
        };
        let arrivals =
            self.units.iter().map(|unit| FarClock { period: far(unit), tick: 0, due: 0 });
        let arrivals: Vec<_> = arrivals.collect();
        let mut rates = self.periods.clone();
        rates.sort_unstable();
        rates.dedup();
        let groups = rates.into_iter().map(|period| {
            let parts = self.parts_of(period);
            ClockGroup { period, tick: 0, due: 0, parts }
        });
        let groups = groups.collect();
        for (unit, far) in self.units.iter_mut().zip(&arrivals) {
            let own = self.periods.get(unit.port.node.0 as usize);
            if own != Some(&far.period) {
                unit.count_own_time();
            }
        }
        self.clocks = Some(Box::new(UnlikeClocks { groups, arrivals, now: 0 }));
    }

    /// The parts of all nodes with a clock.
    fn parts_of(&self, period: CharacterPeriod) -> ActiveSet {
        let mut parts = ActiveSet::none(self.units.len(), self.hosts.len(), self.switches.len());
        for (index, unit) in self.units.iter().enumerate() {
            if self.clock_period(unit.port.node) == period {
                parts.receiving.insert(index);
                parts.sending.insert(index);
                match unit.sink {
                    DataSink::Host(host) => parts.hosts.insert(host as usize),
                    DataSink::Switch(switch, _) => parts.switches.insert(switch as usize),
                }
            }
        }
        // Hosts may have no cable.
        for (node, part) in &self.index.nodes {
            if let (super::NodePart::Host(host), true) = (part, self.clock_period(*node) == period)
            {
                parts.hosts.insert(*host as usize);
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

    /// Processes all ticks within a period of the full rate.
    pub(super) fn tick_all(&mut self) {
        let period = self.now;
        let [start, end] = [period, period + 1]
            .map(|at| ClockTime::from(at) * ClockTime::from(CharacterPeriod::FULL_RATE.fs()));
        self.log.set_time(TrueTime { tick: start, character: start });
        self.apply_due_faults();
        while let Some((group, tick)) = self.clocks.as_mut().and_then(|clocks| clocks.next(end)) {
            self.active.set_to(&group.parts);
            self.now = tick;
            self.note_time(None);
            self.phases();
        }
        self.now = period + 1;
    }

    /// Receives the characters that have arrived at a port.
    pub(super) fn receive_arrived(&mut self, index: usize) {
        while let (Some(clocks), Some(unit)) = (&mut self.clocks, self.units.get(index))
            && let Some((slot, arrived)) = clocks.arrival(index, &unit.clock)
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

    /// Sets the time of the events at the end of the run.
    pub(super) fn note_end(&mut self) {
        let end = ClockTime::from(self.now) * ClockTime::from(CharacterPeriod::FULL_RATE.fs());
        if self.clocks.is_some() {
            self.log.set_time(TrueTime { tick: end, character: end });
        }
    }

    /// The node at the far end of the channel that a port sends on.
    pub(super) fn far_node(&self, port: NodePort) -> NodeId {
        let unit = self.index.unit(port).and_then(|unit| self.units.get(unit));
        let far = unit.and_then(|unit| self.units.get(unit.peer as usize));
        far.map_or(port.node, |far| far.port.node)
    }
}
