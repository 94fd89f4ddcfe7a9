//! Waits as rows of `docs/output.md`.

use crate::event::{Picoseconds, ResumeCause};
use codec::capture::{Channel, ChannelId};
use codec::time::CharacterPeriod;
use serde::Serialize;
use serde_json::Value;

use super::{BlockingEvent, Deadlock, DeadlockRelease, StopEnd, StopReport, WaitRoot};
use crate::channel_name::ChannelEnds;
use crate::row::FieldShape::{Place, Words};
use crate::row::{FieldType, ListRow, RowField, RowPlace, json, row, write_json};

/// Row of `myriscope blocking`, as specified in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BlockedRow<'a> {
    /// A stop of a channel's sender.
    Stop(StopRow<'a>),
    /// A deadlock.
    Deadlock(DeadlockRow<'a>),
}

row! {
    /// A stop of a channel's sender.
    pub struct StopRow<'a> at (start, end) {
        number: u64, "", "", "of a stop: counts from 0 in order of beginning";
        channel: &'a str, "", "", "name of the channel";
        start: u64 as Place, "characters", "F-1", "where it began";
        end: u64 as Place, "characters", "F-2", "where it ended";
        periods: u64 as Place, "characters", "R-4", "how long it took";
        ended_by: &'static str as Words(ENDED_BY), "", "F-2", "what ended a stop";
        timeout: bool, "", "R-4", "whether the blocked-packet timeout ended it";
        packet: Option<u64>, "", "S-3", "the packet at the head of the input behind it";
        chain: Vec<&'a str>, "", "S-3", "channels waited for, one for the other";
        behind: Option<u64>, "", "", "number of the stop of the first of the chain";
        root: &'static str as WaitRoot::SHAPE, "", "", "what the last of the chain was held up by";
        node: Option<String>, "", "", "the node at which the chain ends";
        holders: Vec<HolderRow<'a>>, "inputs", "S-3", "inputs whose packets had the output" => HolderRow::FIELDS;
    }
}

row! {
    /// An input whose packets held the output.
    pub struct HolderRow<'a> {
        channel: &'a str, "", "", "the channel to that input";
        packets: u64, "packets", "", "how many of its packets";
    }
}

row! {
    /// A deadlock.
    pub struct DeadlockRow<'a> at (start, end) {
        channels: Vec<&'a str>, "", "R-4", "of a deadlock: each waits for the next";
        start: u64: "Period of the first channel at which the cycle closed.";
        end: u64: "Period of the first channel at which it ended.";
        periods: u64: "Duration in periods of the first channel.";
        broken_by: Option<&'static str> as Words(BROKEN_BY), "", "R-4", "what broke a deadlock";
        broken_at: Option<&'a str>, "", "R-4", "the channel that went on then";
    }
}

impl BlockedRow<'_> {
    /// The member that distinguishes the rows.
    pub const FIELDS: &'static [RowField] = &[RowField::new(
        "kind",
        Words(&["stop", "deadlock"]),
        "",
        "",
        "what waited: one sender, or several in a circle",
    )];
}

impl ListRow for BlockedRow<'_> {
    fn place(&self) -> RowPlace {
        match self {
            Self::Stop(row) => row.place(),
            Self::Deadlock(row) => row.place(),
        }
    }

    fn member(&self, name: &str) -> Option<Value> {
        match self {
            Self::Stop(_) if name == "kind" => Some("stop".into()),
            Self::Deadlock(_) if name == "kind" => Some("deadlock".into()),
            Self::Stop(row) => row.member(name),
            Self::Deadlock(row) => row.member(name),
        }
    }

    fn json(&self) -> Value {
        json(self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_json(self, out);
    }
}

const ENDED_BY: &[&str] = &[
    ResumeCause::Go.name(),
    ResumeCause::OpenLink.name(),
    ResumeCause::Reset.name(),
    StopEnd::Hole.name(),
    StopEnd::CaptureEnd.name(),
];

const BROKEN_BY: &[&str] = &[
    ResumeCause::Go.name(),
    ResumeCause::OpenLink.name(),
    ResumeCause::Reset.name(),
    DeadlockRelease::Dropped.name(),
    DeadlockRelease::Hole.name(),
];

impl StopEnd {
    /// Name in `docs/output.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resumed(by) => by.name(),
            Self::Hole => "hole",
            Self::CaptureEnd => "capture-end",
        }
    }
}

impl DeadlockRelease {
    /// Name in `docs/output.md`.
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
    pub fn last(&self) -> ChannelId {
        self.chain.last().copied().unwrap_or(self.channel)
    }
}

impl BlockingEvent {
    /// Channel to which its periods refer.
    pub fn channel(&self) -> ChannelId {
        match self {
            Self::Stop(stop) => stop.channel,
            Self::Deadlock(deadlock) => deadlock.channels.first().copied().unwrap_or_default(),
        }
    }

    /// Converts the event to a row; `known` looks up channels.
    pub fn row<'a>(&self, known: &impl Fn(ChannelId) -> Option<&'a Channel>) -> BlockedRow<'a> {
        let name = |id: ChannelId| known(id).map_or("", |channel| channel.name.as_str());
        let names = |ids: &[ChannelId]| ids.iter().map(|id| name(*id)).collect();
        let place = |id: ChannelId, time: Picoseconds| {
            let period = known(id).map_or(CharacterPeriod::PICOSECOND, |channel| channel.period);
            period.periods(time)
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
            Self::Deadlock(Deadlock { channels, since, until, periods, broken, .. }) => {
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
        let is_before = self.is_at_output() || self == Self::Cycle;
        Some(if is_before { way.from.node } else { way.to.node })
    }
}
