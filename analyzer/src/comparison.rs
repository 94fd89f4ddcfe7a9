//! Comparison of two captures by their figures: rates and stops of links, traffic of hosts, findings. What was not
//! recorded is not told, and is neither zero nor gone.

mod basis;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use codec::capture::{Channel, ChannelId};
use codec::time::Tick;

use self::basis::rests_on_a_link;
use crate::channel_name::ChannelEnds;
use crate::event::Picoseconds;
use crate::finding::{FindingKind, Severity};
use crate::flow_table::{FlowTable, NodeTraffic};
use crate::link::report::ChannelReport;
use crate::link_analysis::LinkAnalysis;
use crate::named_enum::named_enum;
use crate::node_kind::TopologyNodeKind;
use crate::pipeline::CaptureAnalysis;
use crate::row::{FieldType, row};

/// Fewest characters of a channel from which its rates are told: a single one has no rate.
const CHARACTERS_MIN: u64 = 2;

/// Figures of hosts, and their units.
pub const HOST_MEASURES: [(&str, &str); 5] = [
    ("sent", "bytes/s"),
    ("received", "bytes/s"),
    ("latency_p50", "us"),
    ("latency_p99", "us"),
    ("harmed", ""),
];

/// Figures of links, and their units.
const LINK_MEASURES: [(&str, &str); 4] =
    [("packets", "1/s"), ("stopped", ""), ("stops", "1/s"), ("utilisation", "")];

named_enum! {
    /// Subject of a figure.
    pub enum FigureSubject {
        /// Cases of a finding on a channel.
        Finding = "finding",
        /// A channel.
        Link = "link",
        /// A host.
        Host = "host",
    }
}

named_enum! {
    /// Verdict on a figure of two captures.
    pub enum ComparisonVerdict {
        /// In both, and apart by no more than the threshold.
        Same = "same",
        /// In both, and apart by more.
        Changed = "changed",
        /// A finding of the second capture; the first one recorded what it rests on.
        New = "new",
        /// A finding of the first capture; the second one recorded what it rests on.
        Gone = "gone",
        /// One of the captures did not record it.
        NotTold = "not-told",
    }
}

