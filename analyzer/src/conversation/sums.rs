//! What is added up of a conversation.

use std::collections::BTreeMap;

use codec::transport::Reason;

use super::noticed::{Broken, Cause, Gone, Noticed, Remark};
use super::seen::Fate;
use crate::timeline::Time;

/// Classes of round trips: each up to twice the one before; the first up to 1 µs.
pub const CLASSES: usize = 32;

/// What is added up of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Messages.
    pub messages: u64,
    /// Those that were acknowledged.
    pub acknowledged: u64,
    /// Those that were not, by what became of them.
    pub gone: BTreeMap<Gone, u64>,
    /// Bytes of messages: each counts once.
    pub bytes: u64,
    /// Data packets.
    pub data: u64,
    /// Data packets that were lost or hurt.
    pub data_lost: u64,
    /// Retransmissions, by cause.
    pub resent: BTreeMap<Cause, u64>,
    /// ACKs.
    pub acks: u64,
    /// NACKs, by reason.
    pub nacks: BTreeMap<Reason, u64>,
    /// Answers that were lost or hurt.
    pub answers_lost: u64,
    /// Data that their receiver had written before. T-5
    pub duplicates: u64,
    /// Answers to older transmissions than the latest. T-8
    pub late: u64,
    /// Packets of what is over. T-12
    pub stale: u64,
    /// New incarnations. T-12
    pub incarnations: u64,
    /// What must not be, by kind.
    pub broken: BTreeMap<Broken, u64>,
    /// Round trips.
    pub trips: Trips,
}

/// Round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trips {
    /// How many.
    pub count: u64,
    /// Of all of them together.
    pub total: Time,
    /// The shortest and the longest.
    pub bounds: Option<(Time, Time)>,
    /// How many of each class.
    pub classes: [u64; CLASSES],
}

impl Trips {
    /// Adds one.
    pub fn add(&mut self, trip: Time) {
        self.count += 1;
        self.total = self.total.saturating_add(trip);
        let (least, most) = self.bounds.unwrap_or((trip, trip));
        self.bounds = Some((least.min(trip), most.max(trip)));
        let class = usize::try_from(Time::BITS - (trip / 1_000_000).leading_zeros());
        if let Some(class) = self.classes.get_mut(class.unwrap_or(0).min(CLASSES - 1)) {
            *class += 1;
        }
    }

    /// Adds those of another.
    pub fn absorb(&mut self, other: &Self) {
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        self.bounds = match (self.bounds, other.bounds) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
        for (sum, more) in self.classes.iter_mut().zip(other.classes) {
            *sum += more;
        }
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> Option<Time> {
        self.total.checked_div(self.count.into())
    }
}

impl Sums {
    /// Counts what was noticed.
    pub(super) fn count(&mut self, noticed: &Noticed) {
        match noticed.remark {
            Remark::Data(data) => {
                self.messages += 1;
                self.bytes = self.bytes.saturating_add(data.bytes);
            }
            Remark::Resent(_, cause) => *self.resent.entry(cause).or_default() += 1,
            Remark::Duplicate => self.duplicates += 1,
            Remark::Ack(trip) => {
                self.acks += 1;
                trip.into_iter().for_each(|trip| self.trips.add(trip));
            }
            Remark::Nack(reason) => *self.nacks.entry(reason).or_default() += 1,
            Remark::Late => self.late += 1,
            Remark::Stale => self.stale += 1,
            Remark::Gone(gone) => *self.gone.entry(gone).or_default() += 1,
            Remark::Storm(_) => {}
            Remark::Broken(broken) => *self.broken.entry(broken).or_default() += 1,
        }
        let lost = u64::from(noticed.fate.is_lost());
        match noticed.remark {
            Remark::Data(_) | Remark::Resent(..) => {
                self.data += 1;
                self.data_lost += lost;
            }
            Remark::Ack(_) | Remark::Nack(_) => self.answers_lost += lost,
            Remark::Duplicate | Remark::Late | Remark::Stale => {}
            Remark::Gone(_) | Remark::Storm(_) | Remark::Broken(_) => {}
        }
    }

    /// Adds those of another conversation.
    pub fn absorb(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.messages, other.messages),
            (&mut self.acknowledged, other.acknowledged),
            (&mut self.bytes, other.bytes),
            (&mut self.data, other.data),
            (&mut self.data_lost, other.data_lost),
            (&mut self.acks, other.acks),
            (&mut self.answers_lost, other.answers_lost),
            (&mut self.duplicates, other.duplicates),
            (&mut self.late, other.late),
            (&mut self.stale, other.stale),
            (&mut self.incarnations, other.incarnations),
        ] {
            *sum = sum.saturating_add(more);
        }
        add(&mut self.gone, &other.gone);
        add(&mut self.resent, &other.resent);
        add(&mut self.nacks, &other.nacks);
        add(&mut self.broken, &other.broken);
        self.trips.absorb(&other.trips);
    }
}

fn add<K: Copy + Ord>(sums: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    for (key, more) in more {
        let sum = sums.entry(*key).or_default();
        *sum = sum.saturating_add(*more);
    }
}

/// How many there are in all.
pub(super) fn total<K: Ord>(sums: &BTreeMap<K, u64>) -> u64 {
    sums.values().copied().fold(0, u64::saturating_add)
}

/// The letter of a packet in a history: small if it did not get there.
pub(super) const fn letter(remark: Remark, fate: Fate) -> Option<char> {
    let letter = match remark {
        Remark::Data(data) => match data.sync {
            codec::transport::Sync::Set => 'S',
            codec::transport::Sync::Clear => 'D',
        },
        Remark::Resent(_, Cause::TooEarly) => 'T',
        Remark::Resent(..) => 'R',
        Remark::Ack(_) => 'A',
        Remark::Nack(reason) if reason.is_final() => 'F',
        Remark::Nack(_) => 'N',
        Remark::Stale => 'O',
        Remark::Gone(Gone::Refused) | Remark::Duplicate | Remark::Late | Remark::Storm(_) => {
            return None;
        }
        Remark::Gone(Gone::Unseen | Gone::Open) => return Some('?'),
        Remark::Gone(Gone::Unanswered | Gone::Withdrawn) => return Some('<'),
        Remark::Gone(Gone::Reopened) => return Some('>'),
        Remark::Broken(_) => return Some('!'),
    };
    Some(if fate.is_lost() { letter.to_ascii_lowercase() } else { letter })
}
