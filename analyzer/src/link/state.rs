//! What a channel is doing, as intervals that follow each other without a gap, and what that adds up
//! to. F-1, F-7, R-2, L

use std::collections::VecDeque;

use codec::capture::{ChannelId, Chunk};
use codec::time::Tick;

pub use super::interval::{ActivityInterval, ChannelActivity, PAUSE_MAX};
use super::led::{LedTraffic, PortLeds};
use super::totals::{ChannelTotals, PeriodTotals};
use crate::event::LinkEvent;
use crate::packet::PacketEnd;
use crate::timeline::{EventBody, EventDetail};

/// The states of one channel.
#[derive(Clone, Debug)]
pub struct ActivityTracker {
    channel: ChannelId,
    wire: WireState,
    receiving: PacketPhase,
    sender: SenderPermission,
    recorded: RecordedRange,
    /// The place of the last row that may have changed the state.
    now: Tick,
    /// Up to here the state has been settled: to where rows were left out, that is ahead.
    next: Tick,
    /// The state just before that, and since when it has been.
    current: Option<(Tick, ChannelActivity)>,
    leds: PortLeds,
    summary: ChannelTotals,
}

/// What is known of the channel's life and framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireState {
    /// Nothing yet.
    Unknown,
    /// Characters come, and what they belong to is known.
    Alive,
    /// Silent for 16 periods. F-7
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketPhase {
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
enum SenderPermission {
    /// Nothing: the opposite channel is recorded, and has not commanded yet.
    Unknown,
    /// It may send, as far as is known. F-2
    Going,
    /// It must not, since then.
    Stopped(Tick),
}

/// What the channel does from some place on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PossibleActivity {
    Clear(ChannelActivity),
    /// A packet passes, whose bytes have been awaited since then.
    Packet(Tick),
}

/// Which characters were recorded.
#[derive(Clone, Debug, Default)]
struct RecordedRange {
    end: Tick,
    /// Where the holes begin whose rows are to come.
    holes: VecDeque<Tick>,
}

impl RecordedRange {
    /// A place, or the first character before it that is not recorded.
    fn limit(&self, at: Tick) -> Tick {
        at.min(self.holes.front().copied().unwrap_or(self.end))
    }
}

impl ActivityTracker {
    /// A channel before its first character.
    #[must_use]
    pub fn new(channel: ChannelId) -> Self {
        Self {
            channel,
            wire: WireState::Unknown,
            receiving: PacketPhase::Between,
            sender: SenderPermission::Going,
            recorded: RecordedRange::default(),
            next: Tick(0),
            now: Tick(0),
            current: None,
            leds: PortLeds::default(),
            summary: ChannelTotals::default(),
        }
    }

    /// For how long the lamps of the port at the receiving end showed what, in the order of
    /// [`super::led::LedState::ALL`]. L
    #[must_use]
    pub const fn leds(&self) -> &PeriodTotals<4> {
        self.leds.times()
    }

    /// What all that was adds up to.
    #[must_use]
    pub const fn summary(&self) -> &ChannelTotals {
        &self.summary
    }

