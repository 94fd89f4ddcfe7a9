//! Interface benchmarks of the papers of 1994 and 1995. (Micro, Table 1; `HotI`, Figure 8)
//!
//! Two workstations on one cable. The limit of a layer is given as the minimum interval of blocks;
//! wire and `SBus` are simulated.

use super::measure::{ExperimentPoint, HostReceived, MetricKind, PointMeasurement};
use super::plot::{PlotAxis, PlotCurve, PlotMark, PlotSpec};
use super::result_table::{
    CalibratedSetting, FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableCell,
    TableColumn,
};
use super::{Experiment, ExperimentEffort, ExperimentResult};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "interface",
    title: "the interface benchmarks of 1994: one way, from memory to memory, 8 KB blocks",
    text: "\
Two SPARCstations on one 25 m cable; one sends blocks to the other as fast as a layer lets it.
The wire takes a byte in each period (S-4), the SBus 64 bytes in 23 of its clocks (I-5). Each layer
above is declared by one time for a block, set from its published figure at 8 KB.",
    points,
    conclude,
};

#[derive(Clone, Copy, Debug)]
struct BenchmarkLayer {
    name: &'static str,
    title: &'static str,
    published: i64,
    bus: &'static str,
    pace: BlockPace,
}

/// Time that a layer spends on a block besides wire and bus, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockPace {
    Nothing,
    /// While the bus moves nothing.
    Between(u64),
    /// While the bus may move the next.
    Meanwhile(u64),
}

/// Periods in a clock of the 20 MHz `SBus`. (Micro)
const CLOCK: u64 = 4;
const BLOCK: u64 = 8192;

/// Calibrated: (8192 · 8 b / 380 Mb/s − 147.2 µs) in clocks of 50 ns.
const RAW: u64 = 505 * CLOCK;
/// Calibrated: 8192 · 8 b / 250 Mb/s in clocks of 50 ns.
const API: u64 = 5243 * CLOCK;
/// Calibrated: 8192 · 8 b / 70 Mb/s in clocks of 50 ns.
const TCP: u64 = 18_725 * CLOCK;
/// Calibrated: 8192 · 8 b / 55 Mb/s in clocks of 50 ns.
const UDP: u64 = 23_831 * CLOCK;

const LAYERS: [BenchmarkLayer; 6] = [
    BenchmarkLayer {
        name: "channel",
        title: "channel data rate",
        published: 640,
        bus: "ideal",
        pace: BlockPace::Nothing,
    },
    BenchmarkLayer {
        name: "dma",
        title: "DMA data rate, 20 MHz SBus",
        published: 444,
        bus: "sbus",
        pace: BlockPace::Nothing,
    },
    BenchmarkLayer {
        name: "raw",
        title: "raw speed test",
        published: 380,
        bus: "sbus",
        pace: BlockPace::Between(RAW),
    },
    BenchmarkLayer {
        name: "api",
        title: "Myrinet API, 8 KB packets",
        published: 250,
        bus: "sbus",
        pace: BlockPace::Meanwhile(API),
    },
    BenchmarkLayer {
        name: "tcp",
        title: "TCP/IP, 0 copies",
        published: 70,
        bus: "sbus",
        pace: BlockPace::Meanwhile(TCP),
    },
    BenchmarkLayer {
        name: "udp",
        title: "UDP/IP, 1 copy",
        published: 55,
        bus: "sbus",
        pace: BlockPace::Meanwhile(UDP),
    },
];

fn sizes(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[64, 128, 256, 512, 1024, 2048, 4096, 8192], &[512, 8192])
}

/// Periods of the `SBus` for a block: bursts of 16 words, 7 clocks after each. I-5
const fn bus(block: u64) -> u64 {
    block.div_ceil(64) * 23 * CLOCK
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let sizes = sizes(effort);
    LAYERS.iter().flat_map(|layer| sizes.iter().map(|size| point(layer, *size))).collect()
}

fn point(layer: &BenchmarkLayer, size: u64) -> ExperimentPoint {
    let (law, every) = match layer.pace {
        BlockPace::Nothing => ("saturate = true".to_owned(), bus(size)),
        BlockPace::Between(time) => paced(bus(size) + time),
        BlockPace::Meanwhile(time) => paced(time),
    };
    // Some blocks until the queues are full, and twenty to count.
    let every = every.max(bus(size));
    ExperimentPoint {
        label: format!("{}, {size} bytes", layer.name),
        scenario: format!(
            "[interface]\nbus = \"{}\"\n\
             [[host]]\nname = \"h0\"\n[[host]]\nname = \"h1\"\n\
             [[cable]]\nends = [\"h0:0\", \"h1:0\"]\n\
             [[traffic]]\nfrom = \"h0\"\nto = \"h1\"\npayload = {size}\n{law}\n",
            layer.bus
        ),
        metric: MetricKind::Packets,
        warm_up: 10 * every,
        duration: 31 * every,
    }
}

