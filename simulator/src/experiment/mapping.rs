//! Mapping of the Berkeley networks beside the published times. (Mainwaring, Chun, Schleimer,
//! Wilkerson, *System Area Network Mapping*, SPAA 1997)

use super::measure::{ExperimentPoint, PointMeasurement};
use super::result_table::{
    CalibratedSetting, FigureOrigin, MilliValue, PERIODS_PER_US, PublishedFigure, ResultTable,
    TableCell, TableColumn, cells,
};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};
use crate::mapping::{MapperParameters as Mapper, MappingNotice};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mapping",
    title: "mapping of the Berkeley NOW by one of its interfaces",
    text: "\
One interface searches the network with probes (N-2), and distributes the map, or the routes of all
(N-7). Times are from its first probe to the map, and to the last installation of routes. Timeouts
are 200 µs, and three of them mean that nothing is at a port.",
    points,
    conclude,
};

/// Time for which a mapper waits for the answer to a probe. *Chosen*: no document gives it.
const TIMEOUT_US: i64 = 200;

struct MappedNetwork {
    name: &'static str,
    topology: &'static str,
    milliseconds: u64,
    /// Published time to the map, in milliseconds.
    published: Option<i64>,
}

#[rustfmt::skip]
const NETWORKS: [MappedNetwork; 3] = [
    MappedNetwork { name: "Berkeley subcluster", topology: "kind = \"now-subcluster\"", milliseconds: 100, published: Some(248) },
    MappedNetwork { name: "Berkeley cluster", topology: "kind = \"now-cluster\"", milliseconds: 300, published: Some(981) },
    MappedNetwork { name: "fat tree", topology: "kind = \"fat-tree\"\nlevels = 2", milliseconds: 100, published: None },
];

const DESIGNS: [&str; 2] = ["map", "daemon"];

fn networks(effort: ExperimentEffort) -> &'static [MappedNetwork] {
    NETWORKS.get(..effort.choose(3, 1)).unwrap_or_default()
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    series::points(networks(effort), &DESIGNS, |network, design| {
        let scenario = format!(
            "[topology]\n{}\n[routes]\nmethod = \"mapped\"\n\
             [mapper]\nwho = \"h3\"\ndesign = \"{design}\"\ntimeout_us = {TIMEOUT_US}\n",
            network.topology
        );
        let time = network.milliseconds * 1000 * PERIODS_PER_US;
        ExperimentPoint::packets(format!("{}, design {design}", network.name), scenario, [0, time])
    })
}

const COLUMNS: [TableColumn; 8] = [
    TableColumn::word("network", "network"),
    TableColumn::word("design", "design"),
    TableColumn::count("hosts", "hosts"),
    TableColumn::count("switches", "switches"),
    TableColumn::count("links", "links"),
    TableColumn::count("probes", "probes"),
    TableColumn::of("map_ms", "map", "ms", 1),
    TableColumn::of("installed_ms", "installed", "ms", 1),
];

fn milliseconds(periods: u64) -> MilliValue {
    MilliValue::ratio(periods.into(), u128::from(1000 * PERIODS_PER_US))
}

fn settings() -> Vec<CalibratedSetting> {
    let Mapper { tries, period, .. } = Mapper::default();
    let period = i64::try_from(period / PERIODS_PER_US / 1000).unwrap_or(i64::MAX);
    let setting = |(name, value, unit, why): (&'static str, i64, &'static str, &str)| {
        CalibratedSetting::new(name, MilliValue::whole(value), unit, why)
    };
    [
        (
            "timeout of a probe",
            TIMEOUT_US,
            "µs",
            "chosen: the time of a map is in proportion to it",
        ),
        ("transmissions of a probe", tries.into(), "", "chosen: so are time and number of probes"),
        (
            "period of the mapper",
            period,
            "ms",
            "chosen: in a longer search hosts are reminded of the mapper",
        ),
        ("`mapping_us`, a packet received or sent", 0, "µs", "chosen: no document gives it"),
    ]
    .map(setting)
    .into()
}

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let mut findings =
        ExperimentResult { notes: NOTES, settings: settings(), ..ExperimentResult::default() };
    let mut table = ResultTable::new("networks", "time of mapping", &COLUMNS, Vec::new());
    let rows = networks(effort).iter().flat_map(|network| DESIGNS.map(|design| (network, design)));
    for network in networks(effort) {
        findings.figures.extend(network.published.map(|published| PublishedFigure {
            origin: FigureOrigin::Quoted,
            published: Some(MilliValue::whole(published)),
            ..PublishedFigure::measured(
                format!("{}: map, by a host", network.name),
                "ms",
                "Mainwaring et al., SPAA 1997",
                None,
            )
        }));
    }
    for ((network, design), reading) in rows.zip(readings) {
        let mut row = cells![network.name, design];
        let map = reading.mapping.iter().find_map(|(_, notice)| match notice {
            MappingNotice::Mapped { hosts, switches, links, probes, took, .. } => {
                Some(([*hosts as u64, (*switches).into(), *links as u64, *probes], *took))
            }
            MappingNotice::Probed(_)
            | MappingNotice::Elected
            | MappingNotice::Resigned { .. }
            | MappingNotice::Installed { .. } => None,
        });
        let took = map.map(|(_, took)| milliseconds(took));
        let counts = map.map_or([0; 4], |(counts, _)| counts);
        row.extend(counts.map(TableCell::from));
        let last = reading.mapping.last().map(|(at, _)| milliseconds(*at));
        row.extend([took, last].map(TableCell::from));
        table.rows.push(row);
        let what = format!("{}, design {design}", network.name);
        let probes = counts.last().map(|probes| MilliValue::from(*probes));
        let set = [
            ("probes, set by the transmissions", "", probes),
            ("map, set by the timeout", "ms", took),
        ];
        findings.figures.extend(set.map(|(of, unit, ours)| PublishedFigure {
            origin: FigureOrigin::Set,
            ..PublishedFigure::measured(format!("{what}: {of}"), unit, "", ours)
        }));
    }
    findings.tables.push(table);
    findings
}

const NOTES: &[&str] = &[
    "The published algorithm runs on a host, whose time for each probe is in the published times; the \
         two designs map alike. What can be compared is the number of probes; most have no answer, and are sent as \
         often as a probe may be. Probes, timeouts and the order of the search are chosen.",
    "The published networks: 36 hosts, 13 switches and 64 links; 100, 40 and 193. The map is that of \
         the network without what lies beyond a bridge to switches without hosts.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subcluster_is_mapped_in_the_time_of_its_probes_that_nobody_answers() {
        let findings = EXPERIMENT.run(ExperimentEffort::Quick).unwrap();
        for row in &findings.tables[0].rows {
            assert_eq!(row[2..5], cells![36, 13, 64]);
        }
        let ours = |of: &str| {
            let figure = findings.figures.iter().find(|figure| figure.what.ends_with(of));
            figure.and_then(|figure| figure.ours).unwrap().0 / 1000
        };
        let (probes, took) = (ours("transmissions"), ours("timeout"));
        // No probe takes longer than its timeout, and most have no answer.
        let longest = probes * TIMEOUT_US / 1000;
        assert!(took > 0 && took <= longest, "{took} ms, {probes} probes");
        let published = |figure: &&PublishedFigure| figure.published.is_some();
        assert!(findings.figures.iter().filter(published).all(|figure| figure.ours.is_none()));
    }
}
