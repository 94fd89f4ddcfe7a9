//! Events of all channels in time, including the effect of each channel's commands on the opposite
//! sender. F-1, F-2
//!
//! Blocks of a capture come in order of their first character's time, so the newest block is a
//! watermark: everything before it is complete and is emitted. Events of a literal chunk are computed
//! at once and queued; a repeat is queued itself, and computed one iteration at a time as the watermark
//! passes.

mod channel_queue;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use codec::capture::{Channel, ChannelId, Chunk};
use codec::framing::FrameEvent;
use codec::time::Tick;

use self::channel_queue::ChannelQueue;
use crate::event::{ChannelEvent, FlowCommand, LinkEvent, Picoseconds, RepeatedEvents, TimedEvent};
use crate::flow_control::FlowInput;
use crate::packet::ByteRetention;

/// Characters of one repeat that are processed one by one while they bring new events. *Chosen*: far
/// more than a writer repeats of anything but fill, and few enough to bound the time that a file of 60
/// bytes can take.
pub const REPEATED_MAX: u64 = 1 << 20;

/// Limit in place of [`REPEATED_MAX`] for [`EventFilter::All`]: events are queued until other channels have come as
/// far. *Chosen*: small beside a packet.
pub const REPEATED_MAX_ALL: u64 = 1 << 12;

/// Resolution of block timestamps in tools that sort by them: a nanosecond.
pub(crate) const TIMESTAMP_PS: u128 = 1000;

/// Selection of events; the others are not produced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventFilter {
    /// All events.
    #[default]
    All,
    /// Packets only.
    Packets,
    /// Link events only.
    Events,
}

impl From<FlowCommand> for FlowInput {
    fn from(command: FlowCommand) -> Self {
        match command {
            FlowCommand::Stop => Self::Stop,
            FlowCommand::Go => Self::Go,
        }
    }
}

/// Merges the events of channels in order of time. Channels are declared before they are fed.
#[derive(Debug, Default)]
pub struct EventTimeline {
    filter: EventFilter,
    bytes: ByteRetention,
    queues: BTreeMap<ChannelId, Box<ChannelQueue>>,
    /// Time of each queue's next event. Entries may be out of date, but none is missing.
    due: BinaryHeap<Reverse<(Picoseconds, ChannelId)>>,
    newest: Picoseconds,
    /// Events of one instant, not yet sorted.
    instant: Vec<(ChannelId, EventOrigin, TimedEvent)>,
    /// Inputs of senders in this instant: by an event on one channel, for the sender of a channel.
    inputs: Vec<(ChannelId, ChannelId, FlowInput)>,
    now: Picoseconds,
}

/// Order of a channel's events in one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventOrigin {
    /// Events of its own characters.
    Own,
    /// Events caused by the opposite channel.
    Sender,
}

