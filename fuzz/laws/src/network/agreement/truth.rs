//! What the truth about a port lets one expect of the two channels at it.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a channel")]
use std::collections::BTreeSet;

use analyzer::event::{By, Event};
use analyzer::packet::EndedBy;
use codec::capture::ChannelId;
use codec::character::Symbol;
use simulator::link::{LinkParameters, ResetEnding};
use simulator::scenario::Scenario;
use simulator::topology::Port;
use simulator::truth::{Command, Frame, FrameEnd, Happened, Release, What};

use super::{LeftOut, Limit, Line, Packet, Told};
use crate::network::facts::{commands_due, is_forged, power_lost};
use crate::network::run::Outcome;

/// What is expected of a channel, and how much of it is compared.
pub(super) struct Expected {
    pub(super) lines: Vec<Line>,
    pub(super) limit: Limit,
}

/// What is known about a port.
pub(super) struct Truth<'a> {
    scenario: &'a Scenario,
    port: Port,
    peer: Port,
    /// Its own end first.
    link: LinkParameters,
    rows: Vec<&'a Happened>,
    /// When it loses its power, in order.
    off: Vec<u64>,
}

impl<'a> Truth<'a> {
    pub(super) fn new(scenario: &'a Scenario, outcome: &'a Outcome, port: Port) -> Option<Self> {
        let link = scenario.topology.link(port)?;
        let peer = scenario.topology.peer(port)?;
        let rows = outcome.rows.iter().filter(|row| row.place == port).collect();
        let off = power_lost(scenario, port).collect();
        Some(Self { scenario, port, peer, link, rows, off })
    }

    /// The channels in the capture: out, in.
    pub(super) fn channels(&self, outcome: &Outcome) -> [Option<ChannelId>; 2] {
        let [here, there] =
            [self.port, self.peer].map(|port| self.scenario.topology.port_name(port));
        [(&here, &there), (&there, &here)].map(|(from, to)| {
            let name = format!("{from}>{to}");
            let mut ids = (0..).map(ChannelId).zip(&outcome.channels);
            let own = ids.find(|(_, it)| it.name == name && it.tap.as_ref() == Some(&here));
            own.map(|(id, _)| id)
        })
    }

    /// The character period of the channel that goes out.
    fn divisor(&self) -> u64 {
        self.link.ports[0].divisor.get().into()
    }

    /// And of the one that comes in.
    fn far_divisor(&self) -> u64 {
        self.link.ports[1].divisor.get().into()
    }

    /// The period of the channel that goes out in which something is sent.
    fn slot(&self, row: &Happened) -> u64 {
        row.at / self.divisor()
    }

    /// The last characters: out, in.
    fn last(&self) -> [u64; 2] {
        let (end, far) = (self.scenario.duration - 1, self.far_divisor());
        [end / self.divisor(), end.saturating_sub(self.link.delay.0 % far) / far]
    }

    /// What is expected of the channel that goes out, and of the one that comes in: packets, events.
    pub(super) fn expected(&self) -> [[Expected; 2]; 2] {
        let forged = is_forged(self.scenario, self.port);
        let first = self.off.first().map_or(u64::MAX, |off| off / self.divisor());
        let first_in = self.off.first().map_or(u64::MAX, |off| off / self.far_divisor());
        let unended = self.unended().unwrap_or(u64::MAX);
        let left_out = |what| if first < u64::MAX { what } else { LeftOut::Nothing };
        let sender = if forged { 0 } else { first };
        let own = if forged { 0 } else { unended };
        let out = Limit { own, sender, left_out: left_out(LeftOut::ResetEnds) };
        // Where the power goes after the last character the capture ends first.
        let into = Limit {
            own: first_in,
            sender: sender.min(first_in),
            left_out: left_out(LeftOut::CaptureEnds),
        };
        let own = [self.sent(), self.sends(), self.received(), self.hears()];
        let mut lines = own.into_iter();
        [out, into].map(|limit| {
            [(); 2].map(|()| {
                let mut lines = lines.next().unwrap_or_default();
                lines.retain(|line| limit.holds(line));
                Expected { lines, limit }
            })
        })
    }

    fn sent(&self) -> Vec<Line> {
        let frames = self.rows.iter().filter_map(|row| match &row.what {
            What::Sent(frame) => Some(frame_line(self.slot(row), frame, self.last()[0])),
            _ => None,
        });
        frames.collect()
    }

    fn received(&self) -> Vec<Line> {
        let frames = self.rows.iter().filter_map(|row| match &row.what {
            What::Received(frame) => {
                Some(frame_line(row.at / self.far_divisor(), frame, self.last()[1]))
            }
            _ => None,
        });
        frames.collect()
    }

    /// Events of the channel that goes out.
    fn sends(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for row in &self.rows {
            let event = match &row.what {
                What::SymbolSent(symbol) => sent_symbol(*symbol),
                What::SenderStopped => Some(Event::SenderStopped),
                What::SenderResumed(by) => resumed(*by),
                What::FellSilent => Some(Event::OpenLink),
                _ => None,
            };
            lines.extend(event.map(|event| line(self.slot(row), event)));
        }
        lines.extend(self.resets_ended());
        lines.extend(self.silences_ended());
        lines
    }

