//! One period of a network: first every part hears what arrives, then nodes decide, then every part
//! sends. What a part decides in a period is seen by others in the next.

use codec::tick::Tick;

use crate::cell::Cell;
use crate::circuit::{Circuit, Power, Quiet, Sink, Source};
use crate::interface::Offer;
use crate::network::{Host, Network};
use crate::receiver::Asked;
use crate::sender::{Rest, Sending};
use crate::supply::{Appetite, Supply, Turn};
use crate::switch::{Input, Switch};
use crate::truth::{Command, Rule, Telling, What};
use crate::wire::Wire;

mod extension;
mod stillness;
mod switching;

use switching::{advance, connect, select, sever};

impl Network {
    /// One period.
    pub fn step(&mut self) {
        self.obey_orders();
        self.hear();
        self.decide_hosts();
        self.decide_switches();
        self.emit();
        self.now += 1;
    }

    /// Every port hears what arrives.
    fn hear(&mut self) {
        let Self { now, circuits, wires, quiet, switches, hosts, log, recorder, .. } = self;
        let now = *now;
        for ((wire, quiet), circuit) in wires.iter_mut().zip(quiet).zip(circuits) {
            if wire.brings(quiet.hears) {
                continue;
            }
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
                    quiet.sends = Quiet::NEVER.sends;
                    let telling = &mut Telling { now, slot, place: circuit.port, log };
                    if hear_any(circuit, wire, cell, telling) == Asked::Reset {
                        reset_sink(circuit, switches, hosts, telling);
                    }
                }
                if let Some(watch) = &mut circuit.watch {
                    let telling = &mut Telling { now, slot, place: circuit.port, log };
                    watch.look(circuit.receiver.fill(), telling);
                }
            }
            if let Sink::Switch(switch, Input::Empty | Input::Decoding(_) | Input::Discarding) =
                circuit.sink
                && circuit.receiver.fill() > 0
            {
                advance(circuit, switches.get_mut(switch as usize), now, log);
            }
            quiet.hears = circuit.hears();
        }
    }

    /// Every host does what it does in a period, and takes what has come.
    fn decide_hosts(&mut self) {
        let Self { now, hosts, circuits, quiet, log, .. } = self;
        for (number, Host { circuit, interface, .. }) in (0..).zip(hosts) {
            interface.tick(*now, log);
            let Some(index) = circuit.map(|circuit| circuit as usize) else { continue };
            if interface.offer() == Offer::Nothing && is_quiet(quiet, index) {
                continue;
            }
            let Some(circuit) = circuits.get_mut(index) else { continue };
            if circuit.receiver.fill() > 0
                && interface.takes(*now, circuit.receiver.commanded())
                && let Some((cell, head)) = circuit.receiver.take()
            {
                interface.take(*now, cell, head, log);
            }
            circuit.source = match interface.offer() {
                Offer::Nothing => Source::Nowhere,
                Offer::Data(..) | Offer::Mark | Offer::Symbol(_) => {
                    wake(quiet, index);
                    Source::Host(number)
                }
            };
        }
    }

    /// Every switch drops and connects packets.
    fn decide_switches(&mut self) {
        let Self { now, switches, circuits, quiet, log, .. } = self;
        for switch in switches.iter_mut().filter(|switch| !switch.is_calm()) {
            let mut woken = |index| wake(quiet, index);
            sever(switch, circuits, &mut woken, *now, log);
            select(switch, circuits, *now, log);
            connect(switch, circuits, &mut woken, *now, log);
        }
    }

    /// Every port sends.
    fn emit(&mut self) {
        for index in 0..self.circuits.len() {
            // At the full rate, the only one that is ever quiet.
            let [even, odd] = self.quiet.get(index).map_or([Cell::NEVER; 2], |quiet| quiet.sends);
            let quick = if self.now & 1 == 0 { even } else { odd };
            if quick != Cell::NEVER {
                let peer = self.peers.get(index).map_or(0, |peer| *peer as usize);
                self.wires.get_mut(peer).into_iter().for_each(|wire| wire.put(quick));
                continue;
            }
            let Some(circuit) = self.circuits.get_mut(index) else { return };
            let Some(slot) = circuit.clock.sends(self.now) else { continue };
            if let Source::Circuit(input) = circuit.source
                && circuit.receiver.is_calm()
                && circuit.tapped.is_none()
                && circuit.power == Power::On
                && circuit.sender.streams(slot)
            {
                let (input, peer) = (input as usize, circuit.peer as usize);
                if let Some(cell) = self.circuits.get_mut(input).and_then(Circuit::stream) {
                    self.circuits.get_mut(index).into_iter().for_each(|it| it.passed.data += 1);
                    self.wires.get_mut(peer).into_iter().for_each(|wire| wire.put(cell));
                    continue;
                }
            }
            let Some(circuit) = self.circuits.get_mut(index) else { return };
            let calm = circuit.source == Source::Nowhere
                && circuit.receiver.is_calm()
                && circuit.power == Power::On;
            let quick = if calm { circuit.sender.idle(slot) } else { None };
            let peer = circuit.peer as usize;
            let cell = match quick {
                Some(cell) => cell,
                None => self.send(index, slot),
            };
            if let Some(wire) = self.wires.get_mut(peer) {
                wire.put(cell);
            }
            if let Some(tapped) = self.circuits.get(index).and_then(|c| c.tapped.as_ref())
                && tapped.is_on(self.now)
            {
                self.recorder.push(tapped.outgoing as usize, Tick(slot), cell.character());
            }
            let Some(circuit) = self.circuits.get(index) else { return };
            if let Some(quiet) = self.quiet.get_mut(index) {
                *quiet = circuit.quiet();
            }
        }
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
                give_up(circuit, &mut self.hosts);
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
                    (Offer::Nothing, _) | (Offer::Data(..), Appetite::Framing) => Supply::Nothing,
                    (Offer::Data(cell, head), Appetite::All | Appetite::Discard) => {
                        Supply::Data(cell, head)
                    }
                    (Offer::Mark, _) => Supply::Mark,
                    (Offer::Symbol(code), _) => Supply::Symbol(code),
                };
                if supply != Supply::Nothing {
                    interface.taken(self.now, &mut self.log);
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

/// Whether nothing happens to a circuit.
fn is_quiet(quiet: &[Quiet], circuit: usize) -> bool {
    let [never, _] = Quiet::NEVER.sends;
    quiet
        .get(circuit)
        .is_some_and(|quiet| !quiet.hears.contains(&never) && !quiet.sends.contains(&never))
}

/// Something happens to a circuit.
fn wake(quiet: &mut [Quiet], circuit: usize) {
    quiet.get_mut(circuit).into_iter().for_each(|quiet| *quiet = Quiet::NEVER);
}

/// A host's interface need not hold the rest of a packet that has been given up.
fn give_up(circuit: &mut Circuit, hosts: &mut [Host]) {
    let given_up = match circuit.sender.sending() {
        Sending::Discarding | Sending::Closing(Rest::AtSource) => true,
        Sending::Between | Sending::Packet | Sending::Closing(Rest::Nothing) => false,
    };
    if let (true, Sink::Host(host)) = (given_up, &circuit.sink) {
        if let Some(host) = hosts.get_mut(*host as usize) {
            host.interface.cut();
        }
        circuit.sender.sever();
    }
}

/// Says which packet begins with what is put on the wire next.
fn announce(supply: Supply, wire: &mut Wire, telling: &mut Telling<'_>) {
    if let Supply::Data(_, Some(id)) = supply
        && !wire.announce(id)
    {
        telling.tell(Some(id), || What::Dropped(Rule("F-7")));
    }
}
