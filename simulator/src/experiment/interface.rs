//! Interface benchmarks of the papers of 1994 and 1995. (Micro, Table 1; `HotI`, Figure 8)
//!
//! Two workstations on one cable. Three of the six figures of Table 1 are set. H-3

use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotMark, PlotSpec};
use super::result_table::{
    CalibratedSetting, FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};
use crate::topology::NodeId;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "interface",
    title: "the interface benchmarks of 1994: one way, from memory to memory, 8 KB blocks",
    text: "\
Two SPARCstations on one 25 m cable; one sends blocks to the other as fast as a layer lets it.
The wire takes a byte in each period (S-4), the SBus 64 bytes in 23 of its clocks (I-5). The other
layers are stages of software: the interface's processor for a command, which the sending engine
delays by its accesses to the memory; the host's driver for a packet, and its copy of each byte.
TCP/IP and UDP/IP are the stack of [[ip]], with headers and acknowledgments, without checksums of the host.",
    points,
    conclude,
};

#[derive(Clone, Copy, Debug)]
struct BenchmarkLayer {
    name: &'static str,
    title: &'static str,
    /// Figure of Table 1 and its origin here; none for the two kinds of DMA.
    published: Option<(i64, FigureOrigin)>,
    bus: &'static str,
    /// Its software.
    keys: &'static str,
    /// Protocol over IP, and bytes of its headers in each packet.
    ip: Option<(&'static str, u64)>,
}

/// Periods in a clock of the 20 MHz `SBus`. (Micro)
const CLOCK: u64 = 4;
const BLOCK: u64 = 8192;

/// Set: the interface's processor for a command. 8192 · 8 b / 250 Mb/s − 147.2 µs and the pause of the
/// last burst, which is meanwhile; while the engine sends, for 102.4 µs, it has half of the clocks.
const COMMAND: u64 = 5128;
/// Set: the host's processor for a packet, so that TCP/IP comes to 70 Mb/s.
const DRIVER: u64 = 10_775 * CLOCK;
/// The host's processor for a copy of 64 bytes: they pass its memory twice, as in two bursts. *Chosen*
const COPY: u64 = 2 * 23 * CLOCK;

#[rustfmt::skip]
const LAYERS: [BenchmarkLayer; 8] = [
    BenchmarkLayer { name: "channel", title: "channel data rate", published: Some((640, FigureOrigin::Measured)), bus: "ideal", keys: "", ip: None },
    BenchmarkLayer { name: "dma", title: "DMA data rate, 20 MHz SBus", published: Some((444, FigureOrigin::Set)), bus: "sbus", keys: "", ip: None },
    BenchmarkLayer { name: "raw", title: "raw speed test", published: Some((380, FigureOrigin::Measured)), bus: "sbus", keys: "", ip: None },
    BenchmarkLayer { name: "api", title: "Myrinet API, 8 KB packets", published: Some((250, FigureOrigin::Set)), bus: "sbus", keys: "command path", ip: None },
    BenchmarkLayer { name: "tcp", title: "TCP/IP, 0 copies", published: Some((70, FigureOrigin::Set)), bus: "sbus", keys: "command driver", ip: Some(("tcp", 40)) },
    BenchmarkLayer { name: "udp", title: "UDP/IP, 1 copy", published: Some((55, FigureOrigin::Measured)), bus: "sbus", keys: "command driver copy", ip: Some(("udp", 28)) },
    BenchmarkLayer { name: "streaming", title: "streaming DMA, later SBus", published: None, bus: "streaming", keys: "", ip: None },
    BenchmarkLayer { name: "consistent", title: "consistent DMA, later SBus", published: None, bus: "consistent", keys: "", ip: None },
];

impl BenchmarkLayer {
    /// Keys of `[interface]` and the most periods that its software takes for a block.
    fn software(&self, size: u64) -> (String, u64) {
        let mut keys = format!("bus = \"{}\"\n", self.bus);
        let mut every = 0;
        for key in self.keys.split_whitespace() {
            let (line, time) = match key {
                "command" => (format!("command_periods = {COMMAND}"), COMMAND + 2 * size),
                "path" => ("path = \"api\"".to_owned(), 0),
                "driver" => (format!("driver_periods = {DRIVER}"), 2 * DRIVER),
                _ => {
                    let copy = format!("copy_periods = {COPY}\nstack = \"one-copy\"");
                    (copy, COPY * size.div_ceil(64))
                }
            };
            keys += &line;
            keys.push('\n');
            every += time;
        }
        (keys, every)
    }
}

fn sizes(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[64, 128, 256, 512, 1024, 2048, 4096, 8192], &[512, 8192])
}

/// Periods of the `SBus` for a block: bursts of 16 words, 7 clocks after each. I-5
const fn bus(block: u64) -> u64 {
    block.div_ceil(64) * 23 * CLOCK
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    series::points(&LAYERS, sizes(effort), |layer, size| point(layer, *size))
}

fn point(layer: &BenchmarkLayer, size: u64) -> ExperimentPoint {
    let (keys, every) = layer.software(size);
    // Some blocks until the queues are full, and twenty to count. A set-up takes 8 µs.
    let every = every + 2 * bus(size) + 640;
    let stream = match layer.ip {
        Some((protocol, _)) => format!("[[ip]]\nproto = \"{protocol}\"\nchecksum = \"nic\""),
        None => "[[traffic]]".to_owned(),
    };
    let scenario = format!(
        "[interface]\n{keys}\
         [[host]]\nname = \"h0\"\n[[host]]\nname = \"h1\"\n\
         [[cable]]\nends = [\"h0:0\", \"h1:0\"]\n\
         {stream}\nfrom = \"h0\"\nto = \"h1\"\npayload = {size}\nsaturate = true\n"
    );
    let label = format!("{}, {size} bytes", layer.name);
    // The windows of TCP come in bursts.
    let blocks = if layer.ip.is_some() { 200 } else { 31 };
    ExperimentPoint::packets(label, scenario, [10 * every, blocks * every])
}

