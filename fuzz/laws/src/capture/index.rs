//! Reading from any place of a capture's index, against reading the whole.

use std::io::Cursor;

use codec::capture::{CaptureIndex, CaptureIndexer, CaptureReader, ChannelId, ReadProgress};

use super::{CaptureContents, SectionContents};
use crate::capture_input::OwnedChunk;

/// Most places of a file that are read from. *Chosen*: to read from all of many would take too long.
const PLACES_MAX: usize = 16;

/// From each place reading comes to an end. What it gives of a capture whose blocks are in order of time is what the
/// whole file gives from there on, chunks that go on behind the place included.
pub fn law(file: &[u8]) {
    check(file, |index, place| {
        CaptureContents::of(index.resume(place, Cursor::new(file)), file.len())
    });
}

fn check(file: &[u8], from: impl Fn(&CaptureIndex, usize) -> CaptureContents) {
    // A place at every block.
    let mut indexer = CaptureIndexer::with_distance(file, 1);
    while matches!(indexer.step(), Ok(ReadProgress::More)) {}
    let whole = CaptureContents::of(CaptureReader::new(file), file.len());
    let index = indexer.index();
    let places = (0..).take_while(|place| index.at(*place).is_some()).count();
    let is_in_order = whole.sections.iter().all(is_in_order);
    for place in (0..places).step_by(places.div_ceil(PLACES_MAX).max(1)) {
        let Some((capture, time)) = index.at(place) else { continue };
        let read = from(index, place);
        if is_in_order {
            let sections = whole.sections.get(capture as usize..).unwrap_or_default();
            agree(&read, sections, time);
            assert_eq!(read.error.is_some(), whole.error.is_some(), "an error is the whole's");
        }
    }
}

/// Tests whether chunks are in order of time, behind all descriptions.
fn is_in_order(section: &SectionContents) -> bool {
    let time = |(id, chunk): &(ChannelId, OwnedChunk)| section.period(*id).time(chunk.first.0);
    section.is_in_order() && section.chunks.iter().map(time).is_sorted()
}

/// Compares what was read from a place, at a time in the first of some sections, with the sections.
fn agree(read: &CaptureContents, whole: &[SectionContents], time: u128) {
    assert_eq!(read.sections.len(), whole.len(), "reading goes on to the end");
    for (number, (read, whole)) in read.sections.iter().zip(whole).enumerate() {
        let names = |section: &SectionContents| -> Vec<_> {
            let channels = section.channels.values();
            channels.map(|channel| (channel.name.clone(), channel.capture)).collect()
        };
        assert_eq!(names(read), names(whole), "channels are those of the whole");
        let is_behind = |(id, chunk): &&(ChannelId, OwnedChunk)| {
            number > 0 || whole.period(*id).time(chunk.chunk().end().0) > time
        };
        let base = |section: &SectionContents| section.channels.keys().next().map_or(0, |id| id.0);
        let own = |section: &SectionContents, id: ChannelId| id.0 - base(section);
        let chunks = whole.chunks.iter().filter(is_behind);
        let chunks: Vec<_> = chunks.map(|(id, chunk)| (own(whole, *id), chunk)).collect();
        let resumed: Vec<_> =
            read.chunks.iter().map(|(id, chunk)| (own(read, *id), chunk)).collect();
        assert_eq!(resumed, chunks, "reading goes on as in the whole");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::capture::tests::seed;

    /// A chunk at the place is left out.
    pub(crate) fn a_place_behind_a_chunk_is_caught() {
        let file = seed("whole-flow-control");
        check(&file, |index, place| {
            let mut read = CaptureContents::of(index.resume(place, Cursor::new(&file)), file.len());
            drop(read.sections[0].chunks.remove(0));
            read
        });
    }
}
