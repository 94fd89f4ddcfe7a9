//! The storey above the links: it takes what they saw, in order of time.

use std::collections::BTreeMap;

use codec::capture::ChannelId;

use super::batch::SectionProgress;
use super::link_stage::BatchOutput;
use super::merge::merged;
use super::{AnalysisEvent, AnalysisScope};
use crate::blocking::BlockingTracker;
use crate::conversation::{ConversationTracker, TransportEvent};
use crate::event::LinkEvent;
use crate::finding::FindingChecks;
use crate::journey::JourneyTracker;
use crate::link::LinkOutput;
use crate::link::slack::LinkAssumptions;
use crate::timeline::{EventBody, EventDetail, Time, TimedEvent};
use crate::topology::{Topology, TopologyEvidence};

/// Rows that are held back. *Chosen*: some milliseconds of a large network.
const HELD_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct NetworkStage {
    wanted: AnalysisScope,
    assumptions: LinkAssumptions,
    paths: JourneyTracker,
    blocking: BlockingTracker,
    conversations: ConversationTracker,
    evidence: TopologyEvidence,
    findings: FindingChecks,
    periods_ps: BTreeMap<ChannelId, u64>,
    /// Whether the next channel begins a section.
    next: SectionProgress,
    /// When the last row was.
    now: Time,
    /// Rows whose times were corrected, until all of before them have come.
    held: BTreeMap<(Time, ChannelId, u64), TimedEvent>,
    /// Number of rows held so far: tells apart rows of one channel and time.
    held_rows: u64,
}

impl NetworkStage {
    pub(super) fn new(wanted: AnalysisScope, assumptions: LinkAssumptions) -> Self {
        Self {
            wanted,
            assumptions,
            paths: JourneyTracker::default(),
            blocking: BlockingTracker::default(),
            conversations: ConversationTracker::default(),
            evidence: TopologyEvidence::default(),
            findings: FindingChecks::default(),
            periods_ps: BTreeMap::new(),
            next: SectionProgress::More,
            now: 0,
            held: BTreeMap::new(),
            held_rows: 0,
        }
    }

    pub(super) const fn findings(&self) -> &FindingChecks {
        &self.findings
    }

    /// What the network is, as far as sections have ended.
    pub(super) fn topology(&self) -> Topology {
        self.evidence.topology()
    }

    pub(super) const fn paths(&self) -> &JourneyTracker {
        &self.paths
    }

    /// Takes what the links made of a batch.
    pub(super) fn take(&mut self, worked: BatchOutput) -> Vec<AnalysisEvent> {
        if self.next == SectionProgress::End && !worked.channels.is_empty() {
            (self.paths, self.blocking) = (JourneyTracker::default(), BlockingTracker::default());
            (self.conversations, self.now) = (ConversationTracker::default(), 0);
            self.next = SectionProgress::More;
        }
        for (id, channel) in &worked.channels {
            self.periods_ps.insert(*id, channel.period_ps.get());
            self.findings.declare_twin(*id, channel);
            self.paths.declare(*id, channel, &self.assumptions);
            self.blocking.declare(*id, channel);
        }
        for (one, other) in &worked.joined {
            self.blocking.join(*one, *other);
            self.conversations.join(*one, *other);
        }
        let mut told = Vec::new();
        let (mut rows, mut intervals, mut slack) = (Vec::new(), Vec::new(), Vec::new());
        for seen in worked.outputs {
            let LinkOutput { events: own, intervals: states, slack: said } = seen;
            rows.push(own);
            intervals.push(states);
            slack.push(said);
        }
        self.process_all(rows, &mut told);
        self.blocking.pass(worked.until);
        let Self { periods_ps, findings, wanted, .. } = self;
        let time = |channel, at| time(periods_ps, channel, at);
        merged(intervals, |(known, it)| (*known, it.channel), &mut |(_, interval)| {
            told.push(AnalysisEvent::Interval(interval));
        });
        let fills = wanted.includes_fills();
        merged(slack, |said| (time(said.channel(), said.at().0), said.channel()), &mut |said| {
            findings.slack(&said, |id| period_ps(periods_ps, id));
            if fills {
                told.push(AnalysisEvent::Slack(said));
            }
        });
        if worked.progress == SectionProgress::End {
            self.finish(worked.until, &mut told);
        } else if self.conversations.is_waiting() {
            let Self { wanted, conversations, findings, paths, now, .. } = self;
            let until = paths.oldest().unwrap_or(*now);
            conversations
                .pass(until, &mut |spoken| report_transport(*wanted, spoken, findings, &mut told));
        }
        told
    }

