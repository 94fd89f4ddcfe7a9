//! Traffic of channels over time and between nodes: `series` and `flows`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use analyzer::channel_name::ChannelEnds;
use analyzer::flow_table::FlowTable;
use analyzer::journey::{Journey, JourneyFate, JourneyHop};
use analyzer::link::interval::ChannelActivity;
use analyzer::row::ListRow as _;
use analyzer::series::SeriesTracker;
use codec::capture::{Channel, ChannelId};
use codec::packet::CrcCheck;
use serde_json::{Value, json};

use super::capture_rows::CaptureRows;

/// Compares the rows of `series` for an interval in picoseconds.
pub(crate) fn check_series(rows: &CaptureRows<'_>, every: NonZeroU64) {
    let mut series = SeriesTracker::new(every);
    rows.intervals.iter().for_each(|it| series.interval(it, rows.channel(it.channel)));
    let known = &|id| rows.analysis.channel(id);
    rows.journeys.iter().for_each(|journey| series.journey(journey, known));
    let mut found = Vec::new();
    while let Some(((number, id), interval)) = series.take() {
        let opposed = rows.opposed(id);
        found.push(series.row(number, &interval, (rows.channel(id), opposed)).json());
    }
    assert_eq!(series.omitted(), 0);
    assert_eq!(found, expected_series(rows, every.get()), "--every {every}ps");
}

#[derive(Default)]
struct ExpectedInterval {
    bytes: u64,
    stopped: u64,
    packets: u64,
    bad: u64,
    latencies: Vec<u64>,
}

fn expected_series(rows: &CaptureRows<'_>, every: u64) -> Vec<Value> {
    let mut all: BTreeMap<(u64, ChannelId), ExpectedInterval> = BTreeMap::new();
    let number = |channel: &Channel, at: u64| small(channel.period.time(at)) / every;
    for it in rows.intervals.iter().filter(|it| it.state == ChannelActivity::Stopped) {
        for at in it.start.0..it.end.0 {
            let number = number(rows.channel(it.channel), at);
            all.entry((number, it.channel)).or_default().stopped += 1;
        }
    }
    // Copies of a packet have come over the same channels. S-9
    let hops = rows.journeys.iter().flat_map(|journey| &journey.hops);
    let hops: BTreeMap<_, _> = hops.map(|hop| ((hop.channel, hop.packet), hop)).collect();
    for hop in hops.into_values() {
        let channel = rows.channel(hop.channel);
        let periods = hop.end.0 - hop.start.0 + 1;
        for passed in 0..periods {
            let bytes = hop.length * (passed + 1) / periods - hop.length * passed / periods;
            let place = (number(channel, hop.start.0 + passed), hop.channel);
            all.entry(place).or_default().bytes += bytes;
        }
        let last = all.entry((number(channel, hop.end.0), hop.channel)).or_default();
        last.packets += 1;
        last.bad += u64::from(matches!(hop.check, CrcCheck::Bad(_)));
    }
    for Journey { hops, .. } in rows.journeys.iter().filter(|journey| journey.hops.len() > 1) {
        let last = &hops[hops.len() - 1];
        let interval = all.entry((small(last.time) / every, last.channel)).or_default();
        interval.latencies.push(latency(hops));
    }
    let row = |((number, id), mut it): ((u64, ChannelId), ExpectedInterval)| {
        let channel = rows.channel(id);
        let [from, to] = [number * every, (number + 1) * every];
        let near = from / channel.period.ps();
        let places = near.saturating_sub(2)..to / channel.period.ps() + 3;
        let inside = |at: &u64| (from..to).contains(&small(channel.period.time(*at)));
        let characters = (places.filter(inside).count() as u64).max(1);
        let share = |part: u64| (part * 1_000_000 / characters).min(1_000_000) as f64 / 1e6;
        it.latencies.sort_unstable();
        let opposed = rows
            .opposed(id)
            .is_some_and(|[begin, end]| begin.max(from.into()) < end.min(to.into()));
        json!({
            "channel": channel.name,
            "time_ps": from,
            "end_ps": to,
            "utilisation": share(it.bytes),
            "stopped": (opposed || it.stopped > 0).then(|| share(it.stopped)),
            "packets": it.packets,
            "bad": it.bad,
            "arrived": it.latencies.len(),
            "latency_p50_ps": percentile(&it.latencies, 50),
            "latency_p99_ps": percentile(&it.latencies, 99),
        })
    };
    all.into_iter().map(row).collect()
}

