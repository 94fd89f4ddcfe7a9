//! Expected lines of the two channels of a tapped port, derived from the truth.
//!
//! The incoming channel has the frames and symbols that the port received; the outgoing channel has
//! the frames, symbols and silences that it sent. The sender of the outgoing channel is the port
//! itself. The sender of the incoming channel is at the far end and follows the port's STOP and GO,
//! its resets and its silences.
//!
//! The tap and the port do not always receive the same, see [`OmissionReason`].

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a channel")]

use codec::capture::ChannelId;
use codec::character::{Character, DecodedCode, Symbol, decode_control};
use codec::notation;
use codec::time::CharacterPeriod;

use super::channel_line::{ChannelLine, LineClass, LineKind};
use super::truth::{TruthCommand, TruthLine, TruthWhat};
use crate::event::ResumeCause;

codec::named_enum! {
    /// Reason for excluding a line from the comparison.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(super) enum OmissionReason {
        /// The port had lost its power: the tap goes on recording, the port does not receive.
        PowerLost = "power-lost",
        /// The host was forced to send codes that are not in the truth, as no output circuit made them.
        Raw = "raw",
        /// Not recorded, or begun before the recording.
        NotRecorded = "not-recorded",
        /// Part of a repeat of which the analysis lists the first rounds only.
        Repeated = "repeated",
        /// Order of a reset and a command in one period of a slow link: the truth has one, and the capture none.
        Tied = "tied",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PortExpectation {
    /// An expected line.
    Line(ChannelId, ChannelLine),
    /// Lines of a class are not compared from a place on.
    Limit(ChannelId, LineClass, u64, OmissionReason),
}

/// A tapped port.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoredPort {
    pub(super) outgoing: Option<ChannelId>,
    pub(super) incoming: Option<ChannelId>,
    /// The periods of both channels.
    pub(super) sent: CharacterPeriod,
    pub(super) received: CharacterPeriod,
    /// The last STOP or GO to the far sender. F-2
    command: TruthCommand,
    /// True after FRES until the GAP that ends the reset. R-1
    is_resetting: bool,
    /// Place of the first character after a silence, while it is due.
    restored: Option<u64>,
    lost: LostPower,
    /// Number of IDLEs that its host was forced to send.
    idle: u64,
}

/// `Once` if the port has lost its power before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LostPower {
    #[default]
    Never,
    Once,
}

const EVERY_CLASS: &[LineClass] =
    &[LineClass::Own, LineClass::ResetEnd, LineClass::OpenPacket, LineClass::Sender];

impl ScoredPort {
    /// Emits the lines that are certain once all rows before a period of the full rate are
    /// processed.
    pub(super) fn settle(&mut self, before: u64, out: &mut impl FnMut(PortExpectation)) {
        let Some(id) = self.outgoing else { return };
        if let Some(at) = self.restored
            && self.sent.time(at.saturating_add(1)) <= CharacterPeriod::FULL_RATE.time(before)
        {
            self.restored = None;
            out(PortExpectation::Line(
                id,
                ChannelLine::new(at, LineKind::LinkRestored, String::new()),
            ));
        }
    }

    /// Processes the next row about the port.
    pub(super) fn row(&mut self, row: &TruthLine, out: &mut impl FnMut(PortExpectation)) {
        self.settle(row.at, out);
        let [at, heard_at] = [self.sent, self.received].map(|period| period.periods(row.time()));
        self.limits(row, [at, heard_at], out);
        // STOP, GO and silence stand where the incoming channel has them: the sender learns of them there.
        let is_heard = match &row.what {
            TruthWhat::SenderResumed { by } => by != "reset",
            other => matches!(other, TruthWhat::SenderStopped),
        };
        let at = if is_heard { self.sent.periods(self.received.time(heard_at)) } else { at };
        if let Some(id) = self.outgoing
            && let Some(line) = self.sends(row, at)
        {
            out(PortExpectation::Line(id, line));
        }
        let (line, sender) = (received(row, heard_at), self.far_sender(row, heard_at));
        if let Some(id) = self.incoming {
            for line in line.into_iter().chain(sender) {
                out(PortExpectation::Line(id, line));
            }
        }
    }

    /// Processes a row of the outgoing channel, and schedules its consequences.
    fn sends(&mut self, row: &TruthLine, at: u64) -> Option<ChannelLine> {
        let (kind, more) = match &row.what {
            TruthWhat::Sent(frame) => return Some(ChannelLine::of_frame(at, frame)),
            TruthWhat::SymbolSent { symbol, number, status } => {
                let shown = |number: &Option<u8>| number.unwrap_or_default().to_string();
                match symbol.as_str() {
                    "FRES" => {
                        self.is_resetting = true;
                        (LineKind::ForwardReset, String::new())
                    }
                    "BRES" => (LineKind::BackwardReset, String::new()),
                    "ORUN" => (LineKind::OverrunAlarm, String::new()),
                    "PRBn" => (LineKind::Probe, shown(number)),
                    "REPLx" => (LineKind::Reply, shown(status)),
                    _ => return None,
                }
            }
            TruthWhat::ResetClosed if std::mem::take(&mut self.is_resetting) => {
                (LineKind::ResetEnded, String::new())
            }
            TruthWhat::SilenceEnded => {
                self.restored = Some(self.sent.periods_up(row.time()));
                return None;
            }
            TruthWhat::SenderStopped => (LineKind::SenderStopped, String::new()),
            TruthWhat::SenderResumed { by } if by != "power" => {
                (LineKind::SenderResumed, format!("by {by}"))
            }
            TruthWhat::FellSilent => (LineKind::OpenLink, String::new()),
            _ => return None,
        };
        Some(ChannelLine::new(at, kind, more))
    }

