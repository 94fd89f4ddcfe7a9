//! Chunks of a capture to the transitions of the wires, as a recording has them. W-1 to W-6

use std::collections::VecDeque;
use std::io::{self, Write};

use super::vcd_writer::VcdWriter;
pub use super::vcd_writer::{identifier_code, scope_names};
use crate::capture::{Channel, Chunk};
use crate::character::Character;
use crate::chars::CharBuf;
use crate::wires::{WIRES, WireEncoder, WireTransition};

/// Characters that are converted at a time.
const BATCH: u64 = 4096;

/// Reciprocal of the part of the time by which later chunks may be earlier: twice what a reader accepts. W-6
const CLOCKS_APART: u64 = 2_500;

/// Longest delay of a wire, skew or jitter: 1 µs.
pub const DELAY_MAX_FS: u64 = 1_000_000_000;

/// Delays of a channel's wires. W-4
#[derive(Clone, Debug)]
pub struct WireDelays {
    /// Time of the character at place 0.
    pub phase_fs: u64,
    /// Delay of each wire.
    pub skew_fs: [u64; WIRES],
    /// Longest further delay of a transition. All delays up to it are equally likely.
    pub jitter_fs: u64,
    /// Seed of the jitter.
    pub seed: u64,
}

impl WireDelays {
    /// Skews from 0 to `skew_fs`, and jitter up to `jitter_fs`, by a seed.
    pub fn random(skew_fs: u64, jitter_fs: u64, seed: u64) -> Self {
        let mut delays = Self { phase_fs: 0, skew_fs: [0; WIRES], jitter_fs, seed };
        delays.skew_fs = [(); WIRES].map(|()| delays.below(skew_fs));
        delays
    }

    /// A number from 0 to a bound, inclusive (splitmix64).
    const fn below(&mut self, bound: u64) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.saturating_add(1)
    }

    /// The delay of a wire at a transition.
    pub fn delay(&mut self, wire: usize) -> u64 {
        let skew = self.skew_fs.get(wire).copied().unwrap_or_default();
        let jitter = if self.jitter_fs == 0 { 0 } else { self.below(self.jitter_fs) };
        skew.saturating_add(jitter).min(DELAY_MAX_FS)
    }
}

/// Error of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// An error of the stream.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// A character beyond the times of recordings.
    #[error("{channel}: character {place} is later than 5.1 hours: slice the capture first")]
    TooLate {
        /// Name of the channel.
        channel: String,
        /// Place of the character.
        place: u64,
    },
}

/// Conversion of channels to a value change dump. Holds the chunks that later ones may precede.
#[derive(Debug)]
pub struct WireExport<W> {
    dump: VcdWriter<W>,
    channels: Vec<ExportedChannel>,
    /// Events that later ones may precede.
    events: Vec<ExportEvent>,
    /// Time before which all characters are converted.
    now_fs: u64,
    /// End of all chunks.
    end_fs: u64,
    /// Text of each character, by its bits.
    texts: Vec<String>,
}

#[derive(Debug)]
struct ExportedChannel {
    name: String,
    period_fs: u64,
    encoder: WireEncoder,
    delays: WireDelays,
    chunks: VecDeque<HeldChunk>,
    /// Place of the next character of the encoder.
    place: u64,
    /// The character whose text was written last; `None` where nothing was recorded.
    shown: Option<Character>,
    /// Time before which the last hole does not end.
    hidden_fs: u64,
}

/// A chunk that is not wholly converted.
#[derive(Debug)]
struct HeldChunk {
    first: u64,
    characters: CharBuf,
    count: u64,
    /// True if no character has a transition.
    is_silent: bool,
}

impl HeldChunk {
    fn end(&self) -> u64 {
        self.first.saturating_add(self.count.saturating_mul(self.characters.len() as u64))
    }

    fn at(&self, place: u64) -> Option<Character> {
        let length = self.characters.len() as u64;
        let index = place.checked_sub(self.first)?.checked_rem(length)?;
        self.characters.chars().get(usize::try_from(index).ok()?)
    }
}

/// A change in the dump.
#[derive(Clone, Copy, Debug)]
struct ExportEvent {
    time_fs: u64,
    channel: usize,
    kind: ExportEventKind,
}

