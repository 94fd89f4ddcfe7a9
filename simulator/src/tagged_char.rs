//! What stands on a wire or in a slack buffer in one place: a character, and whether a packet
//! begins or ends with it. The wire does not tell that; it is kept for the truth, and for faults.

use std::fmt;

use codec::Character;

use crate::topology::NodeId;

/// A character, and whether a packet begins or ends with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaggedChar(u16);

/// A packet: the host that injected it, and how many that host had injected before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketId {
    /// The host.
    pub host: NodeId,
    /// From 0.
    pub number: u32,
}

const END: u16 = 0x400;
const HEAD: u16 = 0x200;
const DATA: u16 = 0x100;

impl TaggedChar {
    /// A silent period.
    pub const IDLE: Self = Self::of(Character::IDLE);
    /// On a wire GAP, in a slack buffer the framing mark. F-5
    pub const GAP: Self = Self::of(Character::GAP);

    /// No character at all: equal to nothing that is ever on a wire.
    pub(crate) const NEVER: Self = Self(u16::MAX);

    /// The GAP after a packet's last byte, on a wire.
    pub const END: Self = Self(Self::GAP.0 | END);

    /// A character that begins and ends nothing.
    #[must_use]
    pub const fn of(character: Character) -> Self {
        Self(character.bits())
    }

    /// A control code.
    #[must_use]
    pub const fn control(code: u8) -> Self {
        Self(code as u16)
    }

    /// A byte within a packet.
    #[must_use]
    pub const fn data(byte: u8) -> Self {
        Self(DATA | byte as u16)
    }

    /// The same character as the first of a packet.
    #[must_use]
    pub const fn as_head(self) -> Self {
        Self(self.0 | HEAD)
    }

    /// Whether a packet begins here, whatever the wire has made of its first byte.
    #[must_use]
    #[inline]
    pub const fn is_head(self) -> bool {
        self.0 & HEAD != 0
    }

    /// Whether it was sent as the GAP that ends a packet.
    #[must_use]
    pub const fn is_end(self) -> bool {
        self.0 & END != 0
    }

    /// Whether it is data.
    #[must_use]
    #[inline]
    pub const fn is_data(self) -> bool {
        self.0 & DATA != 0
    }

    /// The byte of data, or the control code.
    #[must_use]
    #[inline]
    pub const fn low(self) -> u8 {
        let [low, _] = self.0.to_le_bytes();
        low
    }

    /// The character.
    #[must_use]
    #[inline]
    pub const fn character(self) -> Character {
        Character::from_bits(self.0)
    }

    /// The cell with its nine bits changed to others.
    #[must_use]
    pub const fn with_bits(self, bits: u16) -> Self {
        Self(self.0 & (HEAD | END) | bits & 0x1ff)
    }

    /// The nine bits. C-1
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0 & 0x1ff
    }
}

impl fmt::Debug for TaggedChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_head() { "^" } else { "" };
        write!(f, "{mark}{}", self.character())
    }
}
