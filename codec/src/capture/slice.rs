//! Cuts a part out of a capture: ranges of characters of some channels, with the state of each at its start.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use super::channel::{Channel, ChannelId};
use super::chunk::Chunk;
use super::error::{CaptureError, CaptureFault};
use super::item::CaptureItem;
use super::ordered_output::WaitingChunks;
use super::reader::{CaptureReader, ReadProgress};
use super::start_state::StartState;
use super::start_tracker::StartTracker;
use super::writer::{ByteOrder, CaptureWriter, WriteError};
use crate::time::Tick;

/// Reciprocal of the part of the time by which later blocks may be earlier: twice what a reader accepts. W-6
const CLOCKS_APART: u128 = 2_500;

/// Contents of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceCounts {
    /// Channels.
    pub channels: u64,
    /// Characters.
    pub characters: u64,
}

/// Error of [`slice()`].
#[derive(Debug, thiserror::Error)]
pub enum SliceError {
    /// The input is damaged, or no capture.
    #[error(transparent)]
    Read(#[from] CaptureError),
    /// The output could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Cuts a capture. `select` returns the range of a channel: its first character and the first behind the last
/// one, or nothing for a channel that is left out. Ends inside chunks are exact.
///
/// The description of each channel keeps its state at the start: see [`StartState`]. Reading ends after the last
/// range. Memory: a chunk and a state for each channel.
///
/// # Errors
/// The input is damaged before the end of the ranges, or the output cannot be written; it is incomplete then.
pub fn slice<W: Write>(
    input: impl Read,
    output: W,
    select: &mut impl FnMut(&Channel) -> Option<(Tick, Tick)>,
    fault: &mut impl FnMut(CaptureFault),
) -> Result<(W, SliceCounts), SliceError> {
    let mut reader = CaptureReader::new(input);
    let mut cutter = CaptureCutter {
        channels: BTreeMap::new(),
        writer: CaptureWriter::new(output, ByteOrder::Little, &[])?,
        waiting: WaitingChunks::default(),
        header: SliceHeader::Due,
        newest: 0,
        done: SliceCounts::default(),
    };
    loop {
        let mut failed = None;
        let progress = reader.step(&mut |item| {
            let result = match item {
                CaptureItem::Section => Ok(()),
                CaptureItem::Channel(id, channel) => cutter.declare(id, channel, select(channel)),
                CaptureItem::Link(one, other) => {
                    cutter.join(one, other);
                    Ok(())
                }
                CaptureItem::Chunk(id, chunk) => cutter.chunk(id, &chunk),
                CaptureItem::Fault(found) => {
                    fault(found);
                    Ok(())
                }
            };
            failed = failed.take().or(result.err());
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        if progress == ReadProgress::Done || cutter.is_complete() {
            return Ok(cutter.finish()?);
        }
    }
}

#[derive(Debug)]
struct CaptureCutter<W: Write> {
    channels: BTreeMap<ChannelId, CutChannel>,
    writer: CaptureWriter<W>,
    /// Parts of chunks that are not written yet.
    waiting: WaitingChunks,
    header: SliceHeader,
    /// Start of the newest chunk in picoseconds.
    newest: u128,
    done: SliceCounts,
}

/// Descriptions of the channels in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SliceHeader {
    /// Not written: characters before a start may still come.
    Due,
    Written,
}

#[derive(Debug)]
struct CutChannel {
    channel: Channel,
    peer: Option<ChannelId>,
    tracker: StartTracker,
    /// Number in the output, first character, and the first behind the last one.
    selected: Option<(ChannelId, Tick, Tick)>,
}

impl CutChannel {
    fn time(&self, at: Tick) -> u128 {
        u128::from(at.0) * u128::from(self.channel.period_ps.get())
    }
}

impl<W: Write> CaptureCutter<W> {
    fn declare(
        &mut self,
        id: ChannelId,
        channel: &Channel,
        range: Option<(Tick, Tick)>,
    ) -> Result<(), WriteError> {
        let number = ChannelId(u32::try_from(self.done.channels).unwrap_or(u32::MAX));
        let selected = range.map(|(from, to)| (number, from, to));
        self.done.channels += u64::from(range.is_some());
        let tracker = StartTracker::new(StartState::of(channel));
        let channel = channel.clone();
        let cut = CutChannel { channel, peer: None, tracker, selected };
        if self.header == SliceHeader::Written && range.is_some() {
            // Its number is that of its declaration.
            let mut channel = Channel { peer: None, ..cut.channel.clone() };
            StartState::remove(&mut channel);
            self.writer.declare(&channel)?;
        }
        self.channels.insert(id, cut);
        Ok(())
    }

    fn join(&mut self, one: ChannelId, other: ChannelId) {
        for (id, peer) in [(one, other), (other, one)] {
            self.channels.get_mut(&id).into_iter().for_each(|it| it.peer = Some(peer));
        }
    }

    fn chunk(&mut self, id: ChannelId, chunk: &Chunk<'_>) -> Result<(), WriteError> {
        let Some(channel) = self.channels.get(&id) else { return Ok(()) };
        let start = channel.time(chunk.first);
        self.newest = self.newest.max(start);
        if self.header == SliceHeader::Due {
            let cut = self.channels.values();
            let cut = cut.filter_map(|it| it.selected.map(|(_, from, _)| it.time(from))).max();
            if cut.is_none_or(|cut| start > cut) {
                self.write_header()?;
            }
        }
        let Some(channel) = self.channels.get_mut(&id) else { return Ok(()) };
        if self.header == SliceHeader::Due {
            // An opposite channel that is left out has its part in the state of the other one.
            let cut = channel.selected.map_or(chunk.end(), |(_, from, _)| from);
            chunk.between(Tick(0), cut).for_each(|part| channel.tracker.feed(&part));
        }
        if let Some((number, from, to)) = channel.selected {
            for part in chunk.between(from, to) {
                self.done.characters = self.done.characters.saturating_add(part.periods());
                self.waiting.add(number, channel.time(part.first), &part);
            }
        }
        match self.header {
            SliceHeader::Due => Ok(()),
            SliceHeader::Written => self.waiting.write_until(self.newest, &mut self.writer),
        }
    }

    /// Declares the channels with their states.
    fn write_header(&mut self) -> Result<(), WriteError> {
        self.header = SliceHeader::Written;
        for cut in self.channels.values() {
            let Some((_, from, _)) = cut.selected else { continue };
            let peer = cut.peer.and_then(|peer| self.channels.get(&peer));
            let number = peer.and_then(|peer| peer.selected).map(|(number, ..)| number.0);
            let mut channel = Channel { peer: number, ..cut.channel.clone() };
            let state = cut.tracker.state(from, peer.map(|peer| &peer.tracker));
            let is_cut = from > Tick(0) && StartState::of(&channel).is_none_or(|it| it.at < from);
            match state {
                Some(state) => state.describe(&mut channel),
                None if is_cut => StartState::remove(&mut channel),
                None => {}
            }
            self.writer.declare(&channel)?;
        }
        Ok(())
    }

    /// True if all ranges end before every chunk that can follow.
    fn is_complete(&self) -> bool {
        let selected = self.channels.values().filter_map(|it| it.selected.map(|range| (it, range)));
        let end = selected.map(|(it, (.., to))| it.time(to)).max();
        // A nanosecond, and drift.
        end.is_some_and(|end| self.newest > end + end / CLOCKS_APART + 1000)
    }

    fn finish(mut self) -> Result<(W, SliceCounts), WriteError> {
        if self.header == SliceHeader::Due {
            self.write_header()?;
        }
        self.waiting.write_until(u128::MAX, &mut self.writer)?;
        Ok((self.writer.finish()?, self.done))
    }
}
