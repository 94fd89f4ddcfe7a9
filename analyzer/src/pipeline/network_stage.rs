//! Analysis of the whole network: processes the output of all links in order of time.

use std::collections::VecDeque;

use codec::capture::ChannelId;

use super::AnalysisEvent;
use super::link_stage::BatchOutput;
use super::merge::merged;
use crate::blocking::{BlockingEvent, BlockingTracker};
use crate::capture_network::CaptureNetwork;
use crate::conversation::{ConversationTracker, TransportEvent, TransportItem};
use crate::event::{ChannelEvent, LinkEvent, Picoseconds, TimedEvent};
use crate::finding::{FindingCase, FindingChecks};
use crate::journey::{Journey, JourneyFate, JourneyTracker};
use crate::link::parameters::LinkAssumptions;
use crate::link::slack::SlackEvent;
use crate::link_analysis::LinkOutput;
use crate::mapping::{MappingEvent, MappingItem, MappingTracker};
use crate::options::AnalysisScope;
use crate::time_queue::TimeQueue;
use crate::topology::{Topology, TopologyEvidence};
use crate::wire_recordings::WireRecordings;

/// Difference of the ends of channels that were recorded together. *Chosen*: some periods.
const ENDS_APART: Picoseconds = 100_000;

#[derive(Debug, Default)]
pub(super) struct NetworkStage {
    assumptions: LinkAssumptions,
    network: CaptureNetwork,
    wires: WireRecordings,
    pub(super) journeys: JourneyTracker,
    blocking: BlockingTracker,
    conversations: ConversationTracker,
    pub(super) mapping: MappingTracker,
    evidence: TopologyEvidence,
    out: StageOutput,
    /// Cases of findings that are emitted once the events before them have been.
    cases: VecDeque<FindingCase>,
    /// True if the section has ended: the next channel begins a new one.
    is_ended: bool,
    /// Time of the last event.
    now: Picoseconds,
    /// Events with corrected times, held until all earlier ones have arrived.
    held: TimeQueue<TimedEvent, (Picoseconds, ChannelId)>,
    /// Buffer for journeys that end with an event.
    ended: Vec<Journey>,
    /// Packets by the times of their first capture, and what happened between them, held until no journey of
    /// an earlier packet is to end.
    waiting: TimeQueue<WaitingItem>,
}

#[derive(Debug)]
enum WaitingItem {
    Transport(TransportItem),
    Mapping(MappingItem),
}

/// Events of trackers: each is checked for findings, and kept if the scope includes it.
#[derive(Debug, Default)]
struct StageOutput {
    scope: AnalysisScope,
    findings: FindingChecks,
    events: Vec<AnalysisEvent>,
}

impl StageOutput {
    fn blocked(&mut self, blocked: BlockingEvent, network: &CaptureNetwork) {
        self.findings.blocked(&blocked, network);
        if self.scope.includes_network() {
            self.events.push(AnalysisEvent::Blocked(blocked));
        }
    }

    fn transport(&mut self, event: TransportEvent) {
        self.findings.transport_event(&event);
        if self.scope.includes_conversations() {
            self.events.push(AnalysisEvent::Conversation(event));
        }
    }

    fn mapping(&mut self, event: MappingEvent) {
        if self.scope.includes_mapping() {
            self.events.push(AnalysisEvent::Mapping(event));
        }
    }

    /// True if an event is part of the output: commands and runs of bytes are not.
    fn includes(&self, event: &TimedEvent) -> bool {
        let is_part = !matches!(event.body, ChannelEvent::Command(_) | ChannelEvent::Data(_));
        self.scope.includes_events() && is_part
    }

    /// Keeps an event of a channel; the bytes of packets were kept for journeys only.
    fn row(&mut self, mut event: TimedEvent) {
        if self.includes(&event) {
            if let ChannelEvent::Packet(packet) = &mut event.body {
                packet.bytes = None;
            }
            self.events.push(AnalysisEvent::Row(event));
        }
    }

    /// Emits the cases of journeys, waits and conversations.
    fn emit_cases(&mut self) {
        self.events.extend(self.findings.take_cases().into_iter().map(AnalysisEvent::Case));
    }
}

impl NetworkStage {
    pub(super) fn new(scope: AnalysisScope, assumptions: LinkAssumptions) -> Self {
        let mut findings = FindingChecks::default();
        if scope.includes_cases() {
            findings.keep_cases();
        }
        let out = StageOutput { scope, findings, events: Vec::new() };
        Self { assumptions, out, ..Self::default() }
    }

