//! Endpoints and virtual networks over the reliability protocol: what applications see of a host's
//! messages, and the NIC's firmware that serves them. T-6, T-9, T-13..T-15
//!
//! [`Messaging`] is the messages' side of one host: applications, endpoints, frames and firmware, each
//! stage at its cost. It knows no wire: whoever drives it carries its packets, in the reference
//! network the interface, in tests anything that likes to.

use codec::transport::{EndpointId, EndpointKey, Nic, Reason};

use crate::traffic::{Arrivals, Size};
use crate::transport::TransportParameters;

/// A message, for the truth: who sent it and the how manyth of its endpoint it is. It is carried in
/// the first word of a message's arguments or bytes. *Chosen*
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    /// The sending NIC.
    pub nic: Nic,
    /// The sending endpoint.
    pub endpoint: EndpointId,
    /// Counts from 0.
    pub number: u32,
}

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
    pub costs: Costs,
    /// Its endpoints.
    pub endpoints: Vec<EndpointPlan>,
    /// What they send.
    pub streams: Vec<MessageStream>,
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
}

/// What each stage of a message's way takes, in periods of the full rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Costs {
    // SKELETON: owner ENDPOINT.
    /// The host's processor, to send a message: o_s of `LogP`.
    pub host_send: u64,
    /// The host's processor, to receive one: o_r.
    pub host_receive: u64,
}

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPlan {
    /// Its number on its NIC.
    pub id: EndpointId,
    /// What a sender must know.
    pub key: EndpointKey,
    /// Bytes of the segment that bulk messages go into.
    pub segment: u32,
    /// How its application learns of messages.
    pub wake: Wake,
}

/// How an application learns of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wake {
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
    pub kind: Kind,
    /// Bytes of each: of the argument words, of the payload, or of the whole transfer.
    pub size: Size,
    /// When: [`Arrivals::Closed`] waits for replies, others never send beyond the credits either.
    pub arrivals: Arrivals,
    /// Not before: periods of the full rate.
    pub start: u64,
    /// How many at most.
    pub count: Option<u64>,
}

/// The three kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Argument words, by programmed I/O.
    Short,
    /// Through the staging area in host memory.
    Medium,
    /// Into the receiver's segment, in medium-sized pieces.
    Bulk,
}

/// A packet for the sending engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// To which NIC.
    pub to: Nic,
    /// A transport packet in bytes.
    pub payload: Vec<u8>,
}

/// Something that happened to a message or an endpoint, for the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Told {
    /// The application has handed it over. T-1
    Accepted(MessageId),
    /// It was written into the receive queue of this NIC's endpoint. T-5
    Written(MessageId, EndpointId),
    /// Its sender knows that. T-5
    Acknowledged(MessageId),
    /// It is back at its sender, refused for good, or for want of any sign of its destination. T-6, T-11
    Returned(MessageId, Option<Reason>),
    /// The endpoint is in a frame. T-15
    Loaded(EndpointId),
    /// It is not any more. T-13
    Unloaded(EndpointId),
}

/// The messages' side of a host.
#[derive(Clone, Debug)]
pub struct Messaging {
    // SKELETON: owner ENDPOINT.
    plan: MessagingPlan,
}

impl Messaging {
    /// A host that has just been started. `seed` is for its own dice.
    #[must_use]
    pub const fn new(plan: MessagingPlan, _seed: u64) -> Self {
        Self { plan }
    }

    /// When it next has something to do by itself, in periods of the full rate.
    #[must_use]
    pub const fn due(&self) -> Option<u64> {
        let _ = &self.plan;
        None
    }

    /// Does all that is due by now, and adds what happened.
    pub fn step(&mut self, _now: u64, _told: &mut Vec<Told>) {}

    /// A transport packet has come in whole, good by its CRC: the payload of a packet of type 1.
    pub fn hear(&mut self, _now: u64, _payload: &[u8], _told: &mut Vec<Told>) {}

    /// Hands out the next packet for the sending engine; the firmware gives it one at a time, the next
    /// after [`Messaging::sent`].
    pub const fn take_outgoing(&mut self) -> Option<Outgoing> {
        None
    }

    /// The sending engine is done with the packet that was taken.
    pub fn sent(&mut self, _now: u64) {}

    /// The control program is loaded again and runs from `ready` on: what was in the NIC is lost.
    pub fn restart(&mut self, _now: u64, _ready: u64, _told: &mut Vec<Told>) {}
}
