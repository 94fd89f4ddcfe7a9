//! A state of two NICs and what is between them, and what can happen in it.

use codec::transport::Nic;

use super::plan::{DepartureMode, ENDPOINT, FaultBounds, LEFT, ModelPlan, NEIGHBOUR, RIGHT, other};
use crate::transport::checker::{EndpointAddress, TransportOutcome};
use crate::transport::input::{EndpointRoom, KeyPick, RestartClock};
use crate::transport::world::{
    FrameResidency, ORIGIN, TransportPath, TransportWorld, WorldEndpoint, WorldSetup,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelAction {
    Send(Nic),
    /// The packet at the head of the path to this NIC arrives.
    Deliver(Nic),
    Lose(Nic),
    Double(Nic),
    /// The packet behind this number of others on the path to this NIC arrives.
    Overtake(Nic, u8),
    /// The packet behind this number of others in a NIC's queue leaves it.
    Leave(Nic, u8),
    /// A µs passes: scans are due.
    Tick,
    Fill(Nic),
    Empty(Nic),
    /// The endpoint is to leave its frame.
    Unload(Nic),
    Load(Nic),
    Restart(Nic),
}

#[derive(Clone, Debug)]
pub(super) struct ModelState {
    pub(super) world: TransportWorld,
    /// Faults that may still happen.
    pub(super) left: FaultBounds,
}

impl ModelState {
    /// Before anything has happened: all endpoints are resident.
    pub(super) fn new(plan: &ModelPlan) -> Self {
        let ModelPlan { parameters, flaw, claim, first: [left, right], .. } = *plan;
        let start = |nic| (if nic == LEFT { left } else { right }, ORIGIN);
        let mut world = TransportWorld::new(WorldSetup { parameters, flaw, claim }, start);
        for message in &plan.messages {
            let from = EndpointAddress { nic: message.from, endpoint: message.endpoint };
            let to = EndpointAddress { nic: other(message.from), endpoint: ENDPOINT };
            let wrong = u64::from(message.key == KeyPick::Wrong);
            world.checker.accept(from, to, u64::from(ENDPOINT.0) + wrong);
        }
        if plan.departure == DepartureMode::Delayed {
            [LEFT, RIGHT].into_iter().for_each(|nic| world.stall(nic));
        }
        Self { world, left: plan.bounds }
    }

    fn endpoint(&self, nic: Nic) -> &WorldEndpoint {
        match self.world.host(nic).endpoints.first() {
            Some(endpoint) => endpoint,
            None => unreachable!("each NIC has an endpoint: {nic:?}"),
        }
    }

    fn path_to(&self, nic: Nic) -> &TransportPath {
        self.world.path((other(nic), nic))
    }

    /// All that can happen, in a fixed order.
    pub(super) fn actions(&self) -> Vec<ModelAction> {
        let mut actions = Vec::new();
        let places = |len: usize| 0..u8::try_from(len).unwrap_or(u8::MAX);
        for nic in [LEFT, RIGHT] {
            actions.extend(self.world.next_to_send(nic).map(|_| ModelAction::Send(nic)));
            let queued = places(self.world.host(nic).queue.len());
            actions.extend(queued.map(|place| ModelAction::Leave(nic, place)));
            let on_path = places(self.path_to(nic).packets.len());
            if !on_path.is_empty() {
                actions.extend(
                    [ModelAction::Deliver, ModelAction::Lose, ModelAction::Double]
                        .map(|it| it(nic)),
                );
            }
            actions.extend(on_path.skip(1).map(|place| ModelAction::Overtake(nic, place)));
            match (self.endpoint(nic).frame, self.endpoint(nic).room) {
                (FrameResidency::Resident, EndpointRoom::Free) => {
                    actions.extend([ModelAction::Fill(nic), ModelAction::Unload(nic)]);
                }
                (FrameResidency::Resident, EndpointRoom::Full | EndpointRoom::Without) => {
                    actions.extend([ModelAction::Empty(nic), ModelAction::Unload(nic)]);
                }
                // One that is leaving may be wanted again before it has left.
                (FrameResidency::Leaving | FrameResidency::Out, _) => {
                    actions.push(ModelAction::Load(nic));
                }
            }
            actions.push(ModelAction::Restart(nic));
        }
        actions.push(ModelAction::Tick);
        actions.retain(|action| spend(self.left, *action).is_some());
        actions
    }

    /// The state after an action; none if it may not happen any more, or if more is in transit then
    /// than the plan has room for.
    pub(super) fn after(&self, plan: &ModelPlan, action: ModelAction) -> Option<Self> {
        let mut next = Self { world: self.world.clone(), left: spend(self.left, action)? };
        next.world.checked(|world| act(world, action));
        let transmits = matches!(action, ModelAction::Send(_) | ModelAction::Tick);
        let on_way = |nic| next.path_to(nic).packets.len() + next.world.host(nic).queue.len();
        let is_crowded = transmits && on_way(LEFT) + on_way(RIGHT) > plan.room;
        (!is_crowded).then_some(next)
    }

    /// Next action without further faults: packets arrive, then queues get room and endpoints are loaded,
    /// then waiting messages are sent, then time passes. None when all is over.
    pub(super) fn without_faults(&self) -> Option<ModelAction> {
        let first = |found: &dyn Fn(Nic) -> bool| [LEFT, RIGHT].into_iter().find(|it| found(*it));
        let is_open = |end| matches!(end, TransportOutcome::Open | TransportOutcome::Stored);
        if let Some(nic) = first(&|nic| !self.path_to(nic).packets.is_empty()) {
            Some(ModelAction::Deliver(nic))
        } else if let Some(nic) = first(&|nic| !self.world.host(nic).queue.is_empty()) {
            Some(ModelAction::Leave(nic, 0))
        } else if !self.world.checker.accounts.iter().any(|account| is_open(account.end)) {
            None
        } else if let Some(nic) = first(&|nic| self.endpoint(nic).room == EndpointRoom::Full) {
            Some(ModelAction::Empty(nic))
        } else if let Some(nic) = first(&|nic| self.endpoint(nic).frame == FrameResidency::Out) {
            Some(ModelAction::Load(nic))
        } else if let Some(nic) = first(&|nic| self.world.next_to_send(nic).is_some()) {
            Some(ModelAction::Send(nic))
        } else {
            Some(ModelAction::Tick)
        }
    }
}

fn act(world: &mut TransportWorld, action: ModelAction) {
    let way = |nic| (other(nic), nic);
    let at = |nic| EndpointAddress { nic, endpoint: ENDPOINT };
    match action {
        ModelAction::Send(nic) => world.send_next(nic),
        ModelAction::Deliver(nic) => world.deliver(way(nic), 0),
        ModelAction::Lose(nic) => world.lose(way(nic)),
        ModelAction::Double(nic) => world.double(way(nic)),
        ModelAction::Overtake(nic, place) => world.deliver(way(nic), place.into()),
        ModelAction::Leave(nic, place) => world.leave(nic, place.into()),
        ModelAction::Tick => world.pass(1),
        ModelAction::Fill(nic) => world.set_room(at(nic), EndpointRoom::Full),
        ModelAction::Empty(nic) => world.set_room(at(nic), EndpointRoom::Free),
        // What is in a queue leaves with its endpoint.
        ModelAction::Unload(nic) => {
            world.set_room(at(nic), EndpointRoom::Free);
            world.unload(at(nic));
        }
        ModelAction::Load(nic) => world.load(at(nic)),
        ModelAction::Restart(nic) => {
            world.set_room(at(nic), EndpointRoom::Free);
            world.restart(nic, RestartClock::GoesOn);
            world.load(EndpointAddress { nic, endpoint: NEIGHBOUR });
        }
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
