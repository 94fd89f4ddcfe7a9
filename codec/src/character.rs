//! The nine-bit character, its control symbols, and the decoding of control codes.

use std::fmt;

/// Nine-bit character, carried in one period of a channel. C-1 (§4.1)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Character {
    /// `d = 1`: a byte of a packet.
    Data(u8),
    /// `d = 0`: a control code, of which only some are symbols.
    Control(u8),
}

impl Character {
    /// The silent period: no transition on any wire. C-6 (§5.1)
    pub const IDLE: Self = Self::Control(0);

    /// The character that ends a packet. P-1
    pub const GAP: Self = Self::Control(0x0c);

    /// The nine bits `d 7 6 5 4 3 2 1 0`. C-1
    pub const fn bits(self) -> u16 {
        match self {
            Self::Data(byte) => u16::from_le_bytes([byte, 1]),
            Self::Control(code) => u16::from_le_bytes([code, 0]),
        }
    }

    /// The character of nine bits; bits above the ninth do not count. C-1
    pub const fn from_bits(bits: u16) -> Self {
        let [byte, d] = bits.to_le_bytes();
        if d & 1 == 1 { Self::Data(byte) } else { Self::Control(byte) }
    }

    /// True for a byte of a packet.
    pub const fn is_data(self) -> bool {
        matches!(self, Self::Data(_))
    }
}

/// A number below `END`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoundedNumber<const END: u8>(u8);

/// Number of a probe, 0..8; 0 is a ping. R-6 (§4.8.3)
pub type ProbeNumber = BoundedNumber<8>;

/// Status of a reply, four bits. R-6 (§4.8.3)
pub type ReplyStatus = BoundedNumber<16>;

impl<const END: u8> BoundedNumber<END> {
    /// The number, if it is below `END`.
    pub const fn new(number: u8) -> Option<Self> {
        if number < END { Some(Self(number)) } else { None }
    }

    /// The number.
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// Meaning of a virtual-channel symbol. C-7 (§4.8.4)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VirtualRole {
    /// `VCn`: the following characters belong to virtual channel n.
    Select,
    /// `GOn`: virtual channel n may send.
    Go,
    /// `STOPn`: virtual channel n must pause.
    Stop,
}

/// A control symbol, as its sender meant it. C-2 (§5.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Symbol {
    /// Fills an unused period; alone of all symbols, no sign of life. C-6, F-7
    Idle,
    /// Ends one packet and opens the next. P-1 (§4.4)
    Gap,
    /// The far receiver has room again. F-3 (§4.5.2)
    Go,
    /// The far receiver is nearly full. F-3 (§4.5.2)
    Stop,
    /// The far receiver has lost characters to an overflow. F-9 (§4.8.1)
    OverrunAlarm,
    /// The sender drops the packet in transit; the receiver discards what it holds. R-1, R-2 (§4.6)
    ForwardReset,
    /// Requests a forward reset from the receiver. R-5 (§4.8.2)
    BackwardReset,
    /// Requests a reply from the far end. R-6 (§4.8.3)
    Probe(ProbeNumber),
    /// Answers a probe. R-6 (§4.8.3)
    Reply(ReplyStatus),
    /// Virtual channels, which the specification names without a code. C-7 (§4.8.4)
    Virtual {
        /// Meaning.
        role: VirtualRole,
        /// Number of the virtual channel.
        channel: u8,
    },
}

/// The symbols with one code each. C-2
pub(crate) const FIXED: [(u8, Symbol); 7] = [
    (0x00, Symbol::Idle),
    (0x0c, Symbol::Gap),
    (0x03, Symbol::Go),
    (0x0f, Symbol::Stop),
    (0x30, Symbol::OverrunAlarm),
    (0x33, Symbol::ForwardReset),
    (0x3c, Symbol::BackwardReset),
];
const PROBE: u8 = 0xc0;
const REPLY: u8 = 0xf0;

