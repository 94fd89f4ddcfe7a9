//! Analysis of the whole network: processes the output of all links in order of time.

use std::collections::{BTreeMap, VecDeque};

use codec::capture::ChannelId;
use codec::time::CharacterPeriod;

use super::AnalysisEvent;
use super::batch::SectionProgress;
use super::link_stage::BatchOutput;
use super::merge::merged;
use crate::blocking::BlockingTracker;
use crate::channel_table::ChannelTable;
use crate::conversation::{ConversationTracker, TransportEvent};
use crate::event::{ChannelEvent, LinkEvent, Picoseconds, TimedEvent};
use crate::finding::{FindingCase, FindingChecks};
use crate::journey::JourneyTracker;
use crate::link::LinkOutput;
use crate::link::parameters::LinkAssumptions;
use crate::link::slack::SlackEvent;
use crate::mapping::{MappingEvent, MappingTracker};
use crate::options::AnalysisScope;
use crate::topology::{Topology, TopologyEvidence};

/// Maximum of held events. *Chosen*: some milliseconds of a large network.
const HELD_MAX: usize = 1 << 16;

/// Difference of the ends of channels that were recorded together. *Chosen*: some periods.
const ENDS_APART: Picoseconds = 100_000;

#[derive(Debug)]
pub(super) struct NetworkStage {
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    journeys: JourneyTracker,
    blocking: BlockingTracker,
    conversations: ConversationTracker,
    mapping: MappingTracker,
    evidence: TopologyEvidence,
    findings: FindingChecks,
    /// Cases of findings that are emitted once the events before them have been.
    cases: VecDeque<FindingCase>,
    periods: ChannelTable<CharacterPeriod>,
    /// Position in the section; after [`SectionProgress::End`] the next channel begins a new one.
    progress: SectionProgress,
    /// Time of the last event.
    now: Picoseconds,
    /// Events with corrected times, held until all earlier ones have arrived.
    held: BTreeMap<(Picoseconds, ChannelId, u64), TimedEvent>,
    /// Number of events ever held; distinguishes events of one channel and time.
    held_count: u64,
}

impl NetworkStage {
    pub(super) fn new(scope: AnalysisScope, assumptions: LinkAssumptions) -> Self {
        let mut findings = FindingChecks::default();
        if scope.includes_cases() {
            findings.keep_cases();
        }
        Self {
            scope,
            assumptions,
            journeys: JourneyTracker::default(),
            blocking: BlockingTracker::default(),
            conversations: ConversationTracker::default(),
            mapping: MappingTracker::default(),
            evidence: TopologyEvidence::default(),
            findings,
            cases: VecDeque::new(),
            periods: ChannelTable::default(),
            progress: SectionProgress::More,
            now: 0,
            held: BTreeMap::new(),
            held_count: 0,
        }
    }

    pub(super) fn into_findings(self) -> FindingChecks {
        self.findings
    }

    pub(super) const fn findings(&self) -> &FindingChecks {
        &self.findings
    }

    /// The network of the sections that have ended.
    pub(super) fn topology(&self) -> Topology {
        self.evidence.topology()
    }

    pub(super) const fn mapping(&self) -> &MappingTracker {
        &self.mapping
    }

    pub(super) const fn journeys(&self) -> &JourneyTracker {
        &self.journeys
    }

