//! What is known beside a conversation: where answers pass, who can be seen to be reached, and since when
//! nothing was missed.

use std::collections::{BTreeMap, BTreeSet};

use codec::transport::{Nic, Timestamp};

use super::message::{behind, is_before};
use super::noticed::{Noticed, Remark};
use super::seen::{Fate, Link, Reading, Seen, What};
use crate::timeline::Time;

/// Ways of answers that are known. *Chosen*: as many as conversations that are open. Of others it is not known
/// that answers can be seen, so nothing is concluded from none.
const ANSWERED_MAX: usize = 1 << 17;

/// Longer than a packet waits in its NIC: whose clock seems so late was started anew. *Chosen*
const CLOCK: Time = 10_000_000_000_000;

/// What is known beside a conversation.
#[derive(Debug, Default)]
pub(super) struct Scene {
    /// Links on which answers from one NIC (the second) were seen on their way to another.
    answered: BTreeSet<(Nic, Nic, Link)>,
    /// Links on which any answers were seen.
    heard: BTreeSet<Link>,
    /// When packets were seen to arrive at the host of a NIC, first and last, since all was recorded.
    reached: BTreeMap<Nic, (Time, Time)>,
    /// Shortest wait of each NIC's data between its timestamp and its first capture. T-8
    soonest: BTreeMap<Nic, (Timestamp, Time)>,
    /// Up to when something was not recorded.
    doubt: Option<Time>,
}

impl Scene {
    /// Up to this moment something was not recorded: what was not seen may have been there.
    pub(super) fn doubt(&mut self, time: Time) {
        self.doubt = Some(time);
        self.reached.clear();
    }

    /// What a packet tells about what can be seen.
    pub(super) fn learn(&mut self, seen: &Seen) {
        if seen.reading == Reading::Doubtful {
            return;
        }
        if seen.fate == Fate::Arrived {
            let time = seen.place.time;
            let (_, last) = self.reached.entry(seen.header.destination).or_insert((time, time));
            *last = time.max(*last);
        }
        if let What::Data(_) = seen.what {
            self.time(seen);
        }
        match seen.what {
            What::Ack | What::Nack(_)
                if !seen.fate.is_lost() && self.answered.len() < ANSWERED_MAX =>
            {
                let (source, destination) = seen.key().pair();
                self.answered.insert((source, destination, seen.links.1));
                self.heard.insert(seen.links.1);
            }
            What::Data(_) | What::Ack | What::Nack(_) => {}
        }
    }

    /// Compares a data packet's timestamp with when it was first seen.
    fn time(&mut self, seen: &Seen) {
        let (source, now) = (seen.header.source, seen.place.time);
        let waited = self.made(source, seen.header.timestamp).map(|made| now.checked_sub(made));
        match waited {
            Some(Some(waited)) if waited < CLOCK => {}
            Some(_) | None => {
                self.soonest.insert(source, (seen.header.timestamp, now));
            }
        }
    }

    /// When a NIC's clock showed a timestamp, at the latest.
    pub(super) fn made(&self, source: Nic, timestamp: Timestamp) -> Option<Time> {
        let (clock, time) = *self.soonest.get(&source)?;
        Some(if is_before(timestamp, clock) {
            time.saturating_sub(behind(timestamp, clock))
        } else {
            time.saturating_add(behind(clock, timestamp))
        })
    }

    /// Whether all was recorded since a time.
    pub(super) fn is_whole(&self, since: Time) -> bool {
        self.doubt.is_none_or(|doubt| doubt < since)
    }

    /// Whether answers from one NIC to another pass a link.
    pub(super) fn is_answered(&self, (source, destination): (Nic, Nic), link: Link) -> bool {
        self.answered.contains(&(source, destination, link))
    }

    /// Whether answers, from whatever NIC, pass a link: then those that there are can be seen.
    pub(super) fn is_heard(&self, link: Link) -> bool {
        self.heard.contains(&link)
    }

    /// What became of a packet that was first seen at a time and was to go to a NIC: it was lost if it was
    /// not seen where others were, before and after it.
    pub(super) fn fate(&self, fate: Fate, to: Nic, time: Time) -> Fate {
        let reached = self.reached.get(&to);
        match (fate, reached) {
            (Fate::OutOfSight, Some((first, last))) if *first < time && time < *last => Fate::Lost,
            (Fate::OutOfSight, Some(_) | None) => fate,
            (Fate::Arrived | Fate::Hurt | Fate::Lost | Fate::UnderWay, _) => fate,
        }
    }

    /// Tells what is noticed of a packet by what became of it.
    pub(super) fn judge(&self, noticed: &mut Noticed) {
        let (time, key) = (noticed.place.time, noticed.key);
        let to = match noticed.remark {
            Remark::Ack(_) | Remark::Nack(_) | Remark::Late => key.source,
            Remark::Data(_) | Remark::Resent(..) | Remark::Duplicate => key.destination,
            Remark::Stale | Remark::Gone(_) | Remark::Storm(_) | Remark::Broken(_) => return,
        };
        noticed.fate = self.fate(noticed.fate, to, time);
        if let Remark::Ack(trip) = &mut noticed.remark {
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
        let (mut scene, mut ack) = (Scene::default(), seen("0 A 7.0 0"));
        for destination in 0..3 {
            for source in 0..=u16::MAX {
                (ack.header.source, ack.header.destination) = (Nic(source), Nic(destination));
                scene.learn(&ack);
            }
        }
        assert_eq!(scene.answered.len(), ANSWERED_MAX);
    }
}
