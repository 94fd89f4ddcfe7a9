//! Writes a capture of a link that is saturated in both directions to standard output, of 1 MiB or
//! the number of MiB in the argument.
//!
//! `cargo run --release -p myriscope-codec --example write_capture -- 1024 > saturated.pcapng`

use std::error::Error;
use std::io::{self, Write};

use myriscope_codec::CharBuf;
use myriscope_codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use myriscope_codec::packet::{CrcCheck, Packet, PacketTag};
use myriscope_codec::time::Tick;

fn main() -> Result<(), Box<dyn Error>> {
    let mebibytes: u64 = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 1,
    };
    let mut channels = [Channel::named("h0:0>s0:0"), Channel::named("s0:0>h0:0")];
    let [there, back] = &mut channels;
    (there.peer, back.peer) = (Some(1), Some(0));
    let mut capture = CaptureWriter::new(io::stdout().lock(), ByteOrder::Little, &channels)?;

    // A packet of 1000 bytes and its GAP, over and over: a chunk each, as a writer should cut them.
    let payload: Vec<u8> = (0..=250).cycle().take(997).collect();
    let packet =
        Packet { route: &[0x83], tag: PacketTag::new(5), payload: &payload, check: CrcCheck::Good };
    let mut chars = CharBuf::new();
    packet.emit(&mut chars);
    let content = ChunkContent::Literal(chars.chars());
    let len = chars.len() as u64;
    // Low plane, d plane, chunk header, block header, rounded up to four bytes.
    let block = len + len.div_ceil(8) + 16 + 32;
    for round in 0..mebibytes * (1 << 20) / (2 * block.next_multiple_of(4)) {
        for id in [ChannelId(0), ChannelId(1)] {
            capture.write(id, &Chunk { first: Tick(round * len), content })?;
        }
    }
    capture.finish()?.flush()?;
    Ok(())
}
