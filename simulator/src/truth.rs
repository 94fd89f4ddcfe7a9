//! What really happened: one row for each thing, with its time, its place and its packet.

mod event_row;
mod frame_tracker;
mod message_fields;
mod trace;

pub use event_row::{EventFields, FrameFields, NumberedName, TruthRow};
pub use frame_tracker::{FrameTracker, ROUTE_MAX};
pub use message_fields::{EndpointName, HeaderFields, MessageFields, MessageName};
pub use trace::{TraceContext, TraceLevel, TruthLog};

use codec::character::{ProbeNumber, ReplyStatus, Symbol};
use codec::packet::{CrcCheck, PacketTag};
use codec::route::PortId;

use crate::link::tagged_char::PacketId;
use crate::messaging::{MessagingEvent, TransmissionKind};
use crate::topology::NodePort;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthEvent {
    /// When: periods of the full rate since time zero.
    pub at: u64,
    /// Where.
    pub place: NodePort,
    /// To which packet, where it was to one.
    pub packet: Option<PacketId>,
    /// What.
    pub kind: TruthEventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TruthEventKind {
    // Packets, at hosts and switches.
    /// A host's interface began to send it. I-1
    Injected {
        /// Bytes, the CRC byte included.
        length: u64,
    },
    /// A switch has formed a path, and sends it on from this port. S-3
    Forwarded {
        /// The port at which it came in.
        input: PortId,
    },
    /// An interface has taken it in whole, or what was left of it. I-4
    Consumed {
        /// Bytes taken in, the CRC byte included.
        length: u64,
        /// What its CRC byte says. P-6
        check: CrcCheck,
        /// What became of it.
        handling: PacketHandling,
    },
    /// Its first byte, and so the packet, ends here.
    Dropped(RuleId),
    /// It lost its end, or bytes within, here; what was left went on.
    Truncated(RuleId),
    /// A GAP before it was lost, so that it went on as a part of the packet before it.
    Merged,

    // An input circuit: the channel that comes in at the place.
    /// A frame came in.
    Received(FrameRecord),
    /// 16 periods without a character. F-7
    LinkOpen,
    /// The first character after that. F-7
    LinkRestored,
    /// FRES came. R-2
    ResetReceived,
    /// The GAP that ends the reset came. R-2
    ResetEnded,
    /// BRES came. R-5
    BackwardResetReceived,
    /// ORUN came. F-9
    OverrunAlarmReceived,
    /// A probe came. R-6
    ProbeReceived(ProbeNumber),
    /// A reply came, so many periods after the probe that asked for it, if one did. R-6
    ReplyReceived {
        /// The four bits.
        status: ReplyStatus,
        /// The round trip, in periods of the full rate.
        round_trip: Option<u64>,
    },
    /// A code that is no symbol came. C-5
    InvalidCode(u8),
    /// A weakened code came. C-4
    CorrectedCode {
        /// As it came.
        code: u8,
        /// As it acts.
        symbol: Symbol,
    },
    /// The slack buffer rose to its upper threshold, or fell to its lower. F-3
    Threshold {
        /// What it commands now.
        command: StopGo,
        /// Full cells.
        fill: u32,
    },
    /// A byte or a framing mark found the slack buffer full. F-9
    Overflow,
    /// The slack buffer's fill, just after what arrived in the period has been put in: from here on
    /// it goes on by so many cells in each period of the link. F-3
    Fill {
        /// Full cells.
        fill: u32,
        /// How many more in the next period, and in each after that.
        slope: i32,
    },

    // An output circuit: the channel that goes out at the place.
    /// A frame went out.
    Sent(FrameRecord),
    /// STOP or GO went out: the slack buffer's, or one that says something else than what was said
    /// before. F-1, F-6
    Commanded(StopGo),
    /// The GAP went out that ends a forward reset. R-1
    ResetClosed,
    /// For want of power it has been silent for 16 periods.
    FellSilent,
    /// It has power again after that.
    SilenceEnded,
    /// Its port has lost its power: what it neither sends nor hears from here on, a tap may.
    PowerLost,
    /// It begins to send characters as they stand in the scenario, in notation, of which the output
    /// circuit makes nothing.
    Raw(String),
    /// Another symbol than GAP, GO, STOP and IDLE went out.
    SymbolSent(Symbol),
    /// STOP came in for it. F-2
    SenderStopped,
    /// It may send again. F-2
    SenderResumed(ReleaseCause),
    /// It was stopped, or sent one packet, for too long. R-4
    Blocked(BlockedEscape),

    // Messages, at hosts with endpoints. T
    /// Its interface begins to send a transport packet.
    Transmitted(TransmissionKind),
    /// Something happened to a message, an endpoint or a transport packet.
    Messaging(MessagingEvent),

    /// Something was broken or mended by order: which, in words.
    Fault(String),
}

/// STOP or GO. F-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StopGo {
    /// Go on.
    #[default]
    Go,
    /// Pause.
    Stop,
}

/// What released a stopped sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseCause {
    /// GO. F-2
    Go,
    /// The open-link timeout. F-7
    LinkOpen,
    /// Its own FRES. R-1
    Reset,
    /// Its power went off and on.
    Power,
}

/// How a blocked sender escapes. R-4
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockedEscape {
    /// Stopped: by a forward reset.
    Reset,
    /// In GO: by a GAP.
    Gap,
}

/// What an interface makes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PacketHandling {
    /// Handed to its host.
    Delivered,
    /// Its CRC byte was wrong. P-6
    Corrupt,
    /// It was too short to be one. P-9
    Runt,
    /// Its first byte had MSB 1. I-2
    Misrouted,
    /// No routine takes its tag. I-2
    NoRoutine,
    /// The control program was not loaded. I-3
    Ignored,
    /// It was longer than all the memory for it. I-5
    TooLong,
}

/// A rule, by its id in `docs/rules.md`, or what was ordered from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub &'static str);

/// The data between two framing marks on a channel, as the circuit at the place sent or heard it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Place of its first byte on the channel: periods of the channel. For the one that comes in,
    /// as it is heard.
    pub start: u64,
    /// Place of its last byte.
    pub end: u64,
    /// Bytes, the CRC byte included.
    pub length: u64,
    /// The leading bytes with MSB 1, the CRC byte never among them. P-2
    pub route: Vec<u8>,
    /// How many of them came after those, which were not kept.
    pub route_left_out: u64,
    /// The byte after them, before the CRC byte. P-2
    pub tag: Option<PacketTag>,
    /// What the CRC byte says. P-4
    pub check: CrcCheck,
    /// What ended it.
    pub ended_by: FrameEnding,
}

impl FrameRecord {
    /// Bytes between the tag and the CRC byte. P-1
    #[must_use]
    pub const fn payload(&self) -> u64 {
        match (self.tag, self.check) {
            (Some(_), CrcCheck::Good | CrcCheck::Bad(_)) => {
                let route = (self.route.len() as u64).saturating_add(self.route_left_out);
                self.length.saturating_sub(2).saturating_sub(route)
            }
            (None, _) | (Some(_), CrcCheck::Runt) => 0,
        }
    }
}

/// What ended a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEnding {
    /// GAP. P-1
    Gap,
    /// The open-link timeout. F-7
    LinkOpen,
    /// FRES. R-2
    Reset,
    /// Nothing yet: the run ended.
    RunEnd,
}
