//! A host's interface: memory, engines, queues and control program. I-1..I-6

use codec::tick::Ticks;

/// The parameters of an interface and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceParameters {
    /// The host's bus, over which the DMA engine reaches host memory. I-5
    pub bus: Bus,
    /// Bytes of memory for packets on their way out. I-5
    pub send_memory: u32,
    /// Bytes of memory for packets that have come in; when it is full the link is held up. I-4, I-5
    pub receive_memory: u32,
    /// How fast characters are taken from the slack buffer. I-4
    pub consumption: Consumption,
    /// How long loading the control program takes, in periods of the full rate. I-3
    pub boot: Ticks,
    /// Commands that the host's queue holds. I-6
    pub commands: u32,
}

/// How fast the DMA engine moves data. I-5 (Micro)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bus {
    /// At once: what is measured is the network.
    #[default]
    Ideal,
    /// A `SPARCstation`'s `SBus`: 20 MHz, bursts of 16 words of 4 bytes in 23 clocks, 444 Mb/s.
    SBus,
}

/// How an interface takes characters from its slack buffer. I-4
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consumption {
    /// Whenever there is one.
    #[default]
    Always,
    /// Not at all.
    Never,
    /// One in so many periods of the full rate.
    Every(std::num::NonZeroU32),
    /// So as to provoke the most STOP and GO: it takes while the last command is STOP. F-4
    Adversary,
}
