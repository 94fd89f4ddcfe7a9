//! What the truth about a tapped port lets one expect of the two channels at it.
//!
//! Of the channel that comes in: the frames that the port received, and what else it heard; of the
//! one that goes out: the frames that it sent, its symbols, its silence. The sender of the channel
//! that goes out is the port's own; that of the one that comes in is the far one, which goes by what
//! the port commanded, what reset it, and when the port fell silent.
//!
//! The tap and the port do not always see the same, see [`Reason`].

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about a channel")]

use codec::capture::ChannelId;
use codec::character::{Character, Heard, Symbol, hear};
use codec::notation;

use super::line::{Class, Kind, Line};
use super::truth::{Command, Happened, What};
use crate::event::By;

/// Why something is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// The port had lost its power: the tap goes on listening, the port does not.
    PowerLost,
    /// The host was made to send codes that no output circuit made, so the truth does not have them.
    Raw,
    /// It was not recorded, or began before the recording did.
    NotRecorded,
    /// It is of a repeat that brings the same over and over, of which the first rounds are listed.
    Repeated,
}

/// What the truth says of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// This must be there.
    Line(ChannelId, Line),
    /// From a place on, lines of a class are not compared.
    Limit(ChannelId, Class, u64, Reason),
}

/// A tapped port.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// Periods of the full rate in one of the link's.
    pub(super) divisor: u64,
    /// The channel that goes out, the one that comes in.
    pub(super) outgoing: Option<ChannelId>,
    pub(super) incoming: Option<ChannelId>,
    /// What the far sender has been told. F-2
    told: Command,
    /// FRES has gone out, and no GAP that ends the reset. R-1
    reset: Reset,
    /// Power is back after a silence, and the first character is due.
    restored: Option<u64>,
    /// The port has lost its power before.
    lost: Lost,
    /// IDLEs that its host was made to send.
    idle: u64,
}

/// Whether a forward reset is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reset {
    #[default]
    None,
    Open,
}

/// Whether a port has ever lost its power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lost {
    #[default]
    Never,
    Once,
}

impl Port {
    pub(super) const fn new(divisor: u64) -> Self {
        Self {
            divisor,
            outgoing: None,
            incoming: None,
            told: Command::Go,
            reset: Reset::None,
            restored: None,
            lost: Lost::Never,
            idle: 0,
        }
    }

    /// All that happened before a period of the full rate has been taken: what was due is certain.
    pub(super) fn settle(&mut self, before: u64, out: &mut impl FnMut(Expected)) {
        let Some(id) = self.outgoing else { return };
        if let Some(at) = self.restored
            && at.saturating_add(1).saturating_mul(self.divisor) <= before
        {
            self.restored = None;
            out(Expected::Line(id, Line::new(at, Kind::LinkRestored, String::new())));
        }
    }

    /// Takes the next row about the port.
    pub(super) fn row(&mut self, row: &Happened, out: &mut impl FnMut(Expected)) {
        self.settle(row.at, out);
        let at = row.at / self.divisor;
        self.limits(row, at, out);
        if let Some(id) = self.outgoing
            && let Some(line) = self.sends(row, at)
        {
            out(Expected::Line(id, line));
        }
        let (heard, sender) = (hears(row, at), self.far_sender(row, at));
        if let Some(id) = self.incoming {
            for line in heard.into_iter().chain(sender) {
                out(Expected::Line(id, line));
            }
        }
    }

    /// What a row of the channel that goes out says, and what it makes due.
    fn sends(&mut self, row: &Happened, at: u64) -> Option<Line> {
        let line = |kind, more| Some(Line::new(at, kind, more));
        match &row.what {
            What::Sent(frame) => Some(Line::of_frame(at, frame)),
            What::SymbolSent { symbol, number, status } => {
                let shown = |number: &Option<u8>| number.unwrap_or_default().to_string();
                match symbol.as_str() {
                    "FRES" => {
                        self.reset = Reset::Open;
                        line(Kind::ForwardReset, String::new())
                    }
                    "BRES" => line(Kind::BackwardReset, String::new()),
                    "ORUN" => line(Kind::OverrunAlarm, String::new()),
                    "PRBn" => line(Kind::Probe, shown(number)),
                    "REPLx" => line(Kind::Reply, shown(status)),
                    _ => None,
                }
            }
            What::ResetClosed => match std::mem::take(&mut self.reset) {
                Reset::Open => line(Kind::ResetEnded, String::new()),
                Reset::None => None,
            },
            What::SilenceEnded => {
                self.restored = Some(row.at.div_ceil(self.divisor));
                None
            }
            What::SenderStopped => line(Kind::SenderStopped, String::new()),
            What::SenderResumed { by } if by != "power" => {
                line(Kind::SenderResumed, format!("by {by}"))
            }
            What::FellSilent => line(Kind::OpenLink, String::new()),
            _ => None,
        }
    }

