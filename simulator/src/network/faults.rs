//! Applies the faults of a scenario at their times.

use std::collections::VecDeque;

use codec::character::Symbol;

use crate::fault::{FaultKind, FaultSpec};
use crate::link::sender::SendState;
use crate::link::wire::{ChannelWire, LostGaps};
use crate::network::{HOST_PORT, HostUnit, Network, NodePart};
use crate::port::{DataSink, DataSource};
use crate::rng::Rng;
use crate::switch::{Switch, SwitchInputState};
use crate::topology::{NodeId, NodePort};
use crate::truth::{RuleId, TruthEventKind};

/// The beginning or end of a fault.
#[derive(Clone, Debug)]
pub(super) struct ScheduledFault {
    at: u64,
    step: FaultStep,
    what: FaultKind,
    /// End of the fault, and its random numbers.
    until: u64,
    rng: Rng,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultStep {
    Begin,
    End,
}

const FAULT_STREAM: u64 = 2 << 32;

impl ScheduledFault {
    /// Time in periods of the full rate.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// The beginnings and ends of faults, in order of time.
    pub(super) fn of(faults: &[FaultSpec], seed: u64) -> VecDeque<Self> {
        let orders = (0..).zip(faults).flat_map(|(number, fault)| {
            let rng = Rng::new(seed, FAULT_STREAM | number);
            let until = fault.until.unwrap_or(u64::MAX);
            let order =
                move |at, step| Self { at, step, what: fault.kind, until, rng: rng.clone() };
            let mend = fault.until.filter(|_| can_end(&fault.kind));
            [Some((fault.at, FaultStep::Begin)), mend.map(|until| (until, FaultStep::End))]
                .into_iter()
                .flatten()
                .map(move |(at, step)| order(at, step))
        });
        let mut orders: Vec<_> = orders.collect();
        orders.sort_by_key(|order| order.at);
        orders.into()
    }
}

const fn can_end(what: &FaultKind) -> bool {
    match what {
        FaultKind::OpenWire { .. }
        | FaultKind::Cut { .. }
        | FaultKind::LoseGap { .. }
        | FaultKind::PowerOff { .. }
        | FaultKind::DeadPort { .. }
        | FaultKind::Consume { .. } => true,
        FaultKind::Noise { .. }
        | FaultKind::Flip { .. }
        | FaultKind::ForwardReset { .. }
        | FaultKind::BackwardReset { .. }
        | FaultKind::Probe { .. }
        | FaultKind::Restart { .. } => false,
    }
}

impl Network {
    #[inline]
    pub(super) fn apply_due_faults(&mut self) {
        while let Some(order) = self.faults.pop_front_if(|order| order.at <= self.now) {
            self.wake_all();
            self.apply_fault(order);
        }
    }

    fn apply_fault(&mut self, order: ScheduledFault) {
        let ScheduledFault { step, what, until, rng, .. } = order;
        let place = place_of(&what);
        self.log.emit(self.now, place, None, || {
            TruthEventKind::Fault(format!(
                "{}{what}",
                if step == FaultStep::End { "mended: " } else { "" }
            ))
        });
        match what {
            FaultKind::Noise { channel, errors, mean } => {
                self.wire(channel, |wire| wire.noise(errors, mean, until, rng));
            }
            FaultKind::Flip { channel, bits } => {
                let now = self.now;
                self.wire(channel, |wire| wire.flip(now, bits));
            }
            FaultKind::OpenWire { channel, wire: number } => {
                self.wire(channel, |wire| match step {
                    FaultStep::Begin => wire.open(number),
                    FaultStep::End => wire.close(number),
                });
            }
            FaultKind::Cut { port } => self.cut(port, step),
            FaultKind::LoseGap { channel } => {
                let ever = until == u64::MAX;
                self.wire(channel, |wire| match (step, ever) {
                    (FaultStep::Begin, true) => wire.lose_gaps(LostGaps::Next),
                    (FaultStep::Begin, false) => wire.lose_gaps(LostGaps::All),
                    (FaultStep::End, _) => wire.stop_losing_gaps(),
                });
            }
            FaultKind::ForwardReset { port } => self.queue_symbol(port, Symbol::ForwardReset),
            FaultKind::BackwardReset { port } => self.queue_symbol(port, Symbol::BackwardReset),
            FaultKind::Probe { port, number } => self.queue_symbol(port, Symbol::Probe(number)),
            FaultKind::PowerOff { node } => self.power(node, step),
            FaultKind::DeadPort { port } => self.port_power(port, step),
            FaultKind::Consume { host, how } => {
                if let Some(host) = self.host(host) {
                    host.interface.set_consumption(match step {
                        FaultStep::Begin => how,
                        FaultStep::End => host.consumption,
                    });
                }
            }
            FaultKind::Restart { host } => {
                let (now, log) = (self.now, &mut self.log);
                let host = self.index.host(host).and_then(|host| self.hosts.get_mut(host));
                host.into_iter().for_each(|host| host.interface.reload(now, log));
            }
        }
    }