    /// Processes the links' output for a batch.
    pub(super) fn process_batch(&mut self, batch: BatchOutput) -> Vec<AnalysisEvent> {
        if self.progress == SectionProgress::End && !batch.channels.is_empty() {
            self.journeys = JourneyTracker::default();
            self.blocking = BlockingTracker::default();
            self.mapping = MappingTracker::default();
            (self.conversations, self.now) = (ConversationTracker::default(), 0);
            self.progress = SectionProgress::More;
        }
        for (id, channel) in &batch.channels {
            self.periods.insert(*id, channel.period);
            self.findings.declare_twin(*id, channel);
            self.journeys.declare(*id, channel, &self.assumptions);
            self.blocking.declare(*id, channel);
        }
        for (one, other) in &batch.joined {
            self.blocking.join(*one, *other);
            self.findings.join_twins(*one, *other);
            self.conversations.join(*one, *other);
            self.mapping.join(*one, *other);
        }
        for (id, span) in &batch.recorded {
            self.findings.recorded(*id, *span);
        }
        let mut out = Vec::new();
        let (mut events, mut intervals, mut slack) = (Vec::new(), Vec::new(), Vec::new());
        for output in batch.outputs {
            let LinkOutput { events: own, intervals: own_intervals, slack: own_slack, cases } =
                output;
            events.push(own);
            intervals.push(own_intervals);
            slack.push(own_slack);
            self.cases.extend(cases);
        }
        let fills = self.check_slack(slack);
        self.cases.make_contiguous().sort_by_key(|case| (case.known, case.channel));
        self.process_all(events, &mut out);
        self.emit_cases(batch.settled, &mut out);
        self.blocking.pass(batch.until);
        merged(intervals, |(known, it)| (*known, it.channel), &mut |(_, interval)| {
            out.push(AnalysisEvent::Interval(interval));
        });
        out.extend(fills);
        if batch.progress == SectionProgress::End {
            self.emit_cases(Picoseconds::MAX, &mut out);
            self.finish(batch.until, &mut out);
        } else if self.conversations.is_waiting() || self.mapping.is_waiting() {
            let Self { scope, conversations, mapping, findings, journeys, now, .. } = self;
            let until = journeys.oldest().unwrap_or(*now);
            mapping.pass(until, &mut |it| report_mapping(*scope, it, &mut out));
            conversations.pass(until, &mut |it| report_transport(*scope, it, findings, &mut out));
        }
        self.emit_own_cases(&mut out);
        out
    }

    /// Checks the events of slack buffers, and returns those that are part of the output.
    fn check_slack(&mut self, slack: Vec<Vec<SlackEvent>>) -> Vec<AnalysisEvent> {
        let Self { periods, findings, scope, cases, .. } = self;
        let time = |channel, at| period(periods, channel).time(at);
        let mut fills = Vec::new();
        merged(
            slack,
            |event| (time(event.channel(), event.at().0), event.channel()),
            &mut |event| {
                findings.slack(&event, |id| period(periods, id));
                fills.extend(scope.includes_fills().then_some(AnalysisEvent::Slack(event)));
            },
        );
        cases.extend(findings.take_cases());
        fills
    }

    /// Emits the cases of links that were proved before a time.
    fn emit_cases(&mut self, until: Picoseconds, out: &mut Vec<AnalysisEvent>) {
        while let Some(case) = self.cases.pop_front_if(|case| case.known < until) {
            out.push(AnalysisEvent::Case(case));
        }
    }

    /// Emits the cases of journeys, waits and conversations.
    fn emit_own_cases(&mut self, out: &mut Vec<AnalysisEvent>) {
        out.extend(self.findings.take_cases().into_iter().map(AnalysisEvent::Case));
    }

    fn process_all(&mut self, events: Vec<Vec<TimedEvent>>, out: &mut Vec<AnalysisEvent>) {
        merged(events, |event| (event.time, event.channel), &mut |mut event: TimedEvent| {
            self.emit_cases(event.time, out);
            let clocks = &mut self.journeys.clocks;
            if clocks.rates().next().is_none() && self.held.is_empty() {
                self.process(&event, out);
                out.extend(self.scope.includes_events().then(|| row(event)));
                self.emit_own_cases(out);
                return;
            }
            // The output keeps the order and the times of the file.
            out.extend(self.scope.includes_events().then(|| row(event.clone())));
            let complete = clocks.complete(event.time);
            event.time = clocks.corrected(event.channel, event.time);
            self.held_count += 1;
            self.held.insert((event.time, event.channel, self.held_count), event);
            self.release(complete, out);
            self.emit_own_cases(out);
        });
    }

    /// Processes held events before a time.
    fn release(&mut self, complete: Picoseconds, out: &mut Vec<AnalysisEvent>) {
        while let Some(((time, ..), _)) = self.held.first_key_value() {
            if *time >= complete && self.held.len() < HELD_MAX {
                break;
            }
            if let Some((_, event)) = self.held.pop_first() {
                self.process(&event, out);
            }
        }
    }

