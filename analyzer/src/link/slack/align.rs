//! What enters a slack buffer and what it commands, brought together on the far receiver's clock.

mod intake;
mod late;

use std::collections::VecDeque;

use codec::capture::ChannelId;
use codec::time::Tick;

use self::late::LateData;
use super::arrival::{BufferArrival, SlackCommand, SlackTiming};
use super::bound_tracker::{BoundTracker, BufferModel, ImpossibleFill};
use super::fill_row::FillMerger;
use super::segment::CellInput;
use super::slack_totals::SlackTotals;
use super::{ChannelParameters, SlackEvent};
use crate::finding::SILENT_ELSEWHERE;

/// Whether the channel's sender may send, as what arrives shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SenderState {
    Going,
    /// What the channel brings is not known, or not how it lies to commands: FRES may free the sender at any
    /// time. R-1
    Doubtful,
    /// A STOP is obeyed from a period on, to which so many are added already.
    Stopped {
        since: u64,
        allowed: u64,
    },
}

/// From when on what arrives goes by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EffectiveCommand {
    at: u64,
    order: SlackCommand,
    /// Periods of that which were added because data had come too late before.
    allowed: u64,
}

/// What data that comes too late means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LateDataMeaning {
    /// The sender has stopped too late.
    Violation,
    /// The cable is longer than was thought.
    LongerCable,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct SlackAligner {
    channel: ChannelId,
    timing: SlackTiming,
    bound: BoundTracker,
    /// Whether anything has been recorded.
    begun: bool,
    arrivals: VecDeque<BufferArrival>,
    /// By the period in which they were decided.
    commands: VecDeque<(u64, SlackCommand)>,
    effective: VecDeque<EffectiveCommand>,
    /// As far as has been settled,
    input: InputKnowledge,
    /// and as far as has been taken in.
    intake: InputKnowledge,
    sender: SenderState,
    lateness: LateDataMeaning,
    /// The shortest pause of data behind which its sender may have gone on by itself. F-7
    pause_max: u64,
    /// The period behind the last data.
    data: u64,
    late: Option<LateData>,
    /// How much later data came than it should have, had nothing been added; and what was added.
    overdue: u64,
    allowed: u64,
    risk: Option<(u64, u64)>,
    rows: FillMerger,
    marks: SlackTotals,
}

/// Whether what the channel brings is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputKnowledge {
    Yes,
    No,
}

impl SlackAligner {
    pub(super) fn new(
        channel: ChannelId,
        parameters: &ChannelParameters,
        drain: u64,
        timing: SlackTiming,
    ) -> Self {
        Self {
            channel,
            timing,
            bound: BoundTracker::new(BufferModel::new(parameters, drain), 0),
            begun: false,
            arrivals: VecDeque::new(),
            commands: VecDeque::new(),
            effective: VecDeque::new(),
            input: InputKnowledge::No,
            intake: InputKnowledge::No,
            sender: SenderState::Going,
            lateness: LateDataMeaning::Violation,
            pause_max: u64::MAX,
            data: 0,
            late: None,
            overdue: 0,
            allowed: 0,
            risk: None,
            rows: FillMerger::new(channel, drain, parameters.cells()),
            marks: SlackTotals::default(),
        }
    }

    /// What data that comes too late means, at the far end from its sender.
    pub(super) const fn set_late_data_meaning(&mut self, lateness: LateDataMeaning) {
        self.lateness = lateness;
        self.pause_max = SILENT_ELSEWHERE;
    }

    /// Goes on up to where nothing can be missing any more: the commands of before a place of the tap
    /// are known.
    pub(super) fn settle(
        &mut self,
        now: Tick,
        recorded: [Option<Tick>; 2],
        out: &mut impl FnMut(SlackEvent),
    ) {
        self.advance(now.0.saturating_sub(self.timing.decided), recorded, out);
    }

    fn advance(
        &mut self,
        limit: u64,
        recorded: [Option<Tick>; 2],
        out: &mut impl FnMut(SlackEvent),
    ) {
        if !self.begun {
            // Of what was commanded before, only the last counts.
            self.apply_effective(limit, out);
            self.commands.drain(..self.commands.len().saturating_sub(1));
            return;
        }
        let [own, opposite] = recorded;
        let ends = [
            own.map_or(0, |end| self.arrival(end)),
            opposite.map_or(0, |end| end.0.saturating_sub(self.timing.decided)),
        ];
        while self.bound.next() < limit {
            self.step(limit, ends, out);
        }
        while let Some(piece) = self.bound.settled() {
            self.rows.add(piece, &mut self.marks, out);
        }
    }

