//! What happens between NICs, in words.

use std::fmt;

use codec::transport::{NackReason, Nic, SequenceBit, SyncFlag, TransportHeader};
use simulator::transport::{
    Micros, ProtocolPacket, ReturnReason, TransportEffect, TransportNotice,
};

use super::super::checker::MessageNumber;
use super::{TransportWorld, WorldPacket, header};
use crate::trace::{self, LawTraceEntry};

impl TransportWorld {
    pub(super) fn tell(&self, text: impl FnOnce() -> String) {
        trace::record(|| LawTraceEntry::Happened(text()));
    }

    pub(super) fn tell_effect(&self, nic: Nic, effect: &TransportEffect<MessageNumber>) {
        if trace::is_recording()
            && let Some(text) = effect_text(nic, effect)
        {
            self.tell(|| text);
        }
    }

    pub(super) fn packet_text(&self, packet: &WorldPacket) -> PacketText {
        let ahead = self.host(header(packet).source).ahead;
        PacketText { packet: *packet, ahead }
    }
}

/// Text of an effect; `None` for a packet, which leaves later, and for what the machine tells of one.
fn effect_text(Nic(nic): Nic, effect: &TransportEffect<MessageNumber>) -> Option<String> {
    let text = match effect {
        TransportEffect::Send(_)
        | TransportEffect::Noted(_, TransportNotice::Retransmitted | TransportNotice::Refused(_)) =>
        {
            return None;
        }
        TransportEffect::Acknowledged(letter) => {
            format!("at NIC {nic} {} is ACKNOWLEDGED", letter.message)
        }
        TransportEffect::Returned(letter, ReturnReason::Refused(_)) => {
            format!("at NIC {nic} {} is RETURNED: refused", letter.message)
        }
        TransportEffect::Returned(letter, ReturnReason::Unreachable) => {
            format!("at NIC {nic} {} is RETURNED: unreachable", letter.message)
        }
        TransportEffect::Unloaded(_, messages) => {
            let carried = messages.iter().map(|it| format!("at NIC {nic} {it} is carried along; "));
            carried.chain([format!("the endpoint of NIC {nic} has left")]).collect()
        }
        TransportEffect::Noted(_, TransportNotice::Duplicate) => "it is a duplicate".to_owned(),
        TransportEffect::Noted(_, TransportNotice::Stale) => "it is stale".to_owned(),
        TransportEffect::Noted(_, TransportNotice::Late) => "it is late".to_owned(),
        TransportEffect::Noted(_, TransportNotice::Unknown) => "it is unknown".to_owned(),
    };
    Some(text)
}

pub(super) struct PacketText {
    packet: WorldPacket,
    /// How far ahead the clock is that its timestamp is of.
    ahead: u64,
}

impl fmt::Display for PacketText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.packet {
            ProtocolPacket::Data(header, sync, message) => {
                write!(f, "{message}(")?;
                self.header(f, header)?;
                match sync {
                    SyncFlag::Set => write!(f, " SYNC)"),
                    SyncFlag::Clear => write!(f, ")"),
                }
            }
            ProtocolPacket::Ack(header) => {
                write!(f, "ACK(")?;
                self.header(f, header)?;
                write!(f, ")")
            }
            ProtocolPacket::Nack(header, reason) => {
                write!(f, "NACK(")?;
                self.header(f, header)?;
                write!(f, " {})", reason_name(*reason).1)
            }
        }
    }
}

impl PacketText {
    fn header(&self, f: &mut fmt::Formatter<'_>, header: &TransportHeader) -> fmt::Result {
        let TransportHeader { channel, seq, incarnation, timestamp, .. } = header;
        let seq = match seq {
            SequenceBit::Zero => 0,
            SequenceBit::One => 1,
        };
        let at = timestamp.0.wrapping_sub(Micros(self.ahead).timestamp().0);
        write!(f, "channel {} #{:x}.{seq} at {at}", channel.0, incarnation.0)
    }
}

/// Place of an effect among what was seen, and its name.
pub(super) const fn effect_name(effect: &TransportEffect<MessageNumber>) -> (usize, &'static str) {
    match effect {
        TransportEffect::Send(ProtocolPacket::Data(_, SyncFlag::Set, _)) => (0, "sync"),
        TransportEffect::Send(ProtocolPacket::Data(_, SyncFlag::Clear, _)) => (1, "data"),
        TransportEffect::Send(ProtocolPacket::Ack(_)) => (2, "ack"),
        TransportEffect::Send(ProtocolPacket::Nack(..)) => (3, "nack"),
        TransportEffect::Acknowledged(_) => (4, "acknowledged"),
        TransportEffect::Returned(_, ReturnReason::Unreachable) => (5, "unreachable"),
        TransportEffect::Returned(_, ReturnReason::Refused(_)) => (6, "refused for good"),
        TransportEffect::Unloaded(_, messages) if messages.is_empty() => (7, "unloaded"),
        TransportEffect::Unloaded(..) => (8, "unloaded with messages"),
        TransportEffect::Noted(_, TransportNotice::Duplicate) => (9, "duplicate"),
        TransportEffect::Noted(_, TransportNotice::Stale) => (10, "stale"),
        TransportEffect::Noted(_, TransportNotice::Late) => (11, "late"),
        TransportEffect::Noted(_, TransportNotice::Unknown) => (12, "unknown"),
        TransportEffect::Noted(_, TransportNotice::Retransmitted) => (13, "retransmitted"),
        TransportEffect::Noted(_, TransportNotice::Refused(reason)) => reason_name(*reason),
    }
}

/// Place of a reason among what was seen, and its name.
const fn reason_name(reason: NackReason) -> (usize, &'static str) {
    match reason {
        NackReason::NotResident => (14, "not resident"),
        NackReason::QueueFull => (15, "queue full"),
        NackReason::NoResource => (16, "no resource"),
        NackReason::NoChannelState => (17, "no channel state"),
        NackReason::BadKey => (18, "bad key"),
        NackReason::NoSuchEndpoint => (19, "no such endpoint"),
    }
}
