//! CRC-8 of a packet, its syndrome, and their change at a hop. P-4..P-6 (§3.3)
//!
//! The generator is x⁸+x²+x+1 = (x+1)·(a primitive polynomial of degree 7), so the powers of x
//! repeat after 127 modulo the generator. A message may therefore be reduced modulo x¹²⁷−1 first:
//! there x¹²⁸ = x, and 16 bytes are taken in by one shift of a 128-bit word. That runs at memory
//! speed, on any machine, with no table until the last 16 bytes.

/// The generator below x⁸.
const GENERATOR: u8 = 0x07;
/// Period of the powers of x modulo the generator.
const ORDER: u64 = 127;

const fn times_x(remainder: u8) -> u8 {
    (remainder << 1) ^ if remainder & 0x80 == 0 { 0 } else { GENERATOR }
}

/// Product of two remainders.
const fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = times_x(a);
        b >>= 1;
    }
    product
}

const fn x_to(power: u64) -> u8 {
    let mut remainder = 1;
    let mut done = 0;
    while done < power {
        remainder = times_x(remainder);
        done += 1;
    }
    remainder
}

/// The powers of x.
#[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
const fn powers() -> [u8; 127] {
    let mut powers = [1; 127];
    let mut power = 1;
    while power < powers.len() {
        powers[power] = times_x(powers[power - 1]);
        power += 1;
    }
    powers
}

/// `TABLES[k][b]`: the remainder of byte b followed by k + 1 zero bytes.
static TABLES: [[u8; 256]; 16] = tables();

#[expect(clippy::indexing_slicing, reason = "bounded by the loops, at compile time")]
const fn tables() -> [[u8; 256]; 16] {
    let mut tables = [[0; 256]; 16];
    let mut shift = 1;
    let mut k = 0;
    while k < 16 {
        let mut zeros = 0;
        while zeros < 8 {
            shift = times_x(shift);
            zeros += 1;
        }
        let mut byte = 0;
        while byte < 256 {
            #[expect(clippy::cast_possible_truncation, reason = "below 256")]
            let remainder = times(byte as u8, shift);
            tables[k][byte] = remainder;
            byte += 1;
        }
        k += 1;
    }
    tables
}

/// The remainder of 128 bits followed by one zero byte.
#[inline]
fn reduce(bits: u128) -> u8 {
    TABLES.iter().zip(bits.to_le_bytes()).fold(0, |remainder, (table, byte)| {
        #[expect(clippy::indexing_slicing, reason = "a u8 indexes 256 entries")]
        let part = table[usize::from(byte)];
        remainder ^ part
    })
}

/// `bits` · x^(128·`N`) modulo x¹²⁷−1, in 128 bits; `N` is below 128.
#[inline]
const fn times_x128<const N: u32>(bits: u128) -> u128 {
    (bits << N) ^ ((bits >> (128 - N)) << 1)
}

/// A message modulo x¹²⁷−1: 127 bits that distinguish messages, and from which the CRC follows, as the
/// generator divides x¹²⁷−1. P-4
///
/// It is linear: the residues of two messages of one length differ by the residue of what was flipped
/// in between, one bit where one bit was flipped. Leading and trailing bytes can be taken off again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrcResidue(u128);

impl CrcResidue {
    /// The residue of no bytes.
    pub const NEW: Self = Self(0);

    /// The residue of the bytes fed so far and these.
    #[inline]
    pub fn feed(self, bytes: &[u8]) -> Self {
        let (head, blocks) = bytes.as_rchunks::<16>();
        let start = short(head) ^ self.times_x_to(8 * head.len() as u64).0;
        Self::reduced(if blocks.is_empty() { start } else { fold(start, blocks) })
    }

    /// The residue of the bytes fed so far and `count` times these: O(bytes + log count).
    pub fn feed_repeated(self, bytes: &[u8], mut count: u64) -> Self {
        // Feeding is r -> r·x^shift + own. Doubled again and again, it is applied where a bit is set.
        let mut shift = 8 * (bytes.len() as u64 % ORDER);
        let mut own = Self::NEW.feed(bytes);
        let mut residue = self;
        while count > 0 {
            if count & 1 == 1 {
                residue = residue.times_x_to(shift).xor(own);
            }
            own = own.times_x_to(shift).xor(own);
            shift = 2 * shift % ORDER;
            count >>= 1;
        }
        residue
    }

    /// The residue times x to a power: zero bits behind the message.
    #[inline]
    pub const fn times_x_to(self, power: u64) -> Self {
        let power = power % ORDER;
        if power == 0 {
            return self;
        }
        Self((self.0 << power | self.0 >> (ORDER - power)) & MASK)
    }

    /// The sum of two residues, which is their difference.
    #[inline]
    pub const fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// The residue without the last byte fed.
    #[inline]
    pub fn without_last(self, byte: u8) -> Self {
        Self(self.0 ^ u128::from(byte)).times_x_to(ORDER - 8)
    }

