//! Joins captures by time and channel.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::num::NonZeroU64;

use super::channel::{Channel, ChannelId};
use super::chunk::{Chunk, ChunkContent};
use super::error::{CaptureError, CaptureFault};
use super::item::CaptureItem;
use super::ordered_output::{OwnedChunk, WaitingChunks};
use super::reader::{CaptureReader, ReadProgress};
use super::start_state::StartState;
use super::writer::{ByteOrder, CaptureWriter, WriteError};
use crate::character::Character;
use crate::time::Tick;

/// Error of [`merge`]; numbers of inputs count from 0.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// An input is damaged, or no capture.
    #[error("{1}")]
    Read(usize, #[source] CaptureError),
    /// An input has several captures, each with a time zero of its own.
    #[error("several captures in one file: cut out one of them with slice --capture")]
    SeveralCaptures(usize),
    /// Inputs differ about the same character of a channel.
    #[error(
        "channel {channel}, character {at} ({} ns): {found}, where a file before has {expected}",
        time_ps / 1000
    )]
    Differs {
        /// The input.
        input: usize,
        /// Name of the channel.
        channel: String,
        /// The first character that differs, and its time in picoseconds.
        at: Tick,
        /// Time of the character.
        time_ps: u128,
        /// The character in the input.
        found: Character,
        /// The character in an input before it in the list or in time.
        expected: Character,
    },
    /// The output could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes the characters of all inputs to one capture. A channel of the same name and period in several inputs
/// is one channel: its recordings must agree where they overlap. Returns the output, its numbers of channels and of
/// characters.
///
/// Memory: a chunk of each input for each channel.
///
/// # Errors
/// Inputs are damaged or differ, or the output cannot be written; it is incomplete then.
pub fn merge<R: Read, W: Write>(
    inputs: impl IntoIterator<Item = R>,
    output: W,
    fault: &mut impl FnMut(usize, CaptureFault),
) -> Result<(W, [u64; 2]), MergeError> {
    let mut merger = CaptureMerger {
        names: BTreeMap::new(),
        channels: Vec::new(),
        declared: 0,
        writer: CaptureWriter::new(output, ByteOrder::Little, &[])?,
        waiting: WaitingChunks::default(),
        characters: 0,
    };
    let mut inputs: Vec<MergeInput<R>> = inputs
        .into_iter()
        .enumerate()
        .map(|(number, stream)| MergeInput {
            number,
            reader: CaptureReader::new(stream),
            channels: BTreeMap::new(),
            next: None,
        })
        .collect();
    for input in &mut inputs {
        input.advance(&mut merger, fault)?;
    }
    loop {
        let starts = inputs.iter_mut().filter_map(|it| Some((it.next.as_ref()?.0, it)));
        let Some((start, input)) = starts.min_by_key(|(start, input)| (*start, input.number))
        else {
            break;
        };
        let number = input.number;
        let Some((_, id, chunk)) = input.next.take() else { break };
        merger.add((number, start), id, chunk)?;
        input.advance(&mut merger, fault)?;
    }
    merger.write_until(u128::MAX)?;
    let counts = [merger.channels.len() as u64, merger.characters];
    Ok((merger.writer.finish()?, counts))
}

#[derive(Debug)]
struct MergeInput<R> {
    number: usize,
    reader: CaptureReader<R>,
    /// Places of its channels in the output.
    channels: BTreeMap<ChannelId, usize>,
    /// The next chunk, its start in picoseconds and its channel in the output.
    next: Option<(u128, usize, OwnedChunk)>,
}

