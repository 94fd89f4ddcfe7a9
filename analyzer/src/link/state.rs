//! What a channel is doing, as intervals that follow each other without a gap, and what that adds up
//! to. F-1, F-7, R-2, L

use std::collections::VecDeque;

use codec::capture::{ChannelId, Chunk};
use codec::tick::Tick;

pub use super::interval::{Interval, PAUSE_MAX, State};
use super::lamp::{Lamp, Passing};
use super::summary::{Summary, Times};
use crate::event::Event;
use crate::packet::EndedBy;
use crate::timeline::{Detail, What};

/// The states of one channel.
#[derive(Clone, Debug)]
pub struct States {
    channel: ChannelId,
    wire: Wire,
    receiving: Receiving,
    sender: Sender,
    recorded: Recorded,
    /// The place of the last row that may have changed the state.
    now: Tick,
    /// Up to here the state has been settled: to where rows were left out, that is ahead.
    next: Tick,
    /// The state just before that, and since when it has been.
    current: Option<(Tick, State)>,
    lamp: Lamp,
    summary: Summary,
}

/// What is known of the channel's life and framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// Nothing yet.
    Unknown,
    /// Characters come, and what they belong to is known.
    Alive,
    /// Silent for 16 periods. F-7
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiving {
    Between,
    Packet {
        /// Since when bytes have been awaited: behind the last one, or since the sender may send. It
        /// lies ahead while a run of bytes passes.
        awaited: Tick,
    },
    Reset,
}

/// What is known of the channel's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// Nothing: the opposite channel is recorded, and has not commanded yet.
    Unknown,
    /// It may send, as far as is known. F-2
    Going,
    /// It must not, since then.
    Stopped(Tick),
}

/// What the channel does from some place on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Clear(State),
    /// A packet passes, whose bytes have been awaited since then.
    Packet(Tick),
}

/// Which characters were recorded.
#[derive(Clone, Debug, Default)]
struct Recorded {
    end: Tick,
    /// Where the holes begin whose rows are to come.
    holes: VecDeque<Tick>,
}

impl Recorded {
    /// A place, or the first character before it that is not recorded.
    fn limit(&self, at: Tick) -> Tick {
        at.min(self.holes.front().copied().unwrap_or(self.end))
    }
}

impl States {
    /// A channel before its first character.
    #[must_use]
    pub fn new(channel: ChannelId) -> Self {
        Self {
            channel,
            wire: Wire::Unknown,
            receiving: Receiving::Between,
            sender: Sender::Going,
            recorded: Recorded::default(),
            next: Tick(0),
            now: Tick(0),
            current: None,
            lamp: Lamp::default(),
            summary: Summary::default(),
        }
    }

    /// For how long the lamps of the port at the receiving end showed what, in the order of
    /// [`super::lamp::Light::ALL`]. L
    #[must_use]
    pub const fn lamp(&self) -> &Times<4> {
        self.lamp.times()
    }

    /// What all that was adds up to.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// A chunk of the channel has been recorded; its rows come later.
    pub fn recorded(&mut self, chunk: &Chunk<'_>) {
        match self.summary.tally.span() {
            None => {
                self.next = chunk.first;
                self.lamp.seek(chunk.first);
            }
            Some(_) if self.recorded.end < chunk.first => {
                self.recorded.holes.push_back(self.recorded.end);
            }
            Some(_) => {}
        }
        self.summary.tally.feed(chunk);
        self.recorded.end = chunk.end();
    }

    /// Takes the channel's next row; rows come in order of time.
    pub fn row(&mut self, at: Tick, what: &What, out: &mut impl FnMut(Interval)) {
        match what {
            What::Detail(Detail::Begins) => {}
            What::Detail(Detail::Framed) => self.wire(at, Wire::Alive, out),
            What::Detail(Detail::Head(_)) => {
                self.receiving(at, Receiving::Packet { awaited: at }, out);
            }
            What::Detail(Detail::Data(len)) => {
                // Reading: a sender that sends may.
                self.known(at, out);
                let awaited = Tick(at.0.saturating_add(*len));
                self.receiving(at, Receiving::Packet { awaited }, out);
            }
            What::Detail(Detail::Command(_)) => self.summary.commands += 1,
            What::Packet(packet) => {
                self.summary.packets.add(packet);
                // The end of the recording ends no packet on the wire.
                if packet.ended_by != EndedBy::CaptureEnd {
                    self.receiving(at, Receiving::Between, out);
                }
            }
            What::Event(event) => self.event(at, event, out),
            What::Omitted { rounds, every } => {
                self.omitted(at, rounds.saturating_mul(*every), out);
            }
        }
    }

