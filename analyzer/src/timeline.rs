//! All channels in time: what each notices, and what it makes the opposite sender do. F-1, F-2
//!
//! Blocks of a capture come in order of their first character's time, so the newest one is a
//! watermark: what lies before it is complete and is handed on. What a literal chunk brings is
//! worked out at once and waits; a repeat waits itself, and is worked out a round at a time as the
//! watermark passes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use codec::CharBuf;
use codec::capture::{Channel, ChannelId, Chunk, Content};
use codec::character::{Heard, Symbol, hear};
use codec::chars::Run;
use codec::tick::Tick;

use crate::channel::{Command, Notice, Receiver};
use crate::event::Event;
use crate::flow::{Flow, Input};
use crate::packet::{Bytes, PacketSeen};

/// Most rounds of one repeat that are handed out one by one. *Chosen*: far more than a writer makes
/// of anything but fill, and few enough that no file of 60 bytes keeps a reader busy for years.
pub const ROUNDS_MAX: u64 = 1 << 20;

/// Tools that order blocks by their timestamps see whole nanoseconds only.
const TIMESTAMP_PS: u128 = 1000;

/// Something on one channel, in order of time across channels and of sequence within each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The channel.
    pub channel: ChannelId,
    /// The character on it at which it was noticed; where a packet was closed.
    pub at: Tick,
    /// What it is.
    pub what: What,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A packet.
    Packet(PacketSeen),
    /// Anything else.
    Event(Event),
    /// The same rows come over and over, and are not handed out again.
    Omitted {
        /// Rounds left out.
        rounds: u64,
        /// Characters in a round.
        every: u64,
    },
}

/// Which rows are wanted; the others are not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Packets only.
    Packets,
    /// Events only.
    Events,
}

/// Picoseconds since the capture's time zero.
type Time = u128;

/// See the module's head. Channels are declared before they are fed.
#[derive(Debug)]
pub struct Timeline {
    want: Want,
    bytes: Bytes,
    tracks: BTreeMap<ChannelId, Track>,
    /// When each track has something next. Entries may be out of date, but none is missing.
    due: BinaryHeap<Reverse<(Time, ChannelId)>>,
    newest: Time,
    /// Rows of one instant, to be put in order.
    instant: Vec<(ChannelId, Origin, Row)>,
    now: Time,
}

/// Which rows of a channel come first in an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// Those of its own characters,
    Own,
    /// then those that the opposite channel commands.
    Sender,
}

/// One channel.
#[derive(Debug)]
struct Track {
    receiver: Receiver,
    period_ps: u64,
    peer: Option<ChannelId>,
    /// Flow control of this channel's sender.
    sender: Flow,
    /// Noticed, and not yet handed on.
    waiting: VecDeque<(Tick, Notice)>,
    /// Behind what waits.
    repeat: Option<Repeat>,
    /// The last repeat whose rounds were passed over.
    stops: Option<Stops>,
    end: End,
}

/// A repeat on its way.
#[derive(Debug)]
struct Repeat {
    pattern: CharBuf,
    taken: u64,
    left: u64,
}

/// STOPs said again and again in rounds that were passed over.
#[derive(Debug)]
struct Stops {
    first: Tick,
    end: Tick,
    every: u64,
    /// Places of the STOPs in a round, in order.
    places: Vec<u64>,
}

#[derive(Debug)]
enum End {
    /// More may come.
    Open,
    /// Nothing comes behind what is there.
    Due,
    /// All has been handed on.
    Done,
}

impl Timeline {
    /// A timeline of no channels.
    #[must_use]
    pub const fn new(want: Want, bytes: Bytes) -> Self {
        Self {
            want,
            bytes,
            tracks: BTreeMap::new(),
            due: BinaryHeap::new(),
            newest: 0,
            instant: Vec::new(),
            now: 0,
        }
    }

    /// Adds a channel.
    pub fn declare(&mut self, id: ChannelId, channel: &Channel) {
        let track = Track {
            receiver: Receiver::new(self.bytes),
            period_ps: channel.period_ps.get(),
            peer: None,
            sender: Flow::default(),
            waiting: VecDeque::new(),
            repeat: None,
            stops: None,
            end: End::Open,
        };
        self.tracks.insert(id, track);
    }

