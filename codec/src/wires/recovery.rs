//! Recovery of a sender's clock from the transitions of its wires.

use std::ops::RangeInclusive;

use super::edge_tracker::EdgeTracker;
use super::{WIRES, WireTransition};
use crate::character::Character;

/// Bins of a period in an [`EyeHistogram`].
const BINS: usize = 64;

/// Longest distance of two transitions of a wire, in periods, that the first estimate of the period
/// counts: a clock that is 0.1 % off is then still less than a tenth of a period off.
const NEAR_PERIODS: u64 = 64;

/// Factor between the distances of two rounds, and rounds after the first.
const FARTHER: u64 = 8;
const FARTHER_ROUNDS: u32 = 5;

/// Periods that a clock may have: 1 ps to 1 ms.
const PERIODS_FS: RangeInclusive<u64> = 1000..=1_000_000_000_000;

/// Longest silence, in periods, after which the edge is still known: a recovered period that is 1 ppm off moves
/// it by 1 %.
const COASTING_MAX: u64 = 10_000;

/// Clock of a sender and delays of the wires, as learned from transitions. W-4, W-6
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderClock {
    /// Character period.
    pub period_fs: u64,
    /// Greatest error of the period: half a period for each run of near transitions of a wire.
    pub period_error_fs: u64,
    /// Time of a character, less the delay of its wire.
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
        let mut counts = [0_u64; WIRES];
        for wire in transitions.iter().flat_map(|transition| transition.each()) {
            if let Some(count) = counts.get_mut(wire) {
                *count += 1;
            }
        }
        let (reference, _) = counts.iter().enumerate().max_by_key(|(_, count)| **count)?;
        let mut phases = WirePhases::default();
        let mut tracker: Option<EdgeTracker> = None;
        for transition in transitions {
            for wire in transition.each() {
                if wire == reference {
                    let tracker = tracker
                        .get_or_insert_with(|| EdgeTracker::new(period_fs, transition.time_fs));
                    let (moved, since_edge) = tracker.place(transition.time_fs);
                    tracker.correct(since_edge, moved);
                }
                if let Some(tracker) = &tracker {
                    phases.add(wire, tracker.phase(transition.time_fs), period_fs);
                }
            }
        }
        let tracker = tracker?;
        let delay_fs = phases.delays(period_fs);
        let behind = delay_fs.get(reference).copied().flatten().unwrap_or_default();
        let edge_fs = tracker.edge_fs.saturating_sub(behind);
        Some(Self { period_fs, period_error_fs, edge_fs, delay_fs })
    }
}

/// Mean of the period over transitions of the same wire, and its greatest error. Each round counts the periods of
/// longer distances, for which the round before has made the period exact enough.
fn mean_period(transitions: &[WireTransition], period_fs: u64) -> Option<(u64, u64)> {
    let mut mean = PeriodMean::of(transitions, period_fs, NEAR_PERIODS).known()?;
    let mut reach = NEAR_PERIODS;
    for _ in 0..FARTHER_ROUNDS {
        reach *= FARTHER;
        let farther = PeriodMean::of(transitions, mean.0, reach);
        if farther.misfits * 16 > farther.far {
            break;
        }
        mean = farther.known()?;
    }
    Some(mean)
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
    fn of(transitions: &[WireTransition], period_fs: u64, reach: u64) -> Self {
        let mut mean = Self { runs: WIRES as u128, ..Self::default() };
        let mut last = [None; WIRES];
        for transition in transitions {
            for wire in transition.each() {
                let before = last.get_mut(wire).and_then(|last| last.replace(transition.time_fs));
                if let Some(before) = before {
                    mean.add(transition.time_fs.saturating_sub(before), period_fs, reach);
                }
            }
        }
        mean
    }

    fn add(&mut self, distance_fs: u64, period_fs: u64, reach: u64) {
        let count = distance_fs.saturating_add(period_fs / 2) / period_fs;
        if !(1..=reach).contains(&count) {
            self.runs += 1;
            return;
        }
        self.time += u128::from(distance_fs);
        self.periods += u128::from(count);
        if count > reach / FARTHER {
            let off = distance_fs.abs_diff(count.saturating_mul(period_fs));
            self.far += 1;
            self.misfits += u64::from(off > period_fs / 4);
        }
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
    (difference + period / 2).rem_euclid(period) - period / 2
}

/// A time or period in the range of differences.
fn signed(time_fs: u64) -> i64 {
    i64::try_from(time_fs).unwrap_or(i64::MAX)
}

/// A character and its place on the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedCharacter {
    /// Character periods since the beginning of the recording. The periods between two places are
    /// silent. C-6
    pub place: u64,
    /// Time of its first transition.
    pub time_fs: u64,
    /// Time of its edge of `sendclk`, as recovered.
    pub edge_fs: u64,
    /// Time from its first transition to its last. W-4
    pub spread_fs: u64,
    /// The character.
    pub character: Character,
}

/// Counts of a recording's transitions by wire and phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireQuality {
    /// Transitions of each wire by their place in the period.
    pub eyes: [EyeHistogram; WIRES],
    /// Characters with a transition.
    pub characters: u64,
    /// Characters at odd places: none or all if only one edge of `sendclk` was recorded. W-2
    pub odd_places: u64,
    /// Second transitions of a wire within a character: glitches. W-8
    pub doubled: u64,
    /// Transitions more than a quarter of a period off their wire's phase.
    pub off_phase: u64,
    /// Longest time from the first to the last transition of a character. W-4
    pub spread_fs: u64,
    /// Characters whose last transition misses the window of a receiver, half a period. W-3
    pub beyond_window: u64,
}

