//! Latency over load of a mesh, beside a published model of wormhole networks. S-3, S-10

use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::{PlotAxis, PlotCurve, PlotSpec};
use super::result_table::{
    FigureOrigin, MilliValue, PERIODS_PER_US, PublishedFigure, ResultTable, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mesh",
    title: "latency over load of a mesh of 8 x 8 switches, beside a published model",
    text: "\
64 switches in a mesh, a host at each, all of which send to all: packets of 128 bytes at random
intervals, along x and then along y. Beside the latencies are those of the model of Agarwal (1991), whose
contention in a direct network is a formula of load, length of packets and distance.",
    points,
    conclude,
};

/// Switches along x, and along y.
const SIDE: u64 = 8;
const HOSTS: u64 = SIDE * SIDE;
const PAYLOAD: u64 = 128;

/// Loads in thousandths of a link.
fn loads(effort: ExperimentEffort) -> &'static [u64] {
    effort.choose(&[10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 300], &[10, 60, 200])
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    let times = effort.choose([200, 1200], [50, 150]).map(|us| us * PERIODS_PER_US);
    series::points(&[()], loads(effort), |(), load| {
        let scenario = format!(
            "[topology]\nkind = \"mesh\"\nwidth = {SIDE}\nheight = {SIDE}\n\
             [routes]\nmethod = \"dimension-order\"\n\
             [[traffic]]\nto = \"uniform\"\npayload = {PAYLOAD}\nload = 0.{load:03}\n"
        );
        ExperimentPoint::packets(format!("load 0.{load:03}"), scenario, times)
    })
}

/// Mean number of channels along x of a uniform packet in millionths: (k² − 1) / 3k, of which no host has itself as a
/// destination, 8/3 here. Along y it is the same.
const DISTANCE: u64 = 1_000_000 * (SIDE * SIDE - 1) * HOSTS / (3 * SIDE * (HOSTS - 1));

/// Contention of all channels of a way in the model of Agarwal, in microseconds; none at a utilization of 1.
fn contention(load: u64) -> Option<MilliValue> {
    let (million, distance) = (1_000_000_u128, u128::from(DISTANCE));
    // Mean utilization of the channels, of which x and y have 2(k − 1)k each.
    let ways = u128::from(HOSTS * load) * distance;
    let busy = ways / u128::from(1000 * 2 * (SIDE - 1) * SIDE);
    let idle = million.checked_sub(busy).filter(|idle| *idle > 0)?;
    // At each of n · k_d channels ρB / (1 − ρ) · (k_d − 1) / k_d² · (1 + 1/n): a period is a cycle and a byte a flit, and in two
    // dimensions all but ρB / (1 − ρ) is 3 (k_d − 1) / k_d.
    let part = busy * u128::from(PAYLOAD) * 3 * (distance - million);
    Some(MilliValue::ratio(part, idle * distance * u128::from(PERIODS_PER_US)))
}

const COLUMNS: [TableColumn; 5] = [
    TableColumn::of("load", "load", "of a link", 2),
    TableColumn::of("host_mb_per_s", "per host", "Mb/s", 1),
    TableColumn::of("latency_us", "latency", "µs", 2),
    TableColumn::of("contention_us", "contention", "µs", 2),
    TableColumn::of("model_contention_us", "quoted model", "µs", 2),
];

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let loads = loads(effort);
    let least = readings.first().and_then(|reading| reading.latency.mean());
    // The least load has a contention too.
    let zero = least.zip(loads.first().and_then(|load| contention(*load)));
    let zero = zero.map_or(0, |(least, waits)| least.0 - waits.0);
    let (rows, mut curves) = series::curves(
        &[()],
        loads,
        readings,
        |()| "here".to_owned(),
        |(), load, reading| {
            let latency = reading.latency.mean();
            let waits = latency.map(|latency| MilliValue(latency.0 - zero));
            let bytes = reading.latency.packets * PAYLOAD;
            let rate = MilliValue::megabits(bytes, reading.periods * HOSTS);
            let share = MilliValue::ratio((*load).into(), 1000);
            let row = cells![share, rate, latency, waits, contention(*load)];
            (row, latency.map(|latency| (MilliValue::ratio((*load).into(), 10), latency)))
        },
    );
    let model = loads.iter().filter_map(|load| {
        let waits = contention(*load)?;
        Some((MilliValue::ratio((*load).into(), 10), MilliValue(zero + waits.0)))
    });
    curves.push(PlotCurve::new("quoted: model of Agarwal", model));
    let axes = [PlotAxis::linear("load of a link (%)"), PlotAxis::linear("latency (µs)")];
    ExperimentResult {
        figures: figures(readings),
        tables: vec![ResultTable::new("load", "Latency over load", &COLUMNS, rows)],
        plots: vec![PlotSpec::new("latency", "Latency over load, mesh of 8 x 8", axes, curves)],
        notes: NOTES,
        ..ExperimentResult::default()
    }
}

fn figures(readings: &[PointMeasurement]) -> Vec<PublishedFigure> {
    let share = |reading: &PointMeasurement| {
        let bytes = u128::from(reading.latency.packets * PAYLOAD) * 100;
        MilliValue::ratio(bytes, u128::from(reading.periods * HOSTS))
    };
    let most = readings.iter().map(share).max();
    let bound = "Dally, Towles: Principles and Practices of Interconnection Networks";
    vec![
        PublishedFigure::measured("payload accepted at most, of a link", "%", "", most),
        PublishedFigure {
            published: Some(MilliValue::ratio(400, SIDE.into())),
            origin: FigureOrigin::Quoted,
            ..PublishedFigure::measured("bound of the bisection, 4/k", "%", bound, None)
        },
    ]
}

const NOTES: &[&str] = &[
    "quoted model: A. Agarwal, Limits on Interconnection Network Performance, IEEE Trans. Parallel and Distributed Systems 2(4), \
     1991, equation 12, as the source of another simulator has it: the paper was not at hand. k_d is the mesh's, 8/3; a cycle is a \
     character, and a flit a byte of payload. Its latency is its contention and the latency here without a load.",
    "The model's switches have room for whole packets. Here a packet that waits holds all channels behind it, so that \
     contention is more, and the network full at a lower load. Beyond that latencies depend on the duration.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_the_published_formula() {
        // ρ = 0.2 · 64 · 8/3 / 112 = 0.304 76; 128 · 3 · 5/8 · ρ / (1 − ρ) = 105.2 characters.
        assert_eq!(contention(200), Some(MilliValue(1315)));
        assert_eq!(contention(0), Some(MilliValue(0)));
        // ρ = 1 at a load of 0.656.
        assert!(contention(656).is_some() && contention(657).is_none());
    }

    #[test]
    fn wormholes_wait_longer_than_packets_in_buffers_and_fill_a_mesh_before_its_bisection() {
        let found = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        let table = &found.tables[0];
        // 0.30 µs of contention by the model at the second load. A wormhole that waits lets others wait, and beyond saturation
        // there is no bound.
        assert!((302..3_000).contains(&table.number(1, 3)), "{table:?}");
        assert!(table.number(2, 3) > 3 * table.number(2, 4), "{table:?}");
        // 60/1000 of a link with 128 of 138 characters of payload; then less than offered, and than the bisection's half.
        assert!((30_000..38_500).contains(&table.number(1, 1)), "{table:?}");
        assert!(table.number(2, 1) < 115_000, "{table:?}");
    }
}
