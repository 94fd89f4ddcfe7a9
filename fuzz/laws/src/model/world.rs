//! Two NICs, what is between them, and their hosts: one state, and what can happen in it.

use std::rc::Rc;

use codec::transport::{
    ChannelIncarnation, EndpointId, NackReason, TransportHeader, TransportTimestamp,
};
use simulator::transport::{
    Micros, OutboundMessage, ProtocolPacket, ReturnReason, Transport, TransportEffect,
    TransportNotice,
};

use super::delivery_record::{DeliveryRecord, ModelFate, WriteState};
use super::plan::{
    DepartureMode, ENDPOINT, ExtraClaim, FaultBounds, ModelKey, ModelMessage, ModelPlan, ModelSide,
    NEIGHBOUR, SeededFlaw, SidePair,
};
use super::violation::ModelViolation;

pub mod apply;
mod receive;
pub mod time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelAction {
    Send(ModelSide),
    /// The packet at the head of the path to this side arrives.
    Deliver(ModelSide),
    Lose(ModelSide),
    Double(ModelSide),
    /// The packet behind this number of others on the path to this side arrives.
    Overtake(ModelSide, u8),
    /// The packet behind this number of others in a NIC's queue leaves it.
    Leave(ModelSide, u8),
    /// A µs passes: scans are due.
    Tick,
    Fill(ModelSide),
    Empty(ModelSide),
    /// The endpoint is to leave its frame.
    Unload(ModelSide),
    Load(ModelSide),
    Restart(ModelSide),
}

/// Position where the endpoint of a NIC is, and whether it can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelEndpoint {
    /// In a frame, with room in its receive queue.
    Resident,
    /// In a frame, and its receive queue is full.
    Full,
    /// It is to leave its frame, and takes nothing in.
    Leaving,
    Out,
}

/// A NIC, its host's endpoint, and the ledger about them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelStation {
    pub transport: Transport<ModelMessage>,
    pub endpoint: ModelEndpoint,
    pub queue: Vec<ProtocolPacket<ModelMessage>>,
    pub ledger: DeliveryRecord,
}

