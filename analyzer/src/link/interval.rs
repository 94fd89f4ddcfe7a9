//! What a channel may be doing, and a stretch of it.
//!
//! Of several things that are known of a character, the first of these counts: open, reset, stopped;
//! after them the others, which are told only once framing and flow control are known.

use codec::capture::ChannelId;
use codec::time::{OPEN_LINK, Tick};

/// The longest pause inside a packet that counts as sending, in periods. *Chosen*: symbols that are
/// due take a period or two at each sender on a packet's way (F-6), a link of half the rate leaves
/// every other period to fill, and none of that is 16 periods long, which is what silence means
/// (F-7); a source that is stopped makes a pause of about two cable delays and h, so more than 16.
pub const PAUSE_MAX: u64 = OPEN_LINK.0;

/// What a channel is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelActivity {
    /// Not known until the channel has been understood: at the start, after a hole. What is open, in
    /// reset or stopped is known before.
    Unknown,
    /// Nothing for 16 periods. F-7
    Open,
    /// Data is dropped from FRES to GAP. R-2
    Reset,
    /// Its sender must not send data; what was under way still comes. F-1
    Stopped,
    /// A packet passes, without a pause of more than [`PAUSE_MAX`].
    Sending,
    /// A packet has begun and not ended, its sender may send, and no bytes come: it is held up at its
    /// source.
    Starved,
    /// Between packets.
    Idle,
}

impl ChannelActivity {
    /// All, in order.
    pub const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Open,
        Self::Reset,
        Self::Stopped,
        Self::Sending,
        Self::Starved,
        Self::Idle,
    ];

    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Open => "open",
            Self::Reset => "reset",
            Self::Stopped => "stopped",
            Self::Sending => "sending",
            Self::Starved => "starved",
            Self::Idle => "idle",
        }
    }

    /// Place in [`ChannelActivity::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Unknown => 0,
            Self::Open => 1,
            Self::Reset => 2,
            Self::Stopped => 3,
            Self::Sending => 4,
            Self::Starved => 5,
            Self::Idle => 6,
        }
    }
}

/// A stretch of a channel in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivityInterval {
    /// The channel.
    pub channel: ChannelId,
    /// Its first character.
    pub start: Tick,
    /// The one after its last.
    pub end: Tick,
    /// The state.
    pub state: ChannelActivity,
}
