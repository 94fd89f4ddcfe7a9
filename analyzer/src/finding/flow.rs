//! Checks of one channel by the events of its link: packets, the reaction of its sender to STOP,
//! its commands, probes and resets. P-2..P-9, F-1..F-9, R-1..R-6

mod packets;
mod stops;

use codec::capture::{Channel, StartState};
use codec::time::{CharacterPeriod, Tick};

use self::stops::StopChecker;
use super::sink::FindingSink;
use super::{FindingFact, FindingKind, ParameterCheck, RuleCoverage};
use crate::channel_name::TapEnd;
use crate::event::{ChannelEvent, FlowCommand, LinkEvent, TimedEvent};
use crate::link::parameters::{ChannelParameters, OTHER_VARIANT, ParameterKey, UnknownParameters};
use crate::packet::FrameEnd;

/// Maximum time until a reply, or an overdue reset, is captured, in periods. *Chosen*: twice the
/// delay of a 5 km cable, far longer than any link.
const ANSWER: u64 = 1 << 12;

/// Checks of one channel: four machines, and what they have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowChecker {
    pub(super) stops: StopChecker,
    pub(super) turns: TurnChecker,
    pub(super) requests: RequestChecker,
    pub(super) resets: ResetChecker,
    /// State of the channel before its first character, until that is known.
    start: Option<StartState>,
    /// First character.
    pub(super) first: Tick,
    /// True if the declared fill is that of Myricom's chips: no IDLE except for timing. F-8
    chip_fill: bool,
    /// Unknown parameters of each check, in the order of [`ParameterCheck::ALL`].
    unknown: [UnknownParameters; 4],
    /// Number of other virtual channels of the link. C-7
    others: u64,
}

/// Check of the time between changes of STOP and GO. F-4
#[derive(Clone, Debug, Default)]
pub(super) struct TurnChecker {
    /// Minimum number of periods for two changes; none if `h` is unknown.
    least: Option<u64>,
    /// Last change, and the one before it.
    last: [Option<Tick>; 2],
    /// True if there was a STOP or GO since the start or the last hole.
    has_change: bool,
    /// Shortest observed time between two changes, in periods.
    pub(super) apart: Option<u64>,
    /// First character of a slice that has the state before it: nothing before needs to have been recorded.
    known_from: Tick,
}

/// Search for requests without an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestChecker {
    /// Position and number of the last probe without a reply on the opposite channel.
    probe: Option<(Tick, u8)>,
    /// The last BRES without a FRES there.
    reset: Option<Tick>,
}

/// Variant of the sender's resets. R-1
#[derive(Clone, Debug, Default)]
pub(super) struct ResetChecker {
    /// Last FRES without a GAP after it, and last FRES that cut a packet.
    last: [Option<Tick>; 2],
    /// Observed variant.
    pub(super) variant: Option<u32>,
}

impl FlowChecker {
    pub(super) fn new(channel: &Channel, parameters: &ChannelParameters) -> Self {
        let unknown = ParameterCheck::ALL.map(|judgement| judgement.unknown(channel, parameters));
        let [obedience, ..] = unknown;
        let end = TapEnd::of(channel);
        let grace = end.filter(|_| obedience.is_empty());
        let grace = grace.map(|end| parameters.grace(end, channel));
        Self {
            stops: StopChecker::new(end, grace),
            start: StartState::of(channel),
            chip_fill: parameters.is_declared_default(ParameterKey::FillVariant),
            unknown,
            others: channel.other_virtual_channels(),
            ..Self::default()
        }
    }

    /// Sets the rates and parameters of the opposite channel, which fills the slack buffer whose
    /// commands are on this one.
    pub(super) fn join(
        &mut self,
        [own, other]: [CharacterPeriod; 2],
        opposite: &ChannelParameters,
    ) {
        if own != other {
            return self.stops.join(own, other);
        }
        let hysteresis = opposite.of_key(ParameterKey::Hysteresis);
        if !hysteresis.is_declared() {
            return;
        }
        // At most two changes of STOP and GO occur in 2h − 1 periods. F-4
        let hysteresis = u64::from(hysteresis.value);
        // Reading: a buffer fills by one cell per period of its link and empties at the full rate,
        // and by one more cell when a switch consumes a route byte. S-3
        let cells = other.full_rate_periods();
        let falls = hysteresis.saturating_sub(1).div_ceil(cells).max(1);
        // The first of three changes may have waited for commands of all other virtual channels. C-7
        self.turns.least = Some((hysteresis + falls).saturating_sub(1 + self.others));
    }

