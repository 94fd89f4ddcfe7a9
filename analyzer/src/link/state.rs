//! Activity of a channel as consecutive intervals, and their totals. F-1, F-7, R-2, L

use codec::capture::{Channel, ChannelId, Chunk, StartSender, StartState};
use codec::time::{OPEN_LINK, Tick};

use super::interval::{ActivityInterval, ChannelActivity, PAUSE_MAX, PeriodTotals, WireState};
use super::led::{LedTraffic, PortLeds};
use super::possible::{PacketPhase, PossibleActivity, RecordedRange, SenderPermission, UnseenStop};
use super::totals::{ChannelTotals, StopTotals};
use crate::counters::ChannelCounters;
use crate::event::{ChannelEvent, LinkEvent, RepeatedEvents};
use crate::packet::FrameEnd;

/// STOP and GO that are not examined come again and again, up to those that are.
const NOT_EXAMINED: Tick = Tick(u64::MAX);

#[derive(Clone, Debug, Default)]
pub(crate) struct ActivityTracker {
    channel: ChannelId,
    /// State before the first character of a slice.
    start: Option<StartState>,
    wire: WireState,
    receiving: PacketPhase,
    sender: SenderPermission,
    /// A STOP that was not recorded.
    unseen: UnseenStop,
    recorded: RecordedRange,
    /// Recorded parts of the opposite channel, in periods of this one.
    opposite: Option<RecordedRange>,
    /// Character of the last event that may have changed the activity.
    now: Tick,
    /// The activity is known before this character; where events were omitted, that is ahead of `now`.
    next: Tick,
    /// The current activity and its first character.
    current: Option<(Tick, ChannelActivity)>,
    /// Intervals that have ended and are not yet taken.
    ended: Vec<ActivityInterval>,
    leds: PortLeds,
    pub(crate) totals: ChannelTotals,
    /// Stops up to their ends, as they count if the recording goes on behind them.
    stops: StopTotals,
}

impl ActivityTracker {
    pub(crate) fn new(id: ChannelId, channel: &Channel) -> Self {
        let counters = ChannelCounters::of(channel);
        let totals = ChannelTotals { counters, ..ChannelTotals::default() };
        Self { channel: id, start: StartState::of(channel), totals, ..Self::default() }
    }

    /// Periods in each state of the LEDs at the receiving end, in the order of
    /// [`super::led::LedState::ALL`]. L
    pub(crate) const fn leds(&self) -> &PeriodTotals<4> {
        &self.leds.times
    }

    /// The latest interval, as far as it is known.
    pub(crate) fn now(&self) -> Option<ActivityInterval> {
        let (start, state) = self.current?;
        Some(ActivityInterval { channel: self.channel, start, end: self.next, state })
    }

    pub(crate) fn take_ended(&mut self) -> impl Iterator<Item = ActivityInterval> {
        self.ended.drain(..)
    }

    /// Adds a recorded chunk of the channel; its events come later.
    pub(crate) fn recorded(&mut self, chunk: &Chunk<'_>) {
        match self.totals.counters.span() {
            None => {
                self.next = chunk.first;
                self.leds.seek(chunk.first);
                self.recorded.end = chunk.end();
            }
            Some(_) => self.recorded.add([chunk.first, chunk.end()]),
        }
        self.totals.counters.feed(chunk);
        self.totals.stops = self.stops;
    }

    /// Joins the channel with its opposite, of which nothing is recorded yet: a slice begins with what came before.
    pub(crate) fn join(&mut self, grace: u64) {
        self.unseen.grace = grace;
        self.opposite = self.start.is_none().then(RecordedRange::default);
    }

    /// Adds a recorded chunk of the opposite channel, in periods of this one; its events come later.
    pub(crate) fn opposite_recorded(&mut self, range: [Tick; 2]) {
        let begun = RecordedRange { end: range[0], ..RecordedRange::default() };
        self.opposite.get_or_insert(begun).add(range);
    }

