//! The next characters to arrive at a port, as far as it can be said, and those that it ignores or only stores.

use super::sleep::{ReceiverRegime, SenderRegime};
use crate::arena::UnitId;
use crate::link::cell_cycle::CellCycle;
use crate::link::shared_line::ReceivedShare;
use crate::link::tagged_char::TaggedChar;
use crate::network::Network;
use crate::port::PowerState;

/// The next characters to arrive at a receiver, and the time until which they do.
pub(super) struct NextArrivals {
    pub(super) regime: ReceiverRegime,
    pub(super) until: u64,
}

impl Network {
    /// The next characters to arrive at a port.
    pub(super) fn reception(&self, channel: UnitId) -> Option<NextArrivals> {
        let unit = &self.units[channel];
        if !unit.clock.is_even() {
            return None;
        }
        let wire = &self.wires[channel];
        let (cells, clock) = (wire.cells(), unit.clock);
        let sender = self.sleep[unit.peer].sender;
        let arrives = |place: usize| clock.arrival_time(self.now, place as u64 + 1);
        let fill = match sender {
            Some(SenderRegime::Fills { cycle, .. }) => {
                Some(cycle.map(|cell| wire.after_loss(cell)))
            }
            Some(SenderRegime::Streams { .. }) | None => None,
        };
        let period = clock.next_received(self.now).wrapping_sub(clock.lag());
        let next = |place| {
            let slept = match sender {
                None => None,
                Some(SenderRegime::Fills { .. }) => {
                    fill.map(|cycle| cycle.at(period.wrapping_add(place as u64)))
                }
                // Any byte.
                Some(SenderRegime::Streams { .. }) => Some(TaggedChar::data(0)),
            };
            cells.get(place).copied().or(slept)
        };
        let first = next(0)?;
        if first.is_plain() {
            let lane = match &unit.line {
                None => channel,
                Some(line) => channel.with_channel(line.receiving()?),
            };
            let absorbs = unit.power == PowerState::On
                && wire.is_sound()
                && self.units[lane].receiver.absorbs()
                && self.lanes(channel).all(|other| {
                    other == lane || self.units[other].receiver.stays_calm_beside_bytes()
                });
            let until = match (cells.iter().position(|cell| !cell.is_plain()), sender) {
                (Some(place), _) => arrives(place),
                (None, Some(SenderRegime::Fills { .. })) => arrives(cells.len()),
                (None, Some(SenderRegime::Streams { .. }) | None) => u64::MAX,
            };
            let regime = ReceiverRegime::Absorbs { lane, top: None };
            return absorbs.then_some(NextArrivals { regime, until });
        }
        self.ignored(channel, fill.as_ref(), next)
    }

    /// The next characters to arrive at a port, given one by one, if it ignores them; `fill` is what its sender sends
    /// asleep.
    fn ignored(
        &self,
        channel: UnitId,
        fill: Option<&CellCycle>,
        next: impl Fn(usize) -> Option<TaggedChar>,
    ) -> Option<NextArrivals> {
        let (unit, wire) = (&self.units[channel], &self.wires[channel]);
        let (cells, clock) = (wire.cells(), unit.clock);
        let arrives = |place: usize| clock.arrival_time(self.now, place as u64 + 1);
        let period = clock.next_received(self.now).wrapping_sub(clock.lag());
        let len = match &unit.line {
            None => 2,
            Some(line) => {
                let mut fill = (0..=usize::from(line.channels())).map(&next);
                line.channels() + u8::from(fill.any(|cell| cell == Some(TaggedChar::GAP)))
            }
        };
        let sent = CellCycle::new(period, len, &next)?;
        let mut places = (0..).zip(cells);
        let other = places.position(|(place, cell)| *cell != sent.at(period.wrapping_add(place)));
        let is_awake = self.sleep[unit.peer].sender.is_none();
        let until = match other {
            Some(place) => arrives(place),
            None if is_awake || fill == Some(&sent) => u64::MAX,
            None => arrives(cells.len()),
        };
        let damaged = |place: usize| wire.after_damage(sent.at(period.wrapping_add(place as u64)));
        let received = CellCycle::new(period, len, damaged)?;
        // A byte may begin a packet, whatever a damaged wire makes of it.
        let ignores = match unit.power {
            _ if sent.from(period).any(TaggedChar::is_data) => false,
            PowerState::On => self.ignores(channel, &received, period),
            PowerState::Off { .. } => true,
        };
        let error = wire
            .until_next_error()
            .map_or(u64::MAX, |(peace, end)| end.min(clock.arrival_time(self.now, peace + 1)));
        let regime = ReceiverRegime::Ignores { sent, received };
        ignores.then_some(NextArrivals { regime, until: until.min(error) })
    }

    /// True if a port, or each of its virtual channels, ignores characters that come again and again, the first
    /// one in a period of the sender.
    fn ignores(&self, first: UnitId, received: &CellCycle, period: u64) -> bool {
        let line = self.units[first].line.as_deref();
        (0..).zip(self.lanes(first)).all(|(channel, lane)| {
            let unit = &self.units[lane];
            let (command, level) = (unit.sender.last_received(), self.log.level());
            let ignores = |cell: TaggedChar| match line {
                None => unit.receiver.ignores(cell, command, level),
                Some(line) => match line
                    .assign_fill(cell)
                    .and_then(|shares| shares.into_iter().nth(channel))
                {
                    Some(ReceivedShare::Own(cell)) => unit.receiver.ignores(cell, command, level),
                    Some(ReceivedShare::Other) => true,
                    None => false,
                },
            };
            unit.receiver.stays_calm(received.from(period)) && received.from(period).all(ignores)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::VisitOrder;
    use crate::network::schedule::PortEnd;
    use crate::port::{DataSink, PortUnit};
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
        let next = network.reception(receiver).unwrap();
        assert!(matches!(next.regime, ReceiverRegime::Absorbs { .. }));
        assert_eq!(next.until, network.now + 7);
    }
}
