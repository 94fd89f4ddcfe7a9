//! Ends of channels that are not processed period by period, and the times at which they wake.
//!
//! An end sleeps while its part follows from arithmetic. A sender sleeps while it fills with two
//! alternating characters, or sends the bytes of a packet that its source has or receives at the
//! same rate. A receiver sleeps while it ignores such fill, or stores such bytes and nothing
//! happens to its slack buffer but a steady rise or fall. It wakes when something else happens to
//! it, or at the first time at which something could: a character of another kind arrives, a
//! threshold or the end of a packet is reached, the buffer runs dry, a timeout or a random error is
//! due. A sender that streams from a slack buffer and the receiver that fills it sleep and wake
//! together.
//!
//! The virtual channels of a port sleep and wake together: one streams, or none, and the others have nothing
//! to send and keep the fill of their slack buffers. C-7
//!
//! An awake end is processed in every period by the same code as in the stepper, so that waking too
//! early is never wrong. `network/catch_up.rs` adds the effects of the periods slept.

use crate::arena::{HostId, SwitchId, UnitId};
use crate::link::cell_cycle::CellCycle;
use crate::link::tagged_char::TaggedChar;
use crate::network::Network;
use crate::network::schedule::{PortEnd, WakingPart};
use crate::port::{DataSink, DataSource};
use crate::switch::SwitchInputState;

/// The ends of channels at a port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortSleep {
    /// The part of the receiver, if it sleeps.
    pub(super) receiver: Option<ReceiverRegime>,
    /// The part of the sender, if it sleeps.
    pub(super) sender: Option<SenderRegime>,
    receiving: EndTimes,
    sending: EndTimes,
}

/// Times of an end that may sleep.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndTimes {
    /// The first period slept whose effects have not been added.
    pub(super) since: u64,
    /// The period in which it wakes by itself.
    pub(super) due: u64,
    /// Attempts to leave out.
    pub(super) pause: u8,
    /// Time of its entry that is kept until then, so that later ones need not be added.
    entry: u64,
}

impl Default for EndTimes {
    fn default() -> Self {
        Self { since: 0, due: u64::MAX, pause: 0, entry: u64::MAX }
    }
}

/// The characters that a sleeping receiver takes in.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReceiverRegime {
    /// Ignores characters that come again and again.
    Ignores { sent: CellCycle, received: CellCycle },
    /// Stores bytes within a packet.
    Absorbs {
        /// The port, or its virtual channel whose bytes they are. C-7
        lane: UnitId,
        /// Fill of the slack buffer after each of them, if each is taken again.
        top: Option<u32>,
    },
}

/// The characters that a sleeping sender sends.
#[derive(Clone, Copy, Debug)]
pub(super) enum SenderRegime {
    /// Characters that come again and again.
    Fills { cycle: CellCycle, stopped: StoppedLanes },
    /// The next bytes of the source of the port, or of a virtual channel of it. C-7
    Streams { lane: UnitId, stopped: StoppedLanes },
}

/// The virtual channels of a port with power that are stopped, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoppedLanes(pub(super) u8);

impl PortSleep {
    /// True if the receiver sleeps and stores bytes.
    #[inline]
    pub(super) fn absorbs(&self) -> bool {
        matches!(self.receiver, Some(ReceiverRegime::Absorbs { .. }))
    }

    pub(super) const fn is_asleep(&self) -> bool {
        self.receiver.is_some() || self.sender.is_some()
    }

    /// The port or virtual channel whose bytes the sender sends while it sleeps.
    #[inline]
    pub(super) const fn streaming(&self) -> Option<UnitId> {
        match self.sender {
            Some(SenderRegime::Streams { lane, .. }) => Some(lane),
            Some(SenderRegime::Fills { .. }) | None => None,
        }
    }

    #[inline]
    pub(super) const fn times(&self, end: PortEnd) -> &EndTimes {
        match end {
            PortEnd::Receiver => &self.receiving,
            PortEnd::Sender => &self.sending,
        }
    }

    #[inline]
    pub(super) const fn times_mut(&mut self, end: PortEnd) -> &mut EndTimes {
        match end {
            PortEnd::Receiver => &mut self.receiving,
            PortEnd::Sender => &mut self.sending,
        }
    }
}

