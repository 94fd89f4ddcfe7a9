//! Checks of the reliability protocol. T-1..T-13

use codec::transport::{NackReason, SyncFlag};

use super::fact::FindingFact;
use super::set::Occurrence;
use super::{FindingChecks, FindingKind};
use crate::conversation::{
    Abandonment, MalformedPacket, Observation, ObservationKind, ObservedPlace, ResendCause,
    TransportEvent,
};
use crate::recorded::FindingGrounds;
use crate::totals::totals;

totals! {
    /// Packets and messages of the reliability protocol.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TransportCoverage {
        /// Packets of the reliability protocol's type, malformed or not. T-7
        pub packets: u64,
        /// Messages, each counted once. T-1
        pub messages: u64,
        /// Retransmissions. T-10
        pub resent: u64,
        /// Messages that open a logical channel. T-12
        pub opened: u64,
        /// ACKs. T-5
        pub acks: u64,
        /// NACKs. T-6
        pub nacks: u64,
    }
}

impl TransportCoverage {
    /// ACKs and NACKs. T-8
    pub const fn answers(&self) -> u64 {
        self.acks.saturating_add(self.nacks)
    }
}

impl FindingChecks {
    /// Checks an event of the reliability protocol.
    pub fn transport_event(&mut self, transport_event: &TransportEvent) {
        match transport_event {
            TransportEvent::Observed(observation) => self.observation(observation),
            TransportEvent::Malformed(MalformedPacket { place, fault }) => {
                self.set.seen.transport.packets += 1;
                let kind = FindingKind::MalformedMessage;
                self.set.note_here(kind, (place.channel, when(place)), || {
                    let byte = FindingFact::number("byte", fault.at() as u64);
                    vec![packet(place), byte, FindingFact::word("field", fault.field())]
                });
            }
            TransportEvent::Conversation(_) => {}
        }
    }

    fn observation(&mut self, observation: &Observation) {
        self.count(&observation.observed);
        let Some(kind) = kind(observation) else { return };
        let Observation { place, key, label, .. } = observation;
        let grounds = FindingGrounds::Channels([observation.since, place.time], &[place.channel]);
        self.set.note(kind, (place.channel, when(place)), grounds, || {
            let reason = if let ObservationKind::Nack(reason) = observation.observed {
                Some(FindingFact::word("reason", reason.name()))
            } else {
                None
            };
            let facts = [
                packet(place),
                FindingFact::number("source", key.source.0.into()),
                FindingFact::number("destination", key.destination.0.into()),
                FindingFact::number("logical_channel", key.channel.0.into()),
                FindingFact::number("incarnation", label.incarnation.0.into()),
                FindingFact::number("timestamp", label.timestamp.0.into()),
            ];
            facts.into_iter().chain(reason).collect()
        });
    }

    fn count(&mut self, observed: &ObservationKind) {
        let transport = &mut self.set.seen.transport;
        match observed {
            ObservationKind::Data(data) => {
                transport.messages += 1;
                transport.opened += u64::from(data.sync == SyncFlag::Set);
            }
            ObservationKind::Resent(..) => transport.resent += 1,
            ObservationKind::Ack(_) => transport.acks += 1,
            ObservationKind::Nack(_) => transport.nacks += 1,
            ObservationKind::Stale => {}
            ObservationKind::Duplicate | ObservationKind::Late | ObservationKind::Gone(_) => return,
            ObservationKind::Storm(_) | ObservationKind::Broken(_) => return,
        }
        transport.packets += 1;
    }
}

fn kind(observation: &Observation) -> Option<FindingKind> {
    Some(match observation.observed {
        // A NACK whose message was not captured is not reported.
        ObservationKind::Nack(NackReason::BadKey | NackReason::NoSuchEndpoint)
            if observation.message.is_some() =>
        {
            FindingKind::MessageRefused
        }
        ObservationKind::Resent(_, ResendCause::TooEarly) => FindingKind::TimerTooEarly,
        ObservationKind::Gone(Abandonment::Unanswered) => FindingKind::MessageUnanswered,
        ObservationKind::Stale => FindingKind::StalePacket,
        ObservationKind::Storm(_) | ObservationKind::Broken(_) => {
            FindingKind::named(observation.observed.name())?.kind
        }
        ObservationKind::Data(_)
        | ObservationKind::Resent(..)
        | ObservationKind::Ack(_)
        | ObservationKind::Nack(_) => return None,
        ObservationKind::Duplicate | ObservationKind::Late | ObservationKind::Gone(_) => {
            return None;
        }
    })
}

const fn when(place: &ObservedPlace) -> Occurrence {
    Occurrence { time: place.time, at: place.at }
}

const fn packet(place: &ObservedPlace) -> FindingFact {
    FindingFact::number("packet", place.packet)
}