    /// Makes two channels the directions of one link.
    pub fn link(&mut self, one: ChannelId, other: ChannelId) {
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(track) = self.tracks.get_mut(&id) {
                track.peer = Some(peer);
            }
        }
    }

    /// Takes the next chunk of a channel, and hands out what lies before it in time. Chunks of one
    /// channel are in order and do not overlap.
    pub fn feed(&mut self, id: ChannelId, chunk: &Chunk<'_>, out: &mut impl FnMut(Row)) {
        let Some(track) = self.tracks.get(&id) else { return };
        self.newest = self.newest.max(track.time(chunk.first));
        self.release(self.newest.saturating_sub(TIMESTAMP_PS), out);
        let want = self.want;
        if let Some(track) = self.tracks.get_mut(&id) {
            while track.repeat.is_some() {
                let omitted = track.round(want);
                self.instant.extend(
                    omitted.map(|(at, what)| (id, Origin::Own, Row { channel: id, at, what })),
                );
            }
            track.take(chunk, want);
        }
        self.schedule(id);
    }

    /// The recording ends: hands out the rest. The timeline is as new, without channels.
    pub fn finish(&mut self, out: &mut impl FnMut(Row)) {
        for (id, track) in &mut self.tracks {
            track.end = End::Due;
            self.due.extend(track.due().map(|time| Reverse((time, *id))));
        }
        self.release(Time::MAX, out);
        *self = Self::new(self.want, self.bytes);
    }

    /// Hands out all rows of before a time.
    fn release(&mut self, until: Time, out: &mut impl FnMut(Row)) {
        while let Some(Reverse((time, id))) = self.due.peek().copied() {
            if time >= until {
                break;
            }
            self.due.pop();
            if self.tracks.get(&id).and_then(Track::due) != Some(time) {
                continue;
            }
            if time != self.now {
                self.hand_out(out);
                self.now = time;
            }
            self.advance(id);
            self.schedule(id);
        }
        self.hand_out(out);
    }

    fn hand_out(&mut self, out: &mut impl FnMut(Row)) {
        self.instant.sort_by_key(|(channel, origin, _)| (*channel, *origin));
        self.instant.drain(..).for_each(|(_, _, row)| out(row));
    }

    fn schedule(&mut self, id: ChannelId) {
        let due = self.tracks.get(&id).and_then(Track::due);
        self.due.extend(due.map(|time| Reverse((time, id))));
    }

    /// Takes the next thing of a track, which is due now.
    fn advance(&mut self, id: ChannelId) {
        let Some(track) = self.tracks.get_mut(&id) else { return };
        if let Some((at, notice)) = track.waiting.pop_front() {
            let peer = track.peer;
            match notice {
                Notice::Packet(packet) => self.row(id, at, What::Packet(packet)),
                Notice::Event(event) => {
                    self.row(id, at, What::Event(event));
                    if event == Event::OpenLink {
                        self.control(peer, Input::PeerSilent);
                    } else if let Event::Hole { .. } = event {
                        self.control(peer, Input::PeerHole);
                    } else if event == Event::ForwardReset {
                        self.control(Some(id), Input::OwnReset);
                        self.recall_stop(peer, id);
                    }
                }
                Notice::Command(Command::Stop) => self.control(peer, Input::Stop),
                Notice::Command(Command::Go) => self.control(peer, Input::Go),
            }
        } else if track.repeat.is_some() {
            if let Some((at, what)) = track.round(self.want) {
                self.row(id, at, what);
            }
        } else {
            track.finish(self.want);
        }
    }

    fn row(&mut self, channel: ChannelId, at: Tick, what: What) {
        self.instant.push((channel, Origin::Own, Row { channel, at, what }));
    }

    /// Something happens now to a channel's sender.
    fn control(&mut self, channel: Option<ChannelId>, input: Input) {
        let Some(channel) = channel else { return };
        let Some(track) = self.tracks.get_mut(&channel) else { return };
        if let Some(event) = track.sender.step(input) {
            // Reading: on a channel of another rate, the period in which it happens.
            let at = self.now / u128::from(track.period_ps);
            let at = Tick(u64::try_from(at).unwrap_or(u64::MAX));
            let row = Row { channel, at, what: What::Event(event) };
            self.instant.push((channel, Origin::Sender, row));
        }
    }

    /// A reset has released the sender on `released`. If the opposite channel goes on saying STOP
    /// in rounds that were passed over, the next one counts again.
    fn recall_stop(&mut self, opposite: Option<ChannelId>, released: ChannelId) {
        let Some(opposite) = opposite else { return };
        let now = (self.now, released);
        let Some(track) = self.tracks.get_mut(&opposite) else { return };
        let next = track.stops.as_ref().and_then(|stops| {
            stops.next(now.0 / u128::from(track.period_ps), |at| (track.time(at), opposite) > now)
        });
        let Some(at) = next else { return };
        // What waits may be of rounds that were taken before, or of a chunk behind the repeat.
        let place = track.waiting.partition_point(|(waiting, _)| *waiting < at);
        let stop = (at, Notice::Command(Command::Stop));
        if track.waiting.get(place) != Some(&stop) {
            track.waiting.insert(place, stop);
            self.schedule(opposite);
        }
    }
}

