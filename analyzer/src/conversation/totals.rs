//! Totals of a conversation.

use crate::event::Picoseconds;
use std::collections::BTreeMap;

use codec::transport::NackReason;

use super::observation::{Abandonment, Observation, ObservationKind, ResendCause, Violation};
use super::transport_packet::TransportFate;
use crate::totals::{AddTotals, totals};

/// Number of round-trip classes: each ends at twice the time of the one before, the first at 1 µs.
pub const CLASSES: usize = 32;

totals! {
    /// Totals of a conversation.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ConversationTotals {
        /// Number of messages.
        pub messages: u64,
        /// Number of acknowledged messages.
        pub acknowledged: u64,
        /// Unacknowledged messages, by their end.
        pub gone: BTreeMap<Abandonment, u64>,
        /// Bytes of all messages, each counted once.
        pub bytes: u64,
        /// Number of data packets.
        pub data: u64,
        /// Data packets that were lost or corrupted.
        pub data_lost: u64,
        /// Retransmissions, by cause.
        pub resent: BTreeMap<ResendCause, u64>,
        /// Number of ACKs.
        pub acks: u64,
        /// NACKs, by reason.
        pub nacks: BTreeMap<NackReason, u64>,
        /// ACKs and NACKs that were lost or corrupted.
        pub answers_lost: u64,
        /// Duplicates. T-5
        pub duplicates: u64,
        /// Answers to transmissions that were not the latest. T-8
        pub late: u64,
        /// Packets of finished messages or old incarnations. T-12
        pub stale: u64,
        /// Number of incarnations. T-12
        pub incarnations: u64,
        /// Violations, by kind.
        pub broken: BTreeMap<Violation, u64>,
        /// Statistics of round trips.
        pub trips: RoundTrips,
    }
}

/// Statistics of round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// Number of round trips.
    pub count: u64,
    /// Sum of all round trips.
    pub total: Picoseconds,
    /// The shortest and the longest.
    pub bounds: Option<(Picoseconds, Picoseconds)>,
    /// Number of round trips in each class.
    pub classes: [u64; CLASSES],
}

impl RoundTrips {
    /// Adds a round trip.
    pub fn add(&mut self, trip: Picoseconds) {
        self.count += 1;
        self.total = self.total.saturating_add(trip);
        let (least, most) = self.bounds.unwrap_or((trip, trip));
        self.bounds = Some((least.min(trip), most.max(trip)));
        let class = usize::try_from(Picoseconds::BITS - (trip / 1_000_000).leading_zeros());
        if let Some(class) = self.classes.get_mut(class.unwrap_or(0).min(CLASSES - 1)) {
            *class += 1;
        }
    }

    /// The mean; none without round trips.
    pub fn mean(&self) -> Option<Picoseconds> {
        self.total.checked_div(self.count.into())
    }
}

impl AddTotals for RoundTrips {
    fn absorb(&mut self, other: &Self) {
        self.count.absorb(&other.count);
        self.total.absorb(&other.total);
        self.bounds = match (self.bounds, other.bounds) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
        self.classes.absorb(&other.classes);
    }
}

impl ConversationTotals {
    pub(super) fn count(&mut self, observation: &Observation) {
        match observation.observed {
            ObservationKind::Data(data) => {
                self.messages += 1;
                self.bytes = self.bytes.saturating_add(data.bytes);
            }
            ObservationKind::Resent(_, cause) => *self.resent.entry(cause).or_default() += 1,
            ObservationKind::Duplicate => self.duplicates += 1,
            ObservationKind::Ack(trip) => {
                self.acks += 1;
                trip.into_iter().for_each(|trip| self.trips.add(trip));
            }
            ObservationKind::Nack(reason) => *self.nacks.entry(reason).or_default() += 1,
            ObservationKind::Late => self.late += 1,
            ObservationKind::Stale => self.stale += 1,
            ObservationKind::Gone(gone) => *self.gone.entry(gone).or_default() += 1,
            ObservationKind::Storm(_) => {}
            ObservationKind::Broken(broken) => *self.broken.entry(broken).or_default() += 1,
        }
        let lost = u64::from(observation.fate.is_lost());
        if let ObservationKind::Data(_) | ObservationKind::Resent(..) = observation.observed {
            self.data += 1;
            self.data_lost += lost;
        } else if let ObservationKind::Ack(_) | ObservationKind::Nack(_) = observation.observed {
            self.answers_lost += lost;
        }
    }
}

pub(super) fn total<K: Ord>(sums: &BTreeMap<K, u64>) -> u64 {
    sums.values().copied().fold(0, u64::saturating_add)
}

/// The letter of an observation in a history; lower case if the packet was lost or corrupted.
pub(super) const fn letter(observed: ObservationKind, fate: TransportFate) -> Option<char> {
    let letter = match observed {
        ObservationKind::Data(data) => match data.sync {
            codec::transport::SyncFlag::Set => 'S',
            codec::transport::SyncFlag::Clear => 'D',
        },
        ObservationKind::Resent(_, ResendCause::TooEarly) => 'T',
        ObservationKind::Resent(..) => 'R',
        ObservationKind::Ack(_) => 'A',
        ObservationKind::Nack(reason) if reason.is_final() => 'F',
        ObservationKind::Nack(_) => 'N',
        ObservationKind::Stale => 'O',
        ObservationKind::Gone(Abandonment::Refused)
        | ObservationKind::Duplicate
        | ObservationKind::Late
        | ObservationKind::Storm(_) => {
            return None;
        }
        ObservationKind::Gone(Abandonment::Unseen | Abandonment::Open) => return Some('?'),
        ObservationKind::Gone(Abandonment::Unanswered | Abandonment::Withdrawn) => {
            return Some('<');
        }
        ObservationKind::Gone(Abandonment::Reopened) => return Some('>'),
        ObservationKind::Broken(_) => return Some('!'),
    };
    Some(if fate.is_lost() { letter.to_ascii_lowercase() } else { letter })
}
