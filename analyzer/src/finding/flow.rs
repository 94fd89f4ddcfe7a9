//! Checks of one channel by the events of its link: packets, the reaction of its sender to STOP,
//! its commands, probes and resets. P-2..P-9, F-1..F-9, R-1..R-6

mod packets;

use codec::capture::{Channel, StartSender, StartState};
use codec::time::{CharacterPeriod, OPEN_LINK, Tick};

use super::sink::FindingSink;
use super::{FindingFact, FindingKind, ParameterCheck, RuleCoverage};
use crate::blocking::BLOCKED_TIMEOUT;
use crate::channel_name::TapEnd;
use crate::clock::OffsetTrend;
use crate::event::{ChannelEvent, FlowCommand, LinkEvent, ResumeCause, TimedEvent};
use crate::link::parameters::{ChannelParameters, OTHER_VARIANT, ParameterKey, UnknownParameters};
use crate::link::slack::SILENT_ELSEWHERE;
use crate::packet::FrameEnd;

/// Maximum time until a reply, or an overdue reset, is captured, in periods. *Chosen*: twice the
/// delay of a 5 km cable, far longer than any link.
const ANSWER: u64 = 1 << 12;

/// Flow-control state of one channel.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowChecker {
    /// Periods after STOP at the tap from which no data may pass the tap; none if unknown. F-1
    grace: Option<u64>,
    end: Option<TapEnd>,
    /// State of the channel before its first character, until that is known.
    start: Option<StartState>,
    /// Periods before the first character that count as recorded, for the length of a silence. F-7
    before: u64,
    /// True if the declared fill is that of Myricom's chips: no IDLE except for timing. F-8
    chip_fill: bool,
    /// Unknown parameters of each check, in the order of [`ParameterCheck::ALL`].
    unknown: [UnknownParameters; 4],
    /// Minimum number of periods for two changes of STOP and GO; none if `h` is unknown. F-4
    turns: Option<u64>,
    stop: Option<ActiveStop>,
    /// End of the last run of data.
    data: Tick,
    /// First character, or first after the last hole.
    first: Tick,
    /// First character of a slice that has the state before it: nothing before needs to have been recorded.
    known_from: Tick,
    /// Last change of STOP and GO, and the one before it.
    commands: [Option<Tick>; 2],
    /// Presence of a STOP or GO since the start or the last hole.
    said: StopGoChange,
    /// Last FRES without a GAP after it, and last FRES that cut a packet. R-1
    resets: [Option<Tick>; 2],
    /// Observed reset variant. R-1
    variant: Option<u32>,
    /// Number of other virtual channels of the link. C-7
    others: u64,
    /// Shortest observed time between two changes of STOP and GO, in periods.
    apart: Option<u64>,
    /// Last probe without a reply on the opposite channel.
    probe: Option<PendingRequests>,
    reset: Option<PendingRequests>,
    /// Late data that drift may explain, and the first of it: position, periods after STOP, bytes.
    offsets: OffsetTrend,
    offset: Option<(Tick, u64, u64)>,
}

/// Current stop of a channel's sender.
#[derive(Clone, Copy, Debug)]
struct ActiveStop {
    since: Tick,
    late: Option<LateDataRun>,
    /// True if the sender may have resumed for a reason that the tap does not capture.
    freed: bool,
}

