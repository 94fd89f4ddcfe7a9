//! Coverage of the capture: links that carry answers, hosts with captured arrivals, and the time of
//! the last hole.

use crate::capture_network::LinkKey;
use crate::event::Picoseconds;
use std::collections::{BTreeMap, BTreeSet};

use codec::transport::{Nic, TransportTimestamp};

use super::observation::{Observation, ObservationKind};
use super::transport_packet::{HeaderTrust, ObservedPacket, PacketContent, TransportFate};

/// Maximum number of pairs of NICs and links with captured answers. *Chosen*: as many as open
/// conversations. Without an entry, missing answers prove nothing.
const ANSWERED_MAX: usize = 1 << 17;

/// Longest plausible wait of a packet in its NIC, 10 s; a clock that seems later was restarted.
/// *Chosen*
const CLOCK: Picoseconds = 10_000_000_000_000;

/// The unit of timestamps, in picoseconds. T-8
pub(super) const MICROSECOND: Picoseconds = 1_000_000;

/// True if timestamp `one` precedes `other` on a clock that wraps. T-8
pub(super) const fn is_before(one: TransportTimestamp, other: TransportTimestamp) -> bool {
    let ahead = other.0.wrapping_sub(one.0);
    ahead != 0 && ahead < 1 << 31
}

/// Picoseconds from one reading of a wrapping clock to a later one. T-8
pub(super) fn clock_difference(one: TransportTimestamp, other: TransportTimestamp) -> Picoseconds {
    Picoseconds::from(other.0.wrapping_sub(one.0)) * MICROSECOND
}

#[derive(Debug, Default)]
pub(super) struct Visibility {
    /// Data source, data destination, and link of the last capture of an answer between them.
    answered: BTreeSet<(Nic, Nic, LinkKey)>,
    /// For each NIC, the times of its first and last captured arrival since the last hole.
    reached: BTreeMap<Nic, (Picoseconds, Picoseconds)>,
    /// For each NIC, timestamp and capture time of the data packet that waited least in between.
    /// T-8
    soonest: BTreeMap<Nic, (TransportTimestamp, Picoseconds)>,
    /// Time of the last hole.
    doubt: Option<Picoseconds>,
}

impl Visibility {
    /// Marks the capture up to `time` as incomplete: uncaptured packets may have existed.
    pub(super) fn add_hole(&mut self, time: Picoseconds) {
        self.doubt = Some(time);
        self.reached.clear();
    }

    pub(super) fn add_packet(&mut self, seen: &ObservedPacket) {
        if seen.reading == HeaderTrust::Doubtful {
            return;
        }
        if seen.fate == TransportFate::Arrived {
            let time = seen.place.time;
            let (_, last) = self.reached.entry(seen.header.destination).or_insert((time, time));
            *last = time.max(*last);
        }
        if let PacketContent::Data(_) = seen.what {
            self.compare_clock(seen);
        }
        let is_answer = matches!(seen.what, PacketContent::Ack | PacketContent::Nack(_));
        if is_answer && !seen.fate.is_lost() && self.answered.len() < ANSWERED_MAX {
            let (source, destination) = seen.key().pair();
            self.answered.insert((source, destination, seen.links.1));
        }
    }

    /// Updates the NIC's clock from a data packet's timestamp and first capture time.
    fn compare_clock(&mut self, seen: &ObservedPacket) {
        let (source, now) = (seen.header.source, seen.place.time);
        let waited =
            self.latest_send_time(source, seen.header.timestamp).map(|made| now.checked_sub(made));
        match waited {
            Some(Some(waited)) if waited < CLOCK => {}
            Some(_) | None => {
                self.soonest.insert(source, (seen.header.timestamp, now));
            }
        }
    }

    /// Latest time at which a NIC's clock showed a timestamp.
    pub(super) fn latest_send_time(
        &self,
        source: Nic,
        timestamp: TransportTimestamp,
    ) -> Option<Picoseconds> {
        let (clock, time) = *self.soonest.get(&source)?;
        Some(if is_before(timestamp, clock) {
            time.saturating_sub(clock_difference(timestamp, clock))
        } else {
            time.saturating_add(clock_difference(clock, timestamp))
        })
    }

    /// True if the capture has no hole at or after `since`.
    pub(super) fn is_complete_since(&self, since: Picoseconds) -> bool {
        self.doubt.is_none_or(|doubt| doubt < since)
    }

    /// True if an answer between the two NICs was captured on the link.
    pub(super) fn shows_answers_between(
        &self,
        (source, destination): (Nic, Nic),
        link: LinkKey,
    ) -> bool {
        self.answered.contains(&(source, destination, link))
    }

    /// Fate of a packet to a NIC, first captured at `time`: lost if it left the captured part,
    /// while packets before and after it arrived there.
    pub(super) fn fate(&self, fate: TransportFate, to: Nic, time: Picoseconds) -> TransportFate {
        let reached = self.reached.get(&to);
        let is_passed = reached.is_some_and(|(first, last)| *first < time && time < *last);
        if fate == TransportFate::OutOfSight && is_passed { TransportFate::Lost } else { fate }
    }

    /// Updates an observation by the final fate of its packet.
    pub(super) fn update_fate(&self, observation: &mut Observation) {
        let (time, key) = (observation.place.time, observation.key);
        let to = match observation.observed {
            ObservationKind::Ack(_) | ObservationKind::Nack(_) | ObservationKind::Late => {
                key.source
            }
            ObservationKind::Data(_) | ObservationKind::Resent(..) | ObservationKind::Duplicate => {
                key.destination
            }
            ObservationKind::Stale
            | ObservationKind::Gone(_)
            | ObservationKind::Storm(_)
            | ObservationKind::Broken(_) => return,
        };
        observation.fate = self.fate(observation.fate, to, time);
        if let ObservationKind::Ack(trip) = &mut observation.observed {
            *trip = trip.filter(|_| !observation.fate.is_lost());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::tests::seen;

    #[test]
    fn what_is_known_of_answers_has_an_end() {
        let (mut scene, mut ack) = (Visibility::default(), seen("0 A 7.0 0"));
        for destination in 0..3 {
            for source in 0..=u16::MAX {
                (ack.header.source, ack.header.destination) = (Nic(source), Nic(destination));
                scene.add_packet(&ack);
            }
        }
        assert_eq!(scene.answered.len(), ANSWERED_MAX);
    }
}
