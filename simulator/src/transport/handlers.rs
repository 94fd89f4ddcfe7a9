//! Handlers of data packets, answers and scans. T-4..T-8, T-10..T-13

use codec::transport::{EndpointId, LogicalChannel, NackReason, Nic, SyncFlag, TransportHeader};

use super::receive::ReceiveVerdict;
use super::resident_endpoints::ResidentChange;
use super::send::{AnswerKind, AnswerMeaning, Due, PacketLabel, SendEntry};
use super::{
    Micros, OutboundMessage, ProtocolPacket, ReturnReason, Transport, TransportEffect,
    TransportNotice,
};

#[derive(Clone, Copy, Debug)]
enum FlightEnd {
    /// Delivered; the channel's next label. T-5
    Acknowledged(PacketLabel),
    Returned(ReturnReason),
}

impl<M: Clone + PartialEq> Transport<M> {
    pub(super) fn on_data(
        &mut self,
        header: &TransportHeader,
        sync: SyncFlag,
        take: &mut impl FnMut() -> Result<(), NackReason>,
        effects: &mut Vec<TransportEffect<M>>,
    ) {
        let Some(entry) = self.place(header).and_then(|place| self.receives.get_mut(place)) else {
            effects.push(TransportEffect::Noted(*header, TransportNotice::Unknown));
            return;
        };
        let answer = header.answer();
        let packet = match entry.judge(header, sync) {
            ReceiveVerdict::Offer => match take() {
                Ok(()) => {
                    entry.write(header);
                    ProtocolPacket::Ack(answer)
                }
                // T-6: what is refused changes nothing.
                Err(reason) => ProtocolPacket::Nack(answer, reason),
            },
            ReceiveVerdict::Duplicate => {
                effects.push(TransportEffect::Noted(*header, TransportNotice::Duplicate));
                ProtocolPacket::Ack(answer)
            }
            ReceiveVerdict::NoState => ProtocolPacket::Nack(answer, NackReason::NoChannelState),
            ReceiveVerdict::Stale => {
                effects.push(TransportEffect::Noted(*header, TransportNotice::Stale));
                return;
            }
        };
        effects.push(TransportEffect::Send(packet));
    }

    pub(super) fn on_answer(
        &mut self,
        header: &TransportHeader,
        answer: AnswerKind,
        effects: &mut Vec<TransportEffect<M>>,
    ) {
        let (nic, channel) = (header.source, header.channel);
        let entry = self.place(header).and_then(|_| self.sends.entry_mut(nic, channel));
        let Some(entry) = entry else {
            effects.push(TransportEffect::Noted(*header, TransportNotice::Unknown));
            return;
        };
        let meaning = entry.step(header, answer);
        if let AnswerMeaning::Alive(reason)
        | AnswerMeaning::Refused(reason)
        | AnswerMeaning::Return(reason) = meaning
        {
            effects.push(TransportEffect::Noted(*header, TransportNotice::Refused(reason)));
        }
        match meaning {
            AnswerMeaning::Late => {
                effects.push(TransportEffect::Noted(*header, TransportNotice::Late));
            }
            AnswerMeaning::Acknowledged => {
                let next =
                    PacketLabel { seq: header.seq.flipped(), incarnation: header.incarnation };
                self.end(nic, channel, FlightEnd::Acknowledged(next), effects);
            }
            AnswerMeaning::Alive(_) => {}
            AnswerMeaning::Refused(reason) => self.refuse(nic, channel, reason, effects),
            AnswerMeaning::Return(reason) => {
                self.end(nic, channel, FlightEnd::Returned(ReturnReason::Refused(reason)), effects);
            }
        }
    }

    /// Index of a packet's entry in both tables; none for NICs and channels beyond them. T-7
    pub(super) fn place(&self, header: &TransportHeader) -> Option<usize> {
        let place = self.sends.place(header.source, header.channel);
        place.filter(|_| header.destination == self.nic)
    }

