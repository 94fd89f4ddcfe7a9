//! Puts ends of channels to sleep, and predicts the times at which they wake (`network/sleep.rs`).

use super::schedule::{PortEnd, WakingPart};
use super::sleep::{EndTimes, ReceiverRegime, SenderRegime};
use crate::arena::UnitId;
use crate::link::source_item::AcceptMode;
use crate::link::tagged_char::TaggedChar;
use crate::link::wire::in_period;
use crate::network::Network;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::StopGo;

/// Fewest periods that an end sleeps. *Chosen*: falling asleep and waking cost about as much as
/// processing three periods.
const NAP_MIN: u64 = 3;
/// Periods after a vain attempt before the next one. *Chosen*
const ATTEMPT_PAUSE: u8 = 1;

/// The next characters to arrive at a receiver, and the time until which they do.
struct NextArrivals {
    regime: ReceiverRegime,
    until: u64,
}

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
        let clock = unit.clock;
        let deadline = match unit.power {
            PowerState::On => unit.sender.deadline().saturating_mul(clock.divisor()),
            PowerState::Off { .. } => u64::MAX,
        };
        // Before the acknowledge not even what it has been told takes effect. B-1
        if unit.handshake.as_ref().is_some_and(|end| !end.is_free(self.now)) {
            return None;
        }
        if let Some(pair) = self.steady_pattern(unit) {
            let flow = match unit.power {
                PowerState::On => unit.sender.flow(),
                PowerState::Off { .. } => StopGo::Go,
            };
            return self.rest_sender(index, SenderRegime::Fills { pair, flow }, deadline);
        }
        match unit.source {
            DataSource::Host(host) if self.streams(unit) => {
                let left = self.hosts[host].interface.bytes_left().len() as u64;
                let end = clock.send_time(self.now, left + 1);
                self.rest_sender(index, SenderRegime::Streams, deadline.min(end))
            }
            DataSource::Circuit(input) => self.settle_pair(input, index),
            DataSource::Host(_) | DataSource::Nowhere | DataSource::Copies => None,
        }
    }

    /// True if a port sends the bytes of its source, as long as that has some.
    fn streams(&self, unit: &PortUnit) -> bool {
        unit.power == PowerState::On
            && unit.receiver.is_calm()
            && unit.sender.goes_on(unit.clock.next_sent(self.now))
            && self.wires[unit.peer].is_sound()
    }

    fn settle_receiver(&mut self, index: UnitId) -> Option<()> {
        let unit = &self.units[index];
        // An acknowledge waits for room. B-1
        if unit.handshake.as_ref().is_some_and(|end| end.owes()) {
            return None;
        }
        if let DataSink::Switch(_, SwitchInputState::Connected(..)) = unit.sink {
            let output = unit.downstream;
            let awake = self.sleep[output].sender.is_none();
            if awake && self.settle_pair(index, output).is_some() {
                return Some(());
            }
        }
        let unit = &self.units[index];
        let NextArrivals { regime, until } = self.reception(unit, index)?;
        let fill = unit.receiver.fill();
        let arrives = |number: u64| unit.clock.arrival_time(self.now, number);
        let event = |number: Option<u64>| number.map_or(u64::MAX, arrives);
        let (regime, due, line) = match regime {
            ReceiverRegime::Ignores { .. } => {
                (regime, until.min(self.waits_until(unit)?), (fill, 0))
            }
            ReceiverRegime::Absorbs { .. } => match unit.sink {
                DataSink::Host(host) => {
                    let room = self.hosts[host].interface.room()? as u64;
                    // It takes one in each period of the full rate, and no mark.
                    let level = fill == 0
                        || unit.clock.divisor() == 1 && unit.receiver.first_boundary().is_none();
                    let steady = level && unit.receiver.next_event(1).is_none();
                    let regime = ReceiverRegime::Absorbs { top: Some(fill + 1) };
                    let until = until.min(unit.clock.regular_until(self.now));
                    let due = until.min(arrives(room.saturating_add(1)));
                    steady.then_some((regime, due, (fill + 1, 0)))?
                }
                DataSink::Switch(_, input) => {
                    let due = until.min(event(unit.receiver.next_event(0)));
                    let stores = self.stores(unit, &input);
                    stores.then_some((regime, due, (fill + 1, 1)))?
                }
            },
        };
        if self.line_continues(unit, line) { self.rest_receiver(index, regime, due) } else { None }
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
        let possible = to.source == DataSource::Circuit(input)
            && transit.is_under_way()
            && aligned
            && self.streams(to);
        if !possible {
            return None;
        }
        self.catch_up_receiver(input);
        let (from, to) = (&self.units[input], &self.units[output]);
        let NextArrivals { regime, until } = self.reception(from, input)?;
        let until = until.min(from.clock.regular_until(now));
        let fill = from.receiver.fill();
        let boundary = from.receiver.first_boundary().unwrap_or(u32::MAX);
        let (regime, until, last, line) = match regime {
            ReceiverRegime::Absorbs { .. } => {
                let steady = fill > 0 && from.receiver.next_event(1).is_none();
                let regime = ReceiverRegime::Absorbs { top: Some(fill + 1) };
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
        let deadline = to.sender.deadline().saturating_mul(to.clock.divisor());
        let end = end.min(deadline);
        if until.min(end) < now.saturating_add(NAP_MIN) || !self.line_continues(from, line) {
            return None;
        }
        // Where it matters to the receiver, it wakes with the sender.
        self.rest_receiver(input, regime, until)?;
        self.rest_sender(output, SenderRegime::Streams, end)
    }

    fn rest_receiver(&mut self, unit: UnitId, regime: ReceiverRegime, due: u64) -> Option<()> {
        self.rest(PortEnd::Receiver, unit, due)?;
        self.sleep[unit].receiver = Some(regime);
        if let DataSink::Switch(_, SwitchInputState::Decoding(ready)) = self.units[unit].sink {
            self.schedule.add(ready, WakingPart::Decoder(unit));
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
            (None, _) | (Some(ReceiverRegime::Absorbs { .. }), SenderRegime::Streams) => true,
            (Some(ReceiverRegime::Ignores { sent, .. }), SenderRegime::Fills { pair, .. }) => {
                let wire = &self.wires[peer];
                pair.map(|cell| wire.after_loss(cell)) == sent
            }
            (Some(ReceiverRegime::Absorbs { .. }), SenderRegime::Fills { .. })
            | (Some(ReceiverRegime::Ignores { .. }), SenderRegime::Streams) => false,
        };
        if !expected {
            self.wake_for(peer, period);
        }
        Some(())
    }

    /// The next characters to arrive at a port.
    fn reception(&self, unit: &PortUnit, channel: UnitId) -> Option<NextArrivals> {
        if !unit.clock.is_even() {
            return None;
        }
        let wire = &self.wires[channel];
        let (cells, clock) = (wire.cells(), unit.clock);
        let sender = self.sleep[unit.peer].sender;
        let arrives = |place: usize| clock.arrival_time(self.now, place as u64 + 1);
        let fill = match sender {
            Some(SenderRegime::Fills { pair, .. }) => Some(pair.map(|cell| wire.after_loss(cell))),
            Some(SenderRegime::Streams) | None => None,
        };
        let period = clock.next_received(self.now).wrapping_sub(clock.lag());
        let next = |place| {
            let slept = match sender {
                None => None,
                Some(SenderRegime::Fills { .. }) => {
                    fill.map(|pair| in_period(pair, period.wrapping_add(place as u64)))
                }
                // Any byte.
                Some(SenderRegime::Streams) => Some(TaggedChar::data(0)),
            };
            cells.get(place).copied().or(slept)
        };
        let first = next(0)?;
        if first.is_plain() {
            let absorbs =
                unit.power == PowerState::On && wire.is_sound() && unit.receiver.absorbs();
            let until = match (cells.iter().position(|cell| !cell.is_plain()), sender) {
                (Some(place), _) => arrives(place),
                (None, Some(SenderRegime::Fills { .. })) => arrives(cells.len()),
                (None, Some(SenderRegime::Streams) | None) => u64::MAX,
            };
            let regime = ReceiverRegime::Absorbs { top: None };
            return absorbs.then_some(NextArrivals { regime, until });
        }
        let second = next(1)?;
        let sent = if period & 1 == 0 { [first, second] } else { [second, first] };
        let mut places = (0..).zip(cells);
        let other =
            places.position(|(place, cell)| *cell != in_period(sent, period.wrapping_add(place)));
        let until = match (other, sender) {
            (Some(place), _) => arrives(place),
            (None, None) => u64::MAX,
            (None, Some(_)) if fill == Some(sent) => u64::MAX,
            (None, Some(_)) => arrives(cells.len()),
        };
        let [even, odd] = sent.map(|cell| wire.after_damage(cell));
        let received = [even?, odd?];
        // A byte may begin a packet, whatever a damaged wire makes of it.
        let ignores = match unit.power {
            _ if sent.iter().any(|cell| cell.is_data()) => false,
            PowerState::On => {
                let next = [0, 1].map(|place| in_period(received, period.wrapping_add(place)));
                unit.receiver.ignores(next, unit.sender.last_received(), self.log.level())
            }
            PowerState::Off { .. } => true,
        };
        let error = wire
            .until_next_error()
            .map_or(u64::MAX, |(peace, end)| end.min(clock.arrival_time(self.now, peace + 1)));
        let regime = ReceiverRegime::Ignores { sent, received };
        ignores.then_some(NextArrivals { regime, until: until.min(error) })
    }

    /// The characters that a port sends in even and odd periods as long as nothing happens to it.
    fn steady_pattern(&self, unit: &PortUnit) -> Option<[TaggedChar; 2]> {
        match unit.power {
            PowerState::Off { silent, .. } => {
                return (silent == 16).then_some([TaggedChar::IDLE; 2]);
            }
            PowerState::On => {}
        }
        let slot = unit.clock.next_sent(self.now);
        let pattern = unit.sender.steady_pattern(slot).filter(|_| unit.receiver.is_calm())?;
        let mode = unit.sender.accept_mode();
        let waits = match unit.source {
            DataSource::Nowhere => true,
            DataSource::Copies => false,
            DataSource::Host(host) => !mode.accepts(&self.hosts[host].interface.offered()),
            DataSource::Circuit(input) => {
                let fills = self.sleep[input].absorbs();
                let input = &self.units[input];
                match &input.sink {
                    DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                        let ready = mode == AcceptMode::All || mode == AcceptMode::Discard;
                        transit.waits(&input.receiver, mode) && !(fills && ready)
                    }
                    DataSink::Switch(..) | DataSink::Host(_) => false,
                }
            }
        };
        waits.then_some(pattern)
    }

    /// Time until which the sink of a port that receives only fill leaves its slack buffer alone,
    /// if it does, unless it wakes the receiver.
    fn waits_until(&self, unit: &PortUnit) -> Option<u64> {
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
                let stopped = match self.units[unit.downstream].sender.accept_mode() {
                    AcceptMode::Framing | AcceptMode::Nothing => true,
                    AcceptMode::All | AcceptMode::Discard => false,
                };
                stopped && transit.holds()
            }
            SwitchInputState::Empty | SwitchInputState::Discarding | SwitchInputState::Extended => {
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::VisitOrder;
    use crate::scenario::Scenario;
    use crate::truth::{TraceContext, TraceLevel};

    /// Bytes in flight alone, with a sender that already sleeps: it has always sent fill behind them
    /// before, or does so in the next period, so that no network shows this.
    #[test]
    fn fill_behind_bytes_in_flight_ends_a_sleep_when_it_arrives() {
        let text = "duration_periods = 1000\n[topology]\nkind = 'switch'\nports = 4\nhosts = 2\n";
        let scenario = Scenario::read("two", text).unwrap();
        let mut network = Network::new(&scenario, TraceLevel::Nothing, VisitOrder::AsGiven);
        network.run(200);
        let host = |unit: &PortUnit| matches!(unit.sink, DataSink::Host(_));
        let sender = network.units.numbers().find(|unit| host(&network.units[*unit])).unwrap();
        let receiver = network.units[sender].peer;
        network.wake(PortEnd::Receiver, receiver);
        assert!(matches!(network.sleep[sender].sender, Some(SenderRegime::Fills { .. })));
        let Network { units, wires, log, now, .. } = &mut network;
        let (unit, wire) = (&mut units[receiver], &mut wires[receiver]);
        let trace = &mut TraceContext { now: *now, slot: *now, place: unit.port, log };
        unit.receiver.receive(TaggedChar::data(0x81).as_head(), None, trace);
        let mut rest = Vec::new();
        wire.take(1000, &mut rest);
        wire.put_all(&[TaggedChar::data(5); 7]);
        let unit = &network.units[receiver];
        let next = network.reception(unit, receiver).unwrap();
        assert!(matches!(next.regime, ReceiverRegime::Absorbs { .. }));
        assert_eq!(next.until, network.now + 7);
    }
}
