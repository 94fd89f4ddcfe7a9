//! Wait-for relations between channels: chains of stopped senders, their roots, and cycles. F-1,
//! S-3, R-4

mod cycle;
mod event;
mod row;
pub mod trees;
mod wait;

use crate::event::{ChannelEvent, LinkEvent, Picoseconds, ResumeCause, TimedEvent};
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId, StartSender, StartState};
use codec::time::{FULL_RATE_PERIOD_PS, Tick};

pub use self::event::{
    BLOCKED_TIMEOUT, BlockingEvent, Deadlock, DeadlockRelease, EndCause, OutputHolder, STANDS,
    STANDS_UNSEEN, StopEnd, StopReport, WaitRoot,
};
pub use self::row::{BlockedRow, DeadlockRow, HolderRow, StopRow};
use self::wait::{CauseScope, ChannelWait, EndedStop, WaitCause, WaitTarget};
use crate::capture_network::{CaptureNetwork, SETTLED};
use crate::channel_table::ChannelTable;
use crate::journey::{HeadPacket, HeadProgress, JourneyTracker};
use crate::node_kind::TopologyNodeKind;
use crate::packet::FrameEnd;
use crate::recorded::RecordedTime;

/// Maximum length of a chain of waiting channels. *Chosen*: far more than any path through a
/// network of the time, and few enough to limit the work for every capture.
const CHAIN_MAX: usize = 256;

const PERIOD: Picoseconds = FULL_RATE_PERIOD_PS as Picoseconds;

/// Tracks the wait-for relations between channels.
#[derive(Debug, Default)]
pub struct BlockingTracker {
    /// Waits of the channels whose senders are stopped.
    waits: ChannelTable<ChannelWait>,
    /// Stopped channels by the channel that each waits for.
    queues: BTreeMap<ChannelId, BTreeSet<ChannelId>>,
    /// Start of the newest packet of each channel, and its end if it has ended.
    packets: ChannelTable<(Picoseconds, Option<Picoseconds>)>,
    open: BTreeSet<ChannelId>,
    /// Wait-for cycles, by one of their channels.
    circles: BTreeMap<ChannelId, WaitCycle>,
    /// Key in `circles` of the cycle of a channel.
    circled: BTreeMap<ChannelId, ChannelId>,
    /// Channels of cycles of which it is not known what each waits for, and the ends of these.
    doubted: BTreeMap<ChannelId, Picoseconds>,
    stops: u64,
    /// Stopped channels whose target may have changed in the instant of the last event.
    affected: BTreeSet<ChannelId>,
    /// Targets of the waits that resets ended in this instant.
    reset: BTreeMap<ChannelId, WaitTarget>,
}

/// Stopped channels, each waiting for the next and the last for the first.
#[derive(Clone, Debug)]
struct WaitCycle {
    channels: Vec<ChannelId>,
    since: Picoseconds,
}

/// Context in which waits are judged: the network, the time, and the packet at the head of the input behind a channel.
#[derive(Clone, Copy)]
struct WaitContext<'a> {
    network: &'a CaptureNetwork,
    recorded: &'a RecordedTime,
    now: Picoseconds,
    heads: &'a dyn Fn(ChannelId) -> Option<HeadPacket>,
    /// True if a packet with this first byte, at the head of the input behind a channel, requests an output.
    leads: HeadLeads<'a>,
}

type HeadLeads<'a> = &'a dyn Fn(ChannelId, u8, ChannelId) -> bool;

/// Input and number of the packet that holds each output.
type OutputHolders = BTreeMap<ChannelId, Option<(ChannelId, u64)>>;

impl BlockingTracker {
    /// Processes the next event of any channel, after the network has processed it.
    pub(crate) fn row(
        &mut self,
        row: &TimedEvent,
        known: (&CaptureNetwork, &RecordedTime, Picoseconds),
        paths: &JourneyTracker,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        self.in_context(known, paths, |blocking, context| blocking.take(row, context, out));
    }

