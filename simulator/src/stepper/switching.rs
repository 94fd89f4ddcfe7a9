//! What switches do in a period: inputs decode, ask for outputs, get them. S-1..S-6

use super::extension;
use crate::attention::Attention;
use crate::cell::Cell;
use crate::circuit::{Circuit, Power, Sink, Source};
use crate::extension::SELF;
use crate::sender::Sending;
use crate::switch::{Input, Switch, rule_of};
use crate::topology::{Extensions, Port};
use crate::transit::Transit;
use crate::truth::{Log, Rule, Telling, What};

/// The input of a switch goes on with what stands in its slack buffer. S-3, S-6
#[inline]
pub(super) fn advance(circuit: &mut Circuit, switch: Option<&mut Switch>, now: u64, log: &mut Log) {
    let (Sink::Switch(_, input), Some(switch)) = (&mut circuit.sink, switch) else { return };
    let front = circuit.receiver.peek(0);
    match (*input, front) {
        (Input::Empty, Some(cell)) if cell.is_data() => {
            let ready = now + u64::from(switch.parameters().routing);
            *input = Input::Decoding(ready);
            if ready == now {
                *input = Input::Ready;
                switch.decoded(circuit.port.port);
            }
        }
        // A mark alone: what it ended is gone.
        (Input::Empty, Some(_)) => {
            circuit.receiver.take();
        }
        (Input::Decoding(ready), _) if ready <= now => {
            *input = Input::Ready;
            switch.decoded(circuit.port.port);
        }
        (Input::Discarding, Some(_)) => match circuit.receiver.take() {
            Some((cell, None)) if !cell.is_data() => *input = Input::Empty,
            Some((_, Some(id))) => log.tell(now, circuit.port, Some(id), || What::Merged),
            Some((_, None)) | None => {}
        },
        (Input::Empty | Input::Discarding, None)
        | (Input::Decoding(_) | Input::Ready | Input::Waiting(_), _)
        | (Input::Connected(..) | Input::Extended, _) => {}
    }
}

/// Outputs whose input was reset end what they have sent of a packet. R-3
pub(super) fn sever(
    switch: &mut Switch,
    circuits: &mut [Circuit],
    attention: &mut Attention,
    now: u64,
    log: &mut Log,
) {
    for output in switch.take_severed() {
        let Some(index) = switch.circuit(output).map(|circuit| circuit as usize) else { continue };
        let Some(circuit) = circuits.get_mut(index) else { continue };
        attention.wake(circuit.peer);
        if circuit.sender.sending() == Sending::Packet {
            let id = circuit.sender.current();
            log.tell(now, circuit.port, id, || What::Truncated(Rule("R-3")));
        }
        circuit.source = Source::Nowhere;
        circuit.sender.sever();
    }
}

/// Inputs that have decoded their first byte ask for an output, or drop the packet. S-1, S-2
pub(super) fn select(
    switch: &mut Switch,
    circuits: &mut [Circuit],
    attention: &mut Attention,
    now: u64,
    log: &mut Log,
) {
    let parameters = *switch.parameters();
    for input in switch.take_ready() {
        let Some(channel) = switch.circuit(input) else { continue };
        let index = channel as usize;
        attention.wake(channel);
        let front = circuits.get(index).and_then(|circuit| circuit.receiver.peek(0));
        let byte = match parameters.extensions {
            Extensions::Off => front.map_or(0, Cell::low),
            Extensions::On => {
                let place = Port { node: switch.node(), port: input };
                let telling = &mut Telling { now, slot: now, place, log };
                match extension::select(switch, circuits, index, telling) {
                    Some(byte) => byte,
                    None => continue,
                }
            }
        };
        let output = parameters.addressing.select(byte, input, parameters.ports);
        let output = output.map_err(rule_of).and_then(|output| {
            let there = switch.circuit(output).and_then(|there| circuits.get(there as usize));
            // Unused, unpowered, disconnected.
            let open =
                there.is_none_or(|there| there.power != Power::On || there.receiver.is_open());
            if open { Err(Rule("S-1")) } else { Ok(output) }
        });
        let Some(circuit) = circuits.get_mut(index) else { continue };
        let Sink::Switch(_, state) = &mut circuit.sink else { continue };
        match output {
            Ok(output) => {
                *state = Input::Waiting(output);
                switch.request(input, output);
            }
            Err(rule) => {
                *state = Input::Discarding;
                let head = circuit.receiver.take().and_then(|(_, head)| head);
                log.tell(now, circuit.port, head, || What::Dropped(rule));
            }
        }
    }
}

/// Tokens move, and inputs get their outputs. S-3, S-5
pub(super) fn connect(
    switch: &mut Switch,
    circuits: &mut [Circuit],
    attention: &mut Attention,
    now: u64,
    log: &mut Log,
) {
    if switch.is_settled() {
        return;
    }
    let mut granted = [None; 32];
    let mut places = granted.iter_mut();
    switch.arbitrate(now, &mut |input, output| {
        places.next().into_iter().for_each(|place| *place = Some((input, output)));
    });
    for (input, output) in granted.into_iter().map_while(|pair| pair) {
        let (Some(from), Some(to)) = (switch.circuit(input), switch.circuit(output)) else {
            continue;
        };
        attention.wake(from);
        // It may have lost its power while the packet waited.
        let dead = circuits.get(to as usize).map(|circuit| circuit.power != Power::On);
        let Some(circuit) = circuits.get_mut(from as usize) else { continue };
        let Sink::Switch(_, state) = &mut circuit.sink else { continue };
        if *state == Input::Extended {
            let telling = &mut Telling { now, slot: now, place: circuit.port, log };
            extension::granted(switch, circuits, from as usize, attention, telling);
            continue;
        }
        let Some((route, head)) = circuit.receiver.take() else { continue };
        if dead == Some(true) {
            log.tell(now, circuit.port, head, || What::Dropped(Rule("S-1")));
            circuit.sink.set(Input::Discarding);
            switch.release(output);
            continue;
        }
        let mut transit = Transit::new(route.low(), head);
        if route.low() == SELF {
            let (next, inner) = circuit.receiver.take().unwrap_or((route, None));
            transit = transit.asking(next.low());
            inner.into_iter().for_each(|id| log.tell(now, circuit.port, Some(id), || What::Merged));
        }
        *state = Input::Connected(output, transit);
        let onto = circuits.get(to as usize).map_or(0, |circuit| circuit.peer);
        circuits.get_mut(from as usize).into_iter().for_each(|circuit| circuit.onto = onto);
        if let Some(circuit) = circuits.get_mut(to as usize) {
            circuit.source = Source::Circuit(from);
            attention.wake(onto);
            log.tell(now, circuit.port, head, || What::Forwarded { input });
        }
    }
}
