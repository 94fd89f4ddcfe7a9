//! Totals of channels: `info` and `links`.

use std::ops::Range;

use analyzer::ChannelEvent;
use analyzer::event::{LinkEvent, TimedEvent};
use analyzer::event_reader::CounterReader;
use analyzer::link::report::{ChannelReport, PingMeasure};
use analyzer::link_analysis::LinkAnalysis;
use analyzer::row::ListRow as _;
use analyzer::window::TimeWindow;
use codec::capture::{ChannelId, ReadProgress, StartSender, StartState};
use codec::time::OPEN_LINK;
use laws::capture::counts::counts;
use serde_json::{Map, Value, json};

use super::capture_rows::CaptureRows;

/// States that are recomputed: the first that applies counts. The others depend on pauses.
const STATES: [&str; 3] = ["open", "reset", "stopped"];

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
        let states = found.get_mut("states").unwrap().as_object_mut().unwrap();
        states.retain(|name, _| STATES.contains(&&**name));
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
    let states = STATES.into_iter().zip(states(rows, id)).map(|(name, periods)| {
        (name, json!({ "periods": periods, "share": share(periods, characters) }))
    });
    let stops = stops(rows, id);
    let stopped = stops.iter().sum();
    json!({
        "utilisation": share(info["data"].as_u64().unwrap(), characters),
        "states": states.collect::<std::collections::BTreeMap<_, _>>(),
        "stops": {
            "count": rows.of_link(id).filter(|it| it.0 && *it.2 == LinkEvent::SenderStopped).count(),
            "periods": stopped,
            "share": share(stopped, end - first),
            "longest": stops.iter().max().unwrap_or(&0),
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
fn recorded(rows: &CaptureRows<'_>, id: ChannelId) -> [u64; 2] {
    let characters = &rows.characters[&id];
    characters
        .first()
        .zip(characters.last())
        .map_or([0; 2], |((first, _), (last, _))| [*first, last + 1])
}

/// Periods in each of [`STATES`].
fn states(rows: &CaptureRows<'_>, id: ChannelId) -> [u64; 3] {
    let start = StartState::of(rows.channel(id)).filter(|it| it.at.0 == recorded(rows, id)[0]);
    let mut is = [
        start.is_some_and(|it| it.silent >= OPEN_LINK.0),
        start.is_some_and(|it| it.packet == Some(codec::framing::FramerMode::Reset)),
        start.is_some_and(|it| matches!(it.sender, Some(StartSender::Stopped(_)))),
    ];
    let mut events = rows.of_link(id).peekable();
    let omitted: Vec<Range<u64>> = rows.own(id).filter_map(omitted).collect();
    let mut periods = [0; 3];
    for (at, _) in &rows.characters[&id] {
        while let Some((is_own, _, event)) = events.next_if(|(_, change, _)| change <= at) {
            match (is_own, event) {
                (true, LinkEvent::OpenLink) => is[0] = true,
                (true, LinkEvent::LinkRestored) => is[0] = false,
                (true, LinkEvent::ForwardReset) => is[1] = true,
                (true, LinkEvent::ResetEnded) => is[1] = false,
                (true, LinkEvent::Hole { .. }) => is[..2].fill(false),
                (true, LinkEvent::SenderStopped) => is[2] = true,
                (true, LinkEvent::SenderResumed(_)) | (false, LinkEvent::Hole { .. }) => {
                    is[2] = false;
                }
                _ => {}
            }
        }
        let is_told = omitted.iter().all(|omitted| !omitted.contains(at));
        let state = is.iter().position(|it| *it).filter(|_| is_told);
        if let Some(state) = state {
            periods[state] += 1;
        }
    }
    periods
}

/// Characters whose events are left out of a repeat.
fn omitted(event: &TimedEvent) -> Option<Range<u64>> {
    let ChannelEvent::Omitted { rounds, every } = event.body else { return None };
    Some(event.at.0..event.at.0 + rounds * every)
}

/// Place on a channel behind the last character of the opposite before a hole that is known at a place.
fn hole_begins(rows: &CaptureRows<'_>, id: ChannelId, known: u64) -> u64 {
    let (peer, period) = (rows.peers[&id], rows.channel(id).period);
    let is_known = |event: &&TimedEvent| {
        matches!(event.body, ChannelEvent::Link(LinkEvent::Hole { .. }))
            && period.periods(event.time) == known
    };
    let hole = rows.own(peer).find(is_known).unwrap();
    let before = |(at, _): &&(u64, _)| *at < hole.at.0;
    let last = rows.characters[&peer].iter().rfind(before).unwrap().0;
    period.periods(rows.channel(peer).period.time(last + 1))
}

/// Lengths of the stops of a sender, from the first to the last recorded character.
fn stops(rows: &CaptureRows<'_>, id: ChannelId) -> Vec<u64> {
    let [first, end] = recorded(rows, id);
    let start = StartState::of(rows.channel(id)).and_then(|it| it.sender);
    let mut since = matches!(start, Some(StartSender::Stopped(_))).then_some(first);
    let mut stops = Vec::new();
    for (is_own, at, event) in rows.of_link(id) {
        match (is_own, event) {
            (true, LinkEvent::SenderStopped) => {
                stops.extend(since.replace(at).map(|since| [since, at]));
            }
            (true, LinkEvent::SenderResumed(_)) => {
                stops.extend(since.take().map(|since| [since, at]));
            }
            (false, LinkEvent::Hole { .. }) => {
                stops.extend(since.take().map(|since| [since, hole_begins(rows, id, at)]));
            }
            _ => {}
        }
    }
    stops.extend(since.map(|since| [since, end]));
    stops
        .into_iter()
        .map(|[since, until]| until.min(end).saturating_sub(since.max(first)))
        .collect()
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
    let sum: u64 = times.iter().sum();
    let mean = (sum * 1000).checked_div(times.len() as u64);
    json!({
        "sent": sent,
        "answered": times.len(),
        "measures": PingMeasure::on(rows.channel(id)).map(PingMeasure::name),
        "min": times.iter().min(),
        "mean": mean.map(|mean| mean as f64 / 1e3),
        "max": times.iter().max(),
    })
}
