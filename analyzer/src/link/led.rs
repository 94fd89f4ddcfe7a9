//! The lamps of the port at a channel's receiving end, as far as the tap can tell. L (§4.7)
//!
//! Off cannot be told from a capture: the lamps of a port without power are dark, and its sender is
//! silent, which shows as an open link at the *other* end.

use codec::time::Tick;

use super::state::WireState;
use super::totals::PeriodTotals;

/// What a port's two lamps show. L
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedState {
    /// Not known: no packet passes, and nothing else has been understood yet.
    Unknown,
    /// The channel is open. F-7
    Red,
    /// It is not, and no packet passes in either direction.
    Green,
    /// Both: a packet passes, or has begun to pass, in one direction at least.
    Yellow,
}

/// What passes on a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LedTraffic {
    #[default]
    Nothing,
    /// A packet that has begun and not ended.
    Packet,
}

/// The lamps of one port.
#[derive(Clone, Debug)]
pub(super) struct PortLeds {
    wire: WireState,
    own: LedTraffic,
    opposite: LedTraffic,
    /// Up to here it has been settled.
    next: Tick,
    times: PeriodTotals<4>,
}

impl LedState {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Red, Self::Green, Self::Yellow];

    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Red => "red",
            Self::Green => "green",
            Self::Yellow => "yellow",
        }
    }

    pub(super) const fn index(self) -> usize {
        match self {
            Self::Unknown => 0,
            Self::Red => 1,
            Self::Green => 2,
            Self::Yellow => 3,
        }
    }
}

impl Default for PortLeds {
    fn default() -> Self {
        Self {
            wire: WireState::Unknown,
            own: LedTraffic::Nothing,
            opposite: LedTraffic::Nothing,
            next: Tick(0),
            times: PeriodTotals::default(),
        }
    }
}

impl PortLeds {
    /// For how long it showed what, in the order of [`LedState::ALL`].
    pub(super) const fn times(&self) -> &PeriodTotals<4> {
        &self.times
    }

    /// What comes before this place was not recorded.
    pub(super) const fn seek(&mut self, at: Tick) {
        self.next = at;
    }

    /// What is known of the channel changes.
    pub(super) fn wire(&mut self, at: Tick, wire: WireState) {
        self.settle(at);
        self.wire = wire;
    }

    /// What passes on the channel changes.
    pub(super) fn own(&mut self, at: Tick, passing: LedTraffic) {
        if self.own != passing {
            self.settle(at);
            self.own = passing;
        }
    }

    /// What passes on the opposite channel changes.
    pub(super) fn opposite(&mut self, at: Tick, passing: LedTraffic) {
        if self.opposite != passing {
            self.settle(at);
            self.opposite = passing;
        }
    }

    /// It is known up to here.
    pub(super) fn settle(&mut self, at: Tick) {
        let light = match (self.wire, self.own, self.opposite) {
            (WireState::Open, _, _) => LedState::Red,
            (_, LedTraffic::Packet, _) | (_, _, LedTraffic::Packet) => LedState::Yellow,
            (WireState::Unknown, LedTraffic::Nothing, LedTraffic::Nothing) => LedState::Unknown,
            (WireState::Alive, LedTraffic::Nothing, LedTraffic::Nothing) => LedState::Green,
        };
        self.reach(at, light);
    }

    /// What it shows up to here is not known.
    pub(super) fn pass_over(&mut self, at: Tick) {
        self.reach(at, LedState::Unknown);
    }

    fn reach(&mut self, at: Tick, light: LedState) {
        self.times.add(light.index(), at.since(self.next));
        self.next = self.next.max(at);
    }
}
