//! A character on a wire or in a slack buffer, tagged with the packet boundary it belongs to. The
//! tag is not on the wire: the truth and the faults use it.

use std::collections::VecDeque;
use std::fmt;

use codec::Character;

pub use crate::node::PacketId;

/// A character, and tags for the first byte and the end of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaggedChar(u16);

const END: u16 = 0x400;
const HEAD: u16 = 0x200;
const DATA: u16 = 0x100;

impl TaggedChar {
    /// A silent period.
    pub const IDLE: Self = Self::of(Character::IDLE);
    /// GAP on a wire; the framing mark in a slack buffer. F-5
    pub const GAP: Self = Self::of(Character::GAP);

    /// The GAP that ends a packet, on a wire.
    pub const END: Self = Self(Self::GAP.0 | END);

    /// A character without a tag.
    pub const fn of(character: Character) -> Self {
        Self(character.bits())
    }

    /// A control code.
    pub const fn control(code: u8) -> Self {
        Self(code as u16)
    }

    /// A data byte without a tag.
    pub const fn data(byte: u8) -> Self {
        Self(DATA | byte as u16)
    }

    /// Tags the character as the first of a packet.
    pub(crate) const fn as_head(self) -> Self {
        Self(self.0 | HEAD)
    }

    /// True if a packet begins here, even if its first byte was changed on the wire.
    #[inline]
    pub(crate) const fn is_head(self) -> bool {
        self.0 & HEAD != 0
    }

    /// True if it was sent as the GAP that ends a packet.
    pub(crate) const fn is_end(self) -> bool {
        self.0 & END != 0
    }

    /// True for a byte that begins no packet.
    #[inline]
    pub(crate) const fn is_plain(self) -> bool {
        self.0 & (DATA | HEAD) == DATA
    }

    /// True for data, false for control codes.
    #[inline]
    pub const fn is_data(self) -> bool {
        self.0 & DATA != 0
    }

    /// The data byte or the control code.
    #[inline]
    pub const fn low(self) -> u8 {
        let [low, _] = self.0.to_le_bytes();
        low
    }

    /// The character without its tag.
    #[inline]
    pub const fn character(self) -> Character {
        Character::from_bits(self.0)
    }

    /// Replaces the nine bits and keeps the tag.
    pub(crate) const fn with_bits(self, bits: u16) -> Self {
        Self(self.0 & (HEAD | END) | bits & 0x1ff)
    }

    /// The nine bits. C-1
    pub(crate) const fn bits(self) -> u16 {
        self.0 & 0x1ff
    }
}

/// Moves the first characters of a queue to the end of a list.
pub(super) fn move_cells(from: &mut VecDeque<TaggedChar>, count: usize, to: &mut Vec<TaggedChar>) {
    let count = count.min(from.len());
    let (first, second) = from.as_slices();
    let (first, _) = first.split_at(count.min(first.len()));
    let (second, _) = second.split_at(count - first.len());
    to.extend_from_slice(first);
    to.extend_from_slice(second);
    from.drain(..count);
}

/// The data bytes or control codes of characters.
pub(crate) fn low_bytes(cells: &[TaggedChar]) -> impl Iterator<Item = u8> + '_ {
    cells.iter().copied().map(TaggedChar::low)
}

impl fmt::Debug for TaggedChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_head() { "^" } else { "" };
        write!(f, "{mark}{}", self.character())
    }
}
