//! Set of the send table's rows with outstanding messages, so that a scan skips the others. T-10

const WORD: usize = 64;

/// Set of row numbers: a bit per row, and a bit per non-zero word, which finds the next member
/// among 4096 rows in two steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RowSet {
    words: Box<[u64]>,
    summary: Box<[u64]>,
}

impl RowSet {
    pub(super) fn new(rows: usize) -> Self {
        let words = rows.div_ceil(WORD);
        Self {
            words: vec![0; words].into_boxed_slice(),
            summary: vec![0; words.div_ceil(WORD)].into_boxed_slice(),
        }
    }

    pub(super) fn insert(&mut self, row: usize) {
        let (word, bit) = place(row);
        if let Some(members) = self.words.get_mut(word) {
            *members |= bit;
            let (word, bit) = place(word);
            if let Some(words) = self.summary.get_mut(word) {
                *words |= bit;
            }
        }
    }

    pub(super) fn remove(&mut self, row: usize) {
        let (word, bit) = place(row);
        if let Some(members) = self.words.get_mut(word) {
            *members &= !bit;
            if *members == 0 {
                let (word, bit) = place(word);
                if let Some(words) = self.summary.get_mut(word) {
                    *words &= !bit;
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.summary.iter().all(|words| *words == 0)
    }

    /// First member from `row` on.
    pub(super) fn first_from(&self, row: usize) -> Option<usize> {
        let word = row / WORD;
        if let Some(found) = first_in(&self.words, word, row % WORD) {
            return Some(found);
        }
        let (here, bit) = ((word + 1) / WORD, (word + 1) % WORD);
        let word = first_in(&self.summary, here, bit).or_else(|| {
            (here + 1..self.summary.len()).find_map(|at| first_in(&self.summary, at, 0))
        })?;
        first_in(&self.words, word, 0)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.summary)
    }
}

const fn place(bit: usize) -> (usize, u64) {
    (bit / WORD, 1 << (bit % WORD))
}

/// First bit of a word from `from` on.
fn first_in(words: &[u64], word: usize, from: usize) -> Option<usize> {
    let bits = words.get(word)? & (u64::MAX << from);
    (bits != 0).then(|| word * WORD + usize::try_from(bits.trailing_zeros()).unwrap_or(WORD))
}

#[cfg(test)]
mod tests {
    use super::RowSet;

    fn members(set: &RowSet) -> Vec<usize> {
        let mut members = Vec::new();
        let mut from = 0;
        while let Some(row) = set.first_from(from) {
            members.push(row);
            from = row + 1;
        }
        members
    }

    #[test]
    fn members_come_in_order_however_far_they_are_apart() {
        let rows = [0, 1, 63, 64, 127, 4095, 4096, 8191, 65_534];
        let mut set = RowSet::new(65_535);
        assert!(set.is_empty());
        for row in rows.iter().rev() {
            set.insert(*row);
        }
        assert_eq!(members(&set), rows);
        for (place, row) in rows.iter().enumerate() {
            assert!(!set.is_empty());
            set.remove(*row);
            assert_eq!(members(&set), rows[place + 1..]);
        }
        assert_eq!(set, RowSet::new(65_535));
    }

    #[test]
    fn a_word_keeps_its_other_members() {
        let mut set = RowSet::new(128);
        set.insert(70);
        set.insert(71);
        set.remove(71);
        assert_eq!(members(&set), [70]);
    }

    #[test]
    fn a_row_beyond_the_set_is_no_member() {
        let mut set = RowSet::new(2);
        set.insert(64);
        set.remove(64);
        assert_eq!(set, RowSet::new(2));
        assert_eq!(RowSet::new(0).first_from(0), None);
    }
}
