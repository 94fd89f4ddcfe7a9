//! Levels of the selected signals, and their changes.

use super::SignalChange;

/// Levels of the selected signals. The first level of a signal is no change.
#[derive(Debug, Default)]
pub(super) struct SignalLevels {
    levels: u32,
    /// Signals whose level is known.
    known: u32,
    /// Signals that have changed since the last change was given.
    changed: u32,
}

impl SignalLevels {
    /// Sets the signals of a mask to the levels of the same bits.
    #[inline]
    pub(super) const fn set(&mut self, mask: u32, levels: u32) {
        let changed = (self.levels ^ levels) & mask;
        self.levels ^= changed;
        self.changed ^= changed & self.known;
        self.known |= mask;
    }

    /// Gives the signals that have changed.
    #[inline]
    pub(super) fn give(&mut self, time_fs: u64, change: &mut impl FnMut(SignalChange)) {
        let signals = std::mem::take(&mut self.changed);
        if signals != 0 {
            change(SignalChange { time_fs, signals });
        }
    }
}
