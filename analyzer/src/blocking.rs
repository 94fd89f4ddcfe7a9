//! Who waits for whom, since when, and why: trees of stopped channels, their roots, and cycles. F-1, S-3, R-4

use codec::capture::{Channel, ChannelId};

use crate::path::Paths;
use crate::timeline::{Row, Time};

/// A wait that has come to an end, or was going on when the recording ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The channel that was stopped.
    pub channel: ChannelId,
    /// When it was stopped.
    pub since: Time,
    /// When it might go on.
    pub until: Time,
    /// The channels that it waited for, one for the other, the nearest first.
    pub chain: Vec<ChannelId>,
    /// What the last of them was held up by.
    pub root: Root,
}

/// Why the last channel of a chain could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The host behind it took nothing.
    Host,
    /// It was busy with packets of others: no more than saturation.
    Busy,
    /// It waited for the first: deadlock.
    Cycle,
    /// What comes next was not captured.
    OutOfSight,
}

/// Watches who waits for whom.
#[derive(Debug, Default)]
pub struct Blocking {}

impl Blocking {
    /// Adds a channel.
    pub fn declare(&mut self, _id: ChannelId, _channel: &Channel) {}

    /// Takes the next row of any channel, after `paths` has.
    pub fn row(&mut self, _row: &Row, _paths: &Paths, _out: &mut impl FnMut(Blocked)) {}

    /// The recording ends.
    pub fn finish(&mut self, _paths: &Paths, _out: &mut impl FnMut(Blocked)) {}
}
