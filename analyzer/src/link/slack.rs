//! How full the slack buffer at the far end of a channel is: never known, always bounded. F-3..F-5, F-9

use codec::capture::{Channel, ChannelId};
use codec::tick::Tick;

use crate::timeline::What;

/// What is taken for granted about links whose captures do not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {}

/// Bounds of a fill, over a stretch of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The channel whose far receiver it is about.
    pub channel: ChannelId,
    /// The first period, on the clock of the far receiver: when a character sent at place `start -
    /// delay` arrives there, if the tap is at the sender's end.
    pub start: Tick,
    /// The period after the last.
    pub end: Tick,
    /// At least so many cells are full.
    pub lo: u32,
    /// At most so many.
    pub hi: u32,
}

/// Something about a slack buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlackSaid {
    /// Its bounds over a stretch.
    Fill(Fill),
}

impl SlackSaid {
    /// The channel whose far receiver it is about.
    #[must_use]
    pub const fn channel(&self) -> ChannelId {
        match self {
            Self::Fill(fill) => fill.channel,
        }
    }

    /// When it became known: a place on the channel.
    #[must_use]
    pub const fn at(&self) -> Tick {
        match self {
            Self::Fill(fill) => fill.end,
        }
    }
}

/// The slack buffer at the far end of one channel.
#[derive(Clone, Debug)]
pub struct Slack {
    channel: ChannelId,
}

impl Slack {
    /// The buffer before the channel's first character.
    #[must_use]
    pub fn new(id: ChannelId, _channel: &Channel, _assumptions: &Assumptions) -> Self {
        Self { channel: id }
    }

    /// Takes the next row of its channel.
    pub fn own(&mut self, _at: Tick, _what: &What, _out: &mut impl FnMut(SlackSaid)) {}

    /// Takes the next row of the opposite channel, at a place of its own channel.
    pub fn opposite(&mut self, _at: Tick, _what: &What, _out: &mut impl FnMut(SlackSaid)) {}

    /// The recording ends.
    pub fn finish(&mut self, _out: &mut impl FnMut(SlackSaid)) {}
}
