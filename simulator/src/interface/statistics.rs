//! Counters of an interface.

use serde::Serialize;

use super::memory::MemoryUse;
use super::receive_engine::IntakeRecord;
use crate::truth::PacketHandling;

/// Counters of an interface since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostStatistics {
    /// Packets begun, those of texts included.
    pub injected: u64,
    /// Packets sent whole, for the host or for the firmware that serves its endpoints.
    pub sent: u64,
    /// Their bytes, from the route to the CRC byte.
    pub sent_bytes: u64,
    /// Packets received.
    pub received: u64,
    /// Their bytes, CRC byte included.
    pub received_bytes: u64,
    /// Received packets by handling.
    pub handled: HandlingCounts,
    /// Bytes of the delivered packets, tag and CRC byte included.
    pub delivered_bytes: u64,
    /// Packets refused for lack of memory or of a route.
    pub refused: u64,
    /// Interrupts of the host. I-6
    pub interrupts: u64,
    /// Times that the host has loaded the control program again. I-3, I-8
    pub reloads: u64,
    /// Memory. I-5
    pub memory: MemoryUse,
    /// Bytes that the host's software and the bus have touched. H-1
    pub touched: ByteTouches,
    /// Bytes that IP has brought to the host's applications. H-1
    pub ip_bytes: u64,
}

/// Bytes touched on the way between applications and the interface, by whom. H-1
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByteTouches {
    /// Written or read by applications.
    pub application: u64,
    /// Copied by the processor.
    pub copied: u64,
    /// Read by the processor for a checksum.
    pub summed: u64,
    /// Moved by the bus, with the Internet checksum at no cost.
    pub bus: u64,
}

/// Number of packets by handling. I-2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HandlingCounts {
    /// Delivered to the host, or to the firmware that serves its endpoints.
    pub delivered: u64,
    /// With a wrong CRC byte.
    pub corrupt: u64,
    /// Too short.
    pub runt: u64,
    /// With a route byte left.
    pub misrouted: u64,
    /// Packets of a type that no routine takes.
    pub no_routine: u64,
    /// Received while the control program was not loaded.
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