    /// Takes a row of the opposite channel; `at` is the character of this one at that moment.
    pub fn opposite(&mut self, at: Tick, what: &What, out: &mut impl FnMut(Interval)) {
        let here = self.recorded.limit(at);
        match what {
            What::Detail(Detail::Begins) => self.doubt(at, out),
            What::Detail(Detail::Command(_)) | What::Event(Event::OpenLink) => self.known(at, out),
            What::Detail(Detail::Head(_)) => self.lamp.opposite(here, Passing::Packet),
            What::Packet(packet) if packet.ended_by != EndedBy::CaptureEnd => {
                self.lamp.opposite(here, Passing::Nothing);
            }
            What::Event(Event::Hole { .. }) => {
                self.summary.pings.forget();
                self.doubt(at, out);
            }
            What::Event(Event::Reply(_)) => self.summary.pings.answered(at),
            What::Detail(Detail::Framed | Detail::Data(_))
            | What::Packet(_)
            | What::Event(_)
            | What::Omitted { .. } => {}
        }
    }

    /// The recording ends.
    pub fn finish(&mut self, out: &mut impl FnMut(Interval)) {
        let end = self.recorded.end;
        self.settle(end, out);
        self.close(out);
        self.lamp.settle(end);
        self.stop_ends(end);
    }

    fn event(&mut self, at: Tick, event: &Event, out: &mut impl FnMut(Interval)) {
        match event {
            Event::OpenLink => self.wire(at, Wire::Open, out),
            Event::LinkRestored => self.wire(at, Wire::Alive, out),
            Event::ForwardReset => {
                self.known(at, out);
                self.receiving(at, Receiving::Reset, out);
            }
            Event::ResetEnded => self.receiving(at, Receiving::Between, out),
            Event::Hole { .. } => self.hole(at, out),
            Event::SenderStopped => {
                self.summary.stops.count += 1;
                self.sender(at, Sender::Stopped(self.recorded.limit(at)), out);
            }
            Event::SenderResumed(_) => self.sender(at, Sender::Going, out),
            Event::Probe(number) => self.summary.pings.sent(at, *number),
            Event::BackwardReset
            | Event::OverrunAlarm
            | Event::Reply(_)
            | Event::InvalidCode(_)
            | Event::CorrectedCode { .. } => {}
        }
    }

    fn wire(&mut self, at: Tick, wire: Wire, out: &mut impl FnMut(Interval)) {
        self.settle(at, out);
        self.wire = wire;
        self.lamp.wire(self.recorded.limit(at), wire);
    }

    fn receiving(&mut self, at: Tick, receiving: Receiving, out: &mut impl FnMut(Interval)) {
        self.settle(at, out);
        self.receiving = receiving;
        let passing = match receiving {
            Receiving::Between | Receiving::Reset => Passing::Nothing,
            Receiving::Packet { .. } => Passing::Packet,
        };
        self.lamp.own(self.recorded.limit(at), passing);
    }

    fn sender(&mut self, at: Tick, sender: Sender, out: &mut impl FnMut(Interval)) {
        self.settle(at, out);
        self.stop_ends(at);
        self.sender = sender;
        if let Receiving::Packet { awaited } = &mut self.receiving {
            *awaited = at.max(*awaited);
        }
    }

    /// What the channel's sender has been told is known from here on.
    fn known(&mut self, at: Tick, out: &mut impl FnMut(Interval)) {
        if self.sender == Sender::Unknown {
            self.sender(at, Sender::Going, out);
        }
    }

    /// What the channel's sender has been told is not known here, unless it is sending.
    fn doubt(&mut self, at: Tick, out: &mut impl FnMut(Interval)) {
        let sender = match self.receiving {
            Receiving::Packet { awaited } if awaited > at => Sender::Going,
            Receiving::Packet { .. } | Receiving::Between | Receiving::Reset => Sender::Unknown,
        };
        self.sender(at, sender, out);
    }

