//! Periods of the switch extensions of §3.4. S-8, S-9

use codec::route::{PortId, is_route_byte};
use codec::switch_answer::{AnsweredPorts, SwitchAnswer, SwitchPortState};

use crate::arena::{PartArena, SwitchId, UnitId};
use crate::histogram::share;
use crate::link::source_item::{AcceptMode, SourceItem};
use crate::link::tagged_char::TaggedChar;
use crate::network::Network;
use crate::network::active_set::ActiveSet;
use crate::network::schedule::PortEnd;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::extension::{ExtensionJob, IntakeOutcome, SELF, SelfAddressedPacket};
use crate::switch::multicast::{MulticastOutcome, MulticastPacket};
use crate::switch::{Switch, SwitchInputState};
use crate::topology::{ExtensionSupport, SwitchParameters};
use crate::truth::{TraceContext, TruthEventKind};

/// The byte that routes the packet at an input; `None` if the extensions handle the packet, or it
/// must wait. The place of `trace` is the input.
#[cold]
pub(super) fn select(
    switch: &mut Switch,
    units: &mut PartArena<UnitId, PortUnit>,
    index: UnitId,
    trace: &mut TraceContext<'_>,
) -> Option<u8> {
    let input = trace.place.port;
    let unit = &units[index];
    if unit.sink.is_extended() {
        go_on(switch, units, index, trace);
        return None;
    }
    let first = unit.receiver.peek(0).map_or(0, TaggedChar::low);
    let job = if first == SELF {
        match unit.receiver.peek(1) {
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
            let there = switch.unit(item.output).map(|there| &units[there]);
            there.is_some_and(|there| there.power == PowerState::On && !there.receiver.is_open())
        });
        ExtensionJob::Copying(MulticastPacket::new(items))
    };
    match &job {
        ExtensionJob::Taking(_) => switch.decoded(input),
        ExtensionJob::Copying(multicast) => match multicast.request() {
            // No entry, or no output that is there.
            None => return Some(first),
            Some(output) => switch.request(input, output, trace.now),
        },
    }
    switch.extension_mut()?.begin(input, job);
    *units[index].sink.input() = SwitchInputState::Extended;
    None
}

/// Advances the job of an input.
fn go_on(
    switch: &mut Switch,
    units: &mut PartArena<UnitId, PortUnit>,
    index: UnitId,
    trace: &mut TraceContext<'_>,
) -> Option<()> {
    let input = trace.place.port;
    for output in lost(switch, units, input) {
        if let ExtensionJob::Copying(multicast) = switch.extension_mut()?.job(input)? {
            multicast.lose(output, trace);
        }
        switch.sever(output);
    }
    let ports = switch.parameters().ports;
    let extension = switch.extension_mut()?;
    let unit = &mut units[index];
    let next = match extension.job(input)? {
        ExtensionJob::Copying(multicast) => match multicast.step(&mut unit.receiver, trace) {
            MulticastOutcome::UnderWay => SwitchInputState::Extended,
            MulticastOutcome::Over => SwitchInputState::Empty,
            MulticastOutcome::Abandoned => SwitchInputState::Discarding,
        },
        ExtensionJob::Taking(taking) => match taking.step(ports, &mut unit.receiver, trace) {
            IntakeOutcome::UnderWay => SwitchInputState::Extended,
            IntakeOutcome::TooLong => SwitchInputState::Discarding,
            IntakeOutcome::Refused => SwitchInputState::Empty,
            IntakeOutcome::Loads(entry) => {
                extension.load(entry);
                SwitchInputState::Empty
            }
        },
    };
    *unit.sink.input() = next;
    if next == SwitchInputState::Extended {
        switch.decoded(input);
    } else {
        extension.end(input);
    }
    Some(())
}