    /// Goes on by a stretch in which nothing changes.
    fn step(&mut self, limit: u64, [known, heard]: [u64; 2], out: &mut impl FnMut(SlackEvent)) {
        let now = self.bound.next();
        self.apply_effective(now, out);
        let front = self.arrive(now, out);
        if now >= heard {
            self.bound.forget_command();
        }
        if let Some(BufferArrival::Reset(at)) = front
            && at == now
        {
            self.reset(now, out);
            return;
        }
        let input = match front {
            _ if self.input == InputKnowledge::No || now >= known => CellInput::Unknown,
            Some(BufferArrival::Data { start, .. } | BufferArrival::Mark(start))
                if start == now =>
            {
                CellInput::Cell
            }
            Some(_) | None => CellInput::Nothing,
        };
        if self.commands.front().is_some_and(|(at, _)| *at <= now) {
            self.count_late(now, now + 1, front, out);
            self.command(now, input, out);
            return;
        }
        let places = [
            front.map(|front| front.next(now)),
            self.commands.front().map(|(at, _)| *at),
            self.effective.front().map(|obeyed| obeyed.at),
            (heard > now).then_some(heard),
            (known > now).then_some(known),
        ];
        let end = places.into_iter().flatten().fold(limit, u64::min).max(now + 1);
        self.count_late(now, end, front, out);
        match self.bound.extend(end, input) {
            Ok(0) => {}
            Ok(lost) => {
                let (_, by) = self.risk.get_or_insert((end - lost, 0));
                *by += lost;
            }
            Err(ImpossibleFill) => self.contradict(now, end, input, out),
        }
    }

    /// What arrives now or next.
    fn arrive(&mut self, now: u64, out: &mut impl FnMut(SlackEvent)) -> Option<BufferArrival> {
        while let Some(front) = self.arrivals.front().copied() {
            match front {
                BufferArrival::Lost(at) if at <= now => {
                    self.input = InputKnowledge::No;
                    self.resume(out);
                    self.sender = SenderState::Doubtful;
                }
                BufferArrival::Found(at) if at <= now => {
                    self.input = InputKnowledge::Yes;
                    if self.sender == SenderState::Doubtful {
                        self.sender = SenderState::Going;
                        self.forget_stops(at);
                    }
                }
                BufferArrival::Data { end, .. } if end <= now => {}
                BufferArrival::Mark(at) | BufferArrival::Reset(at) if at < now => {}
                BufferArrival::Data { .. }
                | BufferArrival::Mark(_)
                | BufferArrival::Reset(_)
                | BufferArrival::Lost(_)
                | BufferArrival::Found(_) => break,
            }
            self.arrivals.pop_front();
        }
        match self.arrivals.front().copied() {
            Some(BufferArrival::Data { start, end }) => {
                Some(BufferArrival::Data { start: start.max(now), end })
            }
            other => other,
        }
    }

    /// FRES empties the buffer, and frees the sender.
    fn reset(&mut self, now: u64, out: &mut impl FnMut(SlackEvent)) {
        self.bound.reset();
        self.input = InputKnowledge::Yes;
        self.resume(out);
        self.forget_stops(now);
        // A GO that falls together with it is its own; a STOP cannot.
        while self
            .commands
            .front()
            .is_some_and(|(at, order)| *at <= now && *order == SlackCommand::Go)
        {
            self.commands.pop_front();
        }
    }

    /// FRES frees the sender of each STOP that it has heard by then. R-1
    fn forget_stops(&mut self, now: u64) {
        let forgotten = now.saturating_add(self.timing.forgotten);
        self.effective.retain(|it| it.order != SlackCommand::Stop || it.at > forgotten);
    }

    /// A command that was decided now, or that is only heard to have been.
    fn command(&mut self, now: u64, input: CellInput, out: &mut impl FnMut(SlackEvent)) {
        let mut order = None;
        while let Some((at, next)) = self.commands.pop_front_if(|(at, _)| *at <= now) {
            if at < now || order.is_some() {
                self.bound.forget_command();
            }
            if next == SlackCommand::Dark {
                self.bound.forget(at);
            }
            order = Some(next);
        }
        let done = match order {
            Some(SlackCommand::Stop) => {
                self.marks.stops += 1;
                self.bound.stop(input)
            }
            Some(SlackCommand::Go) => {
                self.end_risk(out);
                self.bound.go(input)
            }
            Some(SlackCommand::Unseen | SlackCommand::Dark) | None => {
                self.end_risk(out);
                self.bound.forget_command();
                self.bound.extend(now + 1, input).map(|_| ())
            }
        };
        if done == Err(ImpossibleFill) {
            self.contradict(now, now + 1, input, out);
        }
    }