impl Symbol {
    /// The symbol's code; none for virtual channels. C-2, C-7
    pub const fn code(self) -> Option<u8> {
        match self {
            Self::Idle => Some(0x00),
            Self::Gap => Some(0x0c),
            Self::Go => Some(0x03),
            Self::Stop => Some(0x0f),
            Self::OverrunAlarm => Some(0x30),
            Self::ForwardReset => Some(0x33),
            Self::BackwardReset => Some(0x3c),
            Self::Probe(number) => Some(PROBE + number.0),
            Self::Reply(status) => Some(REPLY + status.0),
            Self::Virtual { .. } => None,
        }
    }

    /// The specification's name of the symbol's family: `GAP`, `PRBn`, `REPLx`. C-2
    pub const fn family(self) -> &'static str {
        match self {
            Self::Idle => "IDLE",
            Self::Gap => "GAP",
            Self::Go => "GO",
            Self::Stop => "STOP",
            Self::OverrunAlarm => "ORUN",
            Self::ForwardReset => "FRES",
            Self::BackwardReset => "BRES",
            Self::Probe(_) => "PRBn",
            Self::Reply(_) => "REPLx",
            Self::Virtual { role: VirtualRole::Select, .. } => "VCn",
            Self::Virtual { role: VirtualRole::Go, .. } => "GOn",
            Self::Virtual { role: VirtualRole::Stop, .. } => "STOPn",
        }
    }
}

impl fmt::Display for Symbol {
    /// The specification's name, numbers filled in: `GAP`, `PRB3`, `REPL15`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Probe(number) => write!(f, "PRB{}", number.0),
            Self::Reply(status) => write!(f, "REPL{}", status.0),
            Self::Virtual { channel, .. } => {
                write!(f, "{}{channel}", self.family().trim_end_matches('n'))
            }
            Self::Idle
            | Self::Gap
            | Self::Go
            | Self::Stop
            | Self::OverrunAlarm
            | Self::ForwardReset
            | Self::BackwardReset => f.write_str(self.family()),
        }
    }
}

/// A control code as a receiver decodes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecodedCode {
    /// The code is a symbol's own. C-2
    Exact(Symbol),
    /// One 1 arrived as 0; only this symbol is one bit away. C-4 (§5.2)
    Corrected(Symbol),
    /// No symbol is one bit away. C-5
    Invalid,
}

impl DecodedCode {
    /// The symbol, if the code has one. C-4, C-5
    #[inline]
    pub const fn symbol(self) -> Option<Symbol> {
        match self {
            Self::Exact(symbol) | Self::Corrected(symbol) => Some(symbol),
            Self::Invalid => None,
        }
    }
}

/// Decoding of the 256 control codes on a link of one profile. C-2..C-5, C-7
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeTable([DecodedCode; 256]);

impl CodeTable {
    /// The codes of §5.2. Two symbols that claim one code fail to compile: that no weakened
    /// code is ambiguous (C-4) is part of the table's construction.
    pub const STANDARD: Self = Self(standard());

    /// Decodes a code.
    pub const fn decode(&self, code: u8) -> DecodedCode {
        #[expect(clippy::indexing_slicing, reason = "a u8 indexes 256 entries")]
        self.0[code as usize]
    }

    /// The table of a link profile that gives a code of its own to one more symbol. C-7
    ///
    /// # Errors
    /// The decoding of the code, if it is already a symbol's.
    pub fn with(mut self, code: u8, symbol: Symbol) -> Result<Self, DecodedCode> {
        match self.decode(code) {
            DecodedCode::Invalid => {
                if let Some(entry) = self.0.get_mut(usize::from(code)) {
                    *entry = DecodedCode::Exact(symbol);
                }
                Ok(self)
            }
            taken @ (DecodedCode::Exact(_) | DecodedCode::Corrected(_)) => Err(taken),
        }
    }
}

/// Decodes a code by the standard table. C-2..C-5 (§5.2)
#[inline]
pub fn decode_control(code: u8) -> DecodedCode {
    static STANDARD: CodeTable = CodeTable::STANDARD;
    STANDARD.decode(code)
}