    fn process_all(&mut self, rows: Vec<Vec<TimedEvent>>, told: &mut Vec<AnalysisEvent>) {
        merged(rows, |row| (row.time, row.channel), &mut |mut row: TimedEvent| {
            let clocks = &mut self.paths.clocks;
            if clocks.rates().next().is_none() && self.held.is_empty() {
                return self.row(row, told);
            }
            // What is told keeps the order of the file.
            told.extend(self.wanted.includes_events().then(|| AnalysisEvent::Row(row.clone())));
            let complete = clocks.complete(row.time);
            row.time = clocks.corrected(row.channel, row.time);
            self.held_rows += 1;
            self.held.insert((row.time, row.channel, self.held_rows), row);
            self.release(complete, told);
        });
    }

    /// Takes rows of before a time that were held back for want of others.
    fn release(&mut self, complete: Time, told: &mut Vec<AnalysisEvent>) {
        while let Some(((time, ..), _)) = self.held.first_key_value() {
            if *time >= complete && self.held.len() < HELD_MAX {
                break;
            }
            if let Some((_, row)) = self.held.pop_first() {
                self.process(&row, told);
            }
        }
    }

    fn row(&mut self, row: TimedEvent, told: &mut Vec<AnalysisEvent>) {
        self.process(&row, told);
        told.extend(self.wanted.includes_events().then_some(AnalysisEvent::Row(row)));
    }

    fn process(&mut self, row: &TimedEvent, told: &mut Vec<AnalysisEvent>) {
        let Self { wanted, paths, blocking, conversations, findings, periods_ps, now, .. } = self;
        let (all, wanted) = (*wanted, wanted.includes_network());
        *now = row.time.max(*now);
        paths.row(row, &mut |journey| {
            findings.journey(&journey);
            conversations.journey(&journey, &mut |it| report_transport(all, it, findings, told));
            told.extend(wanted.then_some(AnalysisEvent::Journey(journey)));
        });
        blocking.row(row, paths, &mut |blocked| {
            findings.blocked(&blocked, |id| period_ps(periods_ps, id));
            told.extend(wanted.then_some(AnalysisEvent::Blocked(blocked)));
        });
        if is_doubtful(&row.body) {
            conversations.hole(row.time, &mut |it| report_transport(all, it, findings, told));
        }
    }

    /// The section ends, recorded up to a time.
    fn finish(&mut self, end: Time, told: &mut Vec<AnalysisEvent>) {
        self.release(Time::MAX, told);
        let Self { wanted, paths, blocking, conversations, evidence, findings, .. } = self;
        let (all, wanted, periods_ps) = (*wanted, wanted.includes_network(), &self.periods_ps);
        blocking.finish(&mut |blocked| {
            findings.blocked(&blocked, |id| period_ps(periods_ps, id));
            told.extend(wanted.then_some(AnalysisEvent::Blocked(blocked)));
        });
        paths.finish(end, &mut |journey| {
            findings.journey(&journey);
            conversations.journey(&journey, &mut |it| report_transport(all, it, findings, told));
            told.extend(wanted.then_some(AnalysisEvent::Journey(journey)));
        });
        conversations.finish(&mut |spoken| report_transport(all, spoken, findings, told));
        evidence.section(blocking.nodes(), paths.implied());
        findings.clocks(&paths.clocks, |id| period_ps(periods_ps, id));
        findings.end_section();
        self.next = SectionProgress::End;
    }
}

/// Whether something before it was not recorded, or is not told.
const fn is_doubtful(what: &EventBody) -> bool {
    match what {
        EventBody::Event(LinkEvent::Hole { .. }) | EventBody::Detail(EventDetail::Begins) => true,
        EventBody::Omitted { .. } => true,
        EventBody::Packet(_) | EventBody::Event(_) | EventBody::Detail(_) => false,
    }
}

/// Takes what is said in the reliability protocol.
fn report_transport(
    wanted: AnalysisScope,
    spoken: TransportEvent,
    findings: &mut FindingChecks,
    told: &mut Vec<AnalysisEvent>,
) {
    findings.spoken(&spoken);
    told.extend(wanted.includes_conversations().then_some(AnalysisEvent::Spoken(spoken)));
}

/// When a place of a channel is.
fn time(periods_ps: &BTreeMap<ChannelId, u64>, channel: ChannelId, at: u64) -> Time {
    Time::from(at) * Time::from(period_ps(periods_ps, channel))
}

fn period_ps(periods_ps: &BTreeMap<ChannelId, u64>, channel: ChannelId) -> u64 {
    periods_ps.get(&channel).copied().unwrap_or(1)
}
