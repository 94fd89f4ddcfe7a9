//! Arrival of a packet at a NIC, and the update of its delivery record.

use super::apply::ModelStep;
use super::{
    ExtraClaim, ModelEvent, ModelKey, ModelMessage, ModelSide, ModelState, ModelStation,
    ModelViolation, NackReason, ProtocolPacket, Rc, SeededFlaw, TransportEffect, TransportHeader,
    TransportNotice,
};

impl ModelStep<'_> {
    pub(super) fn receive_answer(
        &mut self,
        world: &mut ModelState,
        side: ModelSide,
        packet: &ProtocolPacket<ModelMessage>,
        header: TransportHeader,
    ) -> Result<(), ModelViolation> {
        let before = Rc::clone(world.stations.of(side));
        let packet = &self.flaw_in_answer(&before, *packet);
        let counts = before.ledger.counts(packet);
        let station = Rc::make_mut(world.stations.of_mut(side));
        let mut effects = Vec::new();
        let mut take = |_: &ModelMessage| Ok(());
        station.transport.on_packet(packet, &mut take, &mut effects);
        let silent = effects.iter().all(|effect| matches!(effect, TransportEffect::Noted(..)));
        let undisturbed = silent && station.transport == before.transport;
        if !counts && !undisturbed {
            return Err(ModelViolation::Disturbed(side));
        }
        if counts {
            station.ledger.reset_retries(header.channel);
        }
        self.apply(world, side, effects)
    }

    pub(super) fn receive_data(
        &mut self,
        world: &mut ModelState,
        side: ModelSide,
        packet: &ProtocolPacket<ModelMessage>,
    ) -> Result<(), ModelViolation> {
        let before = Rc::clone(world.stations.of(side));
        let ProtocolPacket::Data(header, sync, message) = *packet else { return Ok(()) };
        let bent = self.flaw_in_data(header);
        let (over, mut taken) = (before.ledger.is_over(&bent), None);
        let mut take = |message: &ModelMessage| {
            let key = self.plan.mail(*message).map_or(ModelKey::Bad, |mail| mail.key);
            before.admit(key).inspect(|()| taken = Some(*message))
        };
        let station = Rc::make_mut(world.stations.of_mut(side));
        let mut effects = Vec::new();
        let packet = ProtocolPacket::Data(bent, sync, message);
        station.transport.on_packet(&packet, &mut take, &mut effects);
        if let Some(message) = taken {
            self.events.push(ModelEvent::Written);
            station.ledger.write(self.plan, &bent, message)?;
        }
        if over && (taken.is_some() || station.transport != before.transport) {
            return Err(ModelViolation::Disturbed(side));
        }
        self.flaw_in_effects(&mut effects);
        let is_answer = |effect: &&TransportEffect<ModelMessage>| {
            matches!(
                effect,
                TransportEffect::Send(ProtocolPacket::Ack(_) | ProtocolPacket::Nack(..))
            )
        };
        let answers = effects.iter().filter(is_answer).count();
        let own = world.stations.of(side.other()).ledger.on(header.channel);
        let due = own.is_some_and(|own| own.latest == Some(header));
        let due = due && self.plan.claim == Some(ExtraClaim::HeardIsAnswered);
        if answers > 1 || (due && answers == 0) {
            return Err(ModelViolation::Unanswered(message));
        }
        self.apply(world, side, effects)
    }

    const fn flaw_in_data(&self, header: TransportHeader) -> TransportHeader {
        match self.plan.flaw {
            SeededFlaw::OneIncarnation => {
                TransportHeader { incarnation: self.plan.first.left, ..header }
            }
            SeededFlaw::None
            | SeededFlaw::DuplicatesUnanswered
            | SeededFlaw::DuplicatesRefused
            | SeededFlaw::NacksForAll
            | SeededFlaw::AcksForAll
            | SeededFlaw::LostSentAgain => header,
        }
    }

    fn flaw_in_answer(
        &self,
        station: &ModelStation,
        packet: ProtocolPacket<ModelMessage>,
    ) -> ProtocolPacket<ModelMessage> {
        let latest = |header: TransportHeader| {
            station
                .ledger
                .on(header.channel)
                .and_then(|own| own.latest)
                .map(TransportHeader::answer)
        };
        match (self.plan.flaw, packet) {
            (SeededFlaw::NacksForAll, ProtocolPacket::Nack(header, reason)) => {
                ProtocolPacket::Nack(latest(header).unwrap_or(header), reason)
            }
            (SeededFlaw::AcksForAll, ProtocolPacket::Ack(header)) => {
                ProtocolPacket::Ack(latest(header).unwrap_or(header))
            }
            (SeededFlaw::OneIncarnation, ProtocolPacket::Ack(header)) => {
                let incarnation = latest(header).map_or(header.incarnation, |own| own.incarnation);
                ProtocolPacket::Ack(TransportHeader { incarnation, ..header })
            }
            (
                SeededFlaw::None
                | SeededFlaw::OneIncarnation
                | SeededFlaw::DuplicatesUnanswered
                | SeededFlaw::DuplicatesRefused
                | SeededFlaw::NacksForAll
                | SeededFlaw::AcksForAll
                | SeededFlaw::LostSentAgain,
                packet,
            ) => packet,
        }
    }

    /// Applies the plan's flaw to the effects of a receiver of a data packet.
    fn flaw_in_effects(&self, effects: &mut Vec<TransportEffect<ModelMessage>>) {
        let duplicate = |effect: &TransportEffect<ModelMessage>| {
            matches!(effect, TransportEffect::Noted(_, TransportNotice::Duplicate))
        };
        if !effects.iter().any(duplicate) {
            return;
        }
        match self.plan.flaw {
            SeededFlaw::DuplicatesUnanswered => {
                effects.retain(|effect| !matches!(effect, TransportEffect::Send(_)));
            }
            SeededFlaw::DuplicatesRefused => {
                for effect in effects {
                    if let TransportEffect::Send(ProtocolPacket::Ack(header)) = *effect {
                        *effect = TransportEffect::Send(ProtocolPacket::Nack(
                            header,
                            NackReason::QueueFull,
                        ));
                    }
                }
            }
            SeededFlaw::None
            | SeededFlaw::OneIncarnation
            | SeededFlaw::NacksForAll
            | SeededFlaw::AcksForAll
            | SeededFlaw::LostSentAgain => {}
        }
    }
}
