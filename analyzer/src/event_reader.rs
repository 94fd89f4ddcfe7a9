//! A capture file read to its end through the stages of this crate: what every view starts from.

use std::collections::BTreeMap;
use std::io::Read;

use codec::capture::{
    CaptureError, CaptureFault, CaptureItem, CaptureReader, Channel, ChannelId, ReadProgress,
};

use crate::counters::{ChannelCounters, ChannelLabel};
use crate::packet::ByteRetention;
use crate::timeline::{EventFilter, EventTimeline, TimedEvent};
use crate::window::TimeWindow;

/// What a step through a capture says.
#[derive(Debug)]
pub enum ReadItem<'a> {
    /// Something on a channel.
    Row(&'a Channel, TimedEvent),
    /// Something wrong with the file, that reading went past.
    Fault(CaptureFault),
}

/// The rows of a capture, all channels in order of time; section after section.
#[derive(Debug)]
pub struct EventReader<R> {
    reader: CaptureReader<R>,
    timeline: EventTimeline,
    channels: BTreeMap<ChannelId, Channel>,
}

impl<R: Read> EventReader<R> {
    /// The names of the channels so far, those of all sections.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.channels.values().map(|channel| channel.name.as_str())
    }

    /// The rows of a capture that are wanted.
    pub fn new(capture: R, want: EventFilter, bytes: ByteRetention) -> Self {
        Self {
            reader: CaptureReader::new(capture),
            timeline: EventTimeline::new(want, bytes),
            channels: BTreeMap::new(),
        }
    }

    /// Reads a block, and hands out what has become certain by it.
    ///
    /// # Errors
    /// Those of [`CaptureReader::step`], after everything before them has been handed out.
    pub fn step(
        &mut self,
        out: &mut impl FnMut(ReadItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, timeline, channels } = self;
        let result = reader.step(&mut |item| match item {
            CaptureItem::Section => {
                timeline.finish(&mut |row| hand_out(channels, row, out));
            }
            CaptureItem::Channel(id, channel) => {
                timeline.declare(id, channel);
                channels.insert(id, channel.clone());
            }
            CaptureItem::Link(one, other) => timeline.link(one, other),
            CaptureItem::Chunk(id, chunk) => {
                timeline.feed(id, &chunk, &mut |row| hand_out(channels, row, out));
            }
            CaptureItem::Fault(fault) => out(ReadItem::Fault(fault)),
        });
        if !matches!(result, Ok(ReadProgress::More)) {
            timeline.finish(&mut |row| hand_out(channels, row, out));
        }
        result
    }
}

fn hand_out(
    channels: &BTreeMap<ChannelId, Channel>,
    row: TimedEvent,
    out: &mut impl FnMut(ReadItem<'_>),
) {
    if let Some(channel) = channels.get(&row.channel) {
        out(ReadItem::Row(channel, row));
    }
}

/// The counts of a capture's channels, those of all sections.
#[derive(Debug)]
pub struct CounterReader<R> {
    reader: CaptureReader<R>,
    channels: BTreeMap<ChannelId, CountedChannel>,
}

/// A channel and what it carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedChannel {
    /// The channel.
    pub channel: Channel,
    /// The opposite channel.
    pub peer: Option<ChannelId>,
    /// The counts.
    pub tally: ChannelCounters,
}

impl CountedChannel {
    /// The channel's place in the rows of `docs/output.md`.
    #[must_use]
    pub fn place(&self, id: ChannelId) -> ChannelLabel<'_> {
        ChannelLabel {
            index: id.0,
            name: &self.channel.name,
            peer: self.peer.map(|peer| peer.0),
            period_ps: self.channel.period_ps.get(),
        }
    }
}

impl<R: Read> CounterReader<R> {
    /// The counts of a capture before its first block.
    pub fn new(capture: R) -> Self {
        Self { reader: CaptureReader::new(capture), channels: BTreeMap::new() }
    }

    /// Reads a block. What `window` keeps of each chunk is counted: see [`TimeWindow::ALL`].
    ///
    /// # Errors
    /// Those of [`CaptureReader::step`]; what was counted before stays.
    pub fn step(
        &mut self,
        window: &TimeWindow,
        out: &mut impl FnMut(CaptureFault),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, channels } = self;
        reader.step(&mut |item| match item {
            CaptureItem::Section => {}
            CaptureItem::Channel(id, channel) => {
                let tally = ChannelCounters::default();
                let counted = CountedChannel { channel: channel.clone(), peer: None, tally };
                channels.insert(id, counted);
            }
            CaptureItem::Link(one, other) => {
                for (id, peer) in [(one, other), (other, one)] {
                    if let Some(counted) = channels.get_mut(&id) {
                        counted.peer = Some(peer);
                    }
                }
            }
            CaptureItem::Chunk(id, chunk) => {
                if let Some(counted) = channels.get_mut(&id) {
                    let (from, to) = window.on(&counted.channel);
                    for part in chunk.between(from, to) {
                        counted.tally.feed(&part);
                    }
                }
            }
            CaptureItem::Fault(fault) => out(fault),
        })
    }

    /// The channels so far, in order of their numbers.
    pub const fn channels(&self) -> &BTreeMap<ChannelId, CountedChannel> {
        &self.channels
    }

    /// Forgets the channels that are not wanted.
    pub fn keep(&mut self, mut wanted: impl FnMut(ChannelId, &CountedChannel) -> bool) {
        self.channels.retain(|id, counted| wanted(*id, counted));
    }

    /// Interfaces of another link type so far.
    pub fn skipped_interfaces(&self) -> u64 {
        self.reader.skipped_interfaces()
    }
}
