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
//! An awake end is processed in every period by the same code as in the stepper, so that waking too
//! early is never wrong. `network/catch_up.rs` adds the effects of the periods slept.

use crate::link::tagged_char::TaggedChar;
use crate::link::wire::in_period;
use crate::network::Network;
use crate::network::schedule::WakingPart;
use crate::port::{DataSink, DataSource, PortUnit};
use crate::switch::SwitchInputState;
use crate::truth::StopGo;

/// The ends of channels at a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortSleep {
    pub(super) receiver: Option<ReceiverSleep>,
    pub(super) sender: Option<SenderSleep>,
    /// Attempts to leave out.
    pub(super) receiver_pause: u8,
    pub(super) sender_pause: u8,
    /// Times of their entries that are kept until then, so that later ones need not be added.
    receiver_entry: u64,
    sender_entry: u64,
}

impl Default for PortSleep {
    fn default() -> Self {
        Self {
            receiver: None,
            sender: None,
            receiver_pause: 0,
            sender_pause: 0,
            receiver_entry: u64::MAX,
            sender_entry: u64::MAX,
        }
    }
}

/// A sleeping receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverSleep {
    /// The first period whose effects have not been added.
    pub(super) since: u64,
    /// The period in which it wakes by itself.
    pub(super) due: u64,
    pub(super) regime: ReceiverRegime,
}

/// The characters that a sleeping receiver takes in.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReceiverRegime {
    /// Ignores two alternating characters, the first from even periods of the sender.
    Ignores { sent: [TaggedChar; 2], received: [TaggedChar; 2] },
    /// Stores bytes within a packet.
    Absorbs {
        /// Fill of the slack buffer after each of them, if each is taken again.
        top: Option<u32>,
    },
}

/// A sleeping sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderSleep {
    /// The first period whose effects have not been added.
    pub(super) since: u64,
    /// The period in which it wakes by itself.
    pub(super) due: u64,
    pub(super) regime: SenderRegime,
}

/// The characters that a sleeping sender sends.
#[derive(Clone, Copy, Debug)]
pub(super) enum SenderRegime {
    /// Two alternating characters, the first in even periods; STOP if it is stopped, and has power.
    Fills { pair: [TaggedChar; 2], flow: StopGo },
    /// The next bytes of its source.
    Streams,
}

impl PortSleep {
    /// True if the receiver sleeps and stores bytes.
    #[inline]
    pub(super) fn absorbs(&self) -> bool {
        let regime = self.receiver.map(|receiver| receiver.regime);
        regime.is_some_and(|regime| matches!(regime, ReceiverRegime::Absorbs { .. }))
    }
}

impl ReceiverRegime {
    /// True if a character of a period of the sender is the one it takes in.
    #[inline]
    fn expects(&self, period: u64, cell: TaggedChar) -> bool {
        match self {
            Self::Ignores { sent, .. } => in_period(*sent, period) == cell,
            Self::Absorbs { .. } => cell.is_plain(),
        }
    }
}

impl Network {
    /// Time of the first entry that still holds.
    pub(super) fn next_wake(&mut self) -> u64 {
        let Self { schedule, sleep, units, hosts, switches, .. } = self;
        schedule.next(|at, part| match part {
            WakingPart::Receiver(unit) => {
                let sleep = sleep.get(unit as usize).and_then(|it| it.receiver);
                sleep.is_some_and(|sleep| sleep.due == at)
            }
            WakingPart::Sender(unit) => {
                let sleep = sleep.get(unit as usize).and_then(|it| it.sender);
                sleep.is_some_and(|sleep| sleep.due == at)
            }
            WakingPart::Decoder(unit) => {
                units.get(unit as usize).is_some_and(|unit| unit.is_ready_at(at))
            }
            WakingPart::Host(host) => {
                hosts.get(host as usize).is_some_and(|host| host.interface.due() <= at)
            }
            WakingPart::Switch(switch) => {
                let due = switches.get(switch as usize).and_then(|switch| switch.due(at));
                due.is_some_and(|due| due <= at)
            }
        })
    }

