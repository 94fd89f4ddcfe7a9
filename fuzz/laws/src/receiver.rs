//! The analyzer's receiver at a tap: what it notices is what the reference does, and the same however
//! its characters are cut.

use analyzer::channel::{Command, Notice, Receiver};
use analyzer::event::Event;
use analyzer::packet::Bytes;
use arbitrary::Unstructured;
use codec::capture::{Chunk, Content};
use codec::character::{Character, Symbol};
use codec::chars::CharBuf;
use codec::tick::Tick;

use crate::chars::expansion;
use crate::one_by_one::{changes, of_receiver, told};
use crate::plan::Owned;
use crate::reference::{crc, heard};
use crate::tape;

/// What a receiver notices, and where.
pub(crate) type Noticed = (u64, Notice);

/// The law: a receiver notices what the reference does, in chunks, in one piece, and one character
/// after the other.
///
/// # Panics
/// If not.
pub fn law(bytes: &[u8]) {
    let ops = tape::ops(&mut Unstructured::new(bytes));
    tape::recorded(&ops).iter().for_each(|chunks| check(chunks, &receive));
}

/// `receive` may be another receiver, for a test.
fn check(chunks: &[Owned], receive: &impl Fn(&[Chunk<'_>]) -> Vec<Noticed>) {
    let given: Vec<Chunk<'_>> = chunks.iter().map(Owned::chunk).collect();
    let all: Vec<(u64, Character)> = given.iter().flat_map(expansion).collect();
    let got = news(receive(&given));
    let own: Vec<_> =
        got.iter().filter_map(|(at, it)| Some((*at, of_receiver(it.clone())?))).collect();
    assert_eq!(own, changes(&told(&all)), "a receiver notices what the reference does");
    let stretches = stretches(&all);
    let whole: Vec<Chunk<'_>> = stretches.iter().map(Owned::chunk).collect();
    let single = news(receive(&singles(&whole)));
    let whole = news(receive(&whole));
    assert_eq!(single, whole, "cutting changes nothing");
    let signs: Vec<_> = whole.iter().filter_map(|(at, it)| Some((*at, Sign::of(it)?))).collect();
    assert_eq!(signs, framing(&all), "framing, heads, bytes and seams are the reference's");
    // The bytes of rounds that change nothing are not told of.
    let but_bytes = |it: &&Noticed| !matches!(it.1, Notice::Data(_));
    let same = got.iter().filter(but_bytes).eq(whole.iter().filter(but_bytes));
    assert!(same, "a repeat is its rounds: {got:?} {whole:?}");
}

/// What the analyzer's receiver makes of some chunks of one channel.
pub(crate) fn receive(chunks: &[Chunk<'_>]) -> Vec<Noticed> {
    let mut noticed = Vec::new();
    let mut out = |at: Tick, notice| noticed.push((at.0, notice));
    let mut receiver = Receiver::new(Bytes::Keep);
    for chunk in chunks {
        receiver.seek(chunk.first, &mut out);
        match chunk.content {
            Content::Literal(chars) => receiver.feed(chars, &mut out),
            Content::Repeat { pattern, count } => receiver.feed_repeated(pattern, count, &mut out),
        }
        assert_eq!(receiver.next(), Some(chunk.end()), "a receiver stands behind its characters");
    }
    receiver.finish(&mut out);
    noticed
}

/// What is left of it without commands said again, which a receiver may leave out, and with runs of
/// bytes in one.
fn news(noticed: Vec<Noticed>) -> Vec<Noticed> {
    let mut last: Option<Command> = None;
    let mut news: Vec<Noticed> = Vec::with_capacity(noticed.len());
    for (at, notice) in noticed {
        match (&notice, news.last_mut()) {
            (Notice::Command(command), _) if last.replace(*command) == Some(*command) => continue,
            (Notice::Data(more), Some((from, Notice::Data(len)))) if *from + *len == at => {
                *len += more;
                continue;
            }
            (Notice::Event(Event::Hole { .. }), _) => last = None,
            _ => {}
        }
        news.push((at, notice));
    }
    news
}

/// One character each.
fn singles<'a>(chunks: &[Chunk<'a>]) -> Vec<Chunk<'a>> {
    let single = |chunk: &Chunk<'a>| {
        let (Content::Literal(chars) | Content::Repeat { pattern: chars, .. }) = chunk.content;
        let first = chunk.first.0;
        (0..chars.len()).map(move |at| Chunk {
            first: Tick(first + at as u64),
            content: Content::Literal(chars.slice(at..at + 1)),
        })
    };
    chunks.iter().flat_map(single).collect()
}

/// All in one, but for holes.
fn stretches(all: &[(u64, Character)]) -> Vec<Owned> {
    let mut stretches: Vec<Owned> = Vec::new();
    for (at, character) in all {
        match stretches.last_mut() {
            Some(Owned { first, chars, .. }) if first.0 + chars.len() as u64 == *at => {
                chars.push(*character);
            }
            Some(_) | None => {
                let chars: CharBuf = [*character].into_iter().collect();
                stretches.push(Owned { first: Tick(*at), chars, count: None });
            }
        }
    }
    stretches
}

