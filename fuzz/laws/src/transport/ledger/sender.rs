//! The part of the ledger that is about NICs as senders. T-2, T-8..T-13

use codec::transport::{Header, Nic, Reason, Sync};
use simulator::transport::{Effect, Letter, Micros, Return};

use super::{Channel, End, Flight, Ledger, Number, Step, data};

impl Ledger {
    pub(super) fn sends(&mut self, step: &Step<'_>, number: Number) {
        let mut sent = step.effects.iter().filter_map(data);
        let (first, other) = (sent.next(), sent.next());
        let sends = matches!((first, other), (Some((_, _, sent)), None) if sent == number);
        assert!(sends, "it sends {number}: {step:?}");
        if let Some((header, sync, number)) = first {
            self.set(number, End::Open);
            self.transmits(step, header, sync, number);
        }
    }

    /// A transmission, the first or another.
    fn transmits(&mut self, step: &Step<'_>, header: &Header, sync: Sync, number: Number) {
        let Step { nic, clock, .. } = *step;
        let to = self.account(number).map(|account| account.to.nic);
        assert_eq!((header.source, Some(header.destination)), (nic, to), "its NICs: {step:?}");
        assert_eq!(header.timestamp, Micros(clock).timestamp(), "its time of transmission. T-8");
        assert!(header.channel.0 < self.parameters.channels, "a logical channel. T-2");
        let timeout = self.parameters.timeout.0;
        let from = self.account(number).map(|account| account.from);
        let leaves = from.is_some_and(|at| self.is_unloading(at));
        let place = self.index((header.destination, header.channel));
        let Some(side) = self.side_mut(nic) else { return };
        let used = side.used;
        let Some(channel) = side.channels.get_mut(place) else { return };
        let (sign, again) = match &channel.flight {
            None => (clock, None),
            Some(flight) => {
                assert_eq!(flight.number, number, "one packet outstanding at most. T-2: {step:?}");
                assert!(clock - flight.latest > timeout, "its timeout is over. T-10: {step:?}");
                assert!(
                    !(leaves && flight.refused.is_some()),
                    "it leaves, and was refused. T-13: {step:?}"
                );
                let same = (flight.sync, flight.header.incarnation, flight.header.seq);
                // Whoever refused it was there; from now on there is to be an answer again. T-11
                let sign = if flight.refused.is_some() { clock } else { flight.sign };
                (sign, (!flight.is_forgotten()).then_some(same))
            }
        };
        let opens = match (again, channel.open) {
            (Some(same), _) => {
                let sent = (sync, header.incarnation, header.seq);
                assert_eq!(sent, same, "it is sent again as it was: {step:?}");
                false
            }
            (None, Some(open)) => {
                let sent = (sync, header.incarnation, header.seq);
                assert_eq!(
                    sent,
                    (Sync::Clear, open.0, open.1),
                    "an open channel goes on: {step:?}"
                );
                false
            }
            (None, None) => true,
        };
        if opens {
            assert_eq!(sync, Sync::Set, "an uninitialised channel needs SYNC. T-11: {step:?}");
            let newer = used.is_none_or(|used| header.incarnation.is_newer_than(used));
            assert!(newer, "an incarnation newer than all before. T-12: {step:?}");
        }
        let (latest, refused) = (clock, None);
        let header = *header;
        channel.flight = Some(Flight { number, header, sync, latest, sign, refused });
        channel.open = Some((header.incarnation, header.seq));
        if opens {
            side.used = Some(header.incarnation);
        }
    }

    /// An answer comes in. T-5, T-6, T-8
    pub(super) fn is_answered(&mut self, step: &Step<'_>, header: &Header, reason: Option<Reason>) {
        let Some(flight) = self.answered(step.nic, header, reason).cloned() else {
            return self.no_more(step, &[]);
        };
        let number = flight.number;
        let letter = self.letter(number);
        let place = (header.source, header.channel);
        let Some(channel) = self.channel_mut(step.nic, place) else { return };
        let mut expected = None;
        match reason {
            None => {
                channel.open = Some((header.incarnation, header.seq.flipped()));
                channel.flight = None;
                expected = Some(Effect::Acknowledged(letter));
                let written = self.account(number).map(|account| !account.written.is_empty());
                assert_eq!(written, Some(true), "what is acknowledged was written. T-5: {step:?}");
                self.set(number, End::Acknowledged);
            }
            Some(reason) if reason.is_final() => {
                channel.close();
                expected = Some(Effect::Returned(letter, Return::Refused(reason)));
                self.set(number, End::Returned);
            }
            Some(reason) => {
                if reason == Reason::NoChannelState {
                    channel.open = None;
                }
                channel.flight = Some(Flight { refused: Some(reason), ..flight });
            }
        }
        self.no_more(step, expected.as_slice());
    }

    /// A scan, or a look at the clock. T-10, T-11
    pub(super) fn scans(&mut self, step: &Step<'_>) {
        for (header, sync, number) in step.effects.iter().filter_map(data) {
            let letter = self.letter(number);
            let flies = self.flights(step.nic).any(|flight| flight.number == number);
            assert!(flies, "only what is outstanding is sent again: {letter:?} {step:?}");
            self.transmits(step, header, sync, number);
        }
        for effect in step.effects {
            if let Effect::Returned(letter, how) = effect {
                assert_eq!(*how, Return::Unreachable, "only for want of a sign: {step:?}");
                self.gives_up(step, *letter);
            }
        }
        let sends = |effect: &&Effect<Number>| {
            data(effect).is_some() || matches!(effect, Effect::Returned(..))
        };
        let expected: Vec<_> = step.effects.iter().filter(sends).cloned().collect();
        self.no_more(step, &expected);
    }

    fn gives_up(&mut self, step: &Step<'_>, letter: Letter<Number>) {
        let place = self
            .flights(step.nic)
            .find(|flight| flight.number == letter.message)
            .map(|flight| (flight.place(), flight.sign));
        assert!(place.is_some(), "only what is outstanding goes back: {step:?}");
        let Some((place, sign)) = place else { return };
        assert_eq!(self.letter(letter.message), letter, "to its endpoint");
        let silent = step.clock - sign;
        assert!(silent > self.parameters.unreachable.0, "after {silent} µs. T-11: {step:?}");
        self.channel_mut(step.nic, place).into_iter().for_each(Channel::close);
        self.set(letter.message, End::Returned);
    }

    /// Right behind a scan nothing is outstanding for longer than it may be. T-10, T-11
    pub(in super::super) fn scanned(&self, nic: Nic, clock: u64) {
        for flight in self.flights(nic) {
            let from = self.account(flight.number).map(|account| account.from);
            if flight.refused.is_some() && from.is_some_and(|at| self.is_unloading(at)) {
                continue;
            }
            let age = clock - flight.latest;
            assert!(age <= self.parameters.timeout.0, "a scan sends it again. T-10: {flight:?}");
            let silent = clock - flight.sign;
            let is_silent = flight.refused.is_none() && silent > self.parameters.unreachable.0;
            assert!(!is_silent, "it goes back. T-11: {flight:?}");
        }
    }
}
