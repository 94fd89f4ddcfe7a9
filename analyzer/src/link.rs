//! A link: two paired opposite channels, or one whose opposite was not captured. F-1
//!
//! Links are independent of each other, so they can be processed in parallel.

pub mod activity;
pub mod interval;
pub mod led;
pub mod parameters;
pub mod report;
pub mod slack;
mod state;
pub mod totals;

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId, Chunk};
use codec::packet::PacketDialect;
use codec::time::Tick;

use self::interval::ActivityInterval;
use self::parameters::{ChannelParameters, LinkAssumptions};
use self::report::ChannelReport;
use self::slack::{SlackEvent, SlackTracker};
use self::state::ActivityTracker;
use crate::event::{ChannelEvent, Picoseconds, TimedEvent};
use crate::finding::{FindingCase, FindingChecks};
use crate::options::AnalysisScope;
use crate::packet::ByteRetention;
use crate::timeline::{EventFilter, EventTimeline, TIMESTAMP_PS};

/// Analysis of the channels of a link.
#[derive(Debug)]
pub struct LinkAnalysis {
    timeline: EventTimeline,
    state: LinkState,
}

#[derive(Debug)]
struct LinkState {
    channels: BTreeMap<ChannelId, LinkChannel>,
    findings: FindingChecks,
    out: LinkOutput,
    scope: AnalysisScope,
    dialect: PacketDialect,
    /// Time of the last event.
    now: Picoseconds,
}

/// One channel of a link.
#[derive(Debug)]
struct LinkChannel {
    channel: Channel,
    peer: Option<ChannelId>,
    activity: ActivityTracker,
    slack: SlackTracker,
}

/// Output of a link since the last call of [`LinkAnalysis::take_output`]; each list is in order of time.
#[derive(Debug, Default)]
pub struct LinkOutput {
    /// Packets, their first bytes, framing and link events: the input of journeys, waits and
    /// conversations.
    pub events: Vec<TimedEvent>,
    /// Ended intervals, each with the time at which its end became known.
    pub intervals: Vec<(Picoseconds, ActivityInterval)>,
    /// Events of slack buffers.
    pub slack: Vec<SlackEvent>,
    /// Cases of findings, in the order in which they were found.
    pub cases: Vec<FindingCase>,
}

impl LinkAnalysis {
    /// A link without channels.
    #[must_use]
    pub fn new(scope: AnalysisScope) -> Self {
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

    /// True without channels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.channels.is_empty()
    }

