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

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::framing::LinkRules;
use codec::packet::PacketDialect;
use codec::time::Tick;

use self::interval::{ActivityInterval, PeriodTotals};
use self::parameters::{ChannelParameters, LinkAssumptions};
use self::report::ChannelReport;
use self::slack::{SlackEvent, SlackTracker};
use self::state::ActivityTracker;
use self::totals::ChannelTotals;
use crate::event::{ChannelEvent, Picoseconds, TimedEvent};
use crate::finding::{FindingCase, FindingChecks};
use crate::options::AnalysisScope;
use crate::packet::ByteRetention;
use crate::timeline::{EventFilter, EventTimeline, TIMESTAMP_PS};

/// Analysis of the channels of a link. A link has no state but the descriptions of its channels until its first
/// character, so that memory depends on what was recorded, not on what was declared.
#[derive(Debug)]
pub struct LinkAnalysis {
    scope: AnalysisScope,
    assumptions: LinkAssumptions,
    /// Its channels in order, while none has a character.
    silent: Vec<SilentChannel>,
    is_finished: bool,
    active: Option<Box<ActiveLink>>,
    /// Its channels once its findings have been moved away.
    ended: Vec<(ChannelId, Box<LinkChannel>)>,
}

/// A channel without a character.
#[derive(Debug)]
struct SilentChannel {
    id: ChannelId,
    channel: Arc<Channel>,
    peer: Option<ChannelId>,
}

/// Totals of a channel without a character.
static SILENT: LazyLock<(ChannelTotals, PeriodTotals<4>)> = LazyLock::new(Default::default);

/// A link with characters.
#[derive(Debug)]
struct ActiveLink {
    timeline: EventTimeline,
    state: LinkState,
}

#[derive(Debug)]
struct LinkState {
    channels: BTreeMap<ChannelId, Box<LinkChannel>>,
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
    channel: Arc<Channel>,
    peer: Option<ChannelId>,
    activity: ActivityTracker,
    slack: SlackTracker,
    /// What its findings say of its parameters, once it has ended.
    ended: Option<ObservedParameters>,
}

/// Variants of a channel's sender, and the greatest hysteresis of the buffer that it fills.
#[derive(Clone, Copy, Debug)]
struct ObservedParameters {
    variants: [Option<u32>; 2],
    hysteresis_max: Option<u32>,
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
        let (assumptions, silent) = (LinkAssumptions::default(), Vec::new());
        Self { scope, assumptions, silent, is_finished: false, active: None, ended: Vec::new() }
    }

    /// True without channels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.silent.is_empty() && self.active.is_none() && self.ended.is_empty()
    }

    /// True before its first character.
    const fn is_silent(&self) -> bool {
        self.active.is_none()
    }

    /// Reports of its channels.
    pub fn reports(&self) -> impl Iterator<Item = ChannelReport<'_>> {
        let silent = self.silent.iter().map(|SilentChannel { id, channel, peer }| ChannelReport {
            id: *id,
            channel,
            peer: *peer,
            now: None,
            totals: &SILENT.0,
            leds: &SILENT.1,
            parameters: ChannelParameters::of(channel, &self.assumptions),
            hysteresis_max: None,
        });
        let active = self.active.iter().flat_map(|active| active.state.reports());
        silent
            .chain(active)
            .chain(self.ended.iter().filter_map(|(id, it)| Some(it.report(*id, it.ended?))))
    }

    /// Slack buffers at the far ends of its channels.
    pub fn slack(&self) -> impl Iterator<Item = Cow<'_, SlackTracker>> {
        let silent = self.silent.iter().map(|SilentChannel { id, channel, .. }| {
            Cow::Owned(SlackTracker::new(*id, channel, &self.assumptions, self.scope))
        });
        let active = self.active.iter().flat_map(|active| active.state.channels.values());
        let ended = self.ended.iter().map(|(_, channel)| channel);
        silent.chain(active.chain(ended).map(|channel| Cow::Borrowed(&channel.slack)))
    }

    /// Adds the findings about its channels.
    pub fn add_findings(&self, findings: &mut FindingChecks) {
        match &self.active {
            Some(active) => findings.absorb(&active.state.findings),
            None if self.is_finished => findings.absorb_silent(&self.finished().state.findings),
            None => {}
        }
    }

    /// Moves the findings about its channels at its end, and releases what only further characters need.
    pub(crate) fn end(&mut self, findings: &mut FindingChecks) {
        self.add_findings(findings);
        self.is_finished = false;
        if let Some(mut active) = self.active.take() {
            active.state.observe();
            self.ended = active.state.channels.into_iter().collect();
        }
    }

    /// Moves the channels of another link into this one.
    pub fn absorb(&mut self, mut other: Self) {
        self.assumptions = other.assumptions;
        if self.is_silent() && other.is_silent() {
            self.silent.append(&mut other.silent);
            self.silent.sort_by_key(|it| it.id);
            return;
        }
        other.activate();
        if let Some(other) = other.active {
            self.activate().absorb(*other);
        }
    }

    /// Adds a channel.
    pub fn declare(
        &mut self,
        id: ChannelId,
        channel: &Arc<Channel>,
        assumptions: &LinkAssumptions,
    ) {
        self.assumptions = *assumptions;
        if let Some(active) = &mut self.active {
            return active.declare(id, channel, assumptions);
        }
        self.silent.reserve_exact(1);
        self.silent.push(SilentChannel { id, channel: Arc::clone(channel), peer: None });
        self.silent.sort_by_key(|it| it.id);
        // Its counters have codes of its own. C-7
        if channel.link_rules() != LinkRules::MYRINET {
            self.activate();
        }
    }

    /// Pairs two of its channels as the directions of the link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        if let Some(active) = &mut self.active {
            return active.join(one, other);
        }
        for (id, peer) in [(one, other), (other, one)] {
            let channel = self.silent.iter_mut().find(|it| it.id == id);
            channel.into_iter().for_each(|channel| channel.peer = Some(peer));
        }
    }

    /// The link as it was declared, ready for characters.
    fn activated(&self) -> ActiveLink {
        let mut active = ActiveLink::new(self.scope);
        for SilentChannel { id, channel, .. } in &self.silent {
            active.declare(*id, channel, &self.assumptions);
        }
        for SilentChannel { id, peer, .. } in &self.silent {
            if let Some(peer) = peer.filter(|peer| id < peer) {
                active.join(*id, peer);
            }
        }
        active
    }

    /// A silent link at its end.
    fn finished(&self) -> ActiveLink {
        let mut active = self.activated();
        active.finish();
        active
    }

    fn activate(&mut self) -> &mut ActiveLink {
        if self.active.is_none() {
            self.active = Some(Box::new(self.activated()));
            self.silent = Vec::new();
        }
        let (scope, active) = (self.scope, &mut self.active);
        active.get_or_insert_with(|| Box::new(ActiveLink::new(scope)))
    }

    /// Processes the next chunk of a channel.
    pub fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>) {
        self.activate().feed(id, chunk);
    }

    /// Processes the events before a time that no later chunk begins before.
    pub fn pass(&mut self, time: Picoseconds) {
        if let Some(active) = &mut self.active {
            active.pass(time);
        }
    }

    /// Ends the recording.
    pub fn finish(&mut self) {
        self.is_finished = true;
        if let Some(active) = &mut self.active {
            active.finish();
        }
    }

    /// Removes the output so far.
    pub fn take_output(&mut self) -> LinkOutput {
        match &mut self.active {
            Some(active) => active.take_output(),
            None if self.is_finished => self.finished().take_output(),
            None => LinkOutput::default(),
        }
    }
}

