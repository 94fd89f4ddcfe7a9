//! Cut-through of a packet in the crossbar of a switch: strips the route byte and corrects the CRC
//! byte. P-3, P-5

use codec::crc::Crc8;

use crate::link::receiver::PortReceiver;
use crate::link::source_item::{AcceptMode, SourceItem};
use crate::link::tagged_char::{PacketId, TaggedChar, low_bytes};

/// A packet on its way through a switch. P-5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutThrough {
    /// CRC of the bytes received.
    computed: Crc8,
    /// CRC of the bytes sent.
    forwarded: Crc8,
    /// Bytes of the switch's answer left to insert. S-8
    answer_left: u16,
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
            answer_left: 0,
            held: None,
            head,
        }
    }

    /// Starts with a first byte that is passed on: a packet through an end of a fibre. N-5
    pub(crate) const fn unchanged(first: u8, head: Option<PacketId>) -> Self {
        Self { computed: Crc8::NEW, forwarded: Crc8::NEW, answer_left: 0, held: Some(first), head }
    }

    /// Inserts an answer of this length into a packet that asks for it; `route` is the byte after that.
    /// S-8
    pub(crate) fn with_answer(self, route: u8, len: usize) -> Self {
        let answer_left = u16::try_from(len).unwrap_or(u16::MAX);
        Self { computed: self.computed.push(route), answer_left, ..self }
    }

    /// True until the answer is inserted. S-8
    #[inline]
    pub(crate) const fn needs_answer(&self) -> bool {
        self.answer_left > 0
    }

    /// The next byte of the answer, if the CRC byte comes next. S-8
    #[cold]
    pub(crate) fn answer_byte(
        &mut self,
        buffer: &PortReceiver,
        mode: AcceptMode,
        answer: &[u8],
    ) -> Option<SourceItem> {
        let last = self.held.is_some() && !buffer.peek(0)?.is_data();
        if !last || mode != AcceptMode::All {
            return None;
        }
        let left = self.answer_left.checked_sub(1)?;
        let byte = *answer.iter().nth_back(left.into())?;
        self.answer_left = left;
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
        if self.needs_answer() {
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

    /// True if it has an item for an output now. C-7
    pub(crate) fn offers(&self, buffer: &PortReceiver, mode: AcceptMode) -> bool {
        let next = buffer.peek(0);
        let (held, next) = match self.held {
            None if next.is_some_and(TaggedChar::is_data) => (true, buffer.peek(1)),
            held => (held.is_some(), next),
        };
        match mode {
            AcceptMode::Nothing => false,
            AcceptMode::Framing => !held && next.is_some(),
            AcceptMode::All => next.is_some(),
            AcceptMode::Discard => held || next.is_some(),
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
