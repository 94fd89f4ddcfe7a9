//! Histograms of times.

use codec::time::FULL_RATE_PERIOD_PS;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

const MILLION: u64 = 1_000_000;

/// Bits below the highest 1 of a value that select its bucket: values in a bucket differ by less
/// than 1/64. *Chosen*
const BITS: u32 = 6;

/// Histogram with buckets of width 1 up to 127 and of less than 1.6 % beyond, in at most 30 kB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHistogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    range: Option<(u64, u64)>,
}

impl LogHistogram {
    /// Records a value.
    pub fn record(&mut self, value: u64) {
        let bucket = bucket(value);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
        self.count += 1;
        self.sum += u128::from(value);
        let (min, max) = self.range.unwrap_or((value, value));
        self.range = Some((min.min(value), max.max(value)));
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact minimum.
    pub fn min(&self) -> Option<u64> {
        self.range.map(|(min, _)| min)
    }

    /// Exact maximum.
    pub fn max(&self) -> Option<u64> {
        self.range.map(|(_, max)| max)
    }

    /// Non-empty buckets in ascending order: largest possible value and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let full = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        let max = self.max().unwrap_or(0);
        full.map(move |(bucket, count)| (greatest(bucket).min(max), *count))
    }

    /// Mean, rounded down.
    pub fn mean(&self) -> Option<u64> {
        self.mean_of(1)
    }

    /// Mean of the values in a smaller unit, of which one has so many; rounded down.
    fn mean_of(&self, unit: u128) -> Option<u64> {
        let mean = self.sum.saturating_mul(unit).checked_div(self.count.into());
        mean.and_then(|mean| u64::try_from(mean).ok())
    }

    /// Quantile for a share in parts per million (500 000 is the median): never too small, too
    /// large by less than 1.6 %.
    pub fn quantile(&self, share: u32) -> Option<u64> {
        let (min, max) = self.range?;
        let rank = (u128::from(self.count) * u128::from(share)).div_ceil(MILLION.into()).max(1);
        let mut below = 0;
        let found = self.buckets.iter().position(|count| {
            below += u128::from(*count);
            below >= rank
        });
        Some(found.map_or(max, greatest).clamp(min, max))
    }
}

/// Picoseconds of periods of the full rate. §4.2
pub const fn picoseconds(periods: u64) -> u64 {
    periods.saturating_mul(FULL_RATE_PERIOD_PS as u64)
}

/// Bucket of a histogram of times, as in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct HistogramBucket {
    /// Longest possible time, in picoseconds.
    to_ps: u64,
    /// Number of times.
    count: u64,
}

/// A histogram of periods of the full rate, as in `docs/output.md`.
impl Serialize for LogHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("count", &self.count)?;
        for (name, value) in [
            ("mean_ps", self.mean_of(FULL_RATE_PERIOD_PS.into())),
            ("min_ps", self.min().map(picoseconds)),
            ("p50_ps", self.quantile(500_000).map(picoseconds)),
            ("p90_ps", self.quantile(900_000).map(picoseconds)),
            ("p99_ps", self.quantile(990_000).map(picoseconds)),
            ("p999_ps", self.quantile(999_000).map(picoseconds)),
            ("max_ps", self.max().map(picoseconds)),
        ] {
            out.serialize_entry(name, &value)?;
        }
        let bucket = |(most, count)| HistogramBucket { to_ps: picoseconds(most), count };
        out.serialize_entry("buckets", &self.buckets().map(bucket).collect::<Vec<_>>())?;
        out.end()
    }
}

/// Bucket of a value: one per value below 2·2⁶, 2⁶ per octave above.
const fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    #[expect(clippy::cast_possible_truncation, reason = "below 2^7")]
    let leading = (value >> shift) as usize;
    ((shift as usize) << BITS) + leading
}

const fn greatest(bucket: usize) -> u64 {
    let octave = (bucket >> BITS).saturating_sub(1);
    let leading = (bucket - (octave << BITS)) as u64;
    // The last bucket ends with the last value, where adding 1 would overflow.
    (leading << octave) + ((1 << octave) - 1)
}

/// Parts per million, rounded down; 0 for an empty whole.
pub(crate) fn share(part: u64, whole: u64) -> u32 {
    let share = (u128::from(part) * u128::from(MILLION)).checked_div(whole.into());
    share.map_or(0, |share| u32::try_from(share).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn histogram(values: impl IntoIterator<Item = u64>) -> LogHistogram {
        let mut histogram = LogHistogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn buckets_come_in_order_with_their_counts() {
        let found: Vec<_> = histogram([300, 5, 128, 129, 5]).buckets().collect();
        // 300 shares its bucket with 300..=303, and is the greatest value.
        assert_eq!(found, [(5, 2), (129, 2), (300, 1)]);
    }

    #[test]
    fn buckets_are_one_wide_up_to_127_and_then_64_to_an_octave() {
        assert_eq!(
            [0, 63, 64, 127, 128, 129, 130, 255, 256].map(bucket),
            [0, 63, 64, 127, 128, 128, 129, 191, 192]
        );
        assert_eq!([0, 63, 127, 128, 191, 192].map(greatest), [0, 63, 127, 129, 255, 259]);
        assert_eq!((bucket(u64::MAX), greatest(bucket(u64::MAX))), (3_775, u64::MAX));
    }

    #[test]
    fn small_values_are_exact() {
        let values = histogram([5, 1, 9, 3]);
        assert_eq!((values.count(), values.sum(), values.mean()), (4, 18, Some(4)));
        assert_eq!((values.min(), values.max()), (Some(1), Some(9)));
        let quantiles = [0, 250_000, 250_001, 500_000, 750_000, 1_000_000];
        assert_eq!(quantiles.map(|share| values.quantile(share).unwrap()), [1, 1, 3, 3, 5, 9]);
        let none = LogHistogram::default();
        assert_eq!(
            (none.min(), none.max(), none.mean(), none.quantile(1)),
            (None, None, None, None)
        );
    }

    proptest! {
        #[test]
        fn quantiles_are_exact_to_two_percent(
            values in vec((any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift), 1..200),
            share in 0..=1_000_000_u32,
        ) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let rank = (values.len() as u64 * u64::from(share)).div_ceil(MILLION).max(1);
            let exact = sorted[usize::try_from(rank).unwrap() - 1];
            let found = histogram(values).quantile(share).unwrap();
            prop_assert!(found >= exact && found - exact <= exact / 64, "{found}, not {exact}");
        }
    }
}
