//! Totals of channels: `info` and `links`.

use std::collections::BTreeMap;
use std::ops::Range;

use analyzer::ChannelEvent;
use analyzer::event::{LinkEvent, RepeatedEvents, TimedEvent};
use analyzer::event_reader::CounterReader;
use analyzer::link::report::{ChannelReport, PingMeasure};
use analyzer::link_analysis::LinkAnalysis;
use analyzer::row::ListRow as _;
use analyzer::window::TimeWindow;
use codec::capture::{ChannelId, ReadProgress, StartSender, StartState};
use laws::capture::counts::counts;
use serde_json::{Map, Value, json};

use super::capture_rows::CaptureRows;
use super::states;

/// Compares the rows of `info` and `links`.
pub(crate) fn check(capture: &[u8], rows: &CaptureRows<'_>) {
    let mut info = CounterReader::new(capture);
    while info.step(&TimeWindow::ALL, &mut |fault| panic!("{fault}")).unwrap() == ReadProgress::More
    {
    }
    let reports = rows.analysis.links().flat_map(LinkAnalysis::reports);
    let reports: Vec<ChannelReport<'_>> = reports.collect();
    assert_eq!(reports.len(), rows.characters.len());
    for report in reports {
        let counted = &info.channels()[&report.id];
        counts(&counted.counters, &rows.characters[&report.id]);
        let mut found = object(report.row().json());
        let mut expected = object(counted.row(report.id).json());
        expected.insert("channel".to_owned(), expected["name"].clone());
        expected.remove("name");
        expected.extend(object(link(rows, report.id, &expected)));
        found.retain(|name, _| expected.contains_key(name));
        for (name, expected) in &expected {
            let of = (name, &report.channel.name);
            assert_eq!((of, found.get(name)), (of, Some(expected)));
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("{value}") };
    members
}

/// A share in millionths, rounded.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { ((part * 2_000_000 + whole) / (2 * whole)) as f64 / 1e6 }
}

/// Figures of a row of `links` that `info` does not have.
fn link(rows: &CaptureRows<'_>, id: ChannelId, info: &Map<String, Value>) -> Value {
    let characters = info["characters"].as_u64().unwrap();
    let [first, end] = recorded(rows, id);
    let control = |name: &str| info["control"].get(name).and_then(Value::as_u64).unwrap_or(0);
    let commands =
        rows.own(id).filter(|event| matches!(event.body, ChannelEvent::Command(_))).count() as u64;
    let flow = control("GO") + control("STOP");
    let [states, lamp] = states::periods(rows, id).map(|periods| {
        let periods = periods.into_iter().map(|(name, periods)| {
            (name, json!({ "periods": periods, "share": share(periods, characters) }))
        });
        periods.collect::<BTreeMap<_, _>>()
    });
    let stops = stops(rows, id);
    let stopped = stops.iter().sum();
    let is_told = rows.opposed(id).is_some() || !stops.is_empty();
    json!({
        "utilisation": share(info["data"].as_u64().unwrap(), characters),
        "states": states,
        "lamp": lamp,
        "stops": {
            "count": is_told.then_some(stops.len()),
            "periods": is_told.then_some(stopped),
            "share": is_told.then(|| share(stopped, end - first)),
            "longest": is_told.then(|| *stops.iter().max().unwrap_or(&0)),
        },
        "flow_control": {
            "characters": flow,
            "share": share(flow, characters),
            "commands": commands,
            "commands_share": share(commands, characters),
        },
        "packets": packets(rows, id),
        "pings": pings(rows, id),
    })
}

/// The first character and the one behind the last.
pub(super) fn recorded(rows: &CaptureRows<'_>, id: ChannelId) -> [u64; 2] {
    let characters = &rows.characters[&id];
    characters
        .first()
        .zip(characters.last())
        .map_or([0; 2], |((first, _), (last, _))| [*first, last + 1])
}

/// Characters whose events are left out of a repeat.
pub(super) fn omitted(event: &TimedEvent) -> Option<Range<u64>> {
    let ChannelEvent::Omitted { rounds, every, .. } = event.body else { return None };
    Some(event.at.0..event.at.0 + rounds * every)
}

