//! Latencies, counted, with percentiles.

use std::collections::BTreeMap;

use crate::event::Picoseconds;
use crate::totals::AddTotals;

/// Maximum of different latencies that are kept apart. *Chosen*: with characters of 12.5 ns, 12.8 µs are
/// exact.
const DISTINCT_MAX: usize = 1024;

/// Distribution of latencies. Its size is bounded: beyond 1024 different latencies they are rounded down
/// to multiples of a power of two picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyDistribution {
    counts: BTreeMap<u64, u64>,
    /// Low bits that are rounded away.
    coarse: u32,
    count: u64,
    total: Picoseconds,
}

impl AddTotals for LatencyDistribution {
    fn absorb(&mut self, other: &Self) {
        self.total.absorb(&other.total);
        for (latency, count) in &other.counts {
            self.keep(latency << other.coarse, *count);
        }
    }
}

impl LatencyDistribution {
    /// Adds a packet.
    pub fn add(&mut self, latency: Picoseconds) {
        let latency = u64::try_from(latency).unwrap_or(u64::MAX);
        self.total = self.total.saturating_add(latency.into());
        self.keep(latency, 1);
    }

    fn keep(&mut self, latency: u64, count: u64) {
        self.count += count;
        *self.counts.entry(latency >> self.coarse).or_default() += count;
        while self.counts.len() > DISTINCT_MAX {
            self.coarse += 1;
            for (latency, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(latency >> 1).or_default() += count;
            }
        }
    }

    /// Latency that this percentage of packets does not exceed; none without packets.
    pub fn percentile(&self, percent: u8) -> Option<Picoseconds> {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100);
        let mut seen = 0;
        let found = self.counts.iter().find(|(_, count)| {
            seen += u128::from(**count);
            seen >= rank
        });
        found.map(|(latency, _)| Picoseconds::from(latency << self.coarse))
    }

    /// Different latencies, ascending, with their numbers of packets.
    pub fn counts(&self) -> impl Iterator<Item = (Picoseconds, u64)> {
        self.counts
            .iter()
            .map(|(latency, count)| (Picoseconds::from(*latency) << self.coarse, *count))
    }

    /// Mean latency; none without packets.
    pub fn mean(&self) -> Option<Picoseconds> {
        self.total.checked_div(self.count.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_the_nearest_rank_of_latencies_rounded_if_they_are_many() {
        let mut latencies = LatencyDistribution::default();
        assert_eq!((latencies.percentile(50), latencies.mean()), (None, None));
        (1..=200).for_each(|latency| latencies.add(latency));
        let found = [0, 50, 99, 100].map(|percent| latencies.percentile(percent));
        assert_eq!(found, [Some(1), Some(100), Some(198), Some(200)]);
        assert_eq!(latencies.mean(), Some(100));
        let mut more = latencies.clone();
        more.absorb(&latencies);
        assert_eq!((more.percentile(50), more.mean(), more.count), (Some(100), Some(100), 400));
        let mut latencies = LatencyDistribution::default();
        (0..100_000).for_each(|latency| latencies.add(latency));
        let mut sum = LatencyDistribution::default();
        sum.absorb(&latencies);
        assert_eq!((sum.percentile(50), sum.count), (latencies.percentile(50), latencies.count));
        latencies.add(u128::MAX);
        assert!(latencies.counts.len() <= DISTINCT_MAX);
        let median = latencies.percentile(50).unwrap();
        assert!((49_000..=50_001).contains(&median) || latencies.coarse > 50, "{median}");
    }
}
