//! Faults and errors of capture files, with their place.

use std::fmt;
use std::io;

use super::channel::ChannelId;
use crate::time::Tick;

/// A fault in one block. Where reading can continue, the block is left out and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFault {
    /// Byte of the (decompressed) file at which the field stands, or its block where the field's
    /// own place is not known.
    pub offset: u64,
    /// Number of the block in the file, from 0.
    pub number: u64,
    /// The kind of block, as the pcapng specification calls it.
    pub block: &'static str,
    /// The field at fault.
    pub field: &'static str,
    /// The value found and the values expected.
    pub fault: String,
}

impl fmt::Display for CaptureFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, number, block, field, fault } = self;
        write!(f, "byte {offset}: block {number} ({block}): {field} {fault}")
    }
}

/// Error that ends the reading of a file, after all items before it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// An empty file.
    #[error("the file is empty")]
    Empty,
    /// A file of another kind.
    #[error("byte 0: not a pcapng or pcap file (starts with {found})")]
    NotACapture {
        /// The first bytes, in hex.
        found: String,
    },
    /// A file without any channel.
    #[error("no Myrinet channel: {found}")]
    NoChannel {
        /// Contents of the file, and the contents of a capture.
        found: String,
    },
    /// A block that is cut off or damaged, so that the next one cannot be found.
    #[error("{0}")]
    Damaged(CaptureFault),
    /// The stream could not be read.
    #[error("byte {offset}: read failed: {source}")]
    Read {
        /// Bytes (decompressed) read before.
        offset: u64,
        /// Error of the system or the decompressor.
        source: io::Error,
    },
}

/// Extent of a capture file that has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadExtent {
    /// Byte at which an error stopped the reading.
    pub stopped_at: Option<u64>,
    /// Chunks left out as faulty.
    pub left_out: u64,
    /// All faults: also those that cost no chunk.
    pub faults: u64,
    /// Channel of the last chunk, and the end of that chunk.
    pub last: Option<(ChannelId, Tick)>,
    /// End of the chunk that ends last, in picoseconds, its channel, and its end.
    pub latest: Option<(u128, ChannelId, Tick)>,
}

impl ReadExtent {
    /// True if the file was read to its end without a fault.
    pub const fn is_whole(&self) -> bool {
        self.stopped_at.is_none() && self.faults == 0
    }
}

/// The blocks of classic pcap.
pub(super) const CLASSIC_RECORD: &str = "record";

#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPosition {
    pub(super) offset: u64,
    pub(super) number: u64,
    pub(super) block: &'static str,
}

impl BlockPosition {
    /// A place further into the same block.
    pub(super) const fn within(self, bytes: u64) -> Self {
        Self { offset: self.offset + bytes, ..self }
    }

    pub(super) fn fault(self, field: &'static str, fault: impl Into<String>) -> CaptureFault {
        let Self { offset, number, block } = self;
        CaptureFault { offset, number, block, field, fault: fault.into() }
    }

    pub(super) fn cut(self, field: &'static str, len: u64, have: u64) -> CaptureError {
        let fault = format!("needs {len} bytes, but the file ends after {have}");
        CaptureError::Damaged(self.fault(field, fault))
    }
}
