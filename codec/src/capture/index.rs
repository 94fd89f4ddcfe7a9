//! Places in a capture file from which it can be read on, with the state of each channel there.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use super::block::{INTERFACE_DESCRIPTION, SECTION_HEADER};
use super::channel::{Channel, ChannelId};
use super::error::CaptureError;
use super::item::CaptureItem;
use super::reader::{CaptureReader, ReadProgress};
use super::start_state::StartState;
use super::start_tracker::StartTracker;
use crate::time::Tick;

/// Bytes between two places, doubled when there are too many states. *Chosen*: analysed in some milliseconds.
const DISTANCE_MIN: u64 = 256 << 10;
/// States of channels at all places. *Chosen*: some 30 MB.
const STATES_MAX: usize = 1 << 17;

/// Places in a capture file, in order. Its size does not grow with the file.
#[derive(Debug, Default)]
pub struct CaptureIndex {
    places: Vec<IndexedPlace>,
    /// Blocks that describe sections and interfaces, adjacent ones joined.
    heads: Vec<Range<u64>>,
    names: BTreeMap<ChannelId, String>,
    distance: u64,
    states: usize,
}

#[derive(Debug)]
struct IndexedPlace {
    /// Number of the capture, and time of the first chunk of the block.
    at: (u32, u128),
    /// The block from which reading goes on.
    offset: u64,
    /// Descriptions of all sections of its capture so far, and the number of interface descriptions before.
    heads: Range<usize>,
    before: usize,
    channels: Vec<ChannelCut>,
}

#[derive(Debug)]
struct ChannelCut {
    id: ChannelId,
    /// State before the first character that is read.
    state: Option<StartState>,
    /// No chunk that begins before this is read; 0 if `block` is read first.
    end: Tick,
    /// An earlier block whose chunk goes on behind the place.
    block: Option<Range<u64>>,
}

impl CaptureIndex {
    /// Number of the last place at or before a time of a capture, in picoseconds; 0 if there is none.
    pub fn place(&self, at: (u32, u128)) -> usize {
        self.places.partition_point(|place| place.at <= at).saturating_sub(1)
    }

    /// Capture and time of a place.
    pub fn at(&self, place: usize) -> Option<(u32, u128)> {
        self.places.get(place).map(|place| place.at)
    }

    /// Names of the channels of all captures so far, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(String::as_str)
    }

    /// A reader of the file from a place on: the descriptions of its capture come first, and chunks of other
    /// channels that go on behind it, in the order of the file. Channels have the names and capture numbers that
    /// they have in the whole file, not their ids. The state of a virtual channel is not known: its packets are
    /// counted from the place. C-7
    pub fn resume<R: Read + Seek>(
        &self,
        place: usize,
        stream: R,
    ) -> CaptureReader<ResumedStream<R>> {
        let Some(place) = self.places.get(place) else {
            let whole = std::iter::once(0..u64::MAX).collect();
            return CaptureReader::new(ResumedStream { stream, parts: whole, is_placed: false });
        };
        let heads = self.heads.get(place.heads.clone()).unwrap_or_default().iter().cloned();
        let blocks = place.channels.iter().filter_map(|channel| channel.block.clone());
        let mut parts: Vec<_> = heads.chain(blocks).collect();
        // Blocks number interfaces as the section does in which they are.
        parts.sort_by_key(|part| part.start);
        let one_capture = parts.iter().map(|part| part.end - part.start).sum();
        parts.push(place.offset..u64::MAX);
        let mut states = BTreeMap::new();
        for ChannelCut { id, state, end, .. } in &place.channels {
            // Of channels with the same name the state is not known.
            let name = self.names.get(id).cloned().unwrap_or_default();
            let unknown = (None, Tick(0));
            states.entry(name).and_modify(|known| *known = unknown).or_insert((*state, *end));
        }
        let stream = ResumedStream { stream, parts: parts.into(), is_placed: false };
        let channels = ResumedChannels { captures: place.at.0, states };
        let mut reader = CaptureReader::new(stream);
        reader.blocks.resumed = Some(channels);
        // Channels without a name are called by their number in the file.
        reader.blocks.table.descriptions = place.before;
        reader.blocks.table.one_capture = one_capture;
        reader
    }

    fn interface(&mut self, block: Range<u64>) {
        match self.heads.last_mut() {
            Some(last) if last.end == block.start => last.end = block.end,
            Some(_) | None => self.heads.push(block),
        }
    }

    /// True if a block at an offset is far enough behind the last place.
    fn is_due(&self, offset: u64) -> bool {
        self.places.last().is_none_or(|last| offset - last.offset >= self.distance)
    }

    fn add(&mut self, place: IndexedPlace) {
        self.states += place.channels.len() + 1;
        self.places.push(place);
        while self.states > STATES_MAX && self.places.len() > 1 {
            self.distance *= 2;
            let mut last = None;
            self.places.retain(|place| {
                let is_kept = last.is_none_or(|last| place.offset - last >= self.distance);
                last = if is_kept { Some(place.offset) } else { last };
                is_kept
            });
            self.states = self.places.iter().map(|place| place.channels.len() + 1).sum();
        }
    }
}

