//! Flaws outside the machines, and what they do to packets.

use codec::transport::{ChannelIncarnation, NackReason, Nic, TransportHeader};
use simulator::transport::{ProtocolPacket, TransportEffect, TransportNotice};

use super::super::checker::MessageNumber;
use super::{TransportWorld, WorldPacket};

/// Flaw outside the machines, to show that the laws notice it, or the purpose of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeededFlaw {
    #[default]
    None,
    /// Now and then a packet overtakes those before it on its path.
    Overtaking,
    /// Now and then a NACK arrives as an ACK.
    NackAsAck,
    /// Now and then data arrives with the other sequence number.
    Flip,
    /// All packets that a receiver gets have the same incarnation. Against T-12
    OneIncarnation,
    /// The answers to duplicates never leave their NIC. Against T-5
    DuplicatesUnanswered,
    /// Duplicates are answered as if a queue were full. Against T-5
    DuplicatesRefused,
    /// A NACK counts for whatever is outstanding. Against T-8
    NacksForAll,
    /// An ACK counts for whatever is outstanding. Against T-4
    AcksForAll,
    /// After a restart the host sends again what was not acknowledged. Against decision 9
    LostSentAgain,
}

/// The incarnation of all packets, with [`SeededFlaw::OneIncarnation`].
const ONE_INCARNATION: ChannelIncarnation = ChannelIncarnation(0xffff);

impl TransportWorld {
    pub(super) const fn is_now_and_then(&self) -> bool {
        self.now.is_multiple_of(3)
    }

    pub(super) fn flaw_in_packet(&self, nic: Nic, packet: WorldPacket) -> WorldPacket {
        let now_and_then = self.is_now_and_then();
        let latest = |header: TransportHeader| {
            let latest = self.checker.latest(nic, (header.source, header.channel));
            latest.map_or(header, TransportHeader::answer)
        };
        match (self.setup.flaw, packet) {
            (SeededFlaw::NackAsAck, ProtocolPacket::Nack(header, _)) if now_and_then => {
                ProtocolPacket::Ack(header)
            }
            (SeededFlaw::Flip, ProtocolPacket::Data(header, sync, number)) if now_and_then => {
                let seq = header.seq.flipped();
                ProtocolPacket::Data(TransportHeader { seq, ..header }, sync, number)
            }
            (SeededFlaw::OneIncarnation, ProtocolPacket::Data(header, sync, number)) => {
                let incarnation = ONE_INCARNATION;
                ProtocolPacket::Data(TransportHeader { incarnation, ..header }, sync, number)
            }
            (SeededFlaw::OneIncarnation, ProtocolPacket::Ack(header)) => {
                let incarnation = latest(header).incarnation;
                ProtocolPacket::Ack(TransportHeader { incarnation, ..header })
            }
            (SeededFlaw::NacksForAll, ProtocolPacket::Nack(header, reason)) => {
                ProtocolPacket::Nack(latest(header), reason)
            }
            (SeededFlaw::AcksForAll, ProtocolPacket::Ack(header)) => {
                ProtocolPacket::Ack(latest(header))
            }
            (_, packet) => packet,
        }
    }

    /// Number of answers of the machine that has just got a packet, as far as they are not kept back.
    pub(super) fn answers(&self, effects: &[TransportEffect<MessageNumber>]) -> usize {
        let is_kept_back =
            self.setup.flaw == SeededFlaw::DuplicatesUnanswered && effects.iter().any(is_duplicate);
        let sent = |effect: &&TransportEffect<MessageNumber>| {
            matches!(effect, TransportEffect::Send(_)) && !is_kept_back
        };
        effects.iter().filter(sent).count()
    }

    /// What becomes of the effects of a machine behind it.
    pub(super) fn flaw_in_effects(&self, effects: &mut Vec<TransportEffect<MessageNumber>>) {
        if !effects.iter().any(is_duplicate) {
            return;
        }
        if self.setup.flaw == SeededFlaw::DuplicatesUnanswered {
            effects.retain(|effect| !matches!(effect, TransportEffect::Send(_)));
        }
        if self.setup.flaw == SeededFlaw::DuplicatesRefused {
            for effect in effects {
                if let TransportEffect::Send(packet @ ProtocolPacket::Ack(_)) = effect {
                    *packet = ProtocolPacket::Nack(*super::header(packet), NackReason::QueueFull);
                }
            }
        }
    }
}

const fn is_duplicate(effect: &TransportEffect<MessageNumber>) -> bool {
    matches!(effect, TransportEffect::Noted(_, TransportNotice::Duplicate))
}
