//! Reader of capture files, block by block.

use std::io::Read;

use super::block_reader::BlockReader;
use super::error::{CaptureError, ReadExtent};
use super::item::CaptureItem;
use super::splitter::ChannelSplitter;
use crate::virtual_channels::LinkProfile;

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadProgress {
    /// There may be more to read.
    More,
    /// The file has been read to its end.
    Done,
}

/// Streaming reader of a capture file. It stores one block, and an entry for each interface.
#[derive(Debug)]
pub struct CaptureReader<R: ?Sized> {
    pub(super) blocks: BlockReader,
    /// Last, so that a reader of any stream is one of `dyn Read`.
    pub(super) stream: R,
}

impl<R: Read> CaptureReader<R> {
    /// A reader of a stream that starts with a capture file. Reading is on demand.
    pub fn new(stream: R) -> Self {
        Self { stream, blocks: BlockReader::default() }
    }

    /// The reader with a channel for each virtual channel of links whose description has a profile, and with a
    /// profile for all other links, if one is assumed. C-7
    pub fn with_virtual_channels(mut self, assumed: Option<LinkProfile>) -> Self {
        self.blocks.splitter = Some(Box::new(ChannelSplitter::new(assumed)));
        self
    }
}

impl<R: Read + ?Sized> CaptureReader<R> {
    /// Number of interfaces of another link type so far, which are skipped.
    pub fn skipped_interfaces(&self) -> u64 {
        self.blocks.table.skipped()
    }

    /// Extent of the file that has been read.
    pub const fn extent(&self) -> ReadExtent {
        self.blocks.table.extent
    }

    /// Bytes (decompressed) read so far.
    pub const fn offset(&self) -> u64 {
        self.blocks.window.offset
    }

    /// Reads one block and emits its items. Channels and chunks are valid:
    /// chunks of one channel are in order and do not overlap.
    ///
    /// # Errors
    /// The first error ends the stream: later steps return [`ReadProgress::Done`]. A file whose
    /// end is reached without a channel is an error too.
    pub fn step(
        &mut self,
        out: &mut dyn FnMut(CaptureItem<'_>),
    ) -> Result<ReadProgress, CaptureError> {
        // A reference to a stream of any type is one of a known size.
        self.blocks.step(&mut &mut self.stream, out)
    }
}
