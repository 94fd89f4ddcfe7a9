//! Recovery of characters from the transitions of the wires, with the clock of their sender.

use std::ops::RangeInclusive;

use super::edge_tracker::EdgeTracker;
use super::sender_clock::{PERIODS_FS, SenderClock, signed};
use super::{WIRES, WireTransition};
use crate::character::Character;

/// Mark between characters of which some were not recorded: no set of wires.
pub(super) const HOLE: u16 = 1 << WIRES;

/// Bins of a period in an [`EyeHistogram`].
const BINS: usize = 64;

/// Longest silence, in periods, after which the edge is still known: as many as there were before, as jitter at their
/// ends limits how well the period is known. A recovered one that is 1 ppm off moves the edge by 1 % in the most.
const COASTING: RangeInclusive<u64> = 64..=10_000;

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
    /// True if there is a hole before it: characters that were not recorded.
    pub is_behind_hole: bool,
}

impl PlacedCharacter {
    /// The wires of each character, with a mark for each hole between them: a packet does not go on behind it.
    pub fn bits(characters: &[Self]) -> Vec<u16> {
        let hole = |it: &Self| it.is_behind_hole.then_some(HOLE).into_iter();
        characters.iter().flat_map(|it| hole(it).chain([it.character.bits()])).collect()
    }
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

impl WireQuality {
    fn add(&mut self, characters: &[PlacedCharacter]) {
        self.characters += characters.len() as u64;
        for placed in characters {
            self.odd_places += placed.place & 1;
            self.spread_fs = self.spread_fs.max(placed.spread_fs);
        }
    }
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
    /// Place at which the tracker began.
    first_place: u64,
    open: Option<OpenCharacter>,
    sets: Box<[WireSet; 1 << WIRES]>,
    /// Transitions of all wires by bin, `BIN_0` at the edge of the earliest wire. They are counted as in `WireSet::counts`,
    /// and added to the eyes before a count is full.
    bins: Box<[u128; BINS_KEPT]>,
    /// Bins of an eye in a femtosecond, with 32 bits behind the point.
    bins_per_fs: i64,
    quality: WireQuality,
}

/// Bins that are kept of each wire: with the half period before and behind that those at both ends stand for.
const BINS_KEPT: usize = 160;
const BIN_0: i64 = 32;

/// Bits of the count of a wire: those of all nine fit into 128.
const COUNT_BITS: usize = 14;

/// Wires that have a transition at one time, and what their delays are.
#[derive(Clone, Copy, Debug, Default)]
struct WireSet {
    earliest_fs: i64,
    latest_fs: i64,
    /// Number of the wires, and the sum of their delays.
    count: i64,
    sum_fs: i64,
    /// One of each wire, `COUNT_BITS` apart.
    counts: u128,
}

impl WireSet {
    fn new(wires: usize, delays_fs: [i64; WIRES]) -> Self {
        let of_set = delays_fs.into_iter().enumerate().filter(|(wire, _)| wires >> wire & 1 == 1);
        let first = Self { earliest_fs: i64::MAX, ..Self::default() };
        of_set.fold(first, |set, (wire, delay_fs)| Self {
            earliest_fs: set.earliest_fs.min(delay_fs),
            latest_fs: set.latest_fs.max(delay_fs),
            count: set.count + 1,
            sum_fs: set.sum_fs + delay_fs,
            counts: set.counts | 1 << (COUNT_BITS * wire),
        })
    }

