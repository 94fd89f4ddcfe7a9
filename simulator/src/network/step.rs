//! One period of a network in two phases: all ports receive, then all nodes decide and all ports
//! send. A decision takes effect at other parts in the next period.

use codec::time::Tick;

use crate::fault::ProbeAction;
use crate::link::receiver::PortRequest;
use crate::link::shared_line::LineShare;
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::TaggedChar;
use crate::network::{HostUnit, Network, SharedHost, SimulationEngine};
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::{RuleId, TraceContext, TruthEventKind};
use crate::wires::line::ChangedCharacter;

mod choice;
mod extended_switching;
mod fibre;
mod reception;
mod sharing;
mod switching;

use super::active_set::{ActiveSet, PartSet};
use super::catch_up::PhaseTimes;
use super::{schedule::PortEnd, sleep::PortSleep};
use reception::{reset_sink, tick_own_time};
use sharing::take;
use switching::{advance, connect, select, sever};

impl Network {
    /// Simulates one period, processing every part.
    pub fn step(&mut self) {
        if self.clocks.is_some() {
            return self.run_unlike(SimulationEngine::Step, self.now + 1);
        }
        self.wake_all();
        self.period();
    }

    /// Simulates one period, processing the active parts.
    #[inline]
    pub(super) fn period(&mut self) {
        self.apply_due_faults();
        self.tick();
    }

    /// Simulates one tick of all nodes, or of those with the same clock.
    #[inline]
    pub(super) fn tick(&mut self) {
        self.wake_due();
        self.phases();
        self.now += 1;
        self.times = PhaseTimes::all(self.now);
    }

    /// The two phases of the active parts.
    #[inline]
    fn phases(&mut self) {
        self.times.receive = self.now + 1;
        self.visit(|active| &active.receiving, Self::receive);
        self.visit(|active| &active.hosts, Self::decide_host);
        self.times.take = self.now + 1;
        self.visit(|active| &active.switches, Self::decide_switch);
        self.wake_marked();
        self.times.send = self.now + 1;
        self.visit(|active| &active.sending, Self::send);
        self.wake_marked();
    }

    /// Processes the parts that are in a set of active ones now.
    #[inline]
    fn visit(&mut self, set: fn(&ActiveSet) -> &PartSet, process: impl Fn(&mut Self, usize)) {
        if !set(&self.active).is_empty() {
            let mut parts = self.active.take(set);
            while let Some(part) = parts.pop() {
                process(self, part);
            }
            self.active.give_back(parts);
        }
    }

    /// Receives the character of a period at a port, and advances its switch input.
    #[inline]
    fn receive(&mut self, index: usize) {
        let now = self.now;
        let Some(unit) = self.units.get(index) else { return };
        let fill = unit.receiver.fill();
        if matches!(unit.line, LineShare::Further) {
            // The first virtual channel of the port has received its character.
        } else if self.clocks.is_some() {
            self.receive_arrived(index);
        } else if let Some(slot) = unit.clock.receive_slot(now) {
            self.receive_from_wire(index, slot);
        }
        let Self { units, log, .. } = self;
        let Some(unit) = units.get_mut(index) else { return };
        if unit.receiver.has_own_time() && tick_own_time(unit, now, log) {
            self.wake(PortEnd::Sender, index);
        }
        self.acknowledge(index);
        let Self { units, switches, log, active, .. } = self;
        let Some(unit) = units.get_mut(index) else { return };
        if let DataSink::Switch(switch, input) = unit.sink
            && unit.receiver.fill() > 0
        {
            match input {
                SwitchInputState::Empty
                | SwitchInputState::Storing
                | SwitchInputState::Decoding(_)
                | SwitchInputState::Discarding => {
                    active.switches.insert(switch as usize);
                    advance(unit, switches.get_mut(switch as usize), now, log);
                }
                SwitchInputState::Connected(..) if unit.receiver.fill() > fill => {
                    let output = unit.downstream as usize;
                    self.wake(PortEnd::Sender, output);
                }
                SwitchInputState::Connected(..)
                | SwitchInputState::Ready
                | SwitchInputState::Waiting(_)
                | SwitchInputState::Extended => {}
            }
        }
    }

    #[inline]
    pub(super) fn receive_from_wire(&mut self, index: usize, slot: u64) {
        if self.wires.get(index).is_some_and(|wire| wire.cells().is_empty()) {
            self.catch_up_sender(self.units.get(index).map_or(0, |unit| unit.peer as usize));
        }
        let Self { now, units, wires, recorder, log, .. } = self;
        let (Some(unit), Some(wire)) = (units.get_mut(index), wires.get_mut(index)) else { return };
        let cell = wire.arrive(*now);
        if !wire.is_sound()
            && let Some(ChangedCharacter { sent, received }) = wire.take_changed()
        {
            let kind = TruthEventKind::WireError { character: slot, sent, received };
            log.emit(*now, unit.port.whole(), None, || kind);
        }
        if let Some(tapped) = &unit.tapped
            && tapped.is_on(*now)
        {
            recorder.push(tapped.incoming as usize, Tick(slot), cell.character());
        }
        if let (Some(end), PowerState::On) = (&mut unit.handshake, unit.power)
            && cell.bits() != TaggedChar::IDLE.bits()
        {
            end.received(*now);
        }
        if matches!(unit.line, LineShare::Whole) || self.receive_shared(index, cell, slot).is_none()
        {
            self.receive_at(index, index, cell, slot);
        }
    }

