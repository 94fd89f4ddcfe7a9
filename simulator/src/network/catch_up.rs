//! Effects of the periods that ends of channels have slept, by arithmetic: on wires, slack buffers,
//! switches, interfaces, captures and counters.

use codec::time::Tick;

use super::schedule::PortEnd;
use super::sleep::{ReceiverRegime, SenderRegime};
use crate::arena::UnitId;
use crate::link::tagged_char::{TaggedChar, low_bytes};
use crate::link::wire::in_period;
use crate::network::Network;
use crate::port::{DataSink, DataSource, PowerState};
use crate::switch::SwitchInputState;
use crate::truth::StopGo;

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
            let tapped = unit.tapped.is_some();
            let ignores = matches!(sleep.receiver, Some(ReceiverRegime::Ignores { .. }));
            if tapped || !matches!(sleep.sender, Some(SenderRegime::Fills { flow: StopGo::Go, .. }))
            {
                self.catch_up_sender(index);
            }
            if tapped || !ignores {
                self.catch_up_receiver(index);
            }
        }
    }

    /// Adds the effects of the periods that a receiver has slept.
    pub(super) fn catch_up_receiver(&mut self, index: UnitId) {
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

    /// Adds the effects of the periods that a sender has slept.
    #[inline]
    pub(super) fn catch_up_sender(&mut self, index: UnitId) {
        match self.sleep[index].sender {
            Some(SenderRegime::Fills { pair, flow }) if self.is_behind(index) => {
                self.fill(index, pair, flow);
            }
            Some(SenderRegime::Fills { .. }) | None => {}
            Some(SenderRegime::Streams) => self.stream_from_afar(index),
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
        let DataSource::Circuit(input) = self.units[output].source else { return None };
        if self.units[input].receiver.first_boundary().is_some() {
            return None;
        }
        let before = self.units[input].peer;
        let follows = self.sleep[input].absorbs()
            && self.sleep[before].streams()
            && self.is_behind(before)
            && self.wire_lacks(input);
        follows.then_some(before)
    }

    /// Receives fill.
    fn ignore(&mut self, index: UnitId) {
        let until = self.times_of(index).receive;
        let Self { units, wires, recorder, sleep, clocks, .. } = self;
        let sleep = &mut sleep[index];
        let Some(ReceiverRegime::Ignores { received, .. }) = sleep.receiver else { return };
        let since = std::mem::replace(&mut sleep.times_mut(PortEnd::Receiver).since, until);
        let unit = &mut units[index];
        let clock = unit.clock;
        let [first, end] = clock.received(since..until);
        if let Some(clocks) = clocks {
            clocks.skip(index, clock.far_tick(until));
        }
        if end > first && unit.power == PowerState::On {
            unit.receiver.skip_ignored(in_period(received, (end - 1).wrapping_sub(clock.lag())));
        }
        unit.pass_time(since..until, first..end);
        wires[index].skip(end - first);
        let Some(tapped) = &unit.tapped else { return };
        for on in tapped.stretches(since..until) {
            let [first, end] = clock.received(on);
            let sent = first.wrapping_sub(clock.lag());
            let pair = [sent, sent.wrapping_add(1)].map(|at| in_period(received, at).character());
            recorder.fill(tapped.incoming as usize, Tick(first), pair, Tick(end));
        }
    }

    /// Receives bytes of a packet that have been put on the wire.
    fn absorb(&mut self, index: UnitId) {
        let times = self.times_of(index);
        let Self { units, wires, recorder, sleep, hosts, cells, bytes, clocks, .. } = self;
        let sleep = &mut sleep[index];
        let Some(ReceiverRegime::Absorbs { top }) = sleep.receiver else { return };
        let since = &mut sleep.times_mut(PortEnd::Receiver).since;
        let since = std::mem::replace(since, times.receive);
        let unit = &mut units[index];
        let clock = unit.clock;
        let [first, taken, end] =
            [since, times.take.max(since), times.receive].map(|at| clock.next_received(at));
        let count = usize::try_from(end - first).unwrap_or(usize::MAX);
        cells.clear();
        wires[index].take(count, cells);
        unit.receiver.absorb(first, cells, top);
        unit.pass_time(since..times.receive, first..end);
        if let Some(clocks) = clocks {
            clocks.skip(index, clock.far_tick(times.receive));
        }
        if let Some(tapped) = &unit.tapped {
            bytes.clear();
            bytes.extend(low_bytes(cells));
            for on in tapped.stretches(since..times.receive) {
                let range = clock.received(on);
                let part = part(bytes, first, range);
                recorder.push_bytes(tapped.incoming as usize, Tick(range[0]), part);
            }
        }
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
    fn fill(&mut self, index: UnitId, pair: [TaggedChar; 2], flow: StopGo) {
        let peer = self.units[index].peer;
        // It may have slept for as long: what it has ignored need not be put on the wire.
        self.ignore(peer);
        let until = self.times_of(index).send;
        let Self { units, wires, recorder, sleep, .. } = self;
        let since = &mut sleep[index].times_mut(PortEnd::Sender).since;
        let since = std::mem::replace(since, until);
        let unit = &mut units[index];
        let clock = unit.clock;
        let [first, end] = clock.sent(since..until);
        let wire = &mut wires[peer];
        let on_it = pair.map(|cell| wire.after_loss(cell));
        wire.fill(on_it, first, end);
        if flow == StopGo::Stop {
            unit.counters.stopped += end - first;
        }
        let Some(tapped) = &unit.tapped else { return };
        for on in tapped.stretches(since..until) {
            let [first, end] = clock.sent(on);
            let sent = [first, first + 1].map(|at| in_period(pair, at).character());
            recorder.fill(tapped.outgoing as usize, Tick(first), sent, Tick(end));
        }
    }

    /// Sends bytes of a packet from a host, or from a slack buffer, which first receives those that
    /// have been put on its wire.
    fn stream(&mut self, index: UnitId) {
        let source = self.units[index].source;
        if let DataSource::Circuit(input) = source
            && self.units[input].receiver.first_boundary().is_none()
        {
            self.absorb(input);
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
        let unit = &mut units[index];
        unit.counters.data += end - first;
        unit.sender.sent_bytes(first, cells);
        wires[unit.peer].put_all(cells);
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

/// The bytes of a range of periods, given those from a period on.
fn part(bytes: &[u8], first: u64, [from, to]: [u64; 2]) -> &[u8] {
    let place = |at: u64| usize::try_from(at.saturating_sub(first)).unwrap_or(usize::MAX);
    bytes.get(place(from)..place(to)).unwrap_or_default()
}
