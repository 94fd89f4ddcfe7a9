//! A period of a cable with virtual channels, which share its characters. C-7 (§4.8.4)
//!
//! The parts of a port with virtual channels follow each other; the first one sends and receives the characters of
//! all, and is awake or asleep for all.

use crate::arena::{PartArena, UnitId};
use crate::link::sender::SendState;
use crate::link::shared_line::{LineRequest, LineUse, ReceivedShare, SHARES_MAX, SharedLine};
use crate::link::source_item::AcceptMode;
use crate::link::tagged_char::TaggedChar;
use crate::network::schedule::PortEnd;
use crate::network::{HostUnit, Network, TakenChannel};
use crate::node::virtual_channel;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::{StopGo, TraceContext, TruthLog};

/// Lets an interface take a character, if it does now. Returns true if it has. I-1
#[inline]
pub(super) fn take(
    host: &mut HostUnit,
    units: &mut PartArena<UnitId, PortUnit>,
    first: UnitId,
    (now, log): (u64, &mut TruthLog),
) -> bool {
    let index = taken_lane(host, units, first);
    let unit = &mut units[index];
    if unit.receiver.fill() > 0
        && host.interface.takes(now, unit.receiver.last_command())
        && let Some((cell, head)) = unit.receiver.take()
    {
        let channel = virtual_channel(unit.port.port);
        host.taken = if cell.is_data() {
            TakenChannel::Inside(channel)
        } else {
            TakenChannel::Between(channel)
        };
        host.interface.take(now, cell, head, log);
        return true;
    }
    false
}

/// The port or virtual channel from which an interface takes the next character: of virtual channels one packet after
/// the other. C-7 *Chosen*
#[inline]
pub(in crate::network) fn taken_lane(
    host: &HostUnit,
    units: &PartArena<UnitId, PortUnit>,
    first: UnitId,
) -> UnitId {
    let channels = units[first].lanes;
    match host.taken {
        _ if channels == 1 => first,
        TakenChannel::Inside(channel) => first.with_channel(channel),
        TakenChannel::Between(last) => {
            let filled = |lane: &UnitId| units[*lane].receiver.fill() > 0;
            let mut lanes = (1..=channels).map(|step| first.with_channel((last + step) % channels));
            lanes.find(filled).unwrap_or(first)
        }
    }
}

impl Network {
    /// A port, or its virtual channels by the first one.
    #[inline]
    pub(in crate::network) fn lanes(&self, first: UnitId) -> impl Iterator<Item = UnitId> + use<> {
        (0..self.units[first].lanes).map(move |channel| first.with_channel(channel))
    }

    /// The character of a period of a cable, if it has virtual channels.
    pub(super) fn choose_shared(&mut self, first: UnitId, slot: u64) -> Option<TaggedChar> {
        let mut line = self.units[first].line.take()?;
        let cell = self.choose_of(first, &mut line, slot);
        self.units[first].line = Some(line);
        Some(cell)
    }

    fn choose_of(&mut self, first: UnitId, line: &mut SharedLine, slot: u64) -> TaggedChar {
        let unit = &self.units[first];
        if unit.power != PowerState::On {
            for lane in self.lanes(first) {
                self.choose(lane, slot);
            }
            return TaggedChar::IDLE;
        }
        if unit.receiver.is_open() {
            line.deselect();
        }
        let mut wishes = [LineRequest::default(); SHARES_MAX];
        for ((channel, lane), request) in (0..).zip(self.lanes(first)).zip(&mut wishes) {
            let due = self.begin_period(lane, slot);
            due.into_iter().for_each(|command| line.command(channel, command));
            *request = self.line_request(lane, slot);
        }
        let (channel, cell) = match line.next_use(wishes) {
            LineUse::Selection(channel) => return line.selection(channel),
            LineUse::Command(channel, command) => {
                (channel, self.produce(first.with_channel(channel), Some(command), slot))
            }
            LineUse::Character(channel) => {
                (channel, self.produce(first.with_channel(channel), None, slot))
            }
            LineUse::FillGap(channel) => {
                let index = first.with_channel(channel);
                (channel, self.fill_shared(index, slot, |_| TaggedChar::GAP))
            }
            LineUse::FillCommand(channel) => {
                let last = |unit: &PortUnit| unit.sender.last_command();
                (channel, self.fill_shared(first.with_channel(channel), slot, last))
            }
        };
        line.on_wires(channel, cell)
    }