    /// The residue without the leading bytes, after which `others` more were fed.
    pub fn without_first(self, bytes: &[u8], others: u64) -> Self {
        self.xor(Self::NEW.feed(bytes).times_x_to(8 * (others % ORDER)))
    }

    /// The CRC of the bytes fed so far. P-4
    #[inline]
    pub fn crc(self) -> Crc8 {
        Crc8(reduce(self.0))
    }

    /// Bit i is the coefficient of xⁱ: the last bit fed is bit 0, and so is the one 127 before it.
    pub const fn bits(self) -> u128 {
        self.0
    }

    const fn reduced(bits: u128) -> Self {
        Self((bits & MASK) ^ (bits >> ORDER))
    }
}

/// The bits of a residue.
const MASK: u128 = (1 << ORDER) - 1;

/// CRC-8 state: generator x⁸+x²+x+1, initial value 0, no final XOR. P-4 (§3.3)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Crc8(u8);

impl Crc8 {
    /// The state before the first byte.
    pub const NEW: Self = Self(0);

    /// The CRC of the bytes fed so far.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// The CRC of the bytes fed so far and this one, for single bytes.
    #[inline]
    pub fn push(self, byte: u8) -> Self {
        let [table, ..] = &TABLES;
        #[expect(clippy::indexing_slicing, reason = "a u8 indexes 256 entries")]
        Self(table[usize::from(self.0 ^ byte)])
    }

    /// The CRC of the bytes fed so far and these.
    #[inline]
    pub fn feed(self, bytes: &[u8]) -> Self {
        let (head, blocks) = bytes.as_rchunks::<16>();
        // The remainder so far belongs to the message's first byte.
        let (start, blocks) = match (head.len(), blocks.split_first()) {
            (0, None) => return self,
            (0, Some((block, rest))) => {
                (u128::from_be_bytes(*block) ^ u128::from(self.0) << 120, rest)
            }
            (len, _) => (short(head) ^ u128::from(self.0) << (8 * (len - 1)), blocks),
        };
        Self(reduce(fold(start, blocks)))
    }

    /// The difference of two CRCs: the CRC of the difference of two messages of one length.
    pub const fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// The CRC of the bytes fed so far and this many zeros.
    pub fn zeros(self, count: u64) -> Self {
        const POWERS: [u8; 127] = powers();
        let power = usize::try_from(count % ORDER * 8 % ORDER).unwrap_or_default();
        Self(times(self.0, POWERS.get(power).copied().unwrap_or_default()))
    }

    /// The syndrome, if the last byte fed was the CRC byte: computed ⊕ received, 0 when good. P-5
    pub fn syndrome(self) -> u8 {
        // What was fed last went through one factor x⁸, which x^(127 − 8) undoes.
        const UNDO: u8 = x_to(ORDER - 8);
        times(UNDO, self.0)
    }
}

/// Fewer than 16 bytes, the last lowest. Two words that overlap agree on what they share.
#[inline]
fn short(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let first = u128::from(u64::from_be_bytes(*first));
        first << (8 * (len - 8)) | u128::from(u64::from_be_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let first = u128::from(u32::from_be_bytes(*first));
        first << (8 * (len - 4)) | u128::from(u32::from_be_bytes(*last))
    } else {
        bytes.iter().fold(0, |word, byte| word << 8 | u128::from(*byte))
    }
}

/// Folds further blocks behind `start`.
#[inline]
fn fold(start: u128, blocks: &[[u8; 16]]) -> u128 {
    // Four words at once, 64 bytes apart, so that no shift waits for the one before it.
    let (quads, rest) = blocks.as_chunks::<4>();
    let mut lanes = [0, 0, 0, start];
    for quad in quads {
        for (lane, block) in lanes.iter_mut().zip(quad) {
            *lane = times_x128::<4>(*lane) ^ u128::from_be_bytes(*block);
        }
    }
    let folded = lanes.iter().fold(0, |word, lane| times_x128::<1>(word) ^ lane);
    rest.iter().fold(folded, |word, block| times_x128::<1>(word) ^ u128::from_be_bytes(*block))
}

/// The CRC of a packet before its CRC byte, header included. P-4 (§3.3)
pub fn crc8(bytes: &[u8]) -> u8 {
    Crc8::NEW.feed(bytes).value()
}

/// The syndrome of a packet that ends with its CRC byte: 0 when good. Nothing for a packet too
/// short to have one (P-9). P-5, P-6
pub fn syndrome(packet: &[u8]) -> Option<u8> {
    match packet {
        [] | [_] => None,
        [body @ .., crc] => Some(crc8(body) ^ crc),
    }
}