    /// Updates what waits for what at the end of an instant, after the network and `paths` have processed its events: what
    /// was between two of them lasted for no time.
    pub(crate) fn end_instant(
        &mut self,
        known: (&CaptureNetwork, &RecordedTime, Picoseconds),
        paths: &JourneyTracker,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        self.in_context(known, paths, |blocking, context| blocking.update_targets(context, out));
    }

    fn in_context(
        &mut self,
        (network, recorded, now): (&CaptureNetwork, &RecordedTime, Picoseconds),
        paths: &JourneyTracker,
        process: impl FnOnce(&mut Self, WaitContext<'_>),
    ) {
        let heads = &|channel| paths.head(channel);
        let leads = &|input, first, output| paths.leads_to(input, first, output);
        process(self, WaitContext { network, recorded, now, heads, leads });
    }

    /// Reports all waits that last to the end of the recording of their links, after the packets that it cut have
    /// been compared.
    pub(crate) fn finish(
        &mut self,
        (network, recorded, last): (&CaptureNetwork, &RecordedTime, Picoseconds),
        leads: HeadLeads<'_>,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let context = |now| WaitContext { network, recorded, now, heads: &|_| None, leads };
        let end = |id| recorded.link_span(id).map_or(last, |[_, to]| to);
        let mut certain = BTreeSet::new();
        for circle in std::mem::take(&mut self.circles).into_values() {
            let now = circle.channels.iter().map(|id| end(*id)).min();
            self.report_deadlock(circle, context(now.unwrap_or(last)), None, &mut |event| {
                if let BlockingEvent::Deadlock(deadlock) = &event {
                    certain.extend(deadlock.channels.iter().copied());
                }
                out(event);
            });
        }
        let waits = self.waits.iter().map(|(id, wait)| (id, end(id).max(wait.since)));
        let causes: Vec<_> = waits
            .map(|(id, now)| {
                let scopes = [CauseScope::Longest, CauseScope::Moment];
                (id, now, scopes.map(|scope| self.cause(id, context(now), scope)))
            })
            .collect();
        for (id, now, mut causes) in causes {
            for why in &mut causes {
                // A cycle whose links were not recorded for long enough may have ended. R-4
                if why.root == WaitRoot::Cycle && !why.chain.iter().any(|id| certain.contains(id)) {
                    why.root = WaitRoot::OutOfSight;
                }
            }
            let [why, WaitCause { since, chain, root, .. }] = causes;
            let is_proved =
                matches!(why.root, WaitRoot::Cycle | WaitRoot::Busy) || !network.has_no_stop(id);
            if let Some(wait) = self.waits.remove(id).filter(|_| is_proved) {
                let ended = (context(now), StopEnd::CaptureEnd);
                let mut stop = self.stop(id, &wait, why, ended);
                stop.standing = Some(EndCause { since: since.clamp(wait.since, now), chain, root });
                out(BlockingEvent::Stop(stop));
            }
        }
        self.queues.clear();
    }

    fn take(
        &mut self,
        row: &TimedEvent,
        context: WaitContext<'_>,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let TimedEvent { channel, body: what, .. } = row;
        let WaitContext { network, now, .. } = context;
        match what {
            ChannelEvent::Head(_) => self.packets.insert(*channel, (now, None)),
            ChannelEvent::Packet(packet) => {
                if let Some((_, end)) = self.packets.get_mut(*channel) {
                    *end = Some(now);
                }
                let since = network.period(*channel).time(packet.end.0 + 1);
                let is_long = now.saturating_sub(since) >= SETTLED * PERIOD;
                let stands = is_long && packet.ended_by == FrameEnd::CaptureEnd;
                if stands && network.has_no_stop(*channel) {
                    self.begin(*channel, since);
                }
            }
            ChannelEvent::Link(LinkEvent::SenderStopped) => {
                self.end(*channel, context, StopEnd::Hole, out);
                self.begin(*channel, now);
            }
            ChannelEvent::Link(LinkEvent::SenderResumed(by)) => {
                self.end(*channel, context, StopEnd::Resumed(*by), out);
            }
            ChannelEvent::Link(LinkEvent::Hole { .. }) => {
                // An open link may have been restored in it.
                self.open.remove(channel);
                if let Some(peer) = network.opposite(*channel) {
                    let begins = row.hole_begins(network.period(*channel));
                    let context = WaitContext { now: begins.unwrap_or(now), ..context };
                    self.end(peer, context, StopEnd::Hole, out);
                }
            }
            ChannelEvent::Link(LinkEvent::OpenLink) => _ = self.open.insert(*channel),
            ChannelEvent::Link(LinkEvent::LinkRestored) => _ = self.open.remove(channel),
            ChannelEvent::Link(LinkEvent::ForwardReset | LinkEvent::ResetEnded) => {}
            ChannelEvent::Link(_) | ChannelEvent::Data(_) | ChannelEvent::Command(_) => return,
            ChannelEvent::Begins
                if network.channel(*channel).is_some_and(|it| is_stopped(it, row.at)) =>
            {
                self.begin(*channel, now);
            }
            ChannelEvent::Omitted { .. } => {
                let unknown = what.unknown_senders(*channel, network.opposite(*channel));
                unknown.for_each(|id| self.end(id, context, StopEnd::Hole, out));
            }
            ChannelEvent::Begins | ChannelEvent::Framed => return,
        }
        if self.waits.is_empty() {
            return;
        }
        // Channels whose target may have changed: the channel itself, the channels that wait for
        // it, and the other inputs of the node that it comes from.
        let queue = self.queues.get(channel).into_iter().flatten().copied();
        let affected = network.inputs(*channel).chain(queue).chain([*channel]);
        self.affected.extend(affected.filter(|id| self.waits.get(*id).is_some()));
    }

    fn update_targets(&mut self, context: WaitContext<'_>, out: &mut impl FnMut(BlockingEvent)) {
        // Each output is looked up once: a switch may have 256 inputs, all of them stopped.
        let mut holders = OutputHolders::new();
        for id in std::mem::take(&mut self.affected) {
            self.update_target(id, context, &mut holders, out);
        }
        self.reset.clear();
    }

    fn begin(&mut self, id: ChannelId, now: Picoseconds) {
        self.waits.insert(id, ChannelWait::new(self.stops, now));
        self.stops += 1;
    }

    fn update_target(
        &mut self,
        id: ChannelId,
        context: WaitContext<'_>,
        holders: &mut OutputHolders,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let Some(wait) = self.waits.get_mut(id) else { return };
        let head = (context.heads)(id);
        // A STOP that goes on behind a reset is for what it was before.
        let before = self.reset.get(&id).copied();
        let target = match (head, wait.spell.target.or(before)) {
            _ if context.network.behind(id) == TopologyNodeKind::Host => WaitTarget::Host,
            (Some(HeadPacket { wants: Some(output), .. }), _) => WaitTarget::Output(output),
            (Some(_), _) | (None, None) => WaitTarget::OutOfSight,
            // Reading: if the packet at the head is no longer known, the target is assumed
            // unchanged, as the input is still full.
            (None, Some(known)) => known,
        };
        if wait.is_learned(head) && target != WaitTarget::OutOfSight {
            wait.spell.target = Some(target);
            self.join_queue(id, target, context.network);
        } else if wait.spell.target != Some(target) {
            self.change_target(id, target, context, out);
        }
        let holder = match (target, head.map(|head| head.passing)) {
            (WaitTarget::Output(output), Some(HeadProgress::Waiting)) => {
                *holders.entry(output).or_insert_with(|| context.holder(output))
            }
            (WaitTarget::Output(_) | WaitTarget::Host | WaitTarget::OutOfSight, _) => None,
        };
        if let Some(wait) = self.waits.get_mut(id) {
            wait.spell.observe(head, holder);
        }
    }

    fn change_target(
        &mut self,
        id: ChannelId,
        target: WaitTarget,
        context: WaitContext<'_>,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let release = match target {
            WaitTarget::OutOfSight => DeadlockRelease::Hole,
            WaitTarget::Output(_) | WaitTarget::Host => DeadlockRelease::Dropped,
        };
        self.remove_cycle(id, context, Some((id, release)), out);
        let why = self.cause(id, context, CauseScope::Phase);
        self.leave_queue(id);
        if let Some(wait) = self.waits.get_mut(id) {
            wait.change_target(target, context.now, why);
        }
        self.join_queue(id, target, context.network);
    }

