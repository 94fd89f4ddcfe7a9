//! Bytes of a packet that an interface sends or takes one in each period, all at once.

use super::{ConsumptionMode, HostInterface, InterfaceState};

impl HostInterface {
    /// Number of bytes of the packet being received that it certainly takes, one in each period;
    /// `None` if it may take none. I-4
    pub(crate) fn room(&self) -> Option<usize> {
        match (self.parameters.consumption, self.state) {
            (ConsumptionMode::Always, InterfaceState::Loading { .. } | InterfaceState::Running) => {
                self.receiving.room()
            }
            (ConsumptionMode::Always, InterfaceState::Off)
            | (
                ConsumptionMode::Never | ConsumptionMode::Every(_) | ConsumptionMode::Adversary,
                _,
            ) => None,
        }
    }

    /// Takes bytes of the packet being received, no more than it has room for.
    pub(crate) fn take_bytes(&mut self, bytes: &[u8]) {
        self.receiving.bytes(bytes);
    }

    /// The bytes that the sending engine offers next, all within a packet.
    pub(crate) fn bytes_left(&self) -> &[u8] {
        self.sending.bytes_left()
    }

    /// Removes bytes that the output circuit has taken, all within a packet.
    pub(crate) fn taken_bytes(&mut self, count: usize) {
        self.sending.taken_bytes(count);
    }
}
