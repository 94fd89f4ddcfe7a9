//! Changes of signals to the chunks of a capture.

use super::content::ContentCounter;
use super::{ContentCounts, SignalChange};
use crate::capture::{ChannelId, Chunk, ChunkContent, WireMeasurement, split_into_chunks};
use crate::character::Character;
use crate::chars::{CharBuf, Chars};
use crate::time::{CharacterPeriod, Tick};
use crate::wires::{
    ClockRecovery, PlacedCharacter, SenderClock, WIRES, WireMap, WireQuality, WireTransition,
};

/// Character periods between two writings of what was read.
const WINDOW: u64 = 16_384;

/// Periods that the newest characters are held back, so that the chunks of all channels are in
/// order: a character ends with a transition of a later one.
const HELD_BACK: u64 = 8;

/// Farthest that the time of a character may be from its tick, in quarters of a period, before it is moved:
/// where silence can be made longer or shorter, and elsewhere.
const FAR_IN_SILENCE: i64 = 3;
const FAR_ELSEWHERE: i64 = 16;

/// Most periods that the characters of a channel may be ahead of their times.
const AHEAD_MAX: u64 = 65_536;

/// A channel of a recording.
#[derive(Clone, Debug)]
pub struct RecordedChannel {
    /// Number of its first signal among the selected ones; nine belong to it.
    first_signal: u32,
    /// Wires of each set of the nine signals.
    wires: Box<[u16]>,
    clock: SenderClock,
    period: CharacterPeriod,
    recovery: ClockRecovery,
    line: CharacterLine,
    content: ContentCounter,
}

/// Quality of a recorded channel.
#[derive(Clone, Debug)]
pub struct RecordedQuality {
    /// Clock learned from the beginning: its period is that of the capture.
    pub clock: SenderClock,
    /// Transitions.
    pub wires: WireQuality,
    /// Frames and codes.
    pub content: ContentCounts,
    /// Characters and their ticks.
    pub line: LineQuality,
}

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

impl RecordedQuality {
    /// Mean period of the whole recording, in femtoseconds.
    pub fn mean_period_fs(&self) -> u64 {
        let (last_place, last_fs) = self.line.last;
        let (place, first_fs) = self.line.first.unwrap_or_default();
        let time_fs = last_fs.saturating_sub(first_fs);
        time_fs.checked_div(last_place.saturating_sub(place)).unwrap_or(self.clock.period_fs)
    }

    /// Measurements on the wires, for the description of the channel. `None` if there are none.
    pub fn measurement(
        &self,
        sample_fs: Option<u64>,
        nominal: Option<CharacterPeriod>,
    ) -> Option<WireMeasurement> {
        let (spread_fs, at) = self.line.longest;
        (self.wires.characters > 0).then_some(WireMeasurement {
            window_fs: None,
            skew: Some((spread_fs, Some(at))),
            sample_fs,
            nominal,
            period_error_fs: Some(self.clock.period_error_fs),
        })
    }
}

impl RecordedChannel {
    /// A channel whose nine signals begin at a number among the selected ones. The clock is learned
    /// from the changes at the beginning of the recording, near `period_fs`; a channel without changes has that
    /// period. `None` if the changes show no clock.
    pub fn learn(
        head: &[SignalChange],
        first_signal: u32,
        map: WireMap,
        period_fs: u64,
    ) -> Option<Self> {
        let wires = map.table();
        let transitions = transitions(head, first_signal, &wires);
        let first_fs = transitions.first().map_or(0, |first| first.time_fs);
        let (period_error_fs, edge_fs, delay_fs) = (period_fs, 0, [None; WIRES]);
        let silent = SenderClock { period_fs, period_error_fs, edge_fs, delay_fs };
        let clock = match transitions.as_slice() {
            [] => silent,
            some => SenderClock::learn(some, period_fs)?,
        };
        let period = CharacterPeriod::from_fs(clock.period_fs)?;
        let start_fs = head.first().map_or(0, |change| change.time_fs);
        let recovery = ClockRecovery::new(&clock, first_fs);
        let line = CharacterLine::new(clock.period_fs, start_fs / clock.period_fs);
        let (wires, content) = (wires.into(), ContentCounter::default());
        Some(Self { first_signal, wires, clock, period, recovery, line, content })
    }

    /// The character period.
    pub const fn period(&self) -> CharacterPeriod {
        self.period
    }

