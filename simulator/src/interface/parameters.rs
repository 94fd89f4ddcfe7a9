//! Parameters of an interface and its host. I-3..I-6

use std::num::NonZeroU32;

use codec::time::Ticks;

use crate::clock::NodeClock;

/// Parameters of an interface and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceParameters {
    /// The bus through which the DMA engine accesses host memory. I-5
    pub bus: DmaBus,
    /// Send memory, in bytes. I-5
    pub send_memory: u32,
    /// Receive memory, in bytes; while it is full, the link is held up. I-4, I-5
    pub receive_memory: u32,
    /// Rate at which characters are taken from the slack buffer. I-4
    pub consumption: ConsumptionMode,
    /// Time to load the control program, in periods of the full rate. I-3
    pub boot: Ticks,
    /// Capacity of the host's command queue. I-6
    pub commands: u32,
    /// Its clock. W-6
    pub clock: NodeClock,
}

/// Speed of the DMA engine. I-5 (Micro)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DmaBus {
    /// Transfers take no time: only the network is measured.
    #[default]
    Ideal,
    /// A `SPARCstation`'s `SBus`: 20 MHz, bursts of 16 words of 4 bytes in 23 clocks, 444 Mb/s.
    SBus,
}

/// Policy for taking characters from the slack buffer. I-4
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConsumptionMode {
    /// Without delay.
    #[default]
    Always,
    /// Never.
    Never,
    /// One character in this many periods of the full rate.
    Every(NonZeroU32),
    /// While the last command is STOP, which provokes the most STOP and GO. F-4
    Adversary,
}

impl Default for InterfaceParameters {
    /// An ideal bus. *Chosen*: half of the 128 KB of memory for each direction, and a queue that is
    /// seldom full. I-5, I-6
    fn default() -> Self {
        Self {
            bus: DmaBus::Ideal,
            send_memory: 1 << 16,
            receive_memory: 1 << 16,
            consumption: ConsumptionMode::Always,
            boot: Ticks(0),
            commands: 64,
            clock: NodeClock::EXACT,
        }
    }
}
