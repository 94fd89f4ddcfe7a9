//! Checks of one channel by the events of its link: packets, the response of its sender to STOP, the
//! commands and questions on it. P-2..P-9, F-1..F-9, R-1..R-6

mod packets;

use crate::event::{ChannelEvent, FlowCommand, TimedEvent};
use codec::capture::Channel;
use codec::time::{FULL_RATE_PERIOD_PS, OPEN_LINK, Tick};

use super::set::FindingSink;
use super::{FindingFact, FindingKind, ParameterCheck, RuleCoverage};
use crate::blocking::BLOCKED_TIMEOUT;
use crate::channel_name::TapEnd;
use crate::clock::OffsetTrend;
use crate::event::{LinkEvent, ResumeCause};
use crate::link::parameters::{ChannelParameters, OTHER_VARIANT, ParameterKey, UnknownParameters};
use crate::link::slack::SILENT_ELSEWHERE;
use crate::packet::PacketEnd;

/// Longest time until an answer, or an escape that is due, is seen. *Chosen*: twice the cable of 5
/// km, many times more than any link has.
const ANSWER: u64 = 1 << 12;

/// The word of a channel whose character 0 is the first since power-up. P-7
fn is_power_up((key, word): &(String, String)) -> bool {
    key == "start" && word == "power-up"
}

/// One channel.
#[derive(Clone, Debug)]
pub(super) struct FlowChecker {
    /// So many periods after STOP at the tap no data of this channel's sender may pass the tap. F-1
    grace: Option<u64>,
    end: Option<TapEnd>,
    /// The first character since the sender was powered up, if that is known. P-7
    power_up: Option<Tick>,
    /// True if the fill is known to be that of Myricom's chips: no IDLE but for timing. F-8
    chip_fill: bool,
    /// Parameters that are not known, in the order of [`ParameterCheck::ALL`].
    unknown: [UnknownParameters; 4],
    /// Fewest periods from a change of STOP and GO to the one after the next; none if the slack buffer
    /// that commands is not known. F-4
    turns: Option<u64>,
    stop: Option<ActiveStop>,
    /// The place behind the last run of data.
    data: Tick,
    /// The first character, or the first behind the last hole.
    first: Tick,
    /// First character since then after which packet boundaries are known. P-7
    framed: Option<Tick>,
    /// The last STOP or GO that was a change, and the one before it.
    commands: [Option<Tick>; 2],
    /// The last command on this channel; another one is a change.
    said: StopGoChange,
    /// The last FRES without a GAP behind it, and the last that cut a packet. R-1
    resets: [Option<Tick>; 2],
    /// The variant of reset that is seen. R-1
    variant: Option<u32>,
    /// Fewest periods between two changes of STOP and GO.
    apart: Option<u64>,
    /// Not yet answered on the opposite channel.
    probe: Option<PendingRequests>,
    reset: Option<PendingRequests>,
    /// Data while stopped that clocks may explain, and the first of it: where, periods after STOP, bytes.
    offsets: OffsetTrend,
    offset: Option<(Tick, u64, u64)>,
}

/// A stop of a channel's sender.
#[derive(Clone, Copy, Debug)]
struct ActiveStop {
    since: Tick,
    late: Option<LateDataRun>,
    /// True if the sender may have gone on for a reason that the tap does not see.
    freed: bool,
}

/// Data that came although its sender was stopped.
#[derive(Clone, Copy, Debug)]
struct LateDataRun {
    first: Tick,
    /// Bytes before the last run of them.
    before: u64,
    /// That run: from where, and the place behind it. It may go on beyond the stop.
    run: (Tick, Tick),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopGoChange {
    /// Nothing since the start or a hole.
    Nothing,
    Something,
}

/// A question: where, and with which number.
#[derive(Clone, Copy, Debug)]
struct PendingRequests {
    at: Tick,
    number: u8,
}

impl FlowChecker {
    pub(super) fn new(channel: &Channel, parameters: &ChannelParameters) -> Self {
        let unknown = ParameterCheck::ALL.map(|judgement| judgement.unknown(channel, parameters));
        let [obedience, ..] = unknown;
        let end = TapEnd::of(channel);
        Self {
            grace: end.filter(|_| obedience.is_empty()).map(|end| grace(end, parameters, channel)),
            end,
            power_up: channel.more.iter().any(is_power_up).then_some(Tick(0)),
            chip_fill: parameters.is_declared_default(ParameterKey::FillVariant),
            unknown,
            turns: None,
            stop: None,
            data: Tick::default(),
            first: Tick::default(),
            framed: None,
            commands: [None; 2],
            said: StopGoChange::Nothing,
            resets: [None; 2],
            variant: None,
            apart: None,
            probe: None,
            reset: None,
            offsets: OffsetTrend::default(),
            offset: None,
        }
    }

