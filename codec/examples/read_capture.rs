//! Prints the packets of a capture file, one per line.
//!
//! `cargo run -p myriscope-codec --example read_capture -- capture.pcapng`

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm,
    reason = "an example program"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;

use myriscope_codec::capture::{
    CaptureItem, CaptureReader, Chunk, ChunkContent, ReadProgress, decompress,
};
use myriscope_codec::framing::{FrameEvent, Framer};
use myriscope_codec::packet::{PacketParser, PacketTag};

/// Receiver of one channel.
struct ChannelPackets {
    name: String,
    framer: Framer,
    packet: PacketParser,
}

impl ChannelPackets {
    fn take(&mut self, chunk: &Chunk<'_>) {
        let Self { name, framer, packet } = self;
        let mut out = |at, event: FrameEvent<'_>| match event {
            FrameEvent::Start(bytes) | FrameEvent::Data(bytes) => {
                packet.feed(bytes);
            }
            FrameEvent::End(end) => {
                let packet = std::mem::take(packet).finish();
                let (route, tag) = (packet.route.bytes(), packet.tag.map(PacketTag::value));
                let (length, check) = (packet.length, packet.check.name());
                println!("{name} {at} {route:02x?} {tag:?} {length} bytes {check} {}", end.name());
            }
            _ => {}
        };
        framer.seek(chunk.first, &mut out);
        match chunk.content {
            ChunkContent::Literal(chars) => framer.feed(chars, &mut out),
            ChunkContent::Repeat { pattern, count } => {
                // A repeat is fill: after sixteen periods nothing changes any more. F-7
                let rounds = count.min(16);
                (0..rounds).for_each(|_| framer.feed(pattern, &mut out));
                framer.skip((count - rounds) * pattern.len() as u64);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_capture FILE")?;
    let mut reader = CaptureReader::new(decompress(File::open(path)?)?);
    let mut channels = BTreeMap::new();
    let mut progress = ReadProgress::More;
    while progress == ReadProgress::More {
        progress = reader.step(&mut |item| match item {
            CaptureItem::Channel(id, channel) => {
                let name = channel.label().into_owned();
                let (framer, packet) = (Framer::new(), PacketParser::default());
                channels.insert(id, ChannelPackets { name, framer, packet });
            }
            CaptureItem::Chunk(id, chunk) => {
                channels.get_mut(&id).into_iter().for_each(|channel| channel.take(&chunk));
            }
            CaptureItem::Fault(fault) => println!("{fault}"),
            CaptureItem::Section | CaptureItem::Link(..) => {}
        })?;
    }
    Ok(())
}
