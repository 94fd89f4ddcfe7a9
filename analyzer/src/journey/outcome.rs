//! Outcome of a journey: fate, certainty, reasons for waiting.

/// Reason for waiting in a switch: the last obstacle. S-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// The output was held by this packet of the channel that it went out by.
    Output(u64),
    /// This packet of its own channel, the one before it, was still there.
    Input(u64),
    /// The output's sender was stopped. F-1
    Stop,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JourneyFate {
    /// It reached a host.
    Arrived,
    /// It reached a host with a route byte left: an error. I-2
    Misrouted,
    /// It went on over links that were not captured.
    OutOfSight,
    /// A switch dropped it, by this rule.
    Dropped(&'static str),
    /// It went on as a part of the packet before it, for want of a GAP. P-1
    Merged,
    /// It was on its way when the recording ended.
    UnderWay,
}

/// Certainty of a journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchCertainty {
    /// No other packet can have been meant.
    Certain,
    /// Several were alike, or it was hurt too much to be known by its bytes: order and time decided.
    ByOrder,
}

impl JourneyFate {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::Misrouted => "misrouted",
            Self::OutOfSight => "out-of-sight",
            Self::Dropped(_) => "dropped",
            Self::Merged => "merged",
            Self::UnderWay => "under-way",
        }
    }
}

impl MatchCertainty {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::ByOrder => "by-order",
        }
    }
}