    /// The variant of the sender's resets that is seen. R-1
    pub(super) const fn variant(&self) -> Option<u32> {
        self.variant
    }

    /// Fewest periods between two changes of STOP and GO.
    pub(super) const fn apart(&self) -> Option<u64> {
        self.apart
    }

    /// The first character.
    pub(super) const fn first(&self) -> Tick {
        self.first
    }

    /// The channel has an opposite, which fills the slack buffer whose commands stand on this one.
    pub(super) fn join(&mut self, own_ps: u64, opposite_ps: u64, opposite: &ChannelParameters) {
        if own_ps != opposite_ps {
            // Where in its own period a character of another rate comes in is not known; and cells fill
            // and empty otherwise than the characters that tell of it.
            let grace = self.grace.map(|grace| grace + opposite_ps.div_ceil(own_ps));
            // 16 periods of a quick sender are fewer of a slow one: fill that keeps the slow channel
            // alive may be too rare for the sender, which goes on by F-7. W-6
            self.grace = grace.filter(|_| own_ps > opposite_ps);
            return;
        }
        if !opposite.h.is_declared() {
            return;
        }
        // At most two changes of STOP and GO come in 2h − 1 periods. F-4
        let hysteresis = u64::from(opposite.h.value);
        // Reading: a buffer is filled by one cell a period of its link, but emptied at the full rate,
        // and of one cell more at once where a switch has used a route byte. S-3
        let cells = opposite_ps.div_ceil(u64::from(FULL_RATE_PERIOD_PS));
        let falls = hysteresis.saturating_sub(1).div_ceil(cells).max(1);
        self.turns = Some((hysteresis + falls).saturating_sub(1));
    }

    /// Takes a row of this channel; returns a command that changes something.
    pub(super) fn row(
        &mut self,
        row: &TimedEvent,
        scribe: &mut FindingSink<'_>,
    ) -> Option<FlowCommand> {
        match &row.body {
            ChannelEvent::Packet(packet) => {
                if packet.ended_by == PacketEnd::Reset {
                    self.resets = [None, Some(row.at)];
                }
                self.packet(packet, scribe);
            }
            ChannelEvent::Link(event) => self.event(row.at, event, scribe),
            ChannelEvent::Begins => self.first = row.at,
            ChannelEvent::Framed => self.framed = Some(row.at),
            ChannelEvent::Head(_) => {}
            ChannelEvent::Data(len) => self.run(row.at, *len),
            ChannelEvent::Command(command) => {
                return self.command(row.at, scribe).then_some(*command);
            }
            ChannelEvent::Omitted { rounds, every } => {
                scribe.note(FindingKind::Repeats, row.at, || {
                    vec![
                        FindingFact::number("rounds", *rounds),
                        FindingFact::number("every", *every),
                    ]
                });
            }
        }
        None
    }

    /// The slack buffer that this channel fills has commanded something else than before.
    pub(super) fn commanded(&self, command: FlowCommand, seen: &mut RuleCoverage) {
        let judgements = ParameterCheck::ALL.into_iter().zip(self.unknown);
        for (judgement, unknown) in judgements {
            let is_occasion = match judgement {
                ParameterCheck::Obedience => false,
                ParameterCheck::Thresholds | ParameterCheck::Timing => true,
                ParameterCheck::Room => command == FlowCommand::Stop,
            };
            if is_occasion {
                seen.add_check(judgement, unknown);
            }
        }
    }

    /// Takes a row of the opposite channel, and tells what is odd about that.
    pub(super) fn opposite(
        &mut self,
        what: &ChannelEvent,
        seen: &mut RuleCoverage,
    ) -> Option<FindingKind> {
        let ChannelEvent::Link(event) = what else { return None };
        match event {
            LinkEvent::Reply(_) if self.probe.take().is_none() => {
                return Some(FindingKind::UnsolicitedReply);
            }
            // A question without an answer, so far or for good, breaks no rule. R-6, C-3
            LinkEvent::Reply(_) => seen.probes += 1,
            LinkEvent::Hole { .. } => {
                // What the opposite channel said meanwhile, nobody knows.
                (self.stop, self.probe, self.reset) = (None, None, None);
                self.said = StopGoChange::Nothing;
            }
            LinkEvent::ForwardReset => {
                seen.backward += u64::from(self.reset.take().is_some());
                // The slack buffer behind the opposite channel is cleared: GO may follow at once.
                self.commands = [None; 2];
            }
            LinkEvent::OpenLink => self.commands = [None; 2],
            LinkEvent::LinkRestored
            | LinkEvent::ResetEnded
            | LinkEvent::BackwardReset
            | LinkEvent::OverrunAlarm
            | LinkEvent::Probe(_)
            | LinkEvent::InvalidCode(_)
            | LinkEvent::CorrectedCode { .. }
            | LinkEvent::SenderStopped
            | LinkEvent::SenderResumed(_) => {}
        }
        None
    }

