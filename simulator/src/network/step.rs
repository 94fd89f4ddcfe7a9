//! One period of a network in two phases: all ports receive, then all nodes decide and all ports
//! send. A decision takes effect at other parts in the next period.

use codec::time::Tick;

use crate::link::receiver::PortRequest;
use crate::link::sender::{PacketRest, SendState};
use crate::link::source_item::{AcceptMode, SendDecision, SourceItem};
use crate::link::tagged_char::TaggedChar;
use crate::link::wire::ChannelWire;
use crate::network::{HostUnit, Network};
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::{Switch, SwitchInputState};
use crate::truth::{RuleId, StopGo, TraceContext, TruthEventKind, TruthLog};

mod extended_switching;
mod switching;

use switching::{advance, connect, select, sever};

impl Network {
    /// Simulates one period, processing every part.
    pub fn step(&mut self) {
        self.wake_all();
        self.period();
    }

    /// Simulates one period, processing the active parts.
    #[inline]
    pub(super) fn period(&mut self) {
        self.apply_due_faults();
        self.wake_due();
        self.receive_all();
        self.wake_pending(self.now + 1, self.now);
        self.decide_hosts();
        self.decide_switches();
        self.wake_pending(self.now + 1, self.now);
        self.send_all();
        self.wake_pending(self.now + 1, self.now + 1);
        self.now += 1;
    }

    fn receive_all(&mut self) {
        let Self { now, units, wires, switches, hosts, log, recorder, active: attention, .. } =
            self;
        let (now, mut hearing) = (*now, attention.take_receiving());
        while let Some(index) = hearing.pop() {
            let (Some(unit), Some(wire)) = (units.get_mut(index), wires.get_mut(index)) else {
                continue;
            };
            let fill = unit.receiver.fill();
            if let Some(slot) = unit.clock.receive_slot(now) {
                let cell = wire.arrive(now);
                if let Some(tapped) = &unit.tapped
                    && tapped.is_on(now)
                {
                    recorder.push(tapped.incoming as usize, Tick(slot), cell.character());
                }
                let quick = match unit.power {
                    PowerState::On => {
                        unit.receiver.receive_simple(cell, unit.sender.last_received())
                    }
                    PowerState::Off { .. } => None,
                };
                if quick.is_none() {
                    if unit.power == PowerState::On {
                        attention.wake(unit.peer);
                    }
                    let trace = &mut TraceContext { now, slot, place: unit.port, log };
                    if receive_char(unit, wire, cell, trace) == PortRequest::Reset {
                        attention.host_due(0);
                        reset_sink(unit, switches, hosts, trace);
                    }
                }
                if let Some(watch) = &mut unit.fill_trace {
                    let trace = &mut TraceContext { now, slot, place: unit.port, log };
                    watch.record(unit.receiver.fill(), trace);
                }
            }
            if unit.receiver.has_own_time() {
                tick_own_time(unit, now, log);
            }
            if let DataSink::Switch(switch, input) = unit.sink
                && unit.receiver.fill() > 0
            {
                match input {
                    SwitchInputState::Empty
                    | SwitchInputState::Decoding(_)
                    | SwitchInputState::Discarding => {
                        advance(unit, switches.get_mut(switch as usize), now, log);
                    }
                    SwitchInputState::Connected(..) if unit.receiver.fill() > fill => {
                        attention.wake(unit.downstream);
                    }
                    SwitchInputState::Connected(..)
                    | SwitchInputState::Ready
                    | SwitchInputState::Waiting(_)
                    | SwitchInputState::Extended => {}
                }
            }
        }
        attention.give_back(hearing);
    }

    /// Advances the active hosts, which take one character each.
    fn decide_hosts(&mut self) {
        let Self { now, hosts, units, active: attention, log, .. } = self;
        if *now >= attention.hosts_due {
            attention.hosts_due = u64::MAX;
            for (number, HostUnit { interface, .. }) in hosts.iter().enumerate() {
                if interface.due() <= *now {
                    attention.hosts.insert(number);
                }
                attention.host_due(interface.due());
            }
        }
        let mut deciding = attention.take_hosts();
        while let Some(number) = deciding.pop() {
            let Some(HostUnit { unit, interface, .. }) = hosts.get_mut(number) else { continue };
            let ticks = *now >= interface.due();
            interface.tick(*now, log);
            attention.host_due(interface.due());
            let channel = unit.unwrap_or(u32::MAX);
            let Some(unit) = units.get_mut(channel as usize) else {
                attention.hosts.remove(number);
                continue;
            };
            if unit.receiver.fill() > 0
                && interface.takes(*now, unit.receiver.last_command())
                && let Some((cell, head)) = unit.receiver.take()
            {
                attention.wake(channel);
                interface.take(*now, cell, head, log);
                attention.host_due(interface.due());
            }
            let source = if interface.offered() == SourceItem::Nothing {
                DataSource::Nowhere
            } else {
                DataSource::Host(u32::try_from(number).unwrap_or(u32::MAX))
            };
            if source != unit.source || ticks && source != DataSource::Nowhere {
                attention.wake(unit.peer);
            }
            // It may be that it takes one later now.
            if ticks && unit.receiver.fill() > 0 {
                attention.wake(channel);
            }
            unit.source = source;
            if !attention.is_awake(channel as usize) && !attention.is_awake(unit.peer as usize) {
                attention.hosts.remove(number);
            }
        }
        attention.give_back(deciding);
    }

