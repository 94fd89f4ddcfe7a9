//! The analyzer's receiver at a tap: what it notices is what the reference does, and the same however
//! its characters are cut.

pub(crate) mod events;

use analyzer::event::LinkEvent;
use analyzer::event::{ChannelEvent, FlowCommand};
use arbitrary::Unstructured;
use codec::capture::{Chunk, ChunkContent};
use codec::character::{Character, Symbol};
use codec::time::Tick;

use self::events::{changes, notices, reference_event, reference_events};
use crate::capture_input::{OwnedChunk, joined};
use crate::chars::{expansion, pieces};
use crate::record_ops;
use crate::reference::{crc, decode_symbol};
use crate::repair::SeededRng;

/// Most characters of a chunk's payload that are played through. *Chosen*: a law takes some milliseconds.
const CHARACTERS_MAX: usize = 1 << 12;
/// Most rounds of a repeat that are played through. *Chosen*: more than twice the 16 of F-7.
const ROUNDS_MAX: u64 = 40;

/// Characters before a chunk, for every state of a receiver.
const BEFORE: [&[Character]; 6] = [
    &[Character::Control(0x03)],
    &[Character::Control(0x0f)],
    &[Character::Control(0x33), Character::Data(0x01)],
    &[Character::Data(0x83)],
    &[Character::Control(0x03), Character::IDLE, Character::IDLE, Character::IDLE],
    &[Character::IDLE; 16],
];

type PlacedNotice = (u64, ChannelEvent);

/// The law: a receiver notices what the reference does, in chunks, in one piece, and one character
/// after the other.
pub fn law(bytes: &[u8]) {
    let ops = record_ops::ops(&mut Unstructured::new(bytes));
    record_ops::record_chunks(&ops).iter().for_each(|chunks| check(chunks, &notices));
}

/// A receiver keeps the same law on a chunk's payload: alone, and in pieces behind other characters, with a hole.
pub fn payload(payload: &[u8]) {
    check_payload(payload, &notices);
}