    /// When FRES goes out, and the GAP that ends it: Myricom's comes next, but that STOP and GO go first;
    /// of others it is told. R-1, F-6
    fn resets(&self) -> impl Iterator<Item = [u64; 2]> {
        let due: BTreeSet<u64> =
            commands_due(&self.link.ports[0], self.rows.iter().copied()).collect();
        let sent =
            self.rows.iter().filter(|row| row.what == What::SymbolSent(Symbol::ForwardReset));
        sent.filter_map(move |row| {
            let fres = self.slot(row);
            let own = (fres + 1..).find(|slot| !due.contains(slot))?;
            let told = self.rows.iter().filter(|row| row.what == What::ResetClosed);
            let told = told.map(|row| self.slot(row)).find(|slot| *slot > fres);
            Some(match self.link.ports[0].reset {
                ResetEnding::OwnGap => [fres, own],
                ResetEnding::NextGap => [fres, told.unwrap_or(u64::MAX)],
            })
        })
    }

    fn resets_ended(&self) -> impl Iterator<Item = Line> {
        // One GAP may end several. R-1
        let ends: BTreeSet<u64> = self.resets().map(|[_, end]| end).collect();
        let last = self.last()[0];
        ends.into_iter().filter(move |end| *end <= last).map(|at| line(at, Event::ResetEnded))
    }

    /// When the power goes between FRES and GAP: what goes out after it returns is dropped up to a
    /// GAP by whoever hears it, and the sender does not know.
    fn unended(&self) -> Option<u64> {
        let cut =
            |[fres, end]: [u64; 2]| self.off.iter().copied().find(|off| (fres..=end).contains(off));
        self.resets().filter_map(cut).min()
    }

    /// The first character after a silence is that of the first period with power, unless it is gone
    /// again before that begins.
    fn silences_ended(&self) -> impl Iterator<Item = Line> {
        let ended = self.rows.iter().filter(|row| row.what == What::SilenceEnded);
        let first = ended.filter_map(|row| {
            let slot = row.at.div_ceil(self.divisor());
            let gone = self.off.iter().any(|off| (row.at..=slot * self.divisor()).contains(off));
            (!gone).then_some(slot)
        });
        first.filter(|at| *at <= self.last()[0]).map(|at| line(at, Event::LinkRestored))
    }

    /// Events of the channel that comes in.
    fn hears(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        // What the far sender has been told. F-2
        let mut told = Command::Go;
        for row in &self.rows {
            let before = told;
            let by = match &row.what {
                What::Commanded(command) => {
                    told = *command;
                    By::Go
                }
                What::ResetReceived => {
                    told = Command::Go;
                    By::Reset
                }
                What::FellSilent => {
                    told = Command::Go;
                    By::OpenLink
                }
                _ => By::Go,
            };
            let sender = match (before, told) {
                (Command::Go, Command::Stop) => Some(Event::SenderStopped),
                (Command::Stop, Command::Go) => Some(Event::SenderResumed(by)),
                (Command::Go, Command::Go) | (Command::Stop, Command::Stop) => None,
            };
            let events = [heard(&row.what), sender].into_iter().flatten();
            lines.extend(events.map(|event| line(row.at / self.far_divisor(), event)));
        }
        lines
    }
}

fn frame_line(at: u64, frame: &Frame, last: u64) -> Line {
    let (at, ended_by) = match frame.ended_by {
        FrameEnd::Gap => (at, EndedBy::Gap),
        FrameEnd::LinkOpen => (at, EndedBy::OpenLink),
        FrameEnd::Reset => (at, EndedBy::Reset),
        FrameEnd::RunEnd => (last, EndedBy::CaptureEnd),
    };
    let packet = Packet {
        start: frame.start,
        end: frame.end,
        length: frame.length,
        route: frame.route.clone(),
        tag: frame.tag,
        payload: frame.payload(),
        check: frame.check,
        ended_by,
    };
    Line { at, what: Told::Packet(packet) }
}

fn sent_symbol(symbol: Symbol) -> Option<Event> {
    match symbol {
        Symbol::ForwardReset => Some(Event::ForwardReset),
        Symbol::BackwardReset => Some(Event::BackwardReset),
        Symbol::OverrunAlarm => Some(Event::OverrunAlarm),
        Symbol::Probe(number) => Some(Event::Probe(number)),
        Symbol::Reply(status) => Some(Event::Reply(status)),
        _ => None,
    }
}

const fn resumed(by: Release) -> Option<Event> {
    match by {
        Release::Go => Some(Event::SenderResumed(By::Go)),
        Release::LinkOpen => Some(Event::SenderResumed(By::OpenLink)),
        Release::Reset => Some(Event::SenderResumed(By::Reset)),
        // Only where nothing more is compared.
        Release::Power => None,
    }
}

fn line(at: u64, event: Event) -> Line {
    Line { at, what: Told::Event(event) }
}

/// What was heard, as an event of the channel.
fn heard(what: &What) -> Option<Event> {
    match *what {
        What::LinkOpen => Some(Event::OpenLink),
        What::LinkRestored => Some(Event::LinkRestored),
        What::ResetReceived => Some(Event::ForwardReset),
        What::ResetEnded => Some(Event::ResetEnded),
        What::BackwardResetReceived => Some(Event::BackwardReset),
        What::OverrunAlarmReceived => Some(Event::OverrunAlarm),
        What::ProbeReceived(number) => Some(Event::Probe(number)),
        What::ReplyReceived { status, .. } => Some(Event::Reply(status)),
        What::InvalidCode(code) => Some(Event::InvalidCode(code)),
        What::CorrectedCode { code, symbol } => Some(Event::CorrectedCode { code, symbol }),
        _ => None,
    }
}