    /// Characters and quality of the beginning of the recording.
    pub fn preview(&self, head: &[SignalChange]) -> (Vec<PlacedCharacter>, RecordedQuality) {
        let (mut channel, mut characters) = (self.clone(), Vec::new());
        for transition in transitions(head, self.first_signal, &self.wires) {
            channel.recovery.receive(transition, |placed| {
                // The characters themselves are not needed, nor is silence, however long.
                if let Some(tick) = channel.line.tick(placed) {
                    channel.line.first = tick + 1;
                }
                characters.push(placed);
            });
        }
        (characters, channel.finish())
    }

    fn receive(&mut self, change: SignalChange) {
        if let Some(transition) = transition(change, self.first_signal, &self.wires) {
            let Self { recovery, line, .. } = self;
            recovery.receive(transition, |placed| line.add(placed));
        }
    }

    /// Ends the open character if it is over at a time.
    fn settle(&mut self, time_fs: u64) {
        if let Some(placed) = self.recovery.settle(time_fs) {
            self.line.add(placed);
        }
    }

    /// Forgets the characters before a tick, once they are counted.
    fn forget(&mut self, end: u64) {
        let (written, rest) = self.line.split_at(end);
        self.content.feed(written);
        self.content.skip_silence(end.saturating_sub(self.line.end()));
        let mut characters = CharBuf::new();
        characters.push_chars(rest);
        self.line.characters = characters;
        self.line.first = self.line.first.max(end);
    }

    fn finish(self) -> RecordedQuality {
        let (_, wires) = self.recovery.finish();
        let (clock, content, line) = (self.clock, self.content.counts(), self.line.quality);
        RecordedQuality { clock, wires, content, line }
    }
}

/// Characters of a channel at the ticks of the capture, whose period is constant. A silence is made longer or
/// shorter where the sender's clock has left that period.
#[derive(Clone, Debug)]
struct CharacterLine {
    period_fs: i64,
    /// Characters that are not written yet, and the tick of the first.
    characters: CharBuf,
    first: u64,
    /// Place of the last character on the channel, and its tick.
    last: Option<(u64, u64)>,
    quality: LineQuality,
}

impl CharacterLine {
    fn new(period_fs: u64, first: u64) -> Self {
        let (characters, period_fs) = (CharBuf::new(), period_fs.cast_signed());
        let quality = LineQuality::default();
        Self { period_fs, characters, first, last: None, quality }
    }

    fn end(&self) -> u64 {
        self.first + self.characters.len() as u64
    }

    /// Time since a tick.
    fn since(&self, tick: u64, time_fs: u64) -> i64 {
        let since = i128::from(time_fs) - i128::from(tick) * i128::from(self.period_fs);
        i64::try_from(since).unwrap_or(if since < 0 { i64::MIN } else { i64::MAX })
    }

    /// Adds a character behind silence.
    fn add(&mut self, placed: PlacedCharacter) {
        if let Some(tick) = self.tick(placed) {
            let silence = tick - self.end();
            self.characters.extend((0..silence).map(|_| Character::IDLE));
            self.characters.push(placed.character);
        }
    }

    /// The tick of a character, not before the end. `None` if it is too far from its time.
    fn tick(&mut self, placed: PlacedCharacter) -> Option<u64> {
        let PlacedCharacter { place, edge_fs, .. } = placed;
        let (last_place, last_tick) = self.last.unwrap_or((place, place));
        let passed = place.saturating_sub(last_place);
        let mut tick = last_tick.saturating_add(passed);
        let far = if passed > 1 { FAR_IN_SILENCE } else { FAR_ELSEWHERE };
        let late = self.since(tick, edge_fs);
        if late.saturating_abs() / far > self.period_fs / 4 {
            let periods = late.saturating_add(self.period_fs / 2).div_euclid(self.period_fs);
            let nearest = tick.saturating_add_signed(periods);
            if self.end() > nearest.saturating_add(AHEAD_MAX) {
                self.quality.lost += 1;
                return None;
            }
            let moved = nearest.max(self.end());
            self.quality.adjusted = self.quality.adjusted.saturating_add(moved.abs_diff(tick));
            tick = moved;
        }
        tick = tick.max(self.end());
        let distance_fs = self.since(tick, edge_fs).unsigned_abs();
        self.quality.farthest_fs = self.quality.farthest_fs.max(distance_fs);
        self.last = Some((place, tick));
        self.quality.first.get_or_insert((place, edge_fs));
        self.quality.last = (place, edge_fs);
        if placed.spread_fs > self.quality.longest.0 {
            self.quality.longest = (placed.spread_fs, Tick(tick));
        }
        Some(tick)
    }

