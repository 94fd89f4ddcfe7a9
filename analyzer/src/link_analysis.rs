//! A link: two paired opposite channels, or one whose opposite was not captured. F-1
//!
//! Links are independent of each other, so they can be processed in parallel.

mod active;
mod begun_bytes;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::framing::LinkRules;

use self::active::{ActiveLink, LinkChannel};
use crate::event::{Picoseconds, TimedEvent};
use crate::finding::{FindingCase, FindingChecks};
use crate::link::interval::{ActivityInterval, PeriodTotals};
use crate::link::parameters::{ChannelParameters, LinkAssumptions};
use crate::link::report::ChannelReport;
use crate::link::slack::{SlackEvent, SlackTracker};
use crate::link::totals::ChannelTotals;
use crate::options::AnalysisScope;

/// Analysis of the channels of a link. A link has no state but the descriptions of its channels until its first
/// character, so that memory depends on what was recorded, not on what was declared.
#[derive(Debug)]
pub struct LinkAnalysis {
    scope: AnalysisScope,
    assumptions: Arc<LinkAssumptions>,
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
    pub fn new(scope: AnalysisScope, assumptions: Arc<LinkAssumptions>) -> Self {
        let (silent, ended) = (Vec::new(), Vec::new());
        Self { scope, assumptions, silent, is_finished: false, active: None, ended }
    }

    /// True without channels.
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
            opposed: None,
            now: None,
            totals: &SILENT.0,
            leds: &SILENT.1,
            parameters: ChannelParameters::of(channel, &self.assumptions),
            hysteresis_max: None,
        });
        let active = self.active.iter().flat_map(|active| active.state.reports());
        silent.chain(active).chain(self.ended.iter().filter_map(|(id, it)| {
            let peer = self.ended.iter().find(|(other, _)| Some(*other) == it.peer);
            Some(it.report(*id, it.ended?, peer.map(|(_, peer)| &**peer)))
        }))
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
            None if self.is_finished => findings.absorb_silent(self.finished().state.findings),
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
    pub fn declare(&mut self, id: ChannelId, channel: &Arc<Channel>) {
        if let Some(active) = &mut self.active {
            return active.declare(id, channel, &self.assumptions);
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
            if let Some(channel) = self.silent.iter_mut().find(|it| it.id == id) {
                channel.peer = Some(peer);
            }
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

impl LinkOutput {
    pub(crate) const fn is_empty(&self) -> bool {
        let Self { events, intervals, slack, cases } = self;
        events.is_empty() && intervals.is_empty() && slack.is_empty() && cases.is_empty()
    }
}
