//! Changes of signals to the chunks of a capture.

use super::content::ContentCounter;
use super::levels::{BATCH, UnknownLevels, WIRES_MASK, add_transitions, timed};
pub use super::line::LineQuality;
use super::line::{CharacterLine, period_of_clock};
use super::{ContentCounts, SignalChange};
use crate::capture::{ChannelId, Chunk, WireMeasurement};
use crate::chars::CharBuf;
use crate::time::CharacterPeriod;
use crate::wires::{
    ClockRecovery, PlacedCharacter, SenderClock, WIRES, WireMap, WireQuality, WireTransition,
};

/// Character periods between two writings of what was read.
const WINDOW: u64 = 16_384;

/// Periods that the newest characters are held back, so that the chunks of all channels are in
/// order: a character ends with a transition of a later one.
const HELD_BACK: u64 = 8;

/// Receiver of the characters of a channel.
type CharacterSink<'a> = dyn FnMut(&mut CharacterLine, &[PlacedCharacter]) + 'a;

/// A channel of a recording.
#[derive(Clone, Debug)]
pub struct RecordedChannel {
    /// Number of its first signal among the selected ones; nine belong to it.
    first_signal: u32,
    /// Wires of each set of the nine signals.
    wires: Box<[u16; 1 << WIRES]>,
    clock: SenderClock,
    period: CharacterPeriod,
    recovery: ClockRecovery,
    line: CharacterLine,
    content: ContentCounter,
    unknown: UnknownLevels,
    /// True from a level that was unknown for long on, until all are known again.
    is_hole: bool,
    /// Time before which no character is complete: of the beginning, or of the last level that has become known behind a hole.
    complete_fs: u64,
    /// Transitions and characters that are worked on: kept for their memory.
    transitions: Vec<WireTransition>,
    placed: Vec<PlacedCharacter>,
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
        let is_bad = self.content.good < self.content.frames;
        let eyes = (0..).zip(&self.wires.eyes).filter(|(_, eye)| is_bad && eye.count() == 0);
        let still_wires = eyes.fold(0, |still: u16, (wire, _)| still | 1 << wire);
        (self.wires.characters > 0).then_some(WireMeasurement {
            window_fs: None,
            skew: Some((spread_fs, Some(at))),
            sample_fs,
            nominal,
            period_error_fs: Some(self.clock.period_error_fs),
            glitches: Some(self.wires.doubled),
            still_wires: Some(still_wires),
            forced: None,
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
        let wires = Box::new(map.table());
        let mut transitions = Vec::new();
        add_transitions(&mut transitions, &timed(head, period_fs / 4), first_signal, &wires);
        let first_fs = transitions.first().map_or(0, |first| first.time_fs);
        let (period_error_fs, edge_fs, delay_fs) = (period_fs, 0, [None; WIRES]);
        let silent = SenderClock { period_fs, period_error_fs, edge_fs, delay_fs };
        let clock = match transitions.as_slice() {
            [] => silent,
            some => SenderClock::learn(some, period_fs)?,
        };
        let time_fs = transitions.last().map_or(0, |last| last.time_fs - first_fs);
        let period = CharacterPeriod::from_fs(period_of_clock(&clock, period_fs, time_fs))?;
        // Levels that change at the first time are known from before.
        let begin = head.first().filter(|first| first.certain() == 0);
        let complete_fs = begin.map_or(0, |it| it.time_fs.saturating_add(period.fs() / 4));
        let start = head.iter().find(|it| it.certain() != 0);
        let start_fs = start.map_or(0, |change| change.time_fs.max(complete_fs));
        transitions.clear();
        Some(Self {
            first_signal,
            wires,
            recovery: ClockRecovery::new(&clock),
            line: CharacterLine::new(period.fs(), start_fs / period.fs()),
            content: ContentCounter::default(),
            clock,
            period,
            unknown: UnknownLevels::NONE,
            is_hole: false,
            complete_fs,
            transitions,
            placed: Vec::new(),
        })
    }

    /// The character period.
    pub const fn period(&self) -> CharacterPeriod {
        self.period
    }

    /// Characters of the beginning of the recording, as many as are needed, and its quality.
    pub fn preview(
        &self,
        head: &[SignalChange],
        characters_max: usize,
    ) -> (Vec<PlacedCharacter>, RecordedQuality) {
        let (mut channel, mut characters) = (self.clone(), Vec::new());
        // Characters are counted at once: all of them with their silence may not fit into memory.
        let (mut content, mut run) = (ContentCounter::default(), CharBuf::new());
        channel.recover(head, &mut |line, placed| {
            for placed in placed {
                let Some(tick) = line.tick(*placed) else { continue };
                let hole = line.end_hole(tick);
                if hole.is_some() || tick > line.end {
                    let (silence, missing) = hole.unwrap_or((tick - line.end, 0));
                    content.feed(std::mem::take(&mut run).chars());
                    content.skip_silence(silence);
                    content.skip_hole(missing);
                }
                run.push(placed.character);
                line.end = tick + 1;
                if characters.len() < characters_max {
                    let is_behind_hole = hole.is_some();
                    characters.push(PlacedCharacter { is_behind_hole, ..*placed });
                }
            }
        });
        content.feed(run.chars());
        (characters, RecordedQuality { content: content.counts, ..channel.finish() })
    }

    fn recover(&mut self, changes: &[SignalChange], characters: &mut CharacterSink<'_>) {
        let own = WIRES_MASK.unbounded_shl(self.first_signal);
        let is_known = |it: &SignalChange| it.unknown & own == 0;
        for changes in changes.chunks(BATCH) {
            let unknown = changes.iter().fold(0, |all, it| all | it.unknown) & own;
            if self.unknown.signals == 0 && unknown == 0 {
                self.receive(changes);
                self.give(characters);
                continue;
            }
            for run in changes.chunk_by(|one, other| is_known(one) && is_known(other)) {
                let [first, later @ ..] = run else { continue };
                if self.unknown.signals == 0 && is_known(first) {
                    self.receive(run);
                } else {
                    self.receive_unknown(first, characters);
                    self.receive(later);
                }
            }
            self.give(characters);
        }
    }

    /// Places the characters of changes.
    fn receive(&mut self, changes: &[SignalChange]) {
        let Self { first_signal, wires, recovery, transitions, placed, .. } = self;
        transitions.clear();
        add_transitions(transitions, changes, *first_signal, wires);
        recovery.receive(transitions, placed);
    }

    /// Takes a change at which levels become unknown, or known.
    fn receive_unknown(&mut self, change: &SignalChange, characters: &mut CharacterSink<'_>) {
        self.settle(change.time_fs, characters);
        let own = WIRES_MASK.unbounded_shl(self.first_signal);
        let unknown = change.unknown & own & !change.signals;
        self.unknown.take(unknown, change.time_fs);
        // Whether a level that was unknown and is low has changed is not known, nor what its character is.
        if change.unknown & own != unknown {
            if self.recovery.is_begun() {
                self.begin_hole(change.time_fs, characters);
            } else {
                self.complete_fs = change.time_fs.saturating_add(self.period.fs() / 4);
            }
        }
        if !self.is_hole {
            self.receive(std::slice::from_ref(change));
        } else if unknown == 0 {
            self.is_hole = false;
            self.complete_fs = change.time_fs.saturating_add(self.period.fs() / 4);
        }
    }

    /// True if a level was unknown for so long that a transition, which is counted at the end, could fall into another
    /// character. One comes up to a quarter of a period off the phase of its wire, and belongs to the nearest edge: a quarter
    /// is left. The wires of a character take half a period (W-3); of more, the next character is no nearer.
    fn is_missing(&self, since_fs: u64, time_fs: u64) -> bool {
        let quarter = self.period.fs() / 4;
        let skew_fs = self.clock.delay_fs.into_iter().flatten().max().unwrap_or_default();
        time_fs.saturating_sub(since_fs) > quarter.min((3 * quarter).saturating_sub(skew_fs))
    }

    /// Gives the characters that are complete, unless an unknown level may prove otherwise.
    fn give(&mut self, characters: &mut CharacterSink<'_>) {
        let unknown_fs = self.unknown.since(u64::MAX);
        let end_fs = unknown_fs.map_or(u64::MAX, |since| since.saturating_sub(self.period.fs()));
        let Self { placed, line, complete_fs, .. } = self;
        let [early, known] =
            [*complete_fs, end_fs].map(|end| placed.partition_point(|it| it.edge_fs < end));
        if let Some(left_out) = placed.get(..early).and_then(<[_]>::last) {
            line.begin_behind(left_out.place);
        }
        characters(line, placed.get(early..known).unwrap_or_default());
        placed.drain(..known);
    }

    /// Ends the open character if it is over at a time, and begins a hole if a level is unknown for long.
    fn settle(&mut self, time_fs: u64, characters: &mut CharacterSink<'_>) {
        match self.unknown.since(u64::MAX) {
            None => {
                self.placed.extend(self.recovery.settle(time_fs));
                self.give(characters);
            }
            Some(since_fs) if self.is_missing(since_fs, time_fs) => {
                self.begin_hole(since_fs, characters);
            }
            Some(_) => {}
        }
    }

    /// Begins a hole, unless there is one.
    fn begin_hole(&mut self, since_fs: u64, characters: &mut CharacterSink<'_>) {
        if !std::mem::replace(&mut self.is_hole, true) {
            self.give(characters);
            self.placed.clear();
            self.recovery.drop_open();
            self.line.begin_hole(since_fs);
        }
    }

    /// Forgets the characters before a tick, once they are counted.
    fn forget(&mut self, end: u64) {
        let mut at = self.line.first;
        for (first, written, silence) in self.line.runs(end) {
            self.content.skip_hole(first - at);
            self.content.feed(written);
            self.content.skip_silence(silence);
            at = first + written.len() as u64 + silence;
        }
        self.content.skip_hole(end.saturating_sub(at));
        self.line.forget(end);
    }

    fn finish(self) -> RecordedQuality {
        let (_, wires) = self.recovery.finish();
        let (clock, content, line) = (self.clock, self.content.counts, self.line.quality);
        RecordedQuality { clock, wires, content, line }
    }
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

    /// Takes changes, not earlier than those before, and gives chunks in the order of a capture.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn receive<E>(
        &mut self,
        changes: &[SignalChange],
        write: &mut impl FnMut(ChannelId, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left = changes;
        while let Some(first) = left.first() {
            if first.time_fs >= self.due_fs {
                self.now_fs = first.time_fs;
                self.write(HELD_BACK, write)?;
                let window_fs = WINDOW.saturating_mul(self.longest_period_fs());
                self.due_fs = first.time_fs.saturating_add(window_fs);
            }
            let due = left.partition_point(|change| change.time_fs < self.due_fs);
            let (now, later) = left.split_at(due.max(1));
            for channel in &mut self.channels {
                channel.recover(now, &mut CharacterLine::add);
            }
            let last = now.iter().rfind(|it| it.certain() != 0);
            self.now_fs = last.map_or(self.now_fs, |last| last.time_fs);
            left = later;
        }
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
        let settle = |it: &mut RecordedChannel| it.settle(now_fs, &mut CharacterLine::add);
        self.channels.iter_mut().for_each(settle);
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