const COLUMNS: [TableColumn; 4] = [
    TableColumn::word("layer", "layer"),
    TableColumn::of("block_bytes", "block", "bytes", 0),
    TableColumn::of("rate_mb_per_s", "rate", "Mb/s", 1),
    TableColumn::of("block_time_us", "per block", "µs", 2),
];

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let name = |layer: &BenchmarkLayer| layer.title.to_owned();
    let (rows, curves) =
        series::curves(&LAYERS, sizes(effort), readings, name, |layer, size, reading| {
            let received = reading.received.get(&NodeId(1)).copied().unwrap_or_default();
            let rate = received.megabits(layer.ip.map_or(0, |(_, headers)| headers));
            let bits = u128::from(*size) * 8_000;
            let time = MilliValue::ratio(bits, rate.0.unsigned_abs().into());
            (cells![layer.name, *size, rate, time], Some(((*size).into(), rate)))
        });
    let mut figures = Vec::new();
    for (layer, curve) in LAYERS.iter().zip(&curves) {
        let (Some((published, origin)), Some((_, rate))) = (layer.published, curve.points.last())
        else {
            continue;
        };
        let published = Some(MilliValue::whole(published));
        let ours = PublishedFigure::measured(layer.title, "Mb/s", "Micro, Table 1", Some(*rate));
        figures.push(PublishedFigure { published, origin, ..ours });
    }
    let mark = |y| PlotMark { name: "published".to_owned(), x: Some(BLOCK.into()), y };
    let axes = [PlotAxis::doubling("block (bytes)"), PlotAxis::doubling("payload (Mb/s)")];
    let plot = PlotSpec {
        marks: figures.iter().filter_map(|figure| figure.published.map(mark)).collect(),
        ..PlotSpec::new("rates", "From memory to memory, by layer", axes, curves)
    };
    ExperimentResult {
        figures,
        settings: settings(),
        tables: vec![ResultTable::new("rates", "payload by size of block", &COLUMNS, rows)],
        plots: vec![plot],
        notes: NOTES,
    }
}

fn settings() -> Vec<CalibratedSetting> {
    let setting = CalibratedSetting::new;
    let [pause, driver] = [7, DRIVER / CLOCK].map(MilliValue::from);
    let (clocks, command) = ("clocks of 50 ns", MilliValue::microseconds(COMMAND));
    vec![
        setting(
            "pause after a burst of 16 words",
            pause,
            clocks,
            "DMA: 16 of 23 clocks carry data",
        ),
        setting("the interface's processor", command, "µs per packet", "API: 250 Mb/s at 8 KB"),
        setting("the host's processor, per packet", driver, clocks, "TCP/IP: 70 Mb/s at 8 KB"),
    ]
}

const NOTES: &[&str] = &[
    "Three of the six figures are set: DMA, API, TCP/IP. The others are measured, and so are all curves below 8 KB.",
    "The channel's 640 Mb/s are a byte in every period; a block has three more (tag, CRC \
         byte, GAP).",
    "The raw speed test does not come out: bus and wire overlap, and the figure is the bus's. What the program of 1994 did \
         besides is in no document.",
    "API: the paper names the instructions that the interface's processor executes for a packet as the limit. They are set, and \
         take twice as long while the sending engine has half of the memory's clocks.",
    "TCP/IP and UDP/IP have the same time for a packet, also for each acknowledgment of TCP; a copy passes the host's memory twice, at \
         the pace of the bus (chosen). A system call takes no time of its own. UDP/IP does not come out: the paper's is the standard \
         stack, its TCP/IP an experimental one.",
    "Streaming transfers take 8 µs once, and 64 bytes in 1.15 µs; consistent ones 2 µs and 1.66 µs. Their \
         curves cross at about 750 bytes (both chosen from text).",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// H-2, H-3
    #[test]
    fn every_layer_comes_out_as_published() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let ours = |figure: &PublishedFigure| figure.ours.unwrap_or_default().with_places(1);
        let found: Vec<String> = findings.figures.iter().map(ours).collect();
        // 8192 of 8195 characters: 639.8 Mb/s. 64 bytes in 1.15 µs: 445.2, also of the raw speed test. API: of 5128 periods
        // 4097 pass while 8195 characters are sent, 1031 behind them; with 128 bursts of 92 without the last 28 these are
        // 20 974: 250.0. UDP/IP: 43 100 and 128 · 184 periods: 78.7.
        assert_eq!(found.join(" "), "639.8 445.2 445.2 250.0 70.1 78.7");
        let set = findings.figures.iter().filter(|figure| figure.origin == FigureOrigin::Set);
        assert_eq!(set.count(), 3);
        let curves = &findings.plots[0].curves;
        let rates = |size: usize| [6, 7].map(|layer| curves[layer].points[size].1);
        let [[streaming, consistent], [long_streaming, long_consistent]] = [rates(0), rates(1)];
        assert!(streaming < consistent && long_streaming > long_consistent, "they cross");
    }
}
