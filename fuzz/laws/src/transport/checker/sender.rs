//! The part of the ledger that is about NICs as senders. T-2, T-8..T-13

use codec::transport::{NackReason, Nic, SyncFlag, TransportHeader};
use simulator::transport::{
    Micros, OutboundMessage, ReturnReason, TransportEffect, TransportParameters,
};

use super::{
    ExtraClaim, MachineStep, MessageNumber, MessageRefusal, TransportChecker, TransportOutcome,
    TransportRecord, UnackedMessage, WriteState, data,
};

impl TransportChecker {
    pub(super) fn sends(&mut self, step: &MachineStep<'_>, number: MessageNumber) {
        let mut sent = step.effects.iter().filter_map(data);
        let (first, other) = (sent.next(), sent.next());
        let sends = matches!((first, other), (Some((_, _, sent)), None) if sent == number);
        assert!(sends, "it sends {number}: {step:?}");
        if let Some((header, sync, number)) = first {
            self.set(number, TransportOutcome::Open);
            self.queues(step, header, sync, number);
        }
    }

    /// A transmission is queued, the first or another.
    fn queues(
        &mut self,
        step: &MachineStep<'_>,
        header: &TransportHeader,
        sync: SyncFlag,
        number: MessageNumber,
    ) {
        let MachineStep { nic, clock, .. } = *step;
        let TransportRecord { from, to, .. } = *self.account(number);
        assert_eq!((header.source, header.destination), (nic, to.nic), "its NICs: {step:?}");
        assert!(header.channel.0 < self.parameters.channels, "a logical channel. T-2");
        let timeout = self.parameters.timeout.0;
        let leaves = self.is_unloading(from);
        let place = self.index((header.destination, header.channel));
        let side = self.side_mut(nic);
        let used = side.used;
        let Some(channel) = side.channels.get_mut(place) else { return };
        let again = match &channel.flight {
            None => None,
            Some(flight) => {
                assert_eq!(flight.number, number, "one packet outstanding at most. T-2: {step:?}");
                assert!(!flight.queued, "it is queued once. T-2: {step:?}");
                let over = flight.left.is_some_and(|left| clock - left > timeout);
                assert!(over, "its timeout is over. T-10: {step:?}");
                assert!(
                    !(leaves && flight.refused.is_some()),
                    "it leaves, and was refused. T-13: {step:?}"
                );
                (!flight.is_forgotten()).then_some(flight)
            }
        };
        let (left, retries) = again.map_or((None, 0), |flight| (flight.left, flight.retries));
        let opens = match (again, channel.open) {
            (Some(flight), _) => {
                let same = (flight.sync, flight.header.incarnation, flight.header.seq);
                let sent = (sync, header.incarnation, header.seq);
                assert_eq!(sent, same, "it is sent again as it was: {step:?}");
                false
            }
            (None, Some(open)) => {
                let sent = (sync, header.incarnation, header.seq);
                assert_eq!(
                    sent,
                    (SyncFlag::Clear, open.0, open.1),
                    "an open channel goes on: {step:?}"
                );
                false
            }
            (None, None) => true,
        };
        if opens {
            assert_eq!(sync, SyncFlag::Set, "an uninitialised channel needs SYNC. T-11: {step:?}");
            let newer = used.is_none_or(|used| header.incarnation.is_newer_than(used));
            assert!(newer, "an incarnation newer than all before. T-12: {step:?}");
        }
        // Until the new one leaves, its time is that of the one before.
        let timestamp = Micros(left.unwrap_or(0)).timestamp();
        let header = TransportHeader { timestamp, ..*header };
        let (queued, refused) = (true, None);
        channel.flight =
            Some(UnackedMessage { number, header, sync, queued, left, retries, refused });
        channel.open = Some((header.incarnation, header.seq));
        if opens {
            side.used = Some(header.incarnation);
        }
    }

    /// Tests whether a packet that was queued is still to leave. T-5, T-13
    pub(in super::super) fn is_queued(
        &self,
        nic: Nic,
        header: &TransportHeader,
        number: MessageNumber,
    ) -> bool {
        let channel = self.channel(nic, (header.destination, header.channel));
        channel.flight.as_ref().is_some_and(|flight| {
            flight.queued
                && flight.number == number
                && (flight.header.incarnation, flight.header.seq)
                    == (header.incarnation, header.seq)
        })
    }

    /// It leaves. T-3, T-8
    pub(in super::super) fn departs(&mut self, nic: Nic, clock: u64, header: &TransportHeader) {
        assert_eq!(header.timestamp, Micros(clock).timestamp(), "its time of transmission. T-8");
        let channel = self.channel_mut(nic, (header.destination, header.channel));
        if let Some(flight) = &mut channel.flight {
            flight.retries += u32::from(flight.left.is_some());
            (flight.queued, flight.left, flight.header) = (false, Some(clock), *header);
        }
    }

