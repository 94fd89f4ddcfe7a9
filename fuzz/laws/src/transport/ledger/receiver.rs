//! The part of the ledger that is about NICs as receivers. T-1, T-5, T-6, T-12

use codec::transport::{Header, Nic, Reason, Sync};
use simulator::transport::{Effect, Packet};

use super::{Ledger, Number, Step};

/// What a receiver makes of data. T-5, T-12
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Again,
    Stale,
    NoState,
    Offer,
}

impl Ledger {
    fn expected(&self, nic: Nic, header: &Header, sync: Sync, number: Number) -> Expected {
        let Some(side) = self.side(nic) else { return Expected::NoState };
        let written = self.account(number).is_some_and(|it| it.written.contains(&side.life));
        match (sync, self.stored(nic, (header.source, header.channel))) {
            (_, Some(stored)) if stored.is_newer_than(header.incarnation) => Expected::Stale,
            (Sync::Clear | Sync::Set, _) if written => Expected::Again,
            (Sync::Clear, Some(stored)) if stored != header.incarnation => Expected::NoState,
            (Sync::Clear, None) => Expected::NoState,
            (Sync::Clear | Sync::Set, _) => Expected::Offer,
        }
    }

    /// Data comes in. T-5, T-6, T-12
    pub(super) fn hears(
        &mut self,
        step: &Step<'_>,
        (header, sync, number): (&Header, Sync, Number),
        offered: Option<Result<(), Reason>>,
    ) {
        let expected = self.expected(step.nic, header, sync, number);
        let life = self.side(step.nic).map_or(0, |side| side.life);
        let answer = match (expected, offered) {
            (Expected::Again, None) => Some(Packet::Ack(header.answer())),
            (Expected::Stale, None) => None,
            (Expected::NoState, None) => {
                Some(Packet::Nack(header.answer(), Reason::NoChannelState))
            }
            (Expected::Offer, Some(offered)) => {
                // Reading: what is refused changes nothing, so its incarnation is not taken over either.
                if offered.is_ok() {
                    let place = self.index((header.source, header.channel));
                    let side = self.side_mut(step.nic);
                    let stored = side.and_then(|side| side.stored.get_mut(place));
                    stored.into_iter().for_each(|it| *it = Some(header.incarnation));
                    self.write(number, life);
                }
                Some(match offered {
                    Ok(()) => Packet::Ack(header.answer()),
                    Err(reason) => Packet::Nack(header.answer(), reason),
                })
            }
            (Expected::Again | Expected::Stale | Expected::NoState, Some(_)) => {
                unexpected(&format!("offered, though {expected:?}: {step:?}"))
            }
            (Expected::Offer, None) => unexpected(&format!("not offered: {step:?}")),
        };
        self.no_more(step, answer.map(Effect::Send).as_slice());
    }

    /// Property 1.
    fn write(&mut self, number: Number, life: u32) {
        let account = usize::try_from(number).ok().and_then(|at| self.accounts.get_mut(at));
        let first = account.is_some_and(|account| {
            let first = !account.written.contains(&life);
            account.written.push(life);
            first
        });
        assert!(first, "{number} is written once. T-1");
    }
}

/// Fails.
fn unexpected(what: &str) -> Option<Packet<Number>> {
    assert!(what.is_empty(), "{what}");
    None
}
