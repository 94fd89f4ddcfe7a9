//! A packet on its way through the crossbar of a switch: stripped, its CRC byte corrected. P-3, P-5

use codec::crc::Crc8;

use crate::cell::{Cell, PacketId};
use crate::extension::Identity;
use crate::receiver::Receiver;
use crate::supply::{Appetite, Supply};

/// A packet on its way through a switch. P-5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// Of all that came in.
    computed: Crc8,
    /// Of all that went out.
    forwarded: Crc8,
    /// How many bytes are still to come of what the switch says of itself. S-8
    answer: u8,
    /// A byte that is held back. P-5
    held: Option<u8>,
    /// The packet, until its first byte goes out.
    head: Option<PacketId>,
}

impl Transit {
    /// Starts with the byte that the switch uses, and strips. P-3
    #[must_use]
    pub fn new(route: u8, head: Option<PacketId>) -> Self {
        Self { computed: Crc8::NEW.push(route), forwarded: Crc8::NEW, answer: 0, held: None, head }
    }

    /// Goes on with the byte behind that one: the packet asks the switch who it is. S-8
    #[must_use]
    pub fn asking(self, route: u8) -> Self {
        Self { computed: self.computed.push(route), answer: 8, ..self }
    }

    /// Whether the answer has yet to go out. S-8
    #[inline]
    #[must_use]
    pub const fn is_asking(&self) -> bool {
        self.answer > 0
    }

    /// The next byte of the answer, if the CRC byte comes next. S-8
    #[cold]
    pub fn answer(
        &mut self,
        buffer: &Receiver,
        appetite: Appetite,
        identity: &Identity,
    ) -> Option<Supply> {
        let last = self.held.is_some() && !buffer.peek(0)?.is_data();
        if !last || appetite != Appetite::All {
            return None;
        }
        let left = self.answer.checked_sub(1)?;
        let byte = identity.emit().into_iter().nth_back(left.into())?;
        self.answer = left;
        self.forwarded = self.forwarded.push(byte);
        Some(match self.head.take() {
            Some(id) => Supply::Data(Cell::data(byte).as_head(), Some(id)),
            None => Supply::Data(Cell::data(byte), None),
        })
    }

    /// The packet, if none of it has gone out.
    #[must_use]
    pub const fn head(&self) -> Option<PacketId> {
        self.head
    }

    /// The next byte for the output, if it is one between the first and the last.
    #[inline]
    pub fn stream(&mut self, buffer: &mut Receiver) -> Option<Cell> {
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
        Some(Cell::data(byte))
    }

    /// Takes the next byte from the slack buffer. It is held back until it is known what follows it:
    /// the last one before the framing mark is the CRC byte. P-5
    ///
    /// A packet that begins with it is a part of this one: it is handed back.
    pub fn hold(&mut self, buffer: &mut Receiver) -> Option<PacketId> {
        if self.held.is_some() || !buffer.peek(0)?.is_data() {
            return None;
        }
        let (cell, merged) = buffer.take()?;
        self.held = Some(cell.low());
        merged
    }

    /// Whether the input has nothing for the output until something comes in.
    #[must_use]
    pub fn waits(&self, buffer: &Receiver, appetite: Appetite) -> bool {
        match (self.held, buffer.fill(), appetite) {
            (None, 0, _)
            | (Some(_), _, Appetite::Framing | Appetite::Nothing)
            | (Some(_), 0, Appetite::All) => true,
            (None, _, _) | (Some(_), _, Appetite::All | Appetite::Discard) => false,
        }
    }

    /// What the input has for the output, once [`Transit::hold`] has had its turn.
    pub fn supply(&mut self, buffer: &mut Receiver, appetite: Appetite) -> Supply {
        let next = buffer.peek(0);
        let byte = match (self.held, next, appetite) {
            (_, _, Appetite::Nothing)
            | (None, None, _)
            | (Some(_), _, Appetite::Framing)
            | (Some(_), None, Appetite::All) => return Supply::Nothing,
            (None, Some(_), _) => {
                buffer.take();
                return Supply::Mark;
            }
            (Some(byte), _, Appetite::Discard) => {
                self.held = None;
                return Supply::Data(Cell::data(byte), None);
            }
            (Some(byte), Some(next), Appetite::All) if next.is_data() => {
                self.computed = self.computed.push(byte);
                self.forwarded = self.forwarded.push(byte);
                byte
            }
            (Some(byte), Some(_), Appetite::All) => {
                self.computed.value() ^ byte ^ self.forwarded.value()
            }
        };
        self.held = None;
        match self.head.take() {
            Some(id) => Supply::Data(Cell::data(byte).as_head(), Some(id)),
            None => Supply::Data(Cell::data(byte), None),
        }
    }
}