/// Builds the index of a file, block by block.
#[derive(Debug)]
pub struct CaptureIndexer<R> {
    reader: CaptureReader<R>,
    index: CaptureIndex,
    /// First of the descriptions of the capture, and the number of interface descriptions before.
    capture: (usize, usize),
    /// The same of the section.
    section: (usize, usize),
    channels: BTreeMap<ChannelId, TrackedChannel>,
}

#[derive(Debug)]
struct TrackedChannel {
    channel: Arc<Channel>,
    tracker: StartTracker,
    /// The last chunk: its block, its end, and the state before it.
    last: Option<(Range<u64>, Tick, Option<StartState>)>,
}

impl TrackedChannel {
    /// The part of the channel before a time, for a place there.
    fn cut(&self, id: ChannelId, time: u128) -> Option<ChannelCut> {
        let (block, end, before) = self.last.clone()?;
        if self.channel.period.time(end.0) > time {
            return Some(ChannelCut { id, state: before, end: Tick(0), block: Some(block) });
        }
        Some(ChannelCut { id, state: own_state(&self.tracker, end), end, block: None })
    }
}

/// The state that the channel's own characters determine: channels are not cut at the same time, so that the
/// opposite one determines nothing.
fn own_state(tracker: &StartTracker, at: Tick) -> Option<StartState> {
    tracker.state(at, None).map(|state| StartState { command: None, probe: None, ..state })
}

impl<R: Read> CaptureIndexer<R> {
    /// An index of the file before its first block.
    pub fn new(stream: R) -> Self {
        Self::with_distance(stream, DISTANCE_MIN)
    }

    /// An index before the first block, with its places at least some bytes apart.
    pub fn with_distance(stream: R, distance: u64) -> Self {
        Self {
            reader: CaptureReader::new(stream),
            index: CaptureIndex { distance: distance.max(1), ..CaptureIndex::default() },
            capture: (0, 0),
            section: (0, 0),
            channels: BTreeMap::new(),
        }
    }

    /// The index of what has been read.
    pub const fn index(&self) -> &CaptureIndex {
        &self.index
    }

    /// Bytes read so far.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// Reads a block.
    ///
    /// # Errors
    /// Those of [`CaptureReader::step`].
    pub fn step(&mut self) -> Result<ReadProgress, CaptureError> {
        let Self { reader, index, capture, section, channels } = self;
        let (from, mut latest) = (reader.offset(), None);
        // A classic pcap file describes its interface in its header.
        let before = reader.blocks.table.descriptions;
        // True if the block is the header of a section that continues no capture.
        let mut begins = false;
        let progress = reader.step(&mut |item| match item {
            CaptureItem::Section => {
                channels.clear();
                *capture = *section;
                begins = true;
            }
            CaptureItem::Channel(id, channel) => {
                begins = false;
                let tracker = StartTracker::new(channel);
                index.names.insert(id, channel.name.clone());
                let channel = channel.clone();
                channels.insert(id, TrackedChannel { channel, tracker, last: None });
            }
            CaptureItem::Link(..) | CaptureItem::Fault(_) => {}
            CaptureItem::Chunk(id, chunk) => {
                let Some(own) = channels.get(&id) else { return };
                let time = own.channel.period.time(chunk.first.0);
                if index.is_due(from) {
                    let cuts = channels.iter().filter_map(|(id, own)| own.cut(*id, time));
                    let ((first, before), channels) = (*capture, cuts.collect());
                    let (at, heads) = ((own.channel.capture, time), first..index.heads.len());
                    index.add(IndexedPlace { at, offset: from, heads, before, channels });
                }
                let Some(own) = channels.get_mut(&id) else { return };
                let before = own_state(&own.tracker, chunk.first);
                own.tracker.feed(&chunk);
                own.last = Some((from..from, chunk.end(), before));
                latest = Some(id);
            }
        })?;
        let block = from..reader.offset();
        if let Some((known, ..)) =
            latest.and_then(|id| channels.get_mut(&id)).and_then(|own| own.last.as_mut())
        {
            *known = block;
        } else if !block.is_empty() {
            match reader.blocks.kind {
                INTERFACE_DESCRIPTION => index.interface(block),
                SECTION_HEADER => {
                    if begins {
                        // Nothing is read from places in the captures before that have none.
                        let used = index.places.last().map_or(0, |place| place.heads.end);
                        index.heads.truncate(used);
                    } else if before == section.1 {
                        // So that sections without interfaces take no memory.
                        index.heads.truncate(section.0);
                    }
                    *section = (index.heads.len(), before);
                    if begins {
                        *capture = *section;
                    }
                    index.heads.push(block);
                }
                _ => {}
            }
        }
        Ok(progress)
    }
}