/// The CRC byte of a packet that a switch forwards, the used byte stripped:
/// the syndrome at its input ⊕ the CRC of the forwarded bytes. P-5 (§3.3)
///
/// `None` for a packet of fewer than three bytes: nothing would be left to check.
pub fn crc_after_hop(packet: &[u8]) -> Option<u8> {
    match packet {
        [] | [_] | [_, _] => None,
        [_, rest @ .., _] => Some(syndrome(packet)? ^ crc8(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, a bit at a time.
    fn long_division(bytes: &[u8]) -> u8 {
        bytes.iter().fold(0, |crc, byte| (0..8).fold(crc ^ byte, |r, _| times_x(r)))
    }

    /// P-4
    #[test]
    fn zeros_are_fed_at_once_and_crcs_differ_by_that_of_the_difference() {
        for count in 0..300_u64 {
            let zeros = vec![0; usize::try_from(count).unwrap()];
            let [one, other] = [0x83, 0x5a].map(|byte| Crc8::NEW.push(byte));
            assert_eq!(one.zeros(count), one.feed(&zeros), "{count}");
            assert_eq!(one.xor(other).zeros(count), one.feed(&zeros).xor(other.feed(&zeros)));
        }
    }

    /// P-4
    #[test]
    fn check_values_the_order_of_x_and_every_length_are_those_of_the_rule() {
        assert_eq!(crc8(&[0; 40]), 0);
        assert_eq!(crc8(b"123456789"), 0xf4);
        assert_eq!(x_to(ORDER), 1);
        assert!((1..ORDER).all(|power| x_to(power) != 1));
        let bytes: Vec<u8> =
            (0..700_u32).map(|i| (i * i * 31 + i * 7 + 5).to_le_bytes()[1]).collect();
        for len in 0..bytes.len() {
            assert_eq!(crc8(&bytes[..len]), long_division(&bytes[..len]), "length {len}");
            // And byte by byte.
            let pushed = bytes[..len].iter().fold(Crc8::NEW, |crc, byte| crc.push(*byte));
            assert_eq!(pushed.value(), crc8(&bytes[..len]), "length {len}");
        }
    }

    #[test]
    fn a_residue_gives_the_crc_can_be_taken_apart_and_shows_a_flipped_bit() {
        let bytes: Vec<u8> =
            (0..700_u32).map(|i| (i * i * 31 + i * 7 + 5).to_le_bytes()[1]).collect();
        for len in 0..bytes.len() {
            let whole = CrcResidue::NEW.feed(&bytes[..len]);
            assert_eq!(whole.crc().value(), long_division(&bytes[..len]), "length {len}");
            let (first, rest) = bytes[..len].split_at(len / 3);
            assert_eq!(CrcResidue::NEW.feed(first).feed(rest), whole);
            let tail = CrcResidue::NEW.feed(rest);
            assert_eq!(whole.without_first(first, rest.len() as u64), tail);
            if let [body @ .., last] = rest {
                assert_eq!(tail.without_last(*last), CrcResidue::NEW.feed(body));
            }
        }
        let thrice = [&bytes[..], &bytes[..], &bytes[..]].concat();
        assert_eq!(CrcResidue::NEW.feed_repeated(&bytes, 3), CrcResidue::NEW.feed(&thrice));
        let mut bytes = vec![0x5a; 100];
        let before = CrcResidue::NEW.feed(&bytes);
        bytes[60] ^= 0x20;
        let difference = CrcResidue::NEW.feed(&bytes).xor(before);
        // 39 bytes behind it, and 5 bits in its byte.
        assert_eq!(difference.bits(), 1 << ((39 * 8 + 5) % 127));
    }

    /// P-6
    #[test]
    fn a_syndrome_can_be_read_from_the_whole_of_all_but_short_packets() {
        let packet = [0x83, 0x05, 0xaa, 0xbb, 0xcc, 0x12];
        assert_eq!(Crc8::NEW.feed(&packet).syndrome(), syndrome(&packet).unwrap());
        assert_eq!([&[0x80][..], &[0x80, 0x89]].map(syndrome), [None, Some(0)]);
        assert_eq!(crc_after_hop(&[0x80, 0x89]), None);
    }

    #[test]
    fn repeats_of_more_bits_than_can_be_counted_are_fed() {
        let bytes = b"repeated";
        let head = CrcResidue::NEW.feed(b"a head");
        let all = head.feed_repeated(bytes, u64::MAX);
        assert_eq!(head.feed_repeated(bytes, u64::MAX - 1).feed(bytes), all);
        // 127 bytes more behind it change nothing: x has order 127.
        let turn = ORDER << 57;
        assert_eq!(all.without_first(b"head", turn), all.without_first(b"head", 0));
        let [most, least] = [u64::MAX, u64::MAX % ORDER];
        assert_eq!(all.without_first(b"head", most), all.without_first(b"head", least));
    }
}
