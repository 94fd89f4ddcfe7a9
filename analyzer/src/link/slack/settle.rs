//! What enters a slack buffer and what it commands, brought together on the far receiver's clock.

mod intake;
mod late;

use std::collections::VecDeque;

use codec::capture::ChannelId;
use codec::tick::Tick;

use self::late::Late;
use super::arrival::{Arrival, Order, Timing};
use super::bound::{Bound, Impossible, Model};
use super::piece::Input;
use super::row::Rows;
use super::summary::Marks;
use super::{Parameters, SlackSaid};
use crate::finding::SILENT_ELSEWHERE;

/// Whether the channel's sender may send, as what arrives shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
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
struct Obeyed {
    at: u64,
    order: Order,
    /// Periods of that which were added because data had come too late before.
    allowed: u64,
}

/// What data that comes too late means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lateness {
    /// The sender has stopped too late.
    IsTold,
    /// The cable is longer than was thought.
    Lengthens,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct Settling {
    channel: ChannelId,
    timing: Timing,
    bound: Bound,
    /// Whether anything has been recorded.
    begun: bool,
    arrivals: VecDeque<Arrival>,
    /// By the period in which they were decided.
    orders: VecDeque<(u64, Order)>,
    obeyed: VecDeque<Obeyed>,
    /// As far as has been settled,
    input: Known,
    /// and as far as has been taken in.
    intake: Known,
    sender: Sender,
    lateness: Lateness,
    /// The shortest pause of data behind which its sender may have gone on by itself. F-7
    pause_max: u64,
    /// The period behind the last data.
    data: u64,
    late: Option<Late>,
    /// How much later data came than it should have, had nothing been added; and what was added.
    overdue: u64,
    allowed: u64,
    risk: Option<(u64, u64)>,
    rows: Rows,
    marks: Marks,
}

/// Whether what the channel brings is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Yes,
    No,
}

impl Settling {
    pub(super) fn new(
        channel: ChannelId,
        parameters: &Parameters,
        drain: u64,
        timing: Timing,
    ) -> Self {
        Self {
            channel,
            timing,
            bound: Bound::new(Model::new(parameters, drain), 0),
            begun: false,
            arrivals: VecDeque::new(),
            orders: VecDeque::new(),
            obeyed: VecDeque::new(),
            input: Known::No,
            intake: Known::No,
            sender: Sender::Going,
            lateness: Lateness::IsTold,
            pause_max: u64::MAX,
            data: 0,
            late: None,
            overdue: 0,
            allowed: 0,
            risk: None,
            rows: Rows::new(channel, drain, parameters.cells()),
            marks: Marks::default(),
        }
    }

    /// What data that comes too late means, at the far end from its sender.
    pub(super) const fn judge_from_afar(&mut self, lateness: Lateness) {
        self.lateness = lateness;
        self.pause_max = SILENT_ELSEWHERE;
    }

    /// Goes on up to where nothing can be missing any more: the commands of before a place of the tap
    /// are known.
    pub(super) fn settle(
        &mut self,
        now: Tick,
        recorded: [Option<Tick>; 2],
        out: &mut impl FnMut(SlackSaid),
    ) {
        self.advance(now.0.saturating_sub(self.timing.decided), recorded, out);
    }

    fn advance(
        &mut self,
        limit: u64,
        recorded: [Option<Tick>; 2],
        out: &mut impl FnMut(SlackSaid),
    ) {
        if !self.begun {
            // Of what was commanded before, only the last counts.
            self.obey(limit, out);
            self.orders.drain(..self.orders.len().saturating_sub(1));
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
            self.rows.take(piece, &mut self.marks, out);
        }
    }