    fn wire(&mut self, channel: NodePort, change: impl FnOnce(&mut ChannelWire)) {
        let unit = self.index.unit(channel).and_then(|unit| self.units.get(unit));
        let wire = unit.and_then(|unit| self.wires.get_mut(unit.peer as usize));
        wire.map(change);
    }

    fn host(&mut self, node: NodeId) -> Option<&mut HostUnit> {
        self.index.host(node).and_then(|host| self.hosts.get_mut(host))
    }

    /// Makes a port send a symbol.
    fn queue_symbol(&mut self, port: NodePort, symbol: Symbol) {
        let unit = self.index.unit(port).and_then(|unit| self.units.get_mut(unit));
        unit.into_iter().for_each(|unit| unit.sender.queue_symbol(symbol));
    }

    /// Cuts or mends both channels of a cable.
    fn cut(&mut self, port: NodePort, step: FaultStep) {
        let Some(here) = self.index.unit(port) else { return };
        let Some(there) = self.units.get(here).map(|unit| unit.peer as usize) else {
            return;
        };
        for end in [here, there] {
            let (Some(wire), Some(unit)) = (self.wires.get_mut(end), self.units.get(end)) else {
                continue;
            };
            match step {
                FaultStep::Begin => {
                    for id in wire.cut() {
                        self.log.emit(self.now, unit.port, Some(id), || {
                            TruthEventKind::Dropped(RuleId("F-7"))
                        });
                    }
                }
                FaultStep::End => wire.mend(),
            }
        }
    }

    /// Switches the power of a node off or on.
    fn power(&mut self, node: NodeId, step: FaultStep) {
        let ports: Vec<NodePort> =
            self.index.units.keys().filter(|port| port.node == node).copied().collect();
        let (now, log) = (self.now, &mut self.log);
        match (self.index.nodes.get(&node), step) {
            (Some(NodePart::Host(host)), FaultStep::Begin) => {
                let host = self.hosts.get_mut(*host as usize);
                host.into_iter().for_each(|host| host.interface.power_off(now, log));
            }
            (Some(NodePart::Host(host)), FaultStep::End) => {
                let host = self.hosts.get_mut(*host as usize);
                host.into_iter().for_each(|host| host.interface.power_on(now));
            }
            (Some(NodePart::Switch(switch)), FaultStep::Begin) => {
                let switch = self.switches.get_mut(*switch as usize);
                switch.into_iter().for_each(Switch::power_off);
            }
            (Some(NodePart::Switch(_)) | None, _) => {}
        }
        ports.into_iter().for_each(|port| self.port_power(port, step));
    }

    /// Switches the power of a port off or on.
    fn port_power(&mut self, port: NodePort, step: FaultStep) {
        let Some(index) = self.index.unit(port) else { return };
        let Some(unit) = self.units.get_mut(index) else { return };
        match step {
            FaultStep::End => unit.power_on(self.now, &mut self.log),
            FaultStep::Begin => {
                let lost = unit.reset_input(&mut self.switches);
                if let Some(id) = lost {
                    self.log
                        .emit(self.now, port, Some(id), || TruthEventKind::Dropped(RuleId("F-7")));
                }
                self.end_path(index);
                let Some(unit) = self.units.get_mut(index) else { return };
                unit.power_off(self.now, &mut self.log);
            }
        }
    }

    /// Breaks the connection of the packet that an output of a switch is sending. S-1
    fn end_path(&mut self, output: usize) {
        let Some(unit) = self.units.get_mut(output) else { return };
        let DataSource::Circuit(input) = unit.source else { return };
        unit.source = DataSource::Nowhere;
        let (now, log, current) = (self.now, &mut self.log, unit.sender.current());
        if unit.sender.sending() == SendState::Packet {
            log.emit(now, unit.port, current, || TruthEventKind::Truncated(RuleId("S-1")));
        }
        let Some(unit) = self.units.get_mut(input as usize) else { return };
        let DataSink::Switch(switch, SwitchInputState::Connected(port, transit)) = unit.sink else {
            return;
        };
        if let Some(id) = transit.head() {
            log.emit(now, unit.port, Some(id), || TruthEventKind::Dropped(RuleId("S-1")));
        }
        unit.sink = DataSink::Switch(switch, SwitchInputState::Discarding);
        if let Some(switch) = self.switches.get_mut(switch as usize) {
            switch.release(port);
        }
    }
}

/// The place of a fault's event.
const fn place_of(what: &FaultKind) -> NodePort {
    match *what {
        FaultKind::Noise { channel, .. }
        | FaultKind::Flip { channel, .. }
        | FaultKind::OpenWire { channel, .. }
        | FaultKind::LoseGap { channel } => channel,
        FaultKind::Cut { port }
        | FaultKind::ForwardReset { port }
        | FaultKind::BackwardReset { port }
        | FaultKind::Probe { port, .. }
        | FaultKind::DeadPort { port } => port,
        FaultKind::PowerOff { node: host }
        | FaultKind::Consume { host, .. }
        | FaultKind::Restart { host } => NodePort { node: host, port: HOST_PORT },
    }
}
