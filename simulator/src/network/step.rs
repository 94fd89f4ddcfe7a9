//! One period of a network in two phases: all ports receive, then all nodes decide and all ports
//! send. A decision takes effect at other parts in the next period.

use codec::time::Tick;

use crate::arena::{HostId, PartNumber, ShareId, SwitchId, UnitId};
use crate::fault::ProbeAction;
use crate::link::receiver::PortRequest;
use crate::link::shared_line::SHARES_MAX;
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::TaggedChar;
use crate::network::{HostUnit, Network, SimulationEngine};
use crate::port::{DataSink, DataSource, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::{RuleId, TraceContext, TruthEventKind};
use crate::wires::line::ChangedCharacter;

mod choice;
mod extended_switching;
mod fibre;
mod reception;
pub(super) mod sharing;
mod switching;

use super::active_set::{ActiveSet, PartSet};
use super::catch_up::PhaseTimes;
use super::schedule::PortEnd;
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
    fn visit<I: PartNumber>(
        &mut self,
        set: fn(&ActiveSet) -> &PartSet<I>,
        process: impl Fn(&mut Self, I),
    ) {
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
    fn receive(&mut self, index: UnitId) {
        let mut fills = [0; SHARES_MAX];
        for (fill, lane) in fills.iter_mut().zip(self.lanes(index)) {
            *fill = self.units[lane].receiver.fill();
        }
        if self.clocks.is_some() {
            self.receive_arrived(index);
        } else if let Some(slot) = self.units[index].clock.receive_slot(self.now) {
            self.receive_from_wire(index, slot);
        }
        for (fill, lane) in fills.into_iter().zip(self.lanes(index)) {
            self.end_reception(lane, fill);
        }
    }

    /// Does what follows the character of a period at a port or virtual channel, given the fill of its
    /// slack buffer before.
    #[inline]
    fn end_reception(&mut self, index: UnitId, fill: u32) {
        let now = self.now;
        let unit = &mut self.units[index];
        if unit.receiver.has_own_time() && tick_own_time(unit, now, &mut self.log) {
            self.wake(PortEnd::Sender, index);
        }
        self.acknowledge(index);
        let Self { units, switches, log, active, .. } = self;
        let unit = &mut units[index];
        if let DataSink::Switch(switch, input) = unit.sink
            && unit.receiver.fill() > 0
        {
            match input {
                SwitchInputState::Empty
                | SwitchInputState::Storing
                | SwitchInputState::Decoding(_)
                | SwitchInputState::Discarding => {
                    active.switches.insert(switch);
                    advance(unit, &mut switches[switch], now, log);
                }
                SwitchInputState::Connected(..) if unit.receiver.fill() > fill => {
                    let output = unit.downstream;
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
    pub(super) fn receive_from_wire(&mut self, index: UnitId, slot: u64) {
        if self.wires[index].cells().is_empty() {
            self.catch_up_sender(self.units[index].peer);
        }
        let Self { now, units, wires, recorder, log, .. } = self;
        let (unit, wire) = (&mut units[index], &mut wires[index]);
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
        if self.units[index].line.is_none() || self.receive_shared(index, cell, slot).is_none() {
            self.receive_at(index, index, cell, slot);
        }
        self.active.calm_receivers.insert(index);
    }

    /// Receives a character at a port, which has come on the wire of a port.
    #[inline]
    fn receive_at(&mut self, index: UnitId, from: UnitId, cell: TaggedChar, slot: u64) {
        let unit = &mut self.units[index];
        let quick = match unit.power {
            PowerState::On => unit.receiver.receive_simple(cell, unit.sender.last_received()),
            PowerState::Off { .. } => None,
        };
        if quick.is_none() {
            self.receive_slowly(index, from, cell, slot);
        }
        self.units[index].trace_fill(self.now, slot, &mut self.log);
    }

    /// Receives a character other than fill or a byte within a packet.
    fn receive_slowly(&mut self, index: UnitId, from: UnitId, cell: TaggedChar, slot: u64) {
        let Self { now, units, wires, log, .. } = self;
        let (unit, wire) = (&mut units[index], &mut wires[from]);
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
        let unit = &mut units[index];
        let trace = &mut TraceContext { now: *now, slot, place: unit.port, log };
        unit.handle(request, trace);
        if let (PortRequest::Probe(number), DataSink::Host(host)) = (request, unit.sink)
            && unit.probe_action(number) == Some(ProbeAction::Reset)
        {
            active.hosts.insert(host);
            hosts[host].interface.restart_program(*now, trace.log);
        }
        if request == PortRequest::Reset {
            match unit.sink {
                DataSink::Host(host) => active.hosts.insert(host),
                DataSink::Switch(switch, _) => active.switches.insert(switch),
            }
            reset_sink(unit, switches, hosts, trace);
            self.pass_reset(index);
        }
    }

    /// Advances an active host; of a host with several interfaces first those that are due before
    /// it, in the order of nodes. I-7
    #[inline]
    fn decide_host(&mut self, number: HostId) {
        match self.hosts[number].share {
            None => self.decide_interface(number),
            Some(share) => self.decide_shared(number, share),
        }
    }

    fn decide_shared(&mut self, number: HostId, share: ShareId) {
        let now = self.now;
        for at in 0.. {
            let Some(member) = self.shares[share].members.get(at).copied() else { return };
            let host = &mut self.hosts[member];
            let is_due = member == number || now >= host.interface.due();
            if is_due && host.decided <= now {
                host.decided = now + 1;
                self.decide_interface(member);
            }
        }
    }

    /// Advances an active interface, which takes one character.
    #[inline]
    fn decide_interface(&mut self, number: HostId) {
        let now = self.now;
        let HostUnit { unit, interface, .. } = &self.hosts[number];
        let (ticks, port) = (now >= interface.due(), *unit);
        if let (true, Some(port)) = (ticks, port)
            && self.sleep[port].absorbs()
        {
            self.wake(PortEnd::Receiver, port);
        }
        if let (true, Some(port)) = (ticks, port)
            && self.hosts[number].interface.may_be_delayed()
        {
            self.catch_up_sender(port);
        }
        let HostUnit { interface, share, .. } = &mut self.hosts[number];
        match *share {
            None => interface.tick(now, &mut self.log),
            Some(share) => {
                let share = &mut self.shares[share].share;
                interface.exchange(share);
                interface.tick(now, &mut self.log);
                interface.exchange(share);
            }
        }
        self.pass_packets(number);
        let Self { hosts, units, active, log, sleep, .. } = self;
        let host = &mut hosts[number];
        let Some(port) = port else {
            active.hosts.remove(number);
            self.schedule_host(number);
            return;
        };
        let sleep = &sleep[port];
        if !sleep.absorbs() && take(host, units, port, (now, log)) {
            active.wake(PortEnd::Receiver, port);
        }
        let unit = &mut units[port];
        let source = if host.interface.offered() == SourceItem::Nothing {
            DataSource::Nowhere
        } else {
            DataSource::Host(number)
        };
        if source != unit.source || ticks && source != DataSource::Nowhere {
            active.wake(PortEnd::Sender, port);
        }
        // It may be that it takes one later now.
        if ticks && (unit.lanes > 1 || unit.receiver.fill() > 0) {
            active.wake(PortEnd::Receiver, port);
        }
        unit.source = source;
        if sleep.receiver.is_some() && sleep.sender.is_some() {
            active.hosts.remove(number);
        }
        self.schedule_host(number);
        self.wake_marked();
    }

    fn decide_switch(&mut self, number: SwitchId) {
        let Self { now, switches, units, active, log, .. } = self;
        let switch = &mut switches[number];
        active.switches.remove(number);
        if switch.is_calm() {
            return;
        }
        switch.catch_up(*now);
        sever(switch, units, active, *now, log);
        for input in switch.ready() {
            let unit = self.switches[number].cabled(input);
            self.look_at(unit);
        }
        let Self { now, switches, units, active, log, .. } = self;
        let switch = &mut switches[number];
        select(switch, units, active, *now, log);
        let mut granted = std::mem::take(&mut self.granted);
        switch.arbitrate(*now, &mut |input, output| granted.push((input, output)));
        for (input, output) in granted.drain(..) {
            let from = self.switches[number].cabled(input);
            self.look_at(from);
            self.form_answer(number, input);
            let Self { now, switches, units, active, log, .. } = self;
            let switch = &mut switches[number];
            connect(switch, units, active, (input, output), (*now, log));
        }
        self.granted = granted;
        self.schedule_switch(number);
    }

    /// Adds what a sleeping receiver has stored to its slack buffer, which is looked at now.
    #[inline]
    fn look_at(&mut self, input: UnitId) {
        if self.sleep[self.units[input].first].absorbs() {
            self.catch_up_receiver(input);
        }
    }

    /// Sends the character of a period from a port.
    #[inline]
    fn send(&mut self, index: UnitId) {
        let unit = &mut self.units[index];
        let Some(slot) = unit.clock.send_slot(self.now) else { return };
        let peer = unit.peer;
        if let DataSource::Circuit(input) = unit.source
            && unit.receiver.is_calm()
            && unit.tapped.is_none()
            && unit.line.is_none()
            && unit.power == PowerState::On
            && unit.sender.streams(slot)
        {
            self.look_at(input);
            if let Some(cell) = self.units[input].stream() {
                if self.units[input].is_watched() {
                    self.wake(PortEnd::Receiver, input);
                }
                self.units[index].counters.data += 1;
                self.active.calm_senders.insert(index);
                self.put(peer, slot, cell);
                return;
            }
        }
        let unit = &mut self.units[index];
        let calm = unit.source == DataSource::Nowhere
            && unit.line.is_none()
            && unit.receiver.is_calm()
            && unit.power == PowerState::On;
        let quick = if calm { unit.sender.idle(slot) } else { None };
        let cell = match quick {
            Some(cell) => cell,
            None => self.choose_shared(index, slot).unwrap_or_else(|| self.choose(index, slot)),
        };
        self.active.calm_senders.insert(index);
        self.put(peer, slot, cell);
        if let Some(tapped) = &self.units[index].tapped
            && tapped.is_on(self.now)
        {
            self.recorder.push(tapped.outgoing as usize, Tick(slot), cell.character());
        }
    }

    /// Puts a character on the wire to a port.
    #[inline]
    fn put(&mut self, receiver: UnitId, slot: u64, cell: TaggedChar) {
        let cell = self.wires[receiver].put(cell);
        self.announce(receiver, slot, cell);
    }
}