row! {
    /// A row of `myriscope compare`; fields as in `docs/output.md`.
    pub struct ComparisonRow {
        subject: &'static str as FigureSubject::SHAPE, "", "", "what the figure is of";
        name: String, "", "", "name of the host, or of the channel of a link or finding";
        measure: String, "", "", "name of the figure, or kind of the finding";
        unit: &'static str, "", "", "unit of a and b";
        a: Option<f64>, "", "", "figure of the first capture; null if it is not told";
        b: Option<f64>, "", "", "the same of the second capture";
        recorded_a_s: Option<f64>, "s", "", "time that the first capture recorded of it";
        recorded_b_s: Option<f64>, "s", "", "the same of the second capture";
        around_s: Option<f64>, "s", "", "of a finding: time recorded before and behind a case";
        change: Option<f64>, "", "", "B less A, as a share of A; of findings, of cases per time";
        verdict: &'static str as ComparisonVerdict::SHAPE, "", "", "result";
        figures: u64, "", "", "number of figures of the captures";
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct CaptureFigure {
    value: f64,
    recorded_s: f64,
    /// Time recorded before or behind a case of a finding, the lesser; 0 of other figures.
    around_s: f64,
}

type FigureKey = (FigureSubject, String, String);

/// Figures of a capture.
#[derive(Debug, Default)]
pub struct CaptureFigures {
    figures: BTreeMap<FigureKey, CaptureFigure>,
    /// Seconds that were recorded of each channel.
    recorded: BTreeMap<String, f64>,
    /// The channels with holes, selected or not.
    holed: BTreeSet<String>,
}

/// A time in a unit of so many picoseconds, to six digits.
fn time_in(time: Picoseconds, unit: f64) -> f64 {
    // Times of a capture are far below the 2^53 ps that are exact, or need no picoseconds.
    #[expect(clippy::cast_precision_loss, reason = "six digits are kept")]
    rounded(time as f64 / unit)
}

#[expect(clippy::cast_precision_loss, reason = "six digits are kept")]
fn ratio(part: u64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| rounded(part as f64 / whole))
}

/// A number to six digits, so that figures are read at a glance.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Characters before and behind the first or the last case, whichever has more of both.
fn around((from, to): (Tick, Tick), cases: [Tick; 2]) -> u64 {
    cases.map(|at| at.since(from).0.min(to.since(at).0)).into_iter().max().unwrap_or(0)
}

impl CaptureFigures {
    /// The figures of the channels that are selected, and of the hosts at their ends.
    pub fn of<R: Read + Send>(
        analysis: &CaptureAnalysis<R>,
        flows: &FlowTable,
        selects: &dyn Fn(&Channel) -> bool,
    ) -> Self {
        let mut figures = Self::default();
        // Nodes and the time recorded of what they sent and received.
        let mut ends: BTreeMap<(u32, String), [f64; 2]> = BTreeMap::new();
        let mut spans: BTreeMap<ChannelId, (Tick, Tick)> = BTreeMap::new();
        for link in analysis.links() {
            for report in LinkAnalysis::reports(link) {
                let recorded = figures.record(&report);
                if recorded == 0.0 || !selects(report.channel) {
                    continue;
                }
                figures.add_link(&report, recorded);
                spans.extend(report.totals.counters.span().map(|span| (report.id, span)));
                let Some(ChannelEnds { from, to }) = ChannelEnds::of(report.channel) else {
                    continue;
                };
                for (node, times) in [(from.node, [recorded, 0.0]), (to.node, [0.0, recorded])] {
                    let known = ends.entry((report.channel.capture, node)).or_default();
                    *known = [known[0].max(times[0]), known[1].max(times[1])];
                }
            }
        }
        let network = analysis.topology();
        // A node of unknown kind has port 0 alone and received nothing: it may be a host that only sends.
        let is_host = |kind| matches!(kind, TopologyNodeKind::Host | TopologyNodeKind::Unknown);
        let hosts = network.nodes.iter().filter(|node| is_host(node.kind));
        let hosts: BTreeSet<&str> = hosts.map(|node| &*node.name).collect();
        let findings = analysis.findings();
        let holed = findings.set().found().filter(|(kind, ..)| *kind == FindingKind::Hole);
        let holed = holed.filter_map(|(_, id, _)| Some(analysis.channel(id)?.label().into_owned()));
        figures.holed = holed.collect();
        // Flows that were left out may be those of any host.
        for (node, times) in ends.iter().filter(|_| flows.omitted() == 0) {
            if hosts.contains(&*node.1) {
                let nothing = NodeTraffic::default();
                let traffic = flows.nodes.get(node).unwrap_or(&nothing);
                // A packet that vanished in a hole may have arrived.
                let judged = if figures.holed.is_empty() { traffic.judged } else { 0 };
                // As [`Channel::label`].
                let of = if node.0 == 0 { String::new() } else { format!(" (capture {})", node.0) };
                figures.add_host(&format!("{}{of}", node.1), (traffic, judged), *times);
            }
        }
        // Notes are about traffic and the recording; a hole hides what it covers.
        let found = findings.set().found().filter(|(kind, ..)| {
            kind.about().severity != Severity::Note || *kind == FindingKind::Hole
        });
        for (kind, id, found) in found {
            if let Some(channel) = analysis.channel(id).filter(|channel| selects(channel)) {
                let span = spans.get(&id).copied().unwrap_or_default();
                let characters = around(span, [found.first.at, found.last.at]);
                let around = channel.period.time(characters);
                figures.add_finding(kind, &channel.label(), found.count, time_in(around, 1e12));
            }
        }
        figures
    }

    fn add(&mut self, (subject, name): (FigureSubject, &str), measure: &str, figure: [f64; 3]) {
        let [value, recorded_s, around_s] = figure;
        let key = (subject, name.to_owned(), measure.to_owned());
        self.figures.insert(key, CaptureFigure { value, recorded_s, around_s });
    }

    /// Adds a channel, selected or not; returns the seconds that were recorded of it, if figures can be told from them.
    fn record(&mut self, report: &ChannelReport<'_>) -> f64 {
        let characters = report.totals.counters.characters();
        if characters < CHARACTERS_MIN {
            return 0.0;
        }
        let recorded = time_in(report.channel.period.time(characters), 1e12);
        self.recorded.insert(report.channel.label().into_owned(), recorded);
        recorded
    }

    /// Adds the figures of a channel, of which so many seconds were recorded.
    fn add_link(&mut self, report: &ChannelReport<'_>, recorded: f64) {
        let (label, totals) = (report.channel.label(), report.totals);
        let characters = totals.counters.characters();
        let mut add = |measure, value: Option<f64>, recorded| {
            if let Some(value) = value {
                self.add((FigureSubject::Link, &label), measure, [value, recorded, 0.0]);
            }
        };
        let utilisation = ratio(totals.counters.data(), time_in(characters.into(), 1.0));
        add("utilisation", utilisation, recorded);
        add("packets", ratio(totals.packets.count(), recorded), recorded);
        let known = if report.shows_stops() { recorded } else { 0.0 };
        let stopped = time_in(report.channel.period.time(totals.stops.periods), 1e12);
        add("stops", ratio(totals.stops.count, known), known);
        add("stopped", (known > 0.0).then(|| rounded((stopped / known).min(1.0))), known);
    }

    /// Adds a host with the packets that were judged, of which so many seconds of what it sent and received were
    /// recorded. If the end of some was not seen, the others are a selection, and neither late nor lost as all are.
    fn add_host(&mut self, name: &str, (traffic, judged): (&NodeTraffic, u64), times: [f64; 2]) {
        let [sent, received] = times;
        let all = (traffic.unseen == 0).then_some(traffic);
        let latency = |percent| Some(time_in(all?.latencies.percentile(percent)?, 1e6));
        let figures = [
            (ratio(traffic.sent_bytes, sent), sent),
            (ratio(traffic.received_bytes, received), received),
            (latency(50), sent),
            (latency(99), sent),
            (all.and_then(|all| ratio(all.harmed, time_in(judged.into(), 1.0))), sent),
        ];
        for ((measure, _), (value, recorded)) in HOST_MEASURES.into_iter().zip(figures) {
            if let Some(value) = value.filter(|_| recorded > 0.0) {
                self.add((FigureSubject::Host, name), measure, [value, recorded, 0.0]);
            }
        }
    }

    fn add_finding(&mut self, kind: FindingKind, channel: &str, count: u64, around: f64) {
        let recorded = self.recorded.get(channel).copied().unwrap_or(0.0);
        let count = time_in(count.into(), 1.0);
        let subject = (FigureSubject::Finding, channel);
        self.add(subject, kind.about().name, [count, recorded, around]);
    }

    /// The hosts, each with its figures in the order of [`HOST_MEASURES`], as far as they are told.
    pub fn hosts(&self) -> Vec<(&str, [Option<f64>; 5])> {
        let mut hosts: BTreeMap<(usize, &str), [Option<f64>; 5]> = BTreeMap::new();
        for ((_, host, measure), figure) in &self.figures {
            let at = HOST_MEASURES.iter().position(|(name, _)| name == measure);
            // h2 before h10.
            let known = at.and_then(|at| hosts.entry((host.len(), host)).or_default().get_mut(at));
            if let Some(known) = known {
                *known = Some(figure.value);
            }
        }
        hosts.into_iter().map(|((_, host), figures)| (host, figures)).collect()
    }
}

fn unit(measure: &str) -> Option<&'static str> {
    let mut all = LINK_MEASURES.into_iter().chain(HOST_MEASURES);
    all.find(|(name, _)| *name == measure).map(|(_, unit)| unit)
}