/// Packets on their way to a side, in order.
pub type ModelPath = Vec<ProtocolPacket<ModelMessage>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelState {
    pub stations: SidePair<Rc<ModelStation>>,
    pub paths: SidePair<Rc<ModelPath>>,
    pub left: FaultBounds,
    pub now: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEvent {
    Heard(ProtocolPacket<ModelMessage>),
    Written,
    Lost(ProtocolPacket<ModelMessage>),
    Sent(ProtocolPacket<ModelMessage>),
    Dropped(ModelSide, ProtocolPacket<ModelMessage>),
    /// A message comes to its end at its sender, or is carried away with its endpoint.
    Ended(ModelSide, ModelMessage, ModelOutcome),
    Noted(TransportNotice),
    /// The endpoint of a side is out of its frame.
    Unloaded(ModelSide),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelOutcome {
    /// T-5.
    Acknowledged,
    /// T-6, T-11.
    Returned(ReturnReason),
    /// T-13.
    Carried,
}

impl ModelState {
    /// Time when every walk begins, and every step of it. Far from 0, so that what was before has a time
    /// too.
    pub const ORIGIN: Micros = Micros(1 << 30);

    /// Before anything has happened: both endpoints are resident.
    pub fn new(plan: &ModelPlan) -> Self {
        let station = |side: ModelSide| {
            let mut transport = start(plan, side, *plan.first.of(side));
            transport.on_load(ENDPOINT);
            let ledger = DeliveryRecord::new(plan, side);
            let (endpoint, queue) = (ModelEndpoint::Resident, Vec::new());
            Rc::new(ModelStation { transport, endpoint, queue, ledger })
        };
        Self {
            stations: SidePair { left: station(ModelSide::Left), right: station(ModelSide::Right) },
            paths: SidePair::default(),
            left: plan.bounds,
            now: Self::ORIGIN,
        }
    }

    /// All that can happen in any state, in a fixed order, passed to `then`.
    pub fn actions(&self, then: &mut impl FnMut(ModelAction)) {
        for side in ModelSide::BOTH {
            let on_path = u8::try_from(self.paths.of(side).len()).unwrap_or(u8::MAX);
            then(ModelAction::Send(side));
            let queued = u8::try_from(self.stations.of(side).queue.len()).unwrap_or(u8::MAX);
            (0..queued).for_each(|place| then(ModelAction::Leave(side, place)));
            if on_path > 0 {
                then(ModelAction::Deliver(side));
                then(ModelAction::Lose(side));
                then(ModelAction::Double(side));
            }
            if self.left.overtakings > 0 {
                (1..on_path).for_each(|place| then(ModelAction::Overtake(side, place)));
            }
            then(ModelAction::Fill(side));
            then(ModelAction::Empty(side));
            then(ModelAction::Unload(side));
            then(ModelAction::Load(side));
            then(ModelAction::Restart(side));
        }
        then(ModelAction::Tick);
    }

    /// Tests whether all messages have come to their ends, and nothing is in transit.
    pub fn is_resolved(&self) -> bool {
        ModelSide::BOTH.iter().all(|side| {
            let ModelStation { queue, ledger, .. } = &**self.stations.of(*side);
            self.paths.of(*side).is_empty() && queue.is_empty() && ledger.is_resolved()
        })
    }

    /// Next action without further faults: packets arrive, then queues get room and endpoints are loaded,
    /// then waiting messages are sent, then time passes. None when all is over.
    pub fn next_without_faults(&self, plan: &ModelPlan) -> Option<ModelAction> {
        let first = |found: &dyn Fn(ModelSide) -> bool| {
            ModelSide::BOTH.into_iter().find(|side| found(*side))
        };
        let station = |side: ModelSide| self.stations.of(side);
        if self.is_resolved() {
            None
        } else if let Some(side) = first(&|side| !self.paths.of(side).is_empty()) {
            Some(ModelAction::Deliver(side))
        } else if let Some(side) = first(&|side| !station(side).queue.is_empty()) {
            Some(ModelAction::Leave(side, 0))
        } else if let Some(side) = first(&|side| station(side).endpoint == ModelEndpoint::Full) {
            Some(ModelAction::Empty(side))
        } else if let Some(side) = first(&|side| station(side).endpoint == ModelEndpoint::Out) {
            Some(ModelAction::Load(side))
        } else if let Some(side) = first(&|side| station(side).next_to_send(plan, side).is_some()) {
            Some(ModelAction::Send(side))
        } else {
            Some(ModelAction::Tick)
        }
    }
}

impl ModelStation {
    /// The next message that it can send: its endpoint is in a frame, and there is a channel for it.
    pub fn next_to_send(&self, plan: &ModelPlan, side: ModelSide) -> Option<ModelMessage> {
        let may_send = |message: &ModelMessage| match self.endpoint {
            ModelEndpoint::Resident | ModelEndpoint::Full => true,
            ModelEndpoint::Leaving | ModelEndpoint::Out => {
                plan.mail(*message).is_some_and(|mail| mail.endpoint == NEIGHBOUR)
            }
        };
        let next = self.ledger.waiting().find(may_send)?;
        self.transport.has_channel(side.other().nic()).then_some(next)
    }

    /// Queues data, which has no timestamp before it leaves.
    fn enqueue(&mut self, packet: ProtocolPacket<ModelMessage>) {
        let ProtocolPacket::Data(header, sync, message) = packet else { return };
        self.queue.push(ProtocolPacket::Data(
            TransportHeader { timestamp: TransportTimestamp(0), ..header },
            sync,
            message,
        ));
    }

    /// Admits a message that is new. T-6
    ///
    /// # Errors
    /// The reason why it is refused.
    pub const fn admit(&self, key: ModelKey) -> Result<(), NackReason> {
        match (key, self.endpoint) {
            (ModelKey::Bad, _) => Err(NackReason::BadKey),
            (ModelKey::Good, ModelEndpoint::Resident) => Ok(()),
            (ModelKey::Good, ModelEndpoint::Full) => Err(NackReason::QueueFull),
            (ModelKey::Good, ModelEndpoint::Leaving | ModelEndpoint::Out) => {
                Err(NackReason::NotResident)
            }
        }
    }
}

/// A machine that has just been started, with the endpoint that stays.
fn start(plan: &ModelPlan, side: ModelSide, first: ChannelIncarnation) -> Transport<ModelMessage> {
    let mut transport = Transport::new(side.nic(), plan.parameters, first);
    transport.on_load(NEIGHBOUR);
    transport
}