    /// Processes the channel's next event.
    pub(crate) fn own(&mut self, at: Tick, event: &ChannelEvent) {
        match event {
            ChannelEvent::Begins => self.begins(at),
            ChannelEvent::Framed => {
                let is_open = self.start.is_some_and(|it| it.at == at && it.silent >= OPEN_LINK.0);
                self.wire(at, if is_open { WireState::Open } else { WireState::Alive });
                // What a slice begins with has ended.
                if self.receiving.traffic() == LedTraffic::Packet {
                    self.receiving(at, PacketPhase::Between);
                }
            }
            ChannelEvent::Head(_) => self.receiving(at, PacketPhase::Packet { awaited: at }),
            ChannelEvent::Data(len) => {
                let awaited = Tick(at.0.saturating_add(*len));
                // Reading: a sender that sends may.
                if self.unseen.is_refuted(awaited) {
                    self.sender_known(at);
                }
                self.receiving(at, PacketPhase::Packet { awaited });
            }
            ChannelEvent::Command(_) => self.totals.commands += 1,
            ChannelEvent::Packet(packet) => {
                self.totals.packets.add(packet);
                // The end of the recording ends no packet on the wire.
                if packet.ended_by != FrameEnd::CaptureEnd {
                    self.receiving(at, PacketPhase::Between);
                }
            }
            ChannelEvent::Link(event) => self.link_event(at, event),
            ChannelEvent::Omitted { rounds, every, .. } => {
                self.omitted(at, rounds.saturating_mul(*every));
                if event.leaves_out(RepeatedEvents::Resets) {
                    self.sender_unknown(at, NOT_EXAMINED);
                }
            }
        }
    }

    /// Begins the recording: with the state of a slice, if it has one.
    fn begins(&mut self, at: Tick) {
        let Some(start) = self.start.filter(|start| start.at == at) else { return };
        if let Some(StartSender::Stopped(_)) = start.sender {
            self.link_event(at, &LinkEvent::SenderStopped);
        }
        self.receiving = PacketPhase::at_start(start.packet, at);
        self.leds.own(at, self.receiving.traffic());
        if start.silent >= OPEN_LINK.0 {
            self.wire = WireState::Open;
        }
    }

    /// Processes an event of the opposite channel; `at` is this channel's character at that moment.
    pub(crate) fn opposite(&mut self, at: Tick, event: &ChannelEvent) {
        self.hide(at);
        let here = self.recorded.limit(at);
        match event {
            ChannelEvent::Begins => {
                self.opposite.as_mut().and_then(|it| it.holes.pop_front_if(|hole| *hole < at));
                self.leds.opposite(here, LedTraffic::Unknown);
                if self.start.is_none_or(|start| start.sender.is_none()) {
                    self.sender_unknown(at, at);
                }
            }
            ChannelEvent::Framed => self.leds.opposite_known(here),
            ChannelEvent::Command(_) | ChannelEvent::Link(LinkEvent::OpenLink) => {
                self.sender_known(at);
            }
            ChannelEvent::Head(_) => self.leds.opposite(here, LedTraffic::Packet),
            ChannelEvent::Packet(packet) if packet.ended_by != FrameEnd::CaptureEnd => {
                self.leds.opposite(here, LedTraffic::Nothing);
            }
            ChannelEvent::Link(LinkEvent::Hole { .. }) => {
                self.totals.pings.forget();
                self.settle(at);
                self.opposite.as_mut().and_then(|opposite| opposite.holes.pop_front());
                self.leds.opposite(here, LedTraffic::Unknown);
                self.sender_unknown(at, at);
            }
            ChannelEvent::Link(LinkEvent::Reply(_)) => self.totals.pings.answered(at),
            ChannelEvent::Omitted { .. } if event.leaves_out(RepeatedEvents::Commands) => {
                self.sender_unknown(at, NOT_EXAMINED);
            }
            ChannelEvent::Data(_) | ChannelEvent::Packet(_) => {}
            ChannelEvent::Link(_) | ChannelEvent::Omitted { .. } => {}
        }
    }