    /// True if each of the wires, less its delay, is near an edge. A set without wires is not.
    #[inline]
    const fn is_near(&self, since_edge: i64, near_fs: i64) -> bool {
        since_edge.wrapping_sub(self.earliest_fs) <= near_fs
            && since_edge.wrapping_sub(self.latest_fs) >= -near_fs
            && self.count > 0
    }
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
    /// A character of a transition near an edge.
    #[inline]
    const fn new(tracker: &EdgeTracker, time_fs: u64) -> Self {
        let EdgeTracker { place, edge_fs, .. } = *tracker;
        Self { place, edge_fs, wires: 0, first_fs: time_fs, last_fs: time_fs }
    }
}

impl ClockRecovery {
    /// A reader of the transitions that a clock was learned from, and of later ones.
    pub fn new(clock: &SenderClock) -> Self {
        let period = clock.period_fs.clamp(*PERIODS_FS.start(), *PERIODS_FS.end());
        let bins_per_fs = signed(((BINS as u64) << 32) / period);
        let delays_fs = clock.delay_fs.map(|delay| signed(delay.unwrap_or_default().min(period)));
        let sets = Box::new(std::array::from_fn(|wires| WireSet::new(wires, delays_fs)));
        let tracker = EdgeTracker::new(period, clock.edge_fs);
        Self {
            tracker,
            first_place: tracker.place,
            open: None,
            sets,
            bins: Box::new([0; BINS_KEPT]),
            bins_per_fs,
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

    /// Takes transitions, not earlier than those before, and appends the characters that they end.
    pub fn receive(&mut self, transitions: &[WireTransition], placed: &mut Vec<PlacedCharacter>) {
        let before = placed.len();
        for mut left in transitions.chunks((1 << COUNT_BITS) - 1) {
            while let [first, later @ ..] = left {
                left = match self.open {
                    Some(open) if first.time_fs > self.tracker.longest_fs() => {
                        self.receive_near(left, open, placed)
                    }
                    _ => {
                        self.receive_far(*first, placed);
                        later
                    }
                };
            }
            self.add_bins();
        }
        self.quality.add(placed.get(before..).unwrap_or_default());
    }

    /// Takes transitions up to one that has wires neither near the edge of the open character nor near the next, and that
    /// one; returns the others. The wires of a transition correct the edge together, as no order is known of them: what is
    /// left is what [`ClockRecovery::receive_far`] does with each, in fewer steps.
    fn receive_near<'a>(
        &mut self,
        transitions: &'a [WireTransition],
        mut open: OpenCharacter,
        placed: &mut Vec<PlacedCharacter>,
    ) -> &'a [WireTransition] {
        // Copies stay in registers.
        let (mut tracker, near_fs) = (self.tracker, self.tracker.near_fs().cast_signed());
        let mut later = transitions.iter();
        for &WireTransition { time_fs, wires } in later.by_ref() {
            let set = self.sets.get(usize::from(wires) % self.sets.len());
            let set = set.copied().unwrap_or_default();
            let (period_fs, is_free) = (tracker.period_fs(), tracker.is_free());
            let is_same = set.is_near(tracker.since_edge(time_fs), near_fs);
            let moved = if is_same { tracker } else { tracker.next() };
            let since = moved.since_edge(time_fs);
            if !is_free || !set.is_near(since, near_fs) {
                (self.tracker, self.open) = (tracker, Some(open));
                self.receive_far(WireTransition { time_fs, wires }, placed);
                return later.as_slice();
            }
            tracker = moved;
            tracker.correct_near(set.count.wrapping_mul(since).wrapping_sub(set.sum_fs));
            self.count(set.counts, since.wrapping_add((period_fs / 8).cast_signed()));
            if !is_same {
                placed.push(self.end(open, period_fs));
                open = OpenCharacter::new(&tracker, time_fs);
            }
            self.add(&mut open, wires, time_fs);
        }
        (self.tracker, self.open) = (tracker, Some(open));
        &[]
    }

    #[inline]
    fn add(&mut self, open: &mut OpenCharacter, wires: u16, time_fs: u64) {
        if open.wires & wires != 0 {
            self.count_doubled(open.wires & wires);
        }
        open.wires |= wires;
        open.last_fs = time_fs;
    }

    #[cold]
    fn count_doubled(&mut self, wires: u16) {
        self.quality.doubled += u64::from(wires.count_ones());
    }

