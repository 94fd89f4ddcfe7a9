//! A period of a cable with virtual channels, which share its characters. C-7 (§4.8.4)
//!
//! The parts of a port with virtual channels follow each other; the first one sends and receives the characters of
//! all. They do not sleep: such a network is simulated period by period.

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
    units: &mut [PortUnit],
    first: u32,
    (now, log): (u64, &mut TruthLog),
) -> bool {
    let channel = match units.get(first as usize).map(|unit| &unit.line) {
        Some(LineShare::First(line)) => match host.taken {
            TakenChannel::Inside(channel) => channel,
            TakenChannel::Between(last) => {
                let channels = line.channels();
                let filled = |channel: &u8| {
                    let unit = units.get(first as usize + usize::from(*channel));
                    unit.is_some_and(|unit| unit.receiver.fill() > 0)
                };
                (1..=channels).map(|step| (last + step) % channels).find(filled).unwrap_or(0)
            }
        },
        Some(LineShare::Whole | LineShare::Further) | None => 0,
    };
    let Some(unit) = units.get_mut(first as usize + usize::from(channel)) else { return false };
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
    pub(super) fn choose_shared(&mut self, first: usize, slot: u64) -> Option<TaggedChar> {
        self.with_line(first, |network, line| {
            let channels = first..first + usize::from(line.channels());
            let unit = network.units.get(first)?;
            if unit.power != PowerState::On {
                for index in channels {
                    network.choose(index, slot);
                }
                line.power_off();
                return Some(TaggedChar::IDLE);
            }
            if unit.receiver.is_open() {
                line.deselect();
            }
            let mut wishes = [LineRequest::default(); SHARES_MAX];
            for ((channel, index), wish) in (0..).zip(channels).zip(&mut wishes) {
                let due = network.begin_period(index, slot);
                due.into_iter().for_each(|command| line.command(channel, command));
                *wish = network.wish(index, slot);
            }
            let (channel, cell) = match line.next_use(wishes) {
                LineUse::Selection(channel) => return Some(line.selection(channel)),
                LineUse::Command(channel, command) => {
                    (channel, network.produce(first + usize::from(channel), Some(command), slot))
                }
                LineUse::Character(channel) => {
                    (channel, network.produce(first + usize::from(channel), None, slot))
                }
                LineUse::FillGap(channel) => {
                    (channel, network.fill_shared(first, channel, slot, |_| TaggedChar::GAP))
                }
                LineUse::FillCommand(channel) => {
                    let last = |unit: &PortUnit| unit.sender.last_command();
                    (channel, network.fill_shared(first, channel, slot, last))
                }
            };
            Some(line.on_wires(channel, cell))
        })
    }

    /// Receives a character at a port, if it has virtual channels.
    pub(super) fn receive_shared(
        &mut self,
        first: usize,
        cell: TaggedChar,
        slot: u64,
    ) -> Option<()> {
        let shares = self.with_line(first, |_, line| Some((line.channels(), line.assign(cell))));
        let (channels, shares) = shares?;
        for (index, share) in (first..first + usize::from(channels)).zip(shares) {
            match share {
                ReceivedShare::Own(cell) => self.receive_at(index, first, cell, slot),
                ReceivedShare::Other => {
                    let Self { now, units, log, .. } = self;
                    let unit = units.get_mut(index)?;
                    let trace = &mut TraceContext { now: *now, slot, place: unit.port, log };
                    if unit.power == PowerState::On {
                        unit.receiver.receive_other(trace);
                    }
                    unit.trace_fill(*now, slot, log);
                }
            }
        }
        Some(())
    }

    /// Calls a function with the state of a cable with virtual channels.
    fn with_line<T>(
        &mut self,
        first: usize,
        act: impl FnOnce(&mut Self, &mut SharedLine) -> Option<T>,
    ) -> Option<T> {
        let share = &mut self.units.get_mut(first)?.line;
        if !matches!(share, LineShare::First(_)) {
            return None;
        }
        let mut taken = std::mem::replace(share, LineShare::Further);
        let LineShare::First(line) = &mut taken else { return None };
        let result = act(self, line);
        self.units.get_mut(first)?.line = taken;
        result
    }

    /// The wish of a virtual channel's sender. What it discards takes no period of the line. R-1
    fn wish(&mut self, index: usize, slot: u64) -> LineRequest {
        let Some(unit) = self.units.get(index) else { return LineRequest::Nothing };
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
            DataSource::Host(host) => self
                .hosts
                .get(host as usize)
                .is_some_and(|HostUnit { interface, .. }| mode.accepts(&interface.offered())),
            DataSource::Circuit(input) => {
                self.units.get(input as usize).is_some_and(|input| match &input.sink {
                    DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                        transit.offers(&input.receiver, mode)
                    }
                    DataSink::Switch(..) | DataSink::Host(_) => false,
                })
            }
        }
    }

    fn fill_shared(
        &mut self,
        first: usize,
        channel: u8,
        slot: u64,
        fill: impl FnOnce(&PortUnit) -> TaggedChar,
    ) -> TaggedChar {
        let Self { now, units, log, .. } = self;
        let Some(unit) = units.get_mut(first + usize::from(channel)) else {
            return TaggedChar::IDLE;
        };
        let cell = fill(unit);
        let trace = &mut TraceContext { now: *now, slot, place: unit.port, log };
        unit.note_sent(cell, trace);
        cell
    }

    /// Begins a period of a sender: returns the STOP or GO that its slack buffer generates. F-4
    pub(super) fn begin_period(&mut self, index: usize, slot: u64) -> Option<StopGo> {
        let unit = self.units.get_mut(index)?;
        if unit.sender.flow() == StopGo::Stop {
            unit.counters.stopped += 1;
        }
        unit.sender.interpret(slot);
        unit.receiver.due()
    }
}
