//! Activity of a channel over time, in bounded memory: cells are merged in pairs as time goes on.

use codec::time::Tick;

use super::interval::ChannelActivity;
use crate::totals::AddTotals;

/// Cells of a history. *Chosen*: in a long capture at least 128 are used, twice as many as a line of
/// text shows; 14 KiB per channel.
const CELLS: usize = 256;

/// Periods spent in each activity, in up to 256 cells of equal length from the first character on.
#[derive(Clone, Debug, Default)]
pub struct ActivityHistory {
    first: Option<Tick>,
    /// Log2 of the periods of a cell.
    shift: u32,
    cells: Vec<[u64; ChannelActivity::ALL.len()]>,
}

impl ActivityHistory {
    /// Adds an interval. Intervals come in order.
    pub(super) fn add(&mut self, start: Tick, end: Tick, activity: ChannelActivity) {
        let first = *self.first.get_or_insert(start);
        let (start, end) = (start.since(first).0, end.since(first).0);
        if start >= end {
            return;
        }
        let cell = |at: u64, shift: u32| usize::try_from(at >> shift).unwrap_or(usize::MAX);
        while cell(end - 1, self.shift) >= CELLS {
            self.merge();
        }
        let (from, to) = (cell(start, self.shift), cell(end - 1, self.shift));
        if self.cells.len() <= to {
            self.cells.resize(to + 1, [0; ChannelActivity::ALL.len()]);
        }
        let len = 1 << self.shift;
        let mut left = start - ((start >> self.shift) << self.shift);
        let mut rest = end - start;
        for cell in self.cells.iter_mut().take(to + 1).skip(from) {
            let part = rest.min(len - left);
            if let Some(time) = cell.get_mut(activity.index()) {
                *time += part;
            }
            (left, rest) = (0, rest - part);
        }
    }

    fn merge(&mut self) {
        let merged = self.cells.chunks(2).map(|pair| {
            let mut sum = [0; ChannelActivity::ALL.len()];
            pair.iter().for_each(|cell| sum.absorb(cell));
            sum
        });
        self.cells = merged.collect();
        self.shift += 1;
    }

    /// Approximate time spent in each activity between two characters, in thousandths of a period. Cells at
    /// the edges count in proportion.
    pub fn between(&self, from: Tick, to: Tick) -> [u128; ChannelActivity::ALL.len()] {
        let mut sum = [0; ChannelActivity::ALL.len()];
        let Some(first) = self.first else { return sum };
        let len = 1_u128 << self.shift;
        let (from, to) = (u128::from(from.0), u128::from(to.0));
        let mut start = u128::from(first.0);
        for cell in &self.cells {
            let inside = to.min(start + len).saturating_sub(from.max(start));
            for (sum, time) in sum.iter_mut().zip(cell) {
                // In thousandths, so that parts of short cells count.
                *sum += u128::from(*time) * 1000 * inside / len;
            }
            start += len;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_merge_nothing_is_lost_and_memory_does_not_grow() {
        let mut history = ActivityHistory::default();
        history.add(Tick(10), Tick(20), ChannelActivity::Idle);
        history.add(Tick(20), Tick(1000), ChannelActivity::Sending);
        history.add(Tick(2000), Tick(1_000_000), ChannelActivity::Open);
        assert!(history.cells.len() <= CELLS);
        let all = history.between(Tick(0), Tick(2_000_000));
        assert_eq!(all.map(|time| time / 1000), [0, 998_000, 0, 0, 980, 0, 10]);
        // 2^12 periods a cell: 256 of them are 2^20 periods, more than a million.
        assert_eq!(history.shift, 12);
        let mut history = ActivityHistory::default();
        history.add(Tick(0), Tick(u64::MAX), ChannelActivity::Open);
        assert_eq!(history.cells.len(), CELLS);
        let half = history.between(Tick(0), Tick(1 << 63));
        assert_eq!(half[ChannelActivity::Open.index()], 1000 << 63);
    }
}
