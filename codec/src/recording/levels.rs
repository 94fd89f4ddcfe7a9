//! Levels of the selected signals, and their changes.

use super::{ChangeSink, ReadSummary, SELECTED_MAX, SignalChange};
use crate::wires::{WIRES, WireTransition};

/// Changes that are given at once: as many as stay in the nearest cache.
pub(super) const BATCH: usize = 1024;

/// The signals of a channel, as a set.
pub(super) const WIRES_MASK: u64 = (1 << WIRES) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalLevel {
    Low,
    High,
    Unknown,
}

impl SignalLevel {
    /// The level of a letter: 0 and L, 1 and H, and those that are none. IEEE 1164
    #[inline]
    pub(super) const fn of(letter: u8) -> Option<Self> {
        match letter {
            b'0' | b'l' | b'L' => Some(Self::Low),
            b'1' | b'h' | b'H' => Some(Self::High),
            b'x' | b'X' | b'z' | b'Z' | b'u' | b'U' | b'w' | b'W' | b'-' => Some(Self::Unknown),
            _ => None,
        }
    }

    /// The letter of a level for the state of a port, whoever drives it. IEEE 1364, extended dumps
    pub(super) const fn port_letter(state: u8) -> u8 {
        match state {
            b'D' | b'd' | b'L' | b'l' | b'0' => b'0',
            b'U' | b'u' | b'H' | b'h' | b'1' => b'1',
            _ => b'x',
        }
    }
}

/// Signals whose level is unknown, and since when.
#[derive(Clone, Debug)]
pub(super) struct UnknownLevels {
    pub(super) signals: u64,
    since_fs: [u64; SELECTED_MAX],
}

impl UnknownLevels {
    pub(super) const NONE: Self = Self { signals: 0, since_fs: [0; SELECTED_MAX] };

    /// Takes the signals that are unknown from a time on.
    pub(super) fn take(&mut self, signals: u64, time_fs: u64) {
        if signals == self.signals {
            return;
        }
        let begun = signals & !std::mem::replace(&mut self.signals, signals);
        let begun = self.since_fs.iter_mut().zip(0..).filter(|(_, at)| begun >> at & 1 == 1);
        begun.for_each(|(since_fs, _)| *since_fs = time_fs);
    }

    /// Time since which one of some signals is unknown.
    pub(super) fn since(&self, of: u64) -> Option<u64> {
        let signals = self.signals & of;
        if signals == 0 {
            return None;
        }
        let since = self.since_fs.iter().zip(0..).filter(|(_, at)| signals >> at & 1 == 1);
        since.map(|(since_fs, _)| *since_fs).min()
    }
}

/// Changes without those of signals that were unknown before for longer than a time: they have none.
pub(super) fn timed(changes: &[SignalChange], most_fs: u64) -> Vec<SignalChange> {
    let mut unknown = UnknownLevels::NONE;
    let without = |it: &SignalChange| {
        let mut signals = it.certain();
        if signals & unknown.signals != 0 {
            for signal in (0..u64::BITS).map(|at| 1 << at) {
                let since_fs = unknown.since(signal);
                let is_late = since_fs.is_some_and(|since_fs| it.time_fs - since_fs > most_fs);
                signals &= if is_late { !signal } else { u64::MAX };
            }
        }
        unknown.take(it.unknown & !it.signals, it.time_fs);
        SignalChange { signals, ..*it }
    };
    changes.iter().map(without).collect()
}

/// Adds the transitions of a channel's wires.
pub(super) fn add_transitions(
    transitions: &mut Vec<WireTransition>,
    changes: &[SignalChange],
    first_signal: u32,
    wires: &[u16; 1 << WIRES],
) {
    let mut end = transitions.len();
    transitions.resize(end + changes.len(), WireTransition { time_fs: 0, wires: 0 });
    for change in changes {
        let signals = change.certain().unbounded_shr(first_signal) & WIRES_MASK;
        let wires =
            usize::try_from(signals).ok().and_then(|at| wires.get(at)).copied().unwrap_or_default();
        // An entry without wires is overwritten: that is faster than to decide.
        if let Some(entry) = transitions.get_mut(end) {
            *entry = WireTransition { time_fs: change.time_fs, wires };
        }
        end += usize::from(wires != 0);
    }
    transitions.truncate(end);
}

/// Levels of the selected signals. Their first levels are no changes at the first time. A later one is a change of a signal of
/// which nothing was said, as dumps have changes alone. A signal that was unknown is taken as low before: a high level is a
/// change, a low one may be.
#[derive(Debug, Default)]
pub(super) struct SignalLevels {
    levels: u64,
    /// Signals whose level is known, and those whose next level is a change.
    known: u64,
    counted: u64,
    /// Signals that were unknown, before any level, and those of them that may have changed since the last change.
    stated: u64,
    doubtful: u64,
    /// Signals that have changed since the last change.
    pub(super) changed: u64,
    /// Signals that had a level and have none now, and those of the last change.
    unknown: u64,
    given: u64,
    /// Signals that were known at the last time.
    learned: u64,
    is_begun: bool,
    /// Changes that are not given yet.
    batch: Vec<SignalChange>,
    summary: ReadSummary,
}

