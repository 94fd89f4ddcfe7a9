//! Our reader against another one, pcap-parser's, block by block: kinds, interfaces, payloads.
//!
//! Of a block that ours hands something out of, the other must read the same; where ours stops or
//! leaves a block out, it must have reported a reason, and the other must see it too.

use std::borrow::Cow;
use std::io;

use codec::capture::{CaptureError, CaptureFault, CaptureItem, CaptureReader, Chunk, ReadProgress};
use codec::time::{CharacterPeriod, Tick};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    Block, PcapNGOption, parse_block_be, parse_block_le, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_header,
};

use crate::capture_input::OwnedChunk;
use crate::repair::SeededRng;

/// The link type of channels: USER0.
const LINK_TYPE: i32 = 147;
/// Codes of options: `opt_comment`, `if_name`.
const COMMENT: u16 = 1;
const NAME: u16 = 2;

/// Both readers read the same, however the file is handed out to ours.
pub fn law(file: &[u8]) {
    check(file, |_| ());
}

fn check(file: &[u8], change: impl Fn(&mut ReaderOutput)) {
    let mut reader = CaptureReader::new(PiecewiseReader { rest: file, dice: SeededRng::new(file) });
    let mut other = ReferenceReader::default();
    // As many steps as there can be blocks, and one that opens the file.
    for _ in 0..=file.len() / 12 + 2 {
        let (from, mut seen) = (place(reader.offset()), Vec::new());
        let progress = reader.step(&mut |item| seen.push(ReaderOutput::from(item)));
        seen.iter_mut().for_each(&change);
        let block = file.get(from..place(reader.offset())).unwrap_or_default();
        match progress {
            Ok(ReadProgress::More) => other.block(block, from, &seen),
            Ok(ReadProgress::Done) => {
                assert_eq!(from, file.len(), "the end is the file's");
                return other.channels(&seen);
            }
            Err(error) => return other.stops(file.get(from..).unwrap_or_default(), &error),
        }
    }
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// A stream that comes a few bytes at a time.
struct PiecewiseReader<'a> {
    rest: &'a [u8],
    dice: SeededRng,
}

impl io::Read for PiecewiseReader<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(1 + self.dice.below(64)).unwrap_or(1);
        let few = room.len().min(most);
        io::Read::read(&mut self.rest, room.get_mut(..few).unwrap_or_default())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReaderOutput {
    Section,
    Channel(String, CharacterPeriod),
    Link,
    Chunk(OwnedChunk),
    Fault(CaptureFault),
}

impl From<CaptureItem<'_>> for ReaderOutput {
    fn from(item: CaptureItem<'_>) -> Self {
        match item {
            CaptureItem::Section => Self::Section,
            CaptureItem::Channel(_, channel) => Self::Channel(channel.name.clone(), channel.period),
            CaptureItem::Link(..) => Self::Link,
            CaptureItem::Chunk(_, chunk) => Self::Chunk(chunk.into()),
            CaptureItem::Fault(fault) => Self::Fault(fault),
        }
    }
}