impl ActiveLink {
    fn new(scope: AnalysisScope) -> Self {
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

    fn absorb(&mut self, other: Self) {
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

    fn declare(&mut self, id: ChannelId, channel: &Arc<Channel>, assumptions: &LinkAssumptions) {
        self.timeline.declare(id, channel);
        self.state.dialect = assumptions.dialect();
        let parameters = ChannelParameters::of(channel, assumptions);
        self.state.findings.declare(id, channel, &parameters);
        let channel = Box::new(LinkChannel {
            channel: Arc::clone(channel),
            peer: None,
            activity: ActivityTracker::new(id, channel),
            slack: SlackTracker::new(id, channel, assumptions, self.state.scope),
            ended: None,
        });
        self.state.channels.insert(id, channel);
    }

    fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.timeline.link(one, other);
        self.state.findings.join(one, other);
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(channel) = self.state.channels.get_mut(&id) {
                channel.peer = Some(peer);
            }
        }
    }

    fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>) {
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

    fn pass(&mut self, time: Picoseconds) {
        let Self { timeline, state } = self;
        timeline.pass(time, &mut |event| state.process(event));
        state.emit_settled(time.saturating_sub(TIMESTAMP_PS));
    }

    fn finish(&mut self) {
        let Self { timeline, state } = self;
        timeline.finish(&mut |event| state.process(event));
        state.finish();
    }

    fn take_output(&mut self) -> LinkOutput {
        self.state.out.cases.extend(self.state.findings.take_cases());
        // The next output will be about as long.
        let LinkOutput { events, intervals, slack, cases: _ } = &self.state.out;
        let next = LinkOutput {
            events: Vec::with_capacity(events.len()),
            intervals: Vec::with_capacity(intervals.len()),
            slack: Vec::with_capacity(slack.len()),
            cases: Vec::new(),
        };
        std::mem::replace(&mut self.state.out, next)
    }
}

impl LinkState {
    fn reports(&self) -> impl Iterator<Item = ChannelReport<'_>> {
        self.channels.iter().map(|(id, it)| it.report(*id, self.observed(*id)))
    }

    fn observed(&self, id: ChannelId) -> ObservedParameters {
        let Self { findings, .. } = self;
        let (variants, hysteresis_max) = (findings.variants(id), findings.hysteresis_max(id));
        ObservedParameters { variants, hysteresis_max }
    }

    /// Keeps what the findings say of the parameters.
    fn observe(&mut self) {
        let ids: Vec<ChannelId> = self.channels.keys().copied().collect();
        for id in ids {
            let observed = self.observed(id);
            self.channels.get_mut(&id).into_iter().for_each(|it| it.ended = Some(observed));
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

impl LinkChannel {
    fn report(&self, id: ChannelId, observed: ObservedParameters) -> ChannelReport<'_> {
        ChannelReport {
            id,
            channel: &self.channel,
            peer: self.peer,
            now: self.activity.now(),
            totals: self.activity.totals(),
            leds: self.activity.leds(),
            parameters: self.slack.parameters().with_observed(observed.variants),
            hysteresis_max: observed.hysteresis_max,
        }
    }
}

impl LinkOutput {
    pub(crate) const fn is_empty(&self) -> bool {
        let Self { events, intervals, slack, cases } = self;
        events.is_empty() && intervals.is_empty() && slack.is_empty() && cases.is_empty()
    }

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
