//! Loop that follows the edges of a `sendclk`.

/// Bits behind the point of the tracked period.
const FRACTION_BITS: u32 = 16;

/// Shares of a residual, as powers of two, that correct the phase and the period.
const PHASE_SHIFT: u32 = 6;
const PERIOD_SHIFT: u32 = 14;

/// Share of the learned period, as a power of two, that the tracked one may be off.
const RANGE_SHIFT: u32 = 9;

/// Second-order loop that follows the edges of a `sendclk`.
#[derive(Clone, Debug)]
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

    /// Time since the edge.
    pub(super) const fn since_edge(&self, time_fs: u64) -> i64 {
        time_fs.wrapping_sub(self.edge_fs).cast_signed()
    }

    pub(super) const fn phase(&self, time_fs: u64) -> i64 {
        self.since_edge(time_fs).rem_euclid(self.period_fs().cast_signed())
    }

    /// Moves to the edge nearest to a time, but never back. Returns the periods moved and the time
    /// since that edge.
    pub(super) fn place(&mut self, time_fs: u64) -> (u64, i64) {
        let half = self.period_fs() / 2;
        let since = self.since_edge(time_fs);
        if since <= half.cast_signed() {
            return (0, since);
        }
        let since = since.unsigned_abs().saturating_add(half);
        // Consecutive characters need no division.
        let count = if since < 4 * half { 1 } else { since / self.period_fs() };
        let moved = u128::from(count) * u128::from(self.period) + u128::from(self.fraction);
        self.fraction = u64::try_from(moved % (1 << FRACTION_BITS)).unwrap_or_default();
        let moved = u64::try_from(moved >> FRACTION_BITS).unwrap_or(u64::MAX);
        self.edge_fs = self.edge_fs.saturating_add(moved);
        self.place = self.place.saturating_add(count);
        (count, self.since_edge(time_fs))
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
