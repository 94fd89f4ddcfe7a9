//! Writes chunks in order of time that become known in almost that order.

use std::collections::BTreeMap;
use std::io::Write;

use super::channel::ChannelId;
use super::chunk::{Chunk, ChunkContent};
use super::writer::{CaptureWriter, WriteError};
use crate::chars::CharBuf;
use crate::time::Tick;

/// Time of a chunk in picoseconds, its channel in the output, and its first character.
type ChunkKey = (u128, ChannelId, Tick);

/// A chunk with its characters.
#[derive(Clone, Debug)]
pub(super) struct OwnedChunk {
    first: Tick,
    chars: CharBuf,
    count: Option<u64>,
}

impl From<&Chunk<'_>> for OwnedChunk {
    fn from(chunk: &Chunk<'_>) -> Self {
        let (borrowed, count) = match chunk.content {
            ChunkContent::Literal(chars) => (chars, None),
            ChunkContent::Repeat { pattern, count } => (pattern, Some(count)),
        };
        let mut chars = CharBuf::new();
        chars.push_chars(borrowed);
        Self { first: chunk.first, chars, count }
    }
}

impl OwnedChunk {
    pub(super) fn chunk(&self) -> Chunk<'_> {
        Chunk { first: self.first, content: ChunkContent::new(self.chars.chars(), self.count) }
    }
}

/// Chunks that wait for earlier ones of other channels: at most a few for each channel.
#[derive(Debug, Default)]
pub(super) struct WaitingChunks {
    chunks: BTreeMap<ChunkKey, OwnedChunk>,
    newest: ChunkKey,
}

impl WaitingChunks {
    /// Adds a chunk that begins at a time.
    pub(super) fn add(&mut self, id: ChannelId, start: u128, chunk: &Chunk<'_>) {
        self.chunks.insert((start, id, chunk.first), OwnedChunk::from(chunk));
    }

    /// Writes the chunks that begin at a time or before.
    pub(super) fn write_until<W: Write>(
        &mut self,
        time: u128,
        writer: &mut CaptureWriter<W>,
    ) -> Result<(), WriteError> {
        while let Some(entry) = self.chunks.first_entry().filter(|entry| entry.key().0 <= time) {
            let (key, chunk) = entry.remove_entry();
            if key < self.newest {
                // The blocks of the input were out of order by as much.
                writer.accept_late();
            }
            self.newest = self.newest.max(key);
            writer.write(key.1, &chunk.chunk())?;
        }
        Ok(())
    }
}
