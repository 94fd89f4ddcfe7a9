//! Packets in transit between NICs, and their arrival.

use codec::transport::{
    self as wire, EndpointKey, LogicalChannel, MessageBody, MessageForm, NackReason, Nic,
};
use simulator::messaging::MICROSECOND;
use simulator::transport::{Micros, ProtocolPacket, TransportEffect};

use super::super::checker::{MessageNumber, StepCause};
use super::super::input::ForgedField;
use super::{
    FrameResidency, NicPair, SeededFlaw, TransportPath, TransportWorld, WorldPacket, header,
    header_mut,
};
use crate::trace::{self, LawTraceEntry};

impl TransportWorld {
    /// A packet as it is read from its bytes, and these.
    fn through_bytes(&self, packet: &WorldPacket) -> (WorldPacket, Vec<u8>) {
        let word = match packet {
            ProtocolPacket::Data(_, _, number) => number.0.to_be_bytes(),
            ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..) => [0; 4],
        };
        let Some(body) = MessageBody::new(MessageForm::Short, &word) else {
            unreachable!("a short message has room for a word")
        };
        let written = match packet {
            ProtocolPacket::Data(header, sync, number) => {
                wire::TransportPacket::Data(*header, *sync, self.message(*number, body))
            }
            ProtocolPacket::Ack(header) => wire::TransportPacket::Ack(*header),
            ProtocolPacket::Nack(header, reason) => wire::TransportPacket::Nack(*header, *reason),
        };
        let mut bytes = Vec::new();
        written.emit(&mut bytes);
        let read = wire::TransportPacket::parse(&bytes);
        assert_eq!(read, Ok(written), "it is read as it was written");
        let read = match read {
            Ok(wire::TransportPacket::Data(header, sync, message)) => {
                let number = message.body.bytes().first_chunk().map(|it| u32::from_be_bytes(*it));
                ProtocolPacket::Data(header, sync, MessageNumber(number.unwrap_or(u32::MAX)))
            }
            Ok(wire::TransportPacket::Ack(header)) => ProtocolPacket::Ack(header),
            Ok(wire::TransportPacket::Nack(header, reason)) => ProtocolPacket::Nack(header, reason),
            Err(_) => *packet,
        };
        (read, bytes)
    }

    fn message<B>(&self, number: MessageNumber, body: B) -> wire::TransportMessage<B> {
        let account = self.checker.account(number);
        wire::TransportMessage {
            role: wire::MessageRole::Request,
            source: account.from.endpoint,
            destination: account.to.endpoint,
            key: EndpointKey(account.key),
            handler: 1,
            body,
        }
    }

    pub(super) fn transmit(&mut self, nic: Nic, packet: &WorldPacket) {
        let (packet, bytes) = self.through_bytes(packet);
        let to = header(&packet).destination;
        let at = self.now * MICROSECOND;
        trace::record(|| LawTraceEntry::Packet(at, nic, to, bytes));
        self.tell(|| format!("NIC {} sends {}", nic.0, self.packet_text(&packet)));
        self.path_mut((nic, to)).packets.push_back(packet);
    }

    /// Transmits queued packets that are still to leave, unless the NIC is stalled. T-3, T-8
    pub(super) fn depart(&mut self, nic: Nic) {
        while !self.host(nic).stalled && !self.host(nic).queue.is_empty() {
            self.leave(nic, 0);
        }
    }

    /// A queued packet leaves its NIC, or is dropped there if it need not leave any more. T-3, T-8
    pub(crate) fn leave(&mut self, nic: Nic, place: usize) {
        let clock = Micros(self.clock(nic));
        let Some(mut packet) = self.host_mut(nic).queue.remove(place) else { return };
        let ProtocolPacket::Data(header, _, number) = packet else { return };
        let is_queued = self.checker.is_queued(nic, &header, number);
        let host = self.host_mut(nic);
        assert_eq!(host.machine.is_queued(&packet), is_queued, "what is to leave: {packet:?}");
        host.machine.on_leave(clock, &mut packet);
        self.touch(nic);
        if is_queued {
            self.checker.departs(nic, clock.0, header_mut(&mut packet));
            self.transmit(nic, &packet);
        } else {
            self.tell(|| format!("{} is dropped there", self.packet_text(&packet)));
        }
    }

    /// From now on what is queued leaves a NIC again.
    pub(super) fn start(&mut self, nic: Nic) {
        self.host_mut(nic).stalled = false;
        self.touch(nic);
        self.depart(nic);
    }

    /// The packet behind this number of others on a path arrives.
    pub(crate) fn deliver(&mut self, way: NicPair, place: usize) {
        let overtakes = self.setup.flaw == SeededFlaw::Overtaking && self.is_now_and_then();
        if self.path(way).held {
            return;
        }
        let path = self.path_mut(way);
        let place = if overtakes { path.packets.len().saturating_sub(1) } else { place };
        let Some(packet) = path.packets.remove(place) else { return };
        path.remember(packet);
        self.tell(|| format!("{} reaches NIC {}", self.packet_text(&packet), way.1.0));
        let packet = self.flaw_in_packet(way.1, packet);
        self.receive(way.1, &packet);
    }

    /// The first packet of a path arrives, and stays there.
    pub(crate) fn double(&mut self, way: NicPair) {
        let Some(packet) = self.path(way).packets.front().copied() else { return };
        if self.path(way).held {
            return;
        }
        self.deliver(way, 0);
        self.path_mut(way).packets.push_front(packet);
    }

    pub(crate) fn lose(&mut self, way: NicPair) {
        let path = self.path_mut(way);
        let Some(packet) = path.packets.pop_front() else { return };
        path.remember(packet);
        self.tell(|| format!("{} to NIC {} is lost", self.packet_text(&packet), way.1.0));
    }

    /// Until nothing is in transit that is not held: one after the other of each path that has
    /// something, in rounds.
    pub(super) fn flush(&mut self) {
        let mut ways = Vec::new();
        loop {
            let nics = || self.nics();
            let all = nics().flat_map(|from| nics().map(move |to| (from, to)));
            let waits = |path: &TransportPath| !path.held && !path.packets.is_empty();
            let waiting = all.zip(&self.paths).filter(|(_, path)| waits(path));
            ways.extend(waiting.map(|(way, _)| way));
            if ways.is_empty() {
                return;
            }
            ways.drain(..).for_each(|way| self.deliver(way, 0));
        }
    }

    pub(super) fn receive(&mut self, nic: Nic, packet: &WorldPacket) {
        let changes_nothing = self.checker.is_over(nic, packet) || self.checker.is_again(packet);
        let due = self.checker.is_answer_due(packet);
        let before = changes_nothing.then(|| self.host(nic).machine.clone());
        let verdict = match packet {
            ProtocolPacket::Data(_, _, number) => self.verdict(*number),
            ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..) => Ok(()),
        };
        let (mut offered, mut effects) = (None, Vec::new());
        let mut take = |number: &MessageNumber| {
            assert!(offered.is_none(), "a message is offered once: {number}");
            offered = Some(verdict);
            verdict
        };
        self.host_mut(nic).machine.on_packet(packet, &mut take, &mut effects);
        let is_written = offered == Some(Ok(()));
        if let Some(before) = before {
            // What is written, though it is over, the ledger tells.
            let unchanged = is_written || before == self.host(nic).machine;
            assert!(unchanged, "what is over changes nothing (property 5): {packet:?}");
        }
        if is_written {
            self.tell(|| "it is WRITTEN".to_owned());
        }
        if let ProtocolPacket::Data(_, _, number) = packet {
            let answers = self.answers(&effects);
            assert!(answers > 0 || !due, "{number} is heard, and not answered (property 3)");
        }
        let cause = match packet {
            ProtocolPacket::Data(header, sync, number) => {
                StepCause::Data(*header, *sync, *number, offered)
            }
            ProtocolPacket::Ack(header) => StepCause::Answer(*header, None),
            ProtocolPacket::Nack(header, reason) => StepCause::Answer(*header, Some(*reason)),
        };
        self.done(nic, cause, effects);
    }

    /// A packet of the past comes in once more, if nothing of it may count any more.
    pub(super) fn replay(&mut self, way: NicPair, which: usize) {
        let past = &self.path(way).past;
        if let Some(packet) = past.get(which % past.len().max(1)).copied()
            && self.checker.is_over(way.1, &packet)
        {
            self.receive(way.1, &packet);
        }
    }

    /// A packet that the tables have no place for changes nothing. T-7
    pub(super) fn forge(&mut self, (from, to): NicPair, forged: ForgedField) {
        let Some(mut packet) = self.path((from, to)).past.back().copied() else { return };
        let header = header_mut(&mut packet);
        match forged {
            ForgedField::Source => header.source = Nic(self.setup.parameters.nics),
            ForgedField::Channel => header.channel = LogicalChannel(self.setup.parameters.channels),
            ForgedField::Destination => header.destination = from,
        }
        let host = self.host_mut(to);
        let before = host.machine.clone();
        let (mut offered, mut effects) = (0, Vec::new());
        let mut take = |_: &MessageNumber| {
            offered += 1;
            Ok(())
        };
        host.machine.on_packet(&packet, &mut take, &mut effects);
        let unchanged = before == host.machine && offered == 0;
        assert!(unchanged, "what is unknown changes nothing. T-7: {packet:?}");
        let does = effects.iter().find(|effect| !matches!(effect, TransportEffect::Noted(..)));
        assert_eq!(does, None, "what is unknown has no answer. T-7: {packet:?}");
    }

    /// Verdict of an endpoint on a message. T-6
    fn verdict(&self, number: MessageNumber) -> Result<(), NackReason> {
        let account = self.checker.account(number);
        let endpoint = self.endpoint(account.to).ok_or(NackReason::NoSuchEndpoint)?;
        if endpoint.key != account.key {
            return Err(NackReason::BadKey);
        }
        if endpoint.frame != FrameResidency::Resident {
            return Err(NackReason::NotResident);
        }
        endpoint.room.refusal().map_or(Ok(()), Err)
    }
}
