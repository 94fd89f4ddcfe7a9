//! The exchange between an output circuit and its source. F-6

use crate::link::tagged_char::{PacketId, TaggedChar};

/// A sender's decision before it has seen its source. F-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendDecision {
    /// Sends this character, whatever the source has.
    Send(TaggedChar),
    /// Sends the item of its source, or fill.
    Request(AcceptMode),
}

/// The items that a sender accepts from its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptMode {
    /// Data and framing.
    All,
    /// Framing only: it is stopped. F-1
    Framing,
    /// No part of a packet: it is stopped, and framing waits too. F-1
    Nothing,
    /// All items up to the framing mark, which it discards.
    Discard,
}

/// An item of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceItem {
    /// None at present.
    Nothing,
    /// A byte, and the packet that begins with it.
    Data(TaggedChar, Option<PacketId>),
    /// The end of a packet: GAP. P-1
    Mark,
    /// Another control code, sent as it is: hosts only.
    Symbol(u8),
}

impl AcceptMode {
    /// True if a sender takes the item now.
    #[inline]
    pub(crate) const fn accepts(self, item: &SourceItem) -> bool {
        match (item, self) {
            (SourceItem::Nothing, _)
            | (SourceItem::Data(..), Self::Framing)
            | (SourceItem::Data(..) | SourceItem::Mark, Self::Nothing) => false,
            (SourceItem::Data(..), Self::All | Self::Discard)
            | (SourceItem::Mark, Self::All | Self::Framing | Self::Discard)
            | (SourceItem::Symbol(_), _) => true,
        }
    }
}