    fn join_queue(&mut self, id: ChannelId, target: WaitTarget, network: &CaptureNetwork) {
        if let WaitTarget::Output(output) = target {
            self.queues.entry(output).or_default().insert(id);
            self.detect_cycle(id, network);
        }
    }

    /// Removes a stopped channel from the queue of its target.
    fn leave_queue(&mut self, id: ChannelId) {
        let target = self.waits.get(id).and_then(|wait| wait.spell.target);
        if let Some(WaitTarget::Output(output)) = target
            && let Some(queue) = self.queues.get_mut(&output)
        {
            queue.remove(&id);
            if queue.is_empty() {
                self.queues.remove(&output);
            }
        }
    }

    fn end(
        &mut self,
        id: ChannelId,
        context: WaitContext<'_>,
        ended: StopEnd,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let broken = match ended {
            StopEnd::Resumed(by) => Some((id, DeadlockRelease::Resumed(by))),
            StopEnd::Hole => Some((id, DeadlockRelease::Hole)),
            StopEnd::CaptureEnd => None,
        };
        self.remove_cycle(id, context, broken, out);
        let Some(wait) = self.waits.get(id) else { return };
        // In a damaged capture a hole may begin before the STOP of a chunk that came late.
        let context = WaitContext { now: context.now.max(wait.since), ..context };
        let mut why = self.cause(id, context, CauseScope::Longest);
        if self.is_doubted(&why, wait.since, context) {
            why.root = WaitRoot::OutOfSight;
        }
        self.leave_queue(id);
        let Some(wait) = self.waits.remove(id) else { return };
        if ended == StopEnd::Resumed(ResumeCause::Reset) {
            self.reset.extend(wait.spell.target.map(|target| (id, target)));
        }
        for behind in self.queues.get(&id).into_iter().flatten() {
            if let Some(behind) = self.waits.get_mut(*behind) {
                let held = context.now.saturating_sub(wait.since.max(behind.spell.from));
                let WaitCause { chain, root, .. } = &why;
                let ahead = || EndedStop { number: wait.number, chain: chain.clone(), root: *root };
                behind.spell.add_stopped((held, context.now), ahead);
            }
        }
        out(BlockingEvent::Stop(self.stop(id, &wait, why, (context, ended))));
    }

