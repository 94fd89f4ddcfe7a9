//! What each stage of a message's way takes, in periods of the full rate: 80 are a microsecond.
//!
//! The time on the wire is not among them: the network adds it. The paper's digits are lost, so the
//! stages are *Chosen*, such that what is known of the whole comes out: round trip and bandwidth.

use super::scheduler::HeaderState;

/// Periods of the full rate in a microsecond: 12.5 ns each. C-1
pub const MICROSECOND: u64 = 80;

/// Bytes of a burst of the host's bus, and what copying is reckoned by. I-5
pub const BURST: u64 = 64;

/// What each stage takes, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageCosts {
    /// The host's processor, to send a message: `o_s` of `LogP`.
    pub host_send: u64,
    /// The host's processor, to find and handle one that has come: `o_r` of `LogP`.
    pub host_receive: u64,
    /// The host's processor, to look at an endpoint that nothing has come for.
    pub host_poll: u64,
    /// The host's processor, from the event of an endpoint until its thread runs.
    pub host_wake: u64,
    /// The host's processor, to go over from one thread to another.
    pub host_switch: u64,
    /// How long a thread goes on while others wait.
    pub host_quantum: u64,
    /// The host's processor, to copy 64 bytes: a medium message once when it is sent, a bulk one when
    /// it has come too. Text
    pub host_copy: u64,
    /// The NIC's processor, to find a message that is to be sent and to build its packet.
    pub send: u64,
    /// On top of `send`, to build what is constant in the headers of an endpoint's packets: for the
    /// first packet of its turn, and for one that is sent again. T-14
    pub header: u64,
    /// The NIC's processor, to look at the empty queue of the endpoint that it stays with: an attempt.
    /// T-14
    pub look: u64,
    /// The NIC's processor, to take a data packet in and to write its message.
    pub receive: u64,
    /// On top of `send` for reliability: logical channel, sequence number, timestamp. T-3
    pub reliability_send: u64,
    /// On top of `receive` for reliability: the receive table. T-5
    pub reliability_receive: u64,
    /// On top of `send` for protection: that the endpoint may send there.
    pub protection_send: u64,
    /// On top of `receive` for protection: endpoint and key. T-6
    pub protection_receive: u64,
    /// The NIC's processor, to build an ACK or a NACK. T-8
    pub answer_send: u64,
    /// The NIC's processor, to take an ACK or a NACK in. T-8
    pub answer_receive: u64,
    /// The NIC's processor, for a scan in which nothing is sent again. T-10
    pub scan: u64,
    /// A DMA transfer between host and NIC, before its first byte; for streaming transfers, with what
    /// it takes to flush the buffers of the bus bridge.
    pub bus_setup: u64,
    /// A burst of 64 bytes between host and NIC. I-5
    pub bus_burst: u64,
    /// Whether a packet leaves while its bytes still come from the host.
    pub transfers: TransferMode,
    /// Medium and bulk packets that the NIC has memory for on their way out.
    pub send_buffers: u8,
    /// Bytes of an endpoint, that move when it is loaded or unloaded: a page. T-15, text
    pub page: u32,
}

/// How medium and bulk messages pass the NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransferMode {
    /// Whole into the NIC's memory, then on.
    #[default]
    StoreAndForward,
    /// On the wire as early as it will not run dry, and into host memory as they come in.
    Pipelined,
}

/// Which parts of the protocol are there, as the paper's staged build has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProtocolLayers {
    /// Packets are sent and forgotten: no ACK, nothing is sent again.
    Baseline,
    /// T-2..T-13, but whoever knows an endpoint's number may send to it.
    Reliability,
    /// All of it, with the checks of T-6.
    #[default]
    Protection,
}

/// Setup and burst of streaming transfers: 23 clocks of 20 MHz for a burst, 444 Mb/s (Micro); and the
/// buffers of the bus bridge are flushed each time, which is most of the setup. *Chosen*
const STREAMING: [u64; 2] = [8 * MICROSECOND, 92];

/// Setup and burst of consistent transfers: each is slower, but nothing is to be flushed. *Chosen*, such
/// that they are better below 750 bytes: `8 + 1.15 n` and `2 + 1.6625 n` µs cross at 11.7 bursts.
const CONSISTENT: [u64; 2] = [2 * MICROSECOND, 133];

/// How memory and bus bridge are kept consistent while the NIC moves data over the host's bus. Text
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BusMode {
    /// By hand, when a transfer is done: better for long ones.
    Streaming,
    /// By the memory, in every burst: better for short ones.
    Consistent,
}

impl BusMode {
    /// What a transfer takes before its first byte, and for 64 bytes.
    #[must_use]
    pub const fn costs(self) -> [u64; 2] {
        match self {
            Self::Streaming => STREAMING,
            Self::Consistent => CONSISTENT,
        }
    }
}

