//! Queues of arriving characters and of commands, each with its period.

use codec::time::Tick;

use super::InputKnowledge::{No, Yes};
use super::{EffectiveCommand, SenderState, SlackAligner};
use crate::link::slack::arrival::{BufferArrival, IntakeEvent, SlackCommand};

impl SlackAligner {
    /// Begins with the first recorded character of the channel.
    pub(in crate::link::slack) fn begin(&mut self, at: Tick) {
        let start = self.arrival(at);
        if !self.begun {
            self.begun = true;
            self.bound.start(start);
        }
    }

    pub(super) const fn arrival(&self, at: Tick) -> u64 {
        at.0.saturating_add(self.timing.arrives)
    }

    /// Queues `len` bytes of a packet.
    pub(in crate::link::slack) fn data(&mut self, at: Tick, len: u64) {
        let start = self.arrival(at);
        let end = start.saturating_add(len);
        // A mark between data of a sender that is not stopped is a cell like any other. (A STOP that
        // comes later takes effect behind it.)
        let is_free = self.effective.is_empty()
            && matches!(self.sender, SenderState::Going | SenderState::Doubtful);
        let mark = self.arrivals.pop_back_if(|last| {
            is_free && start.checked_sub(1).is_some_and(|at| *last == BufferArrival::Mark(at))
        });
        let before = start - u64::from(mark.is_some());
        match self.arrivals.back_mut() {
            Some(BufferArrival::Data { end: last, .. }) if *last == before => *last = end,
            Some(_) | None => {
                self.arrivals.extend(mark);
                self.arrivals.push_back(BufferArrival::Data { start, end });
            }
        }
    }

    /// Queues an event of the channel other than data.
    pub(in crate::link::slack) fn enter(&mut self, event: IntakeEvent) {
        let (arrival, intake) = match event {
            IntakeEvent::Gap(at) | IntakeEvent::LinkOpen(at) => {
                (BufferArrival::Mark(self.arrival(at)), self.intake)
            }
            // In any earlier state, the receiver now drops data.
            IntakeEvent::Reset(at) => (BufferArrival::Reset(self.arrival(at)), Yes),
            IntakeEvent::Lost(at) => (BufferArrival::Lost(self.arrival(at)), No),
            IntakeEvent::Found(at) => (BufferArrival::Found(self.arrival(at)), Yes),
        };
        if let BufferArrival::Reset(at) = arrival {
            // Framing that is known from the next period on is known by the reset itself.
            let by_reset =
                |it: &mut BufferArrival| matches!(it, BufferArrival::Found(found) if *found > at);
            while self.arrivals.pop_back_if(by_reset).is_some() {}
        }
        self.arrivals.push_back(arrival);
        self.intake = intake;
        if let (IntakeEvent::Gap(at), No) = (event, intake) {
            self.enter(IntakeEvent::Found(Tick(at.0.saturating_add(1))));
        }
    }

    /// The channel's sender may have lost its power: it starts in GO. F-2
    pub(in crate::link::slack) fn start_again(&mut self, at: Tick) {
        let (at, command) = (self.arrival(at), SlackCommand::Unseen);
        self.effective.push_back(EffectiveCommand { at, command, allowed: self.allowed });
    }

    /// Queues a command on the opposite channel, or the loss of its state.
    pub(in crate::link::slack) fn add_command(&mut self, at: Tick, command: SlackCommand) {
        let decided = at.0.saturating_sub(self.timing.decided);
        self.commands.push_back((decided, command));
        let at = decided.saturating_add(self.timing.effective);
        self.effective.push_back(EffectiveCommand { at, command, allowed: self.allowed });
    }
}
