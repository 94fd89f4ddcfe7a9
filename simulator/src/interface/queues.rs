//! The queues between host and control program: commands one way, acknowledgments the other, each
//! with one producer and one consumer. I-6 (Micro)

use std::collections::VecDeque;

use codec::packet::PacketTag;

use crate::packet_types::PacketRoutine;
use crate::topology::NodeId;

/// Size of a receive buffer, in bytes: half a page. *Chosen*
pub(super) const BUFFER: usize = 4096;

/// The queues between a host and its interface. I-6
#[derive(Clone, Debug)]
pub(super) struct HostQueues {
    /// From the host.
    pub commands: VecDeque<SendCommand>,
    /// Most commands, at least one.
    places: usize,
    /// To the host.
    pub acknowledgments: VecDeque<HostAcknowledgment>,
    /// Number of empty receive buffers, from the host.
    pub posted: usize,
}

/// A command of the host to send a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SendCommand {
    /// The host's number for it, returned in the acknowledgment.
    pub number: u32,
    /// The host's blocks that make up the payload.
    pub gather: VecDeque<Vec<u8>>,
    /// Position in the payload for its Internet checksum. The bytes there are summed too, so a host
    /// may put the sum of a pseudo header there, or 0.
    pub checksum: Option<usize>,
    pub to: NodeId,
    /// The packet's type. P-2
    pub tag: PacketTag,
    /// Time at which the packet was ready at the host.
    pub ready: u64,
    /// Its acknowledgment interrupts the host.
    pub interrupt: bool,
}

/// A message to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostAcknowledgment {
    /// A command has ended.
    Ended {
        /// The host's number for it.
        number: u32,
        interrupt: bool,
        outcome: CommandOutcome,
    },
    /// A packet was received.
    Arrived {
        routine: PacketRoutine,
        /// In as many buffers as it needs.
        payload: Vec<u8>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandOutcome {
    /// The packet was sent.
    Sent,
    /// Its sending was broken off.
    Cut,
    /// No route leads to the host.
    NoRoute,
    /// It is longer than the memory. I-5
    TooLong,
}

impl HostQueues {
    pub(super) fn new(commands: u32, receive_memory: usize) -> Self {
        Self {
            commands: VecDeque::new(),
            places: commands.max(1) as usize,
            acknowledgments: VecDeque::new(),
            posted: receive_memory / BUFFER + 1,
        }
    }

    /// True if there is no place for a command.
    pub(super) fn is_full(&self) -> bool {
        self.commands.len() >= self.places
    }
}