fn small(number: u128) -> u64 {
    number.try_into().unwrap()
}

fn latency(hops: &[JourneyHop]) -> u64 {
    small(hops[hops.len() - 1].time.saturating_sub(hops[0].time))
}

/// The nearest rank of sorted values.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    sorted.get((sorted.len() * percent).div_ceil(100).checked_sub(1)?).copied()
}

/// Compares the rows of `flows`.
pub(crate) fn check_flows(rows: &CaptureRows<'_>) {
    let mut flows = FlowTable::default();
    rows.journeys.iter().for_each(|journey| flows.add(journey, &|id| rows.analysis.channel(id)));
    let channels = rows.analysis.channels().map(|(_, channel)| channel);
    let found = flows.rows(channels).into_iter().map(|(capture, row)| (capture, row.json()));
    assert_eq!(found.collect::<Vec<_>>(), expected_flows(rows));
}

fn expected_flows(rows: &CaptureRows<'_>) -> Vec<(u32, Value)> {
    let ends = |id| {
        let channel = rows.channel(id);
        let ends = ChannelEnds::of(channel);
        let [from, to] = ends
            .map_or([channel.name.clone(), channel.name.clone()], |it| [it.from.node, it.to.node]);
        (channel.capture, from, to)
    };
    let first_and_last =
        |it: &Journey| [ends(it.hops[0].channel), ends(it.hops[it.hops.len() - 1].channel)];
    let received = [JourneyFate::Arrived, JourneyFate::Misrouted, JourneyFate::OutOfSight];
    let is_received = |journey: &&Journey| received.contains(&journey.fate);
    // Nodes that send or receive.
    let mut nodes: BTreeSet<(u32, String)> = BTreeSet::new();
    for journey in &rows.journeys {
        let [(capture, from, _), (.., to)] = first_and_last(journey);
        nodes.insert((capture, from));
        nodes.extend(is_received(&journey).then_some((capture, to)));
    }
    let mut all: BTreeMap<(u32, String, Option<String>), Vec<&Journey>> = BTreeMap::new();
    for journey in &rows.journeys {
        let [(capture, from, _), (.., node)] = first_and_last(journey);
        let wanted = journey.hops[journey.hops.len() - 1].output;
        let mut outputs = rows.analysis.channels().filter_map(|(id, channel)| {
            let port = ChannelEnds::of_link(channel)?.from;
            let is_it = (&port.node, Some(port.port)) == (&node, wanted);
            let (other, _, to) = ends(id);
            (is_it && other == capture && nodes.contains(&(capture, to.clone()))).then_some(to)
        });
        let to = if is_received(&journey) { Some(node.clone()) } else { outputs.next() };
        all.entry((capture, from, to)).or_default().push(journey);
    }
    let row = |((capture, from, to), journeys): ((u32, String, Option<String>), Vec<&Journey>)| {
        let received = journeys.iter().copied().filter(is_received);
        let mut latencies: Vec<u64> =
            received.filter(|it| it.hops.len() > 1).map(|it| latency(&it.hops)).collect();
        latencies.sort_unstable();
        let sum: u64 = latencies.iter().sum();
        let is_corrupt = |it: &&&Journey| {
            let last = &it.hops[it.hops.len() - 1];
            !it.injuries.is_empty() || matches!(last.check, CrcCheck::Bad(_))
        };
        let row = json!({
            "source": from,
            "destination": to,
            "packets": journeys.len(),
            "bytes": journeys.iter().map(|it| it.payload).sum::<u64>(),
            "dropped": journeys.iter().filter(|it| matches!(it.fate, JourneyFate::Dropped(_))).count(),
            "latency_mean_ps": sum.checked_div(latencies.len() as u64),
            "latency_p50_ps": percentile(&latencies, 50),
            "latency_p99_ps": percentile(&latencies, 99),
            "corrupt": journeys.iter().filter(is_corrupt).count(),
        });
        (capture, row)
    };
    let mut rows: Vec<_> = all.into_iter().map(row).collect();
    rows.sort_by_key(|(capture, row)| (*capture, Reverse(row["bytes"].as_u64())));
    rows
}
