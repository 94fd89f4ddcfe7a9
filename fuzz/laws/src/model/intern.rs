//! Values by number: equal ones are kept once, whatever their size.

use std::hash::{Hash, Hasher};

/// Every different value that was shown to it, numbered from 0 in the order of first showing.
///
/// It compares values, not only their hashes; and the hash is written down here, so that a walk is
/// the same on every machine.
#[derive(Debug)]
pub struct ValueInterner<T> {
    values: Vec<T>,
    hashes: Vec<u32>,
    /// Numbers of values plus one, or 0; as many slots as a power of two, less than half of them used.
    slots: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternedNumber {
    /// It was shown before, and has this number.
    Known(u32),
    New(u32),
}

impl InternedNumber {
    #[must_use]
    pub const fn index(self) -> u32 {
        match self {
            Self::Known(index) | Self::New(index) => index,
        }
    }
}

impl<T> Default for ValueInterner<T> {
    fn default() -> Self {
        Self { values: Vec::new(), hashes: Vec::new(), slots: vec![0; 1 << 10] }
    }
}

impl<T: Hash + Eq> ValueInterner<T> {
    pub fn number(&mut self, value: T) -> InternedNumber {
        if self.values.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(&value);
        let mut slot = self.home(hash);
        loop {
            match self.slots.get(slot).copied().unwrap_or(0).checked_sub(1) {
                Some(index) if self.is(index, hash, &value) => return InternedNumber::Known(index),
                Some(_) => slot = self.after(slot),
                None => break,
            }
        }
        let index = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value);
        self.hashes.push(hash);
        self.fill(slot, index);
        InternedNumber::New(index)
    }

    fn is(&self, index: u32, hash: u32, value: &T) -> bool {
        let index = index as usize;
        self.hashes.get(index) == Some(&hash) && self.values.get(index) == Some(value)
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for (index, hash) in (0_u32..).zip(std::mem::take(&mut self.hashes)) {
            let mut slot = self.home(hash);
            while self.slots.get(slot).is_some_and(|taken| *taken != 0) {
                slot = self.after(slot);
            }
            self.fill(slot, index);
            self.hashes.push(hash);
        }
    }
}

impl<T> ValueInterner<T> {
    #[must_use]
    pub fn value(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)
    }

    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    fn fill(&mut self, slot: usize, index: u32) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = index.saturating_add(1);
        }
    }
}

fn hash(value: &impl Hash) -> u32 {
    let mut hasher = WordHasher::default();
    value.hash(&mut hasher);
    u32::try_from(hasher.finish() >> 32).unwrap_or(0)
}

/// Multiplies and folds each word into the next. The factor is 2⁶⁴ divided by the golden ratio.
#[derive(Debug, Default)]
struct WordHasher(u64);

impl WordHasher {
    const fn mix(&mut self, word: u64) {
        let mixed = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            self.mix(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(word.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.mix(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number_and_others_another() {
        let mut interner = ValueInterner::default();
        for round in 0..2 {
            for value in 0..5000_u32 {
                let number = interner.number((value % 7, value));
                let expected = if round == 0 {
                    InternedNumber::New(value)
                } else {
                    InternedNumber::Known(value)
                };
                assert_eq!(number, expected);
            }
        }
        assert_eq!(interner.len(), 5000);
        assert_eq!(interner.value(4711), Some(&(0, 4711)));
    }
}
