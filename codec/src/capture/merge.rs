//! Joins captures, or parts of them, by time and channel.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};

use super::channel::{Channel, ChannelId};
use super::chunk::{Chunk, ChunkContent};
use super::error::{CaptureError, CaptureFault};
use super::item::CaptureItem;
use super::reader::{CaptureReader, ReadProgress};
use super::start_state::StartState;
use super::start_tracker::StartTracker;
use super::writer::{ByteOrder, CaptureWriter, WriteError};
use crate::character::Character;
use crate::chars::CharBuf;
use crate::time::{CharacterPeriod, Tick};

/// Reciprocal of the part of the time by which later blocks may be earlier: twice what a reader accepts. W-6
const CLOCKS_APART: u128 = 2_500;

/// Contents of a merged capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedCounts {
    /// Channels.
    pub channels: u32,
    /// Characters.
    pub characters: u64,
    /// Numbers of inputs without a character at the time of an input before, or on a channel of one.
    pub apart: Vec<usize>,
}

/// Error of [`merge`]; numbers of inputs count from 0.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// An input is damaged, or no capture.
    #[error("{1}")]
    Read(usize, #[source] CaptureError),
    /// Inputs differ about the same character of a channel.
    #[error(
        "channel {channel}, character {at} ({} ns): {found}, where a file before has {expected}",
        time_ps / 1000
    )]
    Differs {
        /// The input.
        input: usize,
        /// Name of the channel.
        channel: String,
        /// The first character that differs, and its time in picoseconds.
        at: Tick,
        /// Time of the character.
        time_ps: u128,
        /// The character in the input.
        found: Character,
        /// The character in an input before it in the list or in time.
        expected: Character,
    },
    /// The output could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes the selected characters of all inputs to one capture. Each input comes with a time in picoseconds by which
/// its characters are moved to later ones. `select` returns the range of a channel: its first
/// character and the first behind the last one. A channel whose range is empty is left out. Channels of the same
/// capture number, name and period in several inputs are one channel: their recordings must agree where they overlap.
///
/// The description of each channel keeps its state at the start of its range: see [`StartState`]. Reading ends after
/// the last range. Memory: a chunk of each input for each channel.
///
/// # Errors
/// Inputs are damaged or differ, or the output cannot be written; it is incomplete then.
pub fn merge<R: Read, W: Write>(
    inputs: impl IntoIterator<Item = (R, u128)>,
    output: W,
    select: &mut impl FnMut(usize, &Channel) -> (Tick, Tick),
    fault: &mut impl FnMut(usize, CaptureFault),
) -> Result<(W, MergedCounts), MergeError> {
    let mut merger = CaptureMerger {
        names: BTreeMap::new(),
        channels: Vec::new(),
        declared: 0,
        last_start: 0,
        last_end: 0,
        rounded: 0,
        waiting: BTreeMap::new(),
        newest: ChunkKey::default(),
        writer: CaptureWriter::new(output, ByteOrder::Little, &[])?,
        done: MergedCounts::default(),
    };
    let inputs = inputs.into_iter().map(|(stream, later)| MergeInput {
        reader: CaptureReader::new(stream),
        later,
        times: None,
        is_shared: false,
        channels: BTreeMap::new(),
        copies: BTreeMap::new(),
        next: None,
    });
    let mut inputs: Vec<MergeInput<R>> = inputs.collect();
    loop {
        for (number, input) in inputs.iter_mut().enumerate() {
            let later = input.later;
            let mut declare = |channel: &Channel, copy| {
                let rounded = later - channel.period.time(channel.period.periods(later));
                merger.rounded = merger.rounded.max(rounded);
                let known = merger.channels.len();
                let place = merger.declare(channel, copy, || select(number, channel));
                (place, place < known)
            };
            let links = input.advance(&mut declare, &mut |found| fault(number, found));
            for [one, other] in links.map_err(|error| MergeError::Read(number, error))? {
                merger.join(one, other);
                merger.join(other, one);
            }
        }
        let starts = inputs.iter_mut().enumerate().filter_map(|(number, input)| {
            let (place, chunk) = input.next.as_ref()?;
            Some(((merger.time(*place, chunk.first), number), input))
        });
        let Some(((start, number), input)) = starts.min_by_key(|(key, _)| *key) else { break };
        let Some((place, chunk)) = input.next.take() else { break };
        let end = merger.time(place, chunk.chunk().end());
        let times = input.times.get_or_insert((start, end));
        times.1 = times.1.max(end);
        if merger.done.channels > 0 && is_behind(start, merger.last_end) {
            break;
        }
        merger.add(number, place, chunk)?;
    }
    merger.write_until(u128::MAX)?;
    merger.done.apart = apart(&inputs);
    Ok((merger.writer.finish()?, merger.done))
}

