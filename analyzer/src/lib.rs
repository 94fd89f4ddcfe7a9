//! From a capture to what happened: one channel, then the two channels of a link, then all of them
//! in time.
//!
//! Every stage is fed and hands on; none keeps what it has handed on, so memory does not grow with
//! the capture. A capture may hold anything: nothing here fails on content.

pub mod analysis;
pub mod blocking;
pub mod captured;
pub mod channel;
mod clock;
pub mod comments;
pub mod conversation;
pub mod event;
pub mod filter;
pub mod finding;
pub mod flow;
pub mod link;
pub mod packet;
pub mod path;
pub mod place;
pub mod reading;
pub mod rules;
pub mod score;
pub mod show;
pub mod tally;
pub mod text;
pub mod timeline;
pub mod topology;
pub mod transport;
pub mod window;

pub use channel::{Notice, Receiver};
pub use event::Event;
pub use packet::PacketSeen;
pub use tally::Tally;
pub use timeline::{Row, Timeline, What};
pub use transport::TransportSeen;
