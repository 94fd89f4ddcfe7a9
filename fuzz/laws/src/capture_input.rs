//! A capture made up from arbitrary bytes: so that the law has its expectation before anything is
//! written.

use analyzer::timeline::REPEATED_MAX_ALL;
use arbitrary::{Arbitrary, Error, Unstructured};
use codec::capture::{
    ByteOrder, CaptureItem, CaptureReader, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent,
    ReadProgress, WriteError,
};
use codec::character::Character;
use codec::chars::CharBuf;
use codec::notation::parse;
use codec::time::{CharacterPeriod, Tick};

use crate::repair::SeededRng;

/// A capture: links and single channels, what each carries, the byte order.
#[derive(Clone, Debug, Arbitrary)]
pub struct CaptureInput {
    pub order: ByteOrderInput,
    pub links: [ChannelInput; 2],
    pub single: ChannelInput,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum ByteOrderInput {
    Little,
    Big,
}

#[derive(Clone, Debug, Arbitrary)]
pub struct ChannelInput {
    pub rate: RateInput,
    #[arbitrary(with = several)]
    pub pieces: Vec<CapturePiece>,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum RateInput {
    /// 80 M characters/s.
    Full,
    FullToo,
    Half,
    /// A little more than half, so that periods of two channels rarely begin together.
    Odd,
}

#[derive(Clone, Debug, Arbitrary)]
pub enum CapturePiece {
    Literal(#[arbitrary(with = several)] Vec<CharacterInput>),
    Repeat(#[arbitrary(with = several)] Vec<CharacterInput>, u8),
    Hole(u8),
}

/// Characters that are worth having often.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum CharacterInput {
    Data(u8),
    Header(u8),
    /// IDLE, up to 31 times.
    Silence(u8),
    Gap,
    Go,
    Stop,
    ForwardReset,
    Code(u8),
}

/// Up to 7 of something: long enough for two to meet, short enough for a reader.
fn several<'a, T: Arbitrary<'a>>(bytes: &mut Unstructured<'a>) -> Result<Vec<T>, Error> {
    let len: u8 = bytes.int_in_range(0..=7)?;
    (0..len).map(|_| bytes.arbitrary()).collect()
}

impl CharacterInput {
    fn characters(self) -> impl Iterator<Item = Character> {
        let (character, count) = match self {
            Self::Data(byte) => (Character::Data(byte), 1),
            Self::Header(byte) => (Character::Data(byte & 0x87), 1),
            Self::Silence(count) => (Character::IDLE, usize::from(count % 32)),
            Self::Gap => (Character::GAP, 1),
            Self::Go => (Character::Control(0x03), 1),
            Self::Stop => (Character::Control(0x0f), 1),
            Self::ForwardReset => (Character::Control(0x33), 1),
            Self::Code(code) => (Character::Control(code), 1),
        };
        std::iter::repeat_n(character, count)
    }
}

impl RateInput {
    fn period(self) -> CharacterPeriod {
        let picoseconds = match self {
            Self::Full | Self::FullToo => 12_500,
            Self::Half => 25_000,
            Self::Odd => 23_333,
        };
        CharacterPeriod::from_ps(picoseconds).unwrap_or(CharacterPeriod::FULL_RATE)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedChunk {
    pub first: Tick,
    /// Its characters, or those of a round.
    pub chars: CharBuf,
    pub count: Option<u64>,
}

impl OwnedChunk {
    pub fn chunk(&self) -> Chunk<'_> {
        let chars = self.chars.chars();
        let content = match self.count {
            None => ChunkContent::Literal(chars),
            Some(count) => ChunkContent::Repeat { pattern: chars, count },
        };
        Chunk { first: self.first, content }
    }

    /// All rounds of a repeat, one by one.
    pub(crate) fn literally(&self) -> Self {
        let rounds = self.count.unwrap_or(1);
        let chars = (0..rounds).flat_map(|_| self.chars.chars().iter()).collect();
        Self { first: self.first, chars, count: None }
    }
}

impl From<Chunk<'_>> for OwnedChunk {
    fn from(chunk: Chunk<'_>) -> Self {
        let (chars, count) = chunk.content.parts();
        Self { first: chunk.first, chars: chars.iter().collect(), count }
    }
}

impl ChannelInput {
    fn chunks(&self) -> Vec<OwnedChunk> {
        let mut at = Tick(0);
        let mut chunks = Vec::new();
        let buf = |words: &[CharacterInput]| {
            words.iter().copied().flat_map(CharacterInput::characters).collect()
        };
        for piece in &self.pieces {
            let (chars, count): (CharBuf, _) = match piece {
                CapturePiece::Literal(words) => (buf(words), None),
                CapturePiece::Repeat(words, count) => {
                    let pattern: CharBuf = buf(words);
                    let short = pattern.chars().split_at(64).0;
                    (short.iter().collect(), Some(1 + u64::from(count % 32)))
                }
                CapturePiece::Hole(missing) => {
                    at.0 += u64::from(*missing);
                    continue;
                }
            };
            if !chars.is_empty() {
                let chunk = OwnedChunk { first: at, chars, count };
                at = chunk.chunk().end();
                chunks.push(chunk);
            }
        }
        chunks
    }
}

impl CaptureInput {
    /// The plan that some bytes stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::arbitrary(&mut Unstructured::new(bytes)).ok()
    }