/// Numbers of inputs that have neither times nor channels in common with those before.
fn apart<R>(inputs: &[MergeInput<R>]) -> Vec<usize> {
    let (mut apart, mut all) = (Vec::new(), None::<(u128, u128)>);
    for (number, input) in inputs.iter().enumerate() {
        let Some((start, end)) = input.times else { continue };
        if all.is_some_and(|all| end <= all.0 || all.1 <= start) && !input.is_shared {
            apart.push(number);
        }
        all = Some(all.map_or((start, end), |all| (all.0.min(start), all.1.max(end))));
    }
    apart
}

/// True if no chunk before a time can follow one that begins at `start`: a nanosecond, and drift.
const fn is_behind(start: u128, time: u128) -> bool {
    start > time.saturating_add(time / CLOCKS_APART).saturating_add(1000)
}

#[derive(Debug)]
struct MergeInput<R> {
    reader: CaptureReader<R>,
    /// Time by which its characters are moved, in picoseconds.
    later: u128,
    /// Times of its first character and behind its last one.
    times: Option<(u128, u128)>,
    /// True if an input before has a channel of it.
    is_shared: bool,
    /// Places of its channels in the merger, and the characters by which they are moved.
    channels: BTreeMap<ChannelId, (usize, u64)>,
    /// Number of channels of the same capture, name and period.
    copies: BTreeMap<(u32, String, CharacterPeriod), usize>,
    /// The next chunk, and the place of its channel.
    next: Option<(usize, OwnedChunk)>,
}

impl<R: Read> MergeInput<R> {
    /// Reads up to the next chunk; returns the links.
    fn advance(
        &mut self,
        declare: &mut impl FnMut(&Channel, usize) -> (usize, bool),
        fault: &mut impl FnMut(CaptureFault),
    ) -> Result<Vec<[usize; 2]>, CaptureError> {
        let Self { reader, channels, copies, next, later, is_shared, .. } = self;
        let mut links = Vec::new();
        while next.is_none() {
            let progress = reader.step(&mut |item| match item {
                CaptureItem::Section => {}
                CaptureItem::Channel(id, channel) => {
                    let key = (channel.capture, channel.name.clone(), channel.period);
                    let copy = copies.entry(key).or_default();
                    let (place, is_known) = declare(channel, *copy);
                    *is_shared |= is_known;
                    channels.insert(id, (place, channel.period.periods(*later)));
                    *copy += 1;
                }
                CaptureItem::Link(one, other) => {
                    let places = channels.get(&one).zip(channels.get(&other));
                    links.extend(places.map(|(one, other)| [one.0, other.0]));
                }
                CaptureItem::Chunk(id, chunk) => {
                    *next = channels.get(&id).map(|(place, later)| {
                        let first = Tick(chunk.first.0.saturating_add(*later));
                        (*place, OwnedChunk { first, ..OwnedChunk::from(chunk) })
                    });
                }
                CaptureItem::Fault(found) => fault(found),
            })?;
            if progress == ReadProgress::Done {
                break;
            }
        }
        Ok(links)
    }
}

#[derive(Clone, Debug)]
struct OwnedChunk {
    first: Tick,
    chars: CharBuf,
    count: Option<u64>,
}

impl From<Chunk<'_>> for OwnedChunk {
    fn from(chunk: Chunk<'_>) -> Self {
        let (borrowed, count) = chunk.content.parts();
        let mut chars = CharBuf::new();
        chars.push_chars(borrowed);
        Self { first: chunk.first, chars, count }
    }
}

impl OwnedChunk {
    fn chunk(&self) -> Chunk<'_> {
        Chunk { first: self.first, content: ChunkContent::new(self.chars.chars(), self.count) }
    }
}

/// Time of a chunk in picoseconds, its channel in the output, and its first character.
type ChunkKey = (u128, u32, Tick);

#[derive(Debug)]
struct CaptureMerger<W: Write> {
    /// Places by capture, name, period and number of channels before with the same.
    names: BTreeMap<(u32, String, CharacterPeriod, usize), usize>,
    channels: Vec<MergedChannel>,
    /// Number of channels that have been declared in the output, if selected.
    declared: usize,
    /// Times of the last start and of the last end of a range.
    last_start: u128,
    last_end: u128,
    /// Greatest time by which a channel was moved less than it should, to whole characters.
    rounded: u128,
    /// Chunks that wait for earlier ones of other channels, and for descriptions: at most a few for each channel.
    waiting: BTreeMap<ChunkKey, OwnedChunk>,
    newest: ChunkKey,
    writer: CaptureWriter<W>,
    done: MergedCounts,
}

