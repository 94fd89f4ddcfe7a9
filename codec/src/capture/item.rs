//! Items of a capture file.

use std::sync::Arc;

use super::channel::{Channel, ChannelId};
use super::chunk::Chunk;
use super::error::CaptureFault;

/// An item of a capture file.
#[derive(Debug)]
pub enum CaptureItem<'a> {
    /// Start of a capture, by a section that does not continue the one before it: the channels so
    /// far are at their end, and time starts anew.
    Section,
    /// Declaration of a channel.
    Channel(ChannelId, &'a Arc<Channel>),
    /// Two channels that are the directions of one link.
    Link(ChannelId, ChannelId),
    /// Characters of a channel, after all earlier ones.
    Chunk(ChannelId, Chunk<'a>),
    /// A fault after which reading continues.
    Fault(CaptureFault),
}
