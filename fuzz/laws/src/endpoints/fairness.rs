//! Waiting times of endpoints, from the events and packets of hosts alone. T-14

use std::collections::{BTreeMap, BTreeSet};

use codec::transport::{EndpointId, Nic};
use simulator::messaging::{
    MessageId, MessageKind, MessagingEvent, MessagingPacket, MessagingPlan, TransmissionAttempt,
    TransmissionKind,
};

/// Packets that may be chosen already when a message is handed over: one that is being built, two that
/// are ready for the sending engine.
const CHOSEN_MAX: usize = 3;

#[derive(Clone, Debug)]
pub(super) struct FairnessChecker {
    /// 2 to the k.
    burst: usize,
    channels: usize,
    /// Endpoints all of whose messages are short: they wait for no memory.
    short: BTreeSet<EndpointId>,
    resident: BTreeSet<EndpointId>,
    /// Messages that were handed over and have not ended: where they go.
    open: BTreeMap<MessageId, Nic>,
    queued: BTreeSet<MessageId>,
    waits: BTreeMap<EndpointId, EndpointWait>,
}

/// An endpoint has had something that can be sent for a while.
#[derive(Clone, Debug, Default)]
struct EndpointWait {
    /// Short packets of others that have left meanwhile.
    packets: usize,
    rivals: BTreeSet<EndpointId>,
}

impl FairnessChecker {
    pub(super) fn new(plan: &MessagingPlan) -> Self {
        let ids = || plan.endpoints.iter().map(|endpoint| endpoint.id);
        let long =
            |id| plan.streams.iter().any(|it| it.from == id && it.kind != MessageKind::Short);
        Self {
            burst: 1 << plan.parameters.burst_log2.min(31),
            channels: plan.transport.channels.into(),
            short: ids().filter(|id| !long(*id)).collect(),
            resident: ids().take(plan.parameters.frames.into()).collect(),
            open: BTreeMap::new(),
            queued: BTreeSet::new(),
            waits: BTreeMap::new(),
        }
    }

    pub(super) fn record(&mut self, told: &MessagingEvent) {
        match *told {
            MessagingEvent::Accepted(id, (nic, _)) => {
                self.open.insert(id, nic);
                self.queued.insert(id);
            }
            MessagingEvent::Acknowledged(id) | MessagingEvent::Returned(id, _) => {
                self.open.remove(&id);
                self.queued.remove(&id);
            }
            MessagingEvent::Loaded(endpoint) => {
                self.resident.insert(endpoint);
            }
            MessagingEvent::Leaving(endpoint) | MessagingEvent::Unloaded(endpoint) => {
                self.resident.remove(&endpoint);
            }
            MessagingEvent::Written(..)
            | MessagingEvent::GivenUp(_)
            | MessagingEvent::Lost(..)
            | MessagingEvent::Damaged(..)
            | MessagingEvent::Refused(..)
            | MessagingEvent::Dropped(..)
            | MessagingEvent::Observed(..)
            | MessagingEvent::Malformed(_)
            | MessagingEvent::Overrun
            | MessagingEvent::Mapped(_)
            | MessagingEvent::Credits(..)
            | _ => return,
        }
        self.look();
    }

    /// A packet leaves: an attempt of its endpoint.
    pub(super) fn send(&mut self, outgoing: &MessagingPacket) {
        let TransmissionKind::Data { message, turn: TransmissionAttempt::First, .. } =
            outgoing.what
        else {
            return;
        };
        self.queued.remove(&message);
        self.waits.remove(&message.endpoint);
        let is_short = outgoing.payload.first().is_some_and(|kind| kind & 0x0f == 0);
        for (endpoint, wait) in self.waits.iter_mut().filter(|_| is_short) {
            wait.packets += 1;
            let most = wait.rivals.len().saturating_sub(1) * self.burst + CHOSEN_MAX;
            assert!(wait.packets <= most, "{endpoint:?} waits for {most} attempts at most. T-14");
        }
        self.look();
    }

    /// Finds the endpoints that can send: a logical channel is free even if all others that are open
    /// have one, and another is left for replies. T-2
    fn look(&mut self) {
        let can_go = |id: &MessageId| {
            let to = self.open.get(id);
            self.open.values().filter(|other| Some(*other) == to).count() < self.channels
        };
        let ready = self.queued.iter().filter(|id| can_go(id)).map(|id| id.endpoint);
        let mut ready: BTreeSet<_> = ready.collect();
        ready.retain(|id| self.short.contains(id) && self.resident.contains(id));
        self.waits.retain(|endpoint, _| ready.contains(endpoint));
        for endpoint in ready {
            self.waits.entry(endpoint).or_default().rivals.extend(&self.resident);
        }
    }
}