    fn decide_switches(&mut self) {
        let Self { now, switches, units, active: attention, log, .. } = self;
        for switch in switches.iter_mut().filter(|switch| !switch.is_calm()) {
            sever(switch, units, attention, *now, log);
            select(switch, units, attention, *now, log);
            connect(switch, units, attention, *now, log);
        }
    }

    fn send_all(&mut self) {
        let mut sending = self.active.take_sending();
        while let Some(index) = sending.pop() {
            let Some(unit) = self.units.get_mut(index) else { continue };
            let Some(slot) = unit.clock.send_slot(self.now) else { continue };
            let peer = unit.peer as usize;
            if let DataSource::Circuit(input) = unit.source
                && unit.receiver.is_calm()
                && unit.tapped.is_none()
                && unit.power == PowerState::On
                && unit.sender.streams(slot)
                && let Some(cell) = self.units.get_mut(input as usize).and_then(PortUnit::stream)
            {
                self.active.wake(input);
                self.units.get_mut(index).into_iter().for_each(|it| it.counters.data += 1);
                self.wires.get_mut(peer).into_iter().for_each(|wire| wire.put(cell));
                self.idle.get_mut(peer).into_iter().for_each(|rest| rest.disturb());
                continue;
            }
            let Some(unit) = self.units.get_mut(index) else { continue };
            let calm = unit.source == DataSource::Nowhere
                && unit.receiver.is_calm()
                && unit.power == PowerState::On;
            let quick = if calm { unit.sender.idle(slot) } else { None };
            let cell = match quick {
                Some(cell) => cell,
                None => self.send(index, slot),
            };
            if let Some(wire) = self.wires.get_mut(peer) {
                wire.put(cell);
            }
            self.idle.get_mut(peer).into_iter().for_each(|rest| rest.note(slot, cell));
            if let Some(tapped) = self.units.get(index).and_then(|c| c.tapped.as_ref())
                && tapped.is_on(self.now)
            {
                self.recorder.push(tapped.outgoing as usize, Tick(slot), cell.character());
            }
        }
        self.active.give_back(sending);
    }

    /// The character of a port in a period without a shortcut.
    fn send(&mut self, index: usize, slot: u64) -> TaggedChar {
        let now = self.now;
        let Some(unit) = self.units.get_mut(index) else { return TaggedChar::IDLE };
        let trace = &mut TraceContext { now, slot, place: unit.port, log: &mut self.log };
        if unit.power != PowerState::On {
            unit.stay_silent(trace);
            return TaggedChar::IDLE;
        }
        if unit.sender.flow() == StopGo::Stop {
            unit.counters.stopped += 1;
        }
        let due = unit.receiver.due();
        unit.counters.commands += u64::from(due.is_some());
        let source = unit.source;
        let cell = match unit.sender.decide(due, trace) {
            SendDecision::Send(cell) => {
                // It may have reset itself, so that a STOP that is said again counts anew.
                self.active.wake(u32::try_from(index).unwrap_or(u32::MAX));
                if give_up(unit, &mut self.hosts) {
                    self.active.host_due(0);
                }
                cell
            }
            SendDecision::Ask(mode) => {
                let item = self.source_item(source, mode, index);
                let Some(unit) = self.units.get_mut(index) else { return TaggedChar::IDLE };
                let trace = &mut TraceContext { now, slot, place: unit.port, log: &mut self.log };
                let wire = self.wires.get_mut(unit.peer as usize);
                wire.into_iter().for_each(|wire| push_head(item, wire, trace));
                unit.sender.send(item, trace)
            }
        };
        let Some(unit) = self.units.get_mut(index) else { return cell };
        let trace = &mut TraceContext { now, slot, place: unit.port, log: &mut self.log };
        unit.note_sent(cell, trace);
        cell
    }

