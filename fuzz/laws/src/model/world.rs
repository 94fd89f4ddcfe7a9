//! Two NICs, what is between them, and their hosts: one state, and what can happen in it.

use std::rc::Rc;

use codec::transport::{EndpointId, Header, Incarnation, Reason, Timestamp};
use simulator::transport::{Effect, Letter, Micros, Note, Packet, Return, Transport};

use super::breach::Breach;
use super::ledger::{Fate, Ledger, Written};
use super::plan::{
    Bounds, Claim, Departure, ENDPOINT, Flaw, Key, Message, NEIGHBOUR, Pair, Plan, Side,
};

pub mod apply;
mod hear;
pub mod time;

/// Something that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A host sends its next message.
    Send(Side),
    /// The packet at the head of the path to this side arrives.
    Deliver(Side),
    /// It is lost.
    Lose(Side),
    /// It arrives, and is still there.
    Double(Side),
    /// The packet behind so many others on the path to this side arrives.
    Overtake(Side, u8),
    /// The packet behind so many others in a NIC's queue leaves it.
    Leave(Side, u8),
    /// A µs passes: scans are due.
    Tick,
    /// A receive queue fills up.
    Fill(Side),
    /// It has room again.
    Empty(Side),
    /// The endpoint is asked to leave its frame.
    Unload(Side),
    /// It is loaded.
    Load(Side),
    /// The NIC is started anew.
    Restart(Side),
}

/// Where the endpoint of a NIC is, and whether it can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// In a frame, with room in its receive queue.
    Resident,
    /// In a frame, and its receive queue is full.
    Full,
    /// It is to leave its frame, and takes nothing in.
    Leaving,
    /// In the host's memory.
    Out,
}

/// A NIC, its host's endpoint, and the ledger about them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Station {
    /// The machine.
    pub transport: Transport<Message>,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Data that has not left.
    pub queue: Vec<Packet<Message>>,
    /// The history.
    pub ledger: Ledger,
}

/// Packets on their way to a side, in order.
pub type Path = Vec<Packet<Message>>;

/// One state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// The NICs.
    pub stations: Pair<Rc<Station>>,
    /// The paths to them.
    pub paths: Pair<Rc<Path>>,
    /// What may still go wrong.
    pub left: Bounds,
    /// The time of both clocks.
    pub now: Micros,
}

/// What happened in a step, to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet reaches a side.
    Heard(Packet<Message>),
    /// It is written there.
    Written,
    /// It is lost.
    Lost(Packet<Message>),
    /// A side sends a packet.
    Sent(Packet<Message>),
    /// It need not leave any more.
    Dropped(Side, Packet<Message>),
    /// A message comes to its end at its sender, or is carried away with its endpoint.
    Ended(Side, Message, End),
    /// A machine noticed something.
    Noted(Note),
    /// The endpoint of a side is out of its frame.
    Unloaded(Side),
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// T-5.
    Acknowledged,
    /// T-6, T-11.
    Returned(Return),
    /// T-13.
    Carried,
}

impl World {
    /// When every walk begins, and every step of it. Far from 0, so that what was before has a time
    /// too.
    pub const ORIGIN: Micros = Micros(1 << 30);