impl<R: Read> MergeInput<R> {
    /// Reads up to the next chunk.
    fn advance<W: Write>(
        &mut self,
        merger: &mut CaptureMerger<W>,
        fault: &mut impl FnMut(usize, CaptureFault),
    ) -> Result<(), MergeError> {
        let Self { number, reader, channels, next } = self;
        while next.is_none() {
            let mut has_several = false;
            let progress = reader.step(&mut |item| match item {
                CaptureItem::Section => {}
                CaptureItem::Channel(id, channel) => {
                    has_several |= channel.capture > 0;
                    channels.insert(id, merger.declare(channel));
                }
                CaptureItem::Link(one, other) => {
                    merger.join([one, other].map(|id| channels.get(&id)));
                }
                CaptureItem::Chunk(id, chunk) => {
                    *next = channels
                        .get(&id)
                        .map(|id| (merger.time(*id, chunk.first), *id, OwnedChunk::from(&chunk)));
                }
                CaptureItem::Fault(found) => fault(*number, found),
            });
            if has_several {
                return Err(MergeError::SeveralCaptures(*number));
            }
            match progress {
                Ok(ReadProgress::More) => {}
                Ok(ReadProgress::Done) => return Ok(()),
                Err(error) => return Err(MergeError::Read(*number, error)),
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct CaptureMerger<W: Write> {
    names: BTreeMap<(String, NonZeroU64), usize>,
    channels: Vec<MergedChannel>,
    /// Number of channels that have been declared in the output.
    declared: usize,
    writer: CaptureWriter<W>,
    waiting: WaitingChunks,
    characters: u64,
}

#[derive(Debug)]
struct MergedChannel {
    channel: Channel,
    /// Chunks that later ones of other inputs may overlap.
    recent: VecDeque<OwnedChunk>,
    end: Tick,
}

impl<W: Write> CaptureMerger<W> {
    /// Adds a channel of an input: to the one of the same name and period, if there is one.
    fn declare(&mut self, channel: &Channel) -> usize {
        let key = (channel.name.clone(), channel.period_ps);
        let place = *self.names.entry(key).or_insert(self.channels.len());
        let Some(MergedChannel { channel: known, .. }) = self.channels.get_mut(place) else {
            let channel = Channel { peer: None, ..channel.clone() };
            self.channels.push(MergedChannel { channel, recent: VecDeque::new(), end: Tick(0) });
            return place;
        };
        let states = [&*known, channel].map(StartState::of);
        for (key, value) in &channel.more {
            if known.more.iter().all(|(known, _)| known != key) {
                known.more.push((key.clone(), value.clone()));
            }
        }
        // That of the earliest recording; where it is not the first one, it applies to none.
        if let Some(state) = states.iter().flatten().min_by_key(|state| state.at) {
            state.describe(known);
        }
        let comments = channel.comments.iter().filter(|it| !known.comments.contains(it));
        let comments: Vec<String> = comments.cloned().collect();
        known.comments.extend(comments);
        known.tap = known.tap.take().or_else(|| channel.tap.clone());
        place
    }

    /// Pairs channels that are a link in an input.
    fn join(&mut self, places: [Option<&usize>; 2]) {
        let [Some(one), Some(other)] = places else { return };
        for (place, peer) in [(one, other), (other, one)] {
            if let Some(known) = self.channels.get_mut(*place) {
                known.channel.peer = known.channel.peer.or_else(|| u32::try_from(*peer).ok());
            }
        }
    }

    fn time(&self, place: usize, at: Tick) -> u128 {
        let period = self.channels.get(place).map_or(1, |it| it.channel.period_ps.get());
        u128::from(at.0) * u128::from(period)
    }

    /// Adds the chunk of an input that begins first of all.
    fn add(
        &mut self,
        (input, start): (usize, u128),
        place: usize,
        chunk: OwnedChunk,
    ) -> Result<(), MergeError> {
        self.write_until(start)?;
        let Some(known) = self.channels.get_mut(place) else { return Ok(()) };
        let view = chunk.chunk();
        known.recent.retain(|old| old.chunk().end() > view.first);
        let differs = known.recent.iter().find_map(|old| first_difference(&view, &old.chunk()));
        let period = u128::from(known.channel.period_ps.get());
        if let Some((at, found, expected)) = differs {
            let (channel, time_ps) = (known.channel.name.clone(), u128::from(at.0) * period);
            return Err(MergeError::Differs { input, channel, at, time_ps, found, expected });
        }
        let id = ChannelId(u32::try_from(place).unwrap_or(u32::MAX));
        for part in view.between(known.end, Tick(u64::MAX)) {
            self.characters = self.characters.saturating_add(part.periods());
            self.waiting.add(id, u128::from(part.first.0) * period, &part);
        }
        known.end = known.end.max(view.end());
        known.recent.push_back(chunk);
        Ok(())
    }

    /// Declares new channels and writes chunks.
    fn write_until(&mut self, time: u128) -> Result<(), WriteError> {
        for known in self.channels.iter().skip(self.declared) {
            self.writer.declare(&known.channel)?;
        }
        self.declared = self.channels.len();
        self.waiting.write_until(time, &mut self.writer)
    }
}

/// The first character at which two chunks of a channel differ: its place, and both characters.
fn first_difference(a: &Chunk<'_>, b: &Chunk<'_>) -> Option<(Tick, Character, Character)> {
    let (from, to) = (a.first.max(b.first), a.end().min(b.end()));
    let len = match (a.content, b.content) {
        (ChunkContent::Repeat { pattern: a, .. }, ChunkContent::Repeat { pattern: b, .. }) => {
            // After so many characters both are where they were.
            to.since(from).0.min((a.len() * b.len()) as u64)
        }
        (ChunkContent::Literal(_) | ChunkContent::Repeat { .. }, _) => to.since(from).0,
    };
    (0..len).map(|after| Tick(from.0 + after)).find_map(|at| {
        let (a, b) = (character(a, at)?, character(b, at)?);
        (a != b).then_some((at, a, b))
    })
}

/// The character of a chunk at a place.
fn character(chunk: &Chunk<'_>, at: Tick) -> Option<Character> {
    let offset = at.since(chunk.first).0;
    match chunk.content {
        ChunkContent::Literal(chars) => chars.get(usize::try_from(offset).ok()?),
        ChunkContent::Repeat { pattern, .. } => {
            pattern.get(usize::try_from(offset % pattern.len() as u64).ok()?)
        }
    }
}
