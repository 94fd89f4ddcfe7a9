//! Expectations for the two channels of a tapped port, derived from the truth.
//!
//! Of the channel that comes in: the frames that the port received, and what else it heard; of the
//! one that goes out: the frames that it sent, its symbols, its silence. The sender of the channel
//! that goes out is the port's own; that of the one that comes in is the far one, which goes by what
//! the port commanded, what reset it, and when the port fell silent.
//!
//! The tap and the port do not always see the same, see [`NackReason`].

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a channel")]

use codec::capture::ChannelId;
use codec::character::{Character, DecodedCode, Symbol, decode_control};
use codec::notation;

use super::channel_line::{ChannelLine, LineClass, LineKind};
use super::truth::{TruthCommand, TruthLine, TruthWhat};
use crate::event::ResumeCause;

/// Reason why something is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OmissionReason {
    /// The port had lost its power: the tap goes on listening, the port does not.
    PowerLost,
    /// The host was made to send codes that no output circuit made, so the truth does not have them.
    Raw,
    /// It was not recorded, or began before the recording did.
    NotRecorded,
    /// It is of a repeat that brings the same over and over, of which the first rounds are listed.
    Repeated,
}

impl OmissionReason {
    /// The name in `docs/output.md`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::PowerLost => "power-lost",
            Self::Raw => "raw",
            Self::NotRecorded => "not-recorded",
            Self::Repeated => "repeated",
        }
    }
}

/// Expectation for a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PortExpectation {
    /// This must be there.
    Line(ChannelId, ChannelLine),
    /// From a place on, lines of a class are not compared.
    Limit(ChannelId, LineClass, u64, OmissionReason),
}

/// A tapped port.
#[derive(Clone, Debug)]
pub(super) struct ScoredPort {
    /// Periods of the full rate in one of the link's.
    pub(super) divisor: u64,
    /// The channel that goes out, the one that comes in.
    pub(super) outgoing: Option<ChannelId>,
    pub(super) incoming: Option<ChannelId>,
    /// The last command to the far sender. F-2
    told: TruthCommand,
    /// FRES has gone out, and no GAP that ends the reset. R-1
    reset: PortReset,
    /// Power is back after a silence, and the first character is due.
    restored: Option<u64>,
    /// The port has lost its power before.
    lost: LostPower,
    /// IDLEs that its host was made to send.
    idle: u64,
}

/// State of a forward reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PortReset {
    #[default]
    None,
    Open,
}

/// Power history of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LostPower {
    #[default]
    Never,
    Once,
}

impl ScoredPort {
    pub(super) const fn new(divisor: u64) -> Self {
        Self {
            divisor,
            outgoing: None,
            incoming: None,
            told: TruthCommand::Go,
            reset: PortReset::None,
            restored: None,
            lost: LostPower::Never,
            idle: 0,
        }
    }

    /// All that happened before a period of the full rate has been taken: what was due is certain.
    pub(super) fn settle(&mut self, before: u64, out: &mut impl FnMut(PortExpectation)) {
        let Some(id) = self.outgoing else { return };
        if let Some(at) = self.restored
            && at.saturating_add(1).saturating_mul(self.divisor) <= before
        {
            self.restored = None;
            out(PortExpectation::Line(
                id,
                ChannelLine::new(at, LineKind::LinkRestored, String::new()),
            ));
        }
    }

    /// Takes the next row about the port.
    pub(super) fn row(&mut self, row: &TruthLine, out: &mut impl FnMut(PortExpectation)) {
        self.settle(row.at, out);
        let at = row.at / self.divisor;
        self.limits(row, at, out);
        if let Some(id) = self.outgoing
            && let Some(line) = self.sends(row, at)
        {
            out(PortExpectation::Line(id, line));
        }
        let (heard, sender) = (hears(row, at), self.far_sender(row, at));
        if let Some(id) = self.incoming {
            for line in heard.into_iter().chain(sender) {
                out(PortExpectation::Line(id, line));
            }
        }
    }

    /// Processes a row of the outgoing channel, and schedules its consequences.
    fn sends(&mut self, row: &TruthLine, at: u64) -> Option<ChannelLine> {
        let line = |kind, more| Some(ChannelLine::new(at, kind, more));
        match &row.what {
            TruthWhat::Sent(frame) => Some(ChannelLine::of_frame(at, frame)),
            TruthWhat::SymbolSent { symbol, number, status } => {
                let shown = |number: &Option<u8>| number.unwrap_or_default().to_string();
                match symbol.as_str() {
                    "FRES" => {
                        self.reset = PortReset::Open;
                        line(LineKind::ForwardReset, String::new())
                    }
                    "BRES" => line(LineKind::BackwardReset, String::new()),
                    "ORUN" => line(LineKind::OverrunAlarm, String::new()),
                    "PRBn" => line(LineKind::Probe, shown(number)),
                    "REPLx" => line(LineKind::Reply, shown(status)),
                    _ => None,
                }
            }
            TruthWhat::ResetClosed => match std::mem::take(&mut self.reset) {
                PortReset::Open => line(LineKind::ResetEnded, String::new()),
                PortReset::None => None,
            },
            TruthWhat::SilenceEnded => {
                self.restored = Some(row.at.div_ceil(self.divisor));
                None
            }
            TruthWhat::SenderStopped => line(LineKind::SenderStopped, String::new()),
            TruthWhat::SenderResumed { by } if by != "power" => {
                line(LineKind::SenderResumed, format!("by {by}"))
            }
            TruthWhat::FellSilent => line(LineKind::OpenLink, String::new()),
            _ => None,
        }
    }

