//! Conversion of journeys to transport packets.

use codec::error::DecodeError;
use codec::packet::CrcCheck;
use codec::transport::{MessageExtent, TransportHeader, TransportPacket};

use super::transport_packet::{
    DataContent, HeaderTrust, ObservedPacket, ObservedPlace, PacketContent, TransportFate,
};
use crate::capture_network::CaptureNetwork;
use crate::channel_name::PortName;
use crate::event::Picoseconds;
use crate::journey::{self, Corruption, Journey, JourneyHop, MatchCertainty};
use crate::node_kind::TopologyNodeKind;
use crate::packet::FrameEnd;
use crate::packet::transport::ParsedTransport;

/// A packet with a good CRC and the protocol's packet type that cannot be parsed. T-7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedPacket {
    /// Place of its first capture.
    pub place: ObservedPlace,
    /// Reason why parsing failed.
    pub fault: DecodeError,
}

/// Item of the input of conversations.
#[derive(Debug)]
pub(crate) enum TransportItem {
    Packet(Box<ObservedPacket>),
    Malformed(MalformedPacket),
    /// The capture up to here is incomplete: uncaptured packets may have existed.
    Hole,
}

impl TransportItem {
    /// Time and packet of a journey, if it has the protocol's packet type.
    pub(crate) fn of(journey: &Journey, network: &CaptureNetwork) -> Option<(Picoseconds, Self)> {
        let ParsedTransport { packet, check, content } = **journey.transport.as_ref()?;
        let last = journey.hops.last()?;
        // Partial packets matched by order alone: only the last hop, which is intact, is certain.
        let by_order = journey.certainty == MatchCertainty::ByOrder && last.check == CrcCheck::Good;
        let mut harms = journey.injuries.iter().map(|it| &it.harm);
        let cut = harms.any(|it| matches!(it, Corruption::Cut(..) | Corruption::Grown(_)));
        let first = if by_order && cut { last } else { journey.hops.first()? };
        let JourneyHop { time, channel, start: at, packet: number, .. } = *first;
        let place = ObservedPlace { time, channel, at, packet: number };
        let (header, what) = match packet {
            Ok(packet) => parts(packet, content),
            // A corrupted packet is not malformed.
            Err(fault) => {
                let whole = check == CrcCheck::Good && last.ended_by == FrameEnd::Gap;
                let malformed = Self::Malformed(MalformedPacket { place, fault });
                return whole.then_some((time, malformed));
            }
        };
        let is_sound = check == CrcCheck::Good;
        let reading = if is_sound { HeaderTrust::Sound } else { HeaderTrust::Doubtful };
        let packet = ObservedPacket {
            place,
            last: last.time,
            links: (network.link(first.channel), network.link(last.channel)),
            header,
            what,
            fate: fate(journey, last),
            certainty: journey.certainty,
            reading,
            shows_answers: [first, last].into_iter().any(|hop| shows_answers(hop, network)),
        };
        Some((time, Self::Packet(Box::new(packet))))
    }
}

/// True if a hop is on a link of a host, and the commands on its other direction are recorded up to now.
fn shows_answers(hop: &JourneyHop, network: &CaptureNetwork) -> bool {
    let is_host = |end: &PortName| network.kind(&end.node) != TopologyNodeKind::Switch;
    let is_of_host =
        network.ends(hop.channel).is_none_or(|it| is_host(&it.from) || is_host(&it.to));
    let known = network.commands_known(hop.channel);
    is_of_host
        && network.opposite(hop.channel).is_some()
        && known.is_some_and(|since| since <= hop.time)
}

fn parts(
    packet: TransportPacket<MessageExtent>,
    content: codec::crc::CrcResidue,
) -> (TransportHeader, PacketContent) {
    match packet {
        TransportPacket::Ack(header) => (header, PacketContent::Ack),
        TransportPacket::Nack(header, reason) => (header, PacketContent::Nack(reason)),
        TransportPacket::Data(header, sync, message) => {
            let data = DataContent {
                sync,
                role: message.role,
                form: message.body.form(),
                source: message.source,
                destination: message.destination,
                bytes: message.body.len().into(),
                content,
            };
            (header, PacketContent::Data(data))
        }
    }
}

/// Fate of a packet at its receiver. T-7
pub(crate) fn fate(journey: &Journey, last: &JourneyHop) -> TransportFate {
    match (last.ended_by, last.check) {
        (FrameEnd::CaptureEnd, _) => return TransportFate::UnderWay,
        (FrameEnd::Hole, _) => return TransportFate::OutOfSight,
        // A bad CRC without a captured corruption: the recording of the packet is incomplete.
        (FrameEnd::Gap, CrcCheck::Partial) => return TransportFate::OutOfSight,
        (FrameEnd::Gap, CrcCheck::Bad(_)) if journey.injuries.is_empty() => {
            return TransportFate::OutOfSight;
        }
        (FrameEnd::OpenLink | FrameEnd::Reset, _) => return TransportFate::Hurt,
        (FrameEnd::Gap, CrcCheck::Bad(_) | CrcCheck::Runt) => return TransportFate::Hurt,
        (FrameEnd::Gap, CrcCheck::Good) => {}
    }
    match journey.fate {
        journey::JourneyFate::Arrived => TransportFate::Arrived,
        journey::JourneyFate::OutOfSight => TransportFate::OutOfSight,
        journey::JourneyFate::UnderWay => TransportFate::UnderWay,
        journey::JourneyFate::Misrouted
        | journey::JourneyFate::Dropped(_)
        | journey::JourneyFate::Merged => TransportFate::Lost,
    }
}
