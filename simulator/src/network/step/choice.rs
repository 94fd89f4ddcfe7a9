//! The character that a port sends when more than fill or the next byte may be due.

use crate::arena::{HostId, PartArena, UnitId};
use crate::link::sender::{PacketRest, SendState};
use crate::link::source_item::{AcceptMode, SendDecision, SourceItem};
use crate::link::tagged_char::TaggedChar;
use crate::link::wire::ChannelWire;
use crate::network::schedule::PortEnd;
use crate::network::{HostUnit, Network};
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::{RuleId, StopGo, TraceContext, TruthEventKind};

impl Network {
    /// The character of a port in a period without a shortcut.
    pub(super) fn choose(&mut self, index: UnitId, slot: u64) -> TaggedChar {
        let now = self.now;
        let unit = &mut self.units[index];
        let trace = &mut TraceContext { now, slot, place: unit.port, log: &mut self.log };
        if unit.power != PowerState::On {
            unit.stay_silent(trace);
            return TaggedChar::IDLE;
        }
        if unit.handshake.as_ref().is_some_and(|end| !end.is_free(now)) {
            return TaggedChar::IDLE;
        }
        let due = self.begin_period(index, slot);
        self.produce(index, due, slot)
    }

    /// The character of a port after [`Self::begin_period`]. `due` is the STOP or GO of its slack buffer.
    pub(super) fn produce(&mut self, index: UnitId, due: Option<StopGo>, slot: u64) -> TaggedChar {
        let now = self.now;
        let unit = &mut self.units[index];
        let trace = &mut TraceContext { now, slot, place: unit.port, log: &mut self.log };
        unit.counters.commands += u64::from(due.is_some());
        let source = unit.source;
        let cell = match unit.sender.decide_now(due, trace) {
            SendDecision::Send(cell) => {
                if let (true, DataSink::Host(host)) = (give_up(unit, &mut self.hosts), unit.sink) {
                    self.active.hosts.insert(host);
                }
                // It may have reset itself, so that a STOP that is said again counts anew.
                self.wake(PortEnd::Receiver, index);
                cell
            }
            SendDecision::Request(mode) => {
                let item = self.source_item(source, mode, index);
                let unit = &mut self.units[index];
                let trace = &mut TraceContext { now, slot, place: unit.port, log: &mut self.log };
                push_head(item, &mut self.wires[unit.peer], trace);
                unit.sender.send(item, trace)
            }
        };
        let unit = &mut self.units[index];
        let trace = &mut TraceContext { now, slot, place: unit.port, log: &mut self.log };
        unit.note_sent(cell, trace);
        if let Some(end) = &mut unit.handshake
            && cell.bits() != TaggedChar::IDLE.bits()
        {
            end.sent(now);
        }
        cell
    }

    /// The item that a source has for a sender.
    fn source_item(&mut self, source: DataSource, mode: AcceptMode, index: UnitId) -> SourceItem {
        match source {
            DataSource::Nowhere => SourceItem::Nothing,
            DataSource::Host(host) => {
                let HostUnit { interface, .. } = &mut self.hosts[host];
                let item = interface.offered();
                if !mode.accepts(&item) {
                    return SourceItem::Nothing;
                }
                interface.taken(self.now, &mut self.log);
                self.schedule_host(host);
                item
            }
            DataSource::Circuit(input) => self.item_from_input(input, mode, index),
            DataSource::Copies => {
                self.item_from_multicast(mode, index).unwrap_or(SourceItem::Nothing)
            }
        }
    }

    /// The item for an output from the input connected to it.
    fn item_from_input(&mut self, input: UnitId, mode: AcceptMode, output: UnitId) -> SourceItem {
        self.look_at(input);
        let fills = self.absorbs(input);
        let (now, log) = (self.now, &mut self.log);
        let unit = &mut self.units[input];
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
        let answer = if transit.needs_answer() {
            let extension = self.switches[switch].extension();
            let bytes = extension.map_or(&[][..], |extension| extension.answer(place.port));
            transit.answer_byte(&unit.receiver, mode, bytes)
        } else {
            None
        };
        let item = match answer {
            Some(item) => item,
            None => transit.next_item(&mut unit.receiver, mode),
        };
        let (taken, head) = (unit.receiver.fill() < fill, transit.head());
        // What is behind the mark is looked at in the next period.
        let goes_on = item == SourceItem::Mark && (unit.receiver.fill() > 0 || fills);
        if goes_on || taken && self.units[input].is_watched() {
            self.active.wake(PortEnd::Receiver, input);
        }
        if item == SourceItem::Mark {
            self.active.switches.insert(switch);
            if let Some(id) = head {
                log.drop_packet(now, place, Some(id), RuleId("P-9"));
            }
            self.units[input].sink = DataSink::Switch(switch, SwitchInputState::Empty);
            self.switches[switch].release(port);
            self.units[output].source = DataSource::Nowhere;
        }
        item
    }
}

/// Discards the rest of a given-up packet at a host's interface; returns true if there was one.
///
fn give_up(unit: &mut PortUnit, hosts: &mut PartArena<HostId, HostUnit>) -> bool {
    let given_up = match unit.sender.sending() {
        SendState::Discarding | SendState::Closing(PacketRest::AtSource) => true,
        SendState::Between | SendState::Packet | SendState::Closing(PacketRest::Nothing) => false,
    };
    if let (true, DataSink::Host(host)) = (given_up, &unit.sink) {
        hosts[*host].interface.cut();
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
        trace.drop_packet(Some(id), RuleId("F-7"));
    }
}
