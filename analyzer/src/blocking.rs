//! Wait-for relations between channels: chains of stopped senders, their roots, and cycles. F-1,
//! S-3, R-4

mod cycle;
mod event;
mod row;
pub mod trees;
mod wait;

use crate::event::{ChannelEvent, Picoseconds, TimedEvent};
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
use crate::event::{LinkEvent, ResumeCause};
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
    /// Time of the last event.
    now: Picoseconds,
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
        (network, recorded): (&CaptureNetwork, &RecordedTime),
        paths: &JourneyTracker,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        self.now = self.now.max(row.time);
        self.in_context((network, recorded), paths, |blocking, context| {
            blocking.take(row, context, out);
        });
    }

    /// Updates what waits for what at the end of an instant, after the network and `paths` have processed its events: what
    /// was between two of them lasted for no time.
    pub(crate) fn end_instant(
        &mut self,
        known: (&CaptureNetwork, &RecordedTime),
        paths: &JourneyTracker,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        self.in_context(known, paths, |blocking, context| blocking.update_targets(context, out));
    }

    fn in_context(
        &mut self,
        (network, recorded): (&CaptureNetwork, &RecordedTime),
        paths: &JourneyTracker,
        process: impl FnOnce(&mut Self, WaitContext<'_>),
    ) {
        let heads = &|channel| paths.head(channel);
        let leads = &|input, first, output| paths.leads_to(input, first, output);
        let now = self.now;
        process(self, WaitContext { network, recorded, now, heads, leads });
    }

    /// Reports all waits that last to the end of the recording of their links, after the packets that it cut have
    /// been compared.
    pub(crate) fn finish(
        &mut self,
        (network, recorded, leads): (&CaptureNetwork, &RecordedTime, HeadLeads<'_>),
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let context = |now| WaitContext { network, recorded, now, heads: &|_| None, leads };
        let last = self.now;
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
            ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Omitted { .. } => return,
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
        let Some(wait) = self.waits.get(id) else { return };
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
            self.learn_target(id, target, context.network);
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

    /// Sets the target that a stopped channel has had since the phase began.
    fn learn_target(&mut self, id: ChannelId, target: WaitTarget, network: &CaptureNetwork) {
        let Some(wait) = self.waits.get_mut(id) else { return };
        wait.spell.target = Some(target);
        self.join_queue(id, target, network);
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
        if self.waits.get(id).is_none() {
            return;
        }
        let mut why = self.cause(id, context, CauseScope::Longest);
        if self.waits.get(id).is_some_and(|wait| self.is_doubted(&why, wait.since, context)) {
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
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use codec::capture::Channel;
    use codec::time::Tick;

    use super::*;
    use crate::event::FlowCommand;
    use crate::journey::SwitchDelays;

    /// Step of a test on one channel.
    #[derive(Clone, Copy)]
    enum BlockingStep {
        /// The sender is stopped.
        Stop,
        /// The sender is released.
        On(ResumeCause),
        /// The packet at the head of the input behind the channel waits for an output.
        Waits(u64, u32),
        /// The packet at the head has begun to leave by that output.
        Has(u64, u32),
        /// The packet at the head goes to an uncaptured output.
        Leaves(u64),
        /// A packet arrives at a host.
        Tag,
        /// An event of the link.
        Link(LinkEvent),
        /// The recording ends.
        End,
    }
    use BlockingStep::{End, Has, Leaves, Link, On, Stop, Tag, Waits};

    const fn head(packet: u64, wants: Option<ChannelId>, passing: HeadProgress) -> HeadPacket {
        let delays = Some(SwitchDelays { path: 44 * PERIOD, drain: 500 });
        HeadPacket { packet, since: 0, wants, passing, contended: false, delays, first: 0 }
    }

    /// The network of channels with their opposites, on which GO comes first, recorded up to a time. Of a channel whose
    /// name ends with `!` the opposite was not recorded.
    fn recorded_to(end: Picoseconds, names: &[&str]) -> (CaptureNetwork, RecordedTime) {
        let (mut network, mut recorded) = <(CaptureNetwork, RecordedTime)>::default();
        for (id, name) in (0..).zip(names) {
            let (from, to) = name.split_once('>').unwrap();
            network.declare(ChannelId(id), &Arc::new(Channel::named(name.trim_end_matches('!'))));
            if !name.ends_with('!') {
                let opposite = Channel::named(format!("{to}>{from}"));
                network.declare(ChannelId(100 + id), &Arc::new(opposite));
                network.join(ChannelId(id), ChannelId(100 + id));
            }
            let ids = [id, 100 + id].map(ChannelId);
            for id in ids.into_iter().take(if name.ends_with('!') { 1 } else { 2 }) {
                recorded.declare(id);
                recorded.add(id, [0, end]);
                let body = ChannelEvent::Command(FlowCommand::Go);
                network.observe(&TimedEvent { time: 0, channel: id, at: Tick(0), body });
            }
        }
        (network, recorded)
    }

    /// Feeds steps, each at a period of a channel; prints the reported events, times in periods.
    fn check(names: &[&str], steps: &[(u64, u32, BlockingStep)]) -> String {
        let end = steps.last().map_or(0, |(at, ..)| Picoseconds::from(*at) * PERIOD);
        let (mut network, recorded) = recorded_to(end, names);
        let mut blocking = BlockingTracker::default();
        let (mut heads, mut text) = (BTreeMap::new(), String::new());
        let name = |id: &ChannelId| names[usize::try_from(id.0).unwrap()];
        let mut out = |blocked: BlockingEvent| match blocked {
            BlockingEvent::Stop(stop) => {
                let chain: Vec<_> = stop.chain.iter().map(name).collect();
                let (from, to) = (stop.since / PERIOD, stop.until / PERIOD);
                let (number, channel) = (stop.number, name(&stop.channel));
                let root = stop.root;
                write!(text, "{from}..{to} #{number} {channel} -> {chain:?} {root:?}").unwrap();
                stop.behind.iter().for_each(|it| write!(text, " behind #{it}").unwrap());
                for OutputHolder { channel, packets } in &stop.holders {
                    write!(text, " {packets} of {}", name(channel)).unwrap();
                }
                stop.packet.iter().for_each(|it| write!(text, " packet {it}").unwrap());
                write!(text, " {:?}", stop.ended).unwrap();
                let since = stop.standing.map(|it| it.since / PERIOD).filter(|it| *it > from);
                since.iter().for_each(|it| write!(text, " from {it}").unwrap());
                text.push('\n');
            }
            BlockingEvent::Deadlock(Deadlock { channels, since, until, broken, .. }) => {
                let channels: Vec<_> = channels.iter().map(name).collect();
                let (from, to) = (since / PERIOD, until / PERIOD);
                let broken = broken.map(|(by, how)| (name(&by), how));
                writeln!(text, "{from}..{to} deadlock {channels:?} {broken:?}").unwrap();
            }
        };
        for (at, channel, step) in steps {
            let id = ChannelId(*channel);
            let byte = |first| ChannelEvent::Head(first);
            let (what, head) = match *step {
                Stop => (ChannelEvent::Link(LinkEvent::SenderStopped), None),
                On(by) => (ChannelEvent::Link(LinkEvent::SenderResumed(by)), None),
                Link(event) => (ChannelEvent::Link(event), None),
                Tag => (byte(5), None),
                Waits(it, to) => {
                    (byte(0x80), Some(head(it, Some(ChannelId(to)), HeadProgress::Waiting)))
                }
                Has(it, to) => {
                    (byte(0x80), Some(head(it, Some(ChannelId(to)), HeadProgress::Begun)))
                }
                Leaves(it) => (byte(0x80), Some(head(it, None, HeadProgress::Waiting))),
                End => {
                    blocking.finish((&network, &recorded, &|_, _, _| true), &mut out);
                    continue;
                }
            };
            head.into_iter().for_each(|head| _ = heads.insert(id, head));
            let now = Picoseconds::from(*at) * PERIOD;
            let row = TimedEvent { time: now, channel: id, at: Tick(*at), body: what };
            network.observe(&row);
            let heads = &|id| heads.get(&id).copied();
            let (network, recorded, leads) = (&network, &recorded, &|_, _, _| true);
            let context = WaitContext { network, recorded, now, heads, leads };
            blocking.take(&row, context, &mut out);
            blocking.update_targets(context, &mut out);
        }
        text
    }

    /// A ring of three switches.
    const RING: [&str; 3] = ["c:0>a:1", "a:0>b:1", "b:0>c:1"];

    /// A circle of three senders, the last of them stopped at 30, with what follows.
    fn circle(ends: impl IntoIterator<Item = (u64, u32, BlockingStep)>) -> String {
        let begins = (0..3).map(|id| (u64::from(id) + 1, id, Has(0, (id + 1) % 3)));
        let stops = (0..3).map(|id| (u64::from(id) * 10 + 10, id, Stop));
        check(&RING, &begins.chain(stops).chain(ends).collect::<Vec<_>>())
    }

    #[test]
    fn channels_that_wait_for_each_other_in_a_circle_are_a_deadlock() {
        let ends = [
            (2000, 1, On(ResumeCause::Reset)),
            (2005, 0, On(ResumeCause::Go)),
            (2010, 2, On(ResumeCause::Go)),
        ];
        insta::assert_snapshot!(circle(ends), @r#"
        30..2000 deadlock ["a:0>b:1", "b:0>c:1", "c:0>a:1"] Some(("a:0>b:1", Resumed(Reset)))
        20..2000 #1 a:0>b:1 -> ["b:0>c:1", "c:0>a:1", "a:0>b:1"] Cycle behind #2 packet 0 Resumed(Reset)
        10..2005 #0 c:0>a:1 -> ["a:0>b:1", "b:0>c:1", "c:0>a:1"] Cycle behind #1 packet 0 Resumed(Go)
        30..2010 #2 b:0>c:1 -> ["c:0>a:1", "a:0>b:1", "b:0>c:1"] Cycle behind #0 packet 0 Resumed(Go)
        "#);
    }

    #[test]
    fn a_circle_that_lasts_no_longer_than_a_round_trip_is_none() {
        let ends = [1, 0, 2].map(|id| (1000 + 10 * u64::from(id), id, On(ResumeCause::Go)));
        assert!(!circle(ends).contains("deadlock"));
    }

    #[test]
    fn what_the_end_of_the_recording_finds_is_told() {
        insta::assert_snapshot!(circle([(5000, 0, End)]), @r#"
        30..5000 deadlock ["a:0>b:1", "b:0>c:1", "c:0>a:1"] None
        10..5000 #0 c:0>a:1 -> ["a:0>b:1", "b:0>c:1", "c:0>a:1"] Cycle behind #1 packet 0 CaptureEnd from 30
        20..5000 #1 a:0>b:1 -> ["b:0>c:1", "c:0>a:1", "a:0>b:1"] Cycle behind #2 packet 0 CaptureEnd from 30
        30..5000 #2 b:0>c:1 -> ["c:0>a:1", "a:0>b:1", "b:0>c:1"] Cycle behind #0 packet 0 CaptureEnd
        "#);
    }

    /// Characters under way have arrived 1024 periods after the last stop.
    #[test]
    fn a_circle_that_was_recorded_too_briefly_is_no_deadlock() {
        insta::assert_snapshot!(circle([(1053, 0, End)]), @r#"
        10..1053 #0 c:0>a:1 -> ["a:0>b:1", "b:0>c:1", "c:0>a:1"] OutOfSight behind #1 packet 0 CaptureEnd from 30
        20..1053 #1 a:0>b:1 -> ["b:0>c:1", "c:0>a:1", "a:0>b:1"] OutOfSight behind #2 packet 0 CaptureEnd from 30
        30..1053 #2 b:0>c:1 -> ["c:0>a:1", "a:0>b:1", "b:0>c:1"] OutOfSight behind #0 packet 0 CaptureEnd
        "#);
        assert!(circle([(1054, 0, End)]).starts_with("30..1054 deadlock"));
    }

    /// F-7
    #[test]
    fn a_link_is_open_up_to_its_next_character_or_a_hole() {
        let ends = [LinkEvent::LinkRestored, LinkEvent::Hole { missing: 7 }];
        let roots = [None, Some(ends[0]), Some(ends[1])].map(|end| {
            let mut steps = vec![(1, 2, Link(LinkEvent::OpenLink))];
            steps.extend(end.map(|end| (5, 2, Link(end))));
            steps.extend([(10, 0, Waits(0, 2)), (20, 0, Stop), (500, 0, On(ResumeCause::Go))]);
            check(&FUNNEL, &steps)
        });
        let expected = ["OpenLink", "Switch", "Switch"];
        for (found, root) in roots.iter().zip(expected) {
            assert_eq!(
                found,
                &format!("20..500 #0 x:0>s:1 -> [\"s:0>h:0\"] {root} packet 0 Resumed(Go)\n")
            );
        }
    }

    /// Two inputs of a switch, and its output to a host.
    const FUNNEL: [&str; 3] = ["x:0>s:1", "y:0>s:2", "s:0>h:0"];

    #[test]
    fn a_host_that_takes_nothing_is_the_root_of_all_behind_it() {
        let steps = [
            (0, 2, Tag),
            (1, 0, Has(0, 2)),
            (2, 1, Waits(0, 2)),
            (10, 2, Stop),
            (20, 0, Stop),
            (30, 1, Stop),
            (500, 2, On(ResumeCause::Go)),
            (510, 0, On(ResumeCause::Go)),
            (515, 1, Has(0, 2)),
            (520, 1, On(ResumeCause::Go)),
        ];
        insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
        10..500 #0 s:0>h:0 -> [] Host Resumed(Go)
        20..510 #1 x:0>s:1 -> ["s:0>h:0"] Host behind #0 packet 0 Resumed(Go)
        30..520 #2 y:0>s:2 -> ["s:0>h:0"] Host behind #0 1 of x:0>s:1 packet 0 Resumed(Go)
        "#);
    }

    #[test]
    fn a_stop_ends_with_what_is_recorded_of_its_commands() {
        let hole = LinkEvent::Hole { missing: 900 };
        let steps = [
            (1, 0, Has(0, 2)),
            (10, 0, Stop),
            (1000, 100, Link(hole)),
            (1010, 0, Stop),
            (1020, 0, End),
        ];
        insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
        10..100 #0 x:0>s:1 -> ["s:0>h:0"] Switch packet 0 Hole
        1010..1020 #1 x:0>s:1 -> ["s:0>h:0"] Switch packet 0 CaptureEnd
        "#);
    }

    #[test]
    fn an_output_that_is_busy_with_others_is_saturation() {
        let steps = [
            (1, 0, Has(0, 2)),
            (2, 1, Waits(0, 2)),
            (30, 1, Stop),
            (40, 0, Waits(1, 2)),
            (41, 0, Has(1, 2)),
            (42, 2, Tag),
            (90, 1, Has(0, 2)),
            (100, 1, On(ResumeCause::Go)),
        ];
        insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"30..100 #0 y:0>s:2 -> ["s:0>h:0"] Busy 2 of x:0>s:1 packet 0 Resumed(Go)"#);
    }

    #[test]
    fn the_longest_part_of_a_wait_counts() {
        // 60 periods for the host, then 40 for an uncaptured output.
        let steps = [
            (0, 2, Tag),
            (1, 0, Has(0, 2)),
            (10, 2, Stop),
            (10, 0, Stop),
            (70, 2, On(ResumeCause::Go)),
            (70, 0, Leaves(1)),
            (110, 0, On(ResumeCause::Reset)),
        ];
        insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
        10..70 #0 s:0>h:0 -> [] Host Resumed(Go)
        10..110 #1 x:0>s:1 -> ["s:0>h:0"] Host behind #0 packet 0 Resumed(Reset)
        "#);
    }

    #[test]
    fn a_short_stop_of_the_output_is_not_the_reason() {
        let steps = [
            (0, 2, Tag),
            (1, 0, Waits(0, 2)),
            (10, 0, Stop),
            (20, 2, Stop),
            (40, 2, On(ResumeCause::Go)),
            (120, 0, On(ResumeCause::Go)),
        ];
        insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
        20..40 #1 s:0>h:0 -> [] Host Resumed(Go)
        10..120 #0 x:0>s:1 -> ["s:0>h:0"] Switch packet 0 Resumed(Go)
        "#);
    }

    /// Of equal parts of a wait the first counts, and of equal stops of the output. A path is formed for each packet at the
    /// head in 44 periods, and the rest of the last one takes 500.
    #[test]
    fn of_equal_parts_the_first_counts_and_each_packet_has_its_path() {
        const GO: BlockingStep = On(ResumeCause::Go);
        let output: &[_] = &[(20, 2, Stop), (50, 2, GO), (60, 2, Stop), (90, 2, GO)];
        for (steps, (at, end), expected) in [
            (
                &[(50, 0, Leaves(4)), (90, 0, Waits(5, 2))][..],
                (100, GO),
                "Switch packet 3 Resumed(Go)",
            ),
            (output, (100, GO), "Host behind #1 packet 3 Resumed(Go)"),
            (&output[..2], (300, End), "Switch packet 3 CaptureEnd from 50"),
            (&[], (554, GO), "Switch packet 3 Resumed(Go)"),
            (&[], (555, GO), "Unknown packet 3 Resumed(Go)"),
            (&[(300, 0, Waits(4, 2))], (598, GO), "Switch packet 3 Resumed(Go)"),
        ] {
            let begins = [(0, 2, Tag), (1, 0, Waits(3, 2)), (10, 0, Stop)];
            let steps: Vec<_> = [&begins, steps, &[(at, 0, end)]].concat();
            let expected = format!("10..{at} #0 x:0>s:1 -> [\"s:0>h:0\"] {expected}");
            assert_eq!(check(&FUNNEL, &steps).lines().last(), Some(&*expected));
        }
        let steps = [(1, 0, Leaves(3)), (10, 0, Stop), (50, 0, Waits(4, 2)), (90, 0, GO)];
        let expected = "10..90 #0 x:0>s:1 -> [] OutOfSight packet 3 Resumed(Go)\n";
        assert_eq!(check(&FUNNEL, &steps), expected);
    }

    /// Without its commands, only packets that have an output one after the other show that it is not stopped.
    #[test]
    fn one_packet_at_an_output_is_no_turn() {
        let begins = [(1, 0, Waits(3, 2)), (10, 0, Stop), (20, 1, Has(1, 2)), (21, 2, Tag)];
        let turn = [(50, 1, Has(2, 2)), (51, 2, Tag)];
        for (turn, expected) in [(&turn[..0], "OutOfSight 1"), (&turn, "Busy 2")] {
            let steps = [&begins, turn, &[(100, 0, On(ResumeCause::Go))]].concat();
            let text = check(&["x:0>s:1", "y:0>s:2", "s:0>h:0!"], &steps);
            assert!(
                text.contains(&format!("{expected} of y:0>s:2 packet 3 Resumed(Go)")),
                "{text}"
            );
        }
    }
}
