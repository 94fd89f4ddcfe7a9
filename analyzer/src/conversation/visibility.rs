//! Coverage of the capture: links that answers pass, hosts whose packets are seen to arrive, and since when
//! nothing was missed.

use crate::event::Picoseconds;
use std::collections::{BTreeMap, BTreeSet};

use codec::transport::{Nic, TransportTimestamp};

use super::observation::{Observation, ObservationKind};
use super::transport_packet::{HeaderTrust, LinkKey, ObservedPacket, PacketContent, TransportFate};

/// Ways of answers that are known. *Chosen*: as many as conversations that are open. Of others it is not known
/// that answers can be seen, so nothing is concluded from none.
const ANSWERED_MAX: usize = 1 << 17;

/// Longer than a packet waits in its NIC: whose clock seems so late was started anew. *Chosen*
const CLOCK: Picoseconds = 10_000_000_000_000;

/// A microsecond, in which timestamps count. T-8
pub(super) const MICROSECOND: Picoseconds = 1_000_000;

/// True if one time of a clock that wraps is before another. T-8
pub(super) const fn is_before(one: TransportTimestamp, other: TransportTimestamp) -> bool {
    let ahead = other.0.wrapping_sub(one.0);
    ahead != 0 && ahead < 1 << 31
}

/// Picoseconds from one reading of a wrapping clock to a later one. T-8
pub(super) fn clock_difference(one: TransportTimestamp, other: TransportTimestamp) -> Picoseconds {
    Picoseconds::from(other.0.wrapping_sub(one.0)) * MICROSECOND
}

/// Coverage of the capture.
#[derive(Debug, Default)]
pub(super) struct Visibility {
    /// Links on which answers from one NIC (the second) were seen on their way to another.
    answered: BTreeSet<(Nic, Nic, LinkKey)>,
    /// Links on which any answers were seen.
    heard: BTreeSet<LinkKey>,
    /// First and last time at which a packet arrived at the host of a NIC since the last hole.
    reached: BTreeMap<Nic, (Picoseconds, Picoseconds)>,
    /// Shortest wait of each NIC's data between its timestamp and its first capture. T-8
    soonest: BTreeMap<Nic, (TransportTimestamp, Picoseconds)>,
    /// Up to when something was not recorded.
    doubt: Option<Picoseconds>,
}

impl Visibility {
    /// Up to this moment something was not recorded: what was not seen may have been there.
    pub(super) fn add_hole(&mut self, time: Picoseconds) {
        self.doubt = Some(time);
        self.reached.clear();
    }

    /// Updates the coverage by a packet.
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
        match seen.what {
            PacketContent::Ack | PacketContent::Nack(_)
                if !seen.fate.is_lost() && self.answered.len() < ANSWERED_MAX =>
            {
                let (source, destination) = seen.key().pair();
                self.answered.insert((source, destination, seen.links.1));
                self.heard.insert(seen.links.1);
            }
            PacketContent::Data(_) | PacketContent::Ack | PacketContent::Nack(_) => {}
        }
    }

    /// Compares a data packet's timestamp with when it was first seen.
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

    /// Time a NIC's clock showed a timestamp, at the latest.
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

    /// True if all was recorded since a time.
    pub(super) fn is_complete_since(&self, since: Picoseconds) -> bool {
        self.doubt.is_none_or(|doubt| doubt < since)
    }

    /// True if answers from one NIC to another pass a link.
    pub(super) fn shows_answers_between(
        &self,
        (source, destination): (Nic, Nic),
        link: LinkKey,
    ) -> bool {
        self.answered.contains(&(source, destination, link))
    }

    /// True if answers, from whatever NIC, pass a link: then those that there are can be seen.
    pub(super) fn shows_answers(&self, link: LinkKey) -> bool {
        self.heard.contains(&link)
    }

    /// Fate of a packet that was first seen at a time and was to go to a NIC: it was lost if it was
    /// not seen where others were, before and after it.
    pub(super) fn fate(&self, fate: TransportFate, to: Nic, time: Picoseconds) -> TransportFate {
        let reached = self.reached.get(&to);
        match (fate, reached) {
            (TransportFate::OutOfSight, Some((first, last))) if *first < time && time < *last => {
                TransportFate::Lost
            }
            (TransportFate::OutOfSight, Some(_) | None) => fate,
            (
                TransportFate::Arrived
                | TransportFate::Hurt
                | TransportFate::Lost
                | TransportFate::UnderWay,
                _,
            ) => fate,
        }
    }

    /// Tells what is noticed of a packet by what became of it.
    pub(super) fn update_fate(&self, noticed: &mut Observation) {
        let (time, key) = (noticed.place.time, noticed.key);
        let to = match noticed.remark {
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
        noticed.fate = self.fate(noticed.fate, to, time);
        if let ObservationKind::Ack(trip) = &mut noticed.remark {
            *trip = trip.filter(|_| !noticed.fate.is_lost());
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
