//! The truth about a run: every event, with its time, place and packet.

mod frame_tracker;
mod ip;
mod mapping;
mod message;
mod message_event;
mod notice;
mod row;
mod trace;

pub use frame_tracker::{FrameRecord, FrameTracker};
pub use ip::{IpLabel, SegmentLabel};
pub use mapping::{MappingLabel, MappingNotice, ProbeKind};
pub use message_event::{
    MessageId, MessagingEvent, ReturnCause, TransmissionAttempt, TransmissionKind,
};
pub use notice::{InterruptCause, MemoryMark, RelayNotice, RouterNotice, RouterOutcome};
pub use row::{TRUTH_KINDS, TruthRow};
pub(crate) use trace::TrueTime;
pub use trace::{TraceContext, TraceLevel, TruthLog};

use codec::character::{ProbeNumber, ReplyStatus, Symbol};
use codec::packet::CrcCheck;
use codec::route::PortId;
use serde::Serialize;

use crate::node::{NodePort, PacketId};

/// An event of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthEvent {
    /// Time, in periods of the full rate since time zero.
    pub at: u64,
    /// Exact time in picoseconds, where clocks differ: of an event at an input circuit, the time at
    /// which its character arrived. W-6
    pub time_ps: Option<u64>,
    /// The port at which it happened.
    pub place: NodePort,
    /// The packet that it concerns, if known.
    pub packet: Option<PacketId>,
    /// Kind, with its data.
    pub kind: TruthEventKind,
}

/// Kind of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TruthEventKind {
    // Packets, at hosts and switches.
    /// A host's interface began to send the packet. I-1
    Injected {
        /// Bytes, CRC byte included.
        length: u64,
        /// Time since the packet was ready at its host, in periods of the full rate.
        queued: u64,
    },
    /// A switch has connected the packet to this output. S-3
    Forwarded {
        /// The input port.
        input: PortId,
    },
    /// An interface has received the packet, or the rest of it. I-4
    Consumed {
        /// Bytes received, CRC byte included.
        length: u64,
        /// Result of the CRC check. P-6
        check: CrcCheck,
        /// Handling by the interface.
        handling: PacketHandling,
    },
    /// The packet's first byte, and so the packet, was lost here.
    Dropped(RuleId),
    /// The packet lost its end, or bytes within, here; the rest went on.
    Truncated(RuleId),
    /// The GAP before the packet was lost, so that it became a part of the previous packet.
    Merged,

    // An input circuit: the channel that comes in at the place.
    /// A frame was received.
    Received(FrameRecord),
    /// 16 periods without a character. F-7
    LinkOpen,
    /// The first character after that. F-7
    LinkRestored,
    /// FRES was received. R-2
    ResetReceived,
    /// The GAP that ends a forward reset was received. R-2
    ResetEnded,
    /// BRES was received. R-5
    BackwardResetReceived,
    /// ORUN was received. F-9
    OverrunAlarmReceived,
    /// A probe was received. R-6
    ProbeReceived(ProbeNumber),
    /// A reply to a probe was received. R-6
    ReplyReceived {
        /// Its four bits.
        status: ReplyStatus,
        /// Time since the probe, if there was one, in periods of the full rate.
        round_trip: Option<u64>,
    },
    /// An invalid control code was received. C-5
    InvalidCode(u8),
    /// A weakened control code was received. C-4
    CorrectedCode {
        /// The code received.
        code: u8,
        /// The symbol it stands for.
        symbol: Symbol,
    },
    /// The slack buffer reached a threshold. F-3
    Threshold {
        /// The command it generates.
        command: StopGo,
        /// Fill of the slack buffer.
        fill: u32,
    },
    /// The wires of the channel that comes in have changed a character. W-3, W-8
    WireError {
        /// Its place on the channel.
        character: u64,
        /// Its nine bits as sent.
        sent: u16,
        /// Its nine bits as received.
        received: u16,
    },
    /// A byte or a framing mark found the slack buffer full. F-9
    Overflow,
    /// The slack buffer's fill, after the character of the period is stored, leaves the line of
    /// the last such event. F-3
    Fill {
        /// Fill of the slack buffer.
        fill: u32,
        /// Change per period of the link from here on.
        slope: i32,
    },

    // An output circuit: the channel that goes out at the place.
    /// A frame was sent.
    Sent(FrameRecord),
    /// STOP or GO was sent: the slack buffer's, or one that differs from the last one sent. F-1,
    /// F-6
    Commanded(StopGo),
    /// The GAP that ends a forward reset was sent. R-1
    ResetClosed,
    /// The port has been silent for 16 periods without power.
    FellSilent,
    /// The power returned after such a silence.
    SilenceEnded,
    /// The port lost its power: it neither sends nor receives, but a tap may record characters.
    PowerLost,
    /// The host began to send the raw characters of a scenario, in notation, which the output
    /// circuit does not interpret.
    Raw(String),
    /// A symbol other than GAP, GO, STOP and IDLE was sent.
    SymbolSent(Symbol),
    /// STOP was received for the sender. F-2
    SenderStopped,
    /// The sender may send again. F-2
    SenderResumed(ReleaseCause),
    /// The blocked-packet timeout. R-4
    Blocked(BlockedEscape),

    // Memory, at hosts.
    /// The use of a part of an interface's memory has reached another quarter of it for the first
    /// time. I-5
    MemoryFilled(MemoryMark),
    /// The interface has interrupted its host. I-6
    Interrupted(InterruptCause),
    /// The interface has sent a multicast, or delivered one and sent it on. N-6
    Multicast(RelayNotice),
    /// A router has sent a packet on that came in by its other port, or has lost it. N-5
    Routed(RouterNotice),
    /// The interface began to send an IP packet of its host's stack or of a recording. H-1
    IpTransmitted(Box<IpLabel>),

    // Messages, at hosts with endpoints. T
    /// The interface began to send a transport packet.
    Transmitted(TransmissionKind),
    /// An event of a message, an endpoint or a transport packet.
    Messaging(MessagingEvent),

    // Mapping, at hosts. N-2
    /// The interface began to send a packet of mapping.
    MappingTransmitted(Box<MappingLabel>),
    /// A mapper was elected or resigned, a map finished, or routes installed.
    Mapping(MappingNotice),

    /// A fault began or ended; its description.
    Fault(String),
}

/// STOP or GO. F-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StopGo {
    /// Go on.
    #[default]
    Go,
    /// Pause.
    Stop,
}

/// Cause that released a stopped sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseCause {
    /// GO. F-2
    Go,
    /// The open-link timeout. F-7
    #[serde(rename = "open-link")]
    LinkOpen,
    /// The sender's own FRES. R-1
    Reset,
    /// Power off and on.
    Power,
}

/// Escape of a blocked sender. R-4
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockedEscape {
    /// A forward reset, if it is stopped.
    Reset,
    /// A GAP, if it is in GO.
    Gap,
}

/// Handling of a packet by an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacketHandling {
    /// Delivered to the host.
    Delivered,
    /// Wrong CRC byte. P-6
    Corrupt,
    /// Too short. P-9
    Runt,
    /// First byte with MSB 1. I-2
    Misrouted,
    /// Type that no routine takes. I-2
    NoRoutine,
    /// The control program was not loaded. I-3
    Ignored,
    /// Longer than the memory. I-5
    TooLong,
}

/// Id of a rule in `docs/rules.md`, or of a control action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct RuleId(pub &'static str);
