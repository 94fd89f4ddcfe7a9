//! Characters stored in a slack buffer and the commands it sends, aligned on the far receiver's clock.

mod intake;
mod late;

use std::collections::VecDeque;

use codec::capture::ChannelId;
use codec::time::Tick;

use self::late::LateData;
use super::arrival::{BufferArrival, SlackCommand, SlackTiming};
use super::bound_tracker::{BoundTracker, BufferModel, ImpossibleFill};
use super::fill_row::FillMerger;
use super::segment::{CellInput, LastCommand};
use super::slack_totals::SlackTotals;
use super::{SILENT_ELSEWHERE, SlackEvent};
use crate::link::parameters::ChannelParameters;

/// Arrivals that wait to be settled together. *Chosen*: few enough to stay in the cache.
const WAITING_MAX: usize = 64;

/// State of the channel's sender, as far as its characters show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SenderState {
    #[default]
    Going,
    /// The characters of the channel are unknown, or their order relative to commands: FRES may release
    /// the sender at any time. R-1
    Doubtful,
    /// A STOP takes effect at a period, which `allowed` periods have been added to.
    Stopped { since: u64, allowed: u64 },
}

/// A command, and the period from which on arriving characters follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EffectiveCommand {
    at: u64,
    command: SlackCommand,
    /// Periods that were added to `at` because earlier data came late.
    allowed: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LateDataMeaning {
    /// The sender stopped too late.
    #[default]
    Violation,
    /// The cable is longer than assumed.
    LongerCable,
}

/// Aligns stored characters and commands, and feeds them to the bounds.
#[derive(Clone, Debug, Default)]
pub(super) struct SlackAligner {
    channel: ChannelId,
    timing: SlackTiming,
    bound: BoundTracker,
    begun: bool,
    arrivals: VecDeque<BufferArrival>,
    /// Commands by the period of their decision.
    commands: VecDeque<(u64, SlackCommand)>,
    effective: VecDeque<EffectiveCommand>,
    /// Knowledge of the channel's characters in the period being settled,
    input: InputKnowledge,
    /// and at the end of the queued arrivals.
    intake: InputKnowledge,
    sender: SenderState,
    late_data: LateDataMeaning,
    /// Shortest pause of data after which the sender may have resumed by itself. F-7
    pause_max: u64,
    /// The period behind the last data.
    data: u64,
    late: Option<LateData>,
    /// Greatest lateness of data, without what was added; and what was added.
    overdue: u64,
    allowed: u64,
    risk: Option<(u64, u64)>,
    rows: FillMerger,
    pub(super) totals: SlackTotals,
    /// Events that have not been taken.
    pub(super) events: Vec<SlackEvent>,
}

