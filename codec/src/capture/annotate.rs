//! Copies a capture file and adds comments to its chunks, as Wireshark shows them.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use super::block::{BlockHead, ENHANCED_PACKET};
use super::block_options::{BlockOptions, OPT_COMMENT};
use super::channel::ChannelId;
use super::chunk::Chunk;
use super::error::CaptureError;
use super::item::CaptureItem;
use super::reader::{CaptureReader, ReadProgress};
use super::writer::ByteOrder;

/// Most comments added to one block. *Chosen*.
pub const COMMENTS_MAX: usize = 64;
/// Most bytes of a comment: pcapng has 16 bits for its length.
pub const COMMENT_MAX: usize = 65_535;

/// Offset of a section header's section length, and its value for an unspecified length.
const SECTION_LENGTH: usize = 16;
const LENGTH_UNSPECIFIED: [u8; 8] = [0xff; 8];

/// Counts of comments by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnnotationCounts {
    /// Comments written.
    pub written: u64,
    /// Comments that the block already had.
    pub present: u64,
    /// Comments that do not fit: see [`COMMENTS_MAX`] and [`COMMENT_MAX`].
    pub left_out: u64,
}

/// Error of [`annotate`].
#[derive(Debug, thiserror::Error)]
pub enum AnnotateError {
    /// The input is damaged, or no capture.
    #[error(transparent)]
    Read(#[from] CaptureError),
    /// The output could not be written.
    #[error("write failed: {0}")]
    Write(#[source] io::Error),
    /// Classic pcap has no comments.
    #[error("byte 0: classic pcap cannot hold comments, pcapng can")]
    NoComments,
}

/// Copies a pcapng file block by block, and adds `comments` to the blocks of chunks. Everything else
/// is copied as it is, whatever the byte order, the number of sections, or the kinds of blocks and
/// options; only a section length becomes unspecified, as it is not known when the header is written.
///
/// `comments` is called for each valid chunk; a faulty block is copied as it is.
///
/// # Errors
/// The file is damaged, and everything before the damage has been copied; or it is no pcapng file.
pub fn annotate(
    input: impl Read,
    mut output: impl Write,
    mut comments: impl FnMut(ChannelId, &Chunk<'_>) -> Vec<String>,
) -> Result<AnnotationCounts, AnnotateError> {
    let mut reader = CaptureReader::new(TeeReader { stream: input, bytes: Vec::new(), copied: 0 });
    let mut done = AnnotationCounts::default();
    loop {
        let before = reader.offset();
        let mut requested = Vec::new();
        let progress = reader.step(&mut |item| {
            if let CaptureItem::Chunk(id, chunk) = item {
                requested = comments(id, &chunk);
            }
        })?;
        if progress == ReadProgress::Done {
            return Ok(done);
        }
        if reader.blocks.is_classic() {
            return Err(AnnotateError::NoComments);
        }
        let len = usize::try_from(reader.offset() - before).unwrap_or(usize::MAX);
        let order = reader.blocks.order();
        let tee = &mut reader.stream;
        let block = tee.next(len);
        let copied = if requested.is_empty() {
            copy(block, &mut output)
        } else {
            output.write_all(&commented(block, order, requested, &mut done))
        };
        copied.map_err(AnnotateError::Write)?;
        tee.forget(len);
    }
}

/// A stream with its bytes that have been read and not yet copied: one block, and the reader's
/// read-ahead.
#[derive(Debug)]
struct TeeReader<R> {
    stream: R,
    bytes: Vec<u8>,
    /// Number of bytes at the front that have been copied.
    copied: usize,
}

impl<R> TeeReader<R> {
    fn next(&self, len: usize) -> &[u8] {
        self.bytes.get(self.copied..self.copied.saturating_add(len)).unwrap_or_default()
    }

    /// Drops copied bytes.
    fn forget(&mut self, len: usize) {
        self.copied = self.copied.saturating_add(len).min(self.bytes.len());
        // Seldom enough that moving the rest costs less than copying did.
        if self.copied > self.bytes.len() / 2 {
            self.bytes.drain(..self.copied);
            self.copied = 0;
        }
    }
}

impl<R: Read> Read for TeeReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buf)?;
        self.bytes.extend_from_slice(buf.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Copies a block; the section length of a section header becomes unspecified.
fn copy(block: &[u8], output: &mut impl Write) -> io::Result<()> {
    let is_section = block.first_chunk() == Some(&BlockHead::SECTION_HEADER_BYTES);
    match (block.get(..SECTION_LENGTH), block.get(SECTION_LENGTH + LENGTH_UNSPECIFIED.len()..)) {
        (Some(before), Some(behind)) if is_section => {
            output.write_all(before)?;
            output.write_all(&LENGTH_UNSPECIFIED)?;
            output.write_all(behind)
        }
        _ => output.write_all(block),
    }
}

/// An enhanced packet block with comments before its other options.
fn commented(
    block: &[u8],
    order: ByteOrder,
    requested: Vec<String>,
    done: &mut AnnotationCounts,
) -> Vec<u8> {
    let len = u32::try_from(block.len()).unwrap_or(u32::MAX);
    let behind_payload = BlockHead { kind: ENHANCED_PACKET, len, order }.options_at(block);
    let behind_options = block.len().saturating_sub(4);
    // The block has been parsed, so these are there.
    let head = block.get(8..behind_payload).unwrap_or_default();
    let options = block.get(behind_payload..behind_options).unwrap_or_default();
    let present: BTreeSet<&[u8]> = BlockOptions { bytes: options, order }.comments().collect();
    let mut added: Vec<u8> = Vec::new();
    let mut count = 0;
    // Where there were no options, there is an end to them now.
    let end = if options.is_empty() { 4 } else { 0 };
    for comment in requested {
        let bytes = comment.as_bytes();
        let len = block.len() + added.len() + 4 + bytes.len().next_multiple_of(4) + end;
        if present.contains(bytes) {
            done.present += 1;
        } else if count == COMMENTS_MAX || bytes.len() > COMMENT_MAX || len > BlockHead::LEN_MAX {
            done.left_out += 1;
        } else {
            added.extend(order.half(OPT_COMMENT));
            // No more than `COMMENT_MAX`.
            added.extend(order.half(u16::try_from(bytes.len()).unwrap_or(u16::MAX)));
            added.extend_from_slice(bytes);
            added.resize(added.len().next_multiple_of(4), 0);
            count += 1;
        }
    }
    done.written += count as u64;
    if added.is_empty() {
        return block.to_vec();
    }
    added.extend_from_slice(options);
    added.resize(added.len() + end, 0);
    // No more than `BlockHead::LEN_MAX`.
    let len = u32::try_from(head.len() + added.len() + 12).unwrap_or(u32::MAX);
    let [kind, len] = [ENHANCED_PACKET, len].map(|word| order.bytes(word));
    [&kind, &len, head, &added, &len].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_copied_is_not_kept() {
        let mut tee = TeeReader { stream: io::repeat(7), bytes: Vec::new(), copied: 0 };
        for _ in 0..1000 {
            assert_eq!(tee.read(&mut [0; 100]).unwrap(), 100);
            // One block is ahead.
            if tee.bytes.len() - tee.copied > 100 {
                assert_eq!(tee.next(100), [7; 100]);
                tee.forget(100);
            }
            assert!(tee.bytes.len() <= 400, "{}", tee.bytes.len());
        }
    }
}