    /// An answer comes in. T-5, T-6, T-8, T-11
    pub(super) fn is_answered(
        &mut self,
        step: &MachineStep<'_>,
        header: &TransportHeader,
        reason: Option<NackReason>,
    ) {
        let Some(flight) = self.answered(step.nic, header).cloned() else {
            return self.no_more(step, &[]);
        };
        let number = flight.number;
        let letter = self.letter(number);
        let place = (header.source, header.channel);
        let channel = self.channel_mut(step.nic, place);
        let mut expected = None;
        match reason {
            None => {
                channel.open = Some((header.incarnation, header.seq.flipped()));
                channel.flight = None;
                expected = Some(TransportEffect::Acknowledged(letter));
                let unwritten = self.is_written(number, WriteState::Never);
                assert!(
                    !unwritten,
                    "{number} is acknowledged, and was never written (property 2)\n{step:?}"
                );
                self.set(number, TransportOutcome::Acknowledged);
            }
            // Another transmission may still be written: no more than a sign of life.
            Some(_) if header.timestamp != flight.header.timestamp => {
                channel.flight = Some(UnackedMessage { retries: 0, ..flight });
            }
            Some(reason) if reason.is_final() => {
                channel.close();
                expected = Some(TransportEffect::Returned(letter, ReturnReason::Refused(reason)));
                let written = if self.keys_have_changed {
                    self.is_written(number, WriteState::Now)
                } else {
                    !self.is_written(number, WriteState::Never)
                };
                assert!(!written, "{number} is refused for good, and was written (T-6)\n{step:?}");
                self.set(number, TransportOutcome::Returned);
            }
            Some(reason) => {
                let refusal = if reason == NackReason::NoChannelState {
                    channel.open = None;
                    MessageRefusal::Forgotten
                } else {
                    MessageRefusal::NotYet
                };
                let refused = Some(refusal);
                channel.flight =
                    Some(UnackedMessage { refused, queued: false, retries: 0, ..flight });
            }
        }
        self.no_more(step, expected.as_slice());
    }

    /// A scan, or a look at the clock. T-10, T-11
    pub(super) fn scans(&mut self, step: &MachineStep<'_>) {
        for (header, sync, number) in step.effects.iter().filter_map(data) {
            let letter = self.letter(number);
            let flies = self.flights(step.nic).any(|flight| flight.number == number);
            assert!(flies, "only what is outstanding is sent again: {letter:?} {step:?}");
            self.queues(step, header, sync, number);
        }
        for effect in step.effects {
            if let TransportEffect::Returned(letter, how) = effect {
                assert_eq!(*how, ReturnReason::Unreachable, "only for want of a sign: {step:?}");
                self.gives_up(step, *letter);
            }
        }
        let sends = |effect: &&TransportEffect<MessageNumber>| {
            data(effect).is_some() || matches!(effect, TransportEffect::Returned(..))
        };
        let expected: Vec<_> = step.effects.iter().filter(sends).cloned().collect();
        self.no_more(step, &expected);
    }

    fn gives_up(&mut self, step: &MachineStep<'_>, letter: OutboundMessage<MessageNumber>) {
        let place = self
            .flights(step.nic)
            .find(|flight| flight.number == letter.message)
            .map(|flight| (flight.place(), flight.clone()));
        assert!(place.is_some(), "only what is outstanding goes back: {step:?}");
        let Some((place, flight)) = place else { return };
        assert_eq!(self.letter(letter.message), letter, "to its endpoint");
        let TransportParameters { retries, timeout, .. } = self.parameters;
        let over = flight.left.is_some_and(|left| step.clock - left > timeout.0);
        let silent = over && !flight.queued && flight.refused.is_none();
        assert!(silent && flight.retries == retries, "nobody answers. T-11: {flight:?} {step:?}");
        let claimed = self.claim == Some(ExtraClaim::ReturnedIsUnwritten);
        let written = claimed && !self.is_written(letter.message, WriteState::Never);
        let number = letter.message;
        assert!(!written, "{number} comes back, and was written: returned is not undelivered");
        self.channel_mut(step.nic, place).close();
        self.set(number, TransportOutcome::Returned);
    }

    /// Right behind a scan nothing is outstanding for longer than it may be. T-10, T-11
    pub(in super::super) fn scanned(&self, nic: Nic, clock: u64) {
        for flight in self.flights(nic) {
            if flight.refused.is_some() && self.is_unloading(self.account(flight.number).from) {
                continue;
            }
            let age = flight.left.map_or(0, |left| clock - left);
            let waits = flight.queued || age <= self.parameters.timeout.0;
            assert!(waits, "a scan sends it again, or it goes back. T-10, T-11: {flight:?}");
        }
    }
}
