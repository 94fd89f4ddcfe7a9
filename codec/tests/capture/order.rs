//! Chunks that a writer rejects: out of order, or invalid for a reader; and the times
//! that it writes beside the others.

use myriscope_codec::capture::{
    ByteOrder, CaptureItem, CaptureReader, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent,
    FlowCommand, ReadProgress, StartState, WriteError, merge,
};
use myriscope_codec::notation::parse;
use myriscope_codec::time::{CharacterPeriod, Tick};
use myriscope_codec::{CharBuf, Character};

use super::bytes::{LITTLE, literal, repeat};

/// Acceptance of chunks of four characters, by channel and first character; nothing if one
/// is refused for anything but the order.
fn taken(chunks: &[(u32, u64)]) -> Option<Vec<bool>> {
    let channels = [Channel::named("a>b"), Channel::named("b>a")];
    let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).ok()?;
    let chars = parse("83 05 92 GAP").ok()?;
    let mut write = |(id, first): &(u32, u64)| {
        let chunk = Chunk { first: Tick(*first), content: ChunkContent::Literal(chars.chars()) };
        match writer.write(ChannelId(*id), &chunk) {
            Ok(()) => Some(true),
            Err(WriteError::Order(channel, first)) => {
                ((channel, first) == (ChannelId(*id), chunk.first)).then_some(false)
            }
            Err(_) => None,
        }
    };
    chunks.iter().map(&mut write).collect()
}

#[test]
fn chunks_come_in_the_order_of_their_times_and_of_one_instant_in_that_of_their_channels() {
    assert_eq!(taken(&[(0, 7), (1, 8), (0, 11)]), Some(vec![true; 3]));
    assert_eq!(taken(&[(0, 7), (1, 6)]), Some(vec![true, false]));
    assert_eq!(taken(&[(0, 7), (0, 10), (0, 11)]), Some(vec![true, false, true]));
    assert_eq!(taken(&[(0, 7), (1, 7)]), Some(vec![true, true]));
    assert_eq!(taken(&[(1, 7), (0, 7), (0, 8)]), Some(vec![true, false, true]));
}

/// Acceptance of a chunk of `len` characters, `count` times if it is a pattern;
/// nothing if it is refused for anything but its length.
fn legal(first: u64, len: usize, count: Option<u64>) -> Option<bool> {
    let mut chars = CharBuf::new();
    chars.push_data(&vec![7; len]);
    let content = ChunkContent::new(chars.chars(), count);
    let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Big, &[fine()]).ok()?;
    match writer.write(ChannelId(0), &Chunk { first: Tick(first), content }) {
        Ok(()) => Some(true),
        Err(WriteError::Length(ChannelId(0), Tick(at))) => (at == first).then_some(false),
        Err(_) => None,
    }
}

/// A channel of so high a rate that no time is beyond pcapng.
fn fine() -> Channel {
    Channel { period: CharacterPeriod::PICOSECOND, ..Channel::named("a>b") }
}

#[test]
fn chunks_that_no_reader_would_take_are_not_written() {
    let taken = |first, len, count| legal(first, len, count).unwrap();
    assert!(!taken(0, 0, None) && taken(0, 1, None));
    // A payload of 256 KiB.
    assert!(taken(0, 233_002, None) && !taken(0, 233_003, None));
    assert!(!taken(0, 0, Some(1)) && taken(0, 1, Some(1)));
    assert!(taken(0, 64, Some(1)) && !taken(0, 65, Some(1)));
    assert!(!taken(0, 2, Some(0)));
    // No place is beyond 2⁶⁴ − 1.
    assert!(taken(u64::MAX - 3, 3, None) && !taken(u64::MAX - 3, 4, None));
    assert!(taken(1, 2, Some((1 << 63) - 1)) && !taken(2, 2, Some((1 << 63) - 1)));
    assert!(!taken(0, 2, Some(1 << 63)));
}

