//! Stops and standing packets of a section, weighed against the recorded time at its end. F-1, S-3, I-4

mod standing_sender;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use codec::capture::ChannelId;
use codec::time::FULL_RATE_PERIOD_PS;

pub use self::standing_sender::NOTHING_FOLLOWS;
use self::standing_sender::{StandingCause, StandingSender, at_output, share};
use super::fact::FindingFact;
use super::set::Occurrence;
use super::{FindingChecks, FindingKind, Severity};
use crate::blocking::{BlockingEvent, EndCause, STANDS, STANDS_UNSEEN, StopReport, WaitRoot};
use crate::capture_network::CaptureNetwork;
use crate::event::{ChannelEvent, LinkEvent, Picoseconds, TimedEvent};
use crate::flow_control::{FlowControl, FlowInput};
use crate::packet::{FrameEnd, ReceivedPacket};
use crate::recorded::RecordedTime;

/// Minimum share of the recorded time, as its reciprocal, for which a sender must be stopped to count as held
/// up, if it is as long as a standstill. *Chosen*: a tenth.
const HELD_UP_SHARE: u64 = 10;
const PERIOD: Picoseconds = FULL_RATE_PERIOD_PS as Picoseconds;
/// Minimum duration of a standstill that ends. *Chosen*: 13 ms, a quarter of the blocked-packet timeout. R-4
const STANDS_VERY_LONG: Picoseconds = (1 << 20) * PERIOD;

/// Minimum duration of a stop to the end, a tenth of the recording at least, that may be a standstill if its cause is out
/// of sight. *Chosen*: 12.8 µs.
const MAY_STAND: Picoseconds = (1 << 10) * PERIOD;

/// Packets of others for which a sender may wait without a standstill. *Chosen*: one from each other port of a switch of 16.
const TURNS: Picoseconds = 16;

/// Maximum of kept pairs of a stopped channel and its cause. *Chosen*: more than a network of 1000 links has.
const HOLDS_MAX: usize = 1 << 14;

/// Stops and standing packets of the section.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldTime {
    /// By stopped channel, cause and the channel at whose far end it is.
    stops: BTreeMap<(ChannelId, WaitRoot, ChannelId), StoppedTime>,
    /// Longest wait of each channel that lasted to the end or very long.
    standing: BTreeMap<ChannelId, StandingSender>,
    /// Ends of the last stops of channels: before them a packet waited for GO.
    resumed: BTreeMap<ChannelId, Picoseconds>,
    /// Deadlocks, by their first channels.
    deadlocks: BTreeMap<ChannelId, StoppedTime>,
    /// Senders whose own channels were not recorded, by the opposite ones, which carry their STOP and GO.
    unrecorded: BTreeMap<ChannelId, UnrecordedSender>,
    /// Channels on which nothing tells yet whether a packet is under way, since these times. P-1
    unframed: BTreeMap<ChannelId, Picoseconds>,
    /// Duration of the longest packet that ended.
    longest: Picoseconds,
}

/// A sender of which only the commands were recorded.
#[derive(Clone, Debug, Default)]
struct UnrecordedSender {
    control: FlowControl,
    since: Picoseconds,
}

/// Stops or deadlocks of the same channel and cause.
#[derive(Clone, Debug)]
struct StoppedTime {
    since: Picoseconds,
    until: Picoseconds,
    total: Picoseconds,
    /// True if the last one, a deadlock, lasts to the end of the recording.
    lasts: bool,
}

impl StoppedTime {
    const fn new(since: Picoseconds, until: Picoseconds) -> Self {
        Self { since, until, total: until.saturating_sub(since), lasts: false }
    }

    /// Adds a stop that was reported later than those before.
    fn add_to<K: Ord>(self, known: Entry<'_, K, Self>) {
        known
            .and_modify(|known| {
                known.until = known.until.max(self.until);
                known.lasts = self.lasts;
                known.total += self.total;
            })
            .or_insert(self);
    }
}