    /// Ends the recording.
    pub(crate) fn finish(&mut self) {
        let end = self.recorded.end;
        self.settle(end);
        self.close();
        self.leds.settle(end);
        self.stop_ends(end);
    }

    fn link_event(&mut self, at: Tick, event: &LinkEvent) {
        match event {
            LinkEvent::OpenLink => self.wire(at, WireState::Open),
            LinkEvent::LinkRestored => self.wire(at, WireState::Alive),
            LinkEvent::ForwardReset => {
                self.sender_known(at);
                self.receiving(at, PacketPhase::Reset);
            }
            LinkEvent::ResetEnded => self.receiving(at, PacketPhase::Between),
            LinkEvent::Hole { .. } => self.hole(at),
            LinkEvent::SenderStopped => {
                [&mut self.stops, &mut self.totals.stops].into_iter().for_each(|it| it.count += 1);
                self.sender(at, SenderPermission::Stopped(at));
            }
            LinkEvent::SenderResumed(_) => self.sender(at, SenderPermission::Going),
            LinkEvent::Probe(number) => self.totals.pings.sent(at, *number),
            LinkEvent::BackwardReset | LinkEvent::OverrunAlarm | LinkEvent::Reply(_) => {}
            LinkEvent::InvalidCode(_) | LinkEvent::CorrectedCode { .. } => {}
        }
    }

    fn wire(&mut self, at: Tick, wire: WireState) {
        self.settle(at);
        self.wire = wire;
        self.leds.wire(self.recorded.limit(at), wire);
    }

    fn receiving(&mut self, at: Tick, receiving: PacketPhase) {
        self.settle(at);
        self.receiving = receiving;
        self.leds.own(self.recorded.limit(at), receiving.traffic());
    }

    fn sender(&mut self, at: Tick, sender: SenderPermission) {
        self.settle(at);
        self.stop_ends(at);
        self.sender = sender;
        if let PacketPhase::Packet { awaited } = &mut self.receiving {
            *awaited = at.max(*awaited);
        }
    }

    /// The permission of the channel's sender is known from here on.
    fn sender_known(&mut self, at: Tick) {
        if self.sender == SenderPermission::Unknown {
            self.sender(at, SenderPermission::Going);
        }
    }

    /// The permission of the channel's sender is unknown from here on, unless it is sending. A STOP may have come `until` a
    /// character.
    fn sender_unknown(&mut self, at: Tick, until: Tick) {
        self.unseen.until = until;
        let is_sending = matches!(self.receiving, PacketPhase::Packet { awaited } if self.unseen.is_refuted(awaited));
        let unknown = SenderPermission::Unknown;
        self.sender(at, if is_sending { SenderPermission::Going } else { unknown });
    }

    fn stop_ends(&mut self, at: Tick) {
        if let SenderPermission::Stopped(since) = self.sender
            && let Some((first, _)) = self.totals.counters.span()
        {
            let since = since.max(first);
            self.stops.ended(at.since(since));
            self.totals.stops.ended(at.min(self.recorded.end).since(since));
        }
    }

    /// Characters before this one were not recorded.
    fn hole(&mut self, at: Tick) {
        self.settle(at);
        self.close();
        self.leds.settle(self.recorded.limit(at));
        self.recorded.holes.pop_front();
        self.next = at;
        self.leds.seek(at);
        (self.wire, self.receiving) = (WireState::Unknown, PacketPhase::Between);
        self.leds.wire(at, WireState::Unknown);
        self.leds.own(at, LedTraffic::Nothing);
        self.totals.pings.forget();
    }

    /// Events of these characters were omitted; they leave the state as it was.
    fn omitted(&mut self, at: Tick, len: u64) {
        self.settle(at);
        let end = self.recorded.limit(Tick(at.0.saturating_add(len)));
        self.reach(end, ChannelActivity::Unknown);
        self.leds.settle(self.recorded.limit(at));
        self.leds.pass_over(end);
        if let PacketPhase::Packet { awaited } = &mut self.receiving {
            awaited.0 = awaited.0.saturating_add(len);
        }
    }