fn paced(every: u64) -> (String, u64) {
    (format!("every_periods = {every}"), every)
}

const COLUMNS: [TableColumn; 4] = [
    TableColumn::word("layer", "layer"),
    TableColumn::of("block_bytes", "block", "bytes", 0),
    TableColumn::of("rate_mb_per_s", "rate", "Mb/s", 1),
    TableColumn::of("block_time_us", "per block", "µs", 2),
];

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let sizes = sizes(effort);
    let mut findings = ExperimentResult::default();
    let mut table = ResultTable::new("rates", "payload by size of block", &COLUMNS, Vec::new());
    let axes = [PlotAxis::doubling("block (bytes)"), PlotAxis::doubling("payload (Mb/s)")];
    let mut plot = PlotSpec::new("rates", "From memory to memory, by layer", axes, Vec::new());
    for (layer, readings) in LAYERS.iter().zip(readings.chunks(sizes.len())) {
        let mut curve = PlotCurve::new(layer.title, []);
        for (size, reading) in sizes.iter().zip(readings) {
            let rate = reading.megabits();
            let time = reading.received.values().next().and_then(HostReceived::interval);
            let block = MilliValue::from(*size);
            table.rows.push(vec![
                TableCell::word(layer.name),
                block.into(),
                rate.into(),
                TableCell::maybe(time),
            ]);
            curve.points.push((block, rate));
            if *size == BLOCK {
                findings.figures.push(figure(layer, rate));
            }
        }
        plot.curves.push(curve);
        plot.marks.push(PlotMark {
            name: "published".to_owned(),
            x: Some(BLOCK.into()),
            y: MilliValue::whole(layer.published),
        });
    }
    findings.tables.push(table);
    findings.plots.push(plot);
    findings.settings = settings();
    findings.notes = NOTES;
    findings
}

fn figure(layer: &BenchmarkLayer, rate: MilliValue) -> PublishedFigure {
    PublishedFigure {
        what: layer.title.to_owned(),
        unit: "Mb/s",
        published: Some(MilliValue::whole(layer.published)),
        source: "Micro, Table 1",
        ours: Some(rate),
        origin: if layer.name == "channel" { FigureOrigin::Follows } else { FigureOrigin::Set },
    }
}

fn settings() -> Vec<CalibratedSetting> {
    let clocks = |name, clocks: u64, why: &str| CalibratedSetting {
        name,
        value: clocks.into(),
        unit: "clocks of 50 ns",
        why: why.to_owned(),
    };
    vec![
        clocks("pause after a burst of 16 words", 7, "DMA: 16 of 23 clocks carry data"),
        clocks("raw speed test, per block, bus at rest", RAW / CLOCK, "380 Mb/s at 8 KB"),
        clocks("API, the interface's processor, per packet", API / CLOCK, "250 Mb/s at 8 KB"),
        clocks("TCP/IP, the host's processor, per packet", TCP / CLOCK, "70 Mb/s at 8 KB"),
        clocks("UDP/IP, the host's processor, per packet", UDP / CLOCK, "55 Mb/s at 8 KB"),
    ]
}

const NOTES: &[&str] = &[
    "The channel's 640 Mb/s are a byte in every period; a block has three more (tag, CRC \
         byte, GAP).",
    "That the API is limited by the interface's processor is said in the paper. That the hosts' \
         processors limit TCP/IP and UDP/IP follows from its remark that DMA and packet interface \
         are nearly free for them. The times are set, and nothing else is known of the stacks: how \
         much of a time goes by bytes is not, so the curves below 8 KB are a guess.",
    "What follows: between 70 Mb/s and 640 Mb/s nothing but the declared stage shows; the \
         network and the receiver's bus never hold a layer back.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_give_the_published_figures() {
        // In a megabit per second at 8 KB: to within half a clock.
        for (layer, every) in [(380, bus(BLOCK) + RAW), (250, API), (70, TCP), (55, UDP)] {
            let exact = BLOCK * 8 * 80 / layer;
            assert!(every.abs_diff(exact) <= CLOCK / 2, "{layer}: {every}, not {exact}");
        }
    }

    #[test]
    fn every_layer_comes_out_as_published() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let found: Vec<String> = findings
            .figures
            .iter()
            .map(|figure| figure.ours.unwrap_or_default().with_places(1))
            .collect();
        // 8192 of 8195 characters: 639.8 Mb/s. 64 bytes in 1.15 µs: 445.2.
        insta::assert_snapshot!(found.join(" "), @"639.8 445.2 380.0 250.0 70.0 55.0");
    }
}