    /// Receives a character at a port, if it has virtual channels.
    pub(super) fn receive_shared(
        &mut self,
        first: UnitId,
        cell: TaggedChar,
        slot: u64,
    ) -> Option<()> {
        let unit = &mut self.units[first];
        let line = unit.line.as_mut()?;
        let shares = line.assign(cell);
        // Without power it sees no selection.
        if unit.power != PowerState::On {
            line.power_off();
        }
        let was_open = unit.receiver.is_open();
        for (index, share) in self.lanes(first).zip(shares) {
            match share {
                ReceivedShare::Own(cell) => self.receive_at(index, first, cell, slot),
                ReceivedShare::Other => {
                    let (unit, log) = (&mut self.units[index], &mut self.log);
                    if unit.power == PowerState::On {
                        let trace =
                            &mut TraceContext { now: self.now, slot, place: unit.port, log };
                        unit.receiver.receive_other(trace);
                    }
                    unit.trace_fill(self.now, slot, &mut self.log);
                    // GO may be due.
                    if !unit.receiver.is_calm() {
                        self.wake(PortEnd::Sender, first);
                    }
                }
            }
        }
        // Its selection depends on it.
        if self.units[first].receiver.is_open() != was_open {
            self.wake(PortEnd::Sender, first);
        }
        Some(())
    }

    /// The wish of a virtual channel's sender. What it discards takes no period of the line. R-1
    fn line_request(&mut self, index: UnitId, slot: u64) -> LineRequest {
        if let DataSource::Circuit(input) = self.units[index].source {
            self.look_at(input);
        }
        let unit = &self.units[index];
        if unit.sender.is_urgent(slot) {
            return LineRequest::Symbol;
        }
        let (state, mode) = (unit.sender.sending(), unit.sender.accept_mode());
        match (self.offers(unit, mode), state) {
            (_, SendState::Discarding) => {
                self.produce(index, None, slot);
                LineRequest::Nothing
            }
            (true, _) => LineRequest::Packet,
            (false, SendState::Packet) => LineRequest::More,
            (false, SendState::Between | SendState::Closing(_)) => LineRequest::Nothing,
        }
    }

    /// True if the source of a sender has an item that it accepts.
    pub(in crate::network) fn offers(&self, unit: &PortUnit, mode: AcceptMode) -> bool {
        match unit.source {
            DataSource::Nowhere | DataSource::Copies => false,
            DataSource::Host(host) => mode.accepts(&self.hosts[host].interface.offered()),
            DataSource::Circuit(input) => {
                let input = &self.units[input];
                match &input.sink {
                    DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                        transit.offers(&input.receiver, mode)
                    }
                    DataSink::Switch(..) | DataSink::Host(_) => false,
                }
            }
        }
    }

    fn fill_shared(
        &mut self,
        index: UnitId,
        slot: u64,
        fill: impl FnOnce(&PortUnit) -> TaggedChar,
    ) -> TaggedChar {
        let (unit, log) = (&mut self.units[index], &mut self.log);
        let cell = fill(unit);
        let trace = &mut TraceContext { now: self.now, slot, place: unit.port, log };
        unit.note_sent(cell, trace);
        cell
    }

    /// Begins a period of a sender: returns the STOP or GO that its slack buffer generates. F-4
    pub(super) fn begin_period(&mut self, index: UnitId, slot: u64) -> Option<StopGo> {
        let unit = &mut self.units[index];
        if unit.sender.flow() == StopGo::Stop {
            unit.counters.stopped += 1;
        }
        unit.sender.interpret(slot);
        unit.receiver.due()
    }
}
