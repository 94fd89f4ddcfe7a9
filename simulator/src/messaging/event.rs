//! What the messages' side of a host tells of what happened, for the truth, and the packets that it
//! hands out.

use codec::error::DecodeError;
use codec::transport::{EndpointId, NackReason, Nic, SyncFlag, TransportHeader};

use crate::transport::TransportNotice;

/// A message, for the truth: who sent it and the how manyth of its endpoint it is, requests and
/// replies counted together. The number is carried in the first word of a message's arguments or
/// bytes. *Chosen*
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    /// The sending NIC.
    pub nic: Nic,
    /// The sending endpoint.
    pub endpoint: EndpointId,
    /// Counts from 0.
    pub number: u32,
}

/// A packet for the sending engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagingPacket {
    /// To which NIC.
    pub to: Nic,
    /// A transport packet in bytes.
    pub payload: Vec<u8>,
    /// What it is, for the truth.
    pub what: TransmissionKind,
}

/// What a packet on its way out is, for the truth. The header has NICs, logical channel, sequence
/// number, timestamp and incarnation, as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransmissionKind {
    /// A message.
    Data {
        /// As on the wire.
        header: TransportHeader,
        /// As on the wire.
        sync: SyncFlag,
        /// Which message.
        message: MessageId,
        /// Whether it was sent before.
        turn: TransmissionAttempt,
    },
    /// An ACK. T-5
    Ack(TransportHeader),
    /// A NACK, and why. T-6
    Nack(TransportHeader, NackReason),
}

/// Whether a packet's message is sent for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransmissionAttempt {
    /// It is.
    First,
    /// By the scan: it was not acknowledged for too long. T-10
    Again,
}

/// Something that happened to a message or an endpoint, for the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessagingEvent {
    /// The application has handed it over, for this NIC's endpoint. T-1
    Accepted(MessageId, (Nic, EndpointId)),
    /// It was written into the receive queue of this endpoint here. T-5
    Written(MessageId, EndpointId),
    /// Its sender knows that. T-5
    Acknowledged(MessageId),
    /// It is back at its sender, and why. T-6, T-11
    Returned(MessageId, ReturnCause),
    /// A request whose reply the application does not wait for any more.
    GivenUp(MessageId),
    /// It had been written into this endpoint here, and was lost with its frame before anyone read it.
    Lost(MessageId, EndpointId),
    /// It was read, and its bytes are not those that were sent.
    Damaged(MessageId, EndpointId),
    /// A packet of it came and is not taken: a NACK goes out. T-6
    Refused(MessageId, TransportHeader, NackReason),
    /// A packet of it came and was dropped, as nothing is there to answer it with a NACK: the
    /// baseline without reliability.
    Dropped(MessageId, NackReason),
    /// The protocol noticed something about a packet that came, or that is sent again.
    Noticed(TransportHeader, TransportNotice),
    /// A packet that came is malformed, and dropped. T-7
    Malformed(DecodeError),
    /// A packet came that the NIC has no room for, and is dropped.
    Overrun,
    /// The endpoint is to leave its frame, as soon as T-13 lets it.
    Leaving(EndpointId),
    /// It is not in a frame any more. T-13
    Unloaded(EndpointId),
    /// The endpoint is in a frame. T-15
    Loaded(EndpointId),
    /// A page of the endpoint's host memory was pinned and has a DMA mapping. T-6, T-15
    Mapped(EndpointId),
    /// The endpoint has so many credits now. T-9
    Credits(EndpointId, u16),
}

/// Why a message is back at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnCause {
    /// The NACK was final. T-6
    Refused(NackReason),
    /// There was no sign of its destination for too long, or there can be none. T-11
    Unreachable,
    /// Its own NIC was restarted: what lay in the frames was lost, and the host's driver returns what
    /// it had been given. It may have been written.
    Restarted,
}
