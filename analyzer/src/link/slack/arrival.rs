//! What comes at the tap about a slack buffer, and when that is for the far receiver.

use codec::time::Tick;

/// How periods of the tap and of the far receiver lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlackTiming {
    /// So many after its place a character arrives.
    pub(super) arrives: u64,
    /// So many before its place a command was decided.
    pub(super) decided: u64,
    /// So many after the decision no more data arrives, if it is STOP.
    pub(super) effective: u64,
    /// So many of these a STOP has been heard, and can still be forgotten by the sender's FRES. R-1
    pub(super) forgotten: u64,
}

/// Something about what the channel brings, at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntakeEvent {
    /// The mark that ends a packet, of a GAP,
    Gap(Tick),
    /// or of the open-link timeout. F-5, F-7
    LinkOpen(Tick),
    /// FRES. R-2
    Reset(Tick),
    /// From here on it is not known what enters,
    Lost(Tick),
    /// and from here on it is again.
    Found(Tick),
}

/// Something about what is commanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlackCommand {
    Go,
    Stop,
    /// Not recorded.
    Unseen,
    /// Silent for so long that the receiver may be without power. F-7
    Dark,
}

/// A stretch of what the channel brings, in periods of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferArrival {
    Data { start: u64, end: u64 },
    Mark(u64),
    Reset(u64),
    Lost(u64),
    Found(u64),
}

impl BufferArrival {
    /// When something changes next.
    pub(super) const fn next(self, now: u64) -> u64 {
        match self {
            Self::Data { start, end } if start == now => end,
            Self::Mark(at) if at == now => at + 1,
            Self::Data { start: at, .. }
            | Self::Mark(at)
            | Self::Reset(at)
            | Self::Lost(at)
            | Self::Found(at) => at,
        }
    }
}
