//! Effects of an action on a state, and the laws that they may break.

use super::time::ModelClock;
use super::{
    DepartureMode, ENDPOINT, EndpointId, ExtraClaim, FaultBounds, Micros, ModelAction,
    ModelEndpoint, ModelEvent, ModelFate, ModelMessage, ModelOutcome, ModelPlan, ModelSide,
    ModelState, ModelStation, ModelViolation, NEIGHBOUR, OutboundMessage, ProtocolPacket, Rc,
    ReturnReason, SeededFlaw, TransportEffect, WriteState, start,
};

/// Result of a step: another state, or none if the step cannot be taken; or a broken law.
pub type ModelStepResult = Result<Option<ModelState>, ModelViolation>;

/// Tests whether a part of a step can be taken; or a broken law.
type PartialStep = Result<Option<()>, ModelViolation>;

#[derive(Debug)]
pub struct ModelStep<'a> {
    pub plan: &'a ModelPlan,
    pub reckoning: ModelClock,
    pub events: &'a mut Vec<ModelEvent>,
}

impl ModelStep<'_> {
    /// Takes it.
    ///
    /// # Errors
    /// The law that is broken by it.
    pub fn take(&mut self, world: &ModelState, action: ModelAction) -> ModelStepResult {
        let mut next = world.clone();
        let Some(left) = spend(world.left, action) else { return Ok(None) };
        next.left = left;
        let taken = match action {
            ModelAction::Send(side) => self.send(&mut next, side)?,
            ModelAction::Deliver(side) => self.deliver(&mut next, side, 0)?,
            ModelAction::Overtake(side, place) => self.deliver(&mut next, side, place.into())?,
            ModelAction::Double(side) => {
                let packet = next.paths.of(side).first().copied();
                self.deliver(&mut next, side, 0)?.and(packet).map(|packet| {
                    Rc::make_mut(next.paths.of_mut(side)).insert(0, packet);
                })
            }
            ModelAction::Lose(side) => self.lose(&mut next, side),
            ModelAction::Leave(side, place) => self.leave(&mut next, side, place.into())?,
            ModelAction::Tick => self.tick(&mut next)?,
            ModelAction::Fill(side) => {
                turn(&mut next, side, ModelEndpoint::Resident, ModelEndpoint::Full)
            }
            ModelAction::Empty(side) => {
                turn(&mut next, side, ModelEndpoint::Full, ModelEndpoint::Resident)
            }
            ModelAction::Unload(side) => self.unload(&mut next, side)?,
            ModelAction::Load(side) => self.load(&mut next, side),
            ModelAction::Restart(side) => self.restart(&mut next, side),
        };
        if taken.is_none() || self.is_crowded(&next, action) {
            return Ok(None);
        }
        for side in ModelSide::BOTH {
            let station = next.stations.of(side);
            if !Rc::ptr_eq(station, world.stations.of(side)) {
                check_counts(self.plan, side, station)?;
            }
        }
        if self.reckoning == ModelClock::Relative {
            next.forget_times();
        }
        Ok(Some(next))
    }

    /// Tests whether more is in transit than the plan has room for.
    fn is_crowded(&self, world: &ModelState, action: ModelAction) -> bool {
        let transmits = match action {
            ModelAction::Send(_) | ModelAction::Tick => true,
            ModelAction::Deliver(_)
            | ModelAction::Overtake(..)
            | ModelAction::Double(_)
            | ModelAction::Lose(_)
            | ModelAction::Leave(..)
            | ModelAction::Fill(_)
            | ModelAction::Empty(_)
            | ModelAction::Unload(_)
            | ModelAction::Load(_)
            | ModelAction::Restart(_) => false,
        };
        let on_way = |side| world.paths.of(side).len() + world.stations.of(side).queue.len();
        let under_way = ModelSide::BOTH.map(on_way).iter().sum::<usize>();
        transmits && under_way > self.plan.room
    }

    fn send(&mut self, world: &mut ModelState, side: ModelSide) -> PartialStep {
        let (now, station) = (world.now, Rc::make_mut(world.stations.of_mut(side)));
        let Some(message) = station.next_to_send(self.plan, side) else { return Ok(None) };
        let endpoint = self.plan.mail(message).map_or(ENDPOINT, |mail| mail.endpoint);
        let letter = OutboundMessage { endpoint, message };
        let mut effects = Vec::new();
        let sent = station.transport.on_send(now, side.other().nic(), letter, &mut effects);
        let channel = sent.map_err(|_| ModelViolation::Miscounted(side))?;
        station.ledger.accept(channel, message)?;
        self.apply(world, side, effects).map(Some)
    }

    fn lose(&mut self, world: &mut ModelState, side: ModelSide) -> Option<()> {
        let path = Rc::make_mut(world.paths.of_mut(side));
        if path.is_empty() {
            return None;
        }
        self.events.push(ModelEvent::Lost(path.remove(0)));
        Some(())
    }

    /// A queued packet leaves its NIC, or is dropped there if it need not leave any more. T-3, T-8
    fn leave(&mut self, world: &mut ModelState, side: ModelSide, place: usize) -> PartialStep {
        let station = Rc::make_mut(world.stations.of_mut(side));
        if place >= station.queue.len() {
            return Ok(None);
        }
        let mut packet = station.queue.remove(place);
        if !station.transport.is_queued(&packet) {
            self.events.push(ModelEvent::Dropped(side, packet));
            return Ok(Some(()));
        }
        station.transport.on_leave(world.now, &mut packet);
        self.transmit(world, side, packet).map(Some)
    }

    fn transmit(
        &mut self,
        world: &mut ModelState,
        side: ModelSide,
        packet: ProtocolPacket<ModelMessage>,
    ) -> Result<(), ModelViolation> {
        if let ProtocolPacket::Data(header, _, message) = packet {
            let station = Rc::make_mut(world.stations.of_mut(side));
            station.ledger.transmit(header, message)?;
        }
        self.events.push(ModelEvent::Sent(packet));
        Rc::make_mut(world.paths.of_mut(side.other())).push(packet);
        Ok(())
    }

    fn deliver(&mut self, world: &mut ModelState, side: ModelSide, place: usize) -> PartialStep {
        let path = Rc::make_mut(world.paths.of_mut(side));
        if place >= path.len() {
            return Ok(None);
        }
        let packet = path.remove(place);
        self.events.push(ModelEvent::Heard(packet));
        match packet {
            ProtocolPacket::Data(..) => self.receive_data(world, side, &packet),
            ProtocolPacket::Ack(header) | ProtocolPacket::Nack(header, _) => {
                self.receive_answer(world, side, &packet, header)
            }
        }
        .map(Some)
    }

    fn tick(&mut self, world: &mut ModelState) -> PartialStep {
        world.now = Micros(world.now.0.saturating_add(1));
        for side in ModelSide::BOTH {
            let station = Rc::make_mut(world.stations.of_mut(side));
            let mut effects = Vec::new();
            station.transport.on_tick(world.now, &mut effects);
            self.apply(world, side, effects)?;
        }
        if self.reckoning == ModelClock::Relative {
            world.rewind(Micros(1));
        }
        Ok(Some(()))
    }

    fn unload(&mut self, world: &mut ModelState, side: ModelSide) -> PartialStep {
        let station = Rc::make_mut(world.stations.of_mut(side));
        match station.endpoint {
            ModelEndpoint::Resident | ModelEndpoint::Full => {}
            ModelEndpoint::Leaving | ModelEndpoint::Out => return Ok(None),
        }
        station.endpoint = ModelEndpoint::Leaving;
        let mut effects = Vec::new();
        station.transport.on_unload(ENDPOINT, &mut effects);
        self.apply(world, side, effects).map(Some)
    }

    fn load(&mut self, world: &mut ModelState, side: ModelSide) -> Option<()> {
        let station = Rc::make_mut(world.stations.of_mut(side));
        // One that is leaving may be wanted again before it has left.
        match station.endpoint {
            ModelEndpoint::Leaving | ModelEndpoint::Out => {}
            ModelEndpoint::Resident | ModelEndpoint::Full => return None,
        }
        station.endpoint = ModelEndpoint::Resident;
        station.transport.on_load(ENDPOINT);
        station.ledger.bring_back();
        Some(())
    }

    /// Restarts a NIC; packets on the paths stay there. Decision 8: incarnations go on.
    fn restart(&mut self, world: &mut ModelState, side: ModelSide) -> Option<()> {
        let station = Rc::make_mut(world.stations.of_mut(side));
        let next = station.transport.next_incarnation();
        station.transport = start(self.plan, side, next);
        station.endpoint = ModelEndpoint::Out;
        station.queue.clear();
        let lost = match self.plan.flaw {
            SeededFlaw::LostSentAgain => ModelFate::Waiting,
            SeededFlaw::None
            | SeededFlaw::OneIncarnation
            | SeededFlaw::DuplicatesUnanswered
            | SeededFlaw::DuplicatesRefused
            | SeededFlaw::NacksForAll
            | SeededFlaw::AcksForAll => ModelFate::Lost,
        };
        station.ledger.restart(lost);
        Some(())
    }

    pub(super) fn apply(
        &mut self,
        world: &mut ModelState,
        side: ModelSide,
        effects: Vec<TransportEffect<ModelMessage>>,
    ) -> Result<(), ModelViolation> {
        for effect in effects {
            match effect {
                TransportEffect::Send(mut packet @ ProtocolPacket::Data(..)) => {
                    let station = Rc::make_mut(world.stations.of_mut(side));
                    match self.plan.departure {
                        DepartureMode::Immediate => {
                            station.transport.on_leave(world.now, &mut packet);
                            self.transmit(world, side, packet)?;
                        }
                        DepartureMode::Delayed => station.enqueue(packet),
                    }
                }
                TransportEffect::Send(packet) => self.transmit(world, side, packet)?,
                TransportEffect::Acknowledged(letter) => {
                    self.end(world, side, letter.message, ModelOutcome::Acknowledged)?;
                }
                TransportEffect::Returned(letter, why) => {
                    self.end(world, side, letter.message, ModelOutcome::Returned(why))?;
                }
                TransportEffect::Unloaded(_, messages) => self.unloaded(world, side, &messages)?,
                TransportEffect::Noted(_, note) => self.events.push(ModelEvent::Noted(note)),
            }
        }
        Ok(())
    }

    /// A message has come to its end, which the laws may forbid.
    fn end(
        &mut self,
        world: &mut ModelState,
        side: ModelSide,
        message: ModelMessage,
        end: ModelOutcome,
    ) -> Result<(), ModelViolation> {
        self.events.push(ModelEvent::Ended(side, message, end));
        let written = world.stations.of(side.other()).ledger.written(message) != WriteState::Never;
        let fate = match end {
            ModelOutcome::Acknowledged if !written => {
                return Err(ModelViolation::AcknowledgedUnwritten(message));
            }
            ModelOutcome::Returned(ReturnReason::Refused(_)) if written => {
                return Err(ModelViolation::RefusedWritten(message));
            }
            ModelOutcome::Returned(ReturnReason::Unreachable)
                if written && self.plan.claim == Some(ExtraClaim::ReturnedIsUnwritten) =>
            {
                return Err(ModelViolation::ReturnedWritten(message));
            }
            ModelOutcome::Acknowledged => ModelFate::Acknowledged,
            ModelOutcome::Returned(_) => ModelFate::Returned,
            ModelOutcome::Carried => ModelFate::Carried,
        };
        let station = Rc::make_mut(world.stations.of_mut(side));
        let Some(own) = station.ledger.end(message, fate) else {
            return Err(ModelViolation::Misplaced(side));
        };
        let early = own.retries < self.plan.parameters.retries;
        if end == ModelOutcome::Returned(ReturnReason::Unreachable) && early {
            return Err(ModelViolation::GivenUpEarly(message));
        }
        Ok(())
    }

    fn unloaded(
        &mut self,
        world: &mut ModelState,
        side: ModelSide,
        messages: &[ModelMessage],
    ) -> Result<(), ModelViolation> {
        for message in messages {
            self.end(world, side, *message, ModelOutcome::Carried)?;
        }
        self.events.push(ModelEvent::Unloaded(side));
        let station = Rc::make_mut(world.stations.of_mut(side));
        let left = outstanding(self.plan, station, ENDPOINT);
        if station.endpoint != ModelEndpoint::Leaving || left > 0 {
            return Err(ModelViolation::Misplaced(side));
        }
        station.endpoint = ModelEndpoint::Out;
        Ok(())
    }
}

