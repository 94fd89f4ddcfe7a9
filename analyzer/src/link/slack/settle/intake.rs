//! What is taken in: what comes on the channel and what its far end commands, each with its time.

use codec::tick::Tick;

use super::{Known, Obeyed, Settling};
use crate::link::slack::arrival::{Arrival, Entry, Order};

impl Settling {
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
            Some(Arrival::Data { end: before, .. }) if *before == start => *before = end,
            Some(_) | None => self.arrivals.push_back(Arrival::Data { start, end }),
        }
    }

    /// Something else comes.
    pub(in crate::link::slack) fn enter(&mut self, entry: Entry) {
        let (arrival, doubt) = match entry {
            Entry::Gap(at) => (Arrival::Mark(self.arrival(at)), None),
            Entry::LinkOpen(at) => (Arrival::Mark(self.arrival(at)), None),
            // Whatever was, now it drops data.
            Entry::Reset(at) => (Arrival::Reset(self.arrival(at)), Some(Known::Yes)),
            Entry::Lost(at) => (Arrival::Lost(self.arrival(at)), Some(Known::No)),
            Entry::Found(at) => (Arrival::Found(self.arrival(at)), Some(Known::Yes)),
        };
        if let Arrival::Reset(at) = arrival {
            // What makes framing known from the next period on is the reset itself.
            while self
                .arrivals
                .pop_back_if(|it| matches!(it, Arrival::Found(found) if *found > at))
                .is_some()
            {}
        }
        self.arrivals.push_back(arrival);
        self.intake = doubt.unwrap_or(self.intake);
        if let (Entry::Gap(at), Known::No) = (entry, self.intake) {
            self.enter(Entry::Found(Tick(at.0.saturating_add(1))));
        }
    }

    /// The channel's sender may have been without power: it starts in GO. F-2
    pub(in crate::link::slack) fn start_again(&mut self, at: Tick) {
        let (at, order) = (self.arrival(at), Order::Unseen);
        self.obeyed.push_back(Obeyed { at, order, allowed: self.allowed });
    }

    /// A command comes, or it is known that none need have come.
    pub(in crate::link::slack) fn order(&mut self, at: Tick, order: Order) {
        let decided = at.0.saturating_sub(self.timing.decided);
        self.orders.push_back((decided, order));
        let at = decided.saturating_add(self.timing.obeyed);
        self.obeyed.push_back(Obeyed { at, order, allowed: self.allowed });
    }
}
