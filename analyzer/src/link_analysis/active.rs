//! A link with characters: events, states and slack buffers of its channels.

use std::collections::BTreeMap;
use std::sync::Arc;

use codec::capture::{Channel, ChannelId, Chunk};
use codec::packet::PacketDialect;
use codec::time::Tick;

use super::LinkOutput;
use super::begun_bytes::BegunBytes;
use crate::event::{ChannelEvent, LinkEvent, Picoseconds, TimedEvent};
use crate::finding::FindingChecks;
use crate::link::interval::ActivityInterval;
use crate::link::parameters::{ChannelParameters, LinkAssumptions};
use crate::link::report::ChannelReport;
use crate::link::slack::{SlackEvent, SlackTracker};
use crate::link::state::ActivityTracker;
use crate::options::AnalysisScope;
use crate::packet::ByteRetention;
use crate::timeline::{EventFilter, EventTimeline, TIMESTAMP_PS};

#[derive(Debug)]
pub(super) struct ActiveLink {
    timeline: EventTimeline,
    pub(super) state: LinkState,
}

#[derive(Debug)]
pub(super) struct LinkState {
    pub(super) channels: BTreeMap<ChannelId, Box<LinkChannel>>,
    pub(super) findings: FindingChecks,
    out: LinkOutput,
    scope: AnalysisScope,
    dialect: PacketDialect,
    /// Time of the last event.
    now: Picoseconds,
}

#[derive(Debug)]
pub(super) struct LinkChannel {
    channel: Arc<Channel>,
    pub(super) peer: Option<ChannelId>,
    activity: ActivityTracker,
    begun: BegunBytes,
    /// True if it has carried STOP or GO since its beginning, or a hole.
    has_command: bool,
    pub(super) slack: SlackTracker,
    /// Parameters as its findings show them, once it has ended.
    pub(super) ended: Option<ObservedParameters>,
}

/// Variants of a channel's sender, and the greatest hysteresis of the buffer that it fills.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObservedParameters {
    variants: [Option<u32>; 2],
    hysteresis_max: Option<u32>,
}

impl ObservedParameters {
    fn of(findings: &FindingChecks, id: ChannelId) -> Self {
        Self { variants: findings.variants(id), hysteresis_max: findings.hysteresis_max(id) }
    }
}

impl ActiveLink {
    pub(super) fn new(scope: AnalysisScope) -> Self {
        let mut findings = FindingChecks::default();
        if scope.includes_cases() {
            findings.keep_cases();
        }
        let state = LinkState {
            channels: BTreeMap::new(),
            findings,
            out: LinkOutput::default(),
            scope,
            dialect: PacketDialect::default(),
            now: 0,
        };
        Self { timeline: EventTimeline::new(EventFilter::All, ByteRetention::Compare), state }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        let LinkState { channels, findings, out, scope: _, dialect: _, now: _ } = other.state;
        self.timeline.absorb(other.timeline);
        let state = &mut self.state;
        state.channels.extend(channels);
        state.findings.take_over(findings);
        state.out.events.extend(out.events);
        state.out.intervals.extend(out.intervals);
        state.out.slack.extend(out.slack);
        state.out.cases.extend(out.cases);
    }

    pub(super) fn declare(
        &mut self,
        id: ChannelId,
        channel: &Arc<Channel>,
        assumptions: &LinkAssumptions,
    ) {
        self.timeline.declare(id, channel);
        self.state.dialect = assumptions.dialect;
        let parameters = ChannelParameters::of(channel, assumptions);
        self.state.findings.declare(id, channel, &parameters);
        let channel = Box::new(LinkChannel {
            channel: Arc::clone(channel),
            peer: None,
            activity: ActivityTracker::new(id, channel),
            begun: BegunBytes::default(),
            has_command: false,
            slack: SlackTracker::new(id, channel, assumptions, self.state.scope),
            ended: None,
        });
        self.state.channels.insert(id, channel);
    }