/// Knowledge of the channel's characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum InputKnowledge {
    Yes,
    #[default]
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
            pause_max: u64::MAX,
            rows: FillMerger::new(channel, drain, parameters.cells()),
            ..Self::default()
        }
    }

    /// Sets the interpretation of late data, for a tap at the receiver's end.
    pub(super) const fn set_late_data_meaning(&mut self, meaning: LateDataMeaning) {
        self.late_data = meaning;
        self.pause_max = SILENT_ELSEWHERE;
    }

    /// True if settling can wait, as it has the same result later: nothing that is queued or recorded
    /// later changes the state of the sender or the last command before that period.
    pub(super) fn can_wait(&self, now: Tick, recorded: [Option<Tick>; 2]) -> bool {
        let [own, opposite] = recorded.map(|end| end.is_some_and(|end| now.0 <= end.0));
        self.sender == SenderState::Going
            && self.commands.is_empty()
            && self.effective.is_empty()
            && self.arrivals.len() < WAITING_MAX
            && own
            && match self.bound.commanded {
                LastCommand::Unknown => true,
                LastCommand::Go => opposite,
                LastCommand::Stop => false,
            }
    }

    /// Advances to the last period for which all commands before a character of the tap are known.
    pub(super) fn settle(&mut self, now: Tick, recorded: [Option<Tick>; 2]) {
        self.advance(now.0.saturating_sub(self.timing.decided), recorded);
    }

    fn advance(&mut self, limit: u64, recorded: [Option<Tick>; 2]) {
        if !self.begun {
            // Of earlier commands only the last counts.
            self.apply_effective(limit);
            self.commands.drain(..self.commands.len().saturating_sub(1));
            return;
        }
        let [own, opposite] = recorded;
        let ends = [
            own.map_or(0, |end| self.arrival(end)),
            opposite.map_or(0, |end| end.0.saturating_sub(self.timing.decided)),
        ];
        while self.bound.next < limit {
            self.step(limit, ends);
        }
        while let Some(segment) = self.bound.settled() {
            self.rows.add(segment, &mut self.totals, &mut self.events);
        }
    }

    /// Advances over periods in which nothing changes.
    fn step(&mut self, limit: u64, [own_end, opposite_end]: [u64; 2]) {
        let now = self.bound.next;
        self.apply_effective(now);
        let front = self.arrive(now);
        if now >= opposite_end {
            self.bound.forget_command();
        }
        if let Some(BufferArrival::Reset(at)) = front
            && at == now
        {
            self.reset(now);
            return;
        }
        let input = match front {
            _ if self.input == InputKnowledge::No || now >= own_end => CellInput::Unknown,
            Some(BufferArrival::Data { start, .. } | BufferArrival::Mark(start))
                if start == now =>
            {
                CellInput::Cell
            }
            Some(_) | None => CellInput::Nothing,
        };
        if self.commands.front().is_some_and(|(at, _)| *at <= now) {
            self.count_late(now, now + 1, front);
            self.command(now, input);
            return;
        }
        let changes = [
            front.map(|front| front.next(now)),
            self.commands.front().map(|(at, _)| *at),
            self.effective.front().map(|command| command.at),
            (opposite_end > now).then_some(opposite_end),
            (own_end > now).then_some(own_end),
        ];
        let end = changes.into_iter().flatten().fold(limit, u64::min).max(now + 1);
        self.count_late(now, end, front);
        match self.bound.extend(end, input) {
            Ok(0) => {}
            Ok(lost) => {
                let (_, by) = self.risk.get_or_insert((end - lost, 0));
                *by += lost;
            }
            Err(ImpossibleFill) => self.contradict(now, end, input),
        }
    }

    /// The arrival of this period, or the next one.
    fn arrive(&mut self, now: u64) -> Option<BufferArrival> {
        while let Some(front) = self.arrivals.front().copied() {
            match front {
                BufferArrival::Lost(at) if at <= now => {
                    self.input = InputKnowledge::No;
                    self.resume();
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
                BufferArrival::Data { start, end } => {
                    return Some(BufferArrival::Data { start: start.max(now), end });
                }
                BufferArrival::Mark(_) | BufferArrival::Reset(_) => return Some(front),
                BufferArrival::Lost(_) | BufferArrival::Found(_) => return Some(front),
            }
            self.arrivals.pop_front();
        }
        None
    }

    /// FRES empties the buffer, and releases the sender.
    fn reset(&mut self, now: u64) {
        self.bound.reset();
        self.input = InputKnowledge::Yes;
        self.resume();
        self.forget_stops(now);
        // A GO in the same period is caused by the reset; a STOP cannot be.
        let is_own =
            |(at, command): &mut (u64, SlackCommand)| *at <= now && *command == SlackCommand::Go;
        while self.commands.pop_front_if(is_own).is_some() {}
    }

    /// FRES releases the sender from each STOP that has reached it by then. R-1
    fn forget_stops(&mut self, now: u64) {
        let forgotten = now.saturating_add(self.timing.forgotten);
        self.effective.retain(|it| it.command != SlackCommand::Stop || it.at > forgotten);
    }

    /// Processes the commands decided in this period, or earlier.
    fn command(&mut self, now: u64, input: CellInput) {
        let mut command = None;
        while let Some((at, next)) = self.commands.pop_front_if(|(at, _)| *at <= now) {
            if at < now || command.is_some() {
                self.bound.forget_command();
            }
            if next == SlackCommand::Dark {
                self.bound.forget(at);
            }
            command = Some(next);
        }
        let result = match command {
            Some(SlackCommand::Stop) => {
                self.totals.stops += 1;
                self.bound.stop(input)
            }
            Some(SlackCommand::Go) => {
                self.end_risk();
                self.bound.go(input)
            }
            Some(SlackCommand::Unseen | SlackCommand::Dark) | None => {
                self.end_risk();
                self.bound.forget_command();
                self.bound.extend(now + 1, input).map(|_| ())
            }
        };
        if result == Err(ImpossibleFill) {
            self.contradict(now, now + 1, input);
        }
    }

    /// Reports a contradiction: the fill of the last periods is unknown.
    fn contradict(&mut self, now: u64, end: u64, input: CellInput) {
        self.totals.contradictions += 1;
        self.risk = None;
        let (channel, at) = (self.channel, Tick(now));
        self.events.push(SlackEvent::Contradiction { channel, at, is_declared: false });
        self.bound.forget(now.saturating_sub(self.bound.hold()));
        let again = self.bound.extend(end, input);
        assert!(again.is_ok(), "nothing contradicts an unknown fill");
    }

    /// Updates the sender's state by the commands that have taken effect.
    fn apply_effective(&mut self, now: u64) {
        while let Some(EffectiveCommand { at, command, allowed }) =
            self.effective.pop_front_if(|it| it.at <= now)
        {
            let is_stopped = matches!(self.sender, SenderState::Stopped { .. });
            if command == SlackCommand::Stop && self.sender == SenderState::Going {
                self.sender = SenderState::Stopped { since: at, allowed };
            } else if command != SlackCommand::Stop && is_stopped {
                self.resume();
            }
        }
    }

    fn resume(&mut self) {
        self.sender = SenderState::Going;
        if let Some(LateData { at, by, periods }) = self.late.take() {
            if self.late_data == LateDataMeaning::LongerCable {
                self.overdue = self.overdue.max(periods);
                return;
            }
            self.totals.late += 1;
            self.totals.late_by = self.totals.late_by.max(by);
            self.events.push(SlackEvent::Late { channel: self.channel, at: Tick(at), by });
        }
    }

    fn end_risk(&mut self) {
        if let Some((at, by)) = self.risk.take() {
            self.totals.risks += 1;
            self.events.push(SlackEvent::OverrunRisk { channel: self.channel, at: Tick(at), by });
        }
    }

    pub(super) fn shift(&mut self, timing: SlackTiming) {
        self.timing = timing;
        self.arrivals.clear();
        self.commands.clear();
        self.effective.clear();
        (self.input, self.intake) = (InputKnowledge::No, InputKnowledge::No);
        (self.sender, self.late, self.risk) = (SenderState::Doubtful, None, None);
        (self.overdue, self.allowed) = (0, 0);
        self.bound.forget(self.bound.next.saturating_sub(self.bound.hold()));
    }

    /// Ends the recording: settles the recorded part of both channels.
    pub(super) fn finish(&mut self, recorded: [Option<Tick>; 2]) {
        let [own, _] = recorded;
        let limit = own.map_or(0, |end| self.arrival(end));
        self.advance(limit, recorded);
        while let Some(segment) = self.bound.rest() {
            self.rows.add(segment, &mut self.totals, &mut self.events);
        }
        self.rows.finish(&mut self.totals, &mut self.events);
        self.resume();
        self.end_risk();
    }
}

#[cfg(test)]
mod tests {
    use codec::capture::Channel;

    use super::*;
    use crate::link::parameters::LinkAssumptions;

    #[test]
    fn commands_to_a_channel_without_characters_are_not_kept() {
        let channel = Channel::named("h0:0>s0:0");
        let parameters = ChannelParameters::of(&channel, &LinkAssumptions::default());
        let timing = SlackTiming { arrives: 12, decided: 14, effective: 28, forgotten: 2 };
        let mut aligner = SlackAligner::new(ChannelId(0), &parameters, 1, timing);
        for at in 1..10_000 {
            let command = if at % 2 == 0 { SlackCommand::Go } else { SlackCommand::Stop };
            aligner.add_command(Tick(50 * at), command);
            aligner.settle(Tick(50 * at), [None, Some(Tick(50 * at))]);
            assert!(aligner.commands.len() <= 1 && aligner.effective.len() <= 1);
        }
        assert_eq!(aligner.sender, SenderState::Going);
    }
}