/// Rows of all figures of two captures, or of one; `threshold` is the change that makes no difference, as a share.
pub fn compare(
    a: &CaptureFigures,
    b: Option<&CaptureFigures>,
    threshold: f64,
) -> Vec<ComparisonRow> {
    let nothing = CaptureFigures::default();
    let b = b.unwrap_or(&nothing);
    let keys: BTreeSet<&FigureKey> = a.figures.keys().chain(b.figures.keys()).collect();
    let figures = u64::try_from(keys.len()).unwrap_or(u64::MAX);
    let rows = keys.into_iter().map(|key| compare_figure(key, [a, b], threshold));
    rows.map(|row| ComparisonRow { figures, ..row }).collect()
}

fn compare_figure(key: &FigureKey, [a, b]: [&CaptureFigures; 2], threshold: f64) -> ComparisonRow {
    let (subject, name, measure) = key;
    let is_finding = *subject == FigureSubject::Finding;
    // Where other channels were recorded, the same case may be found on another one, or not be provable.
    let is_told =
        !is_finding || rests_on_a_link(measure) || a.recorded.keys().eq(b.recorded.keys());
    let none = |of: &CaptureFigures| CaptureFigure {
        value: 0.0,
        recorded_s: of.recorded.get(name).copied().unwrap_or(0.0),
        around_s: 0.0,
    };
    let of_key = a.figures.get(key).or(b.figures.get(key));
    let (one, other, verdict) = match (a.figures.get(key), b.figures.get(key)) {
        (Some(one), None) if is_finding && is_told && b.would_show(a, key) => {
            (Some(*one), Some(none(b)), Some(ComparisonVerdict::Gone))
        }
        (None, Some(other)) if is_finding && is_told && a.would_show(b, key) => {
            (Some(none(a)), Some(*other), Some(ComparisonVerdict::New))
        }
        (one, other) => (one.copied(), other.copied(), None),
    };
    let is_told = is_told && (!is_finding || verdict.is_some() || a.is_alike(b, key));
    let compared = one.zip(other).filter(|_| is_told).map(|(one, other)| {
        let rate = |it: CaptureFigure| {
            if is_finding && it.recorded_s > 0.0 { it.value / it.recorded_s } else { it.value }
        };
        let [from, to] = [one, other].map(rate);
        // Not that of a figure that is next to nothing.
        let change = (from > 0.0).then(|| rounded((to - from) / from)).filter(|it| it.is_finite());
        (change, change.map_or(to > from, |change| change.abs() > threshold))
    });
    let verdict = verdict.unwrap_or(match compared {
        None => ComparisonVerdict::NotTold,
        Some((_, true)) => ComparisonVerdict::Changed,
        Some((_, false)) => ComparisonVerdict::Same,
    });
    ComparisonRow {
        subject: subject.name(),
        name: name.clone(),
        measure: measure.clone(),
        unit: if is_finding { "cases" } else { unit(measure).unwrap_or_default() },
        a: one.map(|it| it.value),
        b: other.map(|it| it.value),
        recorded_a_s: one.map(|it| it.recorded_s),
        recorded_b_s: other.map(|it| it.recorded_s),
        around_s: of_key.filter(|_| is_finding).map(|it| it.around_s),
        change: compared.and_then(|(change, _)| change),
        verdict: verdict.name(),
        figures: 0,
    }
}

