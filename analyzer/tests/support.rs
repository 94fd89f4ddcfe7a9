//! Captures written by hand, and all that is told of a capture.

use std::io::Read;

use codec::capture::{
    ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent, ReadProgress,
};
use codec::notation::parse;
use codec::time::Tick;
use myriscope_analyzer::event::TimedEvent;
use myriscope_analyzer::event_reader::{EventReader, ReadItem};
use myriscope_analyzer::packet::ByteRetention;
use myriscope_analyzer::timeline::EventFilter;
use myriscope_analyzer::{AnalysisEvent, AnalysisScope, CaptureAnalysis, LinkAssumptions};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Draws that are the same in each run.
pub(crate) struct FixedDraws(SplitMix64);

impl FixedDraws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() >> 33) as usize % bound
    }
}

/// A chunk: channel, first character, characters, and how often they repeat (0: literal).
pub(crate) type WrittenChunk<T> = (u32, u64, T, u64);

/// The capture of these channels with chunks in order of time.
pub(crate) fn capture<T: AsRef<str>>(channels: &[Channel], chunks: &[WrittenChunk<T>]) -> Vec<u8> {
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, channels).unwrap();
    for (channel, first, text, count) in chunks {
        let chars = parse(text.as_ref()).unwrap();
        let content = match count {
            0 => ChunkContent::Literal(chars.chars()),
            _ => ChunkContent::Repeat { pattern: chars.chars(), count: *count },
        };
        file.write(ChannelId(*channel), &Chunk { first: Tick(*first), content }).unwrap();
    }
    file.finish().unwrap()
}

/// All events of a capture, and its analysis at the end.
pub(crate) fn analysed<R: Read + Send>(
    capture: R,
    scope: AnalysisScope,
) -> (Vec<AnalysisEvent>, CaptureAnalysis<R>) {
    analysed_as(capture, scope, LinkAssumptions::default())
}

pub(crate) fn analysed_as<R: Read + Send>(
    capture: R,
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
) -> (Vec<AnalysisEvent>, CaptureAnalysis<R>) {
    let mut analysis = CaptureAnalysis::new(capture, scope, assumptions);
    let mut events = Vec::new();
    while analysis.step(&mut |event| events.push(event)).unwrap() == ReadProgress::More {}
    (events, analysis)
}

/// The events of the channels of a sound capture, each with the name of its channel.
pub(crate) fn rows(
    capture: impl Read + Send,
    want: EventFilter,
    bytes: ByteRetention,
) -> Vec<(String, TimedEvent)> {
    let mut reader = EventReader::new(capture, want, bytes);
    let mut rows = Vec::new();
    let mut keep = |item: ReadItem<'_>| match item {
        ReadItem::Row(channel, row) => rows.push((channel.name.clone(), row)),
        ReadItem::Fault(fault) => panic!("{fault}"),
    };
    while reader.step(&mut keep).unwrap() == ReadProgress::More {}
    rows
}