impl HeldTime {
    pub(super) fn add(&mut self, blocked: &BlockingEvent) {
        match blocked {
            BlockingEvent::Stop(stop) => self.add_stop(stop),
            BlockingEvent::Deadlock(deadlock) => {
                let stopped = StoppedTime {
                    lasts: deadlock.broken.is_none(),
                    ..StoppedTime::new(deadlock.since, deadlock.until)
                };
                if let Some(first) = deadlock.channels.first() {
                    stopped.add_to(self.deadlocks.entry(*first));
                }
            }
        }
    }

    fn add_stop(&mut self, stop: &StopReport) {
        self.resumed.insert(stop.channel, stop.until);
        let StopReport { channel, since, until, packet, root, ref chain, ref standing, .. } = *stop;
        let lasts = standing.is_some();
        // A packet of a stopped sender stands for the cause of the stop.
        let is_told = |known: &StandingSender| {
            let is_stopped = matches!(known.cause, StandingCause::Stopped(_));
            lasts && !is_stopped && known.since >= since
        };
        if self.standing.get(&channel).is_some_and(is_told) {
            self.standing.remove(&channel);
        }
        let key = (channel, root, stop.last());
        let all = || EndCause { since, chain: chain.clone(), root };
        // What it waited for until shortly before the end does not stand.
        let EndCause { since, chain, root } = standing.clone().unwrap_or_else(all);
        let cause = StandingCause::Stopped(root);
        self.stopped(key, stop.since, StandingSender { since, until, packet, chain, cause, lasts });
    }

    fn stopped(
        &mut self,
        key: (ChannelId, WaitRoot, ChannelId),
        since: Picoseconds,
        sender: StandingSender,
    ) {
        if self.stops.len() < HOLDS_MAX || self.stops.contains_key(&key) {
            StoppedTime::new(since, sender.until).add_to(self.stops.entry(key));
        }
        if sender.lasts || sender.until - since >= STANDS_VERY_LONG {
            self.stand(key.0, sender);
        }
    }

    /// Applies an input to the sender whose commands are on a channel.
    fn command(&mut self, channel: ChannelId, time: Picoseconds, input: FlowInput) {
        let sender = self.unrecorded.entry(channel).or_default();
        let before = sender.control;
        sender.control.step(input);
        match (before == FlowControl::Stopped, sender.control == FlowControl::Stopped) {
            (false, true) => sender.since = time,
            (true, false) => {
                let stopped = StandingSender::unseen([sender.since, time.max(sender.since)]);
                self.stopped((channel, WaitRoot::OutOfSight, channel), stopped.since, stopped);
            }
            (true, true) | (false, false) => {}
        }
    }

    /// Ends the stops of senders of which only the commands were recorded with the recording of these.
    fn finish(&mut self, recorded: &RecordedTime) {
        let stopped = self.unrecorded.iter().filter(|(_, it)| it.control == FlowControl::Stopped);
        let stopped: Vec<_> = stopped.map(|(id, sender)| (*id, sender.since)).collect();
        for (channel, since) in stopped {
            let end = recorded.link_span(channel).map_or(since, |[_, end]| end.max(since));
            let standing = StandingSender { lasts: true, ..StandingSender::unseen([since, end]) };
            self.stopped((channel, WaitRoot::OutOfSight, channel), since, standing);
        }
    }

    /// Records a sender that stands to the end: the longer of the times when STOP and GO to it were not known, and were.
    fn stands_to(
        &mut self,
        (channel, packet): (ChannelId, Option<u64>),
        [since, end]: [Picoseconds; 2],
        network: &CaptureNetwork,
    ) {
        let known = packet.and_then(|_| network.commands_known(channel));
        let told = known.unwrap_or(end).clamp(since, end);
        let (since, until, cause) = if told - since > end - told {
            (since, told, StandingCause::NoCommands)
        } else {
            (told, end, StandingCause::Nothing)
        };
        let chain = Vec::new();
        self.stand(channel, StandingSender { since, until, packet, chain, cause, lasts: true });
    }