    /// Takes the wires of a transition, wherever it is.
    #[cold]
    fn receive_far(&mut self, transition: WireTransition, placed: &mut Vec<PlacedCharacter>) {
        let time_fs = transition.time_fs;
        for wire in transition.each().map(|number| 1 << number) {
            let set = self.sets.get(usize::from(wire)).copied().unwrap_or_default();
            let period_fs = self.tracker.period_fs();
            let half = (period_fs / 2).cast_signed();
            let delay_fs = set.sum_fs;
            let arrived_fs = time_fs.saturating_sub(delay_fs.unsigned_abs());
            let (moved, since) = self.tracker.place(arrived_fs);
            // The edge is not known after a silence in which the clock has drifted.
            let followed =
                self.tracker.place.saturating_sub(self.first_place.saturating_add(moved));
            let is_known = moved <= followed.clamp(*COASTING.start(), *COASTING.end());
            let since = if is_known { since } else { self.tracker.jump(since) };
            let since = since.clamp(-half, half);
            self.tracker.correct(since, moved);
            self.quality.off_phase += u64::from(since.abs() > half / 2);
            self.count(set.counts, since + delay_fs + half / 4);
            if moved > 0 || self.open.is_none() {
                let next = OpenCharacter::new(&self.tracker, time_fs);
                if let Some(ended) = self.open.replace(next) {
                    placed.push(self.end(ended, period_fs));
                }
            }
            if let Some(mut open) = self.open {
                self.add(&mut open, wire, time_fs);
                self.open = Some(open);
            }
        }
    }

    /// Counts transitions of wires by their time since the end of the first eighth of the period.
    #[inline]
    fn count(&mut self, counts: u128, phase: i64) {
        let bin = (phase.wrapping_mul(self.bins_per_fs) >> 32).wrapping_add(BIN_0);
        let bin = usize::try_from(bin).unwrap_or(usize::MAX);
        if let Some(bin) = self.bins.get_mut(bin) {
            *bin = bin.wrapping_add(counts);
        }
    }

    /// Adds the transitions of the bins to the eyes.
    fn add_bins(&mut self) {
        let counted = (-BIN_0..).zip(self.bins.iter_mut()).filter(|(_, counts)| **counts != 0);
        for (bin, counts) in counted {
            let mut left = std::mem::take(counts);
            let bin = usize::try_from(bin).unwrap_or_default().min(BINS - 1);
            for eye in &mut self.quality.eyes {
                let count = left % (1 << COUNT_BITS);
                eye.0.get_mut(bin).into_iter().for_each(|sum| *sum += count as u64);
                left >>= COUNT_BITS;
            }
        }
    }

    #[inline]
    fn end(&mut self, ended: OpenCharacter, period_fs: u64) -> PlacedCharacter {
        let OpenCharacter { place, edge_fs, wires, first_fs: time_fs, last_fs } = ended;
        let spread_fs = last_fs.saturating_sub(time_fs);
        self.quality.beyond_window += u64::from(spread_fs > period_fs / 2);
        let character = Character::from_bits(wires);
        PlacedCharacter { place, time_fs, edge_fs, spread_fs, character, is_behind_hole: false }
    }

    /// Ends the open character if its period is over at a time.
    pub fn settle(&mut self, time_fs: u64) -> Option<PlacedCharacter> {
        let period = self.tracker.period_fs();
        if self.tracker.since_edge(time_fs) <= (period + period / 2).cast_signed() {
            return None;
        }
        let ended = self.open.take()?;
        Some(self.end_last(ended))
    }

    /// True if a character was received, or has begun.
    pub const fn is_begun(&self) -> bool {
        self.open.is_some() || self.quality.characters > 0
    }

    /// Leaves the open character out: transitions of it may be missing.
    pub fn drop_open(&mut self) {
        self.open = None;
    }

    fn end_last(&mut self, ended: OpenCharacter) -> PlacedCharacter {
        let placed = self.end(ended, self.tracker.period_fs());
        self.quality.add(&[placed]);
        placed
    }

