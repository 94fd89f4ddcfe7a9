//! A capture file: any bytes are read to an end, and what is read is sound.

pub mod blocks;
pub mod counts;
pub mod cuts;
pub mod index;
pub mod plans;
pub mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use codec::capture::{
    CaptureError, CaptureFault, CaptureItem, CaptureReader, Channel, ChannelId, Chunk,
    INTERFACES_MAX, ReadProgress,
};
use codec::character::Character;
use codec::ip::HostCapture;
use codec::time::{CharacterPeriod, Tick};

use crate::capture_input::{OwnedChunk, stretches};
use crate::chars::expansion;
use crate::receiver::events::is_noisy;

/// Most rounds of a repeat that brings something every time. *Chosen*: the analyzer goes through a
/// million of them, a law through some.
const ROUNDS_MAX: u64 = 1 << 8;

/// Reading ends, and emits nothing after the end or an error. Channels are declared before their
/// chunks, which follow one another; a fault has its place in the file.
pub fn law(file: &[u8]) {
    let profile = "VC0=50,VC1=51,VC2=52,GO1=60,STOP1=6f,GO2=64,STOP2=68".parse().ok();
    let with_profile = CaptureReader::new(file).with_virtual_channels(profile);
    for reader in [CaptureReader::new(file), with_profile] {
        let _ = CaptureContents::of(reader, file.len());
    }
    host_packets(file);
}

/// As a recording of a host's packets each is a part of the file, and a fault has its place.
fn host_packets(file: &[u8]) {
    match HostCapture::read(file) {
        Ok(HostCapture { packets, .. }) => {
            let bytes: usize = packets.iter().map(|packet| packet.bytes.len()).sum();
            assert!(bytes <= file.len(), "{bytes}");
            assert!(packets.iter().all(|packet| packet.bytes.len() >= 20), "with a whole header");
        }
        Err(error) => assert!(error.at <= file.len(), "{error}"),
    }
}

/// Items of a reader, each checked against the ones before it.
#[derive(Debug, Default)]
pub(crate) struct CaptureContents {
    pub(crate) sections: Vec<SectionContents>,
    pub(crate) faults: u64,
    pub(crate) error: Option<String>,
    /// Bytes of the file.
    len: u64,
    newest: Option<ChannelId>,
    /// Number of the last block with a fault.
    faulty: u64,
}

#[derive(Debug, Default)]
pub(crate) struct SectionContents {
    pub(crate) channels: BTreeMap<ChannelId, Channel>,
    pub(crate) links: Vec<(ChannelId, ChannelId)>,
    pub(crate) chunks: Vec<(ChannelId, OwnedChunk)>,
    /// Channels or links declared behind the first chunk.
    late: u64,
    linked: BTreeSet<ChannelId>,
    /// Place where the next chunk of a channel may begin.
    ends: BTreeMap<ChannelId, Tick>,
}

impl CaptureContents {
    pub(crate) fn to_end(file: &[u8]) -> Self {
        Self::of(CaptureReader::new(file).with_virtual_channels(None), file.len())
    }

    /// Nothing so far of a file of some bytes.
    fn begun(len: usize) -> Self {
        Self { sections: vec![SectionContents::default()], len: len as u64, ..Self::default() }
    }

    /// Reads to the end of a file of some bytes, or of parts of it.
    fn of<R: Read>(mut reader: CaptureReader<R>, len: usize) -> Self {
        let mut read = Self::begun(len);
        // A step that is not the last takes at least the 12 bytes of a block, or opens the file.
        for _ in 0..=len / 12 + 2 {
            let from = reader.offset();
            match reader.step(&mut |item| read.take(&item)) {
                Ok(ReadProgress::More) => assert!(from <= reader.offset(), "reading goes on"),
                Ok(ReadProgress::Done) => return read.ended(reader),
                Err(error) => {
                    read.check_error(&error);
                    read.error = Some(error.to_string());
                    return read.ended(reader);
                }
            }
        }
        unreachable!("every step reads on");
    }

    /// True for channels whose characters the reference does not know: codes of selections. C-7
    pub(crate) fn has_virtual_channels(&self) -> bool {
        let mut channels = self.sections.iter().flat_map(|section| section.channels.values());
        channels.any(|channel| channel.virtual_channel().is_some())
    }

    fn ended<R: Read>(mut self, mut reader: CaptureReader<R>) -> Self {
        assert!(reader.offset() <= self.len, "no more is read than there is");
        for _ in 0..2 {
            let mut items = 0;
            let after = reader.step(&mut |_| items += 1);
            assert!(matches!(after, Ok(ReadProgress::Done)) && items == 0, "the end is the end");
        }
        self.sections.retain(|section| !section.channels.is_empty());
        self
    }

    fn take(&mut self, item: &CaptureItem<'_>) {
        let Some(section) = self.sections.last_mut() else { return };
        let late = u64::from(!section.chunks.is_empty());
        match item {
            CaptureItem::Section => self.sections.push(SectionContents::default()),
            CaptureItem::Channel(id, channel) => {
                // Virtual channels are those of the interface before them. C-7
                let key = |id: ChannelId| (id.0 as usize % INTERFACES_MAX, id);
                let is_newer = self.newest.replace(*id).is_none_or(|newest| key(newest) < key(*id));
                assert!(is_newer, "channels are counted through the file");
                section.late += late;
                section.channels.insert(*id, Channel::clone(channel));
            }
            CaptureItem::Link(one, other) => {
                assert_ne!(one, other, "a link has two channels");
                for id in [one, other] {
                    section.check_declared(*id);
                    assert!(section.linked.insert(*id), "a channel is of one link");
                }
                section.late += late;
                section.links.push((*one, *other));
            }
            CaptureItem::Chunk(id, chunk) => section.take(*id, *chunk),
            CaptureItem::Fault(fault) => {
                self.faults += 1;
                self.check_fault(fault);
            }
        }
    }