#[derive(Clone, Copy, Debug)]
enum ExportEventKind {
    Wires(u16),
    /// The character from here on; `None` where nothing was recorded.
    Text(Option<Character>),
    /// The levels are unknown from here on, or known again.
    HoleEdge,
}

impl<W: Write> WireExport<W> {
    /// Begins a dump of channels with the delays of their wires.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn new(out: W, channels: &[(Channel, WireDelays)]) -> io::Result<Self> {
        let names: Vec<&str> = channels.iter().map(|(channel, _)| channel.name.as_str()).collect();
        // A character that leaves at the first time of a dump could have begun before it.
        let lead_fs = channels.iter().map(|(channel, _)| channel.period.fs()).max().unwrap_or(0);
        let mut dump = VcdWriter::new(out, &names, lead_fs)?;
        (0..names.len()).try_for_each(|channel| dump.hide_or_show(channel, 0))?;
        let exported = channels.iter().map(|(channel, delays)| {
            let period_fs = channel.period.fs();
            let phase_fs = delays.phase_fs.saturating_add(lead_fs);
            ExportedChannel {
                name: channel.name.clone(),
                period_fs,
                encoder: WireEncoder::new(period_fs, phase_fs),
                delays: WireDelays { phase_fs, ..delays.clone() },
                chunks: VecDeque::new(),
                place: 0,
                shown: None,
                hidden_fs: 0,
            }
        });
        let texts = (0..1 << WIRES).map(|bits| {
            let characters: CharBuf = [Character::from_bits(bits)].into_iter().collect();
            characters.to_string()
        });
        Ok(Self {
            dump,
            channels: exported.collect(),
            events: Vec::new(),
            now_fs: 0,
            end_fs: 0,
            texts: texts.collect(),
        })
    }

    /// Takes a chunk of a channel. The first characters of chunks are in order of time, as in a capture.
    ///
    /// # Errors
    ///
    /// Those of the stream, and a chunk that ends too late.
    pub fn receive(&mut self, channel: usize, chunk: &Chunk<'_>) -> Result<(), ExportError> {
        let Some(exported) = self.channels.get_mut(channel) else { return Ok(()) };
        let place = chunk.first.0.max(exported.place);
        let times = (exported.time(place), exported.time(chunk.end().0));
        let (Some(begin_fs), Some(end_fs)) = times else {
            return Err(ExportError::TooLate { channel: exported.name.clone(), place });
        };
        let (chars, count) = chunk.content.parts();
        let count = count.unwrap_or(1);
        let mut characters = CharBuf::new();
        characters.push_chars(chars);
        let is_silent = chars.iter().all(|character| character == Character::IDLE);
        let held = HeldChunk { first: chunk.first.0, characters, count, is_silent };
        exported.chunks.push_back(held);
        self.end_fs = self.end_fs.max(end_fs);
        // Phases do not change the order of chunks; clocks that a capture calls equal may. W-6
        let begin_fs = begin_fs - exported.delays.phase_fs;
        let earliest_fs = begin_fs - begin_fs / CLOCKS_APART;
        Ok(self.write_before(earliest_fs)?)
    }

    /// Writes what is left, and returns the stream.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn finish(mut self) -> io::Result<W> {
        let end_fs = self.end_fs.saturating_add(2 * DELAY_MAX_FS);
        self.write_before(end_fs.saturating_add(self.dump.lead_fs))?;
        self.dump.time(end_fs)?;
        let mut out = self.dump.into_inner();
        out.flush()?;
        Ok(out)
    }

    /// Converts the characters before a time, and writes their transitions before it.
    fn write_before(&mut self, end_fs: u64) -> io::Result<()> {
        while self.now_fs < end_fs {
            let next_fs = self.channels.iter().filter_map(ExportedChannel::next_fs).min();
            let batch = self.channels.iter().map(|it| it.period_fs).min().unwrap_or(1);
            let from_fs = next_fs.unwrap_or(end_fs).max(self.now_fs);
            self.now_fs = from_fs.saturating_add(batch.saturating_mul(BATCH)).min(end_fs);
            for (number, channel) in self.channels.iter_mut().enumerate() {
                channel.convert(number, self.now_fs, &mut self.events);
            }
            self.events.sort_by_key(|event| event.time_fs);
            // A hole ends before the character behind it.
            let ready_fs = self.now_fs.saturating_sub(self.dump.lead_fs);
            let ready = self.events.partition_point(|event| event.time_fs < ready_fs);
            for ExportEvent { time_fs, channel, kind } in self.events.drain(..ready) {
                match kind {
                    ExportEventKind::Wires(wires) => {
                        self.dump.transition(channel, WireTransition { time_fs, wires })?;
                    }
                    ExportEventKind::Text(character) => {
                        let bits = character.map(|it| usize::from(it.bits()));
                        let text = bits.and_then(|bits| self.texts.get(bits));
                        self.dump.text(channel, time_fs, text.map_or("?", String::as_str))?;
                    }
                    // The recording as a whole ends there.
                    ExportEventKind::HoleEdge if time_fs >= self.end_fs => {}
                    ExportEventKind::HoleEdge => self.dump.hide_or_show(channel, time_fs)?,
                }
            }
        }
        Ok(())
    }
}