    /// Characters before a tick, and the others.
    fn split_at(&self, end: u64) -> (Chars<'_>, Chars<'_>) {
        let length = usize::try_from(end.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.characters.chars().split_at(length)
    }

    /// Chunks of the characters before a tick, and of the silence up to it.
    fn chunks(&self, end: u64) -> impl Iterator<Item = Chunk<'_>> {
        let silence = end.saturating_sub(self.end());
        let idle = Chars::from_planes(&[0], &[0]).unwrap_or_default();
        let content = ChunkContent::Repeat { pattern: idle, count: silence };
        let silence = (silence > 0).then_some(Chunk { first: Tick(self.end()), content });
        split_into_chunks(Tick(self.first), self.split_at(end).0).chain(silence)
    }
}

/// Transition of a channel's wires.
fn transition(change: SignalChange, first_signal: u32, wires: &[u16]) -> Option<WireTransition> {
    let signals = change.channel(first_signal)?;
    let wires = wires.get(usize::from(signals.wires)).copied()?;
    Some(WireTransition { wires, ..signals })
}

/// Transitions of a channel's wires.
fn transitions(changes: &[SignalChange], first_signal: u32, wires: &[u16]) -> Vec<WireTransition> {
    changes.iter().filter_map(|change| transition(*change, first_signal, wires)).collect()
}

/// Reader of the channels of a recording.
#[derive(Debug)]
pub struct RecordingImport {
    channels: Vec<RecordedChannel>,
    /// Time at which the next chunks are written.
    due_fs: u64,
    now_fs: u64,
}

impl RecordingImport {
    /// A reader of channels, which get the numbers 0, 1, ….
    pub const fn new(channels: Vec<RecordedChannel>) -> Self {
        Self { channels, due_fs: 0, now_fs: 0 }
    }

    fn longest_period_fs(&self) -> u64 {
        self.channels.iter().map(|it| it.period.fs()).max().unwrap_or(1)
    }

    /// Takes a change, not earlier than those before, and gives chunks in the order of a capture.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn receive<E>(
        &mut self,
        change: SignalChange,
        write: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.now_fs = change.time_fs;
        if change.time_fs >= self.due_fs {
            self.write(HELD_BACK, write)?;
            let window_fs = WINDOW.saturating_mul(self.longest_period_fs());
            self.due_fs = change.time_fs.saturating_add(window_fs);
        }
        self.channels.iter_mut().for_each(|channel| channel.receive(change));
        Ok(())
    }

    /// Gives the characters up to some periods before now: those of all channels up to one time, so that none of
    /// them precedes what has been given.
    fn write<E>(
        &mut self,
        held_back: u64,
        write: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let now_fs = self.now_fs;
        let end_fs = now_fs.saturating_sub(held_back.saturating_mul(self.longest_period_fs()));
        let end = |channel: &RecordedChannel| {
            end_fs.div_ceil(channel.period.fs()).max(channel.line.first)
        };
        self.channels.iter_mut().for_each(|channel| channel.settle(now_fs));
        let mut chunks: Vec<(u128, ChannelId, Chunk<'_>)> = Vec::new();
        for (id, channel) in (0..).map(ChannelId).zip(&self.channels) {
            let own = channel.line.chunks(end(channel));
            chunks.extend(own.map(|chunk| (channel.period.time(chunk.first.0), id, chunk)));
        }
        chunks.sort_by_key(|(time, id, _)| (*time, *id));
        chunks.iter().try_for_each(|(_, id, chunk)| write(*id, chunk))?;
        for channel in &mut self.channels {
            let end = end(channel);
            channel.forget(end);
        }
        Ok(())
    }

    /// Gives what is left, and returns the quality of each channel.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn finish<E>(
        mut self,
        write: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<Vec<RecordedQuality>, E> {
        // The last character has no transition behind it.
        self.now_fs = self.now_fs.saturating_add(self.longest_period_fs().saturating_mul(2));
        self.write(0, write)?;
        Ok(self.channels.into_iter().map(RecordedChannel::finish).collect())
    }
}