    /// The last character, and the counts of the whole recording.
    pub fn finish(mut self) -> (Option<PlacedCharacter>, WireQuality) {
        let last = self.open.take().map(|ended| self.end_last(ended));
        (last, self.quality)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wires::WireEncoder;

    const PERIOD_FS: u64 = 12_500_000;

    /// Characters of all kinds, with skew, jitter, glitches and silences, sent with a clock that is off.
    fn recording(jitter_fs: u64, ppm: i64, glitch_every: u64) -> Vec<WireTransition> {
        let mut state = ppm.unsigned_abs() + jitter_fs;
        let mut below = move |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        let (mut all, mut now) = (Vec::new(), PERIOD_FS / 3);
        for _ in 0..40 {
            let period_fs = PERIOD_FS.saturating_add_signed(ppm * 125 / 10);
            let mut encoder = WireEncoder::new(period_fs, now);
            let count = 1 + below(300);
            for place in 0..count {
                if below(glitch_every) == 0 {
                    let at = now + place * period_fs + below(period_fs);
                    encoder.toggle(at, usize::try_from(below(9)).unwrap());
                }
                let character = Character::from_bits(u16::try_from(below(512)).unwrap());
                let delay = |wire: usize| wire as u64 * 600_000 + below(jitter_fs + 1);
                encoder.send(character, delay, |it| all.push(it));
            }
            encoder.finish(|it| all.push(it));
            let silence = [0, 1, 20, 900, 30_000][usize::try_from(below(5)).unwrap()];
            now += period_fs * (count + 2 + silence);
        }
        all.sort_by_key(|it| it.time_fs);
        all
    }

    /// Characters and quality of transitions taken seven at a time, and one after the other without a shorter way.
    fn in_both_ways(all: &[WireTransition]) -> [(Vec<PlacedCharacter>, WireQuality); 2] {
        let clock = SenderClock::learn(all, PERIOD_FS).unwrap();
        let mut few = ClockRecovery::new(&clock);
        let (mut every, mut seen, mut expected) = (few.clone(), Vec::new(), Vec::new());
        all.chunks(7).for_each(|some| few.receive(some, &mut seen));
        all.iter().for_each(|it| every.receive_far(*it, &mut expected));
        every.quality.add(&expected);
        every.add_bins();
        [(seen, few.finish().1), (expected, every.finish().1)]
    }

    #[test]
    fn skipped_changes_do_not_change_the_characters() {
        // Jitter up to two periods, and clocks up to those that are out of the range of the period.
        let recordings =
            [(0, 0), (1_000_000, 100), (4_000_000, -1500), (9_000_000, 2500), (25_000_000, -7)];
        for ((jitter_fs, ppm), glitch_every) in recordings.into_iter().zip([1000, 50, 9, 20, 5]) {
            let [seen, expected] = in_both_ways(&recording(jitter_fs, ppm, glitch_every));
            assert_eq!(seen, expected, "{jitter_fs} fs {ppm} ppm");
        }
    }

    #[test]
    fn wires_of_one_sample_make_the_characters_of_wires_one_by_one() {
        for (jitter_fs, ppm) in [(0, 0), (500_000, 100), (1_000_000, -300)] {
            let mut all = recording(jitter_fs, ppm, 1000);
            all.iter_mut().for_each(|it| it.time_fs = it.time_fs.next_multiple_of(2_000_000));
            all.dedup_by(|later, one| {
                let is_same = later.time_fs == one.time_fs;
                one.wires ^= if is_same { later.wires } else { 0 };
                is_same
            });
            assert!(all.iter().filter(|it| it.wires.count_ones() > 2).count() > 2000);
            let [seen, expected] = in_both_ways(&all).map(|(characters, quality)| {
                let places = characters.into_iter().map(|it| PlacedCharacter { edge_fs: 0, ..it });
                (places.collect::<Vec<_>>(), quality.eyes.map(|eye| eye.count()))
            });
            assert_eq!(seen, expected, "{jitter_fs} fs {ppm} ppm");
        }
    }

    #[test]
    fn wires_of_one_time_correct_the_edge_together() {
        // A 64th of the time of each wire behind the edge, less its delay: of 640 and of 64 fs.
        let mut clock = SenderClock::learn(&recording(0, 0, 1000), PERIOD_FS).unwrap();
        (clock.period_fs, clock.edge_fs) = (PERIOD_FS, PERIOD_FS);
        clock.delay_fs = [Some(0), Some(576), None, None, None, None, None, None, None];
        let (mut recovery, mut placed) = (ClockRecovery::new(&clock), Vec::new());
        let sent = [(PERIOD_FS, 0b1), (2 * PERIOD_FS + 640, 0b11), (3 * PERIOD_FS, 0b1)];
        let sent = sent.map(|(time_fs, wires)| WireTransition { time_fs, wires });
        recovery.receive(&sent, &mut placed);
        let edges: Vec<u64> = placed.iter().map(|it| it.edge_fs).collect();
        assert_eq!(edges, [PERIOD_FS, 2 * PERIOD_FS + (640 + 64) / 64]);
    }
}
