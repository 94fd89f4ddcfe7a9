//! Queued events of one channel, and the repeat behind them.

use std::collections::VecDeque;

use codec::CharBuf;
use codec::capture::{Channel, ChannelId, Chunk, ChunkContent, StartState};
use codec::character::{Character, Symbol, decode_control};
use codec::framing::FrameEvent;
use codec::time::{CharacterPeriod, Tick};

use super::{EventFilter, REPEATED_MAX, REPEATED_MAX_ALL};
use crate::channel_name::TapEnd;
use crate::event::{ChannelEvent, FlowCommand, Picoseconds, RepeatedEvents};
use crate::flow_control::FlowControl;
use crate::packet::ByteRetention;
use crate::receiver::ChannelReceiver;

/// Events that are queued before they are emitted, if the next chunk does not require it. *Chosen*: few
/// enough to stay in the cache.
const QUEUED_MAX: usize = 128;

#[derive(Debug)]
pub(super) struct ChannelQueue {
    pub(super) period: CharacterPeriod,
    pub(super) peer: Option<ChannelId>,
    pub(super) sender: FlowControl,
    /// Observed where the sender is.
    pub(super) is_at_sender: bool,
    /// The last command to the opposite sender.
    pub(super) last_command: Option<FlowCommand>,
    /// State before the first character, until that is known.
    start: Option<StartState>,
    receiver: ChannelReceiver,
    events: VecDeque<(Tick, ChannelEvent)>,
    repeat: Option<QueuedRepeat>,
    /// The last repeat of which iterations were skipped.
    stops: Option<SkippedStops>,
    end: QueueEnd,
}

/// A repeat that is being processed.
#[derive(Debug)]
struct QueuedRepeat {
    pattern: CharBuf,
    taken: u64,
    left: u64,
}

#[derive(Debug)]
struct SkippedStops {
    first: Tick,
    end: Tick,
    every: u64,
    /// Offsets of the STOPs in an iteration, in order.
    offsets: Vec<u64>,
}

#[derive(Debug)]
enum QueueEnd {
    /// More characters may come.
    Open,
    /// No more characters come.
    Due,
    /// All events have been emitted.
    Done,
}

impl ChannelQueue {
    pub(super) fn new(channel: &Channel, bytes: ByteRetention) -> Self {
        Self {
            period: channel.period,
            peer: None,
            sender: FlowControl::default(),
            is_at_sender: TapEnd::of(channel) == Some(TapEnd::Sender),
            last_command: None,
            start: StartState::of(channel),
            receiver: ChannelReceiver::of(channel, bytes),
            events: VecDeque::new(),
            repeat: None,
            stops: None,
            end: QueueEnd::Open,
        }
    }

    pub(super) fn time(&self, at: Tick) -> Picoseconds {
        self.period.time(at.0)
    }

    /// Time of the next event or iteration, if one is known.
    pub(super) fn due(&self) -> Option<Picoseconds> {
        if let Some((at, _)) = self.events.front() {
            return Some(self.time(*at));
        }
        let next = self.receiver.next()?;
        match (&self.repeat, &self.end) {
            (Some(_), _) => Some(self.time(next)),
            (None, QueueEnd::Due) => Some(self.time(Tick(next.0.saturating_sub(1)))),
            (None, QueueEnd::Open | QueueEnd::Done) => None,
        }
    }

    /// True if a chunk only adds characters behind the last ones, and few events are queued.
    pub(super) fn is_continued_by(&self, chunk: &Chunk<'_>) -> bool {
        matches!(chunk.content, ChunkContent::Literal(_))
            && self.repeat.is_none()
            && self.receiver.next() == Some(chunk.first)
            && self.events.len() < QUEUED_MAX
    }

