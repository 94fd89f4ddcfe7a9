//! Throughput of framing, packet parsing and CRC. `cargo bench -p myriscope-codec`

use std::hint::black_box;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use myriscope_codec::crc::crc8;
use myriscope_codec::framing::{FrameEvent, Framer, frames};
use myriscope_codec::packet::{CrcCheck, Packet, PacketParser, PacketTag};
use myriscope_codec::{CharBuf, Character};

fn main() {
    divan::main();
}

/// Characters to go through in one turn: as many as stay in cache.
const CHARACTERS: usize = 1 << 18;

/// Traffic to be read: bytes of a packet, and characters from one symbol inside it to the next.
#[derive(Clone, Copy, Debug)]
struct FramingTraffic {
    packet: usize,
    symbol_every: usize,
}

const LONG: FramingTraffic = FramingTraffic { packet: 1000, symbol_every: usize::MAX };
const HELD_UP: FramingTraffic = FramingTraffic { packet: 1000, symbol_every: 200 };
const SHORT: FramingTraffic = FramingTraffic { packet: 16, symbol_every: usize::MAX };

impl FramingTraffic {
    fn characters(self) -> CharBuf {
        let payload: Vec<u8> = (0..=250).cycle().take(self.packet - 3).collect();
        let packet = Packet {
            route: &[0x83],
            tag: PacketTag::new(5),
            payload: &payload,
            check: CrcCheck::Good,
        };
        let mut one = CharBuf::new();
        packet.emit(&mut one);
        let mut all = CharBuf::new();
        while all.len() < CHARACTERS {
            for (at, character) in one.chars().iter().enumerate() {
                if at % self.symbol_every == self.symbol_every - 1 {
                    all.push(Character::Control(0x0f));
                }
                all.push(character);
            }
        }
        all
    }
}

#[divan::bench(args = [LONG, HELD_UP, SHORT])]
fn framing(bencher: Bencher<'_, '_>, traffic: FramingTraffic) {
    let chars = traffic.characters();
    bencher.counter(ItemsCount::new(chars.len())).bench(|| {
        let mut bytes = 0;
        Framer::new().feed(black_box(chars.chars()), &mut |_, event| {
            if let FrameEvent::Start(data) | FrameEvent::Data(data) = event {
                bytes += data.len();
            }
        });
        bytes
    });
}

#[divan::bench(args = [LONG, HELD_UP, SHORT])]
fn framing_and_crc(bencher: Bencher<'_, '_>, traffic: FramingTraffic) {
    let chars = traffic.characters();
    bencher.counter(ItemsCount::new(chars.len())).bench(|| {
        let (mut good, mut parser) = (0, PacketParser::default());
        Framer::new().feed(black_box(chars.chars()), &mut |_, event| {
            if let FrameEvent::Start(data) | FrameEvent::Data(data) = event {
                parser.feed(data);
            } else if let FrameEvent::End(_) = event {
                let packet = std::mem::take(&mut parser).finish();
                good += u32::from(packet.check == CrcCheck::Good);
            }
        });
        good
    });
}

#[divan::bench(args = [LONG, HELD_UP, SHORT])]
fn whole_frames_and_crc(bencher: Bencher<'_, '_>, traffic: FramingTraffic) {
    let chars = traffic.characters();
    bencher.counter(ItemsCount::new(chars.len())).bench(|| {
        frames(black_box(chars.chars()))
            .filter(|frame| Packet::parse(&frame.bytes).check == CrcCheck::Good)
            .count()
    });
}

#[divan::bench(args = [1, 8, 16, 64, 1000, 65_536])]
fn crc(bencher: Bencher<'_, '_>, len: usize) {
    let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
    bencher.counter(BytesCount::new(len)).bench(|| crc8(black_box(&bytes)));
}