/// The outputs of an input's multicast that have lost their power.
fn lost(switch: &Switch, units: &PartArena<UnitId, PortUnit>, input: PortId) -> Vec<PortId> {
    let dead = |output: &PortId| {
        let there = switch.unit(*output).map(|there| &units[there]);
        there.is_none_or(|there| there.power != PowerState::On)
    };
    match switch.extension().and_then(|extension| extension.peek(input)) {
        Some(ExtensionJob::Copying(multicast)) => multicast.outputs().filter(dead).collect(),
        Some(ExtensionJob::Taking(_)) | None => Vec::new(),
    }
}

/// Grants an output to an input's multicast, which requests the next one, or begins. The place of
/// `trace` is the input.
#[cold]
pub(super) fn granted(
    switch: &mut Switch,
    units: &mut PartArena<UnitId, PortUnit>,
    index: UnitId,
    active: &mut ActiveSet,
    trace: &mut TraceContext<'_>,
) -> Option<()> {
    let input = trace.place.port;
    let ExtensionJob::Copying(multicast) = switch.extension_mut()?.job(input)? else { return None };
    multicast.granted();
    if let Some(next) = multicast.request() {
        switch.request(input, next, trace.now);
        return None;
    }
    let outputs: Vec<_> = multicast.outputs().collect();
    let (route, mut head) = units[index].receiver.take()?;
    multicast.begin(route.low(), head);
    for output in outputs {
        let there = switch.cabled(output);
        let unit = &mut units[there];
        unit.source = DataSource::Copies;
        active.wake(PortEnd::Sender, there);
        let TraceContext { now, log, .. } = trace;
        log.emit(*now, unit.port, head.take(), || TruthEventKind::Forwarded { input });
    }
    go_on(switch, units, index, trace)
}

impl Network {
    /// Forms the answer to the packet at an input that is connected now, if it asks for one; `None` if
    /// not. Its characters are those of the periods before this one, its drops those until now. S-8
    pub(super) fn form_answer(&mut self, number: SwitchId, input: PortId) -> Option<()> {
        let switch = &self.switches[number];
        let (node, parameters) = (switch.node(), *switch.parameters());
        let front = self.units[switch.cabled(input)].receiver.peek(0)?;
        let ports = match parameters.extensions {
            _ if front.low() != SELF => return None,
            ExtensionSupport::Off => return None,
            ExtensionSupport::On => AnsweredPorts::Counted(parameters.ports),
            ExtensionSupport::Computer => AnsweredPorts::Watched(
                (0..parameters.ports).map(|port| self.watch_port(number, PortId(port))).collect(),
            ),
        };
        let SwitchParameters { addressing, .. } = parameters;
        let mut bytes = Vec::new();
        SwitchAnswer { ports, addressing, input, node: node.0 }.emit(&mut bytes);
        self.switches[number].extension_mut()?.set_answer(input, bytes);
        Some(())
    }

    /// The state of a port of a switch, by its counters. S-8
    fn watch_port(&mut self, number: SwitchId, port: PortId) -> SwitchPortState {
        let Some(unit) = self.switches[number].unit(port) else {
            return SwitchPortState::default();
        };
        self.catch_up_sender(unit);
        let unit = &self.units[unit];
        let (counters, periods) = (unit.counters(), unit.clock.next_sent(self.now));
        SwitchPortState {
            utilisation: share(counters.data, periods),
            stopped: share(counters.stopped, periods),
            drops: u32::try_from(self.log.drops(unit.port)).unwrap_or(u32::MAX),
        }
    }

    #[cold]
    pub(super) fn item_from_multicast(
        &mut self,
        mode: AcceptMode,
        output: UnitId,
    ) -> Option<SourceItem> {
        let unit = &mut self.units[output];
        let DataSink::Switch(switch, _) = unit.sink else { return None };
        let switch = &mut self.switches[switch];
        let port = unit.port.port;
        let input = switch.owner(port)?;
        let ExtensionJob::Copying(multicast) = switch.extension_mut()?.job(input)? else {
            return None;
        };
        let item = multicast.next_item(port, mode);
        if item == SourceItem::Mark {
            switch.release(port);
            unit.source = DataSource::Nowhere;
        }
        Some(item)
    }
}