impl SignalLevels {
    /// Sets the signals of a mask to the levels of the same bits.
    #[inline]
    pub(super) const fn set(&mut self, mask: u64, levels: u64) {
        if mask & !self.known != 0 {
            self.set_first(mask & !self.known, levels);
        }
        let changed = (self.levels ^ levels) & mask;
        self.levels ^= changed;
        self.changed ^= changed & self.counted;
        self.unknown &= !mask;
        self.counted |= mask;
    }

    /// Takes signals that have had no level.
    #[cold]
    const fn set_first(&mut self, mask: u64, levels: u64) {
        let late_low = mask & self.counted & !levels;
        self.known |= mask;
        self.changed |= late_low;
        self.doubtful |= late_low & self.stated;
    }

    /// Sets the signals of a mask to a level. An unknown one leaves the level as it was, and is counted.
    #[inline]
    pub(super) const fn put(&mut self, mask: u64, level: SignalLevel) {
        match level {
            SignalLevel::Low => self.set(mask, 0),
            SignalLevel::High => self.set(mask, mask),
            SignalLevel::Unknown => {
                // What changed at the same time may be no change of what is known again.
                let undone = mask & self.changed;
                self.levels ^= undone;
                self.changed ^= undone;
                self.stated |= mask & !self.known;
                self.unknown |= mask & self.known;
                self.summary.lost |= self.unknown;
            }
        }
    }

    /// Takes signals without a level as unknown.
    pub(super) const fn state(&mut self) {
        self.stated = !self.known;
    }

    /// Makes all levels unknown. Returns the signals that had one.
    pub(super) const fn hide(&mut self) -> u64 {
        let hidden = self.known & !self.unknown;
        self.put(u64::MAX, SignalLevel::Unknown);
        hidden
    }

    /// Lets signals have the levels that they had.
    #[cfg(feature = "recordings")]
    pub(super) const fn show(&mut self, hidden: u64) {
        self.unknown &= !hidden;
    }

    /// True once a signal has a level.
    pub(super) const fn is_known(&self) -> bool {
        self.known != 0
    }

    /// Takes the signals that have changed as a change at a time.
    #[inline]
    pub(super) fn end(&mut self, time_fs: u64, changes: &mut ChangeSink<'_>) {
        if self.known != self.learned || !self.is_begun {
            self.learn(time_fs);
        }
        let signals = std::mem::take(&mut self.changed);
        if signals != 0 || self.unknown != self.given {
            self.given = self.unknown;
            let doubtful = std::mem::take(&mut self.doubtful) & signals;
            self.batch.push(SignalChange { time_fs, signals, unknown: self.unknown | doubtful });
            if self.batch.len() >= BATCH {
                changes(&self.batch);
                self.batch.clear();
            }
        }
    }

    /// Takes the signals whose level has become known after the first time.
    #[cold]
    fn learn(&mut self, time_fs: u64) {
        let late = self.known & !self.learned;
        if !self.is_begun && self.changed == 0 && self.unknown == self.given {
            self.batch.push(SignalChange { time_fs, signals: 0, unknown: self.unknown });
        }
        if self.is_begun {
            let numbers = (0..u64::BITS).filter(|number| late >> number & 1 == 1);
            self.summary.late.extend(numbers.map(|number| (number, time_fs)));
        }
        (self.learned, self.counted, self.is_begun) = (self.known, u64::MAX, true);
    }

    /// Gives all changes, the last of them at a time. Behind one at which nothing more changes, all levels are unknown.
    pub(super) fn finish(mut self, time_fs: u64, changes: &mut ChangeSink<'_>) -> ReadSummary {
        let is_end = self.changed == 0 && self.unknown == self.given;
        self.end(time_fs, changes);
        let behind = time_fs.checked_add(1).filter(|_| is_end);
        let hidden = |time_fs| SignalChange { time_fs, signals: 0, unknown: u64::MAX };
        self.batch.extend(behind.map(hidden));
        changes(&self.batch);
        ReadSummary { known: self.known, ..self.summary }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_late_behind_more_than_the_longest_time_without_a_level() {
        for (time_fs, signals) in [(125, 3), (126, 2)] {
            let hidden = SignalChange { time_fs: 100, signals: 0, unknown: 1 };
            let shown = timed(&[hidden, SignalChange { time_fs, signals: 3, unknown: 0 }], 25);
            assert_eq!(shown[1].signals, signals, "{time_fs}");
        }
        // Several levels are unknown since the first of them.
        let (mut unknown, [first, second]) = (UnknownLevels::NONE, [100, 130].map(Some));
        for (time_fs, signals, since) in
            [(100, 1, first), (130, 3, first), (150, 2, second), (170, 3, second), (190, 0, None)]
        {
            unknown.take(signals, time_fs);
            assert_eq!(unknown.since(u64::MAX), since, "{time_fs}");
        }
    }
}
