//! A part of a capture file that has been read, on its own characters.

use std::io::Read;
use std::ops::Range;

use codec::capture::{
    CaptureError, CaptureFault, CaptureItem, CaptureReader, Channel, ChannelId, Chunk,
    ChunkContent, ReadProgress,
};
use codec::character::{Symbol, decode_control};
use codec::time::Tick;
use codec::{CharBuf, Character, Chars};

use crate::timeline::REPEATED_MAX_ALL;

/// What a batch weighs before it is worked on. *Chosen*: about a millisecond's work, beside which it
/// costs little to hand it to another thread.
const WEIGHT: u64 = 1 << 20;
/// What a chunk weighs beside its characters. *Chosen*: about its size.
const CHUNK: u64 = 64;
/// What a control character weighs beside that. *Chosen*: about what is made of it, should each of
/// them end a packet; so what is made of a batch takes some ten megabytes at most.
const CONTROL: u64 = 15;

/// A part of a section.
#[derive(Debug, Default)]
pub(super) struct ChunkBatch {
    /// Channels that it declares.
    pub(super) channels: Vec<(ChannelId, Channel)>,
    /// Which of them are the directions of one link.
    pub(super) joined: Vec<(ChannelId, ChannelId)>,
    pieces: Vec<BatchChunk>,
    pub(super) chars: CharBuf,
    pub(super) progress: SectionProgress,
    /// What it weighs, and those that were read along with it before.
    weight: u64,
}

/// What comes behind a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SectionProgress {
    /// More of its section.
    #[default]
    More,
    /// Nothing more of its section.
    End,
}

/// A chunk, its characters among those of its batch.
#[derive(Debug)]
struct BatchChunk {
    channel: ChannelId,
    first: Tick,
    chars: Range<usize>,
    count: Option<u64>,
}

/// What one reading brings.
#[derive(Debug)]
pub(super) struct BatchRead {
    pub(super) batches: Vec<ChunkBatch>,
    pub(super) faults: Vec<CaptureFault>,
    /// What ended it, if nothing comes any more.
    pub(super) ended: Option<Result<(), CaptureError>>,
}

/// Reads a batch, and more if a section ends there. Its characters go to `room`, which is used again.
pub(super) fn read<R: Read>(reader: &mut CaptureReader<R>, mut room: CharBuf) -> BatchRead {
    room.clear();
    let mut batch = ChunkBatch { chars: room, ..ChunkBatch::default() };
    let (mut batches, mut faults) = (Vec::new(), Vec::new());
    let mut ended = None;
    while batch.weight < WEIGHT && ended.is_none() {
        let step = reader.step(&mut |item| match item {
            CaptureItem::Section => {
                batch.progress = SectionProgress::End;
                batches.push(batch.cut());
            }
            CaptureItem::Channel(id, channel) => batch.channels.push((id, channel.clone())),
            CaptureItem::Link(one, other) => {
                // What comes before it in the file knows nothing of it, wherever batches end.
                if !batch.pieces.is_empty() {
                    batches.push(batch.cut());
                }
                batch.joined.push((one, other));
            }
            CaptureItem::Chunk(id, chunk) => batch.add(id, &chunk),
            CaptureItem::Fault(fault) => faults.push(fault),
        });
        ended = match step {
            Ok(ReadProgress::More) => None,
            Ok(ReadProgress::Done) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        // A file of nothing but faults makes no batch heavy.
        batch.weight += CHUNK;
    }
    if ended.is_some() {
        batch.progress = SectionProgress::End;
    }
    batches.push(batch);
    BatchRead { batches, faults, ended }
}

/// Whether characters are fill, of which nothing is made however often they come. F-8
fn is_fill(chars: Chars<'_>) -> bool {
    let only = |symbols: &[Symbol]| {
        let fits =
            |code| decode_control(code).symbol().is_some_and(|symbol| symbols.contains(&symbol));
        chars.data_count() == 0 && chars.low().iter().all(|code| fits(*code))
    };
    only(&[Symbol::Gap, Symbol::Go]) || only(&[Symbol::Gap, Symbol::Stop])
}

impl ChunkBatch {
    /// Another begins. What many small ones weigh together counts.
    fn cut(&mut self) -> Self {
        let next = Self { weight: self.weight, ..Self::default() };
        std::mem::replace(self, next)
    }

    fn add(&mut self, channel: ChannelId, chunk: &Chunk<'_>) {
        let (chars, count) = match chunk.content {
            ChunkContent::Literal(chars) => (chars, None),
            ChunkContent::Repeat { pattern, count } => (pattern, Some(count)),
        };
        let control = (chars.len() - chars.data_count()) as u64;
        let most = if is_fill(chars) { 1 } else { REPEATED_MAX_ALL / chars.len().max(1) as u64 };
        let rounds = count.unwrap_or(1).min(most.max(1));
        self.weight += rounds * (chars.len() as u64 + CONTROL * control);
        // Planes that begin with a byte are copied as they are.
        while !self.chars.len().is_multiple_of(8) {
            self.chars.push(Character::IDLE);
        }
        let from = self.chars.len();
        self.chars.push_chars(chars);
        let chars = from..self.chars.len();
        self.pieces.push(BatchChunk { channel, first: chunk.first, chars, count });
    }

    /// The chunks, in the order of the file.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (ChannelId, Chunk<'_>)> {
        self.pieces.iter().map(|piece| {
            let chars = self.chars.chars().slice(piece.chars.clone());
            let content = match piece.count {
                None => ChunkContent::Literal(chars),
                Some(count) => ChunkContent::Repeat { pattern: chars, count },
            };
            (piece.channel, Chunk { first: piece.first, content })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_nothing_are_not_all_read_at_once() {
        let mut section = Vec::new();
        for word in [0x0a0d_0d0a_u32, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28] {
            section.extend(word.to_le_bytes());
        }
        let file = section.repeat(10_000);
        let mut reader = CaptureReader::new(file.as_slice());
        let mut sections = 0;
        loop {
            let brought = read(&mut reader, CharBuf::default());
            // One step a section, and the part of the one that follows.
            assert!(
                brought.batches.len() as u64 <= WEIGHT / CHUNK + 1,
                "{}",
                brought.batches.len()
            );
            sections += brought
                .batches
                .iter()
                .filter(|batch| batch.progress == SectionProgress::End)
                .count();
            if let Some(ended) = brought.ended {
                assert!(matches!(ended, Err(CaptureError::NoChannel { .. })), "{ended:?}");
                break;
            }
        }
        // The nothing before the first of them is one too.
        assert_eq!(sections, 10_001);
    }
}
