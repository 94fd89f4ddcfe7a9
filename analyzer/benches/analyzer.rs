//! Throughput of counting and of event rows over whole captures. `cargo bench -p myriscope-analyzer`

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on stops")]

use myriscope_analyzer::event::{ChannelEvent, TimedEvent};
use myriscope_analyzer::link::parameters::LinkAssumptions;
use myriscope_analyzer::options::AnalysisScope;
use std::hint::black_box;

use codec::CharBuf;
use codec::capture::{
    ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent, ReadProgress,
};
use codec::notation::parse;
use codec::packet::{CrcCheck, Packet, PacketTag};
use codec::time::Tick;
use divan::Bencher;
use divan::counter::ItemsCount;
use myriscope_analyzer::event_reader::{CounterReader, EventReader, ReadItem};
use myriscope_analyzer::filter::{Filter, RowKind};

use myriscope_analyzer::packet::ByteRetention;
use myriscope_analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use myriscope_analyzer::row::ListRow as _;
use myriscope_analyzer::timeline::EventFilter;
use myriscope_analyzer::window::TimeWindow;

fn main() {
    divan::main();
}

/// Traffic of a channel.
#[derive(Clone, Copy, Debug)]
enum CaptureTraffic {
    /// Packets of this length, one behind another.
    Packets(usize),
    /// An hour of GAP and GO, in one repeat.
    IdleHour,
}

const TRAFFIC: [CaptureTraffic; 3] =
    [CaptureTraffic::Packets(1000), CaptureTraffic::Packets(16), CaptureTraffic::IdleHour];

/// A capture of both directions of some links, and its number of characters.
fn capture(traffic: CaptureTraffic, links: u32) -> (Vec<u8>, u64) {
    let names = |n| [format!("h{n}:0>s{n}:0"), format!("s{n}:0>h{n}:0")];
    let channels: Vec<_> = (0..links).flat_map(names).map(Channel::named).collect();
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).expect("channels");
    let mut write = |content: ChunkContent<'_>, first| {
        for id in (0..2 * links).map(ChannelId) {
            file.write(id, &Chunk { first: Tick(first), content }).expect("chunks in order");
        }
    };
    let characters = match traffic {
        CaptureTraffic::Packets(len) => {
            let payload: Vec<u8> = (0..=250).cycle().take(len - 3).collect();
            let packet = Packet {
                route: &[0x83],
                tag: PacketTag::new(5),
                payload: &payload,
                check: CrcCheck::Good,
            };
            let mut chars = CharBuf::new();
            packet.emit(&mut chars);
            let rounds = (8 << 20) / chars.len() as u64;
            let content = ChunkContent::Literal(chars.chars());
            (0..rounds).for_each(|round| write(content, round * chars.len() as u64));
            u64::from(2 * links) * rounds * chars.len() as u64
        }
        CaptureTraffic::IdleHour => {
            let fill = parse("GAP GO").expect("two symbols");
            let count = 3600 * 40_000_000;
            write(ChunkContent::Repeat { pattern: fill.chars(), count }, 0);
            u64::from(4 * links) * count
        }
    };
    (file.finish().expect("a file in memory"), characters)
}

#[divan::bench(args = TRAFFIC)]
fn info(bencher: Bencher<'_, '_>, traffic: CaptureTraffic) {
    let (file, characters) = capture(traffic, 1);
    bencher.counter(ItemsCount::new(characters)).bench(|| {
        let mut tallies = CounterReader::new(black_box(file.as_slice()));
        while tallies.step(&TimeWindow::ALL, &mut |_| {}).expect("a sound file")
            == ReadProgress::More
        {}
        tallies.channels().len()
    });
}

fn rows(bencher: Bencher<'_, '_>, traffic: CaptureTraffic, want: EventFilter) {
    let (file, characters) = capture(traffic, 1);
    bencher.counter(ItemsCount::new(characters)).bench(|| {
        let mut rows = EventReader::new(black_box(file.as_slice()), want, ByteRetention::Forget);
        let mut count = 0;
        let mut said = |said: ReadItem<'_>| count += u64::from(matches!(said, ReadItem::Row(..)));
        while rows.step(&mut said).expect("a sound file") == ReadProgress::More {}
        count
    });
}