impl ComparisonRow {
    /// True for a figure that is not the same in both captures.
    pub fn differs(&self) -> bool {
        let calm = [ComparisonVerdict::Same, ComparisonVerdict::NotTold];
        calm.iter().all(|calm| calm.name() != self.verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of two directions of a link and of one more channel, each recorded for these seconds, with findings.
    fn figures(seconds: [f64; 3], findings: &[(FindingKind, &str, u64)]) -> CaptureFigures {
        let mut figures = CaptureFigures::default();
        let names = ["h0:0>s0:0", "s0:0>h0:0", "h1:0>s0:1"];
        for (name, recorded) in names.into_iter().zip(seconds).filter(|(_, it)| *it > 0.0) {
            figures.recorded.insert(name.to_owned(), recorded);
            figures.add((FigureSubject::Link, name), "utilisation", [0.5, recorded, 0.0]);
        }
        for (kind, channel, count) in findings {
            figures.add_finding(*kind, channel, *count, 0.4);
            figures.holed.extend((*kind == FindingKind::Hole).then(|| (*channel).to_owned()));
        }
        figures
    }

    #[test]
    fn a_finding_is_gone_only_where_the_other_capture_recorded_what_it_rests_on() {
        use FindingKind::{CrcBad, Deadlock};
        let there = "h0:0>s0:0";
        for (kind, a, b, gone) in [
            (CrcBad, [1.0; 3], [1.0; 3], "gone"),
            // The other link says nothing about this one.
            (CrcBad, [1.0; 3], [1.0, 1.0, 0.0], "gone"),
            (CrcBad, [1.0; 3], [0.0, 1.0, 1.0], "not-told"),
            // Its opposite was recorded, and is not now.
            (CrcBad, [1.0; 3], [1.0, 0.0, 1.0], "not-told"),
            (CrcBad, [1.0, 0.0, 1.0], [1.0, 0.0, 0.0], "gone"),
            (CrcBad, [1.0; 3], [0.9, 1.0, 1.0], "gone"),
            (CrcBad, [1.0; 3], [0.89, 1.0, 1.0], "not-told"),
            (Deadlock, [1.0; 3], [1.0; 3], "gone"),
            (Deadlock, [1.0; 3], [1.0, 1.0, 0.0], "not-told"),
            // On more channels the same case is found elsewhere.
            (Deadlock, [1.0, 1.0, 0.0], [1.0; 3], "not-told"),
        ] {
            let [a, b] = [figures(a, &[(kind, there, 2)]), figures(b, &[])];
            let verdict = |a: &_, b: &_| {
                let mut rows = compare(a, Some(b), 0.1).into_iter();
                let row = rows.find(|row| row.subject == "finding").unwrap();
                assert_eq!(row.around_s, Some(0.4));
                row.verdict
            };
            assert_eq!(verdict(&a, &b), gone, "{kind:?} {a:?} {b:?}");
            assert_eq!(verdict(&b, &a), gone.replace("gone", "new"), "{kind:?} {a:?} {b:?}");
            assert_eq!(verdict(&a, &a), "same");
            let [four, two] =
                [[1.0; 3], [1.0, 1.0, 0.0]].map(|of| figures(of, &[(kind, there, 2)]));
            assert_eq!(verdict(&four, &two), if kind == Deadlock { "not-told" } else { "same" });
        }
        // What is missing may hold all cases, if they are near to an end.
        for (around, expected) in [(0.02, "not-told"), (0.04, "gone")] {
            let mut a = figures([1.0; 3], &[]);
            a.add_finding(CrcBad, there, 2, around);
            let rows = compare(&a, Some(&figures([0.97; 3], &[])), 0.1);
            assert_eq!(rows[0].verdict, expected, "{around}");
        }
        for cases in [[15, 22], [18, 25]] {
            assert_eq!(around((Tick(10), Tick(30)), cases.map(Tick)), 8);
        }
        // A hole may hide it, and fewer packets too.
        let whole = figures([1.0; 3], &[(CrcBad, there, 2)]);
        let holed = figures([1.0; 3], &[(FindingKind::Hole, "s0:0>h0:0", 1)]);
        let [mut busy, mut idle] = [whole, figures([1.0; 3], &[])];
        let verdict = |a: &_, b: &_| {
            let rows = compare(a, Some(b), 0.1);
            rows.into_iter().find(|row| row.measure == "crc-bad").unwrap().verdict
        };
        assert_eq!(verdict(&busy, &holed), "not-told");
        for (packets, expected) in [(90.0, "gone"), (89.0, "not-told")] {
            busy.add((FigureSubject::Link, there), "packets", [100.0, 1.0, 0.0]);
            idle.add((FigureSubject::Link, there), "packets", [packets, 1.0, 0.0]);
            assert_eq!(verdict(&busy, &idle), expected);
        }
    }

    #[test]
    fn changes_are_shares_of_the_first_figure_and_of_recorded_time() {
        let row = |seconds: [f64; 2], counts: [u64; 2], threshold| {
            let found = |at: usize| {
                figures([seconds[at]; 3], &[(FindingKind::CrcBad, "h0:0>s0:0", counts[at])])
            };
            compare(&found(0), Some(&found(1)), threshold).swap_remove(0)
        };
        for (seconds, counts, threshold, expected) in [
            ([1.0, 1.0], [10, 11], 0.1, (0.1, "same")),
            ([1.0, 1.0], [10, 12], 0.1, (0.2, "changed")),
            ([1.0, 1.0], [10, 12], 0.2, (0.2, "same")),
            ([1.0, 1.0], [10, 8], 0.1, (-0.2, "changed")),
            // As many in half of the time are twice as many.
            ([2.0, 1.0], [10, 10], 0.1, (1.0, "changed")),
            ([2.0, 1.0], [10, 5], 0.0, (0.0, "same")),
        ] {
            let row = row(seconds, counts, threshold);
            assert_eq!((row.change.unwrap(), row.verdict), expected, "{seconds:?} {counts:?}");
        }
        for (kind, seconds, hole, expected) in [
            (FindingKind::CrcBad, [1.0; 3], Some("h1:0>s0:1"), "changed"),
            (FindingKind::CrcBad, [1.0, 1.0, 0.5], None, "changed"),
            (FindingKind::CrcBad, [1.0, 0.5, 1.0], None, "not-told"),
            (FindingKind::Deadlock, [0.5; 3], None, "changed"),
            (FindingKind::Deadlock, [1.0, 1.0, 0.5], None, "not-told"),
            // A hole on a channel that is not selected hides the journeys of others.
            (FindingKind::Deadlock, [1.0; 3], Some("h1:0>s0:1"), "not-told"),
        ] {
            let [of, mut other] = [([1.0; 3], 4), (seconds, 3)]
                .map(|(of, cases)| figures(of, &[(kind, "h0:0>s0:0", cases)]));
            other.holed.extend(hole.map(str::to_owned));
            for [a, b] in [[&of, &other], [&other, &of]] {
                let verdict = compare(a, Some(b), 0.1).swap_remove(0).verdict;
                assert_eq!(verdict, expected, "{kind:?} {seconds:?} {hole:?}");
            }
        }
    }

    #[test]
    fn a_table_holds_what_its_capture_told() {
        let figures = figures([1.0, 0.5, 0.0], &[(FindingKind::CrcBad, "h0:0>s0:0", 2)]);
        let rows = compare(&figures, None, 0.1);
        let text = rows.iter().map(|row| crate::row::json_text(row) + "\n").collect::<String>();
        let read = CaptureFigures::of_table(&text).unwrap();
        assert_eq!((&read.figures, &read.recorded), (&figures.figures, &figures.recorded));
        let two = compare(&figures, Some(&read), 0.1);
        assert!(two.iter().all(|row| row.verdict == "same"));
        let two = crate::row::json_text(&two[0]);
        for (line, text) in [("{}", 1), ("\"x\"", 1), (&*two, 1)] {
            assert_eq!(CaptureFigures::of_table(line).err(), Some(text), "{line}");
        }
        // Rows that were left out are missed.
        let (first, rest) = text.split_once('\n').unwrap();
        assert_eq!(CaptureFigures::of_table(first).err(), Some(2));
        assert_eq!(CaptureFigures::of_table(rest).err(), Some(rows.len()));
        let broken = text.replace("crc-bad", "crc-worse");
        assert_eq!(CaptureFigures::of_table(&broken).err(), Some(1));
    }
}
