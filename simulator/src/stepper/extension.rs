//! What the extensions of §3.4 add to a switch's period. S-8, S-9

use codec::route::{PortId, is_route};

use crate::attention::Attention;
use crate::cell::Cell;
use crate::circuit::{Circuit, Power, Sink, Source};
use crate::extension::{Job, SELF, Taken, Taking};
use crate::multicast::{Multicast, Outcome};
use crate::network::Network;
use crate::supply::{Appetite, Supply};
use crate::switch::{Input, Switch};
use crate::truth::{Telling, What};

/// The byte by which the packet at an input is routed; none if that is seen to already, or must
/// wait. The place of `telling` is the input.
#[cold]
pub(super) fn select(
    switch: &mut Switch,
    circuits: &mut [Circuit],
    index: usize,
    telling: &mut Telling<'_>,
) -> Option<u8> {
    let input = telling.place.port;
    let circuit = circuits.get(index)?;
    if circuit.sink.is_extended() {
        go_on(switch, circuits, index, telling);
        return None;
    }
    let first = circuit.receiver.peek(0).map_or(0, Cell::low);
    let job = if first == SELF {
        match circuit.receiver.peek(1) {
            // Its next byte has not come.
            None => {
                switch.decoded(input);
                return None;
            }
            // It asks for the identity, and goes on by its next byte.
            Some(next) if is_route(next.low()) && next.is_data() => return Some(next.low()),
            Some(next) if next.is_data() => Job::Taking(Taking::default()),
            Some(_) => return Some(first),
        }
    } else {
        let items = switch.extension().map_or(&[][..], |extension| extension.items(first));
        let items = items.iter().filter(|item| {
            let there = switch.circuit(item.output).and_then(|there| circuits.get(there as usize));
            there.is_some_and(|there| there.power == Power::On && !there.receiver.is_open())
        });
        Job::Copying(Multicast::new(items))
    };
    match &job {
        Job::Taking(_) => switch.decoded(input),
        Job::Copying(multicast) => match multicast.request() {
            // No entry, or no output that is there.
            None => return Some(first),
            Some(output) => switch.request(input, output),
        },
    }
    switch.extension_mut()?.begin(input, job);
    circuits.get_mut(index)?.sink.set(Input::Extended);
    None
}

/// A period of an input's job passes.
fn go_on(
    switch: &mut Switch,
    circuits: &mut [Circuit],
    index: usize,
    telling: &mut Telling<'_>,
) -> Option<()> {
    let input = telling.place.port;
    for output in lost(switch, circuits, input) {
        if let Job::Copying(multicast) = switch.extension_mut()?.job(input)? {
            multicast.lose(output, telling);
        }
        switch.sever(output);
    }
    let ports = switch.parameters().ports;
    let extension = switch.extension_mut()?;
    let circuit = circuits.get_mut(index)?;
    let next = match extension.job(input)? {
        Job::Copying(multicast) => match multicast.pass(&mut circuit.receiver, telling) {
            Outcome::UnderWay => Input::Extended,
            Outcome::Over => Input::Empty,
            Outcome::Abandoned => Input::Discarding,
        },
        Job::Taking(taking) => match taking.pass(ports, &mut circuit.receiver, telling) {
            Taken::UnderWay => Input::Extended,
            Taken::TooLong => Input::Discarding,
            Taken::Refused => Input::Empty,
            Taken::Loads(entry) => {
                extension.load(entry);
                Input::Empty
            }
        },
    };
    circuit.sink.set(next);
    if next == Input::Extended {
        switch.decoded(input);
    } else {
        extension.end(input);
    }
    Some(())
}

/// Outputs of an input's multicast that have lost their power.
fn lost(switch: &Switch, circuits: &[Circuit], input: PortId) -> Vec<PortId> {
    let dead = |output: &PortId| {
        let there = switch.circuit(*output).and_then(|there| circuits.get(there as usize));
        there.is_none_or(|there| there.power != Power::On)
    };
    match switch.extension().and_then(|extension| extension.peek(input)) {
        Some(Job::Copying(multicast)) => multicast.outputs().filter(dead).collect(),
        Some(Job::Taking(_)) | None => Vec::new(),
    }
}

/// An input has got an output for its multicast: it asks for the next, or begins. The place of
/// `telling` is the input.
#[cold]
pub(super) fn granted(
    switch: &mut Switch,
    circuits: &mut [Circuit],
    index: usize,
    attention: &mut Attention,
    telling: &mut Telling<'_>,
) -> Option<()> {
    let input = telling.place.port;
    let Job::Copying(multicast) = switch.extension_mut()?.job(input)? else { return None };
    multicast.granted();
    if let Some(next) = multicast.request() {
        switch.request(input, next);
        return None;
    }
    let outputs: Vec<_> = multicast.outputs().collect();
    let (route, mut head) = circuits.get_mut(index)?.receiver.take()?;
    multicast.begin(route.low(), head);
    for output in outputs {
        let Some(there) = switch.circuit(output).map(|there| there as usize) else { continue };
        let Some(circuit) = circuits.get_mut(there) else { continue };
        circuit.source = Source::Copies;
        attention.wake(circuit.peer);
        let Telling { now, log, .. } = telling;
        log.tell(*now, circuit.port, head.take(), || What::Forwarded { input });
    }
    go_on(switch, circuits, index, telling)
}

impl Network {
    /// What an output of a multicast has for its sender.
    #[cold]
    pub(super) fn copy(&mut self, appetite: Appetite, output: usize) -> Option<Supply> {
        let circuit = self.circuits.get_mut(output)?;
        let Sink::Switch(switch, _) = circuit.sink else { return None };
        let switch = self.switches.get_mut(switch as usize)?;
        let port = circuit.port.port;
        let input = switch.owner(port)?;
        let Job::Copying(multicast) = switch.extension_mut()?.job(input)? else { return None };
        let supply = multicast.supply(port, appetite);
        if supply == Supply::Mark {
            switch.release(port);
            circuit.source = Source::Nowhere;
        }
        Some(supply)
    }
}