/// Fault bounds after an action; none if it may not happen any more.
const fn spend(left: FaultBounds, action: ModelAction) -> Option<FaultBounds> {
    let mut left = left;
    let part = match action {
        ModelAction::Lose(_) => &mut left.losses,
        ModelAction::Double(_) => &mut left.duplicates,
        ModelAction::Overtake(..) => &mut left.overtakings,
        ModelAction::Fill(_) => &mut left.fulls,
        ModelAction::Unload(_) => &mut left.unloads,
        ModelAction::Restart(_) => &mut left.restarts,
        ModelAction::Send(_)
        | ModelAction::Deliver(_)
        | ModelAction::Leave(..)
        | ModelAction::Tick
        | ModelAction::Empty(_)
        | ModelAction::Load(_) => return Some(left),
    };
    match part.checked_sub(1) {
        Some(fewer) => *part = fewer,
        None => return None,
    }
    Some(left)
}

fn turn(
    world: &mut ModelState,
    side: ModelSide,
    from: ModelEndpoint,
    to: ModelEndpoint,
) -> Option<()> {
    let station = Rc::make_mut(world.stations.of_mut(side));
    (station.endpoint == from).then(|| station.endpoint = to)
}

/// Checks that the machine counts the outstanding messages. Property 6
fn check_counts(
    plan: &ModelPlan,
    side: ModelSide,
    station: &ModelStation,
) -> Result<(), ModelViolation> {
    let transport = &station.transport;
    let counts = [ENDPOINT, NEIGHBOUR].map(|endpoint| outstanding(plan, station, endpoint));
    let all = counts.iter().sum::<usize>();
    let agree = [ENDPOINT, NEIGHBOUR].map(|endpoint| transport.outstanding(endpoint)) == counts
        && transport.has_channel(side.other().nic())
            == (all < usize::from(plan.parameters.channels))
        && transport.due().is_some() == (all > 0)
        && transport.is_consistent();
    if agree { Ok(()) } else { Err(ModelViolation::Miscounted(side)) }
}

/// Number of messages of an endpoint are outstanding.
fn outstanding(plan: &ModelPlan, station: &ModelStation, endpoint: EndpointId) -> usize {
    let its =
        |message: &ModelMessage| plan.mail(*message).is_some_and(|mail| mail.endpoint == endpoint);
    station.ledger.outstanding().filter(its).count()
}