/// State of a file at a place that changes the channels described behind it.
#[derive(Debug)]
pub(super) struct ResumedChannels {
    /// Number of captures in the file before the place.
    captures: u32,
    /// State of each channel, and the end of its last chunk.
    states: BTreeMap<String, (Option<StartState>, Tick)>,
}

impl ResumedChannels {
    /// A channel as it is in the whole file, with its state, and the end of its last chunk.
    pub(super) fn described(&self, channel: &Channel) -> (Channel, Tick) {
        let (mut channel, mut end) = (channel.clone(), Tick(0));
        if let Some((state, known)) = self.states.get(&channel.name)
            && channel.capture == 0
        {
            StartState::describe(*state, &mut channel);
            end = *known;
        }
        channel.capture = channel.capture.saturating_add(self.captures);
        (channel, end)
    }
}

/// Parts of a file as one stream.
#[derive(Debug)]
pub struct ResumedStream<R> {
    stream: R,
    /// Byte ranges of the file that are still to be read.
    parts: VecDeque<Range<u64>>,
    /// True if the stream is at the start of the first part.
    is_placed: bool,
}

impl<R: Read + Seek> Read for ResumedStream<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = self.parts.front_mut() {
            if !self.is_placed {
                self.stream.seek(SeekFrom::Start(part.start))?;
                self.is_placed = true;
            }
            let most = usize::try_from(part.end - part.start).unwrap_or(usize::MAX).min(buf.len());
            let read = self.stream.read(buf.get_mut(..most).unwrap_or_default())?;
            part.start += read as u64;
            if read == 0 || part.is_empty() {
                self.parts.pop_front();
                self.is_placed = false;
            }
            if read > 0 {
                return Ok(read);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::chunk::{Chunk, ChunkContent};
    use super::super::writer::{ByteOrder, CaptureWriter};
    use super::*;
    use crate::character::Character;
    use crate::chars::CharBuf;

    /// Chunks as first character, end and capture, with the packets of each channel before them.
    fn chunks<R: Read>(mut reader: CaptureReader<R>) -> Vec<(String, u64, u64, Option<u64>)> {
        let (mut channels, mut all) = (BTreeMap::new(), Vec::new());
        while reader
            .step(&mut |item| match item {
                CaptureItem::Channel(id, channel) => {
                    channels.insert(id, channel.clone());
                }
                CaptureItem::Chunk(id, chunk) => {
                    let channel = &channels[&id];
                    let state = StartState::of(channel).filter(|state| state.at == chunk.first);
                    let name = format!("{} {}", channel.capture, channel.name);
                    all.push((
                        name,
                        chunk.first.0,
                        chunk.end().0,
                        state.map(|state| state.packets),
                    ));
                }
                CaptureItem::Section | CaptureItem::Link(..) => {}
                CaptureItem::Fault(fault) => panic!("{fault}"),
            })
            .unwrap()
            == ReadProgress::More
        {}
        all
    }

    /// Two channels with a packet of 999 bytes and its GAP in each chunk, and one that is idle all the time.
    fn capture() -> Vec<u8> {
        let channels = ["c>d", "a>b", "b>a"].map(Channel::named);
        let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Big, &channels).unwrap();
        let data = std::iter::repeat_n(Character::Data(7), 999);
        let packet: CharBuf = data.chain([Character::Control(0x0c)]).collect();
        let idle: CharBuf = [Character::IDLE].into_iter().collect();
        let content = ChunkContent::Repeat { pattern: idle.chars(), count: 1_000_000 };
        writer.write(ChannelId(0), &Chunk { first: Tick(0), content }).unwrap();
        for round in 0..1000 {
            for id in [ChannelId(1), ChannelId(2)] {
                let content = ChunkContent::Literal(packet.chars());
                writer.write(id, &Chunk { first: Tick(round * 1000), content }).unwrap();
            }
        }
        writer.finish().unwrap()
    }