    /// Receives a character at a port, which has come on the wire of a port.
    #[inline]
    fn receive_at(&mut self, index: usize, from: usize, cell: TaggedChar, slot: u64) {
        let Self { units, active, .. } = self;
        let Some(unit) = units.get_mut(index) else { return };
        let quick = match unit.power {
            PowerState::On => unit.receiver.receive_simple(cell, unit.sender.last_received()),
            PowerState::Off { .. } => None,
        };
        active.calm_receivers.insert(index);
        if quick.is_none() {
            self.receive_slowly(index, from, cell, slot);
        }
        let Self { now, units, log, .. } = self;
        units.get_mut(index).into_iter().for_each(|unit| unit.trace_fill(*now, slot, log));
    }

    /// Receives a character other than fill or a byte within a packet.
    fn receive_slowly(&mut self, index: usize, from: usize, cell: TaggedChar, slot: u64) {
        let Self { now, units, wires, log, .. } = self;
        let (Some(unit), Some(wire)) = (units.get_mut(index), wires.get_mut(from)) else { return };
        let trace = &mut TraceContext { now: *now, slot, place: unit.port, log };
        let head = if cell.is_head() { wire.head() } else { None };
        if unit.power != PowerState::On {
            if let Some(id) = head {
                trace.drop_packet(Some(id), RuleId("F-7"));
            }
            return;
        }
        let request = unit.receiver.receive(cell, head, trace);
        if request == PortRequest::Nothing && unit.receiver.is_calm() {
            return;
        }
        self.wake(PortEnd::Sender, index);
        let Self { now, units, switches, hosts, log, active, .. } = self;
        let Some(unit) = units.get_mut(index) else { return };
        let trace = &mut TraceContext { now: *now, slot, place: unit.port, log };
        unit.handle(request, trace);
        if let (PortRequest::Probe(number), DataSink::Host(host)) = (request, unit.sink)
            && unit.probe_action(number) == Some(ProbeAction::Reset)
            && let Some(HostUnit { interface, .. }) = hosts.get_mut(host as usize)
        {
            active.hosts.insert(host as usize);
            interface.restart_program(*now, trace.log);
        }
        if request == PortRequest::Reset {
            match unit.sink {
                DataSink::Host(host) => active.hosts.insert(host as usize),
                DataSink::Switch(switch, _) => active.switches.insert(switch as usize),
            }
            reset_sink(unit, switches, hosts, trace);
            self.pass_reset(index);
        }
    }

    /// Advances an active host; of a host with several interfaces first those that are due before
    /// it, in the order of nodes. I-7
    #[inline]
    fn decide_host(&mut self, number: usize) {
        match self.hosts.get(number).and_then(|host| host.share) {
            None => self.decide_interface(number),
            Some(share) => self.decide_shared(number, share as usize),
        }
    }

    fn decide_shared(&mut self, number: usize, share: usize) {
        let now = self.now;
        for at in 0.. {
            let member = self.shares.get(share).and_then(|shared| shared.members.get(at));
            let Some(member) = member.map(|member| *member as usize) else { return };
            let Some(host) = self.hosts.get_mut(member) else { return };
            let is_due = member == number || now >= host.interface.due();
            if is_due && host.decided <= now {
                host.decided = now + 1;
                self.decide_interface(member);
            }
        }
    }

