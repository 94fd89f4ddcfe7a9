//! The faults that a scenario injects.

use std::fmt;

use codec::character::ProbeNumber;

use crate::interface::ConsumptionMode;
pub use crate::link::wire::BitErrors;
use crate::node::NodePort;
use crate::wires::WireFault;

/// A fault, or a control action, at a given time and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// Begin: periods of the full rate.
    pub at: u64,
    /// End, for faults that last; `None` for no end.
    pub until: Option<u64>,
    /// The port; of a channel the port that sends on it, of a cable either end, of a node port 0.
    pub place: NodePort,
    /// Kind.
    pub kind: FaultKind,
}

/// Part of the network that a fault acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPlace {
    /// A port, and its channels or its cable.
    Port,
    /// A port, or a virtual channel of it, that sends a symbol.
    Sender,
    /// A port of a switch.
    SwitchPort,
    /// A node.
    Node,
    /// A host.
    Host,
}

/// Action that a probe asks for. R-6 *Chosen*
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeAction {
    /// A reply with the LEDs: 0 dark, 1 red, 2 green, 3 both.
    Status,
    /// A reply with the LEDs, and a restart of the control program if the port is an interface's.
    Reset,
    /// A reply with four bits of the packets sent by the port.
    Counters,
}

impl ProbeAction {
    /// Names in scenario files.
    pub(crate) const WORDS: [(&'static str, Self); 3] =
        [("status", Self::Status), ("reset", Self::Reset), ("counters", Self::Counters)];

    pub(crate) const fn of(number: ProbeNumber) -> Self {
        match number.value() {
            6 => Self::Reset,
            7 => Self::Counters,
            _ => Self::Status,
        }
    }

    /// The probe that asks for it.
    pub(crate) fn probe(self) -> ProbeNumber {
        let number = match self {
            Self::Status => 1,
            Self::Reset => 6,
            Self::Counters => 7,
        };
        ProbeNumber::new(number).unwrap_or_default()
    }
}

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Random bit errors on a channel.
    Noise {
        /// Kind of the errors.
        errors: BitErrors,
        /// Mean number of characters between two errors.
        mean: u64,
    },
    /// Inverts bits of the character that arrives on a channel in that period.
    Flip {
        /// Bits 8–0: `d 7 6 5 4 3 2 1 0`.
        bits: u16,
    },
    /// An open wire of a channel: its bit always arrives as 0. W-5
    OpenWire {
        /// 0..=8, 8 is `d`.
        wire: u8,
    },
    /// Changes the levels of a channel's wires. W-8
    Wires(WireFault),
    /// Cuts the cable: both channels lose the characters in flight, and all others until the end.
    Cut,
    /// Loses the next GAP that ends a packet on a channel; with an end time, every GAP until then.
    LoseGap,
    /// Makes the port send FRES. R-1
    ForwardReset,
    /// Makes the port send BRES. R-5
    BackwardReset,
    /// Makes the port send a probe of this number. R-6
    Probe(ProbeNumber),
    /// Switches off the power of a host or switch.
    PowerOff,
    /// Switches off a supply of a node, which has power as long as another one is on. S-10
    SupplyOff,
    /// Kills a switch's port: it neither sends nor receives.
    DeadPort,
    /// Changes the consumption of a host.
    Consume(ConsumptionMode),
    /// Restarts a host's control program. I-3, R-3
    Restart,
}

impl FaultKind {
    /// A fault of each kind.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Noise { errors: BitErrors::Weaken, mean: 1 },
            Self::Flip { bits: 1 },
            Self::OpenWire { wire: 0 },
            Self::Cut,
            Self::LoseGap,
            Self::ForwardReset,
            Self::BackwardReset,
            Self::Probe(ProbeNumber::default()),
            Self::PowerOff,
            Self::SupplyOff,
            Self::DeadPort,
            Self::Consume(ConsumptionMode::Always),
            Self::Restart,
        ];
        others.into_iter().chain(WireFault::ALL.map(Self::Wires))
    }

    const fn row(&self) -> FaultRow {
        use FaultPlace::{Host, Node, Port, Sender, SwitchPort};
        let (name, acts_on, lasts) = match self {
            Self::Noise { .. } => ("noise", Port, true),
            Self::Flip { .. } => ("flip", Port, false),
            Self::OpenWire { .. } => ("open_wire", Port, true),
            Self::Wires(fault) => (fault.name(), Port, fault.lasts()),
            Self::Cut => ("cut", Port, true),
            Self::LoseGap => ("lose_gap", Port, true),
            Self::ForwardReset => ("forward_reset", Sender, false),
            Self::BackwardReset => ("backward_reset", Sender, false),
            Self::Probe(_) => ("probe", Sender, false),
            Self::PowerOff => ("power_off", Node, true),
            Self::SupplyOff => ("supply_off", Node, true),
            Self::DeadPort => ("dead_port", SwitchPort, true),
            Self::Consume(_) => ("consume", Host, true),
            Self::Restart => ("restart", Host, false),
        };
        FaultRow { name, acts_on, lasts }
    }

    /// Name of the kind, as in scenario files.
    pub const fn name(&self) -> &'static str {
        self.row().name
    }

    /// Part of the network that faults of the kind act on.
    pub const fn acts_on(&self) -> FaultPlace {
        self.row().acts_on
    }

    /// True for faults that last until an end time.
    pub const fn lasts(&self) -> bool {
        self.row().lasts
    }
}

/// Properties of a kind of fault.
struct FaultRow {
    name: &'static str,
    acts_on: FaultPlace,
    lasts: bool,
}

impl fmt::Display for FaultKind {
    /// Describes the fault without its place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noise { errors, mean } => {
                let errors = match errors {
                    BitErrors::Weaken => "1s arrive as 0s",
                    BitErrors::Flip => "bits are inverted",
                };
                write!(f, "{errors}, {mean} characters apart in the mean")
            }
            Self::Flip { bits } => write!(f, "bits {bits:09b} are inverted"),
            Self::OpenWire { wire: 8 } => write!(f, "wire d is open"),
            Self::OpenWire { wire } => write!(f, "wire {wire} is open"),
            Self::Wires(fault) => fault.fmt(f),
            Self::Cut => write!(f, "the cable is cut"),
            Self::LoseGap => write!(f, "a GAP is lost"),
            Self::ForwardReset => write!(f, "a forward reset is ordered"),
            Self::BackwardReset => write!(f, "a backward reset is ordered"),
            Self::Probe(number) => write!(f, "probe {} is ordered", number.value()),
            Self::PowerOff => write!(f, "the power is off"),
            Self::SupplyOff => write!(f, "a supply is off"),
            Self::DeadPort => write!(f, "the port is dead"),
            Self::Consume(how) => match how {
                ConsumptionMode::Always => write!(f, "the host consumes all that comes"),
                ConsumptionMode::Never => write!(f, "the host consumes nothing"),
                ConsumptionMode::Every(periods) => {
                    write!(f, "the host consumes a character every {periods} periods")
                }
                ConsumptionMode::Adversary => write!(f, "the host provokes STOP and GO"),
            },
            Self::Restart => write!(f, "the control program starts again"),
        }
    }
}