    /// The recording ends behind this place.
    pub(super) fn finish(&mut self, end: Tick, scribe: &mut FindingSink<'_>) {
        if let Some(stop) = self.stop.take() {
            self.released(stop, end, None, scribe);
        }
        if let Some((at, after, bytes)) = self.offset
            && self.offsets.rate().is_none()
            && !self.offsets.is_slight()
        {
            scribe.note(FindingKind::DataWhileStopped, at, || data_while_stopped(after, bytes));
            let (more, last) = self.offsets.more();
            scribe.again(FindingKind::DataWhileStopped, more, last);
        }
    }

    /// Parts per million by which data of this channel comes ever later against what commands its
    /// sender, and where that was first seen. W-6
    pub(super) fn drift(&self) -> Option<(Tick, i64)> {
        self.offset.map(|(at, ..)| at).zip(self.offsets.rate())
    }

    /// Requests made long before this character stay unanswered.
    pub(super) fn expire(&mut self, now: Tick, scribe: &mut FindingSink<'_>) {
        let over = |asked: &mut PendingRequests| now.since(asked.at).0 > ANSWER;
        if let Some(probe) = self.probe.take_if(over) {
            scribe.note(FindingKind::ProbeNotAnswered, probe.at, || {
                vec![FindingFact::number("number", u64::from(probe.number))]
            });
        }
        if let Some(reset) = self.reset.take_if(over) {
            scribe.note(FindingKind::ResetNotAnswered, reset.at, Vec::new);
        }
    }

    fn event(&mut self, at: Tick, event: &LinkEvent, scribe: &mut FindingSink<'_>) {
        match *event {
            LinkEvent::SenderStopped => {
                let [obedience, ..] = self.unknown;
                let seen = scribe.seen();
                seen.stops += 1;
                if self.grace.is_some() || !obedience.is_empty() {
                    seen.add_check(ParameterCheck::Obedience, obedience);
                }
                self.stop = Some(ActiveStop { since: at, late: None, freed: false });
                // What is on its way then may go on too long.
                self.run(at, self.data.since(at).0);
            }
            LinkEvent::SenderResumed(by) => {
                if let Some(stop) = self.stop.take() {
                    self.released(stop, at, Some(by), scribe);
                }
            }
            LinkEvent::ForwardReset => {
                let [_, cut] = self.resets;
                self.resets = [Some(at), cut];
            }
            LinkEvent::ResetEnded => self.reset_ended(at),
            LinkEvent::OpenLink => {
                // Whoever is silent for so long may have lost its power, and starts in GO. F-2
                self.forgive();
                self.commands = [None; 2];
                if at.since(self.first).0 < OPEN_LINK.0 {
                    scribe.note(FindingKind::SilentAtFirst, at, Vec::new);
                } else {
                    scribe.seen().silences += 1;
                    scribe.note(FindingKind::OpenLink, at, Vec::new);
                }
            }
            LinkEvent::Hole { missing } => {
                scribe
                    .note(FindingKind::Hole, at, || vec![FindingFact::number("missing", missing)]);
                (self.first, self.framed, self.said) = (at, None, StopGoChange::Nothing);
                (self.probe, self.reset, self.commands) = (None, None, [None; 2]);
                self.resets = [None; 2];
            }
            LinkEvent::Probe(number) => {
                self.probe = Some(PendingRequests { at, number: number.value() });
            }
            LinkEvent::BackwardReset => {
                self.reset = Some(PendingRequests { at, number: 0 });
            }
            // What the characters say has been told: the wire's.
            LinkEvent::LinkRestored
            | LinkEvent::OverrunAlarm
            | LinkEvent::Reply(_)
            | LinkEvent::InvalidCode(_)
            | LinkEvent::CorrectedCode { .. } => {}
        }
    }

