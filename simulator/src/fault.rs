//! The faults that a scenario injects.

use std::fmt;

use codec::character::ProbeNumber;

use crate::interface::ConsumptionMode;
use crate::topology::{NodeId, NodePort};

/// A fault, or a control action, at a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// Begin: periods of the full rate.
    pub at: u64,
    /// End, for faults that last; `None` for no end.
    pub until: Option<u64>,
    /// Kind and place.
    pub kind: FaultKind,
}

/// Kind of a fault. A channel is named by the port that sends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Random bit errors on a channel.
    Noise {
        /// The channel.
        channel: NodePort,
        /// Kind of the errors.
        errors: BitErrors,
        /// Mean number of characters between two errors.
        mean: u64,
    },
    /// Inverts bits of the character that arrives in that period.
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
    /// Cuts the cable: both channels lose the characters in flight, and all others until the end.
    Cut {
        /// Either end.
        port: NodePort,
    },
    /// Loses the next GAP that ends a packet; with an end time, every GAP until then.
    LoseGap {
        /// The channel.
        channel: NodePort,
    },
    /// Makes the port send FRES. R-1
    ForwardReset {
        /// The port.
        port: NodePort,
    },
    /// Makes the port send BRES. R-5
    BackwardReset {
        /// The port.
        port: NodePort,
    },
    /// Makes the port send a probe. R-6
    Probe {
        /// The port.
        port: NodePort,
        /// Number of the probe.
        number: ProbeNumber,
    },
    /// Switches off the power of a host or switch.
    PowerOff {
        /// The host or switch.
        node: NodeId,
    },
    /// Kills a switch's port: it neither sends nor receives.
    DeadPort {
        /// The port.
        port: NodePort,
    },
    /// Changes the consumption of a host.
    Consume {
        /// The host.
        host: NodeId,
        /// The new mode.
        how: ConsumptionMode,
    },
    /// Restarts a host's control program. I-3, R-3
    Restart {
        /// The host.
        host: NodeId,
    },
}

impl FaultKind {
    /// True for faults that last until an end time.
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

/// Kind of random bit errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitErrors {
    /// A 1 of any wire arrives as 0.
    Weaken,
    /// Any bit is inverted.
    Flip,
}

impl fmt::Display for FaultKind {
    /// Describes the fault without its place.
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