#[derive(Debug)]
struct MergedChannel {
    channel: Channel,
    peer: Option<usize>,
    /// Number in the output.
    number: Option<u32>,
    /// The first character, and the first behind the last one.
    range: (Tick, Tick),
    /// The first character that no input has had.
    end: Tick,
    tracker: StartTracker,
    /// Chunks that later ones of other inputs may overlap.
    recent: VecDeque<OwnedChunk>,
}

impl MergedChannel {
    fn time(&self, at: Tick) -> u128 {
        self.channel.period.time(at.0)
    }
}

impl<W: Write> CaptureMerger<W> {
    /// Adds a channel of an input: to the same one of another input, if there is one.
    fn declare(
        &mut self,
        channel: &Channel,
        copy: usize,
        select: impl FnOnce() -> (Tick, Tick),
    ) -> usize {
        let key = (channel.capture, channel.name.clone(), channel.period, copy);
        let place = *self.names.entry(key).or_insert(self.channels.len());
        if let Some(MergedChannel { channel: known, tracker, .. }) = self.channels.get_mut(place) {
            let is_new = |(key, _): &&(String, String)| known.more.iter().all(|(it, _)| it != key);
            let more: Vec<_> = channel.more.iter().filter(is_new).cloned().collect();
            known.more.extend(more);
            let comments = channel.comments.iter().filter(|it| !known.comments.contains(it));
            let comments: Vec<String> = comments.cloned().collect();
            known.comments.extend(comments);
            known.tap = known.tap.take().or_else(|| channel.tap.clone());
            tracker.declare(StartState::of(channel));
            return place;
        }
        let range = select();
        let is_selected = range.0 < range.1;
        let tracker = StartTracker::new(channel);
        let number = is_selected.then_some(self.done.channels);
        let channel = Channel { peer: None, ..channel.clone() };
        let (peer, end, recent) = (None, range.0, VecDeque::new());
        let merged = MergedChannel { channel, peer, number, range, end, tracker, recent };
        if is_selected {
            self.done.channels += 1;
            self.last_start = self.last_start.max(merged.time(range.0));
            self.last_end = self.last_end.max(merged.time(range.1));
        }
        self.channels.push(merged);
        place
    }

    /// Sets the opposite channel, as an input has it.
    fn join(&mut self, place: usize, peer: usize) {
        if let Some(known) = self.channels.get_mut(place) {
            known.peer = known.peer.or(Some(peer));
        }
    }

    fn time(&self, place: usize, at: Tick) -> u128 {
        self.channels.get(place).map_or(0, |known| known.time(at))
    }

    /// Adds the chunk of an input that begins first of all.
    fn add(&mut self, input: usize, place: usize, chunk: OwnedChunk) -> Result<(), MergeError> {
        self.write_until(self.time(place, chunk.first).saturating_sub(self.rounded))?;
        let is_due = self.declared <= place;
        let Some(known) = self.channels.get_mut(place) else { return Ok(()) };
        let view = chunk.chunk();
        known.recent.retain(|old| old.chunk().end() > view.first);
        let differs = known.recent.iter().find_map(|old| first_difference(&view, &old.chunk()));
        if let Some((at, found, expected)) = differs {
            let (channel, time_ps) = (known.channel.name.clone(), known.time(at));
            return Err(MergeError::Differs { input, channel, at, time_ps, found, expected });
        }
        let (from, to) = known.range;
        if is_due {
            view.between(Tick(0), from).for_each(|part| known.tracker.feed(&part));
        }
        if let Some(number) = known.number {
            for part in view.between(known.end, to) {
                self.done.characters = self.done.characters.saturating_add(part.periods());
                let key = (known.time(part.first), number, part.first);
                self.waiting.insert(key, OwnedChunk::from(part));
            }
        }
        known.end = known.end.max(view.end());
        known.recent.push_back(chunk);
        Ok(())
    }

    /// Declares new channels and writes the chunks that begin at a time or before.
    fn write_until(&mut self, time: u128) -> Result<(), WriteError> {
        if time < u128::MAX && !is_behind(time, self.last_start) {
            return Ok(());
        }
        for known in self.channels.iter().skip(self.declared).filter(|it| it.number.is_some()) {
            let peer = known.peer.and_then(|peer| self.channels.get(peer));
            let number = peer.and_then(|peer| peer.number);
            let mut channel = Channel { peer: number, ..known.channel.clone() };
            let state = known.tracker.state(known.range.0, peer.map(|peer| &peer.tracker));
            StartState::describe(state, &mut channel);
            self.writer.declare(&channel)?;
        }
        self.declared = self.channels.len();
        while let Some(entry) = self.waiting.first_entry().filter(|entry| entry.key().0 <= time) {
            let (key, chunk) = entry.remove_entry();
            if key < self.newest {
                // The blocks of the input were out of order by as much.
                self.writer.accept_late();
            }
            self.newest = self.newest.max(key);
            self.writer.write(ChannelId(key.1), &chunk.chunk())?;
        }
        Ok(())
    }
}