    fn process(&mut self, event: &TimedEvent, out: &mut Vec<AnalysisEvent>) {
        let Self {
            scope, journeys, blocking, conversations, mapping, findings, periods, now, ..
        } = self;
        let (scope, network) = (*scope, scope.includes_network());
        *now = event.time.max(*now);
        findings.pass(*now);
        journeys.row(event, &mut |journey| {
            findings.journey(&journey, blocking.nodes());
            conversations.journey(&journey, &mut |it| report_transport(scope, it, findings, out));
            mapping.journey(&journey, &mut |it| report_mapping(scope, it, out));
            out.extend(network.then_some(AnalysisEvent::Journey(journey)));
        });
        mapping.row(event, &mut |it| report_mapping(scope, it, out));
        blocking.row(event, journeys, &mut |blocked| {
            findings.blocked(&blocked, |id| period(periods, id));
            out.extend(network.then_some(AnalysisEvent::Blocked(blocked)));
        });
        if let ChannelEvent::Packet(packet) = &event.body {
            let (channel, now) = (event.channel, event.time);
            findings.cut_off(channel, (packet, now), period(periods, channel));
        }
        if is_incomplete_since(&event.body) {
            conversations.hole(event.time, &mut |it| report_transport(scope, it, findings, out));
        }
    }

    /// Ends the section, which is recorded up to a time.
    fn finish(&mut self, end: Picoseconds, out: &mut Vec<AnalysisEvent>) {
        self.release(Picoseconds::MAX, out);
        let Self { scope, journeys, blocking, conversations, mapping, evidence, findings, .. } =
            self;
        let (scope, network, periods) = (*scope, scope.includes_network(), &self.periods);
        findings.pass(end.saturating_sub(ENDS_APART));
        blocking.finish(&mut |blocked| {
            findings.blocked(&blocked, |id| period(periods, id));
            out.extend(network.then_some(AnalysisEvent::Blocked(blocked)));
        });
        journeys.finish(end, &mut |journey| {
            findings.journey(&journey, blocking.nodes());
            conversations.journey(&journey, &mut |it| report_transport(scope, it, findings, out));
            mapping.journey(&journey, &mut |it| report_mapping(scope, it, out));
            out.extend(network.then_some(AnalysisEvent::Journey(journey)));
        });
        mapping.finish(&mut |event| report_mapping(scope, event, out));
        conversations.finish(&mut |event| report_transport(scope, event, findings, out));
        findings.clocks(&journeys.clocks, |id| period(periods, id));
        findings.standstill(blocking.nodes(), |id| period(periods, id));
        evidence.section(blocking.take_nodes(), journeys.implied());
        findings.end_section();
        self.progress = SectionProgress::End;
    }
}

/// An event of the output; the bytes of packets were kept for journeys only.
fn row(mut event: TimedEvent) -> AnalysisEvent {
    if let ChannelEvent::Packet(packet) = &mut event.body {
        packet.bytes = None;
    }
    AnalysisEvent::Row(event)
}

/// True if characters or events before this event are missing.
const fn is_incomplete_since(event: &ChannelEvent) -> bool {
    match event {
        ChannelEvent::Link(LinkEvent::Hole { .. }) | ChannelEvent::Begins => true,
        ChannelEvent::Omitted { .. } => true,
        ChannelEvent::Framed | ChannelEvent::Head(_) | ChannelEvent::Data(_) => false,
        ChannelEvent::Packet(_) | ChannelEvent::Link(_) | ChannelEvent::Command(_) => false,
    }
}

fn report_transport(
    scope: AnalysisScope,
    event: TransportEvent,
    findings: &mut FindingChecks,
    out: &mut Vec<AnalysisEvent>,
) {
    findings.spoken(&event);
    out.extend(scope.includes_conversations().then_some(AnalysisEvent::Spoken(event)));
}

fn report_mapping(scope: AnalysisScope, event: MappingEvent, out: &mut Vec<AnalysisEvent>) {
    out.extend(scope.includes_mapping().then_some(AnalysisEvent::Mapping(event)));
}

fn period(periods: &ChannelTable<CharacterPeriod>, channel: ChannelId) -> CharacterPeriod {
    periods.get(channel).copied().unwrap_or(CharacterPeriod::PICOSECOND)
}
