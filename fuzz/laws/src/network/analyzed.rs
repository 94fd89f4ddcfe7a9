//! Analysis of the capture of a run, made once for all laws.

use std::collections::BTreeMap;

use analyzer::blocking::BlockingEvent;
use analyzer::event::{Picoseconds, TimedEvent};
use analyzer::finding::FindingSet;
use analyzer::journey::Journey;
use analyzer::link::interval::ActivityInterval;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::slack::{FillBounds, SlackEvent};
use analyzer::options::AnalysisScope;
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use analyzer::window::TimeWindow;
use codec::capture::{CaptureError, Channel, ChannelId, ReadProgress, merge};
use codec::time::Tick;

use crate::single_thread::use_one_thread;

/// The part of a sound capture within a window.
pub fn slice(capture: &[u8], window: TimeWindow) -> Vec<u8> {
    select(capture, &|channel| Some(window.on(channel)))
}

/// The selected characters of a sound capture: of each channel from one up to another, or none.
pub fn select(capture: &[u8], range: &dyn Fn(&Channel) -> Option<(Tick, Tick)>) -> Vec<u8> {
    merged([(capture, 0)], &mut |_, channel| range(channel).unwrap_or_default())
}

/// Two sound captures as one, each later by a time.
pub fn joined(captures: [(&[u8], Picoseconds); 2]) -> Vec<u8> {
    merged(captures, &mut |_, _| (Tick(0), Tick(u64::MAX)))
}

fn merged<const N: usize>(
    captures: [(&[u8], Picoseconds); N],
    select: &mut impl FnMut(usize, &Channel) -> (Tick, Tick),
) -> Vec<u8> {
    let mut faults = 0;
    let merged = merge(captures, Vec::new(), select, &mut |_, _| faults += 1);
    let (merged, _) = merged.unwrap_or_else(|error| unreachable!("{error}"));
    assert_eq!(faults, 0, "a sound capture");
    merged
}

/// The analysis of a sound capture to its end, and what it tells and `select` keeps.
pub fn analyzed<T>(
    capture: &[u8],
    scope: AnalysisScope,
    mut select: impl FnMut(AnalysisEvent) -> Option<T>,
) -> (Vec<T>, CaptureAnalysis<&[u8]>) {
    let mut events = Vec::new();
    let analysis = analyze(capture, scope, &mut |event| events.extend(select(event)));
    (events, analysis)
}

/// The analysis of a sound capture to its end, which passes its events.
pub fn analyze<'a>(
    capture: &'a [u8],
    scope: AnalysisScope,
    out: &mut dyn FnMut(AnalysisEvent),
) -> CaptureAnalysis<&'a [u8]> {
    let mut analysis = CaptureAnalysis::new(capture, scope, LinkAssumptions::default());
    let mut progress = Ok(ReadProgress::More);
    while matches!(progress, Ok(ReadProgress::More)) {
        progress = analysis.step(&mut |event| {
            let fault = if let AnalysisEvent::Fault(fault) = &event { Some(fault) } else { None };
            assert_eq!(fault, None, "what is written is read");
            out(event);
        });
    }
    // A network without taps makes a capture without channels.
    let told = progress.err().filter(|it| !matches!(it, CaptureError::NoChannel { .. }));
    assert_eq!(told.map(|error| error.to_string()), None, "what is written is read");
    analysis
}

#[derive(Clone, Debug, Default)]
pub struct AnalyzedCapture {
    /// Packets and events, in order of time.
    pub rows: Vec<TimedEvent>,
    /// Bounds of the fill of the slack buffers that channels lead to.
    pub fills: BTreeMap<ChannelId, Vec<FillBounds>>,
    /// Number of times that what is assumed of such a buffer cannot be so.
    pub contradictions: BTreeMap<ChannelId, u64>,
    pub blocked: Vec<BlockingEvent>,
    pub journeys: Vec<Journey>,
    /// States of each channel, in order of time.
    pub intervals: BTreeMap<ChannelId, Vec<ActivityInterval>>,
    pub set: FindingSet,
}

impl AnalyzedCapture {
    /// Reads what was written by a simulator.
    pub fn of(capture: &[u8]) -> Self {
        use_one_thread();
        let mut reading = Self::default();
        let Self { rows, fills, contradictions, blocked, journeys, intervals, .. } = &mut reading;
        let analysis = analyze(capture, AnalysisScope::Everything, &mut |event| match event {
            AnalysisEvent::Row(row) => rows.push(row),
            AnalysisEvent::Slack(SlackEvent::Fill(fill)) => {
                fills.entry(fill.channel).or_default().push(fill);
            }
            AnalysisEvent::Slack(SlackEvent::Contradiction { channel, .. }) => {
                *contradictions.entry(channel).or_default() += 1;
            }
            AnalysisEvent::Blocked(it) => blocked.push(it),
            AnalysisEvent::Journey(it) => journeys.push(it),
            AnalysisEvent::Interval(it) => intervals.entry(it.channel).or_default().push(it),
            AnalysisEvent::Slack(SlackEvent::Late { .. } | SlackEvent::OverrunRisk { .. })
            | AnalysisEvent::Case(_)
            | AnalysisEvent::Mapping(_)
            | AnalysisEvent::Conversation(_)
            | AnalysisEvent::Fault(_) => {}
        });
        reading.set = analysis.findings().set().clone();
        reading
    }
}