    /// Wakes the parts that are due.
    #[inline]
    pub(super) fn wake_due(&mut self) {
        let now = self.now;
        while let Some(part) = self.schedule.pop(now) {
            match part {
                WakingPart::Receiver(unit) => self.due_receiver(unit as usize),
                WakingPart::Sender(unit) => self.due_sender(unit as usize),
                WakingPart::Decoder(unit) => self.decode(unit as usize),
                WakingPart::Host(host) => {
                    let host = host as usize;
                    if self.hosts.get(host).is_some_and(|host| host.interface.due() <= now) {
                        self.active.hosts.insert(host);
                    }
                }
                WakingPart::Switch(switch) => self.active.switches.insert(switch as usize),
            }
        }
    }

    fn due_receiver(&mut self, unit: usize) {
        let Some(sleep) = self.sleep.get_mut(unit) else { return };
        if sleep.receiver_entry <= self.now {
            sleep.receiver_entry = u64::MAX;
        }
        let due = sleep.receiver.map(|it| it.due);
        match due {
            Some(due) if due <= self.now => self.wake_receiver(unit),
            Some(due) => self.schedule_receiver(unit, due),
            None => {}
        }
    }

    fn due_sender(&mut self, unit: usize) {
        let Some(sleep) = self.sleep.get_mut(unit) else { return };
        if sleep.sender_entry <= self.now {
            sleep.sender_entry = u64::MAX;
        }
        let due = sleep.sender.map(|it| it.due);
        match due {
            Some(due) if due <= self.now => self.wake_sender(unit),
            Some(due) => self.schedule_sender(unit, due),
            None => {}
        }
    }

    pub(super) fn schedule_receiver(&mut self, unit: usize, due: u64) {
        if let Some(sleep) = self.sleep.get_mut(unit)
            && due < sleep.receiver_entry
        {
            if self.schedule.is_far(due) {
                sleep.receiver_entry = due;
            }
            self.schedule.add(due, WakingPart::Receiver(number(unit)));
        }
    }

    pub(super) fn schedule_sender(&mut self, unit: usize, due: u64) {
        if let Some(sleep) = self.sleep.get_mut(unit)
            && due < sleep.sender_entry
        {
            if self.schedule.is_far(due) {
                sleep.sender_entry = due;
            }
            self.schedule.add(due, WakingPart::Sender(number(unit)));
        }
    }

    /// Ends the decoding of a first byte, whose receiver may sleep on. S-6
    fn decode(&mut self, index: usize) {
        let Self { now, units, switches, active, .. } = self;
        let Some(unit) = units.get_mut(index) else { return };
        if let DataSink::Switch(switch, input @ SwitchInputState::Decoding(_)) = &mut unit.sink
            && *input == SwitchInputState::Decoding(*now)
            && let Some(part) = switches.get_mut(*switch as usize)
        {
            *input = SwitchInputState::Ready;
            part.decoded(unit.port.port);
            active.switches.insert(*switch as usize);
        }
    }

    /// Makes a switch active when it has something to decide.
    pub(super) fn schedule_switch(&mut self, number: usize) {
        if self.clocks.is_some() {
            return;
        }
        let Self { now, switches, active, schedule, .. } = self;
        let Some(due) = switches.get(number).and_then(|switch| switch.due(*now + 1)) else {
            return;
        };
        if due <= *now + 1 {
            active.switches.insert(number);
        } else {
            schedule.add(due, WakingPart::Switch(u32::try_from(number).unwrap_or(u32::MAX)));
        }
    }

    /// Makes a host active when it is due.
    pub(super) fn schedule_host(&mut self, number: usize) {
        if self.clocks.is_some() {
            return;
        }
        let Self { now, hosts, active, schedule, .. } = self;
        let Some(host) = hosts.get_mut(number) else { return };
        let due = host.interface.due();
        if due <= *now + 1 {
            active.hosts.insert(number);
        } else if due != host.scheduled {
            host.scheduled = due;
            schedule.add(due, WakingPart::Host(u32::try_from(number).unwrap_or(u32::MAX)));
        }
    }

    /// Wakes the ends that others have marked.
    #[inline]
    pub(super) fn wake_marked(&mut self) {
        while let Some(part) = self.active.next_marked() {
            match part {
                WakingPart::Receiver(unit) => self.wake_receiver(unit as usize),
                WakingPart::Sender(unit) => self.wake_sender(unit as usize),
                WakingPart::Decoder(_) | WakingPart::Host(_) | WakingPart::Switch(_) => {}
            }
        }
    }

