//! Parameters of an interface and its host. I-3..I-6

use std::num::NonZeroU32;

use codec::time::Ticks;

use super::memory::{MEMORY, PROGRAM};
use super::processor::ProgramCosts;
use super::relay::RelayPolicy;
use super::share::InterfacePlace;
use crate::clock::NodeClock;
use crate::messaging::{BURST, BusMode};
use crate::traffic::SignalMode;

/// Default of the longest IP packet. *Chosen*: 8 KB with the headers of IP and TCP.
const MTU: u16 = 8192 + 40;

/// Parameters of an interface and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceParameters {
    /// The bus through which the DMA engine accesses host memory. I-5
    pub bus: DmaBus,
    /// Memory for everything, in bytes. I-5
    pub memory: u64,
    /// Bytes of the control program in it, with its tables. I-5
    pub program: u32,
    /// Bytes for packets to send; `None` for what is left. I-5
    pub send_memory: Option<u32>,
    /// Bytes for received packets; while they are full, the link is held up. `None` for what is
    /// left. I-4, I-5
    pub receive_memory: Option<u32>,
    /// Rate at which characters are taken from the slack buffer. I-4
    pub consumption: ConsumptionMode,
    /// Time to load the control program, in periods of the full rate; `None`: it is loaded at the
    /// start, and later by its host, word by word. I-3, I-5
    pub boot: Option<Ticks>,
    /// Capacity of the host's command queue. I-6
    pub commands: u32,
    /// Durations of the control program's jobs. I-5, I-6
    pub costs: ProgramCosts,
    /// Durations of the host's work for the interface. I-6
    pub host: HostCosts,
    /// Reaction to a multicast that it has no memory for. N-6
    pub relay: RelayPolicy,
    /// Maximum length of an IP packet. H-1
    pub mtu: u16,
    /// Its clock. W-6
    pub clock: NodeClock,
    /// Its place among the interfaces of its host. I-7
    pub place: InterfacePlace,
}

/// Work of the host's processor for its interface, besides that for messages, during which it gives
/// no commands. Durations are in periods of the full rate. I-6
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCosts {
    /// An interrupt.
    pub interrupt: u64,
    /// The Internet checksum of 64 bytes of a payload. H-1
    pub checksum: u64,
    /// Signal of a received packet.
    pub arrivals: SignalMode,
    /// A system call of an application that sends or receives. H-1
    pub system_call: u64,
    /// The driver and the protocols above it: a packet sent or received. H-1
    pub driver: u64,
    /// Copying 64 bytes between application and kernel. H-1
    pub copy: u64,
    /// Path of the data between application and interface. H-1
    pub stack: CopyPath,
    /// Software between application and interface. H-1, H-2
    pub path: SoftwarePath,
}

/// Copies by the host's processor between an application and the interface. H-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyPath {
    /// The interface moves the application's own bytes.
    #[default]
    ZeroCopy,
    /// The kernel copies them to or from buffers of its own.
    OneCopy,
}

/// Software between an application and the interface. H-1, H-2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SoftwarePath {
    /// A system call and the driver for each packet.
    #[default]
    Kernel,
    /// The Myrinet API: queues and exchange pages in user space.
    Api,
}

impl HostCosts {
    /// A call that writes or reads these bytes.
    pub(super) const fn call(&self, bytes: usize) -> u64 {
        let entry = match self.path {
            SoftwarePath::Kernel => self.system_call,
            SoftwarePath::Api => 0,
        };
        entry.saturating_add(self.copy.saturating_mul(self.copied(bytes).div_ceil(BURST)))
    }

    /// A packet sent or received.
    pub(super) const fn packet(&self) -> u64 {
        match self.path {
            SoftwarePath::Kernel => self.driver,
            SoftwarePath::Api => 0,
        }
    }

    pub(super) const fn copied(&self, bytes: usize) -> u64 {
        match self.stack {
            CopyPath::ZeroCopy => 0,
            CopyPath::OneCopy => bytes as u64,
        }
    }
}

/// Speed of the DMA engine. I-5 (Micro)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DmaBus {
    /// Transfers take no time: only the network is measured.
    #[default]
    Ideal,
    /// A `SPARCstation`'s `SBus`: 20 MHz, bursts of 16 words of 4 bytes in 23 clocks, 444 Mb/s.
    SBus,
    /// A later `SBus` with these transfers, whose set-up comes before the first burst. VN
    Mode(BusMode),
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

impl ConsumptionMode {
    /// Names in scenarios of those that have one.
    pub const WORDS: [(&str, Self); 3] =
        [("always", Self::Always), ("never", Self::Never), ("adversary", Self::Adversary)];
}

impl InterfaceParameters {
    /// Time from the start until the control program runs. *Chosen*: it is loaded, unless a time is
    /// given.
    pub(super) fn first_boot(&self) -> u64 {
        self.boot.map_or(0, |boot| boot.0)
    }

    /// Time to load the control program again. I-3 *Chosen*: its host writes a word of 4 bytes in a
    /// clock of the `SBus`, which is a byte in a period.
    pub(super) fn later_boot(&self) -> u64 {
        self.boot.map_or(u64::from(self.program), |boot| boot.0)
    }
}

impl Default for InterfaceParameters {
    /// An ideal bus, and jobs that take no time: the network alone is measured. *Chosen*: a queue
    /// that is seldom full. I-5, I-6
    fn default() -> Self {
        Self {
            bus: DmaBus::Ideal,
            memory: MEMORY,
            program: PROGRAM,
            send_memory: None,
            receive_memory: None,
            consumption: ConsumptionMode::Always,
            boot: None,
            commands: 64,
            costs: ProgramCosts::default(),
            host: HostCosts::default(),
            relay: RelayPolicy::default(),
            mtu: MTU,
            clock: NodeClock::EXACT,
            place: InterfacePlace::default(),
        }
    }
}
