//! Loop that follows the edges of a `sendclk`.

use super::WIRES;

/// Bits behind the point of the tracked period.
const FRACTION_BITS: u32 = 16;

/// Shares of a residual, as powers of two, that correct the phase and the period.
const PHASE_SHIFT: u32 = 6;
const PERIOD_SHIFT: u32 = 14;

/// Share of the learned period, as a power of two, that the tracked one may be off.
const RANGE_SHIFT: u32 = 9;

/// Second-order loop that follows the edges of a `sendclk`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeTracker {
    /// Femtoseconds, with `FRACTION_BITS` behind the point.
    period: u64,
    /// Range of the period.
    periods: (u64, u64),
    /// Time of the edge of the place.
    pub(super) edge_fs: u64,
    /// Time from `edge_fs` to the edge, in the unit of the period.
    fraction: u64,
    /// Periods since the beginning of the recording.
    pub(super) place: u64,
}

impl EdgeTracker {
    pub(super) const fn new(period_fs: u64, edge_fs: u64) -> Self {
        let place = edge_fs.saturating_add(period_fs / 2) / period_fs;
        let period = period_fs << FRACTION_BITS;
        let periods = (period - (period >> RANGE_SHIFT), period + (period >> RANGE_SHIFT));
        Self { period, periods, edge_fs, fraction: 0, place }
    }

    pub(super) const fn period_fs(&self) -> u64 {
        self.period >> FRACTION_BITS
    }

    /// The longest period that is followed.
    pub(super) const fn longest_fs(&self) -> u64 {
        self.periods.1 >> FRACTION_BITS
    }

    pub(super) const fn since_edge(&self, time_fs: u64) -> i64 {
        time_fs.wrapping_sub(self.edge_fs).cast_signed()
    }

    pub(super) const fn phase(&self, time_fs: u64) -> i64 {
        remainder(self.since_edge(time_fs), self.period_fs().cast_signed())
    }

    /// Moves to the edge nearest to a time, but never back. Returns the periods moved and the time
    /// since that edge.
    pub(super) fn place(&mut self, time_fs: u64) -> (u64, i64) {
        let (half, since) = (self.period_fs() / 2, self.since_edge(time_fs));
        if since <= half.cast_signed() {
            return (0, since);
        }
        let since = since.unsigned_abs().saturating_add(half);
        let count = (since / self.period_fs()).max(1);
        let moved = u128::from(count) * u128::from(self.period) + u128::from(self.fraction);
        self.fraction = u64::try_from(moved % (1 << FRACTION_BITS)).unwrap_or_default();
        let moved = u64::try_from(moved >> FRACTION_BITS).unwrap_or(u64::MAX);
        self.edge_fs = self.edge_fs.saturating_add(moved);
        self.place = self.place.saturating_add(count);
        (count, self.since_edge(time_fs))
    }

    /// A time that is a quarter of any period, or less.
    pub(super) const fn near_fs(&self) -> u64 {
        (self.periods.0 >> FRACTION_BITS) / 4
    }

    /// True if the corrections by one transition near an edge, of up to nine wires, leave the period in its range: each is
    /// less than the `1 << FRACTION_BITS`th part of the period.
    #[inline]
    pub(super) const fn is_free(&self) -> bool {
        let (shortest, longest) = self.periods;
        let margin = self.longest_fs() * WIRES as u64;
        self.period > shortest + margin && self.period < longest - margin
    }

    /// The next edge.
    #[inline]
    pub(super) const fn next(&self) -> Self {
        let ahead = self.period.wrapping_add(self.fraction);
        Self {
            edge_fs: self.edge_fs.wrapping_add(ahead >> FRACTION_BITS),
            fraction: ahead % (1 << FRACTION_BITS),
            place: self.place.wrapping_add(1),
            ..*self
        }
    }

    /// Corrects phase and period by the sum of times of wires near the edge, which is one period or none after the one
    /// before it.
    #[inline]
    pub(super) fn correct_near(&mut self, since_edge: i64) {
        self.edge_fs = self.edge_fs.wrapping_add_signed(since_edge >> PHASE_SHIFT);
        self.period = self.period.wrapping_add_signed(since_edge << (FRACTION_BITS - PERIOD_SHIFT));
    }

    /// Moves the edge to the time of a transition. Returns the time since it.
    pub(super) const fn jump(&mut self, since_edge: i64) -> i64 {
        self.edge_fs = self.edge_fs.saturating_add_signed(since_edge);
        0
    }

    /// Corrects phase and period by the time of a transition since its edge, `moved` periods after
    /// the one before it.
    pub(super) fn correct(&mut self, since_edge: i64, moved: u64) {
        self.edge_fs = self.edge_fs.saturating_add_signed(since_edge >> PHASE_SHIFT);
        let correction = (since_edge << FRACTION_BITS) >> PERIOD_SHIFT;
        let share = correction / moved.max(1).cast_signed().max(1);
        let (shortest, longest) = self.periods;
        self.period = self.period.saturating_add_signed(share).clamp(shortest, longest);
    }
}

/// Remainder of a time by a period, for most times without a division: they are less than a period from 0 to the period.
#[inline]
pub(super) const fn remainder(time: i64, period: i64) -> i64 {
    let not_negative = if time < 0 { time.wrapping_add(period) } else { time };
    let below = if not_negative >= period { not_negative - period } else { not_negative };
    if below >= 0 && below < period { below } else { time.rem_euclid(period) }
}
