//! Characters of a recorded channel at the ticks of a capture.

use std::ops::Range;

use crate::capture::{Chunk, ChunkContent, split_into_chunks};
use crate::chars::{CharBuf, Chars};
use crate::time::Tick;
use crate::wires::{PlacedCharacter, SenderClock};

/// Farthest that the time of a character may be from its tick, in quarters of a period, before it is moved:
/// where silence can be made longer or shorter, and elsewhere.
const FAR_IN_SILENCE: i64 = 3;
const FAR_ELSEWHERE: i64 = 16;

/// Most periods that the characters of a channel may be ahead of their times.
const AHEAD_MAX: u64 = 65_536;

/// Quality of the characters of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineQuality {
    /// Silent periods that were added or left out, so that characters stay at their times.
    pub adjusted: u64,
    /// Farthest that the time of a character is from its tick.
    pub farthest_fs: u64,
    /// Characters without a tick: there are far more of them than periods.
    pub lost: u64,
    /// First character: periods since the beginning of the recording, and time.
    pub first: Option<(u64, u64)>,
    /// Last character, likewise.
    pub last: (u64, u64),
    /// Longest character, from its first transition to its last, and its tick. W-4
    pub longest: (u64, Tick),
}

/// Characters of a channel at the ticks of the capture, whose period is constant. A silence is made longer or
/// shorter where the sender's clock has left that period.
#[derive(Clone, Debug)]
pub(super) struct CharacterLine {
    period_fs: i64,
    /// Distances between time and tick from which on a character is moved, behind silence and elsewhere.
    far_fs: [u64; 2],
    /// Characters that are not written yet, and the tick of the first.
    pub(super) characters: CharBuf,
    pub(super) first: u64,
    /// Tick behind the last character.
    pub(super) end: u64,
    /// Ticks of the characters that are not written yet at which nothing was recorded.
    holes: Vec<Range<u64>>,
    /// A hole without an end.
    open: Option<OpenHole>,
    /// Place of the last character on the channel, and its tick.
    last: Option<(u64, u64)>,
    pub(super) quality: LineQuality,
}

/// A hole up to the next character.
#[derive(Clone, Copy, Debug)]
struct OpenHole {
    /// Tick behind the last character before it: silence from there on.
    silent_from: u64,
    first: u64,
}

impl CharacterLine {
    pub(super) fn new(period_fs: u64, first: u64) -> Self {
        let (characters, period_fs) = (CharBuf::new(), period_fs.cast_signed());
        let far_fs = [FAR_IN_SILENCE, FAR_ELSEWHERE]
            .map(|quarters| (period_fs / 4 + 1).saturating_mul(quarters).unsigned_abs());
        let quality = LineQuality::default();
        let (holes, open) = (Vec::new(), None);
        Self { period_fs, far_fs, characters, first, end: first, holes, open, last: None, quality }
    }

    fn since(&self, tick: u64, time_fs: u64) -> i64 {
        // A tick follows its time, so that only the difference need fit.
        time_fs.wrapping_sub(tick.wrapping_mul(self.period_fs.cast_unsigned())).cast_signed()
    }

    /// Adds characters behind silence, up to 64 at once.
    pub(super) fn add(&mut self, characters: &[PlacedCharacter]) {
        let (mut low, mut d, mut length) = ([0; 64], 0, 0);
        for placed in characters {
            let Some(tick) = self.tick(*placed) else { continue };
            let silence = match self.end_hole(tick) {
                Some((before, hole)) => {
                    self.holes.push(tick - hole..tick);
                    before + hole
                }
                None => tick - self.end,
            };
            if silence > 0 || length == low.len() {
                self.characters.push_block(low.get(..length).unwrap_or_default(), d);
                self.characters.push_idle(usize::try_from(silence).unwrap_or(usize::MAX));
                (d, length) = (0, 0);
            }
            let [byte, bit] = placed.character.bits().to_le_bytes();
            low.get_mut(length).into_iter().for_each(|low| *low = byte);
            d |= u64::from(bit) << length;
            length += 1;
            self.end = tick + 1;
        }
        self.characters.push_block(low.get(..length).unwrap_or_default(), d);
    }

