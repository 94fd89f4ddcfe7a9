//! Levels of the selected signals, and their changes.

use super::{ChangeSink, SignalChange};

/// Changes that are given at once: as many as stay in the nearest cache.
pub(super) const BATCH: usize = 1024;

/// Levels of the selected signals. The first level of a signal is no change.
#[derive(Debug, Default)]
pub(super) struct SignalLevels {
    levels: u32,
    /// Signals whose level is known.
    known: u32,
    /// Signals that have changed since the last change.
    changed: u32,
    /// Changes that are not given yet.
    batch: Vec<SignalChange>,
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

    /// Takes the signals that have changed as a change at a time.
    #[inline]
    pub(super) fn end(&mut self, time_fs: u64, changes: &mut ChangeSink<'_>) {
        let signals = std::mem::take(&mut self.changed);
        if signals != 0 {
            self.batch.push(SignalChange { time_fs, signals });
            if self.batch.len() >= BATCH {
                changes(&self.batch);
                self.batch.clear();
            }
        }
    }

    /// Gives all changes, the last of them at a time.
    pub(super) fn finish(mut self, time_fs: u64, changes: &mut ChangeSink<'_>) {
        self.end(time_fs, changes);
        changes(&self.batch);
    }
}
