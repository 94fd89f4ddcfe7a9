//! What becomes of a state when something happens, and whether the laws hold in it.

use super::time::Reckoning;
use super::{
    Action, Bounds, Breach, Claim, Departure, ENDPOINT, Effect, End, Endpoint, EndpointId, Event,
    Fate, Flaw, Letter, Message, Micros, NEIGHBOUR, Packet, Plan, Rc, Return, Side, Station, World,
    Written, start,
};

/// What a step leads to: another state, or none if it cannot be taken; or a broken law.
pub type Stepped = Result<Option<World>, Breach>;

/// Whether a part of a step can be taken; or a broken law.
type Taken = Result<Option<()>, Breach>;

/// One step.
#[derive(Debug)]
pub struct Step<'a> {
    /// What the walk is of.
    pub plan: &'a Plan,
    /// How time is counted.
    pub reckoning: Reckoning,
    /// What happens is added here.
    pub events: &'a mut Vec<Event>,
}

impl Step<'_> {
    /// Takes it.
    ///
    /// # Errors
    /// The law that is broken by it.
    pub fn take(&mut self, world: &World, action: Action) -> Stepped {
        let mut next = world.clone();
        let Some(left) = spend(world.left, action) else { return Ok(None) };
        next.left = left;
        let taken = match action {
            Action::Send(side) => self.send(&mut next, side)?,
            Action::Deliver(side) => self.deliver(&mut next, side, 0)?,
            Action::Overtake(side, place) => self.deliver(&mut next, side, place.into())?,
            Action::Double(side) => {
                let packet = next.paths.of(side).first().copied();
                self.deliver(&mut next, side, 0)?.and(packet).map(|packet| {
                    Rc::make_mut(next.paths.of_mut(side)).insert(0, packet);
                })
            }
            Action::Lose(side) => self.lose(&mut next, side),
            Action::Leave(side, place) => self.leave(&mut next, side, place.into())?,
            Action::Tick => self.tick(&mut next)?,
            Action::Fill(side) => turn(&mut next, side, Endpoint::Resident, Endpoint::Full),
            Action::Empty(side) => turn(&mut next, side, Endpoint::Full, Endpoint::Resident),
            Action::Unload(side) => self.unload(&mut next, side)?,
            Action::Load(side) => self.load(&mut next, side),
            Action::Restart(side) => self.restart(&mut next, side),
        };
        if taken.is_none() || self.is_crowded(&next, action) {
            return Ok(None);
        }
        for side in Side::BOTH {
            check_counts(self.plan, side, next.stations.of(side))?;
        }
        if self.reckoning == Reckoning::Relative {
            next.forget_times();
        }
        Ok(Some(next))
    }

    /// Whether more is under way than the plan has room for.
    fn is_crowded(&self, world: &World, action: Action) -> bool {
        let transmits = match action {
            Action::Send(_) | Action::Tick => true,
            Action::Deliver(_)
            | Action::Overtake(..)
            | Action::Double(_)
            | Action::Lose(_)
            | Action::Leave(..)
            | Action::Fill(_)
            | Action::Empty(_)
            | Action::Unload(_)
            | Action::Load(_)
            | Action::Restart(_) => false,
        };
        let on_way = |side| world.paths.of(side).len() + world.stations.of(side).queue.len();
        let under_way = Side::BOTH.map(on_way).iter().sum::<usize>();
        transmits && under_way > self.plan.room
    }

    fn send(&mut self, world: &mut World, side: Side) -> Taken {
        let (now, station) = (world.now, Rc::make_mut(world.stations.of_mut(side)));
        let Some(message) = station.next_to_send(self.plan, side) else { return Ok(None) };
        let endpoint = self.plan.mail(message).map_or(ENDPOINT, |mail| mail.endpoint);
        let letter = Letter { endpoint, message };
        let mut effects = Vec::new();
        let sent = station.transport.on_send(now, side.other().nic(), letter, &mut effects);
        let channel = sent.map_err(|_| Breach::Miscounted(side))?;
        station.ledger.accept(channel, message)?;
        self.apply(world, side, effects).map(Some)
    }

    fn lose(&mut self, world: &mut World, side: Side) -> Option<()> {
        let path = Rc::make_mut(world.paths.of_mut(side));
        if path.is_empty() {
            return None;
        }
        self.events.push(Event::Lost(path.remove(0)));
        Some(())
    }

    /// A queued packet leaves its NIC, or is dropped there if it need not leave any more. T-3, T-8
    fn leave(&mut self, world: &mut World, side: Side, place: usize) -> Taken {
        let station = Rc::make_mut(world.stations.of_mut(side));
        if place >= station.queue.len() {
            return Ok(None);
        }
        let mut packet = station.queue.remove(place);
        if !station.transport.is_queued(&packet) {
            self.events.push(Event::Dropped(side, packet));
            return Ok(Some(()));
        }
        station.transport.on_leave(world.now, &mut packet);
        self.transmit(world, side, packet).map(Some)
    }

    /// A packet begins on its path.
    fn transmit(
        &mut self,
        world: &mut World,
        side: Side,
        packet: Packet<Message>,
    ) -> Result<(), Breach> {
        if let Packet::Data(header, _, message) = packet {
            let station = Rc::make_mut(world.stations.of_mut(side));
            station.ledger.transmit(header, message)?;
        }
        self.events.push(Event::Sent(packet));
        Rc::make_mut(world.paths.of_mut(side.other())).push(packet);
        Ok(())
    }

    fn deliver(&mut self, world: &mut World, side: Side, place: usize) -> Taken {
        let path = Rc::make_mut(world.paths.of_mut(side));
        if place >= path.len() {
            return Ok(None);
        }
        let packet = path.remove(place);
        self.events.push(Event::Heard(packet));
        match packet {
            Packet::Data(..) => self.hear_data(world, side, &packet),
            Packet::Ack(header) | Packet::Nack(header, _) => {
                self.hear_answer(world, side, &packet, header)
            }
        }
        .map(Some)
    }

    fn tick(&mut self, world: &mut World) -> Taken {
        world.now = Micros(world.now.0.saturating_add(1));
        for side in Side::BOTH {
            let station = Rc::make_mut(world.stations.of_mut(side));
            let mut effects = Vec::new();
            station.transport.on_tick(world.now, &mut effects);
            self.apply(world, side, effects)?;
        }
        if self.reckoning == Reckoning::Relative {
            world.rewind(Micros(1));
        }
        Ok(Some(()))
    }

    fn unload(&mut self, world: &mut World, side: Side) -> Taken {
        let station = Rc::make_mut(world.stations.of_mut(side));
        match station.endpoint {
            Endpoint::Resident | Endpoint::Full => {}
            Endpoint::Leaving | Endpoint::Out => return Ok(None),
        }
        station.endpoint = Endpoint::Leaving;
        let mut effects = Vec::new();
        station.transport.on_unload(ENDPOINT, &mut effects);
        self.apply(world, side, effects).map(Some)
    }

    fn load(&mut self, world: &mut World, side: Side) -> Option<()> {
        let station = Rc::make_mut(world.stations.of_mut(side));
        // One that is leaving may be wanted again before it has left.
        match station.endpoint {
            Endpoint::Leaving | Endpoint::Out => {}
            Endpoint::Resident | Endpoint::Full => return None,
        }
        station.endpoint = Endpoint::Resident;
        station.transport.on_load(ENDPOINT);
        station.ledger.bring_back();
        Some(())
    }

    /// What is on the paths stays there. Decision 8: incarnations go on.
    fn restart(&mut self, world: &mut World, side: Side) -> Option<()> {
        let station = Rc::make_mut(world.stations.of_mut(side));
        let next = station.transport.next_incarnation();
        station.transport = start(self.plan, side, next);
        station.endpoint = Endpoint::Out;
        station.queue.clear();
        let lost = match self.plan.flaw {
            Flaw::LostSentAgain => Fate::Waiting,
            Flaw::None
            | Flaw::OneIncarnation
            | Flaw::DuplicatesUnanswered
            | Flaw::DuplicatesRefused
            | Flaw::NacksForAll
            | Flaw::AcksForAll => Fate::Lost,
        };
        station.ledger.restart(lost);
        Some(())
    }

    pub(super) fn apply(
        &mut self,
        world: &mut World,
        side: Side,
        effects: Vec<Effect<Message>>,
    ) -> Result<(), Breach> {
        for effect in effects {
            match effect {
                Effect::Send(mut packet @ Packet::Data(..)) => {
                    let station = Rc::make_mut(world.stations.of_mut(side));
                    match self.plan.departure {
                        Departure::Immediate => {
                            station.transport.on_leave(world.now, &mut packet);
                            self.transmit(world, side, packet)?;
                        }
                        Departure::Delayed => station.enqueue(packet),
                    }
                }
                Effect::Send(packet) => self.transmit(world, side, packet)?,
                Effect::Acknowledged(letter) => {
                    self.end(world, side, letter.message, End::Acknowledged)?;
                }
                Effect::Returned(letter, why) => {
                    self.end(world, side, letter.message, End::Returned(why))?;
                }
                Effect::Unloaded(_, messages) => self.unloaded(world, side, &messages)?,
                Effect::Noted(_, note) => self.events.push(Event::Noted(note)),
            }
        }
        Ok(())
    }

    /// A message has come to its end, and the laws say whether it may.
    fn end(
        &mut self,
        world: &mut World,
        side: Side,
        message: Message,
        end: End,
    ) -> Result<(), Breach> {
        self.events.push(Event::Ended(side, message, end));
        let written = world.stations.of(side.other()).ledger.written(message) != Written::Never;
        let fate = match end {
            End::Acknowledged if !written => return Err(Breach::AcknowledgedUnwritten(message)),
            End::Returned(Return::Refused(_)) if written => {
                return Err(Breach::RefusedWritten(message));
            }
            End::Returned(Return::Unreachable)
                if written && self.plan.claim == Some(Claim::ReturnedIsUnwritten) =>
            {
                return Err(Breach::ReturnedWritten(message));
            }
            End::Acknowledged => Fate::Acknowledged,
            End::Returned(_) => Fate::Returned,
            End::Carried => Fate::Carried,
        };
        let station = Rc::make_mut(world.stations.of_mut(side));
        let Some(own) = station.ledger.end(message, fate) else {
            return Err(Breach::Misplaced(side));
        };
        let early = own.retries < self.plan.parameters.retries;
        if end == End::Returned(Return::Unreachable) && early {
            return Err(Breach::GivenUpEarly(message));
        }
        Ok(())
    }

    fn unloaded(
        &mut self,
        world: &mut World,
        side: Side,
        messages: &[Message],
    ) -> Result<(), Breach> {
        for message in messages {
            self.end(world, side, *message, End::Carried)?;
        }
        self.events.push(Event::Unloaded(side));
        let station = Rc::make_mut(world.stations.of_mut(side));
        let left = outstanding(self.plan, station, ENDPOINT);
        if station.endpoint != Endpoint::Leaving || left > 0 {
            return Err(Breach::Misplaced(side));
        }
        station.endpoint = Endpoint::Out;
        Ok(())
    }
}

