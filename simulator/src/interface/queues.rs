//! What host and control program say to each other: commands one way, acknowledgments the other,
//! each through a bounded queue with one producer and one consumer. I-6 (Micro)

use std::collections::VecDeque;

use codec::packet::PacketTag;

use crate::control::PacketRoutine;
use crate::topology::NodeId;

/// A queue with so many places.
#[derive(Clone, Debug)]
pub struct BoundedQueue<T> {
    entries: VecDeque<T>,
    places: usize,
}

/// From the host: send a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendCommand {
    /// The host's number for it, given back when it is acknowledged.
    pub number: u32,
    /// The host's blocks that make up the payload.
    pub gather: Vec<Vec<u8>>,
    /// Where in the payload to insert its Internet checksum. What stands there is summed too, so
    /// that a host may leave the sum of a pseudo header there, or 0.
    pub checksum: Option<usize>,
    /// To which host.
    pub to: NodeId,
    /// The packet's type. P-2
    pub tag: PacketTag,
    /// Whether to interrupt the host when it is done.
    pub interrupt: HostInterrupt,
}

/// Whether an acknowledgment interrupts the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostInterrupt {
    /// The host will look by itself.
    #[default]
    No,
    /// It does.
    Yes,
}

/// To the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAcknowledgment {
    /// A command is done with.
    Ended(EndedCommand),
    /// A packet has come in.
    Arrived {
        /// Which routine took it.
        routine: PacketRoutine,
        /// Its payload, in the buffers that the host had posted.
        buffers: Vec<HostBuffer>,
        /// The sum of its payload, as the DMA engine has computed it. RFC 1071
        sum: u16,
    },
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedCommand {
    /// The host's number for it.
    pub number: u32,
    /// Whether it interrupts the host.
    pub interrupt: HostInterrupt,
    /// What became of its packet.
    pub outcome: CommandOutcome,
}

/// What became of a command's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// It is on its way.
    Sent,
    /// Its sending was broken off.
    Cut,
    /// There is no route to that host.
    NoRoute,
    /// It is longer than the memory for it. I-5
    TooLong,
}

/// A block of host memory for a packet, or a part of one, to be written into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostBuffer {
    /// What has been written.
    pub bytes: Vec<u8>,
    /// How many bytes it can hold.
    pub size: usize,
}

impl<T> BoundedQueue<T> {
    /// An empty queue; one place at least.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { entries: VecDeque::new(), places: places.max(1) }
    }

    /// Puts an entry in behind all others.
    ///
    /// # Errors
    /// Hands it back if there is no place.
    pub fn push(&mut self, entry: T) -> Result<(), T> {
        if self.is_full() {
            return Err(entry);
        }
        self.entries.push_back(entry);
        Ok(())
    }

    /// Takes out the entry that has been in it longest.
    pub fn pop(&mut self) -> Option<T> {
        self.entries.pop_front()
    }

    /// The entry that has been in it longest.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.entries.front()
    }

    /// All entries, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }

    /// Whether every place is taken.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.places
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl HostBuffer {
    /// An empty one.
    #[must_use]
    pub const fn new(size: usize) -> Self {
        Self { bytes: Vec::new(), size }
    }

    /// Bytes that it still has room for.
    #[must_use]
    pub const fn room(&self) -> usize {
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