    /// Applies a row of the port to the sender at the far end.
    fn far_sender(&mut self, row: &TruthLine, at: u64) -> Option<ChannelLine> {
        let (command, by) = match &row.what {
            TruthWhat::Commanded { command } => (*command, ResumeCause::Go),
            TruthWhat::ForwardReset => (TruthCommand::Go, ResumeCause::Reset),
            TruthWhat::FellSilent => (TruthCommand::Go, ResumeCause::OpenLink),
            _ => return None,
        };
        let (kind, more) = match (std::mem::replace(&mut self.command, command), command) {
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

    /// Emits the limits of the comparison that a row implies.
    fn limits(
        &mut self,
        row: &TruthLine,
        [at, heard_at]: [u64; 2],
        out: &mut impl FnMut(PortExpectation),
    ) {
        let mut limit = |id: Option<ChannelId>, classes: &[LineClass], at, reason| {
            for (id, class) in id.into_iter().flat_map(|id| classes.iter().map(move |it| (id, it)))
            {
                out(PortExpectation::Limit(id, *class, at, reason));
            }
        };
        match &row.what {
            TruthWhat::PowerLost => {
                let reason = OmissionReason::PowerLost;
                // The end of a reset that a loss of power cuts short is known only to the receiver.
                let own = &[LineClass::Own, LineClass::OpenPacket];
                if std::mem::take(&mut self.is_resetting) {
                    limit(self.outgoing, own, at, reason);
                }
                // The silence that follows began before the power was lost.
                if self.idle > 0 {
                    limit(self.outgoing, own, at, OmissionReason::Raw);
                }
                // The silence has not ended if the power is lost again before the first character.
                if self.restored.is_some_and(|due| row.time() <= self.sent.time(due)) {
                    self.restored = None;
                }
                limit(self.outgoing, &[LineClass::Sender, LineClass::ResetEnd], at, reason);
                limit(self.incoming, EVERY_CLASS, heard_at, reason);
                self.lost = LostPower::Once;
            }
            TruthWhat::Raw { characters } if self.add_raw(characters) => {
                limit(self.outgoing, EVERY_CLASS, at, OmissionReason::Raw);
                limit(self.incoming, &[LineClass::Sender], heard_at, OmissionReason::Raw);
            }
            TruthWhat::SymbolSent { symbol, .. }
                if symbol == "FRES" && self.sent > CharacterPeriod::FULL_RATE =>
            {
                limit(self.outgoing, &[LineClass::Sender], at, OmissionReason::Tied);
            }
            TruthWhat::ForwardReset if self.received > CharacterPeriod::FULL_RATE => {
                limit(self.incoming, &[LineClass::Sender], heard_at, OmissionReason::Tied);
            }
            _ => {}
        }
    }

    /// Adds a text in notation. Returns true if it has FRES, codes that are not symbols, 16 IDLEs in total, or
    /// any IDLE after a loss of power.
    fn add_raw(&mut self, characters: &str) -> bool {
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
fn received(row: &TruthLine, at: u64) -> Option<ChannelLine> {
    let (kind, more) = match &row.what {
        TruthWhat::Received(frame) => return Some(ChannelLine::of_frame(at, frame)),
        TruthWhat::OpenLink => (LineKind::OpenLink, String::new()),
        TruthWhat::LinkRestored => (LineKind::LinkRestored, String::new()),
        TruthWhat::ForwardReset => (LineKind::ForwardReset, String::new()),
        TruthWhat::ResetEnded => (LineKind::ResetEnded, String::new()),
        TruthWhat::BackwardReset => (LineKind::BackwardReset, String::new()),
        TruthWhat::OverrunAlarm => (LineKind::OverrunAlarm, String::new()),
        TruthWhat::Probe { number } => (LineKind::Probe, number.to_string()),
        TruthWhat::Reply { status } => (LineKind::Reply, status.to_string()),
        TruthWhat::InvalidCode { code } => (LineKind::InvalidCode, code.to_string()),
        TruthWhat::CorrectedCode { code, symbol } => {
            (LineKind::CorrectedCode, format!("{code} to {symbol}"))
        }
        _ => return None,
    };
    Some(ChannelLine::new(at, kind, more))
}