    /// The channels, and their chunks in the order of a file.
    pub fn capture(&self) -> (Vec<Channel>, Vec<(ChannelId, OwnedChunk)>) {
        let [there, back] = &self.links;
        let lines =
            [(there, "a:0>b:0", Some(1)), (back, "b:0>a:0", None), (&self.single, "x", None)];
        let channels = lines.iter().map(|(line, name, peer)| Channel {
            period: line.rate.period(),
            peer: *peer,
            ..Channel::named(*name)
        });
        let chunks = (0..).zip(&lines).flat_map(|(id, (line, ..))| {
            line.chunks().into_iter().map(move |chunk| (ChannelId(id), chunk))
        });
        let (channels, mut chunks): (Vec<_>, Vec<_>) = (channels.collect(), chunks.collect());
        in_order(&channels, &mut chunks);
        (channels, chunks)
    }

    /// The capture file.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn file(&self) -> Result<Vec<u8>, WriteError> {
        let (channels, chunks) = self.capture();
        let order = match self.order {
            ByteOrderInput::Little => ByteOrder::Little,
            ByteOrderInput::Big => ByteOrder::Big,
        };
        write(order, &channels, &chunks)
    }
}

/// Words on the channels of [`drawn_link`]: all that changes the state of a link, and silences up to an open link.
const LINK_WORDS: [&str; 16] = [
    "GO",
    "STOP",
    "GO",
    "STOP",
    "PRB0",
    "PRB0",
    "PRB5",
    "REPL0",
    "REPL3",
    "GAP",
    "FRES",
    "BRES",
    "81 05 07 GAP",
    "IDLE×3",
    "IDLE×16",
    "(GAP GO)×3",
];

/// A capture of a link, of 200 characters and more in each direction, with holes.
pub fn drawn_link(dice: &mut SeededRng) -> Vec<u8> {
    let mut chunks = Vec::new();
    for id in [0, 1].map(ChannelId) {
        let mut at = Tick(0);
        while at < Tick(200) {
            let chunk = OwnedChunk { first: at, chars: link_words(20, dice), count: None };
            at = chunk.chunk().end();
            at.0 += dice.below(3) / 2 * 30;
            chunks.push((id, chunk));
        }
    }
    link_file(chunks)
}

/// A capture of a link of which one direction repeats up to six words for a little longer than each round is examined.
pub fn drawn_repetition(dice: &mut SeededRng) -> Vec<u8> {
    let pattern = link_words(1 + dice.bytes(1).first().map_or(0, |it| it % 6), dice);
    let rounds = (REPEATED_MAX_ALL + dice.below(600)) / pattern.len() as u64 + 1;
    let mut at = Tick(0);
    let mut chunks = Vec::new();
    for (chars, count) in
        [(link_words(20, dice), None), (pattern, Some(rounds)), (link_words(20, dice), None)]
    {
        let chunk = OwnedChunk { first: at, chars, count };
        at = chunk.chunk().end();
        chunks.push((ChannelId(0), chunk));
    }
    let mut next = Tick(0);
    while next < at {
        let chunk = OwnedChunk { first: next, chars: link_words(200, dice), count: None };
        next = chunk.chunk().end();
        chunks.push((ChannelId(1), chunk));
    }
    link_file(chunks)
}

fn link_words(count: u8, dice: &mut SeededRng) -> CharBuf {
    let places = dice.bytes(count.into()).into_iter().map(|it| usize::from(it) % LINK_WORDS.len());
    let words: Vec<&str> = places.filter_map(|it| LINK_WORDS.get(it).copied()).collect();
    parse(&words.join(" ")).unwrap_or_default()
}

fn link_file(mut chunks: Vec<(ChannelId, OwnedChunk)>) -> Vec<u8> {
    let channels = [("a:0>b:0", Some(1)), ("b:0>a:0", None)];
    let channels = channels.map(|(name, peer)| Channel { peer, ..Channel::named(name) });
    in_order(&channels, &mut chunks);
    write(ByteOrder::Little, &channels, &chunks).unwrap_or_default()
}

/// The capture with all rounds of its repeats one by one.
pub fn literally(capture: &[u8]) -> Vec<u8> {
    let (channels, mut chunks) = parts(capture);
    chunks.iter_mut().for_each(|(_, chunk)| *chunk = chunk.literally());
    write(ByteOrder::Little, &channels, &chunks).unwrap_or_default()
}

/// The channels and chunks of a capture in order.
pub fn parts(capture: &[u8]) -> (Vec<Channel>, Vec<(ChannelId, OwnedChunk)>) {
    let (mut channels, mut chunks) = (Vec::new(), Vec::new());
    let mut reader = CaptureReader::new(capture);
    let mut progress = Ok(ReadProgress::More);
    while matches!(progress, Ok(ReadProgress::More)) {
        progress = reader.step(&mut |item| match item {
            CaptureItem::Channel(_, channel) => channels.push(Channel::clone(channel)),
            CaptureItem::Chunk(id, chunk) => chunks.push((id, OwnedChunk::from(chunk))),
            CaptureItem::Fault(fault) => {
                assert_eq!(fault.to_string(), "", "what is written is read");
            }
            CaptureItem::Section | CaptureItem::Link(..) => {}
        });
    }
    (channels, chunks)
}

/// Stretches of chunks of a channel that follow one another.
pub(crate) fn stretches<'a>(chunks: impl Iterator<Item = &'a OwnedChunk>) -> Vec<(Tick, Tick)> {
    let mut all: Vec<(Tick, Tick)> = Vec::new();
    for chunk in chunks.map(OwnedChunk::chunk) {
        match all.last_mut() {
            Some((_, end)) if *end == chunk.first => *end = chunk.end(),
            Some(_) | None => all.push((chunk.first, chunk.end())),
        }
    }
    all
}

