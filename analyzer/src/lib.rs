//! From a capture to what happened: one channel, then the two channels of a link, then all of them
//! in time.
//!
//! Every stage is fed and hands on; none keeps what it has handed on, so memory does not grow with
//! the capture. A capture may hold anything: nothing here fails on content.

pub mod annotations;
pub mod blocking;
pub mod captured;
pub mod channel_name;
mod clock;
pub mod conversation;
pub mod counters;
pub mod event;
pub mod event_reader;
pub mod filter;
pub mod finding;
pub mod flow_control;
pub mod journey;
pub mod link;
pub mod options;
pub mod packet;
pub mod pipeline;
pub mod receiver;
pub mod render;
pub mod rules;
pub mod score;
pub mod show;
pub mod timeline;
pub mod topology;
pub mod transport;
pub mod window;

pub use counters::ChannelCounters;
pub use event::{ChannelEvent, LinkEvent, TimedEvent};
pub use options::AnalysisScope;
pub use packet::ReceivedPacket;
pub use receiver::ChannelReceiver;
pub use timeline::EventTimeline;
pub use transport::ParsedTransport;