#[derive(Default)]
struct ReferenceReader {
    form: PcapFormat,
    /// Interface descriptions of the file so far.
    descriptions: usize,
    interfaces: Vec<PcapInterface>,
    /// Those of sections before: their names, and where they ended. Channels may go on.
    past: Vec<(Option<String>, Tick)>,
    /// Number of these that our reader has declared, or can no longer declare.
    declared: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PcapFormat {
    #[default]
    Unknown,
    PcapNg(PcapByteOrder),
    Pcap(PcapByteOrder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PcapByteOrder {
    Little,
    Big,
}

struct PcapInterface {
    link_type: i32,
    /// Its name, if the other reader can read it, and its period.
    name: Option<String>,
    period: CharacterPeriod,
    end: Tick,
}

impl ReferenceReader {
    fn block(&mut self, block: &[u8], from: usize, seen: &[ReaderOutput]) {
        if block.is_empty() {
            assert!(seen.is_empty() && from == 0, "only opening a file takes no bytes");
            return;
        }
        match self.form {
            PcapFormat::Unknown
                if block.len() == 24 && !block.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) =>
            {
                self.header(block, seen);
            }
            PcapFormat::Unknown | PcapFormat::PcapNg(_) => self.of_pcapng(block, seen),
            PcapFormat::Pcap(order) => self.record(block, order, seen),
        }
    }

    /// The header of a classic pcap file, which has one interface.
    fn header(&mut self, block: &[u8], seen: &[ReaderOutput]) {
        let parsed = parse_pcap_header(block);
        let Ok((_, header)) = parsed else { unreachable!("a header is a header: {parsed:?}") };
        let order = if header.is_bigendian() { PcapByteOrder::Big } else { PcapByteOrder::Little };
        self.form = PcapFormat::Pcap(order);
        self.declare(header.network.0, Some(&[]));
        self.channels(seen);
    }

    fn record(&mut self, block: &[u8], order: PcapByteOrder, seen: &[ReaderOutput]) {
        let parsed = match order {
            PcapByteOrder::Little => parse_pcap_frame(block),
            PcapByteOrder::Big => parse_pcap_frame_be(block),
        };
        let Ok(([], record)) = parsed else { unreachable!("a record is a record: {parsed:?}") };
        self.payload(0, record.data, seen);
    }

    fn of_pcapng(&mut self, block: &[u8], seen: &[ReaderOutput]) {
        let order = match (self.form, block) {
            (_, [0x0a, 0x0d, 0x0d, 0x0a, _, _, _, _, 0x1a, ..]) => PcapByteOrder::Big,
            (_, [0x0a, 0x0d, 0x0d, 0x0a, ..]) => PcapByteOrder::Little,
            (PcapFormat::PcapNg(order), _) => order,
            (PcapFormat::Unknown | PcapFormat::Pcap(_), _) => {
                unreachable!("a section has a header")
            }
        };
        self.form = PcapFormat::PcapNg(order);
        let bare = bare(block, order);
        let whole = parse(block, order);
        let is_whole = whole.is_ok();
        let parsed = whole.or_else(|_| parse(&bare, order));
        let kind = block.first_chunk::<4>().map(|kind| number(*kind, order));
        match parsed {
            Ok(([], Block::SectionHeader(_))) => {
                self.channels(seen);
                let ended = self.interfaces.drain(..);
                self.past.extend(ended.map(|interface| (interface.name, interface.end)));
                self.declared = 0;
            }
            Ok(([], Block::InterfaceDescription(interface))) => {
                let options = is_whole.then_some(interface.options.as_slice());
                self.declare(interface.linktype.0, options);
                self.channels(seen);
            }
            Ok(([], Block::EnhancedPacket(packet))) => {
                let id = usize::try_from(packet.if_id).unwrap_or(usize::MAX);
                self.payload(id, packet.packet_data(), seen);
            }
            // What ours passes over may be anything; of a packet there it has told that.
            _ if !matches!(kind, Some(0x0a0d_0d0a | 1 | 6)) => {
                let is_fault = |it| matches!((kind, it), (Some(2 | 3), &ReaderOutput::Fault(_)));
                assert!(seen.iter().all(is_fault), "nothing is told of other blocks: {seen:?}");
            }
            // Ours has reported the fault.
            Err(_) if seen.iter().all(|seen| matches!(seen, ReaderOutput::Fault(_))) => {
                assert!(kind == Some(6) && !seen.is_empty(), "the other reader cannot read it");
            }
            other => unreachable!("what is read is a block: {other:?} {seen:?}"),
        }
    }

    /// An interface, with its options if the other reader can read them.
    fn declare(&mut self, link_type: i32, options: Option<&[PcapNGOption<'_>]>) {
        let known = options.is_some();
        let options = options.unwrap_or_default();
        let text = |code| {
            // Behind the mark of their end (code 0) the other reader goes on, though nothing counts.
            let own = options.split(|option| option.code.0 == 0).next().unwrap_or_default();
            let own = own.iter().filter(move |option| option.code.0 == code);
            own.filter_map(|option| option.as_bytes().ok().map(String::from_utf8_lossy))
        };
        let name = text(NAME).next_back().map(Cow::into_owned);
        let comments: Vec<_> = text(COMMENT).collect();
        let periods = comments.iter().flat_map(|comment| described(comment));
        self.interfaces.push(PcapInterface {
            link_type,
            name: known.then(|| name.unwrap_or(format!("interface{}", self.descriptions))),
            period: periods.last().unwrap_or(CharacterPeriod::FULL_RATE),
            end: Tick(0),
        });
        self.descriptions += 1;
    }

    /// Channels are declared in the order of their descriptions; some go on with earlier ones.
    fn channels(&mut self, seen: &[ReaderOutput]) {
        for seen in seen {
            let ReaderOutput::Channel(name, period) = seen else { continue };
            let waiting = self.interfaces.get(self.declared..).unwrap_or_default();
            let found = waiting.iter().position(|interface| {
                let same = |own: &String| (own, interface.period) == (name, *period);
                interface.link_type == LINK_TYPE && interface.name.as_ref().is_none_or(same)
            });
            let Some(found) = found else { unreachable!("a channel is an interface: {seen:?}") };
            self.declared += found + 1;
        }
    }

    fn payload(&mut self, id: usize, payload: &[u8], seen: &[ReaderOutput]) {
        self.channels(seen);
        let chunks: Vec<&OwnedChunk> = seen.iter().filter_map(of_chunk).collect();
        let faults: Vec<&CaptureFault> = seen.iter().filter_map(of_fault).collect();
        let Some(interface) = self.interfaces.get_mut(id) else {
            assert!(chunks.is_empty() && faults.len() == 1, "there is no such interface: {seen:?}");
            return;
        };
        let own = (interface.link_type == LINK_TYPE).then(|| Chunk::parse(payload).ok()).flatten();
        match (own, chunks.as_slice()) {
            (Some(expected), [chunk]) => {
                assert_eq!(chunk.chunk(), expected, "a chunk is its packet's payload");
                interface.end = expected.end();
            }
            (Some(expected), []) => {
                let past = self.past.iter().filter(|(name, _)| *name == interface.name);
                let end = past.map(|(_, end)| *end).max().unwrap_or_default().max(interface.end);
                let explained = faults.iter().any(|fault| explains(fault, &expected, end));
                assert!(explained, "a chunk is left out for a reason: {expected:?} {faults:?}");
            }
            (None, []) => {
                let own = interface.link_type == LINK_TYPE;
                assert!(!own || !faults.is_empty(), "what is no chunk is told");
            }
            (_, chunks) => unreachable!("a packet is a chunk at most, and no other is: {chunks:?}"),
        }
    }

    /// Ours stops at this block: so does the other one, or ours has reported a reason.
    fn stops(&self, rest: &[u8], error: &CaptureError) {
        let CaptureError::Damaged(fault) = error else { return };
        let order = match self.form {
            PcapFormat::PcapNg(order) => order,
            // The first block has the order, or the file is classic.
            PcapFormat::Unknown if rest.get(8) == Some(&0x1a) => PcapByteOrder::Big,
            PcapFormat::Unknown => PcapByteOrder::Little,
            PcapFormat::Pcap(order) => {
                let parsed = match order {
                    PcapByteOrder::Little => parse_pcap_frame(rest),
                    PcapByteOrder::Big => parse_pcap_frame_be(rest),
                };
                let long = parsed.as_ref().is_ok_and(|(_, record)| record.caplen > 262_144);
                return assert!(parsed.is_err() || long, "there is a record: {error}");
            }
        };
        // The blocks that only we limit, and lengths that pcapng forbids but pcap-parser does not.
        let len = rest.get(4..).and_then(<[u8]>::first_chunk::<4>);
        let len = len.map_or(0, |len| number(*len, order));
        let ours = len > 320 << 10 || !len.is_multiple_of(4);
        // Of other blocks the other reader does not look at the length at the end.
        let kind = rest.first_chunk::<4>().map(|kind| number(*kind, order));
        if fault.field == "block total length" && !ours && matches!(kind, Some(1 | 6)) {
            assert!(parse(rest, order).is_err(), "there is a block: {error}");
        }
    }
}

/// A block without its options, some of which only the other reader looks at: behind the mark of
/// their end.
fn bare(block: &[u8], order: PcapByteOrder) -> Vec<u8> {
    let word = |at: usize| {
        let word = block.get(at..).and_then(<[u8]>::first_chunk::<4>);
        word.map_or(0, |word| number(*word, order))
    };
    let fixed = match word(0) {
        0x0a0d_0d0a => 24,
        1 => 16,
        6 => 28_usize.saturating_add(word(20).min(1 << 20).next_multiple_of(4) as usize),
        _ => block.len(),
    };
    let mut bare = block.get(..fixed).unwrap_or(block).to_vec();
    let len = u32::try_from(bare.len() + 4).unwrap_or(u32::MAX);
    let len = match order {
        PcapByteOrder::Little => len.to_le_bytes(),
        PcapByteOrder::Big => len.to_be_bytes(),
    };
    bare.iter_mut().skip(4).zip(len).for_each(|(to, from)| *to = from);
    bare.extend(len);
    bare
}

fn parse(block: &[u8], order: PcapByteOrder) -> BlockParse<'_> {
    match order {
        PcapByteOrder::Little => parse_block_le(block),
        PcapByteOrder::Big => parse_block_be(block),
    }
}

type BlockParse<'a> =
    pcap_parser::nom::IResult<&'a [u8], Block<'a>, pcap_parser::PcapError<&'a [u8]>>;

const fn number(bytes: [u8; 4], order: PcapByteOrder) -> u32 {
    match order {
        PcapByteOrder::Little => u32::from_le_bytes(bytes),
        PcapByteOrder::Big => u32::from_be_bytes(bytes),
    }
}

const fn of_chunk(seen: &ReaderOutput) -> Option<&OwnedChunk> {
    if let ReaderOutput::Chunk(chunk) = seen { Some(chunk) } else { None }
}

const fn of_fault(seen: &ReaderOutput) -> Option<&CaptureFault> {
    if let ReaderOutput::Fault(fault) = seen { Some(fault) } else { None }
}

/// Periods in a comment that describes a channel.
fn described(comment: &str) -> impl Iterator<Item = CharacterPeriod> {
    let own = comment.split_whitespace().next() == Some("myrinet-channel");
    let words = comment.split_whitespace().filter(move |_| own);
    words.filter_map(|word| match word.split_once('=')? {
        ("period_ps", number) => CharacterPeriod::from_ps(number.parse().ok()?),
        ("period_fs", number) => CharacterPeriod::from_fs(number.parse().ok()?),
        _ => None,
    })
}

/// Tests whether a fault is a reason to leave a good chunk out.
fn explains(fault: &CaptureFault, chunk: &Chunk<'_>, end: Tick) -> bool {
    match fault.field {
        "first" => chunk.first < end,
        // What the other reader does not look at.
        "original packet length" | "timestamp" | "options" => true,
        _ => false,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::capture::tests::seed;

    pub(crate) fn a_chunk_at_another_place_is_caught() {
        check(&seed("whole-big-endian"), |seen| {
            if let ReaderOutput::Chunk(chunk) = seen {
                chunk.first.0 += 1;
            }
        });
    }

    pub(crate) fn a_channel_by_another_name_is_caught() {
        check(&seed("sections-of-both-orders"), |seen| {
            if let ReaderOutput::Channel(name, _) = seen {
                name.push('x');
            }
        });
    }

    pub(crate) fn a_block_that_is_left_out_is_caught() {
        check(&seed("whole-flow-control"), |seen| {
            if matches!(seen, ReaderOutput::Chunk(_)) {
                *seen = ReaderOutput::Link;
            }
        });
    }
}