/// Characters of a channel with their places, in as few chunks as can be.
pub(crate) fn joined(all: &[(u64, Character)]) -> Vec<OwnedChunk> {
    let mut joined: Vec<OwnedChunk> = Vec::new();
    for (at, character) in all {
        match joined.last_mut() {
            Some(OwnedChunk { first, chars, .. }) if first.0 + chars.len() as u64 == *at => {
                chars.push(*character);
            }
            Some(_) | None => {
                let chars: CharBuf = [*character].into_iter().collect();
                joined.push(OwnedChunk { first: Tick(*at), chars, count: None });
            }
        }
    }
    joined
}

/// Puts chunks in the order of a file: by time, then by channel.
pub fn in_order(channels: &[Channel], chunks: &mut [(ChannelId, OwnedChunk)]) {
    let period = |id: ChannelId| {
        channels.get(id.0 as usize).map_or(CharacterPeriod::PICOSECOND, |c| c.period)
    };
    chunks.sort_by_key(|(id, chunk)| (period(*id).time(chunk.first.0), *id));
}

/// A capture file of some channels and chunks.
///
/// # Errors
/// See [`WriteError`].
pub fn write(
    order: ByteOrder,
    channels: &[Channel],
    chunks: &[(ChannelId, OwnedChunk)],
) -> Result<Vec<u8>, WriteError> {
    let mut writer = CaptureWriter::new(Vec::new(), order, channels)?;
    chunks.iter().try_for_each(|(id, chunk)| writer.write(*id, &chunk.chunk()))?;
    writer.finish()
}
