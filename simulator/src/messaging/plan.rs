//! Configuration of a host's messaging. T-9, T-14, T-15

use codec::transport::{EndpointId, EndpointKey, Nic};

use super::costs::{MICROSECOND, MessageCosts, ProtocolLayers};
use crate::traffic::{ArrivalProcess, PayloadSize};
use crate::transport::TransportParameters;

/// Maximum size of a segment, to which longer ones are cut: 16 MiB. *Chosen* to bound memory.
pub const SEGMENT_MAX: u32 = 1 << 24;

/// Configuration of a host's messaging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagingPlan {
    /// NIC of the host.
    pub nic: Nic,
    /// Tables and timers of the protocol.
    pub transport: TransportParameters,
    /// Parameters of frames, credits, queues and scheduler.
    pub parameters: EndpointParameters,
    /// Durations of the stages.
    pub costs: MessageCosts,
    /// Endpoints.
    pub endpoints: Vec<EndpointPlan>,
    /// Message streams of the endpoints.
    pub streams: Vec<MessageStream>,
    /// Known remote endpoints and their keys, for replies; unknown ones have key 0.
    pub names: Vec<((Nic, EndpointId), EndpointKey)>,
}

/// Parameters of endpoints and virtual networks. T-9, T-14, T-15
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndpointParameters {
    /// Endpoint frames: the maximum of resident endpoints. Text: 7
    pub frames: u8,
    /// Maximum of an endpoint's unanswered requests: K. T-9
    pub credits: u16,
    /// Capacity of a request receive queue: 4 K. T-9
    pub request_queue: u16,
    /// Capacity of an endpoint's staging area, in unread medium and bulk messages. T-6
    pub staging: u16,
    /// DMA resources: maximum of medium and bulk messages in transfer to the host. Further ones are
    /// refused; without a limit they wait in the NIC. T-6
    pub dma: Option<u8>,
    /// Maximum of an endpoint's 8192-byte pages with a DMA mapping; without a limit all are mapped.
    /// T-6
    pub mappings: Option<u16>,
    /// Time to map a page, in periods of the full rate. T-15
    pub map: u64,
    /// Binary logarithm of the send attempts in an endpoint's turn: k. T-14
    pub burst_log2: u8,
    /// Time to load an endpoint besides the transfers, in periods of the full rate. T-15
    pub load: u64,
    /// Time after which an application gives up a reply and recovers its credit, in periods of the
    /// full rate. *Chosen*: the receiver's NIC may have been restarted with the request unread.
    pub patience: u64,
    /// Layers of the protocol.
    pub layers: ProtocolLayers,
}

/// Configuration of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPlan {
    /// Number on its NIC.
    pub id: EndpointId,
    /// Key that senders must present.
    pub key: EndpointKey,
    /// Size of the segment for bulk messages; at most [`SEGMENT_MAX`].
    pub segment: u32,
    /// Notification of its application.
    pub wake: WakeMode,
}

/// Notification of an application about messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WakeMode {
    /// One thread polls all such endpoints in turn.
    #[default]
    Poll,
    /// A separate thread waits for the endpoint's event.
    Event,
}

/// Stream of requests from one endpoint to another, each answered with a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageStream {
    /// Sending endpoint.
    pub from: EndpointId,
    /// Receiving NIC and endpoint.
    pub to: (Nic, EndpointId),
    /// Key that the sender presents.
    pub key: EndpointKey,
    /// Kind of the messages.
    pub kind: MessageKind,
    /// Size in bytes: argument words, payload, or whole transfer. At least 4, whole words for short
    /// messages; cut to the maximum of the kind.
    pub size: PayloadSize,
    /// Arrival process. [`ArrivalProcess::Closed`] waits for replies, with messages of at least 8
    /// bytes; credits limit all others too.
    pub arrivals: ArrivalProcess,
    /// Start, in periods of the full rate.
    pub start: u64,
    /// Maximum number of messages.
    pub count: Option<u64>,
    /// Handler of returned messages.
    pub returned: ReturnHandler,
}

/// Handler of returned messages in an application. Text
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReturnHandler {
    /// Drops returned messages.
    #[default]
    Drop,
    /// Sends them again to the same endpoint, each time as a new message.
    SendAgain,
    /// Sends them to another endpoint with this key; drops them if they are returned again.
    SendElsewhere((Nic, EndpointId), EndpointKey),
}

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MessageKind {
    /// Argument words, transferred by programmed I/O.
    Short,
    /// Payload, transferred through the staging area in host memory.
    Medium,
    /// Payload, written into the receiver's segment in medium-sized pieces.
    Bulk,
}

impl EndpointParameters {
    /// Request queue for four senders at full rate. T-9
    pub(crate) const fn four_senders(&self) -> u16 {
        self.credits.saturating_mul(4)
    }
}

impl Default for EndpointParameters {
    /// Values of the digest, T-9, T-14, T-15. Loading takes 1 ms, a mapping 100 µs: a page fault
    /// and the driver's work. *Chosen*
    fn default() -> Self {
        Self {
            frames: 7,
            credits: 4,
            request_queue: 16,
            staging: 16,
            dma: None,
            mappings: None,
            map: 100 * MICROSECOND,
            burst_log2: 6,
            load: 1_000 * MICROSECOND,
            patience: 10_000_000 * MICROSECOND,
            layers: ProtocolLayers::Protection,
        }
    }
}
