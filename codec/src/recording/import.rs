//! Changes of signals to the chunks of a capture.

use super::SignalChange;
use crate::capture::{ChannelId, Chunk, ChunkContent, split_into_chunks};
use crate::character::Character;
use crate::chars::{CharBuf, Chars};
use crate::time::{CharacterPeriod, Tick};
use crate::wires::{
    ClockRecovery, PlacedCharacter, SenderClock, WireMap, WireQuality, WireTransition,
};

/// Character periods between two writings of what was read.
const WINDOW: u64 = 16_384;

/// Periods that the newest characters are held back, so that the chunks of all channels are in
/// order: a character ends with a transition of a later one.
const HELD_BACK: u64 = 8;

/// A channel of a recording.
#[derive(Debug)]
pub struct RecordedChannel {
    /// Number of its first signal among the selected ones; nine belong to it.
    first_signal: u32,
    map: WireMap,
    period: CharacterPeriod,
    recovery: ClockRecovery,
    /// Characters that are not written yet, and the place of the first.
    characters: CharBuf,
    first: u64,
}

impl RecordedChannel {
    /// A channel whose nine signals begin at a number among the selected ones. The clock is learned
    /// from the changes at the beginning of the recording, near `period_fs`. `None` if they show no
    /// clock.
    pub fn learn(
        head: &[SignalChange],
        first_signal: u32,
        map: WireMap,
        period_fs: u64,
    ) -> Option<Self> {
        let transitions = transitions(head, first_signal, &map);
        let clock = SenderClock::learn(&transitions, period_fs)?;
        let period = CharacterPeriod::from_fs(clock.period_fs)?;
        let start_fs = head.first().map_or(0, |change| change.time_fs);
        let recovery = ClockRecovery::new(&clock, transitions.first()?.time_fs);
        let (characters, first) = (CharBuf::new(), start_fs / clock.period_fs);
        Some(Self { first_signal, map, period, recovery, characters, first })
    }

    /// The character period.
    pub const fn period(&self) -> CharacterPeriod {
        self.period
    }

    fn end(&self) -> u64 {
        self.first + self.characters.len() as u64
    }

    fn receive(&mut self, change: SignalChange) {
        let Some(signals) = change.channel(self.first_signal) else { return };
        let transition = WireTransition { wires: self.map.apply(signals.wires), ..signals };
        let Self { recovery, characters, first, .. } = self;
        recovery.receive(transition, |placed| add(characters, *first, placed));
    }

    /// Ends the open character if it is over at a time.
    fn settle(&mut self, time_fs: u64) {
        if let Some(placed) = self.recovery.settle(time_fs) {
            add(&mut self.characters, self.first, placed);
        }
    }

    /// Chunks of the characters before a place, and of the silence up to it.
    fn chunks(&self, end: u64) -> impl Iterator<Item = Chunk<'_>> {
        let length = usize::try_from(end.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let written = self.characters.chars().split_at(length).0;
        let silence = end.saturating_sub(self.end());
        let idle = Chars::from_planes(&[0], &[0]).unwrap_or_default();
        let content = ChunkContent::Repeat { pattern: idle, count: silence };
        let silence = (silence > 0).then_some(Chunk { first: Tick(self.end()), content });
        split_into_chunks(Tick(self.first), written).chain(silence)
    }

    /// Forgets the characters before a place.
    fn forget(&mut self, end: u64) {
        let length = usize::try_from(end.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let mut rest = CharBuf::new();
        rest.push_chars(self.characters.chars().split_at(length).1);
        self.characters = rest;
        self.first = self.first.max(end);
    }

    /// Last period, and counts of the recording's transitions, at its end.
    fn finish(self) -> (u64, WireQuality) {
        (self.recovery.period_fs(), self.recovery.finish().1)
    }
}

/// Adds a character at its place, behind silence.
fn add(characters: &mut CharBuf, first: u64, placed: PlacedCharacter) {
    let end = first + characters.len() as u64;
    if let Some(silence) = placed.place.checked_sub(end) {
        characters.extend((0..silence).map(|_| Character::IDLE));
        characters.push(placed.character);
    }
}

/// Transitions of a channel's wires.
pub fn transitions(
    changes: &[SignalChange],
    first_signal: u32,
    map: &WireMap,
) -> Vec<WireTransition> {
    let signals = changes.iter().filter_map(|change| change.channel(first_signal));
    signals.map(|it| WireTransition { wires: map.apply(it.wires), ..it }).collect()
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
            let period_fs = self.channels.iter().map(|it| it.period.fs()).max().unwrap_or(1);
            self.due_fs = change.time_fs.saturating_add(WINDOW.saturating_mul(period_fs));
        }
        self.channels.iter_mut().for_each(|channel| channel.receive(change));
        Ok(())
    }

    /// Gives the characters up to some periods before now.
    fn write<E>(
        &mut self,
        held_back: u64,
        write: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let now_fs = self.now_fs;
        let end = |channel: &RecordedChannel| {
            (now_fs / channel.period.fs()).saturating_sub(held_back).max(channel.first)
        };
        self.channels.iter_mut().for_each(|channel| channel.settle(now_fs));
        let mut chunks: Vec<(u128, ChannelId, Chunk<'_>)> = Vec::new();
        for (id, channel) in (0..).map(ChannelId).zip(&self.channels) {
            let own = channel.chunks(end(channel));
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

    /// Gives what is left, and returns the last period, in femtoseconds, and the counts of each
    /// channel.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn finish<E>(
        mut self,
        write: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<Vec<(u64, WireQuality)>, E> {
        // The last character has no transition behind it.
        let longest = self.channels.iter().map(|it| it.period.fs()).max().unwrap_or(1);
        self.now_fs = self.now_fs.saturating_add(longest.saturating_mul(2));
        self.write(0, write)?;
        Ok(self.channels.into_iter().map(RecordedChannel::finish).collect())
    }
}
