//! Packet types (tags) and the routines of an interface that take them. P-2, I-2

use codec::ip;
use codec::multicast::RELAYED;
use codec::packet::PacketTag;

/// Packet type of a closed loop's requests. The payload begins with 8 bytes, big-endian: the
/// requesting host and the number of the request. *Chosen*
pub(crate) const REQUEST: PacketTag = tag(0x10);

/// Packet type of the answers, whose payload begins with the same 8 bytes. *Chosen*
pub(crate) const ANSWER: PacketTag = tag(0x11);

/// Packet type of IP. H-1
pub(crate) const IP: PacketTag = tag(ip::TAG);

/// Packet type of multicasts by the control programs. N-6
pub(crate) const MULTICAST: PacketTag = tag(RELAYED);

/// First packet type that no routine takes; lower ones are delivered. *Chosen*
pub(crate) const UNTAKEN: u8 = 0x40;

/// The routine that takes packets of a type. I-2
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketRoutine {
    /// Delivers them to the host.
    Deliver,
    /// Delivers them to the host, which answers.
    Request,
    /// Delivers them to the host, which may send its next request.
    Answer,
    /// Delivers them to the host's IP stack. H-1
    Ip,
    /// Delivers them to the host, and sends them on. N-6
    Relay,
    /// Hands them to the firmware that serves the host's endpoints. T
    Transport,
    /// Hands them to the part of the control program that maps the network. N-2
    Mapping,
    /// Hands them to the part of a router's control program that passes them on. N-5
    Internetwork,
}

/// The routine for a packet's first byte at a host without endpoints. I-2
pub(crate) const fn routine(first: u8) -> Option<PacketRoutine> {
    if first == REQUEST.value() {
        Some(PacketRoutine::Request)
    } else if first == ANSWER.value() {
        Some(PacketRoutine::Answer)
    } else if first == MULTICAST.value() {
        Some(PacketRoutine::Relay)
    } else if first == IP.value() {
        Some(PacketRoutine::Ip)
    } else if first < UNTAKEN {
        Some(PacketRoutine::Deliver)
    } else {
        None
    }
}

#[expect(clippy::panic, reason = "at compile time")]
const fn tag(byte: u8) -> PacketTag {
    match PacketTag::new(byte) {
        Some(tag) => tag,
        None => panic!("a tag has MSB 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_has_its_routine_or_none() {
        let routines: Vec<Option<PacketRoutine>> = (0..=0xff).map(routine).collect();
        let count = |which| routines.iter().filter(|routine| **routine == which).count();
        assert_eq!(routines[0x10], Some(PacketRoutine::Request));
        assert_eq!(routines[0x11], Some(PacketRoutine::Answer));
        assert_eq!(routines[0x08], Some(PacketRoutine::Ip));
        assert_eq!(count(Some(PacketRoutine::Deliver)), 0x40 - 4);
        assert_eq!(count(None), 0x100 - 0x40);
        assert_eq!(routines[0x3f..0x41], [Some(PacketRoutine::Deliver), None]);
    }
}
