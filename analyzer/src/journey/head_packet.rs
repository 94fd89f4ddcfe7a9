//! The packet at the head of a switch's input. S-3

use codec::capture::ChannelId;

use crate::event::Picoseconds;

/// The packet at the head of a switch's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadPacket {
    /// Number of the packet on the input's channel.
    pub packet: u64,
    /// Time of its first byte at the tap of the input's channel.
    pub since: Picoseconds,
    /// The captured output channel that it requests, if known.
    pub wants: Option<ChannelId>,
    /// Progress on that channel.
    pub passing: HeadProgress,
    /// True if a packet of another input has held that channel since this packet arrived. S-3
    pub contended: bool,
}

/// Progress of a packet at the head of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadProgress {
    /// No byte of it has been captured on the output.
    Waiting,
    /// Its first byte has been captured on the output. While several packets wait for that output,
    /// the packet is assumed to be the next in the order of the output's token (S-5), until its
    /// bytes decide.
    Begun,
}
