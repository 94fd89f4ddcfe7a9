//! What the truth about a port lets one expect of the two channels at it.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a channel")]
use codec::framing::FrameEnd;
use std::collections::BTreeSet;

use analyzer::event::{LinkEvent, ResumeCause};
use analyzer::packet::PacketEnd;
use codec::capture::ChannelId;
use codec::character::Symbol;
use simulator::link::{LinkParameters, ResetEnding};
use simulator::scenario::Scenario;
use simulator::topology::NodePort;
use simulator::truth::{FrameRecord, ReleaseCause, StopGo, TruthEvent, TruthEventKind};

use super::{AgreementFact, AgreementLine, AgreementPacket, ComparisonLimit, ExcludedLines};
use crate::network::facts::{commands_due, is_forged, power_lost};
use crate::network::run::RunOutcome;

/// What is expected of a channel, and how much of it is compared.
pub(super) struct ExpectedLines {
    pub(super) lines: Vec<AgreementLine>,
    pub(super) limit: ComparisonLimit,
}

/// What is known about a port.
pub(super) struct PortTruth<'a> {
    scenario: &'a Scenario,
    port: NodePort,
    peer: NodePort,
    /// Its own end first.
    link: LinkParameters,
    rows: Vec<&'a TruthEvent>,
    /// When it loses its power, in order.
    off: Vec<u64>,
}