    pub(super) fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.timeline.link(one, other);
        self.state.findings.join(one, other);
        for (id, peer) in [(one, other), (other, one)] {
            let period = self.state.channels.get(&peer).map_or(0, |it| it.channel.period.fs());
            if let Some(own) = self.state.channels.get_mut(&id) {
                own.peer = Some(peer);
                let grace = own.slack.parameters().longest_grace(&own.channel);
                // The arrival time of a character within a period of another rate is unknown.
                own.activity.join(grace + period.div_ceil(own.channel.period.fs()));
            }
        }
    }

    pub(super) fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>) {
        let Self { timeline, state } = self;
        if state.scope.includes_states()
            && let Some(channel) = state.channels.get_mut(&id)
        {
            channel.activity.recorded(chunk);
            let (peer, own) = (channel.peer, channel.channel.period);
            if let Some(peer) = peer.and_then(|peer| state.channels.get_mut(&peer)) {
                let period = peer.channel.period;
                let there = |at: Tick| {
                    if period == own { at } else { Tick(period.periods(own.time(at.0))) }
                };
                peer.activity.opposite_recorded([chunk.first, chunk.end()].map(there));
            }
        }
        if !timeline.is_continued_by(id, chunk) {
            timeline.advance_to(id, chunk.first, &mut |event| state.process(event));
        }
        if !state.scope.includes_findings() {
            return timeline.add(id, chunk, &mut |_, _| {});
        }
        state.findings.symbols(id, chunk, |checks| {
            timeline.add(id, chunk, &mut |at, event| checks.observe(at, event));
        });
        state.recorded(id, [chunk.first, chunk.end()]);
    }

    pub(super) fn pass(&mut self, time: Picoseconds) {
        let Self { timeline, state } = self;
        timeline.pass(time, &mut |event| state.process(event));
        state.emit_settled(time.saturating_sub(TIMESTAMP_PS));
    }

    pub(super) fn finish(&mut self) {
        let Self { timeline, state } = self;
        timeline.finish(&mut |event| state.process(event));
        state.finish();
    }

    pub(super) fn take_output(&mut self) -> LinkOutput {
        self.state.out.cases.extend(self.state.findings.take_cases());
        std::mem::take(&mut self.state.out)
    }
}

impl LinkState {
    pub(super) fn reports(&self) -> impl Iterator<Item = ChannelReport<'_>> {
        self.channels.iter().map(|(id, it)| {
            let peer = it.peer.and_then(|peer| self.channels.get(&peer));
            it.report(*id, ObservedParameters::of(&self.findings, *id), peer.map(Box::as_ref))
        })
    }

    /// Keeps what the findings say of the parameters.
    pub(super) fn observe(&mut self) {
        for (id, channel) in &mut self.channels {
            channel.ended = Some(ObservedParameters::of(&self.findings, *id));
        }
    }

    /// Emits the intervals that have ended for good: all events before a time have been processed.
    fn emit_settled(&mut self, until: Picoseconds) {
        let Self { channels, out, scope, .. } = self;
        if !scope.includes_intervals() {
            return;
        }
        let from = out.intervals.len();
        for it in channels.values_mut() {
            it.emit_settled(until, &mut out.intervals);
            // What ends there is known now, whenever the next event comes.
            let is_known = |end: &Tick| it.channel.period.time(end.0.saturating_add(1)) <= until;
            let [hidden, end] = it.activity.ends().map(|end| end.filter(is_known));
            if let Some(hidden) = hidden {
                it.activity.hide(Tick(hidden.0 + 1));
                it.emit_settled(until, &mut out.intervals);
            }
            if let Some(end) = end {
                it.activity.settle(end);
                it.emit_settled(until, &mut out.intervals);
            }
        }
        if let Some(new) = out.intervals.get_mut(from..) {
            new.sort_by_key(|(known, interval)| (*known, interval.channel));
        }
    }

    fn recorded(&mut self, id: ChannelId, range: [Tick; 2]) {
        let Some(channel) = self.channels.get_mut(&id) else { return };
        channel.slack.recorded(range);
        let (peer, period) = (channel.peer, channel.channel.period);
        if let Some(peer) = peer.and_then(|peer| self.channels.get_mut(&peer)) {
            peer.slack.opposite_recorded(period, range);
        }
    }

    fn process(&mut self, mut event: TimedEvent) {
        // Findings read the packets in the dialect too.
        if self.dialect != PacketDialect::default()
            && let ChannelEvent::Packet(packet) = &mut event.body
        {
            packet.read_as(self.dialect);
        }
        if event.time > self.now {
            self.emit_settled(event.time);
            self.now = event.time;
        }
        let TimedEvent { time, channel: id, at, body } = &event;
        let Some(channel) = self.channels.get_mut(id) else { return };
        let (states, findings) = (self.scope.includes_states(), self.scope.includes_findings());
        if states {
            channel.activity.own(*at, body);
            self.out.collect_intervals(channel, *time, self.scope);
        }
        if findings {
            channel.slack.own(*at, body);
            self.out.collect_slack(channel, self.scope);
            self.findings.row(&event);
        }
        // The bytes up to a stop tell which packets have left the buffer at the far end.
        let begun = channel.begun.observe(*at, body);
        let begun = begun.map(|body| TimedEvent { time: *time, channel: *id, at: *at, body });
        let (own_period, is_one_way) = (channel.channel.period, channel.peer.is_none());
        let is_command = matches!(body, ChannelEvent::Command(_));
        let is_first = is_command && !channel.has_command;
        let is_hole = matches!(body, ChannelEvent::Link(LinkEvent::Hole { .. }));
        channel.has_command = is_command || (channel.has_command && !is_hole);
        if let Some(peer) = channel.peer.filter(|_| states || findings)
            && let Some(peer) = self.channels.get_mut(&peer)
        {
            let period = peer.channel.period;
            let at = if period == own_period { *at } else { Tick(period.periods(*time)) };
            if states {
                peer.activity.opposite(at, body);
                self.out.collect_intervals(peer, *time, self.scope);
            }
            if findings {
                peer.slack.opposite(at, body);
                self.out.collect_slack(peer, self.scope);
            }
        }
        self.out.events.extend(begun);
        // The stops of a sender come as its own events, unless only its commands were recorded; the first command
        // tells that it was not stopped by one that was not recorded.
        let is_data = matches!(body, ChannelEvent::Data(_));
        if !is_data && (!is_command || is_one_way || is_first) {
            self.out.events.push(event);
        }
    }

    pub(super) fn finish(&mut self) {
        self.emit_settled(Picoseconds::MAX);
        self.findings.finish();
        for channel in self.channels.values_mut() {
            channel.activity.finish();
            self.out.collect_intervals(channel, Picoseconds::MAX, self.scope);
            channel.slack.finish();
            self.out.collect_slack(channel, self.scope);
        }
    }
}

