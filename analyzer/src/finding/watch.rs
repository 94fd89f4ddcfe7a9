//! What the rows of a link say about one of its channels: packets, the obedience of its sender, the
//! commands and questions on it. P-2..P-9, F-1..F-9, R-1..R-6

use codec::capture::Channel;
use codec::packet::Check;
use codec::tick::{FULL_RATE_PERIOD_PS, OPEN_LINK, Tick};

use super::ledger::Scribe;
use super::{Fact, Kind};
use crate::blocking::BLOCKED;
use crate::event::{By, Event};
use crate::link::assume::Key;
use crate::packet::{EndedBy, PacketSeen};
use crate::place::TapEnd;
use crate::timeline::{Detail, Row, What};

/// How long an answer, or an escape that is due, may take to be seen. *Chosen*: twice the cable of 5
/// km, many times more than any link has.
const ANSWER: u64 = 1 << 12;

/// One channel.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// So many periods after STOP at the tap no data of this channel's sender may pass the tap. F-1
    grace: Option<u64>,
    /// Fewest periods from a change of STOP and GO to the one after the next. F-4
    turns: u64,
    stop: Option<Stop>,
    /// The place behind the last run of data.
    data: Tick,
    /// The first character, or the first behind the last hole.
    first: Tick,
    /// Where since then it became known where packets begin. P-7
    framed: Option<Tick>,
    /// The last STOP or GO that was a change, and the one before it.
    commands: [Option<Tick>; 2],
    /// What this channel has said already, so that more of it is a change.
    said: Said,
    /// Not yet answered on the opposite channel.
    probe: Option<Asked>,
    reset: Option<Asked>,
}

/// A stop of a channel's sender.
#[derive(Clone, Copy, Debug)]
struct Stop {
    since: Tick,
    late: Option<Late>,
}

/// Data that came although its sender was stopped.
#[derive(Clone, Copy, Debug)]
struct Late {
    first: Tick,
    /// Bytes before the last run of them.
    before: u64,
    /// That run: from where, and the place behind it. It may go on beyond the stop.
    run: (Tick, Tick),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// Nothing since the start or a hole.
    Nothing,
    Something,
}

/// A question: where, and with which number.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Tick,
    number: u8,
}

impl Watch {
    pub(super) fn new(channel: &Channel) -> Self {
        // At most two changes of STOP and GO come in 2h − 1 periods. F-4
        let hysteresis = u64::from(Key::Hysteresis.told_or_default(channel));
        // Reading: a buffer is filled by one cell a period of its link, but emptied at the full rate,
        // and of one cell more at once where a switch has used a route byte. S-3
        let cells = channel.period_ps.get().div_ceil(u64::from(FULL_RATE_PERIOD_PS));
        let falls = hysteresis.saturating_sub(1).div_ceil(cells).max(1);
        let turns = (hysteresis + falls).saturating_sub(1);
        Self {
            grace: grace(channel),
            turns,
            stop: None,
            data: Tick::default(),
            first: Tick::default(),
            framed: None,
            commands: [None; 2],
            said: Said::Nothing,
            probe: None,
            reset: None,
        }
    }

    /// The first character.
    pub(super) const fn first(&self) -> Tick {
        self.first
    }

    /// The channel has an opposite, which has characters of this period.
    pub(super) const fn join(&mut self, own_ps: u64, opposite_ps: u64) {
        if own_ps != opposite_ps {
            // Cells fill and empty at another rate than that of the characters that tell of it.
            self.turns = 0;
        }
    }

    /// Takes a row of this channel.
    pub(super) fn row(&mut self, row: &Row, scribe: &mut Scribe<'_>) {
        match &row.what {
            What::Packet(packet) => self.packet(packet, scribe),
            What::Event(event) => self.event(row.at, event, scribe),
            What::Detail(Detail::Begins) => self.first = row.at,
            What::Detail(Detail::Framed) => self.framed = Some(row.at),
            What::Detail(Detail::Head(_)) => {}
            What::Detail(Detail::Data(len)) => self.run(row.at, *len),
            What::Detail(Detail::Command(_)) => self.command(row.at, scribe),
            What::Omitted { rounds, every } => scribe.note(Kind::Repeats, row.at, || {
                vec![Fact::number("rounds", *rounds), Fact::number("every", *every)]
            }),
        }
    }

