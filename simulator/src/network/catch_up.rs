//! Effects of the periods that ends of channels have slept, by arithmetic: on wires, slack buffers,
//! switches, interfaces, captures and counters.

use codec::time::Tick;

use super::schedule::PortEnd;
use super::sleep::{PortSleep, ReceiverRegime, SenderRegime};
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
    fn times_of(&self, unit: usize) -> PhaseTimes {
        let times = self.clocks.as_ref().and_then(|clocks| clocks.times_of(unit));
        times.unwrap_or(self.times)
    }

    /// Adds the effects of all periods slept that show outside: fill that nobody records has none.
    pub(super) fn catch_up(&mut self) {
        for index in 0..self.units.len() {
            let (Some(unit), Some(sleep)) = (self.units.get(index), self.sleep.get(index)) else {
                continue;
            };
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
    pub(super) fn catch_up_receiver(&mut self, index: usize) {
        match self.sleep.get(index).and_then(|it| it.receiver) {
            None => {}
            Some(ReceiverRegime::Ignores { .. }) => {
                self.ignore(index);
            }
            Some(ReceiverRegime::Absorbs { .. }) => {
                let output = self.streaming_output(index);
                output.into_iter().for_each(|output| self.catch_up_sender(output));
                if self.wire_lacks(index) {
                    let peer = self.units.get(index).map_or(0, |unit| unit.peer as usize);
                    self.catch_up_sender(peer);
                }
                self.absorb(index);
            }
        }
    }

    /// Adds the effects of the periods that a sender has slept.
    #[inline]
    pub(super) fn catch_up_sender(&mut self, index: usize) {
        match self.sleep.get(index).and_then(|it| it.sender) {
            Some(SenderRegime::Fills { pair, flow }) if self.is_behind(index) => {
                self.fill(index, pair, flow);
            }
            Some(SenderRegime::Fills { .. }) | None => {}
            Some(SenderRegime::Streams) => self.stream_from_afar(index),
        }
    }

    /// True if a receiver that sleeps and stores has taken characters that are not yet on its wire.
    fn wire_lacks(&self, receiver: usize) -> bool {
        let taken = |sleep: &PortSleep| {
            let clock = self.units.get(receiver)?.clock;
            let since = sleep.times(PortEnd::Receiver).since;
            let [first, end] = clock.received(since..self.times_of(receiver).receive);
            Some(end.saturating_sub(first) > self.wires.get(receiver)?.cells().len() as u64)
        };
        self.sleep.get(receiver).and_then(taken) == Some(true)
    }

    /// True if a sleeping sender is not caught up.
    fn is_behind(&self, sender: usize) -> bool {
        let times = self.sleep.get(sender).map(|sleep| sleep.times(PortEnd::Sender));
        times.is_some_and(|times| times.since < self.times_of(sender).send)
    }

    /// Moves the bytes of a packet along all parts of its path that sleep, up to an output. A path
    /// ends where a slack buffer has the rest of one packet, and what fills it is another: the
    /// packets in a ring of switches may follow each other round.
    fn stream_from_afar(&mut self, output: usize) {
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
    fn streaming_before(&self, output: usize) -> Option<usize> {
        let DataSource::Circuit(input) = self.units.get(output)?.source else { return None };
        if self.units.get(input as usize)?.receiver.first_boundary().is_some() {
            return None;
        }
        let before = self.units.get(input as usize)?.peer as usize;
        let follows = self.sleep.get(input as usize)?.absorbs()
            && self.sleep.get(before)?.streams()
            && self.is_behind(before)
            && self.wire_lacks(input as usize);
        follows.then_some(before)
    }

    /// Receives fill.
    fn ignore(&mut self, index: usize) -> Option<()> {
        let until = self.times_of(index).receive;
        let Self { units, wires, recorder, sleep, clocks, .. } = self;
        let sleep = sleep.get_mut(index)?;
        let Some(ReceiverRegime::Ignores { received, .. }) = sleep.receiver else { return None };
        let since = std::mem::replace(&mut sleep.times_mut(PortEnd::Receiver).since, until);
        let unit = units.get_mut(index)?;
        let clock = unit.clock;
        let [first, end] = clock.received(since..until);
        if let Some(clocks) = clocks {
            clocks.skip(index, clock.far_tick(until));
        }
        if end > first && unit.power == PowerState::On {
            unit.receiver.skip_ignored(in_period(received, (end - 1).wrapping_sub(clock.lag())));
        }
        unit.pass_time(since..until, first..end);
        wires.get_mut(index)?.skip(end - first);
        let tapped = unit.tapped.as_ref()?;
        for on in tapped.stretches(since..until) {
            let [first, end] = clock.received(on);
            let sent = first.wrapping_sub(clock.lag());
            let pair = [sent, sent.wrapping_add(1)].map(|at| in_period(received, at).character());
            recorder.fill(tapped.incoming as usize, Tick(first), pair, Tick(end));
        }
        None
    }

    /// Receives bytes of a packet that have been put on the wire.
    fn absorb(&mut self, index: usize) -> Option<()> {
        let times = self.times_of(index);
        let Self { units, wires, recorder, sleep, hosts, cells, bytes, clocks, .. } = self;
        let sleep = sleep.get_mut(index)?;
        let Some(ReceiverRegime::Absorbs { top }) = sleep.receiver else { return None };
        let since = &mut sleep.times_mut(PortEnd::Receiver).since;
        let since = std::mem::replace(since, times.receive);
        let unit = units.get_mut(index)?;
        let clock = unit.clock;
        let [first, taken, end] =
            [since, times.take.max(since), times.receive].map(|at| clock.next_received(at));
        let count = usize::try_from(end - first).unwrap_or(usize::MAX);
        cells.clear();
        wires.get_mut(index)?.take(count, cells);
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
            hosts.get_mut(host as usize)?.interface.take_bytes(bytes);
        }
        None
    }

    /// Sends fill.
    fn fill(&mut self, index: usize, pair: [TaggedChar; 2], flow: StopGo) -> Option<()> {
        let peer = self.units.get(index)?.peer as usize;
        // It may have slept for as long: what it has ignored need not be put on the wire.
        self.ignore(peer);
        let until = self.times_of(index).send;
        let Self { units, wires, recorder, sleep, .. } = self;
        let since = &mut sleep.get_mut(index)?.times_mut(PortEnd::Sender).since;
        let since = std::mem::replace(since, until);
        let unit = units.get_mut(index)?;
        let clock = unit.clock;
        let [first, end] = clock.sent(since..until);
        let wire = wires.get_mut(peer)?;
        let on_it = pair.map(|cell| wire.after_loss(cell));
        wire.fill(on_it, first, end);
        if flow == StopGo::Stop {
            unit.counters.stopped += end - first;
        }
        let tapped = unit.tapped.as_ref()?;
        for on in tapped.stretches(since..until) {
            let [first, end] = clock.sent(on);
            let sent = [first, first + 1].map(|at| in_period(pair, at).character());
            recorder.fill(tapped.outgoing as usize, Tick(first), sent, Tick(end));
        }
        None
    }

    /// Sends bytes of a packet from a host, or from a slack buffer, which first receives those that
    /// have been put on its wire.
    fn stream(&mut self, index: usize) -> Option<()> {
        let source = self.units.get(index)?.source;
        if let DataSource::Circuit(input) = source
            && self.units.get(input as usize)?.receiver.first_boundary().is_none()
        {
            self.absorb(input as usize);
        }
        let until = self.times_of(index).send;
        let Self { units, wires, recorder, sleep, hosts, cells, bytes, .. } = self;
        let since = &mut sleep.get_mut(index)?.times_mut(PortEnd::Sender).since;
        let since = std::mem::replace(since, until);
        let clock = units.get(index)?.clock;
        let [first, end] = clock.sent(since..until);
        if end <= first {
            return None;
        }
        let count = usize::try_from(end - first).unwrap_or(usize::MAX);
        cells.clear();
        match source {
            DataSource::Host(host) => {
                let interface = &mut hosts.get_mut(host as usize)?.interface;
                let left = interface.bytes_left().iter().take(count);
                cells.extend(left.copied().map(TaggedChar::data));
                interface.taken_bytes(count);
            }
            DataSource::Circuit(input) => {
                let input = units.get_mut(input as usize)?;
                input.receiver.take_bytes(count, cells);
                if let DataSink::Switch(_, SwitchInputState::Connected(_, transit)) =
                    &mut input.sink
                {
                    transit.forward(cells);
                }
            }
            DataSource::Nowhere | DataSource::Copies => {}
        }
        let unit = units.get_mut(index)?;
        unit.counters.data += end - first;
        unit.sender.sent_bytes(first, cells);
        wires.get_mut(unit.peer as usize)?.put_all(cells);
        let tapped = unit.tapped.as_ref()?;
        bytes.clear();
        bytes.extend(low_bytes(cells));
        for on in tapped.stretches(since..until) {
            let range = clock.sent(on);
            let part = part(bytes, first, range);
            recorder.push_bytes(tapped.outgoing as usize, Tick(range[0]), part);
        }
        None
    }
}

/// The bytes of a range of periods, given those from a period on.
fn part(bytes: &[u8], first: u64, [from, to]: [u64; 2]) -> &[u8] {
    let place = |at: u64| usize::try_from(at.saturating_sub(first)).unwrap_or(usize::MAX);
    bytes.get(place(from)..place(to)).unwrap_or_default()
}
