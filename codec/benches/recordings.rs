//! Throughput of recordings of the wires. `cargo bench -p myriscope-codec --features recordings`

use std::convert::Infallible;
use std::hint::black_box;
use std::io::{Cursor, Write};

use divan::Bencher;
use divan::counter::ItemsCount;
use myriscope_codec::Character;
use myriscope_codec::recording::export::WireDelays;
use myriscope_codec::recording::import::{RecordedChannel, RecordingImport};
use myriscope_codec::recording::sigrok::SigrokReader;
use myriscope_codec::recording::vcd::VcdReader;
use myriscope_codec::recording::{SignalChange, SignalReader, VcdWriter};
use myriscope_codec::wires::{WireEncoder, WireMap, WireTransition};
use zip::CompressionMethod::{self, Deflated, Stored};
use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;

fn main() {
    divan::main();
}

/// Character period at the full rate.
const PERIOD_FS: u64 = 12_500_000;

const WIRES: [usize; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/// Transitions of a link at half load: half of its characters are GO and GAP in turn.
fn half_loaded(skew_fs: u64) -> Vec<WireTransition> {
    let (mut encoder, mut all) = (WireEncoder::new(PERIOD_FS, PERIOD_FS), Vec::new());
    let mut delays = WireDelays::random(skew_fs, skew_fs / 3, 1);
    for at in 0..1_u32 << 18 {
        let [.., byte] = at.wrapping_mul(747_796_405).to_le_bytes();
        let character = match (at / 1000 % 2, at % 2) {
            (0, _) => Character::Data(byte),
            (_, 0) => Character::Control(0x03),
            _ => Character::GAP,
        };
        encoder.send(character, |wire| delays.delay(wire), |it| all.push(it));
    }
    encoder.finish(|it| all.push(it));
    all
}

/// A session of 500 million samples of two bytes a second, and their number.
fn session(wires: &[WireTransition], method: CompressionMethod) -> ZipResult<(Vec<u8>, usize)> {
    let (mut samples, mut levels) = (Vec::new(), 0_u16);
    for WireTransition { time_fs, wires } in wires {
        let before = usize::try_from(time_fs.div_ceil(2_000_000)).unwrap_or_default();
        samples.resize(before.max(samples.len()), levels);
        levels ^= wires;
    }
    let bytes: Vec<u8> = samples.iter().flat_map(|it| it.to_le_bytes()).collect();
    let description = b"[device 1]\ncapturefile=logic-1\nsamplerate=500 MHz\nunitsize=2\n";
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("metadata", &description[..]), ("logic-1", &bytes)] {
        archive.start_file(name, SimpleFileOptions::default().compression_method(method))?;
        archive.write_all(content)?;
    }
    Ok((archive.finish()?.into_inner(), samples.len()))
}

#[divan::bench(args = [(0, Stored), (3_000_000, Stored), (0, Deflated)])]
fn sigrok_session(bencher: Bencher<'_, '_>, (skew_fs, method): (u64, CompressionMethod)) {
    let transitions = half_loaded(skew_fs);
    let change = |(time_fs, signals)| SignalChange { time_fs, signals, unknown: 0 };
    let changed = transitions.iter().map(|it| (it.time_fs, it.wires.into()));
    let head: Vec<SignalChange> = changed.map(change).collect();
    let (session, samples) = session(&transitions, method).unwrap_or_default();
    let learned = RecordedChannel::learn(&head, 0, WireMap::SAME, PERIOD_FS).into_iter();
    bencher.counter(ItemsCount::new(samples)).bench(|| {
        let (mut import, mut chunks) = (RecordingImport::new(learned.clone().collect()), 0);
        let mut sink = |changes: &[SignalChange]| {
            let Ok(()) = import.receive(changes, &mut |_, _| {
                chunks += 1;
                Ok::<(), Infallible>(())
            });
        };
        let reader = SigrokReader::new(Cursor::new(black_box(session.as_slice())));
        let error = reader.map(|reader| Box::new(reader).read(&WIRES, &mut sink).error);
        assert!(matches!(error, Ok(None)), "{error:?}");
        chunks
    });
}

#[divan::bench]
fn value_change_dump(bencher: Bencher<'_, '_>) {
    let transitions = half_loaded(3_000_000);
    let count = transitions.iter().map(|it| it.each().count()).sum::<usize>();
    let dump = VcdWriter::new(Vec::new(), &["a"], 0).and_then(|mut dump| {
        transitions.into_iter().try_for_each(|it| dump.transition(0, it))?;
        Ok(dump.into_inner())
    });
    let dump = dump.unwrap_or_default();
    bencher.counter(ItemsCount::new(count)).bench(|| {
        let mut seen = 0;
        let reader = VcdReader::new(black_box(dump.as_slice()));
        let error = reader
            .map(|reader| Box::new(reader).read(&WIRES, &mut |some| seen += some.len()).error);
        assert!(matches!(error, Ok(None)), "{error:?}");
        seen
    });
}