    /// Wakes everything, since any part may change now.
    pub(super) fn wake_all(&mut self) {
        for unit in 0..self.units.len() {
            self.wake_receiver(unit);
            self.wake_sender(unit);
        }
        (0..self.hosts.len()).for_each(|host| self.active.hosts.insert(host));
        (0..self.switches.len()).for_each(|switch| self.active.switches.insert(switch));
    }

    /// Wakes a receiver, and the sender that streams from its slack buffer.
    #[inline]
    pub(super) fn wake_receiver(&mut self, unit: usize) {
        if self.sleep.get(unit).is_some_and(|it| it.receiver.is_some()) {
            self.catch_up_receiver(unit);
            let streaming = self.streaming_output(unit);
            if let Some(sleep) = self.sleep.get_mut(unit) {
                (sleep.receiver, sleep.receiver_pause) = (None, 0);
            }
            self.active.receiving.insert(unit);
            self.activate_host(unit);
            streaming.into_iter().for_each(|output| self.wake_sender(output));
        }
    }

    /// Wakes a sender, and the receiver whose slack buffer it streams from.
    #[inline]
    pub(super) fn wake_sender(&mut self, unit: usize) {
        if let Some(SenderSleep { regime, .. }) = self.sleep.get(unit).and_then(|it| it.sender) {
            self.catch_up_sender(unit);
            if let Some(sleep) = self.sleep.get_mut(unit) {
                (sleep.sender, sleep.sender_pause) = (None, 0);
            }
            self.active.sending.insert(unit);
            self.activate_host(unit);
            let source = self.units.get(unit).map(|unit| unit.source);
            if let (SenderRegime::Streams, Some(DataSource::Circuit(input))) = (regime, source)
                && self.depends_on_output(input as usize)
            {
                self.wake_receiver(input as usize);
            }
        }
    }

    /// True if an input has gone to sleep since its output streams, or must see its buffer fall.
    fn depends_on_output(&self, input: usize) -> bool {
        let regime = self.sleep.get(input).and_then(|it| it.receiver).map(|it| it.regime);
        match regime {
            Some(ReceiverRegime::Absorbs { top }) => top.is_some(),
            Some(ReceiverRegime::Ignores { .. }) | None => {
                self.units.get(input).is_some_and(PortUnit::is_watched)
            }
        }
    }

    fn activate_host(&mut self, unit: usize) {
        if let Some(DataSink::Host(host)) = self.units.get(unit).map(|unit| unit.sink) {
            self.active.hosts.insert(host as usize);
        }
    }

    /// The sleeping output that streams from the slack buffer of an input.
    pub(super) fn streaming_output(&self, input: usize) -> Option<usize> {
        let unit = self.units.get(input)?;
        let DataSink::Switch(_, SwitchInputState::Connected(..)) = unit.sink else { return None };
        let output = unit.downstream as usize;
        match self.sleep.get(output)?.sender?.regime {
            SenderRegime::Streams => Some(output),
            SenderRegime::Fills { .. } => None,
        }
    }

    /// Wakes a sleeping receiver in time for a character just sent to it, if that is not one that
    /// it takes in asleep.
    #[inline]
    pub(super) fn announce(&mut self, receiver: usize, period: u64, cell: TaggedChar) {
        if let Some(sleep) = self.sleep.get(receiver).and_then(|it| it.receiver)
            && !sleep.regime.expects(period, cell)
        {
            self.wake_for(receiver, period);
        }
    }

    /// Wakes a sleeping receiver when the character of a period of its sender arrives.
    pub(super) fn wake_for(&mut self, receiver: usize, period: u64) {
        let Some(clock) = self.units.get(receiver).map(|unit| unit.clock) else { return };
        let at = clock.receive_time(period.saturating_add(clock.lag()));
        if let Some(sleep) = self.sleep.get_mut(receiver).and_then(|it| it.receiver.as_mut())
            && at < sleep.due
        {
            sleep.due = at;
            self.schedule_receiver(receiver, at);
        }
    }
}

pub(super) fn number(unit: usize) -> u32 {
    u32::try_from(unit).unwrap_or(u32::MAX)
}