    /// A chunk of the channel has been recorded; its rows come later.
    pub fn recorded(&mut self, chunk: &Chunk<'_>) {
        match self.summary.tally.span() {
            None => {
                self.next = chunk.first;
                self.leds.seek(chunk.first);
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
    pub fn own(&mut self, at: Tick, what: &EventBody, out: &mut impl FnMut(ActivityInterval)) {
        match what {
            EventBody::Detail(EventDetail::Begins) => {}
            EventBody::Detail(EventDetail::Framed) => self.wire(at, WireState::Alive, out),
            EventBody::Detail(EventDetail::Head(_)) => {
                self.receiving(at, PacketPhase::Packet { awaited: at }, out);
            }
            EventBody::Detail(EventDetail::Data(len)) => {
                // Reading: a sender that sends may.
                self.sender_known(at, out);
                let awaited = Tick(at.0.saturating_add(*len));
                self.receiving(at, PacketPhase::Packet { awaited }, out);
            }
            EventBody::Detail(EventDetail::Command(_)) => self.summary.commands += 1,
            EventBody::Packet(packet) => {
                self.summary.packets.add(packet);
                // The end of the recording ends no packet on the wire.
                if packet.ended_by != PacketEnd::CaptureEnd {
                    self.receiving(at, PacketPhase::Between, out);
                }
            }
            EventBody::Event(event) => self.event(at, event, out),
            EventBody::Omitted { rounds, every } => {
                self.omitted(at, rounds.saturating_mul(*every), out);
            }
        }
    }

    /// Takes a row of the opposite channel; `at` is the character of this one at that moment.
    pub fn opposite(&mut self, at: Tick, what: &EventBody, out: &mut impl FnMut(ActivityInterval)) {
        let here = self.recorded.limit(at);
        match what {
            EventBody::Detail(EventDetail::Begins) => self.sender_unknown(at, out),
            EventBody::Detail(EventDetail::Command(_)) | EventBody::Event(LinkEvent::OpenLink) => {
                self.sender_known(at, out)
            }
            EventBody::Detail(EventDetail::Head(_)) => self.leds.opposite(here, LedTraffic::Packet),
            EventBody::Packet(packet) if packet.ended_by != PacketEnd::CaptureEnd => {
                self.leds.opposite(here, LedTraffic::Nothing);
            }
            EventBody::Event(LinkEvent::Hole { .. }) => {
                self.summary.pings.forget();
                self.sender_unknown(at, out);
            }
            EventBody::Event(LinkEvent::Reply(_)) => self.summary.pings.answered(at),
            EventBody::Detail(EventDetail::Framed | EventDetail::Data(_))
            | EventBody::Packet(_)
            | EventBody::Event(_)
            | EventBody::Omitted { .. } => {}
        }
    }

    /// The recording ends.
    pub fn finish(&mut self, out: &mut impl FnMut(ActivityInterval)) {
        let end = self.recorded.end;
        self.settle(end, out);
        self.close(out);
        self.leds.settle(end);
        self.stop_ends(end);
    }

    fn event(&mut self, at: Tick, event: &LinkEvent, out: &mut impl FnMut(ActivityInterval)) {
        match event {
            LinkEvent::OpenLink => self.wire(at, WireState::Open, out),
            LinkEvent::LinkRestored => self.wire(at, WireState::Alive, out),
            LinkEvent::ForwardReset => {
                self.sender_known(at, out);
                self.receiving(at, PacketPhase::Reset, out);
            }
            LinkEvent::ResetEnded => self.receiving(at, PacketPhase::Between, out),
            LinkEvent::Hole { .. } => self.hole(at, out),
            LinkEvent::SenderStopped => {
                self.summary.stops.count += 1;
                self.sender(at, SenderPermission::Stopped(self.recorded.limit(at)), out);
            }
            LinkEvent::SenderResumed(_) => self.sender(at, SenderPermission::Going, out),
            LinkEvent::Probe(number) => self.summary.pings.sent(at, *number),
            LinkEvent::BackwardReset
            | LinkEvent::OverrunAlarm
            | LinkEvent::Reply(_)
            | LinkEvent::InvalidCode(_)
            | LinkEvent::CorrectedCode { .. } => {}
        }
    }

    fn wire(&mut self, at: Tick, wire: WireState, out: &mut impl FnMut(ActivityInterval)) {
        self.settle(at, out);
        self.wire = wire;
        self.leds.wire(self.recorded.limit(at), wire);
    }

    fn receiving(
        &mut self,
        at: Tick,
        receiving: PacketPhase,
        out: &mut impl FnMut(ActivityInterval),
    ) {
        self.settle(at, out);
        self.receiving = receiving;
        let passing = match receiving {
            PacketPhase::Between | PacketPhase::Reset => LedTraffic::Nothing,
            PacketPhase::Packet { .. } => LedTraffic::Packet,
        };
        self.leds.own(self.recorded.limit(at), passing);
    }

    fn sender(
        &mut self,
        at: Tick,
        sender: SenderPermission,
        out: &mut impl FnMut(ActivityInterval),
    ) {
        self.settle(at, out);
        self.stop_ends(at);
        self.sender = sender;
        if let PacketPhase::Packet { awaited } = &mut self.receiving {
            *awaited = at.max(*awaited);
        }
    }

    /// What the channel's sender has been told is known from here on.
    fn sender_known(&mut self, at: Tick, out: &mut impl FnMut(ActivityInterval)) {
        if self.sender == SenderPermission::Unknown {
            self.sender(at, SenderPermission::Going, out);
        }
    }

    /// What the channel's sender has been told is not known here, unless it is sending.
    fn sender_unknown(&mut self, at: Tick, out: &mut impl FnMut(ActivityInterval)) {
        let sender = match self.receiving {
            PacketPhase::Packet { awaited } if awaited > at => SenderPermission::Going,
            PacketPhase::Packet { .. } | PacketPhase::Between | PacketPhase::Reset => {
                SenderPermission::Unknown
            }
        };
        self.sender(at, sender, out);
    }

    fn stop_ends(&mut self, at: Tick) {
        if let SenderPermission::Stopped(since) = self.sender {
            self.summary.stops.ended(self.recorded.limit(at).since(since));
        }
    }

    /// Characters before this one were not recorded.
    fn hole(&mut self, at: Tick, out: &mut impl FnMut(ActivityInterval)) {
        self.settle(at, out);
        self.close(out);
        self.leds.settle(self.recorded.limit(at));
        self.recorded.holes.pop_front();
        self.next = at;
        self.leds.seek(at);
        (self.wire, self.receiving) = (WireState::Unknown, PacketPhase::Between);
        self.leds.wire(at, WireState::Unknown);
        self.leds.own(at, LedTraffic::Nothing);
        self.summary.pings.forget();
    }

    /// What these characters bring was left out, but for that they leave all as it was.
    fn omitted(&mut self, at: Tick, len: u64, out: &mut impl FnMut(ActivityInterval)) {
        self.settle(at, out);
        let end = self.recorded.limit(Tick(at.0.saturating_add(len)));
        self.reach(end, ChannelActivity::Unknown, out);
        self.leds.settle(self.recorded.limit(at));
        self.leds.pass_over(end);
        if let PacketPhase::Packet { awaited } = &mut self.receiving {
            awaited.0 = awaited.0.saturating_add(len);
        }
    }

    /// All that the channel may be said to do from here on: where a packet pauses, how long it does
    /// decides.
    const fn doing(&self) -> PossibleActivity {
        match (self.wire, self.receiving, self.sender) {
            (WireState::Open, _, _) => PossibleActivity::Clear(ChannelActivity::Open),
            (_, PacketPhase::Reset, _) => PossibleActivity::Clear(ChannelActivity::Reset),
            // Reading: that its sender is stopped is known whether or not framing is.
            (_, _, SenderPermission::Stopped(_)) => {
                PossibleActivity::Clear(ChannelActivity::Stopped)
            }
            (WireState::Unknown, _, _) | (_, _, SenderPermission::Unknown) => {
                PossibleActivity::Clear(ChannelActivity::Unknown)
            }
            (WireState::Alive, PacketPhase::Between, SenderPermission::Going) => {
                PossibleActivity::Clear(ChannelActivity::Idle)
            }
            (WireState::Alive, PacketPhase::Packet { awaited }, SenderPermission::Going) => {
                PossibleActivity::Packet(awaited)
            }
        }
    }

    /// The state is known up to here.
    fn settle(&mut self, at: Tick, out: &mut impl FnMut(ActivityInterval)) {
        self.now = at;
        let at = self.recorded.limit(at);
        let state = match self.doing() {
            PossibleActivity::Clear(state) => state,
            PossibleActivity::Packet(awaited) => {
                self.reach(awaited.min(at), ChannelActivity::Sending, out);
                if at.since(awaited).0 > PAUSE_MAX {
                    ChannelActivity::Starved
                } else {
                    ChannelActivity::Sending
                }
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
    pub fn emit_settled(&mut self, out: &mut impl FnMut(ActivityInterval)) {
        let Some((_, current)) = self.current else { return };
        if self.next > self.now {
            return;
        }
        let goes_on = match self.doing() {
            PossibleActivity::Clear(state) => state == current,
            PossibleActivity::Packet(awaited) if awaited > self.next => {
                current == ChannelActivity::Sending
            }
            PossibleActivity::Packet(_) => {
                matches!(current, ChannelActivity::Sending | ChannelActivity::Starved)
            }
        };
        if !goes_on {
            self.close(out);
        }
    }

    /// From where it was settled up to here the channel was in this state.
    fn reach(&mut self, at: Tick, state: ChannelActivity, out: &mut impl FnMut(ActivityInterval)) {
        if at <= self.next {
            return;
        }
        if self.current.is_none_or(|(_, current)| current != state) {
            self.close(out);
            self.current = Some((self.next, state));
        }
        self.summary.history.add(self.next, at, state);
        self.summary.times.add(state.index(), at.since(self.next));
        self.next = at;
    }

    fn close(&mut self, out: &mut impl FnMut(ActivityInterval)) {
        if let Some((start, state)) = self.current.take() {
            out(ActivityInterval { channel: self.channel, start, end: self.next, state });
        }
    }
}