/// Places on a channel at which the opposite is not recorded yet or any more, or not until a hole of it ends: a slice tells
/// what was before.
pub(super) fn hidden(rows: &CaptureRows<'_>, id: ChannelId) -> Vec<Range<u64>> {
    let Some(peer) = rows.peers.get(&id) else { return Vec::new() };
    let (here, there) = (rows.channel(id).period, rows.channel(*peer).period);
    let characters = &rows.characters[peer];
    let behind = characters.windows(2).filter(|pair| pair[1].0 > pair[0].0 + 1);
    let holes = behind.map(|pair| [pair[0].0 + 1, pair[1].0]);
    let end = characters.last().map(|last| [last.0 + 1, u64::MAX]);
    let first = characters.first().map_or(u64::MAX, |first| first.0);
    let place = |at| if at == u64::MAX { at } else { here.periods(there.time(at)) };
    let is_begun = StartState::of(rows.channel(id)).is_some() || place(first) == 0;
    let begin = (!is_begun).then_some([0, first]);
    begin.into_iter().chain(holes).chain(end).map(|[from, to]| place(from)..place(to)).collect()
}

/// Lengths of the stops of a sender, from the first to the last recorded character.
fn stops(rows: &CaptureRows<'_>, id: ChannelId) -> Vec<u64> {
    let [first, end] = recorded(rows, id);
    let start = StartState::of(rows.channel(id)).and_then(|it| it.sender);
    let mut since = matches!(start, Some(StartSender::Stopped(_))).then_some(first);
    let mut stops = Vec::new();
    for (is_own, at, event) in rows.of_both(id) {
        let before = match (is_own, event) {
            (true, ChannelEvent::Link(LinkEvent::SenderStopped)) => since.replace(at),
            (true, ChannelEvent::Link(LinkEvent::SenderResumed(_)))
            | (false, ChannelEvent::Link(LinkEvent::Hole { .. })) => since.take(),
            (true, event) if event.leaves_out(RepeatedEvents::Resets) => since.take(),
            (false, event) if event.leaves_out(RepeatedEvents::Commands) => since.take(),
            _ => None,
        };
        stops.extend(before.map(|since| [since, at]));
    }
    stops.extend(since.map(|since| [since, end]));
    let hidden = hidden(rows, id);
    let told = |since, until: u64| {
        let begins = hidden.iter().map(|hidden| hidden.start).find(|begins| *begins >= since);
        until.min(end).min(begins.unwrap_or(end))
    };
    let len = |[since, until]: [u64; 2]| told(since, until).saturating_sub(since.max(first));
    stops.into_iter().map(len).collect()
}

fn packets(rows: &CaptureRows<'_>, id: ChannelId) -> Value {
    let packets: Vec<_> = rows.own(id).filter_map(|event| event.body.packet()).collect();
    let with = |name: &str| packets.iter().filter(|it| it.check.name() == name).count();
    let by = |name: &str| packets.iter().filter(|it| it.ended_by.name() == name).count();
    json!({
        "count": packets.len(),
        "ended_by": {
            "gap": by("gap"), "open_link": by("open-link"), "reset": by("reset"), "hole": by("hole"),
            "capture_end": by("capture-end"),
        },
        "crc": {
            "good": with("good"), "bad": with("bad"), "runt": with("runt"), "partial": with("partial"),
        },
    })
}

/// a reply answers the last probe, if that is PRB0 and no hole is between.
fn pings(rows: &CaptureRows<'_>, id: ChannelId) -> Value {
    let (mut asked, mut sent, mut times) = (None, 0, Vec::new());
    for (is_own, at, event) in rows.of_link(id) {
        match (is_own, event) {
            (true, LinkEvent::Probe(number)) => {
                asked = (number.value() == 0).then_some(at);
                sent += u64::from(asked.is_some());
            }
            (false, LinkEvent::Reply(_)) => times.extend(asked.take().map(|asked| at - asked)),
            (_, LinkEvent::Hole { .. }) => asked = None,
            _ => {}
        }
    }
    let is_told = rows.opposed(id).is_some() || !times.is_empty();
    let sum: u64 = times.iter().sum();
    let mean = (sum * 1000).checked_div(times.len() as u64);
    json!({
        "sent": sent,
        "answered": is_told.then_some(times.len()),
        "measures": PingMeasure::on(rows.channel(id)).map(PingMeasure::name),
        "min": times.iter().min(),
        "mean": mean.map(|mean| mean as f64 / 1e3),
        "max": times.iter().max(),
    })
}
