//! Events of a channel, in the order of its characters and in the order of time.

use codec::capture::ChannelId;
pub use codec::capture::FlowCommand;
use codec::character::{ProbeNumber, ReplyStatus, Symbol};
use codec::time::{CharacterPeriod, Tick};

use crate::packet::ReceivedPacket;

use crate::named_enum::named_enum;
use crate::row::FieldShape::{Number, Place, Words};
use crate::row::{FieldType, row};

pub use codec::time::Picoseconds;

/// An event on one channel, ordered by time across channels and by sequence on each channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedEvent {
    /// Time of the event.
    pub time: Picoseconds,
    /// The channel.
    pub channel: ChannelId,
    /// The character at which the event was detected; of a packet, the character that closed it.
    pub at: Tick,
    /// The event.
    pub body: ChannelEvent,
}

impl TimedEvent {
    /// True if it tells whether a packet is under way on its channel. P-1
    pub(crate) const fn is_framed(&self) -> bool {
        use ChannelEvent::{Data, Framed, Head, Packet};
        matches!(self.body, Framed | Head(_) | Data(_) | Packet(_))
    }

    /// Time at which a hole begins; its event comes with the first character behind it. `period` is that of the channel.
    pub fn hole_begins(&self, period: CharacterPeriod) -> Option<Picoseconds> {
        let ChannelEvent::Link(LinkEvent::Hole { missing }) = self.body else { return None };
        Some(period.time(self.at.0.saturating_sub(missing)).min(self.time))
    }

    /// Time of the characters of which events that change a state were left out. `period` is that of the channel.
    pub(crate) fn omitted(&self, period: CharacterPeriod) -> Option<[Picoseconds; 2]> {
        let ChannelEvent::Omitted { rounds, every, left_out } = &self.body else { return None };
        left_out.first()?;
        let end = self.at.0.saturating_add(rounds.saturating_mul(*every));
        Some([self.at.0, end].map(|at| period.time(at)))
    }
}

/// An event on one channel, detected at one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelEvent {
    /// First recorded character.
    Begins,
    /// Framing is known from here on: first GAP, FRES or sixteenth silent period since the first
    /// character, or since a hole. P-1, F-7, R-2
    Framed,
    /// First byte of a packet. P-3, P-7
    Head(u8),
    /// A run of packet bytes, one per period from here on. A run may be reported in parts.
    Data(u64),
    /// A packet was closed.
    Packet(Box<ReceivedPacket>),
    /// A link event.
    Link(LinkEvent),
    /// STOP or GO, unless it repeats the command before it. F-1
    Command(FlowCommand),
    /// Repeated characters bring the same events again, which are not reported.
    Omitted {
        /// Iterations of the repeat that are left out.
        rounds: u64,
        /// Characters of an iteration.
        every: u64,
        /// Those of their events that change a state.
        left_out: Vec<RepeatedEvents>,
    },
}

/// Events of an iteration that change a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedEvents {
    /// Ends of packets.
    Packets,
    /// GO or silence that releases the opposite sender. F-1, F-7
    Commands,
    /// FRES that releases the channel's own sender. R-1
    Resets,
}

impl ChannelEvent {
    /// The senders of its link whose state is unknown, as what stops and releases them is left out.
    pub(crate) fn unknown_senders(
        &self,
        own: ChannelId,
        opposite: Option<ChannelId>,
    ) -> impl Iterator<Item = ChannelId> {
        let own = self.leaves_out(RepeatedEvents::Resets).then_some(own);
        opposite.filter(|_| self.leaves_out(RepeatedEvents::Commands)).into_iter().chain(own)
    }

    /// True if events of a kind are left out.
    pub fn leaves_out(&self, kind: RepeatedEvents) -> bool {
        matches!(self, Self::Omitted { left_out, .. } if left_out.contains(&kind))
    }

    /// The event of a link, if it is one.
    pub const fn link(&self) -> Option<&LinkEvent> {
        if let Self::Link(event) = self { Some(event) } else { None }
    }

    /// The packet that was closed, if one was.
    pub fn packet(&self) -> Option<&ReceivedPacket> {
        if let Self::Packet(packet) = self { Some(packet) } else { None }
    }