    /// Begins behind a character that is left out, unless it has begun.
    pub(super) fn begin_behind(&mut self, place: u64) {
        if self.last.is_none() && self.open.is_none() {
            self.first = self.first.max(place.saturating_add(1));
            self.end = self.end.max(self.first);
        }
    }

    /// Nothing is recorded from about a time on, until the next character.
    pub(super) fn begin_hole(&mut self, time_fs: u64) {
        if self.open.is_none() {
            // The character in which that time falls is not complete.
            let first = (time_fs / self.period_fs.unsigned_abs()).saturating_sub(1).max(self.end);
            self.open = Some(OpenHole { silent_from: self.end, first });
            self.end = first + 1;
        }
    }

    /// Ends an open hole at a tick, not before the end: the silent periods before it, and its length.
    pub(super) fn end_hole(&mut self, tick: u64) -> Option<(u64, u64)> {
        let OpenHole { silent_from, first } = self.open.take()?;
        Some((first - silent_from, tick - first))
    }

    /// The tick of a character, not before the end. `None` if it is too far from its time.
    #[inline]
    pub(super) fn tick(&mut self, placed: PlacedCharacter) -> Option<u64> {
        let PlacedCharacter { place, edge_fs, .. } = placed;
        let (last_place, last_tick) = self.last.unwrap_or((place, place));
        let passed = place.saturating_sub(last_place);
        let mut tick = last_tick.saturating_add(passed);
        let [far_in_silence, far_elsewhere] = self.far_fs;
        let far_fs = if passed > 1 { far_in_silence } else { far_elsewhere };
        let mut distance_fs = self.since(tick, edge_fs).unsigned_abs();
        if distance_fs >= far_fs || tick < self.end {
            tick = self.moved_tick(tick, edge_fs, far_fs)?;
            distance_fs = self.since(tick, edge_fs).unsigned_abs();
        }
        self.quality.farthest_fs = self.quality.farthest_fs.max(distance_fs);
        self.last = Some((place, tick));
        self.quality.first.get_or_insert((place, edge_fs));
        self.quality.last = (place, edge_fs);
        if placed.spread_fs > self.quality.longest.0 {
            self.quality.longest = (placed.spread_fs, Tick(tick));
        }
        Some(tick)
    }

    /// The tick of a character whose tick would be far from its time, or before the end.
    #[cold]
    fn moved_tick(&mut self, tick: u64, edge_fs: u64, far_fs: u64) -> Option<u64> {
        let late = self.since(tick, edge_fs);
        if late.unsigned_abs() < far_fs {
            return Some(tick.max(self.end));
        }
        let periods = late.saturating_add(self.period_fs / 2).div_euclid(self.period_fs);
        let nearest = tick.saturating_add_signed(periods);
        if self.end > nearest.saturating_add(AHEAD_MAX) {
            self.quality.lost += 1;
            return None;
        }
        let moved = nearest.max(self.end);
        self.quality.adjusted = self.quality.adjusted.saturating_add(moved.abs_diff(tick));
        Some(moved)
    }

    /// Characters before a tick, with the tick of the first and the silence behind the last: several runs if there are
    /// holes between.
    pub(super) fn runs(&self, end: u64) -> impl Iterator<Item = (u64, Chars<'_>, u64)> {
        let (silent_from, recorded) = match self.open {
            Some(OpenHole { silent_from, first }) => (silent_from, first.min(end)),
            None => (self.end, end),
        };
        let starts = std::iter::once(self.first).chain(self.holes.iter().map(|hole| hole.end));
        let ends = self.holes.iter().map(move |hole| hole.start.min(end));
        let runs = starts.zip(ends.chain([recorded])).filter(|(from, to)| from < to);
        let place = |tick: u64| usize::try_from(tick - self.first).unwrap_or(usize::MAX);
        runs.map(move |(from, to)| {
            let silence = to.saturating_sub(silent_from.max(from));
            (from, self.characters.chars().slice(place(from)..place(to)), silence)
        })
    }

