//! Findings about single events and packets, as predicates over rows; and the open links that stops wait for.

use std::collections::BTreeSet;

use analyzer::ChannelEvent;
use analyzer::blocking::WaitRoot;
use analyzer::event::{LinkEvent, TimedEvent};
use analyzer::finding::{FindingKind, Occurrence};
use analyzer::packet::FrameEnd;
use codec::capture::{ChannelId, StartState};
use codec::character::Character;
use codec::packet::CrcCheck;
use codec::time::Tick;

use super::capture_rows::CaptureRows;

/// Findings that each stand for one event or packet.
const KINDS: [FindingKind; 12] = [
    FindingKind::OpenLink,
    FindingKind::SilentAtFirst,
    FindingKind::ForwardReset,
    FindingKind::BackwardReset,
    FindingKind::OverrunAlarm,
    FindingKind::InvalidCode,
    FindingKind::CorrectedCode,
    FindingKind::Hole,
    FindingKind::TruncatedByOpenLink,
    FindingKind::CutByReset,
    FindingKind::CrcBad,
    FindingKind::Runt,
];

/// The finding that an event proves, and its place.
fn found(rows: &CaptureRows<'_>, event: &TimedEvent) -> Option<(FindingKind, u64)> {
    if let ChannelEvent::Packet(packet) = &event.body {
        return match (packet.ended_by, packet.check) {
            (FrameEnd::OpenLink, _) => Some((FindingKind::TruncatedByOpenLink, packet.end.0)),
            (FrameEnd::Reset, _) => Some((FindingKind::CutByReset, packet.end.0)),
            (FrameEnd::Gap, CrcCheck::Bad(_)) => Some((FindingKind::CrcBad, packet.start.0)),
            (FrameEnd::Gap, CrcCheck::Runt) => Some((FindingKind::Runt, packet.start.0)),
            (FrameEnd::Gap | FrameEnd::Hole | FrameEnd::CaptureEnd, _) => None,
        };
    }
    let kind = match event.body.link()? {
        LinkEvent::OpenLink if is_silent_at_first(rows, event) => FindingKind::SilentAtFirst,
        LinkEvent::OpenLink => FindingKind::OpenLink,
        LinkEvent::ForwardReset => FindingKind::ForwardReset,
        LinkEvent::BackwardReset => FindingKind::BackwardReset,
        LinkEvent::OverrunAlarm => FindingKind::OverrunAlarm,
        LinkEvent::InvalidCode(_) => FindingKind::InvalidCode,
        LinkEvent::CorrectedCode { .. } => FindingKind::CorrectedCode,
        LinkEvent::Hole { .. } => FindingKind::Hole,
        LinkEvent::LinkRestored | LinkEvent::ResetEnded | LinkEvent::Probe(_) => return None,
        LinkEvent::Reply(_) | LinkEvent::SenderStopped | LinkEvent::SenderResumed(_) | _ => {
            return None;
        }
    };
    Some((kind, event.at.0))
}

/// True if nothing but silence was recorded before, or was before a slice.
fn is_silent_at_first(rows: &CaptureRows<'_>, event: &TimedEvent) -> bool {
    let characters = &rows.characters[&event.channel];
    let mut before = characters.iter().take_while(|it| it.0 < event.at.0);
    let start = StartState::of(rows.channel(event.channel));
    before.all(|it| it.1 == Character::IDLE) && start.is_none_or(|it| it.alive.is_none())
}

/// Compares counts, first and last places of findings.
pub(crate) fn check(rows: &CaptureRows<'_>) {
    let findings = rows.analysis.findings();
    let place = |id, at| {
        let time = rows.channel(id).period.time(at);
        Occurrence { time, at: Tick(at) }
    };
    // What is left out of repeats counts, too.
    let is_omitted = |event: &&TimedEvent| matches!(event.body, ChannelEvent::Omitted { .. });
    let omitted: BTreeSet<ChannelId> =
        rows.events.iter().filter(is_omitted).map(|event| event.channel).collect();
    for id in rows.characters.keys().copied().filter(|id| !omitted.contains(id)) {
        for kind in KINDS {
            let found = rows.own(id).filter_map(|event| found(rows, event));
            let places: Vec<u64> = found.filter(|it| it.0 == kind).map(|(_, at)| at).collect();
            let expected =
                places.iter().min().zip(places.iter().max()).map(|(first, last)| {
                    (places.len() as u64, place(id, *first), place(id, *last))
                });
            let mut all = findings.set().found();
            let known = all.find(|(other, channel, _)| (*other, *channel) == (kind, id));
            let known = known.map(|(.., it)| (it.count, it.first, it.last));
            assert_eq!(known, expected, "{} on {}", kind.about().name, rows.channel(id).name);
        }
    }
}

/// F-7: a stop that waits for an open link does so while it is open: up to its next character, or a hole.
pub(crate) fn check_waits(rows: &CaptureRows<'_>) {
    for stop in &rows.stops {
        let place = |time| rows.channel(stop.channel).period.periods(time);
        assert_eq!(stop.periods, place(stop.until) - place(stop.since), "{stop:?}");
    }
    for stop in rows.stops.iter().filter(|stop| stop.root == WaitRoot::OpenLink) {
        let output = *stop.chain.last().unwrap();
        let is_end = |event: &&TimedEvent| {
            matches!(event.body.link(), Some(LinkEvent::LinkRestored | LinkEvent::Hole { .. }))
        };
        let own: Vec<&TimedEvent> = rows.own(output).collect();
        let is_open = own.iter().enumerate().any(|(place, event)| {
            let end = own[place..].iter().copied().find(is_end).map_or(u128::MAX, |end| end.time);
            event.body.link() == Some(&LinkEvent::OpenLink)
                && event.time <= stop.until
                && stop.since <= end
        });
        assert!(is_open, "{} was not open: {stop:?}", rows.channel(output).name);
    }
}