/// Data that arrived while its sender should have been stopped.
#[derive(Clone, Copy, Debug)]
struct LateDataRun {
    first: Tick,
    /// Bytes before the last run.
    before: u64,
    /// Start and end of the last run. It may extend beyond the stop.
    run: (Tick, Tick),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StopGoChange {
    /// No command since the start or the last hole.
    #[default]
    Nothing,
    Something,
}

/// Pending probe or BRES: its position, and the number of a probe.
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
            grace: end.filter(|_| obedience.is_empty()).map(|end| parameters.grace(end, channel)),
            end,
            start: StartState::of(channel),
            chip_fill: parameters.is_declared_default(ParameterKey::FillVariant),
            unknown,
            others: channel.other_virtual_channels(),
            ..Self::default()
        }
    }

    /// Observed variant of the sender's resets. R-1
    pub(super) const fn variant(&self) -> Option<u32> {
        self.variant
    }

    /// Shortest observed time between two changes of STOP and GO, in periods.
    pub(super) const fn apart(&self) -> Option<u64> {
        self.apart
    }

    pub(super) const fn first(&self) -> Tick {
        self.first
    }

    /// Sets the rates and parameters of the opposite channel, which fills the slack buffer whose
    /// commands are on this one.
    pub(super) fn join(
        &mut self,
        [own, other]: [CharacterPeriod; 2],
        opposite: &ChannelParameters,
    ) {
        if own != other {
            // The arrival time of a character within a period of another rate is unknown, and cells
            // fill and empty at another rate than that of the commands.
            let grace = self.grace.map(|grace| grace + other.fs().div_ceil(own.fs()));
            // Fill that keeps a slow channel open may be too rare for a faster sender: after 16
            // silent periods of its own it resumes by F-7. W-6
            self.grace = grace.filter(|_| own > other);
            return;
        }
        if !opposite.h.is_declared() {
            return;
        }
        // At most two changes of STOP and GO occur in 2h − 1 periods. F-4
        let hysteresis = u64::from(opposite.h.value);
        // Reading: a buffer fills by one cell per period of its link and empties at the full rate,
        // and by one more cell when a switch consumes a route byte. S-3
        let cells = other.full_rate_periods();
        let falls = hysteresis.saturating_sub(1).div_ceil(cells).max(1);
        // The first of three changes may have waited for commands of all other virtual channels. C-7
        self.turns = Some((hysteresis + falls).saturating_sub(1 + self.others));
    }

    /// Checks an event of this channel; returns a change of STOP and GO if its time is known.
    pub(super) fn row(
        &mut self,
        row: &TimedEvent,
        scribe: &mut FindingSink<'_>,
    ) -> Option<FlowCommand> {
        match &row.body {
            ChannelEvent::Packet(packet) => {
                if packet.ended_by == FrameEnd::Reset {
                    self.resets = [None, Some(row.at)];
                }
                self.packet(packet, scribe);
            }
            ChannelEvent::Link(event) => self.event(row.at, event, scribe),
            ChannelEvent::Begins => self.begins(row.at),
            ChannelEvent::Framed | ChannelEvent::Head(_) => {}
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

    /// Counts the parameter checks of a change of STOP and GO, commanded by the slack buffer that
    /// this channel fills.
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

    /// Processes an event of the opposite channel; returns a finding about it, if any.
    pub(super) fn opposite(
        &mut self,
        event: &LinkEvent,
        seen: &mut RuleCoverage,
    ) -> Option<FindingKind> {
        match event {
            LinkEvent::Reply(_) if self.probe.take().is_none() && self.others == 0 => {
                return Some(FindingKind::UnsolicitedReply);
            }
            // Only answered probes count: a missing reply breaks no rule. R-6, C-3
            LinkEvent::Reply(_) => seen.probes += 1,
            LinkEvent::Hole { .. } => {
                // Commands and replies inside the hole are unknown.
                (self.stop, self.probe, self.reset) = (None, None, None);
                self.said = StopGoChange::Nothing;
            }
            LinkEvent::ForwardReset => {
                seen.backward += u64::from(self.reset.take().is_some());
                // The opposite channel's slack buffer is cleared: GO may follow immediately.
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

    /// Ends the recording; `end` is the position after its last character.
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

    /// Growth of the delay of this channel's data relative to the commands to its sender, in parts
    /// per million, and the position where it was first observed. W-6
    pub(super) fn drift(&self) -> Option<(Tick, i64)> {
        self.offset.map(|(at, ..)| at).zip(self.offsets.rate())
    }

    /// Reports requests without an answer after [`ANSWER`] periods.
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
                // The run of data in progress at the STOP may continue for too long.
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
                // A silent sender may have lost power, and restarts in GO. F-2
                self.forgive();
                self.commands = [None; 2];
                if at.since(self.first).0.saturating_add(self.before) < OPEN_LINK.0 {
                    scribe.note(FindingKind::SilentAtFirst, at, Vec::new);
                } else {
                    scribe.seen().silences += 1;
                    scribe.note(FindingKind::OpenLink, at, Vec::new);
                }
            }
            LinkEvent::Hole { missing } => {
                scribe
                    .note(FindingKind::Hole, at, || vec![FindingFact::number("missing", missing)]);
                (self.first, self.said) = (at, StopGoChange::Nothing);
                self.before = 0;
                (self.probe, self.reset, self.commands) = (None, None, [None; 2]);
                self.resets = [None; 2];
            }
            // The answer may come on another virtual channel. C-7
            LinkEvent::Probe(_) | LinkEvent::BackwardReset if self.others > 0 => {}
            LinkEvent::Probe(number) => {
                self.probe = Some(PendingRequests { at, number: number.value() });
            }
            LinkEvent::BackwardReset => {
                self.reset = Some(PendingRequests { at, number: 0 });
            }
            // Reported by the symbol checker, where they are findings.
            LinkEvent::LinkRestored
            | LinkEvent::OverrunAlarm
            | LinkEvent::Reply(_)
            | LinkEvent::InvalidCode(_)
            | LinkEvent::CorrectedCode { .. } => {}
        }
    }

    /// Processes the GAP that ends a forward reset. A GAP generated for the reset follows FRES
    /// directly, or after one STOP or GO; after a cut packet no other GAP is likely there. R-1
    fn reset_ended(&mut self, at: Tick) {
        let [Some(began), cut] = std::mem::take(&mut self.resets) else { return };
        if self.others > 0 {
            // Characters of other virtual channels may stand between. C-7
        } else if at.since(began).0 > 2 {
            self.variant = Some(OTHER_VARIANT);
        } else if cut == Some(began) {
            self.variant.get_or_insert(0);
        }
    }
}

impl FlowChecker {
    /// Begins the recording: with the state of a slice, if it has one.
    fn begins(&mut self, at: Tick) {
        self.first = at;
        let Some(start) = self.start.take().filter(|start| start.at == at) else { return };
        self.before = start.silent.saturating_add(start.alive.into());
        (self.data, self.known_from) = (start.data, at);
        if let Some(StartSender::Stopped(since)) = start.sender {
            self.stop = Some(ActiveStop { since, late: None, freed: false });
        }
        if let Some((_, changes)) = start.command {
            self.said = StopGoChange::Something;
            self.commands = changes;
        }
        self.probe = start.probe.map(|(at, number)| PendingRequests { at, number });
    }

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

    /// Marks the current stop as possibly ended by the sender itself: later data is not late.
    fn forgive(&mut self) {
        if let Some(stop) = &mut self.stop {
            stop.freed = true;
        }
    }

    /// Processes a change of STOP and GO; returns true if its time is known. F-4
    fn command(&mut self, at: Tick, scribe: &mut FindingSink<'_>) -> bool {
        if self.said == StopGoChange::Nothing {
            // A command repeated by fill may have been issued long before.
            self.said = StopGoChange::Something;
            return false;
        }
        let [last, before] = self.commands;
        if let (Some(first), Some(turns)) = (before, self.turns)
            && at.since(first).0 < turns
            && scribe.is_link_recorded(first.max(self.known_from), at)
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
    /// Ends a stop, released by `by` or by the end of the recording.
    fn released(
        &mut self,
        stop: ActiveStop,
        at: Tick,
        by: Option<ResumeCause>,
        scribe: &mut FindingSink<'_>,
    ) {
        if let Some(late) = stop.late
            && late.first < at
            && scribe.is_link_recorded(stop.since.max(self.known_from), late.run.1.min(at))
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
        self.timed_out(stop, at, by, scribe);
    }

    /// Checks a stop against the blocked-packet timeout. R-4
    fn timed_out(
        &self,
        stop: ActiveStop,
        at: Tick,
        by: Option<ResumeCause>,
        scribe: &mut FindingSink<'_>,
    ) {
        let periods = at.since(stop.since).0;
        let until = Tick(stop.since.0.saturating_add(periods.min(BLOCKED_TIMEOUT + ANSWER)));
        if periods <= BLOCKED_TIMEOUT
            || stop.freed
            || !scribe.is_link_recorded(stop.since.max(self.known_from), until)
        {
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
}

fn data_while_stopped(after: u64, bytes: u64) -> Vec<FindingFact> {
    vec![FindingFact::number("after_stop", after), FindingFact::number("bytes", bytes)]
}
