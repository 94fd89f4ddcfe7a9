//! What a receiver at the tap notices on one channel, other than packets.

use codec::character::{ProbeNumber, ReplyStatus, Symbol};
use codec::time::Tick;
use serde::Serialize;

/// Something noticed at one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkEvent {
    /// The 16th period in a row without a non-IDLE character. F-7 (§4.5.3)
    OpenLink,
    /// The first non-IDLE character after that. F-7
    LinkRestored,
    /// FRES: the receiver empties itself and drops data. R-2 (§4.6)
    ForwardReset,
    /// The GAP that ends it. R-2
    ResetEnded,
    /// BRES: the receiver should reset its sender. R-5 (§4.8.2)
    BackwardReset,
    /// ORUN: the far receiver has lost characters. F-9 (§4.8.1)
    OverrunAlarm,
    /// `PRBn`. R-6 (§4.8.3)
    Probe(ProbeNumber),
    /// `REPLx`. R-6
    Reply(ReplyStatus),
    /// A control code that is no symbol. C-5
    InvalidCode(u8),
    /// A control code that is one 1 short of a symbol's, and acts as the symbol. C-4
    CorrectedCode {
        /// As it arrived.
        code: u8,
        /// As it acts.
        symbol: Symbol,
    },
    /// Characters were not recorded.
    Hole {
        /// How many.
        missing: u64,
    },
    /// This channel's sender must pause. F-1, F-2
    SenderStopped,
    /// This channel's sender may go on. F-2
    SenderResumed(ResumeCause),
}

/// What released a stopped sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeCause {
    /// GO on the opposite channel. F-2
    Go,
    /// Silence on the opposite channel. F-7
    OpenLink,
    /// Its own forward reset. R-1
    Reset,
}

impl LinkEvent {
    /// The name of the kind of event in `docs/output.md`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::OpenLink => "open-link",
            Self::LinkRestored => "link-restored",
            Self::ForwardReset => "forward-reset",
            Self::ResetEnded => "reset-ended",
            Self::BackwardReset => "backward-reset",
            Self::OverrunAlarm => "overrun-alarm",
            Self::Probe(_) => "probe",
            Self::Reply(_) => "reply",
            Self::InvalidCode(_) => "invalid-code",
            Self::CorrectedCode { .. } => "corrected-code",
            Self::Hole { .. } => "hole",
            Self::SenderStopped => "sender-stopped",
            Self::SenderResumed(_) => "sender-resumed",
        }
    }

    /// The event as the row of `docs/output.md`.
    #[must_use]
    pub fn row<'a>(&self, channel: &'a str, at: Tick) -> EventRow<'a> {
        let mut row = EventRow {
            channel,
            at: at.0,
            event: self.kind(),
            number: None,
            status: None,
            code: None,
            symbol: None,
            missing: None,
            by: None,
        };
        match *self {
            Self::Probe(number) => row.number = Some(number.value()),
            Self::Reply(status) => row.status = Some(status.value()),
            Self::InvalidCode(code) => row.code = Some(code),
            Self::CorrectedCode { code, symbol } => {
                row.code = Some(code);
                row.symbol = Some(symbol.family());
            }
            Self::Hole { missing } => row.missing = Some(missing),
            Self::SenderResumed(by) => row.by = Some(by.name()),
            Self::OpenLink
            | Self::LinkRestored
            | Self::ForwardReset
            | Self::ResetEnded
            | Self::BackwardReset
            | Self::OverrunAlarm
            | Self::SenderStopped => {}
        }
        row
    }
}

impl ResumeCause {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::OpenLink => "open-link",
            Self::Reset => "reset",
        }
    }
}

/// A row of `myriscope events`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventRow<'a> {
    /// Name of the channel.
    pub channel: &'a str,
    /// Character index on it.
    pub at: u64,
    /// [`LinkEvent::kind`].
    pub event: &'static str,
    /// Of a probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u8>,
    /// Of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u8>,
    /// Of an invalid or corrected code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u8>,
    /// Of a corrected code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<&'static str>,
    /// Of a hole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Of a resumption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
}
