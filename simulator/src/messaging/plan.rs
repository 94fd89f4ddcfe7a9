//! What the messaging of a host is set to. T-9, T-14, T-15

use codec::transport::{EndpointId, EndpointKey, Nic};

use super::costs::{MICROSECOND, MessageCosts, ProtocolLayers};
use crate::traffic::{ArrivalProcess, PayloadSize};
use crate::transport::TransportParameters;

/// Bytes of a segment at most: 16 MiB; what is longer is cut to it. *Chosen*, so that memory is bounded.
pub const SEGMENT_MAX: u32 = 1 << 24;

/// What the messaging of a host is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagingPlan {
    /// Its NIC.
    pub nic: Nic,
    /// Tables and clocks of the protocol.
    pub transport: TransportParameters,
    /// Frames, credits, queues, the scheduler.
    pub parameters: EndpointParameters,
    /// What each stage takes.
    pub costs: MessageCosts,
    /// Its endpoints.
    pub endpoints: Vec<EndpointPlan>,
    /// What they send.
    pub streams: Vec<MessageStream>,
    /// The endpoints of others that its endpoints can name, and their keys: what replies need. The key
    /// of one that is not here is taken to be 0.
    pub names: Vec<((Nic, EndpointId), EndpointKey)>,
}

/// Of virtual networks. T-9, T-14, T-15
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndpointParameters {
    /// Endpoints that are resident at once. Text: 7
    pub frames: u8,
    /// Requests of an endpoint without a reply, at most: K. T-9
    pub credits: u16,
    /// Messages that a request receive queue holds: 4 K. T-9
    pub request_queue: u16,
    /// Medium and bulk messages that an endpoint's staging area holds until they are read. T-6
    pub staging: u16,
    /// DMA resources: medium and bulk messages that the NIC moves or is to move to the host. What comes
    /// when none is free is refused; without a number it waits in the NIC. T-6
    pub dma: Option<u8>,
    /// Pages of an endpoint's host memory, 8192 bytes each, that have a DMA mapping at once; without a
    /// number all have one always. T-6
    pub mappings: Option<u16>,
    /// What mapping a page takes the driver, in periods of the full rate. T-15
    pub map: u64,
    /// The NIC stays with an endpoint for 2 to this attempts to send: k. T-14
    pub burst_log2: u8,
    /// What loading an endpoint takes besides the transfers, in periods of the full rate. T-15
    pub load: u64,
    /// How long an application waits for a reply before it takes its credit back, in periods of the
    /// full rate. *Chosen*: the other end's NIC may have been restarted with the request unread.
    pub patience: u64,
    /// Which parts of the protocol are there.
    pub layers: ProtocolLayers,
}

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPlan {
    /// Its number on its NIC.
    pub id: EndpointId,
    /// What a sender must know.
    pub key: EndpointKey,
    /// Bytes of the segment that bulk messages go into; [`SEGMENT_MAX`] at most.
    pub segment: u32,
    /// How its application learns of messages.
    pub wake: WakeMode,
}

/// How an application learns of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WakeMode {
    /// It polls its endpoints in turn, in one thread.
    #[default]
    Poll,
    /// A thread of its own waits for the event of this endpoint.
    Event,
}

/// Requests of one endpoint to another, each answered with a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageStream {
    /// The sending endpoint.
    pub from: EndpointId,
    /// The NIC and endpoint that they are for.
    pub to: (Nic, EndpointId),
    /// The key that the sender holds for it.
    pub key: EndpointKey,
    /// Short, medium or bulk.
    pub kind: MessageKind,
    /// Bytes of each: of the argument words, of the payload, or of the whole transfer. At least 4, and
    /// whole words of a short one; what is too long is cut to what its kind can carry.
    pub size: PayloadSize,
    /// When: [`ArrivalProcess::Closed`] waits for replies, others never send beyond the credits either. A
    /// closed loop's messages have 8 bytes at least.
    pub arrivals: ArrivalProcess,
    /// Not before: periods of the full rate.
    pub start: u64,
    /// How many at most.
    pub count: Option<u64>,
    /// What its application does with those that come back.
    pub returned: ReturnHandler,
}

/// An application's handler for returned messages. Text
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReturnHandler {
    /// Drops them.
    #[default]
    Drop,
    /// Sends them again, each as a new message: to the same endpoint, as often as it comes back.
    SendAgain,
    /// Sends them to another endpoint, whose key it holds; drops what comes back from there too.
    SendElsewhere((Nic, EndpointId), EndpointKey),
}

/// The three kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MessageKind {
    /// Argument words, by programmed I/O.
    Short,
    /// Through the staging area in host memory.
    Medium,
    /// Into the receiver's segment, in medium-sized pieces.
    Bulk,
}

impl MessageStream {
    /// Whether its messages may go to this NIC.
    pub(crate) fn goes_to(&self, nic: Nic) -> bool {
        match self.returned {
            ReturnHandler::SendElsewhere((other, _), _) if other == nic => true,
            ReturnHandler::Drop | ReturnHandler::SendAgain | ReturnHandler::SendElsewhere(..) => {
                self.to.0 == nic
            }
        }
    }
}

impl Default for EndpointParameters {
    /// The digest's: T-9, T-14, T-15. A load takes 1 ms, a mapping 100 µs: a page fault and the driver's
    /// work. *Chosen*
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
