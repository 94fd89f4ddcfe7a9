//! Myrinet on the wire: what the characters mean, and the capture files that hold them.
//!
//! Rule ids (`C-4`, `P-5`, …) are those of `docs/rules.md`.

pub mod capture;
pub mod character;
pub mod chars;
pub mod crc;
pub mod error;
pub mod folding;
pub mod framing;
pub mod notation;
pub mod packet;
pub mod route;
pub mod time;
pub mod transport;

pub use character::{Character, DecodedCode, Symbol};
pub use chars::{CharBuf, Chars};
pub use packet::Packet;