    /// Applies a row of the port to the sender at the far end.
    fn far_sender(&mut self, row: &TruthLine, at: u64) -> Option<ChannelLine> {
        let (told, by) = match &row.what {
            TruthWhat::Commanded { command } => (*command, ResumeCause::Go),
            TruthWhat::ForwardReset => (TruthCommand::Go, ResumeCause::Reset),
            TruthWhat::FellSilent => (TruthCommand::Go, ResumeCause::OpenLink),
            _ => return None,
        };
        let (kind, more) = match (std::mem::replace(&mut self.told, told), told) {
            (TruthCommand::Go, TruthCommand::Stop) => (LineKind::SenderStopped, String::new()),
            (TruthCommand::Stop, TruthCommand::Go) => {
                (LineKind::SenderResumed, format!("by {}", by.name()))
            }
            (TruthCommand::Go, TruthCommand::Go) | (TruthCommand::Stop, TruthCommand::Stop) => {
                return None;
            }
        };
        Some(ChannelLine::new(at, kind, more))
    }

    /// From where on something is not compared.
    fn limits(&mut self, row: &TruthLine, at: u64, out: &mut impl FnMut(PortExpectation)) {
        let mut limit = |id: Option<ChannelId>, classes: &[LineClass], at, reason| {
            for (id, class) in id.into_iter().flat_map(|id| classes.iter().map(move |it| (id, it)))
            {
                out(PortExpectation::Limit(id, *class, at, reason));
            }
        };
        match &row.what {
            TruthWhat::PowerLost => {
                let reason = OmissionReason::PowerLost;
                // A reset that the power cuts short is ended by whatever comes then, which only
                // whoever hears it knows.
                if std::mem::take(&mut self.reset) == PortReset::Open {
                    limit(self.outgoing, &[LineClass::Own, LineClass::OpenPacket], at, reason);
                }
                // The silence that follows began before the power was lost.
                if self.idle > 0 {
                    limit(
                        self.outgoing,
                        &[LineClass::Own, LineClass::OpenPacket],
                        at,
                        OmissionReason::Raw,
                    );
                }
                // Nothing has ended the silence if the power goes again before the first character.
                if self.restored.is_some_and(|due| row.at <= due.saturating_mul(self.divisor)) {
                    self.restored = None;
                }
                limit(self.outgoing, &[LineClass::Sender, LineClass::ResetEnd], at, reason);
                let all =
                    [LineClass::Own, LineClass::ResetEnd, LineClass::OpenPacket, LineClass::Sender];
                limit(self.incoming, &all, at, reason);
                self.lost = LostPower::Once;
            }
            TruthWhat::Raw { characters } if self.is_forged(characters) => {
                let all =
                    [LineClass::Own, LineClass::ResetEnd, LineClass::OpenPacket, LineClass::Sender];
                limit(self.outgoing, &all, at, OmissionReason::Raw);
                limit(self.incoming, &[LineClass::Sender], at, OmissionReason::Raw);
            }
            _ => {}
        }
    }

    /// True if a text has codes that change what is framed, that are no symbols, or enough IDLE for a
    /// silence, or any at all beside the silence of lost power.
    fn is_forged(&mut self, characters: &str) -> bool {
        let Ok(characters) = notation::parse(characters) else { return true };
        characters.chars().iter().any(|character| match character {
            Character::IDLE => {
                self.idle += 1;
                self.idle >= 16 || self.lost == LostPower::Once
            }
            Character::Control(code) => match decode_control(code) {
                DecodedCode::Exact(symbol) => symbol == Symbol::ForwardReset,
                DecodedCode::Corrected(_) | DecodedCode::Invalid => true,
            },
            Character::Data(_) => false,
        })
    }
}

/// Processes a row of the incoming channel.
fn hears(row: &TruthLine, at: u64) -> Option<ChannelLine> {
    let line = |kind, more| Some(ChannelLine::new(at, kind, more));
    match &row.what {
        TruthWhat::Received(frame) => Some(ChannelLine::of_frame(at, frame)),
        TruthWhat::OpenLink => line(LineKind::OpenLink, String::new()),
        TruthWhat::LinkRestored => line(LineKind::LinkRestored, String::new()),
        TruthWhat::ForwardReset => line(LineKind::ForwardReset, String::new()),
        TruthWhat::ResetEnded => line(LineKind::ResetEnded, String::new()),
        TruthWhat::BackwardReset => line(LineKind::BackwardReset, String::new()),
        TruthWhat::OverrunAlarm => line(LineKind::OverrunAlarm, String::new()),
        TruthWhat::Probe { number } => line(LineKind::Probe, number.to_string()),
        TruthWhat::Reply { status } => line(LineKind::Reply, status.to_string()),
        TruthWhat::InvalidCode { code } => line(LineKind::InvalidCode, code.to_string()),
        TruthWhat::CorrectedCode { code, symbol } => {
            line(LineKind::CorrectedCode, format!("{code} to {symbol}"))
        }
        _ => None,
    }
}