    /// Goes on by a stretch in which nothing changes.
    fn step(&mut self, limit: u64, [known, heard]: [u64; 2], out: &mut impl FnMut(SlackSaid)) {
        let now = self.bound.next();
        self.obey(now, out);
        let front = self.arrive(now, out);
        if now >= heard {
            self.bound.lose_sight();
        }
        if let Some(Arrival::Reset(at)) = front
            && at == now
        {
            self.reset(now, out);
            return;
        }
        let input = match front {
            _ if self.input == Known::No || now >= known => Input::Unknown,
            Some(Arrival::Data { start, .. } | Arrival::Mark(start)) if start == now => Input::Cell,
            Some(_) | None => Input::Nothing,
        };
        if self.orders.front().is_some_and(|(at, _)| *at <= now) {
            self.count_late(now, now + 1, front, out);
            self.command(now, input, out);
            return;
        }
        let places = [
            front.map(|front| front.next(now)),
            self.orders.front().map(|(at, _)| *at),
            self.obeyed.front().map(|obeyed| obeyed.at),
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
            Err(Impossible) => self.contradict(now, end, input, out),
        }
    }

    /// What arrives now or next.
    fn arrive(&mut self, now: u64, out: &mut impl FnMut(SlackSaid)) -> Option<Arrival> {
        while let Some(front) = self.arrivals.front().copied() {
            match front {
                Arrival::Lost(at) if at <= now => {
                    self.input = Known::No;
                    self.resume(out);
                    self.sender = Sender::Doubtful;
                }
                Arrival::Found(at) if at <= now => {
                    self.input = Known::Yes;
                    if self.sender == Sender::Doubtful {
                        self.sender = Sender::Going;
                        self.forget_stops(at);
                    }
                }
                Arrival::Data { end, .. } if end <= now => {}
                Arrival::Mark(at) | Arrival::Reset(at) if at < now => {}
                Arrival::Data { .. }
                | Arrival::Mark(_)
                | Arrival::Reset(_)
                | Arrival::Lost(_)
                | Arrival::Found(_) => break,
            }
            self.arrivals.pop_front();
        }
        match self.arrivals.front().copied() {
            Some(Arrival::Data { start, end }) => {
                Some(Arrival::Data { start: start.max(now), end })
            }
            other => other,
        }
    }

    /// FRES empties the buffer, and frees the sender.
    fn reset(&mut self, now: u64, out: &mut impl FnMut(SlackSaid)) {
        self.bound.reset();
        self.input = Known::Yes;
        self.resume(out);
        self.forget_stops(now);
        // A GO that falls together with it is its own; a STOP cannot.
        while self.orders.front().is_some_and(|(at, order)| *at <= now && *order == Order::Go) {
            self.orders.pop_front();
        }
    }

    /// FRES frees the sender of each STOP that it has heard by then. R-1
    fn forget_stops(&mut self, now: u64) {
        let forgotten = now.saturating_add(self.timing.forgotten);
        self.obeyed.retain(|it| it.order != Order::Stop || it.at > forgotten);
    }

    /// A command that was decided now, or that is only heard to have been.
    fn command(&mut self, now: u64, input: Input, out: &mut impl FnMut(SlackSaid)) {
        let mut order = None;
        while let Some((at, next)) = self.orders.pop_front_if(|(at, _)| *at <= now) {
            if at < now || order.is_some() {
                self.bound.lose_sight();
            }
            if next == Order::Dark {
                self.bound.forget(at);
            }
            order = Some(next);
        }
        let done = match order {
            Some(Order::Stop) => {
                self.marks.stops += 1;
                self.bound.stop(input)
            }
            Some(Order::Go) => {
                self.end_risk(out);
                self.bound.go(input)
            }
            Some(Order::Unseen | Order::Dark) | None => {
                self.end_risk(out);
                self.bound.lose_sight();
                self.bound.extend(now + 1, input).map(|_| ())
            }
        };
        if done == Err(Impossible) {
            self.contradict(now, now + 1, input, out);
        }
    }

