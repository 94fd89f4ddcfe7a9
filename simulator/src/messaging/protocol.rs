//! Packet handling of the firmware: the protocol machine between endpoints and wire. T-5..T-13

use codec::transport::{
    ChannelIncarnation, LogicalChannel, NackReason, Nic, SequenceBit, SyncFlag, TransportHeader,
};

use super::bus::BusTransfer;
use super::costs::ProtocolLayers;
use super::counters::reason_class;
use super::endpoint_queues::{EndpointResidency, SendStage};
use super::firmware::{FirmwareWork, OutboundPacket, PacketMemory, micros};
use super::message::SharedMessage;
use super::{HostMessaging, MessagingEvent};
use crate::arena::EndpointNumber;
use crate::transport::{self, ProtocolPacket, ReturnReason, TransportEffect, TransportNotice};
use crate::truth::{MessageId, ReturnCause, TransmissionAttempt};

impl HostMessaging {
    /// Finishes a job of the NIC processor.
    pub(super) fn end_firmware(&mut self) {
        match self.firmware.processor.end(self.clock) {
            Some(FirmwareWork::TakeIn(packet)) => self.take_in(packet),
            Some(FirmwareWork::Answer(packet)) => {
                let (turn, memory) = (TransmissionAttempt::First, PacketMemory::Own);
                self.firmware.outbox.push_back(OutboundPacket { packet, turn, memory });
            }
            Some(FirmwareWork::Scan) => {
                let mut effects = Vec::new();
                self.transport.on_tick(micros(self.clock), &mut effects);
                self.apply(effects);
            }
            Some(FirmwareWork::Again(queued)) => self.pass_on(queued),
            Some(FirmwareWork::Send { endpoint, message, memory, .. }) => {
                self.send(endpoint, message, memory);
            }
            Some(FirmwareWork::Look(_)) | None => {}
        }
    }

    /// Finishes a transfer between host and NIC.
    pub(super) fn end_bus(&mut self) {
        if let Some(queued) = self.bus.released(self.clock) {
            self.emit(queued);
        }
        match self.bus.end(self.clock) {
            Some(BusTransfer::In(packet)) => {
                if let ProtocolPacket::Data(_, _, letter) = &packet {
                    let place = self.place_of(letter.to.1);
                    self.endpoints[place].free(letter.role);
                }
                self.process(&packet, None);
            }
            Some(BusTransfer::Page) => self.page_moved(),
            Some(BusTransfer::Out(_)) | None => {}
        }
    }

    /// Receives a packet. A medium or bulk message that is new and can be written is transferred to
    /// host memory first and written afterwards. Meanwhile packets of its logical channel are
    /// dropped: they are copies or will be retransmitted, and a packet overtaking it could make a
    /// waiting copy pass for the next message. T-4
    fn take_in(&mut self, packet: ProtocolPacket<SharedMessage>) {
        if let ProtocolPacket::Data(header, sync, letter) = &packet {
            self.statistics.data_received += 1;
            let layers = self.parameters.layers;
            let is_reliable = layers != ProtocolLayers::Baseline;
            if is_reliable && self.bus.is_transferring(header.source, header.channel) {
                self.statistics.held_up += 1;
                return;
            }
            if letter.is_transferred()
                && (!is_reliable || self.transport.is_new(header, *sync))
                && let Some(place) = self.places.get(&letter.to.1).copied()
                && self.endpoints[place].refusal(letter, layers).is_none()
            {
                let refusal = self.transfer_refusal(place, letter);
                if refusal.is_none() {
                    self.endpoints[place].keep(letter.role);
                    self.bus.push(letter.bytes.len(), BusTransfer::In(packet));
                    return;
                }
                return self.process(&packet, refusal);
            }
        }
        self.process(&packet, None);
    }

