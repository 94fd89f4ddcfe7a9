//! One period of a network: first every part hears what arrives, then nodes decide, then every part
//! sends. What a part decides in a period is seen by others in the next.

use codec::time::Tick;

use crate::interface::OfferedItem;
use crate::network::{HostUnit, Network};
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::receiver::PortRequest;
use crate::sender::{PacketRest, SendState};
use crate::source_item::{AcceptMode, SendDecision, SourceItem};
use crate::switch::{Switch, SwitchInputState};
use crate::tagged_char::TaggedChar;
use crate::truth::{RuleId, StopGo, TraceContext, TruthEventKind, TruthLog};
use crate::wire::ChannelWire;

mod extended_switching;
mod idle_skip;
mod switching;

pub(crate) use idle_skip::IdleDetector;
use switching::{advance, connect, select, sever};

impl Network {
    /// One period, in which every part is looked at.
    pub fn step(&mut self) {
        self.wake_all();
        self.period();
    }

    /// One period, in which the parts are looked at that something may happen to.
    #[inline]
    pub(crate) fn period(&mut self) {
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

    /// Every port hears what arrives.
    fn receive_all(&mut self) {
        let Self {
            now, circuits, wires, switches, hosts, log, recorder, active: attention, ..
        } = self;
        let (now, mut hearing) = (*now, attention.take_receiving());
        while let Some(index) = hearing.pop() {
            let (Some(circuit), Some(wire)) = (circuits.get_mut(index), wires.get_mut(index))
            else {
                continue;
            };
            let fill = circuit.receiver.fill();
            if let Some(slot) = circuit.clock.receive_slot(now) {
                let cell = wire.arrive(now);
                if let Some(tapped) = &circuit.tapped
                    && tapped.is_on(now)
                {
                    recorder.push(tapped.incoming as usize, Tick(slot), cell.character());
                }
                let quick = match circuit.power {
                    PowerState::On => {
                        circuit.receiver.receive_simple(cell, circuit.sender.last_received())
                    }
                    PowerState::Off { .. } => None,
                };
                if quick.is_none() {
                    if circuit.power == PowerState::On {
                        attention.wake(circuit.peer);
                    }
                    let telling = &mut TraceContext { now, slot, place: circuit.port, log };
                    if receive_char(circuit, wire, cell, telling) == PortRequest::Reset {
                        attention.host_due(0);
                        reset_sink(circuit, switches, hosts, telling);
                    }
                }
                if let Some(watch) = &mut circuit.fill_trace {
                    let telling = &mut TraceContext { now, slot, place: circuit.port, log };
                    watch.record(circuit.receiver.fill(), telling);
                }
            }
            if circuit.receiver.has_own_time() {
                tick_own_time(circuit, now, log);
            }
            if let DataSink::Switch(switch, input) = circuit.sink
                && circuit.receiver.fill() > 0
            {
                match input {
                    SwitchInputState::Empty
                    | SwitchInputState::Decoding(_)
                    | SwitchInputState::Discarding => {
                        advance(circuit, switches.get_mut(switch as usize), now, log);
                    }
                    SwitchInputState::Connected(..) if circuit.receiver.fill() > fill => {
                        attention.wake(circuit.downstream);
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

    /// Every host does what it does in a period, and takes what has come.
    fn decide_hosts(&mut self) {
        let Self { now, hosts, circuits, active: attention, log, .. } = self;
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
            let Some(HostUnit { circuit, interface, .. }) = hosts.get_mut(number) else { continue };
            let ticks = *now >= interface.due();
            interface.tick(*now, log);
            attention.host_due(interface.due());
            let channel = circuit.unwrap_or(u32::MAX);
            let Some(circuit) = circuits.get_mut(channel as usize) else {
                attention.hosts.remove(number);
                continue;
            };
            if circuit.receiver.fill() > 0
                && interface.takes(*now, circuit.receiver.last_command())
                && let Some((cell, head)) = circuit.receiver.take()
            {
                attention.wake(channel);
                interface.take(*now, cell, head, log);
                attention.host_due(interface.due());
            }
            let source = match interface.offered() {
                OfferedItem::Nothing => DataSource::Nowhere,
                OfferedItem::Data(..) | OfferedItem::Mark | OfferedItem::Symbol(_) => {
                    DataSource::Host(u32::try_from(number).unwrap_or(u32::MAX))
                }
            };
            if source != circuit.source || ticks && source != DataSource::Nowhere {
                attention.wake(circuit.peer);
            }
            // It may be that it takes one later now.
            if ticks && circuit.receiver.fill() > 0 {
                attention.wake(channel);
            }
            circuit.source = source;
            if !attention.is_awake(channel as usize) && !attention.is_awake(circuit.peer as usize) {
                attention.hosts.remove(number);
            }
        }
        attention.give_back(deciding);
    }

    /// Every switch drops and connects packets.
    fn decide_switches(&mut self) {
        let Self { now, switches, circuits, active: attention, log, .. } = self;
        for switch in switches.iter_mut().filter(|switch| !switch.is_calm()) {
            sever(switch, circuits, attention, *now, log);
            select(switch, circuits, attention, *now, log);
            connect(switch, circuits, attention, *now, log);
        }
    }

    /// Every port sends.
    fn send_all(&mut self) {
        let mut sending = self.active.take_sending();
        while let Some(index) = sending.pop() {
            let Some(circuit) = self.circuits.get_mut(index) else { continue };
            let Some(slot) = circuit.clock.send_slot(self.now) else { continue };
            let peer = circuit.peer as usize;
            if let DataSource::Circuit(input) = circuit.source
                && circuit.receiver.is_calm()
                && circuit.tapped.is_none()
                && circuit.power == PowerState::On
                && circuit.sender.streams(slot)
                && let Some(cell) = self.circuits.get_mut(input as usize).and_then(PortUnit::stream)
            {
                self.active.wake(input);
                self.circuits.get_mut(index).into_iter().for_each(|it| it.counters.data += 1);
                self.wires.get_mut(peer).into_iter().for_each(|wire| wire.put(cell));
                self.idle.get_mut(peer).into_iter().for_each(|rest| rest.disturb());
                continue;
            }
            let Some(circuit) = self.circuits.get_mut(index) else { continue };
            let calm = circuit.source == DataSource::Nowhere
                && circuit.receiver.is_calm()
                && circuit.power == PowerState::On;
            let quick = if calm { circuit.sender.idle(slot) } else { None };
            let cell = match quick {
                Some(cell) => cell,
                None => self.send(index, slot),
            };
            if let Some(wire) = self.wires.get_mut(peer) {
                wire.put(cell);
            }
            self.idle.get_mut(peer).into_iter().for_each(|rest| rest.note(slot, cell));
            if let Some(tapped) = self.circuits.get(index).and_then(|c| c.tapped.as_ref())
                && tapped.is_on(self.now)
            {
                self.recorder.push(tapped.outgoing as usize, Tick(slot), cell.character());
            }
        }
        self.active.give_back(sending);
    }

    /// What a port sends in a period in which it has something to do.
    fn send(&mut self, index: usize, slot: u64) -> TaggedChar {
        let now = self.now;
        let Some(circuit) = self.circuits.get_mut(index) else { return TaggedChar::IDLE };
        let telling = &mut TraceContext { now, slot, place: circuit.port, log: &mut self.log };
        if circuit.power != PowerState::On {
            circuit.stay_silent(telling);
            return TaggedChar::IDLE;
        }
        if circuit.sender.flow() == StopGo::Stop {
            circuit.counters.stopped += 1;
        }
        let due = circuit.receiver.due();
        circuit.counters.commands += u64::from(due.is_some());
        let source = circuit.source;
        let cell = match circuit.sender.decide(due, telling) {
            SendDecision::Send(cell) => {
                // It may have reset itself, so that a STOP that is said again counts anew.
                self.active.wake(u32::try_from(index).unwrap_or(u32::MAX));
                if give_up(circuit, &mut self.hosts) {
                    self.active.host_due(0);
                }
                cell
            }
            SendDecision::Ask(appetite) => {
                let supply = self.source_item(source, appetite, index);
                let Some(circuit) = self.circuits.get_mut(index) else { return TaggedChar::IDLE };
                let telling =
                    &mut TraceContext { now, slot, place: circuit.port, log: &mut self.log };
                let wire = self.wires.get_mut(circuit.peer as usize);
                wire.into_iter().for_each(|wire| push_head(supply, wire, telling));
                circuit.sender.send(supply, telling)
            }
        };
        let Some(circuit) = self.circuits.get_mut(index) else { return cell };
        let telling = &mut TraceContext { now, slot, place: circuit.port, log: &mut self.log };
        circuit.note_sent(cell, telling);
        cell
    }

    /// What a source has for a sender.
    fn source_item(
        &mut self,
        source: DataSource,
        appetite: AcceptMode,
        index: usize,
    ) -> SourceItem {
        match source {
            DataSource::Nowhere => SourceItem::Nothing,
            DataSource::Host(host) => {
                let Some(HostUnit { interface, .. }) = self.hosts.get_mut(host as usize) else {
                    return SourceItem::Nothing;
                };
                let supply = match (interface.offered(), appetite) {
                    (OfferedItem::Nothing, _)
                    | (OfferedItem::Data(..), AcceptMode::Framing)
                    | (OfferedItem::Data(..) | OfferedItem::Mark, AcceptMode::Nothing) => {
                        SourceItem::Nothing
                    }
                    (OfferedItem::Data(cell, head), AcceptMode::All | AcceptMode::Discard) => {
                        SourceItem::Data(cell, head)
                    }
                    (OfferedItem::Mark, _) => SourceItem::Mark,
                    (OfferedItem::Symbol(code), _) => SourceItem::Symbol(code),
                };
                if supply != SourceItem::Nothing {
                    interface.taken(self.now, &mut self.log);
                    self.active.host_due(interface.due());
                }
                supply
            }
            DataSource::Circuit(input) => self.item_from_input(input as usize, appetite, index),
            DataSource::Copies => {
                self.item_from_multicast(appetite, index).unwrap_or(SourceItem::Nothing)
            }
        }
    }

    /// What the input that is connected to an output has for it.
    fn item_from_input(&mut self, input: usize, appetite: AcceptMode, output: usize) -> SourceItem {
        let (now, log) = (self.now, &mut self.log);
        let Some(circuit) = self.circuits.get_mut(input) else { return SourceItem::Nothing };
        let place = circuit.port;
        let DataSink::Switch(switch, SwitchInputState::Connected(port, transit)) =
            &mut circuit.sink
        else {
            return SourceItem::Nothing;
        };
        let (switch, port) = (*switch, *port);
        let fill = circuit.receiver.fill();
        if let Some(id) = transit.hold(&mut circuit.receiver) {
            log.emit(now, place, Some(id), || TruthEventKind::Merged);
        }
        let answer = if transit.needs_identity() {
            let switch = self.switches.get(switch as usize);
            let identity = switch.map(|switch| switch.identity(place.port));
            identity
                .and_then(|identity| transit.identity_byte(&circuit.receiver, appetite, &identity))
        } else {
            None
        };
        let supply = match answer {
            Some(supply) => supply,
            None => transit.next_item(&mut circuit.receiver, appetite),
        };
        if circuit.receiver.fill() < fill {
            self.active.wake(u32::try_from(input).unwrap_or(u32::MAX));
        }
        if supply == SourceItem::Mark {
            if let Some(id) = transit.head() {
                log.emit(now, place, Some(id), || TruthEventKind::Dropped(RuleId("P-9")));
            }
            circuit.sink = DataSink::Switch(switch, SwitchInputState::Empty);
            if let Some(switch) = self.switches.get_mut(switch as usize) {
                switch.release(port);
            }
            if let Some(output) = self.circuits.get_mut(output) {
                output.source = DataSource::Nowhere;
            }
        }
        supply
    }
}

/// A period of a port passes that hears another rate than its own. F-7, W-6
fn tick_own_time(circuit: &mut PortUnit, now: u64, log: &mut TruthLog) {
    if let (Some(slot), PowerState::On) = (circuit.clock.send_slot(now), circuit.power) {
        let telling = &mut TraceContext { now, slot, place: circuit.port, log };
        let asked = circuit.receiver.tick(telling);
        circuit.handle(asked, telling);
    }
}

/// A character arrives that does more than fill.
fn receive_char(
    circuit: &mut PortUnit,
    wire: &mut ChannelWire,
    cell: TaggedChar,
    telling: &mut TraceContext<'_>,
) -> PortRequest {
    let head = if cell.is_head() { wire.head() } else { None };
    if circuit.power != PowerState::On {
        if let Some(id) = head {
            telling.emit(Some(id), || TruthEventKind::Dropped(RuleId("F-7")));
        }
        return PortRequest::Nothing;
    }
    let asked = circuit.receiver.receive(cell, head, telling);
    circuit.handle(asked, telling);
    asked
}

/// FRES has come: what takes the data of the port starts again. R-3
fn reset_sink(
    circuit: &mut PortUnit,
    switches: &mut [Switch],
    hosts: &mut [HostUnit],
    telling: &mut TraceContext<'_>,
) {
    if let DataSink::Host(host) = circuit.sink
        && let Some(host) = hosts.get_mut(host as usize)
    {
        host.interface.reset(telling.now, telling.log);
    }
    if let Some(id) = circuit.reset_input(switches) {
        telling.emit(Some(id), || TruthEventKind::Dropped(RuleId("R-3")));
    }
}

/// A host's interface need not hold the rest of a packet that has been given up.
/// Whether it was given up in this period.
fn give_up(circuit: &mut PortUnit, hosts: &mut [HostUnit]) -> bool {
    let given_up = match circuit.sender.sending() {
        SendState::Discarding | SendState::Closing(PacketRest::AtSource) => true,
        SendState::Between | SendState::Packet | SendState::Closing(PacketRest::Nothing) => false,
    };
    if let (true, DataSink::Host(host)) = (given_up, &circuit.sink) {
        if let Some(host) = hosts.get_mut(*host as usize) {
            host.interface.cut();
        }
        circuit.sender.sever();
        return true;
    }
    false
}

/// Says which packet begins with what is put on the wire next.
fn push_head(supply: SourceItem, wire: &mut ChannelWire, telling: &mut TraceContext<'_>) {
    if let SourceItem::Data(_, Some(id)) = supply
        && !wire.push_head(id)
    {
        telling.emit(Some(id), || TruthEventKind::Dropped(RuleId("F-7")));
    }
}
