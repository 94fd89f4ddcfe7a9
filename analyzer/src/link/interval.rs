//! The activity of a channel, and the intervals that it lasts.
//!
//! If several activities apply to a character, the order is: open, reset, stopped; then the others,
//! which are reported only once framing and flow control are known.

use crate::named_enum::named_enum;
use codec::capture::ChannelId;
use codec::time::{OPEN_LINK, Tick, Ticks};

/// The longest pause inside a packet that counts as sending, in periods. *Chosen*: symbols take a
/// period or two at each sender on the packet's path (F-6), and a link of half the rate leaves every
/// other period to fill; none of that lasts 16 periods, which means silence (F-7). A stopped source
/// pauses for about two cable delays plus h, which is more than 16.
pub(crate) const PAUSE_MAX: u64 = OPEN_LINK.0;

named_enum! {
    /// The activity of a channel.
    pub enum ChannelActivity {
        /// Framing or flow control is not known: at the start, after a hole. Open, reset and stopped are
        /// detected before that.
        Unknown = "unknown",
        /// Silent for 16 periods. F-7
        Open = "open",
        /// Data is dropped from FRES to GAP. R-2
        Reset = "reset",
        /// Its sender must not send data; data in transit still arrives. F-1
        Stopped = "stopped",
        /// A packet passes, without a pause of more than 16 periods.
        Sending = "sending",
        /// A packet has begun and not ended, its sender may send, and no bytes come: its source delays it.
        Starved = "starved",
        /// Between packets.
        Idle = "idle",
    }
}

impl ChannelActivity {
    /// Index in [`ChannelActivity::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// An interval in which the activity of a channel does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivityInterval {
    /// The channel.
    pub channel: ChannelId,
    /// Its first character.
    pub start: Tick,
    /// The character after its last.
    pub end: Tick,
    /// The activity.
    pub state: ChannelActivity,
}

/// Knowledge of a channel's life and framing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WireState {
    #[default]
    Unknown,
    /// Characters come, and framing is known.
    Alive,
    /// Silent for 16 periods. F-7
    Open,
}

/// Periods spent in each of `N` states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodTotals<const N: usize>([u64; N]);

impl<const N: usize> Default for PeriodTotals<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> PeriodTotals<N> {
    pub(super) fn add(&mut self, index: usize, periods: Ticks) {
        if let Some(time) = self.0.get_mut(index) {
            *time += periods.0;
        }
    }

    /// The totals.
    pub const fn periods(&self) -> &[u64; N] {
        &self.0
    }
}