    /// What is seen cannot be: nothing is known from the last periods on.
    fn contradict(&mut self, now: u64, end: u64, input: Input, out: &mut impl FnMut(SlackSaid)) {
        self.marks.contradictions += 1;
        self.risk = None;
        out(SlackSaid::Contradiction { channel: self.channel, at: Tick(now), is_told: false });
        self.bound.forget(now.saturating_sub(self.bound.hold()));
        let again = self.bound.extend(end, input);
        debug_assert!(again.is_ok(), "nothing contradicts what is not known");
    }

    /// What the sender does from now on, as what arrives shows it.
    fn obey(&mut self, now: u64, out: &mut impl FnMut(SlackSaid)) {
        while let Some(Obeyed { at, order, allowed }) = self.obeyed.pop_front_if(|it| it.at <= now)
        {
            match (order, self.sender) {
                (Order::Stop, Sender::Going) => {
                    self.sender = Sender::Stopped { since: at, allowed };
                }
                (Order::Go | Order::Unseen | Order::Dark, Sender::Stopped { .. }) => {
                    self.resume(out);
                }
                (Order::Stop, Sender::Doubtful | Sender::Stopped { .. })
                | (Order::Go | Order::Unseen | Order::Dark, Sender::Going | Sender::Doubtful) => {}
            }
        }
    }

    fn resume(&mut self, out: &mut impl FnMut(SlackSaid)) {
        self.sender = Sender::Going;
        if let Some(Late { at, by, periods }) = self.late.take() {
            if self.lateness == Lateness::Lengthens {
                self.overdue = self.overdue.max(periods);
                return;
            }
            self.marks.late += 1;
            self.marks.late_by = self.marks.late_by.max(by);
            out(SlackSaid::Late { channel: self.channel, at: Tick(at), by });
        }
    }

    fn end_risk(&mut self, out: &mut impl FnMut(SlackSaid)) {
        if let Some((at, by)) = self.risk.take() {
            self.marks.risks += 1;
            out(SlackSaid::OverrunRisk { channel: self.channel, at: Tick(at), by });
        }
    }

    /// The delay turns out to be another.
    pub(super) fn shift(&mut self, timing: Timing) {
        self.timing = timing;
        self.arrivals.clear();
        self.orders.clear();
        self.obeyed.clear();
        (self.input, self.intake) = (Known::No, Known::No);
        (self.sender, self.late, self.risk) = (Sender::Doubtful, None, None);
        (self.overdue, self.allowed) = (0, 0);
        self.bound.forget(self.bound.next().saturating_sub(self.bound.hold()));
    }

    /// The recording ends: what of both channels was recorded is settled, and handed out.
    pub(super) fn finish(&mut self, recorded: [Option<Tick>; 2], out: &mut impl FnMut(SlackSaid)) {
        let limit = recorded.first().copied().flatten().map_or(0, |end| self.arrival(end));
        self.advance(limit, recorded, out);
        while let Some(piece) = self.bound.rest() {
            self.rows.take(piece, &mut self.marks, out);
        }
        self.rows.finish(&mut self.marks, out);
        self.resume(out);
        self.end_risk(out);
    }

    pub(super) const fn marks(&self) -> &Marks {
        &self.marks
    }
}

#[cfg(test)]
mod tests {
    use codec::capture::Channel;

    use super::*;
    use crate::link::assume::Assumptions;

    #[test]
    fn commands_to_a_channel_of_which_nothing_comes_are_not_kept() {
        let parameters = Parameters::of(&Channel::named("h0:0>s0:0"), &Assumptions::default());
        let timing = Timing { arrives: 12, decided: 14, obeyed: 28, forgotten: 2 };
        let mut settling = Settling::new(ChannelId(0), &parameters, 1, timing);
        for place in 1..10_000 {
            let order = if place % 2 == 0 { Order::Go } else { Order::Stop };
            settling.order(Tick(50 * place), order);
            settling.settle(Tick(50 * place), [None, Some(Tick(50 * place))], &mut |_| {});
            assert!(settling.orders.len() <= 1 && settling.obeyed.len() <= 1);
        }
        assert_eq!(settling.sender, Sender::Going);
    }
}