    /// Chunks of the characters before a tick, and of the silence up to it.
    pub(super) fn chunks(&self, end: u64) -> impl Iterator<Item = Chunk<'_>> {
        let idle = Chars::from_planes(&[0], &[0]).unwrap_or_default();
        self.runs(end).flat_map(move |(first, characters, count)| {
            let content = ChunkContent::Repeat { pattern: idle, count };
            let behind = Tick(first + characters.len() as u64);
            let silence = (count > 0).then_some(Chunk { first: behind, content });
            split_into_chunks(Tick(first), characters).chain(silence)
        })
    }

    /// Forgets the characters before a tick.
    pub(super) fn forget(&mut self, end: u64) {
        let length = usize::try_from(end.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let mut characters = CharBuf::new();
        characters.push_chars(self.characters.chars().split_at(length).1);
        self.characters = characters;
        self.holes.retain(|hole| hole.end > end);
        self.first = self.first.max(end);
        self.end = self.end.max(end);
        if let Some(open) = &mut self.open {
            let OpenHole { silent_from, first } = *open;
            *open = OpenHole { silent_from: silent_from.max(end), first: first.max(end) };
        }
    }
}

/// The nominal period if all of a time is too short to tell it from that of a clock: by an eighth of a period. Else that
/// of the clock. With half a period from an edge to its tick, and jitter, no character is then far from its tick.
pub(super) fn period_of_clock(clock: &SenderClock, nominal_fs: u64, time_fs: u64) -> u64 {
    let apart = u128::from(clock.period_fs.abs_diff(nominal_fs)) * u128::from(time_fs);
    let is_nominal = apart * 8 < u128::from(nominal_fs) * u128::from(nominal_fs);
    if is_nominal { nominal_fs } else { clock.period_fs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Character;
    use crate::wires::SenderClock;

    fn placed(place: u64, edge_fs: u64) -> PlacedCharacter {
        let (time_fs, character, is_behind_hole) = (edge_fs, Character::GAP, false);
        PlacedCharacter { place, time_fs, edge_fs, spread_fs: 0, character, is_behind_hole }
    }

    /// Three quarters of a period are far in silence, four periods elsewhere, each quarter rounded up.
    #[test]
    fn a_character_is_moved_if_it_is_far_from_its_tick() {
        let behind = 5 + AHEAD_MAX;
        // Periods since one at 0, lateness, the tick that is free, its tick and by how much it is moved.
        for (place, late_fs, end, expected) in [
            (2, 77, 1, Some((2, 0))),
            (2, 78, 1, Some((3, 1))),
            (2, -78, 1, Some((1, 1))),
            (1, 415, 1, Some((1, 0))),
            (1, 416, 1, Some((5, 4))),
            (1, 416, behind, Some((behind, behind - 1))),
            (1, 416, behind + 1, None),
        ] {
            let mut line = CharacterLine::new(100, 0);
            let edge_fs = (100_u64 * place).saturating_add_signed(late_fs);
            line.add(&[placed(0, 0)]);
            line.end = end;
            let moved = line.tick(placed(place, edge_fs)).map(|tick| (tick, line.quality.adjusted));
            assert_eq!(moved, expected, "{place} {late_fs} {end}");
            // The first of the longest characters is told.
            line.end = 0;
            for place in [9, 10] {
                line.tick(PlacedCharacter { spread_fs: 7, ..placed(place, 100 * place) });
            }
            assert_eq!(line.quality.longest, (7, Tick(9)));
        }
    }

    /// The character in which a wire becomes unknown is not complete, and changes of the one before may still come.
    #[test]
    fn a_hole_begins_a_character_before_what_is_unknown() {
        for (time_fs, end) in [(450, 5), (600, 5), (699, 5), (700, 6), (1050, 9)] {
            let mut line = CharacterLine::new(100, 2);
            line.add(&[placed(4, 400)]);
            line.begin_hole(time_fs);
            let runs = line.runs(20).map(|(from, all, silence)| (from, all.len() as u64, silence));
            assert_eq!(runs.collect::<Vec<_>>(), [(2, 3, end - 5)], "{time_fs}");
        }
    }

    /// The recording tells another period if it is an eighth of a period off at the end.
    #[test]
    fn a_period_that_is_nearly_the_nominal_one_is_that() {
        let delay_fs = [None; crate::wires::WIRES];
        let clock = SenderClock { period_fs: 1001, period_error_fs: 0, edge_fs: 0, delay_fs };
        let periods = [124_999, 125_000].map(|time_fs| period_of_clock(&clock, 1000, time_fs));
        assert_eq!(periods, [1000, 1001]);
    }
}
