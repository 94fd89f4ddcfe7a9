//! The lamps of the port at a channel's receiving end, as far as the tap can tell. L (§4.7)
//!
//! Off cannot be told from a capture: the lamps of a port without power are dark, and its sender is
//! silent, which shows as an open link at the *other* end.

use codec::tick::Tick;

use super::state::Wire;
use super::summary::Times;

/// What a port's two lamps show. L
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Light {
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
pub(super) enum Passing {
    #[default]
    Nothing,
    /// A packet that has begun and not ended.
    Packet,
}

/// The lamps of one port.
#[derive(Clone, Debug)]
pub(super) struct Lamp {
    wire: Wire,
    own: Passing,
    opposite: Passing,
    /// Up to here it has been settled.
    next: Tick,
    times: Times<4>,
}

impl Light {
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

impl Default for Lamp {
    fn default() -> Self {
        Self {
            wire: Wire::Unknown,
            own: Passing::Nothing,
            opposite: Passing::Nothing,
            next: Tick(0),
            times: Times::default(),
        }
    }
}

impl Lamp {
    /// For how long it showed what, in the order of [`Light::ALL`].
    pub(super) const fn times(&self) -> &Times<4> {
        &self.times
    }

    /// What comes before this place was not recorded.
    pub(super) const fn seek(&mut self, at: Tick) {
        self.next = at;
    }

    /// What is known of the channel changes.
    pub(super) fn wire(&mut self, at: Tick, wire: Wire) {
        self.settle(at);
        self.wire = wire;
    }

    /// What passes on the channel changes.
    pub(super) fn own(&mut self, at: Tick, passing: Passing) {
        if self.own != passing {
            self.settle(at);
            self.own = passing;
        }
    }

    /// What passes on the opposite channel changes.
    pub(super) fn opposite(&mut self, at: Tick, passing: Passing) {
        if self.opposite != passing {
            self.settle(at);
            self.opposite = passing;
        }
    }

    /// It is known up to here.
    pub(super) fn settle(&mut self, at: Tick) {
        let light = match (self.wire, self.own, self.opposite) {
            (Wire::Open, _, _) => Light::Red,
            (_, Passing::Packet, _) | (_, _, Passing::Packet) => Light::Yellow,
            (Wire::Unknown, Passing::Nothing, Passing::Nothing) => Light::Unknown,
            (Wire::Alive, Passing::Nothing, Passing::Nothing) => Light::Green,
        };
        self.reach(at, light);
    }

    /// What it shows up to here is not known.
    pub(super) fn pass_over(&mut self, at: Tick) {
        self.reach(at, Light::Unknown);
    }

    fn reach(&mut self, at: Tick, light: Light) {
        self.times.add(light.index(), at.since(self.next));
        self.next = self.next.max(at);
    }
}