impl LinkChannel {
    /// Emits the intervals that have ended for good: all events before a time have been processed.
    fn emit_settled(
        &mut self,
        until: Picoseconds,
        intervals: &mut Vec<(Picoseconds, ActivityInterval)>,
    ) {
        // An interval that ends at a character may continue as long as that character lasts.
        let after = self.activity.settled().0.saturating_add(1);
        let known = self.channel.period.time(after);
        if known <= until {
            self.activity.emit_settled();
            intervals.extend(self.activity.take_ended().map(|it| (known - 1, it)));
        }
    }

    /// Begin and end of what was recorded of it.
    fn span(&self) -> Option<[Picoseconds; 2]> {
        let (first, last) = self.activity.totals.counters.span()?;
        Some([first.0, last.0.saturating_add(1)].map(|at| self.channel.period.time(at)))
    }

    pub(super) fn report(
        &self,
        id: ChannelId,
        observed: ObservedParameters,
        peer: Option<&Self>,
    ) -> ChannelReport<'_> {
        let both = self.span().zip(peer.and_then(Self::span));
        let opposed = both.map(|([from, to], [begin, end])| [from.max(begin), to.min(end)]);
        ChannelReport {
            opposed: opposed.filter(|[from, to]| from < to),
            id,
            channel: &self.channel,
            peer: self.peer,
            now: self.activity.now(),
            totals: &self.activity.totals,
            leds: self.activity.leds(),
            parameters: self.slack.parameters().with_observed(observed.variants),
            hysteresis_max: observed.hysteresis_max,
        }
    }
}

impl LinkOutput {
    fn collect_intervals(
        &mut self,
        channel: &mut LinkChannel,
        known: Picoseconds,
        scope: AnalysisScope,
    ) {
        let ended = channel.activity.take_ended().filter(|_| scope.includes_intervals());
        self.intervals.extend(ended.map(|interval| (known, interval)));
    }

    fn collect_slack(&mut self, channel: &mut LinkChannel, scope: AnalysisScope) {
        if !channel.slack.has_events() {
            return;
        }
        let is_included =
            |event: &SlackEvent| scope.includes_fills() || !matches!(event, SlackEvent::Fill(_));
        self.slack.extend(channel.slack.take_events().filter(is_included));
    }
}
