//! What breaks, and when.

use std::fmt;

use codec::character::ProbeNumber;

use crate::interface::ConsumptionMode;
use crate::topology::{NodeId, NodePort};

/// Something that breaks, or is ordered, at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// When: periods of the full rate.
    pub at: u64,
    /// When it is mended, for what can be; otherwise it never is.
    pub until: Option<u64>,
    /// What.
    pub kind: FaultKind,
}

/// What breaks. A channel is named by the port that it goes out from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Random errors on a channel, so many characters apart in the mean.
    Noise {
        /// The channel.
        channel: NodePort,
        /// Which errors.
        errors: BitErrors,
        /// Characters from error to error, in the mean.
        mean: u64,
    },
    /// The character of that period arrives with these of its nine bits inverted.
    Flip {
        /// The channel.
        channel: NodePort,
        /// Bits 8–0: `d 7 6 5 4 3 2 1 0`.
        bits: u16,
    },
    /// An open wire: its bit always arrives as 0. W-5
    OpenWire {
        /// The channel.
        channel: NodePort,
        /// 0..=8, 8 is `d`.
        wire: u8,
    },
    /// The cable is cut: both channels lose what is on them, and all that is sent until it is mended.
    Cut {
        /// Either end.
        port: NodePort,
    },
    /// The next GAP that ends a packet is lost; with a time to be mended, every GAP is, fill too.
    LoseGap {
        /// The channel.
        channel: NodePort,
    },
    /// The port is made to send FRES. R-1
    ForwardReset {
        /// The port.
        port: NodePort,
    },
    /// The port is made to send BRES. R-5
    BackwardReset {
        /// The port.
        port: NodePort,
    },
    /// The port is made to send a probe. R-6
    Probe {
        /// The port.
        port: NodePort,
        /// Which.
        number: ProbeNumber,
    },
    /// A host or a switch loses its power.
    PowerOff {
        /// Which.
        node: NodeId,
    },
    /// A switch's port is dead: it neither sends nor hears.
    DeadPort {
        /// The port.
        port: NodePort,
    },
    /// A host consumes in another way.
    Consume {
        /// The host.
        host: NodeId,
        /// How.
        how: ConsumptionMode,
    },
    /// A host's control program starts again. I-3, R-3
    Restart {
        /// The host.
        host: NodeId,
    },
}

impl FaultKind {
    /// Whether it goes on until it is mended.
    #[must_use]
    pub const fn lasts(&self) -> bool {
        match self {
            Self::Noise { .. }
            | Self::OpenWire { .. }
            | Self::Cut { .. }
            | Self::LoseGap { .. }
            | Self::PowerOff { .. }
            | Self::DeadPort { .. }
            | Self::Consume { .. } => true,
            Self::Flip { .. }
            | Self::ForwardReset { .. }
            | Self::BackwardReset { .. }
            | Self::Probe { .. }
            | Self::Restart { .. } => false,
        }
    }
}

/// Which bit errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitErrors {
    /// A 1 of any wire arrives as 0.
    Weaken,
    /// Any bit is inverted.
    Flip,
}

impl fmt::Display for FaultKind {
    /// What breaks, in words; where is told beside it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noise { errors, mean, .. } => {
                let errors = match errors {
                    BitErrors::Weaken => "1s arrive as 0s",
                    BitErrors::Flip => "bits are inverted",
                };
                write!(f, "{errors}, {mean} characters apart in the mean")
            }
            Self::Flip { bits, .. } => write!(f, "bits {bits:09b} are inverted"),
            Self::OpenWire { wire: 8, .. } => write!(f, "wire d is open"),
            Self::OpenWire { wire, .. } => write!(f, "wire {wire} is open"),
            Self::Cut { .. } => write!(f, "the cable is cut"),
            Self::LoseGap { .. } => write!(f, "a GAP is lost"),
            Self::ForwardReset { .. } => write!(f, "a forward reset is ordered"),
            Self::BackwardReset { .. } => write!(f, "a backward reset is ordered"),
            Self::Probe { number, .. } => write!(f, "probe {} is ordered", number.value()),
            Self::PowerOff { .. } => write!(f, "the power is off"),
            Self::DeadPort { .. } => write!(f, "the port is dead"),
            Self::Consume { how, .. } => match how {
                ConsumptionMode::Always => write!(f, "the host consumes all that comes"),
                ConsumptionMode::Never => write!(f, "the host consumes nothing"),
                ConsumptionMode::Every(periods) => {
                    write!(f, "the host consumes a character every {periods} periods")
                }
                ConsumptionMode::Adversary => write!(f, "the host provokes STOP and GO"),
            },
            Self::Restart { .. } => write!(f, "the control program starts again"),
        }
    }
}
