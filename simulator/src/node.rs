//! Numbers of nodes, ports and packets.
//!
//! A port of a switch is below 32, so that three bits of its number are free: one that tells a port with virtual
//! channels, and two for the virtual channel. C-7 (§4.8.4)

use std::fmt;

use codec::route::PortId;

/// Maximum number of ports of a switch: a relative route byte can address any of them. S-1
pub const SWITCH_PORTS_MAX: u8 = 32;

/// A node, by its index in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodePort {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
}

/// Identity of a packet: the host that injected it, and its sequence number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketId {
    /// The injecting host.
    pub host: NodeId,
    /// Sequence number at that host, from 0.
    pub number: u32,
}

const VIRTUAL: u8 = 0x80;
const CHANNEL_SHIFT: u32 = 5;
const PORT: u8 = (1 << CHANNEL_SHIFT) - 1;

pub(crate) const fn virtual_port(port: PortId, channel: u8) -> PortId {
    PortId(VIRTUAL | (channel & 3) << CHANNEL_SHIFT | port.0 & PORT)
}

/// The port of a number that may be that of a virtual channel.
pub(crate) const fn whole_port(port: PortId) -> PortId {
    PortId(port.0 & PORT)
}

/// The virtual channel of a number, 0 for a port without virtual channels.
pub(crate) const fn virtual_channel(port: PortId) -> u8 {
    (port.0 & !VIRTUAL) >> CHANNEL_SHIFT
}

impl NodePort {
    /// A virtual channel of the port.
    pub const fn with_virtual_channel(self, channel: u8) -> Self {
        Self { port: virtual_port(self.port, channel), ..self }
    }

    /// The port itself, of a virtual channel.
    pub(crate) const fn whole(self) -> Self {
        Self { port: whole_port(self.port), ..self }
    }
}

/// The number of a port, and that of a virtual channel behind it: `3`, `3.vc1`.
pub(crate) struct PortLabel(pub(crate) PortId);

impl fmt::Display for PortLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", whole_port(self.0).0)?;
        if self.0.0 & VIRTUAL == 0 {
            return Ok(());
        }
        write!(f, ".vc{}", virtual_channel(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use codec::virtual_channels::VIRTUAL_CHANNELS_MAX;

    #[test]
    fn each_virtual_channel_of_each_port_has_a_number_and_a_name_of_its_own() {
        let mut seen: Vec<u8> = (0..SWITCH_PORTS_MAX).collect();
        for port in (0..SWITCH_PORTS_MAX).map(PortId) {
            assert_eq!(
                (PortLabel(port).to_string(), virtual_channel(port)),
                (port.0.to_string(), 0)
            );
            for channel in 0..VIRTUAL_CHANNELS_MAX {
                let number = virtual_port(port, channel);
                assert_eq!((whole_port(number), virtual_channel(number)), (port, channel));
                assert_eq!(PortLabel(number).to_string(), format!("{}.vc{channel}", port.0));
                seen.push(number.0);
            }
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((seen.len(), count), (160, 160));
    }
}
