//! A link: two opposite channels joined, or one whose opposite was not captured. F-1
//!
//! Links know nothing of each other, so they can be worked on side by side.

pub mod activity;
pub mod interval;
pub mod led;
pub mod parameters;
pub mod report;
pub mod slack;
pub mod state;
pub mod totals;

use std::collections::BTreeMap;

use codec::capture::{Channel, ChannelId, Chunk};
use codec::time::Tick;

use self::report::ChannelReport;
use self::slack::{ChannelParameters, LinkAssumptions, SlackEvent, SlackTracker};
use self::state::{ActivityInterval, ActivityTracker};
use crate::finding::FindingChecks;
use crate::packet::ByteRetention;
use crate::pipeline::AnalysisScope;
use crate::timeline::{
    EventBody, EventDetail, EventFilter, EventTimeline, TIMESTAMP_PS, Time, TimedEvent,
};

/// The channels of a link.
#[derive(Debug)]
pub struct LinkAnalysis {
    timeline: EventTimeline,
    account: LinkState,
}

/// What its rows come to.
#[derive(Debug)]
struct LinkState {
    sides: BTreeMap<ChannelId, LinkChannel>,
    findings: FindingChecks,
    out: LinkOutput,
    wanted: AnalysisScope,
    /// The moment of the last row.
    now: Time,
}

/// One channel of a link.
#[derive(Debug)]
struct LinkChannel {
    channel: Channel,
    peer: Option<ChannelId>,
    states: ActivityTracker,
    slack: SlackTracker,
}

/// What a link has found since it was last asked; each list is in order of time.
#[derive(Debug, Default)]
pub struct LinkOutput {
    /// Packets, their heads, framing and events: all that the network's storey goes by.
    pub events: Vec<TimedEvent>,
    /// States of channels that have come to an end, with the moments at which that was known.
    pub intervals: Vec<(Time, ActivityInterval)>,
    /// What was found about slack buffers.
    pub slack: Vec<SlackEvent>,
}

impl LinkAnalysis {
    /// A link of no channels.
    #[must_use]
    pub fn new(wanted: AnalysisScope) -> Self {
        let account = LinkState {
            sides: BTreeMap::new(),
            findings: FindingChecks::default(),
            out: LinkOutput::default(),
            wanted,
            now: 0,
        };
        Self { timeline: EventTimeline::new(EventFilter::All, ByteRetention::Forget), account }
    }

    /// Whether it has no channels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.account.sides.is_empty()
    }

    /// What each of its channels did, added up.
    pub fn reports(&self) -> impl Iterator<Item = ChannelReport<'_>> {
        self.account.sides.iter().map(|(id, side)| ChannelReport {
            id: *id,
            channel: &side.channel,
            peer: side.peer,
            summary: side.states.summary(),
            leds: side.states.leds(),
            parameters: side.slack.parameters().with_observed(self.findings().variants(*id)),
            hysteresis_max: self.findings().hysteresis_max(*id),
        })
    }

    /// What there is to say about the slack buffer at the far end of each of its channels.
    pub fn slack(&self) -> impl Iterator<Item = &SlackTracker> {
        self.account.sides.values().map(|side| &side.slack)
    }

    /// What is odd about its channels.
    #[must_use]
    pub const fn findings(&self) -> &FindingChecks {
        &self.account.findings
    }

    /// Takes over the channels of another.
    pub fn absorb(&mut self, other: Self) {
        let LinkState { sides, findings, out, wanted: _, now: _ } = other.account;
        self.timeline.absorb(other.timeline);
        let account = &mut self.account;
        account.sides.extend(sides);
        account.findings.absorb(&findings);
        account.out.events.extend(out.events);
        account.out.intervals.extend(out.intervals);
        account.out.slack.extend(out.slack);
    }

    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel, assumptions: &LinkAssumptions) {
        self.timeline.declare(id, channel);
        let parameters = ChannelParameters::of(channel, assumptions);
        self.account.findings.declare(id, channel, &parameters);
        let side = LinkChannel {
            channel: channel.clone(),
            peer: None,
            states: ActivityTracker::new(id),
            slack: SlackTracker::new(id, channel, assumptions),
        };
        self.account.sides.insert(id, side);
    }

    /// Makes two of its channels the directions of the link.
    pub fn join(&mut self, one: ChannelId, other: ChannelId) {
        self.timeline.link(one, other);
        self.account.findings.join(one, other);
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(side) = self.account.sides.get_mut(&id) {
                side.peer = Some(peer);
            }
        }
    }

    /// Takes the next chunk of a channel.
    pub fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>) {
        let Self { timeline, account } = self;
        if account.wanted.includes_states()
            && let Some(side) = account.sides.get_mut(&id)
        {
            side.states.recorded(chunk);
        }
        account.findings.feed(id, chunk);
        timeline.feed(id, chunk, &mut |row| account.take(row));
        account.recorded(id, [chunk.first, chunk.end()]);
    }

    /// No chunk to come begins before this moment.
    pub fn pass(&mut self, moment: Time) {
        let Self { timeline, account } = self;
        timeline.pass(moment, &mut |row| account.take(row));
        account.emit_settled(moment.saturating_sub(TIMESTAMP_PS));
    }

    /// The recording ends.
    pub fn finish(&mut self) {
        let Self { timeline, account } = self;
        timeline.finish(&mut |row| account.take(row));
        account.finish();
    }

    /// What was found since it was last asked.
    pub fn take_output(&mut self) -> LinkOutput {
        // As much will come again.
        let LinkOutput { events: rows, intervals, slack } = &self.account.out;
        let next = LinkOutput {
            events: Vec::with_capacity(rows.len()),
            intervals: Vec::with_capacity(intervals.len()),
            slack: Vec::with_capacity(slack.len()),
        };
        std::mem::replace(&mut self.account.out, next)
    }
}