    fn stop(
        &self,
        channel: ChannelId,
        wait: &ChannelWait,
        why: WaitCause,
        (WaitContext { network, now: until, .. }, ended): (WaitContext<'_>, StopEnd),
    ) -> StopReport {
        let WaitCause { packet, chain, behind, root, holders, .. } = why;
        let (number, since) = (wait.number, wait.since);
        let period = network.period(channel);
        // Places are exact, the difference of two rounded times may be a period less.
        let since_then = |from| period.periods(until).saturating_sub(period.periods(from));
        // A reset ends the packet at the same time.
        let packet_now =
            self.packets.get(channel).filter(|(_, end)| end.is_none_or(|it| it == until));
        let sending = packet_now.map(|(begun, _)| since_then(*begun));
        StopReport {
            number,
            channel,
            since,
            until,
            periods: since_then(since),
            sending,
            ended,
            packet,
            chain,
            behind,
            root,
            holders,
            standing: None,
        }
    }
}

/// True if a channel is a slice before whose first character its sender was stopped: the wait is that of the slice.
fn is_stopped(channel: &Channel, first: Tick) -> bool {
    let start = StartState::of(channel).filter(|start| start.at == first);
    matches!(start.and_then(|start| start.sender), Some(StartSender::Stopped(_)))
}

#[cfg(test)]
mod tests;
