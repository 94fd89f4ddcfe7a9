//! Carries out what a scenario orders to break, and to be mended. `fault.rs` says what there is.

use std::collections::VecDeque;

use codec::character::Symbol;

use crate::chance::Dice;
use crate::circuit::{Sink, Source};
use crate::fault::{Break, Fault};
use crate::network::{HOST_PORT, Host, Network, Part};
use crate::sender::Sending;
use crate::switch::{Input, Switch};
use crate::topology::{NodeId, Port};
use crate::truth::{Rule, What};
use crate::wire::{Gaps, Wire};

/// One thing to do at a time.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    at: u64,
    step: Step,
    what: Break,
    /// Until when, and the dice for it.
    until: u64,
    dice: Dice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Break,
    Mend,
}

const FAULT_DICE: u64 = 2 << 32;

impl Order {
    /// When it is to be done: a period of the full rate.
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    /// What faults come down to, in order of time.
    pub(crate) fn of(faults: &[Fault], seed: u64) -> VecDeque<Self> {
        let orders = (0..).zip(faults).flat_map(|(number, fault)| {
            let dice = Dice::new(seed, FAULT_DICE | number);
            let until = fault.until.unwrap_or(u64::MAX);
            let order =
                move |at, step| Self { at, step, what: fault.what, until, dice: dice.clone() };
            let mend = fault.until.filter(|_| can_be_mended(&fault.what));
            [Some((fault.at, Step::Break)), mend.map(|until| (until, Step::Mend))]
                .into_iter()
                .flatten()
                .map(move |(at, step)| order(at, step))
        });
        let mut orders: Vec<_> = orders.collect();
        orders.sort_by_key(|order| order.at);
        orders.into()
    }
}

const fn can_be_mended(what: &Break) -> bool {
    match what {
        Break::OpenWire { .. }
        | Break::Cut { .. }
        | Break::LoseGap { .. }
        | Break::PowerOff { .. }
        | Break::DeadPort { .. }
        | Break::Consume { .. } => true,
        Break::Noise { .. }
        | Break::Flip { .. }
        | Break::ForwardReset { .. }
        | Break::BackwardReset { .. }
        | Break::Probe { .. }
        | Break::Restart { .. } => false,
    }
}

impl Network {
    /// Does what is due.
    #[inline]
    pub(crate) fn obey_orders(&mut self) {
        while let Some(order) = self.orders.pop_front_if(|order| order.at <= self.now) {
            self.wake_all();
            self.obey(order);
        }
    }

    fn obey(&mut self, order: Order) {
        let Order { step, what, until, dice, .. } = order;
        let place = place_of(&what);
        self.log.tell(self.now, place, None, || {
            What::Fault(format!("{}{what}", if step == Step::Mend { "mended: " } else { "" }))
        });
        match what {
            Break::Noise { channel, errors, mean } => {
                self.wire(channel, |wire| wire.noise(errors, mean, until, dice));
            }
            Break::Flip { channel, bits } => {
                let now = self.now;
                self.wire(channel, |wire| wire.flip(now, bits));
            }
            Break::OpenWire { channel, wire: number } => self.wire(channel, |wire| match step {
                Step::Break => wire.open(number),
                Step::Mend => wire.close(number),
            }),
            Break::Cut { port } => self.cut(port, step),
            Break::LoseGap { channel } => {
                let ever = until == u64::MAX;
                self.wire(channel, |wire| match (step, ever) {
                    (Step::Break, true) => wire.lose_gaps(Gaps::Next),
                    (Step::Break, false) => wire.lose_gaps(Gaps::All),
                    (Step::Mend, _) => wire.keep_gaps(),
                });
            }
            Break::ForwardReset { port } => self.order(port, Symbol::ForwardReset),
            Break::BackwardReset { port } => self.order(port, Symbol::BackwardReset),
            Break::Probe { port, number } => self.order(port, Symbol::Probe(number)),
            Break::PowerOff { node } => self.power(node, step),
            Break::DeadPort { port } => self.port_power(port, step),
            Break::Consume { host, how } => {
                if let Some(host) = self.host(host) {
                    host.interface.set_consumption(match step {
                        Step::Break => how,
                        Step::Mend => host.consumption,
                    });
                }
            }
            Break::Restart { host } => {
                let (now, log) = (self.now, &mut self.log);
                let host = self.places.host(host).and_then(|host| self.hosts.get_mut(host));
                host.into_iter().for_each(|host| host.interface.reload(now, log));
            }
        }
    }

