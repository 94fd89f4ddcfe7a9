//! A period of a cable with virtual channels, which share its characters. C-7 (§4.8.4)
//!
//! The parts of a port with virtual channels follow each other; the first one sends and receives the characters of
//! all. They do not sleep: such a network is simulated period by period.

use crate::arena::{PartArena, UnitId};
use crate::link::sender::SendState;
use crate::link::shared_line::{
    LineRequest, LineShare, LineUse, ReceivedShare, SHARES_MAX, SharedLine,
};
use crate::link::source_item::AcceptMode;
use crate::link::tagged_char::TaggedChar;
use crate::network::{HostUnit, Network, TakenChannel};
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::{StopGo, TraceContext, TruthLog};

/// Lets an interface take a character, if it does now: of virtual channels one packet after the other. Returns true if
/// it has. I-1, C-7 *Chosen*
#[inline]
pub(super) fn take(
    host: &mut HostUnit,
    units: &mut PartArena<UnitId, PortUnit>,
    first: UnitId,
    (now, log): (u64, &mut TruthLog),
) -> bool {
    let channel = match &units[first].line {
        LineShare::First(line) => match host.taken {
            TakenChannel::Inside(channel) => channel,
            TakenChannel::Between(last) => {
                let channels = line.channels();
                let filled = |channel: &u8| units[first.with_channel(*channel)].receiver.fill() > 0;
                (1..=channels).map(|step| (last + step) % channels).find(filled).unwrap_or(0)
            }
        },
        LineShare::Whole | LineShare::Further => 0,
    };
    let unit = &mut units[first.with_channel(channel)];
    if unit.receiver.fill() > 0
        && host.interface.takes(now, unit.receiver.last_command())
        && let Some((cell, head)) = unit.receiver.take()
    {
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

impl Network {
    /// The character of a period of a cable, if it has virtual channels.
    pub(super) fn choose_shared(&mut self, first: UnitId, slot: u64) -> Option<TaggedChar> {
        self.with_line(first, |network, line| {
            let unit = &network.units[first];
            if unit.power != PowerState::On {
                for channel in 0..line.channels() {
                    network.choose(first.with_channel(channel), slot);
                }
                line.power_off();
                return Some(TaggedChar::IDLE);
            }
            if unit.receiver.is_open() {
                line.deselect();
            }
            let mut wishes = [LineRequest::default(); SHARES_MAX];
            for (channel, wish) in (0..line.channels()).zip(&mut wishes) {
                let index = first.with_channel(channel);
                let due = network.begin_period(index, slot);
                due.into_iter().for_each(|command| line.command(channel, command));
                *wish = network.wish(index, slot);
            }
            let (channel, cell) = match line.next_use(wishes) {
                LineUse::Selection(channel) => return Some(line.selection(channel)),
                LineUse::Command(channel, command) => {
                    (channel, network.produce(first.with_channel(channel), Some(command), slot))
                }
                LineUse::Character(channel) => {
                    (channel, network.produce(first.with_channel(channel), None, slot))
                }
                LineUse::FillGap(channel) => {
                    let index = first.with_channel(channel);
                    (channel, network.fill_shared(index, slot, |_| TaggedChar::GAP))
                }
                LineUse::FillCommand(channel) => {
                    let last = |unit: &PortUnit| unit.sender.last_command();
                    (channel, network.fill_shared(first.with_channel(channel), slot, last))
                }
            };
            Some(line.on_wires(channel, cell))
        })
    }

    /// Receives a character at a port, if it has virtual channels.
    pub(super) fn receive_shared(
        &mut self,
        first: UnitId,
        cell: TaggedChar,
        slot: u64,
    ) -> Option<()> {
        let shares = self.with_line(first, |_, line| Some((line.channels(), line.assign(cell))));
        let (channels, shares) = shares?;
        for (channel, share) in (0..channels).zip(shares) {
            let index = first.with_channel(channel);
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
                }
            }
        }
        Some(())
    }

    /// Calls a function with the state of a cable with virtual channels.
    fn with_line<T>(
        &mut self,
        first: UnitId,
        act: impl FnOnce(&mut Self, &mut SharedLine) -> Option<T>,
    ) -> Option<T> {
        let share = &mut self.units[first].line;
        if !matches!(share, LineShare::First(_)) {
            return None;
        }
        let mut taken = std::mem::replace(share, LineShare::Further);
        let LineShare::First(line) = &mut taken else { return None };
        let result = act(self, line);
        self.units[first].line = taken;
        result
    }

    /// The wish of a virtual channel's sender. What it discards takes no period of the line. R-1
    fn wish(&mut self, index: UnitId, slot: u64) -> LineRequest {
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
    fn offers(&self, unit: &PortUnit, mode: AcceptMode) -> bool {
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