    /// What the sender at the far end makes of a row: it hears what the port says.
    fn far_sender(&mut self, row: &Happened, at: u64) -> Option<Line> {
        let (told, by) = match &row.what {
            What::Commanded { command } => (*command, By::Go),
            What::ForwardReset => (Command::Go, By::Reset),
            What::FellSilent => (Command::Go, By::OpenLink),
            _ => return None,
        };
        let (kind, more) = match (std::mem::replace(&mut self.told, told), told) {
            (Command::Go, Command::Stop) => (Kind::SenderStopped, String::new()),
            (Command::Stop, Command::Go) => (Kind::SenderResumed, format!("by {}", by.name())),
            (Command::Go, Command::Go) | (Command::Stop, Command::Stop) => return None,
        };
        Some(Line::new(at, kind, more))
    }

    /// From where on something is not compared.
    fn limits(&mut self, row: &Happened, at: u64, out: &mut impl FnMut(Expected)) {
        let mut limit = |id: Option<ChannelId>, classes: &[Class], at, reason| {
            for (id, class) in id.into_iter().flat_map(|id| classes.iter().map(move |it| (id, it)))
            {
                out(Expected::Limit(id, *class, at, reason));
            }
        };
        match &row.what {
            What::PowerLost => {
                let reason = Reason::PowerLost;
                // A reset that the power cuts short is ended by whatever comes then, which only
                // whoever hears it knows.
                if std::mem::take(&mut self.reset) == Reset::Open {
                    limit(self.outgoing, &[Class::Own, Class::OpenPacket], at, reason);
                }
                // The silence that follows began before the power was lost.
                if self.idle > 0 {
                    limit(self.outgoing, &[Class::Own, Class::OpenPacket], at, Reason::Raw);
                }
                // Nothing has ended the silence if the power goes again before the first character.
                if self.restored.is_some_and(|due| row.at <= due.saturating_mul(self.divisor)) {
                    self.restored = None;
                }
                limit(self.outgoing, &[Class::Sender, Class::ResetEnd], at, reason);
                let all = [Class::Own, Class::ResetEnd, Class::OpenPacket, Class::Sender];
                limit(self.incoming, &all, at, reason);
                self.lost = Lost::Once;
            }
            What::Raw { characters } if self.is_forged(characters) => {
                let all = [Class::Own, Class::ResetEnd, Class::OpenPacket, Class::Sender];
                limit(self.outgoing, &all, at, Reason::Raw);
                limit(self.incoming, &[Class::Sender], at, Reason::Raw);
            }
            _ => {}
        }
    }

    /// Whether a text has codes that change what is framed, that are no symbols, or enough IDLE for a
    /// silence, or any at all beside the silence of lost power.
    fn is_forged(&mut self, characters: &str) -> bool {
        let Ok(characters) = notation::parse(characters) else { return true };
        characters.chars().iter().any(|character| match character {
            Character::IDLE => {
                self.idle += 1;
                self.idle >= 16 || self.lost == Lost::Once
            }
            Character::Control(code) => match hear(code) {
                Heard::Exact(symbol) => symbol == Symbol::ForwardReset,
                Heard::Corrected(_) | Heard::Invalid => true,
            },
            Character::Data(_) => false,
        })
    }
}

/// What a row of the channel that comes in says.
fn hears(row: &Happened, at: u64) -> Option<Line> {
    let line = |kind, more| Some(Line::new(at, kind, more));
    match &row.what {
        What::Received(frame) => Some(Line::of_frame(at, frame)),
        What::OpenLink => line(Kind::OpenLink, String::new()),
        What::LinkRestored => line(Kind::LinkRestored, String::new()),
        What::ForwardReset => line(Kind::ForwardReset, String::new()),
        What::ResetEnded => line(Kind::ResetEnded, String::new()),
        What::BackwardReset => line(Kind::BackwardReset, String::new()),
        What::OverrunAlarm => line(Kind::OverrunAlarm, String::new()),
        What::Probe { number } => line(Kind::Probe, number.to_string()),
        What::Reply { status } => line(Kind::Reply, status.to_string()),
        What::InvalidCode { code } => line(Kind::InvalidCode, code.to_string()),
        What::CorrectedCode { code, symbol } => {
            line(Kind::CorrectedCode, format!("{code} to {symbol}"))
        }
        _ => None,
    }
}