    /// What is seen cannot be: nothing is known from the last periods on.
    fn contradict(
        &mut self,
        now: u64,
        end: u64,
        input: CellInput,
        out: &mut impl FnMut(SlackEvent),
    ) {
        self.marks.contradictions += 1;
        self.risk = None;
        out(SlackEvent::Contradiction { channel: self.channel, at: Tick(now), is_declared: false });
        self.bound.forget(now.saturating_sub(self.bound.hold()));
        let again = self.bound.extend(end, input);
        debug_assert!(again.is_ok(), "nothing contradicts what is not known");
    }

    /// What the sender does from now on, as what arrives shows it.
    fn apply_effective(&mut self, now: u64, out: &mut impl FnMut(SlackEvent)) {
        while let Some(EffectiveCommand { at, order, allowed }) =
            self.effective.pop_front_if(|it| it.at <= now)
        {
            match (order, self.sender) {
                (SlackCommand::Stop, SenderState::Going) => {
                    self.sender = SenderState::Stopped { since: at, allowed };
                }
                (
                    SlackCommand::Go | SlackCommand::Unseen | SlackCommand::Dark,
                    SenderState::Stopped { .. },
                ) => {
                    self.resume(out);
                }
                (SlackCommand::Stop, SenderState::Doubtful | SenderState::Stopped { .. })
                | (
                    SlackCommand::Go | SlackCommand::Unseen | SlackCommand::Dark,
                    SenderState::Going | SenderState::Doubtful,
                ) => {}
            }
        }
    }

    fn resume(&mut self, out: &mut impl FnMut(SlackEvent)) {
        self.sender = SenderState::Going;
        if let Some(LateData { at, by, periods }) = self.late.take() {
            if self.lateness == LateDataMeaning::LongerCable {
                self.overdue = self.overdue.max(periods);
                return;
            }
            self.marks.late += 1;
            self.marks.late_by = self.marks.late_by.max(by);
            out(SlackEvent::Late { channel: self.channel, at: Tick(at), by });
        }
    }

    fn end_risk(&mut self, out: &mut impl FnMut(SlackEvent)) {
        if let Some((at, by)) = self.risk.take() {
            self.marks.risks += 1;
            out(SlackEvent::OverrunRisk { channel: self.channel, at: Tick(at), by });
        }
    }

    /// The delay turns out to be another.
    pub(super) fn shift(&mut self, timing: SlackTiming) {
        self.timing = timing;
        self.arrivals.clear();
        self.commands.clear();
        self.effective.clear();
        (self.input, self.intake) = (InputKnowledge::No, InputKnowledge::No);
        (self.sender, self.late, self.risk) = (SenderState::Doubtful, None, None);
        (self.overdue, self.allowed) = (0, 0);
        self.bound.forget(self.bound.next().saturating_sub(self.bound.hold()));
    }

    /// The recording ends: what of both channels was recorded is settled, and handed out.
    pub(super) fn finish(&mut self, recorded: [Option<Tick>; 2], out: &mut impl FnMut(SlackEvent)) {
        let limit = recorded.first().copied().flatten().map_or(0, |end| self.arrival(end));
        self.advance(limit, recorded, out);
        while let Some(piece) = self.bound.rest() {
            self.rows.add(piece, &mut self.marks, out);
        }
        self.rows.finish(&mut self.marks, out);
        self.resume(out);
        self.end_risk(out);
    }

    pub(super) const fn marks(&self) -> &SlackTotals {
        &self.marks
    }
}

#[cfg(test)]
mod tests {
    use codec::capture::Channel;

    use super::*;
    use crate::link::parameters::LinkAssumptions;

    #[test]
    fn commands_to_a_channel_of_which_nothing_comes_are_not_kept() {
        let parameters =
            ChannelParameters::of(&Channel::named("h0:0>s0:0"), &LinkAssumptions::default());
        let timing = SlackTiming { arrives: 12, decided: 14, effective: 28, forgotten: 2 };
        let mut settling = SlackAligner::new(ChannelId(0), &parameters, 1, timing);
        for place in 1..10_000 {
            let order = if place % 2 == 0 { SlackCommand::Go } else { SlackCommand::Stop };
            settling.add_command(Tick(50 * place), order);
            settling.settle(Tick(50 * place), [None, Some(Tick(50 * place))], &mut |_| {});
            assert!(settling.commands.len() <= 1 && settling.effective.len() <= 1);
        }
        assert_eq!(settling.sender, SenderState::Going);
    }
}
