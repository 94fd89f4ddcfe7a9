//! Packets in transit between NICs, and their arrival.

use codec::transport::{
    self as wire, EndpointKey, LogicalChannel, MessageBody, MessageForm, NackReason, Nic,
};
use simulator::messaging::MICROSECOND;
use simulator::transport::{Micros, ProtocolPacket, TransportEffect};

use super::super::checker::{MessageNumber, StepCause, TransportChecker};
use super::super::input::ForgedField;
use super::{
    FrameResidency, NicPair, TransportPath, TransportWorld, WorldEndpoint, WorldFlaw, header,
};
use crate::trace::{self, LawTraceEntry};

impl TransportWorld {
    /// A packet as it is read from its bytes.
    pub(super) fn through_bytes(
        &mut self,
        packet: &ProtocolPacket<MessageNumber>,
    ) -> ProtocolPacket<MessageNumber> {
        let word = match packet {
            ProtocolPacket::Data(_, _, number) => number.to_be_bytes(),
            ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..) => [0; 4],
        };
        let Some(body) = MessageBody::new(MessageForm::Short, &word) else { return *packet };
        let written = match packet {
            ProtocolPacket::Data(header, sync, number) => {
                wire::TransportPacket::Data(*header, *sync, self.message(*number, body))
            }
            ProtocolPacket::Ack(header) => wire::TransportPacket::Ack(*header),
            ProtocolPacket::Nack(header, reason) => wire::TransportPacket::Nack(*header, *reason),
        };
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        written.emit(&mut bytes);
        let read = wire::TransportPacket::parse(&bytes);
        assert_eq!(read, Ok(written), "it is read as it was written");
        let read = match read {
            Ok(wire::TransportPacket::Data(header, sync, message)) => {
                let number = message.body.bytes().first_chunk().map(|it| u32::from_be_bytes(*it));
                ProtocolPacket::Data(header, sync, number.unwrap_or(u32::MAX))
            }
            Ok(wire::TransportPacket::Ack(header)) => ProtocolPacket::Ack(header),
            Ok(wire::TransportPacket::Nack(header, reason)) => ProtocolPacket::Nack(header, reason),
            Err(_) => *packet,
        };
        self.bytes = bytes;
        read
    }

    fn message<B>(&self, number: MessageNumber, body: B) -> wire::TransportMessage<B> {
        let account = self.ledger.account(number);
        wire::TransportMessage {
            role: wire::MessageRole::Request,
            source: account.map(|it| it.from.endpoint).unwrap_or_default(),
            destination: account.map(|it| it.to.endpoint).unwrap_or_default(),
            key: EndpointKey(account.map_or(0, |it| it.key)),
            handler: 1,
            body,
        }
    }

    pub(super) fn transmit(&mut self, nic: Nic, packet: &ProtocolPacket<MessageNumber>) {
        let packet = self.through_bytes(packet);
        let to = header(&packet).destination;
        let at = self.now * MICROSECOND;
        trace::record(|| LawTraceEntry::Packet(at, nic, to, self.bytes.clone()));
        let place = self.place((nic, to));
        let lane = self.lanes.get_mut(place);
        lane.into_iter().for_each(|lane| lane.packets.push_back(packet));
    }

    /// Transmits queued packets that are still to leave, unless the NIC is stalled. T-3, T-8
    pub(super) fn depart(&mut self, nic: Nic) {
        let clock = Micros(self.clock(nic));
        while let Some(host) = self.hosts.get_mut(usize::from(nic.0)).filter(|it| !it.stalled)
            && let Some(mut packet) = host.queue.pop_front()
        {
            let ProtocolPacket::Data(header, _, number) = packet else { continue };
            let is_queued = self.ledger.is_queued(nic, &header, number);
            assert_eq!(host.machine.is_queued(&packet), is_queued, "what is to leave: {packet:?}");
            host.machine.on_leave(clock, &mut packet);
            if let ProtocolPacket::Data(header, ..) = &packet
                && is_queued
            {
                self.ledger.departs(nic, clock.0, header);
                self.transmit(nic, &packet);
            }
        }
    }

    /// From now on what is queued leaves a NIC again.
    pub(super) fn start(&mut self, nic: Nic) {
        self.host_mut(nic).into_iter().for_each(|host| host.stalled = false);
        self.touch(nic);
        self.depart(nic);
    }

    pub(super) fn deliver(&mut self, way: NicPair) {
        let place = self.place(way);
        let Some(lane) = self.lanes.get_mut(place) else { return };
        if lane.held {
            return;
        }
        let now_and_then = self.now.is_multiple_of(3);
        let packet = match self.wrong {
            WorldFlaw::Overtaking if now_and_then => lane.packets.pop_back(),
            WorldFlaw::Nothing | WorldFlaw::Overtaking | WorldFlaw::Praise | WorldFlaw::Flip => {
                lane.packets.pop_front()
            }
        };
        lane.remember(packet);
        let Some(packet) = packet else { return };
        let packet = match (self.wrong, packet) {
            (WorldFlaw::Praise, ProtocolPacket::Nack(header, _)) if now_and_then => {
                ProtocolPacket::Ack(header)
            }
            (WorldFlaw::Flip, ProtocolPacket::Data(header, sync, number)) if now_and_then => {
                ProtocolPacket::Data(
                    wire::TransportHeader { seq: header.seq.flipped(), ..header },
                    sync,
                    number,
                )
            }
            (
                WorldFlaw::Nothing | WorldFlaw::Overtaking | WorldFlaw::Praise | WorldFlaw::Flip,
                packet,
            ) => packet,
        };
        self.receive(way.1, &packet);
    }

    /// Until nothing is in transit that is not held: one after the other of each path that has
    /// something, in rounds.
    pub(super) fn flush(&mut self) {
        let mut ways = Vec::new();
        loop {
            let nics = || self.nics();
            let all = nics().flat_map(|from| nics().map(move |to| (from, to)));
            let waits = |lane: &TransportPath| !lane.held && !lane.packets.is_empty();
            let waiting = all.zip(&self.lanes).filter(|(_, lane)| waits(lane));
            ways.extend(waiting.map(|(way, _)| way));
            if ways.is_empty() {
                return;
            }
            ways.drain(..).for_each(|way| self.deliver(way));
        }
    }

    pub(super) fn receive(&mut self, nic: Nic, packet: &ProtocolPacket<MessageNumber>) {
        let over = self.ledger.is_over(nic, packet);
        let Some(host) = self.hosts.get_mut(usize::from(nic.0)) else { return };
        let before = over.then(|| host.machine.clone());
        let mut offered = None;
        let (ledger, endpoints) = (&self.ledger, &host.endpoints);
        let mut take = |number: &MessageNumber| {
            let verdict = verdict(ledger, endpoints, *number);
            assert_eq!(offered, None, "a message is offered once");
            offered = Some(verdict);
            verdict
        };
        host.machine.on_packet(packet, &mut take, &mut self.effects);
        if let Some(before) = before {
            assert!(before == host.machine, "what is over changes nothing: {packet:?}");
        }
        let cause = match packet {
            ProtocolPacket::Data(header, sync, number) => {
                StepCause::Data(*header, *sync, *number, offered)
            }
            ProtocolPacket::Ack(header) => StepCause::Answer(*header, None),
            ProtocolPacket::Nack(header, reason) => StepCause::Answer(*header, Some(*reason)),
        };
        self.done(nic, cause);
    }

    /// A packet of the past comes in once more, if nothing of it may count any more.
    pub(super) fn replay(&mut self, way: NicPair, which: usize) {
        let past = self.lanes.get(self.place(way)).map(|lane| &lane.past);
        let packet = past.and_then(|past| past.get(which % past.len().max(1))).copied();
        if let Some(packet) = packet
            && self.ledger.is_over(way.1, &packet)
        {
            self.receive(way.1, &packet);
        }
    }

    /// A packet that the tables have no place for changes nothing. T-7
    pub(super) fn forge(&mut self, (from, to): NicPair, forged: ForgedField) {
        let packet = self.lanes.get(self.place((from, to))).and_then(|lane| lane.past.back());
        let Some(mut packet) = packet.copied() else { return };
        let header = match &mut packet {
            ProtocolPacket::Data(header, ..)
            | ProtocolPacket::Ack(header)
            | ProtocolPacket::Nack(header, _) => header,
        };
        match forged {
            ForgedField::Source => header.source = Nic(self.parameters.nics),
            ForgedField::Channel => header.channel = LogicalChannel(self.parameters.channels),
            ForgedField::Destination => header.destination = from,
        }
        let Some(host) = self.hosts.get_mut(usize::from(to.0)) else { return };
        let before = host.machine.clone();
        let mut offered = 0;
        let mut take = |_: &MessageNumber| {
            offered += 1;
            Ok(())
        };
        host.machine.on_packet(&packet, &mut take, &mut self.effects);
        let unchanged = before == host.machine && offered == 0;
        assert!(unchanged, "what is unknown changes nothing. T-7: {packet:?}");
        let does =
            self.effects.drain(..).find(|effect| !matches!(effect, TransportEffect::Noted(..)));
        assert_eq!(does, None, "what is unknown has no answer. T-7: {packet:?}");
    }
}

/// Verdict of an endpoint on a message. T-6
fn verdict(
    ledger: &TransportChecker,
    endpoints: &[WorldEndpoint],
    number: MessageNumber,
) -> Result<(), NackReason> {
    let account = ledger.account(number).ok_or(NackReason::NoSuchEndpoint)?;
    let endpoint = endpoints.get(usize::from(account.to.endpoint.0));
    let endpoint = endpoint.ok_or(NackReason::NoSuchEndpoint)?;
    if endpoint.key != account.key {
        return Err(NackReason::BadKey);
    }
    if endpoint.frame != FrameResidency::Resident {
        return Err(NackReason::NotResident);
    }
    endpoint.room.refusal().map_or(Ok(()), Err)
}