    /// Name of an event, or of the end of a packet; `detail` for what only analyses read.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Packet(packet) => packet.ended_by.name(),
            Self::Link(event) => event.name(),
            Self::Omitted { .. } => "omitted",
            Self::Begins | Self::Framed | Self::Head(_) | Self::Data(_) | Self::Command(_) => {
                "detail"
            }
        }
    }
}

codec::named_enum! {
    /// An event of a link, reported by `myriscope events`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum LinkEvent {
        /// The 16th period in a row without a non-IDLE character. F-7 (§4.5.3)
        OpenLink = "open-link",
        /// First non-IDLE character after [`LinkEvent::OpenLink`]. F-7
        LinkRestored = "link-restored",
        /// FRES: the receiver empties itself and drops data. R-2 (§4.6)
        ForwardReset = "forward-reset",
        /// GAP that ends a forward reset. R-2
        ResetEnded = "reset-ended",
        /// BRES: the receiver should reset its sender. R-5 (§4.8.2)
        BackwardReset = "backward-reset",
        /// ORUN: the far receiver has lost characters. F-9 (§4.8.1)
        OverrunAlarm = "overrun-alarm",
        /// `PRBn`. R-6 (§4.8.3)
        Probe(ProbeNumber) = "probe",
        /// `REPLx`. R-6
        Reply(ReplyStatus) = "reply",
        /// Control code that is no symbol. C-5
        InvalidCode(u8) = "invalid-code",
        /// Control code that lacks one 1 of a symbol's code, and acts as that symbol. C-4
        CorrectedCode {
            /// Received code.
            code: u8,
            /// Effective symbol.
            symbol: Symbol,
        } = "corrected-code",
        /// Characters that were not recorded.
        Hole {
            /// Number of characters.
            missing: u64,
        } = "hole",
        /// The channel's sender must pause. F-1, F-2
        SenderStopped = "sender-stopped",
        /// The channel's sender may resume. F-2
        SenderResumed(ResumeCause) = "sender-resumed",
    }
}

named_enum! {
    /// Cause of a stopped sender's release.
    pub enum ResumeCause {
        /// GO on the opposite channel. F-2
        Go = "go",
        /// Silence on the opposite channel. F-7
        OpenLink = "open-link",
        /// Its own forward reset. R-1
        Reset = "reset",
    }
}

impl LinkEvent {
    /// The row of `docs/output.md`.
    pub fn row<'a>(&self, channel: &'a str, at: Tick) -> EventRow<'a> {
        let mut row = EventRow { channel, at: at.0, event: self.name(), ..EventRow::default() };
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
            Self::OpenLink | Self::LinkRestored | Self::ForwardReset | Self::ResetEnded => {}
            Self::BackwardReset | Self::OverrunAlarm | Self::SenderStopped => {}
        }
        row
    }
}

row! {
    /// A row of `myriscope events`; fields as in `docs/output.md`.
    #[derive(Default)]
    pub struct EventRow<'a> at (at) {
        channel: &'a str, "", "", "name of the channel";
        at: u64 as Place, "characters", "", "where it was noticed";
        event: &'static str as Words(LinkEvent::NAMES), "", "", "what was noticed";
        number: Option<u8> ["Option::is_none"] as Number(7), "", "R-6", "of a probe";
        status: Option<u8> ["Option::is_none"] as Number(15), "", "R-6", "of a reply";
        code: Option<u8> ["Option::is_none"], "", "C-5", "of an invalid or corrected code";
        symbol: Option<&'static str> ["Option::is_none"] as Words(CORRECTED), "", "C-4", "what a corrected code was corrected to";
        missing: Option<u64> ["Option::is_none"], "characters", "", "of a hole: how many were not recorded";
        by: Option<&'static str> ["Option::is_none"] as ResumeCause::SHAPE, "", "F-2", "what released a stopped sender";
    }
}

/// Symbols that single errors are corrected to. C-4
const CORRECTED: &[&str] = &["GAP", "GO", "STOP", "FRES", "ORUN", "BRES"];