    pub(super) fn into_findings(self) -> FindingChecks {
        self.out.findings
    }

    pub(super) const fn findings(&self) -> &FindingChecks {
        &self.out.findings
    }

    /// The network of the sections so far.
    pub(super) fn topology(&self) -> Topology {
        let mut evidence = self.evidence.clone();
        if !self.is_ended {
            evidence.section(self.network.clone(), self.journeys.implied());
        }
        evidence.topology()
    }

    pub(super) fn process_batch(&mut self, batch: BatchOutput) -> Vec<AnalysisEvent> {
        if self.is_ended && !batch.channels.is_empty() {
            self.journeys = JourneyTracker::default();
            self.blocking = BlockingTracker::default();
            self.mapping = MappingTracker::default();
            (self.conversations, self.now) = (ConversationTracker::default(), 0);
            self.wires = WireRecordings::default();
            self.is_ended = false;
        }
        for (id, channel) in &batch.channels {
            self.network.declare(*id, channel);
            self.out.findings.recorded_mut().declare(*id);
            self.wires.declare(*id, channel);
            self.journeys.declare(*id, channel, &self.assumptions);
        }
        for (one, other) in &batch.joined {
            self.network.join(*one, *other);
            self.out.findings.recorded_mut().join(*one, *other);
        }
        for (id, span) in &batch.recorded {
            self.out.findings.recorded_mut().add(*id, *span);
        }
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
        self.process_all(events);
        self.emit_cases(batch.settled);
        merged(intervals, |(known, it)| (*known, it.channel), &mut |(_, interval)| {
            self.out.events.push(AnalysisEvent::Interval(interval));
        });
        self.out.events.extend(fills);
        if batch.is_last {
            self.emit_cases(Picoseconds::MAX);
            self.finish(batch.until);
        } else if !self.waiting.is_empty() {
            let until = self.journeys.oldest().unwrap_or(self.now);
            while let Some((time, item)) = self.waiting.pop_before(until) {
                self.process_item(time, item);
            }
        }
        self.out.emit_cases();
        std::mem::take(&mut self.out.events)
    }

    /// Checks the events of slack buffers, and returns those that are part of the output.
    fn check_slack(&mut self, slack: Vec<Vec<SlackEvent>>) -> Vec<AnalysisEvent> {
        let Self { network, out: StageOutput { scope, findings, .. }, cases, .. } = self;
        let time = |channel, at| network.period(channel).time(at);
        let mut fills = Vec::new();
        merged(
            slack,
            |event| (time(event.channel(), event.at().0), event.channel()),
            &mut |event| {
                findings.slack(&event, network);
                fills.extend(scope.includes_fills().then_some(AnalysisEvent::Slack(event)));
            },
        );
        cases.extend(findings.take_cases());
        fills
    }

    /// Emits the cases of links that were proved before a time.
    fn emit_cases(&mut self, until: Picoseconds) {
        while let Some(case) = self.cases.pop_front_if(|case| case.known < until) {
            self.out.events.push(AnalysisEvent::Case(case));
        }
    }

    fn process_all(&mut self, events: Vec<Vec<TimedEvent>>) {
        merged(events, |event| (event.time, event.channel), &mut |mut event: TimedEvent| {
            self.emit_cases(event.time);
            let clocks = &mut self.journeys.clocks;
            if clocks.rates().next().is_none() && self.held.is_empty() {
                self.process(&event);
                self.out.row(event);
                self.out.emit_cases();
                return;
            }
            // The output keeps the order and the times of the file.
            if self.out.includes(&event) {
                self.out.row(event.clone());
            }
            let complete = clocks.complete(event.time);
            event.time = clocks.corrected(event.channel, event.time);
            if let Some((_, first)) = self.held.push((event.time, event.channel), event) {
                self.process(&first);
            }
            self.release(complete);
            self.out.emit_cases();
        });
    }

    /// Processes held events before a time.
    fn release(&mut self, complete: Picoseconds) {
        while let Some((_, event)) = self.held.pop_before((complete, ChannelId(0))) {
            self.process(&event);
        }
    }

