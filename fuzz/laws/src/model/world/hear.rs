//! What a NIC makes of a packet that arrives, and what the ledger says to that.

use super::apply::Step;
use super::{
    Breach, Claim, Effect, Event, Flaw, Header, Key, Message, Note, Packet, Rc, Reason, Side,
    Station, World,
};

impl Step<'_> {
    pub(super) fn hear_answer(
        &mut self,
        world: &mut World,
        side: Side,
        packet: &Packet<Message>,
        header: Header,
    ) -> Result<(), Breach> {
        let before = Rc::clone(world.stations.of(side));
        let packet = &self.bend_answer(&before, *packet);
        let counts = before.ledger.counts(packet);
        let station = Rc::make_mut(world.stations.of_mut(side));
        let mut effects = Vec::new();
        let mut take = |_: &Message| Ok(());
        station.transport.on_packet(packet, &mut take, &mut effects);
        let silent = effects.iter().all(|effect| matches!(effect, Effect::Noted(..)));
        let undisturbed = silent && station.transport == before.transport;
        if !counts && !undisturbed {
            return Err(Breach::Disturbed(side));
        }
        if counts {
            station.ledger.hear_of(header.channel);
        }
        self.apply(world, side, effects)
    }

    pub(super) fn hear_data(
        &mut self,
        world: &mut World,
        side: Side,
        packet: &Packet<Message>,
    ) -> Result<(), Breach> {
        let before = Rc::clone(world.stations.of(side));
        let Packet::Data(header, sync, message) = *packet else { return Ok(()) };
        let bent = self.bend_data(header);
        let (over, mut taken) = (before.ledger.is_over(&bent), None);
        let mut take = |message: &Message| {
            let key = self.plan.mail(*message).map_or(Key::Bad, |mail| mail.key);
            before.admit(key).inspect(|()| taken = Some(*message))
        };
        let station = Rc::make_mut(world.stations.of_mut(side));
        let mut effects = Vec::new();
        let packet = Packet::Data(bent, sync, message);
        station.transport.on_packet(&packet, &mut take, &mut effects);
        if let Some(message) = taken {
            self.events.push(Event::Written);
            station.ledger.write(self.plan, &bent, message)?;
        }
        if over && (taken.is_some() || station.transport != before.transport) {
            return Err(Breach::Disturbed(side));
        }
        self.bend_effects(&mut effects);
        let is_answer = |effect: &&Effect<Message>| {
            matches!(effect, Effect::Send(Packet::Ack(_) | Packet::Nack(..)))
        };
        let answers = effects.iter().filter(is_answer).count();
        let own = world.stations.of(side.other()).ledger.on(header.channel);
        let due = own.is_some_and(|own| own.latest == Some(header));
        let due = due && self.plan.claim == Some(Claim::HeardIsAnswered);
        if answers > 1 || (due && answers == 0) {
            return Err(Breach::Unanswered(message));
        }
        self.apply(world, side, effects)
    }

    /// What the receiver hears of a data packet.
    const fn bend_data(&self, header: Header) -> Header {
        match self.plan.flaw {
            Flaw::OneIncarnation => Header { incarnation: self.plan.first.left, ..header },
            Flaw::None
            | Flaw::DuplicatesUnanswered
            | Flaw::DuplicatesRefused
            | Flaw::NacksForAll
            | Flaw::AcksForAll
            | Flaw::LostSentAgain => header,
        }
    }

    /// What the sender hears of an answer.
    fn bend_answer(&self, station: &Station, packet: Packet<Message>) -> Packet<Message> {
        let latest = |header: Header| {
            station.ledger.on(header.channel).and_then(|own| own.latest).map(Header::answer)
        };
        match (self.plan.flaw, packet) {
            (Flaw::NacksForAll, Packet::Nack(header, reason)) => {
                Packet::Nack(latest(header).unwrap_or(header), reason)
            }
            (Flaw::AcksForAll, Packet::Ack(header)) => {
                Packet::Ack(latest(header).unwrap_or(header))
            }
            (Flaw::OneIncarnation, Packet::Ack(header)) => {
                let incarnation = latest(header).map_or(header.incarnation, |own| own.incarnation);
                Packet::Ack(Header { incarnation, ..header })
            }
            (
                Flaw::None
                | Flaw::OneIncarnation
                | Flaw::DuplicatesUnanswered
                | Flaw::DuplicatesRefused
                | Flaw::NacksForAll
                | Flaw::AcksForAll
                | Flaw::LostSentAgain,
                packet,
            ) => packet,
        }
    }

    /// What leaves a receiver that has heard a data packet.
    fn bend_effects(&self, effects: &mut Vec<Effect<Message>>) {
        let duplicate =
            |effect: &Effect<Message>| matches!(effect, Effect::Noted(_, Note::Duplicate));
        if !effects.iter().any(duplicate) {
            return;
        }
        match self.plan.flaw {
            Flaw::DuplicatesUnanswered => {
                effects.retain(|effect| !matches!(effect, Effect::Send(_)));
            }
            Flaw::DuplicatesRefused => {
                for effect in effects {
                    if let Effect::Send(Packet::Ack(header)) = *effect {
                        *effect = Effect::Send(Packet::Nack(header, Reason::QueueFull));
                    }
                }
            }
            Flaw::None
            | Flaw::OneIncarnation
            | Flaw::NacksForAll
            | Flaw::AcksForAll
            | Flaw::LostSentAgain => {}
        }
    }
}
