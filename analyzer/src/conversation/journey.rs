//! A journey as conversations see it.

use codec::error::DecodeError;
use codec::packet::Check;
use codec::transport::{Extent, Header, Packet};

use super::seen::{Data, Fate, Link, Place, Reading, Seen, What};
use crate::packet::EndedBy;
use crate::path::{self, Certainty, Harm, Hop, Journey};
use crate::transport::TransportSeen;

/// A packet of the protocol's type that is no packet of the protocol, though its CRC is good. T-7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where it was first seen.
    pub place: Place,
    /// What is wrong with it.
    pub fault: DecodeError,
}

/// What a journey is to conversations.
#[derive(Debug)]
pub(super) enum Heard {
    /// A packet of the protocol.
    Packet(Box<Seen>),
    /// It only looks like one.
    Malformed(Malformed),
}

/// What a journey is, if it is of a packet of the protocol's type; `link` is that of a channel.
pub(super) fn heard(
    journey: &Journey,
    link: impl Fn(codec::capture::ChannelId) -> Link,
) -> Option<Heard> {
    let TransportSeen { packet, check, content } = **journey.transport.as_ref()?;
    let last = journey.hops.last()?;
    // Of two parts that order and time alone made one, only what came whole is sure.
    let by_order = journey.certainty == Certainty::ByOrder && last.check == Check::Good;
    let cut = journey.injuries.iter().any(|it| matches!(it.harm, Harm::Cut(..) | Harm::Grown(_)));
    let first = if by_order && cut { last } else { journey.hops.first()? };
    let Hop { time, channel, start: at, packet: number, .. } = *first;
    let place = Place { time, channel, at, packet: number };
    let (header, what) = match packet {
        Ok(packet) => parts(packet, content),
        // What was hurt is not malformed.
        Err(fault) => {
            let whole = check == Check::Good && last.ended_by == EndedBy::Gap;
            return whole.then_some(Heard::Malformed(Malformed { place, fault }));
        }
    };
    Some(Heard::Packet(Box::new(Seen {
        place,
        last: last.time,
        links: (link(first.channel), link(last.channel)),
        header,
        what,
        fate: fate(journey, last),
        certainty: journey.certainty,
        reading: if check == Check::Good { Reading::Sound } else { Reading::Doubtful },
    })))
}

fn parts(packet: Packet<Extent>, content: codec::crc::Residue) -> (Header, What) {
    match packet {
        Packet::Ack(header) => (header, What::Ack),
        Packet::Nack(header, reason) => (header, What::Nack(reason)),
        Packet::Data(header, sync, message) => {
            let data = Data {
                sync,
                role: message.role,
                form: message.body.form(),
                source: message.source,
                destination: message.destination,
                bytes: message.body.len().into(),
                content,
            };
            (header, What::Data(data))
        }
    }
}

/// What became of a packet, as its receiver would see it. T-7
fn fate(journey: &Journey, last: &Hop) -> Fate {
    match (last.ended_by, last.check) {
        (EndedBy::CaptureEnd, _) => return Fate::UnderWay,
        (EndedBy::Hole, _) => return Fate::OutOfSight,
        // What was recorded in part only is bad, and not hurt.
        (EndedBy::Gap, Check::Bad(_)) if journey.injuries.is_empty() => return Fate::OutOfSight,
        (EndedBy::OpenLink | EndedBy::Reset, _) => return Fate::Hurt,
        (EndedBy::Gap, Check::Bad(_) | Check::Runt) => return Fate::Hurt,
        (EndedBy::Gap, Check::Good) => {}
    }
    match journey.fate {
        path::Fate::Arrived => Fate::Arrived,
        path::Fate::OutOfSight => Fate::OutOfSight,
        path::Fate::UnderWay => Fate::UnderWay,
        path::Fate::Misrouted | path::Fate::Dropped(_) | path::Fate::Merged => Fate::Lost,
    }
}