    /// Checks an event of this channel, which was first `used` then; returns a change of STOP and GO if its time is known.
    pub(super) fn row(
        &mut self,
        row: &TimedEvent,
        used: Option<Tick>,
        sink: &mut FindingSink<'_>,
    ) -> Option<FlowCommand> {
        match &row.body {
            ChannelEvent::Packet(packet) => {
                if packet.ended_by == FrameEnd::Reset {
                    self.resets.last = [None, Some(row.at)];
                }
                self.packet(row.at, packet, sink);
            }
            ChannelEvent::Link(event) => self.event((row.at, used), event, sink),
            ChannelEvent::Begins => self.begins(row.at),
            ChannelEvent::Framed | ChannelEvent::Head(_) => {}
            ChannelEvent::Data(len) => self.stops.run(row.at, *len),
            ChannelEvent::Command(command) => {
                return self.turns.change(row.at, sink).then_some(*command);
            }
            ChannelEvent::Omitted { rounds, every, .. } => {
                sink.note(FindingKind::Repeats, row.at, || {
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
            let is_of_stop = judgement == ParameterCheck::Room;
            let is_occasion = judgement != ParameterCheck::Obedience;
            if is_occasion && (!is_of_stop || command == FlowCommand::Stop) {
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
        if let LinkEvent::Reply(_) = event {
            // Only answered probes count: a missing reply breaks no rule. R-6, C-3
            if self.requests.probe.take().is_none() && self.others == 0 {
                return Some(FindingKind::UnsolicitedReply);
            }
            seen.probes += 1;
        } else if let LinkEvent::Hole { .. } = event {
            // Commands and replies inside the hole are unknown.
            self.stops.stop = None;
            self.requests = RequestChecker::default();
            self.turns.has_change = false;
        } else if *event == LinkEvent::ForwardReset {
            seen.backward += u64::from(self.requests.reset.take().is_some());
            // The opposite channel's slack buffer is cleared: GO may follow immediately.
            self.turns.last = [None; 2];
        } else if *event == LinkEvent::OpenLink {
            self.turns.last = [None; 2];
        }
        None
    }

    fn event(
        &mut self,
        (at, used): (Tick, Option<Tick>),
        event: &LinkEvent,
        sink: &mut FindingSink<'_>,
    ) {
        match *event {
            LinkEvent::SenderStopped => {
                let [obedience, ..] = self.unknown;
                let seen = sink.seen();
                seen.stops += 1;
                if self.stops.grace.is_some() || !obedience.is_empty() {
                    seen.add_check(ParameterCheck::Obedience, obedience);
                }
                self.stops.stopped(at);
            }
            LinkEvent::SenderResumed(by) => {
                self.stops.ended(at, Some(by), sink);
            }
            LinkEvent::ForwardReset => {
                let [began, _] = &mut self.resets.last;
                *began = Some(at);
            }
            // Characters of other virtual channels may stand between. C-7
            LinkEvent::ResetEnded if self.others > 0 => self.resets.last = [None; 2],
            LinkEvent::ResetEnded => self.resets.ended(at),
            LinkEvent::OpenLink => {
                // A silent sender may have lost power, and restarts in GO. F-2
                self.stops.forgive();
                self.turns.last = [None; 2];
                if used.is_none_or(|used| used > at) {
                    sink.note(FindingKind::SilentAtFirst, at, Vec::new);
                } else {
                    sink.seen().silences += 1;
                    sink.note(FindingKind::OpenLink, at, Vec::new);
                }
            }
            LinkEvent::Hole { missing } => {
                sink.note(FindingKind::Hole, at, || vec![FindingFact::number("missing", missing)]);
                (self.turns.has_change, self.turns.last) = (false, [None; 2]);
                self.requests = RequestChecker::default();
                self.resets.last = [None; 2];
            }
            // The answer may come on another virtual channel. C-7
            LinkEvent::Probe(_) | LinkEvent::BackwardReset if self.others > 0 => {}
            LinkEvent::Probe(number) => self.requests.probe = Some((at, number.value())),
            LinkEvent::BackwardReset => self.requests.reset = Some(at),
            // Reported by the symbol checker, where they are findings.
            LinkEvent::LinkRestored | LinkEvent::OverrunAlarm | LinkEvent::Reply(_) => {}
            LinkEvent::InvalidCode(_) | LinkEvent::CorrectedCode { .. } => {}
        }
    }

    /// Begins the recording: with the state of a slice, if it has one.
    fn begins(&mut self, at: Tick) {
        self.first = at;
        let Some(start) = self.start.take().filter(|start| start.at == at) else { return };
        self.stops.begins(&start);
        self.turns.known_from = at;
        if let Some((_, changes)) = start.command {
            (self.turns.has_change, self.turns.last) = (true, changes);
        }
        self.requests.probe = start.probe;
    }
}

impl TurnChecker {
    /// Processes a change of STOP and GO; returns true if its time is known.
    fn change(&mut self, at: Tick, sink: &mut FindingSink<'_>) -> bool {
        if !std::mem::replace(&mut self.has_change, true) {
            // A command repeated by fill may have been issued long before.
            return false;
        }
        let [last, before] = self.last;
        if let (Some(first), Some(least)) = (before, self.least)
            && at.since(first).0 < least
            && sink.is_link_recorded(first.max(self.known_from), at)
        {
            let periods = at.since(first).0;
            sink.note(FindingKind::CommandsTooOften, at, || {
                vec![FindingFact::number("periods", periods)]
            });
        }
        let apart = last.map(|last| at.since(last).0);
        self.apart = [self.apart, apart].into_iter().flatten().min();
        self.last = [Some(at), last];
        true
    }
}

impl RequestChecker {
    /// Reports requests without an answer after [`ANSWER`] periods.
    pub(super) fn expire(&mut self, now: Tick, sink: &mut FindingSink<'_>) {
        let is_over = |asked: Tick| now.since(asked).0 > ANSWER;
        if let Some((at, number)) = self.probe.take_if(|(at, _)| is_over(*at)) {
            sink.note(FindingKind::ProbeNotAnswered, at, || {
                vec![FindingFact::number("number", u64::from(number))]
            });
        }
        if let Some(at) = self.reset.take_if(|at| is_over(*at)) {
            sink.note(FindingKind::ResetNotAnswered, at, Vec::new);
        }
    }
}

impl ResetChecker {
    /// Processes the GAP that ends a forward reset. A GAP generated for the reset follows FRES
    /// directly, or after one STOP or GO; after a cut packet no other GAP is likely there.
    fn ended(&mut self, at: Tick) {
        let [Some(began), cut] = std::mem::take(&mut self.last) else { return };
        if at.since(began).0 > 2 {
            self.variant = Some(OTHER_VARIANT);
        } else if cut == Some(began) {
            self.variant.get_or_insert(0);
        }
    }
}