#[test]
fn a_block_says_its_time_in_whole_nanoseconds() {
    let channels = [Channel::named("a>b")];
    let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Big, &channels).unwrap();
    let chars = parse("83 05 92 GAP").unwrap();
    // 12.5 ns each; more nanoseconds than 32 bits hold.
    for first in [3, 400_000_000_001] {
        let chunk = Chunk { first: Tick(first), content: ChunkContent::Literal(chars.chars()) };
        writer.write(ChannelId(0), &chunk).unwrap();
    }
    let file = writer.finish().unwrap();
    // An enhanced packet block: type, length, interface, the time's upper and lower half.
    let blocks = file.windows(20).filter(|bytes| bytes.starts_with(&[0, 0, 0, 6, 0, 0, 0, 56]));
    let times = blocks.map(|block| block.last_chunk().copied().map(u64::from_be_bytes));
    assert_eq!(times.collect::<Vec<_>>(), [Some(37), Some(5_000_000_000_012)]);
}

/// A file that is wholly within the time of those before is not apart, nor is a channel that goes on. Of one that was cut,
/// nothing is read behind the cut.
#[test]
fn files_without_a_common_time_are_apart() {
    let file = |name: &str, first: u64, len: u64| {
        [LITTLE.section(), LITTLE.channel(name, ""), LITTLE.packet(0, &repeat(first, &[3], len))]
            .concat()
    };
    let whole = |files: &[Vec<u8>], end: u64| {
        let (mut faults, inputs) = (0, files.iter().map(|file| (file.as_slice(), 0)));
        let mut select = |_, _: &Channel| (Tick(0), Tick(end));
        let (_, done) = merge(inputs, Vec::new(), &mut select, &mut |_, _| faults += 1).unwrap();
        (done.apart, done.characters, faults)
    };
    let [a, b, c] = [("a>b", 0, 100), ("c>d", 10, 10), ("e>f", 50, 10)]
        .map(|(name, first, len)| file(name, first, len));
    let [late, on] = ["e>f", "a>b"].map(|name| file(name, 100, 10));
    assert_eq!(whole(&[a.clone(), b.clone(), c], u64::MAX), (vec![], 120, 0));
    assert_eq!(whole(&[late.clone(), a.clone()], u64::MAX), (vec![1], 110, 0));
    assert_eq!(whole(&[a.clone(), b, late], u64::MAX), (vec![2], 120, 0));
    assert_eq!(whole(&[a.clone(), on], u64::MAX), (vec![], 110, 0));
    let damaged =
        [a, LITTLE.packet(0, &repeat(100_000, &[3], 1)), LITTLE.packet(0, &[9; 20])].concat();
    assert_eq!(whole(std::slice::from_ref(&damaged), u64::MAX).2, 1);
    assert_eq!(whole(&[damaged], 10), (vec![], 10, 0));
}

/// F-1: of commands that alternate, the last one before a cut counts.
#[test]
fn a_cut_within_fill_keeps_the_last_command() {
    let codes = parse("GO STOP GO STOP GO STOP GO STOP").unwrap();
    let codes: Vec<u16> = codes.chars().iter().map(Character::bits).collect();
    let file = [LITTLE.section(), LITTLE.channel("a>b", ""), LITTLE.packet(0, &literal(0, &codes))];
    for (cut, last) in [(5, FlowCommand::Go), (6, FlowCommand::Stop)] {
        let inputs = [(&*file.concat(), 0)];
        let mut select = |_, _: &Channel| (Tick(cut), Tick(8));
        let (copy, _) = merge(inputs, Vec::new(), &mut select, &mut |_, _| ()).unwrap();
        let mut reader = CaptureReader::new(&*copy);
        let mut start = None;
        let mut keep = |item: CaptureItem<'_>| {
            if let CaptureItem::Channel(_, channel) = item {
                start = StartState::of(channel);
            }
        };
        while reader.step(&mut keep).unwrap() == ReadProgress::More {}
        assert_eq!(start.and_then(|start| start.command).unwrap().0, last);
    }
}