    /// Advances an active interface, which takes one character.
    #[inline]
    fn decide_interface(&mut self, number: usize) {
        let now = self.now;
        let Some(HostUnit { unit, interface, .. }) = self.hosts.get(number) else { return };
        let (ticks, port) = (now >= interface.due(), *unit);
        if let (true, Some(port)) = (ticks, port)
            && self.sleep.get(port as usize).is_some_and(PortSleep::absorbs)
        {
            self.wake(PortEnd::Receiver, port as usize);
        }
        if let (true, Some(port)) = (ticks, port)
            && self.hosts.get(number).is_some_and(|host| host.interface.may_be_delayed())
        {
            self.catch_up_sender(port as usize);
        }
        let Self { hosts, shares, log, .. } = self;
        let Some(HostUnit { interface, share, .. }) = hosts.get_mut(number) else { return };
        let shared = share.and_then(|share| shares.get_mut(share as usize));
        match shared {
            None => interface.tick(now, log),
            Some(SharedHost { share, .. }) => {
                interface.exchange(share);
                interface.tick(now, log);
                interface.exchange(share);
            }
        }
        self.pass_packets(number);
        let Self { hosts, units, active, log, sleep, .. } = self;
        let Some(host) = hosts.get_mut(number) else { return };
        let channel = port.unwrap_or(u32::MAX);
        let Some(sleep) = sleep.get(channel as usize) else {
            active.hosts.remove(number);
            self.schedule_host(number);
            return;
        };
        if !sleep.absorbs() && take(host, units, channel, (now, log)) {
            active.wake(PortEnd::Receiver, channel);
        }
        let (Some(unit), interface) = (units.get_mut(channel as usize), &mut host.interface) else {
            return;
        };
        let source = if interface.offered() == SourceItem::Nothing {
            DataSource::Nowhere
        } else {
            DataSource::Host(u32::try_from(number).unwrap_or(u32::MAX))
        };
        if source != unit.source || ticks && source != DataSource::Nowhere {
            active.wake(PortEnd::Sender, channel);
        }
        // It may be that it takes one later now.
        if ticks && unit.receiver.fill() > 0 {
            active.wake(PortEnd::Receiver, channel);
        }
        unit.source = source;
        if sleep.receiver.is_some() && sleep.sender.is_some() {
            active.hosts.remove(number);
        }
        self.schedule_host(number);
        self.wake_marked();
    }

    fn decide_switch(&mut self, number: usize) {
        let Self { now, switches, units, active, log, .. } = self;
        let Some(switch) = switches.get_mut(number) else { return };
        active.switches.remove(number);
        if switch.is_calm() {
            return;
        }
        switch.catch_up(*now);
        sever(switch, units, active, *now, log);
        for input in switch.ready() {
            let unit = self.switches.get(number).and_then(|switch| switch.unit(input));
            unit.into_iter().for_each(|unit| self.look_at(unit as usize));
        }
        let Self { now, switches, units, active, log, .. } = self;
        let Some(switch) = switches.get_mut(number) else { return };
        select(switch, units, active, *now, log);
        let mut granted = std::mem::take(&mut self.granted);
        switch.arbitrate(*now, &mut |input, output| granted.push((input, output)));
        for (input, output) in granted.drain(..) {
            let from = self.switches.get(number).and_then(|switch| switch.unit(input));
            from.into_iter().for_each(|from| self.look_at(from as usize));
            self.form_answer(number, input);
            let Self { now, switches, units, active, log, .. } = self;
            let Some(switch) = switches.get_mut(number) else { continue };
            connect(switch, units, active, (input, output), (*now, log));
        }
        self.granted = granted;
        self.schedule_switch(number);
    }

    /// Adds what a sleeping receiver has stored to its slack buffer, which is looked at now.
    #[inline]
    fn look_at(&mut self, input: usize) {
        if self.sleep.get(input).is_some_and(PortSleep::absorbs) {
            self.catch_up_receiver(input);
        }
    }

    /// Sends the character of a period from a port.
    #[inline]
    fn send(&mut self, index: usize) {
        let Some(unit) = self.units.get_mut(index) else { return };
        let Some(slot) = unit.clock.send_slot(self.now) else { return };
        if matches!(unit.line, LineShare::Further) {
            return;
        }
        let peer = unit.peer as usize;
        if let DataSource::Circuit(input) = unit.source
            && unit.receiver.is_calm()
            && unit.tapped.is_none()
            && matches!(unit.line, LineShare::Whole)
            && unit.power == PowerState::On
            && unit.sender.streams(slot)
        {
            self.look_at(input as usize);
            if let Some(cell) = self.units.get_mut(input as usize).and_then(PortUnit::stream) {
                let watched = self.units.get(input as usize).is_some_and(PortUnit::is_watched);
                if watched {
                    self.wake(PortEnd::Receiver, input as usize);
                }
                self.units.get_mut(index).into_iter().for_each(|it| it.counters.data += 1);
                self.active.calm_senders.insert(index);
                self.put(peer, slot, cell);
                return;
            }
        }
        let Some(unit) = self.units.get_mut(index) else { return };
        let calm = unit.source == DataSource::Nowhere
            && matches!(unit.line, LineShare::Whole)
            && unit.receiver.is_calm()
            && unit.power == PowerState::On;
        let quick = if calm { unit.sender.idle(slot) } else { None };
        let cell = match quick {
            Some(cell) => cell,
            None => self.choose_shared(index, slot).unwrap_or_else(|| self.choose(index, slot)),
        };
        self.active.calm_senders.insert(index);
        self.put(peer, slot, cell);
        if let Some(tapped) = self.units.get(index).and_then(|c| c.tapped.as_ref())
            && tapped.is_on(self.now)
        {
            self.recorder.push(tapped.outgoing as usize, Tick(slot), cell.character());
        }
    }

    /// Puts a character on the wire to a port.
    #[inline]
    fn put(&mut self, receiver: usize, slot: u64, cell: TaggedChar) {
        if let Some(wire) = self.wires.get_mut(receiver) {
            let cell = wire.put(cell);
            self.announce(receiver, slot, cell);
        }
    }
}
