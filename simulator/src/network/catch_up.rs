//! Effects of the periods that ends of channels have slept, by arithmetic: on wires, slack buffers,
//! switches, interfaces, captures and counters.

use codec::time::Tick;

use super::schedule::PortEnd;
use super::sleep::{ReceiverRegime, SenderRegime, StoppedLanes};
use crate::arena::{PartArena, UnitId};
use crate::link::cell_cycle::CellCycle;
use crate::link::tagged_char::{TaggedChar, low_bytes};
use crate::network::Network;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::SwitchInputState;

/// The first period that each phase has not processed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PhaseTimes {
    pub(super) receive: u64,
    /// Hosts take characters.
    pub(super) take: u64,
    pub(super) send: u64,
}

impl PhaseTimes {
    /// Between two periods.
    pub(super) const fn all(now: u64) -> Self {
        Self { receive: now, take: now, send: now }
    }
}

impl Network {
    /// The first period of a port that each phase has not processed.
    fn times_of(&self, unit: UnitId) -> PhaseTimes {
        let times = self.clocks.as_ref().and_then(|clocks| clocks.times_of(unit));
        times.unwrap_or(self.times)
    }

    /// Adds the effects of all periods slept that show outside: fill that nobody records has none.
    pub(super) fn catch_up(&mut self) {
        for index in self.units.numbers() {
            let (unit, sleep) = (&self.units[index], &self.sleep[index]);
            if unit.first != index {
                continue;
            }
            let tapped = unit.tapped.is_some();
            let ignores = matches!(sleep.receiver, Some(ReceiverRegime::Ignores { .. }));
            let stopped = StoppedLanes::default();
            let fills =
                |sender| matches!(sender, SenderRegime::Fills { stopped: it, .. } if it == stopped);
            if tapped || !sleep.sender.is_none_or(fills) {
                self.catch_up_sender(index);
            }
            if tapped || !ignores {
                self.catch_up_receiver(index);
            }
        }
    }

    /// Adds the effects of the periods that a receiver has slept, with its virtual channels.
    pub(super) fn catch_up_receiver(&mut self, lane: UnitId) {
        let index = self.units[lane].first;
        match self.sleep[index].receiver {
            None => {}
            Some(ReceiverRegime::Ignores { .. }) => self.ignore(index),
            Some(ReceiverRegime::Absorbs { .. }) => {
                let output = self.streaming_output(index);
                output.into_iter().for_each(|output| self.catch_up_sender(output));
                if self.wire_lacks(index) {
                    self.catch_up_sender(self.units[index].peer);
                }
                self.absorb(index);
            }
        }
    }

    /// Adds the effects of the periods that a sender has slept, with its virtual channels.
    #[inline]
    pub(super) fn catch_up_sender(&mut self, lane: UnitId) {
        let index = self.units[lane].first;
        match self.sleep[index].sender {
            Some(SenderRegime::Fills { cycle, stopped }) if self.is_behind(index) => {
                self.fill(index, &cycle, stopped);
            }
            Some(SenderRegime::Fills { .. }) | None => {}
            Some(SenderRegime::Streams { .. }) => self.stream_from_afar(index),
        }
    }

    /// True if a receiver that sleeps and stores has taken characters that are not yet on its wire.
    fn wire_lacks(&self, receiver: UnitId) -> bool {
        let clock = self.units[receiver].clock;
        let since = self.sleep[receiver].times(PortEnd::Receiver).since;
        let [first, end] = clock.received(since..self.times_of(receiver).receive);
        end.saturating_sub(first) > self.wires[receiver].cells().len() as u64
    }

    /// True if a sleeping sender is not caught up.
    fn is_behind(&self, sender: UnitId) -> bool {
        self.sleep[sender].times(PortEnd::Sender).since < self.times_of(sender).send
    }

    /// Moves the bytes of a packet along all parts of its path that sleep, up to an output. A path
    /// ends where a slack buffer has the rest of one packet, and what fills it is another: the
    /// packets in a ring of switches may follow each other round.
    fn stream_from_afar(&mut self, output: UnitId) {
        let mut path = std::mem::take(&mut self.path);
        path.push(output);
        while path.len() <= self.units.len()
            && let Some(before) = path.last().and_then(|output| self.streaming_before(*output))
        {
            path.push(before);
        }
        while let Some(output) = path.pop() {
            self.stream(output);
        }
        self.path = path;
    }