/// What may still go wrong after this; none if it may not happen any more.
const fn spend(left: Bounds, action: Action) -> Option<Bounds> {
    let mut left = left;
    let part = match action {
        Action::Lose(_) => &mut left.losses,
        Action::Double(_) => &mut left.duplicates,
        Action::Overtake(..) => &mut left.overtakings,
        Action::Fill(_) => &mut left.fulls,
        Action::Unload(_) => &mut left.unloads,
        Action::Restart(_) => &mut left.restarts,
        Action::Send(_)
        | Action::Deliver(_)
        | Action::Leave(..)
        | Action::Tick
        | Action::Empty(_)
        | Action::Load(_) => return Some(left),
    };
    match part.checked_sub(1) {
        Some(fewer) => *part = fewer,
        None => return None,
    }
    Some(left)
}

fn turn(world: &mut World, side: Side, from: Endpoint, to: Endpoint) -> Option<()> {
    let station = Rc::make_mut(world.stations.of_mut(side));
    (station.endpoint == from).then(|| station.endpoint = to)
}

/// What the machine counts is what is outstanding. Property 6
fn check_counts(plan: &Plan, side: Side, station: &Station) -> Result<(), Breach> {
    let transport = &station.transport;
    let counts = [ENDPOINT, NEIGHBOUR].map(|endpoint| outstanding(plan, station, endpoint));
    let all = counts.iter().sum::<usize>();
    let agree = [ENDPOINT, NEIGHBOUR].map(|endpoint| transport.outstanding(endpoint)) == counts
        && transport.has_channel(side.other().nic())
            == (all < usize::from(plan.parameters.channels))
        && transport.due().is_some() == (all > 0)
        && transport.agrees();
    if agree { Ok(()) } else { Err(Breach::Miscounted(side)) }
}

/// How many messages of an endpoint are outstanding.
fn outstanding(plan: &Plan, station: &Station, endpoint: EndpointId) -> usize {
    let its = |message: &Message| plan.mail(*message).is_some_and(|mail| mail.endpoint == endpoint);
    station.ledger.outstanding().filter(its).count()
}
