//! Events and counters of a capture file, read from beginning to end.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use codec::capture::{
    CaptureError, CaptureFault, CaptureItem, CaptureReader, Channel, ChannelId, ReadProgress,
};
use codec::time::Tick;

use crate::counters::{ChannelCounters, CountersRow};
use crate::event::TimedEvent;
use crate::packet::ByteRetention;
use crate::timeline::{EventFilter, EventTimeline};
use crate::window::TimeWindow;

/// An item of an [`EventReader`].
#[derive(Debug)]
pub enum ReadItem<'a> {
    /// An event on a channel.
    Row(&'a Channel, TimedEvent),
    /// A fault of the file, which was skipped.
    Fault(CaptureFault),
}

/// Reads the events of a capture: all channels in order of time, section after section.
#[derive(Debug)]
pub struct EventReader<R> {
    reader: CaptureReader<R>,
    timeline: EventTimeline,
    channels: BTreeMap<ChannelId, Arc<Channel>>,
}

impl<R: Read> EventReader<R> {
    /// The channels so far, in all sections.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> + Clone {
        self.channels.values().map(|channel| &**channel)
    }

    /// The channel of the chunk that ends last, and the end of that chunk.
    pub fn latest(&self) -> Option<(&Channel, Tick)> {
        let (_, id, end) = self.reader.extent().latest?;
        Some((self.channels.get(&id)?, end))
    }

    /// Reads the selected events of a capture.
    pub fn new(capture: R, filter: EventFilter, bytes: ByteRetention) -> Self {
        Self::of_reader(CaptureReader::new(capture).with_virtual_channels(None), filter, bytes)
    }

    /// Reads the selected events of what a reader reads.
    pub fn of_reader(reader: CaptureReader<R>, filter: EventFilter, bytes: ByteRetention) -> Self {
        Self { reader, timeline: EventTimeline::new(filter, bytes), channels: BTreeMap::new() }
    }

    /// Reads a block, and emits the events that are complete.
    ///
    /// # Errors
    /// Those of [`CaptureReader::step`], after everything before them has been emitted.
    pub fn step(
        &mut self,
        out: &mut dyn FnMut(ReadItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, timeline, channels } = self;
        let result = reader.step(&mut |item| take(timeline, channels, item, out));
        if !matches!(result, Ok(ReadProgress::More)) {
            take(timeline, channels, CaptureItem::Section, out);
        }
        result
    }
}

/// Takes an item, compiled once for streams of every type. A section ends what precedes it.
fn take(
    timeline: &mut EventTimeline,
    channels: &mut BTreeMap<ChannelId, Arc<Channel>>,
    item: CaptureItem<'_>,
    out: &mut dyn FnMut(ReadItem<'_>),
) {
    let mut emit = |channels: &BTreeMap<ChannelId, Arc<Channel>>, event: TimedEvent| {
        if let Some(channel) = channels.get(&event.channel) {
            out(ReadItem::Row(channel, event));
        }
    };
    match item {
        CaptureItem::Section => timeline.finish(&mut |event| emit(channels, event)),
        CaptureItem::Channel(id, channel) => {
            timeline.declare(id, channel);
            channels.insert(id, channel.clone());
        }
        CaptureItem::Link(one, other) => timeline.link(one, other),
        CaptureItem::Chunk(id, chunk) => {
            timeline.feed(id, &chunk, &mut |event| emit(channels, event));
        }
        CaptureItem::Fault(fault) => out(ReadItem::Fault(fault)),
    }
}

/// Reads the counters of a capture's channels, in all sections.
#[derive(Debug)]
pub struct CounterReader<R> {
    reader: CaptureReader<R>,
    channels: BTreeMap<ChannelId, CountedChannel>,
}

/// A channel and its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedChannel {
    /// The channel.
    pub channel: Arc<Channel>,
    /// The opposite channel.
    pub peer: Option<ChannelId>,
    /// The counters.
    pub counters: ChannelCounters,
}

impl CountedChannel {
    /// The row of `docs/output.md`.
    pub fn row(&self, id: ChannelId) -> CountersRow<'_> {
        self.counters.row(id, &self.channel, self.peer)
    }
}

impl<R: Read> CounterReader<R> {
    /// Counters before the first block of a capture.
    pub fn new(capture: R) -> Self {
        Self::of_reader(CaptureReader::new(capture).with_virtual_channels(None))
    }

    /// Counters of what a reader reads.
    pub fn of_reader(reader: CaptureReader<R>) -> Self {
        Self { reader, channels: BTreeMap::new() }
    }

    /// Reads a block, and counts the part of each chunk that is inside the window.
    ///
    /// # Errors
    /// Those of [`CaptureReader::step`]; the counters so far stay valid.
    pub fn step(
        &mut self,
        window: &TimeWindow,
        out: &mut impl FnMut(CaptureFault),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, channels } = self;
        reader.step(&mut |item| match item {
            CaptureItem::Section => {}
            CaptureItem::Channel(id, channel) => {
                let (channel, counters) = (channel.clone(), ChannelCounters::of(channel));
                channels.insert(id, CountedChannel { channel, peer: None, counters });
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
                    chunk.between(from, to).for_each(|part| counted.counters.feed(&part));
                }
            }
            CaptureItem::Fault(fault) => out(fault),
        })
    }

    /// The channels so far, in order of their numbers.
    pub const fn channels(&self) -> &BTreeMap<ChannelId, CountedChannel> {
        &self.channels
    }

    /// The channel of the chunk that ends last, and the end of that chunk.
    pub fn latest(&self) -> Option<(&Channel, Tick)> {
        let (_, id, end) = self.reader.extent().latest?;
        Some((&self.channels.get(&id)?.channel, end))
    }

    /// Removes the channels that a predicate rejects.
    pub fn keep(&mut self, mut keeps: impl FnMut(ChannelId, &CountedChannel) -> bool) {
        self.channels.retain(|id, counted| keeps(*id, counted));
    }

    /// Number of interfaces of another link type so far.
    pub fn skipped_interfaces(&self) -> u64 {
        self.reader.skipped_interfaces()
    }
}