impl MessageCosts {
    /// `AM-II` on an `UltraSPARC` with a `LANai` on the `SBus`. Met by these numbers: 42 µs for a round
    /// trip of short messages of 4 words, 31 MB/s with 8192 bytes, one switch between the hosts.
    /// The gap that follows is 12.8 µs: send, receive, an ACK each way, a look in vain. *Chosen*
    pub const AM_II: Self = Self {
        host_send: 4 * MICROSECOND,
        host_receive: 4 * MICROSECOND,
        // A read over the `SBus`, as the endpoint is in the NIC's memory.
        host_poll: MICROSECOND / 2,
        host_wake: 10 * MICROSECOND,
        host_switch: 5 * MICROSECOND,
        host_quantum: 10_000 * MICROSECOND,
        // 160 MB/s.
        host_copy: 32,
        send: 348,
        header: MICROSECOND / 4,
        look: MICROSECOND / 2,
        receive: 348,
        reliability_send: 40,
        reliability_receive: 40,
        protection_send: 48,
        protection_receive: 48,
        answer_send: 48,
        answer_receive: 64,
        scan: 2 * MICROSECOND,
        bus_setup: STREAMING[0],
        bus_burst: STREAMING[1],
        transfers: TransferMode::StoreAndForward,
        send_buffers: 1,
        page: 8192,
    };

    /// `GAM`, the minimal layer that it is compared with, to be run with [`ProtocolLayers::Baseline`]. Met by
    /// these numbers: 20 µs for a round trip, 38 MB/s with 8192 bytes. What limits its rate is the
    /// host's processor, as in the text: 5.8 µs for a request and its reply. *Chosen*
    pub const GAM: Self = Self {
        host_send: 232,
        host_receive: 232,
        host_poll: 10,
        send: 111,
        header: 0,
        look: 0,
        receive: 111,
        reliability_send: 0,
        reliability_receive: 0,
        protection_send: 0,
        protection_receive: 0,
        answer_send: 0,
        answer_receive: 0,
        bus_setup: CONSISTENT[0],
        bus_burst: CONSISTENT[1],
        transfers: TransferMode::Pipelined,
        send_buffers: 2,
        ..Self::AM_II
    };

    /// Nothing takes time: what is measured is the protocol and the network. Each stage still takes
    /// the least there is, one period.
    pub const NOTHING: Self = Self {
        host_send: 0,
        host_receive: 0,
        host_poll: 0,
        host_wake: 0,
        host_switch: 0,
        host_quantum: 10_000 * MICROSECOND,
        host_copy: 0,
        send: 0,
        header: 0,
        look: 0,
        receive: 0,
        reliability_send: 0,
        reliability_receive: 0,
        protection_send: 0,
        protection_receive: 0,
        answer_send: 0,
        answer_receive: 0,
        scan: 0,
        bus_setup: 0,
        bus_burst: 0,
        transfers: TransferMode::StoreAndForward,
        send_buffers: 4,
        page: 0,
    };

    /// The NIC's processor, to send a data packet.
    pub(super) const fn sending(&self, layers: ProtocolLayers, state: HeaderState) -> u64 {
        let [reliability, protection] = [self.reliability_send, self.protection_send];
        let header = match state {
            HeaderState::Built => self.header,
            HeaderState::Kept => 0,
        };
        layers.sum(self.send.saturating_add(header), reliability, protection)
    }

    /// The NIC's processor, to take a data packet in.
    #[must_use]
    pub const fn receiving(&self, layers: ProtocolLayers) -> u64 {
        let [reliability, protection] = [self.reliability_receive, self.protection_receive];
        layers.sum(self.receive, reliability, protection)
    }

    /// The NIC's processor, for a request and its reply in the midst of a burst, at either end: `g` of
    /// `LogP`. With ACKs two packets come in for each that goes out, and packets in and attempts to send
    /// take turns: every other attempt finds the queue empty. T-8, T-14
    #[must_use]
    pub const fn gap(&self, layers: ProtocolLayers) -> u64 {
        let answers = match layers {
            ProtocolLayers::Baseline => 0,
            ProtocolLayers::Reliability | ProtocolLayers::Protection => {
                self.answer_send.saturating_add(self.answer_receive).saturating_add(self.look)
            }
        };
        self.sending(layers, HeaderState::Kept)
            .saturating_add(self.receiving(layers))
            .saturating_add(answers)
    }

    /// Between host and NIC, for so many bytes.
    #[must_use]
    pub const fn transfer(&self, bytes: u64) -> u64 {
        let bursts = bytes.div_ceil(BURST);
        self.bus_setup.saturating_add(self.bus_burst.saturating_mul(bursts))
    }

    /// The host's processor, to copy so many bytes.
    #[must_use]
    pub const fn copying(&self, bytes: u64) -> u64 {
        self.host_copy.saturating_mul(bytes.div_ceil(BURST))
    }
}

impl Default for MessageCosts {
    fn default() -> Self {
        Self::AM_II
    }
}

impl ProtocolLayers {
    const fn sum(self, base: u64, reliability: u64, protection: u64) -> u64 {
        match self {
            Self::Baseline => base,
            Self::Reliability => base.saturating_add(reliability),
            Self::Protection => base.saturating_add(reliability).saturating_add(protection),
        }
    }
}
