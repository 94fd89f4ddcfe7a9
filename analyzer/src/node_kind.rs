//! Switch or host: the kind of a node, judged by the first bytes of the packets that arrive there. S-2, I-2

use codec::mapping::{MappingPacket, MappingRequest, TAG};
use codec::packet::CrcCheck;
use codec::route::is_route_byte;
use serde::Serialize;

use crate::packet::ReceivedPacket;

codec::named_enum! {
    /// Kind of a node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TopologyNodeKind {
        /// It has a port that is not port 0, the only one that a host has (I-1), or packets come to it with
        /// a route byte in front. S-2
        Switch = "switch",
        /// No other port than 0 is known of it, and packets come to it with their tag in front. I-2
        Host = "host",
        /// The capture declares it as an end of a fibre, which passes packets on unchanged. N-5
        Fibre = "fibre",
        /// No other port than 0 is known of it, and nothing has come to it.
        Unknown = "unknown",
    }
}

/// Packets that arrived at a node, by their first byte. P-2
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeadCounts {
    /// Packets that are sound, or not over.
    sound: HeadCount,
    /// Packets whose first byte may be damaged, as their CRC is bad or missing. P-4, P-9
    damaged: HeadCount,
}

#[derive(Clone, Copy, Debug, Default)]
struct HeadCount {
    routes: u32,
    tags: u32,
}

impl HeadCounts {
    /// One more packet begins with this byte. One of mapping counts when its content is known.
    pub(crate) const fn count(&mut self, first: u8) {
        if first != TAG {
            self.sound.add(first);
        }
    }

    /// Corrects the counts by a packet that has ended. A mapper sends probes that come home to hosts with route
    /// bytes left, and probes without a route to switches: neither shows what the node is. N-8 Nor
    /// does the first recorded byte of a packet that had begun before. P-7
    pub(crate) fn correct(&mut self, packet: &ReceivedPacket) {
        let Some(first) = packet.front.bytes().first().copied() else { return };
        let is_damaged = matches!(packet.check, CrcCheck::Bad(_) | CrcCheck::Runt);
        if is_damaged || packet.is_headless() {
            if first != TAG {
                self.sound.remove(first);
                if is_damaged {
                    self.damaged.add(first);
                }
            }
            return;
        }
        let Some(contents) = &packet.mapping else { return };
        match contents.packet() {
            Ok(MappingPacket::Home(..)) if is_route_byte(first) => self.sound.remove(first),
            Ok(MappingPacket::Home(..) | MappingPacket::Request(_, MappingRequest::Probe))
            | Err(_) => {}
            Ok(_) if first == TAG => self.sound.add(first),
            Ok(_) => {}
        }
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self { sound: self.sound.and(other.sound), damaged: self.damaged.and(other.damaged) }
    }

    /// Kind of a node of which only port 0 is known. Reading: the first byte of most sound packets decides (a
    /// misrouted one makes no switch of a host), and that of damaged ones where none is sound.
    pub(crate) const fn kind(self) -> TopologyNodeKind {
        let Self { sound, damaged } = self;
        if sound.routes == 0 && sound.tags == 0 { damaged.kind() } else { sound.kind() }
    }

    /// True if sound packets tell the kind beyond doubt, so that one of the wrong kind may be blamed. *Chosen*, so that it
    /// is the same where some were not recorded: eight route bytes for each tag, two tags for each route byte. A
    /// tag is rare before a switch, but a wrong route brings packets with a route byte to a host.
    pub(crate) const fn is_sure(self) -> bool {
        let HeadCount { routes, tags } = self.sound;
        let is_host = tags > 0 && tags / 2 >= routes;
        is_host || routes / 8 >= if tags == 0 { 1 } else { tags }
    }
}

impl HeadCount {
    const fn of(&mut self, first: u8) -> &mut u32 {
        if is_route_byte(first) { &mut self.routes } else { &mut self.tags }
    }

    const fn add(&mut self, first: u8) {
        let count = self.of(first);
        *count = count.saturating_add(1);
    }

    const fn remove(&mut self, first: u8) {
        let count = self.of(first);
        *count = count.saturating_sub(1);
    }

    const fn and(self, other: Self) -> Self {
        Self {
            routes: self.routes.saturating_add(other.routes),
            tags: self.tags.saturating_add(other.tags),
        }
    }

    const fn kind(self) -> TopologyNodeKind {
        match self {
            Self { routes: 0, tags: 0 } => TopologyNodeKind::Unknown,
            Self { routes, tags } if routes > tags => TopologyNodeKind::Switch,
            Self { .. } => TopologyNodeKind::Host,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_packets_make_a_kind_but_blame_nobody() {
        let sure = |routes, tags| {
            let sound = HeadCount { routes, tags };
            let heads = HeadCounts { sound, ..HeadCounts::default() };
            (heads.kind().name(), heads.is_sure())
        };
        assert_eq!([sure(7, 0), sure(15, 2)], [("switch", false); 2]);
        assert_eq!([sure(8, 0), sure(8, 1), sure(16, 2)], [("switch", true); 3]);
        assert_eq!([sure(1, 1), sure(1, 2)], [("host", false), ("host", true)]);
        assert_eq!(sure(0, 0), ("unknown", false));
    }
}
