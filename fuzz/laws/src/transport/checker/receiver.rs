//! The part of the ledger that is about NICs as receivers. T-1, T-5, T-6, T-12

use codec::transport::{NackReason, Nic, SyncFlag, TransportHeader};
use simulator::transport::{ProtocolPacket, TransportEffect};

use super::{MachineStep, MessageNumber, TransportChecker};

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
        let Some(side) = self.side(nic) else { return ExpectedVerdict::NoState };
        let written = self.account(number).is_some_and(|it| it.written.contains(&side.life));
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
        let life = self.side(step.nic).map_or(0, |side| side.life);
        let answer = match (expected, offered) {
            (ExpectedVerdict::Again, None) => Some(ProtocolPacket::Ack(header.answer())),
            (ExpectedVerdict::Stale, None) => None,
            (ExpectedVerdict::NoState, None) => {
                Some(ProtocolPacket::Nack(header.answer(), NackReason::NoChannelState))
            }
            (ExpectedVerdict::Offer, Some(offered)) => {
                // Reading: what is refused changes nothing, so its incarnation is not taken over either.
                if offered.is_ok() {
                    let place = self.index((header.source, header.channel));
                    let side = self.side_mut(step.nic);
                    let stored = side.and_then(|side| side.stored.get_mut(place));
                    stored.into_iter().for_each(|it| *it = Some(header.incarnation));
                    self.write(number, life);
                }
                Some(match offered {
                    Ok(()) => ProtocolPacket::Ack(header.answer()),
                    Err(reason) => ProtocolPacket::Nack(header.answer(), reason),
                })
            }
            (
                ExpectedVerdict::Again | ExpectedVerdict::Stale | ExpectedVerdict::NoState,
                Some(_),
            ) => unexpected(&format!("offered, though {expected:?}: {step:?}")),
            (ExpectedVerdict::Offer, None) => unexpected(&format!("not offered: {step:?}")),
        };
        self.no_more(step, answer.map(TransportEffect::Send).as_slice());
    }

    /// Property 1.
    fn write(&mut self, number: MessageNumber, life: u32) {
        let account = usize::try_from(number).ok().and_then(|at| self.accounts.get_mut(at));
        let first = account.is_some_and(|account| {
            let first = !account.written.contains(&life);
            account.written.push(life);
            first
        });
        assert!(first, "{number} is written once. T-1");
    }
}

fn unexpected(what: &str) -> Option<ProtocolPacket<MessageNumber>> {
    assert!(what.is_empty(), "{what}");
    None
}
