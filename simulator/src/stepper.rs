//! One period of a network: first every part hears what arrives, then nodes decide, then every part
//! sends. What a part decides in a period is seen by others in the next.

use codec::tick::Tick;

use crate::cell::Cell;
use crate::circuit::{Circuit, Power, Sink, Source};
use crate::interface::Offer;
use crate::network::{Host, Network};
use crate::receiver::Asked;
use crate::sender::{Rest, Sending};
use crate::supply::{Appetite, Supply, Turn};
use crate::switch::{Input, Switch};
use crate::truth::{Command, Log, Rule, Telling, What};
use crate::wire::Wire;

mod extension;
mod stillness;
mod switching;

pub(crate) use stillness::Repose;
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
        self.obey_orders();
        self.wake_due();
        self.hear();
        self.wake_woken(self.now + 1, self.now);
        self.decide_hosts();
        self.decide_switches();
        self.wake_woken(self.now + 1, self.now);
        self.emit();
        self.wake_woken(self.now + 1, self.now + 1);
        self.now += 1;
    }

    /// Every port hears what arrives.
    fn hear(&mut self) {
        let Self { now, circuits, wires, switches, hosts, log, recorder, attention, .. } = self;
        let (now, mut hearing) = (*now, attention.hearing());
        while let Some(index) = hearing.pop() {
            let (Some(circuit), Some(wire)) = (circuits.get_mut(index), wires.get_mut(index))
            else {
                continue;
            };
            let fill = circuit.receiver.fill();
            if let Some(slot) = circuit.clock.hears(now) {
                let cell = wire.arrive(now);
                if let Some(tapped) = &circuit.tapped
                    && tapped.is_on(now)
                {
                    recorder.push(tapped.incoming as usize, Tick(slot), cell.character());
                }
                let quick = match circuit.power {
                    Power::On => circuit.receiver.hear(cell, circuit.sender.heard()),
                    Power::Off { .. } => None,
                };
                if quick.is_none() {
                    if circuit.power == Power::On {
                        attention.wake(circuit.peer);
                    }
                    let telling = &mut Telling { now, slot, place: circuit.port, log };
                    if hear_any(circuit, wire, cell, telling) == Asked::Reset {
                        attention.host_due(0);
                        reset_sink(circuit, switches, hosts, telling);
                    }
                }
                if let Some(watch) = &mut circuit.watch {
                    let telling = &mut Telling { now, slot, place: circuit.port, log };
                    watch.look(circuit.receiver.fill(), telling);
                }
            }
            if circuit.receiver.has_own_time() {
                keep_time(circuit, now, log);
            }
            if let Sink::Switch(switch, input) = circuit.sink
                && circuit.receiver.fill() > 0
            {
                match input {
                    Input::Empty | Input::Decoding(_) | Input::Discarding => {
                        advance(circuit, switches.get_mut(switch as usize), now, log);
                    }
                    Input::Connected(..) if circuit.receiver.fill() > fill => {
                        attention.wake(circuit.onto);
                    }
                    Input::Connected(..) | Input::Ready | Input::Waiting(_) | Input::Extended => {}
                }
            }
        }
        attention.give_back(hearing);
    }

    /// Every host does what it does in a period, and takes what has come.
    fn decide_hosts(&mut self) {
        let Self { now, hosts, circuits, attention, log, .. } = self;
        if *now >= attention.hosts_due {
            attention.hosts_due = u64::MAX;
            for (number, Host { interface, .. }) in hosts.iter().enumerate() {
                if interface.due() <= *now {
                    attention.hosts.insert(number);
                }
                attention.host_due(interface.due());
            }
        }
        let mut deciding = attention.deciding();
        while let Some(number) = deciding.pop() {
            let Some(Host { circuit, interface, .. }) = hosts.get_mut(number) else { continue };
            let ticks = *now >= interface.due();
            interface.tick(*now, log);
            attention.host_due(interface.due());
            let channel = circuit.unwrap_or(u32::MAX);
            let Some(circuit) = circuits.get_mut(channel as usize) else {
                attention.hosts.remove(number);
                continue;
            };
            if circuit.receiver.fill() > 0
                && interface.takes(*now, circuit.receiver.commanded())
                && let Some((cell, head)) = circuit.receiver.take()
            {
                attention.wake(channel);
                interface.take(*now, cell, head, log);
                attention.host_due(interface.due());
            }
            let source = match interface.offer() {
                Offer::Nothing => Source::Nowhere,
                Offer::Data(..) | Offer::Mark | Offer::Symbol(_) => {
                    Source::Host(u32::try_from(number).unwrap_or(u32::MAX))
                }
            };
            if source != circuit.source || ticks && source != Source::Nowhere {
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
        let Self { now, switches, circuits, attention, log, .. } = self;
        for switch in switches.iter_mut().filter(|switch| !switch.is_calm()) {
            sever(switch, circuits, attention, *now, log);
            select(switch, circuits, attention, *now, log);
            connect(switch, circuits, attention, *now, log);
        }
    }

    /// Every port sends.
    fn emit(&mut self) {
        let mut sending = self.attention.sending();
        while let Some(index) = sending.pop() {
            let Some(circuit) = self.circuits.get_mut(index) else { continue };
            let Some(slot) = circuit.clock.sends(self.now) else { continue };
            let peer = circuit.peer as usize;
            if let Source::Circuit(input) = circuit.source
                && circuit.receiver.is_calm()
                && circuit.tapped.is_none()
                && circuit.power == Power::On
                && circuit.sender.streams(slot)
                && let Some(cell) = self.circuits.get_mut(input as usize).and_then(Circuit::stream)
            {
                self.attention.wake(input);
                self.circuits.get_mut(index).into_iter().for_each(|it| it.passed.data += 1);
                self.wires.get_mut(peer).into_iter().for_each(|wire| wire.put(cell));
                self.rests.get_mut(peer).into_iter().for_each(|rest| rest.disturb());
                continue;
            }
            let Some(circuit) = self.circuits.get_mut(index) else { continue };
            let calm = circuit.source == Source::Nowhere
                && circuit.receiver.is_calm()
                && circuit.power == Power::On;
            let quick = if calm { circuit.sender.idle(slot) } else { None };
            let cell = match quick {
                Some(cell) => cell,
                None => self.send(index, slot),
            };
            if let Some(wire) = self.wires.get_mut(peer) {
                wire.put(cell);
            }
            self.rests.get_mut(peer).into_iter().for_each(|rest| rest.note(slot, cell));
            if let Some(tapped) = self.circuits.get(index).and_then(|c| c.tapped.as_ref())
                && tapped.is_on(self.now)
            {
                self.recorder.push(tapped.outgoing as usize, Tick(slot), cell.character());
            }
        }
        self.attention.give_back(sending);
    }

    /// What a port sends in a period in which it has something to do.
    fn send(&mut self, index: usize, slot: u64) -> Cell {
        let now = self.now;
        let Some(circuit) = self.circuits.get_mut(index) else { return Cell::IDLE };
        let telling = &mut Telling { now, slot, place: circuit.port, log: &mut self.log };
        if circuit.power != Power::On {
            circuit.stay_silent(telling);
            return Cell::IDLE;
        }
        if circuit.sender.flow() == Command::Stop {
            circuit.passed.stopped += 1;
        }
        let due = circuit.receiver.due();
        circuit.passed.commands += u64::from(due.is_some());
        let source = circuit.source;
        let cell = match circuit.sender.turn(due, telling) {
            Turn::Send(cell) => {
                // It may have reset itself, so that a STOP that is said again counts anew.
                self.attention.wake(u32::try_from(index).unwrap_or(u32::MAX));
                if give_up(circuit, &mut self.hosts) {
                    self.attention.host_due(0);
                }
                cell
            }
            Turn::Ask(appetite) => {
                let supply = self.supply(source, appetite, index);
                let Some(circuit) = self.circuits.get_mut(index) else { return Cell::IDLE };
                let telling = &mut Telling { now, slot, place: circuit.port, log: &mut self.log };
                let wire = self.wires.get_mut(circuit.peer as usize);
                wire.into_iter().for_each(|wire| announce(supply, wire, telling));
                circuit.sender.send(supply, telling)
            }
        };
        let Some(circuit) = self.circuits.get_mut(index) else { return cell };
        let telling = &mut Telling { now, slot, place: circuit.port, log: &mut self.log };
        circuit.note(cell, telling);
        cell
    }

    /// What a source has for a sender.
    fn supply(&mut self, source: Source, appetite: Appetite, index: usize) -> Supply {
        match source {
            Source::Nowhere => Supply::Nothing,
            Source::Host(host) => {
                let Some(Host { interface, .. }) = self.hosts.get_mut(host as usize) else {
                    return Supply::Nothing;
                };
                let supply = match (interface.offer(), appetite) {
                    (Offer::Nothing, _)
                    | (Offer::Data(..), Appetite::Framing)
                    | (Offer::Data(..) | Offer::Mark, Appetite::Nothing) => Supply::Nothing,
                    (Offer::Data(cell, head), Appetite::All | Appetite::Discard) => {
                        Supply::Data(cell, head)
                    }
                    (Offer::Mark, _) => Supply::Mark,
                    (Offer::Symbol(code), _) => Supply::Symbol(code),
                };
                if supply != Supply::Nothing {
                    interface.taken(self.now, &mut self.log);
                    self.attention.host_due(interface.due());
                }
                supply
            }
            Source::Circuit(input) => self.cross(input as usize, appetite, index),
            Source::Copies => self.copy(appetite, index).unwrap_or(Supply::Nothing),
        }
    }

    /// What the input that is connected to an output has for it.
    fn cross(&mut self, input: usize, appetite: Appetite, output: usize) -> Supply {
        let (now, log) = (self.now, &mut self.log);
        let Some(circuit) = self.circuits.get_mut(input) else { return Supply::Nothing };
        let place = circuit.port;
        let Sink::Switch(switch, Input::Connected(port, transit)) = &mut circuit.sink else {
            return Supply::Nothing;
        };
        let (switch, port) = (*switch, *port);
        let fill = circuit.receiver.fill();
        if let Some(id) = transit.hold(&mut circuit.receiver) {
            log.tell(now, place, Some(id), || What::Merged);
        }
        let answer = if transit.is_asking() {
            let switch = self.switches.get(switch as usize);
            let identity = switch.map(|switch| switch.identity(place.port));
            identity.and_then(|identity| transit.answer(&circuit.receiver, appetite, &identity))
        } else {
            None
        };
        let supply = match answer {
            Some(supply) => supply,
            None => transit.supply(&mut circuit.receiver, appetite),
        };
        if circuit.receiver.fill() < fill {
            self.attention.wake(u32::try_from(input).unwrap_or(u32::MAX));
        }
        if supply == Supply::Mark {
            if let Some(id) = transit.head() {
                log.tell(now, place, Some(id), || What::Dropped(Rule("P-9")));
            }
            circuit.sink = Sink::Switch(switch, Input::Empty);
            if let Some(switch) = self.switches.get_mut(switch as usize) {
                switch.release(port);
            }
            if let Some(output) = self.circuits.get_mut(output) {
                output.source = Source::Nowhere;
            }
        }
        supply
    }
}

/// A period of a port passes that hears another rate than its own. F-7, W-6
fn keep_time(circuit: &mut Circuit, now: u64, log: &mut Log) {
    if let (Some(slot), Power::On) = (circuit.clock.sends(now), circuit.power) {
        let telling = &mut Telling { now, slot, place: circuit.port, log };
        let asked = circuit.receiver.tick(telling);
        circuit.answer(asked, telling);
    }
}

/// A character arrives that does more than fill.
fn hear_any(
    circuit: &mut Circuit,
    wire: &mut Wire,
    cell: Cell,
    telling: &mut Telling<'_>,
) -> Asked {
    let head = if cell.is_head() { wire.head() } else { None };
    if circuit.power != Power::On {
        if let Some(id) = head {
            telling.tell(Some(id), || What::Dropped(Rule("F-7")));
        }
        return Asked::Nothing;
    }
    let asked = circuit.receiver.hear_any(cell, head, telling);
    circuit.answer(asked, telling);
    asked
}

/// FRES has come: what takes the data of the port starts again. R-3
fn reset_sink(
    circuit: &mut Circuit,
    switches: &mut [Switch],
    hosts: &mut [Host],
    telling: &mut Telling<'_>,
) {
    if let Sink::Host(host) = circuit.sink
        && let Some(host) = hosts.get_mut(host as usize)
    {
        host.interface.reset(telling.now, telling.log);
    }
    if let Some(id) = circuit.reset_input(switches) {
        telling.tell(Some(id), || What::Dropped(Rule("R-3")));
    }
}

/// A host's interface need not hold the rest of a packet that has been given up.
/// Whether it was given up in this period.
fn give_up(circuit: &mut Circuit, hosts: &mut [Host]) -> bool {
    let given_up = match circuit.sender.sending() {
        Sending::Discarding | Sending::Closing(Rest::AtSource) => true,
        Sending::Between | Sending::Packet | Sending::Closing(Rest::Nothing) => false,
    };
    if let (true, Sink::Host(host)) = (given_up, &circuit.sink) {
        if let Some(host) = hosts.get_mut(*host as usize) {
            host.interface.cut();
        }
        circuit.sender.sever();
        return true;
    }
    false
}

/// Says which packet begins with what is put on the wire next.
fn announce(supply: Supply, wire: &mut Wire, telling: &mut Telling<'_>) {
    if let Supply::Data(_, Some(id)) = supply
        && !wire.announce(id)
    {
        telling.tell(Some(id), || What::Dropped(Rule("F-7")));
    }
}
