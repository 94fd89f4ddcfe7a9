//! Skipping of idle channels and periods.
//!
//! A channel is idle when its sender will keep sending the same two characters alternately, its
//! wire holds only those, and its receiver ignores them: the fill of an idle link, or of one whose
//! sender is stopped or waits for the rest of its packet, the silence of a cut cable or of a port
//! without power. It becomes active when something happens at either end, or at a given time: a
//! timeout, a random error, the end of a tap's window. If all channels are idle, whole periods are
//! skipped. The effects of the skipped periods on wires, captures, counters and random errors are
//! added afterwards; `fuzz/laws/tests/stillness.rs` checks that there are no others.

use codec::time::Tick;

use crate::link::clock::PortClock;
use crate::link::tagged_char::TaggedChar;
use crate::link::wire::in_period;
use crate::network::Network;
use crate::port::{DataSink, DataSource, PortUnit, PowerState};
use crate::switch::{Switch, SwitchInputState};
use crate::truth::StopGo;

/// Periods between two searches for idle channels. *Chosen*: few compared with the twelve and more
/// that pass before a wire holds only fill, and most of the cost of a search is saved.
const LOOK: u64 = 4;

/// Idle detection of a channel.
#[derive(Clone, Debug)]
pub(super) struct IdleDetector {
    /// The last characters sent in an even and in an odd period of the link.
    last: [TaggedChar; 2],
    /// Number of consecutive periods that repeated the character of two periods before.
    alike: u32,
    period: Option<IdlePeriod>,
}

/// An idle period of a channel.
#[derive(Clone, Copy, Debug)]
struct IdlePeriod {
    /// The first skipped period of the full rate.
    since: u64,
    /// The characters sent and received in the sender's even and odd periods.
    sends: [TaggedChar; 2],
    receives: [TaggedChar; 2],
    /// STOP if its sender is stopped, and has power.
    flow: StopGo,
    /// The period in which it becomes active by itself.
    due: u64,
}

impl Default for IdleDetector {
    fn default() -> Self {
        Self { last: [TaggedChar::NEVER; 2], alike: 0, period: None }
    }
}

impl IdleDetector {
    /// Records a character sent.
    #[inline]
    pub(super) fn note(&mut self, slot: u64, cell: TaggedChar) {
        let [even, odd] = &mut self.last;
        let last = if slot & 1 == 0 { even } else { odd };
        self.alike = if *last == cell { self.alike.saturating_add(1) } else { 0 };
        *last = cell;
    }

    /// Records a byte of a packet.
    #[inline]
    pub(super) const fn disturb(&mut self) {
        self.last = [TaggedChar::NEVER; 2];
        self.alike = 0;
    }

    /// Periods in which the sender was stopped, not counted yet.
    pub(super) fn stopped(&self, clock: &PortClock, now: u64) -> u64 {
        match self.period {
            Some(IdlePeriod { since, flow: StopGo::Stop, .. }) => {
                clock.next_sent(now) - clock.next_sent(since)
            }
            Some(IdlePeriod { flow: StopGo::Go, .. }) | None => 0,
        }
    }
}

impl Network {
    /// Simulates the periods before `until`: the same as repeated [`Network::step`], but faster.
    pub fn run(&mut self, until: u64) {
        while self.now < until {
            self.skip(until);
            if self.now < until {
                self.period();
                self.detect_idle();
            }
        }
    }

    /// Number of periods so far that [`Network::run`] has skipped, since nothing could happen in
    /// them.
    #[must_use]
    pub const fn skipped_periods(&self) -> u64 {
        self.skipped
    }

    /// Skips the periods before `until` in which nothing is active.
    #[inline]
    fn skip(&mut self, until: u64) {
        if self.active.is_empty() && self.switches.iter().all(Switch::is_calm) {
            let fault = self.faults.front().map_or(u64::MAX, |order| order.at());
            let due = self.active.hosts_due.min(self.active.channels_due).min(fault);
            let end = due.min(until).max(self.now);
            self.skipped += end - self.now;
            self.now = end;
        }
    }

    #[inline]
    fn detect_idle(&mut self) {
        if !self.now.is_multiple_of(LOOK) {
            return;
        }
        let mut hearing = self.active.take_receiving();
        while let Some(channel) = hearing.pop() {
            let (Some(rest), Some(wire)) = (self.idle.get_mut(channel), self.wires.get(channel))
            else {
                continue;
            };
            if rest.alike as usize >= wire.in_flight().max(2) {
                rest.alike = 0;
                let last = rest.last;
                if let Some(period) = self.idle_period(channel, last) {
                    self.active.channels_due = self.active.channels_due.min(period.due);
                    self.idle.get_mut(channel).into_iter().for_each(|it| it.period = Some(period));
                    let from = self.peers.get(channel).map_or(0, |peer| *peer as usize);
                    self.active.end(from, channel);
                }
            }
        }
        self.active.give_back(hearing);
    }