    /// A GAP ends a forward reset: one that is generated for the purpose stands right behind FRES, or
    /// behind one STOP or GO; in a packet that is cut no other is likely to. R-1
    fn reset_ended(&mut self, at: Tick) {
        let [Some(began), cut] = std::mem::take(&mut self.resets) else { return };
        if at.since(began).0 > 2 {
            self.variant = Some(OTHER_VARIANT);
        } else if cut == Some(began) {
            self.variant.get_or_insert(0);
        }
    }
}

impl FlowChecker {
    /// A run of data.
    fn run(&mut self, at: Tick, len: u64) {
        let end = Tick(at.0.saturating_add(len));
        if self.end == Some(TapEnd::Receiver) && at.since(self.data).0 >= SILENT_ELSEWHERE {
            self.forgive();
        }
        self.data = self.data.max(end);
        let (Some(stop), Some(grace)) = (&mut self.stop, self.grace) else { return };
        let from = at.max(Tick(stop.since.0.saturating_add(grace)));
        if end > from && !stop.freed {
            let late =
                stop.late.get_or_insert(LateDataRun { first: from, before: 0, run: (from, from) });
            late.before += late.run.1.since(late.run.0).0;
            late.run = (from, end);
        }
    }

    /// The sender may have gone on by itself: of this stop, data is late only up to here.
    fn forgive(&mut self) {
        if let Some(stop) = &mut self.stop {
            stop.freed = true;
        }
    }

    /// A STOP or GO that is another than before; returns whether it may be dated. F-4
    fn command(&mut self, at: Tick, scribe: &mut FindingSink<'_>) -> bool {
        if self.said == StopGoChange::Nothing {
            // What fill repeats may have been commanded long before.
            self.said = StopGoChange::Something;
            return false;
        }
        let [last, before] = self.commands;
        if let (Some(first), Some(turns)) = (before, self.turns)
            && at.since(first).0 < turns
        {
            let periods = at.since(first).0;
            scribe.note(FindingKind::CommandsTooOften, at, || {
                vec![FindingFact::number("periods", periods)]
            });
        }
        let apart = last.map(|last| at.since(last).0);
        self.apart = [self.apart, apart].into_iter().flatten().min();
        self.commands = [Some(at), last];
        true
    }
}

impl FlowChecker {
    /// A stop is over: released by this, or by the end of the recording.
    fn released(
        &mut self,
        stop: ActiveStop,
        at: Tick,
        by: Option<ResumeCause>,
        scribe: &mut FindingSink<'_>,
    ) {
        if let Some(late) = stop.late
            && late.first < at
        {
            let bytes = late.before + late.run.1.min(at).since(late.run.0).0;
            let after = late.first.since(stop.since).0;
            let due = Tick(stop.since.0.saturating_add(self.grace.unwrap_or(0)));
            let (periods, side) = match (late.run.1 < at, late.first > due) {
                (true, _) => (late.run.1.since(due).0, Some(1)),
                (false, true) => (at.since(late.first).0, Some(-1)),
                (false, false) => (at.since(due).0, None),
            };
            let offset = side.map(|side| side * i64::try_from(periods).unwrap_or(i64::MAX));
            if self.offsets.add(at, periods, offset) {
                self.offset.get_or_insert((late.first, after, bytes));
            } else {
                let facts = || data_while_stopped(after, bytes);
                scribe.note(FindingKind::DataWhileStopped, late.first, facts);
            }
        }
        timed_out(stop, at, by, scribe);
    }
}

fn data_while_stopped(after: u64, bytes: u64) -> Vec<FindingFact> {
    vec![FindingFact::number("after_stop", after), FindingFact::number("bytes", bytes)]
}

/// Checks a stop against the blocked-packet timeout. R-4
fn timed_out(stop: ActiveStop, at: Tick, by: Option<ResumeCause>, scribe: &mut FindingSink<'_>) {
    let periods = at.since(stop.since).0;
    if periods <= BLOCKED_TIMEOUT || stop.freed {
        return;
    }
    scribe.seen().timeouts += 1;
    let facts = || vec![FindingFact::number("periods", periods)];
    if periods > BLOCKED_TIMEOUT + ANSWER {
        scribe.note(FindingKind::MissingTimeout, stop.since, facts);
    } else if by == Some(ResumeCause::Reset) {
        scribe.note(FindingKind::BlockedTimeout, stop.since, facts);
    }
}

/// See [`FlowChecker::grace`].
fn grace(end: TapEnd, parameters: &ChannelParameters, channel: &Channel) -> u64 {
    let obedience = u64::from(parameters.interpretation.value) + 1;
    match end {
        TapEnd::Sender => obedience,
        TapEnd::Receiver => {
            let cable = u64::from(parameters.delay.value) * u64::from(FULL_RATE_PERIOD_PS);
            obedience + 2 * cable.div_ceil(channel.period_ps.get()) + 1
        }
    }
}
