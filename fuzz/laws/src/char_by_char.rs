//! A chunk's characters, run by run, against the same characters one at a time: what a receiver makes of
//! them.

use analyzer::event::ChannelEvent;
use analyzer::event::LinkEvent;
use analyzer::packet::{ByteRetention, ReceivedPacket};
use analyzer::receiver::ChannelReceiver;

use codec::capture::{Chunk, ChunkContent};
use codec::character::Character;
use codec::chars::{CharBuf, Chars};
use codec::packet::{CrcCheck, PacketTag};
use codec::time::Tick;

use crate::chars::{expansion, pieces};
use crate::reference::{self, PlacedEvent, ReferenceEvent};
use crate::repair::SeededRng;

/// Most periods that are played through. *Chosen*: a law takes less than a millisecond.
const PERIODS_MAX: u64 = 1 << 12;
/// Most rounds of a repeat that are played through. *Chosen*: more than twice the 16 of F-7.
const ROUNDS_MAX: u64 = 40;

/// A receiver reports for a chunk the events of its characters one at a time, however the chunk is cut and whatever
/// came before it; a repeat equals its iterations.
pub fn law(payload: &[u8]) {
    check(payload, &receive);
}

fn check(payload: &[u8], receive: &impl Fn(&[Chunk<'_>]) -> Vec<PlacedEvent>) {
    let Ok(chunk) = Chunk::parse(payload) else { return };
    let chunk = shortened(chunk);
    let all = expansion(&chunk);
    let expected = changes(&reference_events(&all));
    assert_eq!(changes(&receive(&[chunk])), expected, "a chunk is its characters");
    let mut dice = SeededRng::new(payload);
    let cut = pieces(chunk, &mut dice);
    let covered = cut.iter().map(Chunk::periods).sum::<u64>();
    assert_eq!(covered, chunk.periods(), "the pieces are the whole");
    assert_eq!(changes(&receive(&cut)), expected, "cutting changes nothing");
    // A hole, of one piece or more.
    let hole = dice.below(cut.len() as u64)..dice.below(cut.len() as u64 + 1);
    let kept: Vec<Chunk<'_>> =
        (0..).zip(cut).filter(|(n, _)| !hole.contains(n)).map(|(_, piece)| piece).collect();
    let left: Vec<_> = kept.iter().flat_map(expansion).collect();
    assert_eq!(
        changes(&receive(&kept)),
        changes(&reference_events(&left)),
        "a hole is known by its edges"
    );
    after_another(chunk, &mut dice, receive);
}

/// Characters before a chunk, for every state of a receiver.
const BEFORE: [&[Character]; 6] = [
    &[Character::Control(0x03)],
    &[Character::Control(0x0f)],
    &[Character::Control(0x33), Character::Data(0x01)],
    &[Character::Data(0x83)],
    &[Character::Control(0x03), Character::IDLE, Character::IDLE, Character::IDLE],
    &[Character::IDLE; 16],
];

/// The chunk behind another one, in a state that is not a receiver's first.
fn after_another(
    chunk: Chunk<'_>,
    dice: &mut SeededRng,
    receive: &impl Fn(&[Chunk<'_>]) -> Vec<PlacedEvent>,
) {
    let which = usize::try_from(dice.below(BEFORE.len() as u64)).unwrap_or_default();
    let before: CharBuf = BEFORE.get(which).into_iter().copied().flatten().copied().collect();
    let Some(first) = chunk.first.0.checked_sub(before.len() as u64) else { return };
    let before = Chunk { first: Tick(first), content: ChunkContent::Literal(before.chars()) };
    let all: Vec<_> = [before, chunk].iter().flat_map(expansion).collect();
    let got = receive(&[before, chunk]);
    assert_eq!(
        changes(&got),
        changes(&reference_events(&all)),
        "a chunk goes on from the one before it"
    );
}

/// The chunk with no more rounds, or characters, than are played through.
fn shortened(chunk: Chunk<'_>) -> Chunk<'_> {
    let content = match chunk.content {
        ChunkContent::Literal(chars) => {
            let most = usize::try_from(PERIODS_MAX).unwrap_or(usize::MAX);
            ChunkContent::Literal(chars.split_at(most).0)
        }
        ChunkContent::Repeat { pattern, count } => {
            ChunkContent::Repeat { pattern, count: count.min(ROUNDS_MAX) }
        }
    };
    Chunk { content, ..chunk }
}

/// Tests whether a round of a pattern still brings something after more rounds than any state outlasts.
pub(crate) fn is_noisy(pattern: Chars<'_>) -> bool {
    let rounds = |count| {
        let content = ChunkContent::Repeat { pattern, count };
        changes(&reference_events(&expansion(&Chunk { first: Tick(0), content }))).len()
    };
    // F-7: silence changes for 16 periods; a packet cut off at the end counts once in both.
    rounds(24) > rounds(20)
}

pub(crate) fn reference_events(characters: &[(u64, Character)]) -> Vec<PlacedEvent> {
    let mut receiver = reference::ReferenceReceiver::default();
    characters.iter().for_each(|(at, character)| receiver.take(*at, *character));
    let (mut told, cut) = receiver.finish();
    told.extend(cut);
    told
}

/// Events of the analyzer's receiver for chunks of one channel.
pub(crate) fn notices(chunks: &[Chunk<'_>]) -> Vec<(u64, ChannelEvent)> {
    let mut observation = Vec::new();
    let mut out = |at: Tick, notice| observation.push((at.0, notice));
    let mut receiver = ChannelReceiver::new(ByteRetention::Keep);
    for chunk in chunks {
        receiver.seek(chunk.first, &mut out);
        match chunk.content {
            ChunkContent::Literal(chars) => receiver.feed(chars, &mut out),
            ChunkContent::Repeat { pattern, count } => {
                receiver.feed_repeated(pattern, count, &mut out);
            }
        }
        assert_eq!(receiver.next(), Some(chunk.end()), "a receiver stands behind its characters");
    }
    receiver.finish(&mut out);
    observation
}

/// Events of the analyzer's receiver for chunks of one channel, as far as the reference has them.
fn receive(chunks: &[Chunk<'_>]) -> Vec<PlacedEvent> {
    let observation = notices(chunks).into_iter();
    observation.filter_map(|(at, notice)| Some((at, reference_event(notice)?))).collect()
}

/// Events without repeated commands, which a receiver may leave out.
pub(crate) fn changes(told: &[PlacedEvent]) -> Vec<PlacedEvent> {
    let mut last = None;
    let changes = told.iter().filter(|(_, told)| match told {
        ReferenceEvent::Command(command) => last.replace(*command) != Some(*command),
        ReferenceEvent::Event(LinkEvent::Hole { .. }) => {
            last = None;
            true
        }
        ReferenceEvent::Event(_) | ReferenceEvent::Packet(_) => true,
    });
    changes.cloned().collect()
}

/// Events without parts of packets: runs of data depend on the chunks.
pub(crate) fn reference_event(notice: ChannelEvent) -> Option<ReferenceEvent> {
    match notice {
        ChannelEvent::Packet(packet) => Some(ReferenceEvent::Packet((&*packet).into())),
        ChannelEvent::Link(event) => Some(ReferenceEvent::Event(event)),
        ChannelEvent::Command(command) => Some(ReferenceEvent::Command(command)),
        ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Head(_) => None,
        ChannelEvent::Data(_) | ChannelEvent::Omitted { .. } => None,
    }
}

impl From<&ReceivedPacket> for reference::ReferencePacket {
    fn from(packet: &ReceivedPacket) -> Self {
        let bytes = packet.bytes.as_ref().map(|bytes| bytes.bytes().to_vec()).unwrap_or_default();
        assert_eq!(packet.length, bytes.len() as u64, "all bytes are kept");
        let header = packet.route.count() + u64::from(packet.tag.is_some());
        let crc = u64::from(packet.length > 1);
        assert_eq!(packet.payload() + header + crc, packet.length, "the parts are the packet");
        Self {
            number: packet.number,
            start: packet.start.0,
            end: packet.end.0,
            bytes,
            route: packet.route.bytes().to_vec(),
            tag: packet.tag.map(PacketTag::value),
            syndrome: packet.check.syndrome(),
            is_partial: packet.check == CrcCheck::Partial,
            ended_by: packet.ended_by,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus;

    /// A receiver that forgets at a chunk's end the length of a silence.
    fn forgetful(chunks: &[Chunk<'_>]) -> Vec<PlacedEvent> {
        let mut told = Vec::new();
        for chunk in chunks {
            let part = receive(&[*chunk]);
            told.extend(
                part.into_iter().filter(|(_, told)| matches!(told, ReferenceEvent::Event(_))),
            );
        }
        told
    }

    /// A receiver that leaves out a repeat's last round.
    fn lazy(chunks: &[Chunk<'_>]) -> Vec<PlacedEvent> {
        let lazy = chunks.iter().map(|chunk| match chunk.content {
            ChunkContent::Repeat { pattern, count: count @ 2.. } => {
                Chunk { content: ChunkContent::Repeat { pattern, count: count - 1 }, ..*chunk }
            }
            ChunkContent::Literal(_) | ChunkContent::Repeat { .. } => *chunk,
        });
        receive(&lazy.collect::<Vec<_>>())
    }

    pub(crate) fn a_receiver_that_forgets_at_a_cut_is_caught() {
        let silence = corpus::chunk("IDLE×400", None);
        check(&silence, &forgetful);
    }

    /// A receiver that starts anew with the last chunk.
    fn fresh(chunks: &[Chunk<'_>]) -> Vec<PlacedEvent> {
        match chunks {
            [first, .., last] if first.periods() <= 16 => receive(&[*last]),
            _ => receive(chunks),
        }
    }

    pub(crate) fn a_receiver_that_starts_anew_is_caught() {
        let mut dice = SeededRng::new(b"what comes before");
        let payload = corpus::chunk("83 05 IDLE×20", None);
        let chunk = Chunk::parse(&payload).unwrap();
        for _ in 0..9 {
            after_another(Chunk { first: Tick(100), ..chunk }, &mut dice, &fresh);
        }
    }

    pub(crate) fn a_receiver_that_loses_a_round_is_caught() {
        check(&corpus::chunk("GAP 83", Some(9)), &lazy);
    }
}
