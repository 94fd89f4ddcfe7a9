//! Arrival processes of packets.

use std::num::NonZeroU32;

use codec::time::Ticks;

/// Arrival process of packets, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalProcess {
    /// One packet per interval. Open loop.
    Constant(Ticks),
    /// A Poisson process with this mean interval. Open loop.
    Poisson(Ticks),
    /// A burst of packets per interval. Open loop.
    Bursts(NonZeroU32, Ticks),
    /// Packets without pause: as many as the link carries.
    Saturating,
    /// A window of unanswered requests, and the time between an answer and the next request. Closed
    /// loop: the receiver answers each request with one of the same size.
    Closed(NonZeroU32, Ticks),
}

impl ArrivalProcess {
    /// Interval of an open loop whose times do not depend on the network.
    pub const fn interval_mut(&mut self) -> Option<&mut Ticks> {
        match self {
            Self::Constant(interval) | Self::Poisson(interval) | Self::Bursts(_, interval) => {
                Some(interval)
            }
            Self::Saturating | Self::Closed(..) => None,
        }
    }
}
