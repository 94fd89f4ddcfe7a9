//! What a channel is doing, as intervals that follow each other without a gap. F-1, F-7, R-2, L

use codec::capture::ChannelId;
use codec::tick::Tick;

use crate::timeline::What;

/// What a channel is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Not known until the channel has been understood: at the start, after a hole.
    Unknown,
    /// Nothing for 16 periods. F-7
    Open,
    /// Data is dropped from FRES to GAP. R-2
    Reset,
    /// Its sender must not send data. F-1
    Stopped,
    /// Bytes of a packet pass.
    Sending,
    /// A packet has begun and not ended, its sender may send, and no bytes come: it is held up at its
    /// source.
    Starved,
    /// Between packets.
    Idle,
}

/// A stretch of a channel in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The channel.
    pub channel: ChannelId,
    /// Its first character.
    pub start: Tick,
    /// The one after its last.
    pub end: Tick,
    /// The state.
    pub state: State,
}

/// The states of one channel.
#[derive(Clone, Debug)]
pub struct States {
    channel: ChannelId,
}

impl States {
    /// A channel before its first character.
    #[must_use]
    pub const fn new(channel: ChannelId) -> Self {
        Self { channel }
    }

    /// Takes the channel's next row; rows come in order of time.
    pub fn row(&mut self, _at: Tick, _what: &What, _out: &mut impl FnMut(Interval)) {}

    /// The recording ends.
    pub fn finish(&mut self, _out: &mut impl FnMut(Interval)) {}
}