impl Track {
    fn time(&self, at: Tick) -> Time {
        Time::from(at.0) * Time::from(self.period_ps)
    }

    /// When the next thing happens, if anything more is known to.
    fn due(&self) -> Option<Time> {
        let next = self.receiver.next()?;
        match (self.waiting.front(), &self.repeat, &self.end) {
            (Some((at, _)), _, _) => Some(self.time(*at)),
            (None, Some(_), _) => Some(self.time(next)),
            (None, None, End::Due) => Some(self.time(Tick(next.0.saturating_sub(1)))),
            (None, None, End::Open | End::Done) => None,
        }
    }

    fn take(&mut self, chunk: &Chunk<'_>, want: Want) {
        let waiting = &mut self.waiting;
        let mut keep = |at, notice| want.keep(at, notice, waiting);
        self.receiver.seek(chunk.first, &mut keep);
        match chunk.content {
            Content::Literal(chars) => self.receiver.feed(chars, &mut keep),
            Content::Repeat { pattern, count } => {
                let pattern = pattern.iter().collect();
                self.repeat = Some(Repeat { pattern, taken: 0, left: count });
            }
        }
    }

    /// Takes a round of the repeat, and passes over the others if nothing new is in them. If it
    /// passes over others too, says so.
    fn round(&mut self, want: Want) -> Option<(Tick, What)> {
        let repeat = self.repeat.as_mut()?;
        let waiting = &mut self.waiting;
        let pattern = repeat.pattern.chars();
        let round = self.receiver.round(pattern, &mut |at, notice| want.keep(at, notice, waiting));
        repeat.left -= 1;
        repeat.taken += 1;
        let enough = repeat.taken >= ROUNDS_MAX;
        if repeat.left > 0 && !round.is_settled() && !enough {
            return None;
        }
        let from = self.receiver.next().unwrap_or_default();
        self.receiver.skip(pattern, repeat.left, round);
        let every = pattern.len() as u64;
        let news = match want {
            Want::Packets => round.packets > 0,
            Want::Events => round.others > 0,
        };
        let omitted = What::Omitted { rounds: repeat.left, every };
        let omitted = (repeat.left > 0 && news).then_some((from, omitted));
        let end = self.receiver.next().unwrap_or_default();
        self.stops = Some(Stops { first: from, end, every, places: stops(pattern.runs()) });
        self.repeat = None;
        omitted
    }

    fn finish(&mut self, want: Want) {
        let waiting = &mut self.waiting;
        self.receiver.finish(&mut |at, notice| want.keep(at, notice, waiting));
        self.end = End::Done;
    }
}

impl Want {
    fn keep(self, at: Tick, notice: Notice, waiting: &mut VecDeque<(Tick, Notice)>) {
        if (self == Self::Packets) == matches!(notice, Notice::Packet(_)) {
            waiting.push_back((at, notice));
        }
    }
}

impl Stops {
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
fn stops<'a>(runs: impl Iterator<Item = Run<'a>>) -> Vec<u64> {
    let mut at = 0;
    let mut places = Vec::new();
    for run in runs {
        match run {
            Run::Data(data) => at += data.len() as u64,
            Run::Control(codes) => {
                for code in codes {
                    let stop = matches!(
                        hear(*code),
                        Heard::Exact(Symbol::Stop) | Heard::Corrected(Symbol::Stop)
                    );
                    places.extend(stop.then_some(at));
                    at += 1;
                }
            }
        }
    }
    places
}
