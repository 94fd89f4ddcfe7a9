//! Characters that a channel carries again and again.

use crate::link::shared_line::SHARES_MAX;
use crate::link::tagged_char::TaggedChar;

/// Most characters before the first one comes again: GAP, and STOP or GO of each virtual channel. F-8, C-7
const CELLS: usize = SHARES_MAX + 1;

/// Characters that follow each other again and again, each in a period of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellCycle {
    /// The first one is that of period 0, and of all multiples of `len`.
    cells: [TaggedChar; CELLS],
    len: u8,
}

impl CellCycle {
    /// A silent channel.
    pub(crate) const SILENCE: Self = Self { cells: [TaggedChar::IDLE; CELLS], len: 2 };

    /// The cycle whose first `len` characters from a period on are given, unless one is missing.
    pub(crate) fn new(
        period: u64,
        len: u8,
        mut next: impl FnMut(usize) -> Option<TaggedChar>,
    ) -> Option<Self> {
        let mut cycle = Self { len, ..Self::SILENCE };
        for place in 0..usize::from(len) {
            let cell = next(place)?;
            let at = cycle.place(period.wrapping_add(place as u64));
            cycle.cells.iter_mut().skip(at).take(1).for_each(|it| *it = cell);
        }
        Some(cycle)
    }

    /// The character of a period.
    #[inline]
    pub(crate) fn at(&self, period: u64) -> TaggedChar {
        self.cells.get(self.place(period)).copied().unwrap_or(TaggedChar::IDLE)
    }

    #[inline]
    fn place(&self, period: u64) -> usize {
        let place = if self.len == 2 { period & 1 } else { period % u64::from(self.len) };
        usize::try_from(place).unwrap_or_default()
    }

    pub(crate) const fn len(&self) -> u8 {
        self.len
    }

    /// The characters from a period on.
    pub(crate) fn from(&self, period: u64) -> impl Iterator<Item = TaggedChar> + Clone + '_ {
        (0..u64::from(self.len)).map(move |place| self.at(period.wrapping_add(place)))
    }

    /// The same characters, each this many periods later.
    pub(crate) fn later(&self, periods: u64) -> Self {
        let mut later = *self;
        for (cell, period) in later.cells.iter_mut().zip(0..u64::from(self.len)) {
            let len = u64::from(self.len);
            *cell = self.at(period + len - periods % len);
        }
        later
    }

    pub(crate) fn map(&self, change: impl Fn(TaggedChar) -> TaggedChar) -> Self {
        Self { cells: self.cells.map(change), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_has_its_characters_in_the_periods_in_which_they_were_given() {
        for len in 2..=5 {
            for first in [0, 1, 7, 1000] {
                let cell = |place| Some(TaggedChar::control(u8::try_from(place).unwrap()));
                let cycle = CellCycle::new(first, len, cell).unwrap();
                let codes = |period| cycle.from(period).map(TaggedChar::low).collect::<Vec<_>>();
                assert_eq!(codes(first), (0..len).collect::<Vec<_>>());
                assert_eq!(cycle.at(first + 10 * u64::from(len) + 1).low(), 1);
                let next = cycle.map(|cell| TaggedChar::control(cell.low() + 1));
                assert_eq!((next.at(first).low(), next.len()), (1, len));
                assert_eq!(cycle.later(8).at(first + 8).low(), 0);
            }
        }
        assert_eq!(CellCycle::new(0, 3, |place| (place < 2).then_some(TaggedChar::GAP)), None);
    }
}