impl<'a> PortTruth<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        outcome: &'a RunOutcome,
        port: NodePort,
    ) -> Option<Self> {
        let link = scenario.topology.link(port)?;
        let peer = scenario.topology.peer(port)?;
        let rows = outcome.rows.iter().filter(|row| row.place == port).collect();
        let off = power_lost(scenario, port).collect();
        Some(Self { scenario, port, peer, link, rows, off })
    }

    /// The channels in the capture: out, in.
    pub(super) fn channels(&self, outcome: &RunOutcome) -> [Option<ChannelId>; 2] {
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
    fn slot(&self, row: &TruthEvent) -> u64 {
        row.at / self.divisor()
    }

    /// The last characters: out, in.
    fn last(&self) -> [u64; 2] {
        let (end, far) = (self.scenario.duration - 1, self.far_divisor());
        [end / self.divisor(), end.saturating_sub(self.link.delay.0 % far) / far]
    }

    /// What is expected of the channel that goes out, and of the one that comes in: packets, events.
    pub(super) fn expected(&self) -> [[ExpectedLines; 2]; 2] {
        let forged = is_forged(self.scenario, self.port);
        let first = self.off.first().map_or(u64::MAX, |off| off / self.divisor());
        let first_in = self.off.first().map_or(u64::MAX, |off| off / self.far_divisor());
        let unended = self.unended().unwrap_or(u64::MAX);
        let left_out = |what| if first < u64::MAX { what } else { ExcludedLines::Nothing };
        let sender = if forged { 0 } else { first };
        let own = if forged { 0 } else { unended };
        let out = ComparisonLimit { own, sender, left_out: left_out(ExcludedLines::ResetEnds) };
        // Where the power goes after the last character the capture ends first.
        let into = ComparisonLimit {
            own: first_in,
            sender: sender.min(first_in),
            left_out: left_out(ExcludedLines::CaptureEnds),
        };
        let own = [self.sent(), self.sends(), self.received(), self.receives()];
        let mut lines = own.into_iter();
        [out, into].map(|limit| {
            [(); 2].map(|()| {
                let mut lines = lines.next().unwrap_or_default();
                lines.retain(|line| limit.holds(line));
                ExpectedLines { lines, limit }
            })
        })
    }

    fn sent(&self) -> Vec<AgreementLine> {
        let frames = self.rows.iter().filter_map(|row| match &row.kind {
            TruthEventKind::Sent(frame) => Some(frame_line(self.slot(row), frame, self.last()[0])),
            _ => None,
        });
        frames.collect()
    }

    fn received(&self) -> Vec<AgreementLine> {
        let frames = self.rows.iter().filter_map(|row| match &row.kind {
            TruthEventKind::Received(frame) => {
                Some(frame_line(row.at / self.far_divisor(), frame, self.last()[1]))
            }
            _ => None,
        });
        frames.collect()
    }

    /// Events of the channel that goes out.
    fn sends(&self) -> Vec<AgreementLine> {
        let mut lines = Vec::new();
        for row in &self.rows {
            let event = match &row.kind {
                TruthEventKind::SymbolSent(symbol) => sent_symbol(*symbol),
                TruthEventKind::SenderStopped => Some(LinkEvent::SenderStopped),
                TruthEventKind::SenderResumed(by) => resumed(*by),
                TruthEventKind::FellSilent => Some(LinkEvent::OpenLink),
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
        let sent = self
            .rows
            .iter()
            .filter(|row| row.kind == TruthEventKind::SymbolSent(Symbol::ForwardReset));
        sent.filter_map(move |row| {
            let fres = self.slot(row);
            let own = (fres + 1..).find(|slot| !due.contains(slot))?;
            let told = self.rows.iter().filter(|row| row.kind == TruthEventKind::ResetClosed);
            let told = told.map(|row| self.slot(row)).find(|slot| *slot > fres);
            Some(match self.link.ports[0].reset {
                ResetEnding::OwnGap => [fres, own],
                ResetEnding::NextGap => [fres, told.unwrap_or(u64::MAX)],
            })
        })
    }

    fn resets_ended(&self) -> impl Iterator<Item = AgreementLine> {
        // One GAP may end several. R-1
        let ends: BTreeSet<u64> = self.resets().map(|[_, end]| end).collect();
        let last = self.last()[0];
        ends.into_iter().filter(move |end| *end <= last).map(|at| line(at, LinkEvent::ResetEnded))
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
    fn silences_ended(&self) -> impl Iterator<Item = AgreementLine> {
        let ended = self.rows.iter().filter(|row| row.kind == TruthEventKind::SilenceEnded);
        let first = ended.filter_map(|row| {
            let slot = row.at.div_ceil(self.divisor());
            let gone = self.off.iter().any(|off| (row.at..=slot * self.divisor()).contains(off));
            (!gone).then_some(slot)
        });
        first.filter(|at| *at <= self.last()[0]).map(|at| line(at, LinkEvent::LinkRestored))
    }

    /// Events of the channel that comes in.
    fn receives(&self) -> Vec<AgreementLine> {
        let mut lines = Vec::new();
        // What the far sender has been told. F-2
        let mut told = StopGo::Go;
        for row in &self.rows {
            let before = told;
            let by = match &row.kind {
                TruthEventKind::Commanded(command) => {
                    told = *command;
                    ResumeCause::Go
                }
                TruthEventKind::ResetReceived => {
                    told = StopGo::Go;
                    ResumeCause::Reset
                }
                TruthEventKind::FellSilent => {
                    told = StopGo::Go;
                    ResumeCause::OpenLink
                }
                _ => ResumeCause::Go,
            };
            let sender = match (before, told) {
                (StopGo::Go, StopGo::Stop) => Some(LinkEvent::SenderStopped),
                (StopGo::Stop, StopGo::Go) => Some(LinkEvent::SenderResumed(by)),
                (StopGo::Go, StopGo::Go) | (StopGo::Stop, StopGo::Stop) => None,
            };
            let events = [received_event(&row.kind), sender].into_iter().flatten();
            lines.extend(events.map(|event| line(row.at / self.far_divisor(), event)));
        }
        lines
    }
}

fn frame_line(at: u64, frame: &FrameRecord, last: u64) -> AgreementLine {
    let (at, ended_by) = match frame.ended_by {
        FrameEnd::Gap => (at, PacketEnd::Gap),
        FrameEnd::OpenLink => (at, PacketEnd::OpenLink),
        FrameEnd::Reset => (at, PacketEnd::Reset),
        FrameEnd::Hole => (at, PacketEnd::Hole),
        FrameEnd::CaptureEnd => (last, PacketEnd::CaptureEnd),
    };
    let packet = AgreementPacket {
        start: frame.start,
        end: frame.end,
        length: frame.packet.length,
        route: frame.packet.route.bytes().to_vec(),
        tag: frame.packet.tag,
        payload: frame.packet.payload(),
        check: frame.packet.check,
        ended_by,
    };
    AgreementLine { at, what: AgreementFact::Packet(packet) }
}

fn sent_symbol(symbol: Symbol) -> Option<LinkEvent> {
    match symbol {
        Symbol::ForwardReset => Some(LinkEvent::ForwardReset),
        Symbol::BackwardReset => Some(LinkEvent::BackwardReset),
        Symbol::OverrunAlarm => Some(LinkEvent::OverrunAlarm),
        Symbol::Probe(number) => Some(LinkEvent::Probe(number)),
        Symbol::Reply(status) => Some(LinkEvent::Reply(status)),
        _ => None,
    }
}

const fn resumed(by: ReleaseCause) -> Option<LinkEvent> {
    match by {
        ReleaseCause::Go => Some(LinkEvent::SenderResumed(ResumeCause::Go)),
        ReleaseCause::LinkOpen => Some(LinkEvent::SenderResumed(ResumeCause::OpenLink)),
        ReleaseCause::Reset => Some(LinkEvent::SenderResumed(ResumeCause::Reset)),
        // Only where nothing more is compared.
        ReleaseCause::Power => None,
    }
}

fn line(at: u64, event: LinkEvent) -> AgreementLine {
    AgreementLine { at, what: AgreementFact::Event(event) }
}

/// What was heard, as an event of the channel.
fn received_event(what: &TruthEventKind) -> Option<LinkEvent> {
    match *what {
        TruthEventKind::LinkOpen => Some(LinkEvent::OpenLink),
        TruthEventKind::LinkRestored => Some(LinkEvent::LinkRestored),
        TruthEventKind::ResetReceived => Some(LinkEvent::ForwardReset),
        TruthEventKind::ResetEnded => Some(LinkEvent::ResetEnded),
        TruthEventKind::BackwardResetReceived => Some(LinkEvent::BackwardReset),
        TruthEventKind::OverrunAlarmReceived => Some(LinkEvent::OverrunAlarm),
        TruthEventKind::ProbeReceived(number) => Some(LinkEvent::Probe(number)),
        TruthEventKind::ReplyReceived { status, .. } => Some(LinkEvent::Reply(status)),
        TruthEventKind::InvalidCode(code) => Some(LinkEvent::InvalidCode(code)),
        TruthEventKind::CorrectedCode { code, symbol } => {
            Some(LinkEvent::CorrectedCode { code, symbol })
        }
        _ => None,
    }
}
