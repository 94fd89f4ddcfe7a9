//! Outcome of a journey: fate, certainty, and reasons for waiting.

use crate::named_enum::named_enum;

/// Reason for a wait in a switch: the last obstacle. S-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// This packet held the output; the number is of the output's channel.
    Output(u64),
    /// The previous packet of the same input, with this number, was still there.
    Input(u64),
    /// The output's sender was stopped. F-1
    Stop,
}

codec::named_enum! {
    /// Fate of a packet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum JourneyFate {
        /// The packet reached a host.
        Arrived = "arrived",
        /// The packet reached a host with a route byte left: an error. I-2
        Misrouted = "misrouted",
        /// The packet continued over uncaptured links.
        OutOfSight = "out-of-sight",
        /// A switch dropped the packet, by this rule if the wires prove one.
        Dropped(Option<&'static str>) = "dropped",
        /// The packet continued as a part of the packet before it, for want of a GAP. P-1
        Merged = "merged",
        /// The packet was in transit when the recording ended.
        UnderWay = "under-way",
    }
}

impl JourneyFate {
    /// That of a packet without bytes behind its route byte.
    pub(super) const RUNT: Self = Self::Dropped(Some("P-9"));
}

named_enum! {
    /// Certainty of the matches of a journey.
    pub enum MatchCertainty {
        /// No other packet matches.
        Certain = "certain",
        /// Several packets were identical, or corruption hid the packet's identity: order and time
        /// decided.
        ByOrder = "by-order",
    }
}