    fn check_fault(&mut self, fault: &CaptureFault) {
        assert!(fault.offset <= self.len, "a fault is in the file: {fault}");
        assert!(!fault.field.is_empty() && !fault.fault.is_empty(), "and says what it is: {fault}");
        // An impossible peer is reported at the section's end.
        let late = fault.field == "peer";
        assert!(late || fault.number >= self.faulty, "faults are in order: {fault}");
        self.faulty = self.faulty.max(fault.number);
    }

    fn check_error(&mut self, error: &CaptureError) {
        match error {
            CaptureError::Damaged(fault) => self.check_fault(fault),
            CaptureError::Empty => assert_eq!(self.len, 0, "only nothing is empty"),
            CaptureError::NotACapture { .. } => {}
            CaptureError::NoChannel { .. } => {
                assert_eq!(self.newest, None, "there is a channel: {error}");
            }
            CaptureError::Read { .. } | _ => unreachable!("bytes at hand can be read: {error}"),
        }
    }
}

impl SectionContents {
    fn check_declared(&self, id: ChannelId) {
        assert!(self.channels.contains_key(&id), "channels are declared before their chunks");
    }

    fn take(&mut self, id: ChannelId, chunk: Chunk<'_>) {
        self.check_declared(id);
        assert!(chunk.periods() > 0, "a chunk has a character");
        let end = self.ends.insert(id, chunk.end());
        assert!(end.is_none_or(|end| end <= chunk.first), "chunks of one channel do not overlap");
        self.chunks.push((id, chunk.into()));
    }

    pub(crate) fn periods(&self) -> u64 {
        self.chunks.iter().fold(0, |sum, (_, chunk)| sum.saturating_add(chunk.chunk().periods()))
    }

    /// Tests whether a repeat brings something in every round for more rounds than a law goes through.
    pub(crate) fn is_endless(&self) -> bool {
        let long = |count: Option<u64>| count.is_some_and(|count| count > ROUNDS_MAX);
        self.chunks.iter().any(|(_, chunk)| long(chunk.count) && is_noisy(chunk.chars.chars()))
    }

    /// Recorded stretches of each channel, in order.
    pub(crate) fn stretches(&self) -> BTreeMap<ChannelId, Vec<(Tick, Tick)>> {
        self.channels.keys().map(|id| (*id, stretches(self.of(*id)))).collect()
    }

    /// Chunks of a channel.
    pub(super) fn of(&self, id: ChannelId) -> impl Iterator<Item = &OwnedChunk> {
        self.chunks.iter().filter(move |(other, _)| *other == id).map(|(_, chunk)| chunk)
    }

    pub(crate) fn period(&self, id: ChannelId) -> CharacterPeriod {
        self.channels.get(&id).map_or(CharacterPeriod::PICOSECOND, |channel| channel.period)
    }

    /// Tests whether blocks stand where a writer puts them: by time, as far as pcapng's nanoseconds
    /// tell, and behind all descriptions.
    pub(crate) fn is_in_order(&self) -> bool {
        let nanosecond =
            |(id, chunk): &(ChannelId, OwnedChunk)| self.period(*id).time(chunk.first.0) / 1000;
        self.late == 0 && self.chunks.iter().map(nanosecond).is_sorted()
    }

    pub(crate) fn characters(&self, id: ChannelId) -> Vec<(u64, Character)> {
        self.of(id).flat_map(|chunk| expansion(&chunk.chunk())).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus;

    pub(crate) fn seed(name: &str) -> Vec<u8> {
        corpus::input("capture", name)
    }

    /// A reader that repeats items.
    fn repeated(file: &[u8], times: impl Fn(&CaptureItem<'_>) -> usize) {
        let mut reader = CaptureReader::new(file);
        let mut watch = CaptureContents::begun(file.len());
        let mut take = |item: CaptureItem<'_>| (0..times(&item)).for_each(|_| watch.take(&item));
        while matches!(reader.step(&mut take), Ok(ReadProgress::More)) {}
    }

    pub(crate) fn a_chunk_that_is_told_twice_is_caught() {
        repeated(&seed("whole-flow-control"), |item| {
            if matches!(item, CaptureItem::Chunk(..)) { 2 } else { 1 }
        });
    }

    pub(crate) fn a_channel_that_is_not_declared_is_caught() {
        repeated(&seed("whole-flow-control"), |item| {
            usize::from(!matches!(item, CaptureItem::Channel(..) | CaptureItem::Link(..)))
        });
    }

    pub(crate) fn a_link_of_three_is_caught() {
        repeated(&seed("whole-flow-control"), |item| {
            if matches!(item, CaptureItem::Link(..)) { 2 } else { 1 }
        });
    }

    #[test]
    fn a_watch_that_is_told_everything_once_is_content() {
        repeated(&seed("whole-flow-control"), |_| 1);
    }

    #[test]
    fn the_published_captures_keep_the_law() {
        for fixture in ["link-1", "link-2", "link-7", "link-8", "link-11", "link-14"] {
            let file = corpus::file(&format!("fixtures/{fixture}/capture.pcapng"));
            [law, rows::law, cuts::law, blocks::law].iter().for_each(|law| law(&file));
        }
    }
}
