//! Capture files: Myrinet characters in pcapng. The format is `docs/capture-format.md`.
//!
//! The crate pcap-file parses and writes the contents of blocks; block boundaries, the limits of
//! memory, and the places of errors are handled here.

mod annotate;
mod block;
mod block_options;
mod block_reader;
mod channel;
mod chunk;
mod chunking;
mod decompression;
mod error;
mod foreign_interfaces;
mod index;
mod interface_table;
mod item;
mod merge;
mod packet_export;
mod reader;
mod splitter;
mod start_state;
mod start_tracker;
mod window;
mod wire_measurement;
mod writer;

pub use annotate::{AnnotateError, AnnotationCounts, COMMENT_MAX, COMMENTS_MAX, annotate};
pub(crate) use block::innermost;
pub use channel::{Channel, ChannelId};
pub use chunk::{Chunk, ChunkContent, PATTERN_MAX, PAYLOAD_MAX};
pub use chunking::{FILL_MIN, LITERAL_MAX, fill_cycle, split_into_chunks};
pub use decompression::{DecompressedInput, decompress};
pub use error::{CaptureError, CaptureFault, ReadExtent};
pub use index::{CaptureIndex, CaptureIndexer, ResumedStream};
pub use interface_table::INTERFACES_MAX;
pub use item::CaptureItem;
pub use merge::{MergeError, MergedCounts, merge};
pub use packet_export::{ExportContents, ExportedPacket, PacketExport};
pub use reader::{CaptureReader, ReadProgress};
pub use splitter::virtual_channel_name;
pub use start_state::{CommandChanges, FlowCommand, StartSender, StartState};
pub use wire_measurement::WireMeasurement;
pub use writer::{ByteOrder, CaptureWriter, WriteError};

/// The link type of a Myrinet channel: `LINKTYPE_USER0`.
pub const LINK_TYPE: u16 = 147;
