//! Between an output circuit and its source: what the one asks for and the other has. F-6

use crate::tagged_char::{PacketId, TaggedChar};

/// What a sender does in a period, before it has looked at its source. F-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendDecision {
    /// It sends this, whatever the source has.
    Send(TaggedChar),
    /// It asks its source, and sends what it gets, or fill.
    Ask(AcceptMode),
}

/// What a sender can take from its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptMode {
    /// Data and framing.
    All,
    /// Framing: it is stopped. F-1
    Framing,
    /// Nothing of a packet: it is stopped, and framing waits too. F-1
    Nothing,
    /// Anything, up to the framing mark, and sends none of it.
    Discard,
}

/// What a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceItem {
    /// Nothing now.
    Nothing,
    /// A byte, and the packet that begins with it.
    Data(TaggedChar, Option<PacketId>),
    /// The end of a packet.
    Mark,
    /// A control code that goes out as it stands: hosts only.
    Symbol(u8),
}