#[divan::bench(args = TRAFFIC)]
fn packets(bencher: Bencher<'_, '_>, traffic: CaptureTraffic) {
    rows(bencher, traffic, EventFilter::Packets);
}

#[divan::bench(args = TRAFFIC)]
fn events(bencher: Bencher<'_, '_>, traffic: CaptureTraffic) {
    rows(bencher, traffic, EventFilter::Events);
}

/// The rows of journeys as text, of packets of 16 bytes on both channels of two links.
#[divan::bench]
fn journeys(bencher: Bencher<'_, '_>) {
    let (file, characters) = capture(CaptureTraffic::Packets(16), 2);
    bencher.counter(ItemsCount::new(characters / 17)).bench(|| {
        let (scope, assumptions) = (RowKind::Journeys.scope(), LinkAssumptions::default());
        let mut analysis = CaptureAnalysis::new(black_box(file.as_slice()), scope, assumptions);
        let (mut events, mut len) = (Vec::new(), 0);
        while analysis.step(&mut |event| events.push(event)).expect("a sound file")
            == ReadProgress::More
        {
            for event in events.drain(..) {
                if let AnalysisEvent::Journey(journey) = event {
                    len += journey.row(&|id| analysis.channel(id)).text().len();
                }
            }
        }
        len
    });
}

/// Expressions over packets of 16 bytes, and the storage of bytes that they need.
const FILTERS: [(&str, ByteRetention); 3] = [
    ("tag == 5 && crc.bad && length > 1000", ByteRetention::Forget),
    ("channel ~ \"s0:*\" and start in 10us..20us or route contains 85", ByteRetention::Forget),
    ("bytes[0:2] == 83:06", ByteRetention::Keep),
];

/// Packets per second that a filter evaluates, including framing.
#[divan::bench(args = FILTERS)]
fn filter(bencher: Bencher<'_, '_>, (text, bytes): (&str, ByteRetention)) {
    let (file, characters) = capture(CaptureTraffic::Packets(16), 1);
    bencher.counter(ItemsCount::new(characters / 17)).bench(|| {
        let mut filter = Filter::parse(text, RowKind::Packets).expect("an expression");
        let mut rows = EventReader::new(black_box(file.as_slice()), EventFilter::Packets, bytes);
        let mut kept = 0;
        let mut said = |said: ReadItem<'_>| {
            if let ReadItem::Row(channel, TimedEvent { body: ChannelEvent::Packet(packet), .. }) =
                said
            {
                let row = packet.row(&channel.name);
                kept += u64::from(filter.keeps(&row, channel.period));
            }
        };
        while rows.step(&mut said).expect("a sound file") == ReadProgress::More {}
        kept
    });
}

/// Threads, links, and bytes of a packet.
const CHECKS: [(usize, u32, usize); 5] =
    [(1, 1, 1000), (2, 1, 1000), (1, 2, 1000), (2, 2, 1000), (1, 1, 16)];

/// The whole analysis, as `myriscope check` runs it, over packets one behind another on both channels of each
/// link. `cargo bench -p myriscope-analyzer --profile dist check`
#[divan::bench(args = CHECKS)]
fn check(bencher: Bencher<'_, '_>, (threads, links, bytes): (usize, u32, usize)) {
    let (file, characters) = capture(CaptureTraffic::Packets(bytes), links);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    bencher.counter(ItemsCount::new(characters)).bench(|| {
        pool.install(|| {
            let (capture, assumptions) = (black_box(file.as_slice()), LinkAssumptions::default());
            let mut analysis = CaptureAnalysis::new(capture, AnalysisScope::Findings, assumptions);
            while analysis.step(&mut |_| {}).expect("a sound file") == ReadProgress::More {}
            analysis.findings()
        })
    });
}