    /// Takes a row of the opposite channel, and tells what is odd about that.
    pub(super) fn opposite(&mut self, what: &What) -> Option<Kind> {
        let What::Event(event) = what else { return None };
        match event {
            Event::Reply(_) if self.probe.take().is_none() => return Some(Kind::ReplyUnasked),
            Event::Hole { .. } => {
                // What the opposite channel said meanwhile, nobody knows.
                (self.stop, self.probe, self.reset) = (None, None, None);
                self.said = Said::Nothing;
            }
            Event::ForwardReset => {
                self.reset = None;
                // The slack buffer behind the opposite channel is cleared: GO may follow at once.
                self.commands = [None; 2];
            }
            Event::OpenLink => self.commands = [None; 2],
            Event::LinkRestored
            | Event::Reply(_)
            | Event::ResetEnded
            | Event::BackwardReset
            | Event::OverrunAlarm
            | Event::Probe(_)
            | Event::InvalidCode(_)
            | Event::CorrectedCode { .. }
            | Event::SenderStopped
            | Event::SenderResumed(_) => {}
        }
        None
    }

    /// The recording ends behind this place.
    pub(super) fn finish(&mut self, end: Tick, scribe: &mut Scribe<'_>) {
        if let Some(stop) = self.stop.take() {
            released(stop, end, None, scribe);
        }
    }

    /// What was asked long before this place will not be answered any more.
    pub(super) fn expire(&mut self, now: Tick, scribe: &mut Scribe<'_>) {
        let over = |asked: &mut Asked| now.since(asked.at).0 > ANSWER;
        if let Some(probe) = self.probe.take_if(over) {
            scribe.note(Kind::ProbeNotAnswered, probe.at, || {
                vec![Fact::number("number", u64::from(probe.number))]
            });
        }
        if let Some(reset) = self.reset.take_if(over) {
            scribe.note(Kind::ResetNotAnswered, reset.at, Vec::new);
        }
    }

    fn packet(&self, packet: &PacketSeen, scribe: &mut Scribe<'_>) {
        let seen = scribe.seen();
        seen.packets += 1;
        let PacketSeen { number, start, end, length, .. } = *packet;
        let span = end.since(start).0 + 1;
        seen.punched += u64::from(length < span);
        let facts = || vec![Fact::number("packet", number), Fact::number("length", length)];
        match packet.ended_by {
            EndedBy::Gap => {}
            EndedBy::OpenLink => return scribe.note(Kind::CutBySilence, end, facts),
            EndedBy::Reset => return scribe.note(Kind::CutByReset, end, facts),
            // What the recording ends, or misses a part of, may have gone on.
            EndedBy::Hole | EndedBy::CaptureEnd => return,
        }
        if span > BLOCKED {
            scribe.seen().timeouts += 1;
            let kind = if span > BLOCKED + ANSWER { Kind::NoEscape } else { Kind::BlockedTimeout };
            scribe.note(kind, start, || vec![Fact::number("packet", number)]);
        }
        let begun = self.framed.is_none_or(|framed| framed >= start);
        match packet.check {
            Check::Runt if !begun => scribe.note(Kind::Runt, start, facts),
            Check::Bad(syndrome) if !begun => {
                scribe.seen().checked += 1;
                scribe.note(Kind::CrcBad, start, || {
                    let mut facts = facts();
                    facts.push(Fact::byte("syndrome", syndrome));
                    facts
                });
            }
            Check::Runt | Check::Bad(_) => scribe.note(Kind::BegunBefore, start, facts),
            Check::Good => {
                if let Some(seam) = packet.seam {
                    scribe.note(Kind::LostGap, seam, facts);
                }
                scribe.seen().checked += 1;
                if packet.tag.is_none() {
                    scribe.note(Kind::NoTag, start, facts);
                }
            }
        }
    }