    /// The fact that a finding is about the sender that receives a channel.
    fn unrecorded(&self, channel: ChannelId) -> Option<FindingFact> {
        let is_unrecorded = self.unrecorded.contains_key(&channel);
        is_unrecorded.then(|| FindingFact::word("unrecorded", "opposite"))
    }

    fn stand(&mut self, channel: ChannelId, new: StandingSender) {
        let is_longer = |known: &StandingSender| new.until - new.since > known.until - known.since;
        if self.standing.get(&channel).is_none_or(is_longer) {
            self.standing.insert(channel, new);
        }
    }
}

impl FindingChecks {
    /// Records the length of a packet, or that the end of the recording cut it: it may have stood for a while. P-1
    pub(crate) fn packet_ended(&mut self, event: &TimedEvent, network: &CaptureNetwork) {
        let Some(ReceivedPacket { ended_by, number, end, length, .. }) = event.body.packet() else {
            return;
        };
        if *ended_by != FrameEnd::CaptureEnd {
            let lasted = network.period(event.channel).time(*length);
            self.held.longest = self.held.longest.max(lasted);
        } else {
            let stopped = self.held.resumed.get(&event.channel).copied().unwrap_or_default();
            let since = network.period(event.channel).time(end.0 + 1).max(stopped);
            let span = [since, event.time.max(since)];
            self.held.stands_to((event.channel, Some(*number)), span, network);
        }
    }

    /// Follows STOP and GO to a sender, and whether a packet may be under way on a channel. F-1, P-1
    pub(crate) fn commands(&mut self, event: &TimedEvent, network: &CaptureNetwork) {
        let TimedEvent { channel, time, .. } = *event;
        if network.has_no_stop(channel) {
            return;
        }
        if let ChannelEvent::Begins | ChannelEvent::Link(LinkEvent::Hole { .. }) = event.body {
            self.held.unframed.insert(channel, time);
        } else if event.is_framed() {
            self.held.unframed.remove(&channel);
        }
        if let (Some(input), None) = (network.command(event), network.opposite(channel)) {
            let time = event.hole_begins(network.period(channel)).unwrap_or(time);
            self.held.command(channel, time, input);
        }
    }