    /// The activity of the next character.
    fn possible_activity(&self) -> PossibleActivity {
        PossibleActivity::of(self.wire, self.receiving, self.permission())
    }

    /// A character, or the one before it from which on the opposite channel is not recorded.
    fn opposite_limit(&self, at: Tick) -> Tick {
        self.opposite.as_ref().map_or(at, |opposite| opposite.limit(at))
    }

    /// The first character to come that was recorded while its opposite channel was not, and the first that was not recorded.
    pub(crate) fn ends(&self) -> [Option<Tick>; 2] {
        let end = self.recorded.end;
        let hidden = Some(self.opposite_limit(end)).filter(|hidden| *hidden < end);
        [hidden, Some(self.recorded.limit(end))]
    }

    /// The permission of the sender at the next character: unknown while its commands are not recorded.
    fn permission(&self) -> SenderPermission {
        let is_seen = self.opposite_limit(Tick(self.next.0.saturating_add(1))) > self.next;
        if is_seen { self.sender } else { SenderPermission::Unknown }
    }

    /// Determines the activity up to where the opposite channel is recorded no more: what the sender may do is unknown
    /// from there on.
    pub(crate) fn hide(&mut self, at: Tick) {
        let hidden = self.opposite_limit(at);
        if hidden == at {
            return;
        }
        if self.sender != SenderPermission::Unknown {
            self.settle_with_sender(hidden);
            self.stop_ends(hidden);
            self.sender = SenderPermission::Unknown;
        }
        self.leds.opposite(self.recorded.limit(hidden), LedTraffic::Unknown);
    }

    /// Determines the activity up to a character.
    pub(crate) fn settle(&mut self, at: Tick) {
        self.hide(at);
        self.settle_with_sender(at);
    }

    fn settle_with_sender(&mut self, at: Tick) {
        self.now = self.now.max(at);
        let at = self.recorded.limit(at);
        let activity = match self.possible_activity() {
            PossibleActivity::Certain(activity) => activity,
            PossibleActivity::Packet(awaited) => {
                self.reach(awaited.min(at), ChannelActivity::Sending);
                let pause = self.long_pause();
                let is_short = at.since(awaited).0 <= PAUSE_MAX;
                if is_short && pause == ChannelActivity::Starved {
                    ChannelActivity::Sending
                } else {
                    pause
                }
            }
        };
        self.reach(at, activity);
    }

    /// The activity of a long pause inside a packet.
    fn long_pause(&self) -> ChannelActivity {
        match self.permission() {
            SenderPermission::Unknown => ChannelActivity::Unknown,
            SenderPermission::Going | SenderPermission::Stopped(_) => ChannelActivity::Starved,
        }
    }

    /// The first character whose activity is not determined yet.
    pub(crate) const fn settled(&self) -> Tick {
        self.next
    }

    /// Ends the current interval if another activity follows, or nothing that was recorded, after all events of the
    /// newest character. (At once, so that the order of intervals does not depend on the cuts between runs of bytes.)
    pub(crate) fn emit_settled(&mut self) {
        let Some((_, current)) = self.current else { return };
        if self.recorded.limit(Tick(self.next.0.saturating_add(1))) == self.next {
            return self.close();
        }
        if self.next > self.now {
            return;
        }
        let continues = match self.possible_activity() {
            PossibleActivity::Certain(activity) => activity == current,
            PossibleActivity::Packet(awaited) => {
                current == ChannelActivity::Sending
                    || awaited <= self.next && current == self.long_pause()
            }
        };
        if !continues {
            self.close();
        }
    }

    /// Extends the current interval up to a character, or begins another.
    fn reach(&mut self, at: Tick, activity: ChannelActivity) {
        if at <= self.next {
            return;
        }
        if self.current.is_none_or(|(_, current)| current != activity) {
            self.close();
            self.current = Some((self.next, activity));
        }
        self.totals.history.add(self.next, at, activity);
        self.totals.times.add(activity.index(), at.since(self.next));
        self.next = at;
    }

    fn close(&mut self) {
        self.ended.extend(self.now());
        self.current = None;
    }
}
