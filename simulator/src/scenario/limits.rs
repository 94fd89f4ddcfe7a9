//! What a scenario may ask for at most. All are *chosen*: far more than any network of the time,
//! and little enough for any machine, so that a slip of the pen is told and not carried out.

/// Bytes of a scenario file.
pub const TEXT_MAX: usize = 1 << 20;
/// Problems that an error shows; the others are counted.
pub const PROBLEMS_MAX: usize = 40;
/// Hosts and switches.
pub const NODES_MAX: usize = 4_096;
/// Hosts: those of the largest fat tree. There are routes from each to each, a quarter of a million.
pub const HOSTS_MAX: usize = 512;
/// Cables.
pub const CABLES_MAX: usize = 65_536;
/// Characters on all cables and in all slack buffers, of two bytes each.
pub const CELLS_MAX: usize = 1 << 27;
/// Bytes of a name.
pub const NAME_MAX: usize = 64;
/// Periods of the full rate that a run lasts: 3.8 hours.
pub const DURATION_MAX: u64 = 1 << 40;
/// Periods that a character is under way: 2 340 km.
pub const DELAY_MAX: u64 = 1 << 20;
/// The full rate over a link's.
pub const DIVISOR_MAX: u64 = 1 << 10;
/// Cells of each part of a slack buffer.
pub const SLACK_MAX: u64 = 1 << 20;
/// Link periods between a threshold and its symbol, and between a symbol and obedience.
pub const LATENCY_MAX: u64 = 15;
/// Link periods of the blocked-packet timeout.
pub const BLOCKED_MAX: u64 = 1 << 40;
/// Bytes of an interface's memory for either way.
pub const MEMORY_MAX: u64 = 1 << 30;
/// Commands in a host's queue.
pub const COMMANDS_MAX: u64 = 1 << 20;
/// Bytes of payload.
pub const PAYLOAD_MAX: u64 = 1 << 20;
/// Packets of a burst, and packets that are not answered.
pub const BURST_MAX: u64 = 1 << 20;
/// Bytes of a given route.
pub const ROUTE_MAX: usize = 1_024;
/// Destinations, counted for each sender.
pub const DESTINATIONS_MAX: usize = 1 << 22;
/// Raw characters in all.
pub const RAW_MAX: usize = 1 << 22;
/// Faults in all.
pub const FAULTS_MAX: usize = 1 << 18;
/// Periods in which an interface takes one character.
pub const CONSUMPTION_MAX: u64 = 1 << 20;
/// Logical channels between two NICs.
pub const CHANNELS_MAX: u64 = 32;
/// NICs that the transport's tables have rows for.
pub const NICS_MAX: u64 = 4_096;
/// Entries of the transport's tables, of all NICs together.
pub const ENTRIES_MAX: u64 = 1 << 24;
/// Microseconds of the transport's clocks: an hour.
pub const MICROS_MAX: u64 = 3_600_000_000;

/// Retransmissions without an answer, T-11: at one in a millisecond, an hour of them.
pub const RETRIES_MAX: u64 = 3_600_000;
/// Frames of a NIC for endpoints.
pub const FRAMES_MAX: u64 = 255;
/// Requests of an endpoint that are not answered.
pub const CREDITS_MAX: u64 = 1 << 12;
/// Messages that a request receive queue or a staging area holds.
pub const QUEUE_MAX: u64 = 1 << 14;
/// Endpoints in all.
pub const ENDPOINTS_MAX: u64 = 1 << 14;
/// Bytes of all endpoints' segments.
pub const SEGMENTS_MAX: u64 = 1 << 28;
/// Pairs of endpoints of which one sends to the other.
pub const MESSAGE_PAIRS_MAX: usize = 1 << 16;
/// Packets that a NIC has memory for on their way out.
pub const SEND_BUFFERS_MAX: u64 = 255;
/// Messages that a NIC moves or is to move to its host.
pub const DMA_MAX: u64 = 255;
/// Bytes of an endpoint that move when it is loaded.
pub const PAGE_MAX: u64 = 1 << 20;
/// The binary logarithm of how many messages of an endpoint are sent before another's.
pub const BURST_LOG2_MAX: u64 = 31;
