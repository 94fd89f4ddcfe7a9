//! Puts ends of channels to sleep, and predicts the times at which they wake (`network/sleep.rs`).

use super::arrivals::NextArrivals;
use super::schedule::{PortEnd, WakingPart};
use super::sleep::{EndTimes, ReceiverRegime, SenderRegime, StoppedLanes};
use super::step::sharing::taken_lane;
use crate::arena::UnitId;
use crate::link::cell_cycle::CellCycle;
use crate::link::sender::SendState;
use crate::link::source_item::AcceptMode;
use crate::network::Network;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::StopGo;

/// Fewest periods that an end sleeps. *Chosen*: falling asleep and waking cost about as much as
/// processing three periods.
const NAP_MIN: u64 = 3;
/// Periods after a vain attempt before the next one. *Chosen*
const ATTEMPT_PAUSE: u8 = 1;

impl Network {
    /// Puts ends to sleep that have just done what they can do asleep.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.settle_ends(PortEnd::Sender);
        self.settle_ends(PortEnd::Receiver);
    }

    #[inline]
    fn settle_ends(&mut self, end: PortEnd) {
        let mut calm = std::mem::take(self.active.calm(end));
        while let Some(unit) = calm.pop() {
            let EndTimes { pause, .. } = self.sleep[unit].times_mut(end);
            if *pause > 0 || !self.active.ends(end).contains(unit) {
                *pause = pause.saturating_sub(1);
                continue;
            }
            let asleep = match end {
                PortEnd::Sender => self.settle_sender(unit),
                PortEnd::Receiver => self.settle_receiver(unit),
            };
            if asleep.is_none() {
                self.sleep[unit].times_mut(end).pause = ATTEMPT_PAUSE;
            }
        }
        *self.active.calm(end) = calm;
    }

    fn settle_sender(&mut self, index: UnitId) -> Option<()> {
        let unit = &self.units[index];
        // Before the acknowledge not even what it has been told takes effect. B-1
        if unit.handshake.as_ref().is_some_and(|end| !end.is_free(self.now)) {
            return None;
        }
        if let Some(cycle) = self.fill_cycle(index) {
            let regime = SenderRegime::Fills { cycle, stopped: self.stopped(index) };
            return self.rest_sender(index, regime, self.deadline(index));
        }
        let lane = self.streaming_lane(index)?;
        match self.units[lane].source {
            DataSource::Host(host) => {
                let left = self.hosts[host].interface.bytes_left().len() as u64;
                let end = self.units[lane].clock.send_time(self.now, left + 1);
                let regime = SenderRegime::Streams { lane, stopped: self.stopped(index) };
                self.rest_sender(index, regime, self.deadline(index).min(end))
            }
            DataSource::Circuit(input) => self.settle_pair(input, lane),
            DataSource::Nowhere | DataSource::Copies => None,
        }
    }

    /// The virtual channels of a port that are stopped, and have power.
    fn stopped(&self, first: UnitId) -> StoppedLanes {
        let stopped = |lane: UnitId| {
            let unit = &self.units[lane];
            u8::from(unit.power == PowerState::On && unit.sender.flow() == StopGo::Stop)
        };
        let bits = (0..).zip(self.lanes(first)).map(|(channel, lane)| stopped(lane) << channel);
        StoppedLanes(bits.sum())
    }

    /// Time of the first blocked-packet timeout of a port and its virtual channels. R-4
    fn deadline(&self, first: UnitId) -> u64 {
        let deadlines = self.lanes(first).map(|lane| {
            let unit = &self.units[lane];
            match unit.power {
                PowerState::On => unit.sender.deadline().saturating_mul(unit.clock.divisor()),
                PowerState::Off { .. } => u64::MAX,
            }
        });
        deadlines.min().unwrap_or(u64::MAX)
    }

    /// The port, or the virtual channel of it, that sends the bytes of its source as long as that has some.
    fn streaming_lane(&self, first: UnitId) -> Option<UnitId> {
        let port = &self.units[first];
        let lane = match &port.line {
            None => first,
            Some(line) if !port.receiver.is_open() => first.with_channel(line.streaming()?),
            Some(_) => return None,
        };
        let unit = &self.units[lane];
        let alone = self.lanes(first).all(|other| other == lane || self.yields(other));
        let streams = unit.power == PowerState::On
            && unit.receiver.is_calm()
            && unit.sender.goes_on(unit.clock.next_sent(self.now))
            && self.wires[unit.peer].is_sound()
            && alone;
        streams.then_some(lane)
    }

    /// True if a virtual channel sends nothing but fill as long as it receives nothing and its source has
    /// nothing. C-7
    fn yields(&self, lane: UnitId) -> bool {
        let unit = &self.units[lane];
        let mode = unit.sender.accept_mode();
        let fills = match unit.source {
            DataSource::Circuit(input) => self.absorbs(input),
            DataSource::Host(_) | DataSource::Nowhere | DataSource::Copies => false,
        };
        unit.receiver.is_calm()
            && unit.sender.is_steady(unit.clock.next_sent(self.now))
            && mode != AcceptMode::Discard
            && !self.offers(unit, mode)
            && !(fills && mode == AcceptMode::All)
    }

    fn settle_receiver(&mut self, index: UnitId) -> Option<()> {
        let unit = &self.units[index];
        // An acknowledge waits for room. B-1
        if unit.handshake.as_ref().is_some_and(|end| end.owes()) {
            return None;
        }
        for lane in self.lanes(index) {
            let unit = &self.units[lane];
            if let DataSink::Switch(_, SwitchInputState::Connected(..)) = unit.sink {
                let output = unit.downstream;
                let awake = self.sleep[self.units[output].first].sender.is_none();
                if awake && self.settle_pair(lane, output).is_some() {
                    return Some(());
                }
            }
        }
        let NextArrivals { regime, until } = self.reception(index)?;
        let stores = match regime {
            ReceiverRegime::Ignores { .. } => None,
            ReceiverRegime::Absorbs { lane, .. } => Some(lane),
        };
        let calm = self.others_wait(index, stores)?;
        let Some(lane) = stores else {
            return self.rest_receiver(index, regime, until.min(calm));
        };
        let unit = &self.units[lane];
        let fill = unit.receiver.fill();
        let arrives = |number: u64| unit.clock.arrival_time(self.now, number);
        let event = |number: Option<u64>| number.map_or(u64::MAX, arrives);
        let (regime, due, line) = match unit.sink {
            DataSink::Host(host) => {
                let room = self.hosts[host].interface.room()? as u64;
                // It takes one in each period of the full rate, and no mark.
                let level = fill == 0
                    || unit.clock.divisor() == 1 && unit.receiver.first_boundary().is_none();
                let steady = level
                    && unit.receiver.next_event(1).is_none()
                    && taken_lane(&self.hosts[host], &self.units, index) == lane;
                let regime = ReceiverRegime::Absorbs { lane, top: Some(fill + 1) };
                let until = until.min(unit.clock.regular_until(self.now));
                let due = until.min(arrives(room.saturating_add(1)));
                steady.then_some((regime, due, (fill + 1, 0)))?
            }
            DataSink::Switch(_, input) => {
                let due = until.min(event(unit.receiver.next_event(0)));
                let stores = self.stores(unit, &input);
                stores.then_some((regime, due, (fill + 1, 1)))?
            }
        };
        let continues = self.line_continues(unit, line);
        if continues { self.rest_receiver(index, regime, due.min(calm)) } else { None }
    }

    /// Time until which the slack buffers of a port keep their fill, but for that of one virtual channel.
    fn others_wait(&self, first: UnitId, moves: Option<UnitId>) -> Option<u64> {
        let mut others = self.lanes(first).filter(|lane| Some(*lane) != moves);
        others.try_fold(u64::MAX, |until, lane| {
            let unit = &self.units[lane];
            let level = self.line_continues(unit, (unit.receiver.fill(), 0));
            level.then_some(until.min(self.waits_until(lane)?))
        })
    }

    /// True if the fill of a slack buffer goes on along the traced line: its value after the next
    /// character, and its slope.
    fn line_continues(&self, unit: &PortUnit, (fill, slope): (u32, i32)) -> bool {
        let slot = unit.clock.next_received(self.now);
        unit.fill_trace.as_ref().is_none_or(|trace| trace.continues(slot, fill, slope))
    }

    /// Puts a receiver and the output that streams from its slack buffer to sleep.
    fn settle_pair(&mut self, input: UnitId, output: UnitId) -> Option<()> {
        let (from, to) = (&self.units[input], &self.units[output]);
        let DataSink::Switch(_, SwitchInputState::Connected(_, transit)) = &from.sink else {
            return None;
        };
        let (now, aligned) = (self.now, from.clock.feeds(&to.clock, self.now));
        let (port, line) = (from.first, to.first);
        let possible = to.source == DataSource::Circuit(input)
            && transit.is_under_way()
            && aligned
            && self.streaming_lane(line) == Some(output)
            && self.streaming_output(port).is_none();
        if !possible {
            return None;
        }
        self.catch_up_receiver(port);
        let (from, to) = (&self.units[input], &self.units[output]);
        let NextArrivals { regime, until } = self.reception(port)?;
        let until =
            until.min(from.clock.regular_until(now)).min(self.others_wait(port, Some(input))?);
        let fill = from.receiver.fill();
        let boundary = from.receiver.first_boundary().unwrap_or(u32::MAX);
        let (regime, until, last, continued) = match regime {
            ReceiverRegime::Absorbs { lane, .. } => {
                let steady = lane == input && fill > 0 && from.receiver.next_event(1).is_none();
                let regime = ReceiverRegime::Absorbs { lane, top: Some(fill + 1) };
                steady.then_some((regime, until, boundary, (fill + 1, 0)))?
            }
            ReceiverRegime::Ignores { .. } => {
                let fall = from.receiver.fall();
                let fall = fall.map_or(u64::MAX, |fall| from.clock.arrival_time(now, fall));
                (regime, until.min(fall), boundary.min(fill), (fill, -1))
            }
        };
        let end = match last {
            u32::MAX => u64::MAX,
            0 => return None,
            last => to.clock.send_time(now, last.into()),
        };
        let end = end.min(self.deadline(line));
        if until.min(end) < now.saturating_add(NAP_MIN) || !self.line_continues(from, continued) {
            return None;
        }
        // Where it matters to the receiver, it wakes with the sender.
        self.rest_receiver(port, regime, until)?;
        let regime = SenderRegime::Streams { lane: output, stopped: self.stopped(line) };
        self.rest_sender(line, regime, end)
    }

    fn rest_receiver(&mut self, unit: UnitId, regime: ReceiverRegime, due: u64) -> Option<()> {
        self.rest(PortEnd::Receiver, unit, due)?;
        self.sleep[unit].receiver = Some(regime);
        for lane in self.lanes(unit) {
            if let DataSink::Switch(_, SwitchInputState::Decoding(ready)) = self.units[lane].sink {
                self.schedule.add(ready, WakingPart::Decoder(lane));
            }
        }
        Some(())
    }

    /// Puts an end to sleep until a time, if that is long enough.
    fn rest(&mut self, end: PortEnd, unit: UnitId, due: u64) -> Option<()> {
        if due < self.now.saturating_add(NAP_MIN) {
            return None;
        }
        let times = self.sleep[unit].times_mut(end);
        (times.since, times.due) = (self.now, due);
        self.active.ends(end).remove(unit);
        self.schedule_end(end, unit, due);
        Some(())
    }

    fn rest_sender(&mut self, index: UnitId, regime: SenderRegime, due: u64) -> Option<()> {
        self.rest(PortEnd::Sender, index, due)?;
        self.sleep[index].sender = Some(regime);
        let unit = &self.units[index];
        let (peer, period) = (unit.peer, unit.clock.next_sent(self.now));
        let expected = match (self.sleep[peer].receiver, regime) {
            (None, _) | (Some(ReceiverRegime::Absorbs { .. }), SenderRegime::Streams { .. }) => {
                true
            }
            (Some(ReceiverRegime::Ignores { sent, .. }), SenderRegime::Fills { cycle, .. }) => {
                let wire = &self.wires[peer];
                cycle.map(|cell| wire.after_loss(cell)) == sent
            }
            (Some(ReceiverRegime::Absorbs { .. }), SenderRegime::Fills { .. })
            | (Some(ReceiverRegime::Ignores { .. }), SenderRegime::Streams { .. }) => false,
        };
        if !expected {
            self.wake_for(peer, period);
        }
        Some(())
    }

    /// The characters that a port sends as long as nothing happens to it.
    fn fill_cycle(&self, first: UnitId) -> Option<CellCycle> {
        let unit = &self.units[first];
        let is_silent = |lane| {
            let power = self.units[lane].power;
            matches!(power, PowerState::Off { silent, .. } if silent == 16)
        };
        if unit.power != PowerState::On {
            return self.lanes(first).all(is_silent).then_some(CellCycle::SILENCE);
        }
        let slot = unit.clock.next_sent(self.now);
        let Some(line) = &unit.line else {
            let pattern = unit.sender.steady_pattern(slot).filter(|_| unit.receiver.is_calm())?;
            let mut cells = pattern.into_iter();
            return CellCycle::new(0, 2, |_| cells.next()).filter(|_| self.waits(unit));
        };
        let selects = unit.receiver.is_open() && line.selected().is_some();
        if selects || !line.is_calm() || !self.lanes(first).all(|lane| self.yields(lane)) {
            return None;
        }
        let lane = |channel| &self.units[first.with_channel(channel)];
        let between = line.selected().filter(|it| lane(*it).sender.sending() != SendState::Packet);
        line.fill_cycle(slot, between, |channel| lane(channel).sender.last_command())
    }

    /// True if the source of a port has nothing for it.
    fn waits(&self, unit: &PortUnit) -> bool {
        let mode = unit.sender.accept_mode();
        match unit.source {
            DataSource::Nowhere => true,
            DataSource::Copies => false,
            DataSource::Host(host) => !mode.accepts(&self.hosts[host].interface.offered()),
            DataSource::Circuit(input) => {
                let fills = self.absorbs(input);
                let input = &self.units[input];
                match &input.sink {
                    DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                        let ready = mode == AcceptMode::All || mode == AcceptMode::Discard;
                        transit.waits(&input.receiver, mode) && !(fills && ready)
                    }
                    DataSink::Switch(..) | DataSink::Host(_) => false,
                }
            }
        }
    }

    /// Time until which the sink of a port that receives only fill leaves its slack buffer alone,
    /// if it does, unless it wakes the receiver.
    fn waits_until(&self, lane: UnitId) -> Option<u64> {
        let unit = &self.units[lane];
        let empty = unit.receiver.fill() == 0;
        match unit.sink {
            DataSink::Switch(_, SwitchInputState::Empty | SwitchInputState::Discarding) => {
                empty.then_some(u64::MAX)
            }
            DataSink::Switch(_, SwitchInputState::Extended) => None,
            DataSink::Switch(
                _,
                SwitchInputState::Storing
                | SwitchInputState::Decoding(_)
                | SwitchInputState::Ready
                | SwitchInputState::Waiting(_)
                | SwitchInputState::Connected(..),
            ) => Some(u64::MAX),
            DataSink::Host(_) if empty => Some(u64::MAX),
            // The packet of another virtual channel comes first, whether it goes on or not. C-7
            DataSink::Host(host)
                if taken_lane(&self.hosts[host], &self.units, unit.first) != lane =>
            {
                Some(u64::MAX)
            }
            DataSink::Host(host) => {
                let interface = &self.hosts[host].interface;
                Some(interface.takes_at(self.now, unit.receiver.last_command()).unwrap_or(u64::MAX))
            }
        }
    }

    /// True if a switch takes nothing from the slack buffer of an input, unless it wakes the
    /// receiver.
    fn stores(&self, unit: &PortUnit, input: &SwitchInputState) -> bool {
        match input {
            SwitchInputState::Storing
            | SwitchInputState::Decoding(_)
            | SwitchInputState::Ready
            | SwitchInputState::Waiting(_) => true,
            SwitchInputState::Connected(_, transit) => {
                let output = &self.units[unit.downstream];
                let stopped = match output.sender.accept_mode() {
                    AcceptMode::Framing | AcceptMode::Nothing => true,
                    AcceptMode::All | AcceptMode::Discard => false,
                };
                // A virtual channel takes a byte only to send it.
                let is_one = self.units[output.first].line.is_some();
                stopped && (transit.holds() || is_one)
            }
            SwitchInputState::Empty | SwitchInputState::Discarding | SwitchInputState::Extended => {
                false
            }
        }
    }
}
