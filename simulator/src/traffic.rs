//! What hosts send, to whom, how much and when.

use std::num::NonZeroU32;

use codec::chars::CharBuf;
use codec::packet::Tag;
use codec::tick::Ticks;

use crate::topology::NodeId;

/// Packets from one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The host.
    pub from: NodeId,
    /// To whom.
    pub to: Destination,
    /// Their type. P-2
    pub tag: Tag,
    /// Bytes of payload.
    pub payload: Size,
    /// When.
    pub arrivals: Arrivals,
    /// Not before: periods of the full rate.
    pub start: u64,
    /// How many at most.
    pub packets: Option<u64>,
}

/// To whom packets go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To one host.
    One(NodeId),
    /// To any of these, all alike, never to the sender itself. At least one other.
    Among(Vec<NodeId>),
}

/// A law of payload sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// All alike.
    Fixed(u32),
    /// Any from the first to the last.
    Uniform(u32, u32),
    /// Small ones and, so many in 65 536, large ones.
    Bimodal {
        /// The small size.
        small: u32,
        /// The large size.
        large: u32,
        /// Large ones in 65 536.
        share: u16,
    },
}

/// A law of sending times, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// One every so many periods. Open loop.
    Constant(Ticks),
    /// At random, so many periods apart in the mean. Open loop.
    Poisson(Ticks),
    /// So many together, every so many periods. Open loop.
    Bursts(NonZeroU32, Ticks),
    /// As many as the link takes.
    Saturating,
    /// At most so many not answered; the next so long after an answer. Closed loop: the receiver
    /// answers each with one of the same size.
    Closed(NonZeroU32, Ticks),
}

/// Characters that a host's link is made to send, however broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The host.
    pub from: NodeId,
    /// Not before: periods of the full rate.
    pub at: u64,
    /// Data and GAP go through flow control, other control codes go out as they stand.
    pub chars: CharBuf,
}
