//! Waits: every stop of a sender is one, from its STOP to what released it, and
//! what is called a deadlock stood still. F-1, F-2
//!
//! That these events are what happened is held by [`score`](crate::score). A deadlock is held
//! against the truth about the senders of its channels.

#![expect(clippy::wildcard_enum_match_arm, reason = "it is about a few kinds of rows")]

use analyzer::event::{ChannelEvent, Picoseconds};
use std::collections::BTreeMap;

use analyzer::blocking::{BlockingEvent, Deadlock, StopEnd, StopReport};
use analyzer::event::LinkEvent;

use codec::capture::{ChannelId, INTERFACES_MAX};
use simulator::scenario::Scenario;
use simulator::truth;

use super::analyzed::AnalyzedCapture;
use super::run::RunOutcome;

const PERIOD_PS: Picoseconds = 12_500;

/// Stops of one channel: from where on, and up to where if they were ended.
type StopIntervals = Vec<(u64, Option<u64>)>;

pub fn check(scenario: &Scenario, outcome: &RunOutcome, reading: &AnalyzedCapture) {
    let (mut told, mut deadlocks) = (BTreeMap::<ChannelId, StopIntervals>::new(), Vec::new());
    for blocked in &reading.blocked {
        match blocked {
            BlockingEvent::Stop(stop) => {
                told.entry(stop.channel).or_default().push(span(outcome, stop));
            }
            BlockingEvent::Deadlock(deadlock) => deadlocks.push(deadlock),
        }
    }
    told.values_mut().for_each(|stops| stops.sort_unstable());
    let mut stops = stops(reading);
    // Of a wire that was recorded several times one recording is followed at a time: the first while it has characters.
    let is_first = |id: &ChannelId| {
        let names = || outcome.channels.iter().map(|channel| &channel.name);
        let place = id.0 as usize % INTERFACES_MAX;
        let own = names().nth(place);
        own.is_none_or(|own| names().position(|name| name == own) == Some(place))
    };
    told.retain(|id, _| is_first(id));
    stops.retain(|id, _| is_first(id));
    assert_eq!(told, stops, "every stop is a wait");
    deadlocks.into_iter().for_each(|deadlock| stands_still(scenario, outcome, deadlock));
}

fn span(outcome: &RunOutcome, stop: &StopReport) -> (u64, Option<u64>) {
    // Virtual channels have the period of their link. C-7
    let channel = outcome.channels.get(stop.channel.0 as usize % INTERFACES_MAX);
    let period_ps = channel.map_or(1, |it| it.period.ps());
    let place =
        |time: Picoseconds| u64::try_from(time / Picoseconds::from(period_ps)).unwrap_or(u64::MAX);
    let ended = match stop.ended {
        StopEnd::Resumed(_) => Some(place(stop.until)),
        StopEnd::Hole | StopEnd::CaptureEnd => None,
    };
    (place(stop.since), ended)
}

fn stops(reading: &AnalyzedCapture) -> BTreeMap<ChannelId, StopIntervals> {
    let mut stops = BTreeMap::<ChannelId, StopIntervals>::new();
    for row in &reading.rows {
        match row.body {
            ChannelEvent::Link(LinkEvent::SenderStopped) => {
                stops.entry(row.channel).or_default().push((row.at.0, None));
            }
            ChannelEvent::Link(LinkEvent::SenderResumed(_)) => {
                let last = stops.get_mut(&row.channel).and_then(|own| own.last_mut());
                last.into_iter().for_each(|(_, ended)| *ended = Some(row.at.0));
            }
            _ => {}
        }
    }
    stops
}

/// All senders of a deadlock are stopped while it lasts, but for what was in transit.
fn stands_still(scenario: &Scenario, outcome: &RunOutcome, deadlock: &Deadlock) {
    let cables = scenario.topology.cables().iter();
    // There and back, and the latency of the sender.
    let under_way = cables.map(|cable| {
        let [a, b] = cable.link.ports;
        2 * cable.link.delay.0 + 40 * u64::from(a.divisor.max(b.divisor).get())
    });
    let under_way = under_way.max().unwrap_or(0);
    let [since, until] = [deadlock.since, deadlock.until].map(|time| time / PERIOD_PS);
    let since = u64::try_from(since).unwrap_or(u64::MAX).saturating_add(under_way);
    let until = u64::try_from(until).unwrap_or(u64::MAX).saturating_sub(under_way);
    for id in &deadlock.channels {
        let channel = outcome.channels.get(id.0 as usize);
        let from = channel.and_then(|channel| channel.name.split_once('>')).map(|(from, _)| from);
        let rows = outcome.rows.iter().filter(|row| {
            row.at <= until && from == Some(&*scenario.topology.port_name(row.place))
        });
        let mut stopped = false;
        for row in rows {
            let before = stopped;
            match row.kind {
                truth::TruthEventKind::SenderStopped => stopped = true,
                truth::TruthEventKind::SenderResumed(_) => stopped = false,
                _ => {}
            }
            assert!(before == stopped || row.at <= since, "a deadlock stands still: {deadlock:?}");
        }
        assert!(stopped || since >= until, "who is in a deadlock is stopped: {deadlock:?}");
    }
}
