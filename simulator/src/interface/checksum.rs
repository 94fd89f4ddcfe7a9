//! The Internet checksum, which the DMA engine computes over the data it moves. I-5 (RFC 1071)

/// The ones' complement sum of 16-bit words, the first byte of a word its high half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InternetChecksum {
    sum: u64,
    /// The next byte is the low half of a word.
    is_low: bool,
}

impl InternetChecksum {
    /// The sum of some bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut sum = Self::default();
        sum.feed(bytes);
        sum
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let bytes = match bytes {
            [low, rest @ ..] if self.is_low => {
                self.sum += u64::from(*low);
                self.is_low = false;
                rest
            }
            _ => bytes,
        };
        // 2¹⁶ is 1 modulo 2¹⁶ − 1, so that wider words have the same sum.
        let (words, rest) = bytes.as_chunks::<4>();
        let words = words.iter().map(|word| u64::from(u32::from_be_bytes(*word)));
        self.sum = u64::from(fold(self.sum + words.sum::<u64>()));
        for byte in rest {
            self.sum += u64::from(*byte) << if self.is_low { 0 } else { 8 };
            self.is_low = !self.is_low;
        }
    }

    /// The sum; an odd last byte is padded with 0.
    pub(super) const fn sum(&self) -> u16 {
        fold(self.sum)
    }

    /// Writes the checksum of bytes into two of them, which are summed too, if they are there.
    pub(super) fn insert(self, bytes: &mut [u8], place: usize) {
        let [high, low] = self.value().to_be_bytes();
        // In an odd place the halves lie in two words, the low one first.
        let value = if place.is_multiple_of(2) { [high, low] } else { [low, high] };
        if let Some(field) = bytes.get_mut(place..).and_then(|rest| rest.get_mut(..2)) {
            field.copy_from_slice(&value);
        }
    }

    /// The checksum field, with which the sum of the whole is 0xffff. Never 0, which is none in UDP: the
    /// sum is the same with all ones (RFC 768).
    pub(super) const fn value(&self) -> u16 {
        match !self.sum() {
            0 => 0xffff,
            value => value,
        }
    }
}

/// Adds the carries back in.
const fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 0xffff")]
    let sum = sum as u16;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &[&[u8]]) -> InternetChecksum {
        let mut checksum = InternetChecksum::default();
        parts.iter().for_each(|part| checksum.feed(part));
        checksum
    }

    const EXAMPLE: [u8; 8] = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];

    #[test]
    fn the_example_of_rfc_1071_has_its_sum() {
        assert_eq!(of(&[&EXAMPLE]).sum(), 0xddf2);
        assert_eq!(of(&[&EXAMPLE]).value(), 0x220d);
    }

    #[test]
    fn it_does_not_matter_where_the_bytes_are_parted() {
        for first in 0..=EXAMPLE.len() {
            for second in first..=EXAMPLE.len() {
                let parts = [&EXAMPLE[..first], &EXAMPLE[first..second], &EXAMPLE[second..]];
                assert_eq!(of(&parts).sum(), 0xddf2, "{parts:02x?}");
            }
        }
    }

    #[test]
    fn an_odd_byte_is_a_high_half() {
        assert_eq!(of(&[&[0x12]]).sum(), 0x1200);
        assert_eq!(of(&[&[0x12, 0x34, 0x56]]).sum(), 0x6834);
    }

    #[test]
    fn nothing_sums_to_nothing_and_all_ones_to_all_ones() {
        assert_eq!(of(&[]).sum(), 0);
        assert_eq!(of(&[&[0xff; 70_001]]).sum(), 0xff00);
        assert_eq!(of(&[&[0xff; 70_000]]).sum(), 0xffff);
        assert_eq!(of(&[&[0xff; 70_000]]).value(), 0xffff);
    }
}
