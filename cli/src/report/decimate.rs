//! Values over time in bounded memory: while there are too many, short neighbours are merged.

/// A value that stands for a stretch of time.
pub(super) trait StretchValue: Clone {
    /// Extends the value to a later stretch.
    fn merge(&mut self, later: &Self);
}

/// A value over ticks `start..end`.
#[derive(Clone, Debug)]
pub(super) struct TimeStretch<T> {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) value: T,
}

/// Stretches in order of time. Those that lie within one cell of 2^shift ticks are merged; a cell has
/// at most one of them, and the beginning of a longer one.
#[derive(Clone, Debug)]
pub(super) struct StretchList<T> {
    stretches: Vec<TimeStretch<T>>,
    shift: u32,
}

impl<T> Default for StretchList<T> {
    fn default() -> Self {
        Self { stretches: Vec::new(), shift: 0 }
    }
}

impl<T: StretchValue> StretchList<T> {
    /// Adds a stretch behind the others, and merges down to at most `most`.
    pub(super) fn add(&mut self, stretch: TimeStretch<T>, most: usize) {
        self.push(stretch);
        self.reduce(most);
    }

    /// Merges down to at most `most` stretches, but at least one.
    pub(super) fn reduce(&mut self, most: usize) {
        while self.stretches.len() > most.max(1) && self.shift < u64::BITS {
            self.shift += 1;
            let all = std::mem::take(&mut self.stretches);
            all.into_iter().for_each(|stretch| self.push(stretch));
        }
    }

    fn push(&mut self, stretch: TimeStretch<T>) {
        let cell = |at: u64| at.checked_shr(self.shift).unwrap_or(0);
        match self.stretches.last_mut() {
            Some(last) if cell(last.start) == cell(stretch.end.saturating_sub(1)) => {
                last.end = stretch.end;
                last.value.merge(&stretch.value);
            }
            Some(_) | None => self.stretches.push(stretch),
        }
    }

    /// Ticks of a cell in which stretches were merged; 0 if none were.
    pub(super) fn grain(&self) -> u64 {
        if self.shift == 0 { 0 } else { 1_u64.checked_shl(self.shift).unwrap_or(u64::MAX) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &TimeStretch<T>> {
        self.stretches.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl StretchValue for u64 {
        fn merge(&mut self, later: &Self) {
            *self += later;
        }
    }

    #[test]
    fn a_long_stretch_is_not_merged_with_short_ones_and_nothing_is_lost() {
        let mut list = StretchList::default();
        let mut at = 0;
        for n in 0..10_000 {
            let len = if n == 5_000 { 1 << 20 } else { 3 };
            list.add(TimeStretch { start: at, end: at + len, value: len }, 64);
            at += len;
        }
        assert!(list.stretches.len() <= 64, "{}", list.stretches.len());
        assert_eq!(list.iter().map(|it| it.value).sum::<u64>(), at);
        assert!(list.iter().all(|it| it.end - it.start == it.value));
        let longest = list.iter().map(|it| it.value).max().unwrap();
        assert!(longest < (1 << 20) + (2 << list.shift), "{longest}");
        list.add(TimeStretch { start: u64::MAX - 1, end: u64::MAX, value: 1 }, 1);
        assert_eq!(list.stretches.len(), 1);
    }
}