    /// Before anything has happened: both endpoints are resident.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let station = |side: Side| {
            let mut transport = start(plan, side, *plan.first.of(side));
            transport.on_load(ENDPOINT);
            let ledger = Ledger::new(plan, side);
            let (endpoint, queue) = (Endpoint::Resident, Vec::new());
            Rc::new(Station { transport, endpoint, queue, ledger })
        };
        Self {
            stations: Pair { left: station(Side::Left), right: station(Side::Right) },
            paths: Pair::default(),
            left: plan.bounds,
            now: Self::ORIGIN,
        }
    }

    /// All that can happen in any state, in a fixed order; `then` is asked about each.
    pub fn actions(&self, then: &mut impl FnMut(Action)) {
        for side in Side::BOTH {
            let on_path = u8::try_from(self.paths.of(side).len()).unwrap_or(u8::MAX);
            then(Action::Send(side));
            let queued = u8::try_from(self.stations.of(side).queue.len()).unwrap_or(u8::MAX);
            (0..queued).for_each(|place| then(Action::Leave(side, place)));
            if on_path > 0 {
                then(Action::Deliver(side));
                then(Action::Lose(side));
                then(Action::Double(side));
            }
            if self.left.overtakings > 0 {
                (1..on_path).for_each(|place| then(Action::Overtake(side, place)));
            }
            then(Action::Fill(side));
            then(Action::Empty(side));
            then(Action::Unload(side));
            then(Action::Load(side));
            then(Action::Restart(side));
        }
        then(Action::Tick);
    }

    /// Whether all messages have come to their ends, and nothing is under way.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        Side::BOTH.iter().all(|side| {
            let Station { queue, ledger, .. } = &**self.stations.of(*side);
            self.paths.of(*side).is_empty() && queue.is_empty() && ledger.is_resolved()
        })
    }

    /// What happens next if nothing goes wrong any more: first packets arrive, then queues have room
    /// and endpoints are loaded, then what waits is sent, then time passes. None when all is over.
    #[must_use]
    pub fn next_without_faults(&self, plan: &Plan) -> Option<Action> {
        let first = |found: &dyn Fn(Side) -> bool| Side::BOTH.into_iter().find(|side| found(*side));
        let station = |side: Side| self.stations.of(side);
        if self.is_resolved() {
            None
        } else if let Some(side) = first(&|side| !self.paths.of(side).is_empty()) {
            Some(Action::Deliver(side))
        } else if let Some(side) = first(&|side| !station(side).queue.is_empty()) {
            Some(Action::Leave(side, 0))
        } else if let Some(side) = first(&|side| station(side).endpoint == Endpoint::Full) {
            Some(Action::Empty(side))
        } else if let Some(side) = first(&|side| station(side).endpoint == Endpoint::Out) {
            Some(Action::Load(side))
        } else if let Some(side) = first(&|side| station(side).next_to_send(plan, side).is_some()) {
            Some(Action::Send(side))
        } else {
            Some(Action::Tick)
        }
    }
}

impl Station {
    /// The next message that it can send: its endpoint is in a frame, and there is a channel for it.
    #[must_use]
    pub fn next_to_send(&self, plan: &Plan, side: Side) -> Option<Message> {
        let may_send = |message: &Message| match self.endpoint {
            Endpoint::Resident | Endpoint::Full => true,
            Endpoint::Leaving | Endpoint::Out => {
                plan.mail(*message).is_some_and(|mail| mail.endpoint == NEIGHBOUR)
            }
        };
        let next = self.ledger.waiting().find(may_send)?;
        self.transport.has_channel(side.other().nic()).then_some(next)
    }

    /// Queues data, which has no timestamp before it leaves.
    fn enqueue(&mut self, packet: Packet<Message>) {
        let Packet::Data(header, sync, message) = packet else { return };
        self.queue.push(Packet::Data(Header { timestamp: Timestamp(0), ..header }, sync, message));
    }

    /// What the endpoint says to a message that is new. T-6
    ///
    /// # Errors
    /// Why it is not taken.
    pub const fn admit(&self, key: Key) -> Result<(), Reason> {
        match (key, self.endpoint) {
            (Key::Bad, _) => Err(Reason::BadKey),
            (Key::Good, Endpoint::Resident) => Ok(()),
            (Key::Good, Endpoint::Full) => Err(Reason::QueueFull),
            (Key::Good, Endpoint::Leaving | Endpoint::Out) => Err(Reason::NotResident),
        }
    }
}

/// A machine that has just been started, with the endpoint that stays.
fn start(plan: &Plan, side: Side, first: Incarnation) -> Transport<Message> {
    let mut transport = Transport::new(side.nic(), plan.parameters, first);
    transport.on_load(NEIGHBOUR);
    transport
}