    #[test]
    fn reading_goes_on_from_every_place_as_in_the_whole_file() {
        // The second capture begins its time anew.
        let file = capture().repeat(2);
        let mut indexer = CaptureIndexer::new(file.as_slice());
        while indexer.step().unwrap() == ReadProgress::More {}
        let (index, whole) = (indexer.index(), chunks(CaptureReader::new(file.as_slice())));
        assert_eq!((whole.len(), index.places.len()), (4002, 18));
        for (number, IndexedPlace { at: (capture, time), .. }) in index.places.iter().enumerate() {
            let found = (index.place((*capture, time + 1)), index.at(number));
            assert_eq!(found, (number, Some((*capture, *time))));
            let resumed = chunks(index.resume(number, Cursor::new(&file)));
            let is_behind = |(name, _, end, _): &&(String, u64, u64, Option<u64>)| {
                let its = u32::from(name.starts_with('1'));
                its > *capture || its == *capture && u128::from(*end) * 12_500 > *time
            };
            let expected: Vec<_> = whole.iter().filter(is_behind).collect();
            assert_eq!(resumed.len(), expected.len(), "{number}");
            for (number, ((name, first, end, packets), it)) in
                resumed.iter().zip(expected).enumerate()
            {
                assert_eq!((name, first, end), (&it.0, &it.1, &it.2));
                let is_first = number < 3 && *first > 0;
                assert_eq!(*packets, is_first.then_some(first / 1000), "{name} {first}");
            }
        }
    }

    /// A chunk of the first section goes on behind the second one, which has the same channels in another order.
    #[test]
    fn blocks_are_read_in_the_sections_in_which_they_are() {
        let idle: CharBuf = [Character::IDLE].into_iter().collect();
        let section = |names: [&str; 2], parts: &[(u64, u64)]| {
            let channels = names.map(Channel::named);
            let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Big, &channels).unwrap();
            for (first, count) in parts {
                let content = ChunkContent::Repeat { pattern: idle.chars(), count: *count };
                let chunk = Chunk { first: Tick(*first), content };
                writer.write(ChannelId(0), &chunk).unwrap();
            }
            writer.finish().unwrap()
        };
        let first = section(["a", "b"], &[(0, 1000)]);
        let file = [first, section(["b", "a"], &[(10, 5), (100, 5)])].concat();
        let mut indexer = CaptureIndexer::with_distance(file.as_slice(), 1);
        while indexer.step().unwrap() == ReadProgress::More {}
        let whole = [("0 a", 0, 1000), ("0 b", 10, 15), ("0 b", 100, 105)];
        let read = [0, 1, 2].map(|place| -> Vec<_> {
            let resumed = chunks(indexer.index().resume(place, Cursor::new(&file)));
            resumed.into_iter().map(|(name, first, end, _)| (name, first, end)).collect()
        });
        let named = |(name, first, end): (&str, _, _)| (name.to_owned(), first, end);
        let [all, last] = [whole.to_vec(), vec![whole[0], whole[2]]]
            .map(|chunks| chunks.into_iter().map(named).collect::<Vec<_>>());
        assert_eq!(read, [all.clone(), all, last]);
    }

    #[test]
    fn an_index_has_a_limit_whatever_the_number_of_channels() {
        let channel = |id| ChannelCut { id: ChannelId(id), state: None, end: Tick(0), block: None };
        let mut index = CaptureIndexer::new(io::empty()).index;
        for place in 0..10_000 {
            let (channels, offset) = ((0..1000).map(channel).collect(), place * DISTANCE_MIN);
            if !index.is_due(offset) {
                continue;
            }
            index.add(IndexedPlace {
                at: (0, place.into()),
                offset,
                heads: 0..0,
                before: 0,
                channels,
            });
            assert!(index.states <= STATES_MAX);
        }
        assert!(index.places.len() > 50 && index.at(0) == Some((0, 0)));
    }
}