    /// Reports at the end of a section what stood still and who held up whom.
    pub(crate) fn standstill(&mut self, network: &CaptureNetwork) {
        let mut held = std::mem::take(&mut self.held);
        let recorded = std::mem::take(&mut self.set.recorded);
        held.finish(&recorded);
        for (channel, since) in std::mem::take(&mut held.unframed) {
            if let Some([_, end]) = recorded.span(channel)
                && network.commands_known(channel).is_none()
            {
                held.stands_to((channel, None), [since, end.max(since)], network);
            }
        }
        let span = |id| recorded.link_span(id);
        for (channel, mut sender) in std::mem::take(&mut held.standing) {
            sender.recorded_to(span(channel).map_or(0, |[_, to]| to));
            let has_no_commands = sender.cause == StandingCause::NoCommands;
            let own = || recorded.span(channel);
            let Some([from, to]) = (if has_no_commands { own() } else { span(channel) }) else {
                continue;
            };
            let since = sender.since.max(from);
            let lasted = sender.until.min(to).saturating_sub(since);
            let recorded = to.saturating_sub(from).max(1);
            let is_share = lasted.saturating_mul(HELD_UP_SHARE.into()) >= recorded;
            let least = match (sender.lasts, is_share) {
                (false, _) => STANDS_VERY_LONG,
                (true, true) => STANDS,
                (true, false) => STANDS_UNSEEN,
            };
            let is_out_of_sight = match sender.cause {
                StandingCause::Stopped(root) => root == WaitRoot::OutOfSight,
                // What an acknowledge waits for was not captured, or its turn may come. B-1
                StandingCause::Nothing => network.has_no_stop(channel),
                StandingCause::NoCommands => true,
            };
            // Out of sight, others' turns may explain a wait. S-3
            let turns = STANDS_UNSEEN.max(held.longest.saturating_mul(TURNS));
            let least = if is_out_of_sight { least.max(turns) } else { least };
            let may_stand = sender.lasts && is_share && is_out_of_sight && lasted >= MAY_STAND;
            if lasted < least && !may_stand {
                continue;
            }
            let [when, until] =
                [sender.since, sender.until].map(|time| Occurrence::on(network, channel, time));
            let Some((kind, severity)) = sender.judged(lasted, recorded) else { continue };
            let is_known = lasted >= least && !has_no_commands;
            let (kind, severity) =
                if is_known { (kind, severity) } else { (FindingKind::HeldUp, Severity::Note) };
            let unrecorded = match sender.cause {
                StandingCause::Stopped(_) => held.unrecorded(channel),
                StandingCause::Nothing => None,
                StandingCause::NoCommands => Some(FindingFact::word("unrecorded", "commands")),
            };
            let mut facts = if kind == FindingKind::HeldUp {
                sender.held_up(channel, share(lasted, recorded))
            } else {
                sender.facts(lasted, recorded, network.period(channel))
            };
            facts.extend(unrecorded);
            self.set.note_as((severity, kind), channel, when, || facts);
            self.set.again(kind, channel, 0, until);
        }
        self.held_up(held, (&recorded, network));
        self.set.recorded = recorded;
    }

    /// Reports the stops of senders and the deadlocks that took a tenth of the time.
    fn held_up(&mut self, held: HeldTime, (recorded, network): (&RecordedTime, &CaptureNetwork)) {
        let span = |id| recorded.link_span(id);
        let place = |id, time| Occurrence::on(network, id, time);
        for (&(channel, root, last), &StoppedTime { since, until, total, .. }) in &held.stops {
            let Some([from, to]) = span(channel) else { continue };
            let recorded = to.saturating_sub(from).max(1);
            let (kind, severity, name) = match root {
                WaitRoot::Host => (FindingKind::SlowHost, Severity::Warning, "by"),
                WaitRoot::OutOfSight | WaitRoot::Unknown => {
                    (FindingKind::HeldUp, Severity::Note, "behind")
                }
                WaitRoot::Busy | WaitRoot::Switch | WaitRoot::SlowOutput => continue,
                WaitRoot::Cycle | WaitRoot::OpenLink => continue,
            };
            // A host held others up for no longer than its own link.
            let own = held.stops.get(&(last, root, last)).filter(|_| root == WaitRoot::Host);
            let total = own.map_or(total, |own| own.total.min(total));
            if total < STANDS || total.saturating_mul(HELD_UP_SHARE.into()) < recorded {
                continue;
            }
            let mut facts = vec![share(total, recorded), FindingFact::channel(name, last)];
            facts.extend(at_output(root));
            facts.extend(held.unrecorded(channel));
            self.set.raise((severity, kind), channel, place(channel, since), facts);
            self.set.again(kind, channel, 0, place(channel, until));
        }
        for (channel, StoppedTime { since, until, total, lasts }) in held.deadlocks {
            // It may rest on time that was not recorded.
            if !self.set.has(FindingKind::Deadlock, channel) {
                continue;
            }
            let Some([from, to]) = span(channel) else { continue };
            let mut facts = vec![share(total, to.saturating_sub(from).max(1))];
            facts.extend(lasts.then(|| FindingFact::word("until", "end")));
            let kind = FindingKind::Deadlock;
            self.set.raise((Severity::Error, kind), channel, place(channel, since), facts);
            self.set.again(kind, channel, 0, place(channel, until));
        }
    }
}
