//! A batch of chunks, with their characters.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use codec::capture::{
    CaptureError, CaptureFault, CaptureItem, CaptureReader, Channel, ChannelId, Chunk,
    ChunkContent, ReadProgress,
};
use codec::character::{Symbol, decode_control};
use codec::time::Tick;
use codec::{CharBuf, Chars};

use crate::timeline::REPEATED_MAX_ALL;

/// Weight of a batch. *Chosen*: about a millisecond of work, so that handing it to another thread
/// costs little.
const WEIGHT: u64 = 1 << 20;
/// Weight of a chunk beside its characters. *Chosen*: about its size.
const CHUNK: u64 = 64;
/// Additional weight of a control character. *Chosen*: about the size of its output if each of them
/// ends a packet, so that the output of a batch takes at most some ten megabytes.
const CONTROL: u64 = 15;

/// Chunks of one section.
#[derive(Debug, Default)]
pub(super) struct ChunkBatch {
    pub(super) channels: Vec<(ChannelId, Arc<Channel>)>,
    /// Pairs of channels that form a link.
    pub(super) joined: Vec<(ChannelId, ChannelId)>,
    entries: Vec<BatchChunk>,
    pub(super) chars: CharBuf,
    /// True if the section ends with it.
    pub(super) is_last: bool,
    /// Weight of the batch and of those before it in the same read.
    weight: u64,
}

/// A chunk; its characters are a range of the batch's.
#[derive(Debug)]
struct BatchChunk {
    channel: ChannelId,
    first: Tick,
    chars: Range<usize>,
    count: Option<u64>,
}

#[derive(Debug)]
pub(super) struct BatchRead {
    pub(super) batches: Vec<ChunkBatch>,
    pub(super) faults: Vec<CaptureFault>,
    pub(super) ended: Option<Result<(), CaptureError>>,
}

/// Reads a batch, or several if a section ends. The characters are stored in `room`, a reused
/// buffer. While the input is waiting the batch ends after a block.
pub(super) fn read(
    reader: &mut CaptureReader<dyn Read + Send + '_>,
    mut room: CharBuf,
    is_waiting: fn() -> bool,
) -> BatchRead {
    room.clear();
    let mut batch = ChunkBatch { chars: room, ..ChunkBatch::default() };
    let (mut batches, mut faults) = (Vec::new(), Vec::new());
    let mut ended = None;
    while batch.weight < WEIGHT && ended.is_none() {
        let step = reader.step(&mut |item| match item {
            CaptureItem::Section => {
                batch.is_last = true;
                batches.push(batch.cut());
            }
            CaptureItem::Channel(id, channel) => batch.channels.push((id, Arc::clone(channel))),
            CaptureItem::Link(one, other) => {
                // Chunks before the link in the file are processed without it, wherever batches
                // end.
                if !batch.entries.is_empty() {
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
        // Ensures that a file of faults only also ends a batch.
        batch.weight += CHUNK;
        if is_waiting() {
            break;
        }
    }
    if ended.is_some() {
        batch.is_last = true;
    }
    batches.push(batch);
    BatchRead { batches, faults, ended }
}

/// True if the characters are fill, which has no output regardless of its repetitions. F-8
fn is_fill(chars: Chars<'_>) -> bool {
    let only = |symbols: &[Symbol]| {
        let fits =
            |code| decode_control(code).symbol().is_some_and(|symbol| symbols.contains(&symbol));
        chars.data_count() == 0 && chars.low().iter().all(|code| fits(*code))
    };
    only(&[Symbol::Gap, Symbol::Go]) || only(&[Symbol::Gap, Symbol::Stop])
}

impl ChunkBatch {
    /// Returns this batch and begins another, which inherits the weight: that of many small batches
    /// adds up.
    fn cut(&mut self) -> Self {
        let next = Self { weight: self.weight, ..Self::default() };
        std::mem::replace(self, next)
    }

    fn add(&mut self, channel: ChannelId, chunk: &Chunk<'_>) {
        let (chars, count) = chunk.content.parts();
        let control = (chars.len() - chars.data_count()) as u64;
        let rounds = match count {
            Some(count) if !is_fill(chars) => {
                count.min((REPEATED_MAX_ALL / chars.len().max(1) as u64).max(1))
            }
            Some(_) | None => 1,
        };
        self.weight += rounds * (chars.len() as u64 + CONTROL * control);
        // Planes aligned to a byte are copied as they are.
        let from = self.chars.len().next_multiple_of(8);
        self.chars.push_idle(from - self.chars.len());
        self.chars.push_chars(chars);
        let chars = from..self.chars.len();
        self.entries.push(BatchChunk { channel, first: chunk.first, chars, count });
    }

    /// The chunks, in the order of the file.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (ChannelId, Chunk<'_>)> {
        self.entries.iter().map(|entry| {
            let chars = self.chars.chars().slice(entry.chars.clone());
            let content = match entry.count {
                None => ChunkContent::Literal(chars),
                Some(count) => ChunkContent::Repeat { pattern: chars, count },
            };
            (entry.channel, Chunk { first: entry.first, content })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_sections_are_not_all_read_at_once() {
        let mut section = Vec::new();
        for word in [0x0a0d_0d0a_u32, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28] {
            section.extend(word.to_le_bytes());
        }
        let file = section.repeat(10_000);
        let mut reader = CaptureReader::new(file.as_slice());
        let mut sections = 0;
        loop {
            let result = read(&mut reader, CharBuf::default(), || false);
            // One step per section, and the beginning of the next one.
            assert!(result.batches.len() as u64 <= WEIGHT / CHUNK + 1, "{}", result.batches.len());
            sections += result.batches.iter().filter(|batch| batch.is_last).count();
            if let Some(ended) = result.ended {
                assert!(matches!(ended, Err(CaptureError::NoChannel { .. })), "{ended:?}");
                break;
            }
        }
        // The empty part before the first section counts as one.
        assert_eq!(sections, 10_001);
    }
}
