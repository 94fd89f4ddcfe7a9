//! Capture files: Myrinet characters in pcapng. The format is `docs/capture-format.md`.
//!
//! pcap-file parses and writes the blocks; where a block begins and ends, how much of a file may
//! be in memory, and at which byte it went wrong is settled here.

mod annotate;
mod block;
mod channel;
mod chunk;
mod cut;
mod fault;
mod input;
mod options;
mod reader;
mod table;
mod window;
mod writer;

pub use annotate::{AnnotateError, Annotated, COMMENT_MAX, COMMENTS_MAX, annotate};
pub use channel::{Channel, ChannelId};
pub use chunk::{Chunk, Content, PATTERN_MAX, PAYLOAD_MAX};
pub use cut::{FILL_MIN, LITERAL_MAX, cut};
pub use fault::{CaptureError, Fault, ReadExtent};
pub use input::{Input, decompressed};
pub use reader::{INTERFACES_MAX, Item, Progress, Reader};
pub use writer::{ByteOrder, WriteError, Writer};

/// The link type of a Myrinet channel: `LINKTYPE_USER0`.
pub const LINK_TYPE: u16 = 147;