    fn stop_ends(&mut self, at: Tick) {
        if let Sender::Stopped(since) = self.sender {
            self.summary.stops.ended(self.recorded.limit(at).since(since));
        }
    }

    /// Characters before this one were not recorded.
    fn hole(&mut self, at: Tick, out: &mut impl FnMut(Interval)) {
        self.settle(at, out);
        self.close(out);
        self.lamp.settle(self.recorded.limit(at));
        self.recorded.holes.pop_front();
        self.next = at;
        self.lamp.seek(at);
        (self.wire, self.receiving) = (Wire::Unknown, Receiving::Between);
        self.lamp.wire(at, Wire::Unknown);
        self.lamp.own(at, Passing::Nothing);
        self.summary.pings.forget();
    }

    /// What these characters bring was left out, but for that they leave all as it was.
    fn omitted(&mut self, at: Tick, len: u64, out: &mut impl FnMut(Interval)) {
        self.settle(at, out);
        let end = self.recorded.limit(Tick(at.0.saturating_add(len)));
        self.reach(end, State::Unknown, out);
        self.lamp.settle(self.recorded.limit(at));
        self.lamp.pass_over(end);
        if let Receiving::Packet { awaited } = &mut self.receiving {
            awaited.0 = awaited.0.saturating_add(len);
        }
    }

    /// All that the channel may be said to do from here on: where a packet pauses, how long it does
    /// decides.
    const fn doing(&self) -> Doing {
        match (self.wire, self.receiving, self.sender) {
            (Wire::Open, _, _) => Doing::Clear(State::Open),
            (_, Receiving::Reset, _) => Doing::Clear(State::Reset),
            // Reading: that its sender is stopped is known whether or not framing is.
            (_, _, Sender::Stopped(_)) => Doing::Clear(State::Stopped),
            (Wire::Unknown, _, _) | (_, _, Sender::Unknown) => Doing::Clear(State::Unknown),
            (Wire::Alive, Receiving::Between, Sender::Going) => Doing::Clear(State::Idle),
            (Wire::Alive, Receiving::Packet { awaited }, Sender::Going) => Doing::Packet(awaited),
        }
    }

    /// The state is known up to here.
    fn settle(&mut self, at: Tick, out: &mut impl FnMut(Interval)) {
        self.now = at;
        let at = self.recorded.limit(at);
        let state = match self.doing() {
            Doing::Clear(state) => state,
            Doing::Packet(awaited) => {
                self.reach(awaited.min(at), State::Sending, out);
                if at.since(awaited).0 > PAUSE_MAX { State::Starved } else { State::Sending }
            }
        };
        self.reach(at, state, out);
    }

    /// Up to where the state has been settled.
    pub(super) const fn settled(&self) -> Tick {
        self.next
    }

    /// All rows of the newest character have been taken: hands out the stretch that
    /// has ended, if one has. (At once, so that the order in which stretches are told does not depend on
    /// how runs of bytes were cut.)
    pub fn turn(&mut self, out: &mut impl FnMut(Interval)) {
        let Some((_, current)) = self.current else { return };
        if self.next > self.now {
            return;
        }
        let goes_on = match self.doing() {
            Doing::Clear(state) => state == current,
            Doing::Packet(awaited) if awaited > self.next => current == State::Sending,
            Doing::Packet(_) => matches!(current, State::Sending | State::Starved),
        };
        if !goes_on {
            self.close(out);
        }
    }

    /// From where it was settled up to here the channel was in this state.
    fn reach(&mut self, at: Tick, state: State, out: &mut impl FnMut(Interval)) {
        if at <= self.next {
            return;
        }
        if self.current.is_none_or(|(_, current)| current != state) {
            self.close(out);
            self.current = Some((self.next, state));
        }
        self.summary.picture.add(self.next, at, state);
        self.summary.times.add(state.index(), at.since(self.next));
        self.next = at;
    }

    fn close(&mut self, out: &mut impl FnMut(Interval)) {
        if let Some((start, state)) = self.current.take() {
            out(Interval { channel: self.channel, start, end: self.next, state });
        }
    }
}