    /// Passes a packet to the protocol, unless the NIC has to refuse it. T-4..T-8
    fn process(&mut self, packet: &ProtocolPacket<SharedMessage>, refusal: Option<NackReason>) {
        let Self { transport, endpoints, places, parameters, .. } = self;
        let mut offered = None;
        let mut take = |letter: &SharedMessage| {
            let place = places.get(&letter.to.1).copied();
            let written = match (place, refusal) {
                (Some(_), Some(reason)) => Err(reason),
                (Some(place), None) => endpoints[place].write(letter, parameters.layers),
                (None, _) => Err(NackReason::NoSuchEndpoint),
            };
            offered = Some((letter.id, place, written));
            written
        };
        let mut effects = Vec::new();
        match (parameters.layers, packet) {
            (ProtocolLayers::Reliability | ProtocolLayers::Protection, _) => {
                transport.on_packet(packet, &mut take, &mut effects);
            }
            (ProtocolLayers::Baseline, ProtocolPacket::Data(_, _, letter)) => {
                if let Err(reason) = take(letter) {
                    self.events.push(MessagingEvent::Dropped(letter.id, reason));
                }
            }
            (ProtocolLayers::Baseline, ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..)) => {}
        }
        match offered {
            Some((message, Some(place), Ok(()))) => self.written(place, message),
            // T-6: a message for an endpoint that is not resident starts its loading.
            Some((_, Some(place), Err(NackReason::NotResident))) => self.request_load(place),
            Some(_) | None => {}
        }
        if let ProtocolPacket::Data(_, _, letter) = packet {
            for effect in &effects {
                if let TransportEffect::Send(ProtocolPacket::Nack(header, reason)) = effect {
                    self.events.push(MessagingEvent::Refused(letter.id, *header, *reason));
                }
            }
        }
        self.apply(effects);
    }

    fn written(&mut self, place: EndpointNumber, message: MessageId) {
        let endpoint = &self.endpoints[place];
        self.events.push(MessagingEvent::Written(message, endpoint.plan.id));
        if let EndpointResidency::Resident(frame) = endpoint.place {
            self.frames.touch(frame);
        }
        self.notify(place);
    }

    /// Applies the effects of the protocol.
    pub(super) fn apply(&mut self, effects: Vec<TransportEffect<SharedMessage>>) {
        for effect in effects {
            match effect {
                TransportEffect::Send(packet @ ProtocolPacket::Data(..)) => {
                    self.firmware.send_again(packet);
                }
                TransportEffect::Send(
                    answer @ (ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..)),
                ) => {
                    self.firmware.answers.push_back(answer);
                }
                TransportEffect::Acknowledged(letter) => {
                    let (place, message) = (self.place_of(letter.endpoint), letter.message.id);
                    self.events.push(MessagingEvent::Acknowledged(message));
                    self.endpoints[place].settle(self.clock, message);
                    self.notify(place);
                }
                TransportEffect::Returned(letter, why) => {
                    let why = match why {
                        ReturnReason::Refused(reason) => ReturnCause::Refused(reason),
                        ReturnReason::Unreachable => ReturnCause::Unreachable,
                    };
                    self.bring_back(self.place_of(letter.endpoint), letter.message, why);
                }
                TransportEffect::Unloaded(endpoint, letters) => {
                    let place = self.place_of(endpoint);
                    for letter in letters {
                        self.endpoints[place].stage(letter.id, SendStage::Ready);
                    }
                    self.released(place);
                }
                TransportEffect::Noted(header, note) => self.noted(header, note),
            }
        }
    }

    fn noted(&mut self, header: TransportHeader, note: TransportNotice) {
        let statistics = &mut self.statistics;
        match note {
            TransportNotice::Duplicate => statistics.duplicates += 1,
            TransportNotice::Stale => statistics.stale += 1,
            TransportNotice::Late => statistics.late += 1,
            TransportNotice::Unknown => statistics.malformed += 1,
            TransportNotice::Retransmitted => {}
            TransportNotice::Refused(reason) => {
                if let Some(count) = statistics.nacks_received.get_mut(reason_class(reason)) {
                    *count += 1;
                }
            }
        }
        self.events.push(MessagingEvent::Observed(header, note));
    }

    /// Returns a message to its application. T-6, T-11
    pub(super) fn bring_back(
        &mut self,
        place: EndpointNumber,
        letter: SharedMessage,
        why: ReturnCause,
    ) {
        self.events.push(MessagingEvent::Returned(letter.id, why));
        self.endpoints[place].bring_back(letter);
        self.notify(place);
    }

    /// Sends a message whose packet has been built. T-2, T-3
    fn send(&mut self, place: EndpointNumber, message: MessageId, memory: PacketMemory) {
        match self.label(place, message) {
            Some(packet) => {
                self.pass_on(OutboundPacket { packet, turn: TransmissionAttempt::First, memory });
            }
            None => self.firmware.give_back(memory),
        }
    }

    /// Hands a message to the protocol machine; none if its endpoint is leaving.
    fn label(
        &mut self,
        place: EndpointNumber,
        id: MessageId,
    ) -> Option<ProtocolPacket<SharedMessage>> {
        let endpoint = &mut self.endpoints[place];
        let message = endpoint.ready().find(|letter| letter.id == id)?.clone();
        let (to, _) = message.to;
        let EndpointResidency::Resident(frame) = endpoint.place else { return None };
        let packet = match self.parameters.layers {
            ProtocolLayers::Baseline => {
                endpoint.settle(self.clock, id);
                ProtocolPacket::Data(self.fire_and_forget(to), SyncFlag::Set, message)
            }
            ProtocolLayers::Reliability | ProtocolLayers::Protection => {
                let letter = transport::OutboundMessage { endpoint: endpoint.plan.id, message };
                let mut effects = Vec::new();
                self.transport.on_send(micros(self.clock), to, letter, &mut effects).ok()?;
                endpoint.stage(id, SendStage::Underway);
                match effects.pop() {
                    Some(TransportEffect::Send(packet)) => packet,
                    effect => unreachable!("a message that is accepted is sent, not {effect:?}"),
                }
            }
        };
        self.frames.touch(frame);
        Some(packet)
    }

    /// Header of a packet without an answer: constant except for the time.
    const fn fire_and_forget(&self, destination: Nic) -> TransportHeader {
        TransportHeader {
            source: self.nic,
            destination,
            channel: LogicalChannel(0),
            seq: SequenceBit::Zero,
            timestamp: micros(self.clock).timestamp(),
            incarnation: ChannelIncarnation(0),
        }
    }

    /// Starts the transfer of a data packet's bytes, unless they are in its endpoint's frame.
    fn pass_on(&mut self, queued: OutboundPacket) {
        match (queued.memory, &queued.packet) {
            (PacketMemory::Buffer, ProtocolPacket::Data(_, _, letter)) => {
                self.bus.push(letter.bytes.len(), BusTransfer::Out(queued));
            }
            (PacketMemory::Own | PacketMemory::Buffer, _) => self.emit(queued),
        }
    }

    /// Passes a data packet to the send engine if it is still to be sent.
    fn emit(&mut self, queued: OutboundPacket) {
        if self.is_queued(&queued.packet) {
            self.firmware.outbox.push_back(queued);
        } else {
            self.firmware.give_back(queued.memory);
        }
    }

    /// Tests whether a packet is still to be sent; always true without reliability.
    pub(super) fn is_queued(&self, packet: &ProtocolPacket<SharedMessage>) -> bool {
        self.parameters.layers == ProtocolLayers::Baseline || self.transport.is_queued(packet)
    }

    /// Drops waiting packets that are no longer to be sent.
    pub(super) fn drop_old(&mut self) {
        let Self { firmware, transport, parameters, .. } = self;
        let baseline = parameters.layers == ProtocolLayers::Baseline;
        firmware.drop_old(|packet| baseline || transport.is_queued(packet));
    }
}
