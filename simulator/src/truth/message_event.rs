//! Events of a host's messaging, for the truth, and its outgoing packets.

use codec::error::DecodeError;
use codec::transport::{EndpointId, NackReason, Nic, SyncFlag, TransportHeader};

use crate::transport::TransportNotice;

/// Sender and sequence number of a message. Requests and replies of an endpoint are counted
/// together. The number is the first word of a message's arguments or bytes. *Chosen*
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    /// Sending NIC.
    pub nic: Nic,
    /// Sending endpoint.
    pub endpoint: EndpointId,
    /// Sequence number, from 0.
    pub number: u32,
}

/// Contents of an outgoing packet, for the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransmissionKind {
    /// A message.
    Data {
        /// Header on the wire.
        header: TransportHeader,
        /// SYNC on the wire.
        sync: SyncFlag,
        /// Message.
        message: MessageId,
        /// First transmission or retransmission.
        turn: TransmissionAttempt,
    },
    /// An ACK. T-5
    Ack(TransportHeader),
    /// A NACK and its reason. T-6
    Nack(TransportHeader, NackReason),
}

/// Transmission of a packet: the first, or a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransmissionAttempt {
    /// First transmission.
    First,
    /// Retransmission by the scan. T-10
    Again,
}

/// Event of a message or an endpoint, for the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessagingEvent {
    /// The application handed the message over, for this endpoint of this NIC. T-1
    Accepted(MessageId, (Nic, EndpointId)),
    /// The message was written into a receive queue of this endpoint. T-5
    Written(MessageId, EndpointId),
    /// The sender received the acknowledgment. T-5
    Acknowledged(MessageId),
    /// The message was returned to its sender. T-6, T-11
    Returned(MessageId, ReturnCause),
    /// The application gave up waiting for the reply to a request.
    GivenUp(MessageId),
    /// The message was lost unread with the frame of this endpoint.
    Lost(MessageId, EndpointId),
    /// The message was read with wrong bytes.
    Damaged(MessageId, EndpointId),
    /// A packet of the message was refused with a NACK. T-6
    Refused(MessageId, TransportHeader, NackReason),
    /// A packet of the message was refused and dropped: without reliability there are no NACKs.
    Dropped(MessageId, NackReason),
    /// The protocol reported something about a received or retransmitted packet.
    Observed(TransportHeader, TransportNotice),
    /// A malformed packet was dropped. T-7
    Malformed(DecodeError),
    /// A packet was dropped because the NIC was full.
    Overrun,
    /// The endpoint leaves its frame as soon as T-13 allows.
    Leaving(EndpointId),
    /// The endpoint left its frame. T-13
    Unloaded(EndpointId),
    /// The endpoint entered a frame. T-15
    Loaded(EndpointId),
    /// A page of the endpoint's host memory was pinned and mapped for DMA. T-6, T-15
    Mapped(EndpointId),
    /// The endpoint's number of credits changed. T-9
    Credits(EndpointId, u16),
}

/// Reason for the return of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnCause {
    /// Final NACK. T-6
    Refused(NackReason),
    /// The destination did not answer or cannot be reached. T-11
    Unreachable,
    /// The sender's NIC was restarted: the frames' contents were lost, and the host driver returns
    /// its messages, which may have been delivered.
    Restarted,
}