    /// Takes the next chunk, and passes the framer's events of a literal chunk to an observer.
    pub(super) fn add(
        &mut self,
        chunk: &Chunk<'_>,
        filter: EventFilter,
        observe: &mut impl FnMut(Tick, FrameEvent<'_>),
    ) {
        while self.repeat.is_some() {
            self.round(filter);
        }
        let events = &mut self.events;
        let mut out = |at, event| filter.push(at, event, events);
        self.receiver.seek(chunk.first, &mut out);
        if let Some(start) = self.start.take().and_then(|start| start.before(chunk.first)) {
            self.receiver.resume(&start, &mut out);
            self.last_command = start.command.map(|(command, _)| command);
            self.sender = start.sender.map_or(self.sender, FlowControl::at_start);
        }
        match chunk.content {
            ChunkContent::Literal(chars) => self.receiver.feed_observed(chars, observe, &mut out),
            ChunkContent::Repeat { pattern, count } => {
                let mut kept = CharBuf::new();
                kept.push_chars(pattern);
                self.repeat = Some(QueuedRepeat { pattern: kept, taken: 0, left: count });
            }
        }
    }

    /// Processes one iteration of the repeat; skips the rest if it changes no state. At the limit of the filter those up
    /// to the last one are skipped, which is reported: what comes behind it is known again.
    fn round(&mut self, filter: EventFilter) {
        let Some(repeat) = &mut self.repeat else { return };
        let events = &mut self.events;
        let pattern = repeat.pattern.chars();
        let round = self.receiver.round(pattern, &mut |at, event| filter.push(at, event, events));
        repeat.left -= 1;
        repeat.taken += 1;
        let every = pattern.len() as u64;
        let enough = repeat.taken * every >= filter.repeated_max();
        let last = u64::from(!round.is_settled()).min(repeat.left);
        let skipped = repeat.left - last;
        if last > 0 && (!enough || skipped == 0) {
            return;
        }
        let symbols = || {
            pattern.iter().map(|character| match character {
                Character::Control(code) => decode_control(code).symbol(),
                Character::Data(_) => None,
            })
        };
        let from = self.receiver.next().unwrap_or_default();
        self.receiver.skip(pattern, skipped, round);
        let mut is_omission = match filter {
            EventFilter::Packets => round.packets > 0,
            EventFilter::Events => round.others > 0,
            EventFilter::All => round.packets > 0 || round.others > 0 || round.data > 0,
        };
        if filter == EventFilter::All && round.data == every && round.packets == 0 {
            // A repeat of nothing but bytes of one packet is a run like any other.
            let data = ChannelEvent::Data(skipped * every);
            self.events.extend((skipped > 0).then_some((from, data)));
            is_omission = false;
        }
        if skipped > 0 && is_omission {
            let has = |symbol| symbols().any(|it| it == Some(symbol));
            let releases = round.others > 0 && (has(Symbol::Go) || has(Symbol::Idle));
            let kinds = [
                (round.packets > 0, RepeatedEvents::Packets),
                (has(Symbol::Stop) && releases, RepeatedEvents::Commands),
                (has(Symbol::ForwardReset), RepeatedEvents::Resets),
            ];
            let left_out = kinds.into_iter().filter_map(|(is_in, kind)| is_in.then_some(kind));
            let left_out = left_out.collect();
            let omitted = ChannelEvent::Omitted { rounds: skipped, every, left_out };
            self.events.push_back((from, omitted));
        }
        let end = self.receiver.next().unwrap_or_default();
        let stops = (0..).zip(symbols()).filter(|(_, symbol)| *symbol == Some(Symbol::Stop));
        let offsets = stops.map(|(offset, _)| offset).collect();
        self.stops = Some(SkippedStops { first: from, end, every, offsets });
        repeat.left = last;
        if last == 0 {
            self.repeat = None;
        }
    }

    /// Marks the end of the recording.
    pub(super) const fn end(&mut self) {
        self.end = QueueEnd::Due;
    }

    /// Removes the next event, or computes further ones if none is queued.
    pub(super) fn step(&mut self, filter: EventFilter) -> Option<(Tick, ChannelEvent)> {
        let next = self.events.pop_front();
        if next.is_none() && self.repeat.is_some() {
            self.round(filter);
        } else if next.is_none() {
            let events = &mut self.events;
            self.receiver.finish(&mut |at, event| filter.push(at, event, events));
            self.end = QueueEnd::Done;
        }
        next
    }

    /// Removes repetitions of a command before a time. Returns the time of the next event.
    pub(super) fn pass_repeated(
        &mut self,
        command: FlowCommand,
        until: Picoseconds,
    ) -> Option<Picoseconds> {
        let Self { period, events, .. } = self;
        let command = ChannelEvent::Command(command);
        while events.pop_front_if(|(at, it)| *it == command && period.time(at.0) < until).is_some()
        {
        }
        self.due()
    }

    /// The first STOP of skipped iterations, not before a time.
    pub(super) fn skipped_stop(&self, from: Picoseconds) -> Option<Tick> {
        self.stops.as_ref()?.next(Tick(self.period.periods(from)), |at| self.time(at) >= from)
    }

    /// Queues the next STOP of skipped iterations again, after a reset on the opposite channel has released its sender
    /// now: it stops that sender once more.
    pub(super) fn recall_stop(&mut self, now: Picoseconds) {
        let Some(at) = self.skipped_stop(now + 1) else { return };
        // Queued events may be of earlier iterations, or of a chunk behind the repeat.
        let index = self.events.partition_point(|(queued, _)| *queued < at);
        let stop = (at, ChannelEvent::Command(FlowCommand::Stop));
        if self.events.get(index).is_none_or(|queued| *queued != stop) {
            self.events.insert(index, stop);
        }
    }
}

impl EventFilter {
    const fn repeated_max(self) -> u64 {
        match self {
            Self::All => REPEATED_MAX_ALL,
            Self::Packets | Self::Events => REPEATED_MAX,
        }
    }

    /// Queues an event if the filter selects it, or if the opposite channel's events depend on it.
    fn push(self, at: Tick, event: ChannelEvent, events: &mut VecDeque<(Tick, ChannelEvent)>) {
        let is_selected = match event {
            ChannelEvent::Packet(_) => self != Self::Events,
            ChannelEvent::Link(_) | ChannelEvent::Command(_) => self != Self::Packets,
            ChannelEvent::Begins | ChannelEvent::Framed | ChannelEvent::Omitted { .. } => {
                self == Self::All
            }
            ChannelEvent::Head(_) | ChannelEvent::Data(_) => self == Self::All,
        };
        if is_selected {
            events.push_back((at, event));
        }
    }
}

impl SkippedStops {
    /// The first STOP near a character whose time satisfies a condition.
    fn next(&self, about: Tick, is_due: impl Fn(Tick) -> bool) -> Option<Tick> {
        let round = about.since(self.first).0 / self.every;
        // The iteration of that character, and the next one if all its STOPs are past.
        let rounds = [round, round.saturating_add(1)].into_iter();
        let start = |round: u64| self.first.0.saturating_add(round.saturating_mul(self.every));
        rounds
            .flat_map(|round| self.offsets.iter().map(move |offset| (round, offset)))
            .map(|(round, offset)| Tick(start(round).saturating_add(*offset)))
            .find(|at| *at < self.end && is_due(*at))
    }
}