    /// Reports of its channels.
    pub fn reports(&self) -> impl Iterator<Item = ChannelReport<'_>> {
        self.state.channels.iter().map(|(id, it)| ChannelReport {
            id: *id,
            channel: &it.channel,
            peer: it.peer,
            now: it.activity.now(),
            totals: it.activity.totals(),
            leds: it.activity.leds(),
            parameters: it.slack.parameters().with_observed(self.findings().variants(*id)),
            hysteresis_max: self.findings().hysteresis_max(*id),
        })
    }

    /// Slack buffers at the far ends of its channels.
    pub fn slack(&self) -> impl Iterator<Item = &SlackTracker> {
        self.state.channels.values().map(|channel| &channel.slack)
    }

    /// Findings about its channels.
    #[must_use]
    pub const fn findings(&self) -> &FindingChecks {
        &self.state.findings
    }

    /// Moves the channels of another link into this one.
    pub fn absorb(&mut self, other: Self) {
        let LinkState { channels, findings, out, scope: _, dialect: _, now: _ } = other.state;
        self.timeline.absorb(other.timeline);
        let state = &mut self.state;
        state.channels.extend(channels);
        state.findings.absorb(&findings);
        state.out.events.extend(out.events);
        state.out.intervals.extend(out.intervals);
        state.out.slack.extend(out.slack);
        state.out.cases.extend(out.cases);
    }

    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel, assumptions: &LinkAssumptions) {
        self.timeline.declare(id, channel);
        self.state.dialect = assumptions.dialect();
        let parameters = ChannelParameters::of(channel, assumptions);
        self.state.findings.declare(id, channel, &parameters);
        let channel = LinkChannel {
            channel: channel.clone(),
            peer: None,
            activity: ActivityTracker::new(id, channel),
            slack: SlackTracker::new(id, channel, assumptions, self.state.scope),
        };
        self.state.channels.insert(id, channel);
    }

    /// Pairs two of its channels as the directions of the link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.timeline.link(one, other);
        self.state.findings.join(one, other);
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(channel) = self.state.channels.get_mut(&id) {
                channel.peer = Some(peer);
            }
        }
    }

    /// Processes the next chunk of a channel.
    pub fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>) {
        let Self { timeline, state } = self;
        if state.scope.includes_states()
            && let Some(channel) = state.channels.get_mut(&id)
        {
            channel.activity.recorded(chunk);
        }
        if !timeline.is_continued_by(id, chunk) {
            timeline.advance_to(id, chunk.first, &mut |event| state.process(event));
        }
        state.findings.symbols(id, chunk, |checks| {
            timeline.add(id, chunk, &mut |at, event| checks.observe(at, event));
        });
        state.recorded(id, [chunk.first, chunk.end()]);
    }

    /// Processes the events before a time that no later chunk begins before.
    pub fn pass(&mut self, time: Picoseconds) {
        let Self { timeline, state } = self;
        timeline.pass(time, &mut |event| state.process(event));
        state.emit_settled(time.saturating_sub(TIMESTAMP_PS));
    }

    /// Ends the recording.
    pub fn finish(&mut self) {
        let Self { timeline, state } = self;
        timeline.finish(&mut |event| state.process(event));
        state.finish();
    }

    /// Removes the output so far.
    pub fn take_output(&mut self) -> LinkOutput {
        // The next output will be about as long.
        let LinkOutput { events, intervals, slack, cases: _ } = &self.state.out;
        let next = LinkOutput {
            events: Vec::with_capacity(events.len()),
            intervals: Vec::with_capacity(intervals.len()),
            slack: Vec::with_capacity(slack.len()),
            cases: Vec::new(),
        };
        self.state.out.cases.extend(self.state.findings.take_cases());
        std::mem::replace(&mut self.state.out, next)
    }
}

impl LinkState {
    /// Emits the intervals that have ended for good: all events before a time have been processed.
    fn emit_settled(&mut self, until: Picoseconds) {
        let Self { channels, out, scope, .. } = self;
        if !scope.includes_intervals() {
            return;
        }
        let from = out.intervals.len();
        for it in channels.values_mut() {
            // An interval that ends at a character may continue as long as that character lasts.
            let after = it.activity.settled().0.saturating_add(1);
            let known = it.channel.period.time(after);
            if known <= until {
                it.activity.emit_settled();
                out.intervals.extend(it.activity.take_ended().map(|it| (known - 1, it)));
            }
        }
        if let Some(new) = out.intervals.get_mut(from..) {
            new.sort_by_key(|(known, interval)| (*known, interval.channel));
        }
    }

    /// Adds a recorded range of a channel.
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
        let states = self.scope.includes_states();
        if states {
            channel.activity.own(*at, body);
            self.out.collect_intervals(channel, *time, self.scope);
        }
        channel.slack.own(*at, body);
        self.out.collect_slack(channel, self.scope);
        self.findings.row(&event);
        let own_period = channel.channel.period;
        if let Some(peer) = channel.peer
            && let Some(peer) = self.channels.get_mut(&peer)
        {
            let at = match peer.channel.period {
                period if period == own_period => *at,
                period => Tick(period.periods(*time)),
            };
            if states {
                peer.activity.opposite(at, body);
                self.out.collect_intervals(peer, *time, self.scope);
            }
            peer.slack.opposite(at, body);
            self.out.collect_slack(peer, self.scope);
        }
        match body {
            ChannelEvent::Begins | ChannelEvent::Data(_) | ChannelEvent::Command(_) => {}
            ChannelEvent::Head(_) | ChannelEvent::Framed | ChannelEvent::Packet(_) => {
                self.out.events.push(event);
            }
            ChannelEvent::Link(_) | ChannelEvent::Omitted { .. } => self.out.events.push(event),
        }
    }

    fn finish(&mut self) {
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