    /// The idle period that begins now, given the last two characters sent.
    fn idle_period(&self, channel: usize, last: [TaggedChar; 2]) -> Option<IdlePeriod> {
        let now = self.now;
        let (to, wire) = (self.units.get(channel)?, self.wires.get(channel)?);
        let from = self.units.get(to.peer as usize)?;
        let sends = self.steady_pattern(from)?;
        if sends != last {
            return None;
        }
        let [even, odd] = sends.map(|cell| wire.after_damage(wire.after_loss(cell)));
        let receives = [even?, odd?];
        let taken = self.ignored_until(to, receives)?;
        let clock = &to.clock;
        let deadline = match from.power {
            PowerState::On => from.sender.deadline().saturating_mul(from.clock.divisor()),
            PowerState::Off { .. } => u64::MAX,
        };
        let error = wire.until_next_error().map_or(u64::MAX, |(peace, until)| {
            until.min(clock.receive_time(clock.next_received(now).saturating_add(peace)))
        });
        let windows = [to, from].into_iter().filter_map(|end| end.tapped.as_ref()?.edge(now)).min();
        let due = taken.min(deadline).min(error).min(windows.unwrap_or(u64::MAX));
        let flow = match from.power {
            PowerState::On => from.sender.flow(),
            PowerState::Off { .. } => StopGo::Go,
        };
        let period = IdlePeriod { since: now, sends, receives, flow, due };
        (due > now && self.recording_continues(channel, &period)).then_some(period)
    }

    /// The characters that a port sends in even and odd periods as long as nothing happens to it.
    fn steady_pattern(&self, unit: &PortUnit) -> Option<[TaggedChar; 2]> {
        match unit.power {
            PowerState::Off { silent, .. } => {
                return (silent == 16).then_some([TaggedChar::IDLE; 2]);
            }
            PowerState::On => {}
        }
        let mode = unit.sender.accept_mode();
        let waits = match unit.source {
            DataSource::Nowhere => true,
            DataSource::Copies => false,
            DataSource::Host(host) => {
                !mode.accepts(&self.hosts.get(host as usize)?.interface.offered())
            }
            DataSource::Circuit(input) => {
                let input = self.units.get(input as usize)?;
                match &input.sink {
                    DataSink::Switch(_, SwitchInputState::Connected(_, transit)) => {
                        transit.waits(&input.receiver, mode)
                    }
                    DataSink::Switch(..) | DataSink::Host(_) => false,
                }
            }
        };
        let slot = unit.clock.next_sent(self.now);
        if waits && unit.receiver.is_calm() { unit.sender.steady_pattern(slot) } else { None }
    }

    /// Time until which a port ignores these two characters, if it does.
    fn ignored_until(&self, unit: &PortUnit, receives: [TaggedChar; 2]) -> Option<u64> {
        let PortUnit { receiver, sender, fill_trace: watch, sink, power, .. } = unit;
        let fill = receiver.fill();
        let ignores = match power {
            PowerState::On => receiver.ignores(receives, sender.last_received(), self.log.level()),
            PowerState::Off { .. } => true,
        };
        let level = watch.as_ref().is_none_or(|watch| watch.is_level_at(fill));
        let taken = match sink {
            DataSink::Switch(
                _,
                SwitchInputState::Empty
                | SwitchInputState::Decoding(_)
                | SwitchInputState::Discarding,
            ) => (fill == 0).then_some(u64::MAX),
            DataSink::Switch(_, SwitchInputState::Extended) => None,
            DataSink::Switch(
                _,
                SwitchInputState::Ready
                | SwitchInputState::Waiting(_)
                | SwitchInputState::Connected(..),
            ) => Some(u64::MAX),
            DataSink::Host(_) if fill == 0 => Some(u64::MAX),
            DataSink::Host(host) => {
                let interface = &self.hosts.get(*host as usize)?.interface;
                Some(interface.takes_at(self.now, receiver.last_command()).unwrap_or(u64::MAX))
            }
        };
        if ignores && level { taken } else { None }
    }

    /// True if the recorded characters continue those before.
    fn recording_continues(&self, channel: usize, period: &IdlePeriod) -> bool {
        let Some(to) = self.units.get(channel) else { return false };
        let Some(from) = self.units.get(to.peer as usize) else { return false };
        let on = |end: &PortUnit| end.tapped.as_ref().is_some_and(|tapped| tapped.is_on(self.now));
        let pair =
            |cells, first: u64| [first, first + 1].map(|at| in_period(cells, at).character());
        let received = to.clock.next_received(self.now);
        let sent = from.clock.next_sent(self.now);
        let goes_on = |channel: Option<u32>, first, pair| {
            channel
                .is_none_or(|channel| self.recorder.continues(channel as usize, Tick(first), pair))
        };
        let incoming = to.tapped.as_ref().filter(|_| on(to)).map(|tapped| tapped.incoming);
        let outgoing = from.tapped.as_ref().filter(|_| on(from)).map(|tapped| tapped.outgoing);
        goes_on(incoming, received, pair(period.receives, received.wrapping_sub(to.clock.lag())))
            && goes_on(outgoing, sent, pair(period.sends, sent))
    }

