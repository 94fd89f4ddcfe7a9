//! Events of the analyzer's receiver, and of the reference, for the characters of one channel.

use analyzer::event::{ChannelEvent, LinkEvent};
use analyzer::packet::{ByteRetention, ReceivedPacket};
use analyzer::receiver::ChannelReceiver;
use codec::capture::{Chunk, ChunkContent};
use codec::character::Character;
use codec::chars::Chars;
use codec::packet::{CrcCheck, PacketTag};
use codec::time::Tick;

use crate::chars::expansion;
use crate::reference::{self, PlacedEvent, ReferenceEvent};

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