    /// The sender that streams to the input that an output streams from, if it must be caught up.
    fn streaming_before(&self, output: UnitId) -> Option<UnitId> {
        let lane = self.sleep[output].streaming()?;
        let DataSource::Circuit(input) = self.units[lane].source else { return None };
        if self.units[input].receiver.first_boundary().is_some() {
            return None;
        }
        let before = self.units[input].peer;
        let follows = self.absorbs(input)
            && self.sleep[before].streaming().is_some()
            && self.is_behind(before)
            && self.wire_lacks(self.units[input].first);
        follows.then_some(before)
    }

    /// Receives fill.
    fn ignore(&mut self, index: UnitId) {
        let until = self.times_of(index).receive;
        let Self { units, wires, recorder, sleep, clocks, .. } = self;
        let sleep = &mut sleep[index];
        let Some(ReceiverRegime::Ignores { received, .. }) = sleep.receiver else { return };
        let since = std::mem::replace(&mut sleep.times_mut(PortEnd::Receiver).since, until);
        let (clock, channels) = (units[index].clock, units[index].lanes);
        let [first, end] = clock.received(since..until);
        if let Some(clocks) = clocks {
            clocks.skip(index, clock.far_tick(until));
        }
        for lane in (0..channels).map(|channel| index.with_channel(channel)) {
            let unit = &mut units[lane];
            if end > first && unit.power == PowerState::On {
                unit.receiver.skip_ignored(received.at((end - 1).wrapping_sub(clock.lag())));
            }
            unit.pass_time(since..until, first..end);
        }
        wires[index].skip(end - first);
        let Some(tapped) = &units[index].tapped else { return };
        for on in tapped.stretches(since..until) {
            let [first, end] = clock.received(on);
            let received = received.later(clock.lag());
            recorder.fill(tapped.incoming as usize, Tick(first), &received, Tick(end));
        }
    }

    /// Receives bytes of a packet that have been put on the wire.
    fn absorb(&mut self, index: UnitId) {
        let times = self.times_of(index);
        let Self { units, wires, recorder, sleep, hosts, cells, bytes, clocks, .. } = self;
        let sleep = &mut sleep[index];
        let Some(ReceiverRegime::Absorbs { lane, top }) = sleep.receiver else { return };
        let since = &mut sleep.times_mut(PortEnd::Receiver).since;
        let since = std::mem::replace(since, times.receive);
        let (clock, channels) = (units[index].clock, units[index].lanes);
        let [first, taken, end] =
            [since, times.take.max(since), times.receive].map(|at| clock.next_received(at));
        let count = usize::try_from(end - first).unwrap_or(usize::MAX);
        cells.clear();
        wires[index].take(count, cells);
        units[lane].receiver.absorb(first, cells, top);
        for other in (0..channels).map(|channel| index.with_channel(channel)) {
            let unit = &mut units[other];
            if end > first && other != lane {
                unit.receiver.skip_ignored(TaggedChar::data(0));
            }
            unit.pass_time(since..times.receive, first..end);
        }
        if let Some(clocks) = clocks {
            clocks.skip(index, clock.far_tick(times.receive));
        }
        if let Some(tapped) = &units[index].tapped {
            bytes.clear();
            bytes.extend(low_bytes(cells));
            for on in tapped.stretches(since..times.receive) {
                let range = clock.received(on);
                let part = part(bytes, first, range);
                recorder.push_bytes(tapped.incoming as usize, Tick(range[0]), part);
            }
        }
        let unit = &mut units[lane];
        if let DataSink::Host(host) = unit.sink {
            let count = usize::try_from(taken - first).unwrap_or(usize::MAX);
            cells.clear();
            unit.receiver.take_bytes(count, cells);
            bytes.clear();
            bytes.extend(low_bytes(cells));
            hosts[host].interface.take_bytes(bytes);
        }
    }

