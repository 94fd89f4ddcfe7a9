//! One channel of a timeline: what was noticed on it and waits, and the repeat behind that.

use std::collections::VecDeque;

use codec::CharBuf;
use codec::capture::{Channel, ChannelId, Chunk, ChunkContent};
use codec::character::{Symbol, decode_control};
use codec::chars::CharRun;
use codec::time::Tick;

use super::{EventFilter, REPEATED_MAX, REPEATED_MAX_ALL, Time};
use crate::flow_control::FlowControl;
use crate::packet::ByteRetention;
use crate::receiver::{ChannelEvent, ChannelReceiver, FlowCommand};

/// One channel.
#[derive(Debug)]
pub(super) struct ChannelQueue {
    pub(super) period_ps: u64,
    pub(super) peer: Option<ChannelId>,
    /// Flow control of this channel's sender.
    pub(super) sender: FlowControl,
    /// What this channel has told the opposite sender last.
    pub(super) last_command: Option<FlowCommand>,
    receiver: ChannelReceiver,
    /// Noticed, and not yet handed on.
    waiting: VecDeque<(Tick, QueuedEvent)>,
    /// Behind what waits.
    repeat: Option<QueuedRepeat>,
    /// The last repeat whose rounds were passed over.
    stops: Option<SkippedStops>,
    end: QueueEnd,
}

/// What waits to be handed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum QueuedEvent {
    Notice(ChannelEvent),
    Omitted { rounds: u64, every: u64 },
}

/// A repeat on its way.
#[derive(Debug)]
struct QueuedRepeat {
    pattern: CharBuf,
    taken: u64,
    left: u64,
}

/// STOPs said again and again in rounds that were passed over.
#[derive(Debug)]
struct SkippedStops {
    first: Tick,
    end: Tick,
    every: u64,
    /// Places of the STOPs in a round, in order.
    places: Vec<u64>,
}

#[derive(Debug)]
enum QueueEnd {
    /// More may come.
    Open,
    /// Nothing comes behind what is there.
    Due,
    /// All has been handed on.
    Done,
}

impl ChannelQueue {
    pub(super) fn new(channel: &Channel, bytes: ByteRetention) -> Self {
        Self {
            period_ps: channel.period_ps.get(),
            peer: None,
            sender: FlowControl::default(),
            last_command: None,
            receiver: ChannelReceiver::new(bytes),
            waiting: VecDeque::new(),
            repeat: None,
            stops: None,
            end: QueueEnd::Open,
        }
    }

    pub(super) fn time(&self, at: Tick) -> Time {
        Time::from(at.0) * Time::from(self.period_ps)
    }

    /// When the next thing happens, if anything more is known to.
    pub(super) fn due(&self) -> Option<Time> {
        let next = self.receiver.next()?;
        match (self.waiting.front(), &self.repeat, &self.end) {
            (Some((at, _)), _, _) => Some(self.time(*at)),
            (None, Some(_), _) => Some(self.time(next)),
            (None, None, QueueEnd::Due) => Some(self.time(Tick(next.0.saturating_sub(1)))),
            (None, None, QueueEnd::Open | QueueEnd::Done) => None,
        }
    }

    /// Takes the next chunk.
    pub(super) fn add(&mut self, chunk: &Chunk<'_>, want: EventFilter) {
        while self.repeat.is_some() {
            self.round(want);
        }
        let waiting = &mut self.waiting;
        let mut keep = |at, notice| want.keep(at, notice, waiting);
        self.receiver.seek(chunk.first, &mut keep);
        match chunk.content {
            ChunkContent::Literal(chars) => self.receiver.feed(chars, &mut keep),
            ChunkContent::Repeat { pattern, count } => {
                let pattern = pattern.iter().collect();
                self.repeat = Some(QueuedRepeat { pattern, taken: 0, left: count });
            }
        }
    }

