//! What is taken in: what comes on the channel and what its far end commands, each with its time.

use codec::time::Tick;

use super::{EffectiveCommand, InputKnowledge, SlackAligner};
use crate::link::slack::arrival::{BufferArrival, IntakeEvent, SlackCommand};

impl SlackAligner {
    /// The channel's recording begins.
    pub(in crate::link::slack) fn begin(&mut self, at: Tick) {
        let start = self.arrival(at);
        if !self.begun {
            self.begun = true;
            self.bound.start(start);
        }
    }

    /// When a character arrives.
    pub(super) const fn arrival(&self, at: Tick) -> u64 {
        at.0.saturating_add(self.timing.arrives)
    }

    /// So many bytes of a packet come.
    pub(in crate::link::slack) fn data(&mut self, at: Tick, len: u64) {
        let start = self.arrival(at);
        let end = start.saturating_add(len);
        match self.arrivals.back_mut() {
            Some(BufferArrival::Data { end: before, .. }) if *before == start => *before = end,
            Some(_) | None => self.arrivals.push_back(BufferArrival::Data { start, end }),
        }
    }

    /// Something else comes.
    pub(in crate::link::slack) fn enter(&mut self, entry: IntakeEvent) {
        let (arrival, doubt) = match entry {
            IntakeEvent::Gap(at) => (BufferArrival::Mark(self.arrival(at)), None),
            IntakeEvent::LinkOpen(at) => (BufferArrival::Mark(self.arrival(at)), None),
            // Whatever was, now it drops data.
            IntakeEvent::Reset(at) => {
                (BufferArrival::Reset(self.arrival(at)), Some(InputKnowledge::Yes))
            }
            IntakeEvent::Lost(at) => {
                (BufferArrival::Lost(self.arrival(at)), Some(InputKnowledge::No))
            }
            IntakeEvent::Found(at) => {
                (BufferArrival::Found(self.arrival(at)), Some(InputKnowledge::Yes))
            }
        };
        if let BufferArrival::Reset(at) = arrival {
            // What makes framing known from the next period on is the reset itself.
            while self
                .arrivals
                .pop_back_if(|it| matches!(it, BufferArrival::Found(found) if *found > at))
                .is_some()
            {}
        }
        self.arrivals.push_back(arrival);
        self.intake = doubt.unwrap_or(self.intake);
        if let (IntakeEvent::Gap(at), InputKnowledge::No) = (entry, self.intake) {
            self.enter(IntakeEvent::Found(Tick(at.0.saturating_add(1))));
        }
    }

    /// The channel's sender may have been without power: it starts in GO. F-2
    pub(in crate::link::slack) fn start_again(&mut self, at: Tick) {
        let (at, order) = (self.arrival(at), SlackCommand::Unseen);
        self.effective.push_back(EffectiveCommand { at, order, allowed: self.allowed });
    }

    /// A command comes, or it is known that none need have come.
    pub(in crate::link::slack) fn add_command(&mut self, at: Tick, order: SlackCommand) {
        let decided = at.0.saturating_sub(self.timing.decided);
        self.commands.push_back((decided, order));
        let at = decided.saturating_add(self.timing.effective);
        self.effective.push_back(EffectiveCommand { at, order, allowed: self.allowed });
    }
}
