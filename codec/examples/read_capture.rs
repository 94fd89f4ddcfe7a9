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
use myriscope_codec::time::Tick;

/// Receiver of one channel.
struct ChannelPackets {
    name: String,
    framer: Framer,
    start: Tick,
    packet: PacketParser,
}

impl ChannelPackets {
    fn take(&mut self, chunk: &Chunk<'_>) {
        let Self { name, framer, start, packet } = self;
        let mut out = |at: Tick, event: FrameEvent<'_>| match event {
            FrameEvent::Start(bytes) => {
                *start = at;
                packet.feed(bytes);
            }
            FrameEvent::Data(bytes) => {
                packet.feed(bytes);
            }
            FrameEvent::End(end) => {
                let packet = std::mem::take(packet).finish();
                let tag =
                    packet.tag.map_or("-".to_owned(), |tag: PacketTag| tag.value().to_string());
                let (start, length, check) = (start.0, packet.length, packet.check.name());
                let route = packet.route.bytes();
                println!(
                    "{name} {start} {route:02x?} type {tag} {length} bytes {check} {}",
                    end.name()
                );
            }
            _ => {}
        };
        framer.seek(chunk.first, &mut out);
        match chunk.content {
            ChunkContent::Literal(chars) => framer.feed(chars, &mut out),
            ChunkContent::Repeat { pattern, count } => {
                // A repeat is fill between packets: one repetition decides the state.
                framer.feed(pattern, &mut out);
                framer.skip((count - 1) * pattern.len() as u64);
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
                channels.insert(id, ChannelPackets { name, framer, start: Tick(0), packet });
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