    /// Takes a round of the repeat, and passes over the others if nothing new is in them. If it
    /// passes over others too, says so.
    fn round(&mut self, want: EventFilter) {
        let Some(repeat) = &mut self.repeat else { return };
        let waiting = &mut self.waiting;
        let pattern = repeat.pattern.chars();
        let round = self.receiver.round(pattern, &mut |at, notice| want.keep(at, notice, waiting));
        repeat.left -= 1;
        repeat.taken += 1;
        let every = pattern.len() as u64;
        let enough = repeat.taken * every >= want.repeated_max();
        if repeat.left > 0 && !round.is_settled() && !enough {
            return;
        }
        let from = self.receiver.next().unwrap_or_default();
        self.receiver.skip(pattern, repeat.left, round);
        let mut news = match want {
            EventFilter::Packets => round.packets > 0,
            EventFilter::Events => round.others > 0,
            EventFilter::All => round.packets > 0 || round.others > 0 || round.data > 0,
        };
        if want == EventFilter::All && round.data == every && round.packets == 0 {
            // A repeat of nothing but bytes of one packet: a run like any other.
            let data = QueuedEvent::Notice(ChannelEvent::Data(repeat.left * every));
            self.waiting.extend((repeat.left > 0).then_some((from, data)));
            news = false;
        }
        if repeat.left > 0 && news {
            let omitted = QueuedEvent::Omitted { rounds: repeat.left, every };
            self.waiting.push_back((from, omitted));
        }
        let end = self.receiver.next().unwrap_or_default();
        self.stops = Some(SkippedStops { first: from, end, every, places: stops(pattern.runs()) });
        self.repeat = None;
    }

    /// Nothing comes any more.
    pub(super) const fn end(&mut self) {
        self.end = QueueEnd::Due;
    }

    /// Takes what is due: hands it on, or works out what comes next.
    pub(super) fn step(&mut self, want: EventFilter) -> Option<(Tick, QueuedEvent)> {
        let next = self.waiting.pop_front();
        if next.is_none() && self.repeat.is_some() {
            self.round(want);
        } else if next.is_none() {
            let waiting = &mut self.waiting;
            self.receiver.finish(&mut |at, notice| want.keep(at, notice, waiting));
            self.end = QueueEnd::Done;
        }
        next
    }

    /// A reset on the opposite channel, the one `released`, has released its sender now. If this
    /// channel goes on saying STOP in rounds that were passed over, the next one counts again.
    pub(super) fn recall_stop(&mut self, own: ChannelId, now: Time, released: ChannelId) {
        let Some(stops) = &self.stops else { return };
        let about = now / Time::from(self.period_ps);
        let Some(at) = stops.next(about, |at| (self.time(at), own) > (now, released)) else {
            return;
        };
        // What waits may be of rounds that were taken before, or of a chunk behind the repeat.
        let place = self.waiting.partition_point(|(waiting, _)| *waiting < at);
        let stop = (at, QueuedEvent::Notice(ChannelEvent::Command(FlowCommand::Stop)));
        if self.waiting.get(place).is_none_or(|waiting| *waiting != stop) {
            self.waiting.insert(place, stop);
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

    fn keep(self, at: Tick, notice: ChannelEvent, waiting: &mut VecDeque<(Tick, QueuedEvent)>) {
        let wanted = match notice {
            ChannelEvent::Packet(_) => self != Self::Events,
            ChannelEvent::Event(_) | ChannelEvent::Command(_) => self != Self::Packets,
            ChannelEvent::Begins
            | ChannelEvent::Framed
            | ChannelEvent::Head(_)
            | ChannelEvent::Data(_) => self == Self::All,
        };
        if wanted {
            waiting.push_back((at, QueuedEvent::Notice(notice)));
        }
    }
}

impl SkippedStops {
    /// The first STOP about a place for which it is time.
    fn next(&self, about: u128, time: impl Fn(Tick) -> bool) -> Option<Tick> {
        let about = Tick(u64::try_from(about).unwrap_or(u64::MAX));
        let round = about.since(self.first).0 / self.every;
        // From the round of that place on; the one after it if all its STOPs are past.
        let rounds = [round, round.saturating_add(1)].into_iter();
        rounds
            .flat_map(|round| self.places.iter().map(move |place| (round, place)))
            .map(|(round, place)| {
                self.first.0.saturating_add(round.saturating_mul(self.every)).saturating_add(*place)
            })
            .map(Tick)
            .find(|at| *at < self.end && time(*at))
    }
}

/// Places of STOPs.
fn stops<'a>(runs: impl Iterator<Item = CharRun<'a>>) -> Vec<u64> {
    let mut at = 0;
    let mut places = Vec::new();
    for run in runs {
        match run {
            CharRun::Data(data) => at += data.len() as u64,
            CharRun::Control(codes) => {
                for code in codes {
                    let stop = decode_control(*code).symbol() == Some(Symbol::Stop);
                    places.extend(stop.then_some(at));
                    at += 1;
                }
            }
        }
    }
    places
}
