//! Switch or host: the kind of a node, judged by the first bytes of the packets that arrive there. S-2, I-2

use codec::mapping::{MappingPacket, MappingRequest, TAG};
use codec::route::is_route_byte;
use serde::Serialize;

use crate::packet::ReceivedPacket;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyNodeKind {
    /// It has a port that is not port 0, the only one that a host has (I-1), or packets come to it with
    /// a route byte in front. S-2
    Switch,
    /// The capture declares it as an end of a fibre, which passes packets on unchanged. N-5
    Fibre,
    /// No other port than 0 is known of it, and packets come to it with their tag in front. I-2
    Host,
    /// No other port than 0 is known of it, and nothing has come to it.
    Unknown,
}

/// Packets that arrived at a node, by their first byte. P-2
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeadCounts {
    routes: u64,
    tags: u64,
}

impl TopologyNodeKind {
    /// All kinds, in the order in which they are counted.
    pub const ALL: [Self; 4] = [Self::Switch, Self::Host, Self::Fibre, Self::Unknown];

    /// The name in `docs/output.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Fibre => "fibre",
            Self::Host => "host",
            Self::Unknown => "unknown",
        }
    }
}

impl HeadCounts {
    /// One more packet begins with this byte. One of mapping counts when its content is known.
    pub(crate) const fn count(&mut self, first: u8) {
        if first == TAG {
            return;
        }
        let count = if is_route_byte(first) { &mut self.routes } else { &mut self.tags };
        *count = count.saturating_add(1);
    }

    /// Corrects the counts by a packet that has ended. A mapper sends probes that come home to hosts with route
    /// bytes left, and probes without a route to switches: neither shows what the node is. N-8 Nor
    /// does the first recorded byte of a packet that had begun before. P-7
    pub(crate) fn correct(&mut self, packet: &ReceivedPacket) {
        let first = packet.front.bytes().first().copied();
        let is_routed = first.is_some_and(is_route_byte);
        if packet.is_headless() {
            let count = if is_routed { &mut self.routes } else { &mut self.tags };
            *count = count.saturating_sub(u64::from(first != Some(TAG)));
            return;
        }
        let Some(contents) = &packet.mapping else { return };
        match contents.packet() {
            Ok(MappingPacket::Home(..)) if is_routed => {
                self.routes = self.routes.saturating_sub(1);
            }
            Ok(MappingPacket::Home(..) | MappingPacket::Request(_, MappingRequest::Probe))
            | Err(_) => {}
            Ok(_) => {
                self.tags = self.tags.saturating_add(u64::from(first == Some(TAG)));
            }
        }
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            routes: self.routes.saturating_add(other.routes),
            tags: self.tags.saturating_add(other.tags),
        }
    }

    /// Kind of a node of which only port 0 is known. Reading: the first byte of most packets decides; a
    /// misrouted one makes no switch of a host.
    pub(crate) const fn kind(self) -> TopologyNodeKind {
        match self {
            Self { routes: 0, tags: 0 } => TopologyNodeKind::Unknown,
            Self { routes, tags } if routes > tags => TopologyNodeKind::Switch,
            Self { .. } => TopologyNodeKind::Host,
        }
    }
}
