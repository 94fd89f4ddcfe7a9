//! What the extensions of §3.4 add to a switch's period. S-8, S-9

use codec::route::{PortId, is_route_byte};

use crate::active_set::ActiveSet;
use crate::extension::{ExtensionJob, IntakeOutcome, SELF, SelfAddressedPacket};
use crate::multicast::{MulticastOutcome, MulticastPacket};
use crate::network::Network;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::source_item::{AcceptMode, SourceItem};
use crate::switch::{Switch, SwitchInputState};
use crate::tagged_char::TaggedChar;
use crate::truth::{TraceContext, TruthEventKind};

/// The byte by which the packet at an input is routed; none if that is seen to already, or must
/// wait. The place of `telling` is the input.
#[cold]
pub(super) fn select(
    switch: &mut Switch,
    circuits: &mut [PortUnit],
    index: usize,
    telling: &mut TraceContext<'_>,
) -> Option<u8> {
    let input = telling.place.port;
    let circuit = circuits.get(index)?;
    if circuit.sink.is_extended() {
        go_on(switch, circuits, index, telling);
        return None;
    }
    let first = circuit.receiver.peek(0).map_or(0, TaggedChar::low);
    let job = if first == SELF {
        match circuit.receiver.peek(1) {
            // Its next byte has not come.
            None => {
                switch.decoded(input);
                return None;
            }
            // It asks for the identity, and goes on by its next byte.
            Some(next) if is_route_byte(next.low()) && next.is_data() => return Some(next.low()),
            Some(next) if next.is_data() => ExtensionJob::Taking(SelfAddressedPacket::default()),
            Some(_) => return Some(first),
        }
    } else {
        let items = switch.extension().map_or(&[][..], |extension| extension.items(first));
        let items = items.iter().filter(|item| {
            let there = switch.circuit(item.output).and_then(|there| circuits.get(there as usize));
            there.is_some_and(|there| there.power == PowerState::On && !there.receiver.is_open())
        });
        ExtensionJob::Copying(MulticastPacket::new(items))
    };
    match &job {
        ExtensionJob::Taking(_) => switch.decoded(input),
        ExtensionJob::Copying(multicast) => match multicast.request() {
            // No entry, or no output that is there.
            None => return Some(first),
            Some(output) => switch.request(input, output),
        },
    }
    switch.extension_mut()?.begin(input, job);
    circuits.get_mut(index)?.sink.set(SwitchInputState::Extended);
    None
}

/// A period of an input's job passes.
fn go_on(
    switch: &mut Switch,
    circuits: &mut [PortUnit],
    index: usize,
    telling: &mut TraceContext<'_>,
) -> Option<()> {
    let input = telling.place.port;
    for output in lost(switch, circuits, input) {
        if let ExtensionJob::Copying(multicast) = switch.extension_mut()?.job(input)? {
            multicast.lose(output, telling);
        }
        switch.sever(output);
    }
    let ports = switch.parameters().ports;
    let extension = switch.extension_mut()?;
    let circuit = circuits.get_mut(index)?;
    let next = match extension.job(input)? {
        ExtensionJob::Copying(multicast) => match multicast.step(&mut circuit.receiver, telling) {
            MulticastOutcome::UnderWay => SwitchInputState::Extended,
            MulticastOutcome::Over => SwitchInputState::Empty,
            MulticastOutcome::Abandoned => SwitchInputState::Discarding,
        },
        ExtensionJob::Taking(taking) => match taking.step(ports, &mut circuit.receiver, telling) {
            IntakeOutcome::UnderWay => SwitchInputState::Extended,
            IntakeOutcome::TooLong => SwitchInputState::Discarding,
            IntakeOutcome::Refused => SwitchInputState::Empty,
            IntakeOutcome::Loads(entry) => {
                extension.load(entry);
                SwitchInputState::Empty
            }
        },
    };
    circuit.sink.set(next);
    if next == SwitchInputState::Extended {
        switch.decoded(input);
    } else {
        extension.end(input);
    }
    Some(())
}

/// Outputs of an input's multicast that have lost their power.
fn lost(switch: &Switch, circuits: &[PortUnit], input: PortId) -> Vec<PortId> {
    let dead = |output: &PortId| {
        let there = switch.circuit(*output).and_then(|there| circuits.get(there as usize));
        there.is_none_or(|there| there.power != PowerState::On)
    };
    match switch.extension().and_then(|extension| extension.peek(input)) {
        Some(ExtensionJob::Copying(multicast)) => multicast.outputs().filter(dead).collect(),
        Some(ExtensionJob::Taking(_)) | None => Vec::new(),
    }
}

/// An input has got an output for its multicast: it asks for the next, or begins. The place of
/// `telling` is the input.
#[cold]
pub(super) fn granted(
    switch: &mut Switch,
    circuits: &mut [PortUnit],
    index: usize,
    attention: &mut ActiveSet,
    telling: &mut TraceContext<'_>,
) -> Option<()> {
    let input = telling.place.port;
    let ExtensionJob::Copying(multicast) = switch.extension_mut()?.job(input)? else { return None };
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
        circuit.source = DataSource::Copies;
        attention.wake(circuit.peer);
        let TraceContext { now, log, .. } = telling;
        log.emit(*now, circuit.port, head.take(), || TruthEventKind::Forwarded { input });
    }
    go_on(switch, circuits, index, telling)
}

impl Network {
    /// What an output of a multicast has for its sender.
    #[cold]
    pub(super) fn item_from_multicast(
        &mut self,
        appetite: AcceptMode,
        output: usize,
    ) -> Option<SourceItem> {
        let circuit = self.circuits.get_mut(output)?;
        let DataSink::Switch(switch, _) = circuit.sink else { return None };
        let switch = self.switches.get_mut(switch as usize)?;
        let port = circuit.port.port;
        let input = switch.owner(port)?;
        let ExtensionJob::Copying(multicast) = switch.extension_mut()?.job(input)? else {
            return None;
        };
        let supply = multicast.next_item(port, appetite);
        if supply == SourceItem::Mark {
            switch.release(port);
            circuit.source = DataSource::Nowhere;
        }
        Some(supply)
    }
}