    /// Sends fill.
    fn fill(&mut self, index: UnitId, cycle: &CellCycle, stopped: StoppedLanes) {
        let peer = self.units[index].peer;
        // It may have slept for as long: what it has ignored need not be put on the wire.
        self.ignore(peer);
        let until = self.times_of(index).send;
        let Self { units, wires, recorder, sleep, .. } = self;
        let since = &mut sleep[index].times_mut(PortEnd::Sender).since;
        let since = std::mem::replace(since, until);
        let clock = units[index].clock;
        let [first, end] = clock.sent(since..until);
        let wire = &mut wires[peer];
        let on_it = cycle.map(|cell| wire.after_loss(cell));
        wire.fill(&on_it, first, end);
        stopped.count(units, index, end - first);
        let unit = &mut units[index];
        if let (Some(line), PowerState::On) = (&mut unit.line, unit.power) {
            line.pass_fill(end - first, cycle);
        }
        let Some(tapped) = &unit.tapped else { return };
        for on in tapped.stretches(since..until) {
            let [first, end] = clock.sent(on);
            recorder.fill(tapped.outgoing as usize, Tick(first), cycle, Tick(end));
        }
    }

    /// Sends bytes of a packet from a host, or from a slack buffer, which first receives those that
    /// have been put on its wire.
    fn stream(&mut self, index: UnitId) {
        let Some(SenderRegime::Streams { lane, stopped }) = self.sleep[index].sender else {
            return;
        };
        let source = self.units[lane].source;
        if let DataSource::Circuit(input) = source
            && self.units[input].receiver.first_boundary().is_none()
        {
            self.absorb(self.units[input].first);
        }
        let until = self.times_of(index).send;
        let Self { units, wires, recorder, sleep, hosts, cells, bytes, .. } = self;
        let since = &mut sleep[index].times_mut(PortEnd::Sender).since;
        let since = std::mem::replace(since, until);
        let clock = units[index].clock;
        let [first, end] = clock.sent(since..until);
        if end <= first {
            return;
        }
        let count = usize::try_from(end - first).unwrap_or(usize::MAX);
        cells.clear();
        match source {
            DataSource::Host(host) => {
                let interface = &mut hosts[host].interface;
                let left = interface.bytes_left().iter().take(count);
                cells.extend(left.copied().map(TaggedChar::data));
                interface.taken_bytes(count);
            }
            DataSource::Circuit(input) => {
                let input = &mut units[input];
                input.receiver.take_bytes(count, cells);
                if let DataSink::Switch(_, SwitchInputState::Connected(_, transit)) =
                    &mut input.sink
                {
                    transit.forward(cells);
                }
            }
            DataSource::Nowhere | DataSource::Copies => {}
        }
        stopped.count(units, index, end - first);
        let unit = &mut units[lane];
        unit.counters.data += end - first;
        unit.sender.sent_bytes(first, cells);
        wires[unit.peer].put_all(cells);
        let unit = &mut units[index];
        unit.line.iter_mut().for_each(|line| line.pass_bytes(end - first));
        let Some(tapped) = &unit.tapped else { return };
        bytes.clear();
        bytes.extend(low_bytes(cells));
        for on in tapped.stretches(since..until) {
            let range = clock.sent(on);
            let part = part(bytes, first, range);
            recorder.push_bytes(tapped.outgoing as usize, Tick(range[0]), part);
        }
    }
}

impl StoppedLanes {
    /// Counts periods in which they are stopped.
    fn count(self, units: &mut PartArena<UnitId, PortUnit>, first: UnitId, periods: u64) {
        for channel in 0..units[first].lanes {
            if self.0 >> channel & 1 != 0 {
                units[first.with_channel(channel)].counters.stopped += periods;
            }
        }
    }
}

/// The bytes of a range of periods, given those from a period on.
fn part(bytes: &[u8], first: u64, [from, to]: [u64; 2]) -> &[u8] {
    let place = |at: u64| usize::try_from(at.saturating_sub(first)).unwrap_or(usize::MAX);
    bytes.get(place(from)..place(to)).unwrap_or_default()
}
