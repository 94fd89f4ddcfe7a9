//! Throughput of framing, packet parsing, CRC, and of recordings of the wires. `cargo bench -p myriscope-codec`

use std::convert::Infallible;
use std::hint::black_box;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use myriscope_codec::crc::crc8;
use myriscope_codec::framing::{FrameEvent, Framer, frames};
use myriscope_codec::packet::{CrcCheck, Packet, PacketParser, PacketTag};
use myriscope_codec::recording::export::WireDelays;
use myriscope_codec::recording::import::{RecordedChannel, RecordingImport};
use myriscope_codec::recording::vcd::VcdReader;
use myriscope_codec::recording::{SignalChange, SignalReader, VcdWriter};
use myriscope_codec::wires::{WIRES, WireEncoder, WireMap, WireTransition};
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

/// Character period at the full rate.
const PERIOD_FS: u64 = 12_500_000;

/// Transitions of busy wires with skew and jitter, and how many there are of single wires.
fn busy_wires() -> (Vec<WireTransition>, usize) {
    let (mut encoder, mut all) = (WireEncoder::new(PERIOD_FS, PERIOD_FS), Vec::new());
    let mut delays = WireDelays::random(3_000_000, 1_000_000, 1);
    for bits in (1..1 << WIRES).cycle().take(CHARACTERS) {
        let character = Character::from_bits(bits * 73 % 511 + 1);
        encoder.send(character, |wire| delays.delay(wire), |it| all.push(it));
    }
    encoder.finish(|it| all.push(it));
    let count = all.iter().map(|it| it.each().count()).sum();
    (all, count)
}

#[divan::bench]
fn recorded_transitions(bencher: Bencher<'_, '_>) {
    let (transitions, count) = busy_wires();
    let changes: Vec<SignalChange> = transitions
        .iter()
        .map(|it| SignalChange { time_fs: it.time_fs, signals: it.wires.into() })
        .collect();
    let channel = RecordedChannel::learn(&changes, 0, WireMap::SAME, PERIOD_FS);
    bencher.counter(ItemsCount::new(count)).bench(|| {
        let mut import = RecordingImport::new(channel.iter().cloned().collect());
        let mut chunks = 0;
        let Ok(()) = import.receive(black_box(&changes), &mut |_, _| {
            chunks += 1;
            Ok::<(), Infallible>(())
        });
        chunks
    });
}

#[divan::bench]
fn value_change_dump(bencher: Bencher<'_, '_>) {
    let (transitions, count) = busy_wires();
    let dump = VcdWriter::new(Vec::new(), &["a"]).and_then(|mut dump| {
        transitions.into_iter().try_for_each(|it| dump.transition(0, it))?;
        Ok(dump.into_inner())
    });
    let (dump, selected) = (dump.unwrap_or_default(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    bencher.counter(ItemsCount::new(count)).bench(|| {
        let mut seen = 0;
        let reader = VcdReader::new(black_box(dump.as_slice()));
        let read = reader
            .map(|reader| Box::new(reader).read(&selected, &mut |some| seen += some.len()).error);
        (seen, matches!(read, Ok(None)))
    });
}
