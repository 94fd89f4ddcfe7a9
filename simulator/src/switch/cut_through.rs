//! Cut-through of a packet in the crossbar of a switch: strips the route byte and corrects the CRC
//! byte. P-3, P-5

use codec::crc::Crc8;

use crate::link::receiver::PortReceiver;
use crate::link::source_item::{AcceptMode, SourceItem};
use crate::link::tagged_char::{PacketId, TaggedChar, low_bytes};
use crate::switch::extension::SwitchIdentity;

/// A packet on its way through a switch. P-5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutThrough {
    /// CRC of the bytes received.
    computed: Crc8,
    /// CRC of the bytes sent.
    forwarded: Crc8,
    /// Bytes of the switch's identity left to insert. S-8
    identity_left: u8,
    /// The byte held back. P-5
    held: Option<u8>,
    /// The packet, until its first byte is sent.
    head: Option<PacketId>,
}

impl CutThrough {
    /// Starts with the byte that the switch uses and strips. P-3
    pub(crate) fn new(route: u8, head: Option<PacketId>) -> Self {
        Self {
            computed: Crc8::NEW.push(route),
            forwarded: Crc8::NEW,
            identity_left: 0,
            held: None,
            head,
        }
    }

    /// Forms the answer to a packet that asks for the switch's identity; `route` is the byte after that.
    /// S-8
    pub(crate) fn with_identity(self, route: u8) -> Self {
        Self { computed: self.computed.push(route), identity_left: 8, ..self }
    }

    /// True until the identity is inserted. S-8
    #[inline]
    pub(crate) const fn needs_identity(&self) -> bool {
        self.identity_left > 0
    }

    /// The next byte of the identity, if the CRC byte comes next. S-8
    #[cold]
    pub(crate) fn identity_byte(
        &mut self,
        buffer: &PortReceiver,
        mode: AcceptMode,
        identity: &SwitchIdentity,
    ) -> Option<SourceItem> {
        let last = self.held.is_some() && !buffer.peek(0)?.is_data();
        if !last || mode != AcceptMode::All {
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

    /// The packet, if none of it has been sent.
    pub(crate) const fn head(&self) -> Option<PacketId> {
        self.head
    }

    /// The next byte for the output, if it is neither the first nor the last.
    #[inline]
    pub(crate) fn stream(&mut self, buffer: &mut PortReceiver) -> Option<TaggedChar> {
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

    /// True if the next byte for the output is the next one of the slack buffer, neither the first
    /// nor inserted.
    pub(crate) const fn is_under_way(&self) -> bool {
        self.held.is_none() && self.head.is_none()
    }

    /// True if it holds a byte back.
    pub(crate) const fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// Forwards bytes that are neither the first nor the last. P-5
    pub(crate) fn forward(&mut self, cells: &[TaggedChar]) {
        if self.needs_identity() {
            for byte in low_bytes(cells) {
                self.computed = self.computed.push(byte);
                self.forwarded = self.forwarded.push(byte);
            }
        } else {
            // The CRC byte is changed by their difference, to which these bytes add nothing.
            self.computed = self.computed.xor(self.forwarded).zeros(cells.len() as u64);
            self.forwarded = Crc8::NEW;
        }
    }

    /// Takes the next byte from the slack buffer and holds it back until the character after it is
    /// known: the last byte before the framing mark is the CRC byte. P-5
    ///
    /// Returns a packet that begins with it and is merged into this one.
    pub(crate) fn hold(&mut self, buffer: &mut PortReceiver) -> Option<PacketId> {
        if self.held.is_some() || !buffer.peek(0)?.is_data() {
            return None;
        }
        let (cell, merged) = buffer.take()?;
        self.held = Some(cell.low());
        merged
    }

    /// True if the input has nothing for the output until it receives something.
    pub(crate) fn waits(&self, buffer: &PortReceiver, mode: AcceptMode) -> bool {
        match (self.held, buffer.fill(), mode) {
            (None, 0, _)
            | (Some(_), _, AcceptMode::Framing | AcceptMode::Nothing)
            | (Some(_), 0, AcceptMode::All) => true,
            (None, _, _) | (Some(_), _, AcceptMode::All | AcceptMode::Discard) => false,
        }
    }

    /// The next item for the output, after [`Self::hold`].
    pub(crate) fn next_item(&mut self, buffer: &mut PortReceiver, mode: AcceptMode) -> SourceItem {
        let next = buffer.peek(0);
        let byte = match (self.held, next, mode) {
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