/// What the reference's receiver does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Begins,
    Framed,
    Head(u8),
    Data(u64),
    /// A packet ends, and there may have been a GAP in it. P-1
    Packet(Option<u64>),
}

impl Sign {
    fn of(notice: &Notice) -> Option<Self> {
        match notice {
            Notice::Begins => Some(Self::Begins),
            Notice::Framed => Some(Self::Framed),
            Notice::Head(byte) => Some(Self::Head(*byte)),
            Notice::Data(len) => Some(Self::Data(*len)),
            Notice::Packet(packet) => Some(Self::Packet(packet.seam.map(|seam| seam.0))),
            Notice::Event(_) | Notice::Command(_) => None,
        }
    }
}

/// What is known of framing, from the rules alone. P-1, P-7, F-7, R-2
#[derive(Debug, Default)]
struct Framing {
    signs: Vec<(u64, Sign)>,
    /// Since where framing is known.
    known: Option<u64>,
    reset: bool,
    silent: u64,
    packet: Option<Packet>,
}

#[derive(Debug, Default)]
struct Packet {
    bytes: Vec<u8>,
    /// Where there may have been a GAP, if bytes follow.
    pause: Option<u64>,
    seam: Option<u64>,
}

fn framing(all: &[(u64, Character)]) -> Vec<(u64, Sign)> {
    let mut framing = Framing::default();
    let mut next = None;
    for (at, character) in all {
        match next.replace(at + 1) {
            None => framing.signs.push((*at, Sign::Begins)),
            Some(expected) if expected < *at => {
                framing.closes(*at);
                framing = Framing { signs: framing.signs, ..Framing::default() };
            }
            Some(_) => {}
        }
        framing.take(*at, *character);
    }
    framing.closes(next.unwrap_or(1) - 1);
    framing.signs
}

impl Framing {
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
            Character::Control(code) => match heard(code).map(|(symbol, _)| symbol) {
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
            self.signs.push((at, Sign::Head(byte)));
        }
        let packet = self.packet.get_or_insert_default();
        let pause = packet.pause.take();
        packet.seam = packet.seam.or(pause);
        packet.bytes.push(byte);
        match self.signs.last_mut() {
            Some((from, Sign::Data(len))) if *from + *len == at => *len += 1,
            _ => self.signs.push((at, Sign::Data(1))),
        }
    }

    fn pauses(&mut self, at: u64) {
        if let Some(Packet { bytes, pause: pause @ None, .. }) = &mut self.packet
            && bytes.len() > 1
            && crc(bytes) == 0
        {
            *pause = Some(at);
        }
    }

    fn framed(&mut self, at: u64) {
        if self.known.replace(at).is_none() {
            self.signs.push((at, Sign::Framed));
        }
    }

    fn closes(&mut self, at: u64) {
        if let Some(packet) = self.packet.take() {
            self.signs.push((at, Sign::Packet(packet.seam)));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::repair::Dice;
    use std::collections::BTreeSet;

    /// What is noticed, by name.
    pub(crate) fn noticed(bytes: &[u8]) -> BTreeSet<&'static str> {
        let name = |(_, notice): (u64, Notice)| match notice {
            Notice::Packet(packet) => packet.ended_by.name(),
            Notice::Event(event) => event.kind(),
            Notice::Command(Command::Go) => "go",
            Notice::Command(Command::Stop) => "stop",
            Notice::Begins | Notice::Framed | Notice::Head(_) | Notice::Data(_) => "framing",
        };
        let recorded = tape::recorded(&tape::ops(&mut Unstructured::new(bytes)));
        recorded
            .iter()
            .flat_map(|chunks| receive(&chunks.iter().map(Owned::chunk).collect::<Vec<_>>()))
            .map(name)
            .collect()
    }

    fn storm(receive: impl Fn(&[Chunk<'_>]) -> Vec<Noticed>) {
        let mut dice = Dice::new(b"a storm over a receiver");
        for _ in 0..3000 {
            let ops = tape::ops(&mut Unstructured::new(&dice.bytes(64)));
            tape::recorded(&ops).iter().for_each(|chunks| check(chunks, &receive));
        }
    }

    #[test]
    fn a_storm_keeps_the_law() {
        storm(receive);
    }

    /// A packet's number is one too high in a capture of many chunks.
    pub(crate) fn a_receiver_that_counts_chunks_is_caught() {
        storm(|chunks| {
            let mut noticed = receive(chunks);
            for (_, notice) in noticed.iter_mut().filter(|_| chunks.len() > 60) {
                if let Notice::Packet(packet) = notice {
                    packet.number += 1;
                }
            }
            noticed
        });
    }

    pub(crate) fn a_silence_that_opens_no_link_is_caught() {
        storm(|chunks| {
            let mut noticed = receive(chunks);
            noticed.retain(|(_, notice)| *notice != Notice::Event(Event::OpenLink));
            noticed
        });
    }

    pub(crate) fn a_seam_that_is_missed_is_caught() {
        storm(|chunks| {
            let mut noticed = receive(chunks);
            for (_, notice) in &mut noticed {
                if let Notice::Packet(packet) = notice {
                    packet.seam = None;
                }
            }
            noticed
        });
    }
}