/// Transitions of a wire, counted in 64ths of a period. The edge of the earliest wire stands at the
/// end of the first eighth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EyeHistogram(pub [u64; BINS]);

impl EyeHistogram {
    /// All transitions.
    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Reader of a recording's transitions: recovers clock and skew, and places the characters.
#[derive(Clone, Debug)]
pub struct ClockRecovery {
    tracker: EdgeTracker,
    delay_fs: [i64; WIRES],
    open: Option<OpenCharacter>,
    /// Bins of an eye in a femtosecond, with 32 bits behind the point.
    bins_per_fs: i64,
    quality: WireQuality,
}

#[derive(Clone, Copy, Debug)]
struct OpenCharacter {
    place: u64,
    edge_fs: u64,
    wires: u16,
    first_fs: u64,
    last_fs: u64,
}

impl OpenCharacter {
    const fn placed(self) -> PlacedCharacter {
        let Self { place, edge_fs, wires, first_fs: time_fs, last_fs } = self;
        let spread_fs = last_fs.saturating_sub(time_fs);
        let character = Character::from_bits(wires);
        PlacedCharacter { place, time_fs, edge_fs, spread_fs, character }
    }
}

impl ClockRecovery {
    /// A reader that begins with a learned clock at a transition near `first_fs`.
    pub fn new(clock: &SenderClock, first_fs: u64) -> Self {
        let period = clock.period_fs.clamp(*PERIODS_FS.start(), *PERIODS_FS.end());
        let back = clock.edge_fs.saturating_sub(first_fs).saturating_add(period / 2) / period;
        let edge_fs = clock.edge_fs.saturating_sub(back.saturating_mul(period));
        let bins = (BINS as u64) << 32;
        Self {
            tracker: EdgeTracker::new(period, edge_fs),
            delay_fs: clock.delay_fs.map(|delay| delay.map_or(0, signed)),
            open: None,
            bins_per_fs: signed(bins / period),
            quality: WireQuality {
                eyes: [EyeHistogram([0; BINS]); WIRES],
                characters: 0,
                odd_places: 0,
                doubled: 0,
                off_phase: 0,
                spread_fs: 0,
                beyond_window: 0,
            },
        }
    }

    /// Takes a transition, not earlier than those before, and gives the characters that it ends.
    pub fn receive(
        &mut self,
        transition: WireTransition,
        mut character: impl FnMut(PlacedCharacter),
    ) {
        for wire in transition.each() {
            if let Some(placed) = self.receive_wire(transition.time_fs, wire) {
                character(placed);
            }
        }
    }

    fn receive_wire(&mut self, time_fs: u64, wire: usize) -> Option<PlacedCharacter> {
        let delay = self.delay_fs.get(wire).copied().unwrap_or_default();
        let half = self.tracker.period_fs().cast_signed() / 2;
        let (moved, since) = self.tracker.place(time_fs.saturating_add_signed(-delay));
        // The edge is not known after a silence in which the clock has drifted.
        let since = if moved > COASTING_MAX { self.tracker.jump(since) } else { since };
        let since = since.clamp(-half, half);
        self.tracker.correct(since, moved);
        self.quality.off_phase += u64::from(since.abs() > half / 2);
        self.count(wire, since + delay + half / 4);
        let bit = 1 << wire;
        match &mut self.open {
            Some(open) if moved == 0 => {
                self.quality.doubled += u64::from(open.wires & bit != 0);
                open.wires |= bit;
                open.last_fs = time_fs;
                None
            }
            open => {
                let EdgeTracker { place, edge_fs, .. } = self.tracker;
                let (first_fs, last_fs) = (time_fs, time_fs);
                let next = OpenCharacter { place, edge_fs, wires: bit, first_fs, last_fs };
                let ended = open.replace(next)?;
                self.end(ended, half);
                Some(ended.placed())
            }
        }
    }

    fn count(&mut self, wire: usize, phase: i64) {
        let bin = usize::try_from((phase * self.bins_per_fs) >> 32).unwrap_or_default();
        let eye = self.quality.eyes.get_mut(wire);
        if let Some(bin) = eye.and_then(|eye| eye.0.get_mut(bin.min(BINS - 1))) {
            *bin += 1;
        }
    }

    fn end(&mut self, ended: OpenCharacter, window: i64) {
        let spread = ended.last_fs.saturating_sub(ended.first_fs);
        self.quality.characters += 1;
        self.quality.odd_places += ended.place & 1;
        self.quality.spread_fs = self.quality.spread_fs.max(spread);
        self.quality.beyond_window += u64::from(signed(spread) > window);
    }

    /// Ends the open character if its period is over at a time.
    pub fn settle(&mut self, time_fs: u64) -> Option<PlacedCharacter> {
        let period = self.tracker.period_fs().cast_signed();
        if self.tracker.since_edge(time_fs) <= period + period / 2 {
            return None;
        }
        let ended = self.open.take()?;
        self.end(ended, period / 2);
        Some(ended.placed())
    }

    /// The last character, and the counts of the whole recording.
    pub fn finish(mut self) -> (Option<PlacedCharacter>, WireQuality) {
        let half = self.tracker.period_fs().cast_signed() / 2;
        let last = self.open.take();
        if let Some(ended) = last {
            self.end(ended, half);
        }
        (last.map(OpenCharacter::placed), self.quality)
    }
}
