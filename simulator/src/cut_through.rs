//! A packet on its way through the crossbar of a switch: stripped, its CRC byte corrected. P-3, P-5

use codec::crc::Crc8;

use crate::extension::SwitchIdentity;
use crate::receiver::PortReceiver;
use crate::source_item::{AcceptMode, SourceItem};
use crate::tagged_char::{PacketId, TaggedChar};

/// A packet on its way through a switch. P-5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutThrough {
    /// Of all that came in.
    computed: Crc8,
    /// Of all that went out.
    forwarded: Crc8,
    /// How many bytes are still to come of what the switch says of itself. S-8
    identity_left: u8,
    /// A byte that is held back. P-5
    held: Option<u8>,
    /// The packet, until its first byte goes out.
    head: Option<PacketId>,
}

impl CutThrough {
    /// Starts with the byte that the switch uses, and strips. P-3
    #[must_use]
    pub fn new(route: u8, head: Option<PacketId>) -> Self {
        Self {
            computed: Crc8::NEW.push(route),
            forwarded: Crc8::NEW,
            identity_left: 0,
            held: None,
            head,
        }
    }

    /// Goes on with the byte behind that one: the packet asks the switch who it is. S-8
    #[must_use]
    pub fn with_identity(self, route: u8) -> Self {
        Self { computed: self.computed.push(route), identity_left: 8, ..self }
    }

    /// Whether the answer has yet to go out. S-8
    #[inline]
    #[must_use]
    pub const fn needs_identity(&self) -> bool {
        self.identity_left > 0
    }

    /// The next byte of the answer, if the CRC byte comes next. S-8
    #[cold]
    pub fn identity_byte(
        &mut self,
        buffer: &PortReceiver,
        appetite: AcceptMode,
        identity: &SwitchIdentity,
    ) -> Option<SourceItem> {
        let last = self.held.is_some() && !buffer.peek(0)?.is_data();
        if !last || appetite != AcceptMode::All {
            return None;
        }
        let left = self.identity_left.checked_sub(1)?;
        let byte = identity.emit().into_iter().nth_back(left.into())?;
        self.identity_left = left;
        self.forwarded = self.forwarded.push(byte);
        Some(match self.head.take() {
            Some(id) => SourceItem::Data(TaggedChar::data(byte).as_head(), Some(id)),
            None => SourceItem::Data(TaggedChar::data(byte), None),
        })
    }

    /// The packet, if none of it has gone out.
    #[must_use]
    pub const fn head(&self) -> Option<PacketId> {
        self.head
    }

    /// The next byte for the output, if it is one between the first and the last.
    #[inline]
    pub fn stream(&mut self, buffer: &mut PortReceiver) -> Option<TaggedChar> {
        let (byte, next) = match self.held {
            Some(byte) => (byte, buffer.peek(0)?),
            None => (
                buffer.peek(0).filter(|cell| cell.is_data() && !cell.is_head())?.low(),
                buffer.peek(1)?,
            ),
        };
        if self.head.is_some() || !next.is_data() {
            return None;
        }
        if self.held.take().is_none() {
            buffer.take();
        }
        self.computed = self.computed.push(byte);
        self.forwarded = self.forwarded.push(byte);
        Some(TaggedChar::data(byte))
    }

    /// Takes the next byte from the slack buffer. It is held back until it is known what follows it:
    /// the last one before the framing mark is the CRC byte. P-5
    ///
    /// A packet that begins with it is a part of this one: it is handed back.
    pub fn hold(&mut self, buffer: &mut PortReceiver) -> Option<PacketId> {
        if self.held.is_some() || !buffer.peek(0)?.is_data() {
            return None;
        }
        let (cell, merged) = buffer.take()?;
        self.held = Some(cell.low());
        merged
    }

    /// Whether the input has nothing for the output until something comes in.
    #[must_use]
    pub fn waits(&self, buffer: &PortReceiver, appetite: AcceptMode) -> bool {
        match (self.held, buffer.fill(), appetite) {
            (None, 0, _)
            | (Some(_), _, AcceptMode::Framing | AcceptMode::Nothing)
            | (Some(_), 0, AcceptMode::All) => true,
            (None, _, _) | (Some(_), _, AcceptMode::All | AcceptMode::Discard) => false,
        }
    }

    /// What the input has for the output, once [`CutThrough::hold`] has had its turn.
    pub fn next_item(&mut self, buffer: &mut PortReceiver, appetite: AcceptMode) -> SourceItem {
        let next = buffer.peek(0);
        let byte = match (self.held, next, appetite) {
            (_, _, AcceptMode::Nothing)
            | (None, None, _)
            | (Some(_), _, AcceptMode::Framing)
            | (Some(_), None, AcceptMode::All) => return SourceItem::Nothing,
            (None, Some(_), _) => {
                buffer.take();
                return SourceItem::Mark;
            }
            (Some(byte), _, AcceptMode::Discard) => {
                self.held = None;
                return SourceItem::Data(TaggedChar::data(byte), None);
            }
            (Some(byte), Some(next), AcceptMode::All) if next.is_data() => {
                self.computed = self.computed.push(byte);
                self.forwarded = self.forwarded.push(byte);
                byte
            }
            (Some(byte), Some(_), AcceptMode::All) => {
                self.computed.value() ^ byte ^ self.forwarded.value()
            }
        };
        self.held = None;
        match self.head.take() {
            Some(id) => SourceItem::Data(TaggedChar::data(byte).as_head(), Some(id)),
            None => SourceItem::Data(TaggedChar::data(byte), None),
        }
    }
}
