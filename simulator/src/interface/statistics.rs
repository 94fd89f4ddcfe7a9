//! What has passed through an interface.

use super::receive_engine::IntakeRecord;
use crate::truth::PacketHandling;

/// What has passed through an interface since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostStatistics {
    /// Packets begun, texts included.
    pub injected: u64,
    /// Packets sent whole, at the host's command or by the firmware that serves its endpoints.
    pub sent: u64,
    /// Their bytes, from the route to the CRC byte.
    pub sent_bytes: u64,
    /// Packets taken in.
    pub received: u64,
    /// Their bytes, the CRC byte included.
    pub received_bytes: u64,
    /// What became of them.
    pub handled: HandlingCounts,
    /// Bytes of those that were delivered, tag and CRC byte included.
    pub delivered_bytes: u64,
    /// Packets that the host wanted sent, but that no memory can hold or no route leads to.
    pub refused: u64,
    /// Interrupts of the host. I-6
    pub interrupts: u64,
}

/// How many packets came to what. I-2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandlingCounts {
    /// Handed to the host, or to the firmware that serves its endpoints.
    pub delivered: u64,
    /// Their CRC byte was wrong.
    pub corrupt: u64,
    /// Too short.
    pub runt: u64,
    /// With a route byte left.
    pub misrouted: u64,
    /// Of a type that no routine takes.
    pub no_routine: u64,
    /// Come while the control program was not loaded.
    pub ignored: u64,
    /// Longer than the memory.
    pub too_long: u64,
}

impl HostStatistics {
    pub(super) fn count(&mut self, account: IntakeRecord) {
        let IntakeRecord { length, handling } = account;
        self.received += 1;
        self.received_bytes += length;
        let handled = &mut self.handled;
        let count = match handling {
            PacketHandling::Delivered => {
                self.delivered_bytes += length;
                &mut handled.delivered
            }
            PacketHandling::Corrupt => &mut handled.corrupt,
            PacketHandling::Runt => &mut handled.runt,
            PacketHandling::Misrouted => &mut handled.misrouted,
            PacketHandling::NoRoutine => &mut handled.no_routine,
            PacketHandling::Ignored => &mut handled.ignored,
            PacketHandling::TooLong => &mut handled.too_long,
        };
        *count += 1;
    }
}