    /// Ends a message and frees its channel. T-2
    fn end(
        &mut self,
        nic: Nic,
        channel: LogicalChannel,
        end: FlightEnd,
        effects: &mut Vec<TransportEffect<M>>,
    ) {
        let next = match end {
            // T-4, T-5: the number flips on both sides.
            FlightEnd::Acknowledged(next) => SendEntry::Open(next),
            // T-11. Reading of T-6: the same, lest a late copy be taken for the next message.
            FlightEnd::Returned(_) => SendEntry::Closed,
        };
        let Some(flight) = self.sends.release(nic, channel, next) else { return };
        if self.sends.is_idle() {
            self.scan = None;
        }
        let endpoint = flight.letter.endpoint;
        let change = if flight.phase.is_unanswered() {
            ResidentChange::EndedUnanswered
        } else {
            ResidentChange::EndedRefused
        };
        effects.push(match end {
            FlightEnd::Acknowledged(_) => TransportEffect::Acknowledged(flight.letter),
            FlightEnd::Returned(why) => TransportEffect::Returned(flight.letter, why),
        });
        self.count(endpoint, change, effects);
    }

    /// Marks the latest transmission as refused; a scan retransmits it. T-10
    fn refuse(
        &mut self,
        nic: Nic,
        channel: LogicalChannel,
        reason: NackReason,
        effects: &mut Vec<TransportEffect<M>>,
    ) {
        if let Some(SendEntry::Busy(flight)) = self.sends.entry_mut(nic, channel) {
            flight.phase = flight.phase.refused(reason);
            let endpoint = flight.letter.endpoint;
            self.count(endpoint, ResidentChange::Refused, effects);
        }
    }

    /// Counts a change, after which the endpoint may leave. T-13
    fn count(
        &mut self,
        endpoint: EndpointId,
        change: ResidentChange,
        effects: &mut Vec<TransportEffect<M>>,
    ) {
        if self.residents.count(endpoint, change) {
            self.leave(endpoint, effects);
        }
    }

    /// Unloads an endpoint with its unacknowledged messages. T-13
    pub(super) fn leave(&mut self, endpoint: EndpointId, effects: &mut Vec<TransportEffect<M>>) {
        let its = |letter: &OutboundMessage<M>| letter.endpoint == endpoint;
        let left: Vec<_> = self
            .flights()
            .filter_map(|(nic, channel, letter)| its(letter).then_some((nic, channel)))
            .collect();
        // Reading of T-13: they are sent again on channels opened anew, so that no late copy of one
        // is taken for what uses its channel next.
        let taken = left
            .into_iter()
            .filter_map(|(nic, channel)| self.sends.release(nic, channel, SendEntry::Closed))
            .map(|flight| flight.letter.message)
            .collect();
        self.residents.remove(endpoint);
        if self.sends.is_idle() {
            self.scan = None;
        }
        effects.push(TransportEffect::Unloaded(endpoint, taken));
    }

    pub(super) fn scan_flight(
        &mut self,
        now: Micros,
        nic: Nic,
        channel: LogicalChannel,
        effects: &mut Vec<TransportEffect<M>>,
    ) {
        let Some(SendEntry::Busy(flight)) = self.sends.entry_mut(nic, channel) else { return };
        let Some(stage) = self.residents.stage(flight.letter.endpoint) else { return };
        match flight.due(now, stage, &self.parameters) {
            Due::Nothing => {}
            Due::Resend => {
                let endpoint = flight.letter.endpoint;
                let was_answered = !flight.phase.is_unanswered();
                let (label, sync) = flight.resend(&mut self.next);
                let message = flight.letter.message.clone();
                let header = self.header(now, nic, channel, label);
                effects.push(TransportEffect::Noted(header, TransportNotice::Retransmitted));
                effects.push(TransportEffect::Send(ProtocolPacket::Data(header, sync, message)));
                if was_answered {
                    self.count(endpoint, ResidentChange::Resent, effects);
                }
            }
            Due::Return => {
                self.end(nic, channel, FlightEnd::Returned(ReturnReason::Unreachable), effects);
            }
        }
    }

    /// Header of a transmission, with the time of queueing. T-8
    pub(super) const fn header(
        &self,
        now: Micros,
        to: Nic,
        channel: LogicalChannel,
        label: PacketLabel,
    ) -> TransportHeader {
        TransportHeader {
            source: self.nic,
            destination: to,
            channel,
            seq: label.seq,
            timestamp: now.timestamp(),
            incarnation: label.incarnation,
        }
    }
}
