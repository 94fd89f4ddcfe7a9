//! The queues between host and control program: commands one way, acknowledgments the other, each
//! bounded, with one producer and one consumer. I-6 (Micro)

use std::collections::VecDeque;

use codec::packet::PacketTag;

use crate::packet_types::PacketRoutine;
use crate::topology::NodeId;

#[derive(Clone, Debug)]
pub(super) struct BoundedQueue<T> {
    entries: VecDeque<T>,
    places: usize,
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
        /// Its payload, in the buffers posted by the host.
        buffers: Vec<HostBuffer>,
        /// The sum of its payload, computed by the DMA engine. RFC 1071
        sum: u16,
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

/// A block of host memory for received data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostBuffer {
    pub bytes: Vec<u8>,
    /// Capacity in bytes.
    pub size: usize,
}

impl<T> BoundedQueue<T> {
    /// An empty queue with at least one place.
    pub(super) fn new(places: usize) -> Self {
        Self { entries: VecDeque::new(), places: places.max(1) }
    }

    /// Appends an entry, or returns it if the queue is full.
    pub(super) fn push(&mut self, entry: T) -> Result<(), T> {
        if self.is_full() {
            return Err(entry);
        }
        self.entries.push_back(entry);
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.entries.pop_front()
    }
    pub(super) fn first(&self) -> Option<&T> {
        self.entries.front()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.places
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}

impl HostBuffer {
    pub(super) const fn new(size: usize) -> Self {
        Self { bytes: Vec::new(), size }
    }

    /// Free bytes.
    pub(super) const fn room(&self) -> usize {
        self.size.saturating_sub(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_hands_back_what_it_has_no_place_for() {
        let mut queue = BoundedQueue::new(2);
        assert_eq!(queue.push('a'), Ok(()));
        assert!(!queue.is_full());
        assert_eq!(queue.push('b'), Ok(()));
        assert!(queue.is_full());
        assert_eq!(queue.push('c'), Err('c'));
        assert_eq!(queue.first(), Some(&'a'));
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some('a'), Some('b'), None));
    }

    #[test]
    fn a_queue_has_a_place_at_least() {
        let mut queue = BoundedQueue::new(0);
        assert_eq!(queue.push('a'), Ok(()));
        assert_eq!(queue.push('b'), Err('b'));
        queue.clear();
        assert_eq!(queue.pop(), None);
    }
}
