//! Packets and stops with their times, in bounded memory.

use analyzer::event::Picoseconds;

/// Something that lasts.
pub(super) struct TimeSpan<T> {
    pub(super) from: Picoseconds,
    pub(super) to: Picoseconds,
    pub(super) value: T,
    number: u64,
}

/// The spans of a capture; of many, some of the whole time, and the longer the more of them.
pub(super) struct SpanList<T> {
    kept: Vec<TimeSpan<T>>,
    count: u64,
}

impl<T> Default for SpanList<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), count: 0 }
    }
}

impl<T> SpanList<T> {
    /// Adds a span; keeps at least `most`.
    pub(super) fn add(&mut self, (from, to): (Picoseconds, Picoseconds), value: T, most: usize) {
        self.kept.push(TimeSpan { from, to, value, number: self.count });
        self.count += 1;
        if self.kept.len() >= 2 * most {
            self.kept.sort_by_key(TimeSpan::rank);
            self.kept.truncate(most);
        }
    }

    /// At most `most` spans in order of time, as far as they are of use, and the number of others.
    pub(super) fn shown<S>(
        &self,
        most: usize,
        mut of_use: impl FnMut(&T) -> Option<S>,
    ) -> (Vec<TimeSpan<S>>, usize) {
        let mut kept: Vec<&TimeSpan<T>> = self.kept.iter().collect();
        kept.sort_by_key(|it| it.rank());
        kept.truncate(most);
        kept.sort_by_key(|it| (it.from, it.number));
        let used = kept.into_iter().filter_map(|it| {
            let TimeSpan { from, to, number, .. } = *it;
            Some(TimeSpan { from, to, value: of_use(&it.value)?, number })
        });
        let used: Vec<TimeSpan<S>> = used.collect();
        let others = usize::try_from(self.count).unwrap_or(usize::MAX) - used.len();
        (used, others)
    }
}

impl<T> TimeSpan<T> {
    /// The rank does not depend on the other spans, so that those kept are the same whenever the others are left out.
    /// Numbers with reversed bits are spread over the whole capture; twice as long is twice as likely.
    fn rank(&self) -> (u64, u64) {
        let lasts = self.to.saturating_sub(self.from).max(1);
        (self.number.reverse_bits().checked_shr(lasts.ilog2()).unwrap_or(0), self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_ones_are_kept_and_equal_ones_are_spread_over_the_capture() {
        let mut list = SpanList::default();
        for at in 0..64 {
            let lasts = if at == 37 { 1000 } else { 10 };
            list.add((at * 100, at * 100 + lasts), at, 5);
        }
        let (shown, others) = list.shown(5, |at| Some(*at));
        let shown: Vec<u128> = shown.into_iter().map(|it| it.value).collect();
        // The long one, and of the others those with most zeros at the end.
        assert_eq!((shown, others), (vec![0, 16, 32, 37, 48], 59));
    }
}
