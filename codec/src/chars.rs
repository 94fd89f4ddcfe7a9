//! Sequences of characters in two bit planes.
//!
//! Low bytes stand in one plane, `d` bits in the other. The control characters are the zero bits
//! of the `d` plane, found 64 at a time; the data between them is one contiguous slice.

use std::ops::Range;

use crate::character::Character;

/// Borrowed sequence of characters. Splitting copies nothing.
#[derive(Clone, Copy, Default)]
pub struct Chars<'a> {
    low: &'a [u8],
    /// At least as many bits as `low` has bytes, `skip` not counted.
    d: &'a [u8],
    /// Bits of `d` before the first character's, 0..8.
    skip: u8,
}

/// Consecutive characters of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharRun<'a> {
    /// Bytes of a packet, at least one.
    Data(&'a [u8]),
    /// Control codes, at least one.
    Control(&'a [u8]),
}

impl<'a> Chars<'a> {
    /// Characters from their two planes: low bytes, and `d` bits, least significant first, in just
    /// as many bytes as they take. `None` if the planes differ in length.
    pub fn from_planes(low: &'a [u8], d: &'a [u8]) -> Option<Self> {
        (d.len() == low.len().div_ceil(8)).then_some(Self { low, d, skip: 0 })
    }

    /// Number of characters.
    pub const fn len(&self) -> usize {
        self.low.len()
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// The low bytes: those of data and the codes of control characters alike.
    pub const fn low(&self) -> &'a [u8] {
        self.low
    }

    /// The character at a place.
    #[inline]
    pub fn get(&self, at: usize) -> Option<Character> {
        let [d, ..] = self.d_word(at).to_le_bytes();
        Some(Character::from_bits(u16::from_le_bytes([*self.low.get(at)?, d])))
    }

    /// The characters before a place and those from it on. Beyond the end counts as the end.
    #[inline]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len());
        let (before, after) = self.low.split_at(at);
        let bit = usize::from(self.skip) + at;
        let rest = self.d.get(bit / 8..).unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "a remainder of 8")]
        let skip = (bit % 8) as u8;
        (Self { low: before, ..self }, Self { low: after, d: rest, skip })
    }

    /// The characters of a range of places, as far as they exist.
    pub fn slice(self, places: Range<usize>) -> Self {
        self.split_at(places.end).0.split_at(places.start).1
    }

    /// The `d` bits of 64 characters from `at` on, the first lowest. What lies beyond the last
    /// character is arbitrary.
    #[inline]
    fn d_word(&self, at: usize) -> u64 {
        let bit = usize::from(self.skip) + at;
        let (tail, shift) = (self.d.get(bit / 8..).unwrap_or_default(), bit % 8);
        let (word, next) = if let Some((word, rest)) = tail.split_first_chunk::<8>() {
            (*word, rest.first().copied().unwrap_or_default())
        } else {
            let mut word = [0; 8];
            word.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
            (word, 0)
        };
        // Shifted in two steps: a shift by 64 is not defined.
        (u64::from_le_bytes(word) >> shift) | ((u64::from(next) << 1) << (63 - shift))
    }

    /// Place of the first character whose bit in `marked` is set, words of the `d` plane given.
    #[inline]
    fn first(&self, marked: impl Fn(u64) -> u64) -> usize {
        let word = marked(self.d_word(0));
        if word != 0 || self.len() <= 64 {
            return self.len().min(word.trailing_zeros() as usize);
        }
        // From here on whole words, eight bytes of the plane each, in place of shifted ones.
        let bits = usize::from(self.skip) + self.len();
        let plane = self.d.get(8..bits.div_ceil(8)).unwrap_or_default();
        let (words, _) = plane.as_chunks::<8>();
        let unmarked = words.iter().take_while(|word| marked(u64::from_le_bytes(**word)) == 0);
        let mut at = 64 * (1 + unmarked.count()) - usize::from(self.skip);
        while at < self.len() {
            let word = marked(self.d_word(at));
            if word != 0 {
                return self.len().min(at + word.trailing_zeros() as usize);
            }
            at += 64;
        }
        self.len()
    }

    /// Number of data characters at the head: the place of the first control character.
    #[inline]
    pub fn data_len(&self) -> usize {
        self.first(|d| !d)
    }

    /// Number of control characters at the head: the place of the first data character.
    #[inline]
    pub fn control_len(&self) -> usize {
        self.first(|d| d)
    }

    /// Number of data characters.
    pub fn data_count(&self) -> usize {
        let words = (0..self.len()).step_by(64);
        words.fold(0, |count, at| {
            let beyond = 64_usize.saturating_sub(self.len() - at);
            // At least one character is left, so the shift stays below 64.
            count + (self.d_word(at) << beyond).count_ones() as usize
        })
    }

    /// The characters as alternating runs of data and control.
    #[inline]
    pub fn runs(mut self) -> impl Iterator<Item = CharRun<'a>> {
        std::iter::from_fn(move || {
            let data = self.data_len();
            let (run, rest) = self.split_at(if data > 0 { data } else { self.control_len() });
            self = rest;
            (!run.is_empty()).then_some(if data > 0 {
                CharRun::Data(run.low)
            } else {
                CharRun::Control(run.low)
            })
        })
    }

    /// The characters one by one: for tests and for text, not for hot paths.
    pub fn iter(self) -> impl Iterator<Item = Character> + Clone {
        (0..self.len()).filter_map(move |at| self.get(at))
    }
}

