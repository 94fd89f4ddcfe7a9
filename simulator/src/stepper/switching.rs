//! What switches do in a period: inputs decode, ask for outputs, get them. S-1..S-6

use super::extended_switching;
use crate::active_set::ActiveSet;
use crate::cut_through::CutThrough;
use crate::extension::SELF;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::sender::SendState;
use crate::switch::{Switch, SwitchInputState, rule_of};
use crate::tagged_char::TaggedChar;
use crate::topology::{ExtensionSupport, NodePort};
use crate::truth::{RuleId, TraceContext, TruthEventKind, TruthLog};

/// The input of a switch goes on with what stands in its slack buffer. S-3, S-6
#[inline]
pub(super) fn advance(
    circuit: &mut PortUnit,
    switch: Option<&mut Switch>,
    now: u64,
    log: &mut TruthLog,
) {
    let (DataSink::Switch(_, input), Some(switch)) = (&mut circuit.sink, switch) else { return };
    let front = circuit.receiver.peek(0);
    match (*input, front) {
        (SwitchInputState::Empty, Some(cell)) if cell.is_data() => {
            let ready = now + u64::from(switch.parameters().routing);
            *input = SwitchInputState::Decoding(ready);
            if ready == now {
                *input = SwitchInputState::Ready;
                switch.decoded(circuit.port.port);
            }
        }
        // A mark alone: what it ended is gone.
        (SwitchInputState::Empty, Some(_)) => {
            circuit.receiver.take();
        }
        (SwitchInputState::Decoding(ready), _) if ready <= now => {
            *input = SwitchInputState::Ready;
            switch.decoded(circuit.port.port);
        }
        (SwitchInputState::Discarding, Some(_)) => match circuit.receiver.take() {
            Some((cell, None)) if !cell.is_data() => *input = SwitchInputState::Empty,
            Some((_, Some(id))) => log.emit(now, circuit.port, Some(id), || TruthEventKind::Merged),
            Some((_, None)) | None => {}
        },
        (SwitchInputState::Empty | SwitchInputState::Discarding, None)
        | (
            SwitchInputState::Decoding(_) | SwitchInputState::Ready | SwitchInputState::Waiting(_),
            _,
        )
        | (SwitchInputState::Connected(..) | SwitchInputState::Extended, _) => {}
    }
}

/// Outputs whose input was reset end what they have sent of a packet. R-3
pub(super) fn sever(
    switch: &mut Switch,
    circuits: &mut [PortUnit],
    attention: &mut ActiveSet,
    now: u64,
    log: &mut TruthLog,
) {
    for output in switch.take_severed() {
        let Some(index) = switch.circuit(output).map(|circuit| circuit as usize) else { continue };
        let Some(circuit) = circuits.get_mut(index) else { continue };
        attention.wake(circuit.peer);
        if circuit.sender.sending() == SendState::Packet {
            let id = circuit.sender.current();
            log.emit(now, circuit.port, id, || TruthEventKind::Truncated(RuleId("R-3")));
        }
        circuit.source = DataSource::Nowhere;
        circuit.sender.sever();
    }
}

/// Inputs that have decoded their first byte ask for an output, or drop the packet. S-1, S-2
pub(super) fn select(
    switch: &mut Switch,
    circuits: &mut [PortUnit],
    attention: &mut ActiveSet,
    now: u64,
    log: &mut TruthLog,
) {
    let parameters = *switch.parameters();
    for input in switch.take_ready() {
        let Some(channel) = switch.circuit(input) else { continue };
        let index = channel as usize;
        attention.wake(channel);
        let front = circuits.get(index).and_then(|circuit| circuit.receiver.peek(0));
        let byte = match parameters.extensions {
            ExtensionSupport::Off => front.map_or(0, TaggedChar::low),
            ExtensionSupport::On => {
                let place = NodePort { node: switch.node(), port: input };
                let telling = &mut TraceContext { now, slot: now, place, log };
                match extended_switching::select(switch, circuits, index, telling) {
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
                there.is_none_or(|there| there.power != PowerState::On || there.receiver.is_open());
            if open { Err(RuleId("S-1")) } else { Ok(output) }
        });
        let Some(circuit) = circuits.get_mut(index) else { continue };
        let DataSink::Switch(_, state) = &mut circuit.sink else { continue };
        match output {
            Ok(output) => {
                *state = SwitchInputState::Waiting(output);
                switch.request(input, output);
            }
            Err(rule) => {
                *state = SwitchInputState::Discarding;
                let head = circuit.receiver.take().and_then(|(_, head)| head);
                log.emit(now, circuit.port, head, || TruthEventKind::Dropped(rule));
            }
        }
    }
}

/// Tokens move, and inputs get their outputs. S-3, S-5
pub(super) fn connect(
    switch: &mut Switch,
    circuits: &mut [PortUnit],
    attention: &mut ActiveSet,
    now: u64,
    log: &mut TruthLog,
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
        let dead = circuits.get(to as usize).map(|circuit| circuit.power != PowerState::On);
        let Some(circuit) = circuits.get_mut(from as usize) else { continue };
        let DataSink::Switch(_, state) = &mut circuit.sink else { continue };
        if *state == SwitchInputState::Extended {
            let telling = &mut TraceContext { now, slot: now, place: circuit.port, log };
            extended_switching::granted(switch, circuits, from as usize, attention, telling);
            continue;
        }
        let Some((route, head)) = circuit.receiver.take() else { continue };
        if dead == Some(true) {
            log.emit(now, circuit.port, head, || TruthEventKind::Dropped(RuleId("S-1")));
            circuit.sink.set(SwitchInputState::Discarding);
            switch.release(output);
            continue;
        }
        let mut transit = CutThrough::new(route.low(), head);
        if route.low() == SELF {
            let (next, inner) = circuit.receiver.take().unwrap_or((route, None));
            transit = transit.with_identity(next.low());
            inner
                .into_iter()
                .for_each(|id| log.emit(now, circuit.port, Some(id), || TruthEventKind::Merged));
        }
        *state = SwitchInputState::Connected(output, transit);
        let onto = circuits.get(to as usize).map_or(0, |circuit| circuit.peer);
        circuits.get_mut(from as usize).into_iter().for_each(|circuit| circuit.downstream = onto);
        if let Some(circuit) = circuits.get_mut(to as usize) {
            circuit.source = DataSource::Circuit(from);
            attention.wake(onto);
            log.emit(now, circuit.port, head, || TruthEventKind::Forwarded { input });
        }
    }
}
