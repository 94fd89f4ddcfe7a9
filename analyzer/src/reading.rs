//! A capture file read to its end through the stages of this crate: what every view starts from.

use std::collections::BTreeMap;
use std::io::Read;

use codec::capture::{CaptureError, Channel, ChannelId, Fault, Item, Progress, Reader};

use crate::packet::Bytes;
use crate::tally::{ChannelPlace, Tally};
use crate::timeline::{Row, Timeline, Want};
use crate::window::Window;

/// What a step through a capture says.
#[derive(Debug)]
pub enum Said<'a> {
    /// Something on a channel.
    Row(&'a Channel, Row),
    /// Something wrong with the file, that reading went past.
    Fault(Fault),
}

/// The rows of a capture, all channels in order of time; section after section.
#[derive(Debug)]
pub struct Rows<R> {
    reader: Reader<R>,
    timeline: Timeline,
    channels: BTreeMap<ChannelId, Channel>,
}

impl<R: Read> Rows<R> {
    /// The names of the channels so far, those of all sections.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.channels.values().map(|channel| channel.name.as_str())
    }

    /// The rows of a capture that are wanted.
    pub fn new(capture: R, want: Want, bytes: Bytes) -> Self {
        Self {
            reader: Reader::new(capture),
            timeline: Timeline::new(want, bytes),
            channels: BTreeMap::new(),
        }
    }

    /// Reads a block, and hands out what has become certain by it.
    ///
    /// # Errors
    /// Those of [`Reader::step`], after everything before them has been handed out.
    pub fn step(&mut self, out: &mut impl FnMut(Said<'_>)) -> Result<Progress, CaptureError> {
        let Self { reader, timeline, channels } = self;
        let result = reader.step(&mut |item| match item {
            Item::Section => {
                timeline.finish(&mut |row| hand_out(channels, row, out));
            }
            Item::Channel(id, channel) => {
                timeline.declare(id, channel);
                channels.insert(id, channel.clone());
            }
            Item::Link(one, other) => timeline.link(one, other),
            Item::Chunk(id, chunk) => {
                timeline.feed(id, &chunk, &mut |row| hand_out(channels, row, out));
            }
            Item::Fault(fault) => out(Said::Fault(fault)),
        });
        if !matches!(result, Ok(Progress::More)) {
            timeline.finish(&mut |row| hand_out(channels, row, out));
        }
        result
    }
}

fn hand_out(channels: &BTreeMap<ChannelId, Channel>, row: Row, out: &mut impl FnMut(Said<'_>)) {
    if let Some(channel) = channels.get(&row.channel) {
        out(Said::Row(channel, row));
    }
}

/// The counts of a capture's channels, those of all sections.
#[derive(Debug)]
pub struct Tallies<R> {
    reader: Reader<R>,
    channels: BTreeMap<ChannelId, Counted>,
}

/// A channel and what it carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The channel.
    pub channel: Channel,
    /// The opposite channel.
    pub peer: Option<ChannelId>,
    /// The counts.
    pub tally: Tally,
}

impl Counted {
    /// The channel's place in the rows of `docs/output.md`.
    #[must_use]
    pub fn place(&self, id: ChannelId) -> ChannelPlace<'_> {
        ChannelPlace {
            index: id.0,
            name: &self.channel.name,
            peer: self.peer.map(|peer| peer.0),
            period_ps: self.channel.period_ps.get(),
        }
    }
}

impl<R: Read> Tallies<R> {
    /// The counts of a capture before its first block.
    pub fn new(capture: R) -> Self {
        Self { reader: Reader::new(capture), channels: BTreeMap::new() }
    }

    /// Reads a block. What `window` keeps of each chunk is counted: see [`Window::ALL`].
    ///
    /// # Errors
    /// Those of [`Reader::step`]; what was counted before stays.
    pub fn step(
        &mut self,
        window: &Window,
        out: &mut impl FnMut(Fault),
    ) -> Result<Progress, CaptureError> {
        let Self { reader, channels } = self;
        reader.step(&mut |item| match item {
            Item::Section => {}
            Item::Channel(id, channel) => {
                let tally = Tally::default();
                let counted = Counted { channel: channel.clone(), peer: None, tally };
                channels.insert(id, counted);
            }
            Item::Link(one, other) => {
                for (id, peer) in [(one, other), (other, one)] {
                    if let Some(counted) = channels.get_mut(&id) {
                        counted.peer = Some(peer);
                    }
                }
            }
            Item::Chunk(id, chunk) => {
                if let Some(counted) = channels.get_mut(&id) {
                    let (from, to) = window.on(&counted.channel);
                    for part in chunk.between(from, to) {
                        counted.tally.feed(&part);
                    }
                }
            }
            Item::Fault(fault) => out(fault),
        })
    }

    /// The channels so far, in order of their numbers.
    pub const fn channels(&self) -> &BTreeMap<ChannelId, Counted> {
        &self.channels
    }

    /// Forgets the channels that are not wanted.
    pub fn keep(&mut self, mut wanted: impl FnMut(ChannelId, &Counted) -> bool) {
        self.channels.retain(|id, counted| wanted(*id, counted));
    }

    /// Interfaces of another link type so far.
    pub fn skipped_interfaces(&self) -> u64 {
        self.reader.skipped_interfaces()
    }
}