impl EventTimeline {
    /// A timeline without channels.
    pub fn new(filter: EventFilter, bytes: ByteRetention) -> Self {
        Self { filter, bytes, ..Self::default() }
    }

    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel) {
        self.queues.insert(id, Box::new(ChannelQueue::new(channel, self.bytes)));
    }

    /// Pairs two channels as the directions of one link.
    pub fn link(&mut self, one: ChannelId, other: ChannelId) {
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(queue) = self.queues.get_mut(&id) {
                queue.peer = Some(peer);
            }
        }
    }

    /// Moves the channels of another timeline into this one, once it has emitted its events so far.
    pub fn absorb(&mut self, other: Self) {
        self.queues.extend(other.queues);
        self.due.extend(other.due);
        self.newest = self.newest.max(other.newest);
    }

    /// Takes the next chunk of a channel, and emits everything before it in time. Chunks of one channel
    /// are in order and do not overlap.
    pub fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>, out: &mut impl FnMut(TimedEvent)) {
        self.advance_to(id, chunk.first, out);
        self.add(id, chunk, &mut |_, _| {});
    }

    /// Emits everything before a chunk that begins with a character of a channel.
    pub(crate) fn advance_to(
        &mut self,
        id: ChannelId,
        first: Tick,
        out: &mut impl FnMut(TimedEvent),
    ) {
        if let Some(queue) = self.queues.get(&id) {
            self.pass(queue.time(first), out);
        }
    }

    /// True if a chunk only continues its channel, is in order, and few events are queued: what comes before
    /// it can be emitted later.
    pub(crate) fn is_continued_by(&self, id: ChannelId, chunk: &Chunk<'_>) -> bool {
        self.queues.get(&id).is_some_and(|queue| {
            queue.is_continued_by(chunk) && queue.time(chunk.first) >= self.newest
        })
    }

    /// Adds the next chunk of a channel, and passes the framer's events of a literal chunk to an observer.
    pub(crate) fn add(
        &mut self,
        id: ChannelId,
        chunk: &Chunk<'_>,
        observe: &mut impl FnMut(Tick, FrameEvent<'_>),
    ) {
        if let Some(queue) = self.queues.get_mut(&id) {
            let due = queue.due();
            self.newest = self.newest.max(queue.time(chunk.first));
            queue.add(chunk, self.filter, observe);
            let next = queue.due().filter(|next| due != Some(*next));
            self.due.extend(next.map(|time| Reverse((time, id))));
        }
    }

    /// Ends the recording: emits the rest, including packets closed by its end. Afterwards the timeline
    /// has no channels.
    pub fn finish(&mut self, out: &mut impl FnMut(TimedEvent)) {
        self.release(Picoseconds::MAX, out);
        for (id, queue) in &mut self.queues {
            queue.end();
            self.due.extend(queue.due().map(|time| Reverse((time, *id))));
        }
        self.release(Picoseconds::MAX, out);
        *self = Self::new(self.filter, self.bytes);
    }

    /// Emits the events before a time that no later chunk begins before.
    pub fn pass(&mut self, time: Picoseconds, out: &mut impl FnMut(TimedEvent)) {
        self.newest = self.newest.max(time);
        self.release(self.newest.saturating_sub(TIMESTAMP_PS), out);
    }

    /// Emits all events before a time.
    fn release(&mut self, until: Picoseconds, out: &mut impl FnMut(TimedEvent)) {
        while let Some(Reverse((mut time, id))) = self.due.peek().copied()
            && time < until
        {
            self.due.pop();
            if self.queues.get(&id).and_then(|queue| queue.due()) != Some(time) {
                continue;
            }
            // Without the heap while this channel is ahead of all others.
            loop {
                if time != self.now {
                    if self.end_instant(out) {
                        self.due.push(Reverse((time, id)));
                        break;
                    }
                    self.now = time;
                }
                let next = self.advance(id, until, out);
                let others = self.due.peek().map_or(until, |Reverse((other, _))| *other);
                let Some(next) = next else { break };
                if next >= others.min(until) {
                    self.due.push(Reverse((next, id)));
                    break;
                }
                time = next;
            }
        }
        if self.end_instant(out) {
            self.release(until, out);
        }
    }

    /// Applies the inputs of the instant and emits its events. Returns true if a reset may have brought earlier ones.
    ///
    /// Reading: a reset has left its sender before what arrives at the tap with it comes there. Where both were observed
    /// at the sender it cannot be told what was first, and the reset is taken as last. R-1
    fn end_instant(&mut self, out: &mut impl FnMut(TimedEvent)) -> bool {
        let mut inputs = std::mem::take(&mut self.inputs);
        if inputs.len() > 1 {
            let at_sender = |id: &ChannelId| self.queues.get(id).is_some_and(|it| it.is_at_sender);
            inputs.sort_by_key(|(_, channel, input)| {
                if *input == FlowInput::OwnReset { 2 * u8::from(at_sender(channel)) } else { 1 }
            });
        }
        let is_reset = inputs.iter().any(|(.., input)| *input == FlowInput::OwnReset);
        inputs.drain(..).for_each(|input| self.control(input));
        self.inputs = inputs;
        if self.instant.len() > 1 {
            self.instant.sort_by_key(|(channel, origin, _)| (*channel, *origin));
        }
        self.instant.drain(..).for_each(|(_, _, event)| out(event));
        is_reset
    }

    /// Processes the next event of a channel, which is due now and before a time. Returns the time of the one after it.
    fn advance(
        &mut self,
        id: ChannelId,
        until: Picoseconds,
        out: &mut impl FnMut(TimedEvent),
    ) -> Option<Picoseconds> {
        let queue = self.queues.get_mut(&id)?;
        let (peer, event) = (queue.peer, queue.step(self.filter));
        let next = queue.due();
        let Some((at, event)) = event else { return next };
        let input = match &event {
            &ChannelEvent::Command(command) => {
                let repeated = queue.last_command.replace(command) == Some(command);
                if self.filter == EventFilter::All && !repeated {
                    self.emit(id, at, event);
                }
                self.inputs.extend(peer.map(|peer| (id, peer, command.into())));
                // Repetitions have no effect before an event of another channel, or a reset of this instant.
                let is_reset = self.inputs.iter().any(|(.., it)| *it == FlowInput::OwnReset);
                let end = if is_reset { self.now } else { until };
                let end = self.due.peek().map_or(end, |Reverse((other, _))| end.min(*other));
                return self.queues.get_mut(&id)?.pass_repeated(command, end);
            }
            ChannelEvent::Link(LinkEvent::OpenLink) => Some(FlowInput::PeerSilent),
            ChannelEvent::Link(LinkEvent::Hole { .. }) => {
                queue.last_command = None;
                Some(FlowInput::PeerHole)
            }
            ChannelEvent::Link(LinkEvent::ForwardReset) => {
                self.emit(id, at, event);
                self.reset(id, peer);
                return next;
            }
            ChannelEvent::Omitted { .. } => {
                if event.leaves_out(RepeatedEvents::Commands) {
                    queue.last_command = None;
                }
                let unknown = event.unknown_senders(id, peer);
                self.inputs.extend(unknown.map(|sender| (id, sender, FlowInput::PeerHole)));
                None
            }
            ChannelEvent::Head(_) | ChannelEvent::Data(_) | ChannelEvent::Packet(_)
                if self.instant.is_empty() && self.is_alone(&event, next) =>
            {
                out(TimedEvent { time: self.now, channel: id, at, body: event });
                return next;
            }
            ChannelEvent::Head(_) | ChannelEvent::Data(_) | ChannelEvent::Packet(_) => None,
            ChannelEvent::Link(_) | ChannelEvent::Begins | ChannelEvent::Framed => None,
        };
        self.emit(id, at, event);
        self.inputs.extend(peer.zip(input).map(|(peer, input)| (id, peer, input)));
        next
    }

    /// True if no other event of this instant follows that may come before this one in order.
    fn is_alone(&self, event: &ChannelEvent, next: Option<Picoseconds>) -> bool {
        let of_others = self.due.peek().map(|Reverse((time, _))| *time);
        // An open link ends a packet and releases the opposite sender in one instant; nothing does with
        // a byte.
        let of_own = next.filter(|_| matches!(event, ChannelEvent::Packet(_)));
        self.inputs.is_empty() && ![of_others, of_own].contains(&Some(self.now))
    }

    fn emit(&mut self, channel: ChannelId, at: Tick, body: ChannelEvent) {
        let event = TimedEvent { time: self.now, channel, at, body };
        self.instant.push((channel, EventOrigin::Own, event));
    }

    /// Applies an input from one channel to the sender of a channel. Rows are in order of channels; with all events
    /// the sender's comes behind those of the channel that brought it, since a hole ends what was known of the sender.
    fn control(&mut self, (by, channel, input): (ChannelId, ChannelId, FlowInput)) {
        let Some(queue) = self.queues.get_mut(&channel) else { return };
        if let Some(event) = queue.sender.step(input) {
            // Reading: on a channel of another rate, the period that contains the event.
            let at = Tick(queue.period.periods(self.now));
            let event = TimedEvent { time: self.now, channel, at, body: ChannelEvent::Link(event) };
            let place = match self.filter {
                EventFilter::All => channel.max(by),
                EventFilter::Packets | EventFilter::Events => channel,
            };
            self.instant.push((place, EventOrigin::Sender, event));
        }
        if input == FlowInput::OwnReset
            && let Some(queue) = self.queues.get_mut(&by)
        {
            queue.recall_stop(self.now);
            self.due.extend(queue.due().map(|time| Reverse((time, by))));
        }
    }

    /// Takes a reset of a sender; STOPs of skipped iterations that come with it too.
    fn reset(&mut self, id: ChannelId, peer: Option<ChannelId>) {
        let Some(peer) = peer else { return };
        self.inputs.push((peer, id, FlowInput::OwnReset));
        let skipped =
            self.queues.get(&peer).and_then(|it| Some(it.time(it.skipped_stop(self.now)?)));
        let is_now = skipped == Some(self.now);
        self.inputs.extend(is_now.then_some((peer, id, FlowInput::Stop)));
    }
}