    fn process(&mut self, event: &TimedEvent) {
        if event.time > self.now {
            self.end_instant();
            self.now = event.time;
        }
        self.out.findings.pass(self.now);
        self.out.findings.omitted(event, &self.network);
        if !self.wires.follows(event, self.out.findings.recorded_time()) {
            return;
        }
        let mut ended = std::mem::take(&mut self.ended);
        self.journeys.row(event, &mut ended);
        ended.drain(..).for_each(|journey| self.journey(journey));
        self.ended = ended;
        if !self.out.scope.includes_findings() {
            return;
        }
        let Self { network, journeys, blocking, mapping, out, now, .. } = self;
        let silence = mapping.event_item(event, network);
        network.observe(event);
        let (known, mut waits) = ((&*network, out.findings.recorded_time(), *now), Vec::new());
        blocking.row(event, known, journeys, &mut |blocked| waits.push(blocked));
        waits.into_iter().for_each(|blocked| out.blocked(blocked, network));
        out.findings.commands(event, network);
        out.findings.packet_ended(event, network);
        // Characters or events before these are missing.
        let is_behind_hole = matches!(
            event.body,
            ChannelEvent::Link(LinkEvent::Hole { .. })
                | ChannelEvent::Begins
                | ChannelEvent::Omitted { .. }
        );
        let hole = is_behind_hole.then_some(WaitingItem::Transport(TransportItem::Hole));
        for item in silence.map(WaitingItem::Mapping).into_iter().chain(hole) {
            self.wait(event.time, item);
        }
    }

    /// Ends an instant, whose events may come in any order.
    fn end_instant(&mut self) {
        let Self { network, journeys, blocking, out, now, .. } = self;
        journeys.end_instant();
        let (known, mut waits) = ((&*network, out.findings.recorded_time(), *now), Vec::new());
        blocking.end_instant(known, journeys, &mut |blocked| waits.push(blocked));
        waits.into_iter().for_each(|blocked| out.blocked(blocked, network));
    }

    /// Processes a journey that has ended.
    fn journey(&mut self, mut journey: Journey) {
        let Self { network, mapping, out, .. } = self;
        if out.findings.may_have_passed(&journey, network) {
            journey.fate = JourneyFate::OutOfSight;
        }
        if !out.scope.includes_findings() {
            return out.events.push(AnalysisEvent::Journey(journey));
        }
        out.findings.journey(&journey, network);
        let transport = TransportItem::of(&journey, network);
        let mapping = mapping.journey_item(&journey, network);
        if out.scope.includes_network() {
            out.events.push(AnalysisEvent::Journey(journey));
        }
        if let Some((time, item)) = transport {
            self.wait(time, WaitingItem::Transport(item));
        }
        if let Some((time, item)) = mapping {
            self.wait(time, WaitingItem::Mapping(item));
        }
    }

    fn wait(&mut self, time: Picoseconds, item: WaitingItem) {
        if let Some((time, item)) = self.waiting.push(time, item) {
            self.process_item(time, item);
        }
    }

    fn process_item(&mut self, time: Picoseconds, item: WaitingItem) {
        let Self { conversations, mapping, out, .. } = self;
        match item {
            WaitingItem::Transport(item) => {
                conversations.process(time, item, &mut |it| out.transport(it));
            }
            WaitingItem::Mapping(item) => mapping.process(time, item, &mut |it| out.mapping(it)),
        }
    }

    /// Ends the section, which is recorded up to a time.
    fn finish(&mut self, end: Picoseconds) {
        self.release(Picoseconds::MAX);
        self.end_instant();
        let Self { network, journeys, blocking, out, now, .. } = self;
        out.findings.pass(end.saturating_sub(ENDS_APART));
        let recorded = out.findings.recorded_time();
        let (mut waits, mut ended) = (Vec::new(), Vec::new());
        // What passed a switch before the end tells what stands there.
        journeys.decide_all(&mut ended);
        let leads = &|input, first, output| journeys.leads_to(input, first, output);
        blocking.finish((network, recorded, *now), leads, &mut |blocked| waits.push(blocked));
        waits.into_iter().for_each(|blocked| out.blocked(blocked, network));
        journeys.finish(end, &mut ended);
        ended.into_iter().for_each(|journey| self.journey(journey));
        while let Some((time, item)) = self.waiting.pop() {
            self.process_item(time, item);
        }
        let Self { network, journeys, conversations, mapping, evidence, out, .. } = self;
        mapping.finish(&mut |event| out.mapping(event));
        conversations.finish(&mut |event| out.transport(event));
        out.findings.clocks(journeys, network);
        out.findings.standstill(network);
        evidence.section(std::mem::take(network), journeys.implied());
        out.findings.end_section();
        self.is_ended = true;
    }
}
