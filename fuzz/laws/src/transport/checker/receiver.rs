//! The part of the ledger that is about NICs as receivers. T-1, T-5, T-6, T-12

use codec::transport::{NackReason, Nic, SyncFlag, TransportHeader};
use simulator::transport::{ProtocolPacket, TransportEffect};

use super::{ExtraClaim, MachineStep, MessageNumber, TransportChecker, WriteState};

/// Expected reaction of a receiver to data. T-5, T-12
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedVerdict {
    Again,
    Stale,
    NoState,
    Offer,
}

impl TransportChecker {
    fn expected(
        &self,
        nic: Nic,
        header: &TransportHeader,
        sync: SyncFlag,
        number: MessageNumber,
    ) -> ExpectedVerdict {
        let written = self.is_written(number, WriteState::Now);
        match (sync, self.stored(nic, (header.source, header.channel))) {
            (_, Some(stored)) if stored.is_newer_than(header.incarnation) => ExpectedVerdict::Stale,
            (SyncFlag::Clear | SyncFlag::Set, _) if written => ExpectedVerdict::Again,
            (SyncFlag::Clear, Some(stored)) if stored != header.incarnation => {
                ExpectedVerdict::NoState
            }
            (SyncFlag::Clear, None) => ExpectedVerdict::NoState,
            (SyncFlag::Clear | SyncFlag::Set, _) => ExpectedVerdict::Offer,
        }
    }

    /// Data comes in. T-5, T-6, T-12
    pub(super) fn receive(
        &mut self,
        step: &MachineStep<'_>,
        (header, sync, number): (&TransportHeader, SyncFlag, MessageNumber),
        offered: Option<Result<(), NackReason>>,
    ) {
        let expected = self.expected(step.nic, header, sync, number);
        let is_again = expected == ExpectedVerdict::Again && offered == Some(Ok(()));
        assert!(!is_again, "{number} is written twice (property 1)\n{step:?}");
        let is_due = offered.is_none() || expected == ExpectedVerdict::Offer;
        assert!(is_due, "offered, though {expected:?}: {step:?}");
        let is_missing = offered.is_none() && expected == ExpectedVerdict::Offer;
        assert!(!is_missing, "{number} is not offered: {step:?}");
        let answer = match (expected, offered) {
            (ExpectedVerdict::Again, _) => Some(ProtocolPacket::Ack(header.answer())),
            (ExpectedVerdict::Stale, _) => None,
            (ExpectedVerdict::NoState, _) => {
                Some(ProtocolPacket::Nack(header.answer(), NackReason::NoChannelState))
            }
            (ExpectedVerdict::Offer, Some(Ok(()))) => {
                let place = self.index((header.source, header.channel));
                if let Some(stored) = self.side_mut(step.nic).stored.get_mut(place) {
                    *stored = Some(header.incarnation);
                }
                self.write(number);
                Some(ProtocolPacket::Ack(header.answer()))
            }
            // Reading: what is refused changes nothing, so its incarnation is not taken over either.
            (ExpectedVerdict::Offer, Some(Err(reason))) => {
                Some(ProtocolPacket::Nack(header.answer(), reason))
            }
            (ExpectedVerdict::Offer, None) => unreachable!("this has been checked"),
        };
        self.no_more(step, answer.map(TransportEffect::Send).as_slice());
    }

    fn write(&mut self, number: MessageNumber) {
        let one_life = self.claim == Some(ExtraClaim::OneLife);
        let again = one_life && self.is_written(number, WriteState::Before);
        assert!(!again, "{number} is written in two lives of its destination");
        self.account_mut(number).written = WriteState::Now;
    }
}
