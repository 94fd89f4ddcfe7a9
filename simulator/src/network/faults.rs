//! Applies the faults of a scenario at their times.

use std::collections::VecDeque;

use codec::character::Symbol;
use codec::route::PortId;
use codec::time::CharacterPeriod;

use crate::arena::{HostId, UnitId};
use crate::fault::{FaultKind, FaultSpec};
use crate::link::sender::SendState;
use crate::link::wire::{ChannelWire, LostGaps};
use crate::network::{HostUnit, Network, NodePart, TakenChannel};
use crate::port::{DataSink, DataSource};
use crate::rng::Rng;
use crate::switch::SwitchInputState;
use crate::topology::{NodeId, NodePort};
use crate::truth::{RuleId, TruthEventKind};

/// The beginning or end of a fault.
#[derive(Clone, Debug)]
pub(super) struct ScheduledFault {
    at: u64,
    step: FaultStep,
    place: NodePort,
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
            let (place, what) = (fault.place, fault.kind);
            let order = move |at, step| Self { at, step, place, what, until, rng: rng.clone() };
            // Noise ends by itself.
            let ends = what.lasts() && !matches!(what, FaultKind::Noise { .. });
            let mend = fault.until.filter(|_| ends);
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

impl Network {
    #[inline]
    pub(super) fn apply_due_faults(&mut self) {
        while let Some(order) = self.faults.pop_front_if(|order| order.at <= self.now) {
            self.wake_all();
            if self.clocks.is_none() {
                self.switches.iter_mut().for_each(|switch| switch.catch_up(self.now));
            }
            self.apply_fault(order);
        }
    }

    fn apply_fault(&mut self, order: ScheduledFault) {
        let ScheduledFault { step, place, what, until, rng, .. } = order;
        self.log.emit(self.now, place, None, || {
            TruthEventKind::Fault(format!(
                "{}{what}",
                if step == FaultStep::End { "mended: " } else { "" }
            ))
        });
        match what {
            FaultKind::Noise { errors, mean } => {
                let until = self.tick_at(self.far_node(place), until);
                self.wire(place, |wire| wire.noise(errors, mean, until, rng));
            }
            FaultKind::Flip { bits } => {
                let now = self.tick_at(self.far_node(place), self.now);
                self.wire(place, |wire| wire.flip(now, bits));
            }
            FaultKind::OpenWire { wire: number } => {
                self.wire(place, |wire| match step {
                    FaultStep::Begin => wire.open(number),
                    FaultStep::End => wire.close(number),
                });
            }
            FaultKind::Wires(fault) => {
                let unit = self.index.unit(place);
                let periods = unit.map_or(1, |unit| self.units[unit].clock.divisor());
                let period = periods * CharacterPeriod::FULL_RATE.fs();
                self.wire(place, |wire| match step {
                    FaultStep::Begin => wire.disturb(fault, period, rng),
                    FaultStep::End => wire.end_disturbance(fault),
                });
            }
            FaultKind::Cut => self.cut(place, step),
            FaultKind::LoseGap => {
                let ever = until == u64::MAX;
                self.wire(place, |wire| match (step, ever) {
                    (FaultStep::Begin, true) => wire.lose_gaps(LostGaps::Next),
                    (FaultStep::Begin, false) => wire.lose_gaps(LostGaps::All),
                    (FaultStep::End, _) => wire.stop_losing_gaps(),
                });
            }
            FaultKind::ForwardReset => self.queue_symbol(place, Symbol::ForwardReset),
            FaultKind::BackwardReset => self.queue_symbol(place, Symbol::BackwardReset),
            FaultKind::Probe(number) => self.queue_symbol(place, Symbol::Probe(number)),
            FaultKind::PowerOff => self.power(place.node, step),
            FaultKind::SupplyOff => self.supply(place.node, step),
            FaultKind::DeadPort => self.power_of_ports(place.node, Some(place.port), step),
            FaultKind::Consume(how) => {
                if let Some(host) = self.host(place.node) {
                    host.interface.set_consumption(match step {
                        FaultStep::Begin => how,
                        FaultStep::End => host.consumption,
                    });
                }
            }
            FaultKind::Restart => {
                let now = self.tick_at(place.node, self.now);
                let Some(host) = self.index.host(place.node) else { return };
                self.hosts[host].interface.reload(now, &mut self.log);
            }
        }
    }

    fn wire(&mut self, channel: NodePort, change: impl FnOnce(&mut ChannelWire)) {
        if let Some(unit) = self.index.unit(channel) {
            change(&mut self.wires[self.units[unit].peer]);
        }
    }