    /// Activates the channels that are due.
    #[inline]
    pub(super) fn wake_due(&mut self) {
        if self.now < self.active.channels_due {
            return;
        }
        let mut next = u64::MAX;
        for channel in 0..self.units.len() {
            let period = self.idle.get(channel).and_then(|rest| rest.period);
            match period {
                Some(IdlePeriod { due, .. }) if due <= self.now => {
                    self.wake_channel(channel, self.now, self.now);
                }
                Some(IdlePeriod { due, .. }) => next = next.min(due),
                None => {}
            }
        }
        self.active.channels_due = next;
    }

    /// Activates the pending channels; they next receive and send in the given periods.
    #[inline]
    pub(super) fn wake_pending(&mut self, receives: u64, sends: u64) {
        while let Some(channel) = self.active.next_woken() {
            self.wake_channel(channel as usize, receives, sends);
        }
    }

    /// Activates all channels and hosts, since any wire may change now.
    pub(super) fn wake_all(&mut self) {
        for channel in 0..self.units.len() {
            self.wake_channel(channel, self.now, self.now);
            self.idle.get_mut(channel).into_iter().for_each(IdleDetector::disturb);
        }
        (0..self.hosts.len()).for_each(|host| self.active.hosts.insert(host));
        self.active.hosts_due = 0;
        self.active.channels_due = u64::MAX;
    }

    fn wake_channel(&mut self, channel: usize, receives: u64, sends: u64) -> Option<()> {
        let rest = self.idle.get_mut(channel)?;
        let period = rest.period.take()?;
        rest.alike = 0;
        self.account_for(channel, &period, receives, sends);
        let Self { units, wires, active: attention, .. } = self;
        let from = units.get(channel)?.peer as usize;
        for end in [from, channel] {
            if let DataSink::Host(host) = units.get(end)?.sink {
                attention.hosts.insert(host as usize);
            }
        }
        attention.begin(from, channel);
        let wire = wires.get_mut(channel)?;
        let on_it = period.sends.map(|cell| wire.after_loss(cell));
        wire.fill(on_it, units.get(from)?.clock.next_sent(sends));
        Some(())
    }

    /// Adds the effects of the skipped periods of all idle channels.
    pub(super) fn account_for_idle(&mut self) {
        for channel in 0..self.units.len() {
            let now = self.now;
            if let Some(period) = self.idle.get(channel).and_then(|rest| rest.period) {
                self.account_for(channel, &period, now, now);
                let rest = self.idle.get_mut(channel).and_then(|rest| rest.period.as_mut());
                rest.into_iter().for_each(|period| period.since = now);
            }
        }
    }

    /// Adds the effects of a channel's skipped periods, up to `hears` for its receiver and up to
    /// `sends` for its sender.
    fn account_for(
        &mut self,
        channel: usize,
        period: &IdlePeriod,
        receives: u64,
        sends: u64,
    ) -> Option<()> {
        let Self { units, wires, recorder, .. } = self;
        let to = units.get_mut(channel)?;
        let (clock, since, peer) = (to.clock, period.since, to.peer as usize);
        let received = [clock.next_received(since), clock.next_received(receives)];
        let [first, end] = received;
        if end > first {
            wires.get_mut(channel)?.skip(end - first);
            if to.power == PowerState::On {
                to.receiver
                    .skip_ignored(in_period(period.receives, (end - 1).wrapping_sub(clock.lag())));
            }
        }
        let pair =
            |cells, first: u64| [first, first + 1].map(|at| in_period(cells, at).character());
        if let Some(tapped) = &to.tapped {
            for on in tapped.stretches(since..receives) {
                let [first, end] = [on.start, on.end].map(|at| clock.next_received(at));
                let received = pair(period.receives, first.wrapping_sub(clock.lag()));
                recorder.fill(tapped.incoming as usize, Tick(first), received, Tick(end));
            }
        }
        let from = units.get_mut(peer)?;
        let clock = from.clock;
        if period.flow == StopGo::Stop {
            from.counters.stopped += clock.next_sent(sends) - clock.next_sent(since);
        }
        if let Some(tapped) = &from.tapped {
            for on in tapped.stretches(since..sends) {
                let [first, end] = [on.start, on.end].map(|at| clock.next_sent(at));
                let sent = pair(period.sends, first);
                recorder.fill(tapped.outgoing as usize, Tick(first), sent, Tick(end));
            }
        }
        Some(())
    }
}
