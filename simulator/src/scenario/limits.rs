//! Upper limits of scenario values. All are *chosen*: far beyond the networks of the time, yet
//! small enough for any machine, so that a typing error is reported instead of simulated.

/// Bytes of a scenario file.
pub const TEXT_MAX: usize = 1 << 20;
/// Problems shown in an error; the rest is counted.
pub const PROBLEMS_MAX: usize = 40;
/// Hosts and switches.
pub const NODES_MAX: usize = 4_096;
/// Hosts: as in the largest fat tree. Their routes number a quarter of a million.
pub const HOSTS_MAX: usize = 512;
/// Cables.
pub const CABLES_MAX: usize = 65_536;
/// Characters on all cables and in all slack buffers, of two bytes each.
pub const CELLS_MAX: usize = 1 << 27;
/// Bytes of a name.
pub const NAME_MAX: usize = 64;
/// Duration of a run in periods of the full rate: 3.8 hours.
pub const DURATION_MAX: u64 = 1 << 40;
/// Delay of a cable in periods: 2 340 km.
pub const DELAY_MAX: u64 = 1 << 20;
/// Length of a fibre in kilometres.
pub const FIBRE_KM_MAX: u64 = 1_000;
/// Divisor of a link's rate.
pub const DIVISOR_MAX: u64 = 1 << 10;
/// Cells of each part of a slack buffer.
pub const SLACK_MAX: u64 = 1 << 20;
/// Generation and interpretation latency of STOP and GO, in link periods.
pub const LATENCY_MAX: u64 = 15;
/// Link periods of the blocked-packet timeout.
pub const BLOCKED_MAX: u64 = 1 << 40;
/// Bytes of an interface's memory.
pub const MEMORY_MAX: u64 = 1 << 33;
/// Bytes of a part of an interface's memory.
pub const PART_MAX: u64 = 1 << 30;
/// Commands in a host's queue.
pub const COMMANDS_MAX: u64 = 1 << 20;
/// Blocks of a host that a packet is gathered from.
pub const BLOCKS_MAX: u64 = 256;
/// Bytes of payload.
pub const PAYLOAD_MAX: u64 = 1 << 20;
/// Longest IP packet: as long as every network must carry, and room for TCP's options. RFC 791
pub const MTU_MIN: u64 = 128;
/// Packets of a burst, and unanswered packets of a window.
pub const BURST_MAX: u64 = 1 << 20;
/// Bytes of a given route.
pub const ROUTE_MAX: usize = 1_024;
/// Pairs of sender and destination.
pub const DESTINATIONS_MAX: usize = 1 << 22;
/// Bytes of all recordings that are replayed.
pub const RECORDING_MAX: usize = 1 << 26;
/// Raw characters in all.
pub const RAW_MAX: usize = 1 << 22;
/// Faults in all.
pub const FAULTS_MAX: usize = 1 << 18;
/// Periods per character that an interface consumes.
pub const CONSUMPTION_MAX: u64 = 1 << 20;
/// Logical channels between two NICs.
pub const CHANNELS_MAX: u64 = 32;
/// Rows of the transport's tables.
pub const NICS_MAX: u64 = 4_096;
/// Entries of the transport's tables of all NICs.
pub const ENTRIES_MAX: u64 = 1 << 24;
/// Microseconds of the transport's timers: an hour.
pub const MICROS_MAX: u64 = 3_600_000_000;

/// Transmissions of a mapping probe.
pub const TRIES_MAX: u64 = 1_000;
/// Unanswered retransmissions: an hour at one per millisecond. T-11
pub const RETRIES_MAX: u64 = 3_600_000;
/// Endpoint frames of a NIC.
pub const FRAMES_MAX: u64 = 255;
/// Unanswered requests of an endpoint.
pub const CREDITS_MAX: u64 = 1 << 12;
/// Messages in a request receive queue or a staging area.
pub const QUEUE_MAX: u64 = 1 << 14;
/// Endpoints in all.
pub const ENDPOINTS_MAX: u64 = 1 << 14;
/// Bytes of all endpoints' segments.
pub const SEGMENTS_MAX: u64 = 1 << 28;
/// Pairs of sending and receiving endpoints.
pub const MESSAGE_PAIRS_MAX: usize = 1 << 16;
/// Send buffers of a NIC.
pub const SEND_BUFFERS_MAX: u64 = 255;
/// DMA resources of a NIC.
pub const DMA_MAX: u64 = 255;
/// Bytes transferred to load an endpoint.
pub const PAGE_MAX: u64 = 1 << 20;
/// Binary logarithm of the send attempts in an endpoint's turn.
pub const BURST_LOG2_MAX: u64 = 31;