impl ReceiverRegime {
    /// True if a character of a period of the sender is the one it takes in.
    #[inline]
    fn expects(&self, period: u64, cell: TaggedChar) -> bool {
        match self {
            Self::Ignores { sent, .. } => sent.at(period) == cell,
            Self::Absorbs { .. } => cell.is_plain(),
        }
    }
}

impl Network {
    /// Time of the first entry that still holds.
    pub(super) fn next_wake(&mut self) -> u64 {
        let Self { schedule, sleep, units, hosts, switches, .. } = self;
        schedule.next(|at, part| match part {
            WakingPart::End(end, unit) => sleep[unit].times(end).due == at,
            WakingPart::Decoder(unit) => units[unit].is_ready_at(at),
            WakingPart::Host(host) => hosts[host].interface.due() <= at,
            WakingPart::Switch(switch) => switches[switch].due(at).is_some_and(|due| due <= at),
        })
    }

    /// Wakes the parts that are due.
    #[inline]
    pub(super) fn wake_due(&mut self) {
        let now = self.now;
        while let Some(part) = self.schedule.pop(now) {
            match part {
                WakingPart::End(end, unit) => self.due_end(end, unit),
                WakingPart::Decoder(unit) => self.decode(unit),
                WakingPart::Host(host) => {
                    if self.hosts[host].interface.due() <= now {
                        self.active.hosts.insert(host);
                    }
                }
                WakingPart::Switch(switch) => self.active.switches.insert(switch),
            }
        }
    }

    fn due_end(&mut self, end: PortEnd, unit: UnitId) {
        let sleep = &mut self.sleep[unit];
        let times = sleep.times_mut(end);
        if times.entry <= self.now {
            times.entry = u64::MAX;
        }
        let due = times.due;
        if due <= self.now {
            self.wake(end, unit);
        } else {
            self.schedule_end(end, unit, due);
        }
    }

    /// Adds the time at which an end wakes by itself to the schedule.
    pub(super) fn schedule_end(&mut self, end: PortEnd, unit: UnitId, due: u64) {
        let Self { schedule, sleep, clocks, .. } = self;
        let other = clocks.as_mut().and_then(|clocks| clocks.schedule_of(unit, due));
        let schedule = other.unwrap_or(schedule);
        let times = sleep[unit].times_mut(end);
        if due < times.entry {
            if schedule.is_far(due) {
                times.entry = due;
            }
            schedule.add(due, WakingPart::End(end, unit));
        }
    }

    /// Ends the decoding of a first byte, whose receiver may sleep on. S-6
    fn decode(&mut self, index: UnitId) {
        let Self { now, units, switches, active, .. } = self;
        let unit = &mut units[index];
        if let DataSink::Switch(switch, input @ SwitchInputState::Decoding(_)) = &mut unit.sink
            && *input == SwitchInputState::Decoding(*now)
        {
            *input = SwitchInputState::Ready;
            switches[*switch].decoded(unit.port.port);
            active.switches.insert(*switch);
        }
    }

    /// Makes a switch active when it has something to decide.
    pub(super) fn schedule_switch(&mut self, number: SwitchId) {
        let Self { now, switches, active, schedule, .. } = self;
        let Some(due) = switches[number].due(*now + 1) else {
            return;
        };
        if due <= *now + 1 {
            active.switches.insert(number);
        } else {
            schedule.add(due, WakingPart::Switch(number));
        }
    }

    /// Makes a host active when it is due.
    pub(super) fn schedule_host(&mut self, number: HostId) {
        let Self { now, hosts, active, schedule, .. } = self;
        let host = &mut hosts[number];
        let due = host.interface.due();
        if due <= *now + 1 {
            active.hosts.insert(number);
        } else if due != host.scheduled {
            host.scheduled = due;
            schedule.add(due, WakingPart::Host(number));
        }
    }

    /// Wakes the ends that others have marked.
    #[inline]
    pub(super) fn wake_marked(&mut self) {
        while let Some((end, unit)) = self.active.next_marked() {
            self.wake(end, unit);
        }
    }

    /// Wakes everything, since any part may change now.
    pub(super) fn wake_all(&mut self) {
        if self.clocks.is_some() {
            return self.wake_groups();
        }
        for unit in self.units.numbers() {
            self.wake(PortEnd::Receiver, unit);
            self.wake(PortEnd::Sender, unit);
        }
        self.hosts.numbers().for_each(|host| self.active.hosts.insert(host));
        self.switches.numbers().for_each(|switch| self.active.switches.insert(switch));
    }

