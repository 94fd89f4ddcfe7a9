//! Recovery of characters from the transitions of the wires, with the clock of their sender.

use super::edge_tracker::EdgeTracker;
use super::sender_clock::{PERIODS_FS, SenderClock, signed};
use super::{WIRES, WireTransition};
use crate::character::Character;

/// Bins of a period in an [`EyeHistogram`].
const BINS: usize = 64;

/// Longest silence, in periods, after which the edge is still known: a recovered period that is 1 ppm off moves
/// it by 1 %.
const COASTING_MAX: u64 = 10_000;

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

impl WireQuality {
    fn add(&mut self, characters: &[PlacedCharacter]) {
        for placed in characters {
            self.characters += 1;
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
    open: Option<OpenCharacter>,
    /// Delay of each wire, and its first bin moved by that delay, with 32 bits behind the point. There are more than
    /// wires: any bit of a set has one.
    delays_fs: [u64; u32::BITS as usize],
    first_bins: [i64; u32::BITS as usize],
    /// Transitions of each wire by bin, `BIN_0` at the edge of the earliest wire.
    bins: Box<[u64; WIRES * BINS_KEPT]>,
    /// Bins of an eye in a femtosecond, with 32 bits behind the point.
    bins_per_fs: i64,
    quality: WireQuality,
}

/// Bins that are kept of each wire: with the half period before and behind that those at both ends stand for.
const BINS_KEPT: usize = 160;
const BIN_0: usize = 32;

const ALL_WIRES: u32 = (1 << WIRES) - 1;

/// A set of wires as a transition has it.
fn wires_of(set: u32) -> u16 {
    u16::try_from(set & ALL_WIRES).unwrap_or_default()
}

#[derive(Clone, Copy, Debug)]
struct OpenCharacter {
    place: u64,
    edge_fs: u64,
    wires: u32,
    first_fs: u64,
    last_fs: u64,
}

impl ClockRecovery {
    /// A reader that begins with a learned clock at a transition near `first_fs`.
    pub fn new(clock: &SenderClock, first_fs: u64) -> Self {
        let period = clock.period_fs.clamp(*PERIODS_FS.start(), *PERIODS_FS.end());
        let back = clock.edge_fs.saturating_sub(first_fs).saturating_add(period / 2) / period;
        let edge_fs = clock.edge_fs.saturating_sub(back.saturating_mul(period));
        let bins_per_fs = signed(((BINS as u64) << 32) / period);
        let (mut delays_fs, mut first_bins) = ([0; 32], [0; 32]);
        let wires = delays_fs.iter_mut().zip(&mut first_bins).zip(clock.delay_fs);
        for (wire, ((delay_fs, bin), delay)) in wires.enumerate() {
            *delay_fs = delay.unwrap_or_default().min(period);
            let first = (wire * BINS_KEPT + BIN_0) as u64;
            *bin = signed(first << 32) + signed(*delay_fs) * bins_per_fs;
        }
        Self {
            tracker: EdgeTracker::new(period, edge_fs),
            open: None,
            delays_fs,
            first_bins,
            bins: Box::new([0; WIRES * BINS_KEPT]),
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
        let (before, mut left) = (placed.len(), transitions);
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
        self.quality.add(placed.get(before..).unwrap_or_default());
    }

    /// Takes transitions up to one that has wires neither near the edge of the open character nor near the next, and that
    /// one; returns the others. It does what [`ClockRecovery::receive_far`] does with each, in fewer steps.
    fn receive_near<'a>(
        &mut self,
        transitions: &'a [WireTransition],
        mut open: OpenCharacter,
        placed: &mut Vec<PlacedCharacter>,
    ) -> &'a [WireTransition] {
        // Copies stay in registers.
        let (mut tracker, near_fs) = (self.tracker, self.tracker.near_fs());
        let mut later = transitions.iter();
        for &WireTransition { time_fs, wires } in later.by_ref() {
            // Wires that are left, and those of them and before that are of the open character.
            let mut left = u32::from(wires) & ALL_WIRES;
            let mut own = left;
            let is_free = tracker.is_free();
            while is_free && left != 0 {
                let wire = left.trailing_zeros() as usize;
                let delay_fs = self.delays_fs.get(wire).copied().unwrap_or_default();
                let arrived_fs = time_fs.wrapping_sub(delay_fs);
                let mut since = tracker.since_edge(arrived_fs);
                let period_fs = tracker.period_fs();
                if since.unsigned_abs() > near_fs {
                    let Some(since_next) = tracker.go_on(arrived_fs, near_fs) else { break };
                    since = since_next;
                    self.add(&mut open, own & !left, time_fs);
                    placed.push(self.end(open, period_fs));
                    let (place, edge_fs) = (tracker.place, tracker.corrected_fs(since));
                    let (first_fs, last_fs) = (time_fs, time_fs);
                    open = OpenCharacter { place, edge_fs, wires: 0, first_fs, last_fs };
                    own = left;
                }
                tracker.correct_near(since);
                self.count(wire, since.wrapping_add((period_fs / 8).cast_signed()));
                left &= left - 1;
            }
            self.add(&mut open, own & !left, time_fs);
            if left != 0 {
                (self.tracker, self.open) = (tracker, Some(open));
                self.receive_far(WireTransition { time_fs, wires: wires_of(left) }, placed);
                return later.as_slice();
            }
        }
        (self.tracker, self.open) = (tracker, Some(open));
        &[]
    }

    /// Adds wires that have a transition at one time to a character.
    #[inline]
    fn add(&mut self, open: &mut OpenCharacter, wires: u32, time_fs: u64) {
        if wires != 0 {
            if open.wires & wires != 0 {
                self.count_doubled(open.wires & wires);
            }
            open.wires |= wires;
            open.last_fs = time_fs;
        }
    }

    #[cold]
    fn count_doubled(&mut self, wires: u32) {
        self.quality.doubled += u64::from(wires.count_ones());
    }

    #[cold]
    const fn count_beyond_window(&mut self) {
        self.quality.beyond_window += 1;
    }

    /// Takes the wires of a transition, wherever it is.
    #[cold]
    fn receive_far(&mut self, transition: WireTransition, placed: &mut Vec<PlacedCharacter>) {
        let time_fs = transition.time_fs;
        for number in transition.each() {
            let delay_fs = self.delays_fs.get(number).copied().unwrap_or_default();
            let period_fs = self.tracker.period_fs();
            let half = (period_fs / 2).cast_signed();
            let (moved, since) = self.tracker.place(time_fs.saturating_sub(delay_fs));
            // The edge is not known after a silence in which the clock has drifted.
            let since = if moved > COASTING_MAX { self.tracker.jump(since) } else { since };
            let since = since.clamp(-half, half);
            self.tracker.correct(since, moved);
            self.quality.off_phase += u64::from(since.abs() > half / 2);
            self.count(number, since + half / 4);
            if moved > 0 || self.open.is_none() {
                let EdgeTracker { place, edge_fs, .. } = self.tracker;
                let (first_fs, last_fs) = (time_fs, time_fs);
                let next = OpenCharacter { place, edge_fs, wires: 0, first_fs, last_fs };
                if let Some(ended) = self.open.replace(next) {
                    placed.push(self.end(ended, period_fs));
                }
            }
            if let Some(mut open) = self.open {
                self.add(&mut open, 1 << number, time_fs);
                self.open = Some(open);
            }
        }
    }

    #[inline]
    fn count(&mut self, wire: usize, phase: i64) {
        let first = self.first_bins.get(wire).copied().unwrap_or_default();
        let bin = first.wrapping_add(phase.wrapping_mul(self.bins_per_fs)) >> 32;
        let bin = usize::try_from(bin).unwrap_or(usize::MAX);
        if let Some(count) = self.bins.get_mut(bin) {
            *count = count.wrapping_add(1);
        }
    }

    #[inline]
    fn end(&mut self, ended: OpenCharacter, period_fs: u64) -> PlacedCharacter {
        let OpenCharacter { place, edge_fs, wires, first_fs: time_fs, last_fs } = ended;
        let spread_fs = last_fs.saturating_sub(time_fs);
        if spread_fs > period_fs / 2 {
            self.count_beyond_window();
        }
        let character = Character::from_bits(wires_of(wires));
        PlacedCharacter { place, time_fs, edge_fs, spread_fs, character }
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

    fn end_last(&mut self, ended: OpenCharacter) -> PlacedCharacter {
        let placed = self.end(ended, self.tracker.period_fs());
        self.quality.add(&[placed]);
        placed
    }

    /// The last character, and the counts of the whole recording.
    pub fn finish(mut self) -> (Option<PlacedCharacter>, WireQuality) {
        let last = self.open.take().map(|ended| self.end_last(ended));
        let (bins, _) = self.bins.as_chunks::<BINS_KEPT>();
        for (eye, bins) in self.quality.eyes.iter_mut().zip(bins) {
            for (bin, count) in bins.iter().enumerate() {
                let bin = bin.saturating_sub(BIN_0).min(BINS - 1);
                eye.0.get_mut(bin).into_iter().for_each(|sum| *sum += count);
            }
        }
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

    #[test]
    fn skipped_changes_do_not_change_the_characters() {
        // Jitter up to two periods, and clocks up to those that are out of the range of the period.
        let recordings =
            [(0, 0), (1_000_000, 100), (4_000_000, -1500), (9_000_000, 2500), (25_000_000, -7)];
        for ((jitter_fs, ppm), glitch_every) in recordings.into_iter().zip([1000, 50, 9, 20, 5]) {
            let all = recording(jitter_fs, ppm, glitch_every);
            let clock = SenderClock::learn(&all, PERIOD_FS).unwrap();
            let mut few = ClockRecovery::new(&clock, all[0].time_fs);
            let (mut every, mut seen, mut expected) = (few.clone(), Vec::new(), Vec::new());
            for some in all.chunks(7) {
                few.receive(some, &mut seen);
            }
            all.iter().for_each(|it| every.receive_far(*it, &mut expected));
            every.quality.add(&expected);
            assert_eq!(seen, expected, "{jitter_fs} fs {ppm} ppm");
            assert_eq!(few.finish(), every.finish());
        }
    }
}
