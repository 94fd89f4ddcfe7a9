//! The LEDs of the port at a channel's receiving end, as far as the tap shows. L (§4.7)
//!
//! A capture never shows an LED that is off: the LEDs of a port without power are dark, and its sender
//! is silent, which appears as an open link at the *other* end.

use codec::time::Tick;

use super::interval::{PeriodTotals, WireState};
use crate::named_enum::named_enum;

named_enum! {
    /// State of a port's two LEDs. L
    pub enum LedState {
        /// Not known: no packet is seen to pass, and one of the channels is not understood yet, or not recorded.
        Unknown = "unknown",
        /// The channel is open. F-7
        Red = "red",
        /// The channel is not open, and no packet passes in either direction.
        Green = "green",
        /// Both LEDs: a packet passes, or has begun to pass, in at least one direction.
        Yellow = "yellow",
    }
}

/// A packet on a channel, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LedTraffic {
    #[default]
    Nothing,
    /// A packet that has begun and not ended.
    Packet,
    /// Not known: the channel is not recorded, or its framing not known yet.
    Unknown,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PortLeds {
    wire: WireState,
    own: LedTraffic,
    opposite: LedTraffic,
    /// The first character whose LED state is not yet counted.
    next: Tick,
    /// Periods in each state, in the order of [`LedState::ALL`].
    pub(super) times: PeriodTotals<4>,
}

impl PortLeds {
    /// Skips characters that were not recorded.
    pub(super) const fn seek(&mut self, at: Tick) {
        self.next = at;
    }

    pub(super) fn wire(&mut self, at: Tick, wire: WireState) {
        self.settle(at);
        self.wire = wire;
    }

    pub(super) fn own(&mut self, at: Tick, traffic: LedTraffic) {
        if self.own != traffic {
            self.settle(at);
            self.own = traffic;
        }
    }

    pub(super) fn opposite(&mut self, at: Tick, traffic: LedTraffic) {
        if self.opposite != traffic {
            self.settle(at);
            self.opposite = traffic;
        }
    }

    /// Ends the doubt whether a packet passes on the opposite channel.
    pub(super) fn opposite_known(&mut self, at: Tick) {
        if self.opposite == LedTraffic::Unknown {
            self.opposite(at, LedTraffic::Nothing);
        }
    }

    /// Counts the present state up to a character.
    pub(super) fn settle(&mut self, at: Tick) {
        let state = match (self.wire, self.own, self.opposite) {
            (WireState::Open, _, _) => LedState::Red,
            (_, LedTraffic::Packet, _) | (_, _, LedTraffic::Packet) => LedState::Yellow,
            (WireState::Alive, LedTraffic::Nothing, LedTraffic::Nothing) => LedState::Green,
            (WireState::Unknown, _, _) | (_, LedTraffic::Unknown, _) => LedState::Unknown,
            (_, _, LedTraffic::Unknown) => LedState::Unknown,
        };
        self.reach(at, state);
    }

    /// Counts the periods up to a character as unknown.
    pub(super) fn pass_over(&mut self, at: Tick) {
        self.reach(at, LedState::Unknown);
    }

    fn reach(&mut self, at: Tick, state: LedState) {
        self.times.add(state as usize, at.since(self.next));
        self.next = self.next.max(at);
    }
}
