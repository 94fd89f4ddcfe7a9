//! Notices of interfaces to the truth.

use codec::mapping::InterfaceAddress;
use serde::Serialize;

use crate::node::NodeId;

/// A buffer whose use has reached another quarter of it. I-5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryMark {
    /// `send` or `receive`.
    pub buffer: &'static str,
    /// Bytes in use.
    pub used: u64,
    /// Bytes of the buffer.
    pub size: u64,
}

/// Cause of an interrupt. I-6
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptCause {
    /// A command has ended.
    Command,
    /// A packet was received.
    Packet,
    /// The control program was restarted. R-3
    Restart,
}

/// A multicast that an interface has sent, or received and sent on. N-6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayNotice {
    /// The host that sent it first.
    pub root: NodeId,
    /// Number of that host's command.
    pub number: u32,
    /// Number of copies that are sent.
    pub copies: usize,
    /// Number of copies that are not: no memory, or no route.
    pub lost: usize,
}

/// Packet that a router has sent on, or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterNotice {
    /// The address that it carries.
    pub destination: InterfaceAddress,
    /// Sent on, or lost, and why.
    pub outcome: RouterOutcome,
}

/// End of a packet at a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RouterOutcome {
    /// It is sent on.
    Forwarded,
    /// Its address is in no map of the network behind the fibre: it is lost.
    Unknown,
    /// The send memory has no room: it is lost.
    Full,
}
