//! Waits as rows of `docs/output.md`.

use crate::event::Picoseconds;
use codec::capture::{Channel, ChannelId};
use serde::Serialize;

use super::{BlockingEvent, Deadlock, DeadlockRelease, StopEnd, StopReport, WaitRoot};
use crate::channel_name::ChannelEnds;

/// Row of `myriscope blocking`, as specified in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BlockedRow<'a> {
    /// A stop of a channel's sender.
    Stop(StopRow<'a>),
    /// A deadlock.
    Deadlock(DeadlockRow<'a>),
}

/// A stop of a channel's sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StopRow<'a> {
    /// [`StopReport::number`].
    pub number: u64,
    /// Name of the channel.
    pub channel: &'a str,
    /// Period of the channel at which it began.
    pub start: u64,
    /// Period of the channel at which it ended.
    pub end: u64,
    /// Duration in periods of the channel.
    pub periods: u64,
    /// [`StopEnd::name`].
    pub ended_by: &'static str,
    /// True if the blocked-packet timeout ended it. R-4
    pub timeout: bool,
    /// Number of the packet at the head of the input behind the channel.
    pub packet: Option<u64>,
    /// Names of the channels of the wait chain.
    pub chain: Vec<&'a str>,
    /// [`StopReport::behind`].
    pub behind: Option<u64>,
    /// [`WaitRoot::name`].
    pub root: &'static str,
    /// Name of the node at which the chain ends, if known.
    pub node: Option<String>,
    /// [`StopReport::holders`].
    pub holders: Vec<HolderRow<'a>>,
}

/// An input whose packets held the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HolderRow<'a> {
    /// Name of the channel that leads to the input.
    pub channel: &'a str,
    /// Number of packets.
    pub packets: u64,
}

/// A deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadlockRow<'a> {
    /// Names of the channels: each waits for the next, the last for the first.
    pub channels: Vec<&'a str>,
    /// Period of the first channel at which the cycle closed.
    pub start: u64,
    /// Period of the first channel at which it ended.
    pub end: u64,
    /// Duration in periods of the first channel.
    pub periods: u64,
    /// [`DeadlockRelease::name`]; null if the deadlock lasted to the end of the recording.
    pub broken_by: Option<&'static str>,
    /// Name of the channel whose wait ended first.
    pub broken_at: Option<&'a str>,
}

impl StopEnd {
    /// Name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resumed(by) => by.name(),
            Self::Hole => "hole",
            Self::CaptureEnd => "capture-end",
        }
    }
}

impl WaitRoot {
    /// Name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Busy => "busy",
            Self::Switch => "switch",
            Self::Cycle => "deadlock",
            Self::OpenLink => "open-link",
            Self::OutOfSight => "out-of-sight",
        }
    }
}

impl DeadlockRelease {
    /// Name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resumed(by) => by.name(),
            Self::Dropped => "dropped",
            Self::Hole => "hole",
        }
    }
}

impl StopReport {
    /// The channel at whose far end the chain ends.
    #[must_use]
    pub fn last(&self) -> ChannelId {
        self.chain.last().copied().unwrap_or(self.channel)
    }
}

impl BlockingEvent {
    /// Channel to which its periods refer.
    #[must_use]
    pub fn channel(&self) -> ChannelId {
        match self {
            Self::Stop(stop) => stop.channel,
            Self::Deadlock(deadlock) => deadlock.channels.first().copied().unwrap_or_default(),
        }
    }

    /// Converts the event to a row; `known` looks up channels.
    #[must_use]
    pub fn row<'a>(&self, known: &impl Fn(ChannelId) -> Option<&'a Channel>) -> BlockedRow<'a> {
        let name = |id: ChannelId| known(id).map_or("", |channel| channel.name.as_str());
        let names = |ids: &[ChannelId]| ids.iter().map(|id| name(*id)).collect();
        let place = |id: ChannelId, time: Picoseconds| {
            let period = known(id).map_or(1, |channel| channel.period_ps.get());
            u64::try_from(time / Picoseconds::from(period)).unwrap_or(u64::MAX)
        };
        match self {
            Self::Stop(stop) => BlockedRow::Stop(StopRow {
                number: stop.number,
                channel: name(stop.channel),
                start: place(stop.channel, stop.since),
                end: place(stop.channel, stop.until),
                periods: stop.periods,
                ended_by: stop.ended.name(),
                timeout: stop.timed_out(),
                packet: stop.packet,
                chain: names(&stop.chain),
                behind: stop.behind,
                root: stop.root.name(),
                node: known(stop.last()).and_then(|channel| stop.root.node(channel)),
                holders: stop
                    .holders
                    .iter()
                    .map(|it| HolderRow { channel: name(it.channel), packets: it.packets })
                    .collect(),
            }),
            Self::Deadlock(Deadlock { channels, since, until, periods, broken }) => {
                let first = channels.first().copied().unwrap_or_default();
                BlockedRow::Deadlock(DeadlockRow {
                    channels: names(channels),
                    start: place(first, *since),
                    end: place(first, *until),
                    periods: *periods,
                    broken_by: broken.map(|(_, how)| how.name()),
                    broken_at: broken.map(|(by, _)| name(by)),
                })
            }
        }
    }
}

impl WaitRoot {
    /// Name of the node that is the cause, or the last known one: the node behind the last channel
    /// of the chain, or the node before it if the channel itself is the obstacle.
    fn node(self, last: &Channel) -> Option<String> {
        let way = ChannelEnds::of(last)?;
        match self {
            Self::Host | Self::OutOfSight => Some(way.to.node),
            Self::Busy | Self::Switch | Self::OpenLink | Self::Cycle => Some(way.from.node),
        }
    }
}