impl ExportedChannel {
    /// Time of a place, if a recording can have it.
    fn time(&self, place: u64) -> Option<u64> {
        let time = place.checked_mul(self.period_fs)?.checked_add(self.delays.phase_fs)?;
        time.checked_add(4 * DELAY_MAX_FS).map(|_| time)
    }

    /// Time of the next character that changes anything, if there is one.
    fn next_fs(&self) -> Option<u64> {
        let goes_on = |chunk: &&HeldChunk| chunk.is_silent && self.shown == Some(Character::IDLE);
        let next = self.chunks.iter().find(|chunk| !goes_on(chunk))?;
        self.time(next.first.max(self.place))
    }

    /// Appends the events of all characters before a time, and those of earlier ones.
    fn convert(&mut self, channel: usize, end_fs: u64, events: &mut Vec<ExportEvent>) {
        let Self { encoder, delays, chunks, place, shown, hidden_fs, period_fs, .. } = self;
        let (phase_fs, end) =
            (delays.phase_fs, end_fs.saturating_sub(delays.phase_fs).div_ceil(*period_fs));
        let time_fs = |place: u64| phase_fs.saturating_add(place.saturating_mul(*period_fs));
        let mut send = |character: Option<Character>, place: u64, periods: u64| {
            if character != *shown {
                let (time_fs, eighth_fs) = (time_fs(place), *period_fs / 8);
                if character.is_none() || shown.is_none() {
                    // The last character is complete before a hole, and the next one behind it.
                    let edge_fs = match character {
                        None => time_fs.saturating_add(9 * eighth_fs),
                        Some(_) => time_fs.saturating_sub(3 * eighth_fs).max(*hidden_fs),
                    };
                    *hidden_fs = time_fs.saturating_add(12 * eighth_fs);
                    let kind = ExportEventKind::HoleEdge;
                    events.push(ExportEvent { time_fs: edge_fs, channel, kind });
                }
                *shown = character;
                let kind = ExportEventKind::Text(character);
                events.push(ExportEvent { time_fs, channel, kind });
            }
            let out = |WireTransition { time_fs, wires }| {
                let kind = ExportEventKind::Wires(wires);
                events.push(ExportEvent { time_fs, channel, kind });
            };
            match character {
                None | Some(Character::IDLE) => encoder.idle(periods, out),
                Some(character) => encoder.send(character, |wire| delays.delay(wire), out),
            }
        };
        while *place < end {
            let Some(chunk) = chunks.front() else {
                send(None, *place, end - *place);
                *place = end;
                return;
            };
            let hole = chunk.first.min(end).saturating_sub(*place);
            if hole > 0 {
                send(None, *place, hole);
                *place += hole;
                continue;
            }
            let last = chunk.end().min(end).max(*place);
            if chunk.is_silent && last > *place {
                send(Some(Character::IDLE), *place, last - *place);
            } else {
                (*place..last).for_each(|at| send(chunk.at(at), at, 1));
            }
            *place = last;
            if *place >= chunk.end() {
                chunks.pop_front();
            }
        }
    }
}