impl PartialEq for Chars<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.low == other.low && self.runs().eq(other.runs())
    }
}

impl Eq for Chars<'_> {}

/// Growable buffer of characters.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CharBuf {
    low: Vec<u8>,
    /// ⌈`low.len()` / 8⌉ bytes; unused bits are 0.
    d: Vec<u8>,
}

impl CharBuf {
    /// No characters.
    pub const fn new() -> Self {
        Self { low: Vec::new(), d: Vec::new() }
    }

    /// The characters.
    pub fn chars(&self) -> Chars<'_> {
        Chars { low: &self.low, d: &self.d, skip: 0 }
    }

    /// The `d` plane: bit i mod 8 of byte i div 8 is `d` of character i, unused bits 0.
    pub fn d_plane(&self) -> &[u8] {
        &self.d
    }

    /// Number of characters.
    pub const fn len(&self) -> usize {
        self.low.len()
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// Adds one character.
    pub fn push(&mut self, character: Character) {
        let [low, d] = character.bits().to_le_bytes();
        self.push_block(&[low], d.into());
    }

    /// Adds at most 64 characters: low bytes, and `d` bits, the first lowest. Bits above them are 0.
    pub(crate) fn push_block(&mut self, low: &[u8], d: u64) {
        self.push_d(d, low.len());
        self.low.extend_from_slice(low);
    }

    /// Adds silent periods. C-6
    pub fn push_idle(&mut self, periods: usize) {
        self.low.resize(self.low.len() + periods, 0);
        self.d.resize(self.low.len().div_ceil(8), 0);
    }

    /// Removes the characters and keeps the allocation.
    pub fn clear(&mut self) {
        self.low.clear();
        self.d.clear();
    }

    /// Adds bytes of a packet.
    pub fn push_data(&mut self, bytes: &[u8]) {
        for run in bytes.chunks(64) {
            self.push_block(run, u64::MAX >> (64 - run.len()));
        }
    }

    /// Adds a run of characters.
    pub fn push_chars(&mut self, chars: Chars<'_>) {
        let bytes = chars.len().div_ceil(8);
        if self.low.len().is_multiple_of(8)
            && let (0, Some(d)) = (chars.skip, chars.d.get(..bytes))
        {
            // Both planes go over as they are, but for bits beyond the last character.
            self.low.extend_from_slice(chars.low);
            self.d.extend_from_slice(d);
            if let Some(last) = self.d.last_mut().filter(|_| !chars.len().is_multiple_of(8)) {
                *last &= u8::MAX >> (8 - chars.len() % 8);
            }
            return;
        }
        for (block, run) in chars.low.chunks(64).enumerate() {
            let d = chars.d_word(block * 64) & (u64::MAX >> (64 - run.len()));
            self.push_block(run, d);
        }
    }

    /// Adds `count` bits (0..=64) to the `d` plane, ahead of their low bytes. Bits of `word` above
    /// them are 0.
    fn push_d(&mut self, word: u64, count: usize) {
        let free = self.d.len() * 8 - self.low.len();
        if let Some(last) = self.d.last_mut().filter(|_| free > 0) {
            let [head, ..] = (word << (8 - free)).to_le_bytes();
            *last |= head;
        }
        let bytes = count.saturating_sub(free).div_ceil(8);
        self.d.extend((word >> free).to_le_bytes().iter().take(bytes));
    }
}

impl Extend<Character> for CharBuf {
    fn extend<I: IntoIterator<Item = Character>>(&mut self, characters: I) {
        characters.into_iter().for_each(|character| self.push(character));
    }
}

impl FromIterator<Character> for CharBuf {
    fn from_iter<I: IntoIterator<Item = Character>>(characters: I) -> Self {
        let mut buf = Self::new();
        buf.extend(characters);
        buf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_periods_are_idles_one_by_one() {
        for before in 0..20 {
            let (mut once, mut each) = (CharBuf::new(), CharBuf::new());
            once.push_data(&[0x83; 20][..before]);
            each.push_data(&[0x83; 20][..before]);
            once.push_idle(0);
            once.push_idle(77);
            each.extend([Character::IDLE; 77]);
            once.push_data(&[5]);
            each.push(Character::Data(5));
            assert!(once == each, "{before}");
        }
    }

    #[test]
    fn what_is_cleared_is_as_new() {
        let mut buf = CharBuf::new();
        buf.extend([Character::Data(1), Character::GAP]);
        assert!(!buf.is_empty());
        buf.clear();
        assert!(buf.is_empty() && buf.d_plane().is_empty());
        assert_eq!(buf, CharBuf::new());
    }
}
