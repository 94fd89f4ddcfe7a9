//! Packets that carry IP packets, as they are, and files of IP packets that a host has recorded. H-1
//!
//! No value is published for their type (I-2).

mod host_capture;

pub use host_capture::{HostCapture, HostCaptureError, HostPacket};

/// Type of packets that carry an IP packet, and nothing else. *Chosen*: the high byte of the Ethernet type.
pub const TAG: u8 = 0x08;
