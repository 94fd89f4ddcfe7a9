//! Learning of a sender's clock, and of the delays of its wires, from the beginning of a recording.

use std::ops::RangeInclusive;

use super::edge_tracker::{EdgeTracker, remainder};
use super::{WIRES, WireTransition};

/// Longest distance of two transitions of a wire, in periods, that the first estimate of the period
/// counts: a clock that is 0.1 % off is then still less than a tenth of a period off.
const NEAR_PERIODS: u64 = 64;

/// Factor between the distances of two rounds, and rounds after the first.
const FARTHER: u64 = 8;
const FARTHER_ROUNDS: u32 = 5;

/// Periods that a clock may have: 1 ps to 1 ms.
pub(super) const PERIODS_FS: RangeInclusive<u64> = 1000..=1_000_000_000_000;

/// Clock of a sender and delays of the wires, as learned from transitions. W-4, W-6
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderClock {
    /// Character period.
    pub period_fs: u64,
    /// Greatest error of the period: half a period for each run of near transitions of a wire.
    pub period_error_fs: u64,
    /// Time of the first character, less the delay of its wire.
    pub edge_fs: u64,
    /// Delay of each wire behind the earliest; `None` for a wire without transitions.
    pub delay_fs: [Option<u64>; WIRES],
}

impl SenderClock {
    /// Learns the clock from the beginning of a recording: some thousand transitions in order of
    /// time. The period is found near `period_fs` (within 0.1 %). `None` if the transitions show no
    /// period: no wire has two of them within 64 periods, or the period is not from 1 ps to 1 ms.
    ///
    /// Distances between transitions of one wire are multiples of the period, whatever the skew.
    /// The phases of the wires then fill less than a period, and the largest gap between them is
    /// where characters end.
    pub fn learn(transitions: &[WireTransition], period_fs: u64) -> Option<Self> {
        if !PERIODS_FS.contains(&period_fs) {
            return None;
        }
        let (period_fs, period_error_fs) = mean_period(transitions, period_fs)?;
        let count = |wire: &usize| {
            transitions.iter().filter(|it| it.each().any(|each| each == *wire)).count()
        };
        let reference = (0..WIRES).max_by_key(count)?;
        // Backwards, so that the tracker has settled when it comes to the first character.
        let end_fs = transitions.last()?.time_fs;
        let mut phases = WirePhases::default();
        let mut tracker: Option<EdgeTracker> = None;
        for transition in transitions.iter().rev() {
            let before_fs = end_fs.saturating_sub(transition.time_fs);
            let mut phase = tracker.map(|tracker| tracker.phase(before_fs));
            for wire in transition.each() {
                if wire == reference {
                    let tracker =
                        tracker.get_or_insert_with(|| EdgeTracker::new(period_fs, before_fs));
                    let (moved, since_edge) = tracker.place(before_fs);
                    tracker.correct(since_edge, moved);
                    phase = Some(tracker.phase(before_fs));
                }
                if let Some(phase) = phase {
                    phases.add(wire, -phase, period_fs);
                }
            }
        }
        let delay_fs = phases.delays(period_fs);
        let delay = |wire: usize| delay_fs.get(wire).copied().flatten().unwrap_or_default();
        let first = transitions.first()?;
        let first_fs = first.time_fs.saturating_sub(first.each().next().map_or(0, delay));
        let edge_fs = end_fs.saturating_sub(tracker?.edge_fs).saturating_sub(delay(reference));
        let back = edge_fs.saturating_sub(first_fs).saturating_add(period_fs / 2) / period_fs;
        let edge_fs = edge_fs.saturating_sub(back.saturating_mul(period_fs));
        Some(Self { period_fs, period_error_fs, edge_fs, delay_fs })
    }
}

/// Mean of the period over transitions of the same wire, and its greatest error. Each round counts the periods of
/// longer distances, for which the round before has made the period exact enough.
fn mean_period(transitions: &[WireTransition], period_fs: u64) -> Option<(u64, u64)> {
    let distances = wire_distances(transitions);
    let mut mean = PeriodMean::of(&distances, period_fs, NEAR_PERIODS).known()?;
    let mut reach = NEAR_PERIODS;
    for _ in 0..FARTHER_ROUNDS {
        reach *= FARTHER;
        let farther = PeriodMean::of(&distances, mean.0, reach);
        if farther.misfits * 16 > farther.far {
            break;
        }
        mean = farther.known()?;
    }
    Some(mean)
}

