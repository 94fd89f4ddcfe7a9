//! Periods of switches: inputs decode, request outputs and are connected. S-1..S-6

use super::extended_switching;
use crate::arena::{PartArena, PartNumber, UnitId};
use crate::link::receiver::stored::StoredFront;
use crate::link::sender::SendState;
use crate::link::tagged_char::TaggedChar;
use crate::network::active_set::ActiveSet;
use crate::network::schedule::PortEnd;
use crate::node::{virtual_channel, virtual_port, whole_port};
use crate::port::{DataSource, PortUnit, PowerState};
use crate::switch::cut_through::CutThrough;
use crate::switch::extension::SELF;
use crate::switch::{Switch, SwitchInputState, rule_of};
use crate::topology::{ExtensionSupport, ForwardingMode, NodePort, SwitchRole};
use crate::truth::{RuleId, TraceContext, TruthEventKind, TruthLog};
use codec::packet::CrcCheck;
use codec::route::PortId;

/// Advances the input of a switch. S-3, S-6
#[inline]
pub(super) fn advance(unit: &mut PortUnit, switch: &mut Switch, now: u64, log: &mut TruthLog) {
    let input = unit.sink.input();
    let front = unit.receiver.peek(0);
    match (*input, front) {
        (SwitchInputState::Empty, Some(cell)) if cell.is_data() => {
            match switch.parameters().forwarding {
                ForwardingMode::CutThrough => decode(unit, switch, now),
                ForwardingMode::StoreAndForward => store(unit, switch, now, log),
            }
        }
        (SwitchInputState::Storing, _) => store(unit, switch, now, log),
        // A mark alone: what it ended is gone.
        (SwitchInputState::Empty, Some(_)) => {
            unit.receiver.take();
        }
        (SwitchInputState::Decoding(ready), _) if ready <= now => {
            *input = SwitchInputState::Ready;
            switch.decoded(unit.port.port);
        }
        (SwitchInputState::Discarding, Some(_)) => match unit.receiver.take() {
            Some((cell, None)) if !cell.is_data() => *input = SwitchInputState::Empty,
            Some((_, Some(id))) => log.emit(now, unit.port, Some(id), || TruthEventKind::Merged),
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

/// Begins to decode the first byte. S-6
fn decode(unit: &mut PortUnit, switch: &mut Switch, now: u64) {
    let ready = now + u64::from(switch.parameters().routing);
    *unit.sink.input() = if ready == now {
        switch.decoded(unit.port.port);
        SwitchInputState::Ready
    } else {
        SwitchInputState::Decoding(ready)
    };
}

/// Stores a packet as a whole; drops it if its CRC is wrong or it does not fit. B-2
fn store(unit: &mut PortUnit, switch: &mut Switch, now: u64, log: &mut TruthLog) {
    match unit.receiver.stored() {
        StoredFront::Part => *unit.sink.input() = SwitchInputState::Storing,
        StoredFront::Whole(CrcCheck::Good) => decode(unit, switch, now),
        StoredFront::Whole(CrcCheck::Bad(_) | CrcCheck::Runt | CrcCheck::Partial)
        | StoredFront::TooLong => {
            *unit.sink.input() = SwitchInputState::Discarding;
            let head = unit.receiver.take().and_then(|(_, head)| head);
            log.drop_packet(now, unit.port, head, RuleId("B-2"));
        }
    }
}

/// Ends the packets at outputs whose input was reset. R-3
pub(super) fn sever(
    switch: &mut Switch,
    units: &mut PartArena<UnitId, PortUnit>,
    active: &mut ActiveSet,
    now: u64,
    log: &mut TruthLog,
) {
    for output in switch.take_severed() {
        let index = switch.cabled(output);
        let unit = &mut units[index];
        active.wake(PortEnd::Sender, index);
        if unit.sender.sending() == SendState::Packet {
            let id = unit.sender.current();
            log.emit(now, unit.port, id, || TruthEventKind::Truncated(RuleId("R-3")));
        }
        unit.source = DataSource::Nowhere;
        unit.sender.sever();
    }
}

/// Requests outputs for decoded first bytes, or drops the packet. S-1, S-2
pub(super) fn select(
    switch: &mut Switch,
    units: &mut PartArena<UnitId, PortUnit>,
    active: &mut ActiveSet,
    now: u64,
    log: &mut TruthLog,
) {
    let parameters = *switch.parameters();
    for input in switch.take_ready() {
        let index = switch.cabled(input);
        active.wake(PortEnd::Receiver, index);
        let front = units[index].receiver.peek(0);
        let byte = match parameters.extensions {
            ExtensionSupport::Off => front.map_or(0, TaggedChar::low),
            ExtensionSupport::On | ExtensionSupport::Computer => {
                active.wake(PortEnd::Receiver, index);
                let place = NodePort { node: switch.node(), port: input };
                let trace = &mut TraceContext { now, slot: now, place, log };
                match extended_switching::select(switch, units, index, trace) {
                    Some(byte) => byte,
                    None => continue,
                }
            }
        };
        let output = parameters.opposite(input).map_or_else(
            || {
                let whole = whole_port(input);
                parameters.addressing.select(byte, whole, parameters.ports).map_err(rule_of)
            },
            Ok,
        );
        let output = output.and_then(|output| {
            let there = switch.unit(output).map(|there| &units[there]);
            match parameters.role {
                // What is sent into an open link is lost, as in a cable that is cut.
                SwitchRole::FibreEnd | SwitchRole::Router if there.is_some() => Ok(output),
                SwitchRole::FibreEnd | SwitchRole::Router => Err(RuleId("N-5")),
                // Unused, unpowered, disconnected.
                SwitchRole::Crossbar
                    if there.is_none_or(|there| {
                        there.power != PowerState::On || there.receiver.is_open()
                    }) =>
                {
                    Err(RuleId("S-1"))
                }
                SwitchRole::Crossbar => Ok(on_virtual_channel(there, output, input)),
            }
        });
        let unit = &mut units[index];
        let state = unit.sink.input();
        match output {
            Ok(output) => {
                *state = SwitchInputState::Waiting(output);
                switch.request(input, output, now);
            }
            Err(rule) => {
                *state = SwitchInputState::Discarding;
                active.wake(PortEnd::Receiver, index);
                let head = unit.receiver.take().and_then(|(_, head)| head);
                log.drop_packet(now, unit.port, head, rule);
            }
        }
    }
}

/// The output of a packet from an input: of a port with virtual channels one of them. C-7 *Chosen*
fn on_virtual_channel(there: Option<&PortUnit>, output: PortId, input: PortId) -> PortId {
    match there.and_then(|there| there.line.as_ref()) {
        Some(line) => virtual_port(output, line.passage(virtual_channel(input))),
        None => output,
    }
}

/// Connects an input to an output. S-3
pub(super) fn connect(
    switch: &mut Switch,
    units: &mut PartArena<UnitId, PortUnit>,
    active: &mut ActiveSet,
    (input, output): (PortId, PortId),
    (now, log): (u64, &mut TruthLog),
) {
    let (from, to) = (switch.cabled(input), switch.cabled(output));
    // It may have lost its power while the packet waited.
    let is_dead = units[to].power != PowerState::On;
    let unit = &mut units[from];
    let state = unit.sink.input();
    if *state == SwitchInputState::Extended {
        let trace = &mut TraceContext { now, slot: now, place: unit.port, log };
        extended_switching::granted(switch, units, from, active, trace);
        return;
    }
    let waits = matches!(state, SwitchInputState::Waiting(it) if it.place() == output.place());
    let Some((route, head)) = unit.receiver.take().filter(|_| waits) else {
        unreachable!("{input:?} does not wait for {output:?}, which is granted to it")
    };
    if is_dead {
        log.drop_packet(now, unit.port, head, RuleId("S-1"));
        *unit.sink.input() = SwitchInputState::Discarding;
        active.wake(PortEnd::Receiver, from);
        switch.release(output);
        return;
    }
    let mut transit = match switch.parameters().role {
        SwitchRole::Crossbar => CutThrough::new(route.low(), head),
        SwitchRole::FibreEnd | SwitchRole::Router => CutThrough::unchanged(route.low(), head),
    };
    if route.low() == SELF && !transit.holds() {
        let (next, inner) = unit.receiver.take().unwrap_or((route, None));
        let answer = switch.extension().map_or(0, |extension| extension.answer(input).len());
        transit = transit.with_answer(next.low(), answer);
        inner
            .into_iter()
            .for_each(|id| log.emit(now, unit.port, Some(id), || TruthEventKind::Merged));
    }
    *state = SwitchInputState::Connected(output, transit);
    unit.downstream = to;
    if unit.is_watched() {
        active.wake(PortEnd::Receiver, from);
    }
    let unit = &mut units[to];
    unit.source = DataSource::Circuit(from);
    active.wake(PortEnd::Sender, to);
    log.emit(now, unit.port, head, || TruthEventKind::Forwarded { input: whole_port(input) });
}
