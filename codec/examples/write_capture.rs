//! Writes a capture of one link to standard output: a packet in one direction, STOP and GO in the
//! other.
//!
//! `cargo run -p myriscope-codec --example write_capture > link.pcapng`

use std::error::Error;
use std::io::{self, Write};

use myriscope_codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, split_into_chunks};
use myriscope_codec::packet::{CrcCheck, Packet, PacketTag};
use myriscope_codec::time::Tick;
use myriscope_codec::{CharBuf, notation};

fn main() -> Result<(), Box<dyn Error>> {
    let mut channels = [Channel::named("h0:0>s0:0"), Channel::named("s0:0>h0:0")];
    let [forward, backward] = &mut channels;
    (forward.peer, backward.peer) = (Some(1), Some(0));
    let mut capture = CaptureWriter::new(io::stdout().lock(), ByteOrder::Little, &channels)?;

    let mut sent = CharBuf::new();
    let packet =
        Packet { route: &[0x83], tag: PacketTag::new(5), payload: b"hello", check: CrcCheck::Good };
    packet.emit(&mut sent);
    sent.push_chars(notation::parse("(GO GAP)×1000")?.chars());
    let received = notation::parse("(GO GAP)×2 STOP IDLE GO (GO GAP)×1000")?;

    // Chunks must come in order of their times.
    let channels = [(ChannelId(0), &sent), (ChannelId(1), &received)];
    let all = channels.map(|(id, chars)| {
        split_into_chunks(Tick(0), chars.chars()).map(move |chunk| (chunk.first, id, chunk))
    });
    let mut chunks: Vec<_> = all.into_iter().flatten().collect();
    chunks.sort_by_key(|(first, id, _)| (*first, *id));
    for (_, id, chunk) in &chunks {
        capture.write(*id, chunk)?;
    }
    capture.finish()?.flush()?;
    Ok(())
}