const fn standard() -> [DecodedCode; 256] {
    let mut table = [DecodedCode::Invalid; 256];
    let mut row = 0;
    while row < FIXED.len() {
        #[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
        let (code, symbol) = FIXED[row];
        claim(&mut table, code, DecodedCode::Exact(symbol));
        let mut bit = 0;
        while bit < 8 {
            if code >> bit & 1 == 1 {
                // C-4: a 1 that arrives as 0. That the claim holds is checked by the compiler.
                claim(&mut table, code & !(1 << bit), DecodedCode::Corrected(symbol));
            }
            bit += 1;
        }
        row += 1;
    }
    let mut number = 0;
    while let Some(probe) = ProbeNumber::new(number) {
        claim(&mut table, PROBE + number, DecodedCode::Exact(Symbol::Probe(probe)));
        number += 1;
    }
    let mut status = 0;
    while let Some(reply) = ReplyStatus::new(status) {
        claim(&mut table, REPLY + status, DecodedCode::Exact(Symbol::Reply(reply)));
        status += 1;
    }
    table
}

const fn claim(table: &mut [DecodedCode; 256], code: u8, decoded: DecodedCode) {
    #[expect(clippy::indexing_slicing, reason = "a u8 indexes 256 entries")]
    let entry = &mut table[code as usize];
    assert!(matches!(entry, DecodedCode::Invalid), "two symbols claim one code");
    *entry = decoded;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-1
    #[test]
    fn nine_bits_and_characters_are_one_to_one() {
        for bits in 0..512 {
            assert_eq!(Character::from_bits(bits).bits(), bits);
            assert_eq!(Character::from_bits(bits).is_data(), bits >= 256);
        }
        assert_eq!(Character::from_bits(0x00c), Character::Control(0x0c));
        assert_eq!(Character::from_bits(0x183), Character::Data(0x83));
    }

    /// C-4 stated without the table: of the fixed codes that become `code` when one of their 1s is
    /// lost there is at most one, and none where `code` is a symbol itself.
    #[test]
    fn no_weakened_code_is_ambiguous() {
        for code in 0..=u8::MAX {
            let near: Vec<Symbol> = FIXED
                .iter()
                .filter(|(own, _)| code & !own == 0 && (code ^ own).count_ones() == 1)
                .map(|(_, symbol)| *symbol)
                .collect();
            let exact = FIXED.iter().any(|(own, _)| *own == code)
                || code >= 0xf0
                || (0xc0..0xc8).contains(&code);
            match decode_control(code) {
                DecodedCode::Exact(symbol) => {
                    assert!(exact && near.is_empty(), "{code:#04x}");
                    assert_eq!(symbol.code(), Some(code));
                }
                DecodedCode::Corrected(symbol) => assert_eq!((exact, near), (false, vec![symbol])),
                DecodedCode::Invalid => assert!(!exact && near.is_empty(), "{code:#04x}"),
            }
        }
    }

    /// C-7
    #[test]
    fn a_profile_may_give_a_free_code_to_a_virtual_channel_and_no_other() {
        let symbol = Symbol::Virtual { role: VirtualRole::Stop, channel: 2 };
        let table = CodeTable::STANDARD.with(0x55, symbol).unwrap();
        assert_eq!(table.decode(0x55), DecodedCode::Exact(symbol));
        assert_eq!(decode_control(0x55), DecodedCode::Invalid);
        assert_eq!(symbol.to_string(), "STOP2");
        assert_eq!(symbol.code(), None);
        assert_eq!(table.clone().with(0x0c, symbol), Err(DecodedCode::Exact(Symbol::Gap)));
        assert_eq!(table.with(0x04, symbol), Err(DecodedCode::Corrected(Symbol::Gap)));
    }

    ///
    #[test]
    fn there_are_eight_probes_and_sixteen_replies() {
        let probes = (0..=u8::MAX).map_while(ProbeNumber::new).map(ProbeNumber::value);
        assert!(probes.eq(0..8));
        let replies = (0..=u8::MAX).map_while(ReplyStatus::new).map(ReplyStatus::value);
        assert!(replies.eq(0..16));
        assert_eq!((ProbeNumber::new(8), ReplyStatus::new(16)), (None, None));
    }
}