fn check_payload(payload: &[u8], receive: &impl Fn(&[Chunk<'_>]) -> Vec<PlacedNotice>) {
    let Ok(Chunk { first, content }) = Chunk::parse(payload) else { return };
    let content = match content {
        ChunkContent::Literal(chars) => ChunkContent::Literal(chars.split_at(CHARACTERS_MAX).0),
        ChunkContent::Repeat { pattern, count } => {
            ChunkContent::Repeat { pattern, count: count.min(ROUNDS_MAX) }
        }
    };
    let chunk = Chunk { first, content };
    check(&[chunk.into()], receive);
    let mut dice = SeededRng::new(payload);
    let mut cut = pieces(chunk, &mut dice);
    let mut below = |bound: usize| usize::try_from(dice.below(bound as u64)).unwrap_or_default();
    let before = BEFORE.get(below(BEFORE.len())).copied().unwrap_or_default();
    let (from, count) = (below(cut.len()), below(3));
    cut.drain(from..(from + count).min(cut.len()));
    let mut chunks: Vec<OwnedChunk> = cut.into_iter().map(OwnedChunk::from).collect();
    if let Some(begin) = first.0.checked_sub(before.len() as u64) {
        let chars = before.iter().copied().collect();
        chunks.insert(0, OwnedChunk { first: Tick(begin), chars, count: None });
    }
    check(&chunks, receive);
}

/// `receive` may be another receiver, for a test.
fn check(chunks: &[OwnedChunk], receive: &impl Fn(&[Chunk<'_>]) -> Vec<PlacedNotice>) {
    let given: Vec<Chunk<'_>> = chunks.iter().map(OwnedChunk::chunk).collect();
    let all: Vec<(u64, Character)> = given.iter().flat_map(expansion).collect();
    let got = news(receive(&given));
    let own: Vec<_> =
        got.iter().filter_map(|(at, it)| Some((*at, reference_event(it.clone())?))).collect();
    assert_eq!(own, changes(&reference_events(&all)), "a receiver notices what the reference does");
    let joined = joined(&all);
    let whole: Vec<Chunk<'_>> = joined.iter().map(OwnedChunk::chunk).collect();
    let single = news(receive(&singles(&whole)));
    let whole = news(receive(&whole));
    assert_eq!(single, whole, "cutting changes nothing");
    let signs: Vec<_> =
        whole.iter().filter_map(|(at, it)| Some((*at, FramingSign::of(it)?))).collect();
    assert_eq!(signs, framing(&all), "framing, heads, bytes and seams are the reference's");
    // Bytes of iterations that change nothing have no events.
    let but_bytes = |it: &&PlacedNotice| !matches!(it.1, ChannelEvent::Data(_));
    let same = got.iter().filter(but_bytes).eq(whole.iter().filter(but_bytes));
    assert!(same, "a repeat is its rounds: {got:?} {whole:?}");
}

/// Events without repeated commands, which a receiver may leave out, and with adjacent runs of bytes joined.
fn news(situations: Vec<PlacedNotice>) -> Vec<PlacedNotice> {
    let mut last: Option<FlowCommand> = None;
    let mut news: Vec<PlacedNotice> = Vec::with_capacity(situations.len());
    for (at, notice) in situations {
        match (&notice, news.last_mut()) {
            (ChannelEvent::Command(command), _) if last.replace(*command) == Some(*command) => {
                continue;
            }
            (ChannelEvent::Data(more), Some((from, ChannelEvent::Data(len))))
                if *from + *len == at =>
            {
                *len += more;
                continue;
            }
            (ChannelEvent::Link(LinkEvent::Hole { .. }), _) => last = None,
            _ => {}
        }
        news.push((at, notice));
    }
    news
}

fn singles<'a>(chunks: &[Chunk<'a>]) -> Vec<Chunk<'a>> {
    let single = |chunk: &Chunk<'a>| {
        let (chars, _) = chunk.content.parts();
        let first = chunk.first.0;
        (0..chars.len()).map(move |at| Chunk {
            first: Tick(first + at as u64),
            content: ChunkContent::Literal(chars.slice(at..at + 1)),
        })
    };
    chunks.iter().flat_map(single).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramingSign {
    Begins,
    Framed,
    Head(u8),
    Data(u64),
    /// A packet ends, and there may have been a GAP in it. P-1
    Packet(Option<u64>),
}

impl FramingSign {
    fn of(notice: &ChannelEvent) -> Option<Self> {
        match notice {
            ChannelEvent::Begins => Some(Self::Begins),
            ChannelEvent::Framed => Some(Self::Framed),
            ChannelEvent::Head(byte) => Some(Self::Head(*byte)),
            ChannelEvent::Data(len) => Some(Self::Data(*len)),
            ChannelEvent::Packet(packet) => {
                Some(Self::Packet(packet.possible_gap.map(|seam| seam.0)))
            }
            ChannelEvent::Link(_) | ChannelEvent::Command(_) | ChannelEvent::Omitted { .. } => None,
        }
    }
}

/// Framing from the rules alone. P-1, P-7, F-7, R-2
#[derive(Debug, Default)]
struct FramingReference {
    signs: Vec<(u64, FramingSign)>,
    known: Option<u64>,
    reset: bool,
    silent: u64,
    packet: Option<OpenPacket>,
}

#[derive(Debug, Default)]
struct OpenPacket {
    bytes: Vec<u8>,
    /// Position where there may have been a GAP, if bytes follow.
    pause: Option<u64>,
    seam: Option<u64>,
}

fn framing(all: &[(u64, Character)]) -> Vec<(u64, FramingSign)> {
    let mut framing = FramingReference::default();
    let mut next = None;
    for (at, character) in all {
        match next.replace(at + 1) {
            None => framing.signs.push((*at, FramingSign::Begins)),
            Some(expected) if expected < *at => {
                framing.closes(*at);
                framing = FramingReference { signs: framing.signs, ..FramingReference::default() };
            }
            Some(_) => {}
        }
        framing.take(*at, *character);
    }
    framing.closes(next.unwrap_or(1) - 1);
    framing.signs
}

impl FramingReference {
    fn take(&mut self, at: u64, character: Character) {
        let idle = character == Character::IDLE;
        self.silent = if idle { self.silent + 1 } else { 0 };
        match character {
            Character::Data(byte) => self.data(at, byte),
            Character::Control(_) if idle && self.silent < 16 => self.pauses(at),
            Character::Control(_) if idle && self.silent == 16 => {
                self.framed(at);
                self.closes(at);
            }
            Character::Control(_) if idle => {}
            Character::Control(code) => match decode_symbol(code).map(|(symbol, _)| symbol) {
                None => self.pauses(at),
                Some(Symbol::Gap) => {
                    self.framed(at);
                    self.closes(at);
                    self.reset = false;
                }
                Some(Symbol::ForwardReset) => {
                    self.framed(at);
                    self.closes(at);
                    self.reset = true;
                }
                Some(_) => {}
            },
        }
    }

    fn data(&mut self, at: u64, byte: u8) {
        if self.reset {
            return;
        }
        if self.packet.is_none() {
            self.signs.push((at, FramingSign::Head(byte)));
        }
        let packet = self.packet.get_or_insert_default();
        let pause = packet.pause.take();
        packet.seam = packet.seam.or(pause);
        packet.bytes.push(byte);
        match self.signs.last_mut() {
            Some((from, FramingSign::Data(len))) if *from + *len == at => *len += 1,
            _ => self.signs.push((at, FramingSign::Data(1))),
        }
    }

    fn pauses(&mut self, at: u64) {
        if let Some(OpenPacket { bytes, pause: pause @ None, .. }) = &mut self.packet
            && bytes.len() > 1
            && crc(bytes) == 0
        {
            *pause = Some(at);
        }
    }

    fn framed(&mut self, at: u64) {
        if self.known.replace(at).is_none() {
            self.signs.push((at, FramingSign::Framed));
        }
    }

    fn closes(&mut self, at: u64) {
        if let Some(packet) = self.packet.take() {
            self.signs.push((at, FramingSign::Packet(packet.seam)));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus;
    use std::collections::BTreeSet;

    pub(crate) fn situations(bytes: &[u8]) -> BTreeSet<&'static str> {
        let name = |(_, notice): (u64, ChannelEvent)| match notice {
            ChannelEvent::Packet(packet) => packet.ended_by.name(),
            ChannelEvent::Link(event) => event.name(),
            ChannelEvent::Command(FlowCommand::Go) => "go",
            ChannelEvent::Command(FlowCommand::Stop) => "stop",
            ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Head(_) => "framing",
            ChannelEvent::Data(_) => "framing",
            ChannelEvent::Omitted { .. } => "omitted",
        };
        let recorded = record_ops::record_chunks(&record_ops::ops(&mut Unstructured::new(bytes)));
        recorded
            .iter()
            .flat_map(|chunks| notices(&chunks.iter().map(OwnedChunk::chunk).collect::<Vec<_>>()))
            .map(name)
            .collect()
    }

    fn storm(receive: impl Fn(&[Chunk<'_>]) -> Vec<PlacedNotice>) {
        let mut dice = SeededRng::new(b"a storm over a receiver");
        for _ in 0..3000 {
            let ops = record_ops::ops(&mut Unstructured::new(&dice.bytes(64)));
            record_ops::record_chunks(&ops).iter().for_each(|chunks| check(chunks, &receive));
        }
    }

    #[test]
    fn a_storm_keeps_the_law() {
        storm(notices);
    }

    /// A packet's number is one too high in a capture of many chunks.
    pub(crate) fn a_receiver_that_counts_chunks_is_caught() {
        storm(|chunks| {
            let mut situations = notices(chunks);
            for (_, notice) in situations.iter_mut().filter(|_| chunks.len() > 60) {
                if let ChannelEvent::Packet(packet) = notice {
                    packet.number += 1;
                }
            }
            situations
        });
    }

    pub(crate) fn a_silence_that_opens_no_link_is_caught() {
        storm(|chunks| {
            let mut situations = notices(chunks);
            situations.retain(|(_, notice)| *notice != ChannelEvent::Link(LinkEvent::OpenLink));
            situations
        });
    }

    pub(crate) fn a_seam_that_is_missed_is_caught() {
        storm(|chunks| {
            let mut situations = notices(chunks);
            for (_, notice) in &mut situations {
                if let ChannelEvent::Packet(packet) = notice {
                    packet.possible_gap = None;
                }
            }
            situations
        });
    }

    /// A receiver that leaves out a repeat's last round.
    pub(crate) fn a_receiver_that_loses_a_round_is_caught() {
        check_payload(&corpus::chunk("GAP 83", Some(9)), &|chunks| {
            let lazy = chunks.iter().map(|chunk| match chunk.content {
                ChunkContent::Repeat { pattern, count: count @ 2.. } => {
                    Chunk { content: ChunkContent::Repeat { pattern, count: count - 1 }, ..*chunk }
                }
                ChunkContent::Literal(_) | ChunkContent::Repeat { .. } => *chunk,
            });
            notices(&lazy.collect::<Vec<_>>())
        });
    }
}