    /// The item that a source has for a sender.
    fn source_item(&mut self, source: DataSource, mode: AcceptMode, index: usize) -> SourceItem {
        match source {
            DataSource::Nowhere => SourceItem::Nothing,
            DataSource::Host(host) => {
                let Some(HostUnit { interface, .. }) = self.hosts.get_mut(host as usize) else {
                    return SourceItem::Nothing;
                };
                let item = interface.offered();
                if !mode.accepts(&item) {
                    return SourceItem::Nothing;
                }
                interface.taken(self.now, &mut self.log);
                self.active.host_due(interface.due());
                item
            }
            DataSource::Circuit(input) => self.item_from_input(input as usize, mode, index),
            DataSource::Copies => {
                self.item_from_multicast(mode, index).unwrap_or(SourceItem::Nothing)
            }
        }
    }

    /// The item for an output from the input connected to it.
    fn item_from_input(&mut self, input: usize, mode: AcceptMode, output: usize) -> SourceItem {
        let (now, log) = (self.now, &mut self.log);
        let Some(unit) = self.units.get_mut(input) else { return SourceItem::Nothing };
        let place = unit.port;
        let DataSink::Switch(switch, SwitchInputState::Connected(port, transit)) = &mut unit.sink
        else {
            return SourceItem::Nothing;
        };
        let (switch, port) = (*switch, *port);
        let fill = unit.receiver.fill();
        if let Some(id) = transit.hold(&mut unit.receiver) {
            log.emit(now, place, Some(id), || TruthEventKind::Merged);
        }
        let answer = if transit.needs_identity() {
            let switch = self.switches.get(switch as usize);
            let identity = switch.map(|switch| switch.identity(place.port));
            identity.and_then(|identity| transit.identity_byte(&unit.receiver, mode, &identity))
        } else {
            None
        };
        let item = match answer {
            Some(item) => item,
            None => transit.next_item(&mut unit.receiver, mode),
        };
        if unit.receiver.fill() < fill {
            self.active.wake(u32::try_from(input).unwrap_or(u32::MAX));
        }
        if item == SourceItem::Mark {
            if let Some(id) = transit.head() {
                log.emit(now, place, Some(id), || TruthEventKind::Dropped(RuleId("P-9")));
            }
            unit.sink = DataSink::Switch(switch, SwitchInputState::Empty);
            if let Some(switch) = self.switches.get_mut(switch as usize) {
                switch.release(port);
            }
            if let Some(output) = self.units.get_mut(output) {
                output.source = DataSource::Nowhere;
            }
        }
        item
    }
}

/// Counts a period of a port that receives at another rate than its own. F-7, W-6
fn tick_own_time(unit: &mut PortUnit, now: u64, log: &mut TruthLog) {
    if let (Some(slot), PowerState::On) = (unit.clock.send_slot(now), unit.power) {
        let trace = &mut TraceContext { now, slot, place: unit.port, log };
        let request = unit.receiver.tick(trace);
        unit.handle(request, trace);
    }
}

/// Receives a character other than fill.
fn receive_char(
    unit: &mut PortUnit,
    wire: &mut ChannelWire,
    cell: TaggedChar,
    trace: &mut TraceContext<'_>,
) -> PortRequest {
    let head = if cell.is_head() { wire.head() } else { None };
    if unit.power != PowerState::On {
        if let Some(id) = head {
            trace.emit(Some(id), || TruthEventKind::Dropped(RuleId("F-7")));
        }
        return PortRequest::Nothing;
    }
    let request = unit.receiver.receive(cell, head, trace);
    unit.handle(request, trace);
    request
}

/// Resets the host or the switch input after FRES. R-3
fn reset_sink(
    unit: &mut PortUnit,
    switches: &mut [Switch],
    hosts: &mut [HostUnit],
    trace: &mut TraceContext<'_>,
) {
    if let DataSink::Host(host) = unit.sink
        && let Some(host) = hosts.get_mut(host as usize)
    {
        host.interface.reset(trace.now, trace.log);
    }
    if let Some(id) = unit.reset_input(switches) {
        trace.emit(Some(id), || TruthEventKind::Dropped(RuleId("R-3")));
    }
}

/// Discards the rest of a given-up packet at a host's interface; returns true if there was one.
///
fn give_up(unit: &mut PortUnit, hosts: &mut [HostUnit]) -> bool {
    let given_up = match unit.sender.sending() {
        SendState::Discarding | SendState::Closing(PacketRest::AtSource) => true,
        SendState::Between | SendState::Packet | SendState::Closing(PacketRest::Nothing) => false,
    };
    if let (true, DataSink::Host(host)) = (given_up, &unit.sink) {
        if let Some(host) = hosts.get_mut(*host as usize) {
            host.interface.cut();
        }
        unit.sender.sever();
        return true;
    }
    false
}

/// Registers the packet that begins with the next character on the wire.
fn push_head(item: SourceItem, wire: &mut ChannelWire, trace: &mut TraceContext<'_>) {
    if let SourceItem::Data(_, Some(id)) = item
        && !wire.push_head(id)
    {
        trace.emit(Some(id), || TruthEventKind::Dropped(RuleId("F-7")));
    }
}