/// The first character at which two chunks of a channel differ: its place, and both characters.
fn first_difference(a: &Chunk<'_>, b: &Chunk<'_>) -> Option<(Tick, Character, Character)> {
    let (from, to) = (a.first.max(b.first), a.end().min(b.end()));
    let len = match (a.content, b.content) {
        (ChunkContent::Repeat { pattern: a, .. }, ChunkContent::Repeat { pattern: b, .. }) => {
            // After so many characters both are where they were.
            to.since(from).0.min((a.len() * b.len()) as u64)
        }
        (ChunkContent::Literal(_) | ChunkContent::Repeat { .. }, _) => to.since(from).0,
    };
    (0..len).map(|after| Tick(from.0 + after)).find_map(|at| {
        let (a, b) = (character(a, at)?, character(b, at)?);
        (a != b).then_some((at, a, b))
    })
}

fn character(chunk: &Chunk<'_>, at: Tick) -> Option<Character> {
    let (chars, _) = chunk.content.parts();
    // A literal is one round.
    chars.get(usize::try_from(at.since(chunk.first).0 % chars.len() as u64).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(channel: Channel) -> Vec<u8> {
        let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Little, &[channel]).unwrap();
        let chars: CharBuf = [Character::Data(7); 4].into_iter().collect();
        let content = ChunkContent::Literal(chars.chars());
        writer.write(ChannelId(0), &Chunk { first: Tick(3), content }).unwrap();
        writer.finish().unwrap()
    }

    fn merged(files: [(&[u8], u128); 2]) -> Vec<u8> {
        let all = &mut |_, _: &Channel| (Tick(0), Tick(u64::MAX));
        merge(files, Vec::new(), all, &mut |_, fault| panic!("{fault}")).unwrap().0
    }

    #[test]
    fn a_capture_is_later_by_the_characters_of_its_own_rate() {
        for period_fs in [12_500_000, 25_000_000, 10_000_000, 3_333_333, 17_000_001] {
            for later in [0, 1, 12_499, 12_500, 25_000, 1_000_000] {
                let period = CharacterPeriod::from_fs(period_fs).unwrap();
                let one = recorded(Channel::named("a>b"));
                let other = recorded(Channel { period, ..Channel::named("c>d") });
                let merged = merged([(&*one, 0), (&*other, later)]);
                let mut found = BTreeMap::new();
                let mut reader = CaptureReader::new(&*merged);
                let mut keep = |item: CaptureItem<'_>| {
                    if let CaptureItem::Chunk(id, chunk) = item {
                        found.insert(id.0, chunk.first.0);
                    }
                };
                while reader.step(&mut keep).unwrap() == ReadProgress::More {}
                // Those that begin within the picosecond of the offset count.
                let characters = (u64::try_from(later).unwrap() * 1000 + 999) / period_fs;
                assert_eq!(found, [(0, 3), (1, 3 + characters)].into(), "{period_fs} {later}");
            }
        }
    }

    #[test]
    fn repeats_are_compared_until_both_are_where_they_were() {
        let [a, b] = ["01 02", "01 02 01"].map(|text| crate::notation::parse(text).unwrap());
        let chunk = |pattern, count| Chunk {
            first: Tick(5),
            content: ChunkContent::Repeat { pattern, count },
        };
        let found = first_difference(&chunk(a.chars(), 9), &chunk(b.chars(), 6));
        assert_eq!(found, Some((Tick(8), Character::Data(2), Character::Data(1))));
    }

    #[test]
    fn the_tap_of_a_channel_is_that_of_the_first_file_that_tells_it() {
        for (taps, expected) in [([Some("a"), Some("b")], "a"), ([None, Some("b")], "b")] {
            let taps = taps.map(|tap| tap.map(str::to_owned));
            let files = taps.map(|tap| recorded(Channel { tap, ..Channel::named("a>b") }));
            let merged = merged(files.each_ref().map(|file| (&**file, 0)));
            assert!(String::from_utf8_lossy(&merged).contains(&format!(" tap={expected}")));
        }
    }
}