    fn host(&mut self, node: NodeId) -> Option<&mut HostUnit> {
        self.index.host(node).map(|host| &mut self.hosts[host])
    }

    /// Makes a port send a symbol.
    fn queue_symbol(&mut self, port: NodePort, symbol: Symbol) {
        if let Some(unit) = self.index.unit(port) {
            self.units[unit].sender.queue_symbol(symbol);
        }
    }

    /// Cuts or mends both channels of a cable.
    fn cut(&mut self, port: NodePort, step: FaultStep) {
        let Some(here) = self.index.unit(port) else { return };
        for end in [here, self.units[here].peer] {
            let (wire, unit) = (&mut self.wires[end], &self.units[end]);
            match step {
                FaultStep::Begin => {
                    for id in wire.cut() {
                        self.log.drop_packet(self.now, unit.port, Some(id), RuleId("F-7"));
                    }
                }
                FaultStep::End => wire.mend(),
            }
        }
    }

    /// Switches one supply of a node off or on; the power follows the last one of them. S-10
    fn supply(&mut self, node: NodeId, step: FaultStep) {
        let supplies = match self.index.nodes.get(&node) {
            Some(NodePart::Switch(switch)) => self.switches[*switch].parameters().supplies,
            Some(NodePart::Host(_) | NodePart::Router(_)) | None => 1,
        };
        let off = self.supplies_off.entry(node).or_default();
        let before = *off;
        *off = match step {
            FaultStep::Begin => before + 1,
            FaultStep::End => before.saturating_sub(1),
        };
        if before.max(*off) == u32::from(supplies) {
            self.power(node, step);
        }
    }

    /// Switches the power of a node off or on.
    fn power(&mut self, node: NodeId, step: FaultStep) {
        let (now, log) = (self.tick_at(node, self.now), &mut self.log);
        let interfaces: &[HostId] = match (self.index.nodes.get(&node), step) {
            (Some(NodePart::Host(host)), _) => std::slice::from_ref(host),
            (Some(NodePart::Router(ports)), _) => ports,
            (Some(NodePart::Switch(switch)), FaultStep::Begin) => {
                self.switches[*switch].power_off();
                &[]
            }
            (Some(NodePart::Switch(_)) | None, _) => &[],
        };
        for host in interfaces {
            let host = &mut self.hosts[*host];
            match step {
                FaultStep::Begin => {
                    // The rest of the packet that it was taking may never come. C-7
                    host.taken = TakenChannel::Between(0);
                    host.interface.power_off(now, log);
                }
                FaultStep::End => host.interface.power_on(now),
            }
        }
        self.power_of_ports(node, None, step);
    }

    /// Switches the power of a port of a node off or on, or of all, with their virtual channels.
    fn power_of_ports(&mut self, node: NodeId, only: Option<PortId>, step: FaultStep) {
        let fits = |port: &&NodePort| {
            port.node == node && only.is_none_or(|only| only == port.whole().port)
        };
        let ports: Vec<NodePort> = self.index.units.keys().filter(fits).copied().collect();
        ports.into_iter().for_each(|port| self.port_power(port, step));
    }

    /// Switches the power of a port off or on.
    fn port_power(&mut self, port: NodePort, step: FaultStep) {
        let Some(index) = self.index.unit(port) else { return };
        let now = self.tick_at(port.node, self.now);
        let unit = &mut self.units[index];
        match step {
            FaultStep::End => unit.power_on(now, &mut self.log),
            FaultStep::Begin => {
                let lost = unit.reset_input(&mut self.switches);
                if let Some(id) = lost {
                    self.log.drop_packet(self.now, port, Some(id), RuleId("F-7"));
                }
                self.end_path(index);
                self.units[index].power_off(now, &mut self.log);
            }
        }
    }

    /// Breaks the connection of the packet that an output of a switch is sending. S-1
    fn end_path(&mut self, output: UnitId) {
        let unit = &mut self.units[output];
        let DataSource::Circuit(input) = unit.source else { return };
        unit.source = DataSource::Nowhere;
        let (now, log, current) = (self.now, &mut self.log, unit.sender.current());
        if unit.sender.sending() == SendState::Packet {
            log.emit(now, unit.port, current, || TruthEventKind::Truncated(RuleId("S-1")));
        }
        let unit = &mut self.units[input];
        let DataSink::Switch(switch, SwitchInputState::Connected(port, transit)) = unit.sink else {
            return;
        };
        if let Some(id) = transit.head() {
            log.drop_packet(now, unit.port, Some(id), RuleId("S-1"));
        }
        unit.sink = DataSink::Switch(switch, SwitchInputState::Discarding);
        self.switches[switch].release(port);
    }
}
