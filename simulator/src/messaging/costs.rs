//! Durations of the stages of a message's path, in periods of the full rate (80 per microsecond).
//!
//! They exclude the time on the wire, which the network adds. The paper's digits are lost, so the
//! stages are *Chosen* to meet the published round trip and bandwidth.

use super::scheduler::HeaderState;

/// Periods of the full rate in a microsecond: 12.5 ns each. C-1
pub const MICROSECOND: u64 = 80;

/// Bytes of a burst of the host's bus, also the unit of copying. I-5
pub const BURST: u64 = 64;

/// Durations of the stages, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageCosts {
    /// Host processor: sending a message, `o_s` of `LogP`.
    pub host_send: u64,
    /// Host processor: finding and handling a received message, `o_r` of `LogP`.
    pub host_receive: u64,
    /// Host processor: polling an empty endpoint.
    pub host_poll: u64,
    /// Host processor: from an endpoint's event until its thread runs.
    pub host_wake: u64,
    /// Host processor: switching threads.
    pub host_switch: u64,
    /// Time slice of a thread while others wait.
    pub host_quantum: u64,
    /// Host processor: copying 64 bytes; of a medium message when sending, of a bulk message also
    /// when receiving. Text
    pub host_copy: u64,
    /// NIC processor: finding a message to send and building its packet.
    pub send: u64,
    /// Added to `send` for the first packet of a turn and for a retransmission: building the
    /// constant part of the headers. T-14
    pub header: u64,
    /// NIC processor: polling the empty queue of the current endpoint, an attempt. T-14
    pub look: u64,
    /// NIC processor: receiving a data packet and writing its message.
    pub receive: u64,
    /// Added to `send` for reliability: logical channel, sequence number, timestamp. T-3
    pub reliability_send: u64,
    /// Added to `receive` for reliability: the receive table. T-5
    pub reliability_receive: u64,
    /// Added to `send` for protection: permission to send to the endpoint.
    pub protection_send: u64,
    /// Added to `receive` for protection: endpoint and key. T-6
    pub protection_receive: u64,
    /// NIC processor: building an ACK or a NACK. T-8
    pub answer_send: u64,
    /// NIC processor: receiving an ACK or a NACK. T-8
    pub answer_receive: u64,
    /// NIC processor: a scan without retransmissions. T-10
    pub scan: u64,
    /// Set-up of a DMA transfer between host and NIC; for streaming transfers including the flush
    /// of the bus bridge's buffers.
    pub bus_setup: u64,
    /// Burst of 64 bytes between host and NIC. I-5
    pub bus_burst: u64,
    /// Overlap of transfer and sending.
    pub transfers: TransferMode,
    /// Send buffers of the NIC, for medium and bulk packets.
    pub send_buffers: u8,
    /// Bytes transferred when an endpoint is loaded or unloaded: a page. T-15, text
    pub page: u32,
}

/// Forwarding of medium and bulk messages by the NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransferMode {
    /// The whole message is stored in the NIC's memory first.
    #[default]
    StoreAndForward,
    /// The packet leaves as early as the wire will not run dry, and enters host memory while it
    /// arrives.
    Pipelined,
}

/// Layers of the protocol, as in the paper's staged build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProtocolLayers {
    /// No ACKs and no retransmissions.
    Baseline,
    /// T-2..T-13; an endpoint's number suffices to send to it.
    Reliability,
    /// The whole protocol, with the checks of T-6.
    #[default]
    Protection,
}

/// Set-up and burst of streaming transfers: 23 clocks of 20 MHz for a burst, 444 Mb/s (Micro); most
/// of the set-up is the flush of the bus bridge's buffers. *Chosen*
const STREAMING: [u64; 2] = [8 * MICROSECOND, 92];

/// Set-up and burst of consistent transfers: slower, but without a flush. *Chosen* so that they are
/// faster below 750 bytes: `8 + 1.15 n` and `2 + 1.6625 n` µs cross at 11.7 bursts.
const CONSISTENT: [u64; 2] = [2 * MICROSECOND, 133];

/// Consistency of memory and bus bridge during DMA. Text
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BusMode {
    /// Flush after each transfer: better for long ones.
    Streaming,
    /// Hardware coherence in every burst: better for short ones.
    Consistent,
}

impl BusMode {
    /// Duration of the set-up, and of 64 bytes.
    pub const fn costs(self) -> [u64; 2] {
        match self {
            Self::Streaming => STREAMING,
            Self::Consistent => CONSISTENT,
        }
    }
}

impl MessageCosts {
    /// `AM-II` on an `UltraSPARC` with a `LANai` on the `SBus`, calibrated to a round trip of 42 µs
    /// for short messages of 4 words and to 31 MB/s with 8192 bytes, one switch between the hosts.
    /// The resulting gap is 12.8 µs: send, receive, an ACK each way, an empty poll. *Chosen*
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

    /// `GAM`, the minimal layer of the comparison, for use with [`ProtocolLayers::Baseline`],
    /// calibrated to a round trip of 20 µs and to 38 MB/s with 8192 bytes. The host processor
    /// limits its rate, as in the text: 5.8 µs for a request and its reply. *Chosen*
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

    /// No durations, to measure protocol and network alone. Each stage still takes the minimum of
    /// one period.
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

    pub(super) const fn sending(&self, layers: ProtocolLayers, state: HeaderState) -> u64 {
        let [reliability, protection] = [self.reliability_send, self.protection_send];
        let header = match state {
            HeaderState::Built => self.header,
            HeaderState::Kept => 0,
        };
        layers.sum(self.send.saturating_add(header), reliability, protection)
    }

    /// NIC processor: receiving a data packet.
    pub const fn receiving(&self, layers: ProtocolLayers) -> u64 {
        let [reliability, protection] = [self.reliability_receive, self.protection_receive];
        layers.sum(self.receive, reliability, protection)
    }

    /// NIC processor: a request and its reply within a burst, at either end, `g` of `LogP`. With
    /// ACKs two packets arrive for each one sent, and receiving alternates with attempts to send:
    /// every other attempt finds the queue empty. T-8, T-14
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

    /// Transfer of `bytes` bytes between host and NIC.
    pub const fn transfer(&self, bytes: u64) -> u64 {
        let bursts = bytes.div_ceil(BURST);
        self.bus_setup.saturating_add(self.bus_burst.saturating_mul(bursts))
    }

    /// Host processor: copying `bytes` bytes.
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
