//! What the machine does about a data packet, about an answer, and at a scan. T-4..T-8, T-10..T-13

use codec::transport::{EndpointId, Header, LogicalChannel, Nic, Reason, Sync};

use super::receive::Verdict;
use super::residents::{Change, Leave};
use super::send::{Answer, Due, Label, Meaning, Phase, SendEntry};
use super::{Effect, Letter, Micros, Note, Packet, Return, Transport};

/// How a message ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It was written; the next one of its channel has this label. T-5
    Acknowledged(Label),
    /// It goes back to its sender. T-6, T-11
    Returned(Return),
}

impl<M: Clone + PartialEq> Transport<M> {
    pub(super) fn on_data(
        &mut self,
        header: &Header,
        sync: Sync,
        take: &mut impl FnMut() -> Result<(), Reason>,
        effects: &mut Vec<Effect<M>>,
    ) {
        let Some(entry) = self.place(header).and_then(|place| self.receives.get_mut(place)) else {
            effects.push(Effect::Noted(*header, Note::Unknown));
            return;
        };
        let answer = header.answer();
        let packet = match entry.judge(header, sync) {
            Verdict::Offer => match take() {
                Ok(()) => {
                    entry.write(header);
                    Packet::Ack(answer)
                }
                // T-6: what is refused changes nothing.
                Err(reason) => Packet::Nack(answer, reason),
            },
            Verdict::Duplicate => {
                effects.push(Effect::Noted(*header, Note::Duplicate));
                Packet::Ack(answer)
            }
            Verdict::NoState => Packet::Nack(answer, Reason::NoChannelState),
            Verdict::Stale => {
                effects.push(Effect::Noted(*header, Note::Stale));
                return;
            }
        };
        effects.push(Effect::Send(packet));
    }

    pub(super) fn on_answer(
        &mut self,
        header: &Header,
        answer: Answer,
        effects: &mut Vec<Effect<M>>,
    ) {
        let (nic, channel) = (header.source, header.channel);
        let entry = self.place(header).and_then(|_| self.sends.entry_mut(nic, channel));
        let Some(entry) = entry else {
            effects.push(Effect::Noted(*header, Note::Unknown));
            return;
        };
        let meaning = entry.step(header, answer);
        match meaning {
            Meaning::Late => effects.push(Effect::Noted(*header, Note::Late)),
            Meaning::Acknowledged => {
                let next = Label { seq: header.seq.flipped(), incarnation: header.incarnation };
                self.end(nic, channel, End::Acknowledged(next), effects);
            }
            Meaning::Alive(reason) => {
                effects.push(Effect::Noted(*header, Note::Refused(reason)));
            }
            Meaning::Refused(reason) => {
                effects.push(Effect::Noted(*header, Note::Refused(reason)));
                self.refuse(nic, channel, reason, effects);
            }
            Meaning::Return(reason) => {
                effects.push(Effect::Noted(*header, Note::Refused(reason)));
                self.end(nic, channel, End::Returned(Return::Refused(reason)), effects);
            }
        }
    }

    /// The place of a packet's entry in both tables; none if it is from or for a NIC, or of a logical
    /// channel, that they have no place for. T-7
    pub(super) fn place(&self, header: &Header) -> Option<usize> {
        let place = self.sends.place(header.source, header.channel);
        place.filter(|_| header.destination == self.nic)
    }

    /// A message is done with, or goes back: its channel is free for what comes next. T-2
    fn end(&mut self, nic: Nic, channel: LogicalChannel, end: End, effects: &mut Vec<Effect<M>>) {
        let next = match end {
            // T-4, T-5: the number flips on both sides.
            End::Acknowledged(next) => SendEntry::Open(next),
            // T-11. Reading of T-6: the same, lest a late copy be taken for the next message.
            End::Returned(_) => SendEntry::Closed,
        };
        let Some(flight) = self.sends.release(nic, channel, next) else { return };
        if self.sends.is_idle() {
            self.scan = None;
        }
        let endpoint = flight.letter.endpoint;
        let change = match flight.phase {
            Phase::Queued { .. } | Phase::Underway { .. } => Change::EndedUnanswered,
            Phase::Refused { .. } | Phase::Closed => Change::EndedRefused,
        };
        effects.push(match end {
            End::Acknowledged(_) => Effect::Acknowledged(flight.letter),
            End::Returned(why) => Effect::Returned(flight.letter, why),
        });
        self.count(endpoint, change, effects);
    }

    /// The latest transmission was refused. It is the scan that sends again. T-10
    fn refuse(
        &mut self,
        nic: Nic,
        channel: LogicalChannel,
        reason: Reason,
        effects: &mut Vec<Effect<M>>,
    ) {
        if let Some(SendEntry::Busy(flight)) = self.sends.entry_mut(nic, channel) {
            flight.phase = flight.phase.refused(reason);
            let endpoint = flight.letter.endpoint;
            self.count(endpoint, Change::Refused, effects);
        }
    }

    /// Counts a change of what an endpoint waits for, after which it may be able to leave. T-13
    fn count(&mut self, endpoint: EndpointId, change: Change, effects: &mut Vec<Effect<M>>) {
        match self.residents.count(endpoint, change) {
            Leave::Now => self.leave(endpoint, effects),
            Leave::Not => {}
        }
    }

    /// An endpoint leaves its frame, and what is not acknowledged goes with it. T-13
    pub(super) fn leave(&mut self, endpoint: EndpointId, effects: &mut Vec<Effect<M>>) {
        let its = |letter: &Letter<M>| letter.endpoint == endpoint;
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
        effects.push(Effect::Unloaded(endpoint, taken));
    }

    /// A scan comes to a packet in flight. T-10, T-11
    pub(super) fn look_at(
        &mut self,
        now: Micros,
        nic: Nic,
        channel: LogicalChannel,
        effects: &mut Vec<Effect<M>>,
    ) {
        let Some(SendEntry::Busy(flight)) = self.sends.entry_mut(nic, channel) else { return };
        let Some(stage) = self.residents.stage(flight.letter.endpoint) else { return };
        match flight.due(now, stage, &self.parameters) {
            Due::Nothing => {}
            Due::Resend => {
                let endpoint = flight.letter.endpoint;
                let resent = match flight.phase {
                    Phase::Queued { .. } | Phase::Underway { .. } => None,
                    Phase::Refused { .. } | Phase::Closed => Some(Change::Resent),
                };
                let (label, sync) = flight.resend(&mut self.next);
                let message = flight.letter.message.clone();
                let header = self.header(now, nic, channel, label);
                effects.push(Effect::Noted(header, Note::Retransmitted));
                effects.push(Effect::Send(Packet::Data(header, sync, message)));
                if let Some(change) = resent {
                    self.count(endpoint, change, effects);
                }
            }
            Due::Return => {
                self.end(nic, channel, End::Returned(Return::Unreachable), effects);
            }
        }
    }

    /// The header of a transmission, with the time at which it is queued. T-8
    pub(super) const fn header(
        &self,
        now: Micros,
        to: Nic,
        channel: LogicalChannel,
        label: Label,
    ) -> Header {
        Header {
            source: self.nic,
            destination: to,
            channel,
            seq: label.seq,
            timestamp: now.timestamp(),
            incarnation: label.incarnation,
        }
    }
}