/// Distances of transitions of the same wire in ascending order, and how many are equal.
fn wire_distances(transitions: &[WireTransition]) -> Vec<(u64, u64)> {
    let (mut distances, mut last) = (Vec::new(), [None; WIRES]);
    for transition in transitions {
        for wire in transition.each() {
            let before = last.get_mut(wire).and_then(|last| last.replace(transition.time_fs));
            if let Some(before) = before {
                distances.push(transition.time_fs.saturating_sub(before));
            }
        }
    }
    distances.sort_unstable();
    let equal = distances.chunk_by(|one, other| one == other);
    equal.filter_map(|equal| Some((*equal.first()?, equal.len() as u64))).collect()
}

/// Sum of the distances of transitions of the same wire.
#[derive(Default)]
struct PeriodMean {
    time: u128,
    periods: u128,
    /// Series of transitions, none of which is farther from the next than the reach.
    runs: u128,
    /// Distances that only this reach includes, and those of them that are no whole number of periods.
    far: u64,
    misfits: u64,
}

impl PeriodMean {
    fn of(distances: &[(u64, u64)], period_fs: u64, reach: u64) -> Self {
        let mut mean = Self { runs: WIRES as u128, ..Self::default() };
        let mut count = 0;
        for &(distance_fs, times) in distances {
            let rounded = distance_fs.saturating_add(period_fs / 2);
            // Most distances have as many periods as the one before.
            if rounded - count * period_fs >= period_fs {
                count = rounded / period_fs;
            }
            if !(1..=reach).contains(&count) {
                mean.runs += u128::from(times);
                continue;
            }
            mean.time += u128::from(distance_fs) * u128::from(times);
            mean.periods += u128::from(count) * u128::from(times);
            if count > reach / FARTHER {
                let off = distance_fs.abs_diff(count.saturating_mul(period_fs));
                mean.far += times;
                mean.misfits += if off > period_fs / 4 { times } else { 0 };
            }
        }
        mean
    }

    /// The mean, and half a period for each run as its greatest error.
    fn known(&self) -> Option<(u64, u64)> {
        let mean = self.time.checked_div(self.periods)?;
        let error = (self.runs * mean / 2).div_ceil(self.periods);
        let mean = u64::try_from(mean).ok().filter(|mean| *mean > 0)?;
        Some((mean, u64::try_from(error).unwrap_or(u64::MAX)))
    }
}

/// Mean phase of each wire's transitions.
#[derive(Default)]
struct WirePhases([Option<MeanPhase>; WIRES]);

#[derive(Clone, Copy)]
struct MeanPhase {
    first: i64,
    /// Sum of the differences from the first.
    sum: i64,
    count: i64,
}

impl WirePhases {
    fn add(&mut self, wire: usize, phase: i64, period_fs: u64) {
        let Some(entry) = self.0.get_mut(wire) else { return };
        let entry = entry.get_or_insert(MeanPhase { first: phase, sum: 0, count: 0 });
        entry.sum = entry.sum.saturating_add(nearest(phase - entry.first, period_fs));
        entry.count += 1;
    }

    /// Delays behind the earliest wire, which follows the largest gap between phases.
    fn delays(&self, period_fs: u64) -> [Option<u64>; WIRES] {
        let period = signed(period_fs);
        let phase = |entry: &MeanPhase| (entry.first + entry.sum / entry.count).rem_euclid(period);
        let phases = self.0.map(|entry| entry.as_ref().map(phase));
        let mut sorted: Vec<i64> = phases.into_iter().flatten().collect();
        sorted.sort_unstable();
        let later =
            sorted.iter().skip(1).copied().chain(sorted.first().map(|first| first + period));
        let gaps = sorted.iter().zip(later).map(|(phase, later)| (later - phase, later));
        let earliest = gaps.max().map_or(0, |(_, later)| later);
        phases.map(|phase| phase.map(|phase| (phase - earliest).rem_euclid(period).unsigned_abs()))
    }
}

/// A difference of phases, by whole periods nearest to 0.
fn nearest(difference: i64, period_fs: u64) -> i64 {
    let period = signed(period_fs);
    remainder(difference + period / 2, period) - period / 2
}

/// A time or period in the range of differences.
pub(super) fn signed(time_fs: u64) -> i64 {
    i64::try_from(time_fs).unwrap_or(i64::MAX)
}