    fn event(&mut self, at: Tick, event: &Event, scribe: &mut Scribe<'_>) {
        match *event {
            Event::SenderStopped => {
                let seen = scribe.seen();
                seen.stops += 1;
                seen.obeyed += u64::from(self.grace.is_some());
                self.stop = Some(Stop { since: at, late: None });
                // What is on its way then may go on too long.
                self.run(at, self.data.since(at).0);
            }
            Event::SenderResumed(by) => {
                if let Some(stop) = self.stop.take() {
                    released(stop, at, Some(by), scribe);
                }
            }
            Event::OpenLink => {
                self.commands = [None; 2];
                if at.since(self.first).0 < OPEN_LINK.0 {
                    scribe.note(Kind::SilentAtFirst, at, Vec::new);
                } else {
                    scribe.seen().silences += 1;
                    scribe.note(Kind::OpenLink, at, Vec::new);
                }
            }
            Event::Hole { missing } => {
                scribe.note(Kind::Hole, at, || vec![Fact::number("missing", missing)]);
                (self.first, self.framed, self.said) = (at, None, Said::Nothing);
                (self.probe, self.reset, self.commands) = (None, None, [None; 2]);
            }
            Event::Probe(number) => {
                scribe.seen().probes += 1;
                self.probe = Some(Asked { at, number: number.value() });
            }
            Event::BackwardReset => {
                scribe.seen().backward += 1;
                self.reset = Some(Asked { at, number: 0 });
            }
            // What the characters say has been told: the wire's.
            Event::ForwardReset
            | Event::LinkRestored
            | Event::ResetEnded
            | Event::OverrunAlarm
            | Event::Reply(_)
            | Event::InvalidCode(_)
            | Event::CorrectedCode { .. } => {}
        }
    }
}

impl Watch {
    /// A run of data.
    fn run(&mut self, at: Tick, len: u64) {
        let end = Tick(at.0.saturating_add(len));
        self.data = self.data.max(end);
        let (Some(stop), Some(grace)) = (&mut self.stop, self.grace) else { return };
        let from = at.max(Tick(stop.since.0.saturating_add(grace)));
        if end > from {
            let late = stop.late.get_or_insert(Late { first: from, before: 0, run: (from, from) });
            late.before += late.run.1.since(late.run.0).0;
            late.run = (from, end);
        }
    }

    /// A STOP or GO that is news. F-4
    fn command(&mut self, at: Tick, scribe: &mut Scribe<'_>) {
        if self.said == Said::Nothing {
            // What fill repeats may have been commanded long before.
            self.said = Said::Something;
            return;
        }
        scribe.seen().commands += 1;
        let [last, before] = self.commands;
        if let Some(first) = before
            && at.since(first).0 < self.turns
        {
            let periods = at.since(first).0;
            scribe.note(Kind::CommandsTooOften, at, || vec![Fact::number("periods", periods)]);
        }
        self.commands = [Some(at), last];
    }
}

/// A stop is over: released by this, or by the end of the recording.
fn released(stop: Stop, at: Tick, by: Option<By>, scribe: &mut Scribe<'_>) {
    if let Some(late) = stop.late
        && late.first < at
    {
        let bytes = late.before + late.run.1.min(at).since(late.run.0).0;
        scribe.note(Kind::DataWhileStopped, late.first, || {
            let after = late.first.since(stop.since).0;
            vec![Fact::number("after_stop", after), Fact::number("bytes", bytes)]
        });
    }
    let periods = at.since(stop.since).0;
    if periods <= BLOCKED {
        return;
    }
    scribe.seen().timeouts += 1;
    let facts = || vec![Fact::number("periods", periods)];
    if periods > BLOCKED + ANSWER {
        scribe.note(Kind::NoEscape, stop.since, facts);
    } else if by == Some(By::Reset) {
        scribe.note(Kind::BlockedTimeout, stop.since, facts);
    }
}

/// See [`Watch::grace`]: none if where the tap is, or how far the sender is from it, is not known.
fn grace(channel: &Channel) -> Option<u64> {
    let obedience = u64::from(Key::Interpretation.told_or_default(channel)) + 1;
    match TapEnd::of(channel)? {
        TapEnd::Sender => Some(obedience),
        TapEnd::Receiver => {
            let cable = u64::from(Key::Delay.told(channel)?) * u64::from(FULL_RATE_PERIOD_PS);
            Some(obedience + 2 * cable.div_ceil(channel.period_ps.get()) + 1)
        }
    }
}