    /// Wakes an end, and the other end of the slack buffer through which bytes stream.
    #[inline]
    pub(super) fn wake(&mut self, end: PortEnd, unit: UnitId) {
        if !self.active.ends(end).contains(unit) {
            self.wake_up(end, unit);
        }
    }

    fn wake_up(&mut self, end: PortEnd, lane: UnitId) {
        let unit = self.units[lane].first;
        // Its virtual channels are awake with it.
        if unit != lane {
            return self.wake(end, unit);
        }
        let streaming = match end {
            PortEnd::Receiver => {
                self.catch_up_receiver(unit);
                self.streaming_output(unit)
            }
            PortEnd::Sender => {
                self.catch_up_sender(unit);
                self.streaming_input(unit).filter(|input| self.depends_on_output(*input))
            }
        };
        let sleep = &mut self.sleep[unit];
        let other = match end {
            PortEnd::Receiver => {
                sleep.receiver = None;
                PortEnd::Sender
            }
            PortEnd::Sender => {
                sleep.sender = None;
                PortEnd::Receiver
            }
        };
        let times = sleep.times_mut(end);
        (times.due, times.pause) = (u64::MAX, 0);
        self.active.ends(end).insert(unit);
        self.activate_host(unit);
        streaming.into_iter().for_each(|unit| self.wake(other, unit));
    }

    /// True if an input has gone to sleep since its output streams, or must see its buffer fall.
    fn depends_on_output(&self, input: UnitId) -> bool {
        match self.sleep[self.units[input].first].receiver {
            Some(ReceiverRegime::Absorbs { top, .. }) => top.is_some(),
            Some(ReceiverRegime::Ignores { .. }) | None => self.units[input].is_watched(),
        }
    }

    fn activate_host(&mut self, unit: UnitId) {
        if let DataSink::Host(host) = self.units[unit].sink {
            self.active.hosts.insert(host);
        }
    }

    /// The output that streams asleep from the slack buffer of an input, or of one of its virtual channels.
    pub(super) fn streaming_output(&self, input: UnitId) -> Option<UnitId> {
        self.lanes(input).find_map(|lane| {
            let unit = &self.units[lane];
            let DataSink::Switch(_, SwitchInputState::Connected(..)) = unit.sink else {
                return None;
            };
            let output = unit.downstream;
            let sleep = &self.sleep[self.units[output].first];
            (sleep.streaming() == Some(output)).then_some(output)
        })
    }

    /// The input from whose slack buffer a port streams asleep.
    fn streaming_input(&self, output: UnitId) -> Option<UnitId> {
        match self.units[self.sleep[output].streaming()?].source {
            DataSource::Circuit(input) => Some(input),
            DataSource::Host(_) | DataSource::Nowhere | DataSource::Copies => None,
        }
    }

    /// True if the slack buffer of a port or virtual channel stores bytes asleep.
    #[inline]
    pub(super) fn absorbs(&self, input: UnitId) -> bool {
        let receiver = self.sleep[self.units[input].first].receiver;
        matches!(receiver, Some(ReceiverRegime::Absorbs { lane, .. }) if lane == input)
    }

    /// Wakes a sleeping receiver in time for a character just sent to it, if that is not one that
    /// it takes in asleep.
    #[inline]
    pub(super) fn announce(&mut self, receiver: UnitId, period: u64, cell: TaggedChar) {
        if let Some(sleep) = self.sleep[receiver].receiver
            && !sleep.expects(period, cell)
        {
            self.wake_for(receiver, period);
        }
    }

    /// Wakes a sleeping receiver when the character of a period of its sender arrives.
    pub(super) fn wake_for(&mut self, receiver: UnitId, period: u64) {
        let clock = self.units[receiver].clock;
        let at = clock.receive_time(period.saturating_add(clock.lag()));
        let sleep = &mut self.sleep[receiver];
        if sleep.receiver.is_some() && at < sleep.receiving.due {
            sleep.receiving.due = at;
            self.schedule_end(PortEnd::Receiver, receiver, at);
        }
    }
}
