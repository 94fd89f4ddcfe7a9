//! Carries out what a scenario orders to break, and to be mended. `fault.rs` says what there is.

use std::collections::VecDeque;

use codec::character::Symbol;

use crate::fault::{FaultKind, FaultSpec};
use crate::network::{HOST_PORT, HostUnit, Network, NodePart};
use crate::port::{DataSink, DataSource};
use crate::rng::Rng;
use crate::sender::SendState;
use crate::switch::{Switch, SwitchInputState};
use crate::topology::{NodeId, NodePort};
use crate::truth::{RuleId, TruthEventKind};
use crate::wire::{ChannelWire, LostGaps};

/// One thing to do at a time.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledFault {
    at: u64,
    step: FaultStep,
    what: FaultKind,
    /// Until when, and the dice for it.
    until: u64,
    dice: Rng,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultStep {
    Begin,
    End,
}

const FAULT_DICE: u64 = 2 << 32;

impl ScheduledFault {
    /// When it is to be done: a period of the full rate.
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    /// What faults come down to, in order of time.
    pub(crate) fn of(faults: &[FaultSpec], seed: u64) -> VecDeque<Self> {
        let orders = (0..).zip(faults).flat_map(|(number, fault)| {
            let dice = Rng::new(seed, FAULT_DICE | number);
            let until = fault.until.unwrap_or(u64::MAX);
            let order =
                move |at, step| Self { at, step, what: fault.kind, until, dice: dice.clone() };
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
    /// Does what is due.
    #[inline]
    pub(crate) fn apply_due_faults(&mut self) {
        while let Some(order) = self.faults.pop_front_if(|order| order.at <= self.now) {
            self.wake_all();
            self.apply_fault(order);
        }
    }

    fn apply_fault(&mut self, order: ScheduledFault) {
        let ScheduledFault { step, what, until, dice, .. } = order;
        let place = place_of(&what);
        self.log.emit(self.now, place, None, || {
            TruthEventKind::Fault(format!(
                "{}{what}",
                if step == FaultStep::End { "mended: " } else { "" }
            ))
        });
        match what {
            FaultKind::Noise { channel, errors, mean } => {
                self.wire(channel, |wire| wire.noise(errors, mean, until, dice));
            }
            FaultKind::Flip { channel, bits } => {
                let now = self.now;
                self.wire(channel, |wire| wire.flip(now, bits));
            }
            FaultKind::OpenWire { channel, wire: number } => {
                self.wire(channel, |wire| match step {
                    FaultStep::Begin => wire.open(number),
                    FaultStep::End => wire.close(number),
                })
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
        let circuit = self.index.circuit(channel).and_then(|circuit| self.circuits.get(circuit));
        let wire = circuit.and_then(|circuit| self.wires.get_mut(circuit.peer as usize));
        wire.map(change);
    }

    fn host(&mut self, node: NodeId) -> Option<&mut HostUnit> {
        self.index.host(node).and_then(|host| self.hosts.get_mut(host))
    }

    /// Has a port send a symbol.
    fn queue_symbol(&mut self, port: NodePort, symbol: Symbol) {
        let circuit = self.index.circuit(port).and_then(|circuit| self.circuits.get_mut(circuit));
        circuit.into_iter().for_each(|circuit| circuit.sender.queue_symbol(symbol));
    }

    /// A cable is cut or mended: both its channels.
    fn cut(&mut self, port: NodePort, step: FaultStep) {
        let Some(here) = self.index.circuit(port) else { return };
        let Some(there) = self.circuits.get(here).map(|circuit| circuit.peer as usize) else {
            return;
        };
        for end in [here, there] {
            let (Some(wire), Some(circuit)) = (self.wires.get_mut(end), self.circuits.get(end))
            else {
                continue;
            };
            match step {
                FaultStep::Begin => {
                    for id in wire.cut() {
                        self.log.emit(self.now, circuit.port, Some(id), || {
                            TruthEventKind::Dropped(RuleId("F-7"))
                        });
                    }
                }
                FaultStep::End => wire.mend(),
            }
        }
    }

    /// A node loses its power, or has it again.
    fn power(&mut self, node: NodeId, step: FaultStep) {
        let ports: Vec<NodePort> =
            self.index.circuits.keys().filter(|port| port.node == node).copied().collect();
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

    /// A port loses its power, or has it again.
    fn port_power(&mut self, port: NodePort, step: FaultStep) {
        let Some(index) = self.index.circuit(port) else { return };
        let Some(circuit) = self.circuits.get_mut(index) else { return };
        match step {
            FaultStep::End => circuit.power_on(self.now, &mut self.log),
            FaultStep::Begin => {
                let lost = circuit.reset_input(&mut self.switches);
                if let Some(id) = lost {
                    self.log
                        .emit(self.now, port, Some(id), || TruthEventKind::Dropped(RuleId("F-7")));
                }
                self.end_path(index);
                let Some(circuit) = self.circuits.get_mut(index) else { return };
                circuit.power_off(self.now, &mut self.log);
            }
        }
    }

    /// The packet that an output of a switch is sending has no way to go on. S-1
    fn end_path(&mut self, output: usize) {
        let Some(circuit) = self.circuits.get_mut(output) else { return };
        let DataSource::Circuit(input) = circuit.source else { return };
        circuit.source = DataSource::Nowhere;
        let (now, log, current) = (self.now, &mut self.log, circuit.sender.current());
        if circuit.sender.sending() == SendState::Packet {
            log.emit(now, circuit.port, current, || TruthEventKind::Truncated(RuleId("S-1")));
        }
        let Some(circuit) = self.circuits.get_mut(input as usize) else { return };
        let DataSink::Switch(switch, SwitchInputState::Connected(port, transit)) = circuit.sink
        else {
            return;
        };
        if let Some(id) = transit.head() {
            log.emit(now, circuit.port, Some(id), || TruthEventKind::Dropped(RuleId("S-1")));
        }
        circuit.sink = DataSink::Switch(switch, SwitchInputState::Discarding);
        if let Some(switch) = self.switches.get_mut(switch as usize) {
            switch.release(port);
        }
    }
}

/// Where a fault is told of.
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
