//! Myrinet on the wire: nine-bit characters, frames, packets, and capture files of them.
//!
//! | module | contents |
//! |---|---|
//! | [`character`] | the character, the control symbols, the decoding of control codes |
//! | [`chars`] | sequences of characters: [`Chars`], [`CharBuf`] |
//! | [`notation`], [`folding`] | characters as text: `83 05 STOP 92 GAP IDLE×16` |
//! | [`framing`] | [`Framer`]: characters to frames, symbols and link states |
//! | [`packet`], [`route`], [`crc`] | route, tag, payload, CRC-8, and their change at a switch |
//! | [`transport`] | packets of the reliability protocol |
//! | [`mapping`] | packets by which interfaces map the network, maps |
//! | [`virtual_channels`] | link profiles, and the virtual channel of each character |
//! | [`switch_answer`] | answers of switches that are asked for their state |
//! | [`vita26`] | packets with types of four bytes |
//! | [`capture`] | capture files: reader, writer, comments |
//! | [`time`], [`error`] | character periods; decoding errors |
//!
//! Rule ids (`C-4`, `P-5`, …) are those of `docs/rules.md`, the capture format is
//! `docs/capture-format.md`. The feature `compression` (default) reads captures inside gzip and
//! Zstandard streams.
//!
//! ```
//! use myriscope_codec::framing::frames;
//! use myriscope_codec::notation;
//! use myriscope_codec::packet::{CrcCheck, Packet};
//!
//! // A packet for port 3 of the next switch, paused by STOP; its CRC byte is 0x92.
//! let chars = notation::parse("GAP 83 05 STOP IDLE×4 GO 92 GAP")?;
//! let frame = frames(chars.chars()).next().ok_or("no frame")?;
//! let packet = Packet::parse(&frame.bytes);
//! assert_eq!((frame.start.0, packet.route, packet.check), (1, &[0x83][..], CrcCheck::Good));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/read_capture.rs` prints the packets of a capture file; `examples/write_capture.rs`
//! writes one.

mod named_enum;

pub mod capture;
pub mod character;
pub mod chars;
pub mod crc;
pub mod error;
pub mod folding;
pub mod framing;
pub mod ip;
pub mod mapping;
pub mod multicast;
pub mod notation;
pub mod packet;
pub mod recording;
pub mod route;
pub mod switch_answer;
pub mod time;
pub mod transport;
pub mod virtual_channels;
pub mod vita26;
pub mod wires;
pub mod words;

pub use capture::{CaptureReader, CaptureWriter};
pub use character::{Character, DecodedCode, Symbol};
pub use chars::{CharBuf, Chars};
pub use error::DecodeError;
pub use framing::{FrameEvent, Framer};
pub use packet::Packet;
pub use time::Tick;