impl LinkState {
    /// All rows of before a moment have been taken: hands out the stretches that have ended for good.
    fn emit_settled(&mut self, until: Time) {
        let Self { sides, out, wanted, .. } = self;
        if !wanted.includes_intervals() {
            return;
        }
        let from = out.intervals.len();
        for side in sides.values_mut() {
            // What ends at a character may go on, as long as that character lasts.
            let after = Time::from(side.states.settled().0) + 1;
            let known = after * Time::from(side.channel.period_ps.get());
            if known <= until {
                side.states.emit_settled(&mut |interval| out.intervals.push((known - 1, interval)));
            }
        }
        if let Some(new) = out.intervals.get_mut(from..) {
            new.sort_by_key(|(known, interval)| (*known, interval.channel));
        }
    }

    /// A channel has been recorded from a place up to another.
    fn recorded(&mut self, id: ChannelId, places: [Tick; 2]) {
        let Some(side) = self.sides.get_mut(&id) else { return };
        side.slack.recorded(places);
        let (peer, period_ps) = (side.peer, side.channel.period_ps.get());
        if let Some(peer) = peer.and_then(|peer| self.sides.get_mut(&peer)) {
            peer.slack.opposite_recorded(period_ps, places);
        }
    }

    fn take(&mut self, row: TimedEvent) {
        if row.time > self.now {
            self.emit_settled(row.time);
            self.now = row.time;
        }
        let Self { sides, findings, out, wanted, now: _ } = self;
        let TimedEvent { time, channel, at, body: what } = &row;
        let Some(side) = sides.get_mut(channel) else { return };
        let (states, intervals) = (wanted.includes_states(), wanted.includes_intervals());
        if states {
            side.states.own(*at, what, &mut |interval| {
                out.intervals.extend(intervals.then_some((*time, interval)));
            });
        }
        side.slack.own(*at, what, &mut |said| out.slack.extend(wanted.select_slack(said)));
        findings.row(&row);
        let own_period_ps = side.channel.period_ps;
        if let Some(peer) = side.peer
            && let Some(peer) = sides.get_mut(&peer)
        {
            let at = match peer.channel.period_ps {
                period_ps if period_ps == own_period_ps => *at,
                period_ps => {
                    let at = time / Time::from(period_ps.get());
                    Tick(u64::try_from(at).unwrap_or(u64::MAX))
                }
            };
            if states {
                peer.states.opposite(at, what, &mut |interval| {
                    out.intervals.extend(intervals.then_some((*time, interval)));
                });
            }
            peer.slack.opposite(at, what, &mut |said| out.slack.extend(wanted.select_slack(said)));
        }
        match what {
            EventBody::Detail(
                EventDetail::Begins | EventDetail::Data(_) | EventDetail::Command(_),
            ) => {}
            EventBody::Detail(EventDetail::Head(_) | EventDetail::Framed)
            | EventBody::Packet(_)
            | EventBody::Event(_)
            | EventBody::Omitted { .. } => out.events.push(row),
        }
    }

    fn finish(&mut self) {
        self.emit_settled(Time::MAX);
        let Self { sides, out, wanted, findings, now: _ } = self;
        findings.finish();
        let intervals = wanted.includes_intervals();
        for side in sides.values_mut() {
            side.states.finish(&mut |interval| {
                out.intervals.extend(intervals.then_some((Time::MAX, interval)));
            });
            side.slack.finish(&mut |said| out.slack.extend(wanted.select_slack(said)));
        }
    }
}