    fn wire(&mut self, channel: Port, change: impl FnOnce(&mut Wire)) {
        let circuit = self.places.circuit(channel).and_then(|circuit| self.circuits.get(circuit));
        let wire = circuit.and_then(|circuit| self.wires.get_mut(circuit.peer as usize));
        wire.map(change);
    }

    fn host(&mut self, node: NodeId) -> Option<&mut Host> {
        self.places.host(node).and_then(|host| self.hosts.get_mut(host))
    }

    /// Has a port send a symbol.
    fn order(&mut self, port: Port, symbol: Symbol) {
        let circuit = self.places.circuit(port).and_then(|circuit| self.circuits.get_mut(circuit));
        circuit.into_iter().for_each(|circuit| circuit.sender.order(symbol));
    }

    /// A cable is cut or mended: both its channels.
    fn cut(&mut self, port: Port, step: Step) {
        let Some(here) = self.places.circuit(port) else { return };
        let Some(there) = self.circuits.get(here).map(|circuit| circuit.peer as usize) else {
            return;
        };
        for end in [here, there] {
            let (Some(wire), Some(circuit)) = (self.wires.get_mut(end), self.circuits.get(end))
            else {
                continue;
            };
            match step {
                Step::Break => {
                    for id in wire.cut() {
                        self.log
                            .tell(self.now, circuit.port, Some(id), || What::Dropped(Rule("F-7")));
                    }
                }
                Step::Mend => wire.mend(),
            }
        }
    }

    /// A node loses its power, or has it again.
    fn power(&mut self, node: NodeId, step: Step) {
        let ports: Vec<Port> =
            self.places.circuits.keys().filter(|port| port.node == node).copied().collect();
        let (now, log) = (self.now, &mut self.log);
        match (self.places.nodes.get(&node), step) {
            (Some(Part::Host(host)), Step::Break) => {
                let host = self.hosts.get_mut(*host as usize);
                host.into_iter().for_each(|host| host.interface.power_off(now, log));
            }
            (Some(Part::Host(host)), Step::Mend) => {
                let host = self.hosts.get_mut(*host as usize);
                host.into_iter().for_each(|host| host.interface.power_on(now));
            }
            (Some(Part::Switch(switch)), Step::Break) => {
                let switch = self.switches.get_mut(*switch as usize);
                switch.into_iter().for_each(Switch::power_off);
            }
            (Some(Part::Switch(_)) | None, _) => {}
        }
        ports.into_iter().for_each(|port| self.port_power(port, step));
    }

    /// A port loses its power, or has it again.
    fn port_power(&mut self, port: Port, step: Step) {
        let Some(index) = self.places.circuit(port) else { return };
        let Some(circuit) = self.circuits.get_mut(index) else { return };
        match step {
            Step::Mend => circuit.power_on(self.now, &mut self.log),
            Step::Break => {
                let lost = circuit.reset_input(&mut self.switches);
                if let Some(id) = lost {
                    self.log.tell(self.now, port, Some(id), || What::Dropped(Rule("F-7")));
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
        let Source::Circuit(input) = circuit.source else { return };
        circuit.source = Source::Nowhere;
        let (now, log, current) = (self.now, &mut self.log, circuit.sender.current());
        if circuit.sender.sending() == Sending::Packet {
            log.tell(now, circuit.port, current, || What::Truncated(Rule("S-1")));
        }
        let Some(circuit) = self.circuits.get_mut(input as usize) else { return };
        let Sink::Switch(switch, Input::Connected(port, transit)) = circuit.sink else { return };
        if let Some(id) = transit.head() {
            log.tell(now, circuit.port, Some(id), || What::Dropped(Rule("S-1")));
        }
        circuit.sink = Sink::Switch(switch, Input::Discarding);
        if let Some(switch) = self.switches.get_mut(switch as usize) {
            switch.release(port);
        }
    }
}

/// Where a fault is told of.
const fn place_of(what: &Break) -> Port {
    match *what {
        Break::Noise { channel, .. }
        | Break::Flip { channel, .. }
        | Break::OpenWire { channel, .. }
        | Break::LoseGap { channel } => channel,
        Break::Cut { port }
        | Break::ForwardReset { port }
        | Break::BackwardReset { port }
        | Break::Probe { port, .. }
        | Break::DeadPort { port } => port,
        Break::PowerOff { node: host } | Break::Consume { host, .. } | Break::Restart { host } => {
            Port { node: host, port: HOST_PORT }
        }
    }
}
